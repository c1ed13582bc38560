//! What joints are built from: their kind, bodies and place, and the rows that follow.

use super::joint_row::JointRow;
use crate::systems::BodyFrame;
use nalgebra::Vector3;

/// What a joint leaves free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointKind {
    /// All rotations about a point.
    Spherical,
    /// Rotation about an axis.
    Revolute,
    /// Rotation about an axis of the first body and a perpendicular one of the second.
    Universal,
    /// Rotation about and translation along an axis.
    Cylindrical,
    /// Translation along an axis.
    Prismatic,
    /// Nothing.
    Fixed,
    /// All but the distance of two points.
    Distance,
    /// All rotations, and translation along an axis of the first body.
    PointOnLine,
}

impl JointKind {
    /// All kinds with their names.
    pub const NAMES: [(&'static str, JointKind); 8] = [
        ("spherical", JointKind::Spherical),
        ("revolute", JointKind::Revolute),
        ("universal", JointKind::Universal),
        ("cylindrical", JointKind::Cylindrical),
        ("prismatic", JointKind::Prismatic),
        ("fixed", JointKind::Fixed),
        ("distance", JointKind::Distance),
        ("point-on-line", JointKind::PointOnLine),
    ];

    /// The kind of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(other, _)| *other == name).map(|(_, kind)| *kind)
    }

    /// Number of axes it needs in space.
    #[must_use]
    pub fn n_axes(self) -> usize {
        match self {
            JointKind::Spherical | JointKind::Fixed | JointKind::Distance => 0,
            JointKind::Revolute | JointKind::Cylindrical | JointKind::Prismatic | JointKind::PointOnLine => 1,
            JointKind::Universal => 2,
        }
    }
}

/// Where a joint lies when it is built, in the world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointPlacement {
    /// Its point on the first and on the second body \[m\]; they differ for a distance only.
    pub points: [Vector3<f64>; 2],
    /// Its axis on the first and on the second body, of any length; they differ for a universal joint only.
    pub axes: [Vector3<f64>; 2],
}

impl JointPlacement {
    /// At one point, with the z axis.
    #[must_use]
    pub fn at(point: Vector3<f64>) -> Self {
        JointPlacement { points: [point; 2], axes: [Vector3::z(); 2] }
    }

    /// With this axis.
    #[must_use]
    pub fn along(self, axis: Vector3<f64>) -> Self {
        JointPlacement { axes: [axis; 2], ..self }
    }

    /// With this axis on the second body.
    #[must_use]
    pub fn crossing(self, axis: Vector3<f64>) -> Self {
        JointPlacement { axes: [self.axes[0], axis], ..self }
    }

    /// With this point on the second body.
    #[must_use]
    pub fn to(self, point: Vector3<f64>) -> Self {
        JointPlacement { points: [self.points[0], point], ..self }
    }
}

/// What a joint is built from.
#[derive(Clone, Debug, PartialEq)]
pub struct JointSource {
    /// What it leaves free.
    pub kind: JointKind,
    /// Names of the two bodies; `None` is the ground.
    pub bodies: [Option<String>; 2],
    /// Where it lies.
    pub placement: JointPlacement,
}

/// Two unit vectors that make a right-handed frame with a unit vector.
fn perpendiculars(axis: &Vector3<f64>) -> [Vector3<f64>; 2] {
    // the world direction furthest from the axis
    let helper = Vector3::from_fn(|i, _| f64::from(u8::from(i == axis.iamin())));
    let first = axis.cross(&helper).normalize();
    [first, axis.cross(&first)]
}

/// The rows of a joint, or what is wrong with its placement.
pub(super) fn build_rows(
    kind: JointKind,
    placement: &JointPlacement,
    poses: &[BodyFrame; 2],
    planar: bool,
) -> Result<Vec<JointRow>, String> {
    let JointPlacement { points, axes } = placement;
    if points.iter().chain(axes).any(|x| !x.iter().all(|x| x.is_finite())) {
        return Err("a point or an axis is not finite".into());
    }
    // below 1e-9 m two points, and below 1e-9 a right angle, are equal to what decimal input can say
    const NEAR: f64 = 1e-9;
    let scale = 1.0 + points[0].norm();
    let distance = (points[1] - points[0]).norm();
    if kind != JointKind::Distance && distance > NEAR * scale {
        return Err(format!("its points on the two bodies are {distance:.3e} m apart, but only a distance has two points"));
    }
    if kind == JointKind::Distance && distance <= NEAR * scale {
        return Err("its two points coincide; a distance of zero has no direction: use \"spherical\"".into());
    }
    let mut unit = [Vector3::z(); 2];
    if kind.n_axes() > 0 && !(planar && kind == JointKind::Revolute) {
        for (unit, axis) in unit.iter_mut().zip(axes) {
            *unit = axis.try_normalize(0.0).ok_or("its axis is zero; give a direction, such as [0, 0, 1]")?;
        }
        if planar && unit[0].z.abs() > NEAR {
            return Err("its axis does not lie in the plane of its bodies; give (x, y)".into());
        }
    }
    if kind == JointKind::Universal && unit[0].dot(&unit[1]).abs() > NEAR {
        return Err(format!("its axes must be perpendicular; their cosine is {:.3e}", unit[0].dot(&unit[1])));
    }
    let local = |body: usize, x: &Vector3<f64>| poses[body].orientation.inverse() * x;
    let perpendicular = |a: &Vector3<f64>, b: &Vector3<f64>| JointRow::Perpendicular(local(0, a), local(1, b));
    let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
    let mut rows = Vec::with_capacity(6);
    if planar {
        let across = Vector3::new(-unit[0].y, unit[0].x, 0.0);
        match kind {
            JointKind::Revolute => rows.extend([0, 1].map(JointRow::Coincident)),
            JointKind::Prismatic => rows.extend([JointRow::Normal(local(0, &across)), perpendicular(&across, &unit[0])]),
            JointKind::Fixed => rows.extend([JointRow::Coincident(0), JointRow::Coincident(1), perpendicular(&x, &y)]),
            JointKind::Distance => rows.push(JointRow::Distance(distance)),
            JointKind::PointOnLine => rows.push(JointRow::Normal(local(0, &across))),
            JointKind::Spherical | JointKind::Universal | JointKind::Cylindrical => {
                return Err("planar bodies have revolute, prismatic, fixed, distance and point-on-line joints".into());
            }
        }
        return Ok(rows);
    }
    let [first, second] = perpendiculars(&unit[0]);
    match kind {
        JointKind::Spherical | JointKind::Revolute | JointKind::Universal | JointKind::Fixed => {
            rows.extend([0, 1, 2].map(JointRow::Coincident));
        }
        JointKind::Cylindrical | JointKind::Prismatic | JointKind::PointOnLine => {
            rows.extend([&first, &second].map(|n| JointRow::Normal(local(0, n))));
        }
        JointKind::Distance => rows.push(JointRow::Distance(distance)),
    }
    match kind {
        JointKind::Revolute | JointKind::Cylindrical => rows.extend([&first, &second].map(|n| perpendicular(n, &unit[0]))),
        JointKind::Prismatic => {
            rows.extend([&first, &second].map(|n| perpendicular(n, &unit[0])));
            rows.push(perpendicular(&first, &second));
        }
        JointKind::Universal => rows.push(perpendicular(&unit[0], &unit[1])),
        JointKind::Fixed => rows.extend([(&x, &y), (&y, &z), (&z, &x)].map(|(a, b)| perpendicular(a, b))),
        JointKind::Spherical | JointKind::Distance | JointKind::PointOnLine => {}
    }
    Ok(rows)
}
