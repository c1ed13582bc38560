//! Problems in files of the FCLIB format (HDF5), the exchange format of the frictional contact community.
//! [Acary, Brémond, Koziara, Pérignon, *FCLIB: a collection of discrete 3D frictional contact problems*, 2014]
//!
//! ```text
//! /fclib_local/spacedim                       2 or 3 rows per contact
//! /fclib_local/W/{m,n,nz,nzmax,p,i,x}         matrix; nz = -1 by columns, -2 by rows, ≥ 0 entries (i = row, p = column)
//! /fclib_local/vectors/{q,mu}                 u = W r + V λ + q
//! /fclib_local/{V,R}, vectors/s               optional joints: 0 = Vᵀ r + R λ + s
//! /fclib_global/{M,H}, vectors/{f,w,mu}       M v = H r + G λ + f,  u = Hᵀ v + w
//! /fclib_global/G, vectors/b                  optional joints: 0 = Gᵀ v + b
//! /fclib_*/info/{title,description,math_info} texts
//! /guesses/number_of_guesses, /guesses/1/{u,r,v,l}, /solution/{u,r,v,l}     optional; l = λ
//! ```
//!
//! What the format cannot say directly is said so that the solutions are the same:
//!
//! - Joints become one-row [`Block::Bilateral`](crate::Block) blocks after the contacts, in whatever blocks and places they were written from.
//! - A [`Block::Unilateral`](crate::Block) is written as a contact with μ = 0 whose tangential rows and columns are zero: r_T = 0 because of μ,
//!   u_T = 0 because of the rows. Such contacts are read as unilateral again, so that mean(diag W), hence the normalised residual, stays.
//! - Rolling resistance, and planar and spatial contacts in one problem, are refused.
//!
//! Files may come from anywhere: every size and index is checked before it is used.

mod error;
mod layout;
mod matrix;
mod read;
mod source;
mod write;

pub use error::FclibError;
pub use matrix::MatrixFormat;
pub use read::read;
pub use write::write;

use crate::friction_contact::FrictionContact;
use crate::friction_contact_global::GlobalFrictionContact;

/// What a file holds.
#[derive(Clone, Debug)]
pub struct FclibFile {
    /// The problem.
    pub problem: FclibProblem,
    /// Texts about it.
    pub info: Info,
    /// Guesses, for example the impulses of the previous time step.
    pub guesses: Vec<FclibSolution>,
    /// A solution. Those in files dumped by Siconos are often zero.
    pub solution: Option<FclibSolution>,
}

/// A problem in either form.
#[derive(Clone, Debug)]
pub enum FclibProblem {
    /// u = W r + q.
    Local(FrictionContact),
    /// M v = H r + f, u = Hᵀ v + w.
    Global(GlobalFrictionContact),
}

/// Texts about a problem; empty where the file has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// Name of the problem.
    pub title: String,
    /// Where it comes from.
    pub description: String,
    /// Remarks on its mathematics.
    pub math_info: String,
}

/// Unknowns, row by row as in the problem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FclibSolution {
    /// Impulses r, those of joints included, N·s.
    pub r: Vec<f64>,
    /// Local velocities u, zero for joints, m/s.
    pub u: Vec<f64>,
    /// Velocities of the bodies; empty in a local problem.
    pub v: Vec<f64>,
}

impl FclibFile {
    /// A file of a problem alone.
    pub fn new(problem: FclibProblem) -> Self {
        FclibFile { problem, info: Info::default(), guesses: Vec::new(), solution: None }
    }
}

impl FclibProblem {
    /// The laws of the blocks.
    pub fn blocks(&self) -> &[crate::Block] {
        match self {
            FclibProblem::Local(problem) => &problem.blocks,
            FclibProblem::Global(problem) => &problem.blocks,
        }
    }

    /// Number of contacts: blocks that are no joints.
    pub fn n_contacts(&self) -> usize {
        self.blocks().iter().filter(|block| !block.is_bilateral()).count()
    }

    /// Number of scalar rows of r and u.
    pub fn n_rows(&self) -> usize {
        self.blocks().iter().map(crate::Block::dim).sum()
    }

    /// Number of velocities v of a global problem.
    pub fn n_velocities(&self) -> Option<usize> {
        match self {
            FclibProblem::Local(_) => None,
            FclibProblem::Global(problem) => Some(problem.f.len()),
        }
    }
}

impl From<FrictionContact> for FclibProblem {
    fn from(problem: FrictionContact) -> Self {
        FclibProblem::Local(problem)
    }
}

impl From<GlobalFrictionContact> for FclibProblem {
    fn from(problem: GlobalFrictionContact) -> Self {
        FclibProblem::Global(problem)
    }
}
