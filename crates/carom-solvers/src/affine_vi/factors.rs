//! Factors of the held rows of W, one per combination of pieces met lately.

use super::AffineVi;
use super::pieces::Piece;
use crate::linear::RowLu;

/// Combinations kept: a rectifier has a handful of them.
const CAPACITY: usize = 16;

/// The factor of W over the held rows of one combination.
#[derive(Clone, Debug, Default)]
pub(super) struct Factor {
    pieces: Vec<Piece>,
    /// The held rows.
    pub held: Vec<usize>,
    pub lu: RowLu,
    /// The matrix has an inverse.
    pub regular: bool,
}

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
    pub fn of(&mut self, problem: &AffineVi, pieces: &[Piece]) -> &Factor {
        if self.generation != Some(problem.generation) {
            (self.generation, self.n_kept, self.next) = (Some(problem.generation), 0, 0);
        }
        if self.last < self.n_kept && self.kept[self.last].pieces == pieces {
            return &self.kept[self.last];
        }
        if let Some(place) = self.kept[..self.n_kept].iter().position(|factor| factor.pieces == pieces) {
            self.last = place;
            return &self.kept[place];
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
        &self.kept[place]
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
        // what a matrix that is singular but for rounding gives is judged by its residual
        self.regular = self.lu.factor();
    }
}
