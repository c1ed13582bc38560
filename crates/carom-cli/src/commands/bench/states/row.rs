//! A row of the table of final states: one model by one method.

use serde_json::{Map, Value};
use std::fmt::Write;

/// Entries of `--json` that are no results, that have a digest of their own or are said twice.
const LEFT_OUT: [&str; 11] = ["title", "version", "status", "wall_time", "cpu_time", "files", "q", "v", "x", "events", "counts"];
/// What an integrator did: another processor may change it.
const EFFORT: &str = "smooth";
/// A part of the state with more entries is given by its norm and a weighted sum.
const MOST_ENTRIES: usize = 8;
/// How much numbers may differ.
struct Tolerance {
    /// Of a number itself.
    relative: f64,
    /// Of the largest number of the same group (q, v, x, energy, …): what cancels keeps the error of its terms.
    of_group: f64,
}
/// Of constant steps: the table has seven digits.
const OF_STEPS: Tolerance = Tolerance { relative: 1e-6, of_group: 1e-7 };
/// Of steps that are chosen by their error: the last digit of a sine, which differs between processors, moves steps. Measured without fused products in the
/// library of mathematics: 6e-5 in a bouncing ball with a penalised contact at a tolerance of 1e-9, less than 1e-6 in all others.
const OF_CHOSEN_STEPS: Tolerance = Tolerance { relative: 1e-3, of_group: 1e-6 };
/// In the units of the file: below this, residuals, drifts and velocities at rest are round-off.
const FLOOR: f64 = 1e-9;

/// A number of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Equal or not.
    Count(i64),
    /// Equal up to a tolerance.
    Real(f64),
}

impl Number {
    fn text(self) -> String {
        match self {
            Number::Count(n) => n.to_string(),
            Number::Real(x) => format!("{x:.6e}"),
        }
    }

    /// Reads what [`Number::text`] writes.
    fn parse(text: &str) -> Option<Self> {
        text.parse().map(Number::Count).or_else(|_| text.parse().map(Number::Real)).ok()
    }

    /// Round-off is not shown, so that it changes no line.
    fn is_shown(self) -> bool {
        match self {
            Number::Count(n) => n != 0,
            Number::Real(x) => x.is_nan() || x.abs() >= FLOOR,
        }
    }

    fn value(self) -> f64 {
        match self {
            Number::Count(n) => n as f64,
            Number::Real(x) => x,
        }
    }
}

/// One model by one method.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateRow {
    pub model: String,
    /// "own", or the name of a strategy or scheme.
    pub method: String,
    /// The method in full.
    pub by: String,
    /// Quantities by name; what is zero or below the floor is left out.
    pub numbers: Vec<(String, Number)>,
}

impl StateRow {
    /// The step, 0 where the method chooses it, and the numbers of a report of `carom run --json`.
    pub fn new(model: &str, method: &str, by: &str, step: f64, report: &Value) -> Self {
        let mut numbers = vec![("step".to_owned(), Number::Real(step))];
        if let Some(object) = report.as_object() {
            for part in ["q", "v", "x"] {
                push_state(&mut numbers, part, object.get(part).and_then(Value::as_object));
            }
            push_events(&mut numbers, object.get("events").and_then(Value::as_array));
            // an integrator's count of steps is part of its effort
            let integrates = object.contains_key(EFFORT);
            for (key, value) in object.iter().filter(|(key, _)| !(integrates && *key == "steps")) {
                push(&mut numbers, key, key, value);
            }
        }
        numbers.retain(|(_, number)| number.is_shown());
        StateRow { model: model.to_owned(), method: method.to_owned(), by: by.to_owned(), numbers }
    }

    /// A line of the table.
    pub fn line(&self) -> String {
        let mut out = format!("{},{},{},", self.model, self.method, self.by);
        for (k, (name, number)) in self.numbers.iter().enumerate() {
            let gap = if k == 0 { "" } else { " " };
            // writing to a string cannot fail
            let _ = write!(out, "{gap}{name}={}", number.text());
        }
        out
    }

