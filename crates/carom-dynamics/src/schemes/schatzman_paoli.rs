//! The position-level scheme of Paoli and Schatzman.
//!
//! Two steps, positions only. With the mean rates w_k = (q_k ⊖ q_{k−1})/h one step of size h solves
//!
//! ```text
//! M(q_k) (w_{k+1} − w_k) = h F(t_k, q_k, (w_k + w_{k+1})/2) + Gᵀ p,      q_{k+1} = q_k ⊕ h w_{k+1}
//! contact:     0 ≤ g(q̄) ⟂ p_N ≥ 0,   q̄ = (q_{k+1} + e q_{k−1})/(1 + e) = q_k ⊕ h (w_{k+1} − e w_k)/(1 + e),   G = G(q̄)
//! constraint:  g(q_{k+1}) = 0,   G = G(q_k)
//! ```
//!
//! [Brogliato2002, eqs. 62–65], [Haddouni2015, eqs. 2.31–2.32]. Where the step size changes, h w_k in q̄ is that of the step before and the
//! force acts for the mean of both steps; the first step has none before it and takes half of the force, which is Taylor's start (with
//! [`FirstStep::Euler`] it is q_{−1} = q_0 − h v_0). Constraints as here are SHAKE's.
//!
//! An impact takes two steps: q_{k+1} and one of its neighbours lie outside. With [`Penetration::OneStep`] the law is applied where a contact
//! is found closed at q_k: Newton's law gives the rate of the steps that follow, and the position is put where it would be after an impact at
//! the moment of crossing, by a correction c in the kinetic metric,
//!
//! ```text
//! 0 ≤ u_{k+1} + e u_k ⟂ p_N ≥ 0,   u_{k+1} = G (w_{k+1} − h M⁻¹F) + b,   u_k = G w_k + b,
//! q_{k+1} = q_k ⊕ (h w_{k+1} + c),     0 ≤ g_{k+1} + e g(q_k ⊕ h w_k) ⟂ r ≥ 0,   M c = h Gᵀ r.
//! ```
//!
//! (the force of the step acts after the impact on average; a contact that carried an impulse in the step before is at rest, and has w_{k+1} in
//! its law). (A modification with this property is credited to Nqi in Brogliato2002 §7.3.1, without its formulas; this one is ours.)
//!
//! Conserves: energy over long times in free motion (Störmer–Verlet); constraints to the tolerance. Violates: contacts by O(h) during an
//! impact; p is no impulse of an impact but of one of its two steps, so that energies are accounted over both. Order: 1 across impacts, 2 in
//! smooth motion. The velocity of a state is w_{k+1}, improved by half a step of the mean acceleration where no contact acts.

use super::settings::check_newton;
use super::stages::{Span, check_finite, evaluate_mass, factorise_iteration, finish, free_by_residual};
use super::{Orders, Scheme};
use crate::active_set::ActiveSource;
use crate::assembly::{
    Activation, assemble_problem, at_time, evaluate_candidates, measure_violations, note_varying_rows, select_active, solve_problem,
};
use crate::block_diagonal::dot;
use crate::checkpoint::{Bytes, CheckpointError, Own, Reader};
use crate::error::{ModelError, NonFinite, StepError};
use crate::laws::Law;
use crate::memory::{OneStep, StepMemory};
use crate::model::Model;
use crate::relations::Rows;
use crate::report::StepReport;
use crate::state::State;
use crate::systems::{Instant, JacobianFactors};
use carom_solvers::{Block, Solution};
use serde::{Deserialize, Serialize};

/// A gap below this counts as closed \[m\].
const CLOSED: f64 = 1e-9;

/// Settings of [`SchatzmanPaoli`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SchatzmanPaoliParams {
    /// For how long an impact leaves positions outside.
    pub penetration: Penetration,
    /// How the first step starts.
    pub first_step: FirstStep,
    /// Newton's iteration stops when its residual is below this; dimensionless, default 1e-12, in (0, 1).
    pub newton_tolerance: f64,
    /// Largest number of Newton iterations, default 50, ≥ 1.
    pub newton_max_iterations: usize,
}

