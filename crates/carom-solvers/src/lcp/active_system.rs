//! Linear systems on some rows of an LCP: a band, sparse, or dense, as M is.

use super::Lcp;
use crate::linear::{BandedLu, DenseLu, SparseLu};
use crate::matrix::{Matrix, SparseMatrix};

/// LU factors of D_AA + F_AA M_AA, with D and F diagonal and A the active rows.
///
/// The structure of M decides how: a narrow band (also one stored in a dense matrix), compressed rows, or all entries. Active rows
/// come in increasing order, so that those of a band form a band that is no wider.
///
/// Cost per factorisation of k rows: 2 k b² for a band b, that of the fill for a sparse M, 2k³/3 for a dense one.
#[derive(Clone, Debug, Default)]
pub(super) struct ActiveSystem {
    structure: Structure,
    /// Place of a row among the active ones, or `ABSENT`.
    place: Vec<usize>,
    banded: BandedLu,
    sparse: SparseLu,
    dense: DenseLu,
    compressed: SparseMatrix,
    correction: Vec<f64>,
    start: Vec<f64>,
    best: Vec<f64>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Structure {
    #[default]
    Dense,
    Banded {
        lower: usize,
        upper: usize,
    },
    Sparse,
}

const ABSENT: usize = usize::MAX;

/// Widest band on either side treated as one: beyond it the fill-reducing order of sparse LU is usually better.
const WIDEST_BAND: usize = 24;

/// Shifts tried one after the other, as a fraction of the mean diagonal: none; one far below the smallest eigenvalue of long
/// chains of contacts (10⁻⁸ for 10⁴ of them) and far above rounding; one for what rounding leaves indefinite.
const SHIFTS: [f64; 3] = [0.0, 1e-10, 1e-6];

/// Corrections of a solution by its own residual. Each gains a factor shift/λ on an eigenvalue λ.
const REFINEMENTS: usize = 4;

/// A linear residual below this fraction of the data is good enough.
const LINEAR_TOLERANCE: f64 = 1e-13;

/// A linear residual above this fraction of the data is no solution. It is compared with q alone, as z may be as large as it likes where
/// the system has no solution; chains of 10⁴ contacts, with z = 10⁸ q, still reach 10⁻⁷.
const LINEAR_FAILURE: f64 = 1e-3;

impl ActiveSystem {
    /// Finds the structure of M. Needed before the first system with another M.
    pub(crate) fn analyse(&mut self, m: &Matrix) {
        self.place.clear();
        self.place.resize(m.n_rows(), ABSENT);
        let (lower, upper) = match m {
            Matrix::Dense(m) => {
                let (mut lower, mut upper) = (0, 0);
                for i in 0..m.n_rows() {
                    let row = m.row(i);
                    let first = row.iter().position(|a| *a != 0.0).unwrap_or(i);
                    let last = row.iter().rposition(|a| *a != 0.0).unwrap_or(i);
                    (lower, upper) = (lower.max(i.saturating_sub(first)), upper.max(last.saturating_sub(i)));
                    if lower.max(upper) > WIDEST_BAND {
                        break;
                    }
                }
                (lower, upper)
            }
            Matrix::Sparse(m) => m.bandwidths(),
        };
        self.structure = match m {
            _ if lower.max(upper) <= WIDEST_BAND && 2 * (lower + upper) < m.n_rows() => Structure::Banded { lower, upper },
            Matrix::Dense(_) => Structure::Dense,
            Matrix::Sparse(_) => Structure::Sparse,
        };
    }

