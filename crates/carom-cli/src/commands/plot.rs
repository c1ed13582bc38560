//! `carom plot`: recorded quantities as a picture.

use super::{Outcome, open};
use crate::failure::Failure;
use carom::io::plot::{Timeline, draw_timeline, plot_run};
use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
pub struct Args {
    /// Recorded run (HDF5)
    run: PathBuf,
    /// Quantities, separated by commas: q.NAME, v.NAME, gap.NAME, mode.NAME, force.NAME, impulse.NAME, energy, residual, penetration, … (see `carom info RUN`)
    #[arg(short, long, value_delimiter = ',', default_value = "q,energy")]
    quantity: Vec<String>,
    /// Draw what the contacts did instead: one lane each, coloured by mode, with marks at impacts and other events
    #[arg(long, conflicts_with = "quantity")]
    timeline: bool,
    /// Contacts of the timeline, separated by commas [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAMES", requires = "timeline")]
    contacts: Vec<String>,
    /// Picture to write, .svg or .png
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the picture if it exists
    #[arg(long)]
    overwrite: bool,
}

pub fn plot(args: &Args) -> Outcome {
    if args.output.exists() && !args.overwrite {
        return Err(Failure::Input(format!("{} exists; add --overwrite to replace it, or choose another name", args.output.display())));
    }
    let run = open(&args.run)?;
    let drawn = match args.timeline {
        true => Timeline::of_run(&run, &args.contacts).and_then(|timeline| draw_timeline(&timeline, run.title(), &args.output)),
        false => plot_run(&run, &args.quantity, &args.output),
    };
    drawn.map_err(|error| Failure::Input(error.to_string()))?;
    eprintln!("drawn: {}", args.output.display());
    Ok(ExitCode::SUCCESS)
}
