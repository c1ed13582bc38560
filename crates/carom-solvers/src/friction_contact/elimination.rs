//! Exact elimination of the bilateral rows.

use super::FrictionContact;
use crate::Solution;
use crate::block_sparse::BlockSparse;
use crate::cones::Block;
use crate::delassus::Delassus;
use crate::error::SolveError;
use crate::linear::BilateralFactor;
use crate::report::{SolveReport, SolveStatus};

/// Eliminates the joints B from a problem with contacts C:
///
///   r_B = −W_BB⁺ (q_B + W_BC r_C),   W' = W_CC − W_CB W_BB⁺ W_BC,   q' = q_C − W_CB W_BB⁺ q_B.
///
/// W_BB⁺ is a solve with a sparse factor; redundant joint rows are normal and their multipliers are zero. With f entries of the factor (linear in
/// the joints of chains and trees) the cost is O(f n_C + n_C²); storage is reused.
#[derive(Clone, Debug)]
pub(crate) struct Elimination {
    reduced: FrictionContact,
    reduced_solution: Solution,
    factor: BilateralFactor,
    /// W in blocks, where the problem has it otherwise.
    copy: BlockSparse,
    dense: Vec<f64>,
    all_dims: Vec<usize>,
    /// Per block of the problem: its first row among those of the joints or of the contacts.
    place: Vec<usize>,
    /// Scalar rows of the joints and of the contacts.
    joint_rows: Vec<usize>,
    contact_rows: Vec<usize>,
    dims: Vec<usize>,
    /// −W_BB⁺ [W_BC | q_B], one contact column after another: n_B contiguous entries each.
    response: Vec<f64>,
    /// The rows of W' of one block.
    line: Vec<f64>,
    correction: Vec<f64>,
}

/// Rounds of tightening when the reduced metric was satisfied and the full one is not.
const ROUNDS: usize = 4;

/// Largest number of contact rows, to which the joints couple each other: W' is dense.
const CONTACT_ROWS: usize = 300;

/// Largest number of entries of −W_BB⁺ W_BC: 32 MB.
const RESPONSES: usize = 1 << 22;

impl Elimination {
    /// Whether it is the way for a problem: joints, and not too many contacts that they couple.
    pub fn suits(problem: &FrictionContact) -> bool {
        let rows = |bilateral: bool| problem.blocks.iter().filter(|b| b.is_bilateral() == bilateral).map(Block::dim).sum::<usize>();
        let (joints, contacts) = (rows(true), rows(false));
        joints > 0 && contacts <= CONTACT_ROWS && joints * contacts <= RESPONSES
    }

