//! Numbers of a netlist: `4.7k`, `10uF`, a parameter, or a formula of parameters.

use super::NetlistMistake;
use super::tokens::{Token, TokenKind};
use carom_dynamics::formula::{self, Graph, Scope};
use carom_dynamics::nearest::nearest;

/// Suffixes of numbers; `meg` before `m`.
const SUFFIXES: [(&str, f64); 11] = [
    ("meg", 1e6),
    ("t", 1e12),
    ("g", 1e9),
    ("k", 1e3),
    ("m", 1e-3),
    ("u", 1e-6),
    ("µ", 1e-6),
    ("μ", 1e-6),
    ("n", 1e-9),
    ("p", 1e-12),
    ("f", 1e-15),
];

/// Units that may follow.
const UNITS: [&str; 11] = ["", "f", "h", "v", "a", "s", "hz", "ohm", "ohms", "ω", "w"];

/// The value of a token.
pub(super) fn value(token: &Token<'_>, parameters: &[(String, f64)]) -> Result<f64, NetlistMistake> {
    let wrong = |message: String, help: String| Err(NetlistMistake::new(token.span.clone(), message, help));
    match token.kind {
        TokenKind::Equals => wrong("a value is missing before =".to_owned(), "write KEY=value".to_owned()),
        TokenKind::Formula => {
            let (mut scope, mut graph) = (Scope::new(), Graph::new());
            for (name, value) in parameters {
                scope.constant(name, *value);
            }
            match formula::parse(&mut graph, token.text, &scope).map(|e| graph.as_constant(e)) {
                Ok(Some(x)) if x.is_finite() => Ok(x),
                Ok(_) => wrong(format!("\"{}\" is not a finite number", token.text), "use numbers and parameters only".to_owned()),
                Err(error) => wrong(format!("the formula \"{}\": {error}", token.text), "use numbers and parameters only".to_owned()),
            }
        }
        TokenKind::Word => {
            if let Some((_, value)) = parameters.iter().find(|(name, _)| name == token.text) {
                return Ok(*value);
            }
            number(token.text).map_err(|help| {
                let near = nearest(token.text, parameters.iter().map(|(name, _)| name.as_str()));
                let help = near.map_or(help, |near| format!("did you mean the parameter \"{near}\"?"));
                NetlistMistake::new(token.span.clone(), format!("\"{}\" is not a number", token.text), help)
            })
        }
    }
}

/// A number with its suffix; otherwise how to write it.
fn number(text: &str) -> Result<f64, String> {
    let general = || "write a number such as 1e-3, 4.7k, 10u, 1meg, the name of a parameter, or a formula of parameters in {}".to_owned();
    let digits = mantissa(text);
    let x: f64 = text[..digits].parse().map_err(|_| general())?;
    let tail = &text[digits..];
    match tail {
        "" => return Ok(x),
        "M" => return Err(format!("SPICE reads M as milli: write {x}m for milli or {x}meg for mega")),
        "F" => return Err(format!("SPICE reads F as femto: write {x} for farad or {x}f for femto")),
        _ => {}
    }
    let lower = tail.to_lowercase();
    let is_unit = |rest: &str| UNITS.contains(&rest);
    if tail.starts_with('M') && !lower.starts_with("meg") {
        return Err(format!("SPICE reads M as milli: write {x}m for milli or {x}meg for mega"));
    }
    let found = SUFFIXES.iter().find(|(suffix, _)| lower.strip_prefix(suffix).is_some_and(is_unit));
    match found {
        Some((_, factor)) => Ok(scaled(x, *factor)),
        None if is_unit(&lower) => Ok(x),
        None => Err(general()),
    }
}

/// x · 10ᵏ as the decimal number would be read: 4.7m is 0.0047, without the rounding of a product.
fn scaled(x: f64, factor: f64) -> f64 {
    let exponent = factor.log10().round() as i32;
    format!("{x:e}")
        .split_once('e')
        .and_then(|(m, e)| format!("{m}e{}", e.parse::<i32>().ok()? + exponent).parse().ok())
        .unwrap_or(x * factor)
}

/// Length of the number at the beginning, without its suffix.
fn mantissa(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut at = digits(usize::from(matches!(bytes.first(), Some(b'+' | b'-'))));
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let end = digits(sign);
        if end > sign {
            at = end;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_scale_and_units_are_read_over() {
        for (text, x) in [
            ("1k", 1e3),
            ("4.7m", 4.7e-3),
            ("10uF", 10e-6),
            ("2.2µH", 2.2e-6),
            ("1meg", 1e6),
            ("1MEGohm", 1e6),
            ("-3e-2", -3e-2),
            ("5V", 5.0),
            ("100p", 100e-12),
            ("1f", 1e-15),
            ("98.5u", 98.5e-6),
            (".5", 0.5),
        ] {
            assert_eq!(number(text), Ok(x), "{text}");
        }
    }

    #[test]
    fn ambiguous_and_unknown_suffixes_are_refused() {
        assert!(number("1M").unwrap_err().contains("meg"));
        assert!(number("1F").unwrap_err().contains("femto"));
        for bad in ["1q", "k", "", "1..2", "1kk"] {
            assert!(number(bad).is_err(), "{bad}");
        }
    }
}
