//! Text → tokens.

use std::ops::Range;

use super::error::{FormulaError, FormulaErrorKind};

/// What a token is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum TokenKind {
    Number(f64),
    Name,
    Plus,
    Minus,
    Star,
    Slash,
    Caret,
    Open,
    Close,
    Comma,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
    /// The word `not`, which binds looser than comparisons.
    Not,
    /// The sign `!`, which binds like a unary minus.
    Bang,
    End,
}

/// A token and its place in the text.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Range<usize>,
}

/// Operators, longer ones before their beginnings.
const OPERATORS: [(&str, TokenKind); 18] = [
    ("**", TokenKind::Caret),
    ("<=", TokenKind::LessEqual),
    (">=", TokenKind::GreaterEqual),
    ("==", TokenKind::Equal),
    ("!=", TokenKind::NotEqual),
    ("&&", TokenKind::And),
    ("||", TokenKind::Or),
    ("+", TokenKind::Plus),
    ("-", TokenKind::Minus),
    ("*", TokenKind::Star),
    ("/", TokenKind::Slash),
    ("^", TokenKind::Caret),
    ("(", TokenKind::Open),
    (")", TokenKind::Close),
    (",", TokenKind::Comma),
    ("<", TokenKind::Less),
    (">", TokenKind::Greater),
    ("!", TokenKind::Bang),
];

/// All tokens of the text, `End` last.
pub(super) fn tokenize(text: &str) -> Result<Vec<Token>, FormulaError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if c.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let token = read_token(text, at, c)?;
        at = token.span.end;
        tokens.push(token);
    }
    tokens.push(Token { kind: TokenKind::End, span: text.len()..text.len() });
    Ok(tokens)
}

fn read_token(text: &str, at: usize, c: char) -> Result<Token, FormulaError> {
    let rest = &text[at..];
    if c.is_ascii_digit() || (c == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
        return read_number(text, at);
    }
    if c.is_ascii_alphabetic() || c == '_' {
        let span = at..at + name_length(rest);
        let kind = match &text[span.clone()] {
            "and" => TokenKind::And,
            "or" => TokenKind::Or,
            "not" => TokenKind::Not,
            _ => TokenKind::Name,
        };
        return Ok(Token { kind, span });
    }
    match OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign)) {
        Some(&(sign, kind)) => Ok(Token { kind, span: at..at + sign.len() }),
        None => Err(FormulaError {
            kind: FormulaErrorKind::UnexpectedCharacter { character: c, hint: hint_for(c) },
            span: at..at + c.len_utf8(),
        }),
    }
}

/// Length of the name at the start of `rest`: parts joined by single dots.
fn name_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let is_start = |b: u8| b.is_ascii_alphabetic() || b == b'_';
    let mut end = 0;
    while let Some(&b) = bytes.get(end) {
        let continues = match b {
            b'.' => bytes.get(end + 1).is_some_and(|&next| is_start(next)),
            b => is_start(b) || b.is_ascii_digit(),
        };
        if !continues {
            break;
        }
        end += 1;
    }
    end
}

/// Digits with at most one point, then an exponent if digits follow the `e`.
fn read_number(text: &str, at: usize) -> Result<Token, FormulaError> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut end = at + digits(at);
    if bytes.get(end) == Some(&b'.') {
        end += 1 + digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let from = end + 1 + sign;
        let count = if from <= bytes.len() { digits(from) } else { 0 };
        if count > 0 {
            end = from + count;
        }
    }
    // `1.2.3` is one bad number, not a number and something else.
    let tail = bytes[end..].iter().take_while(|&&b| b == b'.' || b.is_ascii_digit()).count();
    let span = at..end + tail;
    match text[span.clone()].parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(Token { kind: TokenKind::Number(x), span }),
        _ => Err(FormulaError { kind: FormulaErrorKind::BadNumber { text: text[span.clone()].to_owned() }, span }),
    }
}

fn hint_for(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{2212}' | '\u{2013}' | '\u{2014}' => "write the minus sign as `-`",
        '\u{b7}' | '\u{d7}' | '\u{22c5}' => "write a product with `*`",
        '\u{f7}' => "write a quotient with `/`",
        '\u{b2}' => "write a square as `^2`",
        '\u{b3}' => "write a cube as `^3`",
        '\u{3c0}' => "write `pi`",
        '\u{2264}' => "write `<=`",
        '\u{2265}' => "write `>=`",
        '\u{2260}' => "write `!=`",
        '=' => "write `==` to compare; a formula assigns nothing",
        '&' => "write `and`",
        '|' => "write `or`, or `abs(x)` for an absolute value",
        '[' | ']' | '{' | '}' => "use `(` and `)`",
        '%' => "there is no remainder; percentages are written as numbers",
        '?' | ':' => "write a choice as `if(condition, a, b)`",
        ';' => "separate arguments with `,`",
        '\'' | '"' => "derivatives are made by the program, and there are no strings",
        '.' => "a point stands inside a number or between the parts of a name",
        c if c.is_whitespace() => "use plain blanks",
        c if c.is_alphabetic() => "names consist of the letters a-z, A-Z, digits and `_`",
        _ => return None,
    })
}
