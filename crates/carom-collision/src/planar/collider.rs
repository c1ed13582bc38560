//! Planar colliders: shapes of bodies and obstacles, and what can be wrong with a set of them.

use super::motion::Motion;
use super::shapes::PlanarShape;
use crate::collider::{CollisionError, Groups};
use carom_dynamics::ModelError;
use nalgebra::Vector2;
use thiserror::Error;

/// A shape attached to a moving planar body, or an obstacle.
#[derive(Clone, Debug)]
pub struct PlanarCollider {
    /// Name for records and messages.
    pub name: String,
    /// Index of the moving body; `None` for an obstacle.
    pub body: Option<u32>,
    /// The shape.
    pub shape: PlanarShape,
    /// Position of the shape in the body frame, or of an obstacle in the world \[m\].
    pub position: Vector2<f64>,
    /// Angle of the shape in the body frame, or of an obstacle in the world \[rad\].
    pub angle: f64,
    /// How an obstacle moves from there.
    pub motion: Option<Motion>,
    /// Point of the world that a motion turns the obstacle about \[m\]; its position if there is none.
    pub pivot: Option<Vector2<f64>>,
    /// Index into the list of materials.
    pub material: u32,
    /// Which colliders it may meet.
    pub groups: Groups,
}

impl PlanarCollider {
    /// A collider at its body's origin, of material 0, that meets all others.
    #[must_use]
    pub fn new(name: impl Into<String>, body: Option<u32>, shape: PlanarShape) -> Self {
        PlanarCollider {
            name: name.into(),
            body,
            shape,
            position: Vector2::zeros(),
            angle: 0.0,
            motion: None,
            pivot: None,
            material: 0,
            groups: Groups::default(),
        }
    }
}

/// Why a planar detector cannot be built.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PlanarError {
    /// What can be wrong in space too.
    #[error(transparent)]
    Collision(#[from] CollisionError),
    /// A body has a shape for obstacles.
    #[error("collider `{collider}`: a {shape} belongs to an obstacle, not to a body that moves freely")]
    ObstacleShape {
        /// Name of the collider.
        collider: String,
        /// Its shape.
        shape: &'static str,
    },
    /// A body has a motion.
    #[error("collider `{collider}`: only obstacles move as prescribed")]
    BodyWithMotion {
        /// Name of the collider.
        collider: String,
    },
    /// The law of two materials asks for what planar contacts do not have.
    #[error("{what} is not available between planar bodies")]
    SpatialLaw {
        /// What it asks for.
        what: &'static str,
    },
    /// A coefficient of a law is out of range.
    #[error(transparent)]
    Law(#[from] ModelError),
}
