//! What became of the defects: a file with a line each, and a table by room.

use crate::list::Mutant;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What became of a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A test failed.
    Killed,
    /// All tests pass.
    Survived,
    /// A test did not end: noticed too.
    TimedOut,
}

/// What became of a defect, by which test and after how long.
#[derive(Clone, Debug, PartialEq)]
pub struct Fate {
    /// What became of it.
    pub verdict: Verdict,
    /// Binary and test that noticed it.
    pub by: String,
    /// Time of all test binaries \[s\].
    pub seconds: f64,
}

/// Results by the names of the defects.
#[derive(Debug, Default)]
pub struct Results {
    file: Option<PathBuf>,
    fates: BTreeMap<String, Fate>,
}

impl Verdict {
    const ALL: [(Verdict, &str); 3] = [(Verdict::Killed, "killed"), (Verdict::Survived, "survived"), (Verdict::TimedOut, "timed-out")];
}

impl Display for Verdict {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Verdict::ALL.iter().filter(|(verdict, _)| verdict == self).try_for_each(|(_, name)| f.write_str(name))
    }
}

/// A line `id, verdict, seconds, by` of the file.
fn read_line(line: &str) -> Option<(String, Fate)> {
    let mut fields = line.split('\t');
    let id = fields.next()?.to_owned();
    let name = fields.next()?;
    let verdict = Verdict::ALL.iter().find(|(_, other)| *other == name)?.0;
    let seconds = fields.next()?.parse().ok()?;
    Some((id, Fate { verdict, seconds, by: fields.next().unwrap_or_default().to_owned() }))
}

impl Results {
    /// Those of a file, the last one of each defect; none where there is no file yet.
    pub fn read(file: Option<&Path>) -> Result<Self, String> {
        let mut results = Results { file: file.map(Path::to_owned), ..Results::default() };
        if let Some(file) = file.filter(|file| file.exists()) {
            let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
            results.fates.extend(text.lines().filter_map(read_line));
        }
        Ok(results)
    }

    /// What became of a defect.
    pub fn fate(&self, mutant: &Mutant) -> Option<&Fate> {
        self.fates.get(&mutant.id)
    }

    /// Adds a result, also to the file.
    pub fn add(&mut self, mutant: &Mutant, fate: Fate) -> Result<(), String> {
        if let Some(path) = &self.file {
            let line = format!("{}\t{}\t{:.1}\t{}\n", mutant.id, fate.verdict, fate.seconds, fate.by);
            let file = OpenOptions::new().create(true).append(true).open(path);
            file.and_then(|mut file| file.write_all(line.as_bytes())).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        self.fates.insert(mutant.id.clone(), fate);
        Ok(())
    }

    /// The table by room of all defects that have a result, then those that survived.
    pub fn table(&self, mutants: &[Mutant]) -> String {
        let mut rooms: Vec<&str> = mutants.iter().map(|mutant| mutant.room.as_str()).collect();
        rooms.dedup();
        let mut text =
            String::from("| room | defects | killed | timed out | survived | noticed | equivalent |\n|---|---|---|---|---|---|---|\n");
        for room in rooms.iter().map(Some).chain([None]) {
            let of_room: Vec<&Mutant> = mutants.iter().filter(|mutant| room.is_none_or(|room| mutant.room == **room)).collect();
            let (equivalent, counted): (Vec<&Mutant>, Vec<&Mutant>) = of_room.into_iter().partition(|mutant| mutant.equivalent.is_some());
            let fates: Vec<Verdict> = counted.iter().filter_map(|mutant| Some(self.fate(mutant)?.verdict)).collect();
            let n = |verdict: Verdict| fates.iter().filter(|other| **other == verdict).count();
            let (killed, survived, late) = (n(Verdict::Killed), n(Verdict::Survived), n(Verdict::TimedOut));
            let part = 100.0 * (killed + late) as f64 / fates.len().max(1) as f64;
            let (name, n, same) = (room.map_or("all", |room| room), fates.len(), equivalent.len());
            text += &format!("| {name} | {n} | {killed} | {late} | {survived} | {part:.0} % | {same} |\n");
        }
        for mutant in mutants.iter().filter(|mutant| mutant.equivalent.is_none()) {
            if self.fate(mutant).is_some_and(|fate| fate.verdict == Verdict::Survived) {
                text += &format!("\n{}: {}", mutant.id, mutant.why);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{Fate, Verdict, read_line};

    #[test]
    fn lines_are_read_back() {
        let fate = Fate { verdict: Verdict::TimedOut, by: "carom/tests x::y".into(), seconds: 2.5 };
        let line = format!("rows-01\t{}\t{:.1}\t{}", fate.verdict, fate.seconds, fate.by);
        assert_eq!(read_line(&line), Some(("rows-01".into(), fate)));
        assert_eq!(read_line("rows-01\tlost\t1\t"), None);
    }
}
