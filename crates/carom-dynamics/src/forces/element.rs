//! A penalised contact between systems.

use super::CompliantLaw;
use crate::block_diagonal::BlockLayout;
use crate::error::{ModelError, NonFinite};
use crate::relations::{Relation, Rows};
use crate::systems::{Instant, JacobianFactors, Scratch};

/// Rows of a contact at most.
const ROWS: usize = 3;

/// A contact that acts by a force of its gap and velocity.
pub struct CompliantContact {
    name: String,
    relation: Box<dyn Relation>,
    law: CompliantLaw,
}

/// What a contact does at an instant.
struct Local {
    gap: f64,
    velocity: [f64; ROWS],
    force: [f64; ROWS],
}

impl CompliantContact {
    /// Binds a relation (gap first, then up to two tangents) and a law.
    ///
    /// # Errors
    /// A coefficient out of range; more than three rows.
    pub fn new(name: &str, relation: Box<dyn Relation>, law: CompliantLaw) -> Result<Self, ModelError> {
        law.validate(name)?;
        if relation.n_rows() > ROWS {
            let what = format!("rows of \"{name}\"");
            return Err(ModelError::WrongLength { what, expected: ROWS, found: relation.n_rows() });
        }
        Ok(CompliantContact { name: name.to_owned(), relation, law })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its relation.
    #[must_use]
    pub fn relation(&self) -> &dyn Relation {
        &*self.relation
    }

    /// Its law.
    #[must_use]
    pub fn law(&self) -> &CompliantLaw {
        &self.law
    }

    /// The gap \[m\].
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    pub fn gap(&self, t: f64, q: &[f64], scratch: &mut Scratch) -> Result<f64, NonFinite> {
        let mut g = [0.0; ROWS];
        self.relation.position(t, q, &mut g[..self.relation.n_rows()], scratch)?;
        Ok(g[0])
    }

    /// Gap, velocity, force; with G in `jacobian` and b in `bias`. `None` while the contact is open.
    fn evaluate(
        &self,
        at: Instant<'_>,
        jacobian: &mut Vec<f64>,
        bias: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<Option<Local>, NonFinite> {
        let gap = self.gap(at.t, at.q, scratch)?;
        if gap > 0.0 {
            return Ok(None);
        }
        let (n, velocities) = (self.relation.n_rows(), self.relation.velocities());
        jacobian.clear();
        jacobian.resize(n * velocities.len(), 0.0);
        self.relation.jacobian(at.t, at.q, Rows { jacobian, bias: &mut bias[..n] }, scratch)?;
        let mut local = Local { gap, velocity: [0.0; ROWS], force: [0.0; ROWS] };
        for (r, row) in jacobian.chunks_exact(velocities.len()).enumerate() {
            local.velocity[r] = bias[r] + row.iter().zip(velocities).map(|(g, &j)| g * at.v[j]).sum::<f64>();
        }
        self.law.force(gap, &local.velocity[..n], &mut local.force[..n]);
        Ok(Some(local))
    }

    /// Adds Gᵀ f, or its part without potential, to `force`.
    pub(crate) fn add_force(
        &self,
        at: Instant<'_>,
        without_potential: bool,
        force: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        let mut jacobian = std::mem::take(&mut scratch.rows);
        let mut bias = [0.0; ROWS];
        let local = self.evaluate(at, &mut jacobian, &mut bias, scratch);
        let velocities = self.relation.velocities();
        let done = local.map(|local| {
            if let Some(mut local) = local {
                if without_potential {
                    local.force[0] -= self.law.elastic(local.gap);
                }
                for (row, f) in jacobian.chunks_exact(velocities.len()).zip(local.force) {
                    for (g, &j) in row.iter().zip(velocities) {
                        force[j] += g * f;
                    }
                }
            }
        });
        scratch.rows = jacobian;
        done
    }

    /// Power that a moving obstacle brings in through the elastic part, −f_elastic ∂g/∂t \[W\].
    pub(crate) fn explicit_power(&self, at: Instant<'_>, scratch: &mut Scratch) -> Result<f64, NonFinite> {
        let mut jacobian = std::mem::take(&mut scratch.rows);
        let mut bias = [0.0; ROWS];
        let local = self.evaluate(at, &mut jacobian, &mut bias, scratch);
        scratch.rows = jacobian;
        Ok(local?.map_or(0.0, |local| -self.law.elastic(local.gap) * bias[0]))
    }

    /// Elastic energy \[J\].
    pub(crate) fn potential(&self, t: f64, q: &[f64], scratch: &mut Scratch) -> Result<f64, NonFinite> {
        Ok(self.law.potential(self.gap(t, q, scratch)?))
    }

    /// Adds c_v Gᵀ d G + c_q Gᵀ k G of the normal row, as far as it lies in the blocks of the mass matrix: Newton's iterations need no more.
    pub(crate) fn add_jacobians(
        &self,
        at: Instant<'_>,
        factors: JacobianFactors,
        layout: &BlockLayout,
        matrix: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        let mut jacobian = std::mem::take(&mut scratch.rows);
        let mut bias = [0.0; ROWS];
        let local = self.evaluate(at, &mut jacobian, &mut bias, scratch);
        let velocities = self.relation.velocities();
        let done = local.map(|local| {
            let Some(local) = local else { return };
            let (stiffness, damping) = self.law.slopes(local.gap, local.velocity[0]);
            let factor = factors.velocity * damping + factors.position * stiffness;
            for (&i, a) in velocities.iter().zip(&jacobian) {
                let block = layout.block_of_row(i);
                let (rows, size) = (layout.rows[block]..layout.rows[block + 1], layout.size(block));
                for (&j, b) in velocities.iter().zip(&jacobian).filter(|(j, _)| rows.contains(*j)) {
                    matrix[layout.values[block] + (i - rows.start) * size + j - rows.start] += factor * a * b;
                }
            }
        });
        scratch.rows = jacobian;
        done
    }
}
