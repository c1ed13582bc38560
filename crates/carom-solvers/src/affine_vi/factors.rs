//! Factors of the held rows of W, one per combination of pieces met lately.

use super::AffineVi;
use super::pieces::Piece;
use crate::linear::{RankRevealingLu, RowLu};

/// Combinations kept: a rectifier has a handful of them.
const CAPACITY: usize = 16;

/// The factor of W over the held rows of one combination.
#[derive(Clone, Debug, Default)]
pub(super) struct Factor {
    pieces: Vec<Piece>,
    /// The held rows.
    pub held: Vec<usize>,
    lu: RowLu,
    /// In place of `lu` where a pivot vanished.
    singular: Option<Box<RankRevealingLu>>,
    /// Largest entry of each held row.
    sizes: Vec<f64>,
    block: Vec<f64>,
}

/// Terms of a solution this much larger than the right side come from a pivot that is rounding.
const GROWTH: f64 = 1e10;

/// What a singular matrix may leave of a right side, relative to it: the equations then agree.
const CONSISTENT: f64 = 1e-9;

/// Factors by combination of pieces, for one W.
#[derive(Clone, Debug, Default)]
pub(super) struct Factors {
    generation: Option<u64>,
    kept: Vec<Factor>,
    n_kept: usize,
    /// Place of the next combination once all are taken.
    next: usize,
    /// Place of the last answer.
    last: usize,
}

impl Factors {
    /// The factor for these pieces; made where it is not at hand.
    pub fn of(&mut self, problem: &AffineVi, pieces: &[Piece]) -> &mut Factor {
        if self.generation != Some(problem.generation) {
            (self.generation, self.n_kept, self.next) = (Some(problem.generation), 0, 0);
        }
        if self.last < self.n_kept && self.kept[self.last].pieces == pieces {
            return &mut self.kept[self.last];
        }
        if let Some(place) = self.kept[..self.n_kept].iter().position(|factor| factor.pieces == pieces) {
            self.last = place;
            return &mut self.kept[place];
        }
        let place = if self.n_kept < CAPACITY { self.n_kept } else { self.next };
        if place == self.kept.len() {
            self.kept.push(Factor::default());
        }
        if self.n_kept < CAPACITY {
            self.n_kept += 1
        } else {
            self.next = (self.next + 1) % CAPACITY
        }
        self.last = place;
        self.kept[place].make(problem, pieces);
        &mut self.kept[place]
    }
}

impl Factor {
    fn make(&mut self, problem: &AffineVi, pieces: &[Piece]) {
        let n = problem.n();
        self.pieces.clear();
        self.pieces.extend_from_slice(pieces);
        self.held.clear();
        self.held.extend((0..n).filter(|&i| pieces[i] == Piece::Held));
        let size = self.held.len();
        let values = self.lu.reset(size);
        for (a, &i) in self.held.iter().enumerate() {
            for (b, &j) in self.held.iter().enumerate() {
                values[a * size + b] = problem.w[i * n + j];
            }
        }
        self.sizes.clear();
        self.sizes.extend(values.chunks_exact(size.max(1)).map(|row| row.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()))));
        self.block.clear();
        self.block.extend_from_slice(values);
        let regular = self.lu.factor();
        self.singular = (!regular).then(|| self.rank_revealing());
    }

    fn rank_revealing(&self) -> Box<RankRevealingLu> {
        let mut lu = Box::new(RankRevealingLu::default());
        lu.factor(self.held.len(), &self.block);
        lu
    }

    /// Replaces b by the solution over the held rows; where the matrix is singular, but for rounding or exactly, by one with few entries. False where there is none.
    pub fn solve(&mut self, b: &mut [f64]) -> bool {
        if self.singular.is_none() {
            let data = self.largest(b);
            self.rhs_mark(b);
            self.lu.solve(b);
            if self.terms(b) <= GROWTH * data {
                return true;
            }
            // the matrix is singular but for the rounding of its last pivot
            self.singular = Some(self.rank_revealing());
            b.copy_from_slice(&self.block[self.held.len() * self.held.len()..]);
        }
        let data = self.largest(b);
        self.rhs_mark(b);
        let Some(lu) = &mut self.singular else { return false };
        lu.solve(b);
        let n = self.held.len();
        let left = (0..n).fold(0.0_f64, |m, i| {
            let row = &self.block[i * n..(i + 1) * n];
            let difference = row.iter().zip(b.iter()).map(|(a, x)| a * x).sum::<f64>() - self.block[n * n + i];
            m.max(difference.abs() / self.sizes[i])
        });
        left <= CONSISTENT * data.max(self.terms(b)) && self.terms(b) <= GROWTH * data
    }

    /// Keeps the right side behind the matrix.
    fn rhs_mark(&mut self, b: &[f64]) {
        self.block.truncate(self.held.len() * self.held.len());
        self.block.extend_from_slice(b);
    }

    /// Largest |b_i| in the units of the rows.
    fn largest(&self, b: &[f64]) -> f64 {
        b.iter().zip(&self.sizes).fold(0.0, |m, (b, size)| f64::max(m, b.abs() / size))
    }

    /// Largest Σ |a_ij x_j| in the units of the rows.
    fn terms(&self, x: &[f64]) -> f64 {
        let n = self.held.len();
        let sum = |row: &[f64]| row.iter().zip(x).map(|(a, x)| (a * x).abs()).sum::<f64>();
        self.block[..n * n].chunks_exact(n.max(1)).zip(&self.sizes).fold(0.0, |m, (row, size)| f64::max(m, sum(row) / size))
    }
}
