//! The elementary equations that joints are made of, each one row of g.
//!
//! Body 1 carries the point x₁ = o₁ + r₁ and vectors a, body 2 the point x₂ = o₂ + r₂ and vectors b; d = x₂ − x₁. All in the world frame.
//!
//! ```text
//! row              g           force on 2   moment on 2   force on 1   moment on 1
//! coincident       eᵢ·d        eᵢ           r₂ × eᵢ       −eᵢ          −r₁ × eᵢ
//! normal           a·d         a            r₂ × a        −a           a × (x₂ − o₁)
//! perpendicular    a·b         0            −a × b        0            a × b
//! distance         |d| − l     n = d/|d|    r₂ × n        −n           −r₁ × n
//! turn             θ           0            −∂θ           0            ∂θ          (joint_turn.rs)
//! screw            a·d − lθ/2π of the rows "normal" and "turn"
//! ```
//!
//! The wrenches are those of a unit multiplier; G follows from them and the Jacobians of the frames. The same elements as "dot-1" and
//! "dot-2" of E. Haug, Computer Aided Kinematics and Dynamics of Mechanical Systems, 1989, ch. 9.

use super::joint_turn::{Turn, nearest_branch};
use crate::error::NonFinite;
use crate::systems::Wrench;
use nalgebra::{Matrix3, Vector3};
use std::f64::consts::TAU;

/// One row of a joint; vectors are given in the frame of the body that carries them.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum JointRow {
    /// The points agree in this world direction.
    Coincident(usize),
    /// The line between the points is perpendicular to a vector of body 1.
    Normal(Vector3<f64>),
    /// A vector of body 1 is perpendicular to one of body 2.
    Perpendicular(Vector3<f64>, Vector3<f64>),
    /// The points are this far apart \[m\].
    Distance(f64),
    /// The angle about an axis of body 1 \[rad\].
    Turn(Box<Turn>),
    /// The point of body 2 has moved along the axis of body 1 by this much per turn \[m\]; modulo a turn, so that turns need not be counted.
    Screw(Box<Screw>),
}

/// Slide along an axis bound to the turn about it: g = a·d − (l/2π) θ, the value nearest to zero of those that differ by l.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Screw {
    /// a·d.
    pub slide: JointRow,
    /// θ.
    pub turn: Turn,
    /// Advance per turn l \[m\].
    pub lead: f64,
}

impl Screw {
    /// Factor of the angle \[m/rad\].
    fn slope(&self) -> f64 {
        -self.lead / TAU
    }
}

/// One body of a joint at an instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pose {
    /// From the body to the world.
    pub rotation: Matrix3<f64>,
    /// From the origin of the frame to the joint's point, in the world frame \[m\].
    pub arm: Vector3<f64>,
}

/// The bodies of a joint at an instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrangement {
    pub bodies: [Pose; 2],
    /// From the point of body 1 to the point of body 2 \[m\].
    pub separation: Vector3<f64>,
}

/// Velocity and acceleration (at v̇ = 0) of a body of a joint.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Motion {
    pub angular: Vector3<f64>,
    pub angular_acceleration: Vector3<f64>,
    /// Of the joint's point.
    pub velocity: Vector3<f64>,
    /// Of the joint's point.
    pub acceleration: Vector3<f64>,
}

/// Blocks of ∂(force 1, moment 1, force 2, moment 2)/∂(position 1, rotation 1, position 2, rotation 2), rotations as small turns in the
/// world frame.
pub(super) type Curvature = [[Matrix3<f64>; 4]; 4];

impl JointRow {
    /// g.
    pub fn value(&self, at: &Arrangement) -> f64 {
        match self {
            JointRow::Coincident(i) => at.separation[*i],
            JointRow::Normal(a) => (at.bodies[0].rotation * a).dot(&at.separation),
            JointRow::Perpendicular(a, b) => (at.bodies[0].rotation * a).dot(&(at.bodies[1].rotation * b)),
            JointRow::Distance(l) => at.separation.norm() - l,
            JointRow::Turn(turn) => turn.value(at),
            JointRow::Screw(s) => nearest_branch(s.slide.value(at) + s.slope() * s.turn.value(at), s.lead.abs()),
        }
    }

    /// Refuses positions at which the row has no direction.
    pub fn check(&self, at: &Arrangement) -> Result<(), NonFinite> {
        match self {
            JointRow::Distance(_) if at.separation.norm_squared() == 0.0 => {
                Err(NonFinite { what: "the direction of a distance joint whose points coincide".into(), value: f64::NAN })
            }
            JointRow::Turn(turn) => turn.check(at),
            JointRow::Screw(screw) => screw.turn.check(at),
            _ => Ok(()),
        }
    }

