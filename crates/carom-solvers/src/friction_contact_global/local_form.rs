//! From the global form to the local one: W = Hᵀ M⁻¹ H, assembled or body by body.

use super::GlobalFrictionContact;
use super::dynamics::Dynamics;
use crate::block_sparse::BlockSparse;
use crate::cones::Block;
use crate::error::SolveError;
use crate::friction_contact::FrictionContact;
use crate::matrix::SparseMatrix;
use crate::matrix_free::MatrixFree;
use crate::small_matrix::factor_semidefinite;

/// Most coordinates of a body that is inverted as a dense block: a rigid body has 6, a substructure some more.
const MAX_BODY: usize = 32;

/// Coordinates that M does not couple are treated together up to this number where the same contacts touch them: a rigid
/// body with a diagonal mass is still one body.
const RIGID_BODY: usize = 6;

/// The sets of coordinates that M does not couple, in the order of their first coordinates.
#[derive(Clone, Debug)]
pub(super) struct Bodies {
    /// Body of each coordinate.
    body: Vec<usize>,
    /// Coordinates of each body, increasing.
    coordinates: Vec<Vec<usize>>,
}

impl Bodies {
    /// Connected components of the graph of M. Stored zeros couple nothing.
    pub fn find(m: &SparseMatrix) -> Self {
        let n = m.n_rows();
        let mut parent: Vec<usize> = (0..n).collect();
        let root = |parent: &mut Vec<usize>, mut i: usize| {
            while parent[i] != i {
                parent[i] = parent[parent[i]];
                i = parent[i];
            }
            i
        };
        for i in 0..n {
            for (j, value) in m.row(i) {
                if value != 0.0 {
                    let (a, b) = (root(&mut parent, i), root(&mut parent, j));
                    // The smaller index is the root, so that bodies come in the order of their first coordinate.
                    parent[a.max(b)] = a.min(b);
                }
            }
        }
        let mut body = vec![0; n];
        let mut coordinates: Vec<Vec<usize>> = Vec::new();
        for i in 0..n {
            let first = root(&mut parent, i);
            if first == i {
                body[i] = coordinates.len();
                coordinates.push(Vec::new());
            } else {
                body[i] = body[first];
            }
            coordinates[body[i]].push(i);
        }
        Bodies { body, coordinates }
    }

    /// True when all bodies are small enough for dense blocks.
    pub(crate) fn are_small(&self) -> bool {
        self.coordinates.iter().all(|coordinates| coordinates.len() <= MAX_BODY)
    }
}

impl GlobalFrictionContact {
    /// The local form with W assembled.
    ///
    /// Where M falls apart into bodies of at most 32 coordinates, W has a block for each pair of contacts that share a body;
    /// the cost is small. Otherwise each row of H is one solve with the sparse factor of M, and W is dense for the contacts of a large body:
    /// n_rows² entries in the worst case, where `admm` or `interior-point` of the global form are cheaper.
    ///
    /// # Errors
    /// Those of [`Self::validate`], and [`SolveError::NotDefinite`].
    pub fn to_local(&self) -> Result<FrictionContact, SolveError> {
        self.validate()?;
        let mut dynamics = Dynamics::default();
        dynamics.factor(self)?;
        self.local_form(&mut dynamics)
    }

    /// The local form with W as a [`MatrixFree`] operator, for M of bodies of at most 32 coordinates.
    ///
    /// # Errors
    /// Those of [`Self::validate`], [`SolveError::NotDefinite`], and [`SolveError::Unsupported`] for larger bodies.
    pub fn to_matrix_free(&self) -> Result<FrictionContact, SolveError> {
        self.validate()?;
        let mut dynamics = Dynamics::default();
        dynamics.factor(self)?;
        let mut q = vec![0.0; self.n_rows()];
        dynamics.free_velocity(self, &mut q)?;
        let mut w = MatrixFree::new(&[]);
        if !self.fill_matrix_free(&Bodies::find(&self.m), &mut w)? {
            return Err(SolveError::Unsupported { solver: "matrix-free", reason: LARGE_BODIES, alternatives: "to_local, admm" });
        }
        Ok(FrictionContact { w: w.into(), q, blocks: self.blocks.clone() })
    }

    /// The local form of a valid problem whose M is factored.
    pub(super) fn local_form(&self, dynamics: &mut Dynamics) -> Result<FrictionContact, SolveError> {
        let mut q = vec![0.0; self.n_rows()];
        dynamics.free_velocity(self, &mut q)?;
        let bodies = Bodies::find(&self.m);
        let mut w = BlockSparse::new();
        let mut by_body = MatrixFree::new(&[]);
        if self.fill_matrix_free(&bodies, &mut by_body)? {
            by_body.to_block_sparse(&mut w);
        } else {
            self.assemble(&bodies, dynamics, &mut w);
        }
        Ok(FrictionContact { w: w.into(), q, blocks: self.blocks.clone() })
    }

