//! The convex quadratic program.

mod active_set;
mod interior_point;

pub use active_set::ActiveSet;
pub use interior_point::InteriorPoint;

/// A convex quadratic program.
#[derive(Clone, Debug, Default)]
pub struct ConvexQp {}
