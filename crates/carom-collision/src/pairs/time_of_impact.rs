//! Continuous detection: when two moving shapes first meet, and the contact they make then.
//!
//! Conservative advancement: with gap g and normal n now, no point of A comes nearer to B's side of the separating
//! plane than
//! ```text
//! g − δ μ   after a time δ,      μ = (v_B − v_A)·n + |ω_A × n| R_A + |ω_B × n| R_B
//! ```
//! (R: reach from the point about which a shape turns), so that time may advance by g/μ. For translating shapes μ is
//! the true rate of the distance, a convex function of time, and the advancement is Newton's method from its safe side.

use super::{Geometry, Overlap, PairPoint, collide};
use crate::pairs::Scratch;
use crate::pose::Pose;
use nalgebra::{UnitQuaternion, Vector3};

/// Shapes nearer than this fraction of the smaller width have met.
const MET: f64 = 1e-6;
/// Part of the safe time that is used: gaps between two boxes may exceed the distance by a hundredth.
const CAUTION: f64 = 0.99;
const MOST_STEPS: usize = 500;

/// A shape that moves with a body: constant velocity of the body's origin, constant angular velocity about it.
#[derive(Clone, Copy)]
pub(crate) struct Moving<'a> {
    pub geometry: &'a Geometry,
    /// Pose of the shape at the start.
    pub pose: &'a Pose,
    /// The body's origin at the start \[m\].
    pub origin: Vector3<f64>,
    /// Velocity of the body's origin \[m/s\].
    pub velocity: Vector3<f64>,
    /// Angular velocity in the world frame \[rad/s\].
    pub spin: Vector3<f64>,
    /// Bound of the distance of the shape's points from the body's origin \[m\].
    pub reach: f64,
}

impl Moving<'_> {
    fn turn(&self, time: f64) -> UnitQuaternion<f64> {
        UnitQuaternion::from_scaled_axis(self.spin * time)
    }

    /// Pose after a time.
    pub(crate) fn pose_after(&self, time: f64) -> Pose {
        let turn = self.turn(time);
        let position = self.origin + self.velocity * time + turn * (self.pose.position - self.origin);
        Pose::new(position, turn * self.pose.quaternion)
    }

    /// Where the material point that is at `point` after a time was at the start.
    fn start_of(&self, point: &Vector3<f64>, time: f64) -> Vector3<f64> {
        self.origin + self.turn(time).inverse_transform_vector(&(point - self.origin - self.velocity * time))
    }

    /// Bound of the speed of its points against a direction.
    fn turning_speed(&self, direction: &Vector3<f64>) -> f64 {
        // a plane does not turn
        if self.reach.is_finite() { self.spin.cross(direction).norm() * self.reach } else { 0.0 }
    }

    fn fastest_turning(&self) -> f64 {
        if self.reach.is_finite() { self.spin.norm() * self.reach } else { 0.0 }
    }
}

/// Bound of the speed at which two shapes approach.
fn fastest_approach(a: &Moving<'_>, b: &Moving<'_>) -> f64 {
    (a.velocity - b.velocity).norm() + a.fastest_turning() + b.fastest_turning()
}

/// Distance within which two shapes count as met.
fn touching_distance(a: &Moving<'_>, b: &Moving<'_>) -> f64 {
    MET * a.geometry.thinnest.min(b.geometry.thinnest)
}

