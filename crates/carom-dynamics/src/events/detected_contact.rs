//! A contact that a detector finds, as a relation: its gap, its rows and their change along the motion.
//!
//! ```text
//! g(t, q) = gap of the point with this key,     u = G v + b in the frame (n, t₁[, t₂]) at the point
//! (dG/dt) v + db/dt = d/dε u(t + ε, q ⊕ ε v; v)     by differences of fourth order
//! ```
//!
//! The frame turns smoothly with the normal: t₁ is the tangent chosen when the contact was found, turned along by the shortest rotation from the
//! normal n₀ there to n,
//!
//! ```text
//! t₁ = t₀ − (n·t₀)/(1 + n·n₀) (n₀ + n),
//! ```
//!
//! which fails only where n = −n₀; with friction by direction t₁ follows that direction. All contacts of a model share the points found at a place
//! ([`DetectedPoints`]): n contacts cost one search there, and four for the change along the motion.

use crate::detection::{ContactKey, ContactPoint, WORLD};
use crate::error::NonFinite;
use crate::events::DetectedPoints;
use crate::laws::{ContactLaw, Friction};
use crate::relations::contact::{BODY_WIDTH, BodyStates, turn_towards, turned_tangents, write_bias, write_jacobian};
use crate::relations::planar_contact::{PLANAR_WIDTH, write_planar_bias, write_planar_jacobian};
use crate::relations::{Relation, Rows};
use crate::systems::{Bodies, Instant, Scratch};
use nalgebra::Vector3;
use std::sync::Arc;

/// Gap of a point that is not found \[m\]: it is open, further than the detector looks.
pub const FAR: f64 = 1e3;

/// A contact between two bodies, or a body and the world, by the key of its point.
pub struct DetectedContact {
    points: Arc<DetectedPoints>,
    key: ContactKey,
    /// "a–b".
    name: String,
    n_rows: usize,
    velocities: Vec<usize>,
    bodies: Bodies,
    /// B comes first among the velocities.
    exchanged: bool,
    /// n₀ and t₀; `None` where t₁ follows the direction of the friction.
    start: Option<(Vector3<f64>, Vector3<f64>)>,
}

impl DetectedContact {
    /// For a point that was found, and its law; `None` for a point of bodies that the model does not have.
    pub(crate) fn new(points: Arc<DetectedPoints>, name: String, contact: &ContactPoint, law: &ContactLaw) -> Option<Self> {
        let (planar, width) = (contact.planar, if contact.planar { PLANAR_WIDTH } else { BODY_WIDTH });
        let by_direction = matches!(law.friction, Friction::Elliptic { .. });
        let bodies = points.bodies(planar)?.clone();
        let mut pair = [contact.body_a, contact.body_b];
        let exchanged = contact.body_b < contact.body_a;
        pair.sort_unstable();
        let of_body = |body: u32| bodies.v.start + width * body as usize..bodies.v.start + width * (body as usize + 1);
        Some(DetectedContact {
            key: contact.key,
            name,
            n_rows: if law.is_frictionless() { 1 } else { 1 + if planar { 1 } else { 2 } },
            velocities: pair.into_iter().filter(|&body| body != WORLD).flat_map(of_body).collect(),
            exchanged,
            start: (!by_direction).then(|| (contact.normal, turned_tangents(&contact.normal, contact.turn).0)),
            bodies,
            points,
        })
    }

    /// The key of its point.
    #[must_use]
    pub fn key(&self) -> ContactKey {
        self.key
    }

    fn lost(&self) -> NonFinite {
        NonFinite { what: format!("the gap of the contact \"{}\", whose point is no longer found,", self.name), value: f64::NAN }
    }

    /// The point with its first tangent turned along.
    fn framed(&self, contact: &ContactPoint) -> ContactPoint {
        let (Some((n0, t0)), n) = (self.start, contact.normal) else { return *contact };
        if contact.planar || self.n_rows == 1 {
            return *contact;
        }
        let direction = t0 - (n0 + n) * (n.dot(&t0) / (1.0 + n.dot(&n0)));
        ContactPoint { turn: turn_towards(&n, &direction), ..*contact }
    }

    /// Writes G over the velocities, A before B, and b.
    fn write_rows(&self, contact: &ContactPoint, q: &[f64], rows: &mut [f64], bias: &mut [f64]) {
        let (contact, q) = (self.framed(contact), &q[self.bodies.q.clone()]);
        let mut change = [0.0; 3];
        let change = &mut change[..bias.len()];
        if contact.planar {
            write_planar_jacobian(&contact, q, self.n_rows, rows);
            write_planar_bias(&contact, 0.0, bias, change);
        } else {
            write_jacobian(&contact, &BodyStates { q, v: &[], lead: 0.0 }, self.n_rows, rows);
            // rows of rolling and spinning are not among these
            write_bias(&contact, &[Vector3::zeros(); 2], 0.0, bias, change);
        }
        if self.exchanged {
            let n = self.velocities.len();
            rows.chunks_exact_mut(n).for_each(|row| row.rotate_left(n / 2));
        }
    }

    /// u at a point, with velocities of the whole model.
    fn velocity(&self, contact: &ContactPoint, q: &[f64], v: &[f64]) -> [f64; 3] {
        let (mut rows, mut u, n) = ([0.0; 6 * BODY_WIDTH], [0.0; 3], self.velocities.len());
        let rows = &mut rows[..self.n_rows * n];
        self.write_rows(contact, q, rows, &mut u[..self.n_rows]);
        for (u, row) in u.iter_mut().zip(rows.chunks_exact(n)) {
            *u += row.iter().zip(&self.velocities).map(|(g, &i)| g * v[i]).sum::<f64>();
        }
        u
    }
}

impl Relation for DetectedContact {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn velocities(&self) -> &[usize] {
        &self.velocities
    }

    fn is_constant(&self) -> bool {
        false
    }

    /// [`FAR`] where the point is not found.
    fn position(&self, t: f64, q: &[f64], g: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        g.fill(0.0);
        g[0] = self.points.at(t, q, self.key)?.map_or(FAR, |contact| contact.gap);
        Ok(())
    }

    fn jacobian(&self, t: f64, q: &[f64], rows: Rows<'_>, _: &mut Scratch) -> Result<(), NonFinite> {
        let contact = self.points.at(t, q, self.key)?.ok_or_else(|| self.lost())?;
        self.write_rows(&contact, q, rows.jacobian, rows.bias);
        Ok(())
    }

    fn acceleration_bias(&self, t: f64, q: &[f64], v: &[f64], bias: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        bias.fill(0.0);
        let velocity = |contact: &ContactPoint, q: &[f64]| self.velocity(contact, q, v);
        let slopes = self.points.slope(Instant { t, q, v }, self.key, &velocity)?.ok_or_else(|| self.lost())?;
        bias.iter_mut().zip(slopes).for_each(|(bias, slope)| *bias = slope);
        Ok(())
    }
}
