//! Sphere against cylinder or cone: nearest point of the profile in the half-plane of the sphere's centre.

use super::{Overlap, PairPoint};
use crate::pose::Pose;
use nalgebra::{Vector2, Vector3};

/// Ways out whose depths differ by less than this fraction of the size are equally short.
const TIE: f64 = 1e-12;

/// The half of a meridian section in coordinates (distance from the axis, height): a rectangle or a triangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Profile {
    /// Radius of the base.
    radius: f64,
    half_height: f64,
    pointed: bool,
}

/// The way out of the profile, or to it: unit normal and signed distance of the point.
struct Exit {
    normal: Vector2<f64>,
    height: f64,
    tied: bool,
}

impl Profile {
    pub fn cylinder(radius: f64, half_length: f64) -> Self {
        Self { radius, half_height: half_length, pointed: false }
    }

    pub fn cone(radius: f64, half_height: f64) -> Self {
        Self { radius, half_height, pointed: true }
    }

    fn exit(&self, rho: f64, z: f64) -> Exit {
        if self.pointed { self.exit_cone(rho, z) } else { self.exit_cylinder(rho, z) }
    }

    fn exit_cylinder(&self, rho: f64, z: f64) -> Exit {
        let upward = if z < 0.0 { -1.0 } else { 1.0 };
        let (side, cap) = (rho - self.radius, z.abs() - self.half_height);
        if side > 0.0 || cap > 0.0 {
            return Exit::outside(Vector2::new(side.max(0.0), cap.max(0.0) * upward));
        }
        let tie = TIE * self.radius.max(self.half_height);
        let tied = (side - cap).abs() <= tie || if side > cap { rho <= tie } else { z.abs() <= tie };
        if side > cap {
            Exit { normal: Vector2::x(), height: side, tied }
        } else {
            Exit { normal: Vector2::y() * upward, height: cap, tied }
        }
    }

    fn exit_cone(&self, rho: f64, z: f64) -> Exit {
        let (r, h) = (self.radius, self.half_height);
        let slant = r.hypot(2.0 * h);
        let outward = Vector2::new(2.0 * h, r) / slant;
        let base = -h - z;
        let side = outward.x * rho + outward.y * (z - h);
        if base <= 0.0 && side <= 0.0 {
            let tie = TIE * r.max(h);
            let tied = (side - base).abs() <= tie || side > base && rho <= tie;
            return if side > base {
                Exit { normal: outward, height: side, tied }
            } else {
                Exit { normal: -Vector2::y(), height: base, tied }
            };
        }
        if base > 0.0 && rho <= r {
            return Exit { normal: -Vector2::y(), height: base, tied: false };
        }
        // along the side from the rim (0) to the apex (1)
        let along = ((z + h) * 2.0 * h - (rho - r) * r) / (slant * slant);
        if along <= 0.0 {
            Exit::outside(Vector2::new(rho - r, z + h))
        } else if along >= 1.0 {
            Exit::outside(Vector2::new(rho, z - h))
        } else {
            Exit { normal: outward, height: side, tied: false }
        }
    }
}

impl Exit {
    fn outside(offset: Vector2<f64>) -> Self {
        let height = offset.norm();
        Self { normal: offset / height, height, tied: false }
    }
}

/// Appends the one contact point. A centre on the axis leaves along the body's x axis if it leaves by the side.
pub(super) fn collide(
    (centre, radius): (&Vector3<f64>, f64),
    (profile, pose): (&Profile, &Pose),
    margin: f64,
    points: &mut Vec<PairPoint>,
) -> Overlap {
    let local = pose.rotation.tr_mul(&(centre - pose.position));
    let rho = local.x.hypot(local.y);
    let (x, y) = if rho > 0.0 { (local.x / rho, local.y / rho) } else { (1.0, 0.0) };
    let exit = profile.exit(rho, local.z);
    let gap = exit.height - radius;
    if gap <= margin {
        let normal = pose.rotation * Vector3::new(exit.normal.x * x, exit.normal.x * y, exit.normal.y);
        points.push(PairPoint { feature: 0, point: centre - normal * (exit.height - 0.5 * gap), normal, gap });
    }
    Overlap::degenerate_if(exit.tied)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::UnitQuaternion;

    fn one(profile: &Profile, centre: [f64; 3]) -> (PairPoint, Overlap) {
        let pose = Pose::new(Vector3::zeros(), UnitQuaternion::identity());
        let mut points = Vec::new();
        let overlap = collide((&Vector3::from(centre), 0.5), (profile, &pose), 10.0, &mut points);
        (points[0], overlap)
    }

    #[test]
    fn a_cylinder_has_caps_sides_and_rims() {
        let profile = Profile::cylinder(1.0, 2.0);
        assert_eq!(one(&profile, [0.3, 0.0, 2.75]).0.gap, 0.25);
        assert_eq!(one(&profile, [0.0, 1.75, 1.0]).0.gap, 0.25);
        // 3-4-5 beyond the rim, roundings only
        let (rim, _) = one(&profile, [0.0, -4.0, -6.0]);
        assert!((rim.gap - 4.5).abs() < 1e-15 && (rim.normal - Vector3::new(0.0, -0.6, -0.8)).norm() < 1e-15);
        let (inside, overlap) = one(&profile, [0.75, 0.0, 0.5]);
        assert_eq!((inside.gap, inside.normal, overlap), (-0.75, Vector3::x(), Overlap::Regular));
        let (centred, overlap) = one(&profile, [0.0; 3]);
        assert_eq!((centred.gap, centred.normal, overlap), (-1.5, Vector3::x(), Overlap::Degenerate));
    }

    #[test]
    fn a_cone_has_an_apex() {
        // Side normal (4, 3)/5: base radius 3, height 4.
        let profile = Profile::cone(3.0, 2.0);
        assert_eq!(one(&profile, [0.0, 0.0, 4.0]).0.gap, 1.5);
        assert_eq!(one(&profile, [1.0, 1.0, -4.0]).0.gap, 1.5);
        let (side, _) = one(&profile, [1.5 + 0.8 * 2.0, 0.0, 0.6 * 2.0]);
        assert!((side.gap - 1.5).abs() < 1e-15 && (side.normal - Vector3::new(0.8, 0.0, 0.6)).norm() < 1e-15);
        let (rim, _) = one(&profile, [6.0, 0.0, -6.0]);
        assert!((rim.gap - 4.5).abs() < 1e-15);
        let (inside, overlap) = one(&profile, [0.0, 0.0, -1.75]);
        assert_eq!((inside.gap, inside.normal, overlap), (-0.75, -Vector3::z(), Overlap::Regular));
        assert_eq!(one(&profile, [0.0; 3]).1, Overlap::Degenerate);
    }
}