    /// Reads a line of the table.
    pub fn parse(line: &str) -> Option<Self> {
        let mut fields = line.splitn(4, ',').map(str::to_owned);
        let (model, method, by, rest) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        let number = |part: &str| {
            let (name, value) = part.rsplit_once('=')?;
            Some((name.to_owned(), Number::parse(value)?))
        };
        let numbers = rest.split_whitespace().map(number).collect::<Option<Vec<_>>>()?;
        Some(StateRow { model, method, by, numbers })
    }

    /// Quantities that differ from another run of the same pair, with the old and the new value.
    pub fn differences(&self, new: &StateRow) -> Vec<String> {
        let mut found = Vec::new();
        if self.by != new.by {
            found.push(format!("by: {} → {}", self.by, new.by));
        }
        let of = |row: &StateRow, name: &str| row.numbers.iter().find(|(n, _)| n == name).map(|(_, number)| *number);
        let added = new.numbers.iter().filter(|(name, _)| of(self, name).is_none());
        for (name, number) in self.numbers.iter().chain(added) {
            let zero = if matches!(number, Number::Count(_)) { Number::Count(0) } else { Number::Real(0.0) };
            let (a, b) = (of(self, name).unwrap_or(zero), of(new, name).unwrap_or(zero));
            if !self.is_equal(new, name, [a, b]) {
                found.push(format!("{name}: {} → {}", a.text(), b.text()));
            }
        }
        found
    }

    fn is_equal(&self, new: &StateRow, name: &str, [a, b]: [Number; 2]) -> bool {
        if let (Number::Count(a), Number::Count(b)) = (a, b) {
            return a == b;
        }
        let (a, b) = (a.value(), b.value());
        let scale = self.scale(group(name)).max(new.scale(group(name)));
        let Tolerance { relative, of_group } = if self.by.starts_with("time-stepping") { OF_STEPS } else { OF_CHOSEN_STEPS };
        // equal infinities and two times no number are equal, too
        a.to_bits() == b.to_bits() || (a - b).abs() <= relative * a.abs().max(b.abs()) + of_group * scale + FLOOR
    }

    /// Largest real number of a group.
    fn scale(&self, of: &str) -> f64 {
        let reals = self.numbers.iter().filter(|(name, number)| group(name) == of && matches!(number, Number::Real(_)));
        reals.map(|(_, number)| number.value().abs()).filter(|x| x.is_finite()).fold(0.0, f64::max)
    }
}

/// What stands before the first point of a name.
fn group(name: &str) -> &str {
    name.split('.').next().unwrap_or_default()
}

/// Numbers of a value of the report, by their path.
fn push(numbers: &mut Vec<(String, Number)>, path: &str, key: &str, value: &Value) {
    if LEFT_OUT.contains(&key) || key == EFFORT {
        return;
    }
    match value {
        Value::Number(number) => {
            let count = number.as_i64().map(Number::Count);
            numbers.push((path.replace(' ', "_"), count.or_else(|| number.as_f64().map(Number::Real)).unwrap_or(Number::Real(f64::NAN))));
        }
        Value::Object(object) => object.iter().for_each(|(key, value)| push(numbers, &format!("{path}.{key}"), key, value)),
        Value::Array(list) => {
            let digest: Vec<f64> = list.iter().filter_map(Value::as_f64).collect();
            if digest.len() == list.len() {
                push_digest(numbers, path, &digest);
            }
        }
        _ => {}
    }
}

/// Few entries by name, many by norm and weighted sum.
fn push_state(numbers: &mut Vec<(String, Number)>, part: &str, entries: Option<&Map<String, Value>>) {
    let Some(entries) = entries else { return };
    let values: Vec<f64> = entries.values().map(|value| value.as_f64().unwrap_or(f64::NAN)).collect();
    if entries.len() > MOST_ENTRIES {
        push_digest(numbers, part, &values);
        return;
    }
    for (name, value) in entries.keys().zip(values) {
        numbers.push((format!("{part}.{}", name.replace([' ', ','], "_")), Number::Real(value)));
    }
}

