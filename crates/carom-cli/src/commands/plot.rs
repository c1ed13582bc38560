//! `carom plot`: recorded quantities as a picture.

use super::{Outcome, open};
use crate::failure::Failure;
use carom::io::plot::plot_run;
use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
pub struct Args {
    /// Recorded run (HDF5)
    run: PathBuf,
    /// Quantities, separated by commas: q.NAME, v.NAME, gap.NAME, impulse.NAME, energy, residual, penetration, … (see `carom info RUN`)
    #[arg(short, long, value_delimiter = ',', default_value = "q,energy")]
    quantity: Vec<String>,
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
    plot_run(&run, &args.quantity, &args.output).map_err(|error| Failure::Input(error.to_string()))?;
    eprintln!("drawn: {}", args.output.display());
    Ok(ExitCode::SUCCESS)
}
