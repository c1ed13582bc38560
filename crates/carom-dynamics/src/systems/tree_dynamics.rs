//! M and F of a tree, see [`super::tree`] for the equations and their source.

use super::Wrench;
use super::tree::Tree;
use super::tree_link::{Column, Link, LinkMotion, LinkPose};
use nalgebra::{Matrix3, Vector3};

impl Tree {
    /// M by composite rigid bodies.
    pub(super) fn write_mass(&self, q: &[f64], mass: &mut [f64]) {
        let poses = self.poses(q);
        // everything about the centre of the first body, so that a tree far from the origin loses no digits
        let Some(reference) = poses.first().map(|pose| pose.centre) else { return };
        // mass, first moment and inertia of each body with all it carries
        let mut carried: Vec<(f64, Vector3<f64>, Matrix3<f64>)> =
            self.links.iter().zip(&poses).map(|(l, p)| composite(l, p, &reference)).collect();
        for i in (0..self.links.len()).rev() {
            if let Some(p) = self.links[i].parent {
                let (m, h, inertia) = carried[i];
                let parent = &mut carried[p];
                (parent.0, parent.1, parent.2) = (parent.0 + m, parent.1 + h, parent.2 + inertia);
            }
        }
        mass.fill(0.0);
        for (i, link) in self.links.iter().enumerate() {
            let parent = link.parent.map_or(&LinkPose::GROUND, |p| &poses[p]);
            let (m, h, inertia) = &carried[i];
            for k in 0..link.n_v() {
                let s = at_reference(link.column(k, parent, &poses[i]), &poses[i], &reference);
                let momentum = Wrench { force: s.linear * *m + s.angular.cross(h), moment: inertia * s.angular + h.cross(&s.linear) };
                // the joint's own columns up to k, then those of its ancestors
                let mut body = Some(i);
                while let Some(b) = body {
                    let other = &self.links[b];
                    let of_other = other.parent.map_or(&LinkPose::GROUND, |p| &poses[p]);
                    let last = if b == i { k + 1 } else { other.n_v() };
                    for j in 0..last {
                        let t = at_reference(other.column(j, of_other, &poses[b]), &poses[b], &reference);
                        let entry = t.angular.dot(&momentum.moment) + t.linear.dot(&momentum.force);
                        mass[(other.v + j) * self.n_v + link.v + k] = entry;
                        mass[(link.v + k) * self.n_v + other.v + j] = entry;
                    }
                    body = other.parent;
                }
            }
        }
    }

    /// F by recursive Newton–Euler at v̇ = 0.
    pub(super) fn write_force(&self, q: &[f64], v: &[f64], force: &mut [f64]) {
        let poses = self.poses(q);
        let motions = self.motions(v, &poses);
        let Some(reference) = poses.first().map(|pose| pose.centre) else { return };
        let wrench = |((link, pose), motion): ((&Link, &LinkPose), &LinkMotion)| {
            let inertia = link.world_inertia(pose);
            let f = (motion.acceleration - self.gravity) * link.mass;
            let turning = inertia * motion.angular_acceleration + motion.angular.cross(&(inertia * motion.angular));
            Wrench { force: f, moment: turning + (pose.centre - reference).cross(&f) }
        };
        let mut wrenches: Vec<Wrench> = self.links.iter().zip(&poses).zip(&motions).map(wrench).collect();
        for i in (0..self.links.len()).rev() {
            let (link, total) = (&self.links[i], wrenches[i]);
            let parent = link.parent.map_or(&LinkPose::GROUND, |p| &poses[p]);
            for k in 0..link.n_v() {
                let s = at_reference(link.column(k, parent, &poses[i]), &poses[i], &reference);
                force[link.v + k] = -(s.angular.dot(&total.moment) + s.linear.dot(&total.force));
            }
            if let Some(p) = link.parent {
                wrenches[p].force += total.force;
                wrenches[p].moment += total.moment;
            }
        }
    }
}

/// Mass, first moment and inertia of a body about the reference point.
fn composite(link: &Link, pose: &LinkPose, reference: &Vector3<f64>) -> (f64, Vector3<f64>, Matrix3<f64>) {
    let arm = pose.centre - reference;
    let cross = arm.cross_matrix();
    (link.mass, arm * link.mass, link.world_inertia(pose) - cross * cross * link.mass)
}

/// A column with the velocity of the point of the body at the reference.
fn at_reference(column: Column, pose: &LinkPose, reference: &Vector3<f64>) -> Column {
    Column { linear: column.linear + column.angular.cross(&(reference - pose.centre)), ..column }
}
