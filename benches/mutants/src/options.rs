//! The command line.

use std::path::PathBuf;

/// What the command line asks for.
#[derive(Clone, Debug)]
pub struct Options {
    /// Check the list, and nothing else.
    pub verify: bool,
    /// A room or the name of one defect.
    pub only: Option<String>,
    /// First defect in the order of the list.
    pub from: Option<String>,
    /// Defects that survived before are run again, others that have a result are not.
    pub again: bool,
    /// Keeps a line per defect; defects that have one are not run again.
    pub results: Option<PathBuf>,
    /// Run what was built last, though the source has changed since.
    pub as_built: bool,
    /// Where the copy is built.
    pub scratch: PathBuf,
    /// Test processes at once.
    pub jobs: usize,
}

const USAGE: &str =
    "cargo run --release -- [--verify] [--only ROOM|ID] [--from ID] [--results FILE [--again]] [--jobs 1|2] [--as-built] [--scratch DIR]";

impl Options {
    /// Reads the arguments.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let scratch = crate::here().join("target/tree");
        let mut options = Options { verify: false, only: None, from: None, again: false, as_built: false, results: None, scratch, jobs: 1 };
        while let Some(name) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{name} needs a value\n{USAGE}"));
            match name.as_str() {
                "--verify" => options.verify = true,
                "--as-built" => options.as_built = true,
                "--again" => options.again = true,
                "--only" => options.only = Some(value()?),
                "--from" => options.from = Some(value()?),
                "--results" => options.results = Some(value()?.into()),
                "--scratch" => options.scratch = value()?.into(),
                "--jobs" => options.jobs = value()?.parse().ok().filter(|jobs| (1..=2).contains(jobs)).ok_or("--jobs is 1 or 2")?,
                _ => return Err(format!("unknown option {name}\n{USAGE}")),
            }
        }
        Ok(options)
    }
}
