//! `carom export`: a recorded run as CSV.

use super::{Outcome, open};
use crate::failure::Failure;
use carom::io::recording::{export_contacts, export_csv, export_events, export_modes};
use clap::{Parser, ValueEnum};
use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
pub struct Args {
    /// Recorded run (HDF5)
    run: PathBuf,
    /// What to write: coordinates, velocities and energies per frame, the events, the modes of contacts and multipliers per frame, or the active contacts
    #[arg(short, long, value_enum, default_value = "frames")]
    table: Table,
    /// CSV file to write; standard output when left out
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    overwrite: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Table {
    Frames,
    Events,
    Modes,
    Contacts,
}

pub fn export(args: &Args) -> Outcome {
    let run = open(&args.run)?;
    let mut out: Box<dyn Write> = match &args.output {
        None => Box::new(std::io::stdout().lock()),
        Some(path) => {
            let file = OpenOptions::new().write(true).create(true).create_new(!args.overwrite).truncate(true).open(path);
            let file =
                file.map_err(|e| Failure::Input(format!("cannot write {}: {e}; --overwrite replaces an existing file", path.display())))?;
            Box::new(BufWriter::new(file))
        }
    };
    let written = match args.table {
        Table::Frames => export_csv(&run, &mut out),
        Table::Events => export_events(&run, &mut out),
        Table::Modes => export_modes(&run, &mut out),
        Table::Contacts => export_contacts(&run, &mut out),
    };
    let written = written.map_err(|error| error.to_string());
    let written = written.and_then(|()| out.flush().map_err(|error| error.to_string()));
    match written {
        // a reader of standard output that goes away has seen enough
        Err(error) if args.output.is_none() && error.contains("Broken pipe") => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Failure::Input(error)),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}
