//! Time and energy of an engine, step by step.

use crate::engine::Engine;
use carom::dynamics::systems::Scratch;
use carom::dynamics::{Model, State};
use cpu_time::ProcessTime;
use std::error::Error;
use std::time::{Duration, Instant};

/// What is measured while an engine runs.
pub struct Meter {
    /// CPU time of each step, of all threads.
    pub cpu: Vec<Duration>,
    /// Time that passed in the steps.
    pub wall: Duration,
    /// Kinetic energy after the last step \[J\].
    pub kinetic: f64,
    /// Rise of kinetic plus potential energy in the last step, and the largest in one step \[J\].
    pub rise: f64,
    pub largest_rise: f64,
    mechanical: f64,
    state: State,
    scratch: Scratch,
}

impl Meter {
    /// Nothing measured yet.
    pub fn new(model: &Model, start: &State, n_steps: usize) -> Result<Self, Box<dyn Error>> {
        let (mut scratch, state) = (Scratch::default(), start.clone());
        let (kinetic, potential) = model.energy(state.t, &state.q, &state.v, &mut scratch)?;
        let cpu = Vec::with_capacity(n_steps);
        Ok(Self { cpu, wall: Duration::ZERO, kinetic, rise: 0.0, largest_rise: 0.0, mechanical: kinetic + potential, state, scratch })
    }

    /// One step of an engine, timed; then its energy, not timed, by carom's formula for all engines.
    pub fn step(&mut self, engine: &mut dyn Engine, model: &Model) -> Result<(), Box<dyn Error>> {
        let (cpu, wall) = (ProcessTime::now(), Instant::now());
        engine.step()?;
        self.cpu.push(cpu.elapsed());
        self.wall += wall.elapsed();
        engine.account();
        engine.read(&mut self.state);
        let (kinetic, potential) = model.energy(self.state.t, &self.state.q, &self.state.v, &mut self.scratch)?;
        self.rise = kinetic + potential - self.mechanical;
        self.largest_rise = self.largest_rise.max(self.rise);
        (self.kinetic, self.mechanical) = (kinetic, kinetic + potential);
        Ok(())
    }

    /// Mean CPU time per step of all steps, and of the last third \[ms\].
    pub fn cpu_per_step(&self) -> [f64; 2] {
        let mean = |times: &[Duration]| 1e3 * times.iter().sum::<Duration>().as_secs_f64() / times.len().max(1) as f64;
        [mean(&self.cpu), mean(&self.cpu[2 * self.cpu.len() / 3..])]
    }

    /// Mean time per step \[ms\].
    pub fn wall_per_step(&self) -> f64 {
        1e3 * self.wall.as_secs_f64() / self.cpu.len().max(1) as f64
    }
}
