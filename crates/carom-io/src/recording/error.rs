//! What can go wrong with recorded runs and their plots.

use carom_dynamics::error::RecordError;
use std::path::PathBuf;

/// A recorded run cannot be written, read or drawn. Every message says what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file to be written exists.
    #[error("{} exists already; choose another name, remove it, or allow overwriting", path.display())]
    AlreadyExists {
        /// The existing file: the target itself, or the `.part` an unfinished run left.
        path: PathBuf,
    },
    /// Another process is writing the same file.
    #[error("{} is being written by another process; choose another name or wait for it to end", path.display())]
    Busy {
        /// The file in use.
        path: PathBuf,
    },
    /// Writing failed.
    #[error("cannot write {}: {reason}; {advice}", path.display())]
    Unwritable {
        /// The file being written.
        path: PathBuf,
        /// What the system or the format library said.
        reason: String,
        /// What to do.
        advice: &'static str,
    },
    /// Reading failed.
    #[error("cannot read {}: {reason}; {advice}", path.display())]
    Unreadable {
        /// The file being read.
        path: PathBuf,
        /// What the system or the format library said.
        reason: String,
        /// What to do.
        advice: String,
    },
    /// A frame does not fit the columns announced in the run's information.
    #[error("a frame has {found} {what}, the run was announced with {expected}; give the recorder one name for each")]
    FrameMismatch {
        /// Which array: coordinates, velocities or gaps.
        what: &'static str,
        /// Announced length.
        expected: usize,
        /// Length of the frame's array.
        found: usize,
    },
    /// No quantity of this name was recorded.
    #[error("no quantity \"{name}\" in this run{}; available: {}", did_you_mean(nearest.as_deref()), available.join(", "))]
    UnknownQuantity {
        /// What was asked for.
        name: String,
        /// The recorded quantity whose name is most alike, if any is alike.
        nearest: Option<String>,
        /// Everything that can be asked for.
        available: Vec<String>,
    },
    /// There is nothing to draw.
    #[error("nothing to draw: {reason}; {advice}")]
    NothingToDraw {
        /// Why.
        reason: String,
        /// What to do.
        advice: &'static str,
    },
    /// The picture's file name ends in something other than `.svg` or `.png`.
    #[error("cannot tell the picture format of {}; end the name with .svg or .png", path.display())]
    UnknownPictureFormat {
        /// The file asked for.
        path: PathBuf,
    },
    /// The picture's size is out of range.
    #[error("a picture of {width} × {height} pixels cannot be drawn; choose {min} to {max} in both directions")]
    PictureSize {
        /// Width asked for in pixels.
        width: u32,
        /// Height asked for in pixels.
        height: u32,
        /// Smallest possible.
        min: u32,
        /// Largest possible.
        max: u32,
    },
}

impl RecordingError {
    pub(crate) fn unwritable(path: impl Into<PathBuf>, reason: impl ToString) -> Self {
        RecordingError::Unwritable {
            path: path.into(),
            reason: reason.to_string(),
            advice: "check that the directory exists, may be written, and that the disk is not full",
        }
    }

    pub(crate) fn unreadable(path: impl Into<PathBuf>, reason: impl ToString, advice: impl Into<String>) -> Self {
        RecordingError::Unreadable { path: path.into(), reason: reason.to_string(), advice: advice.into() }
    }
}

impl From<RecordingError> for RecordError {
    fn from(error: RecordingError) -> Self {
        RecordError { reason: error.to_string() }
    }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean \"{name}\"?)"))
}
