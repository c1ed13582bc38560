//! Modes of contacts and multipliers in a recorded run.

use super::{RecordingError, RunFile};
use carom_dynamics::MultiplierMode;
use carom_dynamics::report::ContactMode;
use hdf5_pure::{AttrValue, DatasetBuilder};

/// Code of an event that changes no mode.
pub(super) const NO_MODE: u8 = u8::MAX;

/// The attribute that says what the codes mean.
const NAMES: &str = "mode_names";

/// Says what the codes of a column mean, if it is one of modes.
pub(super) fn name_codes(builder: &mut DatasetBuilder, path: &str) {
    let names: Vec<&str> = match path {
        "modes" | "contacts/mode" | "events/mode_before" | "events/mode_after" => ContactMode::ALL.iter().map(|mode| mode.name()).collect(),
        "multiplier_modes" => MultiplierMode::ALL.iter().map(|mode| mode.name()).collect(),
        _ => return,
    };
    builder.set_attr(NAMES, AttrValue::VarLenStringArray(names.into_iter().map(str::to_owned).collect()));
}

/// Name of the mode of an effort between bounds, which is recorded as sticking or sliding; empty where frames know none.
pub(crate) fn effort_mode_name(mode: ContactMode) -> &'static str {
    match mode {
        ContactMode::Sticking => "held",
        ContactMode::Sliding => "at-bound",
        _ => "",
    }
}

impl RunFile {
    /// The run has the modes of its contacts; those of earlier versions have not.
    #[must_use]
    pub fn has_modes(&self) -> bool {
        self.has("contacts/mode")
    }

    /// The modes of the rigid contact by formula with this place in [`RunFile::contact_names`], one per frame.
    ///
    /// # Errors
    /// [`RecordingError::Unreadable`] if there is no such contact or no modes were recorded.
    pub fn modes(&self, index: usize) -> Result<Vec<ContactMode>, RecordingError> {
        let width = self.contact_names().len();
        if index >= width {
            return Err(self.broken("modes", format!("there is no column {index}")));
        }
        let codes = self.raw("modes", 0, self.n_frames() as u64)?;
        let modes = self.decode("modes", &mut codes.chunks_exact(width).map(|row| row[index]))?;
        modes.into_iter().map(|mode| mode.ok_or_else(|| self.broken("modes", "a contact has no mode"))).collect()
    }

    /// The first `n` entries of a column of modes.
    pub(super) fn mode_column(&self, dataset: &str, n: usize) -> Result<Vec<Option<ContactMode>>, RecordingError> {
        let codes = self.raw(dataset, 0, n as u64)?;
        self.decode(dataset, &mut codes.into_iter())
    }

    /// The run has the modes of its multipliers; those of earlier versions have not.
    #[must_use]
    pub(crate) fn has_multiplier_modes(&self) -> bool {
        self.has("multiplier_modes")
    }

    /// The modes of the multiplier with this place in [`RunFile::row_names`], one per frame.
    ///
    /// # Errors
    /// [`RecordingError::Unreadable`] if there is no such multiplier or no modes were recorded.
    pub fn multiplier_modes(&self, index: usize) -> Result<Vec<MultiplierMode>, RecordingError> {
        const TABLE: &str = "multiplier_modes";
        let width = self.row_names().len();
        if index >= width {
            return Err(self.broken(TABLE, format!("there is no column {index}")));
        }
        let names = self.code_names(TABLE)?;
        let of_name = |name: &String| MultiplierMode::ALL.into_iter().find(|mode| mode.name() == name);
        let known: Vec<_> = names.iter().map(of_name).collect();
        let codes = self.raw(TABLE, 0, self.n_frames() as u64)?;
        let decode = |code: u8| match known.get(usize::from(code)) {
            Some(Some(mode)) => Ok(*mode),
            _ => Err(self.broken(TABLE, format!("there is no mode with the code {code}"))),
        };
        codes.chunks_exact(width).map(|row| decode(row[index])).collect()
    }

    /// What the codes of a dataset mean.
    fn code_names(&self, dataset: &str) -> Result<Vec<String>, RecordingError> {
        let attributes = self.read(dataset, |file| file.dataset(dataset)?.attrs())?;
        match attributes.get(NAMES) {
            Some(AttrValue::VarLenStringArray(names) | AttrValue::StringArray(names)) => Ok(names.clone()),
            _ => Err(self.broken(dataset, format!("its attribute {NAMES} is missing"))),
        }
    }

    fn decode(&self, dataset: &str, codes: &mut dyn Iterator<Item = u8>) -> Result<Vec<Option<ContactMode>>, RecordingError> {
        let names = self.code_names(dataset)?;
        let known: Vec<_> = names.iter().map(|name| ContactMode::ALL.into_iter().find(|mode| mode.name() == name)).collect();
        let decode = |code: u8| match (code, known.get(usize::from(code))) {
            (NO_MODE, _) => Ok(None),
            (_, Some(Some(mode))) => Ok(Some(*mode)),
            _ => Err(self.broken(dataset, format!("there is no mode with the code {code}"))),
        };
        codes.map(decode).collect()
    }
}
