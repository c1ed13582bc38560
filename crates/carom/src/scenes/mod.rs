//! Scenes that several engines can run: shapes, poses and materials, without anything of an engine.
//!
//! `benches/peers` builds each engine's model from the same [`Scene`]; [`Scene::model`] is carom's. SI units, z up.

mod piles;
pub mod random;

use carom_collision::{Collider, CollisionError, Detector, Material, PairLaws, Shape, ShapeError};
use carom_dynamics::systems::{RigidBodies, RigidBody};
use carom_dynamics::{Model, ModelError, State};
use nalgebra::{UnitQuaternion, Vector3};
use thiserror::Error;

/// A moving body of one homogeneous shape whose frame is centred on the centre of mass.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneBody {
    /// The shape.
    pub shape: Shape,
    /// Centre \[m\].
    pub position: Vector3<f64>,
    /// Orientation, from the body's frame to the world's.
    pub orientation: UnitQuaternion<f64>,
    /// Density \[kg/m³\].
    pub density: f64,
}

/// A fixed box, aligned with the axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Wall {
    /// Name for messages.
    pub name: &'static str,
    /// Centre \[m\].
    pub centre: Vector3<f64>,
    /// Half edges \[m\].
    pub half_extents: Vector3<f64>,
}

/// Bodies at rest in a square container that is open at the top, all of one material.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// The moving bodies.
    pub bodies: Vec<SceneBody>,
    /// Floor, with its top at z = 0, and four walls.
    pub walls: Vec<Wall>,
    /// Inner side of the container, centred on the z axis \[m\].
    pub side: f64,
    /// Gravity \[m/s²\].
    pub gravity: Vector3<f64>,
    /// Coulomb's coefficient of friction of all contacts.
    pub friction: f64,
    /// End time \[s\].
    pub end: f64,
    /// Step size \[s\].
    pub step: f64,
}

/// Why a scene cannot be simulated.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SceneError {
    /// A body's shape.
    #[error("body {body} of the scene: {source}")]
    Body {
        /// Number of the body.
        body: usize,
        /// What is wrong with its shape or density.
        source: ShapeError,
    },
    /// The colliders.
    #[error(transparent)]
    Collision(#[from] CollisionError),
    /// The bodies.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl Scene {
    /// carom's model of the scene and its state at rest.
    ///
    /// # Errors
    /// [`SceneError`], for scenes with sizes or densities out of range.
    pub fn model(&self) -> Result<(Model, State), SceneError> {
        let mut bodies = Vec::with_capacity(self.bodies.len());
        for (index, body) in self.bodies.iter().enumerate() {
            let mass = body.shape.mass_properties(body.density).map_err(|source| SceneError::Body { body: index, source })?;
            bodies.push(RigidBody { name: name(index), mass: mass.mass, inertia: mass.inertia });
        }
        let mut model = Model::new(vec![Box::new(RigidBodies::new(bodies, self.gravity)?)])?;
        model.set_detector(Box::new(self.detector()?));
        let state = State { t: 0.0, q: self.coordinates(), v: vec![0.0; 6 * self.bodies.len()], ..State::default() };
        model.check_state(&state)?;
        Ok((model, state))
    }

    /// The detector of contacts between the bodies, and between them and the walls.
    ///
    /// # Errors
    /// [`CollisionError`].
    pub fn detector(&self) -> Result<Detector, CollisionError> {
        let bodies = self.bodies.iter().enumerate().map(|(i, body)| Collider::new(name(i), Some(i as u32), body.shape.clone()));
        let walls = self.walls.iter().map(|wall| Collider {
            translation: wall.centre,
            ..Collider::new(wall.name, None, Shape::Box { half_extents: wall.half_extents })
        });
        let material = Material { friction: self.friction, restitution: 0.0, ..Material::default() };
        Detector::new(bodies.chain(walls).collect(), vec![material], PairLaws::default())
    }

    /// Seven coordinates per body, as [`State`] has them.
    fn coordinates(&self) -> Vec<f64> {
        let of_body = |body: &SceneBody| {
            let (x, q) = (body.position, body.orientation);
            [x.x, x.y, x.z, q.w, q.i, q.j, q.k]
        };
        self.bodies.iter().flat_map(of_body).collect()
    }
}

/// Name of a body.
fn name(index: usize) -> String {
    format!("body {index}")
}
