//! Cone programs over products of second-order cones, and the algebra they need. Internal machinery of the interior point
//! methods and of the fixed points on convex subproblems.
//!
//! Everything is written for the self-dual cone
//!
//! ```text
//!     L = {(x_0, x_1) : |x_1| ≤ x_0},     x ∘ z = (xᵀz, x_0 z_1 + z_0 x_1),     e = (1, 0)
//! ```
//!
//! of dimension 1 (the half-line) upwards, beside free rows. A Coulomb cone becomes L when its tangential rows are divided by μ.
//!
//! | file | what |
//! |---|---|
//! | `cone.rs` | the product of cones: which rows belong to which |
//! | `jordan.rs` | the algebra of one cone: product, division, determinant, spectral values |
//! | `scaling.rs` | Nesterov and Todd's scaling of a pair (x, z) |
//! | `boundary.rs` | how far a direction can be followed inside the cones |
//! | `system.rs` | the linear systems of a step |
//! | `path.rs` | predictor and corrector steps along the central path, of the convex or of Coulomb's law |
//! | `program.rs` | convex quadratic programs over cones and their solver |

mod boundary;
mod cone;
mod jordan;
mod path;
mod program;
mod scaling;
mod system;

pub(crate) use boundary::largest_step;
pub(crate) use cone::{Cone, ConeProduct};
pub(crate) use path::{Law, PathFollower};
pub(crate) use program::{ConeLimits, ConeProgram, ConeSolver};
pub(crate) use scaling::Scaling;