/// The first time within the horizon at which two shapes are nearer than 1e-6 of the smaller width; 0 when they are at
/// the start, `None` when they do not meet.
///
/// `points` is working memory. Cost: some tens of narrow-phase calls; grazing motions of turning shapes take more, and
/// are said to meet where the advancement has come after 500 steps.
pub(crate) fn time_of_impact(
    a: &Moving<'_>,
    b: &Moving<'_>,
    horizon: f64,
    scratch: &mut Scratch,
    points: &mut Vec<PairPoint>,
) -> Option<f64> {
    let met = touching_distance(a, b);
    let fastest = fastest_approach(a, b);
    let mut time = 0.0;
    for _ in 0..MOST_STEPS {
        let (pose_a, pose_b) = (a.pose_after(time), b.pose_after(time));
        points.clear();
        // what is farther cannot be reached any more
        let margin = fastest * (horizon - time) + met;
        collide((a.geometry, &pose_a), (b.geometry, &pose_b), margin, scratch, points);
        let mut nearest: Option<&PairPoint> = None;
        for point in points.iter() {
            if nearest.is_none_or(|best| point.gap < best.gap) {
                nearest = Some(point);
            }
        }
        let nearest = nearest?;
        if nearest.gap <= met {
            return Some(time);
        }
        let n = &nearest.normal;
        let approach = (b.velocity - a.velocity).dot(n) + a.turning_speed(n) + b.turning_speed(n);
        if approach <= 0.0 {
            return None;
        }
        time += CAUTION * nearest.gap / approach;
        if time > horizon {
            return None;
        }
    }
    Some(time)
}

