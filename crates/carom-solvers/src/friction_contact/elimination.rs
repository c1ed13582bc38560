//! Exact elimination of the bilateral rows.

use super::FrictionContact;
use crate::Solution;
use crate::block_sparse::BlockSparse;
use crate::delassus::Delassus;
use crate::error::SolveError;
use crate::linear::RankRevealingLu;
use crate::report::{SolveReport, SolveStatus};

/// Eliminates the joints B from a problem with contacts C:
///
///   r_B = −W_BB⁺ (q_B + W_BC r_C),   W' = W_CC − W_CB W_BB⁺ W_BC,   q' = q_C − W_CB W_BB⁺ q_B.
///
/// W_BB⁺ is a solve by LU with complete pivoting; redundant joint rows are normal and their
/// multipliers are set to zero. Dense: cost O(n_B³ + n_B² n_C + n_B n_C²); storage is reused.
#[derive(Clone, Debug)]
pub(crate) struct Elimination {
    reduced: FrictionContact,
    reduced_solution: Solution,
    lu: RankRevealingLu,
    /// Scalar rows of the joints and of the contacts.
    joint_rows: Vec<usize>,
    contact_rows: Vec<usize>,
    dims: Vec<usize>,
    dense: Vec<f64>,
    joint_matrix: Vec<f64>,
    /// −W_BB⁺ [W_BC | q_B], one contact column after another: n_B contiguous entries each.
    response: Vec<f64>,
    correction: Vec<f64>,
}

/// Rounds of tightening when the reduced metric was satisfied and the full one is not.
const ROUNDS: usize = 4;

impl Elimination {
    /// Empty storage.
    pub fn new() -> Self {
        Elimination {
            reduced: FrictionContact { w: Delassus::BlockSparse(BlockSparse::new()), q: Vec::new(), blocks: Vec::new() },
            reduced_solution: Solution::default(),
            lu: RankRevealingLu::default(),
            joint_rows: Vec::new(),
            contact_rows: Vec::new(),
            dims: Vec::new(),
            dense: Vec::new(),
            joint_matrix: Vec::new(),
            response: Vec::new(),
            correction: Vec::new(),
        }
    }

    /// Solves a problem by eliminating its joints and giving the contacts to `inner`, which gets the
    /// reduced problem, the guess and a tolerance. The full problem judges; while it is not satisfied
    /// and `inner` is, the inner tolerance is tightened.
    ///
    /// # Errors
    /// Those of `inner`.
    pub fn solve(
        &mut self,
        problem: &FrictionContact,
        solution: &mut Solution,
        tolerance: f64,
        mut inner: impl FnMut(&FrictionContact, &mut Solution, f64) -> Result<SolveReport, SolveError>,
    ) -> Result<SolveReport, SolveError> {
        self.reduce(problem);
        let guess = &mut self.reduced_solution.r;
        guess.clear();
        guess.extend(self.contact_rows.iter().map(|&row| solution.r[row]));
        self.reduced_solution.prepare(self.contact_rows.len());

        let mut inner_tolerance = 0.5 * tolerance;
        let mut iterations = 0;
        let mut round = 0;
        loop {
            round += 1;
            let (solver, status) = if self.reduced.blocks.is_empty() {
                ("elimination", SolveStatus::Stalled)
            } else {
                let report = inner(&self.reduced, &mut self.reduced_solution, inner_tolerance)?;
                iterations += report.iterations;
                (report.solver, report.status)
            };
            self.recover(problem, solution);
            let report = problem.report(solver, solution, iterations, tolerance, status);
            if report.is_converged() || !status.is_converged() || round == ROUNDS {
                return Ok(report);
            }
            inner_tolerance *= (0.5 * tolerance / report.residual_normalised).clamp(1e-3, 0.5);
        }
    }

