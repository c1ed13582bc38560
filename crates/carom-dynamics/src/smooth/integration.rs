//! An integration over time: steps of an integrator under step control.

use super::consistent_start::AssemblyReport;
use super::control::StepController;
use super::equations::Equations;
use super::error::IntegrationError;
use super::motion_point::MotionPoint;
use super::row_layout::RowLayout;
use super::statistics::Statistics;
use super::tolerances::Tolerances;
use crate::integrators::{Integrator, IntegratorParams, StepControl, StepEstimate, build};
use crate::model::Model;
use crate::state::State;

/// A step with a stage at a singular position is shortened by this factor, which is no place of a stage in usual methods.
const SHORTENED: f64 = 0.87;

/// Times that a step is shortened for that.
const MOST_SHORTENINGS: usize = 4;

/// The running integration of a model's smooth motion.
pub struct Integration<'m> {
    equations: Equations<'m>,
    integrator: Box<dyn Integrator>,
    params: IntegratorParams,
    tolerances: Tolerances,
    controller: StepController,
    start: MotionPoint,
    end: MotionPoint,
    next_step: f64,
    assembly: AssemblyReport,
}

impl<'m> Integration<'m> {
    /// Begins at a state. Where it violates the constraints slightly it is assembled: see [`Integration::assembly`].
    ///
    /// # Errors
    /// [`IntegrationError`]: settings out of range, a state that violates the constraints, a method that is not made for this model, singular equations.
    pub fn new(model: &'m Model, state: &State, params: &IntegratorParams) -> Result<Self, IntegrationError> {
        params.validate()?;
        let mut equations = Equations::new(model);
        equations.baumgarte = params.baumgarte;
        equations.acceleration = params.acceleration;
        let tolerances = Tolerances::new(&equations, params)?;
        let mut start = MotionPoint::at_state(state, equations.n_rows());
        equations.select_rows(&start)?;
        start.lambda.resize(equations.n_rows(), 0.0);
        let assembly = equations.assemble(&mut start, &params.assembly)?;
        equations.accelerate(start.t, &start.q, &start.v, &mut start.a, &mut start.lambda)?;
        let mut integrator = build(params);
        integrator.restart(&mut equations, &start)?;
        let end = start.clone();
        let mut integration = Integration {
            equations,
            integrator,
            tolerances,
            controller: StepController::new(params),
            params: params.clone(),
            start,
            end,
            next_step: 0.0,
            assembly,
        };
        integration.next_step = params.step.unwrap_or_else(|| integration.first_step());
        Ok(integration)
    }

    /// The first step by the size of position, velocity and acceleration: a hundredth of the time in which they change by their own size.
    fn first_step(&self) -> f64 {
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let (v, a) = (norm(&self.end.v), norm(&self.end.a));
        let scale = (v / a.max(1e-300)).min(norm(&self.end.q).max(1.0) / v.max(1e-300));
        let by_acceleration = (2.0 * self.params.tolerance / a.max(1e-300)).sqrt();
        let h = if scale > 0.0 && scale.is_finite() { 1e-2 * scale } else { by_acceleration };
        h.clamp(1e-8, 1e-2).min(self.params.max_step.unwrap_or(f64::INFINITY))
    }

