//! Contact between planar bodies: shapes in the x-y plane, obstacles that move as prescribed, and their detector.
//!
//! [`PlanarShapes`] implements [`carom_dynamics::detection::PlanarDetector`]. Bodies are made of disks, capsules,
//! convex polygons and segment chains; obstacles may also be segments and half-planes, fixed or with a [`Motion`] by formula of time. All pairs
//! have an exact narrow phase of their own.

pub mod chain;
pub mod collider;
mod decompose;
pub mod detector;
pub mod motion;
mod pairs;
mod placed;
pub mod polygon;
pub mod shapes;

pub use chain::{Chain, Sides};
pub use collider::{PlanarCollider, PlanarError};
pub use detector::PlanarShapes;
pub use motion::{Motion, MotionSource};
pub use polygon::{OutlineError, Polygon};
pub use shapes::{PlanarMass, PlanarShape};
