//! Located events of first-order systems: every change of a mode at its time, a Runge–Kutta method of order 5 in between.
//!
//! Haddouni2015 §2.1.1 for first-order systems; on sweeping processes the event-driven method of Moreau1999 §3.3, on Filippov systems the sliding vector field. Steps are
//! those of Dormand and Prince with their error estimate; the time of an event is found by steps from the start of the step it lies in, so that it has the accuracy of the method.

use super::EventDriven;
use super::storage_account::{Stages, StorageAccount};
use crate::assembly::at_time;
use crate::error::{ModelError, RunError, StepError};
use crate::first_order_step::make_consistent;
use crate::first_order_step::mode_flow::{ModeFlow, check_located};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::multiplier_mode::MultiplierMode;
use crate::report::{Event, EventKind, StepReport};
use crate::state::State;
use crate::strategies::frame_clock::FrameClock;
use crate::strategies::journal::Journal;
use crate::strategies::{Continue, Ending, Observers, Outcome, Progress};
use carom_solvers::affine_vi::Piece;

/// Weights of the stages: row s gives the point of stage s + 1; the last row is the step. [Dormand & Prince, *A family of embedded Runge–Kutta formulae*, 1980]
const STAGES: [&[f64]; 6] = [
    &[1.0 / 5.0],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
    &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
    &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];
const TIMES: [f64; 6] = [0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];
/// Difference of the step and the embedded one of order 4.
const ERROR: [f64; 7] = [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];

/// Refuses what located events of first-order systems do not know.
pub(super) fn check(model: &Model, strategy: &'static str) -> Result<(), ModelError> {
    let refuse = |feature: &'static str, by: &str| {
        Err(ModelError::StrategyRefuses { strategy, feature, by: by.into(), alternatives: "time-stepping" })
    };
    match model.first_order() {
        Some(_) if strategy == "event-driven" && model.control().is_some() => {
            refuse("controllers of first-order systems", "a sensor, controller or actuator")
        }
        Some(set) if strategy == "event-driven" && model.systems().velocities().is_empty() => check_located(set, strategy),
        Some(_) if model.systems().velocities().is_empty() => refuse("first-order systems", "[first_order]"),
        Some(_) => refuse("first-order systems beside mechanical ones", "[first_order]"),
        None => Ok(()),
    }
}

/// Runs a model that has a first-order part only.
pub(super) fn run(settings: &EventDriven, model: &Model, state: &mut State, memory: &mut StepMemory, observers: Observers<'_>) -> Outcome {
    let Observers { recorder, watch } = observers;
    let mut journal = Journal::new(model, recorder);
    let ending = Located::new(settings, model, state).and_then(|mut located| located.all(state, memory, &mut journal, watch));
    journal.finish(ending.unwrap_or_else(Ending::Failed))
}

struct Located<'a> {
    settings: &'a EventDriven,
    model: &'a Model,
    flow: ModeFlow<'a>,
    slopes: Vec<Vec<f64>>,
    point: Vec<f64>,
    next: Vec<f64>,
    clock: FrameClock,
    /// Events without progress in time.
    stalled: usize,
    /// Least margin at the stages of the last step.
    stage_margin: f64,
    /// The account of the storage function, where there is one.
    account: Option<StorageAccount>,
}

impl<'a> Located<'a> {
    fn new(settings: &'a EventDriven, model: &'a Model, state: &State) -> Result<Self, RunError> {
        check(model, "event-driven").map_err(StepError::from)?;
        let Some(set) = model.first_order() else {
            return Err(StepError::from(ModelError::NoCoordinate { what: "first-order part".into() }).into());
        };
        let n = state.x.len();
        Ok(Located {
            settings,
            model,
            flow: ModeFlow::new(set, &state.held, 1e-10)?,
            slopes: vec![vec![0.0; n]; 7],
            point: vec![0.0; n],
            next: vec![0.0; n],
            clock: FrameClock::new(state.t, settings.record_interval),
            stalled: 0,
            stage_margin: f64::INFINITY,
            account: StorageAccount::new(set),
        })
    }

