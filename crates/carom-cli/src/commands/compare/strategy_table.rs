//! The comparison of strategies as a table.

use super::measure::Errors;
use super::method_variant::{Fineness, MethodVariant};
use super::reference::Reference;
use super::table::{aligned, describe, quoted};
use carom::dynamics::diagnostics::Certificate;
use serde_json::{Value, json};
use std::fmt::Write;

/// One run.
pub struct StrategyRow {
    pub strategy: String,
    /// `None` where the strategy cannot follow the model.
    pub fineness: Option<Fineness>,
    pub cpu_time: f64,
    /// Time reached, s, from the start.
    pub span: f64,
    /// Events by kind.
    pub events: Value,
    pub certificate: Certificate,
    /// Errors at the end; `None` when it was not reached.
    pub errors: Option<Errors>,
    pub failure: Option<String>,
}

impl StrategyRow {
    /// A strategy that cannot follow the model.
    pub fn refused(variant: &MethodVariant) -> Self {
        StrategyRow {
            strategy: variant.label.clone(),
            fineness: None,
            cpu_time: f64::NAN,
            span: f64::NAN,
            events: Value::Null,
            certificate: Certificate::default(),
            errors: None,
            failure: variant.settings.as_ref().err().cloned(),
        }
    }

    fn status(&self) -> &str {
        self.failure.as_deref().unwrap_or("finished")
    }

    /// Evaluations of the equations of motion by an integrator, and steps of a scheme, tried ones included; not a number where there is none.
    fn work(&self) -> (f64, f64) {
        let c = &self.certificate;
        let evaluations = c.smooth.as_ref().map_or(f64::NAN, |smooth| smooth.statistics.force_evaluations as f64);
        let scheme_steps = match (&c.adaptive, &c.event_driven) {
            (Some(adaptive), _) => adaptive.scheme_steps as f64,
            (None, Some(events)) => events.scheme_steps as f64,
            (None, None) => f64::NAN,
        };
        (evaluations, scheme_steps)
    }

    /// Columns of the table and the CSV, with their names.
    fn numbers(&self) -> [(&'static str, &'static str, f64); 12] {
        let (c, errors) = (&self.certificate, self.errors.unwrap_or(Errors { position: f64::NAN, velocity: f64::NAN }));
        let (evaluations, scheme_steps) = self.work();
        // what did not run has no counts
        let counted = |x: f64| if self.fineness.is_some() { x } else { f64::NAN };
        [
            ("tolerance", "tolerance", if let Some(Fineness::Tolerance(tolerance)) = self.fineness { tolerance } else { f64::NAN }),
            ("step", "step [s]", if let Some(Fineness::Step(step)) = self.fineness { step } else { f64::NAN }),
            ("steps", "steps", counted(c.steps as f64)),
            ("mean_step", "mean step [s]", self.span / c.steps as f64),
            ("events", "events", counted(c.events as f64)),
            ("force_evaluations", "evaluations", evaluations),
            ("scheme_steps", "scheme steps", scheme_steps),
            ("cpu_time", "CPU [s]", self.cpu_time),
            ("error_position", "error q", errors.position),
            ("error_velocity", "error v", errors.velocity),
            ("penetration", "penetration", counted(c.max_penetration)),
            ("energy_error", "energy error", counted(c.energy_error())),
        ]
    }
}

/// All runs of a comparison.
pub struct StrategyTable {
    pub rows: Vec<StrategyRow>,
}

impl StrategyTable {
    /// Aligned columns for people; a failed run says why.
    pub fn text(&self, reference: &Reference) -> String {
        let mut lines = vec![(vec!["strategy".to_owned()], None)];
        if let Some(row) = self.rows.first() {
            lines[0].0.extend(row.numbers().iter().map(|(_, title, _)| (*title).to_owned()));
        }
        for row in &self.rows {
            let mut fields = vec![row.strategy.clone()];
            fields.extend(row.numbers().into_iter().map(|(name, _, x)| match name {
                _ if !x.is_finite() => "–".to_owned(),
                "tolerance" | "step" => format!("{x:e}"),
                "steps" | "events" | "force_evaluations" | "scheme_steps" => format!("{x}"),
                _ => format!("{x:.2e}"),
            }));
            lines.push((fields, row.failure.clone()));
        }
        let what = "errors at the end, relative to max(1, |value|); evaluations of F by integrators, steps of the scheme with those tried";
        format!("{}\n{what}\nreference: {}\n", aligned(&lines), describe(reference))
    }

    /// All columns as CSV; empty fields where there is no value.
    pub fn csv(&self) -> String {
        let mut out = String::from("strategy,status");
        for (name, ..) in self.rows.first().map(StrategyRow::numbers).into_iter().flatten() {
            // writing to a string cannot fail
            let _ = write!(out, ",{name}");
        }
        out.push('\n');
        for row in &self.rows {
            let _ = write!(out, "{},{}", quoted(&row.strategy), quoted(row.status()));
            for (_, _, x) in row.numbers() {
                let _ = write!(out, ",{}", if x.is_finite() { format!("{x:e}") } else { String::new() });
            }
            out.push('\n');
        }
        out
    }

    /// One JSON object.
    pub fn json(&self, reference: &Reference) -> Value {
        let row = |row: &StrategyRow| {
            let (tolerance, step) = match row.fineness {
                Some(Fineness::Tolerance(tolerance)) => (Some(tolerance), None),
                Some(Fineness::Step(step)) => (None, Some(step)),
                None => (None, None),
            };
            json!({
                "strategy": row.strategy, "tolerance": tolerance, "step": step, "status": row.status(), "cpu_time": row.cpu_time,
                "mean_step": row.span / row.certificate.steps as f64, "event_counts": row.events, "certificate": row.certificate,
                "error_position": row.errors.map(|e| e.position), "error_velocity": row.errors.map(|e| e.velocity),
            })
        };
        let accuracy = reference.accuracy.map(|e| json!({"position": e.position, "velocity": e.velocity}));
        json!({
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
            "reference": {"source": reference.source, "accuracy": accuracy},
        })
    }
}
