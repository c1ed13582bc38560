//! One run of one binary: all it says and records, as text.

use crate::cases::Case;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Tables of `carom export`.
const TABLES: [&str; 4] = ["frames", "events", "modes", "contacts"];
/// Entries of `--json` that are not results.
const NO_RESULTS: [&str; 6] = ["wall_time", "cpu_time", "files", "version", "strategy", "notes"];

/// A carom binary, with overrides for all its runs and a folder for its records.
pub struct Binary<'a> {
    /// The program.
    pub path: &'a Path,
    /// Overrides beside those of the case.
    pub overrides: &'a [String],
    /// Where records go.
    pub folder: PathBuf,
}

/// What a run gave: name and text of every part.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    parts: Vec<(&'static str, String)>,
}

impl Binary<'_> {
    /// Runs a case on so many threads; a run that fails gives its message.
    ///
    /// # Errors
    /// A binary that cannot be started, or that prints no JSON.
    pub fn run(&self, case: &Case, threads: Option<usize>) -> Result<Results, String> {
        let record = self.folder.join("run.h5");
        let mut command = Command::new(self.path);
        command.arg("run").arg(&case.model).args(["--quiet", "--json", "--overwrite", "--output"]).arg(&record);
        for one in case.overrides.iter().chain(self.overrides) {
            command.args(["--set", one]);
        }
        if let Some(threads) = threads {
            command.env("RAYON_NUM_THREADS", threads.to_string());
        }
        let said = self.output(command)?;
        let mut parts = vec![("exit status", said.status.to_string())];
        if !said.status.success() {
            parts.push(("message", String::from_utf8_lossy(&said.stderr).into_owned()));
        }
        parts.push(("--json", results(&String::from_utf8_lossy(&said.stdout))?));
        // a model that is refused records nothing
        if said.status.code() != Some(2) {
            for table in TABLES {
                let mut command = Command::new(self.path);
                command.arg("export").arg(&record).args(["--table", table]);
                let said = self.output(command)?;
                // not every run has every table: then it says so
                let text = if said.status.success() { said.stdout } else { said.stderr };
                parts.push((table, String::from_utf8_lossy(&text).into_owned()));
            }
        }
        Ok(Results { parts })
    }

    fn output(&self, mut command: Command) -> Result<Output, String> {
        command.output().map_err(|error| format!("{}: {error}", self.path.display()))
    }
}

/// The object of `--json` without times, one entry a line; other text as it is.
fn results(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Ok(String::new());
    }
    let mut object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).map_err(|error| format!("--json: {error}"))?;
    object.retain(|key, _| !NO_RESULTS.contains(&key.as_str()));
    serde_json::to_string_pretty(&object).map_err(|error| format!("--json: {error}"))
}

impl Results {
    /// The run came to its end.
    #[must_use]
    pub fn ran(&self) -> bool {
        self.parts.iter().all(|(name, _)| *name != "message")
    }

    /// The first place in each part where the two differ, in words.
    #[must_use]
    pub fn differences(&self, other: &Results) -> Vec<String> {
        let mut found = Vec::new();
        for (name, old) in &self.parts {
            match other.parts.iter().find(|(n, _)| n == name) {
                Some((_, new)) => found.extend(first_difference(name, old, new)),
                None => found.push(format!("{name}: in the first only")),
            }
        }
        let is_new = |(name, _): &&(&str, String)| self.parts.iter().all(|(n, _)| n != name);
        found.extend(other.parts.iter().filter(is_new).map(|(name, _)| format!("{name}: in the second only")));
        found
    }
}

/// The first line, and in it the first field, that is not the same; columns of tables by name.
fn first_difference(name: &str, old: &str, new: &str) -> Option<String> {
    if old == new {
        return None;
    }
    let (mut a, mut b) = (old.lines(), new.lines());
    let header = old.lines().next().unwrap_or_default();
    let mut number = 0;
    loop {
        number += 1;
        let (old, new) = match (a.next(), b.next()) {
            (None, None) => return Some(format!("{name}: ends of lines")),
            (Some(old), Some(new)) if old == new => continue,
            (old, new) => (old.unwrap_or("(end)"), new.unwrap_or("(end)")),
        };
        if !TABLES.contains(&name) {
            return Some(format!("{name}, line {number}: {} → {}", old.trim(), new.trim()));
        }
        let columns = old.split(',').zip(new.split(',')).zip(header.split(','));
        let different = columns.into_iter().find(|((old, new), _)| old != new);
        return Some(different.map_or_else(
            || format!("{name}, line {number}: {old} → {new}"),
            |((old, new), column)| format!("{name}, line {number}, {column}: {old} → {new}"),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str, frames: &str) -> Results {
        Results { parts: vec![("--json", results(json).unwrap()), ("frames", frames.to_owned())] }
    }

    #[test]
    fn the_last_bit_is_seen_and_times_are_not() {
        let a = of(r#"{"t": 0.1, "cpu_time": 3.0}"#, "t,q.x\n0.0,1.0\n0.1,0.30000000000000004\n");
        assert!(a.differences(&of(r#"{"t": 0.1, "cpu_time": 4.0}"#, "t,q.x\n0.0,1.0\n0.1,0.30000000000000004\n")).is_empty());
        let b = of(r#"{"t": 0.10000000000000002, "cpu_time": 3.0}"#, "t,q.x\n0.0,1.0\n0.1,0.3\n");
        assert_eq!(
            a.differences(&b),
            ["--json, line 2: \"t\": 0.1 → \"t\": 0.10000000000000002", "frames, line 3, q.x: 0.30000000000000004 → 0.3"]
        );
    }
}
