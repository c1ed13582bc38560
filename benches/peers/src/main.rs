//! carom and rapier side by side: the same scene, in one process, in alternating blocks of steps. See README.md.

mod accuracy;
mod carom_engine;
mod engine;
mod meter;
mod options;
mod rapier_engine;
mod table;

use carom::dynamics::{Model, State};
use carom_engine::CaromEngine;
use engine::Engine;
use meter::Meter;
use options::Options;
use rapier_engine::{RapierEngine, Setting};
use std::error::Error;
use std::process::ExitCode;

/// Steps of an engine before the next one's turn.
const BLOCK: usize = 10;

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}\n\n{}", options::USAGE);
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build()?;
    let text = pool.install(|| compare(options).map_err(|error| error.to_string()))?;
    print!("{text}");
    Ok(())
}

/// Runs all engines and gives the table.
fn compare(options: &Options) -> Result<String, Box<dyn Error>> {
    let scene = options.scene();
    let (model, state) = scene.model()?;
    let mut engines: Vec<Box<dyn Engine>> = vec![Box::new(CaromEngine::new(&scene)?)];
    if !options.alone {
        engines.push(Box::new(RapierEngine::new(&scene, Setting::Tuned, options.sleep)?));
    }
    if options.default && !options.alone {
        engines.push(Box::new(RapierEngine::new(&scene, Setting::Default, options.sleep)?));
    }
    let n_steps = options.steps.unwrap_or((scene.end / scene.step).round() as usize);
    let meters = measure(&mut engines, &model, &state, (n_steps, options.trace))?;
    let mut columns = Vec::new();
    for (engine, meter) in engines.iter().zip(meters) {
        let mut end = state.clone();
        engine.read(&mut end);
        columns.push(table::Column { name: engine.name(), meter, accuracy: accuracy::measure(&scene, &end)?, proof: engine.proof() });
    }
    let mut text = format!("{}, {n_steps} steps of {} ms, {}\n\n{}", options.title(), 1e3 * scene.step, threads(options), table::text(&columns));
    if let (true, Some(kilobytes)) = (options.alone, memory()) {
        text += &format!("largest memory of the process [kB]{:>22}\n", kilobytes);
    }
    Ok(text)
}

/// Alternates blocks of steps. Only the steps are timed.
fn measure(
    engines: &mut [Box<dyn Engine>],
    model: &Model,
    start: &State,
    (n_steps, trace): (usize, bool),
) -> Result<Vec<Meter>, Box<dyn Error>> {
    let mut meters = Vec::new();
    for _ in &*engines {
        meters.push(Meter::new(model, start, n_steps)?);
    }
    let mut done = 0;
    while done < n_steps {
        let block = BLOCK.min(n_steps - done);
        for (engine, meter) in engines.iter_mut().zip(&mut meters) {
            for _ in 0..block {
                meter.step(&mut **engine, model)?;
                if trace && let Some(text) = engine.trace() {
                    let milliseconds = 1e3 * meter.cpu.last().map_or(0.0, std::time::Duration::as_secs_f64);
                    eprintln!("{} {text} {:.2e} J {milliseconds:.3} ms", meter.cpu.len(), meter.rise);
                }
            }
        }
        done += block;
    }
    Ok(meters)
}

/// Largest resident memory of the process so far \[kB\], where the system tells.
fn memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
}

fn threads(options: &Options) -> String {
    let rapier = if cfg!(feature = "parallel") { options.threads } else { 1 };
    format!("threads: carom {}, rapier {rapier}", options.threads)
}
