//! An integration over time: steps of an integrator under step control.

use super::control::StepController;
use super::first_step::first_step;
use super::halving::{HalvedStep, Halving};
use super::tolerances::Tolerances;
use super::{Inside, Integrator, IntegratorKind, IntegratorParams, Step, StepControl, StepEstimate, build};
use crate::error::IntegrationError;
use crate::model::Model;
use crate::smooth::{AccelerationForm, AssemblyReport, Equations, MotionPoint, Projection, Statistics, quintic_hermite};
use crate::state::State;
use std::fmt;

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
    /// Steps are compared with two halves.
    halving: Option<Halving>,
    /// Order of the method, the smaller of those of q and v.
    order: f64,
    start: MotionPoint,
    end: MotionPoint,
    next_step: f64,
    assembly: AssemblyReport,
}

/// Why a step is refused.
enum Refusal {
    Error(f64),
    Drift(f64, f64),
    NotFinite,
    Failed(IntegrationError),
}

/// What came of trying a step.
struct Attempt {
    /// Factor of the next step.
    factor: f64,
    /// `None`: it is accepted.
    refusal: Option<Refusal>,
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
        let assembly = equations.assemble(&mut start, &params.assembly)?;
        equations.accelerate(start.t, &start.q, &start.v, &mut start.a, &mut start.lambda)?;
        let mut integrator = build(params);
        integrator.restart(&mut equations, &start)?;
        let end = start.clone();
        let (entry, orders) = (params.kind.entry(), (params.kind.entry().orders)(params));
        let halves = params.control == StepControl::Halving || (params.control == StepControl::Adaptive && !entry.has_estimate);
        let mut integration = Integration {
            equations,
            integrator,
            tolerances,
            controller: StepController::new(params),
            halving: halves.then(Halving::default),
            order: orders.position.min(orders.velocity).max(1.0),
            params: params.clone(),
            start,
            end,
            next_step: 0.0,
            assembly,
        };
        integration.next_step = params.step.unwrap_or_else(|| integration.first_step());
        Ok(integration)
    }

    /// Goes on from another state, after an event say, or with other closed contacts ([`Equations::set_closed`]): the past is forgotten, the step size
    /// is chosen as at the beginning. Counts go on.
    ///
    /// # Errors
    /// As [`Integration::new`].
    pub fn restart(&mut self, state: &State) -> Result<(), IntegrationError> {
        self.end.t = state.t;
        self.end.q.clone_from(&state.q);
        self.end.v.clone_from(&state.v);
        self.restart_at_end()
    }

    /// Takes over values that are held between samples; where they `changed` the motion, the past is forgotten, but not the step size.
    ///
    /// # Errors
    /// As [`Integration::new`].
    pub(crate) fn hold(&mut self, q: &[f64], changed: bool) -> Result<(), IntegrationError> {
        self.end.q.copy_from_slice(q);
        if !changed {
            return Ok(());
        }
        let planned = self.next_step;
        self.restart_at_end()?;
        self.plan(planned);
        Ok(())
    }

    fn restart_at_end(&mut self) -> Result<(), IntegrationError> {
        let end = &mut self.end;
        check_friction(&self.equations, self.params.kind)?;
        self.equations.select_rows(end)?;
        end.lambda.resize(self.equations.n_rows(), 0.0);
        self.equations.accelerate(end.t, &end.q, &end.v, &mut end.a, &mut end.lambda)?;
        self.integrator.restart(&mut self.equations, end)?;
        self.start.copy_from(end);
        self.controller = StepController::new(&self.params);
        self.halving = self.halving.is_some().then(Halving::default);
        let fixed = self.params.step.filter(|_| self.params.control == StepControl::Fixed);
        self.next_step = fixed.unwrap_or_else(|| self.first_step());
        Ok(())
    }

    /// As [`Integration::restart`] from a state that may have drifted off the constraints: it is projected on them first.
    ///
    /// # Errors
    /// As [`Integration::new`].
    pub fn resume(&mut self, state: &State, projection: Projection) -> Result<(), IntegrationError> {
        self.end.t = state.t;
        self.end.q.clone_from(&state.q);
        self.end.v.clone_from(&state.v);
        check_friction(&self.equations, self.params.kind)?;
        if self.equations.rows_are_new {
            self.equations.select_rows(&self.end)?;
        }
        self.end.lambda.resize(self.equations.n_rows(), 0.0);
        self.equations.correct(&mut self.end, projection)?;
        self.restart_at_end()
    }

    /// Takes the last step back: the point reached is where it began. What was before is forgotten.
    ///
    /// # Errors
    /// Of the integrator's restart.
    pub(crate) fn take_back(&mut self) -> Result<(), IntegrationError> {
        self.end.copy_from(&self.start);
        self.equations.statistics.accepted -= 1;
        self.equations.statistics.rejected += 1;
        self.halving = self.halving.is_some().then(Halving::default);
        self.integrator.restart(&mut self.equations, &self.end)
    }

    /// Size of the next step, if nothing cuts it \[s\].
    #[must_use]
    pub(crate) fn next_step(&self) -> f64 {
        self.next_step
    }

    /// Plans the next step, unless steps are constant.
    pub fn plan(&mut self, h: f64) {
        if self.params.control != StepControl::Fixed {
            self.next_step = h;
        }
    }

    /// A first step from the point reached, within the limits.
    fn first_step(&mut self) -> f64 {
        let h = first_step(&mut self.equations, &self.tolerances, &self.end, self.order);
        h.min(self.params.max_step.unwrap_or(f64::INFINITY)).max(self.params.min_step)
    }

    /// The equations.
    pub fn equations(&mut self) -> &mut Equations<'m> {
        &mut self.equations
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
        // not after the step, whose dense output the integrator still holds
        self.watch_redundant_rows()?;
        self.equations.update_directions(&self.end)?;
        std::mem::swap(&mut self.start, &mut self.end);
        let remaining = t_end - self.start.t;
        let fixed = self.params.control == StepControl::Fixed;
        // below this, t + h is not resolved
        let min_step = self.params.min_step.max(1e-14 * t_end.abs());
        loop {
            // the last step absorbs a remainder that would be round-off
            let mut h = if self.next_step >= remaining * (1.0 - 1e-9) { remaining } else { self.next_step };
            let Attempt { factor, refusal } = self.attempt(&mut h)?;
            let proposed = (h * factor).min(self.params.max_step.unwrap_or(f64::INFINITY));
            let Some(refusal) = refusal else {
                // a step cut by the end says nothing against the longer one that was planned
                if !fixed && (h == self.next_step || proposed < self.next_step) {
                    self.next_step = proposed.max(min_step);
                }
                self.end.t = if h == remaining { t_end } else { self.start.t + h };
                self.equations.statistics.accepted += 1;
                self.integrator.accept();
                self.halving.iter_mut().for_each(Halving::accept);
                return Ok(());
            };
            self.equations.statistics.rejected += 1;
            if fixed {
                return Err(IntegrationError::StepRefused { t: self.start.t, step: h, reason: refusal.to_string() });
            }
            if h <= min_step {
                return Err(IntegrationError::StepTooSmall { t: self.start.t, step: proposed, min_step, reason: refusal.to_string() });
            }
            self.next_step = proposed.max(min_step);
        }
    }

    /// Tries a step of size h into `end` and judges it; the step may be shortened.
    fn attempt(&mut self, h: &mut f64) -> Result<Attempt, IntegrationError> {
        let fixed = self.params.control == StepControl::Fixed;
        let estimate = match self.try_independent(h).and_then(|estimate| self.correct(estimate)) {
            Ok(estimate) => estimate,
            Err(error) if error.is_recoverable() && !fixed => return Ok(self.failed(Refusal::Failed(error))),
            Err(error) => return Err(error),
        };
        if !self.end.is_finite() {
            return Ok(self.failed(Refusal::NotFinite));
        }
        let error = if fixed { None } else { estimate.error };
        // an error that is not a number is refused, too
        if let Some(error) = error.filter(|error| error.is_nan() || *error > 1.0) {
            return Ok(Attempt { factor: self.controller.factor(error, estimate.order), refusal: Some(Refusal::Error(error)) });
        }
        if let Some(limit) = self.params.max_drift {
            let drift = self.largest_drift()?;
            if drift > limit {
                return Ok(self.failed(Refusal::Drift(drift, limit)));
            }
        }
        Ok(Attempt { factor: error.map_or(1.0, |error| self.controller.factor(error, estimate.order)), refusal: None })
    }

    /// One step of the integrator, or three where steps are halved.
    fn try_step(&mut self, h: f64) -> Result<StepEstimate, IntegrationError> {
        let Integration { equations, integrator, tolerances, start, end, order, .. } = self;
        match &mut self.halving {
            None => integrator.try_step(equations, Step { start, h, tolerances }, end),
            Some(halving) => {
                let step = HalvedStep { start, h, order: *order, tolerances };
                halving.try_step(integrator.as_mut(), equations, &step, end)
            }
        }
    }

    /// Tries a step. When constraint rows have become dependent on the way, the rows are chosen anew at the start. Where that does not help a stage has hit a
    /// singular position: the step is shortened, a constant one too, so that the stages lie beside it.
    fn try_independent(&mut self, h: &mut f64) -> Result<StepEstimate, IntegrationError> {
        let (mut selected, mut shortened) = (false, 0);
        loop {
            let outcome = self.try_step(*h);
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

    fn failed(&mut self, refusal: Refusal) -> Attempt {
        Attempt { factor: self.controller.failed(), refusal: Some(refusal) }
    }

    /// Largest |g| and |G v + b| at the end of the step.
    fn largest_drift(&mut self) -> Result<f64, IntegrationError> {
        let (position, velocity) = self.equations.violations(self.end.t, &self.end.q, &self.end.v)?;
        Ok(position.max(velocity))
    }

    /// After a step with redundant rows: where these are violated much more than those in use they have become independent, and the rows are
    /// chosen anew.
    fn watch_redundant_rows(&mut self) -> Result<(), IntegrationError> {
        if self.equations.multipliers_are_unique() {
            return Ok(());
        }
        let MotionPoint { t, q, v, .. } = &self.end;
        let redundant = self.equations.redundant_velocity(*t, q, v)?;
        let speed = v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        if redundant <= 1e-8 * speed {
            return Ok(());
        }
        let mut used = vec![0.0; self.equations.n_rows()];
        self.equations.constraint_velocity(*t, q, v, &mut used)?;
        let used = used.iter().fold(0.0_f64, |most, u| most.max(u.abs()));
        if redundant > 1e3 * used + 1e-8 * speed && self.equations.select_rows(&self.end)?.changed {
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
        if let Some(halving) = &self.halving {
            halving.interpolate(&self.equations, (&self.start, &self.end), t, q, v);
            return Ok(());
        }
        let theta = (t - self.start.t) / (self.end.t - self.start.t);
        if self.params.projection != Projection::None {
            // the integrator's own output leads to the end before the projection
            quintic_hermite(&self.equations, &self.start, &self.end, theta, q, v);
            return Ok(());
        }
        self.integrator.interpolate(&mut self.equations, Inside { start: &self.start, end: &self.end, theta }, q, v)
    }
}

impl Integration<'_> {
    /// Writes the point at a time within the last step: (q, v) interpolated, a and λ of the acceleration form there. Not counted in the statistics.
    ///
    /// # Errors
    /// [`IntegrationError`].
    pub fn interpolate_point(&mut self, t: f64, point: &mut MotionPoint) -> Result<(), IntegrationError> {
        let (n, statistics) = (self.equations.n_rows(), self.equations.statistics);
        point.t = t;
        point.q.resize(self.end.q.len(), 0.0);
        point.v.resize(self.end.v.len(), 0.0);
        point.a.resize(self.end.v.len(), 0.0);
        point.lambda.resize(n, 0.0);
        let MotionPoint { q, v, a, lambda, .. } = point;
        let done = self.interpolate(t, q, v).and_then(|()| self.equations.accelerate(t, q, v, a, lambda));
        self.equations.statistics = statistics;
        done
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Error(error) => write!(f, "an error of {error:.1e} times the tolerance"),
            Refusal::Drift(drift, limit) => write!(f, "constraints violated by {drift:.2e}, above max_drift = {limit:.2e}"),
            Refusal::NotFinite => write!(f, "values that are not finite"),
            Refusal::Failed(error) => write!(f, "{error}"),
        }
    }
}

/// Refuses friction among the equations for methods that do not know it, and for other forms of the accelerations than by multipliers.
fn check_friction(equations: &Equations<'_>, kind: IntegratorKind) -> Result<(), IntegrationError> {
    let Some(what) = equations.friction() else { return Ok(()) };
    let integrator = kind.name();
    if !kind.entry().knows_friction {
        let able: Vec<&str> = IntegratorKind::ALL.iter().filter(|kind| kind.entry().knows_friction).map(|kind| kind.name()).collect();
        let reason = format!("{what} are not among its equations. Integrators that know them: {}", able.join(", "));
        return Err(IntegrationError::Unsupported { integrator, reason });
    }
    if equations.acceleration != AccelerationForm::Multipliers {
        let reason = format!("{what} need the accelerations by multipliers: acceleration = \"multipliers\"");
        return Err(IntegrationError::Unsupported { integrator, reason });
    }
    Ok(())
}
