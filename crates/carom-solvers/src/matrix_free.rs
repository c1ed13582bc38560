//! The Delassus operator as a sum over bodies, never assembled.

use crate::block_sparse::BlockSparse;
use crate::error::{SolveError, check_finite, check_size};
use crate::small_matrix::{add_product, add_product_transposed, add_transposed, factor_semidefinite};

/// W = Σ_b G_b M_b⁻¹ G_bᵀ kept body by body, for very many contacts per body or where memory counts.
///
/// With M_b⁻¹ = C Cᵀ only the products A = G C are stored, one dim × dof block for each contact of a body:
///
/// ```text
///     x_b = Σ_d A_dbᵀ r_d,    (W r)_c = Σ_b A_cb x_b,    W_cd = Σ_b A_cb A_dbᵀ
/// ```
///
/// x_b lives on the stack, so that products need neither work arrays nor allocations.
///
/// Memory: 8 · dim · dof bytes for each pair of a contact and a body: 288 for a spatial contact between two rigid bodies,
/// whatever the number of contacts of a body. [`BlockSparse`] takes 72 for each pair of contacts that share a body: 72 (1 + 2 (k − 1))
/// for a contact whose bodies have k contacts each, which is more from k = 3 on. Cost: a product
/// is 4 · dim · dof flops for each pair of a contact and a body; four times as fast as the assembled one with nine contacts per body. One row of a sweep
/// ([`Self::add_off_diagonal`]) passes over all contacts of the bodies, 2 · dim · dof flops for each: 1.3 to 1.8 times the time of
/// the assembled row. Sweeps that keep velocities, the `nsgs` of the global form, do not pay that.
///
/// ```
/// use carom_solvers::MatrixFree;
/// // A point of mass 2 on a line between two walls: W = [[1/2, −1/2], [−1/2, 1/2]].
/// let mut w = MatrixFree::new(&[1, 1]);
/// w.push_body(&[0.5], &[(0, &[1.0]), (1, &[-1.0])])?;
/// let mut u = [0.0; 2];
/// w.multiply(&[2.0, 0.0], &mut u);
/// assert!((u[0] - 1.0).abs() < 1e-15 && (u[1] + 1.0).abs() < 1e-15);
/// # Ok::<(), carom_solvers::SolveError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MatrixFree {
    /// First scalar row of each block, and the number of rows.
    offsets: Vec<usize>,
    bodies: Vec<Body>,
    /// Contacts of the bodies, body after body.
    entries: Vec<Entry>,
    /// First entry of each block; the others follow by `Entry::next`.
    first_entries: Vec<usize>,
    /// The blocks A, row-major, in the order of the entries.
    values: Vec<f64>,
    diagonals: Vec<f64>,
    diagonal_starts: Vec<usize>,
    n_dof: usize,
}

#[derive(Clone, Copy, Debug)]
struct Body {
    dof: usize,
    /// First of its coordinates among those of all bodies.
    offset: usize,
    /// Its entries are `first_entry..end_entry`.
    first_entry: usize,
    end_entry: usize,
}

/// A contact of a body.
#[derive(Clone, Copy, Debug)]
struct Entry {
    block: usize,
    body: usize,
    /// Position in `values`.
    start: usize,
    /// Another entry of the same block, or [`NONE`].
    next: usize,
}

/// No further entry.
const NONE: usize = usize::MAX;

/// Coordinates of a large body treated at a time: what fits in a few registers.
const WIDTH: usize = 12;

impl MatrixFree {
    /// Blocks of these sizes and no body yet.
    pub fn new(dims: &[usize]) -> Self {
        let mut w = MatrixFree {
            offsets: Vec::new(),
            bodies: Vec::new(),
            entries: Vec::new(),
            first_entries: Vec::new(),
            values: Vec::new(),
            diagonals: Vec::new(),
            diagonal_starts: Vec::new(),
            n_dof: 0,
        };
        w.reset(dims);
        w
    }

    /// Removes all bodies, keeping the storage, and sets the sizes of the blocks.
    pub fn reset(&mut self, dims: &[usize]) {
        for v in [&mut self.offsets, &mut self.diagonal_starts] {
            v.clear();
            v.push(0);
        }
        let (mut offset, mut start) = (0, 0);
        for dim in dims {
            offset += dim;
            start += dim * dim;
            self.offsets.push(offset);
            self.diagonal_starts.push(start);
        }
        self.bodies.clear();
        self.entries.clear();
        self.first_entries.clear();
        self.first_entries.resize(dims.len(), NONE);
        self.values.clear();
        self.diagonals.clear();
        self.diagonals.resize(start, 0.0);
        self.n_dof = 0;
    }

