//! The scheme of Anitescu and Potra: linearly implicit, laws on velocities, Poisson's restitution.
//!
//! ```text
//! (M + h C + h² K) (v_{k+1} − v⁺) = h F(t, q_k, v⁺) − h² K v⁺ + Gᵀ(q_k) p_{k+1},      q_{k+1} = q_k ⊕ h T v_{k+1}
//! constraint:   u_{k+1} = 0
//! contact:      if g_k + γ h u_{N,k} ≤ 0:   0 ≤ u_{N,k+1} ⟂ c_n ≥ 0,  friction on the polyhedral or the exact cone
//! ```
//!
//! with u = G(q_k) v + b, C = −∂F/∂v, K = −∂F/∂q: F is linearised once at (q_k, v⁺), with t = t_{k+1}, so stiff forces are no danger and there is no
//! Newton iteration. With `stiff = false` forces are explicit, C = K = 0 and t = t_k. [Anitescu1998, eqs. 7 and 15], [Haddouni2015, eqs. 2.29–2.30];
//! the linearly implicit form is that of [Anitescu & Potra, Int. J. Numer. Meth. Eng. 55, 2002]. The activation is that of
//! [Anitescu1998, eq. 7] for γ = 1.
//!
//! v⁺ = v_k unless contacts collide at q_k: closed contacts that carried no impulse in the step before, approach, and have a coefficient of
//! restitution above zero. Then v⁺ follows by compression and decompression over all closed contacts and constraints, without forces
//! [Anitescu1998, eqs. 27–28]:
//!
//! ```text
//! M (v^c − v_k) = Gᵀ p^c                        with the laws above on v^c
//! M (v⁺ − v^c) = Gᵀ (ε p^c + p^d)               with the laws above on v⁺ and p^d      ("poisson")
//! v⁺ = (1 + ε) v^c − ε v_k                                                             ("reflection")
//! ```
//!
//! ε p^c is e c_n on the normal and e_T p_T on the tangents of each contact; the reflection has the least e of the contacts with an impulse. Contacts that carried
//! an impulse before do not collide by themselves, so that bodies at rest stay at rest; contacts with e = 0 that close are part of the step's own problem.
//!
//! Solvable: q = G v, so the one-step problems have solutions whatever the configuration [Anitescu1998, §4]. Energy: a step without force, and an impact
//! with e = 0 or by reflection, create none. Poisson's decompression creates none where e = e_T at all contacts and none separates before; with friction otherwise it can
//! \[Anitescu1998, §4\], which is reported as `impact_gain`.
//! Violates: gaps and constraints drift by O(h). Order: 1, in free motion and across impacts.

use super::friction_cone::{FrictionCone, check_facets};
use super::settings::{check_activation_threshold, require};
use super::stages::{Span, advance, evaluate_mass, factorise, factorise_mass, finish, free_by_force};
use super::{Orders, Scheme};
use crate::active_set::ActiveSource;
use crate::assembly::{
    Activation, assemble_problem, at_time, detect_contacts, evaluate_candidates, measure_violations, note_varying_rows, select_active,
    solve_problem,
};
use crate::checkpoint::WorkOnly;
use crate::error::{ModelError, StepError};
use crate::impacts::ImpactLaw;
use crate::laws::Law;
use crate::memory::{OneStep, StepMemory};
use crate::model::Model;
use crate::report::{StepReport, report_worse};
use crate::state::State;
use crate::systems::{Instant, JacobianFactors};
use carom_solvers::{FrictionSolverKind, FrictionSolverParams};
use serde::{Deserialize, Serialize};

/// Settings of [`AnitescuPotra`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AnitescuPotraParams {
    /// The friction cone, `"polyhedral"` (the default) or `"exact"`. It chooses the solver; a solver given by the user brings its own cone.
    pub cone: FrictionCone,
    /// Corners of the polygon that stands for a friction disk in space, default 8, even, 4 to 64. Contacts in the plane have two directions
    /// and the exact cone.
    pub facets: usize,
    /// Forces are linearised at the start of the step and implicit (true, the default), or explicit (false: cheaper, small steps for stiff
    /// springs and strong dampers).
    pub stiff: bool,
    /// What follows compression in a collision.
    pub decompression: Decompression,
    /// γ of the activation rule g + γ h u_N ≤ 0, no unit, default 1 (the rule of the papers), in [0, 1]: 1 closes all contacts that the present
    /// velocity closes within the step, up to h |u_N| early and almost without penetration; 0 closes those that touch, h |u_N| late.
    pub gamma: f64,
    /// A contact whose predicted gap is below this counts as closed \[m\], default 1e-9, ≥ 0.
    pub activation_threshold: f64,
}

