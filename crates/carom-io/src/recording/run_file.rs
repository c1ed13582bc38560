//! Reading a recorded run.

use super::hdf5::{FORMAT, FORMAT_VERSION};
use super::tables::ContactTable;
use super::target::with_suffix;
use super::{NamedUnit, Precision, RecordingError};
use hdf5_pure::{AttrValue, Error, File};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Rows fetched at once when one column is taken out of a table.
const WINDOW_ROWS: u64 = 8192;

/// A recorded run, open for reading; a `.part` that a killed run left can be opened too.
///
/// Columns are fetched when asked for; the file is never read as a whole.
pub struct RunFile {
    file: File,
    path: PathBuf,
    attributes: HashMap<String, AttrValue>,
    time: Vec<f64>,
    coordinates: Vec<NamedUnit>,
    velocities: Vec<NamedUnit>,
    states: Vec<NamedUnit>,
    signals: Vec<NamedUnit>,
    row_names: Vec<String>,
    gap_names: Vec<String>,
    force_names: Vec<String>,
    contact_names: Vec<String>,
    effort_names: Vec<String>,
    interaction_names: Vec<String>,
    collider_names: Vec<String>,
    pub(super) contacts: OnceLock<ContactTable>,
}

impl RunFile {
    /// Opens `path`.
    ///
    /// # Errors
    /// [`RecordingError::Unreadable`] if there is no such file or it is not a recorded run.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RecordingError> {
        let path = path.as_ref();
        let file = File::open_streaming(path).map_err(|error| RecordingError::unreadable(path, error, missing_advice(path)))?;
        let foreign = |reason: String| {
            RecordingError::unreadable(path, reason, "give a file that this program recorded, of this or an earlier version")
        };
        let attributes = file.root().attrs().map_err(|e| foreign(e.to_string()))?;
        if attributes.get("format").and_then(AttrValue::as_str) != Some(FORMAT) {
            return Err(foreign("it is an HDF5 file but not a recorded run".into()));
        }
        match attributes.get("format_version").and_then(AttrValue::as_i64) {
            Some(version) if (1..=FORMAT_VERSION).contains(&version) => {}
            Some(version) => {
                return Err(foreign(format!("its format version {version} is not {FORMAT_VERSION}")));
            }
            None => return Err(foreign("its format version is missing".into())),
        }
        let mut run = RunFile {
            file,
            path: path.to_path_buf(),
            attributes,
            time: Vec::new(),
            coordinates: Vec::new(),
            velocities: Vec::new(),
            states: Vec::new(),
            signals: Vec::new(),
            row_names: Vec::new(),
            gap_names: Vec::new(),
            force_names: Vec::new(),
            contact_names: Vec::new(),
            effort_names: Vec::new(),
            interaction_names: Vec::new(),
            collider_names: Vec::new(),
            contacts: OnceLock::new(),
        };
        run.time = run.scalars("time", u64::MAX)?;
        run.coordinates = run.named_units("q")?;
        run.velocities = run.named_units("v")?;
        // runs of earlier versions have no first-order part
        if run.has("x_names") {
            run.states = run.named_units("x")?;
            run.row_names = run.texts("row_names")?;
        }
        if run.has("signals_names") {
            run.signals = run.named_units("signals")?;
        }
        run.gap_names = run.texts("gap_names")?;
        // runs recorded before forces were have no such table
        run.force_names = run.texts("force_names").unwrap_or_default();
        run.interaction_names = run.texts("interaction_names")?;
        // runs recorded before modes were have no such table: they had the kinds
        run.contact_names = match run.has("contact_names") {
            true => run.texts("contact_names")?,
            false => run.names_of_kind("contact")?,
        };
        run.effort_names = run.names_of_kind("bounded")?;
        run.collider_names = run.texts("collider_names")?;
        Ok(run)
    }

    /// Where the run was read from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The recorded instants in s.
    #[must_use]
    pub fn time(&self) -> &[f64] {
        &self.time
    }

    /// Number of recorded instants.
    #[must_use]
    pub fn n_frames(&self) -> usize {
        self.time.len()
    }

    /// Coordinates: names and units.
    #[must_use]
    pub fn coordinates(&self) -> &[NamedUnit] {
        &self.coordinates
    }

    /// Velocities: names and units.
    #[must_use]
    pub fn velocities(&self) -> &[NamedUnit] {
        &self.velocities
    }

    /// States of the first-order part: names and units.
    #[must_use]
    pub fn states(&self) -> &[NamedUnit] {
        &self.states
    }

    /// Recorded quantities of the first-order part, by their full names such as `v.out`.
    #[must_use]
    pub fn signals(&self) -> &[NamedUnit] {
        &self.signals
    }

    /// Names of the rows of the first-order part, whose outputs and multipliers are recorded.
    #[must_use]
    pub fn row_names(&self) -> &[String] {
        &self.row_names
    }

    /// Names of the contacts by formula.
    #[must_use]
    pub fn gap_names(&self) -> &[String] {
        &self.gap_names
    }

    /// Names of the rows of the constraints whose forces were recorded.
    #[must_use]
    pub(crate) fn force_names(&self) -> &[String] {
        &self.force_names
    }

    /// Names of the rigid contacts by formula, whose modes are recorded.
    #[must_use]
    pub fn contact_names(&self) -> &[String] {
        &self.contact_names
    }

    /// Names of the efforts between bounds: motors, and friction of known bound.
    #[must_use]
    pub(crate) fn effort_names(&self) -> &[String] {
        &self.effort_names
    }

    /// Names of the interactions by number.
    #[must_use]
    pub fn interaction_names(&self) -> &[String] {
        &self.interaction_names
    }

    /// Names of the colliders by number.
    #[must_use]
    pub fn collider_names(&self) -> &[String] {
        &self.collider_names
    }

    /// Title of the model.
    #[must_use]
    pub fn title(&self) -> &str {
        self.attribute("title")
    }

    /// Version of carom that recorded the run.
    #[must_use]
    pub fn version(&self) -> &str {
        self.attribute("carom_version")
    }

    /// How the run ended; "running" if it was killed or goes on.
    #[must_use]
    pub fn status(&self) -> &str {
        self.attribute("status")
    }

    /// True when the recording was finished (also after a failed or interrupted run), false for the `.part` of a killed one.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.attributes.get("finished").and_then(AttrValue::as_i64) == Some(1)
    }

    /// The model file's text.
    ///
    /// # Errors
    /// [`RecordingError::Unreadable`].
    pub fn model_text(&self) -> Result<String, RecordingError> {
        Ok(self.texts("model")?.join("\n"))
    }

    /// The settings as JSON.
    ///
    /// # Errors
    /// [`RecordingError::Unreadable`].
    pub fn settings(&self) -> Result<String, RecordingError> {
        Ok(self.texts("settings")?.concat())
    }

    /// The certificate as JSON; `None` if the recording was not finished.
    ///
    /// # Errors
    /// [`RecordingError::Unreadable`].
    pub fn certificate(&self) -> Result<Option<String>, RecordingError> {
        if !self.is_finished() {
            return Ok(None);
        }
        Ok(Some(self.texts("certificate")?.concat()))
    }

    /// A column by its place in the file, for example `steps/residual`, as one number per frame.
    ///
    /// # Errors
    /// [`RecordingError::Unreadable`] if there is no such column.
    pub fn column(&self, dataset: &str) -> Result<Vec<f64>, RecordingError> {
        self.scalars(dataset, self.time.len() as u64)
    }

    /// Column `index` of the table `dataset`: `q`, `v` or `gaps`, as one number per frame.
    ///
    /// # Errors
    /// [`RecordingError::Unreadable`] if there is no such table or column.
    pub fn table_column(&self, dataset: &str, index: usize) -> Result<Vec<f64>, RecordingError> {
        let n = self.time.len() as u64;
        let mut column = Vec::with_capacity(self.time.len());
        for start in (0..n).step_by(WINDOW_ROWS as usize) {
            let rows = (n - start).min(WINDOW_ROWS);
            let bytes = self.raw(dataset, start, rows)?;
            let (width, size) = (bytes.len() / rows as usize, self.number_size());
            if size * (index + 1) > width {
                return Err(self.broken(dataset, format!("there is no column {index}")));
            }
            column.extend(bytes.chunks_exact(width).map(|row| number_at(row, index, size)));
        }
        Ok(column)
    }

    /// Rows `start..start + count` of the table `dataset` (`q`, `v` or `gaps`), one after another; cut at the run's end.
    ///
    /// # Errors
    /// [`RecordingError::Unreadable`].
    pub fn table_rows(&self, dataset: &str, start: usize, count: usize) -> Result<Vec<f64>, RecordingError> {
        let count = count.min(self.time.len().saturating_sub(start));
        let bytes = self.raw(dataset, start as u64, count as u64)?;
        let size = self.number_size();
        Ok(bytes.chunks_exact(size).map(|b| number_at(b, 0, size)).collect())
    }

    /// Tables are kept as f32.
    #[must_use]
    pub fn is_single_precision(&self) -> bool {
        self.attribute("precision") == Precision::Single.name()
    }

    /// Bytes of a number in a table.
    fn number_size(&self) -> usize {
        if self.is_single_precision() { 4 } else { 8 }
    }

    /// Name of the pair of colliders `a` and `b`.
    pub(super) fn pair_name(&self, a: i32, b: i32) -> String {
        let name = |i: i32| {
            let known = usize::try_from(i).ok().and_then(|i| self.collider_names.get(i));
            known.cloned().unwrap_or_else(|| format!("#{i}"))
        };
        format!("{}–{}", name(a), name(b))
    }

    /// Name of the interaction with this number.
    pub(super) fn interaction_name(&self, number: i32) -> String {
        let known = usize::try_from(number).ok().and_then(|i| self.interaction_names.get(i));
        known.cloned().unwrap_or_else(|| format!("#{number}"))
    }

    /// There is a dataset at this place.
    pub(super) fn has(&self, dataset: &str) -> bool {
        self.file.dataset(dataset).is_ok()
    }

    /// Names of the interactions of one kind.
    fn names_of_kind(&self, kind: &str) -> Result<Vec<String>, RecordingError> {
        let kinds = self.texts("interaction_kinds")?;
        Ok(self.interaction_names.iter().zip(kinds).filter(|(_, k)| k == kind).map(|(name, _)| name.clone()).collect())
    }

    fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).and_then(AttrValue::as_str).unwrap_or("")
    }

    fn named_units(&self, table: &str) -> Result<Vec<NamedUnit>, RecordingError> {
        let names = self.texts(&format!("{table}_names"))?;
        let units = self.texts(&format!("{table}_units"))?;
        Ok(names.into_iter().zip(units).map(|(name, unit)| NamedUnit { name, unit }).collect())
    }

    pub(super) fn texts(&self, dataset: &str) -> Result<Vec<String>, RecordingError> {
        self.read(dataset, |file| file.dataset(dataset)?.read_string())
    }

    /// The first `n` entries (or all) of a column of numbers.
    pub(super) fn scalars(&self, dataset: &str, n: u64) -> Result<Vec<f64>, RecordingError> {
        self.read(dataset, |file| file.dataset(dataset)?.read_f64_rows(0, n))
    }

    pub(super) fn raw(&self, dataset: &str, start: u64, rows: u64) -> Result<Vec<u8>, RecordingError> {
        self.read(dataset, |file| file.dataset(dataset)?.read_raw_rows(start, rows))
    }

    pub(super) fn rows<const N: usize>(&self, dataset: &str, n: usize) -> Result<Vec<[f64; N]>, RecordingError> {
        let bytes = self.raw(dataset, 0, n as u64)?;
        let size = self.number_size();
        Ok(bytes.chunks_exact(size * N).map(|row| std::array::from_fn(|i| number_at(row, i, size))).collect())
    }

    pub(super) fn read<T>(&self, dataset: &str, get: impl FnOnce(&File) -> Result<T, Error>) -> Result<T, RecordingError> {
        get(&self.file).map_err(|error| self.broken(dataset, error))
    }

    pub(super) fn broken(&self, dataset: &str, reason: impl ToString) -> RecordingError {
        let reason = format!("dataset /{dataset}: {}", reason.to_string());
        RecordingError::unreadable(&self.path, reason, "the file may be damaged; record the run again")
    }
}

/// Number `index` of a row of f64, or of f32 where `size` is 4.
fn number_at(row: &[u8], index: usize, size: usize) -> f64 {
    let bytes = &row[size * index..size * (index + 1)];
    if size == 4 {
        let mut single = [0; 4];
        single.copy_from_slice(bytes);
        return f64::from(f32::from_le_bytes(single));
    }
    let mut double = [0; 8];
    double.copy_from_slice(bytes);
    f64::from_le_bytes(double)
}

/// What to do when `path` cannot be opened.
fn missing_advice(path: &Path) -> String {
    let part = with_suffix(path, ".part");
    if path.exists() {
        "give a recorded run (HDF5)".into()
    } else if part.exists() {
        format!("the run was not finished; what it recorded is in {}", part.display())
    } else {
        "check the name".into()
    }
}
