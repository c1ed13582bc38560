//! One file per command.

pub mod bench;
pub mod check;
pub mod compare;
pub mod dump;
pub mod events;
pub mod export;
pub mod import;
pub mod info;
pub mod list;
pub mod plot;
pub mod report;
pub mod run;
pub mod solve;
pub mod study;

use crate::failure::Failure;
use carom::io::recording::RunFile;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

/// How a command ends.
pub type Outcome = Result<ExitCode, Failure>;

/// Opens a recorded run.
pub fn open(path: &Path) -> Result<RunFile, Failure> {
    RunFile::open(path).map_err(|error| Failure::Input(error.to_string()))
}

/// A bar of `length` parts on a terminal, nothing elsewhere.
pub fn progress_bar(length: u64, quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:40} {msg} [{elapsed} < {eta}]");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
