//! Lötstedt's multistep schemes: Adams–Bashforth for positions, backward differences for velocities, complementarity on velocities.
//!
//! ```text
//! q_{k+1} = q_k ⊕ h [(1 + ω/2) v_k − (ω/2) v_{k−1}]                                        (AB 2; AB 1: q_k ⊕ h v_k)
//! M (v_{k+1} − v*) = β h F(t_{k+1}, q_{k+1}, v_{k+1}) + β Gᵀ p,   M and G at q_{k+1}
//! v* = [(1 + ω)² v_k − ω² v_{k−1}]/(1 + 2ω),   β = (1 + ω)/(1 + 2ω)                        (BDF 2; BDF 1: v* = v_k, β = 1)
//! constraint:  u_{k+1} = 0          contact with g(q_{k+1}) ≤ 0:   K* ∋ û ⟂ p ∈ K
//! ```
//!
//! with ω the ratio of this step to the one before [Brogliato2002, eqs. 49–53; Lötstedt, SIAM J. Sci. Stat. Comput. 5, 1984]. A contact that
//! was open at q_k and is approaching is an impact: its moment s after t_k is found by inverse linear interpolation of the gap. With the free
//! acceleration a the velocity before it is v_k + s a, Newton's law gives the one after it, and what is left of the step follows:
//!
//! ```text
//! u_{k+1} = max(0, −e (u_k + s G a) + (h − s) G a),      q_{k+1} = q_k ⊕ [s v_k + ½ s² a + (h − s) v_{k+1} − ½ (h − s)² a]
//! ```
//!
//! (without the squares where the contact stays closed). After an impact, and where a contact closes or opens, two steps are of order 1.
//!
//! It differs from the source in three ways: M may depend on q (it is known before the velocities are), friction is Coulomb's cone in the
//! one-step problem instead of an extrapolated sliding force, and the step goes on after an impact instead of ending there.
//!
//! Conserves: nothing exactly; backward differences damp high frequencies. Violates: constraints and contacts drift, by O(h²) in smooth
//! phases. Order: 1 across impacts, 2 between them (1 with `order = 1`).

use super::settings::{check_activation_threshold, check_newton, require};
use super::stages::{Span, check_finite, evaluate_mass, factorise_iteration, finish, free_by_residual};
use super::{Orders, Scheme};
use crate::active_set::ActiveSource;
use crate::assembly::{
    Activation, assemble_problem, at_time, evaluate_candidates, measure_violations, note_varying_rows, select_active, solve_problem,
};
use crate::block_diagonal::dot;
use crate::checkpoint::{Bytes, CheckpointError, Own, Reader};
use crate::error::{ModelError, StepError};
use crate::memory::{OneStep, StepMemory};
use crate::model::Model;
use crate::report::StepReport;
use crate::state::State;
use crate::systems::{Instant, JacobianFactors};
use serde::{Deserialize, Serialize};

/// Steps of order 1 after a discontinuity.
const RESTART_STEPS: usize = 2;

/// Settings of [`Lotstedt`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LotstedtParams {
    /// Order of both formulas in smooth phases, 1 or 2 (the default).
    pub order: usize,
    /// A contact whose gap is below this counts as closed \[m\], default 1e-9, ≥ 0.
    pub activation_threshold: f64,
    /// Newton's iteration on the velocities stops when the residual of the equation of motion is below this fraction of the momentum;
    /// dimensionless, default 1e-12, in (0, 1).
    pub newton_tolerance: f64,
    /// Largest number of Newton iterations, default 50, ≥ 1.
    pub newton_max_iterations: usize,
}

impl Default for LotstedtParams {
    fn default() -> Self {
        LotstedtParams { order: 2, activation_threshold: 1e-9, newton_tolerance: 1e-12, newton_max_iterations: 50 }
    }
}

impl LotstedtParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the parameter.
    pub fn validate(&self) -> Result<(), ModelError> {
        require((1..=2).contains(&self.order), "order", self.order as f64, "1 or 2 is needed")?;
        check_activation_threshold(self.activation_threshold)?;
        check_newton(self.newton_tolerance, self.newton_max_iterations)
    }
}

