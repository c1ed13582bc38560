//! The LCP that is left of a mixed one when its equations are eliminated.

use super::Mlcp;
use super::equilibrated::Equilibrated;
use crate::best_iterate::BestIterate;
use crate::error::SolveError;
use crate::lcp::Lcp;
use crate::linear::SparseLu;
use crate::matrix::{DenseMatrix, Matrix, SparseMatrix};
use crate::report::SolveStatus;
use crate::{OneStepSolver, Solution};

/// With the equations E and the complementarity rows C,
///
/// ```text
///     z_E = −M_EE⁻¹ (M_EC z_C + q_E)
///     w_C = (M_CC − M_CE M_EE⁻¹ M_EC) z_C + q_C − M_CE M_EE⁻¹ q_E
/// ```
///
/// in equilibrated units. Dense: Gaussian elimination with complete pivoting inside M_EE, on the diagonal where that
/// is nearly as good, which stops at the numerical rank. What is left of a dependent row is nothing (redundant, or
/// inconsistent: then the judge will tell), or an equation between complementarity unknowns; its free unknown y = y⁺ − y⁻ and its
/// equation, as two inequalities, stay in the LCP. Sparse: sparse LU of M_EE, and the dense way only if that is singular.
///
/// Cost: dense 2/3 e³ + 2 e c (e + c); sparse one factorisation and c solves.
#[derive(Clone, Debug, Default)]
pub(super) struct Reduction {
    units: Equilibrated,
    equations: Vec<usize>,
    contacts: Vec<usize>,
    /// Rows E and C by columns E, C and q; after elimination L below and U above the diagonal of its first `rank` columns.
    tableau: Vec<f64>,
    row_order: Vec<usize>,
    column_order: Vec<usize>,
    rank: usize,
    /// Positions of the dependent rows and columns that stay.
    kept: Vec<usize>,
    sparse: SparseLu,
    is_sparse: bool,
    lcp: Lcp,
    lcp_solution: Solution,
    z: Vec<f64>,
    w: Vec<f64>,
    right_side: Vec<f64>,
    candidate: Vec<f64>,
    pub best: BestIterate,
}

/// Pivots below this are rounding residue of a dependent row, the entries being about one.
const RANK_TOLERANCE: f64 = 1e-12;

/// A diagonal pivot this fraction of the largest entry is taken instead of it: it keeps M's structure.
const DIAGONAL_PREFERENCE: f64 = 0.1;

/// Largest relative residual of a solve with a regular sparse M_EE.
const SPARSE_RESIDUAL: f64 = 1e-9;

/// The LCP is stored sparse below this fraction of entries.
const SPARSE_FILL: f64 = 0.2;

/// Rounds of tightening when the LCP's metric was satisfied and the mixed problem's is not.
const ROUNDS: usize = 4;

impl Reduction {
    /// Solves the mixed problem by this solver of its LCP. The best point is in `best`.
    ///
    /// # Errors
    /// What the solver of the LCP refuses.
    pub fn solve(
        &mut self,
        problem: &Mlcp,
        guess: &[f64],
        tolerance: f64,
        solver: &mut dyn OneStepSolver<Lcp>,
    ) -> Result<(SolveStatus, usize), SolveError> {
        self.build(problem);
        self.guess(guess);
        let mut inner_tolerance = 0.5 * tolerance;
        let mut iterations = 0;
        for _ in 0..ROUNDS {
            solver.set_tolerance(inner_tolerance);
            let inner = solver.solve(&self.lcp, &mut self.lcp_solution)?;
            iterations += inner.iterations;
            self.recover();
            self.units.to_problem(&self.z, &mut self.candidate);
            self.best.offer(problem, &self.candidate);
            let residual = self.best.residual();
            if residual <= tolerance || !inner.is_converged() {
                return Ok((inner.status, iterations));
            }
            if inner.residual_normalised > 0.0 {
                inner_tolerance *= (0.5 * tolerance / residual).clamp(1e-3, 0.5);
            } else {
                break;
            }
        }
        Ok((SolveStatus::Stalled, iterations))
    }

    /// Eliminates the equations.
    fn build(&mut self, problem: &Mlcp) {
        self.units.fill(problem);
        let n = problem.n();
        self.equations.clear();
        self.equations.extend((0..n).filter(|&i| problem.is_equality[i]));
        self.contacts.clear();
        self.contacts.extend((0..n).filter(|&i| !problem.is_equality[i]));
        for vector in [&mut self.z, &mut self.w, &mut self.candidate] {
            vector.clear();
            vector.resize(n, 0.0);
        }
        self.kept.clear();
        self.is_sparse = self.build_sparse();
        if !self.is_sparse {
            self.fill_tableau();
            self.eliminate();
            self.keep_dependent_rows();
            self.write_lcp();
        }
    }

