//! Two elastic bars collide: the contact force over time by the θ-methods, as CSV and as a picture.
//!
//! ```text
//! cargo run --release -p carom --example elastic_bars -- [directory] [elements]
//! ```
//!
//! writes `elastic_bars.csv` (time, one column of forces per method, the exact force) and `elastic_bars.svg` into the directory (default: the
//! present one), and prints what became of the velocities. The comparison is that of Brogliato2002, §7.2.4.

use carom::dynamics::problems::elastic_bars::{self as bars, mean_velocities};
use carom::dynamics::schemes::{GapRule, SchemeParams, ThetaGapParams, take_step};
use carom::io::plot::{PlotOptions, Series, draw};
use carom::prelude::*;
use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = PathBuf::from(arguments.next().unwrap_or_else(|| ".".into()));
    let elements: usize = arguments.next().map_or(Ok(50), |n| n.parse())?;
    // four steps while a wave passes an element
    let problem = bars::problem(elements)?;
    let n_steps = (4.0 * elements as f64 * problem.end * bars::WAVE_SPEED / bars::LENGTH).ceil();
    let step = problem.end / n_steps;
    let times: Vec<f64> = (1..=n_steps as usize).map(|k| k as f64 * step).collect();

    let variants = [
        ("θ gap, θ = 0.5", GapRule::Theta, 0.5),
        ("θ gap, θ = 0.55", GapRule::Theta, 0.55),
        ("θ-Euler, θ = 0.5", GapRule::ThetaEuler, 0.5),
        ("modified θ, θ = 0.5", GapRule::ModifiedTheta, 0.5),
    ];
    let exact = times.iter().map(|t| if (0.0..=bars::DURATION).contains(&(t - bars::TOUCH)) { bars::CONTACT_FORCE } else { 0.0 });
    let mut curves = vec![("exact", exact.collect::<Vec<f64>>())];
    println!("{:20} {:>12} {:>12} {:>12}", "", "v of a [m/s]", "v of b [m/s]", "energy kept");
    println!("{:20} {:12.4} {:12.4} {:12.4}", "exact", 0.0, bars::SPEED, 1.0);
    for (label, gap, theta) in variants {
        let scheme = SchemeParams::ThetaGap(ThetaGapParams { theta, gap, ..ThetaGapParams::default() }).build();
        let mut memory = StepMemory::new(&problem.model, &FrictionSolverParams::default())?;
        let (mut state, mut forces) = (problem.state.clone(), Vec::new());
        let energy = |state: &State| problem.model.energy(state.t, &state.q, &state.v, &mut Default::default());
        let (kinetic, potential) = energy(&state)?;
        for _ in &times {
            take_step(&*scheme, &problem.model, &mut state, &mut memory, step)?;
            scheme.accept(&problem.model, &state, &mut memory);
            forces.push(memory.impulses().first().map_or(0.0, |p| p / step));
        }
        let ([a, b], (kinetic_end, potential_end)) = (mean_velocities(&state.v), energy(&state)?);
        println!("{label:20} {a:12.4} {b:12.4} {:12.4}", (kinetic_end + potential_end) / (kinetic + potential));
        curves.push((label, forces));
    }

    let mut text = String::from("t [s]");
    for (label, _) in &curves {
        write!(text, ";{label} [N]")?;
    }
    for (k, t) in times.iter().enumerate() {
        write!(text, "\n{t}")?;
        for (_, forces) in &curves {
            write!(text, ";{}", forces[k])?;
        }
    }
    std::fs::write(directory.join("elastic_bars.csv"), text + "\n")?;
    let of_curve = |(label, y): &(&str, Vec<f64>)| Series {
        label: (*label).to_owned(),
        unit: "N".into(),
        // the oscillating one in a panel of its own
        quantity: if *label == variants[0].0 { "contact force, θ gap".into() } else { "contact force".into() },
        x: times.clone(),
        y: y.clone(),
    };
    let series: Vec<Series> = curves.iter().map(of_curve).collect();
    let options = PlotOptions { title: "Two elastic bars collide".into(), ..PlotOptions::default() };
    draw(&series, &options, directory.join("elastic_bars.svg"))?;
    Ok(())
}
