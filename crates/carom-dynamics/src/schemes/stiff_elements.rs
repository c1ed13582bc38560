//! Stiff springs and bushings as compliant rows of the one-step problem.
//!
//! M̂ of an implicit step is block diagonal by bodies; what a force element couples between them would be left to Newton's iteration, which stiff
//! elements make slow. Along its stiff directions, u = G_s v, an element changes its impulse over the step by −κ G_s (v − v̄) when the velocity at the end changes
//! from the present iterate v̄, κ = hθ c + hθ hβ k. As rows of the one-step problem, with the change π of the impulse as unknown,
//!
//! ```text
//! G_s v + π/κ = G_s v̄,      M̂ (v − v_free) = Gᵀ p + G_sᵀ π
//! ```
//!
//! that is exact for linear springs, whatever their stiffness: a bilateral row with the compliance 1/κ on the diagonal of W, solved with all other rows.
//! π vanishes as Newton's iteration converges, so that forces, energies and recorded impulses are those of the elements themselves. Elements that are
//! not stiff stay in the blocks of M̂.

use super::stages::factorise;
use crate::active_set::ActiveSet;
use crate::assembly::at_time;
use crate::block_diagonal::{BlockFactor, BlockLayout, dot};
use crate::error::{NonFinite, StepError};
use crate::memory::{Matrices, StepMemory};
use crate::model::Model;
use crate::systems::{Instant, JacobianFactors, Scratch};
use carom_solvers::{Block, Delassus, FrictionContact, Solution};
use std::ops::Range;

/// The stiff elements of a step; nothing is allocated once warm.
#[derive(Debug, Default)]
pub(crate) struct StiffElements {
    list: Vec<Stiff>,
    /// Elements by number => place in the list, or `SOFT`.
    place: Vec<u32>,
    /// Rows over the velocities of each element, and κ of each row.
    rows: Vec<f64>,
    kappa: Vec<f64>,
    blocks: Vec<u32>,
    spread: Vec<f64>,
}

/// A stiff element.
#[derive(Clone, Debug)]
struct Stiff {
    element: usize,
    /// Its place among the rows of the active set.
    item: usize,
    rows: Range<usize>,
    kappa: Range<usize>,
}

/// Not in the list.
const SOFT: u32 = u32::MAX;

/// κ G_s M̂⁻¹ G_sᵀ from which an element is stiff: below, blocks converge fast.
const STIFF: f64 = 0.02;

impl StiffElements {
    /// No element is stiff.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Finds the stiff elements at an instant and adds their rows, still zero, to the active set. `matrices.factor` holds M̂ with the blocks of all elements. True
    /// if there are any.
    pub fn begin(model: &Model, at: Instant<'_>, factors: JacobianFactors, memory: &mut StepMemory) -> Result<bool, NonFinite> {
        let StepMemory { stiff, active, matrices, scratch, .. } = memory;
        let (systems, elements) = (model.systems(), model.force_elements());
        let layout = systems.layout();
        stiff.list.clear();
        stiff.rows.clear();
        stiff.kappa.clear();
        if elements.is_empty() {
            return Ok(false);
        }
        stiff.place.clear();
        stiff.place.resize(elements.len(), SOFT);
        for (number, (_, element)) in elements.iter().enumerate().filter(|(_, (_, element))| !element.is_constant()) {
            let StiffElements { list, place, rows, kappa, blocks, spread } = stiff;
            element.visit_stiff_rows(systems, at, factors, scratch, &mut |velocities, found, kappas| {
                let n = velocities.len().max(1);
                let is_stiff = found
                    .chunks_exact(n)
                    .zip(kappas)
                    .any(|(row, kappa)| *kappa > 0.0 && kappa * compliance(layout, &matrices.factor, velocities, row, spread) > STIFF);
                // a block of rows has at most six
                if !is_stiff || kappas.len() > Block::MAX_DIM {
                    return;
                }
                blocks.clear();
                blocks.extend(velocities.iter().map(|&v| layout.block_of_row(v) as u32));
                blocks.dedup();
                let item = active.push_auxiliary(kappas.len(), blocks.iter().copied(), layout);
                place[number] = list.len() as u32;
                list.push(Stiff {
                    element: number,
                    item,
                    rows: rows.len()..rows.len() + found.len(),
                    kappa: kappa.len()..kappa.len() + kappas.len(),
                });
                rows.extend_from_slice(found);
                kappa.extend_from_slice(kappas);
            })?;
        }
        memory.work.rows_vary |= !memory.stiff.is_empty();
        Ok(!memory.stiff.is_empty())
    }

