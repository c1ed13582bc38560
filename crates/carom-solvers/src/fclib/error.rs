//! What can be wrong with an FCLIB file.

use crate::error::SolveError;
use std::path::PathBuf;
use thiserror::Error;

/// A problem cannot be read from a file or written to one. Every message says what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FclibError {
    /// The file cannot be opened, or is not HDF5.
    #[error("cannot read {}: {reason}; give an HDF5 file of the FCLIB format", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system or the format library said.
        reason: String,
    },
    /// The file is HDF5 without a friction contact problem.
    #[error("{} holds no friction contact problem: neither /fclib_local nor /fclib_global is there; give an FCLIB file", path.display())]
    NoProblem {
        /// The file.
        path: PathBuf,
    },
    /// A dataset is missing, unreadable, or does not fit the others.
    #[error("{}: /{dataset}: found {found}, expected {expected}; correct the dataset or write the file again", path.display())]
    BadDataset {
        /// The file.
        path: PathBuf,
        /// Path of the dataset in the file.
        dataset: String,
        /// What is there.
        found: String,
        /// What should be there.
        expected: String,
    },
    /// The numbers make no valid problem, for example a friction coefficient below zero.
    #[error("{}: {error}; correct the file", path.display())]
    BadProblem {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: SolveError,
    },
    /// FCLIB has no place for something in the problem.
    #[error("the FCLIB format cannot hold {what}; {advice}")]
    NotExpressible {
        /// What.
        what: String,
        /// How to get around it.
        advice: &'static str,
    },
    /// The file cannot be written.
    #[error("cannot write {}: {reason}; check that the folder exists, may be written, and that the disk is not full", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system or the format library said.
        reason: String,
    },
}
