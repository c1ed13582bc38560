//! Integrators of smooth motion: each takes one step of the constrained equations.

mod adams;
#[cfg(test)]
mod alpha_condition;
mod alpha_family;
mod alpha_newton;
mod bdf;
mod constrained_kick;
mod control;
mod discrete_multiplier;
mod extrapolation;
mod first_step;
mod generalized_alpha;
mod halving;
mod hem5;
mod hht;
mod implicit_runge_kutta;
mod implicit_tableau;
mod integration;
mod newmark;
mod normal_part;
mod parameters;
mod phem56;
mod rattle;
mod registry;
mod report;
mod runge_kutta;
mod shake;
mod slope;
mod stage_equations;
mod stage_newton;
mod stages;
mod stormer_verlet;
mod tableaux;
mod tolerances;

pub(crate) use alpha_family::AlphaCoefficients;
pub use control::StepController;
pub use integration::Integration;
pub use parameters::{Controller, ErrorComponents, ErrorNorm, Formulation, IntegratorParams, NewtonParams, StepControl};
pub use registry::{IntegratorEntry, IntegratorKind, Orders, build};
pub use report::SmoothReport;
pub use tolerances::Tolerances;

use crate::error::IntegrationError;
use crate::smooth::{Equations, MotionPoint, quintic_hermite};

/// One step of q̇ = T v, M v̇ = F + Gᵀλ with constraints.
///
/// Methods work with displacements w from the start of the step: Q = q_n ⊕ w with ẇ = D(w) v ([`Equations::displacement_rate`]), so that
/// rotations stay on their group; for flat coordinates w = Q − q_n and ẇ = v.
///
/// To add an integrator: one file in `integrators/` with the equations of the method and their source in the header, this trait, an
/// [`IntegratorEntry`] with the declared orders, and one line in the registry. The order test walks the registry.
pub trait Integrator: Send {
    /// Forgets the past: `start` is a new beginning (the initial state, or the state after an event), with a and λ of the acceleration form.
    ///
    /// # Errors
    /// [`IntegrationError::Unsupported`] for a model the method is not made for; errors of evaluation.
    fn restart(&mut self, equations: &mut Equations<'_>, start: &MotionPoint) -> Result<(), IntegrationError>;

    /// Tries a step of size h from `start` into `end` (t, q, v, a, λ), whose arrays have the right lengths. May be called again with another h
    /// for the same start.
    ///
    /// # Errors
    /// [`IntegrationError`]; those that are recoverable make the caller try a smaller step.
    fn try_step(&mut self, equations: &mut Equations<'_>, step: Step<'_>, end: &mut MotionPoint) -> Result<StepEstimate, IntegrationError>;

    /// The step just tried is accepted: methods with memory take it into their history.
    fn accept(&mut self) {}

    /// Writes (q, v) at start.t + θ h within the step just tried. The default is quintic Hermite interpolation.
    ///
    /// # Errors
    /// [`IntegrationError`].
    fn interpolate(&mut self, equations: &mut Equations<'_>, at: Inside<'_>, q: &mut [f64], v: &mut [f64]) -> Result<(), IntegrationError> {
        let Inside { start, end, theta } = at;
        quintic_hermite(equations, start, end, theta, q, v);
        Ok(())
    }
}

/// A step to try.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Where it begins, with a and λ.
    pub start: &'a MotionPoint,
    /// Its size \[s\].
    pub h: f64,
    /// What its error is measured by.
    pub tolerances: &'a Tolerances,
}

/// A place within the step just tried: start.t + θ h.
#[derive(Clone, Copy, Debug)]
pub struct Inside<'a> {
    /// Where the step begins.
    pub start: &'a MotionPoint,
    /// Where it ends.
    pub end: &'a MotionPoint,
    /// θ from 0 to 1.
    pub theta: f64,
}

/// What a step says about its error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepEstimate {
    /// Estimated local error in units of the tolerance; `None` for methods without an estimate of their own.
    pub error: Option<f64>,
    /// Power of h with which the estimate vanishes: the exponent of the step control is its inverse.
    pub order: usize,
}