    /// Empty storage.
    pub fn new() -> Self {
        Elimination {
            reduced: FrictionContact { w: Delassus::BlockSparse(BlockSparse::new()), q: Vec::new(), blocks: Vec::new() },
            reduced_solution: Solution::default(),
            factor: BilateralFactor::default(),
            copy: BlockSparse::new(),
            dense: Vec::new(),
            all_dims: Vec::new(),
            place: Vec::new(),
            joint_rows: Vec::new(),
            contact_rows: Vec::new(),
            dims: Vec::new(),
            response: Vec::new(),
            line: Vec::new(),
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
        match &problem.w {
            Delassus::BlockSparse(w) => self.reduce_blocks(problem, w),
            other => {
                let copy = std::mem::take(&mut self.copy);
                let copy = self.in_blocks(other, copy);
                self.reduce_blocks(problem, &copy);
                self.copy = copy;
            }
        }
    }

    /// W with all its blocks.
    fn in_blocks(&mut self, w: &Delassus, mut copy: BlockSparse) -> BlockSparse {
        w.to_dense(&mut self.dense);
        let (n, n_blocks) = (w.n_rows(), w.n_blocks());
        self.all_dims.clear();
        self.all_dims.extend((0..n_blocks).map(|block| w.offset(block + 1) - w.offset(block)));
        copy.reset(&self.all_dims);
        for row in 0..n_blocks {
            for column in 0..n_blocks {
                let (first, width) = (w.offset(column), self.all_dims[column]);
                let block = copy.push_block(column);
                for (i, values) in (w.offset(row)..).zip(block.chunks_exact_mut(width)) {
                    values.copy_from_slice(&self.dense[i * n + first..][..width]);
                }
            }
            copy.finish_row();
        }
        copy
    }

    fn reduce_blocks(&mut self, problem: &FrictionContact, w: &BlockSparse) {
        self.factor.factor(w, |block| problem.blocks[block].is_bilateral());
        // One response per contact row and one for q.
        let (n_b, n_c) = (self.joint_rows.len(), self.contact_rows.len());
        self.response.clear();
        self.response.resize(n_b * n_c, 0.0);
        for (block, law) in problem.blocks.iter().enumerate().filter(|(_, law)| law.is_bilateral()) {
            for (column, values) in w.row(block).filter(|(column, _)| !problem.blocks[*column].is_bilateral()) {
                let (first, width) = (self.place[column], values.len() / law.dim());
                for (i, row) in (self.place[block]..).zip(values.chunks_exact(width)) {
                    for (j, value) in (first..).zip(row) {
                        self.response[j * n_b + i] = -value;
                    }
                }
            }
        }
        self.response.extend(self.joint_rows.iter().map(|&i| -problem.q[i]));
        for response in self.response.chunks_exact_mut(n_b.max(1)) {
            self.factor.solve(response);
        }
        self.fill_reduced(problem, w);
    }

    fn split_rows(&mut self, problem: &FrictionContact) {
        self.joint_rows.clear();
        self.contact_rows.clear();
        self.dims.clear();
        self.place.clear();
        self.reduced.blocks.clear();
        let mut start = 0;
        for block in &problem.blocks {
            let rows = start..start + block.dim();
            start = rows.end;
            if block.is_bilateral() {
                self.place.push(self.joint_rows.len());
                self.joint_rows.extend(rows);
            } else {
                self.place.push(self.contact_rows.len());
                self.contact_rows.extend(rows);
                self.dims.push(block.dim());
                self.reduced.blocks.push(*block);
            }
        }
    }

    fn fill_reduced(&mut self, problem: &FrictionContact, w: &BlockSparse) {
        let (n_b, n_c) = (self.joint_rows.len(), self.contact_rows.len());
        let Delassus::BlockSparse(reduced) = &mut self.reduced.w else {
            return; // Built block-sparse in `new`, never replaced.
        };
        self.reduced.q.clear();
        reduced.reset(&self.dims);
        for (block, law) in problem.blocks.iter().enumerate().filter(|(_, law)| !law.is_bilateral()) {
            // The rows of [W' | q'] of this block: n_C + 1 columns.
            let (dim, width) = (law.dim(), n_c + 1);
            self.line.clear();
            self.line.resize(dim * width, 0.0);
            for (row, line) in (w.offset(block)..).zip(self.line.chunks_exact_mut(width)) {
                line[n_c] = problem.q[row];
            }
            for (column, values) in w.row(block) {
                let (first, columns) = (self.place[column], values.len() / dim);
                for (line, row) in self.line.chunks_exact_mut(width).zip(values.chunks_exact(columns)) {
                    if problem.blocks[column].is_bilateral() {
                        for (x, response) in line.iter_mut().zip(self.response.chunks_exact(n_b)) {
                            *x += row.iter().zip(&response[first..]).map(|(w, r)| w * r).sum::<f64>();
                        }
                    } else {
                        line[first..first + columns].iter_mut().zip(row).for_each(|(x, w)| *x += w);
                    }
                }
            }
            self.reduced.q.extend(self.line.chunks_exact(width).map(|line| line[n_c]));
            for (column, &columns) in self.dims.iter().enumerate() {
                let first = reduced.offset(column);
                let target = reduced.push_block(column);
                for (target, line) in target.chunks_exact_mut(columns).zip(self.line.chunks_exact(width)) {
                    target.copy_from_slice(&line[first..first + columns]);
                }
            }
            reduced.finish_row();
        }
    }

    /// Joint impulses from contact impulses, with one step of iterative refinement.
    fn recover(&mut self, problem: &FrictionContact, solution: &mut Solution) {
        let (n_b, n_c) = (self.joint_rows.len(), self.contact_rows.len());
        for (&row, r) in self.contact_rows.iter().zip(&self.reduced_solution.r) {
            solution.r[row] = *r;
        }
        self.correction.clear();
        self.correction.extend_from_slice(&self.response[n_c * n_b..]);
        if n_b > 0 {
            for (r, response) in self.reduced_solution.r.iter().zip(self.response.chunks_exact(n_b)).filter(|(r, _)| **r != 0.0) {
                self.correction.iter_mut().zip(response).for_each(|(x, response)| *x += response * r);
            }
        }
        for (&row, r) in self.joint_rows.iter().zip(&self.correction) {
            solution.r[row] = *r;
        }
        problem.velocity(&solution.r, &mut solution.u);
        for (correction, &row) in self.correction.iter_mut().zip(&self.joint_rows) {
            *correction = -solution.u[row];
        }
        self.factor.solve(&mut self.correction);
        for (&row, correction) in self.joint_rows.iter().zip(&self.correction) {
            solution.r[row] += correction;
        }
        problem.velocity(&solution.r, &mut solution.u);
    }
}
