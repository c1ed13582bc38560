//! The linear systems of an interior point step in velocities and impulses.

use super::GlobalFrictionContact;
use super::conic_form::ConicForm;
use crate::linear::SparseLu;
use crate::matrix::SparseMatrix;

/// The system for the steps of velocities and impulses,
///
/// ```text
///     [  A   −B ] [dy]   [ a]
///     [ −Bᵀ  −E ] [dx] = [−b]
/// ```
///
/// with a block E_c = (I − J) G² per cone. As sparse as bodies and contacts are: Bᵀ A⁻¹ B is never formed. Without the slip term J it is
/// quasi-definite; with it the symmetry is lost, so that the factorisation is LU with partial pivoting. A multiple of the
/// identity ([`SHIFT`]) keeps E regular where contacts or joints are redundant; refinement takes it out again.
#[derive(Clone, Debug, Default)]
pub(super) struct NewtonSystem {
    matrix: SparseMatrix,
    /// Position in the values of each entry of the blocks E, cone after cone, row-major.
    positions: Vec<usize>,
    /// The blocks E, in the same order.
    blocks: Vec<f64>,
    /// Position of the diagonal entry of each row of E.
    diagonal: Vec<usize>,
    lu: SparseLu,
    rhs: Vec<f64>,
    correction: Vec<f64>,
}

/// Added to the diagonal of E, in units where A and B are about one: two digits above the rounding of the factors.
const SHIFT: f64 = 1e-13;

/// Refinements of a solution.
const REFINEMENTS: usize = 2;

impl NewtonSystem {
    /// Takes A and B.
    pub fn prepare(&mut self, problem: &GlobalFrictionContact, form: &ConicForm) {
        let (n, rows) = (form.n_dof(), form.cones.n_rows());
        self.matrix.reset(n + rows);
        let mut columns = vec![Vec::new(); rows];
        for i in 0..n {
            form.mass_row(problem, i).for_each(|(j, a)| self.matrix.push(j, a));
            for (j, b) in form.direction_row(problem, i) {
                self.matrix.push(n + j, -b);
                columns[j].push((i, b));
            }
            self.matrix.finish_row();
        }
        self.positions.clear();
        self.diagonal.clear();
        for (_, rows) in form.cones.iter() {
            for row in rows.clone() {
                columns[row].iter().for_each(|&(i, b)| self.matrix.push(i, -b));
                for column in rows.clone() {
                    let position = self.matrix.values().len();
                    self.positions.push(position);
                    if row == column {
                        self.diagonal.push(position);
                    }
                    self.matrix.push(n + column, 0.0);
                }
                self.matrix.finish_row();
            }
        }
        self.blocks.clear();
        self.blocks.resize(self.positions.len(), 0.0);
    }

    /// The blocks E of all cones, row-major one after another, to be filled before [`Self::factor`].
    pub(crate) fn blocks_mut(&mut self) -> &mut [f64] {
        &mut self.blocks
    }

    /// Factors; false where the matrix is singular.
    pub fn factor(&mut self) -> bool {
        let values = self.matrix.values_mut();
        for (&position, block) in self.positions.iter().zip(&self.blocks) {
            values[position] = -block;
        }
        for &position in &self.diagonal {
            values[position] -= SHIFT;
        }
        self.lu.factor(&self.matrix)
    }

    /// Replaces (a, b) by (dy, dx); false when they are not finite.
    pub fn solve(&mut self, b: &mut [f64]) -> bool {
        let n = b.len() - self.diagonal.len();
        b[n..].iter_mut().for_each(|b| *b = -*b);
        self.rhs.clear();
        self.rhs.extend_from_slice(b);
        self.lu.solve(b);
        for _ in 0..REFINEMENTS {
            self.correction.clear();
            for (i, rhs) in self.rhs.iter().enumerate() {
                let product: f64 = self.matrix.row(i).map(|(j, a)| a * b[j]).sum();
                let shift = if i < n { 0.0 } else { SHIFT * b[i] };
                self.correction.push(rhs - product - shift);
            }
            self.lu.solve(&mut self.correction);
            b.iter_mut().zip(&self.correction).for_each(|(b, correction)| *b += correction);
        }
        b.iter().all(|x| x.is_finite())
    }
}
