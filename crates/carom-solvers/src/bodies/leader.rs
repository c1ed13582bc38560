//! Momentum and the end of the sweeps: what one thread decides for all.

use super::Measure;

/// The residual is measured at least every so many sweeps.
const CHECK_INTERVAL: usize = 20;

/// Sweeps without a better residual after which momentum is limited further, and after which the island has stalled.
const SETBACK: usize = 60;
const STALL: usize = 1500;

/// First limit of Nesterov's t: momentum of at most about 1 − 1.5/t. Piles that move take more of it badly. Sweeps that go on for long raise it, by this factor each.
const FIRST_LIMIT: f64 = 18.0;
const LONG: usize = 200;
const RAISE: f64 = 1.005;

/// Growth of the square of the change of a sweep at which momentum is dropped: a little is passed over.
const GROWTH: f64 = 1.3;

/// How the sweeps of an island ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    pub sweeps: usize,
    pub measure: Measure,
    pub converged: bool,
    pub stalled: bool,
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub tolerance: f64,
    pub max_sweeps: usize,
    /// Residual that is sought within `cheap_sweeps`.
    pub aim: f64,
    pub cheap_sweeps: usize,
    /// Mass unit of the residual.
    pub unit: f64,
    pub momentum: bool,
    /// Flops of a factorisation up to which structures are solved by Newton's method.
    pub exact_flops: f64,
}

impl Limits {
    /// Residual at which to stop after so many sweeps.
    fn goal(&self, sweeps: usize) -> f64 {
        if sweeps < self.cheap_sweeps { self.aim } else { self.tolerance }
    }
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Sweep,
    Measure,
    Stop,
}

/// Decides after each sweep. Only the first thread asks it.
#[derive(Debug)]
pub(super) struct Leader {
    pub limits: Limits,
    /// t of Nesterov's momentum and its limit.
    t: f64,
    largest: f64,
    /// |x⁺ − y|² of the last sweep.
    step: f64,
    ratio: f64,
    /// Best residual and its sweep; the sweep of the last gain or of the last limit.
    best: (f64, usize),
    last_gain: usize,
    pub outcome: Outcome,
    /// β of the next sweep.
    pub beta: f64,
}

impl Leader {
    /// Before the first sweep. Momentum has a limit from the start where there are `contacts_only`.
    pub fn new(limits: Limits, contacts_only: bool) -> Self {
        Leader {
            limits,
            t: 1.0,
            largest: if contacts_only { FIRST_LIMIT } else { f64::INFINITY },
            last_gain: 0,
            step: f64::INFINITY,
            ratio: 1.0,
            best: (f64::INFINITY, 0),
            outcome: Outcome::default(),
            beta: 0.0,
        }
    }

    /// Next β; whether to measure. `step` is |x⁺ − y|² of the sweep, `free` is |q|².
    pub(crate) fn after_sweep(&mut self, step: f64, free: f64) -> Command {
        self.outcome.sweeps += 1;
        let (limits, sweeps) = (&self.limits, self.outcome.sweeps);
        // momentum is dropped where it makes the changes grow, and comes back faster than from the start
        let grows = step > GROWTH * self.step;
        self.step = step;
        self.beta = if !limits.momentum || grows {
            self.t = (0.5 * self.t).max(1.0);
            0.0
        } else {
            let next = 0.5 * (1.0 + (1.0 + 4.0 * self.t * self.t).sqrt());
            let beta = (self.t - 1.0) / next;
            if next > self.largest && sweeps > LONG {
                self.largest *= RAISE;
            }
            self.t = next.min(self.largest);
            beta
        };
        self.outcome.measure.free = free;
        let cheap = limits.unit * step.sqrt();
        let size = self.outcome.measure.impulse.max(free).max(self.outcome.measure.velocity).sqrt().max(f64::MIN_POSITIVE);
        let promising = cheap * self.ratio <= limits.goal(sweeps) * size;
        let due = sweeps % CHECK_INTERVAL == 0 || sweeps == 1 || sweeps >= limits.max_sweeps;
        self.outcome.measure.error = cheap;
        if promising || due { Command::Measure } else { Command::Sweep }
    }

    /// The residual: whether to go on.
    pub fn judge(&mut self, measure: Measure) -> Command {
        let (limits, sweeps) = (self.limits, self.outcome.sweeps);
        let cheap = self.outcome.measure.error;
        let residual = measure.residual();
        self.outcome.measure = measure;
        self.outcome.converged = residual <= limits.tolerance;
        if residual < 0.999 * self.best.0 {
            (self.best, self.last_gain) = ((residual, sweeps), sweeps);
        }
        if sweeps > self.last_gain + SETBACK {
            (self.largest, self.last_gain) = ((0.5 * self.largest).clamp(1.0, FIRST_LIMIT), sweeps);
        }
        self.outcome.stalled = sweeps > self.best.1 + STALL || !residual.is_finite();
        self.ratio = if cheap > 0.0 { (measure.error.sqrt() / cheap).clamp(1e-3, 1e3) } else { 1.0 };
        let stops = residual <= limits.goal(sweeps) || self.outcome.stalled || sweeps >= limits.max_sweeps;
        if stops { Command::Stop } else { Command::Sweep }
    }
}
