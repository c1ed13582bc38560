//! A warning about shapes that overlap at the start.

use carom::dynamics::overlaps::{Overlap, initial_overlaps};
use carom::dynamics::{Model, State};
use serde_json::{Value, json};

/// Shapes that overlap by more than this at the start are worth a word \[m\].
const TOLERANCE: f64 = 1e-6;

/// Pairs of shapes that overlap at the start, the deepest first. Values that are not finite are found by the run, which names them.
pub fn of(model: &Model, state: &State) -> Vec<Overlap> {
    initial_overlaps(model, state, TOLERANCE).unwrap_or_default()
}

/// Tells them on standard error.
pub fn warn(overlaps: &[Overlap]) {
    if let Some(Overlap { names: [a, b], depth }) = overlaps.first() {
        let pairs = if overlaps.len() == 1 { "pair of shapes overlaps" } else { "pairs of shapes overlap" };
        eprintln!("warning: {} {pairs} at the start, worst {a}–{b} by {depth:.3e} m", overlaps.len());
    }
}

/// The same for programs.
pub fn json(overlaps: &[Overlap]) -> Value {
    let worst = overlaps.first().map(|o| json!({"between": o.names, "depth": o.depth}));
    json!({"count": overlaps.len(), "worst": worst})
}
