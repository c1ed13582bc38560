//! Frictional contact with general convex friction sets.
//!
//! Contact blocks of a normal and k = 0 to 3 tangential components (the third may be a spin moment), u = W r + q, and per contact
//!
//! ```text
//!     0 ≤ u_N ⊥ r_N ≥ 0,
//!     r_T maximises −u_Tᵀ x over all x ∈ μ r_N F,      F = {x : ψ(x) ≤ 0} convex
//! ```
//!
//! the principle of maximal dissipation. With a multiplier λ and ψ homogeneous it is the nonlinear complementarity problem of Pang and Stewart,
//!
//! ```text
//!     0 ≤ λ ⊥ φ(r_N, r_T) ≤ 0,   r_N^γ u_T + λ ∂φ/∂r_T = 0
//! ```
//!
//! \[Pang & Stewart, *A unified approach to frictional contact problems*, 1997, as told by Anitescu, Potra & Stewart, *Time-stepping for
//! three-dimensional rigid body dynamics*, 1998, eqs. 18–22; the sign of φ in the example after eq. 19 there is the opposite of eq. 18\].
//!
//! For the disk this is Coulomb's law, and [`FrictionContact`](crate::FrictionContact) the better form; here are anisotropic friction
//! (ellipses), soft fingers with spin friction, and superellipses:
//!
//! ```
//! use carom_solvers::general_friction::{FrictionSet, GeneralContact, GeneralFriction, GeneralFrictionNewton};
//! use carom_solvers::{DenseDelassus, OneStepSolver, Solution};
//!
//! // A unit mass on a floor with grooves along the first tangent: μ = 0.2 along, 0.8 across; it moves along the diagonal.
//! let w = DenseDelassus::new(vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], &[3])?;
//! let set = FrictionSet::Ellipse { axes: [0.25, 1.0] };
//! let problem = GeneralFriction { w: w.into(), q: vec![-1.0, 3.0, 3.0], contacts: vec![GeneralContact { mu: 0.8, set }] };
//! let mut solution = Solution::default();
//! let report = GeneralFrictionNewton::default().solve(&problem, &mut solution)?;
//! assert!(report.is_converged());
//! // The friction of the rough direction turns the motion into the grooves.
//! assert!(solution.u[2] < solution.u[1]);
//! # Ok::<(), carom_solvers::SolveError>(())
//! ```

mod contact_law;
mod friction_set;
mod newton;
mod parameters;

pub use friction_set::FrictionSet;
pub use newton::GeneralFrictionNewton;
pub use parameters::GeneralFrictionParams;

use crate::Solution;
use crate::cones::norm_squared;
use crate::delassus::Delassus;
use crate::error::{SolveError, check_finite, check_size};
use crate::report::{SolveReport, SolveStatus};

/// A contact whose friction impulse lies in μ r_N F.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeneralContact {
    /// Friction coefficient μ ≥ 0, no unit.
    pub mu: f64,
    /// F.
    pub set: FrictionSet,
}

impl GeneralContact {
    /// Number of rows, 1 + k.
    #[inline]
    pub fn dim(&self) -> usize {
        1 + self.set.dim()
    }

    /// Moves z to the admissible impulses: the normal part to z_N ≥ 0 first, then the tangential one to μ z_N F.
    pub(crate) fn admit(&self, z: &mut [f64]) {
        z[0] = z[0].max(0.0);
        let radius = self.mu * z[0];
        self.set.project(radius, &mut z[1..]);
    }

    /// Squared error of the law at (r, u) in the unit of mass s:
    ///
    ///   min(s r_N, u_N)² + |s r_T − P(s r_T − u_T)|²,   P the projection on μ s r_N⁺ F.
    fn natural_map_squared(&self, r: &[f64], u: &[f64], mass_scale: f64) -> f64 {
        let normal = mass_scale * r[0];
        let mut z = [0.0; 3];
        let z = &mut z[..self.set.dim()];
        for (k, z) in z.iter_mut().enumerate() {
            *z = mass_scale * r[k + 1] - u[k + 1];
        }
        self.set.project(self.mu * normal.max(0.0), z);
        let tangent: f64 = z.iter().enumerate().map(|(k, z)| (mass_scale * r[k + 1] - z).powi(2)).sum();
        normal.min(u[0]).powi(2) + tangent
    }
}

/// u = W r + q with a law of maximal dissipation per contact. See the [module](self).
#[derive(Clone, Debug)]
pub struct GeneralFriction {
    /// The Delassus operator W, 1/kg (and 1/(kg m²) for moments), in blocks of 1 + k rows.
    pub w: Delassus,
    /// Velocity without impulse q, m/s (and rad/s for spins).
    pub q: Vec<f64>,
    /// The law of each block of rows.
    pub contacts: Vec<GeneralContact>,
}

impl GeneralFriction {
    /// Number of scalar rows.
    pub fn n_rows(&self) -> usize {
        self.q.len()
    }

    /// u = W r + q.
    pub fn velocity(&self, r: &[f64], u: &mut [f64]) {
        self.w.multiply(r, u);
        for (u, q) in u.iter_mut().zip(&self.q) {
            *u += q;
        }
    }

    /// Error of (r, u), with u = W r + q already computed: the natural maps of normal complementarity and of maximal dissipation,
    ///
    ///   sqrt(Σ_c min(r_N, u_N)² + |r_T − P_{μ r_N F}(r_T − u_T)|²) / max(|q|, |r|, |u|).
    ///
    /// Zero exactly where the laws hold. For disks that is Coulomb's law, by another measure than
    /// [`FrictionContact::residual`](crate::FrictionContact::residual) away from the solution. It depends on the unit of mass.
    pub fn residual(&self, r: &[f64], u: &[f64]) -> f64 {
        self.residual_in_mass_unit(r, u, 1.0)
    }

