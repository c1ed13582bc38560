//! `v(NODE)`, `v(NODE, NODE)` and `i(ELEMENT)` in formulas.

/// What a formula asks the circuit for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reference<'a> {
    /// Voltage between two nodes, or of one against ground.
    Voltage(&'a str, Option<&'a str>),
    /// Current of an element.
    Current(&'a str),
}

/// A piece of a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Text(&'a str),
    Reference(Reference<'a>),
}

/// The formula has a reference to the circuit.
pub(super) fn has_references(text: &str) -> bool {
    split(text).iter().any(|piece| matches!(piece, Piece::Reference(_)))
}

/// Splits a formula at its references to the circuit.
pub(super) fn split(text: &str) -> Vec<Piece<'_>> {
    let bytes = text.as_bytes();
    let (mut pieces, mut from, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        let begins_word = at == 0 || !(bytes[at - 1].is_ascii_alphanumeric() || matches!(bytes[at - 1], b'_' | b'.'));
        if begins_word && let Some((reference, end)) = reference_at(text, at) {
            pieces.push(Piece::Text(&text[from..at]));
            pieces.push(Piece::Reference(reference));
            (from, at) = (end, end);
        } else {
            at += 1;
        }
    }
    pieces.push(Piece::Text(&text[from..]));
    pieces
}

/// The reference that begins at a place, and where it ends.
fn reference_at(text: &str, at: usize) -> Option<(Reference<'_>, usize)> {
    let letter = text.as_bytes()[at].to_ascii_lowercase();
    if !matches!(letter, b'v' | b'i') {
        return None;
    }
    let rest = text[at + 1..].trim_start();
    let inner = rest.strip_prefix('(')?;
    let start = text.len() - inner.len();
    let end = start + inner.find(')')?;
    let names: Vec<&str> = text[start..end].split(',').map(str::trim).collect();
    let is_name = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let reference = match (letter, names.as_slice()) {
        _ if !names.iter().all(is_name) => return None,
        (b'v', [a]) => Reference::Voltage(a, None),
        (b'v', [a, b]) => Reference::Voltage(a, Some(b)),
        (b'i', [element]) => Reference::Current(element),
        _ => return None,
    };
    Some((reference, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_found_between_functions_and_names() {
        let pieces = split("if(v(out) > 1, i(R1)*div(2), V( a , 0 ))");
        let references: Vec<_> = pieces.iter().filter_map(|p| if let Piece::Reference(r) = p { Some(r.clone()) } else { None }).collect();
        assert_eq!(references, [Reference::Voltage("out", None), Reference::Current("R1"), Reference::Voltage("a", Some("0"))]);
        assert!(!has_references("sin(2*pi*t) + i + v + div(3)"));
    }
}
