//! The table of a study.

use super::plan::Plan;
use crate::failure::Failure;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::path::Path;

/// One run.
#[derive(Clone, Debug)]
pub struct Row {
    pub case: Vec<String>,
    pub values: Vec<f64>,
    pub failure: Option<String>,
}

pub struct Table<'a> {
    pub plan: &'a Plan,
    pub rows: Vec<Row>,
}

/// A number as short as it can be told.
fn number(x: f64) -> String {
    if x == 0.0 || (1e-3..1e6).contains(&x.abs()) {
        let text = format!("{x:.6}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    format!("{x:.6e}")
}

impl Table<'_> {
    /// A grid where two keys vary and one thing is measured, a list otherwise.
    pub fn markdown(&self) -> String {
        let mut out = match (self.plan.vary.as_slice(), self.plan.measures.as_slice()) {
            ([_, _], [_]) => self.grid(),
            _ => self.list(),
        };
        for row in self.rows.iter().filter(|row| row.failure.is_some()) {
            let _ = writeln!(out, "\n{}: {}", row.case.join(", "), row.failure.as_deref().unwrap_or_default());
        }
        out
    }

    fn grid(&self) -> String {
        let [down, across] = [&self.plan.vary[0], &self.plan.vary[1]];
        let mut out = format!("{} by {} (down) and {} (across)\n\n", self.plan.measures[0].name, down.key, across.key);
        let _ = writeln!(out, "| | {} |", across.values.join(" | "));
        let _ = writeln!(out, "|---|{}", "---:|".repeat(across.values.len()));
        for (value, rows) in down.values.iter().zip(self.rows.chunks(across.values.len())) {
            let cells: Vec<String> =
                rows.iter().map(|row| if row.failure.is_some() { "failed".into() } else { number(row.values[0]) }).collect();
            let _ = writeln!(out, "| {value} | {} |", cells.join(" | "));
        }
        out
    }

    fn list(&self) -> String {
        let keys: Vec<&str> =
            self.plan.vary.iter().map(|v| v.key.as_str()).chain(self.plan.measures.iter().map(|m| m.name.as_str())).collect();
        let mut out = format!("| {} |\n|{}\n", keys.join(" | "), "---:|".repeat(keys.len()));
        for row in &self.rows {
            let values = row.values.iter().map(|&x| if row.failure.is_some() { "failed".into() } else { number(x) });
            let cells: Vec<String> = row.case.iter().cloned().chain(values).collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
        out
    }

    /// One object per run.
    pub fn json(&self) -> Value {
        let object = |row: &Row| {
            let mut map = Map::new();
            for (variation, value) in self.plan.vary.iter().zip(&row.case) {
                map.insert(variation.key.clone(), value.parse::<f64>().map_or_else(|_| json!(value), |x| json!(x)));
            }
            for (measure, value) in self.plan.measures.iter().zip(&row.values) {
                map.insert(measure.name.clone(), json!(value));
            }
            map.insert("status".into(), json!(row.failure.clone().unwrap_or_else(|| "finished".into())));
            Value::Object(map)
        };
        json!({ "model": self.plan.model.display().to_string(), "runs": self.rows.iter().map(object).collect::<Vec<_>>() })
    }

    /// One line per run; failed runs are left out, so that they are tried again.
    pub fn write_csv(&self, path: &Path) -> Result<(), Failure> {
        let mut text = header(self.plan) + "\n";
        for row in self.rows.iter().filter(|row| row.failure.is_none()) {
            let cells: Vec<String> = row.case.iter().map(|x| quoted(x)).chain(row.values.iter().map(|x| format!("{x:?}"))).collect();
            let _ = writeln!(text, "{}", cells.join(","));
        }
        std::fs::write(path, text).map_err(|error| Failure::Input(format!("cannot write {}: {error}", path.display())))
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

fn header(plan: &Plan) -> String {
    let keys = plan.vary.iter().map(|v| quoted(&v.key));
    keys.chain(plan.measures.iter().map(|m| quoted(&m.name))).collect::<Vec<_>>().join(",")
}

/// Takes the runs of an earlier table with the same columns.
pub fn take_over(path: &Path, plan: &Plan, cases: &[Vec<String>], rows: &mut [Option<Row>]) -> Result<(), Failure> {
    let Ok(text) = std::fs::read_to_string(path) else { return Ok(()) };
    let mut lines = text.lines();
    if lines.next() != Some(&header(plan)) {
        let message = format!("{} has other columns than this study; choose another name, or leave --resume out", path.display());
        return Err(Failure::Input(message));
    }
    for line in lines {
        for (case, row) in cases.iter().zip(rows.iter_mut()) {
            let start = case.iter().map(|x| quoted(x) + ",").collect::<String>();
            let Some(rest) = line.strip_prefix(&start) else { continue };
            let values: Vec<f64> = rest.split(',').filter_map(|x| x.parse().ok()).collect();
            if values.len() == plan.measures.len() {
                *row = Some(Row { case: case.clone(), values, failure: None });
            }
        }
    }
    Ok(())
}
