//! The nonsmooth generalized-α scheme, at velocity level or at position and velocity levels.
//!
//! The velocities are split, dv = A dt + dw: A the accelerations of forces and of the reactions of constraints and closed contacts, integrated by
//! the generalized-α method; w the jumps of impacts, of first order. With α_m, α_f, β, γ of ρ∞ and c = (1 − α_m)/(1 − α_f), one step solves
//!
//! ```text
//! M A_{n+1} = F(t, q, v) + Gᵀ λ,      M w = Gᵀ Λ                                             all at t_{n+1}
//! (1 − α_m) a_{n+1} + α_m a_n = (1 − α_f) A_{n+1} + α_f A_n
//! v_{n+1} = v_n + h ((1 − γ) a_n + γ a_{n+1}) + w
//! q_{n+1} = q_n ⊕ [h v_n + h² ((½ − β) a_n + β a_{n+1}) + h (β/γ) w + U],   M U = G_Nᵀ ν   (U = 0 at velocity level)
//! constraint:              u = 0
//! closed contact:          K* ∋ û ⟂ λ ∈ K,     û = (u_N + μ ‖u_T‖, u_T)                  g ≤ 0 at the start, and not approaching
//! contact that closes:     the same with Λ and u_N + e u_{N,n}                           g + ½ h u_N ≤ 0 at the start
//! position–velocity:       0 ≤ g(q_{n+1}) ⟂ ν ≥ 0 at contacts, g(q_{n+1}) = 0 at constraints
//! ```
//!
//! With P = (hγ/c) λ both kinds of reactions move (q, v) of the step alike: one Newton iteration in v with M̂ = M + (hγ/c) C + (h²β/c) K and
//! one one-step problem for all of them. They differ in what they leave behind: λ enters the accelerations of the next step, Λ does not.
//!
//! Velocity level: Chen, Acary, Virlez & Brüls, IJNME 96 (2013). Position–velocity level: Brüls, Acary & Cardona, CMAME 281 (2014).
//! Differences: (1) there reactions of unilateral contacts are impulses of first order in every step, here those of closed contacts are forces, as
//! in Capobianco, Harsch, Eugster & Leine, IJNME 122 (2021), which makes the scheme second order on curved contacts; (2) friction, at velocity level;
//! (3) w enters the position by h β/γ (there h/2, in the second paper 0), which makes the two reactions alike; (4) after an impact, and where a
//! contact starts, ends, sticks, slides or turns about, the accelerations begin anew: A_n from (q_n, v_n) with the closed contacts (`left_limit.rs`), a_n = A_n;
//! otherwise their jump would ring on in λ. A contact that carried an impulse and does not separate stays closed whatever its gap.
//!
//! Conserves: at ρ∞ = 1, where it is the trapezoidal rule, the energy of linear systems, through elastic impacts too (velocity level); dissipates
//! high frequencies for ρ∞ < 1.
//! Violates: at velocity level gaps at impacts by O(h), positions of constraints and closed contacts drift by O(h²); at position–velocity level
//! nothing at the ends of steps. U does work: O(h) at impacts. Order: 2 between impacts, with contacts closed too; 1 across impacts.

mod accelerations;
mod newton;
mod positions;

use super::stages::{Span, finish};
use super::{Orders, Scheme};
use crate::active_set::ActiveSource;
use crate::assembly::{Activation, RowsOver, at_time, evaluate_candidates, measure_violations, select_where};
use crate::checkpoint::Own;
use crate::error::{ModelError, StepError};
use crate::integrators::AlphaCoefficients;
use crate::memory::StepMemory;
use crate::model::Model;
use crate::report::StepReport;
use crate::schemes::settings::{check_activation_threshold, check_newton, check_position_tolerance, require};
use crate::state::State;
use accelerations::Remembered;
use newton::Newton;
use serde::{Deserialize, Serialize};

/// Part of the step over which the closing of contacts is foreseen.
const FORESIGHT: f64 = 0.5;

/// Settings of [`NonsmoothAlpha`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NonsmoothAlphaParams {
    /// Where constraints and contacts hold.
    pub level: AlphaLevel,
    /// ρ∞, the factor per step of infinitely fast modes, dimensionless, default 0.8, in [0, 1]: 0 removes them at once, 1 keeps them.
    pub spectral_radius: f64,
    /// A contact whose foreseen gap is below this counts as closed \[m\], default 1e-9, ≥ 0. A closed contact that approaches by more than this
    /// within the step has an impact.
    pub activation_threshold: f64,
    /// Largest violation of positions that is left at position–velocity level \[m\] (unit of the constraint), default 1e-10, positive.
    pub position_tolerance: f64,
    /// Newton's iteration stops when the residual of the equation of motion is below this fraction of its largest term;
    /// dimensionless, default 1e-12, nominal 1e-14 … 1e-6.
    pub newton_tolerance: f64,
    /// Largest number of Newton iterations, default 50, ≥ 1.
    pub newton_max_iterations: usize,
}