/// Lötstedt's scheme.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lotstedt {
    /// Its settings.
    pub params: LotstedtParams,
}

/// What is kept of the steps before.
#[derive(Debug, Default)]
struct History {
    /// v_{k−1} and the size of the step from it.
    before: Vec<f64>,
    h_before: f64,
    /// Steps since the last discontinuity.
    smooth_steps: usize,
    /// Which interactions carried an impulse.
    carried: Vec<bool>,
    next: Next,
    /// Gaps at q_k.
    gaps: Vec<f64>,
    v_star: Vec<f64>,
    /// Items of the active set that close in this step.
    impacts: Vec<usize>,
    /// Some of them open again in this step.
    leaves: bool,
    /// Free acceleration.
    acceleration: Vec<f64>,
}

/// The same of the step that was just tried.
#[derive(Debug, Default)]
struct Next {
    before: Vec<f64>,
    h: f64,
    smooth_steps: usize,
    carried: Vec<bool>,
}

impl Own for History {
    fn save(&self, out: &mut Bytes) {
        out.numbers(&self.before);
        out.number(self.h_before);
        out.count(self.smooth_steps);
        out.flags(&self.carried);
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), CheckpointError> {
        from.numbers(&mut self.before)?;
        self.h_before = from.number()?;
        self.smooth_steps = from.count()?;
        from.flags(&mut self.carried)
    }
}

impl Scheme for Lotstedt {
    fn name(&self) -> &'static str {
        "lotstedt"
    }

    fn own(&self, _: &Model) -> Box<dyn Own> {
        Box::<History>::default()
    }

    fn looks_back(&self) -> usize {
        1
    }

    fn orders(&self) -> Orders {
        Orders { impacts: 1, smooth: self.params.order }
    }

    fn start(&self, model: &Model, _: &State, memory: &mut StepMemory) -> Result<(), StepError> {
        memory.with_own(|_, own: &mut History| {
            own.smooth_steps = 0;
            own.carried.clear();
            own.carried.resize(model.interactions().len(), false);
        });
        Ok(())
    }

    /// One step. `h` in seconds. Cost: as Moreau–Jean's, with M and G evaluated once.
    fn step(&self, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<StepReport, StepError> {
        memory.with_own(|memory, own| self.try_step(model, state, memory, own, h))
    }

    fn accept(&self, _: &Model, _: &State, memory: &mut StepMemory) {
        memory.with_own(|_, History { before, h_before, smooth_steps, carried, next, .. }: &mut History| {
            std::mem::swap(before, &mut next.before);
            std::mem::swap(carried, &mut next.carried);
            (*h_before, *smooth_steps) = (next.h, next.smooth_steps);
        });
    }
}

/// Coefficients of a step.
struct Formulas {
    h: f64,
    /// Of v_k and v_{k−1} in q_{k+1}, times h.
    adams: [f64; 2],
    /// Of v_k and v_{k−1} in v*.
    backward: [f64; 2],
    beta: f64,
}

impl Formulas {
    fn new(order: usize, h: f64, h_before: f64) -> Self {
        if order == 1 {
            return Formulas { h, adams: [1.0, 0.0], backward: [1.0, 0.0], beta: 1.0 };
        }
        let w = h / h_before;
        let d = 1.0 + 2.0 * w;
        Formulas { h, adams: [1.0 + 0.5 * w, -0.5 * w], backward: [(1.0 + w).powi(2) / d, -w * w / d], beta: (1.0 + w) / d }
    }
}

