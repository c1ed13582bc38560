//! The rows that the kind and place of a joint give.

use super::joint_frames::Built;
use super::joint_row::{JointRow, Screw};
use super::joint_source::{JointKind, JointPlacement};
use super::joint_turn::Turn;
use nalgebra::Vector3;

/// Two unit vectors that make a right-handed frame with a unit vector.
pub(super) fn perpendiculars(axis: &Vector3<f64>) -> [Vector3<f64>; 2] {
    // the world direction furthest from the axis
    let helper = Vector3::from_fn(|i, _| f64::from(u8::from(i == axis.iamin())));
    let first = axis.cross(&helper).normalize();
    [first, axis.cross(&first)]
}

/// The angle about the axis of a joint, zero where it is built.
pub(super) fn turn(placement: &JointPlacement, built: &Built) -> Result<Turn, String> {
    let axis = if built.planar { Vector3::z() } else { unit_axis(&placement.axes[0])? };
    let [first, second] = if built.planar { [Vector3::x(), Vector3::y()] } else { perpendiculars(&axis) };
    Ok(Turn::new([built.local(0, &first), built.local(0, &second)], built.local(1, &first)))
}

/// The angles of a universal joint, zero where it is built: of the cross relative to body 1 about the axis of body 1, of body 2 relative to the cross about its
/// own axis. The axes are perpendicular, so that each axis shows the angle about the other.
pub(super) fn universal_turns(placement: &JointPlacement, built: &Built) -> Result<[Turn; 2], String> {
    let [first, second] = [unit_axis(&placement.axes[0])?, unit_axis(&placement.axes[1])?];
    let across = first.cross(&second);
    let about_first = Turn::new([built.local(0, &second), built.local(0, &across)], built.local(1, &second));
    let about_second = Turn::about_second(built.local(0, &first), [built.local(1, &first), built.local(1, &-across)]);
    Ok([about_first, about_second])
}

/// The rows of the displacements across the axis of a joint, in the axes of body 1.
pub(super) fn slip_rows(placement: &JointPlacement, built: &Built) -> Result<Vec<JointRow>, String> {
    Ok(perpendiculars(&unit_axis(&placement.axes[0])?).map(|n| JointRow::Normal(built.local(0, &n))).to_vec())
}

/// An axis of unit length.
pub(super) fn unit_axis(axis: &Vector3<f64>) -> Result<Vector3<f64>, String> {
    axis.try_normalize(0.0)
        .filter(|axis| axis.iter().all(|x| x.is_finite()))
        .ok_or_else(|| "its axis is zero; give a direction, such as [0, 0, 1]".into())
}

/// The rows of a joint, or what is wrong with its placement.
pub(super) fn build_rows(kind: JointKind, placement: &JointPlacement, built: &Built) -> Result<Vec<JointRow>, String> {
    let (JointPlacement { points, axes, .. }, planar) = (placement, built.planar);
    if points.iter().chain(axes).any(|x| !x.iter().all(|x| x.is_finite())) || !(placement.turn + placement.slide).is_finite() {
        return Err("a point, an axis or a start is not finite".into());
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
            *unit = unit_axis(axis)?;
        }
        if planar && unit[0].z.abs() > NEAR {
            return Err("its axis does not lie in the plane of its bodies; give (x, y)".into());
        }
    }
    if kind == JointKind::Universal && unit[0].dot(&unit[1]).abs() > NEAR {
        return Err(format!("its axes must be perpendicular; their cosine is {:.3e}", unit[0].dot(&unit[1])));
    }
    let local = |body: usize, x: &Vector3<f64>| built.local(body, x);
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
            JointKind::Spherical
            | JointKind::Universal
            | JointKind::Cylindrical
            | JointKind::Planar
            | JointKind::Screw
            | JointKind::PointInPlane => {
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
        JointKind::Cylindrical | JointKind::Prismatic | JointKind::PointOnLine | JointKind::Screw => {
            rows.extend([&first, &second].map(|n| JointRow::Normal(local(0, n))));
        }
        JointKind::Planar | JointKind::PointInPlane => rows.push(JointRow::Normal(local(0, &unit[0]))),
        JointKind::Distance => rows.push(JointRow::Distance(distance)),
    }
    match kind {
        JointKind::Revolute | JointKind::Cylindrical | JointKind::Planar | JointKind::Screw => {
            rows.extend([&first, &second].map(|n| perpendicular(n, &unit[0])))
        }
        JointKind::Prismatic => {
            rows.extend([&first, &second].map(|n| perpendicular(n, &unit[0])));
            rows.push(perpendicular(&first, &second));
        }
        JointKind::Universal => rows.push(perpendicular(&unit[0], &unit[1])),
        JointKind::Fixed => rows.extend([(&x, &y), (&y, &z), (&z, &x)].map(|(a, b)| perpendicular(a, b))),
        JointKind::Spherical | JointKind::Distance | JointKind::PointOnLine | JointKind::PointInPlane => {}
    }
    if kind == JointKind::Screw {
        let lead = placement.pitch;
        if !(lead.is_finite() && lead != 0.0) {
            return Err(format!("its pitch is {lead} m; give the advance per turn, or use \"revolute\""));
        }
        let (slide, turn) = (JointRow::Normal(local(0, &unit[0])), turn(placement, built)?);
        // where it is built its points are together and its angle is zero: the thread is in mesh
        rows.push(JointRow::Screw(Box::new(Screw { slide, turn, lead })));
    }
    Ok(rows)
}
