//! The θ–γ scheme of first-order nonsmooth systems: backward Euler of Moreau's type.
//!
//! ```text
//! M (x_{k+1} − x_k) = h [θ f(t_{k+1}, x_{k+1}) + (1 − θ) f(t_k, x_k)] + h g(t_{k+γ}, x_{k+γ}, λ)
//! y = h(t_{k+γ}, x_{k+γ}, λ),    −y ∈ N_K(λ)
//! ```
//!
//! with x_{k+γ} = γ x_{k+1} + (1 − γ) x_k. θ = γ = 1 is backward Euler and, on a sweeping process, Moreau's catching-up u_{k+1} = prox(C(t_{k+1}), u_k)
//! [Moreau1999, §4]; θ = γ < 1 is its θ-version there. θ = 1/2, γ = 1 is second order while pieces hold. Relays are implicit: they reach a sliding surface and stay, without chattering; with
//! `multipliers = "explicit"` λ is taken from y_k, for comparison.
//!
//! In mixed models the mechanical part takes the Moreau–Jean step with the same θ (γ = 1), and impulses p and multipliers λ are the unknowns of one problem: see
//! `first_order/mixed_step.rs`.
//!
//! Linear systems factor their matrices once per step size; others take Newton's method. Conserves: the law, to round-off. Order: 1 in the states across changes of pieces and for states of bounded
//! variation, 2 between them for θ = 1/2 and continuous multipliers.

use super::settings::{check_newton, require};
use super::{Orders, Scheme};
use crate::error::{ModelError, StepError};
use crate::first_order::{FirstOrderSet, require_degrees};
use crate::first_order_step::mixed_step::step_mixed;
use crate::first_order_step::{Discretisation, NewtonSettings, check_linear_steps, make_consistent, step_by_newton, step_linear};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::report::StepReport;
use crate::state::State;
use serde::{Deserialize, Serialize};

/// Settings of [`EulerMoreau`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EulerMoreauParams {
    /// θ of f, dimensionless, default 1 (backward Euler), in [0, 1]; below 1/2 only conditionally stable.
    pub theta: f64,
    /// γ of multipliers and outputs, dimensionless, default 1, in (0, 1].
    pub gamma: f64,
    /// Where multipliers are taken.
    pub multipliers: Multipliers,
    /// Newton's iteration stops when its residual is below this fraction of the largest term; dimensionless, default 1e-12.
    pub newton_tolerance: f64,
    /// Largest number of Newton iterations, default 50, ≥ 1.
    pub newton_max_iterations: usize,
}

/// Where the multipliers of a step are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Multipliers {
    /// With the outputs at k + γ: the default.
    #[default]
    Implicit,
    /// From the outputs at the start of the step: chatters; for relays and balls of linear systems without D.
    Explicit,
}

impl Default for EulerMoreauParams {
    fn default() -> Self {
        EulerMoreauParams { theta: 1.0, gamma: 1.0, multipliers: Multipliers::Implicit, newton_tolerance: 1e-12, newton_max_iterations: 50 }
    }
}

impl EulerMoreauParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the parameter.
    pub fn validate(&self) -> Result<(), ModelError> {
        require((0.0..=1.0).contains(&self.theta), "theta", self.theta, "a number in [0, 1] is needed")?;
        require(self.gamma > 0.0 && self.gamma <= 1.0, "gamma", self.gamma, "a number in (0, 1] is needed")?;
        check_newton(self.newton_tolerance, self.newton_max_iterations)
    }
}

/// The θ–γ scheme of first-order systems.
#[derive(Clone, Copy, Debug, Default)]
pub struct EulerMoreau {
    /// Its settings.
    pub params: EulerMoreauParams,
}

impl EulerMoreau {
    fn newton(&self) -> NewtonSettings {
        let EulerMoreauParams { theta, gamma, newton_tolerance: tolerance, newton_max_iterations: max_iterations, .. } = self.params;
        NewtonSettings { theta, gamma, tolerance, max_iterations }
    }
}

