//! A mixed LCP in units that make the largest entry of each row and column about one.

use super::Mlcp;
use crate::matrix::{DenseMatrix, Matrix, SparseMatrix};

/// D M D and D q / s, with z = s D ẑ and w = s D⁻¹ ŵ: the same problem in other units of its rows. D comes from a few rounds of
/// d_i ← d_i / √(largest of row and column i). [Ruiz, *A scaling algorithm to equilibrate both rows and columns norms in
/// matrices*, 2001]; differs in: one factor for row and column, which keeps M semidefinite and 0 ≤ w ⊥ z ≥ 0 what it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Equilibrated {
    /// The problem in these units.
    pub problem: Mlcp,
    d: Vec<f64>,
    speed: f64,
    largest: Vec<f64>,
}

/// Rounds: each takes the root of the distance to one, so that ten orders of magnitude become a factor of two.
const ROUNDS: usize = 5;

impl Equilibrated {
    /// Takes a valid problem. Storage is reused as long as M stays dense or stays sparse.
    pub fn fill(&mut self, problem: &Mlcp) {
        let n = problem.n();
        self.d.clear();
        self.d.resize(n, 1.0);
        for _ in 0..ROUNDS {
            self.largest.clear();
            self.largest.resize(n, 0.0);
            let (d, largest) = (&self.d, &mut self.largest);
            for_each_entry(&problem.m, |i, j, a| {
                let size = (d[i] * a * d[j]).abs();
                largest[i] = largest[i].max(size);
                largest[j] = largest[j].max(size);
            });
            for (d, largest) in self.d.iter_mut().zip(&self.largest) {
                if *largest > f64::MIN_POSITIVE {
                    *d /= largest.sqrt();
                }
            }
        }
        let d = &self.d;
        match (&problem.m, &mut self.problem.m) {
            (Matrix::Dense(m), Matrix::Dense(scaled)) => scale_dense(m, d, scaled),
            (Matrix::Sparse(m), Matrix::Sparse(scaled)) => scale_sparse(m, d, scaled),
            (Matrix::Dense(m), other) => {
                let mut scaled = DenseMatrix::default();
                scale_dense(m, d, &mut scaled);
                *other = scaled.into();
            }
            (Matrix::Sparse(m), other) => {
                let mut scaled = SparseMatrix::default();
                scale_sparse(m, d, &mut scaled);
                *other = scaled.into();
            }
        }
        self.speed = problem.q.iter().zip(d).fold(0.0, |s: f64, (q, d)| s.max((q * d).abs()));
        if self.speed <= 0.0 {
            self.speed = 1.0;
        }
        self.problem.q.clear();
        self.problem.q.extend(problem.q.iter().zip(d).map(|(q, d)| q * d / self.speed));
        self.problem.is_equality.clone_from(&problem.is_equality);
    }

    /// z in the units of the given problem, projected.
    pub(crate) fn to_problem(&self, scaled: &[f64], z: &mut [f64]) {
        for ((z, x), d) in z.iter_mut().zip(scaled).zip(&self.d) {
            *z = x * d * self.speed;
        }
        self.problem.project(z);
    }

    /// z in the units of this form.
    pub(crate) fn to_scaled(&self, z: &[f64], scaled: &mut [f64]) {
        for ((x, z), d) in scaled.iter_mut().zip(z).zip(&self.d) {
            *x = z / (d * self.speed);
        }
    }
}

fn for_each_entry(m: &Matrix, mut visit: impl FnMut(usize, usize, f64)) {
    for i in 0..m.n_rows() {
        match m {
            Matrix::Dense(m) => m.row(i).iter().enumerate().for_each(|(j, a)| visit(i, j, *a)),
            Matrix::Sparse(m) => m.row(i).for_each(|(j, a)| visit(i, j, a)),
        }
    }
}

fn scale_dense(m: &DenseMatrix, d: &[f64], out: &mut DenseMatrix) {
    out.reset(d.len(), d.len());
    for (i, di) in d.iter().enumerate() {
        out.row_mut(i).iter_mut().zip(m.row(i)).zip(d).for_each(|((out, a), dj)| *out = di * a * dj);
    }
}

fn scale_sparse(m: &SparseMatrix, d: &[f64], out: &mut SparseMatrix) {
    out.reset(d.len());
    for (i, di) in d.iter().enumerate() {
        m.row(i).for_each(|(j, a)| out.push(j, di * a * d[j]));
        out.finish_row();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mass_and_a_constraint_become_alike() {
        // [[1e6, 1], [−1, 0]]: a heavy body on a constraint.
        let problem = Mlcp::dense(vec![1e6, 1.0, -1.0, 0.0], vec![2.0, -3.0], vec![true, false]).unwrap();
        let mut scaled = Equilibrated::default();
        scaled.fill(&problem);
        for size in [scaled.problem.m.get(0, 0), scaled.problem.m.get(0, 1), -scaled.problem.m.get(1, 0)] {
            assert!(size > 0.5 && size < 2.0, "{size}");
        }
        let (mut there, mut back) = ([0.0; 2], [0.0; 2]);
        scaled.to_scaled(&[-0.5, 4.0], &mut there);
        scaled.to_problem(&there, &mut back);
        assert!((back[0] + 0.5).abs() < 1e-15 && (back[1] - 4.0).abs() < 1e-14); // two roundings
    }
}
