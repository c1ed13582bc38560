//! θ-method with the contact condition on the discretised gap: the choice for deformable bodies.
//!
//! With x_{k+θ} = (1 − θ) x_k + θ x_{k+1}, one step of size h solves
//!
//! ```text
//! M (v_{k+1} − v_k) = h [(1 − θ) F_k + θ F_{k+1}] + Gᵀ p,      u = G v + b
//! contact:     0 ≤ φ_{k+1} ⟂ p_N ≥ 0,     friction on u_{T,k+1}
//! bilateral:   u_{k+1} = 0
//!
//! "theta"            q_{k+1} = q_k ⊕ h T v_{k+θ},    φ_{k+1} = g_k + h (1 − θ) u_k + hθ u_{k+1}
//! "theta-euler"      q_{k+1} = q_k ⊕ h T v_{k+1},    φ_{k+1} = g_k + h u_{k+1}
//! "modified-theta"   q_{k+1} = q_k ⊕ h T v_{k+θ},    φ_{k+1} = g_k + h (1 − θ) u_k + h u_{k+1}
//! ```
//!
//! [Brogliato2002, §7.2.4, eq. 61]. The modified θ-method judges the gap of a point ahead, φ_{k+1} = g_{k+1} + h (1 − θ) u_{k+1}: with
//! φ_k = g_k + h (1 − θ) u_k this is φ_{k+1} = φ_k + h u_{k+1}, the form of eq. 61. Each condition is that of the one-step problem with
//! a shift of the normal row: φ_{k+1} over the factor of u_{k+1}. As in [`super::MoreauJean`] M and G are taken at q_{k+1}, and states that
//! enter M, F and G are iterated to convergence.
//!
//! Consistency [Brogliato2002, Remark 12]: φ_k = φ_{k+1} = 0 implies u_{k+1} = 0 for "theta-euler" and "modified-theta". For "theta" it
//! gives u_{k+1} = −(1 − θ)/θ u_k, which is zero for θ = 1 only: at θ = 1/2 the velocity and the contact force oscillate for as long as the
//! contact lasts, and a rigid body that falls on an obstacle rebounds although the law has no restitution, with up to (1 − θ)/θ of its speed
//! however small the step: "theta" with θ < 1 is for nodes of deformable bodies only, whose mass falls with the mesh.
//!
//! Every contact by formula is a candidate in every step, whatever its gap. Contacts between shapes are sought as far as the free motion
//! goes in twice the step; one that the impulses of the step itself close from farther is met at the next step, as a penetration that
//! the condition on the gap removes.
//!
//! Conserves: as the θ-method, energy in free motion for θ = 1/2, constant M and quadratic potentials ("theta-euler" damps).
//! Violates: gaps hold up to the curvature of g, O(h²); constraints drift by O(h), as they are imposed on velocities. Removing a penetration
//! that was there (initial states, "modified-theta" started in touch with u_k < 0) gives a velocity away from the obstacle.
//! Order: 1 across impacts (0 for rigid bodies with "theta" and θ < 1); 2 in free motion for θ = 1/2 and constant M, except "theta-euler", which is of order 1.

use super::settings::{check_newton, require};
use super::stages::{Span, finish};
use super::theta_step::ThetaStep;
use super::{Orders, Scheme};
use crate::assembly::{Activation, at_time, detect_at, evaluate_candidates, measure_violations, note_varying_rows, select_active};
use crate::error::{ModelError, NonFinite, StepError};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::report::StepReport;
use crate::state::State;
use crate::systems::Instant;
use serde::{Deserialize, Serialize};

/// Settings of [`ThetaGap`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ThetaGapParams {
    /// θ of the smooth terms and of the gap, dimensionless, default 1/2, in (0, 1]. 1/2 is of second order in smooth phases and does not
    /// damp; slightly more (0.55) damps the oscillations of contact forces of the "theta" gap.
    pub theta: f64,
    /// How the gap is discretised, default "modified-theta".
    pub gap: GapRule,
    /// Newton's iteration stops when the residual of the equation of motion is below this fraction of its largest term;
    /// dimensionless, default 1e-12, nominal 1e-14 … 1e-6.
    pub newton_tolerance: f64,
    /// Largest number of Newton iterations, default 50, ≥ 1.
    pub newton_max_iterations: usize,
}

/// The gap of the contact condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GapRule {
    /// That of the θ-method at the end of the step. Not consistent for θ < 1.
    Theta,
    /// Positions and gap by Euler's rule. Consistent; slow at the end of contacts, damps.
    ThetaEuler,
    /// Positions by the θ-method, gap of the point h (1 − θ) u_{k+1} ahead. Consistent.
    #[default]
    ModifiedTheta,
}