/// √Σ x² and Σ cos(i) x: the second sees where things are, and which.
fn push_digest(numbers: &mut Vec<(String, Number)>, part: &str, values: &[f64]) {
    let norm = values.iter().map(|x| x * x).sum::<f64>().sqrt();
    let sum = values.iter().enumerate().map(|(i, x)| (i as f64).cos() * x).sum::<f64>();
    numbers.extend([(format!("{part}.norm"), Number::Real(norm)), (format!("{part}.sum"), Number::Real(sum))]);
}

/// Sums of the times and impulses of the events.
fn push_events(numbers: &mut Vec<(String, Number)>, events: Option<&Vec<Value>>) {
    let sum = |key: &str| events.into_iter().flatten().filter_map(|event| event[key].as_f64()).sum::<f64>();
    numbers.extend([("events.t".to_owned(), Number::Real(sum("t"))), ("events.impulse".to_owned(), Number::Real(sum("impulse")))]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row() -> StateRow {
        let report = json!({
            "title": "T", "t": 1.0, "q": {"x": 0.25, "y": 0.0}, "v": {"x": 1e-3}, "steps": 20, "cpu_time": 0.3,
            "energy": {"initial": 10.0, "error": 1e-8}, "event_counts": {"impact": 2}, "events": [{"t": 0.5, "impulse": 2.0}],
        });
        StateRow::new("ball", "own", "time-stepping, prox", 0.05, &report)
    }

    #[test]
    fn lines_are_read_as_they_are_written() {
        let mut row = row();
        row.by = "time-stepping prox".to_owned();
        let line = row.line();
        assert_eq!(
            line,
            "ball,own,time-stepping prox,step=5.000000e-2 q.x=2.500000e-1 v.x=1.000000e-3 events.t=5.000000e-1 events.impulse=2.000000e0 t=1.000000e0 \
             steps=20 energy.initial=1.000000e1 energy.error=1.000000e-8 event_counts.impact=2"
        );
        assert_eq!(StateRow::parse(&line), Some(row));
        assert_eq!(StateRow::parse("ball,own"), None);
    }

    #[test]
    fn changes_above_the_tolerance_are_found_and_noise_is_not() {
        let old = row();
        let chosen = StateRow { by: "smooth hem5".to_owned(), ..old.clone() };
        let with = |name: &str, number: Number| {
            let mut new = old.clone();
            new.numbers.iter_mut().filter(|(n, _)| n == name).for_each(|(_, x)| *x = number);
            new
        };
        assert_eq!(old.differences(&with("q.x", Number::Real(0.250001))), ["q.x: 2.500000e-1 → 2.500010e-1"]);
        assert!(old.differences(&with("q.x", Number::Real(0.2500001))).is_empty());
        assert_eq!(old.differences(&with("steps", Number::Count(21))), ["steps: 20 → 21"]);
        // round-off of the balance of energies, whose terms are of 10 J
        assert!(old.differences(&with("energy.error", Number::Real(-3e-8))).is_empty());
        assert_eq!(old.differences(&with("energy.error", Number::Real(2e-6))).len(), 1);
        // steps that are chosen by their error
        let moved = StateRow { by: chosen.by.clone(), ..with("q.x", Number::Real(0.2501)) };
        assert!(chosen.differences(&moved).is_empty());
        let moved = StateRow { by: chosen.by.clone(), ..with("q.x", Number::Real(0.251)) };
        assert_eq!(chosen.differences(&moved).len(), 1);
        // a quantity that was zero
        let mut new = old.clone();
        new.numbers.push(("unconverged".to_owned(), Number::Count(1)));
        assert_eq!(old.differences(&new), ["unconverged: 0 → 1"]);
        assert_eq!(new.differences(&old), ["unconverged: 1 → 0"]);
    }
}
