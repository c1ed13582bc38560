//! Bodies connected in a tree by joints, in relative coordinates: one coordinate per degree of freedom, no constraints.
//!
//! ```text
//! M_jk = S_jᵀ I^c S_k     (composite rigid bodies),     F = −Σ S_kᵀ Σ_{i above k} (m (a_i − g), I α_i + ω_i × I ω_i)     (Newton–Euler)
//! ```
//!
//! with the joint columns S, the inertia I^c of everything a joint carries, and the accelerations a, α at v̇ = 0. All in world directions at
//! one reference point, so that sums over subtrees need no transformation. Source: R. Featherstone, Rigid Body Dynamics Algorithms, 2008,
//! Table 5.1 (recursive Newton–Euler) and Table 6.2 (composite rigid bodies); differs in: world instead of body directions.
//!
//! When to use: open chains, and closed ones with a joint that closes each loop: far fewer unknowns than a body and a constraint each. One
//! dense mass block; cost O(n·depth) for M, O(n) for F, O(n³) for its factorisation, with one allocation each. Force Jacobians by differences.
//!
//! Spherical and floating joints have a unit quaternion and the angular velocity relative to the parent in the body's frame.

use super::rigid_bodies::{RigidBody, angular_velocity_of_rate, check_inertia, check_mass, check_names, rotation_vector_rate};
use super::tree_joint::TreeJoint;
use super::tree_link::{Column, Link, LinkMotion, LinkPose};
use super::{BodyFrame, Coordinate, Coordinates, Instant, JacobianFactors, Scratch, System, Wrench};
use crate::error::{ModelError, NonFinite};
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use std::ops::Range;
use std::sync::Arc;

/// A body of a tree, placed in the world as it is at zero coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeBody {
    /// Name, mass and inertia.
    pub body: RigidBody,
    /// Name of an earlier body of the tree; `None` is the ground.
    pub parent: Option<String>,
    /// Its joint to the parent.
    pub joint: TreeJoint,
    /// Centre of mass \[m\].
    pub position: Vector3<f64>,
    /// From the body frame to the world.
    pub orientation: UnitQuaternion<f64>,
    /// Point of the joint \[m\].
    pub point: Vector3<f64>,
    /// Axis of the joint, of any length.
    pub axis: Vector3<f64>,
}

/// A tree of bodies under uniform gravity.
#[derive(Clone, Debug)]
pub struct Tree {
    names: Vec<String>,
    pub(super) links: Vec<Link>,
    pub(super) gravity: Vector3<f64>,
    pub(super) n_q: usize,
    pub(super) n_v: usize,
}

impl Tree {
    /// Builds the tree; gravity in m/s². Parents come before their children.
    ///
    /// # Errors
    /// Masses and inertias that no body can have, duplicate names, a parent that is not an earlier body, an axis that is zero, nothing that
    /// can move.
    pub fn new(bodies: Vec<TreeBody>, gravity: Vector3<f64>) -> Result<Self, ModelError> {
        check_names(bodies.iter().map(|b| b.body.name.as_str()))?;
        let mut tree = Tree { names: Vec::new(), links: Vec::new(), gravity, n_q: 0, n_v: 0 };
        for b in &bodies {
            let name = &b.body.name;
            let wrong = |reason: String| ModelError::Joint { joint: name.clone(), reason };
            check_mass(name, b.body.mass)?;
            check_inertia(name, &b.body.inertia)?;
            let parent = match &b.parent {
                None => None,
                Some(parent) => {
                    let found = tree.names.iter().position(|other| other == parent);
                    Some(found.ok_or_else(|| wrong(format!("its parent \"{parent}\" is not a body of the tree before it")))?)
                }
            };
            let axis = match b.joint.has_axis() {
                true => b.axis.try_normalize(0.0).ok_or_else(|| wrong("its axis is zero; give a direction, such as [0, 0, 1]".into()))?,
                false => Vector3::zeros(),
            };
            if !b.position.iter().chain(&b.point).chain(&axis).chain(&gravity).all(|x| x.is_finite()) {
                return Err(wrong("its position, point or axis, or gravity, is not finite".into()));
            }
            let (origin, turn) =
                parent.map_or((Vector3::zeros(), UnitQuaternion::identity()), |p| (bodies[p].position, bodies[p].orientation));
            tree.links.push(Link {
                parent,
                joint: b.joint,
                to_joint: turn.inverse() * (b.point - origin),
                to_centre: b.orientation.inverse() * (b.position - b.point),
                turn: turn.inverse() * b.orientation,
                axis: b.orientation.inverse() * axis,
                q: tree.n_q,
                v: tree.n_v,
                mass: b.body.mass,
                inertia: b.body.inertia,
            });
            tree.names.push(name.clone());
            tree.n_q += b.joint.n_coordinates();
            tree.n_v += b.joint.n_velocities();
        }
        match (tree.n_v, tree.names.first()) {
            (0, Some(name)) => Err(ModelError::Joint { joint: name.clone(), reason: "all joints of the tree are fixed".into() }),
            _ => Ok(tree),
        }
    }

