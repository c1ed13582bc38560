//! Fixed-point iteration of proximal points for the impulses of a one-step problem.

use super::prox::ProxParams;
use carom_solvers::{Block, Delassus, FrictionContact, Solution, SolveError, SolveReport, SolveStatus};
use serde::{Deserialize, Serialize};

/// Which impulses a proximal point sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sweep {
    /// The latest ones.
    #[default]
    GaussSeidel,
    /// Those of the last iteration.
    Jacobi,
}

/// Iterations without a smaller error after which relaxations are lowered, by which factor, and how often at most (to a tenth).
const PATIENCE: usize = 100;
const LOWERING: f64 = 0.9;
const MAX_LOWERINGS: usize = 22;

/// The iteration  p ← prox(p − r u),  u = W p + q,  with its work arrays.
///
/// A row in which W is diagonally dominant, W_ii > Σ_{j≠i} |W_ij|, takes r = 1/W_ii, which makes the row sum |1 − r W_ii| + r Σ |W_ij| of
/// I − R W smallest, and less than 1. In other rows no r makes it less than 1; they take r = ω/W_ii in Gauss–Seidel sweeps (as the authors)
/// and r = ω/Σ_j |W_ij| in Jacobi sweeps (so that the spectral radius of R W is at most ω). ω is [`ProxParams::relaxation`]. The rows of a
/// tangent plane share the smallest of their r. Where the error has not fallen for 100 iterations the relaxations of the second kind are
/// lowered by a tenth, down to a tenth. With friction convergence is not proved; the report says what was reached, for the best iterate found.
#[derive(Clone, Debug, Default)]
pub struct ProxIteration {
    /// r of each row.
    relaxation: Vec<f64>,
    /// Rows in which W is diagonally dominant.
    dominant: Vec<bool>,
    /// Impulses of the best iterate.
    best: Vec<f64>,
}

impl ProxIteration {
    /// Iterates from the guess in `solution`. The report holds the errors by which all solvers are judged.
    ///
    /// # Errors
    /// [`SolveError`] for a malformed problem.
    pub fn solve(&mut self, params: &ProxParams, problem: &FrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        solution.prepare(problem.n_rows());
        self.choose_relaxations(params, problem)?;
        let Solution { r: p, u } = solution;
        problem.velocity(p, u);
        let (mut error, mut iterations) = (problem.residual_normalised(p, u), 0);
        let (mut least, mut since, mut lowerings) = (error, 0, 0);
        self.best.clone_from(p);
        while error > params.tolerance && iterations < params.max_iterations && error.is_finite() {
            match params.sweep {
                Sweep::GaussSeidel => self.sweep(problem, p),
                Sweep::Jacobi => self.update_all(problem, p, u),
            }
            problem.velocity(p, u);
            error = problem.residual_normalised(p, u);
            iterations += 1;
            since += 1;
            if error < least {
                (least, since) = (error, 0);
                self.best.clone_from(p);
            } else if since == PATIENCE && lowerings < MAX_LOWERINGS {
                (since, lowerings) = (0, lowerings + 1);
                self.lower_relaxations();
            }
        }
        let status = match error {
            e if e <= params.tolerance => SolveStatus::Converged,
            e if e.is_finite() => SolveStatus::MaxIterations,
            _ => SolveStatus::Stalled,
        };
        if !status.is_converged() {
            p.clone_from(&self.best);
            problem.velocity(p, u);
        }
        let (residual, residual_normalised) = (problem.residual(p, u), problem.residual_normalised(p, u));
        Ok(SolveReport { status, solver: "prox", iterations, residual, residual_normalised })
    }

