#![doc = include_str!("../README.md")]

mod acceleration;
pub mod affine_vi;
mod best_iterate;
mod block_sparse;
pub mod bodies;
pub mod cones;
mod conic;
mod deadline;
pub mod delassus;
mod dot;
pub mod error;
#[cfg(feature = "fclib")]
pub mod fclib;
pub mod friction_contact;
pub mod friction_contact_global;
pub mod general_friction;
pub mod growth;
pub mod kinds;
pub mod lcp;
pub mod linear;
pub mod matrix;
mod matrix_free;
pub mod mlcp;
mod parameters;
mod polynomial;
pub mod problems;
pub mod qp;
pub mod random;
pub mod registry;
pub mod report;
mod small_matrix;
pub mod vi;

pub use block_sparse::BlockSparse;
pub use cones::{Block, project_coulomb};
pub use delassus::{Delassus, DenseDelassus, MatrixFree};
pub use error::SolveError;
pub use friction_contact::{FrictionContact, FrictionSolverParams};
pub use friction_contact_global::{GlobalFrictionContact, GlobalSolverParams};
pub use general_friction::{FrictionSet, GeneralContact, GeneralFriction, GeneralFrictionNewton};
pub use kinds::{FrictionSolverKind, GlobalSolverKind, LcpSolverKind, MlcpSolverKind, QpSolverKind, ViSolverKind};
pub use lcp::{Lcp, LcpSolverParams};
pub use matrix::{DenseMatrix, Matrix, SparseMatrix};
pub use mlcp::{Mlcp, MlcpSolverParams};
pub use qp::{ConvexQp, QpSolverParams};
pub use registry::{friction_contact_solver, global_solver, lcp_solver, mlcp_solver, qp_solver, vi_solver};
pub use report::{SolveReport, SolveStatus};
pub use vi::{VariationalInequality, ViSolverParams};

/// The unknowns of a one-step problem.
///
/// On entry of a solve `r` is the guess (any other length than the problem's, or a value that is not
/// finite, counts as zero); on exit it is the solution and u = W r + q. Storage is reused.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solution {
    /// Impulses r (the z of an LCP), N·s.
    pub r: Vec<f64>,
    /// Velocities u = W r + q (the w of an LCP), m/s.
    pub u: Vec<f64>,
}

impl Solution {
    /// Gives both vectors the length n and replaces an unusable guess by zero.
    pub fn prepare(&mut self, n: usize) {
        if self.r.len() != n || self.r.iter().any(|x| !x.is_finite()) {
            self.r.clear();
            self.r.resize(n, 0.0);
        }
        self.u.resize(n, 0.0);
    }
}

/// An algorithm for one-step problems of type `P`. Knows no mechanics.
///
/// To add a solver:
///
/// 1. Write it in one file of the problem's folder, e.g. `friction_contact/my_solver.rs`: a struct that
///    owns its parameters and all its work arrays, so that a warm solve allocates nothing.
/// 2. Implement this trait. Start with `problem.validate()?` and `solution.prepare(n)`; use the guess.
///    Judge convergence by the problem's `residual_normalised` only. Return the best iterate, finite
///    whatever the problem, with `u` recomputed from it. Not converging is a
///    [`SolveStatus`]; only a problem the method is not made for is a [`SolveError::Unsupported`].
/// 3. Settings of its own go into an `XParams` in the same file and become a table of the problem's parameters
///    (`parameters.rs` of that folder).
/// 4. Add its line, with "when to use it", to the table of its problem in [`kinds`], and its constructor to that in [`registry`]. The conformance
///    suite walks these tables: the new solver meets every problem there without a new test.
pub trait OneStepSolver<P>: Send + std::fmt::Debug {
    /// Name in the registry.
    fn name(&self) -> &'static str;

    /// Changes the tolerance, as a nested solve needs when its metric differs from the outer one.
    fn set_tolerance(&mut self, tolerance: f64);

    /// Solves the problem from the guess in `solution`.
    ///
    /// # Errors
    /// [`SolveError`] when the problem is malformed or of a kind this method does not handle.
    fn solve(&mut self, problem: &P, solution: &mut Solution) -> Result<SolveReport, SolveError>;
}

/// A solver chosen at run time.
pub type BoxedSolver<P> = Box<dyn OneStepSolver<P>>;
