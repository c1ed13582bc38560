//! The planar detector: nothing lost, nothing invented, rows that are the derivatives of gaps.

use crate::scene::Random;
use carom_collision::planar::{Chain, Motion, MotionSource, PlanarCollider, PlanarError, PlanarShape, PlanarShapes, Polygon, Sides};
use carom_collision::{Material, PairLaws};
use carom_dynamics::detection::{ContactPoint, PlanarDetector, SurfaceMotion, WORLD};
use carom_dynamics::laws::{Cohesion, ContactLaw, Friction};
use carom_dynamics::relations::planar_contact::{planar_normal_velocity, write_planar_bias, write_planar_jacobian};
use carom_dynamics::systems::Instant;
use nalgebra::{Vector2, Vector3};
use std::sync::Arc;

/// Disks, capsules and polygons of many sizes, and one obstacle of each shape, some of them moving.
struct Scene {
    colliders: Vec<PlanarCollider>,
    q: Vec<f64>,
    v: Vec<f64>,
}

fn motion(x: &str, y: &str, angle: &str) -> Option<Motion> {
    let formulas = [x, y, angle].map(|text| Some(text.to_owned()));
    Some(Motion::new("wall", &MotionSource { formulas, parameters: Vec::new() }).unwrap())
}

/// A regular polygon.
fn polygon(radius: f64, n: usize) -> PlanarShape {
    let corner = |k: usize| (std::f64::consts::TAU * k as f64 / n as f64).sin_cos();
    let vertices: Vec<Vector2<f64>> = (0..n).map(corner).map(|(y, x)| Vector2::new(radius * x, radius * y)).collect();
    PlanarShape::Polygon(Arc::new(Polygon::new(&vertices).unwrap()))
}

/// A chain with a hill and a valley.
fn hill() -> PlanarShape {
    let vertices = [[-2.0, -1.0], [-1.0, -1.0], [0.0, -0.7], [1.0, -1.2], [2.0, -0.8]].map(Vector2::from);
    PlanarShape::Chain(Arc::new(Chain::new(&vertices, false, Sides::Both).unwrap()))
}

fn scene(random: &mut Random, n: usize, size: f64) -> Scene {
    let shapes = [
        (PlanarShape::HalfPlane { normal: Vector2::new(0.2, 2.0) }, motion("0", "0.1*sin(t)", "0.2*t")),
        (PlanarShape::Segment { ends: [Vector2::new(-1.0, 0.0), Vector2::new(1.0, 0.5)] }, motion("t^2", "0", "t")),
        (PlanarShape::Disk { radius: 0.7 }, None),
        (PlanarShape::Segment { ends: [Vector2::new(-2.0, 1.0), Vector2::new(-2.0, 3.0)] }, None),
        (hill(), motion("0.1*t", "0.2*t", "-0.3*t")),
        (polygon(0.5, 7), motion("0", "t^2", "2*t")),
    ];
    let mut scene = Scene { colliders: Vec::new(), q: Vec::new(), v: Vec::new() };
    for (k, (shape, motion)) in shapes.into_iter().enumerate() {
        scene.colliders.push(PlanarCollider { motion, angle: 0.1, ..PlanarCollider::new(format!("obstacle {k}"), None, shape) });
    }
    for k in 0..n {
        // a few large ones among many small ones
        let radius = if k % 20 == 0 { random.within(0.3, 0.6) } else { random.within(0.05, 0.1) };
        let shape = match k % 5 {
            0 | 3 => PlanarShape::Disk { radius },
            1 => PlanarShape::Capsule { radius: 0.5 * radius, half_length: 0.7 * radius },
            2 => polygon(radius, 3 + k % 4),
            _ => polygon(1.2 * radius, 4),
        };
        scene.colliders.push(PlanarCollider::new(format!("body {k}"), Some(k as u32), shape));
        scene.q.extend([random.within(-size, size), random.within(-size, size), random.within(-3.0, 3.0)]);
        scene.v.extend([random.within(-1.0, 1.0), random.within(-1.0, 1.0), random.within(-1.0, 1.0)]);
    }
    scene
}

impl Scene {
    fn detector(&self) -> PlanarShapes {
        PlanarShapes::new(self.colliders.clone(), &[Material::default()], &PairLaws::new()).unwrap()
    }

    fn detect(&self, detector: &mut PlanarShapes, t: f64, horizon: f64) -> Vec<ContactPoint> {
        let mut contacts = Vec::new();
        detector.detect(Instant { t, q: &self.q, v: &self.v }, horizon, &mut contacts).unwrap();
        contacts
    }

