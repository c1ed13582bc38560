//! Contacts inside joints: pins with play in their bores, balls in sockets, sliders in guides, ropes.
//!
//! The point of body 2 lies at y in the frame of body 1, seen from body 1's point. With the clearance c and the direction n(y) of contact
//!
//! ```text
//! contact               gap              n                  tangents                      when
//! journal (pin, bore)   c − |y⊥|         y⊥/|y⊥|            a × n (around), a (along)     y⊥ = y − a (a·y), a the bore's axis
//! ball (socket, rope)   c − |y|          y/|y|              two, perpendicular to n       a rope is a socket as wide as it is long
//! wall                  c − n·y          constant           constant                      corners of a slider in its guide
//! ```
//!
//! All forces act at the one point P = x₂ + r n of the pin's (ball's) surface, with its radius r, on both bodies: friction has the lever of the
//! radius, and action and reaction have no moment together. In the frame of body 1 every row is a force along a direction w(y), so
//!
//! ```text
//! u = w·(V₂(P) − V₁(P)),      δw_world = δφ₁ × w + R₁ (∂w/∂y) R₁ᵀ (δx₂ − δo₁ − δφ₁ × (x₂ − o₁))
//! ```
//!
//! gives G, (dG/dt) v and the curvature exactly. At y⊥ = 0 the contact is open by c and has no direction: the first of two fixed ones is taken.
//!
//! Source: Flores, Ambrósio, Claro and Lankarani, Kinematics and Dynamics of Multibody Systems with Imperfect Joints, 2008, ch. 3 (journal
//! bearing: eccentricity, contact point, tangential velocity); derivatives are our own, tested by differences.

use super::joint_frames::JointFrames;
use super::joint_row::{Arrangement, Curvature, Motion};
use super::joint_rows::{perpendiculars, unit_axis};
use super::joint_source::JointSource;
use super::{Relation, Rows};
use crate::error::{ModelError, NonFinite};
use crate::systems::{Scratch, SystemSet, Wrench};
use nalgebra::{Matrix3, Vector3};
use std::sync::Arc;

/// What touches what; vectors in the frame of body 1.
#[derive(Clone, Debug)]
enum Kind {
    /// (e₁, e₂, a) right-handed, a the axis of the bore.
    Journal([Vector3<f64>; 3]),
    /// A right-handed frame.
    Ball([Vector3<f64>; 3]),
    /// Directions of the wall's material and of its length.
    Wall([Vector3<f64>; 2]),
}

/// Below this fraction of the clearance an eccentricity has no direction that rounding has not made up.
const CENTRED: f64 = 1e-9;

/// A contact inside a joint.
#[derive(Clone)]
pub struct JointContact {
    frames: JointFrames,
    kind: Kind,
    /// Clearance; for a wall its distance from the point of body 1 \[m\].
    clearance: f64,
    /// Of the pin or ball \[m\].
    radius: f64,
    tangents: usize,
}

/// Directions of the rows and how they change with y.
struct Directions {
    gap: f64,
    normal: Vector3<f64>,
    normal_rate: Matrix3<f64>,
    rows: [Vector3<f64>; 3],
    rates: [Matrix3<f64>; 3],
}

impl JointContact {
    /// A pin of the second body, of this radius, in a bore of the first that is wider by `clearance` (a difference of radii). The pin's centre
    /// is the joint's point. `tangents`: 0 without friction; 1 around the pin (always enough in the plane, and where the axes are kept
    /// parallel); 2 around and along it.
    ///
    /// # Errors
    /// [`ModelError::Joint`]: bodies that do not exist, an axis that is zero, lengths that are not positive.
    pub fn journal(
        name: &str,
        source: &JointSource,
        (clearance, radius): (f64, f64),
        tangents: usize,
        systems: &Arc<SystemSet>,
        q: &[f64],
    ) -> Result<Self, ModelError> {
        let (frames, built) = JointFrames::new(name, &source.bodies, &source.placement.points, systems, q)?;
        let wrong = |reason: String| ModelError::Joint { joint: name.to_owned(), reason };
        let axis = if built.planar { Vector3::z() } else { unit_axis(&source.placement.axes[0]).map_err(wrong)? };
        let [first, second] = if built.planar { [Vector3::x(), Vector3::y()] } else { perpendiculars(&axis) };
        let kind = Kind::Journal([first, second, axis].map(|x| built.local(0, &x)));
        JointContact { frames, kind, clearance, radius, tangents: if built.planar { tangents.min(1) } else { tangents } }.checked(name, q)
    }

