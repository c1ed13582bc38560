//! Time per step of smooth motion: mechanisms with constant steps, N four-bar linkages in a row over N, and whole integrations with their errors.
//!
//! `cargo bench -p carom-dynamics --bench smooth` shows the best of five repetitions. `… --bench smooth -- CASE COUNT` runs one case only, for
//! counting instructions: `valgrind --tool=callgrind BINARY CASE COUNT` (the binary is named by `cargo bench … --no-run`). CASE is
//!
//! - `slider-crank`, `four-bar`, `bricard` or a number N: COUNT constant steps of rk4;
//! - `four-bar-phem56`, `bricard-hem5`, …: COUNT times the whole integration of that name in the second table.
//!
//! Instructions by callgrind on x86-64 (times depend on what else runs): 440 thousand per step of `bricard` (696 before G and its factors were kept and
//! the envelope was used), 51 million for `four-bar-phem56 1` with the building of the model.
//!
//! `… --bench smooth -- CASE INTEGRATOR TOLERANCE` integrates one of the mechanisms over 10 s with projection.

use carom_dynamics::integrators::{Integration, IntegratorKind, IntegratorParams, StepControl};
use carom_dynamics::problems::bricard::{bricard, third_joint};
use carom_dynamics::problems::mechanisms::{four_bar, slider_crank};
use carom_dynamics::problems::n_four_bar::n_four_bar;
use carom_dynamics::smooth::Projection;
use carom_dynamics::systems::Scratch;
use carom_dynamics::{Model, State};
use nalgebra::Vector3;
use std::time::Instant;

/// Step \[s\] of the first table; with RK4 a step is five solves of the constrained equations.
const STEP: f64 = 1e-4;

/// Whole integrations: name, mechanism, method, tolerance, end \[s\].
const RUNS: &[(&str, &str, IntegratorKind, f64, f64)] = &[
    ("four-bar-phem56", "four-bar", IntegratorKind::Phem56, 1e-10, 2.0),
    ("four-bar-hem5", "four-bar", IntegratorKind::Hem5, 1e-10, 2.0),
    ("bricard-adams-moulton", "bricard", IntegratorKind::AdamsMoulton, 1e-12, 10.0),
    ("bricard-dopri5", "bricard", IntegratorKind::Dopri5, 1e-11, 10.0),
    ("bricard-extrapolation", "bricard", IntegratorKind::Extrapolation, 1e-11, 10.0),
    ("bricard-hem5", "bricard", IntegratorKind::Hem5, 1e-9, 10.0),
    ("bricard-phem56", "bricard", IntegratorKind::Phem56, 1e-11, 10.0),
    ("2-phem56", "2", IntegratorKind::Phem56, 1e-11, 10.0),
    ("40-phem56", "40", IntegratorKind::Phem56, 1e-11, 10.0),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|x| !x.starts_with("--")).collect();
    match &arguments[..] {
        [case, count] => return one(case, count.parse().expect("a number of steps or runs")),
        [case, kind, tolerance] => {
            let kind = IntegratorKind::try_from(kind.clone()).expect("an integrator");
            return integrate(&(case, case, kind, tolerance.parse().expect("a tolerance"), 10.0), 3);
        }
        _ => {}
    }
    println!("{:<24}{:>10}{:>14}{:>14}{:>20}", "rk4", "rows", "set-up, ms", "µs/step", "µs/step and N");
    for case in ["slider-crank", "four-bar", "bricard"] {
        row(case, None);
    }
    for n in [1, 2, 5, 10, 40, 200, 1000, 2000] {
        row(&n.to_string(), Some(n));
    }
    println!("\n{:<24}{:>10}{:>10}{:>10}{:>10}{:>14}{:>14}", "projected", "tolerance", "steps", "ms", "µs/step", "energy, J", "reference");
    for run in RUNS {
        integrate(run, 5);
    }
}

fn one(case: &str, count: usize) {
    if let Some(run) = RUNS.iter().find(|run| run.0 == case) {
        return integrate(run, count);
    }
    let (model, state) = mechanism(case);
    let (_, seconds) = walk(&model, &state, count);
    println!("{case}: {:.2} µs/step", 1e6 * seconds);
}