/// For how long an impact leaves positions outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Penetration {
    /// Two steps: the published scheme.
    #[default]
    TwoSteps,
    /// One step.
    OneStep,
}

/// The start of a two-step scheme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstStep {
    /// q_1 = q_0 + h v_0 + ½ h² a_0: second order.
    #[default]
    Taylor,
    /// q_{−1} = q_0 − h v_0: first order.
    Euler,
}

impl Default for SchatzmanPaoliParams {
    fn default() -> Self {
        let (penetration, first_step) = (Penetration::default(), FirstStep::default());
        SchatzmanPaoliParams { penetration, first_step, newton_tolerance: 1e-12, newton_max_iterations: 50 }
    }
}

impl SchatzmanPaoliParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the parameter.
    pub fn validate(&self) -> Result<(), ModelError> {
        check_newton(self.newton_tolerance, self.newton_max_iterations)
    }
}

/// The scheme of Paoli and Schatzman.
#[derive(Clone, Copy, Debug, Default)]
pub struct SchatzmanPaoli {
    /// Its settings.
    pub params: SchatzmanPaoliParams,
}

/// What is kept of the step before.
#[derive(Debug, Default)]
struct History {
    /// The step before; `None` at the start of a run.
    last: Option<Last>,
    /// Mean rate w_k of that step, or of its continuation after an impact.
    rate: Vec<f64>,
    /// The same for the step that was just tried.
    next: Option<Last>,
    next_rate: Vec<f64>,
    /// Evaluation point of a contact.
    q_mean: Vec<f64>,
    shift: Vec<f64>,
    local: [f64; 6],
    free: Vec<f64>,
    correction: Solution,
}

/// A step that was taken.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    h: f64,
    /// Some contact carried an impulse.
    carried: bool,
    /// Energy dissipated in the first step of an impact, to be told with the second \[J\].
    held: f64,
}

impl Own for History {
    fn save(&self, out: &mut Bytes) {
        out.flag(self.last.is_some());
        let Last { h, carried, held } = self.last.unwrap_or_default();
        out.numbers(&[h, held]);
        out.flag(carried);
        out.numbers(&self.rate);
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), CheckpointError> {
        let (is_known, mut numbers) = (from.flag()?, Vec::new());
        from.numbers(&mut numbers)?;
        let carried = from.flag()?;
        let [h, held] = numbers[..] else {
            return Err(CheckpointError::Unknown { what: "step of schatzman-paoli", found: numbers.len() as u64 });
        };
        self.last = is_known.then_some(Last { h, carried, held });
        from.numbers(&mut self.rate)
    }
}

impl Scheme for SchatzmanPaoli {
    fn name(&self) -> &'static str {
        "schatzman-paoli"
    }

    fn own(&self, _: &Model) -> Box<dyn Own> {
        Box::<History>::default()
    }

    fn looks_back(&self) -> usize {
        1
    }

    /// Restitution acts between q_{k−1} and q_{k+1}.
    fn restarts(&self) -> bool {
        false
    }

    fn orders(&self) -> Orders {
        Orders { impacts: 1, smooth: if self.params.first_step == FirstStep::Taylor { 2 } else { 1 } }
    }

    fn start(&self, _: &Model, _: &State, memory: &mut StepMemory) -> Result<(), StepError> {
        memory.with_own(|_, own: &mut History| own.last = None);
        Ok(())
    }

    /// One step. `h` in seconds. Cost: one factorisation of M̂ per Newton iteration (none where it is constant); all contacts enter the
    /// one-step problem, open ones too.
    fn step(&self, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<StepReport, StepError> {
        memory.with_own(|memory, own| self.try_step(model, state, memory, own, h))
    }

    fn accept(&self, _: &Model, _: &State, memory: &mut StepMemory) {
        memory.with_own(|_, History { last, rate, next, next_rate, .. }: &mut History| {
            *last = *next;
            std::mem::swap(rate, next_rate);
        });
    }
}