    pub(super) fn poses(&self, q: &[f64]) -> Vec<LinkPose> {
        let mut poses: Vec<LinkPose> = Vec::with_capacity(self.links.len());
        for link in &self.links {
            let pose = link.pose(q, link.parent.map_or(&LinkPose::GROUND, |p| &poses[p]));
            poses.push(pose);
        }
        poses
    }

    pub(super) fn motions(&self, v: &[f64], poses: &[LinkPose]) -> Vec<LinkMotion> {
        let mut motions: Vec<LinkMotion> = Vec::with_capacity(self.links.len());
        for (link, pose) in self.links.iter().zip(poses) {
            let motion = match link.parent {
                None => link.motion(v, (&LinkPose::GROUND, &LinkMotion::default()), pose),
                Some(p) => link.motion(v, (&poses[p], &motions[p]), pose),
            };
            motions.push(motion);
        }
        motions
    }

    /// The pose of one body, along its ancestors only.
    fn pose(&self, q: &[f64], body: usize) -> LinkPose {
        let link = &self.links[body];
        let parent = link.parent.map_or(LinkPose::GROUND, |p| self.pose(q, p));
        link.pose(q, &parent)
    }

    fn motion(&self, q: &[f64], v: &[f64], body: usize) -> (LinkPose, LinkMotion) {
        let link = &self.links[body];
        let (parent, of_parent) = link.parent.map_or((LinkPose::GROUND, LinkMotion::default()), |p| self.motion(q, v, p));
        let pose = link.pose(q, &parent);
        (pose, link.motion(v, (&parent, &of_parent), &pose))
    }

    /// Calls `take(velocity, column, centre)` for the columns of a body's ancestors and its own.
    fn each_column(&self, q: &[f64], body: usize, take: &mut impl FnMut(usize, Column, Vector3<f64>)) -> LinkPose {
        let link = &self.links[body];
        let parent = link.parent.map_or(LinkPose::GROUND, |p| self.each_column(q, p, take));
        let pose = link.pose(q, &parent);
        for k in 0..link.n_v() {
            take(link.v + k, link.column(k, &parent, &pose), pose.centre);
        }
        pose
    }

    /// Links with a quaternion: (its first coordinate, its first velocity).
    fn quaternions(&self) -> impl Iterator<Item = (&Link, usize, usize)> {
        self.links.iter().filter_map(|l| l.joint.quaternion_at().map(|at| (l, l.q + at, l.v + at)))
    }

    /// The link of a coordinate and the place of the coordinate in it.
    fn place(&self, coordinate: usize) -> (&Link, usize) {
        let link = &self.links[self.links.partition_point(|l| l.q + l.joint.n_coordinates() <= coordinate)];
        (link, coordinate - link.q)
    }
}

fn vector(x: &[f64], at: usize) -> Vector3<f64> {
    Vector3::new(x[at], x[at + 1], x[at + 2])
}

impl System for Tree {
    fn coordinates(&self) -> Coordinates {
        let named = |(name, link): (&String, &Link)| {
            link.joint.names().0.into_iter().map(|(part, unit)| Coordinate::new(format!("{name}.{part}"), unit)).collect::<Vec<_>>()
        };
        self.names.iter().zip(&self.links).flat_map(named).collect()
    }