fn mechanism(case: &str) -> (Model, State) {
    match case {
        "bricard" => bricard().map(|m| (m.model, m.state)).expect("model"),
        "four-bar" => four_bar().map(|m| (m.model, m.state)).expect("model"),
        "slider-crank" => slider_crank().map(|m| (m.model, m.state)).expect("model"),
        n => n_four_bar(n.parse().expect("the name of a case or a number")).map(|m| (m.model, m.state)).expect("model"),
    }
}

/// Times to begin and per step \[s\].
fn walk(model: &Model, state: &State, steps: usize) -> (f64, f64) {
    let params =
        IntegratorParams { kind: IntegratorKind::Rk4, control: StepControl::Fixed, step: Some(STEP), ..IntegratorParams::default() };
    let start = Instant::now();
    let mut integration = Integration::new(model, state, &params).expect("a consistent start");
    let begun = start.elapsed().as_secs_f64();
    let start = Instant::now();
    for _ in 0..steps {
        integration.step(f64::INFINITY).expect("a step");
    }
    (begun, start.elapsed().as_secs_f64() / steps as f64)
}

fn row(case: &str, n: Option<usize>) {
    let start = Instant::now();
    let (model, state) = mechanism(case);
    let built = start.elapsed().as_secs_f64();
    let steps = (20_000 / n.unwrap_or(1)).clamp(20, 2000);
    let best = (0..5).map(|_| walk(&model, &state, steps)).fold((f64::INFINITY, f64::INFINITY), |a, b| (a.0.min(b.0), a.1.min(b.1)));
    let rows: usize = model.interactions().iter().map(|x| x.relation().n_rows()).sum();
    let (label, per_loop) =
        n.map_or((case.to_owned(), String::new()), |n| (format!("{n} four-bars"), format!("{:.3}", 1e6 * best.1 / n as f64)));
    println!("{label:<24}{rows:>10}{:>14.2}{:>14.2}{per_loop:>20}", 1e3 * (built + best.0), 1e6 * best.1);
}

/// The best time of some repetitions of a whole integration, the largest error of the energy over its steps, and the error of the end where
/// there is a reference.
fn integrate(&(name, case, kind, tolerance, end): &(&str, &str, IntegratorKind, f64, f64), repetitions: usize) {
    let (model, state) = mechanism(case);
    let projection = if case == "four-bar" { Projection::None } else { Projection::Both };
    let order = kind.entry().choices.last().copied();
    let params = IntegratorParams { kind, order, tolerance, projection, ..IntegratorParams::default() };
    let (mut best, mut drift, mut steps, mut q) = (f64::INFINITY, 0.0_f64, 0, Vec::new());
    for repetition in 0..repetitions {
        let start = Instant::now();
        let mut integration = Integration::new(&model, &state, &params).expect("a consistent start");
        let mut energies = Vec::new();
        while integration.point().t < end {
            integration.step(end).expect("a step");
            if repetition == 0 {
                let point = integration.point();
                energies.push(energy(&model, &point.q, &point.v));
            }
        }
        best = best.min(start.elapsed().as_secs_f64());
        let first = energy(&model, &state.q, &state.v);
        drift = energies.iter().fold(drift, |most, e| most.max((e - first).abs()));
        steps = integration.statistics().accepted;
        q = integration.point().q.clone();
    }
    let reference = match case {
        "bricard" => {
            let exact = bricard().expect("model").references[2].1;
            format!("{:.1e}", (third_joint(&q) - Vector3::from(exact)).norm())
        }
        "2" => format!("{:.1e}", (q[2] + 30.179_800_860_191_16).abs()),
        _ => String::new(),
    };
    // the four-bar linkage is driven
    let drift = if case == "four-bar" { String::new() } else { format!("{drift:.1e}") };
    let per_step = 1e6 * best / steps as f64;
    println!("{name:<24}{tolerance:>10.0e}{steps:>10}{:>10.2}{per_step:>10.2}{drift:>14}{reference:>14}", 1e3 * best);
}

fn energy(model: &Model, q: &[f64], v: &[f64]) -> f64 {
    let (kinetic, potential) = model.energy(0.0, q, v, &mut Scratch::default()).expect("a finite energy");
    kinetic + potential
}
