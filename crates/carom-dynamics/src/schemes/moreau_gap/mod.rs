//! Moreau's scheme for bodies in contact: velocities at impacts, gaps that close and not more.
//!
//! With θ = 1/2 for the smooth terms, one step of size h solves
//!
//! ```text
//! M (v_{k+1} − v_k) = h [F(t_k, q_k, v_k) + F(t_{k+1}, q_{k+1}, v_{k+1})]/2 + Gᵀ p,      u = G v + b
//! bilateral:   u_{k+1} = 0 and g(q_{k+1}) = 0      with mean rows and a projection: see `joint_positions`
//! contact:     K* ∋ (u_N + s + μ‖u_T‖, u_T) ⟂ p ∈ K
//!              s = g_k/h                            open: the gap may close in this step, and not more
//!              s = max(g_k/h, (u_k − 11 u_free)/10) parting, and not met again in this step: it flies
//!              s = max(ρ g_k/h, −w)                 penetrating: taken back by the part ρ per step, at most at the speed w
//!              s = −max(0, −e u_τ + a (h − τ))      met in this step with e > 0: Newton's rebound
//! q_{k+1} = q_k ⊕ h T [(1 − w) v_k + w v_{k+1}]     w by island: see `impulse_times`
//! ```
//!
//! τ is the time in the step at which the gap is closed, a = (u_free − u_k)/h the acceleration without impulses, u_τ = u_k + a τ. Every contact that may
//! close in the step takes part, whatever its gap. The condition on gaps is that of [Anitescu1998, eq. 7] and of Stewart and Trinkle for
//! inelastic contacts, the rebound that of [Moreau1999, §8]; how far bodies go after an impact within the step is our own: a single impact
//! is exact in position to O(h²), piles never close further than they may.
//!
//! When to use it: the default for models with shapes: stacks, masonry, piles, granular flow, bouncing and sliding bodies.
//!
//! Many contacts (from `many` on) are solved on the velocities of the bodies, without W ([`carom_solvers::bodies`]), with one linearly implicit step
//! of the gyroscopic terms instead of Newton's iteration, to the tolerance of `sweeps`.
//!
//! Conserves: energy in free motion, with joints and in contacts that stay closed, as the θ-method; gaps of spheres and planes exactly; joints on
//! positions and velocities, to `joint_tolerance`.
//! Violates: gaps on curved paths by O(h²), taken back by ρ per step.
//! Order: 1 across impacts of several contacts, 2 otherwise.

mod impulse_times;
mod joint_newton;
mod joint_positions;
mod joint_step;
mod late;
mod law;
mod many;
pub(crate) mod payment;
mod remembered;
mod sleep;
mod step_history;

use super::settings::{check_joint_tolerance, check_newton, require};
use super::stages::{Span, check_finite, finish};
use super::theta_step::ThetaStep;
use super::{Orders, Scheme};
use crate::assembly::{
    Activation, at_time, counts_restitution, detect_at, evaluate_candidates, largest_approach, measure_violations, note_varying_rows,
    select_active,
};
use crate::checkpoint::Own;
use crate::error::{ModelError, NonFinite, StepError};
use crate::many_contacts::PIECE;
use crate::memory::{OneStep, StepMemory};
use crate::model::Model;
use crate::planar_contacts::detect_planar_contacts;
use crate::report::StepReport;
use crate::state::State;
use crate::systems::Instant;
use carom_solvers::FrictionSolverParams;
use carom_solvers::bodies::{BodySweepsParams, GROUND};
use joint_positions::Closeness;
use joint_step::JointStep;
use late::{MOST_TIMES, PLANAR_REACH};
use law::{Approach, Recovery};
use rayon::prelude::*;
use remembered::{Context, Remembered};
use serde::{Deserialize, Serialize};
use sleep::SleepRule;

