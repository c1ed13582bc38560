//! An LCP in units that make its diagonal one.

use super::Lcp;
use crate::matrix::{DenseMatrix, Matrix, SparseMatrix};

/// D M D with unit diagonal and D q / s with entries of at most one, D = diag(M)^(-1/2). The solutions are those of the
/// problem in other units, z = s D ẑ and w = s D⁻¹ ŵ, so that pivots and violations of rows of different units (heavy and
/// light bodies) are compared fairly. A row whose diagonal is not positive is scaled by its largest entry.
#[derive(Clone, Debug, Default)]
pub(super) struct UnitDiagonalLcp {
    /// D M D.
    pub m: Matrix,
    /// D q / s.
    pub q: Vec<f64>,
    d: Vec<f64>,
    speed: f64,
}

impl UnitDiagonalLcp {
    /// Takes a valid problem. Storage is reused as long as M stays dense or stays sparse.
    pub fn fill(&mut self, problem: &Lcp) {
        let n = problem.n();
        self.d.clear();
        self.d.extend((0..n).map(|i| {
            let diagonal = problem.m.get(i, i);
            let size = if diagonal > 0.0 { diagonal } else { largest_of_row(&problem.m, i) };
            if size > f64::MIN_POSITIVE { 1.0 / size.sqrt() } else { 1.0 }
        }));
        let d = &self.d;
        match &problem.m {
            Matrix::Dense(m) => {
                if !matches!(self.m, Matrix::Dense(_)) {
                    self.m = DenseMatrix::default().into();
                }
                if let Matrix::Dense(scaled) = &mut self.m {
                    scaled.reset(n, n);
                    for i in 0..n {
                        let row = scaled.row_mut(i).iter_mut().zip(m.row(i)).zip(d);
                        row.for_each(|((out, a), dj)| *out = d[i] * a * dj);
                    }
                }
            }
            Matrix::Sparse(m) => {
                if !matches!(self.m, Matrix::Sparse(_)) {
                    self.m = SparseMatrix::default().into();
                }
                if let Matrix::Sparse(scaled) = &mut self.m {
                    scaled.reset(n);
                    for i in 0..n {
                        m.row(i).for_each(|(j, a)| scaled.push(j, d[i] * a * d[j]));
                        scaled.finish_row();
                    }
                }
            }
        }
        self.speed = problem.q.iter().zip(d).fold(0.0, |s: f64, (q, d)| s.max((q * d).abs()));
        if self.speed <= 0.0 {
            self.speed = 1.0;
        }
        self.q.clear();
        self.q.extend(problem.q.iter().zip(d).map(|(q, d)| q * d / self.speed));
    }

    /// ŵ = D M D ẑ + q̂, and in `sizes` the sums of the absolute values of its terms: its rounding is a few ε of these.
    pub fn velocity(&self, z: &[f64], w: &mut [f64], sizes: &mut [f64]) {
        for (i, (w, size)) in w.iter_mut().zip(sizes).enumerate() {
            let (mut sum, mut absolute) = (self.q[i], self.q[i].abs());
            let mut add = |a: f64, z: f64| {
                sum += a * z;
                absolute += (a * z).abs();
            };
            match &self.m {
                Matrix::Dense(m) => m.row(i).iter().zip(z).for_each(|(a, z)| add(*a, *z)),
                Matrix::Sparse(m) => m.row(i).for_each(|(j, a)| add(a, z[j])),
            }
            (*w, *size) = (sum, absolute);
        }
    }

    /// The impulses of the problem, negative ones replaced by zero.
    pub(crate) fn to_problem(&self, scaled: &[f64], z: &mut [f64]) {
        for ((z, x), d) in z.iter_mut().zip(scaled).zip(&self.d) {
            *z = x.max(0.0) * d * self.speed;
        }
    }

    /// The impulses in the units of this form.
    pub(crate) fn to_scaled(&self, z: &[f64], scaled: &mut [f64]) {
        for ((x, z), d) in scaled.iter_mut().zip(z).zip(&self.d) {
            *x = z / (d * self.speed);
        }
    }
}

fn largest_of_row(m: &Matrix, i: usize) -> f64 {
    let larger = |s: f64, a: f64| s.max(a.abs());
    match m {
        Matrix::Dense(m) => m.row(i).iter().fold(0.0, |s, a| larger(s, *a)),
        Matrix::Sparse(m) => m.row(i).fold(0.0, |s, (_, a)| larger(s, a)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_go_both_ways() {
        let problem = Lcp::dense(vec![4.0, 2.0, 2.0, 100.0], vec![-8.0, 5.0]).unwrap();
        let mut scaled = UnitDiagonalLcp::default();
        scaled.fill(&problem);
        let mut m = Vec::new();
        scaled.m.to_dense(&mut m);
        assert_eq!(m, [1.0, 0.1, 0.1, 1.0]);
        assert_eq!(scaled.q, [-1.0, 0.125]);
        // ẑ = (1, 0) makes ŵ₁ = 0; in the problem's units z₁ = 2.
        let (mut w, mut sizes, mut z) = ([0.0; 2], [0.0; 2], [0.0; 2]);
        scaled.velocity(&[1.0, 0.0], &mut w, &mut sizes);
        assert_eq!((w, sizes), ([0.0, 0.225], [2.0, 0.225]));
        scaled.to_problem(&[1.0, -1.0], &mut z);
        assert_eq!(z, [2.0, 0.0]);
    }
}
