//! The factorised complement W = G M⁻¹ Hᵀ of constraint forces.

use super::row_layout::RowLayout;
use super::sharing::Sharing;
use super::symmetric_factor::SymmetricFactor;
use crate::block_diagonal::BlockLayout;
use carom_solvers::linear::{BlockPattern, FrontalLu, RowLu};

/// Up to this many rows W is dense. Dense elimination and fronts are equally fast from 20 to 60 rows of N four-bars (benchmark `smooth`).
const LARGEST_DENSE: usize = 32;

/// A larger W is dense as well when this part of its entries is not zero: the fronts would fill it anyway.
const FULL: f64 = 0.5;

/// A row counts as dependent when its pivot is below this part of its diagonal entry. The pivot is sin² of the angle (in the mass metric) between
/// the row and the span of those before it, and round-off leaves about ε per row in it; multiplied by 64 it is above what dependent rows
/// leave in mechanisms of thousands of rows, while rows at angles down to 1e-7 rad are solved, with the help of iterative refinement.
pub(super) const SMALLEST_PIVOT: f64 = 64.0 * f64::EPSILON;

/// How W is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Storage {
    #[default]
    Dense,
    Sparse,
}

/// W, assembled between constraints that share a mass block and factorised: L D Lᵀ within its envelope when dense and symmetric, L U when dense and not symmetric, L U by
/// fronts when sparse. Its symbolic work is kept as long as the layout of the rows stays the same.
///
/// W is scaled by powers of two to a diagonal between 1 and 4, so that pivots can be compared and units do not matter.
#[derive(Debug, Default)]
pub(super) struct Complement {
    sharing: Sharing,
    storage: Storage,
    symmetric: bool,
    cholesky: SymmetricFactor,
    lu: RowLu,
    pattern: BlockPattern,
    fronts: FrontalLu,
    /// Scale of each row and column.
    scale: Vec<f64>,
    work: Vec<f64>,
}

impl Complement {
    /// Takes the layout of the rows into use; true when it is another than before.
    pub fn prepare(&mut self, layout: &BlockLayout, rows: &RowLayout) -> bool {
        if !self.sharing.update(layout, rows) {
            return false;
        }
        let (m, items, sharing) = (rows.n_rows(), rows.items(), &self.sharing);
        let full = sharing.n_entries() as f64 > FULL * (m * m) as f64;
        self.storage = if m <= LARGEST_DENSE || full { Storage::Dense } else { Storage::Sparse };
        if self.storage == Storage::Sparse {
            self.pattern.compute(items.len(), |item| sharing.others(item));
            self.fronts.clear();
        } else {
            // the last of the constraints that share a block ends the envelope
            let end = |item: usize| sharing.others(item).last().map_or(0, |last| items[last].rows.end);
            self.cholesky.set_pattern(items.iter().enumerate().flat_map(|(i, item)| item.rows.clone().map(move |_| end(i))));
        }
        true
    }

    /// Assembles and factorises W, whose layout was [`Self::prepare`]d, from G and `response` = M⁻¹Hᵀ, both in the layout of the rows. `symmetric` says that H = G.
    ///
    /// # Errors
    /// The row that depends on others, and its pivot relative to the diagonal.
    pub fn factorise(&mut self, rows: &RowLayout, g: &[f64], response: &[f64], symmetric: bool) -> Result<(), (usize, f64)> {
        self.symmetric = symmetric;
        self.find_scale(rows, g, response)?;
        let weakest = match self.storage {
            Storage::Dense if symmetric => {
                self.fill_dense(rows, g, response);
                self.cholesky.factorise();
                weakest(self.cholesky.pivots().enumerate())
            }
            Storage::Dense => {
                self.fill_dense(rows, g, response);
                let _ = self.lu.factor();
                weakest(self.lu.pivots().enumerate())
            }
            Storage::Sparse => {
                self.fill_fronts(rows, g, response);
                self.fronts.factor();
                weakest(self.fronts.pivots().map(|(item, k, pivot)| (rows.items()[item].rows.start + k, pivot)))
            }
        };
        // the scaled diagonal is at least 1, so that the pivot bounds the relative one from above by a factor of at most 4
        if weakest.1 > SMALLEST_PIVOT { Ok(()) } else { Err(weakest) }
    }

