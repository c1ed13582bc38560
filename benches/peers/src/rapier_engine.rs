//! rapier (rapier3d-f64).

use crate::engine::Engine;
use carom::collision::Shape;
use carom::dynamics::State;
use carom::scenes::Scene;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use rapier3d_f64::prelude::{ColliderBuilder, PhysicsWorld, Pose, RigidBodyBuilder, RigidBodyHandle, Rotation, SpringCoefficients, Vector};
use std::error::Error;

/// Which settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// 20 solver iterations, contact springs of 500 Hz between bodies and 1000 Hz with the world, damping ratio 5.
    Tuned,
    /// As rapier comes.
    Default,
}

/// A run of rapier.
pub struct RapierEngine {
    setting: Setting,
    world: PhysicsWorld,
    bodies: Vec<RigidBodyHandle>,
}

impl RapierEngine {
    /// The scene at its start; bodies may fall asleep where `sleep` says so.
    pub fn new(scene: &Scene, setting: Setting, sleep: bool) -> Result<Self, Box<dyn Error>> {
        let mut world = PhysicsWorld { gravity: vector(&scene.gravity), ..PhysicsWorld::default() };
        let parameters = &mut world.integration_parameters;
        parameters.dt = scene.step;
        if setting == Setting::Tuned {
            parameters.num_solver_iterations = 20;
            parameters.contact_softness = SpringCoefficients::new(500.0, 5.0);
            parameters.static_contact_softness = SpringCoefficients::new(1000.0, 5.0);
        }
        for wall in &scene.walls {
            let half = &wall.half_extents;
            let collider = ColliderBuilder::cuboid(half.x, half.y, half.z).friction(scene.friction).restitution(0.0);
            world.insert(RigidBodyBuilder::fixed().translation(vector(&wall.centre)), collider);
        }
        let mut bodies = Vec::with_capacity(scene.bodies.len());
        for body in &scene.bodies {
            let collider = match &body.shape {
                Shape::Sphere { radius } => ColliderBuilder::ball(*radius),
                Shape::Box { half_extents: half } => ColliderBuilder::cuboid(half.x, half.y, half.z),
                other => return Err(format!("the benchmark has no counterpart of {other:?} in rapier").into()),
            };
            let q = &body.orientation;
            let pose = Pose::from_parts(vector(&body.position), Rotation::from_xyzw(q.i, q.j, q.k, q.w));
            let collider = collider.density(body.density).friction(scene.friction).restitution(0.0);
            let (handle, _) = world.insert(RigidBodyBuilder::dynamic().pose(pose).can_sleep(sleep), collider);
            bodies.push(handle);
        }
        Ok(Self { setting, world, bodies })
    }
}

impl Engine for RapierEngine {
    fn name(&self) -> &'static str {
        match self.setting {
            Setting::Tuned => "rapier tuned",
            Setting::Default => "rapier default",
        }
    }

    fn step(&mut self) -> Result<(), Box<dyn Error>> {
        self.world.step();
        Ok(())
    }

    fn read(&self, state: &mut State) {
        let places = state.q.chunks_exact_mut(7).zip(state.v.chunks_exact_mut(6));
        for (&handle, (q, v)) in self.bodies.iter().zip(places) {
            let body = &self.world.bodies[handle];
            let (x, r, linear, angular) = (body.translation(), body.rotation(), body.linvel(), body.angvel());
            q.copy_from_slice(&[x.x, x.y, x.z, r.w, r.x, r.y, r.z]);
            let orientation = UnitQuaternion::from_quaternion(Quaternion::new(r.w, r.x, r.y, r.z));
            let omega = orientation.inverse() * Vector3::new(angular.x, angular.y, angular.z);
            v.copy_from_slice(&[linear.x, linear.y, linear.z, omega.x, omega.y, omega.z]);
        }
    }
}

fn vector(v: &Vector3<f64>) -> Vector {
    Vector::new(v.x, v.y, v.z)
}