    fn reduce(&mut self, problem: &FrictionContact) {
        self.split_rows(problem);
        problem.w.to_dense(&mut self.dense);
        let (n, n_b) = (problem.n_rows(), self.joint_rows.len());
        self.joint_matrix.clear();
        for &i in &self.joint_rows {
            let row = &self.dense[i * n..(i + 1) * n];
            self.joint_matrix.extend(self.joint_rows.iter().map(|&j| row[j]));
        }
        self.lu.factor(n_b, &self.joint_matrix);

        // One response per contact row and one for q.
        self.response.clear();
        for &j in &self.contact_rows {
            let column = self.joint_rows.iter().map(|&i| -self.dense[i * n + j]);
            self.response.extend(column);
        }
        self.response.extend(self.joint_rows.iter().map(|&i| -problem.q[i]));
        if n_b > 0 {
            for response in self.response.chunks_exact_mut(n_b) {
                self.lu.solve(response);
            }
        }
        self.fill_reduced(problem);
    }

    fn split_rows(&mut self, problem: &FrictionContact) {
        self.joint_rows.clear();
        self.contact_rows.clear();
        self.dims.clear();
        self.reduced.blocks.clear();
        let mut start = 0;
        for block in &problem.blocks {
            let rows = start..start + block.dim();
            start = rows.end;
            if block.is_bilateral() {
                self.joint_rows.extend(rows);
            } else {
                self.contact_rows.extend(rows);
                self.dims.push(block.dim());
                self.reduced.blocks.push(*block);
            }
        }
    }

    fn fill_reduced(&mut self, problem: &FrictionContact) {
        let (n, n_b, n_c) = (problem.n_rows(), self.joint_rows.len(), self.contact_rows.len());
        let (dense, joint_rows, response) = (&self.dense, &self.joint_rows, &self.response);
        // W_{i,B} · response_k for contact row i.
        let through_joints = |i: usize, k: usize| -> f64 {
            let response = &response[k * n_b..(k + 1) * n_b];
            let row = &dense[i * n..(i + 1) * n];
            joint_rows.iter().zip(response).map(|(&j, r)| row[j] * r).sum()
        };
        self.reduced.q.clear();
        for &i in &self.contact_rows {
            self.reduced.q.push(problem.q[i] + through_joints(i, n_c));
        }
        let Delassus::BlockSparse(w) = &mut self.reduced.w else {
            return; // Built block-sparse in `new`, never replaced.
        };
        w.reset(&self.dims);
        for row in 0..self.dims.len() {
            let rows = w.offset(row)..w.offset(row + 1);
            for column in 0..self.dims.len() {
                let columns = w.offset(column)..w.offset(column + 1);
                let positions = rows.clone().flat_map(|a| columns.clone().map(move |b| (a, b)));
                let block = w.push_block(column);
                for (value, (a, b)) in block.iter_mut().zip(positions) {
                    let i = self.contact_rows[a];
                    *value = dense[i * n + self.contact_rows[b]] + through_joints(i, b);
                }
            }
            w.finish_row();
        }
    }

    /// Joint impulses from contact impulses, with one step of iterative refinement.
    fn recover(&mut self, problem: &FrictionContact, solution: &mut Solution) {
        let n_b = self.joint_rows.len();
        for (&row, r) in self.contact_rows.iter().zip(&self.reduced_solution.r) {
            solution.r[row] = *r;
        }
        for (b, &row) in self.joint_rows.iter().enumerate() {
            let free = self.response[self.contact_rows.len() * n_b + b];
            let contacts = self.reduced_solution.r.iter().enumerate();
            solution.r[row] = free + contacts.map(|(k, r)| self.response[k * n_b + b] * r).sum::<f64>();
        }
        problem.velocity(&solution.r, &mut solution.u);
        self.correction.clear();
        self.correction.extend(self.joint_rows.iter().map(|&row| -solution.u[row]));
        self.lu.solve(&mut self.correction);
        for (&row, correction) in self.joint_rows.iter().zip(&self.correction) {
            solution.r[row] += correction;
        }
        problem.velocity(&solution.r, &mut solution.u);
    }
}