/// Settings of [`MoreauGap`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MoreauGapParams {
    /// Part ρ of a penetration that is taken back per step, dimensionless, default 0.2, in [0, 1]. 1 takes it back at once, with the velocity
    /// that this needs.
    pub recovery: f64,
    /// Largest speed w at which penetrations are taken back \[m/s\], default 0.2, ≥ 0: bodies that overlap at the start part gently.
    pub recovery_speed: f64,
    /// Gaps, and ways to go within a step, below this are round-off of bodies that rest on each other \[m\], default 1e-9, ≥ 0.
    pub touch: f64,
    /// Number of contact points from which contacts are solved on the velocities of the bodies, default 128.
    pub many: usize,
    /// Settings of that solver.
    pub sweeps: BodySweepsParams,
    /// Time after which islands whose bodies have all been slower than `sleep_speed` fall asleep, where there are many contacts: they stay as they are until something
    /// comes within reach or forces change \[s\]; default 0, which lets none sleep; ≥ 0.
    pub sleep_after: f64,
    /// Speeds below which bodies may fall asleep \[m/s\], \[rad/s\]; default 1e-3, ≥ 0.
    pub sleep_speed: f64,
    /// Steps whose one-step problem stops above its tolerance, but not above this residual, are counted, recorded as events and gone on with;
    /// dimensionless, default 1e-6, ≥ 0. With many contacts a hundred times the tolerance of `sweeps` is meant, whatever the number; 0 tolerates nothing.
    pub tolerated: f64,
    /// Largest |g| of a joint that is left at the end of a step (unit of the constraint: \[m\], \[rad\]), default 1e-10, positive.
    pub joint_tolerance: f64,
    /// Newton's iteration stops when the residual of the equation of motion is below this fraction of its largest term;
    /// dimensionless, default 1e-12, nominal 1e-14 … 1e-6.
    pub newton_tolerance: f64,
    /// Largest number of Newton iterations, default 50, ≥ 1.
    pub newton_max_iterations: usize,
}

impl Default for MoreauGapParams {
    fn default() -> Self {
        MoreauGapParams {
            recovery: 0.2,
            recovery_speed: 0.2,
            touch: 1e-9,
            many: 128,
            sweeps: BodySweepsParams::default(),
            sleep_after: 0.0,
            sleep_speed: 1e-3,
            tolerated: 1e-6,
            joint_tolerance: 1e-10,
            newton_tolerance: 1e-12,
            newton_max_iterations: 50,
        }
    }
}

impl MoreauGapParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the parameter.
    pub fn validate(&self) -> Result<(), ModelError> {
        require((0.0..=1.0).contains(&self.recovery), "recovery", self.recovery, "a number in [0, 1] is needed")?;
        let speed = self.recovery_speed;
        require(speed >= 0.0 && speed.is_finite(), "recovery_speed", speed, "a speed ≥ 0 [m/s] is needed")?;
        require(self.touch >= 0.0 && self.touch.is_finite(), "touch", self.touch, "a length ≥ 0 [m] is needed")?;
        let tolerance = self.sweeps.tolerance;
        require(tolerance > 0.0 && tolerance.is_finite(), "sweeps.tolerance", tolerance, "a positive number is needed")?;
        let aim = self.sweeps.aim;
        require(aim >= 0.0 && aim.is_finite(), "sweeps.aim", aim, "a number ≥ 0 is needed")?;
        let flops = self.sweeps.exact_flops;
        require(flops >= 0.0 && flops.is_finite(), "sweeps.exact_flops", flops, "a number ≥ 0 is needed")?;
        let after = self.sleep_after;
        require(after >= 0.0 && after.is_finite(), "sleep_after", after, "a time ≥ 0 [s] is needed")?;
        let slow = self.sleep_speed;
        require(slow >= 0.0 && slow.is_finite(), "sleep_speed", slow, "a speed ≥ 0 [m/s] is needed")?;
        let tolerated = self.tolerated;
        require(tolerated >= 0.0 && tolerated.is_finite(), "tolerated", tolerated, "a number ≥ 0 is needed")?;
        require(self.sweeps.max_sweeps > 0, "sweeps.max_sweeps", 0.0, "at least 1 is needed")?;
        check_joint_tolerance(self.joint_tolerance)?;
        check_newton(self.newton_tolerance, self.newton_max_iterations)
    }
}

/// The scheme.
#[derive(Clone, Copy, Debug, Default)]
pub struct MoreauGap {
    /// Its settings.
    pub params: MoreauGapParams,
}

/// Displacements of a step that bring the joints together, at most; they converge by a factor O(h).
const MAX_PROJECTIONS: usize = 30;

/// Contacts are sought within this part of the smaller radius of a pair, whatever the speeds: impulses of the step may close them.
const SKIN: f64 = 0.03;

