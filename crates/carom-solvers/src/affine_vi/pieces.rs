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

/// Combinations of pieces that are tried one by one as a last resort.
const MOST_COMBINATIONS: usize = 5000;

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
        let scale = problem.scale();
        for changes in 0..4 + 2 * problem.n() {
            if !self.evaluate(problem, solution) {
                return None;
            }
            if !self.change(problem, solution, scale) {
                self.clamp(solution);
                return Some(changes);
            }
        }
        None
    }

    /// Tries the combinations of pieces one after the other until `accepts` one; false where none is accepted or there are more than [`MOST_COMBINATIONS`].
    pub fn enumerate(&mut self, problem: &AffineVi, solution: &mut Solution, mut accepts: impl FnMut(&Solution) -> bool) -> bool {
        let choices: Vec<Vec<Piece>> = self.bounds.iter().map(|&bound| choices(bound)).collect();
        let count = choices.iter().try_fold(1_usize, |count, choices| count.checked_mul(choices.len()).filter(|&c| c <= MOST_COMBINATIONS));
        for mut number in 0..count.unwrap_or(0) {
            for (piece, choices) in self.pieces.iter_mut().zip(&choices) {
                *piece = choices[number % choices.len()];
                number /= choices.len();
            }
            if self.evaluate(problem, solution) {
                self.clamp(solution);
                problem.velocity(&solution.r, &mut solution.u);
                if accepts(solution) {
                    return true;
                }
            }
        }
        false
    }

    fn clamp(&self, solution: &mut Solution) {
        for (r, (lower, upper)) in solution.r.iter_mut().zip(&self.bounds) {
            *r = r.max(*lower).min(*upper);
        }
    }

    /// r and u of the present pieces; false where they have no solution.
    fn evaluate(&mut self, problem: &AffineVi, solution: &mut Solution) -> bool {
        let n = problem.n();
        let factor = self.factors.of(problem, &self.pieces);
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
        if !factor.solve(&mut self.rhs) {
            return false;
        }
        for (&i, &x) in factor.held.iter().zip(&self.rhs) {
            r[i] = x;
        }
        for (i, u) in u.iter_mut().enumerate() {
            let row = &problem.w[i * n..(i + 1) * n];
            *u += factor.held.iter().zip(&self.rhs).map(|(&j, x)| row[j] * x).sum::<f64>();
        }
        r.iter().all(|r| r.is_finite())
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

/// The pieces that the bounds have.
fn choices((lower, upper): (f64, f64)) -> Vec<Piece> {
    let all = [(Piece::AtLower, lower.is_finite()), (Piece::Held, true), (Piece::AtUpper, upper.is_finite())];
    all.into_iter().filter(|(_, exists)| *exists).map(|(piece, _)| piece).collect()
}
