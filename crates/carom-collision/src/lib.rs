//! Shapes, materials and contact detection for carom.
//!
//! [`Detector`] implements [`carom_dynamics::detection::ContactDetector`]: a broad phase over a bounding volume tree
//! finds the pairs that may touch within the step, and a narrow phase, one file per pair of shapes, gives the exact
//! gaps, normals and contact points. Spheres, boxes, capsules and planes are handled by closed formulas; the remaining
//! convex pairs go through parry, which stays behind one private module. [`planar`] does the same for planar bodies.

mod backend;
pub mod collider;
pub mod detector;
pub mod mass;
pub mod materials;
mod pairs;
pub mod planar;
mod polyhedron;
mod pose;
pub mod shapes;
mod surface;

pub use collider::{Collider, CollisionError, Groups};
pub use detector::Detector;
pub use mass::MassProperties;
pub use materials::{Combination, Material, MaterialError, PairLaws, combine};
pub use shapes::{Shape, ShapeError};
pub use surface::topology::MeshStatement;
