//! The half-explicit time-discontinuous Galerkin scheme D⁻₁ with linear velocities.
//!
//! Forces act by the trapezoidal rule with their values right after t_k and right before t_{k+1}; impacts act at t_{k+1}, apart from them:
//!
//! ```text
//! left:    M_k a_k = F_k + G_kᵀ λ_k⁺,           û = u_k + h (G_k a_k + (dG/dt) v_k + db/dt)         laws between û and λ_k⁺
//! q_{k+1} = q_k ⊕ h/2 (v_k + v̂),                v̂ = v_k + h a_k
//! right:   v⁻ = v_k + h/2 a_k + h/2 M_{k+1}⁻¹ (F(t_{k+1}, q_{k+1}, v̂) + G_{k+1}ᵀ λ_{k+1}⁻)            laws between u⁻ and λ_{k+1}⁻
//! impact:  if a contact has closed, g_k > 0 ≥ g_{k+1}:   M_{k+1} (v_{k+1} − v⁻) = G_{k+1}ᵀ p,         laws between u_{k+1} + e u⁻ and p
//! ```
//!
//! λ acts at the contacts with g_k ≤ 0 and at the constraints: u = 0, or 0 ≤ u_N ⟂ λ_N ≥ 0 with Coulomb friction. M, F and G are evaluated at
//! known states only: no Newton iteration, two (with impacts three) linear complementarity or friction problems per step.
//! [Schindler & Acary, Math. Comput. Simul. 95, 2014; Schindler, Rezaei, Kursawe & Acary, CMAME 290, 2015, velocity level].
//! It differs from them in the left problem, whose rows are linearised at q_k instead of taken at a predicted position (so that W is symmetric
//! and λ_k⁺ acts along G_k, which second order on curved contacts needs), and in that forces of closed contacts act also in steps with impacts.
//! A contact that carried an impulse and does not separate stays closed whatever its gap, so that the drift does not open it.
//! A contact that is closed and approaches at t_k (an initial state, say) gets its restitution e u_k within the step.
//!
//! Conserves: nothing exactly; between contacts, with forces of the position and constant M, it is the Störmer–Verlet method: energy errors stay O(h²).
//! Violates: gaps at impacts by O(h), positions of constraints and closed contacts drift by O(h²); velocities of
//! constraints hold at the ends of steps. Order: 2 between impacts, with contacts closed too (with friction in space 1, where the direction of
//! sliding turns: it is that of the end of the step), 1 across impacts. The forces are explicit: stable for h ω below 2 only.

use super::left_limit::left_limit;
use super::settings::check_activation_threshold;
use super::stages::{Span, check_finite, factorise_mass, finish};
use super::{Orders, Scheme};
use crate::active_set::ActiveSource;
use crate::assembly::{
    RowsOver, assemble_problem, at_time, evaluate_candidates, measure_violations, note_varying_rows, select_where, solve_problem,
    update_jacobians,
};
use crate::checkpoint::{Bytes, CheckpointError, Own, Reader};
use crate::error::{ModelError, NonFinite, StepError};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::report::{StepReport, report_worse};
use crate::state::State;
use serde::{Deserialize, Serialize};

/// Settings of [`D1Minus`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct D1MinusParams {
    /// A contact whose gap is below this counts as closed \[m\], default 1e-9, ≥ 0. A closed contact that approaches by more than this within
    /// the step has an impact there.
    pub activation_threshold: f64,
}

impl Default for D1MinusParams {
    fn default() -> Self {
        D1MinusParams { activation_threshold: 1e-9 }
    }
}

impl D1MinusParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the parameter.
    pub fn validate(&self) -> Result<(), ModelError> {
        check_activation_threshold(self.activation_threshold)
    }
}

/// The scheme.
#[derive(Clone, Copy, Debug, Default)]
pub struct D1Minus {
    /// Its settings.
    pub params: D1MinusParams,
}

/// What is kept from step to step, and work arrays.
#[derive(Default)]
struct Remembered {
    /// The interactions whose contact carried an impulse in the last step that stands.
    carried: Vec<bool>,
    /// The interactions closed at the start of the step.
    closed: Vec<bool>,
    /// a_k.
    acceleration: Vec<f64>,
    /// M_{k+1}⁻¹ F.
    right: Vec<f64>,
    /// v̂.
    velocity: Vec<f64>,
    /// Impulses of the forces by interaction.
    forces: Vec<[f64; 6]>,
}

impl Own for Remembered {
    fn save(&self, out: &mut Bytes) {
        out.flags(&self.carried);
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), CheckpointError> {
        from.flags(&mut self.carried)
    }
}