    /// The rows at the present iterate, with G_s v̄ as what they shall keep.
    pub fn update(model: &Model, at: Instant<'_>, factors: JacobianFactors, memory: &mut StepMemory) -> Result<(), NonFinite> {
        let StepMemory { stiff, active, scratch, .. } = memory;
        let systems = model.systems();
        let StiffElements { list, rows, kappa, .. } = stiff;
        for entry in list.iter() {
            let Some(element) = model.force_elements().get(entry.element) else { continue };
            element.visit_stiff_rows(systems, at, factors, scratch, &mut |velocities, found, kappas| {
                rows[entry.rows.clone()].copy_from_slice(found);
                kappa[entry.kappa.clone()].copy_from_slice(kappas);
                write_rows(active, systems.layout(), entry.item, (velocities, found, kappas), at.v);
            })?;
        }
        Ok(())
    }

    /// Adds −κ G_sᵀ G_s w to `work.residual` for the displacement w in `work.displacement`, with κ = hθ k: what the impulses of the elements change by on the way.
    pub fn extrapolate(model: &Model, at: Instant<'_>, factors: JacobianFactors, memory: &mut StepMemory) -> Result<(), NonFinite> {
        let StepMemory { stiff, work, scratch, .. } = memory;
        for entry in &stiff.list {
            let Some(element) = model.force_elements().get(entry.element) else { continue };
            element.visit_stiff_rows(model.systems(), at, factors, scratch, &mut |velocities, rows, kappas| {
                for (row, kappa) in rows.chunks_exact(velocities.len().max(1)).zip(kappas) {
                    let way: f64 = row.iter().zip(velocities).map(|(x, &j)| x * work.displacement[j]).sum();
                    row.iter().zip(velocities).for_each(|(x, &j)| work.residual[j] -= kappa * way * x);
                }
            })?;
        }
        Ok(())
    }

    /// M̂ without the stiff rows and with what is `added` to it, in its layout, factorised; nothing is added by an empty list.
    pub fn factorise(
        &self,
        model: &Model,
        at: Instant<'_>,
        factors: JacobianFactors,
        (matrices, added): (&mut Matrices, &[f64]),
        scratch: &mut Scratch,
    ) -> Result<(), StepError> {
        matrices.iteration.clone_from(&matrices.mass);
        let stiff = |number: usize| {
            let entry = self.list.get(*self.place.get(number)? as usize)?;
            Some((&self.rows[entry.rows.clone()], &self.kappa[entry.kappa.clone()]))
        };
        model.add_jacobians_beside(at, factors, (&mut matrices.iteration, stiff), scratch).map_err(at_time(at.t))?;
        matrices.iteration.iter_mut().zip(added).for_each(|(m, k)| *m += k);
        factorise(model, at.t, matrices)?;
        matrices.factor_of = None;
        Ok(())
    }

    /// Adds 1/κ to the diagonal of W.
    pub(crate) fn add_compliance(&self, active: &ActiveSet, problem: &mut FrictionContact) {
        let Delassus::BlockSparse(w) = &mut problem.w else { return };
        for entry in &self.list {
            let dim = active.all_items()[entry.item].rows.len();
            let diagonal = w.diagonal_mut(entry.item).iter_mut().step_by(dim + 1);
            // a row without stiffness is empty: its impulse is zero with any compliance
            diagonal.zip(&self.kappa[entry.kappa.clone()]).for_each(|(x, kappa)| *x += if *kappa > 0.0 { 1.0 / kappa } else { 1.0 });
        }
    }

