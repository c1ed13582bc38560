//! A problem that is a single contact: solved, judged and reported without loops over blocks.
//!
//! This is the whole one-step problem of a bouncing ball or an impact oscillator, solved once per
//! step; the general path would spend its time on bookkeeping.

use super::local::solve_contact;
use super::{FrictionContact, check_blocks};
use crate::Solution;
use crate::cones::{Block, norm_squared};
use crate::error::{SolveError, check_size};
use crate::report::{SolveReport, SolveStatus};

/// The block of a problem that is one contact with an exact solution.
#[inline]
pub(super) fn single_contact(problem: &FrictionContact) -> Option<Block> {
    match problem.blocks[..] {
        [block] if !block.is_bilateral() => Some(block),
        _ => None,
    }
}

/// Validates and solves a problem of one contact exactly.
///
/// # Errors
/// Those of [`FrictionContact::validate`].
#[inline]
pub(super) fn solve_single(
    problem: &FrictionContact,
    block: Block,
    solution: &mut Solution,
    tolerance: f64,
) -> Result<SolveReport, SolveError> {
    if problem.w.n_blocks() != 1 || problem.w.n_rows() != block.dim() {
        problem.validate()?;
    }
    check_size("q", block.dim(), problem.q.len())?;
    let report = match block {
        Block::Unilateral | Block::Bounded { .. } => solve_dim::<1>(problem, block, solution, tolerance),
        Block::Ball { dim: 2, .. } => solve_dim::<2>(problem, block, solution, tolerance),
        Block::Ball { .. } => solve_dim::<3>(problem, block, solution, tolerance),
        Block::Coulomb2 { .. } => solve_dim::<2>(problem, block, solution, tolerance),
        Block::Coulomb3 { .. } => solve_dim::<3>(problem, block, solution, tolerance),
        Block::Spinning { .. } => solve_dim::<4>(problem, block, solution, tolerance),
        Block::Rolling { .. } => solve_dim::<5>(problem, block, solution, tolerance),
        Block::RollingSpinning { .. } => solve_dim::<6>(problem, block, solution, tolerance),
        Block::Bilateral { .. } => None,
    };
    match report {
        Some(report) => Ok(report),
        None => {
            // Something is not finite or not of the right size: say what.
            problem.validate()?;
            Err(SolveError::NotFinite { what: "solution", index: 0 })
        }
    }
}

/// The contact of D rows; `None` when its numbers are not usable.
#[inline]
fn solve_dim<const D: usize>(problem: &FrictionContact, block: Block, solution: &mut Solution, tolerance: f64) -> Option<SolveReport> {
    if !problem.w.is_complete() {
        return None;
    }
    let w = problem.w.diagonal(0).get(..D * D)?;
    let q: [f64; D] = problem.q[..].try_into().ok()?;
    let mut r: [f64; D] = solution.r[..].try_into().unwrap_or([0.0; D]);
    let slopes = block.friction().min(rolling(block));
    if slopes < 0.0 || check_blocks(&[block]).is_err() {
        return None;
    }
    if !r.iter().all(|x| x.is_finite()) {
        r = [0.0; D];
    }
    solve_contact(block, w, &q, &mut r);
    let mut u = q;
    for (u, row) in u.iter_mut().zip(w.chunks_exact(D)) {
        for (w, r) in row.iter().zip(&r) {
            *u += w * r;
        }
    }
    let trace: f64 = w.iter().step_by(D + 1).sum();
    let scale = if trace > 0.0 { trace / D as f64 } else { 1.0 };
    let (q2, r2, u2) = (norm_squared(&q), norm_squared(&r), norm_squared(&u));
    let residual = |scale: f64| {
        let error = block.natural_map_squared(&r, &u, scale);
        let size = q2.max(r2 * scale * scale).max(u2).sqrt();
        if size > f64::EPSILON { error.sqrt() / size } else { error.sqrt() }
    };
    let residual_normalised = residual(scale);
    // A number that is not finite in W, q or μ ends here: u or the norms carry it.
    if !(u2 + q2 + trace + block.friction() + rolling(block)).is_finite() || !w.iter().all(|x| x.is_finite()) {
        return None;
    }
    store(&mut solution.r, &r);
    store(&mut solution.u, &u);
    Some(SolveReport {
        status: if residual_normalised <= tolerance { SolveStatus::Converged } else { SolveStatus::Stalled },
        solver: "nsgs",
        iterations: 1,
        residual: residual(1.0),
        residual_normalised,
    })
}

/// Resistance to rolling or spinning; 0 without.
#[inline]
fn rolling(block: Block) -> f64 {
    block.moments().map_or(0.0, |(slope, _)| slope)
}

#[inline]
fn store<const D: usize>(target: &mut Vec<f64>, values: &[f64; D]) {
    if let Ok(target) = <&mut [f64; D]>::try_from(&mut target[..]) {
        *target = *values;
    } else {
        target.clear();
        target.extend_from_slice(values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delassus::{Delassus, DenseDelassus};

    fn problem(w: Vec<f64>, q: Vec<f64>, block: Block) -> FrictionContact {
        FrictionContact { w: Delassus::Dense(DenseDelassus::new(w, &[block.dim()]).unwrap()), q, blocks: vec![block] }
    }

    #[test]
    fn agrees_with_the_general_judge() {
        let w = vec![2.0, 0.3, 0.1, 0.3, 1.0, 0.2, 0.1, 0.2, 1.5];
        let block = Block::Coulomb3 { mu: 0.3 };
        let problem = problem(w, vec![-1.0, 2.0, -0.5], block);
        let mut solution = Solution::default();
        let report = solve_single(&problem, block, &mut solution, 1e-10).unwrap();
        assert!(report.is_converged());
        let judge = problem.residual_normalised(&solution.r, &solution.u);
        assert!((report.residual_normalised - judge).abs() < 1e-15); // rounding of both sums
    }

    #[test]
    fn bad_numbers_are_named() {
        let mut solution = Solution::default();
        let bad_q = problem(vec![1.0], vec![f64::NAN], Block::Unilateral);
        let error = solve_single(&bad_q, Block::Unilateral, &mut solution, 1e-10).unwrap_err();
        assert_eq!(error, SolveError::NotFinite { what: "q", index: 0 });
        let bad_w = problem(vec![f64::INFINITY], vec![-1.0], Block::Unilateral);
        let error = solve_single(&bad_w, Block::Unilateral, &mut solution, 1e-10).unwrap_err();
        assert_eq!(error, SolveError::NotFinite { what: "W", index: 0 });
        let block = Block::Coulomb2 { mu: -1.0 };
        let bad_mu = problem(vec![1.0, 0.0, 0.0, 1.0], vec![-1.0, 0.0], block);
        let error = solve_single(&bad_mu, block, &mut solution, 1e-10).unwrap_err();
        assert!(matches!(error, SolveError::BadBlock { block: 0, .. }));
    }
}
