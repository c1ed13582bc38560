//! The linear system of a Newton step for the proximal subproblem.

use super::alart_curnier::{Mode, Sliding, evaluate};
use super::scaled::Scaled;
use crate::cones::{Block, norm_squared};
use crate::linear::{BlockPattern, FrontalLu};

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

/// Solves J d = −F, J = E + ρ B (W + α I), where dF = E dy + B d(ρ v), in the unknowns that remain when the simple
/// equations are used:
///
/// - an open block has d = −y, a row at its bound d = −F, and leaves the system;
/// - a sliding one has d_t = μ d_N + known in the direction t in which it slides, and keeps d_N and, in space, d_s across.
///
/// The rows are those of the normal and of s. The pattern of W is symmetric, the values are not.
#[derive(Debug, Default)]
pub(super) struct NewtonSystem {
    pattern: BlockPattern,
    lu: FrontalLu,
    /// Unknowns per block; 0 for open ones.
    dims: Vec<usize>,
    sliding: Vec<Sliding>,
    right_hand_side: Vec<f64>,
}

/// Flops of a factorisation in the time of one of a sweep, which runs over short blocks: about.
const FLOP_RATIO: f64 = 10.0;

impl NewtonSystem {
    /// Finds the order of the blocks.
    pub fn prepare(&mut self, scaled: &Scaled) {
        self.pattern.compute(scaled.blocks.len(), |block| scaled.w.row(block).map(|(column, _)| column));
        self.lu.clear();
    }

    /// Entries of the factors with all blocks closed, about.
    pub fn storage(&mut self, scaled: &Scaled) -> usize {
        self.place(scaled, |_| true);
        self.lu.storage()
    }

    /// The cost of a step with these blocks closed, in sweeps over W, about.
    pub fn cost(&mut self, scaled: &Scaled, closed: impl Fn(usize) -> bool) -> f64 {
        self.place(scaled, closed);
        let sweep = 2 * scaled.w.values().len().max(1);
        1.0 + self.lu.flops() / (FLOP_RATIO * sweep as f64)
    }

    /// The system in which the blocks that are `inside` have all their rows.
    fn place(&mut self, scaled: &Scaled, inside: impl Fn(usize) -> bool) {
        self.dims.clear();
        self.dims.extend(scaled.blocks.iter().enumerate().map(|(index, block)| if inside(index) { block.dim() } else { 0 }));
        self.lu.reset(&self.pattern, &self.dims);
    }

    /// Writes the Newton direction d and W d; false when d is not finite.
    pub fn solve(&mut self, subproblem: &Subproblem, point: &Point, direction: &mut [f64], image: &mut [f64]) -> bool {
        let scaled = subproblem.scaled;
        // The known part of d, and its image: image = W d with zeros for what is unknown.
        self.find_unknowns(subproblem, point, direction);
        scaled.w.multiply(direction, image);
        self.lu.reset(&self.pattern, &self.dims);
        self.right_hand_side.clear();
        self.right_hand_side.resize(self.lu.n_rows(), 0.0);
        for block in 0..scaled.blocks.len() {
            if self.dims[block] > 0 {
                self.fill_row(subproblem, block);
                self.fill_right_hand_side(subproblem, point, block, direction, image);
            }
        }
        self.lu.factor();
        self.lu.solve(&mut self.right_hand_side);
        for (block, &dim) in self.dims.iter().enumerate().filter(|(_, dim)| **dim > 0) {
            let at = self.lu.offset(block);
            let x = &self.right_hand_side[at..at + dim];
            let target = &mut direction[scaled.rows(block)];
            match point.modes[block] {
                Mode::Sliding => self.sliding[block].add_step(x, target),
                _ => target.copy_from_slice(x),
            }
        }
        scaled.w.multiply(direction, image);
        direction.iter().chain(&*image).all(|x| x.is_finite())
    }

    /// Sets `dims` and `sliding`, and `direction` to its known part.
    fn find_unknowns(&mut self, subproblem: &Subproblem, point: &Point, direction: &mut [f64]) {
        let scaled = subproblem.scaled;
        self.dims.clear();
        self.sliding.resize(scaled.blocks.len(), Sliding::default());
        direction.fill(0.0);
        for (index, block) in scaled.blocks.iter().enumerate() {
            let rows = scaled.rows(index);
            match point.modes[index] {
                Mode::Open => {
                    self.dims.push(0);
                    for k in rows {
                        direction[k] = -point.f[k];
                    }
                }
                Mode::Fixed => self.dims.push(rows.len()),
                Mode::Sliding => {
                    self.dims.push(rows.len() - 1);
                    let weighted = subproblem.weighted_velocity(index, point);
                    let sliding = Sliding::new(*block, &point.y[rows.clone()], &weighted[..rows.len()]);
                    sliding.known_step(&point.f[rows.clone()], &mut direction[rows]);
                    self.sliding[index] = sliding;
                }
            }
        }
    }

    /// ρ (W + α I) between the unknowns of a block and those of its neighbours.
    fn fill_row(&mut self, subproblem: &Subproblem, block: usize) {
        let (scaled, rho) = (subproblem.scaled, subproblem.rho());
        let (full, dim) = (scaled.blocks[block].dim(), self.dims[block]);
        let (dims, sliding) = (&self.dims, &self.sliding);
        let mut row = scaled.w.row(block).filter(|(column, _)| dims[*column] > 0);
        self.lu.fill_row(block, |column, target| {
            // What only the column has comes last and stays zero.
            let Some((_, w)) = row.next() else { return };
            let (full_column, dim_column) = (scaled.blocks[column].dim(), dims[column]);
            let mut columns = [0.0; Block::MAX_DIM * Block::MAX_DIM];
            let columns = &mut columns[..full * dim_column];
            if dim_column == full_column {
                columns.copy_from_slice(w);
            } else {
                for (target, w) in columns.chunks_exact_mut(dim_column).zip(w.chunks_exact(full_column)) {
                    sliding[column].reduce_row(w, target);
                }
            }
            if dim == full {
                target.copy_from_slice(columns);
            } else {
                sliding[block].reduce_rows(columns, dim_column, target);
            }
            target.iter_mut().for_each(|x| *x *= rho);
            if column == block {
                for k in 0..dim {
                    target[k * (dim + 1)] += KAPPA;
                }
            }
            if dim == 2 && full == 3 {
                let across = &mut target[dim_column..];
                across.iter_mut().for_each(|x| *x *= sliding[block].turn);
                if column == block {
                    across[1] += 1.0 - sliding[block].turn;
                }
            }
        });
    }

    fn fill_right_hand_side(&mut self, subproblem: &Subproblem, point: &Point, block: usize, known: &[f64], image: &[f64]) {
        let rho = subproblem.rho();
        let rows = subproblem.scaled.rows(block);
        let mut change = [0.0; Block::MAX_DIM];
        for (change, k) in change.iter_mut().zip(rows.clone()) {
            *change = rho * (image[k] + subproblem.alpha * known[k]);
        }
        let f = &point.f[rows.clone()];
        let at = self.lu.offset(block);
        let target = &mut self.right_hand_side[at..at + self.dims[block]];
        if point.modes[block] == Mode::Sliding {
            self.sliding[block].right_hand_side(f, &change[..rows.len()], target);
        } else {
            for ((target, f), change) in target.iter_mut().zip(f).zip(change) {
                *target = -f - change;
            }
        }
    }
}
