//! A variational inequality as a system of nonsmooth equations Φ(x) = 0, and its generalised Jacobian.
//!
//! ```text
//!     x ≥ 0 and intervals:   Φ = φ(s x, F),   φ(a, b) = a + b − √(a² + b²)          (Fischer–Burmeister)
//!     all of ℝⁿ:             Φ = F
//!     other sets:            Φ = s (x − P_X(x − F/s))                               (natural map)
//! ```
//!
//! with a slope s that gives x the unit of F. An interval of two bounds takes φ twice, φ(s (x − l), −φ(s (u − x), −F)) \[Billups,
//! *Algorithms for complementarity problems and generalized equations*, 1995\].

use super::{Set, VariationalInequality};
use crate::linear::{DenseLu, SparseLu};
use crate::matrix::{DenseMatrix, Matrix, SparseMatrix};

/// The generalised Jacobian V with its factorisations.
#[derive(Clone, Debug, Default)]
pub(super) struct GeneralisedJacobian {
    /// dF/dx.
    slope_of_f: Matrix,
    v: Matrix,
    dense: DenseLu,
    sparse: SparseLu,
    /// Slope of the projection of one set, and its argument.
    projection: Vec<f64>,
    z: Vec<f64>,
    /// One row of V and its nonzero places.
    row: Vec<f64>,
    touched: Vec<usize>,
    shifted: Vec<f64>,
    f_shifted: Vec<f64>,
    augmented: Vec<f64>,
}

/// Step of the finite differences relative to the size of x: the square root of the rounding.
const DIFFERENCE: f64 = 1.5e-8;

/// φ(a, b) without cancellation.
fn fischer_burmeister(a: f64, b: f64) -> f64 {
    let size = a.hypot(b);
    if a + b > 0.0 { 2.0 * a * (b / (a + b + size)) } else { a + b - size }
}

/// dφ/da and dφ/db; at the origin the element in the middle.
fn fischer_burmeister_slopes(a: f64, b: f64) -> (f64, f64) {
    let size = a.hypot(b);
    if size > 0.0 { (1.0 - a / size, 1.0 - b / size) } else { (1.0 - 0.5f64.sqrt(), 1.0 - 0.5f64.sqrt()) }
}

/// Φ of one component between bounds, and its slopes to s x and F.
fn interval(lower: f64, upper: f64, x: f64, f: f64, s: f64) -> (f64, f64, f64) {
    let (inner, inner_x, inner_f) = if upper < f64::INFINITY {
        let (a, b) = (s * (upper - x), -f);
        let (by_a, by_b) = fischer_burmeister_slopes(a, b);
        (-fischer_burmeister(a, b), by_a, by_b)
    } else {
        (f, 0.0, 1.0)
    };
    if lower == f64::NEG_INFINITY {
        return (inner, inner_x, inner_f);
    }
    let a = s * (x - lower);
    let (by_a, by_b) = fischer_burmeister_slopes(a, inner);
    (fischer_burmeister(a, inner), by_a + by_b * inner_x, by_b * inner_f)
}

/// Bounds of the sets that are products of intervals.
fn bounds(set: &Set) -> Option<(f64, f64)> {
    match *set {
        Set::NonNegative { .. } => Some((0.0, f64::INFINITY)),
        Set::Interval { lower, upper } => Some((lower, upper)),
        Set::Free { .. } => Some((f64::NEG_INFINITY, f64::INFINITY)),
        Set::SecondOrderCone { .. } | Set::Ball { .. } | Set::Simplex { .. } => None,
    }
}

/// Writes Φ at x, with f = F(x), into `phi`.
pub(super) fn equations(problem: &VariationalInequality, x: &[f64], f: &[f64], s: f64, phi: &mut [f64]) {
    let mut start = 0;
    for set in &problem.sets {
        let end = start + set.dim();
        if let Some((lower, upper)) = bounds(set) {
            for i in start..end {
                phi[i] = interval(lower, upper, x[i], f[i], s).0;
            }
        } else {
            for i in start..end {
                phi[i] = x[i] - f[i] / s;
            }
            set.project(&mut phi[start..end]);
            for i in start..end {
                phi[i] = s * (x[i] - phi[i]);
            }
        }
        start = end;
    }
}