impl Scheme for EulerMoreau {
    fn name(&self) -> &'static str {
        "euler-moreau"
    }

    fn orders(&self) -> Orders {
        Orders { impacts: 1, smooth: if self.params.theta == 0.5 { 2 } else { 1 } }
    }

    fn start(&self, model: &Model, state: &State, _memory: &mut StepMemory) -> Result<(), StepError> {
        let Some(set) = model.first_order().filter(|set| !set.is_coupled()) else { return Ok(()) };
        Ok(require_degrees(set, state, (self.params.theta, self.params.gamma))?)
    }

    fn begin(&self, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<(), StepError> {
        if model.first_order().is_some_and(FirstOrderSet::is_coupled) {
            // the first step makes outputs consistent, through the mechanical part too
            return Ok(());
        }
        let StepMemory { first_order, scratch, .. } = memory;
        let (Some(set), Some(memory)) = (model.first_order(), first_order) else { return Ok(()) };
        make_consistent(set, state, memory, scratch, h)?;
        let EulerMoreauParams { theta, gamma, multipliers, .. } = self.params;
        match (set.linear(), multipliers) {
            (Some(parts), Multipliers::Implicit) => {
                check_linear_steps(set, parts, state.t, memory, (h, Discretisation::Theta { theta, gamma }))
            }
            _ => Ok(()),
        }
    }

    /// One step. Cost for linear systems of n states and m rows: n² + 2nm + m² products and a back-substitution while the pieces of the law hold.
    fn step(&self, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<StepReport, StepError> {
        if model.first_order().is_none() {
            return Err(StepError::Refused(nothing_to_do()));
        }
        if !model.systems().velocities().is_empty() {
            return step_mixed(model, state, memory, (h, self.newton()));
        }
        let StepMemory { first_order, scratch, .. } = memory;
        let (Some(set), Some(memory)) = (model.first_order(), first_order) else {
            return Err(StepError::Refused(nothing_to_do()));
        };
        let EulerMoreauParams { theta, gamma, multipliers, .. } = self.params;
        match (set.linear(), multipliers) {
            (Some(parts), Multipliers::Implicit) => step_linear(set, parts, state, memory, (h, Discretisation::Theta { theta, gamma })),
            (Some(parts), Multipliers::Explicit) => {
                step_linear(set, parts, state, memory, (h, Discretisation::ExplicitMultipliers { theta }))
            }
            (None, _) => step_by_newton(set, state, memory, scratch, (h, self.newton())),
        }
    }
}

/// The error of a model without a first-order part, which no file and no check lets through.
fn nothing_to_do() -> ModelError {
    ModelError::SchemeRefuses {
        scheme: "euler-moreau",
        feature: "models without a first-order part",
        by: "the model".into(),
        alternatives: "the schemes of mechanics".into(),
    }
}

/// Refuses explicit multipliers where they are not defined by the outputs.
pub(super) fn check_explicit(params: &EulerMoreauParams, model: &Model) -> Result<(), ModelError> {
    let (Some(set), Multipliers::Explicit) = (model.first_order(), params.multipliers) else { return Ok(()) };
    let scheme = "euler-moreau with explicit multipliers";
    let Some(parts) = set.linear() else { return Err(ModelError::NotLinear { scheme, why: "a formula is not" }) };
    let unbounded = set.relations().iter().find(|relation| !relation.law.is_bounded());
    let has_direct = parts.d.iter().any(|&d| d != 0.0);
    if let Some(relation) = unbounded {
        let feature = "laws other than relays and balls";
        let by = format!("\"{}\"", relation.name);
        return Err(ModelError::SchemeRefuses { scheme, feature, by, alternatives: "euler-moreau with multipliers = \"implicit\"".into() });
    }
    if has_direct {
        let feature = "outputs that depend on multipliers";
        return Err(ModelError::SchemeRefuses {
            scheme,
            feature,
            by: "D ≠ 0".into(),
            alternatives: "euler-moreau with multipliers = \"implicit\"".into(),
        });
    }
    Ok(())
}

/// Mixed models take outputs at the end of the step, and friction as a plain cone.
pub(super) fn check_mixed(params: &EulerMoreauParams, model: &Model) -> Result<(), ModelError> {
    if model.systems().velocities().is_empty() {
        return Ok(());
    }
    let refuse = |feature: &'static str, by: String| {
        let alternatives = "moreau-jean, without the first-order part".to_owned();
        Err(ModelError::SchemeRefuses { scheme: "euler-moreau", feature, by, alternatives })
    };
    match model.interactions().iter().find(|i| matches!(i.law(), crate::Law::Bounded(law) if law.role == crate::BoundedRole::Motor)) {
        Some(motor) if params.theta < 0.5 => refuse("motors with theta below 1/2", format!("\"{}\"", motor.name())),
        _ => require(params.gamma == 1.0, "gamma", params.gamma, "mixed models need gamma = 1"),
    }
}
