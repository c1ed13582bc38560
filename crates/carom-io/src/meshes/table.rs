//! Tables of numbers: rows of a text, separated by spaces, tabs, commas or semicolons.

use super::{MAX_TRIANGLES, MeshError};

/// A table of numbers, row by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NumberTable {
    /// Numbers per row.
    pub columns: usize,
    /// All numbers, row after row.
    pub values: Vec<f64>,
}

/// Reads rows of equal length; empty lines and what follows a `#` are passed over.
///
/// # Errors
/// [`MeshError`] for what is not a finite number, for rows of different length, for a table without rows or a very large one.
pub(crate) fn read_table(text: &str) -> Result<NumberTable, MeshError> {
    let mut table = NumberTable::default();
    for (number, line) in text.lines().enumerate() {
        let wrong = |reason: String| MeshError::Line { line: number + 1, reason };
        let (before, line) = (table.values.len(), line.split('#').next().unwrap_or_default());
        for word in line.split(|c: char| c.is_whitespace() || c == ',' || c == ';').filter(|word| !word.is_empty()) {
            let value = word.parse().ok().filter(|x: &f64| x.is_finite());
            table.values.push(value.ok_or_else(|| wrong(format!("\"{word}\" is not a finite number")))?);
        }
        let found = table.values.len() - before;
        if table.values.len() > MAX_TRIANGLES {
            return Err(MeshError::TooLarge { limit: MAX_TRIANGLES });
        }
        match (found, table.columns) {
            (0, _) => {}
            (_, 0) => table.columns = found,
            (_, columns) if found != columns => return Err(wrong(format!("a row of {found} numbers, but the first has {columns}"))),
            _ => {}
        }
    }
    if table.values.is_empty() { Err(MeshError::NoNumbers) } else { Ok(table) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_whatever_separates_them() {
        let table = read_table("# x\n1, 2,3\n\n4\t5;6e0 # end\n").unwrap();
        assert_eq!((table.columns, table.values), (3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        let message = |text: &str| read_table(text).unwrap_err().to_string();
        assert_eq!(message("1 2\n3"), "line 2: a row of 1 numbers, but the first has 2");
        assert_eq!(message("1 inf"), "line 1: \"inf\" is not a finite number");
        assert_eq!(message("# nothing"), "the file has no numbers");
    }
}