/// The second phase of a collision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decompression {
    /// A fraction e of each normal impulse of compression is given back, then contacts and friction hold again [Anitescu1998, eq. 28].
    #[default]
    Poisson,
    /// v⁺ = (1 + e) v^c − e v⁻ with the least e: never creates energy, one problem less [Anitescu1998, §4].
    Reflection,
}

impl Default for AnitescuPotraParams {
    fn default() -> Self {
        AnitescuPotraParams {
            cone: FrictionCone::default(),
            facets: 8,
            stiff: true,
            decompression: Decompression::default(),
            gamma: 1.0,
            activation_threshold: 1e-9,
        }
    }
}

impl AnitescuPotraParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the parameter.
    pub fn validate(&self) -> Result<(), ModelError> {
        check_facets(self.facets)?;
        require((0.0..=1.0).contains(&self.gamma), "gamma", self.gamma, "a number in [0, 1] is needed")?;
        check_activation_threshold(self.activation_threshold)
    }
}

/// The scheme.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnitescuPotra {
    /// Its settings.
    pub params: AnitescuPotraParams,
}

/// Work array of collisions.
#[derive(Debug, Default)]
struct Collision {
    /// Impulses of compression, then of the whole collision, by rows; empty without collision.
    impulse: Vec<f64>,
}

impl Scheme for AnitescuPotra {
    fn name(&self) -> &'static str {
        "anitescu-potra"
    }

    fn orders(&self) -> Orders {
        Orders { impacts: 1, smooth: 1 }
    }

    fn foresight(&self) -> f64 {
        self.params.gamma
    }

    fn solver(&self) -> Option<FrictionSolverParams> {
        self.params.cone.solver(FrictionSolverKind::AnitescuPotra, self.params.facets)
    }

    /// One step. `h` in seconds. Cost: one factorisation (none where M̂ is constant), one one-step problem, two more in a collision.
    fn step(&self, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<StepReport, StepError> {
        let p = &self.params;
        let mut report = StepReport { newton_converged: true, ..StepReport::default() };
        let located = at_time(state.t);

        // (q_k, v_k) => contacts, gaps, local velocities => active set
        memory.keep_start(state);
        detect_contacts(model, state, memory, p.gamma * h).map_err(&located)?;
        evaluate_candidates(model, state, memory).map_err(&located)?;
        select_active(model, state, memory, Activation { horizon: p.gamma * h, step: h, threshold: p.activation_threshold });
        memory.active.clear_shifts();
        report.violations = measure_violations(model, memory);
        report.n_active = memory.active.items().len();
        note_varying_rows(model, memory);

        // collisions at q_k: v_k => v⁺
        memory.with_own(|memory, WorkOnly(collision): &mut WorkOnly<Collision>| -> Result<(), StepError> {
            collision.impulse.clear();
            if collides(model, memory) {
                // within the instant of a collision bounded forces do nothing
                memory.active.bind_bounds(0.0);
                self.collide(model, state, memory, collision, &mut report)?;
                memory.active.bind_bounds(h);
            }

            // (q_k, v⁺) => M̂, v_free => p => v_{k+1} => q_{k+1}
            self.free_motion(model, state, memory, h)?;
            if memory.active.is_empty() {
                state.v.copy_from_slice(&memory.work.v_free);
            } else {
                assemble_problem(model, memory, true);
                report_worse(&mut report, solve_problem(model, state, memory)?);
                if !collision.impulse.is_empty() {
                    for (total, part) in memory.one_step.solution.r.iter_mut().zip(&collision.impulse) {
                        *total += part;
                    }
                }
            }
            Ok(())
        })?;
        advance(model, state, memory, h, 1.0).map_err(&located)?;

        // impulses and energies
        finish(model, state, memory, Span { h, theta: if p.stiff { 1.0 } else { 0.0 } }, &mut report).map_err(&located)?;
        Ok(report)
    }
}