impl Lotstedt {
    fn try_step(
        &self,
        model: &Model,
        state: &mut State,
        memory: &mut StepMemory,
        own: &mut History,
        h: f64,
    ) -> Result<StepReport, StepError> {
        let p = &self.params;
        let (mut report, located, t_start) = (StepReport::default(), at_time(state.t), state.t);
        memory.keep_start(state);
        evaluate_candidates(model, state, memory).map_err(&located)?;
        report.violations = measure_violations(model, memory);
        own.gaps.clear();
        own.gaps.extend((0..model.interactions().len()).map(|i| memory.candidates.position[memory.candidates.rows[i]]));

        // q_{k+1} by Adams–Bashforth
        let order = if own.smooth_steps < RESTART_STEPS { 1 } else { p.order };
        let mut formulas = Formulas::new(order, h, own.h_before);
        self.predict(model, state, memory, own, &formulas);
        check_finite(model, state).map_err(&located)?;

        // contacts there; those that were open and approach are impacts
        state.t = t_start + h;
        evaluate_candidates(model, state, memory).map_err(&located)?;
        select_active(model, state, memory, Activation { horizon: 0.0, step: h, threshold: p.activation_threshold });
        let mut impact: Option<f64> = None;
        own.impacts.clear();
        for item in 0..memory.active.items().len() {
            let active = &memory.active.items()[item];
            let (row, ActiveSource::Interaction(i)) = (active.rows.start, active.source) else { continue };
            if active.law.is_bilateral() {
                continue;
            }
            let (open, u) = (own.gaps[i], memory.active.velocity_start()[row]);
            if open > p.activation_threshold && u < 0.0 {
                let s = h * open / (open - active.gap);
                impact = Some(impact.map_or(s, |other: f64| other.min(s)));
                own.impacts.push(item);
            }
            // a contact that rests or parts has no restitution
            if u >= 0.0 {
                memory.active.shift_mut()[row] = 0.0;
            }
        }
        if impact.is_some() {
            formulas = Formulas::new(1, h, own.h_before);
        }
        report.n_active = memory.active.items().len();
        note_varying_rows(model, memory);
        own.v_star.resize(state.v.len(), 0.0);
        for (i, star) in own.v_star.iter_mut().enumerate() {
            let before = if formulas.backward[1] == 0.0 { 0.0 } else { own.before[i] };
            *star = formulas.backward[0] * memory.work.v_start[i] + formulas.backward[1] * before;
        }

        // v_{k+1} by backward differences and the laws
        let linear = model.is_affine();
        while !report.newton_converged && report.newton_iterations < p.newton_max_iterations {
            let first = report.newton_iterations == 0;
            let residual = self.free_motion(model, state, memory, own, &formulas, first)?;
            if !first && residual <= p.newton_tolerance {
                (report.newton_residual, report.newton_converged) = (residual, true);
                break;
            }
            if let (true, Some(s)) = (first, impact) {
                self.state_impacts(model, memory, own, s, h);
            }
            if memory.active.is_empty() {
                state.v.copy_from_slice(&memory.work.v_free);
            } else {
                assemble_problem(model, memory, first);
                report.solve = Some(solve_problem(model, state, memory)?);
            }
            report.newton_iterations += 1;
            report.newton_residual = if linear { 0.0 } else { residual };
            report.newton_converged = linear;
        }
        // impulses of the step: β p was solved for
        if formulas.beta != 1.0 {
            memory.one_step.solution.r.iter_mut().for_each(|p| *p /= formulas.beta);
        }
        if let Some(s) = impact {
            let work = &mut memory.work;
            let curved = if own.leaves { 0.5 * (s * s - (h - s) * (h - s)) } else { 0.0 };
            for (i, d) in work.displacement.iter_mut().enumerate() {
                *d = s * work.v_start[i] + (h - s) * state.v[i] + curved * own.acceleration[i];
            }
            model.systems().advance(&work.q_start, &work.displacement, &mut state.q);
        }
        check_finite(model, state).map_err(&located)?;
        self.keep(memory, own, h, impact.is_some());
        state.t = t_start;
        finish(model, state, memory, Span { h, theta: 1.0 }, &mut report).map_err(&located)?;
        Ok(report)
    }