    fn velocities(&self) -> Coordinates {
        let named = |(name, link): (&String, &Link)| {
            link.joint.names().1.into_iter().map(|(part, unit)| Coordinate::new(format!("{name}.{part}"), unit)).collect::<Vec<_>>()
        };
        self.names.iter().zip(&self.links).flat_map(named).collect()
    }

    fn block_sizes(&self) -> Vec<usize> {
        vec![self.n_v]
    }

    fn mass_is_constant(&self) -> bool {
        false
    }

    fn is_affine(&self) -> bool {
        false
    }

    fn mass(&self, _: f64, q: &[f64], mass: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        self.write_mass(q, mass);
        Ok(())
    }

    fn force(&self, _: f64, q: &[f64], v: &[f64], force: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        self.write_force(q, v, force);
        Ok(())
    }

    fn add_jacobians(&self, at: Instant<'_>, factors: JacobianFactors, matrix: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        let n = self.n_v;
        let (mut w, mut q, mut v) = (vec![0.0; n], at.q.to_vec(), at.v.to_vec());
        let (mut base, mut moved) = (vec![0.0; n], vec![0.0; n]);
        self.force(at.t, at.q, at.v, &mut base, scratch)?;
        for (factor, of_velocity) in [(factors.velocity, true), (factors.position, false)] {
            for j in (0..n).filter(|_| factor != 0.0) {
                let shift = f64::EPSILON.sqrt() * at.v[j].abs().max(1.0);
                if of_velocity {
                    v[j] += shift;
                    self.force(at.t, at.q, &v, &mut moved, scratch)?;
                    v[j] = at.v[j];
                } else {
                    w[j] = shift;
                    self.advance(at.q, &w, &mut q);
                    w[j] = 0.0;
                    self.force(at.t, &q, at.v, &mut moved, scratch)?;
                }
                for i in 0..n {
                    matrix[i * n + j] -= factor * (moved[i] - base[i]) / shift;
                }
            }
        }
        Ok(())
    }

    fn energy(&self, _: f64, q: &[f64], v: &[f64], _: &mut Scratch) -> Result<(f64, f64), NonFinite> {
        let poses = self.poses(q);
        let (mut kinetic, mut potential) = (0.0, 0.0);
        for ((link, pose), motion) in self.links.iter().zip(&poses).zip(self.motions(v, &poses)) {
            let turning = motion.angular.dot(&(link.world_inertia(pose) * motion.angular));
            kinetic += 0.5 * (link.mass * motion.velocity.norm_squared() + turning);
            potential -= link.mass * self.gravity.dot(&pose.centre);
        }
        Ok((kinetic, potential))
    }

    fn advance(&self, q: &[f64], w: &[f64], q_next: &mut [f64]) {
        for link in &self.links {
            let flat = link.joint.quaternion_at().unwrap_or(link.n_v());
            for k in 0..flat {
                q_next[link.q + k] = q[link.q + k] + w[link.v + k];
            }
        }
        for (link, at, from) in self.quaternions() {
            let next = (link.quaternion(q) * UnitQuaternion::from_scaled_axis(vector(w, from))).into_inner();
            // one Newton step keeps |q| = 1 to round-off
            let next = next * (1.5 - 0.5 * next.norm_squared());
            q_next[at..at + 4].copy_from_slice(&[next.w, next.i, next.j, next.k]);
        }
    }

    fn displacement_rate(&self, w: &[f64], v: &[f64], rate: &mut [f64]) {
        rate.copy_from_slice(v);
        for (_, _, at) in self.quaternions() {
            rate[at..at + 3].copy_from_slice(rotation_vector_rate(&vector(w, at), &vector(v, at)).as_slice());
        }
    }

    fn velocity_of_rate(&self, w: &[f64], rate: &[f64], v: &mut [f64]) {
        v.copy_from_slice(rate);
        for (_, _, at) in self.quaternions() {
            v[at..at + 3].copy_from_slice(angular_velocity_of_rate(&vector(w, at), &vector(rate, at)).as_slice());
        }
    }