    /// Fills in W body by body, M_b = L Lᵀ, A = H_bᵀ L⁻ᵀ; false, with nothing done, where a body is too large.
    pub(super) fn fill_matrix_free(&self, bodies: &Bodies, w: &mut MatrixFree) -> Result<bool, SolveError> {
        if !bodies.are_small() {
            return Ok(false);
        }
        let (dims, place) = self.places();
        w.reset(&dims);
        let mut is_held = vec![false; dims.len()];
        for coordinates in self.rigid_bodies(bodies, &place) {
            let dof = coordinates.len();
            let mut l = vec![0.0; dof * dof];
            // (block, row of the block, coordinate of the body, value) of H, sorted by block.
            let mut entries = Vec::new();
            for (k, &i) in coordinates.iter().enumerate() {
                for (j, m) in self.m.row(i) {
                    if let Ok(other) = coordinates.binary_search(&j) {
                        l[k * dof + other] = m;
                    }
                }
                entries.extend(self.h.row(i).map(|(j, h)| (place[j].0, place[j].1, k, h)));
            }
            entries.sort_unstable_by_key(|&(block, row, k, _)| (block, row, k));
            if !factor_semidefinite(dof, &mut l) || (0..dof).any(|k| l[k * dof + k] == 0.0) {
                return Err(SolveError::NotDefinite { what: "M" });
            }
            let mut jacobians: Vec<(usize, Vec<f64>)> = Vec::new();
            for (block, row, k, h) in entries {
                if jacobians.last().is_none_or(|&(last, _)| last != block) {
                    jacobians.push((block, vec![0.0; dims[block] * dof]));
                    is_held[block] = true;
                }
                if let Some((_, jacobian)) = jacobians.last_mut() {
                    jacobian[row * dof + k] = h;
                }
            }
            let contacts: Vec<(usize, &[f64])> = jacobians.iter().map(|(block, jacobian)| (*block, &jacobian[..])).collect();
            w.push_products(dof, &contacts, |row, out| {
                for k in 0..dof {
                    let known: f64 = (0..k).map(|j| l[k * dof + j] * out[j]).sum();
                    out[k] = (row[k] - known) / l[k * dof + k];
                }
            })?;
        }
        // Contacts that move no body belong to the ground.
        let held: Vec<(usize, &[f64])> = (0..dims.len()).filter(|&block| !is_held[block]).map(|block| (block, &[][..])).collect();
        w.push_products(0, &held, |_, _| {})?;
        Ok(true)
    }

    /// The bodies that contacts touch, with those joined whose contacts are among each other's: no pair of contacts is
    /// coupled that was not before.
    fn rigid_bodies(&self, bodies: &Bodies, place: &[(usize, usize)]) -> Vec<Vec<usize>> {
        let is_subset = |a: &[usize], b: &[usize]| a.iter().all(|x| b.binary_search(x).is_ok());
        let mut joined: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        for coordinates in &bodies.coordinates {
            let mut blocks: Vec<usize> = coordinates.iter().flat_map(|&i| self.h.row(i).map(|(j, _)| place[j].0)).collect();
            blocks.sort_unstable();
            blocks.dedup();
            match joined.last_mut() {
                _ if blocks.is_empty() => {}
                Some((last, last_blocks))
                    if last.len() + coordinates.len() <= RIGID_BODY
                        && (is_subset(&blocks, last_blocks) || is_subset(last_blocks, &blocks)) =>
                {
                    last.extend(coordinates);
                    last.sort_unstable();
                    if last_blocks.len() < blocks.len() {
                        *last_blocks = blocks;
                    }
                }
                _ => joined.push((coordinates.clone(), blocks)),
            }
        }
        joined.into_iter().map(|(coordinates, _)| coordinates).collect()
    }

    /// W by one solve with M for each of its rows; pairs of contacts without a common body are left out.
    fn assemble(&self, bodies: &Bodies, dynamics: &mut Dynamics, w: &mut BlockSparse) {
        let n = self.n_dof();
        let (dims, place) = self.places();
        let directions = self.h.transposed();
        let mut body_blocks = vec![Vec::new(); bodies.coordinates.len()];
        let mut block_bodies = vec![Vec::new(); dims.len()];
        for (j, &(block, _)) in place.iter().enumerate() {
            block_bodies[block].extend(directions.row(j).map(|(i, _)| bodies.body[i]));
        }
        for (block, touched) in block_bodies.iter_mut().enumerate() {
            touched.sort_unstable();
            touched.dedup();
            touched.iter().for_each(|&body| body_blocks[body].push(block));
        }
        w.reset(&dims);
        let mut responses = vec![0.0; n * Block::MAX_DIM];
        let mut columns: Vec<usize> = Vec::new();
        for (row, touched) in block_bodies.iter().enumerate() {
            for (k, y) in (w.offset(row)..w.offset(row + 1)).zip(responses.chunks_exact_mut(n.max(1))) {
                y.fill(0.0);
                directions.row(k).for_each(|(i, h)| y[i] = h);
                dynamics.solve(y);
            }
            columns.clear();
            touched.iter().for_each(|&body| columns.extend(&body_blocks[body]));
            columns.sort_unstable();
            columns.dedup();
            for &column in &columns {
                let first = w.offset(column);
                let block = w.push_block(column);
                for (y, out) in responses.chunks_exact(n.max(1)).zip(block.chunks_exact_mut(dims[column])) {
                    for (l, out) in out.iter_mut().enumerate() {
                        *out = directions.row(first + l).map(|(i, h)| h * y[i]).sum();
                    }
                }
            }
            w.finish_row();
        }
    }

