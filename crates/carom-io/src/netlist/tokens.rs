//! Lines of a netlist as words.

use super::NetlistMistake;
use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    /// `{…}` or `"…"`, without its brackets.
    Formula,
    Equals,
}

/// A token with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub kind: TokenKind,
    pub text: &'a str,
    pub span: Range<usize>,
}

/// The lines that have something in them, with those that go on behind `+`.
pub(super) fn lines(text: &str) -> Result<Vec<Vec<Token<'_>>>, NetlistMistake> {
    let mut lines: Vec<Vec<Token<'_>>> = Vec::new();
    let mut start = 0;
    for raw in text.split_inclusive('\n') {
        let (at, line) = (start, raw.trim_end());
        start += raw.len();
        let indent = line.len() - line.trim_start().len();
        let body = line.trim_start();
        match body.as_bytes().first() {
            None | Some(b'*') => continue,
            Some(b'.') if body.eq_ignore_ascii_case(".end") => continue,
            Some(b'.') => {
                let span = at + indent..at + line.len();
                let help = "leave it out: step, end time and records are set in [simulation] and [record]";
                return Err(NetlistMistake::new(span, format!("the directive \"{body}\" is not read"), help));
            }
            _ => {}
        }
        let goes_on = body.starts_with('+');
        let skipped = indent + usize::from(goes_on);
        let words = tokens(&line[skipped..], at + skipped)?;
        if words.is_empty() {
            continue;
        }
        match (goes_on, lines.last_mut()) {
            (true, Some(before)) => before.extend(words),
            (true, None) => {
                let span = at + indent..at + indent + 1;
                return Err(NetlistMistake::new(span, "there is no line before that goes on here", "take the + away"));
            }
            (false, _) => lines.push(words),
        }
    }
    Ok(lines)
}

/// The tokens of one line; `at` is its place.
fn tokens(line: &str, at: usize) -> Result<Vec<Token<'_>>, NetlistMistake> {
    let (mut found, mut from) = (Vec::new(), 0);
    while let Some(first) = line[from..].chars().next() {
        let rest = &line[from..];
        let (kind, text, begin, length) = match first {
            ';' => break,
            c if c.is_whitespace() || matches!(c, '(' | ')' | ',') => {
                from += c.len_utf8();
                continue;
            }
            '=' => (TokenKind::Equals, "=", from, 1),
            '{' | '"' => {
                let closing = if first == '{' { '}' } else { '"' };
                let Some(end) = rest[1..].find(closing) else {
                    let span = at + from..at + line.len();
                    return Err(NetlistMistake::new(span, "a formula is not closed", format!("end it with {closing} on the same line")));
                };
                (TokenKind::Formula, &rest[1..=end], from + 1, end + 2)
            }
            _ => {
                let is_end = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | ';' | '=' | '{' | '"');
                let end = rest.find(is_end).unwrap_or(rest.len());
                (TokenKind::Word, &rest[..end], from, end)
            }
        };
        found.push(Token { kind, text, span: at + begin..at + begin + text.len() });
        from += length;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_formulas_and_comments_are_told_apart() {
        let text = "* title\nV1 in 0 SIN(0, 10 50) ; mains\nC1 a 0 1u IC = {2*v0}\n+ \"x\"\n.end\n";
        let lines = lines(text).unwrap();
        let words: Vec<Vec<&str>> = lines.iter().map(|line| line.iter().map(|t| t.text).collect()).collect();
        assert_eq!(words, [vec!["V1", "in", "0", "SIN", "0", "10", "50"], vec!["C1", "a", "0", "1u", "IC", "=", "2*v0", "x"]]);
        assert!(lines.iter().flatten().all(|t| &text[t.span.clone()] == t.text));
        assert_eq!(lines[1][6].kind, TokenKind::Formula);
    }
}
