//! What the benchmark needs of an engine.

use carom::dynamics::State;
use std::error::Error;

/// An engine with a scene.
pub trait Engine {
    /// Name in the table.
    fn name(&self) -> &'static str;

    /// One step.
    fn step(&mut self) -> Result<(), Box<dyn Error>>;

    /// Takes account of the last step, outside of what is timed.
    fn account(&mut self) {}

    /// The last step in words: contacts, iterations, residual.
    fn trace(&self) -> Option<String> {
        None
    }

    /// Writes positions and velocities as carom has them: (x, y, z, w, i, j, k) and linear velocity in the world's, angular in the body's
    /// frame.
    fn read(&self, state: &mut State);

    /// How well its equations were solved, where the engine can tell.
    fn proof(&self) -> Option<Proof> {
        None
    }
}

/// How well an engine has solved its equations.
#[derive(Clone, Copy, Debug)]
pub struct Proof {
    /// Largest normalised residual of a step.
    pub residual: f64,
    /// Steps that did not reach their tolerance.
    pub unconverged: usize,
    /// Sweeps or iterations per step.
    pub iterations: f64,
}