    /// A ball of the second body, of this radius, in a socket of the first that is wider by `clearance` (a difference of radii).
    ///
    /// # Errors
    /// As [`JointContact::journal`].
    pub fn ball(
        name: &str,
        source: &JointSource,
        (clearance, radius): (f64, f64),
        friction: bool,
        systems: &Arc<SystemSet>,
        q: &[f64],
    ) -> Result<Self, ModelError> {
        let (frames, built) = JointFrames::new(name, &source.bodies, &source.placement.points, systems, q)?;
        let kind = Kind::Ball([Vector3::x(), Vector3::y(), Vector3::z()].map(|x| built.local(0, &x)));
        JointContact { frames, kind, clearance, radius, tangents: if friction { 2 } else { 0 } }.checked(name, q)
    }

    /// A rope between the joint's two points: their distance is at most `length`.
    ///
    /// # Errors
    /// As [`JointContact::journal`].
    pub fn rope(name: &str, source: &JointSource, length: f64, systems: &Arc<SystemSet>, q: &[f64]) -> Result<Self, ModelError> {
        JointContact::ball(name, source, (length, 0.0), false, systems, q)
    }

    /// The four corners of a slider of planar bodies in a guide of the first body: of `length` along and `height` across the joint's axis, the
    /// guide wider by `clearance` on either side. The slider's middle is the joint's point on the second body, which may stand off the
    /// guide's middle line. In the order of `[upper left, upper right, lower left, lower right]`, as seen along the axis.
    ///
    /// # Errors
    /// As [`JointContact::journal`]; bodies that are not planar.
    pub fn slider(
        name: &str,
        source: &JointSource,
        [length, height]: [f64; 2],
        clearance: f64,
        friction: bool,
        systems: &Arc<SystemSet>,
        q: &[f64],
    ) -> Result<[Self; 4], ModelError> {
        let wrong = |reason: String| ModelError::Joint { joint: name.to_owned(), reason };
        let axis = unit_axis(&source.placement.axes[0]).map_err(wrong)?;
        let across = Vector3::new(-axis.y, axis.x, 0.0);
        if !(length > 0.0 && height > 0.0 && length.is_finite() && height.is_finite()) {
            return Err(wrong(format!("its slider is {length} m by {height} m; both must be positive")));
        }
        let [centre, middle] = source.placement.points;
        let corner = |along: f64, up: f64| {
            let point = middle + axis * (along * length / 2.0) + across * (up * height / 2.0);
            let (frames, built) = JointFrames::new(name, &source.bodies, &[centre, point], systems, q)?;
            if !built.planar {
                return Err(wrong("only planar bodies have a slider with clearance".into()));
            }
            let kind = Kind::Wall([built.local(0, &(across * up)), built.local(0, &axis)]);
            let tangents = usize::from(friction);
            JointContact { frames, kind, clearance: height / 2.0 + clearance, radius: 0.0, tangents }.checked(name, q)
        };
        Ok([corner(-1.0, 1.0)?, corner(1.0, 1.0)?, corner(-1.0, -1.0)?, corner(1.0, -1.0)?])
    }

    /// Refuses lengths that are none, and bodies that overlap at the start by more than decimal input can say.
    fn checked(self, name: &str, q: &[f64]) -> Result<Self, ModelError> {
        let wrong = |reason: String| Err(ModelError::Joint { joint: name.to_owned(), reason });
        let (c, r) = (self.clearance, self.radius);
        if !(c > 0.0 && c.is_finite() && r >= 0.0 && r.is_finite()) {
            return wrong(format!("its clearance or length is {c} m and its radius {r} m; they must be positive"));
        }
        let gap = self.at(q).1.gap;
        if gap.is_nan() || gap < -1e-9 * (1.0 + c) {
            return wrong(format!("its points are further apart than its clearance or length of {c} m allows, by {:.3e} m", -gap));
        }
        Ok(self)
    }

