//! The velocities that belong to an impulse.

use super::GlobalFrictionContact;
use crate::error::SolveError;
use crate::friction_contact::{Runaway, runaway_speed};
use crate::linear::SparseLdlt;

/// v = M⁻¹ (H r + f) and u = Hᵀ v + w by an LDLᵀ factorisation of M, and the judge of an impulse.
///
/// Cost: one factorisation of M per solve, then O(entries of its factor and of H) for each impulse.
#[derive(Clone, Debug, Default)]
pub(super) struct Dynamics {
    ldlt: SparseLdlt,
    v: Vec<f64>,
    /// Unit of mass of the judge.
    scale: f64,
    /// |q| = |Hᵀ M⁻¹ f + w|.
    q_size: f64,
}

impl Dynamics {
    /// Factors M of a valid problem.
    ///
    /// # Errors
    /// [`SolveError::NotDefinite`] when a pivot vanishes or M⁻¹ f is not finite.
    pub fn factor(&mut self, problem: &GlobalFrictionContact) -> Result<(), SolveError> {
        self.scale = problem.mass_scale();
        if !self.ldlt.factor(&problem.m) {
            return Err(SolveError::NotDefinite { what: "M" });
        }
        Ok(())
    }

    /// M⁻¹ b.
    pub fn solve(&mut self, b: &mut [f64]) {
        self.ldlt.solve(b);
    }

    /// The velocities v of the last impulse.
    pub fn v(&self) -> &[f64] {
        &self.v
    }

    /// Unit of mass of the judge: the problem's `mass_scale`.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// r => v (kept) and u.
    pub fn velocities(&mut self, problem: &GlobalFrictionContact, r: &[f64], u: &mut [f64]) {
        self.v.clone_from(&problem.f);
        for (i, v) in self.v.iter_mut().enumerate() {
            *v += problem.h.row(i).map(|(j, h)| h * r[j]).sum::<f64>();
        }
        self.ldlt.solve(&mut self.v);
        problem.contact_velocity(&self.v, u);
    }

    /// u = q, the contact velocities without impulse; their size is kept for [`Self::is_usable`].
    ///
    /// # Errors
    /// [`SolveError::NotDefinite`] when they are not finite: M is singular to working precision.
    pub fn free_velocity(&mut self, problem: &GlobalFrictionContact, u: &mut [f64]) -> Result<(), SolveError> {
        self.v.clone_from(&problem.f);
        self.ldlt.solve(&mut self.v);
        problem.contact_velocity(&self.v, u);
        self.q_size = runaway_speed(u, &problem.blocks, self.scale);
        if self.q_size.is_finite() { Ok(()) } else { Err(SolveError::NotDefinite { what: "M" }) }
    }

    /// r => v, u and the normalised residual.
    pub fn judge(&mut self, problem: &GlobalFrictionContact, r: &[f64], u: &mut [f64]) -> f64 {
        self.velocities(problem, r, u);
        problem.residual_in_mass_unit(&self.v, r, u, self.scale)
    }

    /// False for impulses that only grow because nothing stops them; see [`Runaway`].
    pub(crate) fn is_usable(&self, r: &[f64], residual: f64) -> bool {
        !Runaway::new(self.scale, self.q_size).applies(r, residual)
    }
}
