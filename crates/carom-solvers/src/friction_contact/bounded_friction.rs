//! Fixed points on the bounds of friction.

use super::FrictionContact;
use super::conic_form::project;
use super::disk::minimise_on_disk;
use crate::Solution;
use crate::acceleration::Acceleration;
use crate::cones::{Block, norm_squared};
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::report::{SolveReport, SolveStatus};

/// Friction bounded by a radius per contact that does not follow the normal impulse (Tresca's law),
///
/// ```text
///     0 ≤ u_N ⊥ r_N ≥ 0,     |r_T| ≤ b,  u_T = −τ r_T with τ ≥ 0, τ = 0 inside,      b ← μ r_N
/// ```
///
/// solved again and again with new bounds. Sweeps over the contacts, normal row and tangential rows one after the
/// other, each exactly (a half-line, a disk), Anderson-accelerated; with W symmetric they minimise ½ rᵀWr + qᵀr over the product of
/// half-lines, intervals (bounded rows) and disks. Sweeps end when their change is below a part of the error of the bounds. Rolling resistance is one more disk.
#[derive(Clone, Debug, Default)]
pub(super) struct BoundedFriction {
    /// The r_N that the bounds belong to, by block.
    normals: Vec<f64>,
    acceleration: Acceleration,
    best: Vec<f64>,
}

/// Limits of a solve.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoundLimits {
    /// Normalised residual.
    pub tolerance: f64,
    /// Number of sweeps.
    pub max_sweeps: usize,
    /// The end of the time.
    pub deadline: Deadline,
}

/// The rows a sweep changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All.
    Whole,
    /// The normal rows.
    Normal,
    /// The tangential rows.
    Tangential,
}

/// Sweeps end when their change is below this part of the error of the bounds, at first.
const INNER_SHARE: f64 = 0.1;

/// Least part: slow sweeps change little while much is left to do, so that an update without progress asks for better ones.
const LEAST_SHARE: f64 = 1e-8;

/// Sweeps with the same bounds: where more would be needed, new bounds do no harm.
const MAX_INNER_SWEEPS: usize = 200;

/// Updates of the bounds without a better iterate after which the search is given up.
const STALL_UPDATES: usize = 100;

impl BoundedFriction {
    /// Solves a valid problem without joints, solution prepared: `parts` are swept in turn, with the bounds read before each.
    pub fn solve(
        &mut self,
        solver: &'static str,
        problem: &FrictionContact,
        solution: &mut Solution,
        parts: &[Part],
        limits: BoundLimits,
    ) -> SolveReport {
        project(problem, &mut solution.r);
        problem.velocity(&solution.r, &mut solution.u);
        self.best.clone_from(&solution.r);
        let (status, sweeps) = self.iterate(problem, solution, parts, limits);
        solution.r.copy_from_slice(&self.best);
        problem.velocity(&solution.r, &mut solution.u);
        problem.report(solver, solution, sweeps, limits.tolerance, status)
    }

    /// The updates of the bounds. Leaves the best iterate in `self.best`.
    fn iterate(&mut self, problem: &FrictionContact, solution: &mut Solution, parts: &[Part], limits: BoundLimits) -> (SolveStatus, usize) {
        let scale = problem.mass_scale();
        let runaway = problem.runaway(scale);
        let mut residual = problem.residual_in_mass_unit(&solution.r, &solution.u, scale);
        let (mut best, mut since_best, mut sweeps, mut share) = (residual, 0, 0, INNER_SHARE);
        while best > limits.tolerance {
            match () {
                () if limits.deadline.is_over() => return (SolveStatus::TimeLimit, sweeps),
                () if sweeps >= limits.max_sweeps => return (SolveStatus::MaxIterations, sweeps),
                () if since_best >= STALL_UPDATES => return (SolveStatus::Stalled, sweeps),
                () => {}
            }
            for &part in parts {
                self.normals.clear();
                self.normals.extend((0..problem.blocks.len()).map(|block| solution.r[problem.w.offset(block)]));
                let most = MAX_INNER_SWEEPS.min(limits.max_sweeps.saturating_sub(sweeps));
                sweeps += self.solve_bounded(problem, &mut solution.r, part, share * residual, most);
            }
            // Friction above the new bounds is cut off here, so that the iterate is admissible.
            self.normals.clone_from(&solution.r);
            project(problem, &mut solution.r);
            problem.velocity(&solution.r, &mut solution.u);
            residual = problem.residual_in_mass_unit(&solution.r, &solution.u, scale);
            if !residual.is_finite() {
                return (SolveStatus::Stalled, sweeps);
            }
            since_best += 1;
            if residual < best && !runaway.applies(&solution.r, residual) {
                (best, since_best) = (residual, 0);
                self.best.copy_from_slice(&solution.r);
            } else {
                share = (0.1 * share).max(LEAST_SHARE);
            }
            solution.r.copy_from_slice(&self.normals);
        }
        (SolveStatus::Converged, sweeps)
    }

