//! The linear system of a Newton step for the proximal subproblem.

use super::alart_curnier::{Linearisation, Mode, evaluate, linearise_sliding};
use super::scaled::Scaled;
use crate::cones::{Block, norm_squared};
use crate::linear::BandOrder;
use crate::linear::BandedLu;

/// The problem with α (y − c) added to the velocity, c the centre; its equations are
///
///   F(y, ρ (v + α (y − c))) = 0,   v = W y + q,   ρ = κ/α,
///
/// with the Alart–Curnier function F.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subproblem<'a> {
    pub scaled: &'a Scaled,
    pub center: &'a [f64],
    /// Weight α of the proximal term; 1 is the mean of diag W.
    pub alpha: f64,
}

/// κ = ρ α. In F a contact counts as closed when y_N > ρ v_N. A ρ of the order of 1/diag W, the usual
/// one, lets v decide where it is still large; near a hyperstatic solution v is small everywhere,
/// and along a null direction of W a step changes y by v/α. With κ = 1 such a step is the whole of the
/// proximal step, which makes too many contacts change their mode at once; 0.01 to 0.1 are equally good.
const KAPPA: f64 = 0.05;

impl Subproblem<'_> {
    pub fn rho(&self) -> f64 {
        KAPPA / self.alpha
    }

    /// ρ (v + α (y − c)) of a block.
    #[inline]
    fn weighted_velocity(&self, block: usize, point: &Point) -> [f64; Block::MAX_DIM] {
        let mut out = [0.0; Block::MAX_DIM];
        for (out, k) in out.iter_mut().zip(self.scaled.rows(block)) {
            *out = self.rho() * (point.v[k] + self.alpha * (point.y[k] - self.center[k]));
        }
        out
    }
}

/// An iterate with everything that is evaluated there.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    /// Scaled impulses.
    pub y: Vec<f64>,
    /// v = W y + q.
    pub v: Vec<f64>,
    /// F.
    f: Vec<f64>,
    modes: Vec<Mode>,
    /// |F|.
    pub size: f64,
}

impl Point {
    /// Storage for n rows.
    pub fn resize(&mut self, n: usize) {
        for x in [&mut self.y, &mut self.v, &mut self.f] {
            x.resize(n, 0.0);
        }
    }

    /// F and the modes at (y, v).
    pub fn evaluate(&mut self, subproblem: &Subproblem) {
        self.modes.clear();
        for (index, block) in subproblem.scaled.blocks.iter().enumerate() {
            let rows = subproblem.scaled.rows(index);
            let weighted = subproblem.weighted_velocity(index, self);
            let mode = evaluate(*block, &self.y[rows.clone()], &weighted[..rows.len()], &mut self.f[rows]);
            self.modes.push(mode);
        }
        self.size = norm_squared(&self.f).sqrt();
    }
}

/// Assembles and solves J d = −F, J = E + ρ B (W + α I), where dF = E dy + B d(ρ v).
///
/// Open blocks have d = −y and leave the system; the others are ordered for a narrow band.
#[derive(Clone, Debug, Default)]
pub(super) struct NewtonSystem {
    order: BandOrder,
    lu: BandedLu,
    /// First row of a block in the system; `OPEN` for blocks outside it.
    positions: Vec<usize>,
    right_hand_side: Vec<f64>,
}

/// The shape of the system.
struct Band {
    /// Diagonals below and above the main one.
    lower: usize,
    upper: usize,
    /// Entries below the diagonal, from the first of each row on.
    entries: usize,
}

const OPEN: usize = usize::MAX;

/// Flops of a factorisation in the time of one of a sweep, which runs over short blocks: about.
const FLOP_RATIO: f64 = 10.0;

impl NewtonSystem {
    /// Finds the order of the blocks.
    pub fn prepare(&mut self, scaled: &Scaled) {
        self.order.compute(&scaled.w);
    }

    /// Entries of the matrix with all blocks closed, about.
    pub fn storage(&mut self, scaled: &Scaled) -> usize {
        let n = self.place(scaled, |_| true);
        let band = self.bandwidths(scaled);
        n * (2 * band.lower + band.upper).min(n)
    }

    /// The cost of a step with these blocks closed, in sweeps over W, about.
    pub fn cost(&mut self, scaled: &Scaled, closed: impl Fn(usize) -> bool) -> f64 {
        let n = self.place(scaled, closed);
        let band = self.bandwidths(scaled);
        let length = (band.lower + band.upper).min(n);
        let sweep = 2 * scaled.w.values().len().max(1);
        1.0 + (2 * length * band.entries) as f64 / (FLOP_RATIO * sweep as f64)
    }

    /// Gives the blocks that are `inside` their rows; returns the number of rows.
    fn place(&mut self, scaled: &Scaled, inside: impl Fn(usize) -> bool) -> usize {
        self.positions.clear();
        self.positions.resize(scaled.blocks.len(), OPEN);
        let mut n = 0;
        for &block in &self.order.order {
            if inside(block) {
                self.positions[block] = n;
                n += scaled.blocks[block].dim();
            }
        }
        n
    }