    fn difference(&self, q: &[f64], q_to: &[f64], w: &mut [f64]) {
        for link in &self.links {
            for k in 0..link.joint.quaternion_at().unwrap_or(link.n_v()) {
                w[link.v + k] = q_to[link.q + k] - q[link.q + k];
            }
        }
        for (link, _, to) in self.quaternions() {
            let turn = link.quaternion(q).inverse() * link.quaternion(q_to);
            w[to..to + 3].copy_from_slice(turn.scaled_axis().as_slice());
        }
    }

    fn frames(&self) -> Arc<[String]> {
        Arc::from(self.names.as_slice())
    }

    fn frame_velocities(&self, _: usize) -> Range<usize> {
        0..self.n_v
    }

    fn frame(&self, q: &[f64], frame: usize) -> BodyFrame {
        let pose = self.pose(q, frame);
        BodyFrame { origin: pose.centre, orientation: pose.orientation }
    }

    fn frame_jacobian(&self, q: &[f64], frame: usize, jacobian: &mut [f64]) {
        jacobian.fill(0.0);
        let centre = self.pose(q, frame).centre;
        self.each_column(q, frame, &mut |k, column, at| {
            let linear = column.linear + column.angular.cross(&(centre - at));
            for i in 0..3 {
                jacobian[i * self.n_v + k] = linear[i];
                jacobian[(3 + i) * self.n_v + k] = column.angular[i];
            }
        });
    }

    fn frame_velocity(&self, q: &[f64], v: &[f64], frame: usize) -> [f64; 6] {
        let motion = self.motion(q, v, frame).1;
        Wrench { force: motion.velocity, moment: motion.angular }.components()
    }

    fn frame_bias(&self, q: &[f64], v: &[f64], frame: usize) -> [f64; 6] {
        let motion = self.motion(q, v, frame).1;
        Wrench { force: motion.acceleration, moment: motion.angular_acceleration }.components()
    }

    fn add_wrench_rows(&self, q: &[f64], frame: usize, wrenches: &[Wrench], rows: &mut [f64], stride: usize) {
        let centre = self.pose(q, frame).centre;
        self.each_column(q, frame, &mut |k, column, at| {
            let linear = column.linear + column.angular.cross(&(centre - at));
            for (wrench, row) in wrenches.iter().zip(rows.chunks_mut(stride)) {
                row[k] += linear.dot(&wrench.force) + column.angular.dot(&wrench.moment);
            }
        });
    }

    fn is_flat(&self) -> bool {
        self.quaternions().next().is_none()
    }

    fn velocities_of(&self, coordinate: usize) -> Range<usize> {
        let (link, part) = self.place(coordinate);
        match link.joint.quaternion_at() {
            Some(at) if part >= at => link.v + at..link.v + at + 3,
            _ => link.v + part..link.v + part + 1,
        }
    }

    fn kinematic_row(&self, q: &[f64], coordinate: usize, row: &mut [f64]) {
        let (link, part) = self.place(coordinate);
        match link.joint.quaternion_at() {
            Some(at) if part >= at => {
                // ½ Q ⊗ (0, ω)
                let half = link.quaternion(q).into_inner() * 0.5;
                for (k, out) in row.iter_mut().enumerate() {
                    let unit = Quaternion::from_imag(Vector3::from_fn(|i, _| f64::from(u8::from(i == k))));
                    let rate = half * unit;
                    *out = [rate.w, rate.i, rate.j, rate.k][part - at];
                }
            }
            _ => row[0] = 1.0,
        }
    }

    fn kinematic_bias(&self, q: &[f64], v: &[f64], coordinate: usize) -> f64 {
        let (link, part) = self.place(coordinate);
        match link.joint.quaternion_at() {
            Some(at) if part >= at => -0.25 * vector(v, link.v + at).norm_squared() * q[coordinate],
            _ => 0.0,
        }
    }

    fn check_state(&self, q: &[f64]) -> Result<(), String> {
        for (link, name) in self.links.iter().zip(&self.names).filter(|(l, _)| l.joint.quaternion_at().is_some()) {
            let norm = link.quaternion(q).into_inner().norm();
            if (norm - 1.0).abs() > 1e-9 {
                return Err(format!("the quaternion of the joint of \"{name}\" has length {norm}, not 1"));
            }
        }
        Ok(())
    }
}
