//! An effort along a coordinate of a joint, held between samples.
//!
//! ```text
//! F = Gᵀ u,      u a held value
//! ```

use crate::error::NonFinite;
use crate::forces::{ForceElement, ForcePart};
use crate::relations::{Relation, Rows};
use crate::systems::{Instant, JacobianFactors, Scratch, SystemSet};

/// A torque about, or a force along, the axis of a joint.
pub struct JointEffort {
    relation: Box<dyn Relation>,
    place: usize,
}

impl JointEffort {
    /// The effort is the coordinate with number `place`; it acts along the first row of the relation.
    #[must_use]
    pub fn new(relation: Box<dyn Relation>, place: usize) -> Self {
        JointEffort { relation, place }
    }
}

impl ForceElement for JointEffort {
    fn add_force(&self, _: &SystemSet, at: Instant<'_>, _: ForcePart, force: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        let velocities = self.relation.velocities();
        let mut jacobian = std::mem::take(&mut scratch.rows);
        jacobian.clear();
        jacobian.resize(velocities.len(), 0.0);
        let done = self.relation.jacobian(at.t, at.q, Rows { jacobian: &mut jacobian, bias: &mut [0.0] }, scratch);
        for (&j, &g) in velocities.iter().zip(&jacobian) {
            force[j] += g * at.q[self.place];
        }
        scratch.rows = jacobian;
        done
    }

    fn is_applied(&self) -> bool {
        true
    }

    fn couples_bodies(&self) -> bool {
        true
    }

    fn visit_jacobians(
        &self,
        _: &SystemSet,
        at: Instant<'_>,
        factors: JacobianFactors,
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(&[usize], &[f64]),
    ) -> Result<(), NonFinite> {
        let velocities = self.relation.velocities();
        let mut matrix = std::mem::take(&mut scratch.rows);
        matrix.clear();
        matrix.resize(velocities.len() * velocities.len(), 0.0);
        let done = self.relation.add_curvature(at.t, at.q, &[at.q[self.place]], -factors.position, &mut matrix, scratch);
        if done.is_ok() {
            visit(velocities, &matrix);
        }
        scratch.rows = matrix;
        done
    }
}