/// Tolerance of one-step problems with few contacts, where the user gives none.
const TOLERANCE: f64 = 1e-12;

/// Residual that is tolerated with many contacts, in their tolerance.
const MANY_TOLERATED: f64 = 100.0;

impl Scheme for MoreauGap {
    fn name(&self) -> &'static str {
        "moreau-gap"
    }

    fn orders(&self) -> Orders {
        Orders { impacts: 1, smooth: 2 }
    }

    fn activation_threshold(&self) -> f64 {
        self.params.touch
    }

    fn keeps_start(&self) -> bool {
        true
    }

    /// What rests creeps with about a thousand times the tolerance [m/s].
    fn solver(&self) -> Option<FrictionSolverParams> {
        Some(FrictionSolverParams { tolerance: TOLERANCE, ..FrictionSolverParams::default() })
    }

    fn own(&self, _: &Model) -> Box<dyn Own> {
        Box::<Remembered>::default()
    }

    fn accept(&self, model: &Model, state: &State, memory: &mut StepMemory) {
        memory.with_own(|memory, own: &mut Remembered| {
            own.held.clone_from(&memory.many.holds);
            if self.params.sleep_after > 0.0
                && let Some(bodies) = model.systems().bodies()
            {
                let rule = SleepRule { after: self.params.sleep_after, speed: self.params.sleep_speed };
                own.sleep.after(&memory.many.problem, &state.v[bodies.v.clone()], rule);
            }
        });
    }

    /// One step. `h` in seconds. Cost: linear in the contacts per sweep of the solver; one factorisation of M̂ per Newton iteration.
    fn step(&self, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<StepReport, StepError> {
        memory.with_own(|memory, own| self.all_stages(&mut Context { model, memory, own, h }, state))
    }
}

impl MoreauGap {
    fn all_stages(&self, cx: &mut Context<'_>, state: &mut State) -> Result<StepReport, StepError> {
        let (mut report, located) = (StepReport::default(), at_time(state.t));

        // (q_k, v_k) => F_k, v_free, gaps, contacts within reach
        self.begin(cx, state)?;
        report.violations = measure_violations(cx.model, cx.memory);

        // the laws => p, v_{k+1}; when impulses acted => displacement; again where it closes contacts that were not foreseen
        let mut times = 0;
        loop {
            if cx.memory.contacts.len() >= self.params.many && many::takes(cx.model) {
                self.solve_many(cx, state, &mut report)?;
            } else {
                self.solve_few(cx, state, &mut report)?;
            }
            self.displace(cx, state);
            times += 1;
            if times > MOST_TIMES || !self.find_late_contacts(cx, state.t).map_err(&located)? {
                break;
            }
            if !self.adds_to_solution(cx) {
                self.begin_again(cx, state, &mut report)?;
            }
        }

        // no energy from contacts
        self.settle_payments(cx, state, &mut report);

        // displacement => q_{k+1}, on the joints; impulses and energies
        self.conclude(cx, state, &mut report)?;
        Ok(report)
    }

    /// (q_k, v_k) => F_k, g, G, u, v_free, the contacts within reach.
    fn begin(&self, cx: &mut Context<'_>, state: &mut State) -> Result<(), StepError> {
        let located = at_time(state.t);
        let Context { model, memory, own, h } = cx;
        memory.keep_start(state);
        memory.many.clear(&own.held);
        own.joints.release();
        let StepMemory { work, scratch, .. } = &mut **memory;
        model.force(state.t, &state.q, &state.v, &mut work.force_start, scratch).map_err(&located)?;
        evaluate_candidates(model, state, memory).map_err(&located)?;
        self.theta_step(*h).predict(model, state, memory)?;
        state.q.copy_from_slice(&memory.work.q_start);
        self.seek_contacts(model, state, memory, *h).map_err(&located)
    }

