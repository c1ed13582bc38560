//! Measures what recording costs: 10⁶ frames of a small model with one contact in every tenth frame.
//!
//! `cargo run --release -p carom-io --example recording_cost [FRAMES]`

use carom_dynamics::diagnostics::Certificate;
use carom_dynamics::recording::{ContactRecord, Frame, Recorder, Source};
use carom_dynamics::report::{ContactMode, Energy, StepReport};
use carom_dynamics::systems::Coordinate;
use carom_io::recording::{Hdf5Options, Hdf5Recorder, RunInfo};
use nalgebra::Vector3;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let n: usize = std::env::args().nth(1).map_or(Ok(1_000_000), |text| text.parse())?;
    let path = std::env::temp_dir().join("carom-recording-cost.h5");
    let column = |i| Coordinate::new(format!("x{i}"), "m");
    let info = RunInfo {
        coordinates: (0..3).map(column).collect(),
        velocities: (0..3).map(column).collect(),
        gaps: vec!["floor".into()],
        forces: Vec::new(),
        ..RunInfo::default()
    };
    let options = Hdf5Options { overwrite: true, ..Hdf5Options::default() };
    let mut recorder = Hdf5Recorder::create(&path, &info, options)?;
    let contact = ContactRecord {
        source: Source::Interaction(0),
        dim: 3,
        gap: 0.0,
        velocity: [0.0; 6],
        impulse: [1.0; 6],
        force: [0.0; 6],
        mode: ContactMode::Sliding,
        point: Vector3::zeros(),
        normal: Vector3::z(),
    };
    let start = Instant::now();
    for k in 0..n {
        let x = k as f64;
        let contacts: &[ContactRecord] = if k % 10 == 0 { &[contact] } else { &[] };
        recorder.frame(&Frame {
            step: k,
            t: 1e-3 * x,
            q: &[x, x.sqrt(), 1.0],
            v: &[x, -x, 0.5],
            x: &[],
            outputs: &[],
            multipliers: &[],
            multiplier_modes: &[],
            signals: &[],
            energy: Energy::default(),
            contacts,
            gaps: &[0.5],
            modes: &[],
            forces: &[],
            report: Some(&StepReport::default()),
        })?;
    }
    let recorded = start.elapsed();
    recorder.finish(&Certificate::default(), "finished")?;
    let finished = start.elapsed();
    let per_frame = |time: std::time::Duration| time.as_secs_f64() / n as f64 * 1e9;
    println!("{n} frames: {:.0} ns per frame, with finish {:.0} ns", per_frame(recorded), per_frame(finished));
    println!("{:.0} bytes per frame", std::fs::metadata(&path)?.len() as f64 / n as f64);
    std::fs::remove_file(path)?;
    Ok(())
}
