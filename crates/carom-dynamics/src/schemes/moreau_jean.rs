//! The Moreau–Jean θ–γ scheme.
//!
//! With x_{k+θ} = (1 − θ) x_k + θ x_{k+1}, one step of size h solves
//!
//! ```text
//! M(q̃) (v_{k+1} − v_k) = h [(1 − θ) F(t_k, q_k, v_k) + θ F(t_{k+1}, q_{k+1}, v_{k+1})] + Gᵀ p_{k+1}
//! q_{k+1} = q_k ⊕ h T v_{k+θ},      u_{k+1} = G(q̃) v_{k+1} + b
//! bilateral:   u_{k+1} = 0
//! contact:     if g(q_k) + γ h u_{N,k} ≤ 0   then  K* ∋ û ⟂ p_{k+1} ∈ K,  else p_{k+1} = 0
//!              û = (u_N + e u_{N,k} + μ ‖u_T + e_T u_{T,k}‖, u_T + e_T u_{T,k})
//! ```
//!
//! with q̃ = q_{k+1} by default (see [`Configuration`]).
//! [Acary2009, eqs. 45–49], [Haddouni2015, §2.1.2.1 and Algorithm 2], [Moreau1999, §8]. It differs from Acary2009 in the
//! direction of θ (there x_{k+θ} = (1 − θ) x_{k+1} + θ x_k; for θ = 1/2 the same) and in that a contact within
//! `activation_threshold` counts as closed. The state-dependent M, F and G are iterated to convergence (Newton with
//! M̂ = M + hθ C + h²θ² K), each iteration solving the one-step problem.
//!
//! Conserves: energy between impacts for θ = 1/2, constant M and quadratic potentials; dissipates for θ > 1/2.
//! Violates: positions, gaps and constraints drift by O(h), since laws are imposed on velocities.
//! Order: 1 across impacts and with active constraints; 2 in free motion for θ = 1/2 and constant M (any M with
//! [`Configuration::Theta`]). Consistent through accumulations of impacts.

use super::stages::{Span, advance, displace, factorise, finish};
use super::{Orders, Scheme, StepReport};
use crate::assembly::{
    Activation, assemble_problem, at_time, detect_contacts, evaluate_candidates, local_change, measure_violations, select_active,
    solve_problem, update_jacobians,
};
use crate::block_diagonal::dot;
use crate::error::{ModelError, NonFinite, StepError};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::state::State;
use crate::systems::{Instant, JacobianFactors};
use serde::{Deserialize, Serialize};

/// Settings of [`MoreauJean`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MoreauJeanParams {
    /// θ of the smooth terms, dimensionless, default 1/2, in [0, 1]. 1/2 is of second order in smooth phases and does
    /// not damp; towards 1 high frequencies are damped; below 1/2 the scheme is only conditionally stable.
    pub theta: f64,
    /// γ of the activation rule g + γ h u_N ≤ 0, dimensionless, default 1/2, in [0, 1]. Larger values close contacts
    /// earlier (less penetration, impacts before touch).
    pub gamma: f64,
    /// A contact whose predicted gap is below this counts as closed \[m\], default 1e-9, ≥ 0. It keeps bodies that rest on
    /// each other with gaps of round-off size in contact; 0 is the rule of the papers.
    pub activation_threshold: f64,
    /// Where M and G are evaluated.
    pub configuration: Configuration,
    /// Newton's iteration stops when the residual of the equation of motion is below this fraction of its largest term;
    /// dimensionless, default 1e-12, nominal 1e-14 … 1e-6.
    pub newton_tolerance: f64,
    /// Largest number of Newton iterations, default 50, ≥ 1.
    pub newton_max_iterations: usize,
}

/// Configuration at which M and G of a step are evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Configuration {
    /// q_k, as in Haddouni2015 (2.22): G is explicit.
    Start,
    /// q_{k+θ}, as in Acary2009 (45): second order in free motion at θ = 1/2 also where M depends on q.
    Theta,
    /// q_{k+1}, as in Haddouni2015 Algorithm 2: the default. Constraints drift least.
    #[default]
    End,
}

impl Default for MoreauJeanParams {
    fn default() -> Self {
        MoreauJeanParams {
            theta: 0.5,
            gamma: 0.5,
            activation_threshold: 1e-9,
            configuration: Configuration::End,
            newton_tolerance: 1e-12,
            newton_max_iterations: 50,
        }
    }
}

