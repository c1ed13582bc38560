//! One step of a scheme against two of half its size.

use super::phases::{ContactModes, CrossingWatch, has_impact, restored_velocity};
use super::{Adaptive, Context};
use crate::error::{ModelError, RunError};
use crate::first_order::FirstOrderSet;
use crate::integrators::Tolerances;
use crate::memory::WarmStart;
use crate::model::Model;
use crate::report::{ImpactReport, ProjectionReport, StepReport};
use crate::smooth::{Equations, MotionPoint};
use crate::state::State;

/// A contact that approaches faster than this at the very start of a run hits [m/s].
const SLOWEST_FIRST_IMPACT: f64 = 1e-9;

/// Restitution of velocities below this is round-off of contacts that stay closed [m/s].
const CALM: f64 = 1e-9;

/// A gap that is crossed by less than this fraction of the tolerance is not.
const SHALLOW: f64 = 1e-3;

/// Tries steps of a scheme and measures their error in the positions, which do not jump,
///
/// ```text
/// q¹ by one step, q⁰ by two halves:     q(t + h) − q⁰ ≈ (q⁰ − q¹)/(2^p − 1) = O(h^{p+1})
/// ```
///
/// [Haddouni2015, eqs. (2.115)–(2.120) with the sign of (2.118) and the exponent 1/(p+1); §4.3.1]. p is the order of the scheme in free motion while
/// nothing is active, 1 under constraints and contacts that persist; across changes of contact the error is q⁰ − q¹ itself, O(h).
///
/// A gap that is crossed without an impulse, at the end of a half, adds its depth to the error: the contact has closed in the step, and the scheme has
/// not seen it yet.
///
/// States of a first-order part are measured in the same way; a law that goes over to another piece is a change of contact.
///
/// Schemes that keep values of earlier steps are started anew before each of the two tries, and count as of order 1.
pub(super) struct Doubling {
    tolerances: Tolerances,
    /// Where the step that is tried begins.
    start: State,
    /// Where one whole step leads.
    coarse: State,
    /// Impulses of the step before.
    warm: WarmStart,
    /// Contacts that carry: in the step before that stands, the whole step, the first half, the second half.
    pub before: ContactModes,
    whole: ContactModes,
    first: ContactModes,
    pub second: ContactModes,
    /// A step stands already.
    pub begun: bool,
    watch: CrossingWatch,
    /// What depths of crossed gaps are compared with \[m\]; the absolute tolerance of states.
    absolute: f64,
    /// The relative tolerance of states.
    relative: f64,
    /// The laws of the first-order part have pieces, so that their changes are seen.
    sees_laws: bool,
    /// The displacement from q¹ to q⁰.
    difference: Vec<f64>,
    points: (MotionPoint, MotionPoint),
}

/// What came of trying a step; the state is at its end, by two halves.
pub(super) struct Tried {
    /// Of both halves.
    pub report: StepReport,
    /// Of the whole step.
    whole: StepReport,
    /// The result may be extrapolated: restitution at a contact that carries would give u (−e) by one step and u e² by two, and 2 e² + e > 1
    /// of them by extrapolation.
    pub calm: bool,
    /// All three steps converged.
    pub converged: bool,
    /// Error of the positions in units of the tolerance.
    pub error: f64,
    /// Power of h with which it vanishes.
    pub order: usize,
    /// No contact changes.
    pub smooth: bool,
    /// A time by which a contact has changed, where one does.
    pub seen: f64,
    /// Time between the halves.
    pub t_middle: f64,
}