    /// (v_{k+1}, p, displacement) => q_{k+1}, on the joints; what the impulses exchanged.
    fn conclude(&self, cx: &mut Context<'_>, state: &mut State, report: &mut StepReport) -> Result<(), StepError> {
        let located = at_time(state.t);
        let Context { model, memory, own, h } = cx;
        let StepMemory { work, active, one_step, .. } = &**memory;
        own.joints.keep_step((state.t, *h), (&work.v_start, &state.v), active, &one_step.solution.r);
        if own.joints.is_held() {
            let closeness = Closeness { tolerance: self.params.joint_tolerance, max_iterations: MAX_PROJECTIONS };
            report.projection = Some(own.joints.project(model, state, memory, *h, closeness)?);
        } else {
            model.systems().advance(&memory.work.q_start, &memory.work.displacement, &mut state.q);
        }
        check_finite(model, state).map_err(&located)?;
        finish(model, state, memory, Span { h: *h, theta: 0.5 }, report).map_err(&located)?;
        for exchange in &memory.many.exchanged {
            report.dissipated_impact += exchange.normal;
            report.dissipated_friction += exchange.tangential;
            report.work += exchange.work;
        }
        Ok(())
    }

    fn theta_step(&self, h: f64) -> ThetaStep {
        let (tolerance, max_iterations) = (self.params.newton_tolerance, self.params.newton_max_iterations);
        ThetaStep { h, theta: 0.5, position: 0.5, fraction: 1.0, tolerance, max_iterations }
    }

    /// (q_k, v_k, v_free) => the contacts between shapes that may close within the step.
    fn seek_contacts(&self, model: &Model, state: &State, memory: &mut StepMemory, h: f64) -> Result<(), NonFinite> {
        let StepMemory { work, detector, contacts, .. } = memory;
        if let Some(detector) = detector {
            detector.set_skin(SKIN);
        }
        for ((w, start), free) in work.displacement.iter_mut().zip(&work.v_start).zip(&work.v_free) {
            *w = 0.5 * (start + free);
        }
        detect_at(model, Instant { t: state.t, q: &state.q, v: &work.displacement }, 1.5 * h, detector, contacts)?;
        detect_planar_contacts(model, state, memory, PLANAR_REACH * h)
    }

    /// Back to (q_k, v_k) and v_free, to solve with more contacts.
    fn begin_again(&self, cx: &mut Context<'_>, state: &mut State, report: &mut StepReport) -> Result<(), StepError> {
        let Context { model, memory, own, h } = cx;
        state.q.copy_from_slice(&memory.work.q_start);
        state.v.copy_from_slice(&memory.work.v_start);
        own.joints.release();
        self.theta_step(*h).predict(model, state, memory)?;
        state.q.copy_from_slice(&memory.work.q_start);
        (report.newton_iterations, report.newton_converged) = (0, false);
        Ok(())
    }

    fn recovery(&self) -> Recovery {
        Recovery { rate: self.params.recovery, speed: self.params.recovery_speed }
    }

    /// The ordinary way: active set, W, the solver of the user.
    fn solve_few(&self, cx: &mut Context<'_>, state: &mut State, report: &mut StepReport) -> Result<(), StepError> {
        let Context { model, memory, own, h } = cx;
        let (h, step) = (*h, self.theta_step(*h));
        own.sleep.wake_all();
        // contacts that separate now may close within the step: what does not close has no impulse
        let reach = h * largest_approach(model, state, memory);
        select_active(model, state, memory, Activation { horizon: 0.0, step: h, threshold: reach + self.params.touch });
        self.shift_rows(model, memory, h);
        report.n_active = memory.active.items().len();
        report.tolerated = self.params.tolerated;
        note_varying_rows(model, memory);
        own.joints.begin(model, state.t, memory, (h, 0.5))?;
        if own.joints.is_held() {
            own.joints.guess(state.t, h, &mut state.v);
            step.advance(model, state, memory).map_err(at_time(state.t))?;
            JointStep { theta: &step, model, memory, joints: &mut own.joints }.solve(state, report)
        } else {
            step.advance(model, state, memory).map_err(at_time(state.t))?;
            step.solve_predicted(model, state, memory, report)
        }
    }

    /// What the laws of the contacts of the active set add to their velocities. Open contacts that pull have theirs.
    fn shift_rows(&self, model: &Model, memory: &mut StepMemory, h: f64) {
        let rebounds = counts_restitution(model, memory);
        let StepMemory { active, work, .. } = memory;
        let layout = model.systems().layout();
        for place in 0..active.items().len() {
            let item = &active.items()[place];
            let (rows, gap, pull) = (item.rows.clone(), item.gap, item.pull);
            let Some(law) = item.law.contact().copied() else { continue };
            let start = active.velocity_start()[rows.start];
            let free = active.first_row_product(layout, place, &work.v_free) + active.bias()[rows.start];
            let e = if rebounds { law.restitution.at(start) } else { 0.0 };
            let (shift, impact) = Approach { gap, start, free }.shift(h, e, self.recovery());
            if pull > 0.0 && gap > 0.0 {
                continue;
            }
            let shifts = &mut active.shift_mut()[rows];
            shifts[0] = shift;
            if !impact {
                shifts[1..].fill(0.0);
            }
        }
    }

