//! Jacobian of a contact point between two rigid bodies.
//!
//! The local velocity is that of A relative to B at the point, in the right-handed frame (n, t₁, t₂). For a direction d,
//! with angular velocities in the body frames,
//!
//! ```text
//! u·d = d·v_A + (R_Aᵀ (r_A × d))·ω_A − d·v_B − (R_Bᵀ (r_B × d))·ω_B,
//! ```
//!
//! and the relative angular velocity about it, for rolling (about t₁, t₂) and spinning (about n),
//!
//! ```text
//! ω·d = (R_Aᵀ d)·ω_A − (R_Bᵀ d)·ω_B.
//! ```

use crate::detection::{ContactPoint, WORLD};
use crate::systems::rigid_bodies::{angular, centre, orientation};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};

/// Width of the rows of one body: linear and angular block.
pub const BODY_WIDTH: usize = 6;

/// Two unit tangents that make (n, t₁, t₂) right-handed and orthonormal, deterministic in n.
///
/// t₁ is the normalised projection of the coordinate axis least aligned with n, so the frame turns smoothly with n
/// except where that axis changes.
#[must_use]
pub fn tangents(n: &Vector3<f64>) -> (Vector3<f64>, Vector3<f64>) {
    let axis = match n.iamin() {
        0 => Vector3::x(),
        1 => Vector3::y(),
        _ => Vector3::z(),
    };
    let t1 = (axis - n * n.dot(&axis)).normalize();
    (t1, n.cross(&t1))
}

/// The same turned by an angle about n.
#[must_use]
pub fn turned_tangents(n: &Vector3<f64>, turn: f64) -> (Vector3<f64>, Vector3<f64>) {
    let (t1, t2) = tangents(n);
    if turn == 0.0 {
        return (t1, t2);
    }
    let (sin, cos) = turn.sin_cos();
    (t1 * cos + t2 * sin, t2 * cos - t1 * sin)
}

/// Angle about n from t₁ of [`tangents`] to the projection of `direction` on the contact plane; zero where that is (nearly) zero.
#[must_use]
pub fn turn_towards(n: &Vector3<f64>, direction: &Vector3<f64>) -> f64 {
    let (t1, t2) = tangents(n);
    let (x, y) = (direction.dot(&t1), direction.dot(&t2));
    if x * x + y * y <= 1e-12 * direction.norm_squared() { 0.0 } else { y.atan2(x) }
}

/// Coordinates and velocities of the rigid bodies, and how far ahead their orientation is taken.
#[derive(Clone, Copy, Debug)]
pub struct BodyStates<'a> {
    /// Seven coordinates per body.
    pub q: &'a [f64],
    /// Six velocities per body; not read where `lead` is zero.
    pub v: &'a [f64],
    /// Orientations are those after this time \[s\] at the present angular velocity. Half a step makes the torque of a
    /// contact second-order accurate in the turning body frame.
    pub lead: f64,
}

/// Writes the rows of a contact over the blocks (A linear, A angular[, B linear, B angular]): n, with `dim` ≥ 3 also t₁, t₂; then rotations about
/// n (`dim` 4), t₁ and t₂ (5), or t₁, t₂ and n (6).
pub fn write_jacobian(contact: &ContactPoint, bodies: &BodyStates<'_>, dim: usize, rows: &mut [f64]) {
    let n = contact.normal;
    // a normal alone needs no tangents
    let (t1, t2) = if dim == 1 { (n, n) } else { turned_tangents(&n, contact.turn) };
    let directions = [n, t1, t2];
    let width = rows.len() / dim;
    for (side, body) in [contact.body_a, contact.body_b].into_iter().enumerate() {
        if body == WORLD {
            continue;
        }
        let body = body as usize;
        let sign = if side == 0 { 1.0 } else { -1.0 };
        let arm = contact.point - centre(bodies.q, body);
        let turn = if bodies.lead == 0.0 { Vector3::zeros() } else { angular(bodies.v, body) * bodies.lead };
        let mut orientation = orientation(bodies.q, body);
        if turn != Vector3::zeros() {
            orientation *= UnitQuaternion::from_scaled_axis(turn);
        }
        let to_body: Matrix3<f64> = orientation.to_rotation_matrix().matrix().transpose();
        for (row, d) in rows.chunks_exact_mut(width).zip(&directions) {
            let row = &mut row[side * BODY_WIDTH..(side + 1) * BODY_WIDTH];
            row[..3].copy_from_slice((d * sign).as_slice());
            row[3..].copy_from_slice((to_body * (arm.cross(d) * sign)).as_slice());
        }
        if dim > 3 {
            let axes = if dim == 4 { [n, t1, t2] } else { [t1, t2, n] };
            for (row, axis) in rows.chunks_exact_mut(width).skip(3).zip(&axes) {
                row[side * BODY_WIDTH + 3..(side + 1) * BODY_WIDTH].copy_from_slice((to_body * (axis * sign)).as_slice());
            }
        }
    }
}

