//! Runs as text tables.
//!
//! One header row, then one row per recorded instant: `t`, `q.NAME`…, `v.NAME`…, with a first-order part `x.NAME`…, `y.NAME`…, `lambda.NAME`…, of a circuit `v.NODE`… and `i.ELEMENT`…, the five energies, `residual`, `penetration`. Numbers are
//! written with the fewest digits that give the same number back; an empty field means that there is no value (the initial
//! state has no residual).

use super::target::Target;
use super::{NamedUnit, RecordingError, RunFile, RunInfo};
use carom_dynamics::diagnostics::Certificate;
use carom_dynamics::error::RecordError;
use carom_dynamics::recording::{Frame, Recorder};
use carom_dynamics::report::{Energy, Event};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Rows read at once for an export.
const WINDOW_ROWS: usize = 4096;
const LAST_COLUMNS: [&str; 7] = [
    "energy.kinetic",
    "energy.potential",
    "energy.dissipated_impact",
    "energy.dissipated_friction",
    "energy.work",
    "residual",
    "penetration",
];

/// Writes the main columns of a run as text while it goes, into `<path>.part` until finished.
pub struct CsvRecorder {
    target: Target,
    out: Option<BufWriter<File>>,
    widths: [(&'static str, usize); 6],
    line: String,
}

impl CsvRecorder {
    /// Starts the file with its header row.
    ///
    /// # Errors
    /// [`RecordingError::AlreadyExists`] if `path` or its `.part` exists and `overwrite` is not set, [`RecordingError::Unwritable`].
    pub fn create(path: impl AsRef<Path>, info: &RunInfo, overwrite: bool) -> Result<Self, RecordingError> {
        let (target, file) = Target::create(path.as_ref(), overwrite)?;
        let q: Vec<String> = info.coordinates.names().collect();
        let v: Vec<String> = info.velocities.names().collect();
        let x: Vec<String> = info.states.iter().map(|c| c.name.clone()).collect();
        let line = header([&q, &v, &x, &info.rows], &info.signals);
        let rows = info.rows.len();
        let widths = [
            ("coordinates", info.coordinates.len()),
            ("velocities", info.velocities.len()),
            ("states", info.states.len()),
            ("outputs", rows),
            ("multipliers", rows),
            ("signals", info.signals.len()),
        ];
        let mut recorder = CsvRecorder { target, out: Some(BufWriter::new(file)), widths, line };
        recorder.write_line()?;
        Ok(recorder)
    }

    fn write_line(&mut self) -> Result<(), RecordingError> {
        let fail = |reason: &dyn ToString| RecordingError::unwritable(self.target.part(), reason.to_string());
        let out = self.out.as_mut().ok_or_else(|| fail(&"the recording is finished"))?;
        self.line.push('\n');
        out.write_all(self.line.as_bytes()).map_err(|e| fail(&e))?;
        self.line.clear();
        Ok(())
    }

    fn record(&mut self, frame: &Frame<'_>) -> Result<(), RecordingError> {
        let parts = [frame.q, frame.v, frame.x, frame.outputs, frame.multipliers, frame.signals];
        for ((what, expected), found) in self.widths.into_iter().zip(parts.map(<[f64]>::len)) {
            if found != expected {
                return Err(RecordingError::FrameMismatch { what, expected, found });
            }
        }
        let Energy { kinetic, potential, dissipated_impact, dissipated_friction, work } = frame.energy;
        let residual = frame.report.map(|r| r.solve.as_ref().map_or(0.0, |s| s.residual_normalised));
        let penetration = frame.report.map(|r| r.violations.penetration);
        push_numbers(&mut self.line, &[frame.t]);
        parts.into_iter().for_each(|part| push_numbers(&mut self.line, part));
        push_numbers(&mut self.line, &[kinetic, potential, dissipated_impact, dissipated_friction, work]);
        push_numbers(&mut self.line, &[residual.unwrap_or(f64::NAN), penetration.unwrap_or(f64::NAN)]);
        self.write_line()
    }

    fn complete(&mut self) -> Result<(), RecordingError> {
        let part = self.target.part();
        let Some(out) = self.out.take() else {
            return Err(RecordingError::unwritable(part, "the recording is finished"));
        };
        let file = out.into_inner().map_err(|e| RecordingError::unwritable(&part, e))?;
        file.sync_all().map_err(|e| RecordingError::unwritable(&part, e))?;
        self.target.publish(&part)
    }
}

impl Recorder for CsvRecorder {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), RecordError> {
        Ok(self.record(frame)?)
    }

    fn takes_contacts(&self) -> bool {
        false
    }

    /// Events have no place in the table.
    fn event(&mut self, _: &Event) -> Result<(), RecordError> {
        Ok(())
    }

    fn finish(&mut self, _: &Certificate, _: &str) -> Result<(), RecordError> {
        Ok(self.complete()?)
    }
}

/// Writes the table of a recorded run, the same that [`CsvRecorder`] would have written.
///
/// # Errors
/// [`RecordingError::Unreadable`] for the run, [`RecordingError::Unwritable`] for the output.
pub fn export_csv(run: &RunFile, mut out: impl Write) -> Result<(), RecordingError> {
    let names = |list: &[NamedUnit]| list.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    let mut text = header([&names(run.coordinates()), &names(run.velocities()), &names(run.states()), run.row_names()], run.signals());
    text.push('\n');
    let mut last = Vec::new();
    for name in LAST_COLUMNS {
        last.extend(run.quantity(name)?);
    }
    let n_rows = run.row_names().len();
    let tables = [
        ("q", run.coordinates().len()),
        ("v", run.velocities().len()),
        ("x", run.states().len()),
        ("y", n_rows),
        ("lambda", n_rows),
        ("signals", run.signals().len()),
    ];
    let rows = |table: &str, width: usize, start: usize| {
        if width == 0 { Ok(Vec::new()) } else { run.table_rows(table, start, WINDOW_ROWS) }
    };
    for start in (0..run.n_frames()).step_by(WINDOW_ROWS) {
        let parts = tables.map(|(table, width)| rows(table, width, start).map(|values| (values, width)));
        let parts: Vec<(Vec<f64>, usize)> = parts.into_iter().collect::<Result<_, _>>()?;
        for row in 0..WINDOW_ROWS.min(run.n_frames() - start) {
            push_numbers(&mut text, &[run.time()[start + row]]);
            for (values, width) in &parts {
                push_numbers(&mut text, &values[row * width..(row + 1) * width]);
            }
            for column in &last {
                push_numbers(&mut text, &[column.values[start + row]]);
            }
            text.push('\n');
        }
        out.write_all(text.as_bytes()).map_err(|e| RecordingError::unwritable("the table", e))?;
        text.clear();
    }
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|e| RecordingError::unwritable("the table", e))
}

fn header([q, v, x, rows]: [&[String]; 4], signals: &[NamedUnit]) -> String {
    let mut columns = vec!["t".to_string()];
    for (kind, names) in [("q", q), ("v", v), ("x", x), ("y", rows), ("lambda", rows)] {
        columns.extend(names.iter().map(|name| field(&format!("{kind}.{name}"))));
    }
    columns.extend(signals.iter().map(|signal| field(&signal.name)));
    columns.extend(LAST_COLUMNS.map(String::from));
    columns.join(",")
}

/// Quotes a name that holds a separator (RFC 4180).
pub(super) fn field(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.into() }
}

/// Adds numbers to a row, each after a comma unless it begins the row.
pub(super) fn push_numbers(line: &mut String, values: &[f64]) {
    for value in values {
        if !line.is_empty() && !line.ends_with('\n') {
            line.push(',');
        }
        if !value.is_nan() {
            // Writing to a string cannot fail. `{:?}` is the shortest form that reads back the same, 1e300 as such.
            let _ = write!(line, "{value:?}");
        }
    }
}
