//! Time-stepping with joints, default settings: `cargo run --release -p carom-dynamics --example joints_at_scale`.
//!
//! With numbers as arguments: chains of so many links. Chains of links with an end 1000 times as heavy over 2 s of swinging, and Bricard's mechanism over 10 s, both at 1 ms.

use carom_dynamics::problems::bricard::{bricard, third_joint};
use carom_dynamics::problems::link_chain::link_chain;
use carom_dynamics::schemes::{MoreauGap, Scheme, take_step};
use carom_dynamics::systems::Scratch;
use carom_dynamics::{Model, State, StepMemory};
use nalgebra::Vector3;
use std::error::Error;
use std::time::Instant;

const STEP: f64 = 1e-3;

const WINDOW: usize = 20;

/// What a run showed.
#[derive(Default)]
struct Measured {
    steps: usize,
    seconds: f64,
    /// Least mean time of [`WINDOW`] steps in a row \[s\]: what others do on the machine counts least in it.
    best: f64,
    newton: usize,
    failed: usize,
    /// Largest |g| at the ends of steps, and largest change of the energy.
    drift: f64,
    energy: f64,
}

fn run(model: &Model, state: &mut State, end: f64, budget: f64) -> Result<Measured, Box<dyn Error>> {
    let scheme = MoreauGap::default();
    let mut memory = StepMemory::new(model, &scheme.solver().unwrap_or_default())?;
    let (mut measured, mut scratch) = (Measured { best: f64::INFINITY, ..Measured::default() }, Scratch::default());
    let mut window = 0.0;
    let energy = |state: &State, scratch: &mut Scratch| model.energy(state.t, &state.q, &state.v, scratch).map(|(t, v)| t + v);
    let first = energy(state, &mut scratch)?;
    while state.t < end - 0.5 * STEP && measured.seconds < budget {
        let start = Instant::now();
        let report = take_step(&scheme, model, state, &mut memory, STEP)?;
        scheme.accept(model, state, &mut memory);
        let time = start.elapsed().as_secs_f64();
        measured.seconds += time;
        measured.steps += 1;
        window += time;
        if measured.steps.is_multiple_of(WINDOW) {
            measured.best = measured.best.min(window / WINDOW as f64);
            window = 0.0;
        }
        measured.newton += report.newton_iterations;
        measured.failed += usize::from(!report.converged());
        measured.drift = report.projection.map_or(measured.drift, |p| measured.drift.max(p.violation));
        measured.energy = measured.energy.max((energy(state, &mut scratch)? - first).abs());
    }
    Ok(measured)
}

fn main() -> Result<(), Box<dyn Error>> {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    let mut problem = bricard()?;
    let m = run(&problem.model, &mut problem.state, 10.0, f64::INFINITY)?;
    let off = (third_joint(&problem.state.q) - Vector3::from(problem.references[2].1)).norm();
    let (mean, iterations) = (1e3 * m.seconds / m.steps as f64, m.newton as f64 / m.steps as f64);
    println!(
        "bricard: {} steps, {mean:.4} ms/step, at best {:.4}, {iterations:.2} iterations/step, {} failed",
        m.steps,
        1e3 * m.best,
        m.failed
    );
    println!("  |g| {:.1e} m, energy {:.1e} of 5 kg g 1 m, third joint off by {off:.1e} m at 10 s", m.drift, m.energy / (5.0 * 9.81));
    println!("links   ms/step     best  us/link  iterations  failed  |g| [m]   energy/(m g l)");
    for n in if sizes.is_empty() { vec![10, 100, 1000, 5000] } else { sizes } {
        let mut chain = link_chain(n, 1000.0, 0.5)?;
        let m = run(&chain.model, &mut chain.state, 2.0, 60.0)?;
        let per_step = m.seconds / m.steps as f64;
        let scale = (n as f64 - 1.0 + 1000.0) * 0.1 * 9.81 * 0.1 * n as f64;
        println!(
            "{n:<6}{:>9.3}{:>9.3}{:>9.3}{:>12.2}{:>8}{:>10.1e}{:>12.1e}   ({} steps)",
            1e3 * per_step,
            1e3 * m.best,
            1e6 * m.best / n as f64,
            m.newton as f64 / m.steps as f64,
            m.failed,
            m.drift,
            m.energy / scale,
            m.steps
        );
    }
    Ok(())
}