    /// Adds a body with its row-major inverse mass (dof × dof, symmetric, positive semidefinite; the lower triangle is read) and
    /// its contacts: (block, row-major dim × dof Jacobian). A body without coordinates is the ground: it holds contacts without adding to W.
    ///
    /// # Errors
    /// [`SolveError::SizeMismatch`] for sizes that do not fit, [`SolveError::BadBlock`] for a block named twice,
    /// [`SolveError::NotDefinite`] for a negative inverse mass. The operator is unchanged then.
    pub fn push_body(&mut self, inverse_mass: &[f64], contacts: &[(usize, &[f64])]) -> Result<(), SolveError> {
        let dof = inverse_mass.len().isqrt();
        check_size("inverse mass", dof * dof, inverse_mass.len())?;
        let mut c = inverse_mass.to_vec();
        if !factor_semidefinite(dof, &mut c) {
            return Err(SolveError::NotDefinite { what: "inverse mass" });
        }
        self.push_products(dof, contacts, |row, out| {
            // A row of G C.
            for (k, out) in out.iter_mut().enumerate() {
                *out = (k..dof).map(|l| row[l] * c[l * dof + k]).sum();
            }
        })
    }

    /// Adds a body; `transform` computes a row of A from a row of the Jacobian.
    pub(crate) fn push_products(
        &mut self,
        dof: usize,
        contacts: &[(usize, &[f64])],
        mut transform: impl FnMut(&[f64], &mut [f64]),
    ) -> Result<(), SolveError> {
        self.check_contacts(dof, contacts)?;
        let body = self.bodies.len();
        let first_entry = self.entries.len();
        for &(block, jacobian) in contacts {
            let (dim, start) = (self.dim(block), self.values.len());
            self.values.resize(start + dim * dof, 0.0);
            for (row, out) in jacobian.chunks_exact(dof.max(1)).zip(self.values[start..].chunks_exact_mut(dof.max(1))) {
                transform(row, out);
            }
            self.entries.push(Entry { block, body, start, next: self.first_entries[block] });
            self.first_entries[block] = self.entries.len() - 1;
            let diagonal = &mut self.diagonals[self.diagonal_starts[block]..self.diagonal_starts[block + 1]];
            add_product_transposed(&self.values[start..], &self.values[start..], dof, dim, diagonal);
        }
        self.bodies.push(Body { dof, offset: self.n_dof, first_entry, end_entry: self.entries.len() });
        self.n_dof += dof;
        Ok(())
    }

    fn check_contacts(&self, dof: usize, contacts: &[(usize, &[f64])]) -> Result<(), SolveError> {
        for &(block, jacobian) in contacts {
            if block >= self.n_blocks() {
                return Err(SolveError::SizeMismatch { what: "block index", expected: self.n_blocks(), found: block });
            }
            check_size("Jacobian", self.dim(block) * dof, jacobian.len())?;
        }
        let mut blocks: Vec<usize> = contacts.iter().map(|&(block, _)| block).collect();
        blocks.sort_unstable();
        match blocks.array_windows().find(|[a, b]| a == b) {
            Some(&[block, _]) => Err(SolveError::BadBlock { block, value: block as f64, expected: "each block once per body" }),
            None => Ok(()),
        }
    }

    /// True when every block belongs to a body.
    pub(crate) fn is_complete(&self) -> bool {
        self.first_entries.iter().all(|&entry| entry != NONE)
    }