    /// Factors D_AA + F_AA M_AA; `diagonal` and `factor` give D and F of a row. False when it is seen to be singular; a matrix
    /// that is nearly so shows in the solutions.
    pub fn factor(&mut self, m: &Matrix, active: &[usize], diagonal: impl Fn(usize) -> f64, factor: impl Fn(usize) -> f64) -> bool {
        self.place.fill(ABSENT);
        for (k, &i) in active.iter().enumerate() {
            self.place[i] = k;
        }
        let (n, place) = (active.len(), &self.place);
        match self.structure {
            Structure::Dense => {
                let values = self.dense.reset(n);
                for (k, &i) in active.iter().enumerate() {
                    let f = factor(i);
                    for_each_entry(m, i, place, |at, a| values[at * n + k] = f * a);
                    values[k * n + k] += diagonal(i);
                }
                self.dense.factor();
                true
            }
            Structure::Banded { lower, upper } => {
                self.banded.reset(n, lower, upper);
                for (k, &i) in active.iter().enumerate() {
                    let f = factor(i);
                    for_each_entry(m, i, place, |at, a| self.banded.row_mut(k, at, 1)[0] = f * a);
                    self.banded.row_mut(k, k, 1)[0] += diagonal(i);
                }
                self.banded.factor();
                true
            }
            Structure::Sparse => {
                self.compressed.reset(n);
                for (k, &i) in active.iter().enumerate() {
                    let (f, d) = (factor(i), diagonal(i));
                    let mut has_diagonal = false;
                    let compressed = &mut self.compressed;
                    for_each_entry(m, i, place, |at, a| {
                        if at > k && !has_diagonal {
                            compressed.push(k, d);
                        }
                        has_diagonal |= at >= k;
                        compressed.push(at, if at == k { f * a + d } else { f * a });
                    });
                    if !has_diagonal {
                        compressed.push(k, d);
                    }
                    compressed.finish_row();
                }
                n == 0 || self.sparse.factor(&self.compressed)
            }
        }
    }

    /// Replaces b, of the length of the active set, by the solution. It is not finite when the matrix is singular.
    pub fn solve(&mut self, b: &mut [f64]) {
        if b.is_empty() {
            return;
        }
        match self.structure {
            Structure::Dense => self.dense.solve(b),
            Structure::Banded { .. } => self.banded.solve(b),
            Structure::Sparse => self.sparse.solve(b),
        }
    }

    /// Moves z to a solution of M_AA z_A = −q_A, z = 0 elsewhere.
    ///
    /// Where M_AA is regular it is the solution, refined to rounding. Where it is singular, (M_AA + δ) Δz = −w_A is iterated from the given z: for
    /// M ⪰ 0 and a consistent system that is the solution nearest to z, so positive entries tend to stay positive. False when
    /// no shift gives a residual that is small compared with q; z is then of no use.
    pub(crate) fn solve_active(&mut self, problem: &Lcp, active: &[usize], scale: f64, z: &mut [f64]) -> bool {
        self.place.fill(ABSENT);
        active.iter().for_each(|&i| self.place[i] = 0);
        z.iter_mut().zip(&self.place).for_each(|(z, &place)| *z = if place == ABSENT { 0.0 } else { *z });
        self.start.clear();
        self.start.extend(active.iter().map(|&i| z[i]));
        let largest_start = scale * self.start.iter().fold(0.0_f64, |size, z| size.max(z.abs()));
        let data = active.iter().fold(0.0_f64, |size, &i| size.max(problem.q[i].abs()));
        let mut best = f64::INFINITY;
        for shift in SHIFTS {
            active.iter().zip(&self.start).for_each(|(&i, start)| z[i] = *start);
            if !self.factor(&problem.m, active, |_| shift * scale, |_| 1.0) {
                continue;
            }
            let (error, size) = self.refine(problem, active, (scale, data), z);
            if error < best {
                best = error;
                self.best.clear();
                self.best.extend(active.iter().map(|&i| z[i]));
            }
            if error <= 10.0 * LINEAR_TOLERANCE * size {
                break;
            }
        }
        active.iter().zip(&self.best).for_each(|(&i, best)| z[i] = *best);
        best <= LINEAR_FAILURE * data.max(LINEAR_TOLERANCE * largest_start)
    }