    /// Powers of two near 1/√W_kk.
    fn find_scale(&mut self, rows: &RowLayout, g: &[f64], response: &[f64]) -> Result<(), (usize, f64)> {
        self.scale.clear();
        for item in rows.items() {
            for (k, row) in item.rows.clone().enumerate() {
                let span = item.first + k * item.width..item.first + (k + 1) * item.width;
                let w: f64 = g[span.clone()].iter().zip(&response[span]).map(|(g, r)| g * r).sum();
                let w = w.abs();
                if !(w >= f64::MIN_POSITIVE && w.is_finite()) {
                    return Err((row, 0.0));
                }
                let exponent = ((w.to_bits() >> 52) as i32 - 1023).div_euclid(2);
                self.scale.push(f64::powi(2.0, -exponent));
            }
        }
        Ok(())
    }

    fn fill_dense(&mut self, rows: &RowLayout, g: &[f64], response: &[f64]) {
        let (m, items, scale) = (rows.n_rows(), rows.items(), &self.scale);
        let matrix = if self.symmetric { self.cholesky.reset() } else { self.lu.reset(m) };
        for (i, item) in items.iter().enumerate() {
            for pair in self.sharing.pairs(i) {
                let j = self.sharing.other(pair);
                // of a symmetric matrix the upper triangle is enough
                if self.symmetric && j < i {
                    continue;
                }
                let other = &items[j];
                let out = &mut matrix[item.rows.start * m + other.rows.start..];
                self.sharing.write_pair(pair, (item, g), (other, response), out, m);
                for (a, row) in item.rows.clone().enumerate() {
                    for (x, s) in out[a * m..].iter_mut().zip(&scale[other.rows.clone()]) {
                        *x *= scale[row] * s;
                    }
                }
            }
        }
    }

    fn fill_fronts(&mut self, rows: &RowLayout, g: &[f64], response: &[f64]) {
        let (items, sharing, scale) = (rows.items(), &self.sharing, &self.scale);
        self.fronts.reset(&self.pattern, sharing.dims());
        for (i, item) in items.iter().enumerate() {
            let mut pair = sharing.pairs(i).start;
            self.fronts.fill_row(i, |j, out| {
                let (other, n) = (&items[j], items[j].rows.len());
                sharing.write_pair(pair, (item, g), (other, response), out, n);
                for (out, row) in out.chunks_exact_mut(n).zip(item.rows.clone()) {
                    for (x, s) in out.iter_mut().zip(&scale[other.rows.clone()]) {
                        *x *= scale[row] * s;
                    }
                }
                pair += 1;
            });
        }
    }

    /// b ← W⁻¹ b.
    pub fn solve(&mut self, rows: &RowLayout, b: &mut [f64]) {
        b.iter_mut().zip(&self.scale).for_each(|(b, s)| *b *= s);
        match self.storage {
            Storage::Dense if self.symmetric => self.cholesky.solve(b),
            Storage::Dense => self.lu.solve(b),
            Storage::Sparse => {
                self.work.resize(b.len(), 0.0);
                for (i, item) in rows.items().iter().enumerate() {
                    let at = self.fronts.offset(i);
                    self.work[at..at + item.rows.len()].copy_from_slice(&b[item.rows.clone()]);
                }
                self.fronts.solve(&mut self.work);
                for (i, item) in rows.items().iter().enumerate() {
                    let at = self.fronts.offset(i);
                    b[item.rows.clone()].copy_from_slice(&self.work[at..at + item.rows.len()]);
                }
            }
        }
        b.iter_mut().zip(&self.scale).for_each(|(b, s)| *b *= s);
    }
}

/// The smallest pivot with its row; a pivot that is not a number counts as zero.
fn weakest(pivots: impl Iterator<Item = (usize, f64)>) -> (usize, f64) {
    pivots.fold((0, f64::INFINITY), |weakest, (row, pivot)| {
        let size = if pivot.is_finite() { pivot.abs() } else { 0.0 };
        if size < weakest.1 { (row, size) } else { weakest }
    })
}
