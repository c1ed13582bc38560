//! Time per step of smooth motion: small mechanisms, and N four-bar linkages in a row over N.
//!
//! `cargo bench -p carom-dynamics --bench smooth` shows the best of five repetitions. `… --bench smooth -- CASE STEPS` takes steps of one case only
//! (`four-bar`, `slider-crank` or the number N), for counting instructions: `valgrind --tool=callgrind BINARY CASE STEPS`.

use carom_dynamics::integrators::{IntegratorParams, StepControl};
use carom_dynamics::problems::mechanisms::{four_bar, slider_crank};
use carom_dynamics::problems::n_four_bar::n_four_bar;
use carom_dynamics::smooth::Integration;
use carom_dynamics::{Model, State};
use std::time::Instant;

/// Step \[s\] of all cases; with RK4 a step is five solves of the constrained equations.
const STEP: f64 = 1e-4;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|x| !x.starts_with("--")).collect();
    if let [case, steps] = &arguments[..] {
        let (model, state) = mechanism(case);
        let (_, seconds) = walk(&model, &state, steps.parse().expect("a number of steps"));
        println!("{case}: {:.2} µs/step", 1e6 * seconds);
        return;
    }
    println!("{:<24}{:>10}{:>14}{:>14}{:>20}", "rk4", "rows", "set-up, ms", "µs/step", "µs/step and N");
    for case in ["slider-crank", "four-bar"] {
        row(case, None);
    }
    for n in [1, 2, 5, 10, 40, 200, 1000, 2000] {
        row(&n.to_string(), Some(n));
    }
}

fn mechanism(case: &str) -> (Model, State) {
    match case {
        "four-bar" => four_bar().map(|m| (m.model, m.state)).expect("model"),
        "slider-crank" => slider_crank().map(|m| (m.model, m.state)).expect("model"),
        n => n_four_bar(n.parse().expect("four-bar, slider-crank or a number")).map(|m| (m.model, m.state)).expect("model"),
    }
}

/// Times to begin and per step \[s\].
fn walk(model: &Model, state: &State, steps: usize) -> (f64, f64) {
    let params = IntegratorParams { control: StepControl::Fixed, step: Some(STEP), ..IntegratorParams::default() };
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