    /// The wrenches of a unit multiplier on the two bodies.
    #[inline]
    pub fn wrenches(&self, at: &Arrangement) -> [Wrench; 2] {
        let arms = [at.bodies[0].arm, at.bodies[1].arm];
        match self {
            JointRow::Coincident(i) => along(&axis(*i), &arms),
            JointRow::Normal(a) => {
                let a = at.bodies[0].rotation * a;
                let moment = a.cross(&(at.separation + arms[0]));
                [Wrench { force: -a, moment }, Wrench { force: a, moment: arms[1].cross(&a) }]
            }
            JointRow::Perpendicular(a, b) => {
                let moment = (at.bodies[0].rotation * a).cross(&(at.bodies[1].rotation * b));
                [Wrench { force: Vector3::zeros(), moment }, Wrench { force: Vector3::zeros(), moment: -moment }]
            }
            JointRow::Distance(_) => along(&at.separation.normalize(), &arms),
            JointRow::Turn(turn) => turn.wrenches(at),
            JointRow::Screw(s) => {
                let (mut wrenches, turns, slope) = (s.slide.wrenches(at), s.turn.wrenches(at), s.slope());
                wrenches.iter_mut().zip(&turns).for_each(|(w, turn)| w.moment += slope * turn.moment);
                wrenches
            }
        }
    }

    /// d²g/dt² when v̇ = 0.
    pub fn acceleration(&self, at: &Arrangement, motions: &[Motion; 2]) -> f64 {
        let [first, second] = motions;
        let rate = second.velocity - first.velocity;
        let acceleration = second.acceleration - first.acceleration;
        match self {
            JointRow::Coincident(i) => acceleration[*i],
            JointRow::Normal(a) => {
                let (a, da, dda) = first.carried(&(at.bodies[0].rotation * a));
                dda.dot(&at.separation) + 2.0 * da.dot(&rate) + a.dot(&acceleration)
            }
            JointRow::Perpendicular(a, b) => {
                let (a, da, dda) = first.carried(&(at.bodies[0].rotation * a));
                let (b, db, ddb) = second.carried(&(at.bodies[1].rotation * b));
                dda.dot(&b) + 2.0 * da.dot(&db) + a.dot(&ddb)
            }
            JointRow::Distance(_) => {
                let n = at.separation.normalize();
                let along = n.dot(&rate);
                n.dot(&acceleration) + (rate.norm_squared() - along * along) / at.separation.norm()
            }
            JointRow::Turn(turn) => turn.acceleration(at, motions),
            JointRow::Screw(s) => s.slide.acceleration(at, motions) + s.slope() * s.turn.acceleration(at, motions),
        }
    }

    /// Adds the derivatives of λ times the wrenches.
    pub fn add_curvature(&self, at: &Arrangement, lambda: f64, blocks: &mut Curvature) {
        let [r1, r2] = [at.bodies[0].arm.cross_matrix(), at.bodies[1].arm.cross_matrix()];
        match self {
            JointRow::Coincident(i) => {
                let force = lambda * axis(*i).cross_matrix();
                blocks[1][1] -= force * r1;
                blocks[3][3] += force * r2;
            }
            JointRow::Normal(a) => {
                let a = at.bodies[0].rotation * a;
                let (ax, reach) = (lambda * a.cross_matrix(), (at.separation + at.bodies[0].arm).cross_matrix());
                blocks[0][1] += ax;
                blocks[2][1] -= ax;
                blocks[1][0] -= ax;
                blocks[1][1] += reach * ax;
                blocks[1][2] += ax;
                blocks[1][3] -= ax * r2;
                blocks[3][1] -= r2 * ax;
                blocks[3][3] += ax * r2;
            }
            JointRow::Perpendicular(a, b) => {
                let (a, b) = ((at.bodies[0].rotation * a).cross_matrix(), (at.bodies[1].rotation * b).cross_matrix());
                let (by_first, by_second) = (lambda * b * a, lambda * a * b);
                blocks[1][1] += by_first;
                blocks[1][3] -= by_second;
                blocks[3][1] -= by_first;
                blocks[3][3] += by_second;
            }
            JointRow::Distance(_) => {
                let n = at.separation.normalize();
                let across = (Matrix3::identity() - n * n.transpose()) * (lambda / at.separation.norm());
                // δn = across δd with δd = −δo₁ + [r₁] δφ₁ + δo₂ − [r₂] δφ₂
                let turns = [-across, across * r1, across, -across * r2];
                for (k, turn) in turns.iter().enumerate() {
                    blocks[0][k] -= turn;
                    blocks[1][k] -= r1 * turn;
                    blocks[2][k] += turn;
                    blocks[3][k] += r2 * turn;
                }
                let force = lambda * n.cross_matrix();
                blocks[1][1] -= force * r1;
                blocks[3][3] += force * r2;
            }
            JointRow::Turn(turn) => turn.add_curvature(at, lambda, blocks),
            JointRow::Screw(s) => {
                s.slide.add_curvature(at, lambda, blocks);
                s.turn.add_curvature(at, lambda * s.slope(), blocks);
            }
        }
    }
}

impl Motion {
    /// A vector of the body with its first and second derivative.
    fn carried(&self, a: &Vector3<f64>) -> (Vector3<f64>, Vector3<f64>, Vector3<f64>) {
        let rate = self.angular.cross(a);
        (*a, rate, self.angular_acceleration.cross(a) + self.angular.cross(&rate))
    }
}

fn axis(i: usize) -> Vector3<f64> {
    Vector3::from_fn(|k, _| f64::from(u8::from(k == i)))
}

/// A unit force on the point of body 2 and its reaction on body 1.
fn along(direction: &Vector3<f64>, arms: &[Vector3<f64>; 2]) -> [Wrench; 2] {
    [Wrench { force: -direction, moment: direction.cross(&arms[0]) }, Wrench { force: *direction, moment: arms[1].cross(direction) }]
}