impl GeneralisedJacobian {
    /// Computes V at x, with f = F(x); false where it is not finite.
    pub fn build(&mut self, problem: &VariationalInequality, x: &[f64], f: &[f64], s: f64) -> bool {
        let n = x.len();
        let given = problem.function.jacobian(x, &mut self.slope_of_f);
        if !given || self.slope_of_f.n_rows() != n || self.slope_of_f.n_columns() != n {
            self.difference(problem, x, f, s);
        }
        let mut v = match (&self.slope_of_f, std::mem::take(&mut self.v)) {
            (Matrix::Dense(_), Matrix::Dense(mut v)) => {
                v.reset(n, n);
                Matrix::Dense(v)
            }
            (Matrix::Dense(_), Matrix::Sparse(_)) => {
                let mut v = DenseMatrix::default();
                v.reset(n, n);
                Matrix::Dense(v)
            }
            (Matrix::Sparse(_), v) => {
                let mut v = if let Matrix::Sparse(v) = v { v } else { SparseMatrix::default() };
                v.reset(n);
                Matrix::Sparse(v)
            }
        };
        self.row.clear();
        self.row.resize(n, 0.0);
        let mut start = 0;
        for set in &problem.sets {
            let dim = set.dim();
            let rows = start..start + dim;
            if let Some((lower, upper)) = bounds(set) {
                for i in rows {
                    let (_, by_x, by_f) = interval(lower, upper, x[i], f[i], s);
                    self.add_row(i, by_f);
                    self.add_entry(i, s * by_x);
                    self.push_row(i, &mut v);
                }
            } else {
                self.z.clear();
                self.z.extend(rows.clone().map(|i| x[i] - f[i] / s));
                self.projection.resize(dim * dim, 0.0);
                set.projection_slope(&self.z, &mut self.projection);
                for i in 0..dim {
                    // V = s (I − D) + D dF/dx
                    for j in 0..dim {
                        let d = self.projection[i * dim + j];
                        self.add_row(start + j, d);
                        self.add_entry(start + j, s * (f64::from(u8::from(i == j)) - d));
                    }
                    self.push_row(start + i, &mut v);
                }
            }
            start += dim;
        }
        self.v = v;
        self.v.values().iter().all(|v| v.is_finite())
    }

    /// row += factor · (row i of dF/dx).
    fn add_row(&mut self, i: usize, factor: f64) {
        if let Matrix::Sparse(m) = &self.slope_of_f {
            self.touched.extend(m.row(i).map(|(j, _)| j));
        }
        self.slope_of_f.add_row(i, factor, &mut self.row);
    }

    fn add_entry(&mut self, j: usize, value: f64) {
        self.touched.push(j);
        self.row[j] += value;
    }

    /// Moves the row into V and clears it.
    fn push_row(&mut self, i: usize, v: &mut Matrix) {
        match v {
            Matrix::Dense(v) => {
                v.row_mut(i).copy_from_slice(&self.row);
                self.row.fill(0.0);
            }
            Matrix::Sparse(v) => {
                self.touched.sort_unstable();
                self.touched.dedup();
                for &j in &self.touched {
                    v.push(j, std::mem::take(&mut self.row[j]));
                }
                v.finish_row();
            }
        }
        self.touched.clear();
    }