/// The level at which constraints and contacts hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlphaLevel {
    /// Velocities: the default.
    #[default]
    Velocity,
    /// Positions and velocities: no drift, no penetration.
    PositionVelocity,
}

impl Default for NonsmoothAlphaParams {
    fn default() -> Self {
        NonsmoothAlphaParams {
            level: AlphaLevel::Velocity,
            spectral_radius: 0.8,
            activation_threshold: 1e-9,
            position_tolerance: 1e-10,
            newton_tolerance: 1e-12,
            newton_max_iterations: 50,
        }
    }
}

impl NonsmoothAlphaParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the parameter.
    pub fn validate(&self) -> Result<(), ModelError> {
        let rho = self.spectral_radius;
        require((0.0..=1.0).contains(&rho), "spectral_radius", rho, "a number in [0, 1] is needed")?;
        check_activation_threshold(self.activation_threshold)?;
        check_position_tolerance(self.position_tolerance)?;
        check_newton(self.newton_tolerance, self.newton_max_iterations)
    }
}

/// The scheme.
#[derive(Clone, Copy, Debug, Default)]
pub struct NonsmoothAlpha {
    /// Its settings.
    pub params: NonsmoothAlphaParams,
}

impl Scheme for NonsmoothAlpha {
    fn name(&self) -> &'static str {
        "nonsmooth-alpha"
    }

    fn own(&self, _: &Model) -> Box<dyn Own> {
        Box::<Remembered>::default()
    }

    fn looks_back(&self) -> usize {
        1
    }

    fn orders(&self) -> Orders {
        Orders { impacts: 1, smooth: 2 }
    }

    fn start(&self, model: &Model, _: &State, memory: &mut StepMemory) -> Result<(), StepError> {
        memory.matrices.mass_ready = false;
        memory.matrices.factor_of = None;
        memory.with_own(|_, own: &mut Remembered| own.restart(model));
        Ok(())
    }

    /// One step. `h` in seconds. Cost: as of Moreau–Jean; at position–velocity level a further problem per Newton iteration.
    fn step(&self, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<StepReport, StepError> {
        memory.with_own(|memory, own: &mut Remembered| {
            if !own.fits(model) {
                own.restart(model);
            }
            self.all_stages(model, state, memory, own, h)
        })
    }

    fn accept(&self, _: &Model, _: &State, memory: &mut StepMemory) {
        memory.with_own(|_, own: &mut Remembered| own.accept());
    }
}

impl NonsmoothAlpha {
    fn all_stages(
        &self,
        model: &Model,
        state: &mut State,
        memory: &mut StepMemory,
        own: &mut Remembered,
        h: f64,
    ) -> Result<StepReport, StepError> {
        let p = &self.params;
        let mut report = StepReport::default();
        let located = at_time(state.t);

        // (q_n, v_n) => F_n, gaps, local velocities => status of the contacts
        memory.keep_start(state);
        let StepMemory { work, scratch, .. } = &mut *memory;
        model.force(state.t, &state.q, &state.v, &mut work.force_start, scratch).map_err(&located)?;
        evaluate_candidates(model, state, memory).map_err(&located)?;
        report.violations = measure_violations(model, memory);
        let rule = Activation { horizon: FORESIGHT * h, step: h, threshold: p.activation_threshold };
        own.find_status(model, memory, rule);

        // kept accelerations, or new ones where the contacts changed => A_n, a_n, λ_n
        let with_positions = p.level == AlphaLevel::PositionVelocity;
        own.begin(model, state, memory, (h, with_positions), &mut report)?;

        // active set: forces at closed contacts, impacts at those that close
        select_where(model, state, memory, RowsOver::step(h), |source, gap, velocity| {
            gap + rule.horizon * velocity <= rule.threshold || matches!(source, ActiveSource::Interaction(i) if own.is_closed(i))
        });
        own.bind(memory);
        report.n_active = memory.active.items().len();

        // => q_{n+1}, v_{n+1}, P, Λ
        let coefficients = AlphaCoefficients::of_radius(p.spectral_radius);
        let newton = Newton { model, params: p, coefficients, h };
        newton.solve(state, memory, own, &mut report)?;

        // => a_{n+1}, A_{n+1}, λ_{n+1}; impulses and energies
        newton.conclude(state, memory, own);
        finish(model, state, memory, Span { h, theta: 0.5 }, &mut report).map_err(&located)?;
        Ok(report)
    }
}
