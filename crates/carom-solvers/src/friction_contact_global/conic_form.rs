//! The global form over second-order cones.

use super::GlobalFrictionContact;
use crate::cones::Block;
use crate::conic::{Cone, ConeProduct};
use crate::error::SolveError;

/// The problem in y, x and z with v = M⁻¹ f + D^-½ y, D = diag M, and per contact r = P x, z = P û, P = s diag(1, μ, μ):
///
/// ```text
///     A y = B x,   z = Bᵀ y + c + e |z_T|,     A = D^-½ M D^-½,  B = D^-½ H P,  c = P q,     L ∋ z ⊥ x ∈ L,  L = {|x_T| ≤ x_N}
/// ```
///
/// so that De Saxcé's term is |z_T| whatever μ. A contact without friction keeps its normal row only, rows of joints are free.
/// s gives the columns of B of each block a mean square of one; x, y and z are counted in a unit that makes the largest |c| one.
#[derive(Clone, Debug, Default)]
pub(super) struct ConicForm {
    /// The cones of x and z.
    pub cones: ConeProduct,
    /// c.
    pub c: Vec<f64>,
    /// Row of the problem of each row of x, and its factor in P.
    rows: Vec<(usize, f64)>,
    /// Row of x of each row of the problem, or [`NONE`].
    place: Vec<usize>,
    /// D^-½.
    roots: Vec<f64>,
    unit: f64,
}

/// A row of the problem whose impulse is zero by law.
const NONE: usize = usize::MAX;

impl ConicForm {
    /// Reads a valid problem with the contact velocities q without impulse; storage is reused.
    ///
    /// # Errors
    /// [`SolveError::Unsupported`] for contacts with friction and rolling resistance, whose cone is no second-order one.
    pub fn build(&mut self, problem: &GlobalFrictionContact, q: &[f64]) -> Result<(), SolveError> {
        self.cones.clear();
        self.rows.clear();
        self.place.clear();
        self.place.resize(q.len(), NONE);
        self.roots.clear();
        self.roots.extend((0..problem.n_dof()).map(|i| 1.0 / problem.m.get(i, i).sqrt()));
        // Squares of the columns of D^-½ H.
        let mut squares = vec![0.0; q.len()];
        for (i, root) in self.roots.iter().enumerate() {
            problem.h.row(i).for_each(|(j, h)| squares[j] += (h * root).powi(2));
        }
        let mut start = 0;
        for block in &problem.blocks {
            self.push_block(start, block, &squares)?;
            start += block.dim();
        }
        self.c.clear();
        self.c.extend(self.rows.iter().map(|&(row, factor)| factor * q[row]));
        let largest = self.c.iter().fold(0.0_f64, |size, c| size.max(c.abs()));
        self.unit = if largest > 0.0 { largest } else { 1.0 };
        self.c.iter_mut().for_each(|c| *c /= self.unit);
        Ok(())
    }

    /// The rows and the cone of a block.
    fn push_block(&mut self, start: usize, block: &Block, squares: &[f64]) -> Result<(), SolveError> {
        let tangents = |first: usize, count: usize, slope: f64| {
            (start + first..start + first + if slope > 0.0 { count } else { 0 }).map(move |row| (row, slope))
        };
        let begin = self.rows.len();
        self.rows.push((start, 1.0));
        match *block {
            Block::Bilateral { dim } => self.rows.extend(tangents(1, dim - 1, 1.0)),
            Block::Unilateral => {}
            Block::Bounded { .. } | Block::Ball { .. } => {
                return Err(SolveError::Unsupported {
                    solver: "interior-point",
                    reason: "a bounded row is an interval, friction of known bound a ball: no cones",
                    alternatives: "reduction (with local auto), nsgs",
                });
            }
            Block::Coulomb2 { mu } => self.rows.extend(tangents(1, 1, mu)),
            Block::Coulomb3 { mu } => self.rows.extend(tangents(1, 2, mu)),
            Block::Spinning { mu, spinning: slope }
            | Block::Rolling { mu, rolling: slope }
            | Block::RollingSpinning { mu, rolling: slope }
                if mu > 0.0 && slope > 0.0 =>
            {
                let reason = "the cone of friction with rolling resistance is no second-order cone";
                return Err(SolveError::Unsupported {
                    solver: "interior-point",
                    reason,
                    alternatives: "reduction (with local auto), admm",
                });
            }
            Block::Spinning { mu, spinning: slope }
            | Block::Rolling { mu, rolling: slope }
            | Block::RollingSpinning { mu, rolling: slope } => {
                self.rows.extend(tangents(1, 2, mu));
                self.rows.extend(tangents(3, block.dim() - 3, slope));
            }
        }
        let rows = &mut self.rows[begin..];
        let dim = rows.len();
        let mean = rows.iter().map(|&(row, factor)| factor * factor * squares[row]).sum::<f64>() / dim as f64;
        let size = 1.0 / mean.sqrt();
        let size = if size > 0.0 && size.is_finite() { size } else { 1.0 };
        for (k, (row, factor)) in rows.iter_mut().enumerate() {
            *factor *= size;
            self.place[*row] = begin + k;
        }
        self.cones.push(if block.is_bilateral() { Cone::Free { dim } } else { Cone::Lorentz { dim } });
        Ok(())
    }

    /// Number of coordinates of bodies.
    pub fn n_dof(&self) -> usize {
        self.roots.len()
    }

    /// (column, value) of a row of A.
    pub(crate) fn mass_row<'a>(&'a self, problem: &'a GlobalFrictionContact, i: usize) -> impl Iterator<Item = (usize, f64)> + 'a {
        problem.m.row(i).map(move |(j, m)| (j, m * self.roots[i] * self.roots[j]))
    }

    /// (column, value) of a row of B.
    pub(crate) fn direction_row<'a>(&'a self, problem: &'a GlobalFrictionContact, i: usize) -> impl Iterator<Item = (usize, f64)> + 'a {
        problem.h.row(i).filter_map(move |(row, h)| {
            let place = self.place[row];
            (place != NONE).then(|| (place, h * self.roots[i] * self.rows[place].1))
        })
    }

    /// r = P x in the units of the problem, moved to its cone.
    pub(crate) fn restore_impulse(&self, problem: &GlobalFrictionContact, x: &[f64], r: &mut [f64]) {
        r.fill(0.0);
        for (x, &(row, factor)) in x.iter().zip(&self.rows) {
            r[row] = self.unit * factor * x;
        }
        problem.project_on_cones(r);
    }
}
