//! Colliders: shapes attached to bodies, and what can be wrong with a set of them.

use crate::materials::MaterialError;
use crate::motion::Motion;
use crate::shape_error::ShapeError;
use crate::shapes::Shape;
use nalgebra::{UnitQuaternion, Vector3};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Which colliders may meet: A and B do when each one's membership shares a bit with the other's filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Groups {
    /// Groups that the collider belongs to, one bit each. Default: all.
    pub membership: u32,
    /// Groups that it collides with. Default: all.
    pub filter: u32,
}

impl Default for Groups {
    fn default() -> Self {
        Self { membership: u32::MAX, filter: u32::MAX }
    }
}

impl Groups {
    /// Whether two colliders of these groups may meet.
    #[must_use]
    pub fn meets(&self, other: &Groups) -> bool {
        self.membership & other.filter != 0 && other.membership & self.filter != 0
    }
}

/// A shape attached to a moving body or fixed in the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Collider {
    /// Name for records and messages.
    pub name: String,
    /// Index of the moving body; `None` when fixed.
    pub body: Option<u32>,
    /// The shape.
    pub shape: Shape,
    /// Position of the shape in the body frame, or in the world when fixed \[m\].
    pub translation: Vector3<f64>,
    /// Orientation of the shape in the body frame, or in the world when fixed.
    pub rotation: UnitQuaternion<f64>,
    /// Index into the list of materials.
    pub material: u32,
    /// Which colliders it may meet.
    pub groups: Groups,
    /// How a fixed collider moves from its place, and its surface.
    pub motion: Option<Box<Motion>>,
    /// Whether its motion within the horizon is followed, so that it cannot jump over thin colliders. Default: no.
    pub continuous: bool,
}

impl Collider {
    /// A collider at its body's origin, of material 0, that meets all others.
    #[must_use]
    pub fn new(name: impl Into<String>, body: Option<u32>, shape: Shape) -> Self {
        Self {
            name: name.into(),
            body,
            shape,
            translation: Vector3::zeros(),
            rotation: UnitQuaternion::identity(),
            material: 0,
            groups: Groups::default(),
            motion: None,
            continuous: false,
        }
    }
}

/// Why a detector cannot be built.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CollisionError {
    /// A shape is not usable.
    #[error("collider `{collider}`: {source}")]
    Shape {
        /// Name of the collider.
        collider: String,
        /// What is wrong with its shape.
        source: ShapeError,
    },
    /// The pose of a collider is not finite or its quaternion not of unit length.
    #[error("collider `{collider}`: the pose is not finite or its quaternion not of unit length")]
    Pose {
        /// Name of the collider.
        collider: String,
    },
    /// A half-space moves.
    #[error("collider `{collider}`: a plane must be fixed, but belongs to moving body {body}")]
    MovingPlane {
        /// Name of the collider.
        collider: String,
        /// The moving body.
        body: u32,
    },
    /// A body has a prescribed motion.
    #[error("collider `{collider}`: only fixed colliders move as prescribed, but it belongs to a moving body")]
    BodyWithMotion {
        /// Name of the collider.
        collider: String,
    },
    /// A collider's material is not in the list.
    #[error("collider `{collider}`: there is no material {material} among {n_materials}")]
    UnknownMaterial {
        /// Name of the collider.
        collider: String,
        /// Its index.
        material: u32,
        /// Number of materials.
        n_materials: usize,
    },
    /// A coefficient is out of range.
    #[error("material {index}: {source}")]
    Material {
        /// Index of the material.
        index: usize,
        /// Which coefficient.
        source: MaterialError,
    },
    /// The table of pair laws mentions a material that is not in the list.
    #[error("the pair laws mention material {material} among {n_materials}")]
    UnknownPairMaterial {
        /// The index.
        material: u32,
        /// Number of materials.
        n_materials: usize,
    },
    /// More distinct laws than can be numbered.
    #[error("{n_materials} materials make more than 32768 different contact laws: use fewer")]
    TooManyLaws {
        /// Number of materials in use.
        n_materials: usize,
    },
    /// More colliders than 32-bit indices, or a body index that is reserved.
    #[error("{n_colliders} colliders or the reserved body index exceed 32-bit indices")]
    TooMany {
        /// Number of colliders.
        n_colliders: usize,
    },
}
