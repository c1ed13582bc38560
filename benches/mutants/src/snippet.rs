//! Texts that are found in source files whatever their line breaks.

use std::ops::Range;

/// Text with a marked part; white space of any length counts as one space.
#[derive(Clone, Debug, PartialEq)]
pub struct Snippet {
    text: String,
    marked: Range<usize>,
}

const MARKS: [char; 2] = ['⟦', '⟧'];

impl Snippet {
    /// Reads a text with one pair of ⟦marks⟧.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("one pair of marks {}…{} is needed in `{text}`", MARKS[0], MARKS[1]);
        let flat = Flat::of(text).text;
        let (before, rest) = flat.split_once(MARKS[0]).ok_or_else(wrong)?;
        let (inside, after) = rest.split_once(MARKS[1]).ok_or_else(wrong)?;
        if inside.is_empty() || after.contains(MARKS) || inside.contains(MARKS) {
            return Err(wrong());
        }
        let marked = before.len()..before.len() + inside.len();
        Ok(Snippet { text: format!("{before}{inside}{after}"), marked })
    }

    /// Where its marked part stands in a source, for every place in which the snippet occurs.
    pub fn places(&self, source: &Flat) -> Vec<Range<usize>> {
        let starts = source.text.match_indices(&self.text);
        starts.map(|(at, _)| source.origin(at + self.marked.start)..source.origin(at + self.marked.end - 1) + 1).collect()
    }
}

/// A text with single spaces for white space, and where each byte comes from.
#[derive(Clone, Debug)]
pub struct Flat {
    text: String,
    origins: Vec<usize>,
}

impl Flat {
    /// Of a source.
    pub fn of(source: &str) -> Self {
        let mut flat = Flat { text: String::with_capacity(source.len()), origins: Vec::with_capacity(source.len()) };
        let mut in_space = false;
        for (at, x) in source.char_indices() {
            let is_space = x.is_whitespace();
            if !(is_space && in_space) {
                let before = flat.text.len();
                flat.text.push(if is_space { ' ' } else { x });
                flat.origins.extend((0..flat.text.len() - before).map(|k| at + k));
            }
            in_space = is_space;
        }
        flat
    }

    fn origin(&self, at: usize) -> usize {
        self.origins[at]
    }
}

#[cfg(test)]
mod tests {
    use super::{Flat, Snippet};

    #[test]
    fn line_breaks_do_not_matter() {
        let source = "let x = a\n        .max(β)\n        .min(c);";
        let snippet = Snippet::parse("a .max(⟦β⟧) .min").unwrap();
        let places = snippet.places(&Flat::of(source));
        assert_eq!(places.len(), 1);
        assert_eq!(&source[places[0].clone()], "β");
    }

    #[test]
    fn a_part_has_to_be_marked() {
        for text in ["x + y", "⟦x", "x⟧", "⟦⟧x", "⟦x⟧ ⟦y⟧"] {
            assert!(Snippet::parse(text).is_err(), "{text}");
        }
    }
}
