//! The sweeping process of a turning half-plane: error of catching-up against the step, and of the penalised process against its stiffness.
//!
//! ```text
//! cargo run --release -p carom --example penalised_sweeping -- [directory]
//! ```
//!
//! prints both tables and writes `penalised-sweeping.svg` into the directory (default: the present one).

use carom::dynamics::problems::{FirstOrderProblem, sweeping::turning_edge};
use carom::dynamics::schemes::{EulerMoreauParams, take_step};
use carom::io::plot::{PlotOptions, Scale, Series, draw};
use carom::prelude::*;
use std::error::Error;
use std::path::PathBuf;

/// Distance from the exact solution at the end, by backward Euler with n steps.
fn error(problem: &FirstOrderProblem, n: usize) -> Result<f64, Box<dyn Error>> {
    let scheme = SchemeParams::EulerMoreau(EulerMoreauParams::default()).build();
    let mut memory = StepMemory::new(&problem.model, &FrictionSolverParams::default())?;
    let mut state = problem.state.clone();
    for _ in 0..n {
        take_step(&*scheme, &problem.model, &mut state, &mut memory, problem.end / n as f64)?;
    }
    let exact = problem.exact.as_ref().map_or_else(Vec::new, |exact| exact(problem.end));
    Ok(state.x.iter().zip(&exact).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt())
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".into()));
    let curve = |label: &str, quantity: &str, points: &[(f64, f64)]| Series {
        label: label.to_owned(),
        unit: "m".into(),
        quantity: quantity.to_owned(),
        x: points.iter().map(|p| p.0).collect(),
        y: points.iter().map(|p| p.1).collect(),
    };
    let exact = turning_edge("2*t", None)?;
    let mut series = Vec::new();
    println!("{:>12} {:>12}", "step [s]", "error [m]");
    let mut points = Vec::new();
    for n in [100, 1000, 10_000, 100_000] {
        let found = error(&exact, n)?;
        println!("{:12.3e} {found:12.3e}", exact.end / n as f64);
        points.push((n as f64 / exact.end, found));
    }
    series.push(curve("catching-up, against 1/h", "error at the end", &points));
    println!("{:>12} {:>12}", "κ [1/s]", "error [m]");
    let mut points = Vec::new();
    for stiffness in [10.0, 1e2, 1e3, 1e4, 1e5] {
        let found = error(&turning_edge("2*t", Some(stiffness))?, 1_000_000)?;
        println!("{stiffness:12.0e} {found:12.3e}");
        points.push((stiffness, found));
    }
    series.push(curve("penalised, against κ (h = 1.5 µs)", "error at the end", &points));
    let options = PlotOptions {
        title: "Sweeping process: catching-up and penalty".into(),
        x_label: "1/h or κ [1/s]".into(),
        x_scale: Scale::Logarithmic,
        y_scale: Scale::Logarithmic,
        markers: true,
        ..PlotOptions::default()
    };
    draw(&series, &options, directory.join("penalised-sweeping.svg"))?;
    Ok(())
}
