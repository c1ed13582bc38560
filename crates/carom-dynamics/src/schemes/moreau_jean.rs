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

use super::settings::{check_activation_threshold, check_newton, require};
use super::stages::{Span, finish};
use super::theta_step::ThetaStep;
use super::{Orders, Scheme};
use crate::assembly::{Activation, at_time, detect_contacts, evaluate_candidates, measure_violations, note_varying_rows, select_active};
use crate::error::{ModelError, StepError};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::report::StepReport;
use crate::state::State;
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
        require((0.0..=1.0).contains(&self.theta), "theta", self.theta, "a number in [0, 1] is needed")?;
        require((0.0..=1.0).contains(&self.gamma), "gamma", self.gamma, "a number in [0, 1] is needed")?;
        check_activation_threshold(self.activation_threshold)?;
        check_newton(self.newton_tolerance, self.newton_max_iterations)
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

    fn activation_threshold(&self) -> f64 {
        self.params.activation_threshold
    }

    /// One step. `h` in seconds. Cost: one factorisation of M̂ per Newton iteration (none where M̂ is constant),
    /// O(interactions) for W and per sweep of the solver.
    fn step(&self, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<StepReport, StepError> {
        let p = &self.params;
        let mut report = StepReport::default();
        self.prepare(model, state, memory, p.gamma * h)?;
        report.violations = measure_violations(model, memory);
        let rule = Activation { horizon: p.gamma * h, step: h, threshold: p.activation_threshold };
        select_active(model, state, memory, rule);
        self.solve_motion(model, state, memory, h, &mut report)?;
        // impulses and energies
        finish(model, state, memory, Span { h, theta: p.theta }, &mut report).map_err(at_time(state.t))?;
        Ok(report)
    }
}

/// The halves of a step around the choice of the active set, for schemes that do more with either.
impl MoreauJean {
    /// (q_k, v_k) => F_k, contacts that may close within `horizon` seconds, gaps, local velocities.
    pub(crate) fn prepare(&self, model: &Model, state: &State, memory: &mut StepMemory, horizon: f64) -> Result<(), StepError> {
        let located = at_time(state.t);
        memory.keep_start(state);
        let StepMemory { work, scratch, .. } = &mut *memory;
        model.force(state.t, &state.q, &state.v, &mut work.force_start, scratch).map_err(&located)?;
        detect_contacts(model, state, memory, horizon).map_err(&located)?;
        evaluate_candidates(model, state, memory).map_err(&located)
    }

    /// The active set => p, v_{k+1}, q_{k+1}; the first iterate of v_{k+1} is `state.v`.
    pub(super) fn solve_motion(
        &self,
        model: &Model,
        state: &mut State,
        memory: &mut StepMemory,
        h: f64,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        *report = StepReport { solve: None, newton_iterations: 0, newton_residual: 0.0, newton_converged: false, ..*report };
        report.n_active = memory.active.items().len();
        note_varying_rows(model, memory);

        // Newton on the discrete equation of motion, each iteration with its one-step problem => v_{k+1}, q_{k+1}
        self.theta_step(h).solve(model, state, memory, report)
    }
}

impl MoreauJean {
    /// The θ-step of its settings.
    fn theta_step(&self, h: f64) -> ThetaStep {
        let p = &self.params;
        let fraction = match p.configuration {
            Configuration::Start => 0.0,
            Configuration::Theta => p.theta,
            Configuration::End => 1.0,
        };
        let (tolerance, max_iterations) = (p.newton_tolerance, p.newton_max_iterations);
        ThetaStep { h, theta: p.theta, position: p.theta, fraction, tolerance, max_iterations }
    }
}