/// What a step has in hand.
struct Stage {
    h: f64,
    h_before: f64,
    /// Mean of the two steps, for which the force acts.
    kick: f64,
}

impl SchatzmanPaoli {
    fn try_step(
        &self,
        model: &Model,
        state: &mut State,
        memory: &mut StepMemory,
        own: &mut History,
        h: f64,
    ) -> Result<StepReport, StepError> {
        let p = &self.params;
        let mut report = StepReport::default();
        let located = at_time(state.t);
        memory.keep_start(state);
        if own.last.is_none() {
            own.rate.clone_from(&state.v);
        }
        own.free.resize(state.v.len(), 0.0);
        let last = own.last.unwrap_or(Last { h: if p.first_step == FirstStep::Euler { h } else { 0.0 }, ..Last::default() });
        let stage = Stage { h, h_before: last.h, kick: 0.5 * (h + last.h) };

        // interactions with G(q_k); of contacts all enter, or those closed at q_k
        evaluate_candidates(model, state, memory).map_err(&located)?;
        let threshold = if p.penetration == Penetration::TwoSteps { f64::INFINITY } else { CLOSED };
        select_active(model, state, memory, Activation { horizon: 0.0, step: h, threshold });
        report.violations = measure_violations(model, memory);
        note_varying_rows(model, memory);
        let linear = model.is_affine() && !memory.work.rows_vary;

        // first iterate: w = w_k, in state.v while the step is solved
        state.v.copy_from_slice(&own.rate);
        while !report.newton_converged && report.newton_iterations < p.newton_max_iterations {
            let first = report.newton_iterations == 0;
            let motion = self.free_motion(model, state, memory, own, &stage)?;
            if memory.active.is_empty() {
                state.v.copy_from_slice(&memory.work.v_free);
            } else {
                self.write_shift(model, state, memory, own, &stage).map_err(&located)?;
                assemble_problem(model, memory, first);
                report.solve = Some(solve_problem(model, state, memory)?);
            }
            report.newton_iterations += 1;
            let change = relative_change(&state.v, &memory.work.momentum);
            report.newton_residual = if first && !linear { 1.0 } else { motion.max(change) };
            report.newton_converged = linear || (!first && report.newton_residual <= p.newton_tolerance);
        }
        if linear {
            report.newton_residual = 0.0;
        }
        self.finish_step(model, state, memory, own, (&stage, last), &mut report)?;
        Ok(report)
    }

    /// M̂ = M + (kick/2) C and v_free = w + M̂⁻¹ [kick F − M (w − w_k)]; gives the relative size of the residual without contacts. The
    /// iterate w is kept in `work.momentum`.
    fn free_motion(&self, model: &Model, state: &State, memory: &mut StepMemory, own: &History, stage: &Stage) -> Result<f64, StepError> {
        let (systems, kick) = (model.systems(), stage.kick);
        let located = at_time(state.t);
        let StepMemory { work, matrices, scratch, .. } = memory;
        for ((mean, w), before) in work.displacement.iter_mut().zip(&state.v).zip(&own.rate) {
            *mean = 0.5 * (w + before);
        }
        model.force(state.t, &work.q_start, &work.displacement, &mut work.force_end, scratch).map_err(&located)?;
        evaluate_mass(model, state.t, &work.q_start, matrices, scratch).map_err(&located)?;
        let at = Instant { t: state.t, q: &work.q_start, v: &work.displacement };
        factorise_iteration(model, at, JacobianFactors { velocity: 0.5 * kick, position: 0.0 }, matrices, scratch)?;
        for ((change, w), before) in work.displacement.iter_mut().zip(&state.v).zip(&own.rate) {
            *change = w - before;
        }
        systems.layout().multiply(&matrices.mass, &work.displacement, &mut work.momentum);
        for (i, r) in work.residual.iter_mut().enumerate() {
            *r = kick * work.force_end[i] - work.momentum[i];
        }
        free_by_residual(model, &state.v, work, matrices);
        // residual of the equation of motion, with the reactions of the iterate, in the energy norm
        if memory.active.n_rows() == memory.one_step.solution.r.len() {
            memory.active.add_reaction(systems.layout(), &memory.one_step.solution.r, &mut memory.work.residual);
        }
        let StepMemory { work, matrices, .. } = memory;
        matrices.factor.solve(systems.layout(), &work.residual, &mut work.displacement);
        let norm = dot(&work.residual, &work.displacement).abs();
        systems.layout().multiply(&matrices.mass, &state.v, &mut work.momentum);
        let scale = dot(&work.momentum, &state.v);
        work.momentum.copy_from_slice(&state.v);
        Ok(if norm == 0.0 { 0.0 } else { (norm / scale.max(norm)).sqrt() })
    }

