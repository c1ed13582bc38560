//! The other tables of a run as text: events, contacts, modes. As in the main table, an empty field means that there is no value.

use super::csv::{field, push_numbers};
use super::{RecordingError, RunFile, effort_mode_name};
use carom_dynamics::MultiplierMode;
use carom_dynamics::report::ContactMode;
use std::io::Write;

/// Bytes collected before they are written.
const BATCH: usize = 1 << 16;

/// Writes the events: `t,kind,name,impulse,mode_before,mode_after,note`.
///
/// # Errors
/// [`RecordingError::Unreadable`] for the run, [`RecordingError::Unwritable`] for the output.
pub fn export_events(run: &RunFile, out: impl Write) -> Result<(), RecordingError> {
    let events = run.events()?;
    let mut table = Table::new(out, "t,kind,name,impulse,mode_before,mode_after,note");
    for k in 0..events.t.len() {
        let (before, after) = events.modes[k].map_or(("", ""), |(before, after)| (before.name(), after.name()));
        table.numbers(&[events.t[k]]);
        table.texts(&[&events.kind[k], &events.name[k]]);
        table.numbers(&[events.impulse[k]]);
        table.texts(&[before, after, &events.note[k]]);
        table.end_row()?;
    }
    table.finish()
}

/// Writes the mode of every contact and multiplier at every recorded instant, by name: `t`, then one column each; rigid contacts by formula first, then the
/// pairs of colliders that ever touched, then the efforts between bounds (`held`, or `at-bound`), then the multipliers of the first-order part.
///
/// # Errors
/// As [`export_events`]; [`RecordingError::UnknownQuantity`] if the run has nothing with modes.
pub fn export_modes(run: &RunFile, out: impl Write) -> Result<(), RecordingError> {
    let lanes = run.quantity("mode")?;
    let names = lanes.iter().map(|lane| format!(",{}", field(&lane.name)));
    let mut table = Table::new(out, &std::iter::once("t".to_owned()).chain(names).collect::<String>());
    let n_contacts = run.contact_sources()?.len();
    let n_efforts = run.effort_names().len();
    let name = |lane: usize, code: f64| match lane {
        _ if lane < n_contacts => ContactMode::ALL.get(code as usize).map_or("", |mode| mode.name()),
        _ if lane < n_contacts + n_efforts => ContactMode::ALL.get(code as usize).map_or("", |mode| effort_mode_name(*mode)),
        _ => MultiplierMode::ALL.get(code as usize).map_or("", |mode| mode.name()),
    };
    for (k, &t) in run.time().iter().enumerate() {
        table.numbers(&[t]);
        lanes.iter().enumerate().for_each(|(i, lane)| table.texts(&[name(i, lane.values[k])]));
        table.end_row()?;
    }
    table.finish()
}

/// Writes the active interactions of all frames, one row each: `t,name,mode,dim,gap`, then `velocity.1` to `velocity.6`, normal first, the impulse and,
/// where recorded, the force likewise, then point and normal.
///
/// # Errors
/// As [`export_events`].
pub fn export_contacts(run: &RunFile, out: impl Write) -> Result<(), RecordingError> {
    let contacts = run.contacts()?;
    let has_force = !contacts.force.is_empty();
    let mut columns = vec!["t,name,mode,dim,gap".to_owned()];
    let sixes = [("velocity", true), ("impulse", true), ("force", has_force)];
    for (name, _) in sixes.into_iter().filter(|(_, present)| *present) {
        columns.extend((1..=6).map(|row| format!("{name}.{row}")));
    }
    columns.extend(["point", "normal"].into_iter().flat_map(|name| ["x", "y", "z"].map(|axis| format!("{name}.{axis}"))));
    let mut table = Table::new(out, &columns.join(","));
    for row in 0..contacts.frame.len() {
        let dim = usize::from(contacts.dim[row]).min(6);
        table.numbers(&[run.time()[contacts.frame[row]]]);
        let (a, b) = (contacts.source_a[row], contacts.source_b[row]);
        let name = if contacts.source_kind[row] == 1 { run.pair_name(a, b) } else { run.interaction_name(a) };
        table.texts(&[&name, contacts.mode.get(row).map_or("", |mode| mode.name())]);
        table.numbers(&[dim as f64, contacts.gap[row]]);
        for values in [Some(&contacts.velocity[row]), Some(&contacts.impulse[row]), contacts.force.get(row)].into_iter().flatten() {
            // rows that an interaction does not have are empty
            table.numbers(&std::array::from_fn::<f64, 6, _>(|k| if k < dim { values[k] } else { f64::NAN }));
        }
        let is_placed = contacts.source_kind[row] == 1;
        for place in [contacts.point[row], contacts.normal[row]] {
            table.numbers(&if is_placed { place } else { [f64::NAN; 3] });
        }
        table.end_row()?;
    }
    table.finish()
}

/// Rows on their way to a writer.
struct Table<W> {
    out: W,
    text: String,
}

impl<W: Write> Table<W> {
    fn new(out: W, header: &str) -> Self {
        Table { out, text: format!("{header}\n") }
    }

    fn numbers(&mut self, values: &[f64]) {
        push_numbers(&mut self.text, values);
    }

    /// Not for the first column.
    fn texts(&mut self, values: &[&str]) {
        for value in values {
            self.text.push(',');
            self.text.push_str(&field(value));
        }
    }

    fn end_row(&mut self) -> Result<(), RecordingError> {
        self.text.push('\n');
        if self.text.len() > BATCH { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), RecordingError> {
        self.out.write_all(self.text.as_bytes()).map_err(|e| RecordingError::unwritable("the table", e))?;
        self.text.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<(), RecordingError> {
        self.write()?;
        self.out.flush().map_err(|e| RecordingError::unwritable("the table", e))
    }
}