    fn bandwidths(&self, scaled: &Scaled) -> Band {
        let mut band = Band { lower: 0, upper: 0, entries: 0 };
        for (row, &at) in self.positions.iter().enumerate().filter(|(_, at)| **at != OPEN) {
            let dim = scaled.blocks[row].dim();
            let mut lower = 0;
            for (column, _) in scaled.w.row(row) {
                let across = self.positions[column];
                if across != OPEN {
                    lower = lower.max((at + dim).saturating_sub(across + 1));
                    band.upper = band.upper.max((across + scaled.blocks[column].dim()).saturating_sub(at + 1));
                }
            }
            band.lower = band.lower.max(lower);
            band.entries += dim * lower;
        }
        band
    }

    /// Writes the Newton direction d and W d; false when d is not finite.
    pub fn solve(&mut self, subproblem: &Subproblem, point: &Point, direction: &mut [f64], image: &mut [f64]) -> bool {
        let scaled = subproblem.scaled;
        let n = self.place(scaled, |block| point.modes[block] != Mode::Open);
        let band = self.bandwidths(scaled);
        self.lu.reset(n, band.lower, band.upper);
        self.right_hand_side.clear();
        self.right_hand_side.resize(n, 0.0);

        // d is known on the open blocks: image = W d with zeros elsewhere.
        direction.fill(0.0);
        for block in (0..scaled.blocks.len()).filter(|&b| point.modes[b] == Mode::Open) {
            for k in scaled.rows(block) {
                direction[k] = -point.y[k];
            }
        }
        scaled.w.multiply(direction, image);
        for block in 0..scaled.blocks.len() {
            match point.modes[block] {
                Mode::Open => {}
                Mode::Fixed => self.fill_fixed(subproblem, point, block, image),
                Mode::Sliding => self.fill_sliding(subproblem, point, block, image),
            }
        }
        self.lu.factor();
        self.lu.solve(&mut self.right_hand_side);
        for (block, &at) in self.positions.iter().enumerate().filter(|(_, at)| **at != OPEN) {
            let rows = scaled.rows(block);
            let len = rows.len();
            direction[rows].copy_from_slice(&self.right_hand_side[at..at + len]);
        }
        scaled.w.multiply(direction, image);
        direction.iter().chain(&*image).all(|x| x.is_finite())
    }

    /// ρ (W + α I) d = −F.
    fn fill_fixed(&mut self, subproblem: &Subproblem, point: &Point, block: usize, image: &[f64]) {
        let (at, rho) = (self.positions[block], subproblem.rho());
        let rows = subproblem.scaled.rows(block);
        for (column, w) in subproblem.scaled.w.row(block) {
            let across = self.positions[column];
            if across == OPEN {
                continue;
            }
            let len = subproblem.scaled.blocks[column].dim();
            for (i, w) in w.chunks_exact(len).enumerate() {
                for (target, w) in self.lu.row_mut(at + i, across, len).iter_mut().zip(w) {
                    *target = rho * w;
                }
            }
        }
        for (i, k) in rows.enumerate() {
            self.lu.row_mut(at + i, at + i, 1)[0] += KAPPA;
            self.right_hand_side[at + i] = -point.f[k] - rho * image[k];
        }
    }

    /// (E + ρ B (W + α I)) d = −F.
    fn fill_sliding(&mut self, subproblem: &Subproblem, point: &Point, block: usize, image: &[f64]) {
        let (at, rho) = (self.positions[block], subproblem.rho());
        let rows = subproblem.scaled.rows(block);
        let dim = rows.len();
        let weighted = subproblem.weighted_velocity(block, point);
        let law = subproblem.scaled.blocks[block];
        let Linearisation { impulse, velocity } = linearise_sliding(law, &point.y[rows.clone()], &weighted[..dim]);
        for (column, w) in subproblem.scaled.w.row(block) {
            let across = self.positions[column];
            if across == OPEN {
                continue;
            }
            let len = subproblem.scaled.blocks[column].dim();
            for i in 0..dim {
                let target = self.lu.row_mut(at + i, across, len);
                for (b, w) in velocity[i * dim..].iter().zip(w.chunks_exact(len)) {
                    for (target, w) in target.iter_mut().zip(w) {
                        *target += rho * b * w;
                    }
                }
            }
        }
        for i in 0..dim {
            let diagonal = self.lu.row_mut(at + i, at, dim);
            let mut through_open = 0.0;
            for j in 0..dim {
                diagonal[j] += impulse[i * dim + j] + KAPPA * velocity[i * dim + j];
                through_open += velocity[i * dim + j] * image[rows.start + j];
            }
            self.right_hand_side[at + i] = -point.f[rows.start + i] - rho * through_open;
        }
    }
}
