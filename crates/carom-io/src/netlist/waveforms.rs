//! Values of sources: constants, sines, pulses and formulas, all as formulas of t.

use super::NetlistMistake;
use super::tokens::{Token, TokenKind};
use super::values::value;

/// The formula of a source from the words behind its nodes.
pub(super) fn waveform(name: &Token<'_>, words: &[Token<'_>], parameters: &[(String, f64)]) -> Result<String, NetlistMistake> {
    let help =
        "give a value, DC value, SIN(offset amplitude frequency), PULSE(low high delay rise fall width period), or a formula of t in {}";
    let Some(first) = words.first() else {
        return Err(NetlistMistake::new(name.span.clone(), format!("{} has no value", name.text), help));
    };
    if first.kind == TokenKind::Formula {
        return match words.get(1) {
            None => Ok(first.text.to_owned()),
            Some(extra) => Err(NetlistMistake::new(extra.span.clone(), format!("{} has more than a formula", name.text), help)),
        };
    }
    let keyword = first.text.to_ascii_uppercase();
    let (least, most, words) = match keyword.as_str() {
        "DC" => (1, 1, &words[1..]),
        "SIN" => (3, 5, &words[1..]),
        "PULSE" => (2, 7, &words[1..]),
        _ => (1, 1, words),
    };
    if !(least..=most).contains(&words.len()) {
        let extra = words.get(most).unwrap_or(first);
        let needed = if least == most { format!("{least}") } else { format!("{least} to {most}") };
        let message = format!("{} has {} values, {needed} are needed", name.text, words.len());
        return Err(NetlistMistake::new(extra.span.clone(), message, help));
    }
    let numbers: Vec<f64> = words.iter().map(|word| value(word, parameters)).collect::<Result<_, _>>()?;
    let at = |k: usize| numbers.get(k).copied().unwrap_or(0.0);
    match keyword.as_str() {
        "SIN" => Ok(sine(&[at(0), at(1), at(2), at(3), at(4)])),
        "PULSE" => pulse(&[at(0), at(1), at(2), at(3), at(4)], numbers.get(5).copied(), numbers.get(6).copied())
            .map_err(|message| NetlistMistake::new(first.span.clone(), format!("{}: {message}", name.text), help)),
        _ => Ok(format!("{:e}", at(0))),
    }
}

/// offset + amplitude sin(2π f (t − delay)) e^(−damping (t − delay)) from the delay on, the offset before.
fn sine(&[offset, amplitude, frequency, delay, damping]: &[f64; 5]) -> String {
    let since = if delay == 0.0 { "t".to_owned() } else { format!("(t - {delay:e})") };
    let decay = if damping == 0.0 { String::new() } else { format!("*exp(-{damping:e}*{since})") };
    let wave = format!("{offset:e} + {amplitude:e}*sin(2*pi*{frequency:e}*{since}){decay}");
    if delay == 0.0 { wave } else { format!("if(t < {delay:e}, {offset:e}, {wave})") }
}

/// From low to high and back; once without a period, for ever without a width.
fn pulse(&[low, high, delay, rise, fall]: &[f64; 5], width: Option<f64>, period: Option<f64>) -> Result<String, String> {
    if rise < 0.0 || fall < 0.0 || width.is_some_and(|w| w < 0.0) {
        return Err("times of a pulse are not negative".to_owned());
    }
    let since = format!("(t - {delay:e})");
    let phase = match period {
        Some(period) if period > 0.0 && rise + fall + width.unwrap_or(0.0) <= period => {
            format!("({since} - {period:e}*floor({since}/{period:e}))")
        }
        Some(period) => return Err(format!("the period {period} is shorter than rise, width and fall")),
        None => since.clone(),
    };
    let top = rise + width.unwrap_or(f64::INFINITY);
    let mut text = match width {
        None => format!("{high:e}"),
        Some(_) if fall > 0.0 => {
            format!("if({phase} < {:e}, {high:e} + {:e}*({phase} - {top:e}), {low:e})", top + fall, (low - high) / fall)
        }
        Some(_) => format!("{low:e}"),
    };
    if width.is_some() {
        text = format!("if({phase} < {top:e}, {high:e}, {text})");
    }
    if rise > 0.0 {
        text = format!("if({phase} < {rise:e}, {low:e} + {:e}*{phase}, {text})", (high - low) / rise);
    }
    Ok(format!("if({since} < 0, {low:e}, {text})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use carom_dynamics::formula::{Graph, Scope, Tape, parse};

    fn at(text: &str, t: f64) -> f64 {
        let (mut graph, mut scope) = (Graph::new(), Scope::new());
        let symbol = graph.symbol("t");
        scope.symbol("t", symbol);
        let e = parse(&mut graph, text, &scope).unwrap();
        let mut out = [0.0];
        Tape::compile(&graph, &[symbol], &[e]).unwrap().evaluate(&[t], &mut Vec::new(), &mut out);
        out[0]
    }

    #[test]
    fn pulses_rise_fall_and_repeat() {
        let text = pulse(&[-1.0, 3.0, 1.0, 0.5, 0.25], Some(1.0), Some(4.0)).unwrap();
        for (t, x) in [(0.5, -1.0), (1.25, 1.0), (1.5, 3.0), (2.4, 3.0), (2.625, 1.0), (3.0, -1.0), (5.25, 1.0), (6.0, 3.0)] {
            assert_eq!(at(&text, t), x, "{t}");
        }
        let step = pulse(&[0.0, 2.0, 1.0, 0.0, 0.0], None, None).unwrap();
        assert_eq!((at(&step, 0.9), at(&step, 1.1), at(&step, 99.0)), (0.0, 2.0, 2.0));
        assert!(pulse(&[0.0, 1.0, 0.0, 1.0, 1.0], Some(1.0), Some(2.0)).is_err());
    }

    #[test]
    fn sines_wait_and_decay() {
        let text = sine(&[1.0, 2.0, 0.25, 1.0, 0.5]);
        assert_eq!(at(&text, 0.5), 1.0);
        assert!((at(&text, 2.0) - (1.0 + 2.0 * (-0.5_f64).exp())).abs() < 1e-15); // rounding
    }
}