    /// W => r.
    fn choose_relaxations(&mut self, params: &ProxParams, problem: &FrictionContact) -> Result<(), SolveError> {
        let Delassus::BlockSparse(w) = &problem.w else {
            return Err(SolveError::Unsupported { solver: "prox", reason: "W is not stored by blocks", alternatives: "nsgs" });
        };
        self.relaxation.clear();
        self.dominant.clear();
        for (index, block) in problem.blocks.iter().enumerate() {
            let (start, dim) = (self.relaxation.len(), block.dim());
            let mut sums = [0.0; Block::MAX_DIM];
            for (_, values) in w.row(index) {
                let width = values.len() / dim;
                for (sum, row) in sums.iter_mut().zip(values.chunks_exact(width)) {
                    *sum += row.iter().map(|x| x.abs()).sum::<f64>();
                }
            }
            let diagonal = w.diagonal(index);
            for (i, sum) in sums[..dim].iter().enumerate() {
                let own = diagonal[i * dim + i];
                let dominant = own > 0.5 * sum;
                let bound = if dominant || params.sweep == Sweep::GaussSeidel { own } else { *sum };
                let factor = if dominant { 1.0 } else { params.relaxation };
                // a row that no impulse moves keeps its impulse
                self.relaxation.push(if own > 0.0 { factor / bound } else { 0.0 });
                self.dominant.push(dominant);
            }
            for (rows, _) in disks(block).into_iter().flatten() {
                let rows = start + rows.start..start + rows.end;
                let least = self.relaxation[rows.clone()].iter().fold(f64::INFINITY, |least, r| least.min(*r));
                let all = self.dominant[rows.clone()].iter().all(|d| *d);
                self.relaxation[rows.clone()].fill(least);
                self.dominant[rows].fill(all);
            }
        }
        Ok(())
    }

    fn lower_relaxations(&mut self) {
        for (r, _) in self.relaxation.iter_mut().zip(&self.dominant).filter(|(_, dominant)| !**dominant) {
            *r *= LOWERING;
        }
    }

    /// One Gauss–Seidel sweep: every proximal point with the latest impulses.
    fn sweep(&self, problem: &FrictionContact, p: &mut [f64]) {
        let mut start = 0;
        for (index, block) in problem.blocks.iter().enumerate() {
            let dim = block.dim();
            let mut others = [0.0; Block::MAX_DIM];
            others[..dim].copy_from_slice(&problem.q[start..start + dim]);
            problem.w.add_off_diagonal(index, p, &mut others[..dim]);
            let diagonal = problem.w.diagonal(index);
            let (own, r) = (&mut p[start..start + dim], &self.relaxation[start..start + dim]);
            let velocity =
                |i: usize, own: &[f64]| others[i] + diagonal[i * dim..(i + 1) * dim].iter().zip(own).map(|(w, p)| w * p).sum::<f64>();
            match block {
                Block::Bilateral { .. } => (0..dim).for_each(|i| own[i] -= r[i] * velocity(i, own)),
                _ => {
                    own[0] = (own[0] - r[0] * velocity(0, own)).max(0.0);
                    for (rows, bound) in disks(block).into_iter().flatten() {
                        let mut u = [0.0; 2];
                        for (u, i) in u.iter_mut().zip(rows.clone()) {
                            *u = velocity(i, own);
                        }
                        let normal = own[0];
                        project_disk(&mut own[rows.clone()], &u, r[rows.start], bound * normal);
                    }
                }
            }
            start += dim;
        }
    }

    /// One Jacobi sweep from u = W p + q.
    fn update_all(&self, problem: &FrictionContact, p: &mut [f64], u: &[f64]) {
        let mut start = 0;
        for block in &problem.blocks {
            let rows = start..start + block.dim();
            let (own, u, r) = (&mut p[rows.clone()], &u[rows.clone()], &self.relaxation[rows.clone()]);
            match block {
                Block::Bilateral { .. } => (0..own.len()).for_each(|i| own[i] -= r[i] * u[i]),
                _ => {
                    own[0] = (own[0] - r[0] * u[0]).max(0.0);
                    for (rows, bound) in disks(block).into_iter().flatten() {
                        let normal = own[0];
                        project_disk(&mut own[rows.clone()], &u[rows.clone()], r[rows.start], bound * normal);
                    }
                }
            }
            start = rows.end;
        }
    }
}

/// The disks of a contact: their rows in the block, and radius over normal impulse.
fn disks(block: &Block) -> [Option<(std::ops::Range<usize>, f64)>; 2] {
    match *block {
        Block::Bilateral { .. } | Block::Unilateral => [None, None],
        Block::Coulomb2 { mu } => [Some((1..2, mu)), None],
        Block::Coulomb3 { mu } => [Some((1..3, mu)), None],
        Block::Rolling { mu, rolling } => [Some((1..3, mu)), Some((3..5, rolling))],
    }
}

/// p ← the point nearest to p − r u of the disk of this radius.
fn project_disk(p: &mut [f64], u: &[f64], r: f64, radius: f64) {
    for (p, u) in p.iter_mut().zip(u) {
        *p -= r * u;
    }
    let size = p.iter().map(|p| p * p).sum::<f64>().sqrt();
    if size > radius {
        p.iter_mut().for_each(|p| *p *= radius / size);
    }
}
