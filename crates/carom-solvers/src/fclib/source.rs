//! Datasets of a file that nobody vouches for.

use super::error::FclibError;
use hdf5_pure::{Dataset, Error, File, FormatError};
use std::path::{Path, PathBuf};

/// Deflate packs at most 1032 bytes into one; a dataset larger than that times the file is a lie (or fill values only).
const LARGEST_EXPANSION: u64 = 1032;

/// An open file whose datasets are checked as they are read.
pub(super) struct Source {
    path: PathBuf,
    file: File,
}

impl Source {
    pub fn open(path: &Path) -> Result<Self, FclibError> {
        let file = File::open(path).map_err(|e| FclibError::Unreadable { path: path.to_path_buf(), reason: e.to_string() })?;
        Ok(Source { path: path.to_path_buf(), file })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True when there is a group of this name.
    pub(crate) fn has_group(&self, name: &str) -> bool {
        self.file.group(name).is_ok()
    }

    /// All numbers of a dataset.
    pub fn numbers(&self, name: &str) -> Result<Vec<f64>, FclibError> {
        self.required(name, self.optional_numbers(name)?)
    }

    /// All numbers of a dataset that may be missing.
    pub(crate) fn optional_numbers(&self, name: &str) -> Result<Option<Vec<f64>>, FclibError> {
        self.read(name, Dataset::read_f64)
    }

    /// `n` numbers.
    pub(crate) fn n_numbers(&self, name: &str, n: usize) -> Result<Vec<f64>, FclibError> {
        self.sized(name, n, self.numbers(name)?)
    }

    /// `n` numbers that may be missing.
    pub(crate) fn n_optional_numbers(&self, name: &str, n: usize) -> Result<Option<Vec<f64>>, FclibError> {
        self.optional_numbers(name)?.map(|values| self.sized(name, n, values)).transpose()
    }

    /// All integers of a dataset.
    pub(crate) fn integers(&self, name: &str) -> Result<Vec<i64>, FclibError> {
        self.required(name, self.read(name, Dataset::read_i64)?)
    }

    /// The only entry of a dataset.
    pub fn integer(&self, name: &str) -> Result<i64, FclibError> {
        let values = self.integers(name)?;
        match values[..] {
            [value] => Ok(value),
            _ => Err(self.bad(name, format!("{} numbers", values.len()), "one integer")),
        }
    }

    /// The only entry of a dataset that may be missing.
    pub(crate) fn optional_integer(&self, name: &str) -> Result<Option<i64>, FclibError> {
        match self.read(name, Dataset::read_i64)? {
            None => Ok(None),
            Some(_) => self.integer(name).map(Some),
        }
    }

    /// A size: an integer that is not negative.
    pub fn size(&self, name: &str) -> Result<usize, FclibError> {
        let value = self.integer(name)?;
        usize::try_from(value).map_err(|_| self.bad(name, value.to_string(), "a size, 0 or more"))
    }

    /// A text; empty where there is none that can be read, since texts are for people only.
    pub fn text(&self, name: &str) -> String {
        let texts = self.read(name, Dataset::read_string).ok().flatten().unwrap_or_default();
        texts.first().map_or_else(String::new, |text| text.trim_end_matches('\0').trim().to_owned())
    }

    fn sized(&self, name: &str, n: usize, values: Vec<f64>) -> Result<Vec<f64>, FclibError> {
        if values.len() == n { Ok(values) } else { Err(self.bad(name, format!("{} numbers", values.len()), format!("{n}"))) }
    }

    fn required<T>(&self, name: &str, value: Option<T>) -> Result<T, FclibError> {
        value.ok_or_else(|| self.bad(name, "nothing", "a dataset"))
    }

    fn read<T>(&self, name: &str, get: impl FnOnce(&Dataset) -> Result<T, Error>) -> Result<Option<T>, FclibError> {
        let dataset = match self.file.dataset(name) {
            Ok(dataset) => dataset,
            Err(Error::Format(FormatError::PathNotFound(_))) => return Ok(None),
            Err(error) => return Err(self.bad(name, error, "a dataset")),
        };
        let bytes = dataset.shape().and_then(|shape| {
            let elements = shape.iter().try_fold(1_u64, |n, &side| n.checked_mul(side));
            Ok(elements.zip(Some(dataset.element_size()?)).and_then(|(n, size)| n.checked_mul(size)))
        });
        let bytes = bytes.map_err(|error| self.bad(name, error, "a readable dataset"))?;
        let largest = self.file.file_size().saturating_mul(LARGEST_EXPANSION);
        if bytes.is_none_or(|bytes| bytes > largest) {
            return Err(self.bad(name, "a size that the file cannot hold", "a dataset with data"));
        }
        get(&dataset).map(Some).map_err(|error| self.bad(name, error, "numbers (or a text for info)"))
    }

    /// The error about a dataset.
    pub fn bad(&self, name: &str, found: impl ToString, expected: impl ToString) -> FclibError {
        FclibError::BadDataset {
            path: self.path.clone(),
            dataset: name.to_owned(),
            found: found.to_string(),
            expected: expected.to_string(),
        }
    }
}
