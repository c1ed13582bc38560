//! Contact between planar bodies: shapes in the x-y plane, obstacles that move as prescribed, and their detector.
//!
//! [`PlanarShapes`] implements [`carom_dynamics::detection::PlanarDetector`]. Bodies are disks; obstacles are disks, segments and
//! half-planes, fixed or with a [`Motion`] by formula of time.

pub mod collider;
pub mod detector;
pub mod motion;
mod pairs;
mod placed;
pub mod shapes;

pub use collider::{PlanarCollider, PlanarError};
pub use detector::PlanarShapes;
pub use motion::{Motion, MotionSource};
pub use shapes::{PlanarMass, PlanarShape};