    /// The largest square, in the energy norm, of the impulse that a velocity G_s v of this size changes: (κ u)² G_s M̂⁻¹ G_sᵀ.
    pub fn resolution(&self, active: &ActiveSet, problem: &FrictionContact, velocity: f64) -> f64 {
        let mut largest = 0.0_f64;
        for entry in &self.list {
            let dim = active.all_items()[entry.item].rows.len();
            let diagonal = problem.w.diagonal(entry.item).iter().step_by(dim + 1);
            for (w, kappa) in diagonal.zip(&self.kappa[entry.kappa.clone()]).filter(|(_, kappa)| **kappa > 0.0) {
                largest = largest.max((kappa * velocity).powi(2) * (w - 1.0 / kappa).max(0.0));
            }
        }
        largest
    }

    /// The impulses of the rows are changes of forces that the next iteration has in F.
    pub(crate) fn forget_impulses(active: &ActiveSet, solution: &mut Solution) {
        solution.r[active.n_own_rows()..].fill(0.0);
    }

    /// Takes the rows out of the active set and the solution.
    pub fn finish(memory: &mut StepMemory) {
        if !memory.stiff.is_empty() {
            memory.active.drop_auxiliary();
            let n = memory.active.n_own_rows();
            memory.one_step.solution.r.truncate(n);
            memory.one_step.solution.u.truncate(n);
            memory.stiff.list.clear();
        }
    }
}

/// G_s M̂⁻¹ G_sᵀ of a row over some velocities, ascending.
fn compliance(layout: &BlockLayout, factor: &BlockFactor, velocities: &[usize], row: &[f64], spread: &mut Vec<f64>) -> f64 {
    let (mut sum, mut from) = (0.0, 0);
    while from < velocities.len() {
        let block = layout.block_of_row(velocities[from]);
        let (first, size) = (layout.rows[block], layout.size(block));
        let to = from + velocities[from..].iter().take_while(|&&v| v < first + size).count();
        spread.clear();
        spread.resize(2 * size, 0.0);
        let (dense, response) = spread.split_at_mut(size);
        velocities[from..to].iter().zip(&row[from..to]).for_each(|(&v, x)| dense[v - first] = *x);
        factor.solve_block(layout, block, dense, response);
        sum += dot(dense, response);
        from = to;
    }
    sum
}

/// Writes the rows of an element over the blocks they touch, and −G_s v̄ as their shift.
fn write_rows(
    active: &mut ActiveSet,
    layout: &BlockLayout,
    item: usize,
    (velocities, rows, kappas): (&[usize], &[f64], &[f64]),
    v: &[f64],
) {
    let (first, n) = (active.all_items()[item].rows.start, velocities.len().max(1));
    let (target, ..) = active.rows_mut(item);
    let width = target.len() / kappas.len();
    target.fill(0.0);
    for ((row, target), kappa) in rows.chunks_exact(n).zip(target.chunks_exact_mut(width)).zip(kappas) {
        if *kappa == 0.0 {
            continue;
        }
        let (mut block, mut start) = (usize::MAX, 0);
        let mut width = 0;
        for (&velocity, x) in velocities.iter().zip(row) {
            let of = layout.block_of_row(velocity);
            if of != block {
                (block, start) = (of, width);
                width += layout.size(of);
            }
            target[start + velocity - layout.rows[of]] = *x;
        }
    }
    for (k, (row, kappa)) in rows.chunks_exact(n).zip(kappas).enumerate() {
        let rate: f64 = row.iter().zip(velocities).map(|(x, &j)| x * v[j]).sum();
        active.shift_mut()[first + k] = if *kappa == 0.0 { 0.0 } else { -rate };
    }
}
