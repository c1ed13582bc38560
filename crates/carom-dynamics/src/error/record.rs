//! A recorder that failed.

/// A recorder failed, most often because the disk is full or the file cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot record the run: {reason}")]
pub struct RecordError {
    /// What went wrong, in words.
    pub reason: String,
}