impl Scheme for D1Minus {
    fn name(&self) -> &'static str {
        "d1-minus"
    }

    fn own(&self, _: &Model) -> Box<dyn Own> {
        Box::<Remembered>::default()
    }

    fn looks_back(&self) -> usize {
        1
    }

    fn orders(&self) -> Orders {
        Orders { impacts: 1, smooth: 2 }
    }

    fn start(&self, model: &Model, _: &State, memory: &mut StepMemory) -> Result<(), StepError> {
        memory.matrices.mass_ready = false;
        memory.with_own(|_, own: &mut Remembered| {
            own.carried.clear();
            own.carried.resize(model.interactions().len(), false);
        });
        Ok(())
    }

    /// One step. `h` in seconds. Cost: two factorisations of M (none where it is constant), two or three one-step problems.
    fn step(&self, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<StepReport, StepError> {
        memory.with_own(|memory, own| self.all_stages(model, state, memory, own, h))
    }

    fn accept(&self, _: &Model, _: &State, memory: &mut StepMemory) {
        memory.with_own(|memory, own: &mut Remembered| {
            own.carried.fill(false);
            for item in memory.active.items() {
                if let ActiveSource::Interaction(i) = item.source {
                    own.carried[i] = memory.one_step.solution.r[item.rows.start] > 0.0;
                }
            }
        });
    }
}

impl D1Minus {
    fn all_stages(
        &self,
        model: &Model,
        state: &mut State,
        memory: &mut StepMemory,
        own: &mut Remembered,
        h: f64,
    ) -> Result<StepReport, StepError> {
        let (systems, threshold) = (model.systems(), self.params.activation_threshold);
        let mut report = StepReport { newton_iterations: 1, newton_converged: true, ..StepReport::default() };
        let (t_start, t_end) = (state.t, state.t + h);
        let (located, located_end) = (at_time(t_start), at_time(t_end));
        own.acceleration.resize(state.v.len(), 0.0);
        own.right.resize(state.v.len(), 0.0);
        own.carried.resize(model.interactions().len(), false);

        // (q_k, v_k) => F_k, gaps, local velocities => closed contacts
        memory.keep_start(state);
        let StepMemory { work, scratch, matrices, .. } = &mut *memory;
        model.force(t_start, &state.q, &state.v, &mut work.force_start, scratch).map_err(&located)?;
        factorise_mass(model, t_start, &state.q, matrices, scratch)?;
        evaluate_candidates(model, state, memory).map_err(&located)?;
        report.violations = measure_violations(model, memory);
        own.find_closed(model, memory, threshold, h);
        select_where(model, state, memory, RowsOver::step(h), |source, _, _| is_among(&own.closed, source));
        restitute(memory, |u| h * u < -threshold);
        note_varying_rows(model, memory);

        // left limits => a_k, v̂ => q_{k+1}
        left_limit(model, state, memory, h, &mut own.acceleration, &mut report)?;
        own.velocity.clone_from(&state.v);
        keep_half(model, memory, &mut own.forces);
        let work = &mut memory.work;
        for ((w, start), end) in work.displacement.iter_mut().zip(&work.v_start).zip(&state.v) {
            *w = 0.5 * h * (start + end);
        }
        systems.advance(&work.q_start, &work.displacement, &mut state.q);
        check_finite(model, state).map_err(&located)?;

        // (t_{k+1}, q_{k+1}, v̂) => M, F, G => λ⁻, v⁻
        let StepMemory { work, scratch, matrices, .. } = &mut *memory;
        model.force(t_end, &state.q, &own.velocity, &mut work.force_end, scratch).map_err(&located_end)?;
        factorise_mass(model, t_end, &state.q, matrices, scratch)?;
        matrices.factor.solve(systems.layout(), &work.force_end, &mut own.right);
        for (i, free) in work.v_free.iter_mut().enumerate() {
            *free = work.v_start[i] + 0.5 * h * (own.acceleration[i] + own.right[i]);
        }
        work.q_inner.clone_from(&state.q);
        if memory.active.is_empty() {
            state.v.copy_from_slice(&memory.work.v_free);
        } else {
            update_jacobians(model, t_end, memory).map_err(&located_end)?;
            assemble_problem(model, memory, false);
            memory.one_step.solution.r.iter_mut().for_each(|p| *p *= 0.5);
            report_worse(&mut report, solve_problem(model, state, memory)?);
            add_forces(memory, &own.forces);
        }

        // contacts that have closed => impact at t_{k+1}
        if own.some_close(model, (t_end, &state.q), memory, threshold).map_err(&located_end)? {
            self.impact(model, state, memory, own, h, &mut report)?;
        }
        check_finite(model, state).map_err(&located_end)?;
        report.n_active = memory.active.items().len();
        finish(model, state, memory, Span { h, theta: 0.5 }, &mut report).map_err(&located_end)?;
        Ok(report)
    }

