//! `carom import`: a robot's URDF as a model file.

use super::Outcome;
use crate::failure::Failure;
use crate::output;
use carom::io::urdf::{ImportOptions, import as convert};
use clap::Parser;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Largest file that is read \[bytes\].
const MAX_BYTES: u64 = 64 << 20;

#[derive(Parser)]
pub struct Args {
    /// URDF file
    robot: PathBuf,
    /// Model file to write; standard output when left out
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    overwrite: bool,
    /// Value of a joint at the start in rad or m, zero otherwise (may be repeated)
    #[arg(long, value_name = "JOINT=VALUE", value_parser = joint_value)]
    set: Vec<(String, f64)>,
    /// Let the root link move freely; by default it is fixed to the ground
    #[arg(long)]
    floating_base: bool,
    /// Density of links that have shapes but no inertia, in kg/m³
    #[arg(long, value_name = "DENSITY", default_value_t = 1000.0, value_parser = positive, allow_negative_numbers = true)]
    density: f64,
}

pub fn import(args: &Args) -> Outcome {
    let name = args.robot.display();
    let unreadable = |reason: String| Failure::Input(format!("cannot read {name}: {reason}"));
    let size = std::fs::metadata(&args.robot).map_err(|e| unreadable(e.to_string()))?.len();
    if size > MAX_BYTES {
        return Err(unreadable(format!("it has {size} bytes, at most {MAX_BYTES} are read")));
    }
    let text = std::fs::read_to_string(&args.robot).map_err(|e| unreadable(e.to_string()))?;
    let options = ImportOptions { positions: args.set.clone(), floating_base: args.floating_base, density: args.density };
    let imported = convert(&text, &options).map_err(|error| Failure::Input(format!("{name}: {error}")))?;
    for note in &imported.notes {
        eprintln!("note: {note}");
    }
    match &args.output {
        None => output::write(&imported.model),
        Some(path) => {
            let file = OpenOptions::new().write(true).create(true).create_new(!args.overwrite).truncate(true).open(path);
            let written = file.and_then(|mut file| file.write_all(imported.model.as_bytes()));
            written.map_err(|e| Failure::Input(format!("cannot write {}: {e}; --overwrite replaces an existing file", path.display())))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn joint_value(text: &str) -> Result<(String, f64), String> {
    let example = "write JOINT=VALUE, for example elbow=0.5";
    let (name, value) = text.split_once('=').ok_or_else(|| example.to_owned())?;
    let value = value
        .trim()
        .parse()
        .ok()
        .filter(|x: &f64| x.is_finite())
        .ok_or_else(|| format!("\"{value}\" is not a finite number: {example}"))?;
    Ok((name.trim().to_owned(), value))
}

fn positive(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|x: &f64| x.is_finite() && *x > 0.0).ok_or_else(|| "a positive number is needed".to_owned())
}
