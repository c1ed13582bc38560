//! Moreau's midpoint scheme: forces, masses and contacts at a middle configuration known beforehand.
//!
//! ```text
//! t_m = t_k + h/2,     q_m = q_k ⊕ h/2 T v_k
//! M(q_m) (v_{k+1} − v_k) = h F(t_m, q_m, v_k) + G(q_m)ᵀ p
//! u_{k+1} = G(q_m) v_{k+1} + b,     u_k = G(q_m) v_k + b
//! bilateral:   u_{k+1} = 0
//! contact:     if g(q_m) ≤ 0   then   K* ∋ û ⟂ p ∈ K,   else p = 0
//!              û = (u_N + e u_{N,k} + μ ‖u_T + e_T u_{T,k}‖, u_T + e_T u_{T,k})
//! q_{k+1} = q_m ⊕ h/2 T v_{k+1}
//! ```
//!
//! [Moreau1999, §8.3], [Brogliato2002, eqs. 55–56], restitution as in [Brogliato2002, eqs. 57–58]. There the averaged velocity
//! (v_{k+1} + e v_k)/(1 + e) lies in the tangent cone; for rows with one coefficient e this is u_{k+1} + e u_k ≥ 0 with complementarity to p,
//! the form used here, which lets each contact have its own e. It differs from the papers in that a gap within `activation_threshold` counts
//! as closed. The correction of positions [Brogliato2002, eq. 59] is not part of it: the projection schemes do that.
//!
//! Conserves: in free motion with constant M and forces of positions alone it is the Störmer–Verlet (leapfrog) rule, symplectic and
//! reversible; exact at the ends of steps under constant forces. An elastic impact (e = 1) of one contact gives v_{k+1} = −v_k along the
//! normal and q_{k+1} = q_k there, so that a ball rebounds to its height for ever, up to round-off [Brogliato2002, Remark 9].
//! Violates: gaps and constraints by O(h), since laws are imposed on velocities; no impulse corrects positions. The violations reported are
//! those of q_m, where the laws hold, not those of the ends of steps.
//! Order: 1 across impacts and with active constraints. In free motion 2 for forces of (t, q) and constant M; 1 where F depends on v
//! (damping, gyroscopic and Coriolis forces), which is taken at v_k. Stable only while h is below 2/ω of the fastest vibration.

use super::explicit_stage::{move_freely, pose_problem};
use super::settings::check_activation_threshold;
use super::stages::{Span, check_finite, finish};
use super::{Orders, Scheme};
use crate::assembly::{at_time, solve_problem};
use crate::error::{ModelError, StepError};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::report::StepReport;
use crate::state::State;
use serde::{Deserialize, Serialize};

/// Settings of [`MoreauMidpoint`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MoreauMidpointParams {
    /// A contact whose gap at q_m is below this counts as closed \[m\], default 1e-9, ≥ 0; 0 is the rule of the papers. It keeps bodies that
    /// rest on each other with gaps of round-off size in contact.
    pub activation_threshold: f64,
}

impl Default for MoreauMidpointParams {
    fn default() -> Self {
        MoreauMidpointParams { activation_threshold: 1e-9 }
    }
}

impl MoreauMidpointParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the parameter.
    pub fn validate(&self) -> Result<(), ModelError> {
        check_activation_threshold(self.activation_threshold)
    }
}

/// Moreau's midpoint scheme.
#[derive(Clone, Copy, Debug, Default)]
pub struct MoreauMidpoint {
    /// Its settings.
    pub params: MoreauMidpointParams,
}

impl Scheme for MoreauMidpoint {
    fn name(&self) -> &'static str {
        "moreau-midpoint"
    }

    /// Where forces depend on velocities the order in free motion is 1.
    fn orders(&self) -> Orders {
        Orders { impacts: 1, smooth: 2 }
    }

    /// One step. `h` in seconds. Cost: one evaluation of F and, unless constant, of M with its factorisation; one one-step problem.
    fn step(&self, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<StepReport, StepError> {
        let mut report = StepReport::default();
        let t_start = state.t;
        let located = at_time(t_start);

        // (q_k, v_k) => q_m => one-step problem there
        memory.keep_start(state);
        move_freely(model, state, memory, 0.5 * h)?;
        pose_problem(model, state, memory, h, self.params.activation_threshold, &mut report)?;

        // p => v_{k+1}
        if memory.active.is_empty() {
            state.v.copy_from_slice(&memory.work.v_free);
        } else {
            report.solve = Some(solve_problem(model, state, memory)?);
        }

        // q_{k+1} = q_m ⊕ h/2 v_{k+1}
        let work = &mut memory.work;
        work.q_inner.clone_from(&state.q);
        for (w, v) in work.displacement.iter_mut().zip(&state.v) {
            *w = 0.5 * h * v;
        }
        model.systems().advance(&work.q_inner, &work.displacement, &mut state.q);
        check_finite(model, state).map_err(&located)?;

        // impulses and energies
        state.t = t_start;
        finish(model, state, memory, Span { h, theta: 0.5 }, &mut report).map_err(&located)?;
        Ok(report)
    }
}