    /// Sizes of the blocks, and (block, row inside it) of each row.
    fn places(&self) -> (Vec<usize>, Vec<(usize, usize)>) {
        let dims: Vec<usize> = self.blocks.iter().map(Block::dim).collect();
        let place = dims.iter().enumerate().flat_map(|(block, &dim)| (0..dim).map(move |row| (block, row))).collect();
        (dims, place)
    }
}

/// Why body by body is refused.
pub(super) const LARGE_BODIES: &str = "M couples more than 32 coordinates";

#[cfg(test)]
mod tests {
    use super::*;

    /// Two point masses in the plane, coordinates interleaved, with a spring in M; the first touches the ground, a third coordinate a wall.
    fn example(coupling: f64) -> GlobalFrictionContact {
        let m = [(0, 0, 2.0), (1, 1, 4.0), (2, 2, 3.0), (0, 2, coupling), (2, 0, coupling), (3, 3, 5.0), (1, 3, 0.0)];
        let h = [(0, 0, 1.0), (3, 1, -1.0), (2, 1, 1.0), (1, 2, 2.0)];
        GlobalFrictionContact {
            m: SparseMatrix::from_triplets(4, 4, &m).unwrap(),
            h: SparseMatrix::from_triplets(4, 3, &h).unwrap(),
            f: vec![2.0, 4.0, 6.0, -5.0],
            w: vec![0.5, 0.0, -1.0],
            blocks: vec![Block::Unilateral; 3],
        }
    }

    #[test]
    fn bodies_are_what_the_mass_couples() {
        let bodies = Bodies::find(&example(1.0).m);
        assert_eq!(bodies.coordinates, [vec![0, 2], vec![1], vec![3]]);
        assert_eq!(bodies.body, [0, 1, 0, 2]);
    }

    #[test]
    fn both_ways_give_the_hand_computed_matrix() {
        // M⁻¹ of the first body [[2, 1], [1, 3]] is [[3, −1], [−1, 2]]/5.
        let problem = example(1.0);
        let expected = [0.6, -0.2, 0.0, -0.2, 0.4 + 0.2, 0.0, 0.0, 0.0, 1.0];
        // M⁻¹ f = (0, 1, 2, −1).
        let q = [0.5, 3.0, 1.0];
        let local = problem.to_local().unwrap();
        let mut dynamics = Dynamics::default();
        dynamics.factor(&problem).unwrap();
        let mut by_columns = BlockSparse::new();
        problem.assemble(&Bodies::find(&problem.m), &mut dynamics, &mut by_columns);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        local.w.to_dense(&mut a);
        by_columns.to_dense(&mut b);
        for ((a, b), x) in a.iter().zip(&b).zip(expected) {
            assert!((a - x).abs() < 1e-15 && (b - x).abs() < 1e-15, "{a} {b} {x}"); // a few roundings of numbers below one
        }
        assert!(local.q.iter().zip(q).all(|(a, b)| (a - b).abs() < 1e-14), "{:?}", local.q); // as above
        assert_eq!(by_columns.row(2).count(), 1);
    }

    #[test]
    fn coordinates_of_the_same_contacts_are_one_body() {
        // Four masses without coupling; contact 0 touches 0, 1 and 2, contact 1 touches 1, contact 2 touches 2 and 3.
        let mut problem = example(0.0);
        let h = [(0, 0, 1.0), (1, 0, 1.0), (2, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (3, 2, 1.0)];
        problem.h = SparseMatrix::from_triplets(4, 3, &h).unwrap();
        let (_, place) = problem.places();
        assert_eq!(problem.rigid_bodies(&Bodies::find(&problem.m), &place), [vec![0, 1], vec![2, 3]]);
        let local = problem.to_local().unwrap();
        let crate::delassus::Delassus::BlockSparse(w) = &local.w else { panic!("assembled") };
        // Contacts 1 and 2 share no mass.
        assert_eq!(w.row(1).map(|(column, _)| column).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn an_indefinite_mass_is_refused() {
        assert_eq!(example(3.0).to_local().unwrap_err(), SolveError::NotDefinite { what: "M" });
        assert_eq!(example(3.0).to_matrix_free().unwrap_err(), SolveError::NotDefinite { what: "M" });
    }

    #[test]
    fn contacts_of_nothing_have_no_inertia() {
        let mut problem = example(0.0);
        problem.h = SparseMatrix::from_triplets(4, 3, &[(0, 0, 1.0)]).unwrap();
        let local = problem.to_matrix_free().unwrap();
        assert!(local.validate().is_ok());
        assert_eq!((local.w.diagonal(1), local.q[2]), (&[0.0][..], -1.0));
    }
}
