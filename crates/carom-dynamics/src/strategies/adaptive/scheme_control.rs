//! Step control of a scheme: by halving, or with extrapolation between changes of contact.

use super::bracket::Bracket;
use super::doubling::{Doubling, Tried};
use super::{Adaptive, Context, Cut};
use crate::error::{ModelError, RunError};
use crate::integrators::StepController;
use crate::model::Model;
use crate::report::{EventKind, StepReport};
use crate::state::State;

/// A step that is at most this much longer than the smallest is a smallest step.
const ROUND_OFF: f64 = 1.0 + 1e-9;

/// A change of contact need not be resolved where the error is below this fraction of the tolerance: contacts that tremble at the threshold of
/// closing would hold up the run.
const HARMLESS: f64 = 1e-2;

/// Steps of the scheme under error control.
///
/// Halving: a step stands when its error is within the tolerance, or at the smallest size.
///
/// Extrapolation [Studer, Leine and Glocker, *International Journal for Numerical Methods in Engineering* 76 (2008); Studer, *Numerics of Unilateral Contacts
/// and Friction*, 2009]: a step in which no contact changes is judged as by halving, and its result is extrapolated, one order higher; towards a
/// change of contact steps are halved, and it is passed with the smallest, or with one whose error is below a hundredth of the
/// tolerance. It differs from there in that a change is seen by comparing the
/// contacts that carry in the whole step, its halves and the step before.
pub(super) struct SchemeControl {
    pub doubling: Doubling,
    controller: StepController,
    extrapolates: bool,
    bracket: Bracket,
    /// Size of the next step \[s\].
    pub next_step: f64,
    /// Smallest step \[s\].
    pub min_step: f64,
    max_step: f64,
}

impl SchemeControl {
    pub fn new(model: &Model, settings: &Adaptive, state: &State, extrapolates: bool) -> Result<Self, ModelError> {
        let (min_step, max_step) = (settings.smallest(), settings.params.max_step.unwrap_or(f64::INFINITY));
        Ok(SchemeControl {
            doubling: Doubling::new(model, settings, state)?,
            controller: StepController::new(&settings.params.for_scheme()),
            extrapolates,
            bracket: Bracket::default(),
            next_step: settings.first_step(state.t).clamp(min_step, max_step),
            min_step,
            max_step,
        })
    }

    /// Begins anew: the motion before was not of this control.
    pub fn restart(&mut self, next_step: f64, min_step: f64) {
        (self.next_step, self.min_step) = (next_step, min_step);
        self.bracket.clear();
    }

    /// One step that stands, not beyond `limit`. On failure the state is where the step began.
    pub fn step(&mut self, context: &mut Context<'_, '_>, state: &mut State, limit: f64) -> Result<StepReport, RunError> {
        loop {
            let planned = self.next_step.min(self.bracket.limit(state.t, self.min_step));
            let Cut { h, is_cut } = Cut::new(planned, limit - state.t);
            let smallest = h <= self.min_step * ROUND_OFF;
            let mut tried = match self.doubling.try_step(context, state, h) {
                Ok(tried) => tried,
                Err(error) => {
                    self.doubling.put_back(context, state);
                    if smallest || !matches!(error, RunError::Step(_)) {
                        return Err(error);
                    }
                    self.shorten(context, h, 0.25);
                    continue;
                }
            };
            if !tried.converged && !smallest {
                self.doubling.put_back(context, state);
                context.journal.certificate.halved_steps += 1;
                context.journal.event(state.t, EventKind::StepHalved)?;
                self.shorten(context, h, 0.5);
                continue;
            }
            if !tried.converged {
                let t = state.t - h;
                context.tolerate_failure(t, &tried.report).inspect_err(|_| self.doubling.put_back(context, state))?;
            }
            let harmless = tried.error <= HARMLESS;
            if self.extrapolates && !tried.smooth && !smallest && !harmless {
                self.doubling.put_back(context, state);
                context.report.rejected += 1;
                self.bracket.see(tried.seen);
                continue;
            }
            let judged = !self.extrapolates || tried.smooth || (harmless && !smallest);
            let factor = if judged { self.controller.factor(tried.error, tried.order) } else { 1.0 };
            // an error that is not a number is refused, too
            let is_good = tried.error <= 1.0;
            if judged && !is_good && !smallest {
                self.doubling.put_back(context, state);
                self.shorten(context, h, factor);
                continue;
            }
            if is_cut {
                state.t = limit;
            }
            self.accept(context, state, &mut tried, judged && !is_good && smallest)?;
            context.report.add_step(h, is_cut);
            context.report.at_min_step += usize::from(smallest && !is_cut);
            if !judged {
                self.bracket.clear();
                self.plan(h * context.settings.params.max_growth);
            } else if h >= self.next_step || factor < 1.0 {
                // a good step that was cut says nothing against the longer one that was planned
                self.plan(h * factor);
            }
            return Ok(tried.report);
        }
    }

    fn shorten(&mut self, context: &mut Context<'_, '_>, h: f64, factor: f64) {
        context.report.rejected += 1;
        self.plan(h * factor);
    }

    fn plan(&mut self, h: f64) {
        self.next_step = h.min(self.max_step).max(self.min_step);
    }

    /// Takes a step that stands into the account.
    fn accept(&mut self, context: &mut Context<'_, '_>, state: &mut State, tried: &mut Tried, beyond: bool) -> Result<(), RunError> {
        context.accept(state);
        if self.extrapolates && tried.smooth && tried.calm {
            self.doubling.extrapolate(context.model, state, tried);
        }
        self.doubling.keep();
        context.report.nonsmooth += usize::from(!tried.smooth);
        context.report.beyond_tolerance += usize::from(beyond || !tried.converged);
        context.journal.add_halves(tried.t_middle, state, context.memory, &tried.report)
    }
}