    /// dF/dx by forward differences, backward where F is not defined forward.
    fn difference(&mut self, problem: &VariationalInequality, x: &[f64], f: &[f64], s: f64) {
        let n = x.len();
        let mut m = match std::mem::take(&mut self.slope_of_f) {
            Matrix::Dense(m) => m,
            Matrix::Sparse(_) => DenseMatrix::default(),
        };
        m.reset(n, n);
        self.shifted.clear();
        self.shifted.extend_from_slice(x);
        self.f_shifted.resize(n, 0.0);
        // The unit of x where x itself says nothing.
        let largest = |v: &[f64]| v.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let unit = largest(x).max(largest(f) / s);
        let unit = if unit > 0.0 { unit } else { 1.0 };
        for (j, &x) in x.iter().enumerate() {
            let mut step = DIFFERENCE * x.abs().max(unit);
            for _ in 0..2 {
                self.shifted[j] = x + step;
                problem.velocity(&self.shifted, &mut self.f_shifted);
                if self.f_shifted.iter().all(|f| f.is_finite()) {
                    break;
                }
                step = -step;
            }
            // What was added after rounding, not what was meant.
            let step = self.shifted[j] - x;
            for (i, (ahead, here)) in self.f_shifted.iter().zip(f).enumerate() {
                m.row_mut(i)[j] = (ahead - here) / step;
            }
            self.shifted[j] = x;
        }
        self.slope_of_f = Matrix::Dense(m);
    }

    /// d = −V⁻¹ Φ; false where V is singular or too near to it.
    pub fn newton_step(&mut self, phi: &[f64], d: &mut [f64]) -> bool {
        let n = phi.len();
        for (d, phi) in d.iter_mut().zip(phi) {
            *d = -phi;
        }
        match &self.v {
            Matrix::Dense(v) => {
                let columns = self.dense.reset(n);
                for (k, value) in v.values().iter().enumerate() {
                    columns[k % n * n + k / n] = *value;
                }
                self.dense.factor();
                self.dense.solve(d);
            }
            Matrix::Sparse(v) => {
                if !self.sparse.factor(v) {
                    return false;
                }
                self.sparse.solve(d);
            }
        }
        // |V d + Φ| tells what the factors are worth.
        let (mut error, mut size) = (0.0, 0.0);
        for (i, phi) in phi.iter().enumerate() {
            error += (self.v.row_dot(i, d) + phi).powi(2);
            size += phi * phi;
        }
        error <= ACCURACY * ACCURACY * size
    }

    /// d = −(VᵀV + λ ν I)⁻¹ Vᵀ Φ, a step of Levenberg and Marquardt, from the system [I V; Vᵀ −λν I](e, d) = (−Φ, 0); ν is the mean square of
    /// the columns of V. False where it is not finite.
    pub(crate) fn damped_step(&mut self, lambda: f64, phi: &[f64], d: &mut [f64]) -> bool {
        let n = phi.len();
        let damping = lambda * self.v.values().iter().map(|v| v * v).sum::<f64>() / n as f64;
        self.augmented.clear();
        self.augmented.extend(phi.iter().map(|phi| -phi));
        self.augmented.resize(2 * n, 0.0);
        match &self.v {
            Matrix::Dense(v) => {
                let columns = self.dense.reset(2 * n);
                for i in 0..n {
                    columns[i * 2 * n + i] = 1.0;
                    columns[(n + i) * 2 * n + n + i] = -damping;
                    for (j, value) in v.row(i).iter().enumerate() {
                        columns[(n + j) * 2 * n + i] = *value;
                        columns[i * 2 * n + n + j] = *value;
                    }
                }
                self.dense.factor();
                self.dense.solve(&mut self.augmented);
            }
            Matrix::Sparse(v) => {
                let mut system = SparseMatrix::default();
                system.reset(2 * n);
                for i in 0..n {
                    system.push(i, 1.0);
                    v.row(i).for_each(|(j, value)| system.push(n + j, value));
                    system.finish_row();
                }
                let transposed = v.transposed();
                for j in 0..n {
                    transposed.row(j).for_each(|(i, value)| system.push(i, value));
                    system.push(n + j, -damping);
                    system.finish_row();
                }
                if !self.sparse.factor(&system) {
                    return false;
                }
                self.sparse.solve(&mut self.augmented);
            }
        }
        d.copy_from_slice(&self.augmented[n..]);
        d.iter().all(|d| d.is_finite())
    }

    /// Φᵀ V d: the slope of ½|Φ|² along d.
    pub(crate) fn slope_along(&self, phi: &[f64], d: &[f64]) -> f64 {
        phi.iter().enumerate().map(|(i, phi)| phi * self.v.row_dot(i, d)).sum()
    }
}

/// Largest relative error of a solved linear system that still counts as a Newton step.
const ACCURACY: f64 = 1e-3;