    /// Directions at y, in the frame of body 1.
    fn directions(&self, y: &Vector3<f64>) -> Directions {
        let zero = Matrix3::zeros();
        let (eccentric, across, fallback) = match &self.kind {
            Kind::Wall([normal, tangent]) => {
                let gap = self.clearance - normal.dot(y);
                return Directions {
                    gap,
                    normal: *normal,
                    normal_rate: zero,
                    rows: [-normal, *tangent, Vector3::zeros()],
                    rates: [zero; 3],
                };
            }
            Kind::Journal([first, _, a]) => (y - a * a.dot(y), Matrix3::identity() - a * a.transpose(), first),
            Kind::Ball([first, ..]) => (*y, Matrix3::identity(), first),
        };
        let size = eccentric.norm();
        let (normal, normal_rate) = if size > CENTRED * self.clearance {
            let n = eccentric / size;
            (n, (across - n * n.transpose()) / size)
        } else {
            (*fallback, zero)
        };
        let (tangents, tangent_rates) = match &self.kind {
            Kind::Journal([.., a]) => ([a.cross(&normal), *a], [a.cross_matrix() * normal_rate, zero]),
            Kind::Ball(frame) => ball_tangents(frame, &normal, &normal_rate),
            Kind::Wall(_) => ([Vector3::zeros(); 2], [zero; 2]),
        };
        Directions {
            gap: self.clearance - size,
            normal,
            normal_rate,
            rows: [-normal, tangents[0], tangents[1]],
            rates: [-normal_rate, tangent_rates[0], tangent_rates[1]],
        }
    }

    fn at(&self, q: &[f64]) -> (Arrangement, Directions) {
        let at = self.frames.arrangement(q);
        let directions = self.directions(&(at.bodies[0].rotation.transpose() * at.separation));
        (at, directions)
    }

    /// The wrenches of a unit multiplier of a row.
    fn wrenches(&self, at: &Arrangement, directions: &Directions, row: usize) -> [Wrench; 2] {
        let rotation = &at.bodies[0].rotation;
        let (force, lever) = (rotation * directions.rows[row], rotation * directions.normal * self.radius);
        let arms = [at.separation + at.bodies[0].arm + lever, at.bodies[1].arm + lever];
        [Wrench { force: -force, moment: force.cross(&arms[0]) }, Wrench { force, moment: arms[1].cross(&force) }]
    }

    /// Adds the derivatives of λ times the wrenches of a row.
    fn add_blocks(&self, at: &Arrangement, directions: &Directions, row: usize, lambda: f64, blocks: &mut Curvature) {
        let rotation = &at.bodies[0].rotation;
        let world = |x: &Matrix3<f64>| rotation * x * rotation.transpose();
        let (force, normal) = (rotation * directions.rows[row], rotation * directions.normal);
        let (force_rate, normal_rate) = (world(&directions.rates[row]), world(&directions.normal_rate));
        let reach = at.separation + at.bodies[0].arm;
        let (r2, identity, zero) = (at.bodies[1].arm.cross_matrix(), Matrix3::identity(), Matrix3::zeros());
        let arms = [reach + normal * self.radius, at.bodies[1].arm + normal * self.radius].map(|arm| arm.cross_matrix());
        // how the relative displacement seen by body 1, x₂ − o₁, and r₂ change with (o₁, φ₁, o₂, φ₂)
        let seen = [-identity, reach.cross_matrix(), identity, -r2];
        let (reaching, arm_of_2) = ([-identity, zero, identity, -r2], [zero, zero, zero, -r2]);
        let cross = force.cross_matrix();
        for k in 0..4 {
            let (mut turn_force, mut turn_normal) = (force_rate * seen[k], normal_rate * seen[k]);
            if k == 1 {
                turn_force -= cross;
                turn_normal -= normal.cross_matrix();
            }
            blocks[0][k] -= lambda * turn_force;
            blocks[1][k] += lambda * (cross * (reaching[k] + self.radius * turn_normal) - arms[0] * turn_force);
            blocks[2][k] += lambda * turn_force;
            blocks[3][k] += lambda * (arms[1] * turn_force - cross * (arm_of_2[k] + self.radius * turn_normal));
        }
    }
}

