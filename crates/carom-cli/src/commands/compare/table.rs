//! The comparison as a table: the columns of Haddouni2015, Table 3.3, and the true errors.

use super::measure::{Errors, Measured};
use super::reference::Reference;
use carom::dynamics::smooth::RowDrift;
use serde_json::{Value, json};
use std::fmt::Write;

/// Most constraint rows that have columns of their own in the text.
const MAX_ROWS: usize = 4;

/// Drift of position (0) or velocity (1).
fn of(drift: &RowDrift, level: usize) -> f64 {
    if level == 0 { drift.position } else { drift.velocity }
}

/// One run.
pub struct Row {
    pub method: String,
    pub tolerance: f64,
    pub measured: Measured,
    /// Errors at the end; `None` when it was not reached.
    pub errors: Option<Errors>,
}

impl Row {
    /// Mean of the accepted steps, s.
    pub fn average_step(&self) -> f64 {
        self.measured.span / self.measured.statistics.accepted as f64
    }

    /// Largest drift of position (0) or velocity (1).
    pub fn largest_drift(&self, level: usize) -> f64 {
        self.measured.drift.iter().map(|d| of(d, level)).fold(0.0, f64::max)
    }

    fn status(&self) -> &str {
        self.measured.failure.as_deref().unwrap_or("finished")
    }
}

/// All runs of a comparison.
pub struct Table {
    /// Names of the constraint rows.
    pub constraints: Vec<String>,
    pub rows: Vec<Row>,
}

impl Table {
    /// Aligned columns for people; a failed run says why.
    pub fn text(&self, reference: &Reference) -> String {
        let n = self.constraints.len();
        let mut header: Vec<String> = ["method", "tolerance", "average h", "CPU [s]", "accepted", "rejected"].map(str::to_owned).to_vec();
        for sign in ["g", "ġ"] {
            match n {
                0 => {}
                1 => header.push(format!("|{sign}|")),
                2..=MAX_ROWS => header.extend((1..=n).map(|k| format!("|{sign}{k}|"))),
                _ => header.push(format!("max|{sign}|")),
            }
        }
        header.extend(["error q", "error v"].map(str::to_owned));
        let mut lines = vec![(header, None)];
        for row in &self.rows {
            lines.push((self.fields(row), row.measured.failure.clone()));
        }
        let mut out = aligned(&lines);
        if n > 1 && n <= MAX_ROWS {
            let names: Vec<String> = self.constraints.iter().enumerate().map(|(k, name)| format!("g{} {name}", k + 1)).collect();
            let _ = writeln!(out, "\nconstraints: {}", names.join(", "));
        }
        let _ = writeln!(out, "{}reference: {}", if n > 1 { "" } else { "\n" }, describe(reference));
        out
    }

    fn fields(&self, row: &Row) -> Vec<String> {
        let s = &row.measured.statistics;
        let number = |x: f64| if x.is_finite() { format!("{x:.2e}") } else { "–".to_owned() };
        let mut fields = vec![
            row.method.clone(),
            format!("{:e}", row.tolerance),
            number(row.average_step()),
            number(row.measured.cpu_time),
            s.accepted.to_string(),
            s.rejected.to_string(),
        ];
        let n = self.constraints.len();
        for level in [0, 1] {
            if n > MAX_ROWS {
                fields.push(number(row.largest_drift(level)));
            } else {
                fields.extend((0..n).map(|k| row.measured.drift.get(k).map_or_else(|| "–".to_owned(), |d| number(of(d, level)))));
            }
        }
        let errors = row.errors.map_or([f64::NAN; 2], |e| [e.position, e.velocity]);
        fields.extend(errors.map(number));
        fields
    }

    /// All columns as CSV; empty fields where there is no value.
    pub fn csv(&self) -> String {
        let mut out = String::from(
            "method,tolerance,status,average_step,cpu_time,accepted,rejected,force_evaluations,jacobian_evaluations,factorisations,newton_iterations",
        );
        for name in &self.constraints {
            let _ = write!(out, ",{}", quoted(&format!("g {name}")));
        }
        for name in &self.constraints {
            let _ = write!(out, ",{}", quoted(&format!("g_dot {name}")));
        }
        out.push_str(",error_position,error_velocity\n");
        let number = |x: f64| if x.is_finite() { format!("{x:e}") } else { String::new() };
        for row in &self.rows {
            let s = &row.measured.statistics;
            let _ = write!(
                out,
                "{},{:e},{},{},{},{},{},{},{},{},{}",
                quoted(&row.method),
                row.tolerance,
                quoted(row.status()),
                number(row.average_step()),
                number(row.measured.cpu_time),
                s.accepted,
                s.rejected,
                s.force_evaluations,
                s.jacobian_evaluations,
                s.factorisations,
                s.newton_iterations
            );
            for level in [0, 1] {
                for k in 0..self.constraints.len() {
                    let _ = write!(out, ",{}", row.measured.drift.get(k).map_or_else(String::new, |d| number(of(d, level))));
                }
            }
            let errors = row.errors.map_or([f64::NAN; 2], |e| [e.position, e.velocity]);
            let _ = writeln!(out, ",{},{}", number(errors[0]), number(errors[1]));
        }
        out
    }

    /// One JSON object.
    pub fn json(&self, reference: &Reference) -> Value {
        let row = |row: &Row| {
            json!({
                "method": row.method, "tolerance": row.tolerance, "status": row.status(), "average_step": row.average_step(),
                "cpu_time": row.measured.cpu_time, "statistics": row.measured.statistics,
                "drift": row.measured.drift,
                "error_position": row.errors.map(|e| e.position), "error_velocity": row.errors.map(|e| e.velocity),
            })
        };
        let accuracy = reference.accuracy.map(|e| json!({"position": e.position, "velocity": e.velocity}));
        json!({
            "constraints": self.constraints, "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
            "reference": {"source": reference.source, "accuracy": accuracy},
        })
    }
}

/// Rows of fields in columns, the first to the left, the others to the right; a remark follows its row.
pub fn aligned(lines: &[(Vec<String>, Option<String>)]) -> String {
    let n = lines.first().map_or(0, |line| line.0.len());
    let width = |i: usize| lines.iter().filter_map(|l| l.0.get(i)).map(|f| f.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..n).map(width).collect();
    let mut out = String::new();
    for (fields, failure) in lines {
        for (i, (field, width)) in fields.iter().zip(&widths).enumerate() {
            // writing to a string cannot fail
            let _ = if i == 0 { write!(out, "{field:width$}") } else { write!(out, "  {field:>width$}") };
        }
        let _ = match failure {
            // what to try instead is in the CSV
            Some(reason) => writeln!(out, "  {}", reason.split(". Try").next().unwrap_or(reason)),
            None => writeln!(out),
        };
    }
    out
}

pub fn describe(reference: &Reference) -> String {
    match reference.accuracy {
        Some(e) => format!("{} (they differ by {:.1e} in q, {:.1e} in v)", reference.source, e.position, e.velocity),
        None => reference.source.clone(),
    }
}

/// A field of CSV.
pub fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
