//! A spring and damper over a relation of one row: the turn of a revolute joint, the slide of a prismatic one.
//!
//! ```text
//! F = −Gᵀ f(g, u, t),      u = G v + b
//! −∂F/∂v = f_u Gᵀ G,      −∂F/∂q = Gᵀ (f_g G + f_u ∂u/∂q) + f ∂Gᵀ/∂q
//! ```
//!
//! Angles of relations lie within half a turn of their zero, so a torsion spring is meant for less than that.

use super::body_force::{ForceElement, ForcePart, StiffRowVisitor};
use super::spring_law::{Extension, SpringLaw, SpringSource};
use crate::error::{ModelError, NonFinite};
use crate::relations::{Relation, Rows};
use crate::systems::{Instant, JacobianFactors, Scratch, SystemSet};

/// A spring over a relation.
pub(super) struct RelationSpring {
    name: String,
    relation: Box<dyn Relation>,
    law: SpringLaw,
}

impl RelationSpring {
    pub fn new(name: &str, relation: Box<dyn Relation>, source: &SpringSource, t: f64, q: &[f64]) -> Result<Self, ModelError> {
        if relation.n_rows() != 1 {
            return Err(ModelError::WrongLength { what: format!("rows of \"{name}\""), expected: 1, found: relation.n_rows() });
        }
        let mut start = [0.0];
        relation.position(t, q, &mut start, &mut Scratch::default())?;
        let law = SpringLaw::new(name, source, ["coordinate", "rate"], start[0])?;
        Ok(RelationSpring { name: name.to_owned(), relation, law })
    }

    /// g and u, and b, with G in `jacobian`.
    fn extension(&self, at: Instant<'_>, jacobian: &mut Vec<f64>, scratch: &mut Scratch) -> Result<(Extension, f64), NonFinite> {
        let velocities = self.relation.velocities();
        let (mut g, mut bias) = ([0.0], [0.0]);
        jacobian.clear();
        jacobian.resize(velocities.len(), 0.0);
        self.relation.position(at.t, at.q, &mut g, scratch)?;
        self.relation.jacobian(at.t, at.q, Rows { jacobian, bias: &mut bias }, scratch)?;
        let rate = bias[0] + jacobian.iter().zip(velocities).map(|(g, &j)| g * at.v[j]).sum::<f64>();
        Ok((Extension { t: at.t, x: g[0], rate }, bias[0]))
    }

    fn write_jacobians(
        &self,
        at: Instant<'_>,
        factors: JacobianFactors,
        (jacobian, matrix): (&mut Vec<f64>, &mut Vec<f64>),
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        let (extension, _) = self.extension(at, jacobian, scratch)?;
        let (f, (by_g, by_u)) = (self.law.force(extension, scratch)?, self.law.slopes(extension, scratch)?);
        let velocities = self.relation.velocities();
        let n = velocities.len();
        matrix.clear();
        matrix.resize(n * n, 0.0);
        // ∂Gᵀ/∂q first: it also gives ∂u/∂q = vᵀ ∂Gᵀ/∂q
        self.relation.add_curvature(at.t, at.q, &[1.0], 1.0, matrix, scratch)?;
        for j in 0..n {
            let turning: f64 = velocities.iter().enumerate().map(|(i, &k)| at.v[k] * matrix[i * n + j]).sum();
            let slope = factors.position * (by_g * jacobian[j] + by_u * turning) + factors.velocity * by_u * jacobian[j];
            for i in 0..n {
                matrix[i * n + j] = factors.position * f * matrix[i * n + j] + jacobian[i] * slope;
            }
        }
        Ok(())
    }
}

impl ForceElement for RelationSpring {
    fn add_force(
        &self,
        _: &SystemSet,
        at: Instant<'_>,
        part: ForcePart,
        force: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        let mut jacobian = std::mem::take(&mut scratch.rows);
        let done = self.extension(at, &mut jacobian, scratch).and_then(|(extension, _)| {
            let mut f = self.law.force(extension, scratch)?;
            if part == ForcePart::Applied {
                f -= self.law.elastic(extension.x);
            }
            for (g, &j) in jacobian.iter().zip(self.relation.velocities()) {
                force[j] -= g * f;
            }
            Ok(())
        });
        scratch.rows = jacobian;
        done
    }

    fn potential(&self, _: &SystemSet, t: f64, q: &[f64], scratch: &mut Scratch) -> Result<f64, NonFinite> {
        let mut g = [0.0];
        self.relation.position(t, q, &mut g, scratch)?;
        Ok(self.law.potential(g[0]))
    }

    fn explicit_power(&self, _: &SystemSet, at: Instant<'_>, scratch: &mut Scratch) -> Result<f64, NonFinite> {
        let mut jacobian = std::mem::take(&mut scratch.rows);
        let found = self.extension(at, &mut jacobian, scratch);
        scratch.rows = jacobian;
        let (extension, bias) = found?;
        Ok(self.law.elastic(extension.x) * bias)
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
        let (mut jacobian, mut matrix) = (std::mem::take(&mut scratch.frames), std::mem::take(&mut scratch.rows));
        let done = self.write_jacobians(at, factors, (&mut jacobian, &mut matrix), scratch);
        if done.is_ok() {
            visit(self.relation.velocities(), &matrix);
        }
        (scratch.frames, scratch.rows) = (jacobian, matrix);
        done
    }

    /// u = G v + b.
    fn visit_stiff_rows(
        &self,
        _: &SystemSet,
        at: Instant<'_>,
        factors: JacobianFactors,
        scratch: &mut Scratch,
        visit: StiffRowVisitor<'_>,
    ) -> Result<(), NonFinite> {
        let mut jacobian = std::mem::take(&mut scratch.rows);
        let slopes = self.extension(at, &mut jacobian, scratch).and_then(|(extension, _)| self.law.slopes(extension, scratch));
        if let Ok((by_g, by_u)) = slopes {
            visit(self.relation.velocities(), &jacobian, &[(factors.position * by_g + factors.velocity * by_u).max(0.0)]);
        }
        scratch.rows = jacobian;
        slopes.map(|_| ())
    }

    fn switches(&self) -> Vec<String> {
        self.law.switches().into_iter().map(|kink| format!("{kink} of \"{}\"", self.name)).collect()
    }

    fn switch_value(&self, _: &SystemSet, at: Instant<'_>, switch: usize, scratch: &mut Scratch) -> Result<f64, NonFinite> {
        let mut jacobian = std::mem::take(&mut scratch.rows);
        let extension = self.extension(at, &mut jacobian, scratch);
        scratch.rows = jacobian;
        Ok(self.law.switch_value(extension?.0, switch, scratch))
    }
}