    /// Newton's law at the moment s of the impact and the rest of the step after it, for the contacts that close; from v_free of the first
    /// iteration, which is v_k + h a.
    fn state_impacts(&self, model: &Model, memory: &mut StepMemory, own: &mut History, s: f64, h: f64) {
        let layout = model.systems().layout();
        let StepMemory { active, work, .. } = memory;
        own.acceleration.clear();
        own.acceleration.extend(work.v_free.iter().zip(&work.v_start).map(|(free, start)| (free - start) / h));
        own.leaves = false;
        for &item in &own.impacts {
            let (row, law) = (active.items()[item].rows.start, active.items()[item].law);
            let [mut free, mut start] = [[0.0; 6]; 2];
            let n = active.items()[item].rows.len();
            active.local_velocity_of(item, layout, &work.v_free, &mut free[..n]);
            active.local_velocity_of(item, layout, &work.v_start, &mut start[..n]);
            let a = (free[0] - start[0]) / h;
            let before = start[0] + s * a;
            let e = if memory.impacts_done { 0.0 } else { law.contact().map_or(0.0, |law| law.restitution.at(before)) };
            let after = -e * before + (h - s) * a;
            active.shift_mut()[row] = -after.max(0.0);
            own.leaves |= after > 0.0;
        }
    }

    /// (q_k, v_k, v_{k−1}) => q_{k+1}.
    fn predict(&self, model: &Model, state: &mut State, memory: &mut StepMemory, own: &History, formulas: &Formulas) {
        let work = &mut memory.work;
        for (i, d) in work.displacement.iter_mut().enumerate() {
            let before = if formulas.adams[1] == 0.0 { 0.0 } else { own.before[i] };
            *d = formulas.h * (formulas.adams[0] * work.v_start[i] + formulas.adams[1] * before);
        }
        model.systems().advance(&work.q_start, &work.displacement, &mut state.q);
    }

    /// M̂ = M + βh C and v_free = v + M̂⁻¹ [βh F − M (v − v*)]; gives the size of the residual, with the reactions of the iterate, relative
    /// to the momentum in the energy norm. `state.t` is the end of the step.
    fn free_motion(
        &self,
        model: &Model,
        state: &State,
        memory: &mut StepMemory,
        own: &History,
        formulas: &Formulas,
        first: bool,
    ) -> Result<f64, StepError> {
        let (systems, scaled) = (model.systems(), formulas.beta * formulas.h);
        let located = at_time(state.t);
        let StepMemory { work, matrices, scratch, active, one_step: OneStep { solution, .. }, .. } = memory;
        model.force(state.t, &state.q, &state.v, &mut work.force_end, scratch).map_err(&located)?;
        if first {
            evaluate_mass(model, state.t, &state.q, matrices, scratch).map_err(&located)?;
        }
        let at = Instant { t: state.t, q: &state.q, v: &state.v };
        factorise_iteration(model, at, JacobianFactors { velocity: scaled, position: 0.0 }, matrices, scratch)?;
        for ((change, v), star) in work.displacement.iter_mut().zip(&state.v).zip(&own.v_star) {
            *change = v - star;
        }
        systems.layout().multiply(&matrices.mass, &work.displacement, &mut work.momentum);
        for (i, r) in work.residual.iter_mut().enumerate() {
            *r = scaled * work.force_end[i] - work.momentum[i];
        }
        free_by_residual(model, &state.v, work, matrices);
        if first {
            return Ok(1.0);
        }
        if !active.is_empty() {
            active.add_reaction(systems.layout(), &solution.r, &mut work.residual);
        }
        matrices.factor.solve(systems.layout(), &work.residual, &mut work.displacement);
        let norm = dot(&work.residual, &work.displacement).abs();
        systems.layout().multiply(&matrices.mass, &state.v, &mut work.momentum);
        let scale = dot(&work.momentum, &state.v).max(norm);
        Ok(if norm == 0.0 { 0.0 } else { (norm / scale).sqrt() })
    }

    /// What the next step needs, should this one stand.
    fn keep(&self, memory: &StepMemory, own: &mut History, h: f64, impact: bool) {
        own.next.before.clone_from(&memory.work.v_start);
        own.next.h = h;
        own.next.carried.clear();
        own.next.carried.resize(own.carried.len(), false);
        for item in memory.active.items() {
            if let ActiveSource::Interaction(i) = item.source {
                own.next.carried[i] = !item.law.is_bilateral() && memory.one_step.solution.r[item.rows.start] > 0.0;
            }
        }
        let changed = impact || own.next.carried != own.carried;
        own.next.smooth_steps = if changed { 0 } else { own.smooth_steps + 1 };
    }
}