    /// Writes what turns u = G w + b into the law: of contacts and constraints on positions the linearised g(q̄) in units of velocity,
    /// (1 + e) g(q̄)/h − (G w + b) at the iterate.
    fn write_shift(
        &self,
        model: &Model,
        state: &State,
        memory: &mut StepMemory,
        own: &mut History,
        stage: &Stage,
    ) -> Result<(), NonFinite> {
        let systems = model.systems();
        own.q_mean.resize(state.q.len(), 0.0);
        own.shift.clear();
        own.shift.extend_from_slice(memory.active.shift());
        for item in 0..memory.active.items().len() {
            let StepMemory { active, candidates: c, scratch, work, .. } = &mut *memory;
            let (law, rows) = (active.items()[item].law, active.items()[item].rows.clone());
            let ActiveSource::Interaction(i) = active.items()[item].source else { continue };
            let (interaction, approach) = (&model.interactions()[i], active.velocity_start()[rows.start]);
            let relation = interaction.relation();
            let e = match law {
                Law::Bilateral if relation.is_holonomic() => 0.0,
                Law::Contact(law) if self.params.penetration == Penetration::TwoSteps => law.restitution.at(approach),
                Law::Contact(law) if !own.last.is_some_and(|last| last.carried) => {
                    let e = law.restitution.at(approach);
                    let [mut before, mut free] = [[0.0; 6]; 2];
                    active.local_velocity_of(item, systems.layout(), &own.rate, &mut before[..rows.len()]);
                    active.local_velocity_of(item, systems.layout(), &work.v_free, &mut free[..rows.len()]);
                    own.shift[rows.start] = e * before[0] - (free[0] - before[0]);
                    continue;
                }
                _ => continue,
            };
            // q̄ and its time
            for ((d, w), before) in work.displacement.iter_mut().zip(&state.v).zip(&own.rate) {
                *d = (stage.h * w - e * stage.h_before * before) / (1.0 + e);
            }
            systems.advance(&work.q_start, &work.displacement, &mut own.q_mean);
            let t = state.t + (stage.h - e * stage.h_before) / (1.0 + e);
            let mut g = [0.0; 6];
            relation.position(t, &own.q_mean, &mut g[..rows.len()], scratch)?;
            if !law.is_bilateral() && !relation.is_constant() {
                let jacobian = &mut c.jacobian[c.entries[i]..c.entries[i + 1]];
                let (to, bias, _) = active.rows_mut(item);
                relation.jacobian(t, &own.q_mean, Rows { jacobian: &mut *jacobian, bias }, scratch)?;
                interaction.spread(jacobian, to);
            }
            active.local_velocity_of(item, systems.layout(), &state.v, &mut own.local[..rows.len()]);
            for (k, row) in rows.enumerate() {
                own.shift[row] = (1.0 + e) * g[k] / stage.h - own.local[k];
            }
        }
        memory.active.shift_mut().copy_from_slice(&own.shift);
        Ok(())
    }

