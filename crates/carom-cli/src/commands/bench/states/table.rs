//! The table of final states as a file, and its comparison with a new one.

use super::row::StateRow;
use crate::failure::Failure;
use std::path::Path;

/// What the file says of itself.
const HEADER: &str = "\
# Where every model of the gallery ends, by its own method and by every strategy and scheme that runs it.
# Written by `carom bench states models --write models/final-states.csv`, compared by `carom bench states models --check models/final-states.csv`.
# A row: model, method (own, or the one word that was changed), the method in full, quantities. Own methods run to the end of the model, heavy ones
# for fewer steps; other methods run over about 20 steps. q, v, x: by name, or for large models their norm and the sum of cos(i) times the i-th.
# Then every number of `carom run --json` but times, and the sums of the times and impulses of the events. What is zero, or a real number below 1e-9, is left out.
# Counts are compared exactly, other numbers to 1e-6 of themselves, 1e-7 of the largest of their group, and 1e-9; with steps that are chosen by their error
# to 1e-3 and 1e-6. What integrators did (steps, evaluations, iterations) is not in it: another processor may change it. Runs are on one thread; threads
# change no bit.
model,method,by,quantities
";

/// All rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateTable {
    pub rows: Vec<StateRow>,
}

impl StateTable {
    /// The file.
    pub fn text(&self) -> String {
        let lines: Vec<String> = self.rows.iter().map(StateRow::line).collect();
        format!("{HEADER}{}\n", lines.join("\n"))
    }

    /// Reads the file.
    ///
    /// # Errors
    /// A file that cannot be read, a line that is none of the table.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let wrong = |what: String| Failure::Input(format!("{}: {what}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let is_row = |line: &str| !line.starts_with('#') && !line.starts_with("model,method,") && !line.is_empty();
        let lines = text.lines().enumerate().filter(|(_, line)| is_row(line));
        let row = |(k, line): (usize, &str)| StateRow::parse(line).ok_or_else(|| wrong(format!("line {} is no row of the table", k + 1)));
        Ok(StateTable { rows: lines.map(row).collect::<Result<_, _>>()? })
    }

    /// What differs in a newer table of these models and methods, a line each.
    pub fn differences(&self, new: &StateTable, is_asked: impl Fn(&StateRow) -> bool) -> Vec<String> {
        let mut found = Vec::new();
        let find = |table: &StateTable, row: &StateRow| table.rows.iter().find(|r| r.model == row.model && r.method == row.method).cloned();
        for old in self.rows.iter().filter(|row| is_asked(row)) {
            match find(new, old) {
                Some(row) => found.extend(old.differences(&row).into_iter().map(|line| format!("{} by {}: {line}", old.model, old.method))),
                None => found.push(format!("{} by {}: runs no more", old.model, old.method)),
            }
        }
        let is_new = |row: &&StateRow| find(self, row).is_none();
        found.extend(new.rows.iter().filter(is_new).map(|row| format!("{} by {}: has no row in the table", row.model, row.method)));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_come_and_go_are_told() {
        let row = |model: &str, method: &str| StateRow { model: model.to_owned(), method: method.to_owned(), ..StateRow::default() };
        let old = StateTable { rows: vec![row("a", "own"), row("a", "prox"), row("b", "own")] };
        let new = StateTable { rows: vec![row("a", "own"), row("b", "own"), row("c", "own")] };
        assert_eq!(old.differences(&new, |_| true), ["a by prox: runs no more", "c by own: has no row in the table"]);
        assert_eq!(old.differences(&new, |row| row.method == "own"), ["c by own: has no row in the table"]);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("states.csv");
        std::fs::write(&file, old.text()).unwrap();
        assert_eq!(StateTable::read(&file).ok(), Some(old));
    }
}