impl Doubling {
    pub fn new(model: &Model, settings: &Adaptive, state: &State) -> Result<Self, ModelError> {
        let tolerances = Tolerances::new(&Equations::new(model), &settings.params.for_scheme())?;
        let point = MotionPoint::at_state(state, 0);
        Ok(Doubling {
            tolerances,
            start: state.clone(),
            coarse: state.clone(),
            warm: WarmStart::default(),
            before: ContactModes::default(),
            whole: ContactModes::default(),
            first: ContactModes::default(),
            second: ContactModes::default(),
            begun: false,
            watch: CrossingWatch::default(),
            absolute: settings.params.absolute_tolerance.unwrap_or(settings.params.tolerance),
            relative: settings.params.relative_tolerance.unwrap_or(settings.params.tolerance),
            sees_laws: model.first_order().is_none_or(FirstOrderSet::has_pieces),
            difference: vec![0.0; state.v.len()],
            points: (point.clone(), point),
        })
    }

    /// Takes the three steps.
    pub fn try_step(&mut self, context: &mut Context<'_, '_>, state: &mut State, h: f64) -> Result<Tried, RunError> {
        self.start.clone_from(state);
        self.warm.copy_from(&context.memory.warm);
        context.forget_past(state)?;
        self.watch.begin(context.model, state, context.memory)?;
        let whole = context.scheme_step(state, h)?;
        self.whole.read(context.memory);
        let mut restored = restored_velocity(context.memory);
        std::mem::swap(state, &mut self.coarse);
        self.put_back(context, state);
        context.forget_past(state)?;
        let first = context.scheme_step(state, 0.5 * h)?;
        self.first.read(context.memory);
        restored = restored.max(restored_velocity(context.memory));
        context.journal.keep_first_half(context.memory);
        if !self.begun && !has_impact(context.memory, SLOWEST_FIRST_IMPACT) {
            // contacts that are closed from the start
            self.before.copy_from(&self.first);
        }
        let Context { model, memory, .. } = &mut *context;
        let crossing = self.watch.look(model, (state, 0.5 * h), memory, &self.first)?;
        context.accept(state);
        let keeps_past = context.settings.scheme.looks_back() > 0;
        let t_middle = state.t;
        let second = context.scheme_step(state, 0.5 * h)?;
        self.second.read(context.memory);

        let Context { model, memory, .. } = &mut *context;
        let at_end = self.watch.look(model, (state, h), memory, &self.second)?;
        let depth = crossing.depth.max(at_end.depth) / self.absolute;
        let early = crossing.depth > SHALLOW * self.absolute || !self.first.within(&self.before);
        let smooth = !early && depth < SHALLOW && self.whole == self.first && self.first == self.second;
        let free = [&whole, &first, &second].iter().all(|report| report.n_active == 0);
        let orders = context.settings.scheme.orders();
        let order = match (smooth, free && !keeps_past && self.sees_laws) {
            (false, _) => 1,
            (true, true) => orders.smooth + 1,
            (true, false) => orders.impacts + 1,
        };
        Ok(Tried {
            converged: whole.converged() && first.converged() && second.converged(),
            error: self.error(context.model, state, order, depth),
            report: both(&first, &second),
            whole,
            calm: restored <= CALM,
            order,
            smooth,
            seen: if early { t_middle } else { state.t },
            t_middle,
        })
    }

    /// The error of two halves in units of the tolerance, or the depth of crossed gaps where that is larger.
    fn error(&mut self, model: &Model, state: &State, order: usize, depth: f64) -> f64 {
        model.systems().difference(&self.coarse.q, &state.q, &mut self.difference);
        let factor = if order > 1 { 1.0 / ((order as f64 - 1.0).exp2() - 1.0) } else { 1.0 };
        self.difference.iter_mut().for_each(|w| *w *= factor);
        self.points.0.q.copy_from_slice(&self.start.q);
        self.points.1.q.copy_from_slice(&state.q);
        let error = self.tolerances.error(&self.points.0, &self.points.1, &self.difference, &[]);
        let error = larger(error, self.error_of_states(&state.x, factor));
        // an error that is not a number must not be lost
        if depth > error { depth } else { error }
    }

