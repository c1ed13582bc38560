//! Controllers that are ready: PID, computed torque, passivity-based tracking, sliding modes, twisting, observers.

use super::super::components::choose;
use super::super::error::Diagnostic;
use super::super::numbers::{Must, Reader};
use super::super::value::Value;
use super::controllers::Section;
use super::limits;
use carom_dynamics::control::ready::{ObserverSource, PidSource, SlidingSource, TwistingSource};
use carom_dynamics::control::{ControlSource, ControllerSource, ModelBasedKind, ModelBasedSource};
use toml::Spanned;

type Texts = Spanned<Vec<Spanned<String>>>;

fn list(texts: &Texts) -> Vec<String> {
    texts.get_ref().iter().map(|text| text.get_ref().clone()).collect()
}

fn optional(text: Option<&Spanned<String>>) -> String {
    text.map_or_else(String::new, |text| text.get_ref().clone())
}

/// The controller, or what the library says is wrong with it.
fn built(
    reader: &mut Reader<'_>,
    it: &Section<'_>,
    made: Result<ControllerSource, carom_dynamics::ModelError>,
) -> Option<ControllerSource> {
    made.map_err(|error| reader.mistakes.push(Diagnostic::new(it.span.clone(), error.to_string()))).ok()
}

pub(super) fn pid(reader: &mut Reader<'_>, it: &Section<'_>) -> Option<ControllerSource> {
    let s = it.s;
    let Some(error) = &s.error else {
        return it.missing(reader, "error", "give the formula of what is to vanish: error = \"reference - measured\"");
    };
    let mut number = |value: Option<&Spanned<Value>>, default: f64, key: &str, must: Must| {
        reader.number_or(value, default, &format!("`{key}` of {}", it.what), must)
    };
    let proportional = number(s.kp.as_ref(), 0.0, "kp", Must::BeFinite)?;
    let integral = number(s.ki.as_ref(), 0.0, "ki", Must::BeFinite)?;
    let derivative = number(s.kd.as_ref(), 0.0, "kd", Must::BeFinite)?;
    let filter = number(s.filter.as_ref(), 0.0, "filter", Must::NotBeNegative)?;
    let tracking = match &s.tracking {
        Some(value) => number(Some(value), 0.0, "tracking", Must::BePositive)?,
        // the time constant of the integral itself, where both are there
        None if proportional != 0.0 && integral != 0.0 => (proportional / integral).abs(),
        None => 1.0,
    };
    let limits = limits(reader, s.limits.as_ref(), &it.what)?;
    let source = PidSource {
        name: it.name.clone(),
        clock: it.clock,
        error: error.get_ref().clone(),
        rate: optional(s.rate.as_ref()),
        proportional,
        integral,
        derivative,
        filter,
        limits,
        tracking,
    };
    let made = source.controller();
    built(reader, it, made)
}

/// One number for all coordinates, or a list.
fn gains(reader: &mut Reader<'_>, it: &Section<'_>, value: Option<&Spanned<Value>>, (key, n): (&str, usize)) -> Option<Vec<f64>> {
    let Some(value) = value else {
        return it.missing(reader, key, &format!("give one number, or a list of {n}, one per coordinate"));
    };
    let what = format!("`{key}` of {}", it.what);
    match value.get_ref() {
        Value::List(_) => reader.numbers(value.get_ref(), value.span(), n, &what),
        _ => Some(vec![reader.number(value, &what, Must::NotBeNegative)?; n]),
    }
}

pub(super) fn model_based(reader: &mut Reader<'_>, it: &Section<'_>, kind: &str) -> Option<ModelBasedSource> {
    let s = it.s;
    let Some(coordinates) = &s.coordinates else {
        return it.missing(reader, "coordinates", "name the coordinates of the system that it drives");
    };
    let Some(desired) = &s.desired else {
        return it.missing(reader, "desired", "give one formula of t per coordinate");
    };
    let n = coordinates.get_ref().len();
    if desired.get_ref().len() != n {
        let message = format!("{} has {n} coordinates and {} desired motions", it.what, desired.get_ref().len());
        reader.wrong(desired.span(), message, "give one formula of t per coordinate");
        return None;
    }
    let kind = match kind {
        "computed-torque" => ModelBasedKind::ComputedTorque {
            proportional: gains(reader, it, s.kp.as_ref(), ("kp", n))?,
            derivative: gains(reader, it, s.kd.as_ref(), ("kd", n))?,
        },
        _ => ModelBasedKind::Passivity {
            slope: gains(reader, it, s.lambda.as_ref(), ("lambda", n))?,
            gain: gains(reader, it, s.gain.as_ref(), ("gain", n))?,
        },
    };
    Some(ModelBasedSource { name: it.name.clone(), clock: it.clock, kind, coordinates: list(coordinates), desired: list(desired) })
}

