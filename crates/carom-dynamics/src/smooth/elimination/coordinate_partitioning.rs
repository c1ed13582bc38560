//! Wehage and Haug's coordinate partitioning: the dependent coordinates and velocities are solved from the constraints.
//!
//! ```text
//! q = (q_d, q_i),     G_d v_d = −g_t − G_i v_i,     M̂ v̇_i = F̂,     g(t, q_d, q_i) = 0
//! M̂ = Bᵀ M B,     F̂ = Bᵀ (F − M a_p),     B = [−G_d⁻¹ G_i; I],     a_p = [G_d⁻¹ r; 0]
//! ```
//!
//! R. A. Wehage, E. J. Haug, *Generalized coordinate partitioning for dimension reduction in analysis of constrained dynamic systems*,
//! Journal of Mechanical Design 104 (1982), 247–255; Haddouni2015 eqs. (1.59)–(1.62) (where M̂ and F̂ are written out). The dependent set is the
//! pivot columns of an elimination with full pivoting. It is kept until an entry of G_d⁻¹ G_i, the speed of a dependent coordinate
//! against an independent one, has grown tenfold, and is then chosen anew. Differs in: integrators carry all coordinates, and the dependent ones are
//! re-solved after each accepted step, by Newton's iteration in the chart q ⊕ w with w_i = 0; so every integrator can be used.
//!
//! When to use it: long runs without drift at positions or velocities, at mechanisms of few velocities. Cost O(n³) per evaluation and about
//! two Newton iterations per step.

use super::reduction::{Pivots, eliminate};
use super::{DenseSystem, FreeMotion};
use crate::error::IntegrationError;
use crate::smooth::equations::Equations;
use crate::smooth::motion_point::MotionPoint;
use crate::smooth::projection::{Progress, Residual};
use nalgebra::{DMatrix, DVector};

/// A partition is chosen anew when G_d⁻¹ G_i has grown by this factor: errors of q_i appear ten times larger in q_d, one digit.
const LARGEST_GROWTH: f64 = 10.0;

/// Most Newton iterations for the dependent coordinates: from one step's drift two or three are usual.
const MAX_ITERATIONS: usize = 20;

/// A choice of dependent columns and of the rows that determine them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::smooth) struct Partition {
    pivots: Pivots,
    /// Largest |G_d⁻¹ G_i| when it was chosen.
    ratio: f64,
    /// How often it was chosen.
    pub choices: usize,
}

impl Partition {
    /// B and a_p for G a = r; chooses the partition when there is none or it has become bad.
    pub(crate) fn free_motion(&mut self, rows: &DMatrix<f64>, right: &DVector<f64>) -> FreeMotion {
        if let Some((motion, ratio)) = self.solve(rows, right)
            && ratio <= LARGEST_GROWTH * self.ratio
        {
            return motion;
        }
        self.pivots = eliminate(&mut rows.clone(), rows.ncols());
        self.choices += 1;
        match self.solve(rows, right) {
            Some((motion, ratio)) => {
                self.ratio = ratio.max(1.0);
                motion
            }
            // pivots above the rank tolerance make G_d regular; values that are not finite end up here and are refused as accelerations
            None => FreeMotion { basis: DMatrix::zeros(rows.ncols(), 0), particular: DVector::repeat(rows.ncols(), f64::NAN) },
        }
    }

    /// B, a_p and the largest |G_d⁻¹ G_i| with the present partition; `None` when there is none for this G or G_d is singular.
    fn solve(&self, rows: &DMatrix<f64>, right: &DVector<f64>) -> Option<(FreeMotion, f64)> {
        let Pivots { rows: chosen, dependent, independent } = &self.pivots;
        if dependent.len() + independent.len() != rows.ncols() || chosen.iter().any(|&row| row >= rows.nrows()) {
            return None;
        }
        let (n, k) = (rows.ncols(), independent.len());
        let selected = rows.select_rows(chosen);
        let factor = selected.select_columns(dependent).lu();
        let mut sides = selected.select_columns(independent).insert_column(k, 0.0);
        sides.set_column(k, &right.select_rows(chosen));
        if !factor.solve_mut(&mut sides) {
            return None;
        }
        let ratio = if k == 0 { 0.0 } else { sides.columns(0, k).amax() };
        let (mut basis, mut particular) = (DMatrix::zeros(n, k), DVector::zeros(n));
        for (j, &column) in independent.iter().enumerate() {
            basis[(column, j)] = 1.0;
        }
        for (i, &row) in dependent.iter().enumerate() {
            particular[row] = sides[(i, k)];
            for j in 0..k {
                basis[(row, j)] = -sides[(i, j)];
            }
        }
        ratio.is_finite().then_some((FreeMotion { basis, particular }, ratio))
    }
}

