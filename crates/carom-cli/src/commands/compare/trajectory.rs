//! Positions and first-order states of a run at common instants, and how far two runs are apart.

use carom::dynamics::Model;
use carom::dynamics::diagnostics::Certificate;
use carom::dynamics::error::RecordError;
use carom::dynamics::recording::{Frame, Recorder};
use carom::dynamics::report::Event;

/// Instants at which runs are compared.
const INSTANTS: usize = 500;

/// Positions, then first-order states, at [`INSTANTS`] equally spaced instants, by linear interpolation between the ends of steps.
#[derive(Clone, Debug, Default)]
pub struct Trajectory {
    start: f64,
    end: f64,
    last: (f64, Vec<f64>),
    samples: Vec<Vec<f64>>,
}

/// Distances of positions, relative to max(1, |value|): the mean over time (L¹), and at the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathErrors {
    pub mean: f64,
    pub end: f64,
}

impl Trajectory {
    pub fn new(start: f64, end: f64) -> Self {
        Trajectory { start, end, ..Trajectory::default() }
    }

    /// Takes the end of a step.
    pub fn push(&mut self, model: &Model, t: f64, z: &[f64]) {
        let systems = model.systems();
        let n = systems.coordinates().len();
        if self.last.1.is_empty() {
            self.last = (t, z.to_vec());
        }
        let (mut w, mut at) = (vec![0.0; systems.velocities().len()], vec![0.0; z.len()]);
        systems.difference(&self.last.1[..n], &z[..n], &mut w);
        while self.samples.len() < INSTANTS {
            let instant = self.start + (self.end - self.start) * (self.samples.len() + 1) as f64 / INSTANTS as f64;
            // round-off of the last instant
            if instant > t + 1e-9 * (self.end - self.start) {
                break;
            }
            let span = t - self.last.0;
            let part = if span > 0.0 { ((instant - self.last.0) / span).min(1.0) } else { 1.0 };
            let partial: Vec<f64> = w.iter().map(|w| part * w).collect();
            systems.advance(&self.last.1[..n], &partial, &mut at[..n]);
            for (at, (from, to)) in at[n..].iter_mut().zip(self.last.1[n..].iter().zip(&z[n..])) {
                *at = from + part * (to - from);
            }
            self.samples.push(at.clone());
        }
        self.last = (t, z.to_vec());
    }

    /// Distances from another run.
    pub fn errors(&self, model: &Model, reference: &Trajectory) -> PathErrors {
        let systems = model.systems();
        let (n, n_v) = (systems.coordinates().len(), systems.velocities().len());
        let (mut w, mut scale) = (vec![0.0; n_v], vec![0.0; n_v]);
        let mut distance = |a: &[f64], b: &[f64]| {
            systems.difference(&b[..n], &a[..n], &mut w);
            systems.position_scale(&b[..n], &mut scale);
            let of_positions = w.iter().zip(&scale).map(|(w, s)| w.abs() / s.abs().max(1.0)).fold(0.0, f64::max);
            a[n..].iter().zip(&b[n..]).map(|(a, b)| (a - b).abs() / b.abs().max(1.0)).fold(of_positions, f64::max)
        };
        let pairs = self.samples.iter().zip(&reference.samples);
        let mean = pairs.map(|(a, b)| distance(a, b)).sum::<f64>() / INSTANTS as f64;
        PathErrors { mean, end: distance(&self.last.1, &reference.last.1) }
    }
}

/// Fills a trajectory while a run goes.
pub struct Watcher<'a> {
    pub trajectory: &'a mut Trajectory,
    pub model: &'a Model,
}

impl Recorder for Watcher<'_> {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), RecordError> {
        self.trajectory.push(self.model, frame.t, &[frame.q, frame.x].concat());
        Ok(())
    }
    fn event(&mut self, _: &Event) -> Result<(), RecordError> {
        Ok(())
    }
    fn finish(&mut self, _: &Certificate, _: &str) -> Result<(), RecordError> {
        Ok(())
    }
}