    /// All pairs, each with a detector of its own: no broad phase to speak of.
    fn brute_force(&self, t: f64, horizon: f64) -> Vec<ContactPoint> {
        let mut all = Vec::new();
        for i in 0..self.colliders.len() {
            for j in i + 1..self.colliders.len() {
                let pair = vec![self.colliders[i].clone(), self.colliders[j].clone()];
                let mut detector = PlanarShapes::new(pair, &[Material::default()], &PairLaws::new()).unwrap();
                for mut contact in self.detect(&mut detector, t, horizon) {
                    let index = |k: u32| if k == 0 { i as u32 } else { j as u32 };
                    contact.key.collider_a = index(contact.key.collider_a);
                    contact.key.collider_b = index(contact.key.collider_b);
                    all.push(contact);
                }
            }
        }
        all.sort_by_key(|c| c.key);
        all
    }
}

#[test]
fn equals_brute_force_over_several_steps() {
    let mut random = Random(11);
    let mut scene = scene(&mut random, 150, 2.5);
    let mut detector = scene.detector();
    let mut total = [0; 2];
    for step in 0..4 {
        let t = 0.3 * f64::from(step);
        let found = scene.detect(&mut detector, t, 0.05);
        // the same bits: the narrow phase is the same, only the search differs
        assert_eq!(found, scene.brute_force(t, 0.05));
        assert!(found.is_sorted_by(|a, b| a.key < b.key));
        for contact in &found {
            total[usize::from(contact.body_b == WORLD)] += 1;
        }
        scene.q.iter_mut().for_each(|q| *q += random.within(-0.3, 0.3));
    }
    assert!(total[0] > 300 && total[1] > 100, "{total:?} contacts are too few to tell");
    // what was before does not matter
    assert_eq!(scene.detect(&mut scene.detector(), 1.0, 0.0), scene.detect(&mut detector, 1.0, 0.0));
}

/// u_N is the rate of the gap along the motion of bodies and obstacles, and the rows and b say the same.
#[test]
fn rows_are_derivatives_of_gaps() {
    let mut random = Random(12);
    let scene = scene(&mut random, 60, 1.5);
    let mut detector = scene.detector();
    let (t, eps) = (0.7, 1e-6);
    let contacts = scene.detect(&mut detector, t, 0.3);
    let mut moved = |sign: f64| {
        let q: Vec<f64> = scene.q.iter().zip(&scene.v).map(|(q, v)| q + sign * eps * v).collect();
        let mut out = Vec::new();
        detector.detect(Instant { t: t + sign * eps, q: &q, v: &scene.v }, 0.4, &mut out).unwrap();
        out
    };
    let (after, before) = (moved(1.0), moved(-1.0));
    let mut checked = [0; 4];
    for contact in &contacts {
        let gap = |list: &[ContactPoint]| list.iter().find(|c| c.key == contact.key).map(|c| c.gap);
        let (Some(plus), Some(minus)) = (gap(&after), gap(&before)) else { continue };
        let rate = (plus - minus) / (2.0 * eps);
        let surface = contact.surface.unwrap_or(SurfaceMotion { velocity: Vector3::zeros(), acceleration: Vector3::zeros() });
        let u = planar_normal_velocity(contact, &scene.q, &scene.v);
        // central differences: O(eps²) truncation, round-off 1e-16/1e-6
        assert!((u - rate).abs() < 1e-8, "{contact:?}: {u} {rate}");
        let width = if contact.body_b == WORLD { 3 } else { 6 };
        let (mut rows, mut bias, mut change) = (vec![0.0; 2 * width], [0.0; 2], [0.0; 2]);
        write_planar_jacobian(contact, &scene.q, 2, &mut rows);
        write_planar_bias(contact, 0.0, &mut bias, &mut change);
        let velocity = |row: &[f64]| -> f64 {
            let bodies = [contact.body_a, contact.body_b];
            row.chunks_exact(3).zip(bodies).map(|(g, b)| (0..3).map(|k| g[k] * scene.v[3 * b as usize + k]).sum::<f64>()).sum()
        };
        assert!((velocity(&rows[..width]) + bias[0] - u).abs() < 1e-14);
        // the tangent: velocities of the two material points, directly
        let at = |body: u32| {
            let (q, v) = (&scene.q[3 * body as usize..], &scene.v[3 * body as usize..]);
            Vector2::new(v[0] - v[2] * (contact.point.y - q[1]), v[1] + v[2] * (contact.point.x - q[0]))
        };
        let other = if contact.body_b == WORLD { surface.velocity.xy() } else { at(contact.body_b) };
        let slip = Vector2::new(-contact.normal.y, contact.normal.x).dot(&(at(contact.body_a) - other));
        assert!((velocity(&rows[width..]) + bias[1] - slip).abs() < 1e-14);
        checked[(contact.key.collider_b as usize).min(3)] += 1;
    }
    assert!(checked.iter().all(|&n| n > 0), "{checked:?}");
}

