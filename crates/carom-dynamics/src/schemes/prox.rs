//! Half-explicit time-stepping with the laws as proximal points, after Förg, Pfeiffer and Ulbrich.
//!
//! ```text
//! q_{k+1} = q_k ⊕ h T v_k
//! M (v_{k+1} − v_k) = h F(t_{k+1}, q_{k+1}, v_k) + Gᵀ p,      M, G at q_{k+1}
//! u = G v_{k+1} + b + e u_k,     u_k = G v_k + b,      contacts with g(q_{k+1}) ≤ 0
//! bilateral:   p = p − r u
//! normal:      p_N = prox_{≥ 0}(p_N − r u_N)
//! friction:    p_T = prox_{disk μ p_N}(p_T − r u_T)
//! ```
//!
//! [Förg, Pfeiffer & Ulbrich, *Simulation of unilateral constrained systems with many bodies*, Multibody Syst. Dyn. 14, 2005], and MBSim,
//! the program of these authors, for the order of evaluation. prox_C(x) is the point of C nearest to x; the equations hold for any r > 0 and
//! are iterated as they stand, without a complementarity solver: the solver chosen for the model is not used. Iteration and relaxations are
//! told in [`ProxIteration`]. A gap within `activation_threshold` counts as closed.
//!
//! Conserves: nothing across impacts. In free motion with constant M and forces of positions alone it is the symplectic Euler rule: the
//! energy oscillates by O(h) and does not drift.
//! Violates: gaps and constraints by O(h), since laws are imposed on velocities; a contact closes only after it is penetrated, by up to h|u|.
//! The violations reported are those of q_{k+1}, where the laws hold.
//! Order: 1. Stable only while h is below 2/ω of the fastest vibration.

use super::explicit_stage::{move_freely, pose_problem};
pub use super::prox_iteration::{ProxIteration, Sweep};
use super::settings::{check_activation_threshold, require};
use super::stages::{Span, check_finite, finish};
use super::{Orders, Scheme};
use crate::assembly::at_time;
use crate::checkpoint::WorkOnly;
use crate::error::{ModelError, StepError};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::report::StepReport;
use crate::state::State;
use serde::{Deserialize, Serialize};

/// Settings of [`Prox`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProxParams {
    /// Which impulses a proximal point sees, default "gauss-seidel".
    pub sweep: Sweep,
    /// Factor of the relaxations r of rows in which W is not diagonally dominant, dimensionless, default 1, in (0, 2). Below 1 convergence is
    /// safer and slower.
    pub relaxation: f64,
    /// The iteration stops when the error of the friction contact problem (that of all solvers, relative) is below this; default 1e-10,
    /// nominal 1e-14 … 1e-4.
    pub tolerance: f64,
    /// Largest number of iterations, default 10 000, ≥ 1.
    pub max_iterations: usize,
    /// A contact whose gap at q_{k+1} is below this counts as closed \[m\], default 1e-9, ≥ 0.
    pub activation_threshold: f64,
}

impl Default for ProxParams {
    fn default() -> Self {
        ProxParams { sweep: Sweep::GaussSeidel, relaxation: 1.0, tolerance: 1e-10, max_iterations: 10_000, activation_threshold: 1e-9 }
    }
}

impl ProxParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the parameter.
    pub fn validate(&self) -> Result<(), ModelError> {
        require(self.relaxation > 0.0 && self.relaxation < 2.0, "relaxation", self.relaxation, "a number in (0, 2) is needed")?;
        require(self.tolerance > 0.0 && self.tolerance < 1.0, "tolerance", self.tolerance, "a number in (0, 1) is needed")?;
        require(self.max_iterations > 0, "max_iterations", self.max_iterations as f64, "at least 1 is needed")?;
        check_activation_threshold(self.activation_threshold)
    }
}

/// The half-explicit scheme with proximal points.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prox {
    /// Its settings.
    pub params: ProxParams,
}

impl Scheme for Prox {
    fn name(&self) -> &'static str {
        "prox"
    }

    fn orders(&self) -> Orders {
        Orders { impacts: 1, smooth: 1 }
    }

    /// One step. `h` in seconds. Cost: one evaluation of F and, unless constant, of M with its factorisation; each iteration of the
    /// impulses costs two products with W.
    fn step(&self, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<StepReport, StepError> {
        let p = &self.params;
        let mut report = StepReport::default();
        let t_start = state.t;

        // (q_k, v_k) => q_{k+1} => one-step problem there
        memory.keep_start(state);
        move_freely(model, state, memory, h)?;
        pose_problem(model, state, memory, h, p.activation_threshold, &mut report)?;

        // W, q => p => v_{k+1}
        if !memory.active.is_empty() {
            let solved = memory.with_own(|memory, WorkOnly(iteration): &mut WorkOnly<ProxIteration>| {
                iteration.solve(p, &memory.one_step.problem, &mut memory.one_step.solution)
            });
            report.solve = Some(solved.map_err(|source| StepError::Solve { t: t_start, source })?);
            memory.one_step.keep_solved();
        }
        state.v.copy_from_slice(&memory.work.v_free);
        if !memory.active.is_empty() {
            memory.active.add_response(model.systems().layout(), &memory.one_step.solution.r, &mut state.v);
        }
        let located = at_time(t_start);
        check_finite(model, state).map_err(&located)?;

        // impulses and energies
        state.t = t_start;
        finish(model, state, memory, Span { h, theta: 0.5 }, &mut report).map_err(&located)?;
        Ok(report)
    }
}