    fn all(
        &mut self,
        state: &mut State,
        memory: &mut StepMemory,
        journal: &mut Journal<'_>,
        watch: &mut dyn FnMut(&Progress) -> Continue,
    ) -> Result<Ending, RunError> {
        let (end, start) = (self.settings.end, state.t);
        journal.begin(state, memory)?;
        let mut h = self.settings.integrator.step.unwrap_or((end - start) / 1000.0).max(f64::MIN_POSITIVE);
        self.settle(state, memory, journal, h, false)?;
        let stops: Vec<f64> = self.model.time_events().iter().map(|event| event.t).filter(|&t| t > start && t < end).collect();
        let (mut step, mut next_stop) = (0, 0);
        while state.t < end {
            let stop = stops.get(next_stop).copied().unwrap_or(end);
            let frame = self.settings.record_interval.map_or(stop, |interval| {
                let k = ((state.t - start) / interval + 1e-9).floor() + 1.0;
                (start + k * interval).min(stop)
            });
            let most = self.settings.integrator.max_step.unwrap_or(f64::INFINITY);
            let (taken, met) = self.step(state, (frame - state.t).min(most), &mut h)?;
            if let (Some(account), Some(set)) = (&mut self.account, self.model.first_order()) {
                let step = Stages { t: state.t, x: &state.x, h: taken, slopes: &self.slopes, weights: &STAGES, times: &TIMES };
                account.add_step(set, &step, (&state.held, &state.q));
            }
            let reached = !met && (frame - state.t - taken).abs() <= 1e-13 * frame.abs().max(1e-300);
            state.t = if reached { frame } else { state.t + taken };
            state.x.copy_from_slice(&self.next);
            step += 1;
            self.flow.project(state.t, &mut state.x).map_err(at_time(state.t))?;
            if met {
                self.settle(state, memory, journal, h, true)?;
                self.guard(state.t, taken)?;
            }
            if reached && frame == stop && next_stop < stops.len() {
                next_stop += 1;
                let event = &self.model.time_events()[self.model.time_events().iter().position(|e| e.t == stop).unwrap_or(0)];
                journal.tell(Event::new(state.t, EventKind::TimeEvent, event.name.clone()))?;
                self.settle(state, memory, journal, h, true)?;
            }
            self.tell(state, memory)?;
            let exchanged = self.account.as_mut().map(StorageAccount::take).unwrap_or_default();
            let report = StepReport { newton_converged: true, n_active: self.n_held(), ..exchanged };
            journal.add_quiet_step(state, memory, &report)?;
            let is_due = self.clock.is_due(state.t);
            let wanted = self.settings.record_every > 0 && step % self.settings.record_every == 0;
            if is_due || wanted || state.t >= end {
                journal.frame(step, state, memory, &report)?;
            }
            let progress = Progress { step, t: state.t, end, n_active: report.n_active };
            if watch(&progress) == Continue::Stop && state.t < end {
                return Ok(Ending::Interrupted);
            }
        }
        Ok(Ending::Finished)
    }

    fn n_held(&self) -> usize {
        self.flow.pieces.iter().filter(|&&piece| piece == Piece::Held).count()
    }

    /// λ and y of the present instant, for frames.
    fn tell(&mut self, state: &State, memory: &mut StepMemory) -> Result<(), RunError> {
        self.flow.rate(state.t, &state.x, &mut self.point).map_err(at_time(state.t))?;
        if let Some(own) = &mut memory.first_order {
            own.solution.r.copy_from_slice(&self.flow.lambda);
            own.solution.u.copy_from_slice(&self.flow.y);
        }
        Ok(())
    }

    /// A state that the law allows, and the pieces with which it goes on; changes are events where `told`.
    fn settle(
        &mut self,
        state: &mut State,
        memory: &mut StepMemory,
        journal: &mut Journal<'_>,
        h: f64,
        told: bool,
    ) -> Result<(), RunError> {
        let Some(set) = self.model.first_order() else { return Ok(()) };
        let gap = self.settings.events.gap;
        self.flow.lambda.fill(0.0);
        if let Some(own) = &mut memory.first_order {
            // a jump is for states off the set, not for what root finding left
            self.flow.rate(state.t, &state.x, &mut self.point).map_err(at_time(state.t))?;
            if self.flow.pieces.iter().zip(&self.flow.y).any(|(&piece, &y)| piece != Piece::Held && y < -gap) || !told {
                let before = state.x.clone();
                make_consistent(set, state, own, &mut memory.scratch, h)?;
                if let Some(account) = &mut self.account {
                    account.add_jump(set, (&before, &state.x));
                }
            }
            for event in own.events.drain(..) {
                journal.tell(event)?;
            }
        }
        let before = self.flow.pieces.clone();
        let (report, repulsive) = self.flow.decide(state.t, &state.x, gap)?;
        if !report.is_converged() {
            let contacts = set.rows().join(", ");
            return Err(RunError::NoModes { t: state.t, contacts, residual: report.residual_normalised });
        }
        journal.certificate.max_residual = journal.certificate.max_residual.max(report.residual_normalised);
        if repulsive {
            let note = "the surface repels: one of several motions is taken, to the side y > 0 where that is one";
            journal.tell(Event::new(state.t, EventKind::OutcomeChosen, "").with_note(note))?;
        }
        for (row, (&from, &to)) in before.iter().zip(&self.flow.pieces).enumerate().filter(|(_, (a, b))| told && a != b) {
            let law = &set.relation_of(row).law;
            let [from, to] = [from, to].map(|piece| MultiplierMode::of_piece(law, piece).name());
            let note = format!("{from} → {to}");
            journal.tell(Event::new(state.t, EventKind::ModeChanged, set.rows()[row].clone()).with_note(note))?;
        }
        self.tell(state, memory)
    }