    /// The LCP by sparse LU of M_EE; false when M is dense or M_EE is singular.
    fn build_sparse(&mut self) -> bool {
        let Matrix::Sparse(m) = &self.units.problem.m else { return false };
        let (n, c) = (m.n_rows(), self.contacts.len());
        let mut place = vec![usize::MAX; n];
        self.equations.iter().enumerate().for_each(|(k, &i)| place[i] = k);
        let mut block = SparseMatrix::default();
        block.reset(self.equations.len());
        for &i in &self.equations {
            m.row(i).filter(|(j, _)| place[*j] != usize::MAX).for_each(|(j, a)| block.push(place[j], a));
            block.finish_row();
        }
        if !self.equations.is_empty() && !self.sparse.factor(&block) {
            return false;
        }
        let columns = m.transposed();
        let mut reduced = vec![0.0; c * c];
        let mut q: Vec<f64> = self.contacts.iter().map(|&i| self.units.problem.q[i]).collect();
        let mut x = vec![0.0; n];
        // The columns of C, then q, each as a right side of M_EE.
        for column in 0..=c {
            self.right_side.clear();
            self.right_side.resize(self.equations.len(), 0.0);
            if column < c {
                let entries = columns.row(self.contacts[column]).filter(|(i, _)| place[*i] != usize::MAX);
                entries.for_each(|(i, a)| self.right_side[place[i]] = a);
            } else {
                self.right_side.iter_mut().zip(&self.equations).for_each(|(b, &i)| *b = self.units.problem.q[i]);
            }
            let is_zero = self.right_side.iter().all(|b| *b == 0.0);
            if !is_zero && !solve_checked(&mut self.sparse, &block, &mut self.right_side) {
                return false;
            }
            x.fill(0.0);
            self.equations.iter().zip(&self.right_side).for_each(|(&i, b)| x[i] = *b);
            for (row, &i) in self.contacts.iter().enumerate() {
                let product = if is_zero { 0.0 } else { m.row(i).map(|(j, a)| a * x[j]).sum() };
                if column < c {
                    reduced[row * c + column] = m.get(i, self.contacts[column]) - product;
                } else {
                    q[row] -= product;
                }
            }
        }
        let entries = reduced.iter().filter(|a| **a != 0.0).count();
        let m: Matrix = if (entries as f64) < SPARSE_FILL * reduced.len() as f64 {
            let mut sparse = SparseMatrix::default();
            sparse.reset(c);
            for row in reduced.chunks_exact(c) {
                row.iter().enumerate().filter(|(_, a)| **a != 0.0).for_each(|(j, a)| sparse.push(j, *a));
                sparse.finish_row();
            }
            sparse.into()
        } else {
            DenseMatrix::new(c, c, reduced).unwrap_or_default().into()
        };
        self.lcp = Lcp { m, q };
        true
    }

    fn fill_tableau(&mut self) {
        let problem = &self.units.problem;
        let n = problem.n();
        self.tableau.clear();
        for &i in self.equations.iter().chain(&self.contacts) {
            self.tableau.extend(self.equations.iter().chain(&self.contacts).map(|&j| problem.m.get(i, j)));
            self.tableau.push(problem.q[i]);
        }
        self.row_order.clear();
        self.row_order.extend(0..n);
        self.column_order.clear();
        self.column_order.extend(0..n);
    }

    fn eliminate(&mut self) {
        let (e, n) = (self.equations.len(), self.units.problem.n());
        let width = n + 1;
        self.rank = 0;
        for k in 0..e {
            let Some((row, column)) = self.pivot(k) else { return };
            self.rank = k + 1;
            self.row_order.swap(k, row);
            self.column_order.swap(k, column);
            if row != k {
                let (top, bottom) = self.tableau.split_at_mut(row * width);
                top[k * width..(k + 1) * width].swap_with_slice(&mut bottom[..width]);
            }
            self.tableau.chunks_exact_mut(width).for_each(|row| row.swap(k, column));
            let (top, bottom) = self.tableau.split_at_mut((k + 1) * width);
            let pivot_row = &top[k * width..];
            for row in bottom.chunks_exact_mut(width) {
                let factor = row[k] / pivot_row[k];
                row[k] = factor;
                if factor != 0.0 {
                    row[k + 1..].iter_mut().zip(&pivot_row[k + 1..]).for_each(|(a, p)| *a -= factor * p);
                }
            }
        }
    }

    /// The next pivot among the equations and their unknowns.
    fn pivot(&self, k: usize) -> Option<(usize, usize)> {
        let (e, width) = (self.equations.len(), self.units.problem.n() + 1);
        let size = |i: usize, j: usize| self.tableau[i * width + j].abs();
        let (mut largest, mut at) = (0.0, (k, k));
        let (mut diagonal, mut diagonal_at) = (0.0, (k, k));
        for i in k..e {
            for j in k..e {
                let a = size(i, j);
                if a > largest {
                    (largest, at) = (a, (i, j));
                }
                if self.row_order[i] == self.column_order[j] && a > diagonal {
                    (diagonal, diagonal_at) = (a, (i, j));
                }
            }
        }
        if largest <= RANK_TOLERANCE {
            None
        } else if diagonal >= DIAGONAL_PREFERENCE * largest {
            Some(diagonal_at)
        } else {
            Some(at)
        }
    }

