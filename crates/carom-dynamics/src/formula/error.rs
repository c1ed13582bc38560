//! What can be wrong with a formula, and where.

use std::ops::Range;

use thiserror::Error;

/// How many known names a message lists.
const MAX_LISTED: usize = 12;

/// A formula that could not be read.
///
/// The message says what is wrong and how to mend it; the position is in [`span`](Self::span).
#[derive(Clone, PartialEq, Debug, Error)]
#[error("{kind}")]
pub struct FormulaError {
    /// What is wrong.
    pub kind: FormulaErrorKind,
    /// Byte range in the text of the formula; empty and at the end if something is missing there.
    pub span: Range<usize>,
}

impl FormulaError {
    /// The column of the fault in `text`, the formula: characters counted from 1.
    pub fn column(&self, text: &str) -> usize {
        1 + text.char_indices().take_while(|&(at, _)| at < self.span.start).count()
    }
}

/// The faults a formula can have.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum FormulaErrorKind {
    /// There is nothing but blanks.
    #[error("the formula is empty: write an expression such as `0` or `m*g*x`")]
    Empty,
    /// Longer than [`MAX_BYTES`](super::MAX_BYTES).
    #[error("the formula is longer than {limit} bytes: name its parts and combine them")]
    TooLong {
        /// Largest allowed length in bytes.
        limit: usize,
    },
    /// Nested deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    #[error("parentheses, signs or powers are nested more than {limit} deep: name parts of the formula")]
    TooDeep {
        /// Largest allowed depth.
        limit: usize,
    },
    /// More than [`MAX_NODES`](super::MAX_NODES) operators and operands.
    #[error("the formula has more than {limit} operators and operands: name its parts and combine them")]
    TooLarge {
        /// Largest allowed number.
        limit: usize,
    },
    /// A character that no formula contains.
    #[error("a formula cannot contain {character:?}{}", hint.map(|h| format!(": {h}")).unwrap_or_default())]
    UnexpectedCharacter {
        /// The character.
        character: char,
        /// What to write instead.
        hint: Option<&'static str>,
    },
    /// Something that starts like a number but is none, or is too large.
    #[error("`{text}` is not a number: write for example 2, 0.5 or 1e-3, at most 1.7e308")]
    BadNumber {
        /// The text as written.
        text: String,
    },
    /// A token where another kind of token has to be.
    #[error("found `{found}` where {expected} should be")]
    UnexpectedToken {
        /// The token as written.
        found: String,
        /// What can stand there.
        expected: &'static str,
    },
    /// The formula stops too early.
    #[error("the formula ends where {expected} should be")]
    UnexpectedEnd {
        /// What can stand there.
        expected: &'static str,
    },
    /// A parenthesis without its partner; the span is that of `(`.
    #[error("this `(` is never closed: add the missing `)`")]
    UnclosedParenthesis,
    /// `a < b < c`.
    #[error("comparisons cannot be chained: write `a < b and b < c`")]
    ChainedComparison,
    /// A name that is not in the scope.
    #[error("there is no `{name}` here{}", suggest(nearest.as_deref(), known))]
    UnknownName {
        /// The name as written.
        name: String,
        /// The name that was probably meant.
        nearest: Option<String>,
        /// All names that could be used.
        known: Vec<String>,
    },
    /// A call of something that is no function.
    #[error("there is no function `{name}`{}", suggest_function(name, nearest.as_deref()))]
    UnknownFunction {
        /// The name as written.
        name: String,
        /// The function that was probably meant.
        nearest: Option<String>,
    },
    /// A variable followed by `(`.
    #[error("`{name}` is a variable, not a function: write `{name}*(...)` for a product")]
    NotAFunction {
        /// The variable.
        name: String,
    },
    /// A function without `(`.
    #[error("`{function}` is a function: write its argument in parentheses, `{function}(...)`")]
    MissingArguments {
        /// The function.
        function: &'static str,
    },
    /// A function called with too few or too many arguments.
    #[error("`{function}` takes {expected} argument{}, not {found}", if *expected == "1" { "" } else { "s" })]
    WrongArgumentCount {
        /// The function.
        function: &'static str,
        /// The number it takes, in words.
        expected: &'static str,
        /// The number given.
        found: usize,
    },
}

fn suggest(nearest: Option<&str>, known: &[String]) -> String {
    if let Some(nearest) = nearest {
        return format!(": did you mean `{nearest}`?");
    }
    let more = if known.len() > MAX_LISTED { ", ..." } else { "" };
    let listed = known.iter().take(MAX_LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
    format!(": known names are {listed}{more}")
}

fn suggest_function(name: &str, nearest: Option<&str>) -> String {
    match (name, nearest) {
        ("log", _) => ": use `ln` (natural) or `log10` (decimal)".to_owned(),
        (_, Some(nearest)) => format!(": did you mean `{nearest}`?"),
        (_, None) => ": see the list of functions; products are written with `*`".to_owned(),
    }
}
