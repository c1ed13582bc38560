//! `carom info`: what a recorded run holds.

use super::events::EventList;
use super::{Outcome, open};
use crate::failure::Failure;
use crate::output;
use clap::Parser;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
pub struct Args {
    /// Recorded run (HDF5)
    run: PathBuf,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
    /// Print all events of the run
    #[arg(long, conflicts_with = "model")]
    events: bool,
    /// Print the model file the run was made from
    #[arg(long)]
    model: bool,
}

/// Quantities that are listed: piles have thousands, which `--json` lists.
const MOST_LISTED: usize = 40;

fn listed(quantities: &[String]) -> String {
    let first = quantities[..quantities.len().min(MOST_LISTED)].join(", ");
    match quantities.len().saturating_sub(MOST_LISTED) {
        0 => first,
        more => format!("{first}, … and {more} more (--json lists all)"),
    }
}

pub fn info(args: &Args) -> Outcome {
    let wrong = |error: carom::io::recording::RecordingError| Failure::Input(error.to_string());
    let run = open(&args.run)?;
    if args.model {
        output::write(&run.model_text().map_err(wrong)?);
        return Ok(ExitCode::SUCCESS);
    }
    let events = EventList::of_run(&run.events().map_err(wrong)?);
    if args.events {
        match args.json {
            true => output::line(json!({"event_counts": events.counts(), "events": events.json()})),
            false => output::write(&events.table(usize::MAX, "")),
        }
        return Ok(ExitCode::SUCCESS);
    }
    let quantities = run.available().map_err(wrong)?;
    let certificate = run.certificate().map_err(wrong)?;
    let certificate: serde_json::Value = certificate.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let time = run.time();
    let (start, end) = (time.first().copied(), time.last().copied());
    if args.json {
        let object = json!({
            "title": run.title(), "version": run.version(), "status": run.status(), "frames": run.n_frames(),
            "start": start, "end": end, "quantities": quantities, "certificate": certificate,
            "event_counts": events.counts(),
        });
        output::line(object);
        return Ok(ExitCode::SUCCESS);
    }
    output::line(format!("{} (carom {}, {})", run.title(), run.version(), run.status()));
    if let (Some(start), Some(end)) = (start, end) {
        output::line(format!("{} frames from t = {start} s to {end} s", run.n_frames()));
    }
    output::line(format!("events: {}", events.summary()));
    output::line(format!("quantities: {}", listed(&quantities)));
    if let Some(map) = certificate.as_object() {
        let smooth = map.get("smooth").and_then(|s| s.as_object()).into_iter().flatten().filter(|(_, value)| !value.is_array());
        let own = map.iter().filter(|(_, value)| value.is_number());
        let events = map.get("event_driven").and_then(|e| e.as_object()).into_iter().flatten().filter(|(_, value)| value.is_number());
        for (key, value) in own.chain(smooth).chain(events) {
            output::line(format!("  {key}: {}", value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = (0..MOST_LISTED + 3).map(|k| format!("q.{k}")).collect();
        assert_eq!(listed(&names[..2]), "q.0, q.1");
        assert!(!listed(&names[..MOST_LISTED]).contains("more"));
        assert!(listed(&names).ends_with("q.39, … and 3 more (--json lists all)"));
    }
}
