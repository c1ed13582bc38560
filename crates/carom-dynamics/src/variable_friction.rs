//! One-step problems whose friction coefficients depend on the sliding speed.
//!
//! The coefficients are those of the speed at the end of the step: solved, updated, solved again until they stay. For one contact the speeds
//! are a monotone, bounded sequence where μ falls with the speed, so that the iteration ends at a solution; where there are several
//! (a large step against v_S), at the first from the speed at the start of the step.

use crate::active_set::tangential_speed;
use crate::error::StepError;
use crate::laws::{Friction, Law};
use crate::memory::{OneStep, StepMemory};
use carom_solvers::{SolveReport, SolveStatus};

/// Problems solved at most.
const MAX_SOLVES: usize = 200;
/// Change of μ, in units of μ_s, below which it stays.
const TOLERANCE: f64 = 1e-10;
/// A contact sticks when its sliding speed is below this part of the largest velocity without impulse.
const STICK: f64 = 1e-6;

/// Solves the one-step problem of `memory`; the report is that of the last solve with the iterations of all, and
/// [`SolveStatus::MaxIterations`] where the coefficients did not settle.
pub(crate) fn solve(t: f64, memory: &mut StepMemory) -> Result<SolveReport, StepError> {
    let largest = memory.one_step.problem.q.iter().fold(0.0_f64, |size, q| size.max(q.abs()));
    let sticks = STICK * largest;
    begin(memory, sticks);
    let mut iterations = 0;
    for _ in 0..MAX_SOLVES {
        let StepMemory { solver, one_step: OneStep { problem, solution, .. }, .. } = &mut *memory;
        let mut report = solver.solve(problem, solution).map_err(|source| StepError::Solve { t, source })?;
        iterations += report.iterations;
        report.iterations = iterations;
        if !update(memory, sticks) || !report.status.is_accepted() {
            return Ok(report);
        }
    }
    let StepMemory { solver, one_step: OneStep { problem, solution, .. }, .. } = &mut *memory;
    let mut report = solver.solve(problem, solution).map_err(|source| StepError::Solve { t, source })?;
    report.status = SolveStatus::MaxIterations;
    report.iterations += iterations;
    Ok(report)
}

/// Static coefficients for the contacts that stick at the start of the step, kinetic ones for the others.
fn begin(memory: &mut StepMemory, sticks: f64) {
    let StepMemory { active, one_step: OneStep { problem, .. }, .. } = memory;
    for item in 0..active.items().len() {
        let (law, rows) = (active.items()[item].law, active.items()[item].rows.clone());
        if let Law::Contact(contact) = law
            && let Friction::StaticKinetic { at_rest, sliding } = contact.friction
        {
            let slip = tangential_speed(&active.velocity_start()[rows.clone()]);
            let block = contact.block_with(rows.len(), if slip <= sticks { at_rest } else { sliding });
            problem.blocks[item] = block;
            active.items_mut()[item].block = block;
        }
    }
}

/// The coefficients of the solved speeds; true when one has changed.
fn update(memory: &mut StepMemory, sticks: f64) -> bool {
    let StepMemory { active, one_step: OneStep { problem, solution, .. }, .. } = memory;
    let mut changed = false;
    for item in 0..active.items().len() {
        let Law::Contact(contact) = active.items()[item].law else { continue };
        if !contact.friction.varies() {
            continue;
        }
        let rows = active.items()[item].rows.clone();
        let shift = &active.shift()[rows.clone()];
        let slip = rows.clone().zip(shift).skip(1).take(2).map(|(row, shift)| (solution.u[row] - shift).powi(2)).sum::<f64>().sqrt();
        let mu = problem.blocks[item].friction();
        let (next, at_rest) = match contact.friction {
            Friction::StaticKinetic { at_rest, sliding } => (if slip > sticks { sliding } else { mu }, at_rest),
            friction => (friction.at(slip), friction.at(0.0)),
        };
        if (next - mu).abs() > TOLERANCE * at_rest {
            let block = contact.block_with(rows.len(), next);
            problem.blocks[item] = block;
            active.items_mut()[item].block = block;
            changed = true;
        }
    }
    changed
}
