//! Shapes, materials and contact detection for carom.
//!
//! [`Detector`] implements [`carom_dynamics::detection::ContactDetector`]: a broad phase over a bounding volume tree
//! finds the pairs that may touch within the step, and a narrow phase, one file per pair of shapes, gives the exact
//! gaps, normals and contact points, by formulas of its own for all pairs. [`planar`] does the same for planar bodies.

mod backend;
pub mod collider;
pub mod detector;
mod extent;
mod facets;
mod law_table;
pub mod mass;
pub mod materials;
mod mesh;
pub mod motion;
mod narrow;
mod near;
mod pairs;
mod placed;
mod placement;
pub mod planar;
mod polyhedron;
mod pose;
pub mod shape_error;
pub mod shapes;
mod surface;

pub use collider::{Collider, CollisionError, Groups};
pub use detector::Detector;
pub use mass::MassProperties;
pub use materials::{Combination, Material, MaterialError, PairLaws, combine};
pub use mesh::topology::MeshStatement;
pub use motion::{Motion, MotionError, MotionSource};
pub use shape_error::ShapeError;
pub use shapes::Shape;
