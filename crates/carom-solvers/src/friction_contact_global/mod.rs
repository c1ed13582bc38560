//! The friction contact problem in global form.

mod admm;
mod interior_point;
mod nsgs;
mod reduction;

pub use admm::Admm;
pub use interior_point::InteriorPoint;
pub use nsgs::Nsgs;
pub use reduction::Reduction;

/// Friction contact in global form.
#[derive(Clone, Debug, Default)]
pub struct GlobalFrictionContact {}
