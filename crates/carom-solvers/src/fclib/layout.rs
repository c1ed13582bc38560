//! Which row of a file belongs to which row of a problem.

use super::error::FclibError;
use super::matrix::Entries;
use crate::cones::Block;

/// Place of a row in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Row of W (column of H).
    Contact(usize),
    /// Row of R (column of G).
    Joint(usize),
}

/// The blocks of a problem and the places of its rows in a file with `spacedim` rows per contact.
pub(super) struct Layout {
    pub blocks: Vec<Block>,
    /// 2 or 3.
    pub spacedim: usize,
    /// Friction coefficient of each contact of the file.
    pub mu: Vec<f64>,
    /// For each row of the problem.
    places: Vec<Place>,
    pub n_joint_rows: usize,
}

impl Layout {
    /// The problem of a file. `is_used` says for each contact row whether anything in it is not zero.
    pub(crate) fn of_file(spacedim: usize, mu: Vec<f64>, is_used: &[bool], n_joint_rows: usize) -> Self {
        let (mut blocks, mut places) = (Vec::new(), Vec::new());
        for (contact, &mu) in mu.iter().enumerate() {
            let rows = contact * spacedim..(contact + 1) * spacedim;
            let is_padded = mu == 0.0 && is_used[rows.start + 1..rows.end].iter().all(|used| !used);
            let block = match spacedim {
                _ if is_padded => Block::Unilateral,
                2 => Block::Coulomb2 { mu },
                _ => Block::Coulomb3 { mu },
            };
            places.extend(rows.take(block.dim()).map(Place::Contact));
            blocks.push(block);
        }
        places.extend((0..n_joint_rows).map(Place::Joint));
        blocks.resize(blocks.len() + n_joint_rows, Block::Bilateral { dim: 1 });
        Layout { blocks, spacedim, mu, places, n_joint_rows }
    }

    /// The file of a problem.
    pub(crate) fn of_blocks(blocks: &[Block]) -> Result<Self, FclibError> {
        let refuse = |what: &str, advice| Err(FclibError::NotExpressible { what: what.into(), advice });
        let mut spacedim = None;
        for block in blocks {
            let dim = match block {
                Block::Spinning { .. } | Block::Rolling { .. } | Block::RollingSpinning { .. } => {
                    return refuse("rolling or spinning resistance", "write the problem with rolling = 0 as spatial contacts");
                }
                Block::Bounded { .. } | Block::Ball { .. } => {
                    return refuse(
                        "bounded rows (motors, friction of known bound)",
                        "write the problem without them, or with joints in their place",
                    );
                }
                Block::Coulomb2 { .. } | Block::Coulomb3 { .. } => block.dim(),
                Block::Bilateral { .. } | Block::Unilateral => continue,
            };
            if spacedim.is_some_and(|known| known != dim) {
                return refuse("planar and spatial contacts in one problem", "write them as problems of their own");
            }
            spacedim = Some(dim);
        }
        let spacedim = spacedim.unwrap_or(3);
        let (mut mu, mut places, mut n_joint_rows) = (Vec::new(), Vec::new(), 0);
        for block in blocks {
            if block.is_bilateral() {
                places.extend((n_joint_rows..n_joint_rows + block.dim()).map(Place::Joint));
                n_joint_rows += block.dim();
            } else {
                let first = mu.len() * spacedim;
                places.extend((first..first + block.dim()).map(Place::Contact));
                mu.push(block.friction());
            }
        }
        if mu.is_empty() {
            return refuse("a problem without contacts", "solve its linear equations instead");
        }
        Ok(Layout { blocks: blocks.to_vec(), spacedim, mu, places, n_joint_rows })
    }

    /// Number of contact rows of the file.
    pub fn n_contact_rows(&self) -> usize {
        self.spacedim * self.mu.len()
    }

    /// Number of rows of the problem.
    pub fn n_rows(&self) -> usize {
        self.places.len()
    }

    /// Place in the file of each row of the problem.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// Rows of the problem, by contact row and by joint row of the file; `None` for rows that only fill up.
    pub fn rows(&self) -> (Vec<Option<usize>>, Vec<Option<usize>>) {
        let mut rows = (vec![None; self.n_contact_rows()], vec![None; self.n_joint_rows]);
        for (row, place) in self.places.iter().enumerate() {
            match *place {
                Place::Contact(k) => rows.0[k] = Some(row),
                Place::Joint(k) => rows.1[k] = Some(row),
            }
        }
        rows
    }

    /// A vector of the problem from the two of a file.
    pub fn gather(&self, contacts: &[f64], joints: &[f64]) -> Vec<f64> {
        let value = |place: &Place| match *place {
            Place::Contact(k) => contacts[k],
            Place::Joint(k) => joints[k],
        };
        self.places.iter().map(value).collect()
    }

    /// The two vectors of a file from one of the problem.
    pub fn scatter(&self, values: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut contacts, mut joints) = (vec![0.0; self.n_contact_rows()], vec![0.0; self.n_joint_rows]);
        for (&value, place) in values.iter().zip(&self.places) {
            match *place {
                Place::Contact(k) => contacts[k] = value,
                Place::Joint(k) => joints[k] = value,
            }
        }
        (contacts, joints)
    }
}

/// Renames rows and columns of entries; those without a new name, all zero, are dropped.
pub(super) fn rename(entries: Entries, rows: &[Option<usize>], columns: &[Option<usize>]) -> impl Iterator<Item = (usize, usize, f64)> {
    entries.into_iter().filter_map(|(i, j, x)| Some((rows[i]?, columns[j]?, x)))
}