impl Equations<'_> {
    /// Solves the dependent coordinates from g = 0 and the dependent velocities from G v + b = 0; the independent ones stay.
    ///
    /// # Errors
    /// [`IntegrationError::NotConverged`]; errors of evaluation.
    pub fn resolve_dependent(&mut self, point: &mut MotionPoint) -> Result<(), IntegrationError> {
        let (m, n) = (self.n_rows(), self.n_v());
        let holonomic: Vec<usize> = self.rows().items().iter().filter(|item| item.holonomic).flat_map(|item| item.rows.clone()).collect();
        let (mut residual, mut q) = (Residual::new(m), point.q.clone());
        let mut progress = Progress::default();
        let mut values = vec![0.0; self.rows().n_values()];
        let mut explicit = vec![0.0; m];
        let mut iterations = 0;
        loop {
            self.jacobian(point.t, &point.q, &mut values, &mut explicit)?;
            let size = residual.evaluate(self, point.t, &point.q, &values)?;
            if holonomic.is_empty() || progress.is_done(size) {
                break;
            }
            if iterations == MAX_ITERATIONS || !size.is_finite() {
                let what = "Newton's iteration of the dependent coordinates";
                return Err(IntegrationError::NotConverged { t: point.t, what, residual: size, iterations });
            }
            let right = -DVector::from_column_slice(&residual.values).select_rows(&holonomic);
            let rows = self.dense_rows(&values).select_rows(&holonomic);
            let step = self.elimination.positions.free_motion(&rows, &right).particular;
            self.advance(&point.q, step.as_slice(), &mut q);
            std::mem::swap(&mut point.q, &mut q);
            iterations += 1;
            self.statistics.newton_iterations += 1;
        }
        // v = B v_i + a_p with r = −b
        let rows = self.dense_rows(&values);
        let motion = self.elimination.velocities.free_motion(&rows, &-DVector::from_column_slice(&explicit));
        let independent: Vec<f64> = self.elimination.velocities.pivots.independent.iter().map(|&i| point.v[i]).collect();
        let solved = motion.basis * DVector::from_vec(independent) + motion.particular;
        point.v[..n].copy_from_slice(solved.as_slice());
        self.statistics.partitions = self.elimination.velocities.choices.max(self.elimination.positions.choices);
        Ok(())
    }

    /// G as a dense matrix.
    pub(in crate::smooth) fn dense_rows(&self, g: &[f64]) -> DMatrix<f64> {
        let mut rows = DMatrix::zeros(self.n_rows(), self.n_v());
        self.each_entry(g, |row, column, value| rows[(row, column)] += value);
        rows
    }

    /// The equations of the acceleration form with dense matrices.
    pub(in crate::smooth) fn dense_system(&self, mass: &[f64], force: &[f64], g: &[f64], right: &[f64]) -> DenseSystem {
        let (layout, n) = (self.layout(), self.n_v());
        let mut dense = DMatrix::zeros(n, n);
        for b in 0..layout.n_blocks() {
            let (first, size) = (layout.rows[b], layout.size(b));
            for (k, &value) in mass[layout.values[b]..layout.values[b + 1]].iter().enumerate() {
                dense[(first + k / size, first + k % size)] = value;
            }
        }
        let (force, right) = (DVector::from_column_slice(force), DVector::from_column_slice(right));
        DenseSystem { mass: dense, force, rows: self.dense_rows(g), right }
    }
}