impl Default for ThetaGapParams {
    fn default() -> Self {
        ThetaGapParams { theta: 0.5, gap: GapRule::ModifiedTheta, newton_tolerance: 1e-12, newton_max_iterations: 50 }
    }
}

impl ThetaGapParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the parameter.
    pub fn validate(&self) -> Result<(), ModelError> {
        require(self.theta > 0.0 && self.theta <= 1.0, "theta", self.theta, "a number in (0, 1] is needed")?;
        check_newton(self.newton_tolerance, self.newton_max_iterations)
    }
}

/// The θ-method on the discretised gap.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThetaGap {
    /// Its settings.
    pub params: ThetaGapParams,
}

impl Scheme for ThetaGap {
    fn name(&self) -> &'static str {
        "theta-gap"
    }

    fn orders(&self) -> Orders {
        let ThetaGapParams { theta, gap, .. } = self.params;
        let second = theta == 0.5 && gap != GapRule::ThetaEuler;
        let rebounds = gap == GapRule::Theta && theta < 1.0;
        Orders { impacts: usize::from(!rebounds), smooth: if second { 2 } else { 1 } }
    }

    /// One step. `h` in seconds. Cost: that of Moreau–Jean, with every contact by formula in the one-step problem.
    fn step(&self, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<StepReport, StepError> {
        let p = &self.params;
        let mut report = StepReport::default();
        let located = at_time(state.t);
        let step = self.theta_step(h);

        // (q_k, v_k) => F_k, gaps, local velocities
        memory.keep_start(state);
        let StepMemory { work, scratch, .. } = &mut *memory;
        model.force(state.t, &state.q, &state.v, &mut work.force_start, scratch).map_err(&located)?;
        evaluate_candidates(model, state, memory).map_err(&located)?;
        // free motion => displacement of the gap condition => contacts between shapes => active set at (q_k, v_k)
        step.predict(model, state, memory)?;
        state.q.copy_from_slice(&memory.work.q_start);
        self.seek_contacts(model, state, memory, h).map_err(at_time(state.t))?;
        select_active(model, state, memory, Activation { horizon: 0.0, step: h, threshold: f64::INFINITY });
        report.violations = measure_violations(model, memory);
        report.n_active = memory.active.items().len();
        note_varying_rows(model, memory);
        self.shift_gaps(memory, h);

        // Newton on the discrete equation of motion, each iteration with its one-step problem => v_{k+1}, q_{k+1}
        step.advance(model, state, memory).map_err(&located)?;
        step.solve_predicted(model, state, memory, &mut report)?;

        // impulses and energies
        finish(model, state, memory, Span { h, theta: p.theta }, &mut report).map_err(&located)?;
        Ok(report)
    }
}

impl ThetaGap {
    /// The θ-step of its settings.
    fn theta_step(&self, h: f64) -> ThetaStep {
        let p = &self.params;
        let position = if p.gap == GapRule::ThetaEuler { 1.0 } else { p.theta };
        let (tolerance, max_iterations) = (p.newton_tolerance, p.newton_max_iterations);
        ThetaStep { h, theta: p.theta, position, fraction: 1.0, tolerance, max_iterations }
    }

    /// (a, b) of φ_{k+1} = g_k + h (a u_k + b u_{k+1}).
    fn weights(&self) -> (f64, f64) {
        let theta = self.params.theta;
        match self.params.gap {
            GapRule::Theta => (1.0 - theta, theta),
            GapRule::ThetaEuler => (0.0, 1.0),
            GapRule::ModifiedTheta => (1.0 - theta, 1.0),
        }
    }

    /// (q_k, v_k, v_free) => the contacts between shapes that the motion a v_k + b v_free may close within twice the step.
    fn seek_contacts(&self, model: &Model, state: &State, memory: &mut StepMemory, h: f64) -> Result<(), NonFinite> {
        let (a, b) = self.weights();
        let StepMemory { work, detector, contacts, .. } = memory;
        for ((w, start), free) in work.displacement.iter_mut().zip(&work.v_start).zip(&work.v_free) {
            *w = a * start + b * free;
        }
        detect_at(model, Instant { t: state.t, q: &state.q, v: &work.displacement }, 2.0 * h, detector, contacts)
    }

    /// φ_{k+1} / (h b) = u_{k+1} + g_k / (h b) + (a/b) u_k on the normal rows of contacts.
    fn shift_gaps(&self, memory: &mut StepMemory, h: f64) {
        let (a, b) = self.weights();
        let active = &mut memory.active;
        for item in 0..active.items().len() {
            let (row, gap) = (active.items()[item].rows.start, active.items()[item].gap);
            if !active.items()[item].law.is_contact() {
                continue;
            }
            let velocity = active.velocity_start()[row];
            active.shift_mut()[row] = gap / (h * b) + a / b * velocity;
        }
    }
}