impl AnitescuPotra {
    /// M̂ = M + h C + h² K, v_free = M̂⁻¹ (h F + (M + h C) v⁺); M̂ = M where forces are explicit.
    fn free_motion(&self, model: &Model, state: &State, memory: &mut StepMemory, h: f64) -> Result<(), StepError> {
        let (systems, located) = (model.systems(), at_time(state.t));
        if !self.params.stiff {
            factorise_mass(model, state.t, &state.q, &mut memory.matrices, &mut memory.scratch)?;
            return free_by_force(model, state, memory, h).map_err(&located);
        }
        let StepMemory { work, matrices, scratch, .. } = memory;
        let at = Instant { t: state.t + h, q: &state.q, v: &state.v };
        evaluate_mass(model, state.t, &state.q, matrices, scratch).map_err(&located)?;
        model.force(at.t, at.q, at.v, &mut work.force_start, scratch).map_err(&located)?;
        matrices.iteration.clone_from(&matrices.mass);
        model
            .add_linear_jacobians(at, JacobianFactors { velocity: h, position: 0.0 }, &mut matrices.iteration, scratch)
            .map_err(&located)?;
        systems.layout().multiply(&matrices.iteration, at.v, &mut work.momentum);
        if !(model.is_affine() && matrices.factor_of == Some((h, h * h))) {
            model
                .add_linear_jacobians(at, JacobianFactors { velocity: 0.0, position: h * h }, &mut matrices.iteration, scratch)
                .map_err(&located)?;
            factorise(model, state.t, matrices)?;
            matrices.factor_of = Some((h, h * h));
        }
        for (r, (force, momentum)) in work.residual.iter_mut().zip(work.force_start.iter().zip(&work.momentum)) {
            *r = h * force + momentum;
        }
        matrices.factor.solve(systems.layout(), &work.residual, &mut work.v_free);
        Ok(())
    }

    /// Compression and decompression of all closed contacts: v_k => v⁺ in the state, impulses in `collision`.
    fn collide(
        &self,
        model: &Model,
        state: &mut State,
        memory: &mut StepMemory,
        collision: &mut Collision,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        factorise_mass(model, state.t, &state.q, &mut memory.matrices, &mut memory.scratch)?;
        memory.work.v_free.copy_from_slice(&state.v);
        assemble_problem(model, memory, true);
        report_worse(report, solve_problem(model, state, memory)?);
        collision.impulse.extend_from_slice(&memory.one_step.solution.r);
        match self.params.decompression {
            Decompression::Reflection => {
                let e = least_restitution(memory);
                collision.impulse.iter_mut().for_each(|p| *p *= 1.0 + e);
                for (v, start) in state.v.iter_mut().zip(&memory.work.v_start) {
                    *v += e * (*v - start);
                }
                Ok(())
            }
            Decompression::Poisson => {
                restituted(memory);
                let StepMemory { active, work, one_step: OneStep { solution, .. }, .. } = memory;
                for (total, given_back) in collision.impulse.iter_mut().zip(&solution.r) {
                    *total += given_back;
                }
                work.v_free.copy_from_slice(&state.v);
                active.add_response(model.systems().layout(), &solution.r, &mut work.v_free);
                assemble_problem(model, memory, true);
                memory.one_step.solution.r.fill(0.0);
                report_worse(report, solve_problem(model, state, memory)?);
                for (total, part) in collision.impulse.iter_mut().zip(&memory.one_step.solution.r) {
                    *total += part;
                }
                Ok(())
            }
        }
    }
}

/// Some closed contact carried no impulse in the step before, approaches, and rebounds.
fn collides(model: &Model, memory: &StepMemory) -> bool {
    let StepMemory { active, warm, contacts, impacts_done, .. } = memory;
    if *impacts_done || *model.impact_law() == ImpactLaw::Inelastic {
        return false;
    }
    active.items().iter().any(|item| {
        let Law::Contact(law) = item.law else { return false };
        let u = active.velocity_start()[item.rows.start];
        let before = match item.source {
            ActiveSource::Interaction(i) => warm.by_interaction[i][0],
            ActiveSource::Contact(i) => warm.of_contact(&contacts[i].key)[0],
        };
        u < 0.0 && before == 0.0 && (law.restitution_of_row(0, u) > 0.0 || law.tangential_restitution > 0.0)
    })
}

/// p^c => ε p^c in the solution: nothing of constraints, e of normal and e_T of tangential impulses.
fn restituted(memory: &mut StepMemory) {
    let StepMemory { active, one_step: OneStep { solution, .. }, .. } = memory;
    for item in active.items() {
        let u = active.velocity_start()[item.rows.start];
        for (k, p) in solution.r[item.rows.clone()].iter_mut().enumerate() {
            *p *= item.law.contact().map_or(0.0, |law| law.restitution_of_row(k, u));
        }
    }
}

/// The least coefficient of restitution of the contacts with an impulse.
fn least_restitution(memory: &StepMemory) -> f64 {
    let StepMemory { active, one_step: OneStep { solution, .. }, .. } = memory;
    let of_item = |item: &crate::active_set::Active| {
        let first = item.rows.start;
        let law = item.law.contact().filter(|_| solution.r[first] > 0.0)?;
        Some(law.restitution_of_row(0, active.velocity_start()[first]))
    };
    active.items().iter().filter_map(of_item).reduce(f64::min).unwrap_or(0.0)
}