/// Writes b = −d·w of the rows n, t₁, t₂ at the end of a step of `h` seconds and its change over the step, with w the velocity of B's surface:
/// w_k + h ẇ_k, so that a body which rests on a moving obstacle has its velocity at the end of every step up to O(h²).
pub fn write_bias(contact: &ContactPoint, h: f64, bias: &mut [f64], change: &mut [f64]) {
    bias.fill(0.0);
    change.fill(0.0);
    let Some(surface) = &contact.surface else { return };
    let n = contact.normal;
    let (t1, t2) = if bias.len() == 1 { (n, n) } else { turned_tangents(&n, contact.turn) };
    for ((b, change), d) in bias.iter_mut().zip(change).zip([n, t1, t2]) {
        *change = -h * d.dot(&surface.acceleration);
        *b = *change - d.dot(&surface.velocity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detection::ContactKey;

    #[test]
    fn frames_are_right_handed_and_orthonormal() {
        for n in
            [Vector3::x(), -Vector3::y(), Vector3::z(), Vector3::new(0.3, -0.5, 0.2).normalize(), Vector3::new(1.0, 1.0, 1.0).normalize()]
        {
            let (t1, t2) = tangents(&n);
            let frame = Matrix3::from_columns(&[n, t1, t2]);
            assert!((frame.transpose() * frame - Matrix3::identity()).amax() < 1e-15);
            assert!((frame.determinant() - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn the_first_tangent_follows_a_direction() {
        let n = Vector3::new(0.0, 0.6, 0.8);
        let (t1, t2) = turned_tangents(&n, turn_towards(&n, &Vector3::new(3.0, 0.8, -0.6)));
        assert!((t1 - Vector3::new(3.0, 0.8, -0.6).normalize()).amax() < 1e-15 && (t2 - n.cross(&t1)).amax() < 1e-15);
        assert_eq!(turn_towards(&n, &Vector3::zeros()), 0.0);
        assert_eq!(turn_towards(&n, &(2.0 * n)), 0.0);
        assert_eq!(turned_tangents(&n, 0.0), tangents(&n));
    }

    /// The rows give the relative velocity of the two material points, computed here directly.
    #[test]
    fn rows_give_the_relative_velocity() {
        let (ra, rb) = (UnitQuaternion::from_euler_angles(0.1, 0.2, 0.3), UnitQuaternion::from_euler_angles(-1.0, 0.5, 2.0));
        let (xa, xb) = (Vector3::new(0.0, 0.1, 1.0), Vector3::new(0.2, -0.3, -0.4));
        let mut q = Vec::new();
        for (x, r) in [(xa, ra), (xb, rb)] {
            q.extend_from_slice(&[x.x, x.y, x.z, r.w, r.i, r.j, r.k]);
        }
        let key = ContactKey { collider_a: 0, collider_b: 1, feature: 0 };
        let (point, normal) = (Vector3::new(0.1, 0.0, 0.2), Vector3::new(0.1, 0.3, 0.9).normalize());
        let contact = ContactPoint { body_a: 0, body_b: 1, key, point, normal, gap: 0.0, turn: 0.0, surface: None, law: 0, planar: false };
        let mut rows = [0.0; 72];
        let v = [0.5, -0.2, 0.1, 1.0, 2.0, -1.0, 0.3, 0.2, 0.9, -0.4, 0.6, 0.8];
        // the lead turns each body about its own ω, which leaves R ω as it is
        write_jacobian(&contact, &BodyStates { q: &q, v: &v, lead: 0.01 }, 6, &mut rows);
        let at = |x: Vector3<f64>, r: UnitQuaternion<f64>, v: &[f64]| {
            Vector3::from_column_slice(&v[..3]) + (r * Vector3::from_column_slice(&v[3..6])).cross(&(point - x))
        };
        let relative = at(xa, ra, &v[..6]) - at(xb, rb, &v[6..]);
        let (t1, t2) = tangents(&normal);
        for (row, d) in rows.chunks_exact(12).zip([normal, t1, t2]) {
            let u: f64 = row.iter().zip(&v).map(|(a, b)| a * b).sum();
            assert!((u - relative.dot(&d)).abs() < 1e-14);
        }
        let turn = ra * Vector3::from_column_slice(&v[3..6]) - rb * Vector3::from_column_slice(&v[9..12]);
        for (row, d) in rows.chunks_exact(12).skip(3).zip([t1, t2, normal]) {
            let omega: f64 = row.iter().zip(&v).map(|(a, b)| a * b).sum();
            assert!((omega - turn.dot(&d)).abs() < 1e-14);
        }
        let mut spin = [0.0; 48];
        write_jacobian(&contact, &BodyStates { q: &q, v: &v, lead: 0.01 }, 4, &mut spin);
        assert_eq!(spin[36..], rows[60..]);
    }
}
