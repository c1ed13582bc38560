//! The comparison of schemes as a table.

use super::schemes::Measured;
use super::table::{aligned, quoted};
use super::trajectory::PathErrors;
use carom::dynamics::diagnostics::Certificate;
use serde_json::{Value, json};
use std::fmt::Write;

/// One run.
pub struct SchemeRow {
    pub method: String,
    pub step: f64,
    pub cpu_time: f64,
    pub certificate: Certificate,
    /// `None` when the end was not reached.
    pub errors: Option<PathErrors>,
    pub failure: Option<String>,
}

impl SchemeRow {
    pub fn new(method: String, step: f64, run: Measured, errors: Option<PathErrors>) -> Self {
        SchemeRow { method, step, cpu_time: run.cpu_time, certificate: run.certificate, errors, failure: run.failure }
    }

    fn status(&self) -> &str {
        self.failure.as_deref().unwrap_or("finished")
    }

    /// Columns of the table and the CSV, with their names.
    fn numbers(&self) -> [(&'static str, &'static str, f64); 10] {
        let (c, errors) = (&self.certificate, self.errors.unwrap_or(PathErrors { mean: f64::NAN, end: f64::NAN }));
        [
            ("step", "step [s]", self.step),
            ("cpu_time", "CPU [s]", self.cpu_time),
            ("steps", "steps", c.steps as f64),
            ("error_mean", "error (mean)", errors.mean),
            ("error_end", "error (end)", errors.end),
            ("penetration", "penetration", c.max_penetration),
            ("constraint_violation", "max|g|", c.max_constraint_violation),
            ("energy_error", "energy error", c.energy_error()),
            ("contact_gain", "contact gain", c.contact_gain),
            ("residual", "residual", c.max_residual),
        ]
    }
}

/// All runs of a comparison.
pub struct SchemeTable {
    pub rows: Vec<SchemeRow>,
    /// Schemes that do not know the model's laws, with the reason.
    pub refused: Vec<String>,
    pub reference: String,
    /// Difference of the reference to one of twice its step.
    pub accuracy: Option<PathErrors>,
}

impl SchemeTable {
    /// Aligned columns for people; a failed run says why.
    pub fn text(&self) -> String {
        let mut lines = vec![(vec!["scheme".to_owned()], None)];
        if let Some(row) = self.rows.first() {
            lines[0].0.extend(row.numbers().iter().map(|(_, title, _)| (*title).to_owned()));
        }
        for row in &self.rows {
            let mut fields = vec![row.method.clone()];
            for (name, _, x) in row.numbers() {
                fields.push(match name {
                    "steps" => format!("{x}"),
                    _ if x.is_finite() => format!("{x:.2e}"),
                    _ => "–".to_owned(),
                });
            }
            lines.push((fields, row.failure.clone()));
        }
        let mut out = aligned(&lines);
        for reason in &self.refused {
            // writing to a string cannot fail
            let _ = writeln!(out, "left out: {reason}");
        }
        let known = self.accuracy.map_or_else(String::new, |e| format!(" (twice its step differs by {:.1e} and {:.1e})", e.mean, e.end));
        let what = "errors of positions, relative to max(1, |value|): mean over time and at the end";
        let _ = writeln!(out, "\n{what}, against {}{known}", self.reference);
        out
    }

    /// All columns as CSV; empty fields where there is no value.
    pub fn csv(&self) -> String {
        let mut out = String::from("scheme,status");
        for (name, ..) in self.rows.first().map(SchemeRow::numbers).into_iter().flatten() {
            let _ = write!(out, ",{name}");
        }
        out.push('\n');
        for row in &self.rows {
            let _ = write!(out, "{},{}", quoted(&row.method), quoted(row.status()));
            for (_, _, x) in row.numbers() {
                let _ = write!(out, ",{}", if x.is_finite() { format!("{x:e}") } else { String::new() });
            }
            out.push('\n');
        }
        out
    }

    /// One JSON object.
    pub fn json(&self) -> Value {
        let row = |row: &SchemeRow| {
            json!({
                "scheme": row.method, "step": row.step, "status": row.status(), "cpu_time": row.cpu_time,
                "error_mean": row.errors.map(|e| e.mean), "error_end": row.errors.map(|e| e.end), "certificate": row.certificate,
            })
        };
        json!({
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(), "refused": self.refused,
            "reference": {"source": self.reference, "accuracy": self.accuracy.map(|e| json!({"mean": e.mean, "end": e.end}))},
        })
    }
}