/// Sliding modes and twisting: explicit where they are sampled, implicit otherwise.
pub(super) fn set_valued(reader: &mut Reader<'_>, it: &Section<'_>, kind: &str, source: &mut ControlSource) {
    let s = it.s;
    let forms: &[&str] = if it.clock.is_some() { &["explicit", "implicit"] } else { &["implicit", "explicit"] };
    let Some(form) = choose(reader, s.form.as_ref(), "form of a set-valued controller", forms) else { return };
    let form_span = || s.form.as_ref().map_or(it.span.clone(), Spanned::span);
    match (form.as_str(), it.clock) {
        ("explicit", None) => {
            let help = "give it in seconds: the sign is taken at samples and held";
            return it.missing(reader, "period", help).unwrap_or(());
        }
        ("implicit", Some(_)) => {
            let help = "leave it out: the set-valued sign is solved with every step";
            return reader.wrong(form_span(), format!("{} is implicit and has a period", it.what), help);
        }
        _ => {}
    }
    let Some(surface) = &s.surface else {
        return it.missing(reader, "surface", "give the formula of what is to vanish").unwrap_or(());
    };
    let (name, surface) = (it.name.clone(), surface.get_ref().clone());
    if kind == "sliding-mode" {
        let Some(gain) = &s.gain else {
            return it.missing(reader, "gain", "give a positive number, larger than what disturbs the surface").unwrap_or(());
        };
        let Some(gain) = reader.number(gain, &format!("the gain of {}", it.what), Must::BePositive) else { return };
        let law = SlidingSource { name, surface, gain, equivalent: optional(s.equivalent.as_ref()) };
        match it.clock {
            Some(clock) => source.controllers.push(law.explicit(clock)),
            None => source.set_valued.push(law.implicit()),
        }
        return;
    }
    let Some(rate) = &s.rate else {
        return it.missing(reader, "rate", "give the rate of the surface as a formula").unwrap_or(());
    };
    let Some(gains) = &s.gains else {
        return it.missing(reader, "gains", "give two: gains = [k1, k2] with k1 > k2 > 0").unwrap_or(());
    };
    let Some(pair) = reader.vector::<2>(gains, &format!("the gains of {}", it.what)) else { return };
    if !(pair[0] > pair[1] && pair[1] > 0.0) {
        let message = format!("the gains of {} are {} and {}", it.what, pair[0], pair[1]);
        return reader.wrong(gains.span(), message, "k1 > k2 > 0 is needed: twisting does not converge otherwise");
    }
    let law = TwistingSource { name, surface, rate: rate.get_ref().clone(), gains: pair };
    match it.clock {
        Some(clock) => source.controllers.push(law.explicit(clock)),
        None => source.set_valued.push(law.implicit()),
    }
}

/// A matrix as a list of rows; a flat list for one row or column.
fn matrix(
    reader: &mut Reader<'_>,
    it: &Section<'_>,
    value: Option<&Spanned<Value>>,
    (key, rows, columns): (&str, usize, usize),
) -> Option<Vec<f64>> {
    if rows * columns == 0 {
        return Some(Vec::new());
    }
    let Some(value) = value else {
        return it.missing(reader, key, &format!("give the {rows} × {columns} matrix as a list of rows"));
    };
    let what = format!("the matrix {key} of {}", it.what);
    match value.get_ref() {
        Value::List(items) if items.iter().all(|item| matches!(item, Value::List(_))) => {
            if items.len() != rows {
                reader.wrong(value.span(), format!("{what} has {} rows", items.len()), format!("{rows} × {columns} entries are needed"));
                return None;
            }
            let rows: Option<Vec<Vec<f64>>> =
                items.iter().map(|row| reader.numbers(row, value.span(), columns, &format!("a row of {what}"))).collect();
            Some(rows?.concat())
        }
        Value::List(_) if rows == 1 || columns == 1 => reader.numbers(value.get_ref(), value.span(), rows * columns, &what),
        Value::List(_) => {
            reader.wrong(value.span(), format!("{what} is a flat list"), format!("give {rows} rows of {columns} entries"));
            None
        }
        _ if rows * columns == 1 => Some(vec![reader.number(value, &what, Must::BeFinite)?]),
        _ => {
            reader.wrong(value.span(), format!("{what} is one value"), format!("give {rows} rows of {columns} entries"));
            None
        }
    }
}

pub(super) fn observer(reader: &mut Reader<'_>, it: &Section<'_>) -> Option<ControllerSource> {
    let s = it.s;
    let Some(estimates) = &s.estimates else {
        return it.missing(reader, "estimates", "name the states that it estimates");
    };
    let Some(measured) = &s.measured else {
        return it.missing(reader, "measured", "give the formulas of what is measured, one per row of C");
    };
    let (states, measured) = (list(estimates), list(measured));
    let inputs = s.inputs.as_ref().map_or_else(Vec::new, list);
    let (n, m, p) = (states.len(), inputs.len(), measured.len());
    let a = matrix(reader, it, s.a.as_ref(), ("A", n, n))?;
    let b = matrix(reader, it, s.b.as_ref(), ("B", n, m))?;
    let c = matrix(reader, it, s.c.as_ref(), ("C", p, n))?;
    let gain = matrix(reader, it, s.l.as_ref(), ("L", n, p))?;
    let initial = match &s.initial {
        Some(value) => reader.numbers(value.get_ref(), value.span(), n, &format!("`initial` of {}", it.what))?,
        None => vec![0.0; n],
    };
    let source = ObserverSource { name: it.name.clone(), clock: it.clock, states, initial, a, b, c, gain, inputs, measured };
    let made = source.controller();
    built(reader, it, made)
}
