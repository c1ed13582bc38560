//! Which piece of its law each row is on, and the solution that belongs to the pieces.

use super::AffineVi;
use super::factors::Factors;
use crate::Solution;
use crate::vi::Set;

/// The piece of the law −u ∈ N_\[lower, upper\](r) that a row is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Piece {
    /// r = lower, u ≥ 0.
    #[default]
    AtLower,
    /// u = 0, lower ≤ r ≤ upper.
    Held,
    /// r = upper, u ≤ 0.
    AtUpper,
}

/// Violations that are rounding, relative to the largest number of the problem.
const ROUNDING: f64 = 1e-14;

/// The rows of a problem whose sets are intervals, finite or not.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    generation: Option<u64>,
    /// Bounds by rows; empty where a set is no product of intervals.
    bounds: Vec<(f64, f64)>,
    pub pieces: Vec<Piece>,
    factors: Factors,
    rhs: Vec<f64>,
}

impl Pieces {
    /// Brings bounds and pieces up to date; false where a set is no product of intervals.
    pub fn prepare(&mut self, problem: &AffineVi) -> bool {
        if self.generation != Some(problem.generation) {
            self.generation = Some(problem.generation);
            self.bounds.clear();
            for set in &problem.sets {
                let bound = match *set {
                    Set::Free { .. } => (f64::NEG_INFINITY, f64::INFINITY),
                    Set::NonNegative { .. } => (0.0, f64::INFINITY),
                    Set::Interval { lower, upper } => (lower, upper),
                    Set::SecondOrderCone { .. } | Set::Ball { .. } | Set::Simplex { .. } => {
                        self.bounds.clear();
                        return false;
                    }
                };
                self.bounds.extend(std::iter::repeat_n(bound, set.dim()));
            }
        }
        if self.bounds.len() != problem.n() {
            return false;
        }
        if self.pieces.len() != problem.n() {
            self.pieces.clear();
            self.pieces.resize(problem.n(), Piece::AtLower);
        }
        for (piece, bound) in self.pieces.iter_mut().zip(&self.bounds) {
            *piece = possible(*piece, *bound);
        }
        true
    }

    /// Takes the pieces of a solution.
    pub fn read(&mut self, problem: &AffineVi, solution: &Solution) {
        let scale = problem.scale();
        for (i, piece) in self.pieces.iter_mut().enumerate() {
            let ((lower, upper), r, u) = (self.bounds[i], solution.r[i], solution.u[i]);
            // a degenerate row, where both vanish, is not held: fewer unknowns
            *piece = if scale * (r - lower) <= u.abs() && u >= 0.0 {
                Piece::AtLower
            } else if scale * (upper - r) <= u.abs() && u <= 0.0 {
                Piece::AtUpper
            } else {
                Piece::Held
            };
            *piece = possible(*piece, (lower, upper));
        }
    }

    /// Solves for the present pieces, and moves rows that contradict theirs to another one, until none does. Returns the number of changes, or `None` where
    /// the pieces have no solution or rows keep changing. (The active-set form of Newton's method on the natural map: it ends for P-matrices of
    /// practical size, and the caller has other methods.)
    pub fn solve(&mut self, problem: &AffineVi, solution: &mut Solution) -> Option<usize> {
        let n = problem.n();
        let scale = problem.scale();
        for changes in 0..4 + 2 * n {
            let factor = self.factors.of(problem, &self.pieces);
            if !factor.regular {
                return None;
            }
            let Solution { r, u } = solution;
            for ((r, piece), (lower, upper)) in r.iter_mut().zip(&self.pieces).zip(&self.bounds) {
                *r = match piece {
                    Piece::AtLower => *lower,
                    Piece::Held => 0.0,
                    Piece::AtUpper => *upper,
                };
            }
            // r off the held rows => u without the held rows => r there
            problem.velocity(r, u);
            self.rhs.clear();
            self.rhs.extend(factor.held.iter().map(|&i| -u[i]));
            factor.lu.solve(&mut self.rhs);
            for (&i, &x) in factor.held.iter().zip(&self.rhs) {
                r[i] = x;
            }
            for (i, u) in u.iter_mut().enumerate() {
                let row = &problem.w[i * n..(i + 1) * n];
                *u += factor.held.iter().zip(&self.rhs).map(|(&j, x)| row[j] * x).sum::<f64>();
            }
            if !r.iter().all(|r| r.is_finite()) {
                return None;
            }
            if !self.change(problem, solution, scale) {
                for (r, (lower, upper)) in solution.r.iter_mut().zip(&self.bounds) {
                    *r = r.max(*lower).min(*upper);
                }
                return Some(changes);
            }
        }
        None
    }

    /// Moves the rows that contradict their piece; false where none does.
    fn change(&mut self, problem: &AffineVi, solution: &Solution, scale: f64) -> bool {
        let size = |values: &[f64]| values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let slack = ROUNDING * size(&problem.q).max(size(&solution.u)).max(scale * size(&solution.r));
        let mut changed = false;
        for (i, piece) in self.pieces.iter_mut().enumerate() {
            let ((lower, upper), r, u) = (self.bounds[i], solution.r[i], solution.u[i]);
            let next = match *piece {
                Piece::Held if scale * (lower - r) > slack => Piece::AtLower,
                Piece::Held if scale * (r - upper) > slack => Piece::AtUpper,
                Piece::AtLower if u < -slack => Piece::Held,
                Piece::AtUpper if u > slack => Piece::Held,
                same => same,
            };
            changed |= next != *piece;
            *piece = next;
        }
        changed
    }
}

/// A piece that the bounds have: rows without a lower bound cannot be there.
fn possible(piece: Piece, (lower, upper): (f64, f64)) -> Piece {
    match piece {
        Piece::AtLower if lower == f64::NEG_INFINITY => Piece::Held,
        Piece::AtUpper if upper == f64::INFINITY => Piece::Held,
        other => other,
    }
}