impl MoreauJeanParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the parameter.
    pub fn validate(&self) -> Result<(), ModelError> {
        let check = |ok: bool, what: &str, value: f64, expected: &'static str| {
            if ok { Ok(()) } else { Err(ModelError::OutOfRange { what: what.to_owned(), value, expected }) }
        };
        check((0.0..=1.0).contains(&self.theta), "theta", self.theta, "a number in [0, 1] is needed")?;
        check((0.0..=1.0).contains(&self.gamma), "gamma", self.gamma, "a number in [0, 1] is needed")?;
        let threshold = self.activation_threshold;
        check(threshold >= 0.0 && threshold.is_finite(), "activation_threshold", threshold, "a length ≥ 0 [m] is needed")?;
        let tolerance = self.newton_tolerance;
        check(tolerance > 0.0 && tolerance < 1.0, "newton_tolerance", tolerance, "a number in (0, 1) is needed")?;
        let n = self.newton_max_iterations;
        check(n > 0, "newton_max_iterations", n as f64, "at least 1 is needed")
    }
}

/// The Moreau–Jean scheme.
#[derive(Clone, Copy, Debug, Default)]
pub struct MoreauJean {
    /// Its settings.
    pub params: MoreauJeanParams,
}

impl Scheme for MoreauJean {
    fn name(&self) -> &'static str {
        "moreau-jean"
    }

    fn orders(&self) -> Orders {
        Orders { impacts: 1, smooth: if self.params.theta == 0.5 { 2 } else { 1 } }
    }

    fn foresight(&self) -> f64 {
        self.params.gamma
    }

    /// One step. `h` in seconds. Cost: one factorisation of M̂ per Newton iteration (none where M̂ is constant),
    /// O(interactions) for W and per sweep of the solver.
    fn step(&self, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<StepReport, StepError> {
        let p = &self.params;
        let mut report = StepReport::default();
        let t_start = state.t;
        let located = at_time(t_start);

        // (q_k, v_k) => F_k, contacts, gaps, local velocities => active set
        memory.keep_start(state);
        let StepMemory { work, scratch, .. } = &mut *memory;
        model.systems().force(state.t, &state.q, &state.v, &mut work.force_start, scratch).map_err(&located)?;
        detect_contacts(model, state, memory, p.gamma * h).map_err(&located)?;
        evaluate_candidates(model, state, memory).map_err(&located)?;
        let rule = Activation { horizon: p.gamma * h, step: h, threshold: p.activation_threshold };
        select_active(model, state, memory, rule);
        report.violations = measure_violations(model, memory);
        report.n_active = memory.active.items().len();
        let rows_vary = memory.active.items().iter().any(|item| !item.is_constant(model));
        memory.work.rows_vary = rows_vary;

        // v = v_k => first iterate of q_{k+1}
        self.advance(model, state, memory, h).map_err(&located)?;
        let linear = model.systems().is_affine() && !rows_vary;
        while !report.newton_converged && report.newton_iterations < p.newton_max_iterations {
            let first = report.newton_iterations == 0;
            // (q_k, v) => q̃, M(q̃), M̂, v_free
            self.free_motion(model, state, memory, h)?;
            if memory.active.is_empty() {
                state.v.copy_from_slice(&memory.work.v_free);
            } else {
                // G(q̃), M̂, v_free => W, q => p => v_{k+1}
                if rows_vary && first {
                    update_jacobians(model, t_start + self.fraction() * h, memory).map_err(&located)?;
                }
                assemble_problem(model, memory, first);
                report.solve = Some(solve_problem(model, state, memory)?);
            }
            // v_{k+1} => q_{k+1}, residual of the equation of motion
            self.advance(model, state, memory, h).map_err(&located)?;
            report.newton_iterations += 1;
            if linear {
                report.newton_converged = true;
            } else {
                report.newton_residual = self.residual(model, state, memory, h).map_err(&located)?;
                report.newton_converged = report.newton_residual <= p.newton_tolerance;
            }
        }

        // impulses and energies
        finish(model, state, memory, Span { h, theta: p.theta }, &mut report).map_err(&located)?;
        Ok(report)
    }
}

/// The stages of a step; `state.q` and `state.v` hold the current iterate of the end of the step, `state.t` its start.
impl MoreauJean {
    /// Fraction of the step at which M and G are evaluated.
    fn fraction(&self) -> f64 {
        match self.params.configuration {
            Configuration::Start => 0.0,
            Configuration::Theta => self.params.theta,
            Configuration::End => 1.0,
        }
    }

