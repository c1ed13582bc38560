//! The table: a column per engine.

use crate::accuracy::Accuracy;
use crate::engine::Proof;
use crate::meter::Meter;

/// What is known of an engine after its run.
pub struct Column {
    /// The engine.
    pub name: &'static str,
    /// Its time and energy.
    pub meter: Meter,
    /// Its last state.
    pub accuracy: Accuracy,
    /// How well its equations were solved.
    pub proof: Option<Proof>,
}

/// Width of the names of the rows, and of each column.
const WIDTHS: [usize; 2] = [38, 16];

/// A row: its name and what stands in a column; the first column is what ratios refer to.
type Row = (&'static str, fn(&Column, first: &Column) -> String);

const ROWS: [Row; 14] = [
    ("CPU time per step [ms]", |c, _| format!("{:.3}", c.meter.cpu_per_step()[0])),
    ("  carom's time divided by this", |c, first| format!("{:.3}", first.meter.cpu_per_step()[0] / c.meter.cpu_per_step()[0])),
    ("CPU time per step, last third [ms]", |c, _| format!("{:.3}", c.meter.cpu_per_step()[1])),
    ("  carom's time divided by this", |c, first| format!("{:.3}", first.meter.cpu_per_step()[1] / c.meter.cpu_per_step()[1])),
    ("time per step [ms]", |c, _| format!("{:.3}", c.meter.wall_per_step())),
    ("mean penetration at the end [mm]", |c, _| format!("{:.6}", 1e3 * c.accuracy.mean)),
    ("largest penetration at the end [mm]", |c, _| format!("{:.6}", 1e3 * c.accuracy.max)),
    ("overlapping pairs at the end", |c, _| c.accuracy.overlaps.to_string()),
    ("bodies out of the container", |c, _| c.accuracy.lost.to_string()),
    ("kinetic energy at the end [J]", |c, _| format!("{:.3e}", c.meter.kinetic)),
    ("largest energy rise in a step [J]", |c, _| format!("{:.3e}", c.meter.largest_rise)),
    ("largest residual of a step", |c, _| c.proof.map_or_else(unknown, |proof| format!("{:.3e}", proof.residual))),
    ("steps not converged", |c, _| c.proof.map_or_else(unknown, |proof| proof.unconverged.to_string())),
    ("iterations per step", |c, _| c.proof.map_or_else(unknown, |proof| format!("{:.1}", proof.iterations))),
];

fn unknown() -> String {
    "-".to_owned()
}

/// The table as text.
pub fn text(columns: &[Column]) -> String {
    let Some(first) = columns.first() else { return String::new() };
    let mut text = line("", columns.iter().map(|column| column.name.to_owned()));
    for (name, value) in ROWS {
        text += &line(name, columns.iter().map(|column| value(column, first)));
    }
    text
}

/// A line of the table.
fn line(name: &str, values: impl Iterator<Item = String>) -> String {
    let [name_width, width] = WIDTHS;
    let values: String = values.map(|value| format!("{value:>width$}")).collect();
    format!("{name:name_width$}{values}\n")
}
