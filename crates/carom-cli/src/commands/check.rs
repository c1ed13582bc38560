//! `carom check`: is the model file right?

use super::Outcome;
use crate::changes::{Changes, show_notes};
use crate::failure::Failure;
use crate::integrating::describe;
use crate::output;
use carom::dynamics::first_order::FirstOrderSet;
use carom::dynamics::integrators::Integration;
use carom::io::model_file::read;
use clap::Parser;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
pub struct Args {
    /// Model file, or folder with a model.toml
    model: PathBuf,
    #[command(flatten)]
    changes: Changes,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

pub fn check(args: &Args) -> Outcome {
    let error = match read(&args.model, &args.changes.overrides()) {
        Ok(file) => {
            let systems = file.model.systems();
            let (n_q, n_v) = (systems.coordinates().len(), systems.velocities().len());
            let interactions = file.model.interactions();
            let n_constraints = interactions.iter().filter(|i| i.is_bilateral()).count();
            let n_colliders = file.model.n_colliders();
            let (n_x, n_rows) = file.model.first_order().map_or((0, 0), |set| (set.states().len(), set.rows().len()));
            let n_contacts = interactions.iter().filter(|i| i.is_contact()).count() + file.model.compliant_contacts().len();
            // what only the equations can tell: a method that is not made for the model, a singular position
            if file.run.strategy.integrates()
                && file.model.first_order().is_none()
                && let Err(error) = Integration::new(&file.model, &file.state, &file.run.integrator)
            {
                return wrong(args, &error.to_string());
            }
            let overlaps = crate::overlaps::of(&file.model, &file.state);
            let meshes = crate::meshes::of(&file.shapes.spatial);
            if args.json {
                let counts = json!({"states": n_x, "relations": n_rows, "coordinates": n_q, "velocities": n_v, "constraints": n_constraints, "contacts": n_contacts, "colliders": n_colliders});
                let passivity = file.model.first_order().and_then(|set| set.passivity()).map(ToString::to_string);
                output::line(json!({"ok": true, "title": file.title, "strategy": file.run.strategy, "counts": counts, "mistakes": [],
                    "overlaps": crate::overlaps::json(&overlaps), "meshes": crate::meshes::json(&meshes), "passivity": passivity, "notes": file.notes}));
            } else {
                show_notes(&file.notes);
                crate::overlaps::warn(&overlaps);
                crate::meshes::warn(&meshes);
                let scheme = || file.run.scheme.entry().name.to_owned();
                let method = match (file.run.integrates(), file.run.strategy.has_scheme()) {
                    (true, true) => format!("{} and {}", describe(&file.run.integrator), scheme()),
                    (true, false) => describe(&file.run.integrator),
                    _ => scheme(),
                };
                let mechanics = format!(
                    "{n_q} coordinates, {n_v} velocities, {n_constraints} constraints, {n_contacts} contacts by formula, {n_colliders} shapes"
                );
                let first_order = format!("{n_x} states, {n_rows} rows of relations");
                let parts = match (n_x > 0, n_v > 0) {
                    (true, true) => format!("{mechanics}, {first_order}"),
                    (true, false) => first_order,
                    _ => mechanics,
                };
                output::line(format!("{}: right. {parts}; {} by {method}", file.title, file.run.strategy));
                if let Some(line) = file.model.first_order().and_then(passivity_line) {
                    output::line(line);
                }
            }
            return Ok(ExitCode::SUCCESS);
        }
        Err(error) => error,
    };
    if !args.json {
        return Err(Failure::Model(error));
    }
    let mistakes: Vec<_> = error
        .diagnostics
        .iter()
        .map(|d| {
            let place = error.position(d);
            json!({"file": error.part(d).file, "line": place.map(|p| p.line), "column": place.map(|p| p.column), "message": d.message, "help": d.help})
        })
        .collect();
    output::line(json!({"ok": false, "file": error.file, "mistakes": mistakes}));
    Ok(ExitCode::from(2))
}

/// What is known of the passivity of a first-order part, with its storage function where that was derived.
fn passivity_line(set: &FirstOrderSet) -> Option<String> {
    let passivity = set.passivity()?;
    if !set.storage_is_derived() {
        return Some(format!("first-order part: {passivity}"));
    }
    let n = set.states().len();
    let entry = |k: usize| (set.storage()[k], format!("{}·{}", set.states()[k / n].name, set.states()[k % n].name));
    let entries = (0..n * n).filter(|k| k / n <= k % n).map(entry).filter(|(value, _)| *value != 0.0);
    let shown: Vec<String> = entries.take(MAX_ENTRIES + 1).map(|(value, name)| format!("{value:.4e} ({name})")).collect();
    let rest = if shown.len() > MAX_ENTRIES { ", …" } else { "" };
    let shown = shown[..shown.len().min(MAX_ENTRIES)].join(", ");
    Some(format!("first-order part: {passivity}; storage function ½ xᵀP x derived, P = {shown}{rest}"))
}

/// Entries of P that are shown.
const MAX_ENTRIES: usize = 6;

/// A model that reads well but cannot be integrated.
fn wrong(args: &Args, message: &str) -> Outcome {
    if !args.json {
        return Err(Failure::Input(message.to_owned()));
    }
    let mistake = json!({"line": null, "column": null, "message": message, "help": null});
    output::line(json!({"ok": false, "file": args.model, "mistakes": [mistake]}));
    Ok(ExitCode::from(2))
}
