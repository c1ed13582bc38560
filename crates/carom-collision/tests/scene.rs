//! Scenes for the tests: random numbers, bodies, and one call of the detector.

use carom_collision::{Collider, Detector, Material, PairLaws, Shape};
use carom_dynamics::detection::{ContactDetector, ContactPoint};
use carom_dynamics::systems::Instant;
use nalgebra::{Unit, UnitQuaternion, Vector3};

/// splitmix64.
pub struct Random(pub u64);

impl Random {
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub fn vector(&mut self, low: f64, high: f64) -> Vector3<f64> {
        Vector3::new(self.within(low, high), self.within(low, high), self.within(low, high))
    }

    pub fn rotation(&mut self) -> UnitQuaternion<f64> {
        let axis = Unit::new_normalize(self.vector(-1.0, 1.0));
        UnitQuaternion::from_axis_angle(&axis, self.within(0.0, 6.0))
    }

    pub fn shape(&mut self) -> Shape {
        let (r, l) = (self.within(0.2, 0.5), self.within(0.2, 0.5));
        match (self.unit() * 6.0) as u32 {
            0 => Shape::Sphere { radius: r },
            1 => Shape::Box { half_extents: self.vector(0.2, 0.5) },
            2 => Shape::Capsule { radius: r, half_length: l },
            3 => Shape::Cylinder { radius: r, half_length: l },
            4 => Shape::Cone { radius: r, half_height: l },
            _ => Shape::Convex { vertices: (0..12).map(|_| self.vector(-0.5, 0.5)).collect() },
        }
    }
}

/// Colliders, one per moving body, with positions and velocities.
#[derive(Clone, Default)]
pub struct Scene {
    pub colliders: Vec<Collider>,
    pub poses: Vec<(Vector3<f64>, UnitQuaternion<f64>)>,
    pub velocities: Vec<[f64; 6]>,
}

impl Scene {
    pub fn add(&mut self, shape: Shape, position: Vector3<f64>, rotation: UnitQuaternion<f64>) {
        let body = self.poses.len() as u32;
        self.colliders.push(Collider::new(format!("body {body}"), Some(body), shape));
        self.poses.push((position, rotation));
        self.velocities.push([0.0; 6]);
    }

    pub fn add_fixed(&mut self, shape: Shape, position: Vector3<f64>, rotation: UnitQuaternion<f64>) {
        let mut collider = Collider::new("fixed", None, shape);
        collider.translation = position;
        collider.rotation = rotation;
        self.colliders.push(collider);
    }

    pub fn detector(&self) -> Detector {
        Detector::new(self.colliders.clone(), vec![Material::default()], PairLaws::new()).unwrap()
    }

    pub fn state(&self) -> (Vec<f64>, Vec<f64>) {
        let q = self.poses.iter().flat_map(|(p, r)| [p.x, p.y, p.z, r.w, r.i, r.j, r.k]).collect();
        (q, self.velocities.concat())
    }

    /// Contacts from a given detector.
    pub fn detect_with(&self, detector: &mut dyn ContactDetector, horizon: f64) -> Vec<ContactPoint> {
        let (q, v) = self.state();
        let mut contacts = Vec::new();
        detector.detect(Instant { t: 0.0, q: &q, v: &v }, horizon, &mut contacts).unwrap();
        contacts
    }

    /// Contacts from a fresh detector.
    pub fn detect(&self, horizon: f64) -> Vec<ContactPoint> {
        self.detect_with(&mut self.detector(), horizon)
    }
}

/// A body that reports all gaps up to a distance, by its speed at a horizon of one second.
pub fn looking(distance: f64) -> [f64; 6] {
    [distance, 0.0, 0.0, 0.0, 0.0, 0.0]
}