/// Appends the contacts that two shapes make when they first meet within the horizon: the normals of that instant, and
/// as gap the distance that the touching points have still to go along the normal. Nothing when they do not meet.
///
/// The point is where the touching material points are at the start, weighted by how far each of them moves, so that the
/// lever arm of a body that meets a fixed one is its own.
pub(crate) fn collide_in_motion(
    a: &Moving<'_>,
    b: &Moving<'_>,
    horizon: f64,
    scratch: &mut Scratch,
    points: &mut Vec<PairPoint>,
) -> Overlap {
    points.clear();
    let Some(time) = time_of_impact(a, b, horizon, scratch, points) else {
        points.clear();
        return Overlap::Regular;
    };
    let (pose_a, pose_b) = (a.pose_after(time), b.pose_after(time));
    points.clear();
    let margin = fastest_approach(a, b) * (horizon - time) + touching_distance(a, b);
    let overlap = collide((a.geometry, &pose_a), (b.geometry, &pose_b), margin, scratch, points);
    if time == 0.0 {
        return overlap;
    }
    for point in points.iter_mut() {
        let half = point.normal * (0.5 * point.gap);
        let (on_a, on_b) = (point.point + half, point.point - half);
        let (start_a, start_b) = (a.start_of(&on_a, time), b.start_of(&on_b, time));
        let (moved_a, moved_b) = ((on_a - start_a).norm(), (on_b - start_b).norm());
        let weight = moved_a / (moved_a + moved_b);
        point.gap = point.normal.dot(&(start_a - start_b));
        point.point = start_b + (start_a - start_b) * if weight.is_finite() { weight } else { 0.5 };
    }
    overlap
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::Shape;

    fn geometry(shape: Shape) -> Geometry {
        Geometry::new(&shape).unwrap()
    }

    fn still<'a>(geometry: &'a Geometry, pose: &'a Pose) -> Moving<'a> {
        let (zero, reach) = (Vector3::zeros(), geometry.shape.bounding_radius());
        Moving { geometry, pose, origin: pose.position, velocity: zero, spin: zero, reach }
    }

    fn upright(x: f64, y: f64, z: f64) -> Pose {
        Pose::new(Vector3::new(x, y, z), UnitQuaternion::identity())
    }

    /// Contacts of two moving shapes within a second.
    fn run(a: &Moving<'_>, b: &Moving<'_>) -> (Option<f64>, Vec<PairPoint>) {
        let (mut scratch, mut points) = (Scratch::default(), Vec::new());
        let time = time_of_impact(a, b, 1.0, &mut scratch, &mut points);
        collide_in_motion(a, b, 1.0, &mut scratch, &mut points);
        (time, points)
    }

    #[test]
    fn a_bullet_hits_a_thin_wall_that_it_would_jump_over() {
        let wall = geometry(Shape::Box { half_extents: Vector3::new(0.001, 1.0, 1.0) });
        let wall_pose = upright(0.0, 0.0, 0.0);
        let shapes = [
            Shape::Sphere { radius: 0.01 },
            Shape::Box { half_extents: Vector3::repeat(0.01) },
            Shape::Capsule { radius: 0.005, half_length: 0.01 },
            Shape::Cylinder { radius: 0.01, half_length: 0.002 },
            Shape::Cone { radius: 0.01, half_height: 0.01 },
        ];
        for shape in shapes {
            let bullet = geometry(shape);
            let pose = upright(-3.0, 0.2, 0.1);
            let flying = Moving { velocity: Vector3::new(6.0, 0.3, 0.0), ..still(&bullet, &pose) };
            let front = match bullet.shape {
                Shape::Capsule { radius, .. } => radius,
                _ => 0.01,
            };
            let expected = 3.0 - 0.001 - front;
            let (time, points) = run(&flying, &still(&wall, &wall_pose));
            // met within 1e-6 of the smaller width, at 6 m/s
            let time = time.unwrap();
            assert!((0.0..1e-8).contains(&(expected / 6.0 - time)), "{:?} {time}", bullet.shape);
            assert!(!points.is_empty());
            for p in &points {
                assert!((p.normal + Vector3::x()).norm() < 1e-12, "{p:?}");
                // the distance still to go, and a point of the bullet itself
                assert!((p.gap - expected).abs() < 0.021 && p.gap >= expected - 1e-8, "{:?} {p:?}", bullet.shape);
                assert!((p.point - pose.position).norm() < 0.03, "{p:?}");
            }
            assert!(points.iter().any(|p| (p.gap - expected).abs() < 1e-8));
            // Past the edge of the wall, or away from it: no ghost contact.
            let beside = upright(-3.0, 1.02, 0.0);
            let passing = Moving { velocity: Vector3::new(6.0, 0.0, 0.0), ..still(&bullet, &beside) };
            assert_eq!(run(&passing, &still(&wall, &wall_pose)), (None, vec![]), "{:?}", bullet.shape);
            let leaving = Moving { velocity: Vector3::new(-6.0, 0.0, 0.0), ..flying };
            assert_eq!(run(&leaving, &still(&wall, &wall_pose)), (None, vec![]));
            let slow = Moving { velocity: Vector3::new(2.9, 0.0, 0.0), ..flying };
            assert_eq!(run(&slow, &still(&wall, &wall_pose)), (None, vec![]));
        }
    }

    #[test]
    fn a_turning_rod_meets_a_ball() {
        // A rod along x about the origin, a ball of radius 0.1 at 60° and distance 0.8: the rod's side, 0.05 thick,
        // meets it when sin(60° − φ) = (0.1 + 0.05)/0.8.
        let rod = geometry(Shape::Capsule { radius: 0.05, half_length: 1.0 });
        let rod_pose = Pose::new(Vector3::zeros(), UnitQuaternion::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_2));
        let ball = geometry(Shape::Sphere { radius: 0.1 });
        let at = std::f64::consts::FRAC_PI_3;
        let ball_pose = upright(0.8 * at.cos(), 0.8 * at.sin(), 0.0);
        let turning = Moving { spin: Vector3::z() * 2.0, ..still(&rod, &rod_pose) };
        let (time, points) = run(&turning, &still(&ball, &ball_pose));
        let expected = (at - (0.15_f64 / 0.8).asin()) / 2.0;
        assert!((0.0..1e-6).contains(&(expected - time.unwrap())), "{time:?} {expected}");
        assert_eq!(points.len(), 1);
        // It turns the other way: 120° more than the horizon allows.
        let (time, points) = run(&Moving { spin: Vector3::z() * -1.0, ..turning }, &still(&ball, &ball_pose));
        assert_eq!((time, points.len()), (None, 0));
        // About one end, as part of a body: reach and origin differ from the shape's own.
        let hinged = Moving { origin: Vector3::new(-1.0, 0.0, 0.0), reach: 2.05, ..turning };
        let (time, _) = run(&hinged, &still(&ball, &upright(0.0, 0.9, 0.0)));
        let expected = (0.9_f64.atan() - (0.15 / 1.81_f64.sqrt()).asin()) / 2.0;
        assert!((0.0..1e-6).contains(&(expected - time.unwrap())), "{time:?} {expected}");
    }
}
