//! Code without what is no dependency, and the paths in it.

/// The code with comments, strings and items under `#[cfg(test)]` turned into blanks: lines stay where they are.
pub fn code_only(text: &str) -> String {
    without_tests(&without_words(text))
}

/// The names of modules that files of their own hold and only tests have: `#[cfg(test)] mod name;`.
pub fn test_modules(text: &str) -> Vec<String> {
    let code = without_words(text);
    code.split("#[cfg(test)]")
        .skip(1)
        .filter_map(|after| {
            after.split(';').next()?.trim_start().strip_prefix("mod ").map(str::trim).filter(|name| is_name(name)).map(String::from)
        })
        .collect()
}

/// Every path after `start` (`crate::`, `super::`): the byte at which `start` stands and its ends, groups spread out: `crate::{a, b::C}` ends in
/// [a] and [b, C].
pub fn paths<'a>(code: &'a str, start: &'a str) -> impl Iterator<Item = (usize, Vec<Vec<&'a str>>)> {
    code.match_indices(start).filter(|(at, _)| !code[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')).map(
        move |(at, _)| {
            let mut ends = Vec::new();
            spread(&code[at + start.len()..], &mut Vec::new(), &mut ends);
            (at, ends)
        },
    )
}

/// Reads one path with its groups from the start of `text`; gives what follows it.
fn spread<'a>(text: &'a str, before: &mut Vec<&'a str>, ends: &mut Vec<Vec<&'a str>>) -> &'a str {
    let mut rest = text.trim_start();
    let depth = before.len();
    if let Some(group) = rest.strip_prefix('{') {
        rest = group.trim_start();
        while !rest.is_empty() && !rest.starts_with('}') {
            let after = spread(rest, before, ends).trim_start();
            rest = after.strip_prefix(',').unwrap_or(after).trim_start();
            if after.len() == rest.len() && !rest.starts_with('}') {
                break;
            }
        }
        rest = rest.strip_prefix('}').unwrap_or(rest);
    } else {
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '*')).unwrap_or(rest.len());
        before.push(&rest[..length]);
        rest = &rest[length..];
        if let Some(next) = rest.strip_prefix("::").filter(|next| !next.starts_with('<')) {
            rest = spread(next, before, ends);
        } else {
            ends.push(before.clone());
            if let Some(name) = rest.strip_prefix(" as ") {
                rest = &name[name.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(name.len())..];
            }
        }
    }
    before.truncate(depth);
    rest
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Comments, strings and characters become blanks.
fn without_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' {
            string_end(rest, 1)
        } else if first == 'r'
            && (rest.starts_with("r\"") || rest.starts_with("r#"))
            && !out.ends_with(|c: char| c.is_alphanumeric() || c == '_')
        {
            let hashes = rest[1..].chars().take_while(|c| *c == '#').count();
            let close = format!("\"{}", "#".repeat(hashes));
            let body = hashes + 2;
            rest.get(body..).and_then(|inner| inner.find(&close)).map_or(rest.len(), |end| body + end + close.len())
        } else if first == '\'' {
            character_length(rest)
        } else {
            0
        };
        if length == 0 {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            out.extend(rest[..length].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
            rest = &rest[length..];
        }
    }
    out
}

/// The length of a string that has begun, with its closing quote.
fn string_end(text: &str, begin: usize) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(begin) {
        if c == '"' && !escaped {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

/// The length of `'x'` or `'\n'`; 1 for the quote of a lifetime.
fn character_length(text: &str) -> usize {
    let inner = &text[1..];
    if inner.starts_with('\\') {
        return inner[2..].find('\'').map_or(1, |end| end + 4);
    }
    let c = inner.chars().next().map_or(0, char::len_utf8);
    if inner[c..].starts_with('\'') { c + 2 } else { 1 }
}

/// Items under `#[cfg(test)]` become blanks, up to their closing brace or semicolon.
fn without_tests(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find("#[cfg(test)]") {
        let item = &rest[at..];
        let (mut depth, mut end) = (0, item.len());
        for (i, c) in item.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 && (c == '}' || c == ';') {
                end = i + 1;
                break;
            }
        }
        out.push_str(&rest[..at]);
        out.extend(item[..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = &item[end..];
    }
    out + rest
}

#[test]
fn code_only_is_left() {
    let text = "use crate::a; // crate::b\nlet s = \"crate::c\"; let c = '\"'; fn f<'a>() {}\n#[cfg(test)]\nmod tests { use crate::d; }\nuse crate::e;";
    let code = code_only(text);
    assert_eq!(paths(&code, "crate::").map(|(_, ends)| ends).collect::<Vec<_>>(), [vec![vec!["a"]], vec![vec!["e"]]]);
    assert_eq!(code.lines().count(), text.lines().count());
}

#[test]
fn groups_are_spread() {
    let code = "use crate::{a, b::{C, d::*}, E as F}; fn g() { crate::h::i::<u8>(); other_crate::j(); }";
    let ends: Vec<_> = paths(code, "crate::").flat_map(|(_, ends)| ends).collect();
    assert_eq!(ends, [vec!["a"], vec!["b", "C"], vec!["b", "d", "*"], vec!["E"], vec!["h", "i"]]);
}
