//! Initial data that the law does not allow: the state jumps before the motion begins.
//!
//! Where no λ makes y = h(t₀, x₀, λ) obey the law, an impulse σ does: x⁺ = x⁻ + M⁻¹B σ with −y⁺ ∈ N_K(σ) (for the identity as M and C = Bᵀ the nearest admissible state). It is the limit
//! of one step of backward Euler as h → 0, and is computed as such, with h tiny against the times of the system: exact but for a change of that order. Bounded
//! multipliers have no impulses, so such systems start where they are.

use super::linear_step::Discretisation;
use super::memory::FirstOrderMemory;
use super::newton_step::{NewtonSettings, step_by_newton};
use super::step_linear;
use crate::assembly::at_time;
use crate::error::StepError;
use crate::first_order::set::{FirstOrderSet, Point};
use crate::report::{Event, EventKind};
use crate::state::State;
use crate::systems::Scratch;
use carom_solvers::affine_vi::AffineVi;

/// Fraction of the step that stands for an instant.
const INSTANT: f64 = 1e-9;

/// Moves x to consistent values where the law asks for it, and notes the event. `h` is the step the run will take.
///
/// # Errors
/// [`StepError`] naming the formula; [`StepError::NoConsistentStart`] where there is no admissible state to jump to.
pub(crate) fn make_consistent(
    set: &FirstOrderSet,
    state: &mut State,
    memory: &mut FirstOrderMemory,
    scratch: &mut Scratch,
    h: f64,
) -> Result<(), StepError> {
    if is_consistent(set, state, memory, scratch)? {
        return Ok(());
    }
    let t = state.t;
    let before = state.x.clone();
    let instant = INSTANT * h;
    let report = match set.linear() {
        Some(parts) => step_linear(set, parts, state, memory, (instant, Discretisation::Theta { theta: 1.0, gamma: 1.0 }))?,
        None => {
            let settings = NewtonSettings { theta: 1.0, gamma: 1.0, tolerance: 1e-12, max_iterations: 50 };
            step_by_newton(set, state, memory, scratch, (instant, settings))?
        }
    };
    state.t = t;
    let worst = memory.worst_row();
    memory.solution.r.fill(0.0);
    if !report.converged() {
        let residual = report.solve.map_or(report.newton_residual, |solve| solve.residual_normalised);
        let of_row = |row: usize| format!("\"{}\" (row {})", set.relation_of(row).name, set.rows()[row]);
        return Err(StepError::NoConsistentStart { t, place: worst.map_or_else(|| "a relation".to_owned(), of_row), residual });
    }
    let change = |i: usize| (state.x[i] - before[i]).abs();
    let size = state.x.iter().chain(&before).fold(0.0_f64, |m, x| m.max(x.abs()));
    let Some(most) = (0..before.len()).max_by(|&a, &b| change(a).total_cmp(&change(b))) else { return Ok(()) };
    if change(most) > 1e-6 * size {
        let note = format!("{} jumps from {:.6e} to {:.6e}", set.states()[most].name, before[most], state.x[most]);
        memory.events.push(Event::new(t, EventKind::StateJump, set.states()[most].name.clone()).with_note(note));
    } else {
        // nothing moved that is worth an event: the start was consistent but for rounding
        state.x.copy_from_slice(&before);
    }
    Ok(())
}

/// Some λ makes y(x₀) obey the law, with y linearised in λ: −(D λ + y₀) ∈ N_K(λ).
fn is_consistent(set: &FirstOrderSet, state: &State, memory: &mut FirstOrderMemory, scratch: &mut Scratch) -> Result<bool, StepError> {
    let m = set.rows().len();
    if set.relations().iter().all(|relation| relation.law.is_bounded()) {
        return Ok(true);
    }
    memory.solution.r.fill(0.0);
    let zero = vec![0.0; m];
    let at = Point { t: state.t, x: &state.x, lambda: &zero, held: &state.held, q: &state.q, v: &state.v };
    let mut problem = AffineVi { w: vec![0.0; m * m], q: vec![0.0; m], sets: set.sets().to_vec(), generation: 0 };
    set.output(&at, &mut problem.q, scratch).map_err(at_time(state.t))?;
    set.visit(&set.output_jacobian, &at, scratch, &mut |i, variable, value| {
        if let crate::first_order::set::Variable::Multiplier(j) = variable {
            problem.w[i * m + j] += value;
        }
    })
    .map_err(at_time(state.t))?;
    memory.generation += 1;
    problem.generation = memory.generation;
    let solved = memory.solver.solve(&problem, &mut memory.solution).map_err(|source| StepError::Solve { t: state.t, source })?;
    memory.solution.r.fill(0.0);
    memory.solver.set_pieces(&[]);
    Ok(solved.is_converged())
}