    /// Finds the dependent rows that still say something about C, and the free unknowns C still depends on.
    fn keep_dependent_rows(&mut self) {
        let (e, n) = (self.equations.len(), self.units.problem.n());
        let width = n + 1;
        for k in self.rank..e {
            let row = (e..n).any(|j| self.tableau[k * width + j].abs() > RANK_TOLERANCE);
            let column = (e..n).any(|i| self.tableau[i * width + k].abs() > RANK_TOLERANCE);
            if row || column {
                self.kept.push(k);
            }
        }
    }

    /// The LCP in (z_C, y⁺, y⁻).
    fn write_lcp(&mut self) {
        let (e, n) = (self.equations.len(), self.units.problem.n());
        let (width, c, k) = (n + 1, n - e, self.kept.len());
        let size = c + 2 * k;
        let mut m = std::mem::take(&mut self.lcp.m);
        if !matches!(m, Matrix::Dense(_)) {
            m = DenseMatrix::default().into();
        }
        if let Matrix::Dense(m) = &mut m {
            m.reset(size, size);
            for i in 0..c {
                let source = &self.tableau[(e + i) * width..(e + i + 1) * width];
                let row = m.row_mut(i);
                row[..c].copy_from_slice(&source[e..n]);
                for (at, &column) in self.kept.iter().enumerate() {
                    row[c + at] = source[column];
                    row[c + k + at] = -source[column];
                }
            }
            for (at, &kept) in self.kept.iter().enumerate() {
                let source = &self.tableau[kept * width + e..kept * width + n];
                m.row_mut(c + at)[..c].copy_from_slice(source);
                m.row_mut(c + k + at)[..c].iter_mut().zip(source).for_each(|(out, a)| *out = -a);
            }
        }
        self.lcp.m = m;
        self.lcp.q.clear();
        self.lcp.q.extend((e..n).map(|i| self.tableau[i * width + n]));
        self.lcp.q.extend(self.kept.iter().map(|&row| self.tableau[row * width + n]));
        self.lcp.q.extend(self.kept.iter().map(|&row| -self.tableau[row * width + n]));
    }

    /// The guess of the LCP.
    fn guess(&mut self, guess: &[f64]) {
        self.units.to_scaled(guess, &mut self.z);
        let free = |k: &usize| self.z[self.equations[self.column_order[*k]]];
        let r = &mut self.lcp_solution.r;
        r.clear();
        r.extend(self.contacts.iter().map(|&i| self.z[i]));
        r.extend(self.kept.iter().map(|k| free(k).max(0.0)));
        r.extend(self.kept.iter().map(|k| (-free(k)).max(0.0)));
    }

    /// z from the solution of the LCP, with one step of refinement.
    fn recover(&mut self) {
        let (c, k) = (self.contacts.len(), self.kept.len());
        let r = &self.lcp_solution.r;
        self.z.fill(0.0);
        self.contacts.iter().zip(r).for_each(|(&i, r)| self.z[i] = *r);
        for (at, &kept) in self.kept.iter().enumerate() {
            self.z[self.equations[self.column_order[kept]]] = r[c + at] - r[c + k + at];
        }
        for _ in 0..2 {
            self.units.problem.velocity(&self.z, &mut self.w);
            self.right_side.clear();
            self.right_side.extend(self.equations.iter().map(|&i| -self.w[i]));
            self.solve_equations();
            self.equations.iter().zip(&self.right_side).for_each(|(&i, x)| self.z[i] += x);
        }
    }

    /// right_side ← M_EE⁻¹ right_side, zero for the dependent unknowns.
    fn solve_equations(&mut self) {
        if self.is_sparse {
            if !self.equations.is_empty() {
                self.sparse.solve(&mut self.right_side);
            }
            return;
        }
        let (rank, width) = (self.rank, self.units.problem.n() + 1);
        let mut x: Vec<f64> = self.row_order[..rank].iter().map(|&i| self.right_side[i]).collect();
        for i in 0..rank {
            let row = &self.tableau[i * width..];
            x[i] -= row.iter().zip(&x[..i]).map(|(l, x)| l * x).sum::<f64>();
        }
        for i in (0..rank).rev() {
            let row = &self.tableau[i * width..];
            let sum: f64 = row[i + 1..rank].iter().zip(&x[i + 1..]).map(|(u, x)| u * x).sum();
            x[i] = (x[i] - sum) / row[i];
        }
        self.right_side.fill(0.0);
        for (&j, x) in self.column_order.iter().zip(&x) {
            self.right_side[j] = *x;
        }
    }
}

/// Solves and checks the residual; false when the matrix turns out singular.
fn solve_checked(lu: &mut SparseLu, a: &SparseMatrix, b: &mut [f64]) -> bool {
    let before = b.to_vec();
    lu.solve(b);
    let size = before.iter().fold(0.0, |s: f64, x| s.max(x.abs()));
    let is_close = |i: usize| (a.row(i).map(|(j, a)| a * b[j]).sum::<f64>() - before[i]).abs() <= SPARSE_RESIDUAL * size;
    b.iter().all(|x| x.abs() <= size / RANK_TOLERANCE) && (0..b.len()).all(is_close)
}