    /// (v_k, v_{k+1}, p) => the displacement of the step, in `work.displacement`.
    fn displace(&self, cx: &mut Context<'_>, state: &State) {
        let Context { model, memory, own, h } = cx;
        let (h, times) = (*h, &mut own.times);
        let StepMemory { active, many, contacts, work, one_step: OneStep { solution, .. }, .. } = &mut **memory;
        let layout = model.systems().layout();
        times.reset(layout.n_blocks());
        let first_block = model.systems().bodies().map_or(0, |bodies| bodies.first_block) as u32;
        let blocks_of = |bodies: &[u32; 2]| bodies.map(|body| (body != GROUND).then(|| first_block + 2 * body)).into_iter().flatten();
        for (place, item) in active.items().iter().enumerate() {
            if solution.r[item.rows.clone()].iter().any(|p| *p != 0.0) {
                times.join(active.blocks_of(place));
            }
        }
        let times = &*times;
        let n_many = many.index.len();
        let carrying = many.problem.contacts[..n_many].par_iter().zip(&many.solution.impulses[..n_many]).enumerate();
        let carrying = carrying.with_min_len(PIECE).filter(|(_, (_, p))| p[0] > 0.0);
        carrying.clone().for_each(|(_, (contact, _))| times.join(blocks_of(&contact.bodies)));
        // linear and angular block of a body go together
        let of_bodies = model.systems().bodies().map_or(0..0, |bodies| bodies.v.clone());
        let n_bodies = (of_bodies.len() / 6) as u32;
        (0..n_bodies).into_par_iter().with_min_len(PIECE).for_each(|body| times.join([first_block + 2 * body, first_block + 2 * body + 1]));
        // a rebound acts at the time of its impact; contacts that close without one, from the start
        let closes = |approach: Approach, shift: f64| {
            let is_open = approach.gap > self.params.touch || -approach.start * h > self.params.touch;
            is_open.then(|| if shift < 0.0 && approach.gap >= 0.0 { 1.0 - approach.time(h) / h } else { 1.0 })
        };
        for (place, item) in active.items().iter().enumerate().filter(|(_, item)| item.law.is_contact()) {
            let row = item.rows.start;
            if solution.r[row] > 0.0
                && let Some(block) = active.blocks_of(place).next()
            {
                let free = active.first_row_product(layout, place, &work.v_free) + active.bias()[row];
                let approach = Approach { gap: item.gap, start: active.velocity_start()[row], free };
                times.count(block, closes(approach, active.shift()[row]));
            }
        }
        carrying.for_each(|(place, (contact, _))| {
            if let Some(block) = blocks_of(&contact.bodies).next() {
                let gap = contacts[many.index[place] as usize].gap;
                times.count(block, closes(Approach { gap, start: many.start[place][0], free: many.free(place) }, many.shift[place]));
            }
        });
        let blend = |w: f64, start: f64, end: f64| h * ((1.0 - w) * start + w * end);
        let all_blocks = 0..layout.n_blocks();
        for block in all_blocks.filter(|block| !(first_block..first_block + 2 * n_bodies).contains(&(*block as u32))) {
            let w = times.weight(block as u32);
            for i in layout.rows[block]..layout.rows[block + 1] {
                work.displacement[i] = blend(w, work.v_start[i], state.v[i]);
            }
        }
        let (start, end) = (&work.v_start[of_bodies.clone()], &state.v[of_bodies.clone()]);
        let bodies = work.displacement[of_bodies].par_chunks_exact_mut(6).zip(start.par_chunks_exact(6)).zip(end.par_chunks_exact(6));
        bodies.enumerate().with_min_len(PIECE).for_each(|(body, ((displacement, start), end))| {
            let w = times.weight(first_block + 2 * body as u32);
            displacement.iter_mut().zip(start).zip(end).for_each(|((x, start), end)| *x = blend(w, *start, *end));
        });
    }
}
