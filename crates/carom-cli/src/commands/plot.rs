//! `carom plot`: recorded quantities, contacts or bodies as a picture.

use super::{Outcome, open};
use crate::failure::Failure;
use carom::io::model_file::{self, ModelFile};
use carom::io::plot::{BodiesOptions, Timeline, View, draw_bodies, draw_timeline, plot_run};
use carom::io::recording::RunFile;
use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Parser)]
pub struct Args {
    /// Recorded run (HDF5)
    run: PathBuf,
    /// Quantities, separated by commas: q.NAME, v.NAME, gap.NAME, mode.NAME, force.NAME, impulse.NAME, energy, residual, penetration, … (see `carom info RUN`) [default: coordinates, states, energy]
    #[arg(short, long, value_delimiter = ',')]
    quantity: Vec<String>,
    /// Draw what contacts and multipliers did instead: one lane each, coloured by mode, with marks at impacts and other events
    #[arg(long, conflicts_with = "quantity")]
    timeline: bool,
    /// Contacts and multipliers of the timeline, separated by commas [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAMES", requires = "timeline")]
    contacts: Vec<String>,
    /// Draw the bodies instead, at some times side by side
    #[arg(long, conflicts_with_all = ["quantity", "timeline"])]
    scene: bool,
    /// Times of the scene in seconds, separated by commas [default: first, middle, last]
    #[arg(long, value_delimiter = ',', value_name = "TIMES", requires = "scene", allow_negative_numbers = true)]
    times: Vec<f64>,
    /// Where the scene is seen from: front, side, top, oblique, or AZIMUTH,ELEVATION in degrees
    #[arg(long, default_value = "oblique", requires = "scene", allow_hyphen_values = true)]
    view: View,
    /// Part of the world to show: middle, then width and height of the picture in metres [default: all that moves]
    #[arg(long, value_name = "X,Y,Z,W,H", requires = "scene", allow_hyphen_values = true, value_parser = window)]
    window: Option<Window>,
    /// Read the model of the scene here, not from the run; needed where it names other files
    #[arg(long, value_name = "MODEL", requires = "scene")]
    model: Option<PathBuf>,
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
    let drawn = if args.scene {
        let model = model_of(&run, args.model.as_deref())?;
        let options = BodiesOptions { times: args.times.clone(), view: args.view, window: args.window };
        draw_bodies(&run, &model, &options, &args.output)
    } else if args.timeline {
        Timeline::of_run(&run, &args.contacts).and_then(|timeline| draw_timeline(&timeline, run.title(), &args.output))
    } else {
        let parts = [("q", run.coordinates().is_empty()), ("x", run.states().is_empty()), ("energy", false)];
        let usual: Vec<String> = parts.iter().filter(|(_, is_missing)| !is_missing).map(|(name, _)| (*name).to_owned()).collect();
        plot_run(&run, if args.quantity.is_empty() { &usual } else { &args.quantity }, &args.output)
    };
    drawn.map_err(|error| Failure::Input(error.to_string()))?;
    eprintln!("drawn: {}", args.output.display());
    Ok(ExitCode::SUCCESS)
}

/// Middle, then width and height \[m\].
type Window = ([f64; 3], [f64; 2]);

fn window(text: &str) -> Result<Window, String> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|word| word.trim().parse().ok().filter(|x: &f64| x.is_finite())).collect();
    match numbers.as_deref() {
        Some(&[x, y, z, width, height]) if width > 0.0 && height > 0.0 => Ok(([x, y, z], [width, height])),
        _ => Err("five finite numbers of metres are needed, X,Y,Z,W,H, with W and H positive".to_owned()),
    }
}

/// The model of a run: as it was recorded, or read again from its file. Its shapes are needed, which records do not hold.
fn model_of(run: &RunFile, file: Option<&Path>) -> Result<ModelFile, Failure> {
    let model = match file {
        Some(file) => model_file::read(file, &[]).map_err(Failure::Model)?,
        None => {
            let text = run.model_text().map_err(|error| Failure::Input(error.to_string()))?;
            model_file::parse(&text, Path::new("model.toml")).map_err(Failure::Model)?
        }
    };
    if !model.model.systems().coordinates().names().eq(run.coordinates().iter().map(|c| c.name.clone())) {
        return Err(Failure::Input("the model has other coordinates than the run; give the model that was run with --model".into()));
    }
    Ok(model)
}