#[cfg(test)]
mod tests {
    use super::super::{Affine, Closure};
    use super::*;

    /// Five components in every kind of set, F = M x + q with all entries.
    fn problem(sparse: bool) -> VariationalInequality {
        let values: Vec<f64> = (0..81).map(|k| (1.3 * f64::from(k)).sin() + if k % 10 == 0 { 4.0 } else { 0.0 }).collect();
        let m: Matrix = if sparse {
            let entries: Vec<_> = values.iter().enumerate().map(|(k, v)| (k / 9, k % 9, *v)).collect();
            SparseMatrix::from_triplets(9, 9, &entries).unwrap().into()
        } else {
            DenseMatrix::new(9, 9, values).unwrap().into()
        };
        let q = (0..9).map(|k| (0.7 * f64::from(k)).cos() * 3.0 - 2.0).collect();
        let sets = vec![
            Set::NonNegative { dim: 1 },
            Set::Interval { lower: -1.0, upper: 1.0 },
            Set::Interval { lower: f64::NEG_INFINITY, upper: 1.0 },
            Set::Free { dim: 1 },
            Set::SecondOrderCone { mu: 0.5, dim: 3 },
            Set::Ball { radius: 0.3, dim: 2 },
        ];
        VariationalInequality { function: Box::new(Affine::new(m, q).unwrap()), sets }
    }

    #[test]
    fn v_is_the_slope_of_the_equations_dense_and_sparse() {
        let x = [0.3, 0.2, 0.8, -0.5, 0.4, 0.3, -0.2, 0.5, 0.1];
        let s = 3.0;
        for sparse in [false, true] {
            let problem = problem(sparse);
            let value = |x: &[f64]| {
                let (mut f, mut phi) = (vec![0.0; 9], vec![0.0; 9]);
                problem.velocity(x, &mut f);
                equations(&problem, x, &f, s, &mut phi);
                (f, phi)
            };
            let mut jacobian = GeneralisedJacobian::default();
            assert!(jacobian.build(&problem, &x, &value(&x).0, s));
            for j in 0..9 {
                let h = 1e-6;
                let (mut ahead, mut behind) = (x, x);
                ahead[j] += h;
                behind[j] -= h;
                let (ahead, behind) = (value(&ahead).1, value(&behind).1);
                for i in 0..9 {
                    let difference = (ahead[i] - behind[i]) / (2.0 * h);
                    // rounding over the step 1e-9, and the square of the step times the curvature
                    assert!((difference - jacobian.v.get(i, j)).abs() < 1e-7, "{i} {j} {difference} {}", jacobian.v.get(i, j));
                }
            }
            // Both kinds of step solve their equations.
            let (_, phi) = value(&x);
            let (mut d, mut damped) = (vec![0.0; 9], vec![0.0; 9]);
            assert!(jacobian.newton_step(&phi, &mut d));
            assert!((jacobian.slope_along(&phi, &d) + phi.iter().map(|p| p * p).sum::<f64>()).abs() < 1e-10); // roundings
            assert!(jacobian.damped_step(1e-14, &phi, &mut damped));
            for (d, damped) in d.iter().zip(&damped) {
                assert!((d - damped).abs() < 1e-8, "{d} {damped}"); // damping 1e-14 against eigenvalues above 1e-4
            }
        }
    }

    #[test]
    fn differences_replace_a_missing_jacobian() {
        let function = Closure::new(2, |x: &[f64], f: &mut [f64]| f.copy_from_slice(&[x[0].sqrt() + x[1], x[0] * x[1]]));
        let problem = VariationalInequality { function: Box::new(function), sets: vec![Set::Free { dim: 2 }] };
        let mut jacobian = GeneralisedJacobian::default();
        assert!(jacobian.build(&problem, &[4.0, 3.0], &[5.0, 12.0], 1.0));
        for (k, exact) in [0.25, 1.0, 3.0, 4.0].into_iter().enumerate() {
            assert!((jacobian.v.get(k / 2, k % 2) - exact).abs() < 1e-6, "{k}"); // step 6e-8, rounding 1e-15 over it
        }
    }
}
