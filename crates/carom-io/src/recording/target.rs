//! Safe output files: written beside the target as `<path>.part`, renamed at the end.

use super::RecordingError;
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A file under construction.
#[derive(Clone, Debug)]
pub(super) struct Target {
    path: PathBuf,
    overwrite: bool,
}

/// `<path><suffix>`, keeping the extension: `run.h5` becomes `run.h5.part`.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

impl Target {
    /// Claims `path` and creates its empty `.part`.
    ///
    /// An existing target, or the `.part` of a killed run, is touched only if `overwrite` is set; one that another process
    /// holds locked is never touched.
    pub(super) fn create(path: &Path, overwrite: bool) -> Result<(Self, File), RecordingError> {
        let target = Target { path: path.to_path_buf(), overwrite };
        target.refuse_existing()?;
        let part = target.part();
        let file = match OpenOptions::new().write(true).create_new(true).open(&part) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists && overwrite => reopen(&part)?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(RecordingError::AlreadyExists { path: part });
            }
            Err(error) => return Err(RecordingError::unwritable(part, error)),
        };
        Ok((target, file))
    }

    /// The file being written.
    pub(super) fn part(&self) -> PathBuf {
        with_suffix(&self.path, ".part")
    }

    /// The finished file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts `finished`, a complete file beside the target, in the target's place.
    pub(super) fn publish(&self, finished: &Path) -> Result<(), RecordingError> {
        self.refuse_existing()?;
        std::fs::rename(finished, &self.path).map_err(|error| RecordingError::unwritable(&self.path, error))
    }

    fn refuse_existing(&self) -> Result<(), RecordingError> {
        if !self.overwrite && self.path.exists() {
            return Err(RecordingError::AlreadyExists { path: self.path.clone() });
        }
        Ok(())
    }
}

/// Empties a `.part` that nobody holds.
fn reopen(part: &Path) -> Result<File, RecordingError> {
    let file = OpenOptions::new().write(true).open(part).map_err(|e| RecordingError::unwritable(part, e))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            return Err(RecordingError::Busy { path: part.to_path_buf() });
        }
        // A file system without locks cannot tell; go on as if nobody held it.
        Ok(()) | Err(TryLockError::Error(_)) => {}
    }
    file.set_len(0).map_err(|e| RecordingError::unwritable(part, e))?;
    Ok(file)
}
