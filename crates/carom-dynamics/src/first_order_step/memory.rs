//! What steps of a first-order system reuse.

use super::linear_step::Discrete;
use super::mixed_step::MixedWork;
use super::newton_step::NewtonWork;
use crate::first_order::set::FirstOrderSet;
use crate::report::Event;
use crate::systems::Scratch;
use carom_solvers::affine_vi::{AffineVi, AffineViSolver, Piece};
use carom_solvers::{Solution, SolveError};

/// Multipliers, outputs, the one-step problem, its solver and factors.
#[derive(Debug)]
pub(crate) struct FirstOrderMemory {
    /// W, q and K; −(W λ + q) ∈ N_K(λ).
    pub problem: AffineVi,
    /// λ and y of the last step.
    pub solution: Solution,
    pub solver: AffineViSolver,
    /// Matrices of a linear system for the present step size.
    pub discrete: Discrete,
    pub newton: NewtonWork,
    pub mixed: MixedWork,
    /// Counts the changes of W.
    pub generation: u64,
    /// State at the start of the step.
    pub x_start: Vec<f64>,
    /// Where powers are evaluated.
    pub power_point: Vec<f64>,
    pub power_coordinates: Vec<f64>,
    pub power_velocities: Vec<f64>,
    pub power_scratch: Scratch,
    /// Events to be told with the next step.
    pub events: Vec<Event>,
}

impl FirstOrderMemory {
    pub fn new(set: &FirstOrderSet, tolerance: f64) -> Result<Self, SolveError> {
        let (n, m) = (set.states().len(), set.rows().len());
        Ok(FirstOrderMemory {
            problem: AffineVi { w: vec![0.0; m * m], q: vec![0.0; m], sets: set.sets().to_vec(), generation: 0 },
            solution: Solution { r: vec![0.0; m], u: vec![0.0; m] },
            solver: AffineViSolver::new(tolerance)?,
            discrete: Discrete::default(),
            newton: NewtonWork::default(),
            mixed: MixedWork::default(),
            generation: 0,
            x_start: vec![0.0; n],
            power_point: Vec::new(),
            power_coordinates: Vec::new(),
            power_velocities: Vec::new(),
            power_scratch: Scratch::default(),
            events: Vec::new(),
        })
    }

    /// λ of the last step, by rows.
    pub fn multipliers(&self) -> &[f64] {
        &self.solution.r
    }

    /// y of the last step, by rows.
    pub fn outputs(&self) -> &[f64] {
        &self.solution.u
    }

    /// The pieces of the rows of relations in the last step, those of contacts left out; empty where a set has no pieces.
    pub fn pieces(&self) -> &[Piece] {
        let all = self.solver.pieces();
        let rows = self.solution.r.len();
        let is_known = all.len() == self.problem.n() && all.len() >= rows && self.problem.has_pieces();
        if is_known { &all[all.len() - rows..] } else { &[] }
    }

    /// The row of relations in which the last one-step problem is worst; `None` where it is not known.
    pub fn worst_row(&self) -> Option<usize> {
        let rows = self.solution.r.len();
        if self.problem.n() != rows {
            return None;
        }
        self.problem.worst_row(&self.solution.r, &self.solution.u)
    }

    /// Rows whose output is held at zero.
    pub(crate) fn n_held(&self) -> usize {
        self.pieces().iter().filter(|&&piece| piece == Piece::Held).count()
    }
}
