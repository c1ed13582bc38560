//! The error of a step by comparing it with two of half its size.

use super::tolerances::Tolerances;
use super::{Integrator, Step, StepEstimate};
use crate::error::IntegrationError;
use crate::smooth::{Equations, MotionPoint, quintic_hermite};

/// One step of size h against two of h/2, for methods without an estimate of their own.
///
/// ```text
/// y⁰ by two steps, y¹ by one:     y(t + h) − y⁰ ≈ (y⁰ − y¹)/(2^p − 1) = O(h^{p+1})
/// ```
///
/// Haddouni2015 eqs. (2.115)–(2.120) with the sign of (2.118) and the exponent 1/(p+1) of the local error in (2.120). y⁰ is propagated, not the
/// extrapolated value, which would leave the constraints. Cost: three steps for one.
#[derive(Debug, Default)]
pub(super) struct Halving {
    coarse: MotionPoint,
    middle: MotionPoint,
    error: (Vec<f64>, Vec<f64>),
    /// The integrator has taken the first half into its memory.
    advanced: bool,
}

/// What a halved step is made of.
pub(super) struct HalvedStep<'a> {
    /// Where it begins.
    pub start: &'a MotionPoint,
    /// Its size \[s\].
    pub h: f64,
    /// Order of the method.
    pub order: f64,
    /// Tolerances of the error.
    pub tolerances: &'a Tolerances,
}

impl Halving {
    /// Takes the steps; `end` gets the result of the two halves.
    pub(super) fn try_step(
        &mut self,
        integrator: &mut dyn Integrator,
        equations: &mut Equations<'_>,
        step: &HalvedStep<'_>,
        end: &mut MotionPoint,
    ) -> Result<StepEstimate, IntegrationError> {
        let &HalvedStep { start, h, order, tolerances } = step;
        self.coarse.copy_from(start);
        self.middle.copy_from(start);
        if self.advanced {
            // the memory of the integrator is that of a first half that was refused
            integrator.restart(equations, start)?;
            self.advanced = false;
        }
        integrator.try_step(equations, Step { start, h, tolerances }, &mut self.coarse)?;
        integrator.try_step(equations, Step { start, h: 0.5 * h, tolerances }, &mut self.middle)?;
        integrator.accept();
        self.advanced = true;
        integrator.try_step(equations, Step { start: &self.middle, h: 0.5 * h, tolerances }, end)?;
        let factor = 1.0 / (order.exp2() - 1.0);
        let (position, velocity) = (&mut self.error.0, &mut self.error.1);
        position.resize(end.v.len(), 0.0);
        equations.model().systems().difference(&self.coarse.q, &end.q, position);
        position.iter_mut().for_each(|e| *e *= factor);
        velocity.clear();
        velocity.extend(end.v.iter().zip(&self.coarse.v).map(|(fine, coarse)| factor * (fine - coarse)));
        let error = tolerances.error(start, end, position, velocity);
        Ok(StepEstimate { error: Some(error), order: order as usize + 1 })
    }

    /// The step is accepted: the memory of the integrator is right.
    pub(super) fn accept(&mut self) {
        self.advanced = false;
    }

    /// Writes (q, v) at a time within the step, by quintic Hermite interpolation of the half that holds it.
    pub(super) fn interpolate(&self, equations: &Equations<'_>, ends: (&MotionPoint, &MotionPoint), t: f64, q: &mut [f64], v: &mut [f64]) {
        let (from, to) = if t <= self.middle.t { (ends.0, &self.middle) } else { (&self.middle, ends.1) };
        quintic_hermite(equations, from, to, (t - from.t) / (to.t - from.t), q, v);
    }
}
