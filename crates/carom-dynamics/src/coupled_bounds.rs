//! One-step problems with bounds that follow the reaction of a joint: Coulomb friction in it.
//!
//! ```text
//! |p| ≤ h T + c |P_R|,      P_R the impulse that the joint's own rows bear in the same step,  c = μ r (torque) or μ (force)
//! ```
//!
//! Solved with the bounds of the last reaction, updated, solved again until they stay: a fixed point whose rate is c times the reaction that a
//! unit of friction causes. Where that is one or more (a joint that jams) it does not settle, which the report tells.

use crate::active_set::{Active, ActiveSource};
use crate::error::StepError;
use crate::laws::{JointLoad, Law};
use crate::memory::{OneStep, StepMemory};
use carom_solvers::{SolveReport, SolveStatus};

/// Problems solved at most.
const MAX_SOLVES: usize = 200;
/// Change of a bound, relative to the largest bound of the step, below which it stays.
const TOLERANCE: f64 = 1e-12;

/// Solves the one-step problem of `memory` by `solve`, again and again with the bounds of its reactions; the report is that of the last solve with
/// the iterations of all, and [`SolveStatus::MaxIterations`] where the bounds did not settle.
pub(crate) fn solve(
    memory: &mut StepMemory,
    mut solve: impl FnMut(&mut StepMemory) -> Result<SolveReport, StepError>,
) -> Result<SolveReport, StepError> {
    update(memory);
    let mut iterations = 0;
    for _ in 0..MAX_SOLVES {
        let mut report = solve(memory)?;
        iterations += report.iterations;
        report.iterations = iterations;
        if !report.status.is_accepted() || !update(memory) {
            return Ok(report);
        }
    }
    let mut report = solve(memory)?;
    report.status = SolveStatus::MaxIterations;
    report.iterations += iterations;
    Ok(report)
}

/// The bounds of the reactions in the solution; true when one has changed.
fn update(memory: &mut StepMemory) -> bool {
    let StepMemory { active, one_step: OneStep { problem, solution, .. }, .. } = memory;
    let (step, mut change, mut largest) = (active.step(), 0.0_f64, 0.0_f64);
    for item in 0..active.items().len() {
        let Law::Bounded(law) = active.items()[item].law else { continue };
        let Some(load) = law.load else { continue };
        let rows = active.items()[item].rows.len();
        let block = law.block(rows, step, reaction(active.items(), load, &solution.r));
        if let (Some(new), Some(old)) = (block.radius(), problem.blocks[item].radius()) {
            (change, largest) = (change.max((new - old).abs()), largest.max(new));
        }
        if let (Some(new), Some(old)) = (block.bounds(), problem.blocks[item].bounds()) {
            let distance = |a: f64, b: f64| if a == b { 0.0 } else { (a - b).abs() };
            change = change.max(distance(new.0, old.0)).max(distance(new.1, old.1));
            largest = [new.0, new.1].into_iter().filter(|x| x.is_finite()).fold(largest, |most, x| most.max(x.abs()));
        }
        problem.blocks[item] = block;
        active.items_mut()[item].block = block;
    }
    change > TOLERANCE * largest
}

/// |P_R| of a joint; interactions are active in the order of the model, constraints always.
fn reaction(items: &[Active], load: JointLoad, r: &[f64]) -> f64 {
    let place = items.partition_point(|item| matches!(item.source, ActiveSource::Interaction(i) if i < load.joint));
    match items.get(place) {
        Some(item) if item.source == ActiveSource::Interaction(load.joint) => {
            item.rows.clone().take(load.rows).map(|row| r.get(row).map_or(0.0, |p| p * p)).sum::<f64>().sqrt()
        }
        _ => 0.0,
    }
}
