//! The correction U of positions: M U = Gᵀ ν with 0 ≤ g ⟂ ν ≥ 0 at contacts and g = 0 at constraints.

use crate::active_set::{ActiveSet, ActiveSource};
use crate::block_diagonal::BlockLayout;
use crate::error::{NonFinite, StepError};
use crate::interactions::Interaction;
use crate::memory::{Matrices, StepMemory};
use crate::model::Model;
use crate::relations::Rows;
use crate::systems::Scratch;
use carom_solvers::{Block, BlockSparse, Delassus, FrictionContact, Solution};

/// U, ν and the problem for ν.
pub(super) struct Positions {
    /// U.
    correction: Vec<f64>,
    /// ν by interaction.
    multipliers: Vec<[f64; 6]>,
    /// The interactions that take part in this step: constraints with a position, and contacts once they penetrate.
    takes_part: Vec<bool>,
    /// g by interaction.
    values: Vec<[f64; 6]>,
    active: ActiveSet,
    problem: FrictionContact,
    solution: Solution,
    /// Rows of one relation.
    jacobian: Vec<f64>,
    /// W ν.
    product: Vec<f64>,
}

impl Default for Positions {
    fn default() -> Self {
        Positions {
            correction: Vec::new(),
            multipliers: Vec::new(),
            takes_part: Vec::new(),
            values: Vec::new(),
            active: ActiveSet::default(),
            problem: FrictionContact { w: Delassus::BlockSparse(BlockSparse::new()), q: Vec::new(), blocks: Vec::new() },
            solution: Solution { r: Vec::new(), u: Vec::new() },
            jacobian: Vec::new(),
            product: Vec::new(),
        }
    }
}

/// Rows of an interaction that have a position to be corrected: all of a holonomic constraint, the gap of a contact.
fn n_positions(interaction: &Interaction) -> usize {
    match (interaction.is_bilateral(), interaction.relation().is_holonomic()) {
        (true, true) => interaction.relation().n_rows(),
        (true, false) => 0,
        (false, _) => 1,
    }
}

impl Positions {
    /// U = 0.
    pub fn begin(&mut self, model: &Model) {
        let n = model.interactions().len();
        self.correction.clear();
        self.correction.resize(model.systems().velocities().len(), 0.0);
        self.multipliers.clear();
        self.multipliers.resize(n, [0.0; 6]);
        self.values.resize(n, [0.0; 6]);
        self.takes_part.clear();
        self.takes_part.extend(model.interactions().iter().map(|i| i.is_bilateral() && n_positions(i) > 0));
    }

    /// U.
    pub fn correction(&self) -> &[f64] {
        &self.correction
    }

    /// (t, q) => g; true where all hold within `tolerance`. Contacts that penetrate take part from now on.
    pub fn hold(&mut self, model: &Model, t: f64, q: &[f64], tolerance: f64, scratch: &mut Scratch) -> Result<bool, NonFinite> {
        let mut hold = true;
        for (i, interaction) in model.interactions().iter().enumerate() {
            let (n, relation) = (n_positions(interaction), interaction.relation());
            if n == 0 {
                continue;
            }
            relation.position(t, q, &mut self.values[i][..relation.n_rows()], scratch)?;
            let g = &self.values[i];
            if interaction.is_bilateral() {
                hold &= g[..n].iter().all(|g| g.abs() <= tolerance);
            } else {
                self.takes_part[i] |= g[0] < -tolerance;
                // a contact that is pushed must touch
                hold &= g[0] >= -tolerance && (g[0] <= tolerance || self.multipliers[i][0] == 0.0);
            }
        }
        Ok(hold)
    }

    /// One linearisation: g + G (U' − U) and ν' obey the law, U' = M⁻¹ Gᵀ ν'. False where the problem is not solved.
    pub fn improve(&mut self, model: &Model, t: f64, q: &[f64], mass: &Matrices, memory: &mut StepMemory) -> Result<bool, StepError> {
        let layout = model.systems().layout();
        self.collect(model, layout, t, q, &mut memory.scratch).map_err(crate::assembly::at_time(t))?;
        self.active.compute_response(layout, &mass.factor);
        if let Delassus::BlockSparse(w) = &mut self.problem.w {
            self.active.assemble_delassus(layout, w);
        }
        // U as it is, seen through the rows
        self.product.resize(self.active.n_rows(), 0.0);
        self.active.local_velocity(layout, &self.correction, &mut self.product);
        self.problem.q.resize(self.active.n_rows(), 0.0);
        // g in units of its largest value: the solver's tolerance is absolute
        let largest = |values: &[f64]| values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let unit = largest(&self.solution.u).max(f64::MIN_POSITIVE);
        for ((q, g), product) in self.problem.q.iter_mut().zip(&self.solution.u).zip(&self.product) {
            *q = (g - product) / unit;
        }
        self.solution.r.iter_mut().for_each(|nu| *nu /= unit);
        let report = memory.solver.solve(&self.problem, &mut self.solution).map_err(|source| StepError::Solve { t, source })?;
        self.solution.r.iter_mut().for_each(|nu| *nu *= unit);
        self.correction.fill(0.0);
        self.active.add_response(layout, &self.solution.r, &mut self.correction);
        for item in self.active.items() {
            if let ActiveSource::Interaction(i) = item.source {
                self.multipliers[i][..item.rows.len()].copy_from_slice(&self.solution.r[item.rows.clone()]);
            }
        }
        Ok(report.is_accepted())
    }

    /// The rows that take part with their G at (t, q); g goes to `solution.u`, ν to `solution.r`.
    fn collect(&mut self, model: &Model, layout: &BlockLayout, t: f64, q: &[f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        self.active.clear();
        self.problem.blocks.clear();
        self.solution.r.clear();
        self.solution.u.clear();
        for (i, interaction) in model.interactions().iter().enumerate() {
            if !self.takes_part[i] {
                continue;
            }
            let (relation, n) = (interaction.relation(), n_positions(interaction));
            let (rows, width) = (relation.n_rows(), relation.velocities().len());
            self.jacobian.resize(rows * width, 0.0);
            let mut bias = [0.0; 6];
            relation.jacobian(t, q, Rows { jacobian: &mut self.jacobian, bias: &mut bias[..rows] }, scratch)?;
            let blocks = interaction.blocks().iter().copied();
            let item = self.active.push(ActiveSource::Interaction(i), *interaction.law(), 0.0, n, blocks, layout);
            let (out, _, _) = self.active.rows_mut(item);
            interaction.spread(&self.jacobian[..n * width], out);
            self.problem.blocks.push(if interaction.is_bilateral() { Block::Bilateral { dim: n } } else { Block::Unilateral });
            self.solution.r.extend_from_slice(&self.multipliers[i][..n]);
            self.solution.u.extend_from_slice(&self.values[i][..n]);
        }
        Ok(())
    }
}