    /// (q_k, v_k, v) => q_{k+1} = q_k ⊕ h T v_{k+θ}.
    fn advance(&self, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<(), NonFinite> {
        advance(model, state, memory, h, self.params.theta)
    }

    /// q̃, and M there unless constant.
    fn update_mass(&self, model: &Model, state: &State, memory: &mut StepMemory, h: f64) -> Result<(), NonFinite> {
        let StepMemory { work, matrices, scratch, .. } = memory;
        let systems = model.systems();
        if matrices.mass_ready && systems.mass_is_constant() && !work.rows_vary {
            return Ok(());
        }
        let fraction = self.fraction();
        displace(work, &state.v, fraction * h, self.params.theta);
        systems.advance(&work.q_start, &work.displacement, &mut work.q_inner);
        if !(matrices.mass_ready && systems.mass_is_constant()) {
            matrices.mass.resize(systems.layout().n_values(), 0.0);
            systems.mass(state.t + fraction * h, &work.q_inner, &mut matrices.mass, scratch)?;
            matrices.mass_ready = true;
        }
        Ok(())
    }

    /// R = −M (v − v_k) + h [(1 − θ) F_k + θ F(t_{k+1}, q, v)] at the present iterate.
    fn smooth_residual(&self, model: &Model, state: &State, memory: &mut StepMemory, h: f64) -> Result<(), NonFinite> {
        let StepMemory { work, matrices, scratch, .. } = memory;
        let (systems, theta) = (model.systems(), self.params.theta);
        systems.force(state.t + h, &state.q, &state.v, &mut work.force_end, scratch)?;
        for ((change, end), start) in work.v_free.iter_mut().zip(&state.v).zip(&work.v_start) {
            *change = end - start;
        }
        systems.layout().multiply(&matrices.mass, &work.v_free, &mut work.momentum);
        for (i, r) in work.residual.iter_mut().enumerate() {
            *r = h * ((1.0 - theta) * work.force_start[i] + theta * work.force_end[i]) - work.momentum[i];
        }
        Ok(())
    }

    /// M̂ = M + hθ C + h²θ² K, v_free = v + M̂⁻¹ R.
    fn free_motion(&self, model: &Model, state: &State, memory: &mut StepMemory, h: f64) -> Result<(), StepError> {
        let (systems, theta) = (model.systems(), self.params.theta);
        let located = at_time(state.t);
        self.update_mass(model, state, memory, h).map_err(&located)?;
        self.smooth_residual(model, state, memory, h).map_err(&located)?;
        let StepMemory { work, matrices, scratch, .. } = memory;
        if !(systems.is_affine() && matrices.factor_of == Some((h, theta))) {
            matrices.iteration.clone_from(&matrices.mass);
            let factors = JacobianFactors { velocity: h * theta, position: h * h * theta * theta };
            let at = Instant { t: state.t + h, q: &state.q, v: &state.v };
            systems.add_jacobians(at, factors, &mut matrices.iteration, scratch).map_err(&located)?;
            factorise(model, state.t, matrices)?;
            matrices.factor_of = Some((h, theta));
        }
        matrices.factor.solve(systems.layout(), &work.residual, &mut work.v_free);
        for (free, v) in work.v_free.iter_mut().zip(&state.v) {
            *free += v;
        }
        Ok(())
    }

    /// Residual of the discrete equations at the present iterate, with M, F and G evaluated there.
    ///
    /// That of the equation of motion in the energy norm, ‖R + Gᵀp‖² = (R + Gᵀp)ᵀ M̂⁻¹ (R + Gᵀp), relative to its largest
    /// part: it has the unit of an energy, so translations and rotations weigh rightly. That of u = G v + b by the largest
    /// change since the one-step problem was solved, relative to the largest |u| or |G| |v|. The larger of the two.
    fn residual(&self, model: &Model, state: &State, memory: &mut StepMemory, h: f64) -> Result<f64, NonFinite> {
        self.update_mass(model, state, memory, h)?;
        if memory.work.rows_vary {
            update_jacobians(model, state.t + self.fraction() * h, memory)?;
        }
        self.smooth_residual(model, state, memory, h)?;
        let StepMemory { work, matrices, active, solution, .. } = memory;
        let layout = model.systems().layout();
        let mut energy_norm = |x: &[f64]| {
            matrices.factor.solve(layout, x, &mut work.displacement);
            dot(x, &work.displacement).abs()
        };
        // scale: the impulse of the forces, the change of momentum, the momentum
        for (impulse, (change, residual)) in work.force_end.iter_mut().zip(work.momentum.iter().zip(&work.residual)) {
            *impulse = residual + change;
        }
        let mut scale = energy_norm(&work.force_end).max(energy_norm(&work.momentum));
        layout.multiply(&matrices.mass, &state.v, &mut work.momentum);
        scale = scale.max(dot(&work.momentum, &state.v));
        if !active.is_empty() {
            active.add_reaction(layout, &solution.r, &mut work.residual);
        }
        let norm = energy_norm(&work.residual);
        let motion = if norm == 0.0 { 0.0 } else { (norm / scale).sqrt() };
        Ok(if work.rows_vary { motion.max(local_change(layout, state, memory)) } else { motion })
    }
}
