//! Jacobian and surface velocity of a contact point between planar bodies, or a planar body and an obstacle.
//!
//! The local velocity is that of A relative to B at the point, in the frame (n, t) with t = n turned by +90°. For a direction d, with the
//! arms r from the centres of mass to the point and w the velocity of an obstacle's surface,
//!
//! ```text
//! u·d = d·v_A + (r_A × d) ω_A − d·v_B − (r_B × d) ω_B − d·w,     r × d = r_x d_y − r_y d_x.
//! ```
//!
//! Rows of contacts hold over a step; b = −d·w is that of its end, w_k + h ẇ_k, so that a body which rests on a moving obstacle has its
//! velocity at the end of every step up to O(h²).

use crate::detection::{ContactPoint, WORLD};

/// Width of the rows of one planar body: x, y, angle.
pub const PLANAR_WIDTH: usize = 3;

/// The directions n and t.
fn directions(contact: &ContactPoint) -> [[f64; 2]; 2] {
    let n = &contact.normal;
    [[n.x, n.y], [-n.y, n.x]]
}

/// Writes the rows n (and t when `dim` is 2) of a contact, over the blocks (A\[, B\]); `q` holds three coordinates per planar body.
pub fn write_planar_jacobian(contact: &ContactPoint, q: &[f64], dim: usize, rows: &mut [f64]) {
    let width = rows.len() / dim;
    for (side, body) in [contact.body_a, contact.body_b].into_iter().enumerate() {
        if body == WORLD {
            continue;
        }
        let (centre, sign) = (PLANAR_WIDTH * body as usize, if side == 0 { 1.0 } else { -1.0 });
        let arm = [contact.point.x - q[centre], contact.point.y - q[centre + 1]];
        for (row, [x, y]) in rows.chunks_exact_mut(width).zip(directions(contact)) {
            let row = &mut row[side * PLANAR_WIDTH..(side + 1) * PLANAR_WIDTH];
            row.copy_from_slice(&[sign * x, sign * y, sign * (arm[0] * y - arm[1] * x)]);
        }
    }
}

/// Writes b = −d·w at the end of a step of `h` seconds and its change over the step, by rows.
pub fn write_planar_bias(contact: &ContactPoint, h: f64, bias: &mut [f64], change: &mut [f64]) {
    let Some(surface) = &contact.surface else {
        bias.fill(0.0);
        change.fill(0.0);
        return;
    };
    for ((b, change), [x, y]) in bias.iter_mut().zip(change).zip(directions(contact)) {
        *change = -h * (x * surface.acceleration.x + y * surface.acceleration.y);
        *b = *change - (x * surface.velocity.x + y * surface.velocity.y);
    }
}

/// Normal velocity u_N at the start of the step.
#[must_use]
pub fn planar_normal_velocity(contact: &ContactPoint, q: &[f64], v: &[f64]) -> f64 {
    let n = &contact.normal;
    let point_velocity = |body: u32| {
        let i = PLANAR_WIDTH * body as usize;
        let arm = [contact.point.x - q[i], contact.point.y - q[i + 1]];
        n.x * v[i] + n.y * v[i + 1] + (arm[0] * n.y - arm[1] * n.x) * v[i + 2]
    };
    let other = match &contact.surface {
        Some(surface) => n.x * surface.velocity.x + n.y * surface.velocity.y,
        None if contact.body_b == WORLD => 0.0,
        None => point_velocity(contact.body_b),
    };
    point_velocity(contact.body_a) - other
}