    /// The correction c of positions of [`Penetration::OneStep`], added to `work.displacement`, which holds h w_{k+1}.
    fn correct(&self, model: &Model, state: &State, memory: &mut StepMemory, own: &mut History, stage: &Stage) -> Result<(), StepError> {
        let located = at_time(state.t);
        let (systems, t) = (model.systems(), state.t + stage.h);
        let StepMemory { active, solver, scratch, work, one_step: OneStep { problem, .. }, .. } = memory;
        for (k, item) in active.items().iter().enumerate() {
            let rows = item.rows.clone();
            let ActiveSource::Interaction(i) = item.source else { continue };
            let relation = model.interactions()[i].relation();
            problem.q[rows.clone()].fill(0.0);
            let Law::Contact(law) = item.law else { continue };
            let e = law.restitution.at(active.velocity_start()[rows.start]);
            let mut g = [0.0; 6];
            systems.advance(&work.q_start, &work.displacement, &mut own.q_mean);
            relation.position(t, &own.q_mean, &mut g[..rows.len()], scratch).map_err(&located)?;
            let after = g[0];
            for (d, before) in own.free.iter_mut().zip(&own.rate) {
                *d = stage.h * before;
            }
            systems.advance(&work.q_start, &own.free, &mut own.q_mean);
            relation.position(t, &own.q_mean, &mut g[..rows.len()], scratch).map_err(&located)?;
            problem.q[rows.start] = (after + e * g[0].min(0.0)) / stage.h;
            problem.blocks[k] = Block::Unilateral;
        }
        own.correction.r.clear();
        solver.solve(problem, &mut own.correction).map_err(|source| StepError::Solve { t: state.t, source })?;
        own.free.fill(0.0);
        active.add_response(systems.layout(), &own.correction.r, &mut own.free);
        for (d, c) in work.displacement.iter_mut().zip(&own.free) {
            *d += stage.h * c;
        }
        Ok(())
    }

    /// q_{k+1}, the velocity to show, the account; what the next step needs goes to `own.next`.
    fn finish_step(
        &self,
        model: &Model,
        state: &mut State,
        memory: &mut StepMemory,
        own: &mut History,
        (stage, last): (&Stage, Last),
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let (systems, located) = (model.systems(), at_time(state.t));
        let carried =
            memory.active.items().iter().any(|item| !item.law.is_bilateral() && memory.one_step.solution.r[item.rows.start] > 0.0);
        report.n_active = memory
            .active
            .items()
            .iter()
            .filter(|item| item.law.is_bilateral() || memory.one_step.solution.r[item.rows.start] > 0.0)
            .count();
        let work = &mut memory.work;
        for (d, w) in work.displacement.iter_mut().zip(&state.v) {
            *d = stage.h * w;
        }
        if carried && self.params.penetration == Penetration::OneStep {
            self.correct(model, state, memory, own, stage)?;
        }
        let work = &mut memory.work;
        systems.advance(&work.q_start, &work.displacement, &mut state.q);
        check_finite(model, state).map_err(&located)?;
        own.next_rate.clone_from(&state.v);
        if !carried && !last.carried {
            for (v, before) in state.v.iter_mut().zip(&own.rate) {
                *v += 0.5 * stage.h * (*v - before) / stage.kick;
            }
        }
        finish(model, state, memory, Span { h: stage.h, theta: 0.5 }, report).map_err(&located)?;
        let told = report.dissipated_impact;
        let begins = carried && !last.carried && self.params.penetration == Penetration::TwoSteps;
        report.dissipated_impact = if begins { last.held } else { told + last.held };
        own.next = Some(Last { h: stage.h, carried, held: if begins { told } else { 0.0 } });
        Ok(())
    }
}

/// Largest change of w relative to its largest value.
fn relative_change(w: &[f64], before: &[f64]) -> f64 {
    let scale = w.iter().fold(0.0_f64, |m, w| m.max(w.abs()));
    let change = w.iter().zip(before).fold(0.0_f64, |m, (w, b)| m.max((w - b).abs()));
    if change == 0.0 { 0.0 } else { change / scale.max(change) }
}
