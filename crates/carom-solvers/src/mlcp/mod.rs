//! The mixed linear complementarity problem.

mod elimination;
mod enumeration;
mod lemke;
mod newton_fischer_burmeister;
mod pgs;

pub use elimination::Elimination;
pub use enumeration::Enumeration;
pub use lemke::Lemke;
pub use newton_fischer_burmeister::NewtonFischerBurmeister;
pub use pgs::Pgs;

/// Equations and complementarity together.
#[derive(Clone, Debug, Default)]
pub struct Mlcp {}
