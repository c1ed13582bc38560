//! The contacts and events of a recorded run.

use super::{RecordingError, RunFile};
use carom_dynamics::report::ContactMode;

/// The active interactions of all frames, one row each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactTable {
    /// Index into the run's times.
    pub frame: Vec<usize>,
    /// 0 for an interaction of the model, 1 for two colliders.
    pub source_kind: Vec<u8>,
    /// Number of the interaction or of the first collider.
    pub source_a: Vec<i32>,
    /// Number of the second collider; −1 for an interaction.
    pub source_b: Vec<i32>,
    /// Number of rows of the interaction.
    pub dim: Vec<u8>,
    /// Gap at the start of the step, in m.
    pub gap: Vec<f64>,
    /// Local velocity at the end of the step, normal first.
    pub velocity: Vec<[f64; 6]>,
    /// Impulse of the step, normal first, in N·s.
    pub impulse: Vec<[f64; 6]>,
    /// Force at the instant, normal first, in N; empty where a run has impulses only.
    pub force: Vec<[f64; 6]>,
    /// Mode; empty in runs of earlier versions.
    pub mode: Vec<ContactMode>,
    /// Contact point in m.
    pub point: Vec<[f64; 3]>,
    /// Unit normal.
    pub normal: Vec<[f64; 3]>,
}

/// The recorded events, one row each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventTable {
    /// Time in s.
    pub t: Vec<f64>,
    /// Kind, by name.
    pub kind: Vec<String>,
    /// Interaction, or two colliders joined by a dash.
    pub name: Vec<String>,
    /// Normal impulse in N·s.
    pub impulse: Vec<f64>,
    /// Mode before and after, where an event changes it.
    pub modes: Vec<Option<(ContactMode, ContactMode)>>,
    /// What else is said of it.
    pub note: Vec<String>,
}

impl RunFile {
    /// The active interactions of all frames; read once and kept.
    ///
    /// # Errors
    /// [`RecordingError::Unreadable`].
    pub fn contacts(&self) -> Result<&ContactTable, RecordingError> {
        match self.contacts.get() {
            Some(table) => Ok(table),
            None => {
                let table = self.read_contacts()?;
                Ok(self.contacts.get_or_init(|| table))
            }
        }
    }

    fn read_contacts(&self) -> Result<ContactTable, RecordingError> {
        let frame: Vec<usize> = self.scalars("contacts/frame", u64::MAX)?.into_iter().map(|f| f as usize).collect();
        // A killed process may have written contacts of instants that did not make it into the file.
        let n = frame.partition_point(|f| *f < self.n_frames());
        let ints =
            |name: &str| -> Result<Vec<i32>, RecordingError> { Ok(self.scalars(name, n as u64)?.into_iter().map(|x| x as i32).collect()) };
        let bytes =
            |name: &str| -> Result<Vec<u8>, RecordingError> { Ok(self.scalars(name, n as u64)?.into_iter().map(|x| x as u8).collect()) };
        Ok(ContactTable {
            source_kind: bytes("contacts/source_kind")?,
            source_a: ints("contacts/source_a")?,
            source_b: ints("contacts/source_b")?,
            dim: bytes("contacts/dim")?,
            gap: self.scalars("contacts/gap", n as u64)?,
            velocity: self.rows("contacts/velocity", n)?,
            impulse: self.rows("contacts/impulse", n)?,
            force: if self.has("contacts/force") { self.rows("contacts/force", n)? } else { Vec::new() },
            mode: if self.has_modes() {
                self.mode_column("contacts/mode", n)?.into_iter().map(Option::unwrap_or_default).collect()
            } else {
                Vec::new()
            },
            point: self.rows("contacts/point", n)?,
            normal: self.rows("contacts/normal", n)?,
            frame: frame[..n].to_vec(),
        })
    }

    /// The events.
    ///
    /// # Errors
    /// [`RecordingError::Unreadable`].
    pub fn events(&self) -> Result<EventTable, RecordingError> {
        let kinds = self.texts("events/kind_names")?;
        let kind_name = |k: f64| kinds.get(k as usize).cloned().unwrap_or_else(|| "unknown".into());
        // The impulse is written last: its length tells how many events are complete.
        let impulse = self.scalars("events/impulse", u64::MAX)?;
        let n = impulse.len();
        let mut name = self.texts("events/name")?;
        name.truncate(n);
        // runs of earlier versions have neither
        let (mut modes, mut note) = (vec![None; n], vec![String::new(); n]);
        if self.has("events/note") {
            let before = self.mode_column("events/mode_before", n)?;
            modes = before.into_iter().zip(self.mode_column("events/mode_after", n)?).map(|(a, b)| a.zip(b)).collect();
            note = self.texts("events/note")?;
            note.truncate(n);
        }
        Ok(EventTable {
            t: self.scalars("events/t", n as u64)?,
            kind: self.scalars("events/kind", n as u64)?.into_iter().map(kind_name).collect(),
            name,
            impulse,
            modes,
            note,
        })
    }
}