/// The surface of a turning obstacle: velocity and acceleration against differences of a marked point.
#[test]
fn surfaces_move_as_prescribed() {
    let disk = PlanarShape::Disk { radius: 0.5 };
    let wall = PlanarCollider {
        motion: motion("sin(2*t)", "t^3", "t^2"),
        ..PlanarCollider::new("wall", None, PlanarShape::Segment { ends: [Vector2::zeros(), Vector2::new(3.0, 0.0)] })
    };
    // the point of the wall 1.2 m from its origin, and a disk on it
    let place = |t: f64| Vector2::new((2.0 * t).sin() + 1.2 * (t * t).cos(), t.powi(3) + 1.2 * (t * t).sin());
    let (t, eps) = (0.6_f64, 1e-4);
    let normal = Vector2::new(-(t * t).sin(), (t * t).cos());
    let centre = place(t) + 0.5 * normal;
    let mut detector =
        PlanarShapes::new(vec![wall, PlanarCollider::new("disk", Some(0), disk.clone())], &[Material::default()], &PairLaws::new())
            .unwrap();
    let mut contacts = Vec::new();
    detector.detect(Instant { t, q: &[centre.x, centre.y, 0.0], v: &[0.0; 3] }, 0.0, &mut contacts).unwrap();
    let surface = contacts[0].surface.unwrap();
    let velocity = (place(t + eps) - place(t - eps)) / (2.0 * eps);
    let acceleration = (place(t + eps) - 2.0 * place(t) + place(t - eps)) / (eps * eps);
    // truncation eps² ≈ 1e-8 times third derivatives of some tens, round-off 1e-16/eps² ≈ 1e-8
    assert!((surface.velocity.xy() - velocity).norm() < 1e-6, "{surface:?} {velocity}");
    assert!((surface.acceleration.xy() - acceleration).norm() < 1e-5, "{surface:?} {acceleration}");
}

#[test]
fn wrong_colliders_and_laws_are_refused() {
    let build = |collider: PlanarCollider| PlanarShapes::new(vec![collider], &[Material::default()], &PairLaws::new()).err();
    let disk = PlanarShape::Disk { radius: 1.0 };
    let line = PlanarShape::HalfPlane { normal: Vector2::y() };
    assert_eq!(build(PlanarCollider::new("a", Some(0), disk.clone())), None);
    assert!(matches!(build(PlanarCollider::new("a", Some(0), line.clone())), Some(PlanarError::ObstacleShape { .. })));
    let moving = PlanarCollider { motion: motion("t", "0", "0"), ..PlanarCollider::new("a", Some(0), disk.clone()) };
    assert!(matches!(build(moving), Some(PlanarError::BodyWithMotion { .. })));
    assert!(matches!(
        build(PlanarCollider { material: 1, ..PlanarCollider::new("a", None, line.clone()) }),
        Some(PlanarError::Collision(_))
    ));
    for law in [
        ContactLaw { rolling: 0.1, ..ContactLaw::default() },
        ContactLaw { cohesion: Cohesion::Constant { force: 1.0, reach: 1e-6 }, ..ContactLaw::default() },
        ContactLaw { friction: Friction::elliptic(0.1, 0.2), ..ContactLaw::default() },
    ] {
        let mut pairs = PairLaws::new();
        pairs.set(0, 0, law).unwrap();
        let error = PlanarShapes::new(vec![PlanarCollider::new("a", Some(0), disk.clone())], &[Material::default()], &pairs).err();
        assert!(matches!(error, Some(PlanarError::SpatialLaw { .. })), "{error:?}");
    }
}

/// A state that is not finite gives no contacts with that body, and a formula that is not finite is an error.
#[test]
fn values_that_are_not_finite() {
    let mut random = Random(13);
    let mut scene = scene(&mut random, 30, 0.8);
    let mut detector = scene.detector();
    scene.q[3] = f64::NAN;
    let found = scene.detect(&mut detector, 0.0, 0.1);
    assert!(!found.is_empty() && found.iter().all(|c| c.body_a != 1 && c.body_b != 1 && c.gap.is_finite()));
    scene.colliders[0].motion = motion("ln(t)", "0", "0");
    let mut detector = scene.detector();
    let error = detector.detect(Instant { t: 0.0, q: &scene.q, v: &scene.v }, 0.0, &mut Vec::new()).unwrap_err();
    assert!(error.what.contains("motion `x` of \"wall\""), "{}", error.what);
}