    /// s = mean(diag W), 1/kg; 1 when that is not positive.
    pub fn mass_scale(&self) -> f64 {
        let mut sum = 0.0;
        for (index, contact) in self.contacts.iter().enumerate() {
            sum += self.w.diagonal(index).iter().step_by(contact.dim() + 1).sum::<f64>();
        }
        let mean = sum / self.n_rows() as f64;
        if mean > 0.0 && mean.is_finite() { mean } else { 1.0 }
    }

    /// The residual in the unit of mass that gives mean(diag W) = 1: the judge of convergence.
    pub fn residual_normalised(&self, r: &[f64], u: &[f64]) -> f64 {
        self.residual_in_mass_unit(r, u, self.mass_scale())
    }

    pub(crate) fn residual_in_mass_unit(&self, r: &[f64], u: &[f64], scale: f64) -> f64 {
        let mut error = 0.0;
        let mut start = 0;
        for contact in &self.contacts {
            let end = start + contact.dim();
            error += contact.natural_map_squared(&r[start..end], &u[start..end], scale);
            start = end;
        }
        let size = norm_squared(&self.q).max(norm_squared(r) * scale * scale).max(norm_squared(u)).sqrt();
        if size > f64::EPSILON { error.sqrt() / size } else { error.sqrt() }
    }

    /// Checks that sizes fit, all numbers are finite and in their ranges.
    ///
    /// # Errors
    /// The [`SolveError`] variant of the first fault found.
    pub fn validate(&self) -> Result<(), SolveError> {
        check_size("contacts", self.w.n_blocks(), self.contacts.len())?;
        check_size("q", self.w.n_rows(), self.q.len())?;
        if !self.w.is_complete() {
            return Err(SolveError::Incomplete { what: "W" });
        }
        for (index, contact) in self.contacts.iter().enumerate() {
            let bad = |value, expected| Err(SolveError::BadBlock { block: index, value, expected });
            if self.w.offset(index + 1) - self.w.offset(index) != contact.dim() {
                return bad(contact.dim() as f64, "the number of rows of this block in W");
            }
            if !(contact.mu >= 0.0 && contact.mu.is_finite()) {
                return bad(contact.mu, "a friction coefficient >= 0");
            }
            if let Some((value, expected)) = contact.set.fault() {
                return bad(value, expected);
            }
        }
        check_finite("q", &self.q)?;
        self.w.check_finite()
    }

    /// The report of a solution: both residuals, and `otherwise` unless the judge is satisfied.
    pub(crate) fn report(
        &self,
        solver: &'static str,
        solution: &Solution,
        iterations: usize,
        tolerance: f64,
        otherwise: SolveStatus,
    ) -> SolveReport {
        let residual_normalised = self.residual_normalised(&solution.r, &solution.u);
        SolveReport {
            status: SolveStatus::judged(residual_normalised, tolerance, otherwise),
            solver,
            iterations,
            residual: self.residual(&solution.r, &solution.u),
            residual_normalised,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delassus::DenseDelassus;

    #[test]
    fn the_natural_map_vanishes_where_the_law_holds_and_only_there() {
        let contact = GeneralContact { mu: 0.5, set: FrictionSet::Ellipse { axes: [1.0, 0.5] } };
        // The friction against u_T is −μ r_N A u_T/|A^½ u_T|, A = diag(1, ¼): for u_T = (3, 8), |(3, 4)| = 5 and r_T = −(0.3, 0.2) r_N.
        let sliding = contact.natural_map_squared(&[2.0, -0.6, -0.4], &[0.0, 3.0, 8.0], 1.0);
        assert!(sliding < 1e-28, "{sliding}"); // rounding, squared
        let sticking = contact.natural_map_squared(&[2.0, 0.5, 0.2], &[0.0; 3], 1.0);
        assert_eq!(sticking, 0.0);
        let open = contact.natural_map_squared(&[0.0; 3], &[1.0, 3.0, 8.0], 1.0);
        assert_eq!(open, 0.0);
        for (r, u) in [
            ([2.0, -0.6, -0.4], [0.0, 8.0, 3.0]),
            ([2.0, -0.9, -0.4], [0.0, 0.0, 0.0]),
            ([2.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
            ([-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
        ] {
            assert!(contact.natural_map_squared(&r, &u, 1.0) > 1e-3, "{r:?} {u:?}");
        }
    }

    #[test]
    fn malformed_problems_are_named() {
        let w = || DenseDelassus::new(vec![1.0; 4], &[2]).unwrap().into();
        let contact = GeneralContact { mu: 0.5, set: FrictionSet::Segment };
        let good = GeneralFriction { w: w(), q: vec![0.0; 2], contacts: vec![contact] };
        assert!(good.validate().is_ok());
        let negative = GeneralFriction { contacts: vec![GeneralContact { mu: -0.1, ..contact }], ..good.clone() };
        assert!(matches!(negative.validate(), Err(SolveError::BadBlock { block: 0, .. })));
        let wide = GeneralFriction { contacts: vec![GeneralContact { set: FrictionSet::Disk, ..contact }], ..good.clone() };
        assert!(matches!(wide.validate(), Err(SolveError::BadBlock { block: 0, .. })));
        let short = GeneralFriction { q: vec![0.0], ..good.clone() };
        assert!(matches!(short.validate(), Err(SolveError::SizeMismatch { what: "q", .. })));
        let infinite = GeneralFriction { q: vec![0.0, f64::NAN], ..good };
        assert!(matches!(infinite.validate(), Err(SolveError::NotFinite { what: "q", index: 1 })));
    }
}