    /// A step of at most `most` seconds, in `next`, cut at the first event. Returns its size and whether an event ends it.
    fn step(&mut self, state: &State, most: f64, h: &mut f64) -> Result<(f64, bool), RunError> {
        let t = state.t;
        let smallest = 1e-15 * t.abs().max(1e-300);
        loop {
            let size = h.min(most);
            let error = self.try_step(t, &state.x, size)?;
            // standard control of order 5
            let factor = (0.9 * error.max(1e-10).powf(-0.2)).clamp(0.2, 5.0);
            if error > 1.0 && size > smallest {
                *h = size * factor;
                continue;
            }
            if size >= *h || factor < 1.0 {
                *h = size * factor;
            }
            if self.margin_at(t + size)? >= -1e-3 * self.settings.events.gap {
                // a piece that was left and entered again within the step would be missed
                if self.stage_margin < -self.settings.events.gap && size > 1e-6 * most {
                    *h = 0.5 * size;
                    continue;
                }
                return Ok((size, false));
            }
            let found = self.locate(t, &state.x, size)?;
            self.try_step(t, &state.x, found)?;
            return Ok((found, true));
        }
    }

    /// Least margin at the point in `next`.
    fn margin_at(&mut self, t: f64) -> Result<f64, RunError> {
        let next = std::mem::take(&mut self.next);
        let done = self.flow.rate(t, &next, &mut self.point).map_err(at_time(t));
        self.next = next;
        done?;
        Ok(self.flow.margin())
    }

    /// The time after t at which the least margin becomes zero, within a step that ends beyond: bracketing with the rule of Illinois, on steps of the method.
    fn locate(&mut self, t: f64, x: &[f64], size: f64) -> Result<f64, RunError> {
        let (mut low, mut high) = (0.0, size);
        self.flow.rate(t, x, &mut self.point).map_err(at_time(t))?;
        let mut at_low = self.flow.margin().max(0.0);
        let mut at_high = self.margin_at(t + size)?;
        let resolution = self.settings.events.time.min(1e-12 * size.max(t.abs())).max(4.0 * f64::EPSILON * t.abs());
        let mut side = 0;
        for iteration in 0..200 {
            if high - low <= resolution {
                break;
            }
            let secant = low + (high - low) * at_low / (at_low - at_high);
            let middle = if iteration % 3 == 2 || secant.is_nan() || secant <= low || secant >= high { 0.5 * (low + high) } else { secant };
            self.try_step(t, x, middle)?;
            let value = self.margin_at(t + middle)?;
            if value <= 0.0 {
                (high, at_high) = (middle, value);
                at_low *= if side == 1 { 0.5 } else { 1.0 };
                side = 1;
            } else {
                (low, at_low) = (middle, value);
                at_high *= if side == -1 { 0.5 } else { 1.0 };
                side = -1;
            }
            if value == 0.0 {
                break;
            }
        }
        Ok(high)
    }

    /// One step of the method from (t, x) into `next`; its error in units of the tolerance.
    fn try_step(&mut self, t: f64, x: &[f64], h: f64) -> Result<f64, RunError> {
        let located = at_time(t);
        let params = &self.settings.integrator;
        let absolute = params.absolute_tolerance.unwrap_or(params.tolerance);
        let relative = params.relative_tolerance.unwrap_or(params.tolerance);
        let mut first = std::mem::take(&mut self.slopes[0]);
        self.flow.rate(t, x, &mut first).map_err(&located)?;
        self.slopes[0] = first;
        self.stage_margin = f64::INFINITY;
        for (s, (weights, c)) in STAGES.iter().zip(TIMES).enumerate() {
            for (i, point) in self.point.iter_mut().enumerate() {
                *point = x[i] + h * weights.iter().zip(&self.slopes).map(|(a, k)| a * k[i]).sum::<f64>();
            }
            if s == 5 {
                self.next.copy_from_slice(&self.point);
            }
            let mut slope = std::mem::take(&mut self.slopes[s + 1]);
            let done = self.flow.rate(t + c * h, &self.point, &mut slope);
            self.slopes[s + 1] = slope;
            // beyond where the mode has a motion: a shorter step
            if done.is_err() && h > 1e-12 * t.abs().max(1e-12) {
                return Ok(f64::INFINITY);
            }
            done.map_err(&located)?;
            self.stage_margin = self.stage_margin.min(self.flow.margin());
        }
        let mut sum = 0.0;
        for i in 0..x.len() {
            let error = h * ERROR.iter().zip(&self.slopes).map(|(e, k)| e * k[i]).sum::<f64>();
            let scale = absolute + relative * x[i].abs().max(self.next[i].abs());
            sum += (error / scale).powi(2);
        }
        Ok((sum / x.len().max(1) as f64).sqrt())
    }

    /// Refuses to stand still.
    fn guard(&mut self, t: f64, taken: f64) -> Result<(), RunError> {
        self.stalled = if taken <= self.settings.events.time { self.stalled + 1 } else { 0 };
        if self.stalled > self.settings.events.most_events {
            let (events, within) = (self.stalled, self.settings.events.time);
            return Err(RunError::HeldUp { t, events, within, contacts: "a relation of the first-order part".into() });
        }
        Ok(())
    }
}
