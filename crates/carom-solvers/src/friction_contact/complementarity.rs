//! Friction contact problems as linear complementarity problems.

use super::FrictionContact;
use crate::cones::Block;
use crate::error::SolveError;
use crate::lcp::{Lcp, Lemke};
use crate::matrix::Matrix;
use std::f64::consts::TAU;
use std::ops::Range;

/// The LCP of a problem with contact blocks only, in the mass unit with mean(diag W) = 1.
///
/// A frictionless contact is one row, 0 ≤ u_N ⊥ r_N ≥ 0. A contact with friction has directions d_1 … d_m (in the plane ±1,
/// in space the corners of a regular polygon), r_T = Σ β_i d_i, and a bound σ of the slip
/// [Stewart & Trinkle 1996; Anitescu, Potra & Stewart 1998, eq. 7]:
///
/// ```text
///   0 ≤ u_N               ⊥ r_N ≥ 0
///   0 ≤ σ + d_i·u_T       ⊥ β_i ≥ 0
///   0 ≤ μ r_N − Σ β_i     ⊥ σ   ≥ 0
/// ```
///
/// A bounded row is r = lower + z with the multiplier σ of the upper bound, 0 ≤ u + σ ⊥ z ≥ 0 and 0 ≤ upper − lower − z ⊥ σ ≥ 0; with one bound
/// only, one row; with none, r = z₁ − z₂. Its matrix is skew beside W, which keeps the form copositive.
///
/// Rolling resistance has the last two kinds of rows once more, for its moments. For W positive semidefinite
/// zᵀMz = rᵀWr + μ r_N σ ≥ 0 (copositive), which Lemke's method wants; the form with three rows per planar contact does not have
/// this property. In the plane the form is exact; in space the cone is replaced by the pyramid inscribed in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ComplementarityForm {
    /// The problem in complementarity form.
    pub lcp: Lcp,
    /// z = s r for rows that are impulses; used to scale back.
    scale: f64,
    /// Per LCP row: a direction of impulse, or a slip bound.
    rows: Vec<Row>,
    /// r where all z are zero: the bounds from which bounded rows are counted.
    offsets: Vec<f64>,
    dense: Vec<f64>,
}

#[derive(Clone, Debug)]
enum Row {
    /// Impulse along `direction` in the two components from `row` on (only the first where the second is zero).
    Impulse { row: usize, direction: [f64; 2] },
    /// The slip bound of the LCP rows `tangents`, with |r_T| ≤ slope · z of the LCP row `normal`.
    SlipBound { slope: f64, normal: usize, tangents: Range<usize> },
    /// The multiplier of z ≤ `width` of the LCP row `of`.
    UpperBound { width: f64, of: usize },
}

impl ComplementarityForm {
    /// Builds the LCP, reusing storage. `facets` is the number of corners of the polygons that stand for disks.
    ///
    /// # Errors
    /// [`SolveError::Unsupported`] for spatial friction, which is not linear, without `facets`.
    pub fn build(&mut self, solver: &'static str, problem: &FrictionContact, facets: Option<usize>) -> Result<(), SolveError> {
        self.list_rows(solver, problem, facets)?;
        if self.rows.len() > Lemke::MAX_ROWS {
            return Err(SolveError::Unsupported {
                solver,
                reason: "its complementarity form has more than 2000 rows, too many for a dense tableau",
                alternatives: "auto, nsgs, interior-point",
            });
        }
        let n_rows = problem.n_rows();
        self.scale = problem.mass_scale();
        problem.w.to_dense(&mut self.dense);
        let n = self.rows.len();
        self.lcp.q.clear();
        let Matrix::Dense(m) = &mut self.lcp.m else {
            return Ok(()); // Built dense by default, never replaced.
        };
        m.reset(n, n);
        let m = m.values_mut();
        for (i, row) in self.rows.iter().enumerate() {
            match row {
                &Row::Impulse { row, direction } => {
                    let offsets = &self.offsets;
                    let forced = |k: usize| -> f64 {
                        let row = &self.dense[k * n_rows..(k + 1) * n_rows];
                        row.iter().zip(offsets).filter(|(_, r)| **r != 0.0).map(|(w, r)| w * r).sum()
                    };
                    self.lcp.q.push(along(direction, row, |k| problem.q[k] + forced(k)));
                    for (j, column) in self.rows.iter().enumerate() {
                        if let Row::Impulse { row: other, direction: other_direction } = *column {
                            let w = along(direction, row, |k| along(other_direction, other, |l| self.dense[k * n_rows + l]));
                            m[i * n + j] = w / self.scale;
                        }
                    }
                }
                Row::UpperBound { width, of } => {
                    self.lcp.q.push(width * self.scale);
                    m[i * n + of] = -1.0;
                    m[of * n + i] = 1.0;
                }
                Row::SlipBound { slope, normal, tangents } => {
                    self.lcp.q.push(0.0);
                    m[i * n + normal] = *slope;
                    for tangent in tangents.clone() {
                        m[i * n + tangent] = -1.0;
                        m[tangent * n + i] = 1.0;
                    }
                }
            }
        }
        Ok(())
    }