    /// z_A ← z_A − (M_AA + δ)⁻¹ w_A as long as that lowers w_A; returns max|w_A| and the size it compares with.
    fn refine(&mut self, problem: &Lcp, active: &[usize], (scale, data): (f64, f64), z: &mut [f64]) -> (f64, f64) {
        let mut correction = std::mem::take(&mut self.correction);
        let (mut previous, mut error, mut size) = (f64::INFINITY, f64::INFINITY, data);
        for _ in 0..=REFINEMENTS {
            correction.clear();
            correction.extend(active.iter().map(|&i| -(problem.q[i] + problem.m.row_dot(i, z))));
            error = correction.iter().fold(0.0_f64, |size, r| if r.is_finite() { size.max(r.abs()) } else { f64::INFINITY });
            size = active.iter().fold(data, |size, &i| size.max(scale * z[i].abs()));
            if error <= LINEAR_TOLERANCE * size || error == f64::INFINITY || error > 0.5 * previous {
                break;
            }
            previous = error;
            self.solve(&mut correction);
            active.iter().zip(&correction).for_each(|(&i, d)| z[i] += d);
        }
        self.correction = correction;
        (error, size)
    }
}

/// Calls `visit(place, value)` for the entries of row i in active columns, by increasing place.
#[inline]
fn for_each_entry(m: &Matrix, i: usize, place: &[usize], mut visit: impl FnMut(usize, f64)) {
    match m {
        Matrix::Dense(m) => {
            for (&at, &a) in place.iter().zip(m.row(i)) {
                if at != ABSENT && a != 0.0 {
                    visit(at, a);
                }
            }
        }
        Matrix::Sparse(m) => {
            for (j, a) in m.row(i) {
                if place[j] != ABSENT {
                    visit(place[j], a);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same matrix as a dense one, as a sparse one, and with its rows far from each other so that it is no band.
    fn forms(n: usize, entries: &[(usize, usize, f64)]) -> [Lcp; 3] {
        let q = vec![-1.0; n];
        let sparse = SparseMatrix::from_triplets(n, n, entries).unwrap();
        let mut dense = Vec::new();
        Matrix::from(sparse.clone()).to_dense(&mut dense);
        let mut wide = entries.to_vec();
        wide.push((0, n - 1, 1e-300));
        let wide = SparseMatrix::from_triplets(n, n, &wide).unwrap();
        [Lcp::dense(dense, q.clone()).unwrap(), Lcp { m: sparse.into(), q: q.clone() }, Lcp { m: wide.into(), q }]
    }

    #[test]
    fn all_structures_give_the_same_solution() {
        let n = 60;
        let entries: Vec<(usize, usize, f64)> =
            (0..n).flat_map(|i: usize| [(i, i, 2.0), (i, (i + 1).min(n - 1), -0.3), (i, i.saturating_sub(2), 0.4)]).collect();
        let active: Vec<usize> = (0..n).filter(|i| i % 3 != 1).collect();
        let mut found = Vec::new();
        for problem in forms(n, &entries) {
            let mut system = ActiveSystem::default();
            system.analyse(&problem.m);
            let mut z = vec![1.0; n];
            assert!(system.solve_active(&problem, &active, 2.0, &mut z));
            let mut w = vec![0.0; n];
            problem.velocity(&z, &mut w);
            for i in 0..n {
                let error = if active.contains(&i) { w[i] } else { z[i] };
                assert!(error.abs() < 1e-14, "{error}"); // a few roundings
            }
            found.push(z);
        }
        for z in &found[1..] {
            for (a, b) in z.iter().zip(&found[0]) {
                assert!((a - b).abs() < 1e-14, "{a} {b}"); // well conditioned
            }
        }
    }

    #[test]
    fn a_singular_system_keeps_what_it_does_not_determine() {
        // z₁ + z₂ + z₃ = 1 three times: the solution nearest to (1, 1, 0) is (2/3, 2/3, −1/3).
        let problem = Lcp::dense(vec![1.0; 9], vec![-1.0; 3]).unwrap();
        let mut system = ActiveSystem::default();
        system.analyse(&problem.m);
        let mut z = vec![1.0, 1.0, 0.0];
        assert!(system.solve_active(&problem, &[0, 1, 2], 1.0, &mut z));
        for (z, expected) in z.iter().zip([2.0 / 3.0, 2.0 / 3.0, -1.0 / 3.0]) {
            assert!((z - expected).abs() < 1e-5, "{z}"); // rounding of 1e-16 over the shift of 1e-10
        }
    }

    #[test]
    fn an_inconsistent_system_is_said_to_fail() {
        let problem = Lcp::dense(vec![1.0, -1.0, -1.0, 1.0], vec![-1.0; 2]).unwrap();
        let mut system = ActiveSystem::default();
        system.analyse(&problem.m);
        assert!(!system.solve_active(&problem, &[0, 1], 1.0, &mut [0.0; 2]));
    }
}
