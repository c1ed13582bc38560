//! Friction contact problems as linear complementarity problems.

use super::FrictionContact;
use crate::cones::Block;
use crate::error::SolveError;
use crate::lcp::Lcp;
use crate::matrix::Matrix;

/// The LCP of a problem with contact blocks only, in the mass unit with mean(diag W) = 1.
///
/// A frictionless contact is one row, 0 ≤ u_N ⊥ r_N ≥ 0. A planar contact with friction is four
/// [Stewart & Trinkle 1996], with r_T = β⁺ − β⁻ and the slip bound σ = |u_T|:
///
///   0 ≤ u_N               ⊥ r_N ≥ 0
///   0 ≤ σ + u_T           ⊥ β⁺  ≥ 0
///   0 ≤ σ − u_T           ⊥ β⁻  ≥ 0
///   0 ≤ μ r_N − β⁺ − β⁻   ⊥ σ   ≥ 0
///
/// For W positive semidefinite zᵀMz = rᵀWr + μ r_N σ ≥ 0 (copositive), which Lemke's method wants; the
/// form with three rows per contact does not have this property. In the plane the form is exact.
#[derive(Clone, Debug, Default)]
pub(crate) struct ComplementarityForm {
    /// The problem in complementarity form.
    pub lcp: Lcp,
    /// z = s r for rows that are impulses; used to scale back.
    scale: f64,
    /// Per LCP row: the friction contact row and the sign of its part, or a slip bound.
    rows: Vec<Row>,
    dense: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
enum Row {
    /// Impulse component `row` of the contact problem, with a sign.
    Impulse { row: usize, sign: f64 },
    /// The slip bound of a contact whose three impulse rows precede it.
    SlipBound { mu: f64 },
}

impl ComplementarityForm {
    /// Builds the LCP, reusing storage.
    ///
    /// # Errors
    /// [`SolveError::Unsupported`] for spatial friction, which is not linear.
    pub fn build(&mut self, solver: &'static str, problem: &FrictionContact) -> Result<(), SolveError> {
        self.list_rows(solver, problem)?;
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
            match *row {
                Row::Impulse { row, sign } => {
                    self.lcp.q.push(sign * problem.q[row]);
                    for (j, column) in self.rows.iter().enumerate() {
                        if let Row::Impulse { row: other, sign: other_sign } = *column {
                            let w = self.dense[row * n_rows + other] / self.scale;
                            m[i * n + j] = sign * other_sign * w;
                        }
                    }
                }
                Row::SlipBound { mu } => {
                    self.lcp.q.push(0.0);
                    m[i * n + i - 3] = mu;
                    for tangent in [i - 2, i - 1] {
                        m[i * n + tangent] = -1.0;
                        m[tangent * n + i] = 1.0;
                    }
                }
            }
        }
        Ok(())
    }

    fn list_rows(&mut self, solver: &'static str, problem: &FrictionContact) -> Result<(), SolveError> {
        self.rows.clear();
        let mut start = 0;
        for block in &problem.blocks {
            self.rows.push(Row::Impulse { row: start, sign: 1.0 });
            match *block {
                Block::Coulomb2 { mu } if mu > 0.0 => {
                    let row = start + 1;
                    self.rows.push(Row::Impulse { row, sign: 1.0 });
                    self.rows.push(Row::Impulse { row, sign: -1.0 });
                    self.rows.push(Row::SlipBound { mu });
                }
                Block::Coulomb3 { .. } | Block::Rolling { .. } if !block.is_frictionless() => {
                    return Err(SolveError::Unsupported {
                        solver,
                        reason: "spatial Coulomb friction is not a linear complementarity problem",
                        alternatives: "auto, nsgs",
                    });
                }
                _ => {}
            }
            start += block.dim();
        }
        Ok(())
    }

    /// z of an impulse; slip bounds start from zero.
    pub fn guess(&self, r: &[f64], z: &mut Vec<f64>) {
        z.clear();
        z.extend(self.rows.iter().map(|row| match *row {
            Row::Impulse { row, sign } => (sign * r[row] * self.scale).max(0.0),
            Row::SlipBound { .. } => 0.0,
        }));
    }

    /// Impulse of z.
    pub fn recover(&self, z: &[f64], r: &mut [f64]) {
        r.fill(0.0);
        for (row, z) in self.rows.iter().zip(z) {
            if let Row::Impulse { row, sign } = *row {
                r[row] += sign * z / self.scale;
            }
        }
    }
}