    fn list_rows(&mut self, solver: &'static str, problem: &FrictionContact, facets: Option<usize>) -> Result<(), SolveError> {
        self.rows.clear();
        self.offsets.clear();
        self.offsets.resize(problem.n_rows(), 0.0);
        let mut start = 0;
        for block in &problem.blocks {
            if let Some((lower, upper)) = block.bounds() {
                self.push_bounded(start, lower, upper);
                start += 1;
                continue;
            }
            let normal = self.rows.len();
            self.rows.push(Row::Impulse { row: start, direction: [1.0, 0.0] });
            match (*block, facets) {
                (Block::Coulomb2 { mu }, _) => self.push_part(start + 1, mu, normal, [[1.0, 0.0], [-1.0, 0.0]].into_iter()),
                (Block::Coulomb3 { mu }, Some(facets)) => self.push_part(start + 1, mu, normal, polygon(facets)),
                (Block::Spinning { mu, spinning }, Some(facets)) => {
                    self.push_part(start + 1, mu, normal, polygon(facets));
                    self.push_part(start + 3, spinning, normal, [[1.0, 0.0], [-1.0, 0.0]].into_iter());
                }
                (Block::Rolling { mu, rolling }, Some(facets)) => {
                    self.push_part(start + 1, mu, normal, polygon(facets));
                    self.push_part(start + 3, rolling, normal, polygon(facets));
                }
                _ if block.is_frictionless() => {}
                (Block::RollingSpinning { .. }, Some(_)) => {
                    return Err(SolveError::Unsupported {
                        solver,
                        reason: "the bound of rolling and spinning together is a ball, which polygons do not replace",
                        alternatives: "auto, nsgs, admm",
                    });
                }
                _ => {
                    return Err(SolveError::Unsupported {
                        solver,
                        reason: "spatial Coulomb friction is not a linear complementarity problem",
                        alternatives: "auto, nsgs (or stewart-trinkle, with polyhedral cones)",
                    });
                }
            }
            start += block.dim();
        }
        Ok(())
    }

    /// Directions from component `row` on with their slip bound.
    fn push_part(&mut self, row: usize, slope: f64, normal: usize, directions: impl Iterator<Item = [f64; 2]>) {
        if slope > 0.0 {
            let first = self.rows.len();
            self.rows.extend(directions.map(|direction| Row::Impulse { row, direction }));
            let tangents = first..self.rows.len();
            self.rows.push(Row::SlipBound { slope, normal, tangents });
        }
    }

