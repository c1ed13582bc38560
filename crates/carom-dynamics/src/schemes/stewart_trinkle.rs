//! The scheme of Stewart and Trinkle: contacts and joints hold on the positions at the end of the step.
//!
//! ```text
//! M(q_k) (v_{k+1} − v_k) = h F(t_k, q_k, v_k) + Gᵀ(q_k) p_{k+1},      q_{k+1} = q_k ⊕ h T v_{k+1}
//! joint:                   g_k + h u_{k+1} = 0                    (velocity constraints: u_{k+1} = 0)
//! contact:                 0 ≤ g_k + h u_{N,k+1} − α₀ ⟂ c_n ≥ 0
//! friction, polyhedral:    p_T = D β,   0 ≤ λ e + Dᵀ v_{k+1} ⟂ β ≥ 0,   0 ≤ μ c_n − eᵀβ ⟂ λ ≥ 0
//! friction, exact:         p_T ∈ D(μ c_n),   −u_{T,k+1} ∈ N(p_T)
//! ```
//!
//! with u = G(q_k) v + b. [Haddouni2015, eqs. 2.26–2.28], [Brogliato2002, eqs. 69–70], [Anitescu1998, eq. 7], friction on the true cone
//! [Anitescu1998, eq. 22]; [Stewart & Trinkle, Int. J. Numer. Meth. Eng. 39, 1996]. It differs from Haddouni2015 in M and F, which are those of
//! the start of the step, and from all of them in that joints are at position level too. All is linear: no Newton iteration.
//!
//! Which contacts enter: those with g_k + h u_{N,k} ≤ h w, where w is the largest speed of approach of all contacts, before the step or
//! without impulses at its end. More than can close in the step enter so: what complementarity does not need has no impulse.
//! A contact that enters too late would be pushed out in one step, with velocity. Penetrations below 1e-9 m are round-off and are not pushed out: in a jammed wedge no
//! impulse could. Where contacts penetrate more than that and friction locks them, the one-step problem has no solution; its status says so.
//!
//! Conserves: nothing exactly; without contacts it is the symplectic Euler method (where F does not depend on v).
//! Violates: u_{N,k+1} = −g_k/h < 0 at the end of the step that closes a contact: the velocity before an impact ends one step after it. Gaps and
//! joints are off by the curvature of one step, O(h²), and do not drift. Contacts are inelastic. Forces are explicit: stiff springs need small
//! steps.
//! Order: 1, in free motion, with joints, and across impacts.

use super::friction_cone::{FrictionCone, check_facets};
use super::settings::require;
use super::stages::{Span, advance, factorise_mass, finish, free_by_force};
use super::{Orders, Scheme};
use crate::active_set::ActiveSource;
use crate::assembly::{
    Activation, assemble_problem, at_time, detect_contacts, evaluate_candidates, largest_approach, measure_violations, note_varying_rows,
    select_active, solve_problem,
};
use crate::error::{ModelError, StepError};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::report::StepReport;
use crate::state::State;
use carom_solvers::{FrictionSolverKind, FrictionSolverParams};
use serde::{Deserialize, Serialize};

/// Settings of [`StewartTrinkle`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StewartTrinkleParams {
    /// The friction cone, `"polyhedral"` (the default) or `"exact"`. It chooses the solver; a solver given by the user brings its own cone.
    pub cone: FrictionCone,
    /// Corners of the polygon that stands for a friction disk in space, default 8, even, 4 to 64. Contacts in the plane have two directions
    /// and the exact cone.
    pub facets: usize,
    /// Gap α₀ that contacts keep \[m\], default 0, ≥ 0: room for the error of gaps on curved paths, O(h²).
    pub clearance: f64,
}

impl Default for StewartTrinkleParams {
    fn default() -> Self {
        StewartTrinkleParams { cone: FrictionCone::default(), facets: 8, clearance: 0.0 }
    }
}

impl StewartTrinkleParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the parameter.
    pub fn validate(&self) -> Result<(), ModelError> {
        check_facets(self.facets)?;
        let clearance = self.clearance;
        require(clearance >= 0.0 && clearance.is_finite(), "clearance", clearance, "a length ≥ 0 [m] is needed")
    }
}

/// The scheme.
#[derive(Clone, Copy, Debug, Default)]
pub struct StewartTrinkle {
    /// Its settings.
    pub params: StewartTrinkleParams,
}

/// Gaps and penetrations below this are round-off of bodies that rest on each other \[m\].
const TOUCH: f64 = 1e-9;

impl Scheme for StewartTrinkle {
    fn name(&self) -> &'static str {
        "stewart-trinkle"
    }

    fn orders(&self) -> Orders {
        Orders { impacts: 1, smooth: 1 }
    }

    fn foresight(&self) -> f64 {
        1.0
    }

    fn solver(&self) -> Option<FrictionSolverParams> {
        self.params.cone.solver(FrictionSolverKind::StewartTrinkle, self.params.facets)
    }

    /// One step. `h` in seconds. Cost: one factorisation of M (none where M is constant), one one-step problem.
    fn step(&self, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<StepReport, StepError> {
        let mut report = StepReport { newton_converged: true, ..StepReport::default() };
        let located = at_time(state.t);

        // (q_k, v_k) => M, F_k, v_free, contacts, gaps, local velocities
        memory.keep_start(state);
        factorise_mass(model, state.t, &state.q, &mut memory.matrices, &mut memory.scratch)?;
        free_by_force(model, state, memory, h).map_err(&located)?;
        detect_contacts(model, state, memory, 2.0 * h).map_err(&located)?;
        evaluate_candidates(model, state, memory).map_err(&located)?;
        report.violations = measure_violations(model, memory);

        // gaps within reach of this step => active set, conditions on the gaps at its end
        let reach = h * largest_approach(model, state, memory);
        select_active(model, state, memory, Activation { horizon: h, step: h, threshold: reach + self.params.clearance + TOUCH });
        report.n_active = memory.active.items().len();
        note_varying_rows(model, memory);
        if memory.active.is_empty() {
            state.v.copy_from_slice(&memory.work.v_free);
        } else {
            self.bind_gaps(model, memory, h);
            assemble_problem(model, memory, true);
            report.solve = Some(solve_problem(model, state, memory)?);
        }

        // v_{k+1} => q_{k+1}, impulses and energies
        advance(model, state, memory, h, 1.0).map_err(&located)?;
        finish(model, state, memory, Span { h, theta: 0.0 }, &mut report).map_err(&located)?;
        Ok(report)
    }
}

impl StewartTrinkle {
    /// u ↦ u + g_k/h on the normal rows of contacts and on the rows of holonomic constraints; contacts are inelastic.
    fn bind_gaps(&self, model: &Model, memory: &mut StepMemory, h: f64) {
        let StepMemory { active, candidates: c, .. } = memory;
        for i in 0..active.items().len() {
            let item = &active.items()[i];
            let (rows, gap, law, source) = (item.rows.clone(), item.gap, item.law, item.source);
            if law.bounded().is_some() {
                continue;
            }
            let shift = &mut active.shift_mut()[rows];
            shift.fill(0.0);
            match source {
                ActiveSource::Interaction(k) if law.is_bilateral() => {
                    if model.interactions()[k].relation().is_holonomic() {
                        for (shift, g) in shift.iter_mut().zip(&c.position[c.rows[k]..c.rows[k + 1]]) {
                            *shift = g / h;
                        }
                    }
                }
                _ => {
                    let gap = gap - self.params.clearance;
                    shift[0] = if gap > -TOUCH { gap.max(0.0) } else { gap + TOUCH } / h;
                }
            }
        }
    }
}