    /// The equations.
    pub fn equations(&mut self) -> &mut Equations<'m> {
        &mut self.equations
    }

    /// The constraint rows in use.
    #[must_use]
    pub fn rows(&self) -> &RowLayout {
        self.equations.rows()
    }

    /// The point reached.
    #[must_use]
    pub fn point(&self) -> &MotionPoint {
        &self.end
    }

    /// The point at which the last step began.
    #[must_use]
    pub fn previous(&self) -> &MotionPoint {
        &self.start
    }

    /// Counts so far.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.equations.statistics
    }

    /// What was done to the initial state so that it satisfies the constraints.
    #[must_use]
    pub fn assembly(&self) -> &AssemblyReport {
        &self.assembly
    }

    /// Corrects the end of a step that will be accepted for its error; a correction that fails refuses the step.
    fn correct(&mut self, estimate: StepEstimate) -> Result<StepEstimate, IntegrationError> {
        if estimate.error.is_none_or(|error| error <= 1.0) && self.end.is_finite() {
            self.equations.correct(&mut self.end, self.params.projection)?;
        }
        Ok(estimate)
    }

    /// Takes one accepted step, not beyond `t_end`.
    ///
    /// # Errors
    /// [`IntegrationError`].
    pub fn step(&mut self, t_end: f64) -> Result<(), IntegrationError> {
        std::mem::swap(&mut self.start, &mut self.end);
        let remaining = t_end - self.start.t;
        let fixed = self.params.control == StepControl::Fixed;
        let min_step = self.params.min_step.max(1e-14 * t_end.abs());
        loop {
            // the last step absorbs a remainder that would be round-off
            let mut h = if self.next_step >= remaining * (1.0 - 1e-9) { remaining } else { self.next_step };
            let outcome = self.try_independent(&mut h).and_then(|estimate| self.correct(estimate));
            let (factor, accepted, reason) = match outcome {
                Ok(_) if !self.end.is_finite() => (self.controller.failed(), false, "values that are not finite".to_owned()),
                Ok(_) if fixed => (1.0, true, String::new()),
                Ok(estimate) => match estimate.error {
                    Some(error) => {
                        (self.controller.factor(error, estimate.order), error <= 1.0, format!("error {error:.1e} of the tolerance"))
                    }
                    None => (1.0, true, String::new()),
                },
                Err(error) if error.is_recoverable() && !fixed => (self.controller.failed(), false, error.to_string()),
                Err(error) => return Err(error),
            };
            let proposed = (h * factor).min(self.params.max_step.unwrap_or(f64::INFINITY));
            if accepted {
                if !fixed && (h == self.next_step || proposed < self.next_step) {
                    self.next_step = proposed;
                }
                self.end.t = if h == remaining { t_end } else { self.start.t + h };
                self.equations.statistics.accepted += 1;
                self.integrator.accept();
                return self.watch_redundant_rows();
            }
            self.equations.statistics.rejected += 1;
            if fixed || proposed < min_step {
                return Err(IntegrationError::StepTooSmall { t: self.start.t, step: proposed, min_step, reason });
            }
            self.next_step = proposed;
        }
    }

    /// Tries a step. When constraint rows have become dependent on the way, the rows are chosen anew at the start. Where that does not help a stage has hit a
    /// singular position: the step is shortened, a constant one too, so that the stages lie beside it.
    fn try_independent(&mut self, h: &mut f64) -> Result<StepEstimate, IntegrationError> {
        let (mut selected, mut shortened) = (false, 0);
        loop {
            let outcome = self.integrator.try_step(&mut self.equations, &self.start, *h, &mut self.end, &self.tolerances);
            if !matches!(outcome, Err(IntegrationError::SingularConstraints { .. })) || shortened == MOST_SHORTENINGS {
                return outcome;
            }
            if !std::mem::replace(&mut selected, true) && self.equations.select_rows(&self.start)?.changed {
                self.use_selected_rows(true)?;
            } else {
                shortened += 1;
                *h *= SHORTENED;
                self.equations.statistics.rejected += 1;
            }
        }
    }

    /// After a step with redundant rows: where these are violated much more than those in use they have become independent, and the rows are
    /// chosen anew.
    fn watch_redundant_rows(&mut self) -> Result<(), IntegrationError> {
        if self.equations.multipliers_are_unique() {
            return Ok(());
        }
        let MotionPoint { t, q, v, .. } = &self.end;
        let (_, all) = self.equations.violations(*t, q, v)?;
        let mut used = vec![0.0; self.equations.n_rows()];
        self.equations.constraint_velocity(*t, q, v, &mut used)?;
        let used = used.iter().fold(0.0_f64, |most, u| most.max(u.abs()));
        let speed = v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        if all > 1e3 * used + 1e-8 * speed && self.equations.select_rows(&self.end)?.changed {
            self.use_selected_rows(false)?;
        }
        Ok(())
    }

    /// Begins anew at the start or the end of the step with the rows that were chosen.
    fn use_selected_rows(&mut self, at_start: bool) -> Result<(), IntegrationError> {
        let n = self.equations.n_rows();
        self.start.lambda.resize(n, 0.0);
        self.end.lambda.resize(n, 0.0);
        let point = if at_start { &mut self.start } else { &mut self.end };
        self.equations.accelerate(point.t, &point.q, &point.v, &mut point.a, &mut point.lambda)?;
        self.integrator.restart(&mut self.equations, point)
    }

    /// Writes (q, v) at a time within the last step.
    ///
    /// # Errors
    /// [`IntegrationError`].
    pub fn interpolate(&mut self, t: f64, q: &mut [f64], v: &mut [f64]) -> Result<(), IntegrationError> {
        let theta = (t - self.start.t) / (self.end.t - self.start.t);
        self.integrator.interpolate(&mut self.equations, &self.start, &self.end, theta, q, v)
    }
}