    /// A row between bounds; none where there is no room between them.
    fn push_bounded(&mut self, row: usize, lower: f64, upper: f64) {
        let of = self.rows.len();
        if lower == upper {
            self.offsets[row] = lower;
        } else if lower.is_finite() {
            self.offsets[row] = lower;
            self.rows.push(Row::Impulse { row, direction: [1.0, 0.0] });
            if upper.is_finite() {
                self.rows.push(Row::UpperBound { width: upper - lower, of });
            }
        } else if upper.is_finite() {
            self.offsets[row] = upper;
            self.rows.push(Row::Impulse { row, direction: [-1.0, 0.0] });
        } else {
            self.rows.extend([[1.0, 0.0], [-1.0, 0.0]].map(|direction| Row::Impulse { row, direction }));
        }
    }

    /// z of an impulse; slip bounds start from zero.
    pub fn guess(&self, r: &[f64], z: &mut Vec<f64>) {
        z.clear();
        z.extend(self.rows.iter().map(|row| match *row {
            Row::Impulse { row, direction } => (along(direction, row, |k| r[k] - self.offsets[k]) * self.scale).max(0.0),
            Row::SlipBound { .. } | Row::UpperBound { .. } => 0.0,
        }));
    }

    /// Impulse of z.
    pub(crate) fn recover(&self, z: &[f64], r: &mut [f64]) {
        r.copy_from_slice(&self.offsets);
        for (row, z) in self.rows.iter().zip(z) {
            if let Row::Impulse { row, direction } = *row {
                for (k, d) in direction.into_iter().enumerate().filter(|(_, d)| *d != 0.0) {
                    r[row + k] += d * z / self.scale;
                }
            }
        }
    }
}

/// Σ_k d_k x(row + k) over the components with d_k ≠ 0, the others may not exist.
fn along(direction: [f64; 2], row: usize, x: impl Fn(usize) -> f64) -> f64 {
    let second = if direction[1] == 0.0 { 0.0 } else { direction[1] * x(row + 1) };
    if direction[0] == 0.0 { second } else { direction[0] * x(row) + second }
}

/// The corners of a regular polygon; for an even number of them each has its opposite.
fn polygon(facets: usize) -> impl Iterator<Item = [f64; 2]> {
    let corner = move |k: usize| (TAU * k as f64 / facets as f64).sin_cos();
    (0..facets).map(corner).map(|(sin, cos)| [cos, sin])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delassus::{Delassus, DenseDelassus};

    #[test]
    fn the_rows_of_a_planar_and_a_spatial_contact() {
        let problem = FrictionContact {
            w: Delassus::Dense(DenseDelassus::new((0..25).map(|k| f64::from(u8::from(k % 6 == 0))).collect(), &[2, 3]).unwrap()),
            q: vec![-1.0, 2.0, -3.0, 4.0, 5.0],
            blocks: vec![Block::Coulomb2 { mu: 0.5 }, Block::Coulomb3 { mu: 0.25 }],
        };
        let mut form = ComplementarityForm::default();
        assert!(form.build("lemke", &problem, None).is_err());
        form.build("stewart-trinkle", &problem, Some(4)).unwrap();
        // (N, +, −, σ) and (N, four corners, σ).
        assert_eq!(form.lcp.n(), 10);
        let row = |i: usize| (0..10).map(|j| form.lcp.m.get(i, j)).collect::<Vec<_>>();
        assert_eq!(row(1), [0.0, 1.0, -1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(row(3), [0.5, -1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(row(9), [0.0, 0.0, 0.0, 0.0, 0.25, -1.0, -1.0, -1.0, -1.0, 0.0]);
        let exact = [-1.0, 2.0, -2.0, 0.0, -3.0, 4.0, 5.0, -4.0, -5.0, 0.0];
        for (q, exact) in form.lcp.q.iter().zip(exact) {
            assert!((q - exact).abs() < 1e-14, "{:?}", form.lcp.q); // the sine of a right angle is rounded
        }
        let mut r = [0.0; 5];
        form.recover(&[1.0, 2.0, 0.5, 9.0, 3.0, 1.0, 2.0, 3.0, 4.0, 9.0], &mut r);
        for (r, exact) in r.iter().zip([1.0, 1.5, 3.0, -2.0, -2.0]) {
            assert!((r - exact).abs() < 1e-14, "{r} {exact}"); // as above
        }
    }
}