    /// Number of blocks.
    #[inline]
    pub fn n_blocks(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of scalar rows.
    #[inline]
    pub fn n_rows(&self) -> usize {
        self.offsets[self.offsets.len() - 1]
    }

    /// Number of coordinates of all bodies.
    #[inline]
    pub fn n_dof(&self) -> usize {
        self.n_dof
    }

    /// First scalar row of a block; `offset(n_blocks())` is `n_rows()`.
    #[inline]
    pub fn offset(&self, block: usize) -> usize {
        self.offsets[block]
    }

    #[inline]
    fn dim(&self, block: usize) -> usize {
        self.offsets[block + 1] - self.offsets[block]
    }

    /// The diagonal block, row-major.
    #[inline]
    pub fn diagonal(&self, block: usize) -> &[f64] {
        &self.diagonals[self.diagonal_starts[block]..self.diagonal_starts[block + 1]]
    }

    /// The coordinates of the bodies of a contact among those of all bodies, each with its block A.
    #[inline]
    pub(crate) fn sides(&self, block: usize) -> impl Iterator<Item = (std::ops::Range<usize>, &[f64])> {
        self.entries_of(block).map(|entry| {
            let body = &self.bodies[entry.body];
            (body.offset..body.offset + body.dof, self.products(entry, body.dof))
        })
    }

    fn entries_of(&self, block: usize) -> impl Iterator<Item = &Entry> {
        std::iter::successors(self.entries.get(self.first_entries[block]), |entry| self.entries.get(entry.next))
    }

    #[inline]
    fn products(&self, entry: &Entry, dof: usize) -> &[f64] {
        &self.values[entry.start..entry.start + dof * self.dim(entry.block)]
    }

    #[inline]
    fn body_entries(&self, body: &Body) -> &[Entry] {
        &self.entries[body.first_entry..body.end_entry]
    }

    /// out = W r.
    pub fn multiply(&self, r: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for body in &self.bodies {
            for first in (0..body.dof).step_by(WIDTH) {
                let mut x = [0.0; WIDTH];
                let x = &mut x[..WIDTH.min(body.dof - first)];
                self.coordinates(body, NONE, first, r, x);
                for entry in self.body_entries(body) {
                    let out = &mut out[self.offsets[entry.block]..self.offsets[entry.block + 1]];
                    add_columns(self.products(entry, body.dof), body.dof, first, x, out);
                }
            }
        }
    }

    /// out += Σ_{j≠i} W_ij r_j for block i.
    pub fn add_off_diagonal(&self, block: usize, r: &[f64], out: &mut [f64]) {
        for entry in self.entries_of(block) {
            let body = &self.bodies[entry.body];
            for first in (0..body.dof).step_by(WIDTH) {
                let mut x = [0.0; WIDTH];
                let x = &mut x[..WIDTH.min(body.dof - first)];
                self.coordinates(body, block, first, r, x);
                add_columns(self.products(entry, body.dof), body.dof, first, x, out);
            }
        }
    }

    /// The coordinates from `first` on of x_b = Σ_d A_dbᵀ r_d without the block `except`, as many as `x` holds.
    #[inline]
    fn coordinates(&self, body: &Body, except: usize, first: usize, r: &[f64], x: &mut [f64]) {
        for entry in self.body_entries(body).iter().filter(|entry| entry.block != except) {
            let a = self.products(entry, body.dof);
            let r = &r[self.offsets[entry.block]..self.offsets[entry.block + 1]];
            if x.len() == body.dof {
                add_transposed(a, r, x);
            } else {
                for (row, r) in a.chunks_exact(body.dof).zip(r) {
                    x.iter_mut().zip(&row[first..]).for_each(|(x, a)| *x += a * r);
                }
            }
        }
    }

    /// The blocks of a row of W that are not zero by structure, in increasing order, in the storage of `columns`.
    pub(crate) fn columns(&self, block: usize, columns: &mut Vec<usize>) {
        columns.clear();
        columns.push(block);
        for entry in self.entries_of(block) {
            let body = &self.bodies[entry.body];
            if body.dof > 0 {
                columns.extend(self.body_entries(body).iter().map(|entry| entry.block));
            }
        }
        columns.sort_unstable();
        columns.dedup();
    }

    /// out += W_ij, row-major.
    pub(crate) fn add_block(&self, row: usize, column: usize, out: &mut [f64]) {
        for left in self.entries_of(row) {
            let dof = self.bodies[left.body].dof;
            for right in self.entries_of(column).filter(|right| right.body == left.body) {
                add_product_transposed(self.products(left, dof), self.products(right, dof), dof, self.dim(column), out);
            }
        }
    }

    /// Assembles W, reusing the storage of `out`.
    pub(crate) fn to_block_sparse(&self, out: &mut BlockSparse) {
        let dims: Vec<usize> = (0..self.n_blocks()).map(|block| self.dim(block)).collect();
        let mut columns = Vec::new();
        out.reset(&dims);
        for row in 0..dims.len() {
            self.columns(row, &mut columns);
            for &column in &columns {
                self.add_block(row, column, out.push_block(column));
            }
            out.finish_row();
        }
    }

    /// Writes the row-major matrix into `out`, reusing its storage.
    pub fn to_dense(&self, out: &mut Vec<f64>) {
        let mut blocks = BlockSparse::new();
        self.to_block_sparse(&mut blocks);
        blocks.to_dense(out);
    }

    /// Checks that all entries are finite.
    ///
    /// # Errors
    /// [`SolveError::NotFinite`].
    pub fn check_finite(&self) -> Result<(), SolveError> {
        check_finite("W", &self.values)?;
        check_finite("W", &self.diagonals)
    }
}

/// out += (columns of A from `first` on) x, as many as `x` holds.
#[inline]
fn add_columns(a: &[f64], dof: usize, first: usize, x: &[f64], out: &mut [f64]) {
    if x.len() == dof {
        add_product(a, x, out);
    } else {
        for (row, out) in a.chunks_exact(dof).zip(out) {
            *out += row[first..].iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two bodies in the plane and one of 14 coordinates, contacts of several sizes, the ground.
    fn example() -> MatrixFree {
        let mut w = MatrixFree::new(&[2, 1, 3, 1]);
        let number = |k: usize| ((7 * k + 3) % 11) as f64 - 5.0;
        let jacobian = |rows: usize, seed: usize| (0..rows).map(|k| number(k + seed)).collect::<Vec<f64>>();
        let mass = |n: usize| -> Vec<f64> {
            (0..n * n).map(|k| if k / n == k % n { 4.0 } else { 1.0 / (1 + (k / n).abs_diff(k % n)) as f64 }).collect()
        };
        w.push_body(&mass(3), &[(0, &jacobian(6, 1)), (1, &jacobian(3, 2))]).unwrap();
        w.push_body(&mass(14), &[(2, &jacobian(42, 3)), (0, &jacobian(28, 4))]).unwrap();
        w.push_body(&mass(6), &[(1, &jacobian(6, 5)), (2, &jacobian(18, 6))]).unwrap();
        w.push_body(&[], &[(3, &[])]).unwrap();
        w
    }

    #[test]
    fn products_are_those_of_the_assembled_matrix() {
        let w = example();
        assert!(w.is_complete());
        assert_eq!((w.n_blocks(), w.n_rows(), w.n_dof(), w.offset(2)), (4, 7, 23, 3));
        let mut assembled = BlockSparse::new();
        w.to_block_sparse(&mut assembled);
        assert_eq!(assembled.row(3).map(|(column, _)| column).collect::<Vec<_>>(), [3]);
        let r = [1.0, -2.0, 3.0, 0.5, -1.5, 2.5, 4.0];
        let (mut a, mut b) = ([f64::NAN; 7], [f64::NAN; 7]);
        w.multiply(&r, &mut a);
        assembled.multiply(&r, &mut b);
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-11); // sums of 1e3, roundings
        assert!(close(&a, &b), "{a:?} {b:?}");
        for block in 0..4 {
            assert!(close(w.diagonal(block), assembled.diagonal(block)));
            let rows = w.offset(block)..w.offset(block + 1);
            let (mut a, mut b) = ([1.0; 3], [1.0; 3]);
            w.add_off_diagonal(block, &r, &mut a[..rows.len()]);
            assembled.add_off_diagonal(block, &r, &mut b[..rows.len()]);
            assert!(close(&a, &b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn a_hand_made_body_gives_its_delassus_matrix() {
        // x, θ with 1/m = 1/4, 1/J = 9; one coordinate held.
        let mut w = MatrixFree::new(&[1, 1]);
        let inverse_mass = [0.25, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9.0];
        w.push_body(&inverse_mass, &[(0, &[2.0, 7.0, 1.0]), (1, &[-4.0, 5.0, 1.0])]).unwrap();
        let mut dense = Vec::new();
        w.to_dense(&mut dense);
        assert_eq!(dense, [10.0, 7.0, 7.0, 13.0]);
    }

    #[test]
    fn mistakes_are_answered_and_change_nothing() {
        let mut w = MatrixFree::new(&[1, 2]);
        let refused = [
            w.push_body(&[1.0, 2.0], &[]),
            w.push_body(&[1.0], &[(2, &[1.0])]),
            w.push_body(&[1.0], &[(1, &[1.0])]),
            w.push_body(&[1.0], &[(0, &[1.0]), (0, &[1.0])]),
            w.push_body(&[-1.0], &[(0, &[1.0])]),
            w.push_body(&[f64::NAN], &[(0, &[1.0])]),
            w.push_body(&[0.0, 1.0, 1.0, 0.0], &[(0, &[1.0, 1.0])]),
        ];
        assert!(refused.iter().all(Result::is_err), "{refused:?}");
        assert!(!w.is_complete());
        assert_eq!((w.n_dof(), w.diagonal(0)), (0, &[0.0][..]));
        w.push_body(&[1.0], &[(0, &[f64::INFINITY])]).unwrap();
        assert!(w.check_finite().is_err());
    }
}