    /// The error of the states of the first-order part in units of the tolerance, the mean square over them.
    fn error_of_states(&self, x: &[f64], factor: f64) -> f64 {
        let one = |((x, coarse), start): ((&f64, &f64), &f64)| {
            (factor * (x - coarse) / (self.absolute + self.relative * x.abs().max(start.abs()))).powi(2)
        };
        let sum: f64 = x.iter().zip(&self.coarse.x).zip(&self.start.x).map(one).sum();
        (sum / x.len().max(1) as f64).sqrt()
    }

    /// Adds the error that was estimated, y⁰ + (y⁰ − y¹)/(2^p − 1), to the state and to the energies exchanged: one order higher.
    pub fn extrapolate(&mut self, model: &Model, state: &mut State, tried: &mut Tried) {
        let factor = 1.0 / ((tried.order as f64 - 1.0).exp2() - 1.0);
        let Tried { report, whole, .. } = tried;
        report.work += factor * (report.work - whole.work);
        report.dissipated_impact += factor * (report.dissipated_impact - whole.dissipated_impact);
        report.dissipated_friction += factor * (report.dissipated_friction - whole.dissipated_friction);
        for (v, coarse) in state.v.iter_mut().zip(&self.coarse.v) {
            *v += factor * (*v - coarse);
        }
        for (x, coarse) in state.x.iter_mut().zip(&self.coarse.x) {
            *x += factor * (*x - coarse);
        }
        model.systems().advance(&state.q, &self.difference, &mut self.coarse.q);
        state.q.copy_from_slice(&self.coarse.q);
    }

    /// Puts everything back to where the step that was tried began.
    pub(crate) fn put_back(&self, context: &mut Context<'_, '_>, state: &mut State) {
        state.clone_from(&self.start);
        context.memory.warm.copy_from(&self.warm);
    }

    /// The step stands.
    pub fn keep(&mut self) {
        std::mem::swap(&mut self.before, &mut self.second);
        self.begun = true;
    }
}

/// The larger of two errors; one that is not a number stays.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// The report of two steps, one after the other.
fn both(first: &StepReport, second: &StepReport) -> StepReport {
    let solve = match (first.solve, second.solve) {
        (Some(a), Some(b)) => {
            let mut worse = if a.status.is_accepted() && b.residual_normalised >= a.residual_normalised { b } else { a };
            if !b.status.is_accepted() {
                worse = b;
            }
            worse.iterations = a.iterations + b.iterations;
            Some(worse)
        }
        (a, b) => a.or(b),
    };
    let mut violations = first.violations;
    violations.penetration = violations.penetration.max(second.violations.penetration);
    violations.constraint = violations.constraint.max(second.violations.constraint);
    violations.constraint_velocity = violations.constraint_velocity.max(second.violations.constraint_velocity);
    StepReport {
        solve,
        tolerated: first.tolerated.min(second.tolerated),
        newton_iterations: first.newton_iterations + second.newton_iterations,
        newton_residual: first.newton_residual.max(second.newton_residual),
        newton_converged: first.newton_converged && second.newton_converged,
        projection: match (first.projection, second.projection) {
            (Some(a), Some(b)) => Some(ProjectionReport {
                iterations: a.iterations + b.iterations,
                violation: a.violation.max(b.violation),
                converged: a.converged && b.converged,
            }),
            (a, b) => a.or(b),
        },
        impacts: ImpactReport {
            contacts: first.impacts.contacts.max(second.impacts.contacts),
            iterations: first.impacts.iterations + second.impacts.iterations,
            residual: first.impacts.residual.max(second.impacts.residual),
            failed: first.impacts.failed || second.impacts.failed,
        },
        n_active: first.n_active.max(second.n_active),
        violations,
        dissipated_impact: first.dissipated_impact + second.dissipated_impact,
        dissipated_friction: first.dissipated_friction + second.dissipated_friction,
        impact_gain: first.impact_gain + second.impact_gain,
        work: first.work + second.work,
    }
}
