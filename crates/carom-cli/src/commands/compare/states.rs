//! A table of states as `carom run --csv` and `carom export` write it.

use crate::failure::Failure;
use std::path::{Path, PathBuf};

/// The fields of the table, as text.
pub struct States {
    path: PathBuf,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl States {
    /// Reads the file.
    ///
    /// # Errors
    /// A file that cannot be read or has no row.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(path).map_err(|error| wrong(path, &error.to_string()))?;
        let fields = |line: &str| line.split(',').map(|field| field.trim().to_owned()).collect::<Vec<_>>();
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let header = fields(lines.next().unwrap_or_default());
        let rows: Vec<Vec<String>> = lines.map(fields).collect();
        if rows.is_empty() {
            return Err(wrong(path, "it has no row of numbers"));
        }
        Ok(States { path: path.to_owned(), header, rows })
    }

    /// A column by name.
    ///
    /// # Errors
    /// A column that is missing, a field that is no number.
    pub fn column(&self, name: &str) -> Result<Vec<f64>, Failure> {
        (0..self.rows.len()).map(|row| self.field(row, name)).collect()
    }

    /// The last value of a column.
    ///
    /// # Errors
    /// As [`States::column`].
    pub fn last(&self, name: &str) -> Result<f64, Failure> {
        self.field(self.rows.len() - 1, name)
    }

    /// Refuses a table that ends at another time.
    ///
    /// # Errors
    /// In words, with what to do.
    pub fn check_end(&self, end: f64) -> Result<(), Failure> {
        check_end(&self.path, self.last("t")?, end)
    }

    fn field(&self, row: usize, name: &str) -> Result<f64, Failure> {
        let place = self.header.iter().position(|other| other == name);
        let place = place.ok_or_else(|| wrong(&self.path, &format!("there is no column \"{name}\"")))?;
        let text = self.rows[row].get(place).map_or("", String::as_str);
        text.parse().map_err(|_| wrong(&self.path, &format!("\"{text}\" in row {} of \"{name}\" is no number", row + 1)))
    }
}

/// Refuses a file whose last row is at another time.
///
/// # Errors
/// In words, with what to do.
pub fn check_end(path: &Path, t: f64, end: f64) -> Result<(), Failure> {
    if (t - end).abs() <= 1e-9 * end.abs().max(1.0) {
        return Ok(());
    }
    Err(wrong(path, &format!("its last row is at t = {t} s, the comparison ends at {end} s; give --end {t}")))
}

fn wrong(path: &Path, reason: &str) -> Failure {
    Failure::Input(format!("reference {}: {reason}", path.display()))
}