    /// v⁻ in `state.v` => v_{k+1}, with all contacts that are closed at t_{k+1}. The impulses of the forces are added to those of the impact.
    fn impact(
        &self,
        model: &Model,
        state: &mut State,
        memory: &mut StepMemory,
        own: &mut Remembered,
        h: f64,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        keep_all(model, memory, &mut own.forces);
        let t_start = state.t;
        state.t += h;
        let evaluated = evaluate_candidates(model, state, memory).map_err(at_time(state.t));
        state.t = t_start;
        evaluated?;
        // contacts that carried a force in the step are told with the others
        let (threshold, forces) = (self.params.activation_threshold, &own.forces);
        let carried = |source| matches!(source, ActiveSource::Interaction(i) if forces[i][0] > 0.0);
        select_where(model, state, memory, RowsOver::step(h), |source, gap, _| gap <= threshold || carried(source));
        restitute(memory, |u| u < 0.0);
        memory.work.rows_vary = true;
        memory.work.v_free.copy_from_slice(&state.v);
        assemble_problem(model, memory, true);
        report_worse(report, solve_problem(model, state, memory)?);
        add_forces(memory, &own.forces);
        Ok(())
    }
}

impl Remembered {
    /// (g_k, u_k) => the contacts that are closed: those with g_k ≤ 0, and those that carried an impulse in the last step and do not separate.
    /// Without the latter the drift of gaps, O(h²), would open contacts.
    fn find_closed(&mut self, model: &Model, memory: &StepMemory, threshold: f64, h: f64) {
        let c = &memory.candidates;
        self.closed.clear();
        for (i, interaction) in model.interactions().iter().enumerate() {
            let (gap, velocity) = (c.position[c.rows[i]], c.velocity[c.rows[i]]);
            let stays = self.carried[i] && h * velocity <= threshold;
            self.closed.push(!interaction.is_bilateral() && (gap <= threshold || stays));
        }
    }

    /// A contact that was open at t_k is closed at the end, (t_{k+1}, q_{k+1}).
    fn some_close(&self, model: &Model, end: (f64, &[f64]), memory: &mut StepMemory, threshold: f64) -> Result<bool, NonFinite> {
        for (i, interaction) in model.interactions().iter().enumerate() {
            if interaction.is_bilateral() || self.closed[i] {
                continue;
            }
            let (mut g, relation) = ([0.0; 6], interaction.relation());
            relation.position(end.0, end.1, &mut g[..relation.n_rows()], &mut memory.scratch)?;
            if g[0] <= threshold {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// An interaction for which the flag is set.
fn is_among(flags: &[bool], source: ActiveSource) -> bool {
    matches!(source, ActiveSource::Interaction(i) if flags[i])
}

/// Leaves the restitution e u of contacts whose normal velocity `is_impact`; the others are inelastic.
fn restitute(memory: &mut StepMemory, is_impact: impl Fn(f64) -> bool) {
    let active = &mut memory.active;
    for item in 0..active.items().len() {
        let rows = active.items()[item].rows.clone();
        if !is_impact(active.velocity_start()[rows.start]) {
            active.shift_mut()[rows].fill(0.0);
        }
    }
}

/// Half the impulses of the solution by interaction: those of λ_k⁺ in the trapezoidal rule.
fn keep_half(model: &Model, memory: &StepMemory, forces: &mut Vec<[f64; 6]>) {
    keep_all(model, memory, forces);
    forces.iter_mut().flatten().for_each(|p| *p *= 0.5);
}

/// The impulses of the solution by interaction.
fn keep_all(model: &Model, memory: &StepMemory, forces: &mut Vec<[f64; 6]>) {
    forces.clear();
    forces.resize(model.interactions().len(), [0.0; 6]);
    for item in memory.active.items() {
        if let ActiveSource::Interaction(i) = item.source {
            forces[i][..item.rows.len()].copy_from_slice(&memory.one_step.solution.r[item.rows.clone()]);
        }
    }
}

/// Adds kept impulses to the solution.
fn add_forces(memory: &mut StepMemory, forces: &[[f64; 6]]) {
    for item in memory.active.items() {
        if let ActiveSource::Interaction(i) = item.source {
            for (p, force) in memory.one_step.solution.r[item.rows.clone()].iter_mut().zip(&forces[i]) {
                *p += force;
            }
        }
    }
}