/// Two tangents t_k = e_k − (e_k·n)/(1 + p·n) (n + p) of a sphere and their derivatives, smooth but for one direction of n.
fn ball_tangents(frame: &[Vector3<f64>; 3], n: &Vector3<f64>, n_rate: &Matrix3<f64>) -> ([Vector3<f64>; 2], [Matrix3<f64>; 2]) {
    let [first, second, third] = frame;
    // opposite to the pole p the tangents turn infinitely fast: half a turn about the first vector puts the pole elsewhere
    let flipped = third.dot(n) < -0.999;
    let (second, pole) = if flipped { (-second, -third) } else { (*second, *third) };
    let (size, sum) = (1.0 + pole.dot(n), n + pole);
    let tangent = |e: &Vector3<f64>| e - sum * (e.dot(n) / size);
    let rate = |e: &Vector3<f64>| {
        let slope = e / size - pole * (e.dot(n) / (size * size));
        (-sum * slope.transpose() - Matrix3::identity() * (e.dot(n) / size)) * n_rate
    };
    ([tangent(first), tangent(&second)], [rate(first), rate(&second)])
}

/// The second derivative of a row when v̇ = 0, from its wrenches W and the blocks of their derivatives: Ẇ·twist + W·(accelerations).
fn acceleration(wrenches: &[Wrench; 2], blocks: &Curvature, at: &Arrangement, motions: &[Motion; 2]) -> f64 {
    let (mut twists, mut sum) = ([Vector3::zeros(); 4], 0.0);
    for (i, (motion, wrench)) in motions.iter().zip(wrenches).enumerate() {
        // from the joint's point back to the origin of the frame
        let arm = &at.bodies[i].arm;
        let turning = motion.angular.cross(arm);
        let acceleration = motion.acceleration - motion.angular_acceleration.cross(arm) - motion.angular.cross(&turning);
        (twists[2 * i], twists[2 * i + 1]) = (motion.velocity - turning, motion.angular);
        sum += wrench.force.dot(&acceleration) + wrench.moment.dot(&motion.angular_acceleration);
    }
    for (row, left) in blocks.iter().zip(&twists) {
        sum += row.iter().zip(&twists).map(|(block, right)| left.dot(&(block * right))).sum::<f64>();
    }
    sum
}

impl Relation for JointContact {
    fn n_rows(&self) -> usize {
        1 + self.tangents
    }

    fn velocities(&self) -> &[usize] {
        self.frames.velocities()
    }

    fn is_constant(&self) -> bool {
        false
    }

    fn position(&self, _: f64, q: &[f64], g: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        g.fill(0.0);
        g[0] = self.at(q).1.gap;
        Ok(())
    }

    fn jacobian(&self, _: f64, q: &[f64], rows: Rows<'_>, _: &mut Scratch) -> Result<(), NonFinite> {
        let ((at, directions), n) = (self.at(q), self.n_rows());
        let (mut on_first, mut on_second) = ([Wrench::default(); 3], [Wrench::default(); 3]);
        for (k, (first, second)) in on_first.iter_mut().zip(&mut on_second).enumerate().take(n) {
            [*first, *second] = self.wrenches(&at, &directions, k);
        }
        rows.jacobian.fill(0.0);
        rows.bias.fill(0.0);
        self.frames.add_rows(q, [&on_first[..n], &on_second[..n]], rows.jacobian);
        Ok(())
    }

    fn acceleration_bias(&self, _: f64, q: &[f64], v: &[f64], bias: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        let (at, directions) = self.at(q);
        let motions = self.frames.motions(q, v, &at);
        for (k, bias) in bias.iter_mut().enumerate() {
            let mut blocks: Curvature = [[Matrix3::zeros(); 4]; 4];
            self.add_blocks(&at, &directions, k, 1.0, &mut blocks);
            *bias = acceleration(&self.wrenches(&at, &directions, k), &blocks, &at, &motions);
        }
        Ok(())
    }

    fn add_curvature(
        &self,
        _: f64,
        q: &[f64],
        lambda: &[f64],
        factor: f64,
        matrix: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        let (at, directions) = self.at(q);
        let (mut blocks, mut total): (Curvature, _) = ([[Matrix3::zeros(); 4]; 4], [Wrench::default(); 2]);
        for (k, &lambda) in lambda.iter().enumerate() {
            self.add_blocks(&at, &directions, k, lambda, &mut blocks);
            for (total, unit) in total.iter_mut().zip(self.wrenches(&at, &directions, k)) {
                total.force += lambda * unit.force;
                total.moment += lambda * unit.moment;
            }
        }
        self.frames.add_curvature(q, (&blocks, &total), factor, matrix, scratch);
        Ok(())
    }
}
