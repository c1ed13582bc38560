//! Families of hyperstatic contact problems, of any size, for tests and benchmarks.
//!
//! Each function builds a [`RigidScene`]: rigid bodies at a given place and the points where they touch. The scene gives the one-step problem in
//! local form, [`RigidScene::friction_contact`], or in global form, [`RigidScene::global`]:
//!
//! ```
//! use carom_solvers::problems::{Conditions, wall};
//! let problem = wall(3, 4, &Conditions::default()).friction_contact();
//! assert!(problem.validate().is_ok());
//! ```
//!
//! They have more impulses than the motion of the bodies determines: W is singular and the solution not unique, which is what makes walls, arches
//! and tables hard. Memory grows with the pairs of contacts that share a body. Same arguments, same bits.

mod families;
mod random;
mod scene;

pub use families::{arch, mass_ratio, packing, table, tower, wall};
pub use scene::{Body, Contact, RigidScene};

/// What the families have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions {
    /// Friction coefficient of all contacts. Default 0.5.
    pub friction: f64,
    /// Gravity times the step, m/s, downwards. Default 0.05 (g = 10 m/s², h = 5 ms).
    pub fall: f64,
    /// Largest random velocity of a body before the step, m/s, and rad/s times a metre. Default 0.02: of the size of `fall`, so that
    /// contacts stick, slide and open.
    pub disturbance: f64,
    /// Seed of the random velocities and places. Default 1.
    pub seed: u64,
}

impl Default for Conditions {
    fn default() -> Self {
        Conditions { friction: 0.5, fall: 0.05, disturbance: 0.02, seed: 1 }
    }
}
