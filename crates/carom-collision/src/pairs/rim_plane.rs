//! Cylinder and cone against plane: four points of each rim, one of them the lowest, and the apex.

use super::{PairPoint, WorldPlane};
use crate::pose::Pose;
use nalgebra::Vector3;

/// Sine of the tilt below which the lowest direction of a rim is taken as the body's x axis: the rim's height then
/// varies by 1e-8 of the radius, and the four points do not wander with the noise of the orientation.
const UPRIGHT: f64 = 1e-8;
/// Feature number of a cone's apex.
const APEX: u32 = 8;

/// Appends rim points of both ends: 0–3 at −half_length, 4–7 at +half_length, the lowest first.
pub(super) fn collide_cylinder(pose: &Pose, radius: f64, half_length: f64, plane: &WorldPlane, margin: f64, points: &mut Vec<PairPoint>) {
    touch_rim((0, -half_length), radius, pose, plane, margin, points);
    touch_rim((4, half_length), radius, pose, plane, margin, points);
}

/// Appends rim points of the base (0–3, the lowest first) and the apex.
pub(super) fn collide_cone(pose: &Pose, radius: f64, half_height: f64, plane: &WorldPlane, margin: f64, points: &mut Vec<PairPoint>) {
    touch_rim((0, -half_height), radius, pose, plane, margin, points);
    plane.touch(APEX, pose.apply(&Vector3::new(0.0, 0.0, half_height)), margin, points);
}

fn touch_rim((feature, height): (u32, f64), radius: f64, pose: &Pose, plane: &WorldPlane, margin: f64, points: &mut Vec<PairPoint>) {
    // Direction of steepest descent within the rim's plane, in the body frame.
    let local_normal = pose.rotation.tr_mul(&plane.normal);
    let tilt = local_normal.x.hypot(local_normal.y);
    let (x, y) = if tilt > UPRIGHT { (-local_normal.x / tilt, -local_normal.y / tilt) } else { (1.0, 0.0) };
    let quarter_turns = [(x, y), (-y, x), (-x, -y), (y, -x)];
    for ((dx, dy), quarter) in quarter_turns.into_iter().zip(0..) {
        let surface = pose.apply(&Vector3::new(radius * dx, radius * dy, height));
        plane.touch(feature + quarter, surface, margin, points);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::UnitQuaternion;
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

    const PLANE: WorldPlane = WorldPlane { origin: Vector3::new(0.0, 0.0, 0.0), normal: Vector3::new(0.0, 0.0, 1.0) };

    fn cylinder(z: f64, angle: f64, margin: f64) -> Vec<PairPoint> {
        let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), angle);
        let mut points = Vec::new();
        collide_cylinder(&Pose::new(Vector3::new(0.0, 0.0, z), turn), 0.5, 2.0, &PLANE, margin, &mut points);
        points
    }

    #[test]
    fn standing_lying_and_tilted_cylinders() {
        let standing = cylinder(2.0, 0.0, 1e-9);
        assert_eq!(standing.iter().map(|p| p.feature).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert!(standing.iter().all(|p| p.gap == 0.0 && (p.point.norm() - 0.5).abs() < 1e-15));
        let lying = cylinder(0.5, FRAC_PI_2, 1e-9);
        assert_eq!(lying.iter().map(|p| p.feature).collect::<Vec<_>>(), [0, 4]);
        // Roundings of numbers near 2.
        assert!(lying.iter().all(|p| p.gap.abs() < 1e-15 && p.point.z.abs() < 1e-15));
        assert!((lying[1].point.x - lying[0].point.x - 4.0).abs() < 1e-14);
        // Tilted by 45°: the lowest point is on the end that goes down, at 2 cos45 + 0.5 sin45 below the centre.
        let tilted = cylinder(2.0, FRAC_PI_4, 0.3);
        assert_eq!(tilted.len(), 1);
        assert!((tilted[0].gap - (2.0 - 2.5 * FRAC_PI_4.sin())).abs() < 1e-14);
    }

    #[test]
    fn a_cone_on_its_side_touches_with_apex_and_rim() {
        // Half opening angle atan(1/2): the side is level when the axis is tilted by that angle from the horizontal.
        let (radius, half_height) = (1.0_f64, 1.0);
        let side = (radius / (2.0 * half_height)).atan();
        let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), FRAC_PI_2 + side);
        let pose = Pose::new(Vector3::new(0.0, 0.0, side.sin()), turn);
        let mut points = Vec::new();
        collide_cone(&pose, radius, half_height, &PLANE, 1e-9, &mut points);
        assert_eq!(points.iter().map(|p| p.feature).collect::<Vec<_>>(), [0, APEX]);
        assert!(points.iter().all(|p| p.gap.abs() < 1e-15), "{points:?}");
    }
}
