//! One file per command.

pub mod check;
pub mod export;
pub mod info;
pub mod list;
pub mod plot;
pub mod report;
pub mod run;

use crate::failure::Failure;
use carom::io::recording::RunFile;
use std::path::Path;
use std::process::ExitCode;

/// How a command ends.
pub type Outcome = Result<ExitCode, Failure>;

/// Opens a recorded run.
pub fn open(path: &Path) -> Result<RunFile, Failure> {
    RunFile::open(path).map_err(|error| Failure::Input(error.to_string()))
}