    /// Sweeps with the same bounds; their number.
    fn solve_bounded(&mut self, problem: &FrictionContact, r: &mut [f64], part: Part, tolerance: f64, most: usize) -> usize {
        self.acceleration.reset(r.len());
        for sweep in 1..=most {
            self.acceleration.begin(r);
            let change = self.sweep(problem, r, part);
            if change <= tolerance || !change.is_finite() {
                return sweep;
            }
            if self.acceleration.advance(r) {
                self.project_bounded(problem, r);
            }
        }
        most
    }

    /// One sweep; the change of r relative to r.
    fn sweep(&self, problem: &FrictionContact, r: &mut [f64], part: Part) -> f64 {
        let (mut step, mut size) = (0.0, 0.0);
        for (index, block) in problem.blocks.iter().enumerate() {
            let dim = block.dim();
            let rows = problem.w.offset(index)..problem.w.offset(index + 1);
            let w = problem.w.diagonal(index);
            let mut free = [0.0; Block::MAX_DIM];
            free[..dim].copy_from_slice(&problem.q[rows.clone()]);
            problem.w.add_off_diagonal(index, r, &mut free[..dim]);
            let mut next = [0.0; Block::MAX_DIM];
            next[..dim].copy_from_slice(&r[rows.clone()]);
            if part != Part::Tangential && w[0] > 0.0 {
                let others: f64 = (1..dim).map(|j| w[j] * next[j]).sum();
                next[0] = -(free[0] + others) / w[0];
                block.project_normal(&mut next[0]);
            }
            if part != Part::Normal {
                for disk in disks(block) {
                    solve_disk(&disk, w, &free[..dim], self.normals[index], &mut next[..dim]);
                }
            }
            for (r, next) in r[rows].iter_mut().zip(next) {
                step += (next - *r) * (next - *r);
                size += next * next;
                *r = next;
            }
        }
        if size > 0.0 { (step / size).sqrt() } else { step.sqrt() }
    }

    fn project_bounded(&self, problem: &FrictionContact, r: &mut [f64]) {
        for (index, block) in problem.blocks.iter().enumerate() {
            let start = problem.w.offset(index);
            block.project_normal(&mut r[start]);
            for disk in disks(block) {
                let part = &mut r[start + disk.first..start + disk.first + disk.len];
                let (size, radius) = (norm_squared(part).sqrt(), disk.slope * self.normals[index]);
                if size > radius {
                    part.iter_mut().for_each(|x| *x *= radius / size);
                }
            }
        }
    }
}

/// Rows of a block bounded by `slope` times the normal impulse.
#[derive(Clone, Copy, Debug, Default)]
struct Disk {
    first: usize,
    len: usize,
    slope: f64,
}

/// Refuses moments of three components: their bound is a ball, not a disk.
pub(super) fn refuse_balls(solver: &'static str, problem: &FrictionContact) -> Result<(), SolveError> {
    if problem.blocks.iter().any(|block| matches!(block, Block::RollingSpinning { .. })) {
        let reason = "the bound of rolling and spinning together is a ball, not a disk";
        return Err(SolveError::Unsupported { solver, reason, alternatives: "auto, nsgs, admm" });
    }
    Ok(())
}

/// The disks of a block: friction, and rolling resistance.
fn disks(block: &Block) -> impl Iterator<Item = Disk> {
    let none = Disk::default();
    let [a, b] = match *block {
        Block::Bilateral { .. } | Block::Unilateral | Block::Bounded { .. } | Block::Ball { .. } => [none, none],
        Block::Coulomb2 { mu } => [Disk { first: 1, len: 1, slope: mu }, none],
        Block::Coulomb3 { mu } => [Disk { first: 1, len: 2, slope: mu }, none],
        Block::Spinning { mu, spinning: slope } => [Disk { first: 1, len: 2, slope: mu }, Disk { first: 3, len: 1, slope }],
        Block::Rolling { mu, rolling: slope } => [Disk { first: 1, len: 2, slope: mu }, Disk { first: 3, len: 2, slope }],
        Block::RollingSpinning { mu, rolling: slope } => [Disk { first: 1, len: 2, slope: mu }, Disk { first: 3, len: 3, slope }],
    };
    [a, b].into_iter().filter(|disk| disk.len > 0)
}

/// The exact impulse of a disk with the other rows of its block fixed.
fn solve_disk(disk: &Disk, w: &[f64], free: &[f64], normal: f64, next: &mut [f64]) {
    let (dim, len) = (free.len(), disk.len);
    let rows = disk.first..disk.first + len;
    let (mut a, mut b) = ([0.0; 4], [0.0; 2]);
    for (i, row) in rows.clone().enumerate() {
        b[i] = free[row];
        for column in 0..dim {
            match rows.contains(&column) {
                true => a[i * len + column - disk.first] = w[row * dim + column],
                false => b[i] += w[row * dim + column] * next[column],
            }
        }
    }
    if len == 2 {
        // W from elsewhere may be symmetric to a few digits only: what is not acts through the last impulse.
        let skew = 0.5 * (a[1] - a[2]);
        b[0] += skew * next[disk.first + 1];
        b[1] -= skew * next[disk.first];
        (a[1], a[2]) = (a[1] - skew, a[2] + skew);
    }
    minimise_on_disk(&a[..len * len], &b[..len], disk.slope * normal, &mut next[rows]);
}
