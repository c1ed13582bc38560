//! The friction contact problem in global form: the dynamics and the contacts, W never formed unless asked for.
//!
//!   M v = H r + f,   u = Hᵀ v + w,   û = u + (μ|u_T|, 0),   K* ∋ û ⊥ r ∈ K   for each contact block,
//!   u = 0 for each bilateral block,                         0 ≤ u ⊥ r ≥ 0 for each unilateral one.
//!
//! v are the velocities of the bodies, r and u impulses and velocities of the contacts as in the local form, which has
//! W = Hᵀ M⁻¹ H and q = Hᵀ M⁻¹ f + w. M is symmetric positive definite: the mass, or the iteration matrix of
//! an implicit step. H is n_dof × n_rows, as in FCLIB.

mod admm;
mod augmented_mass;
mod conic_form;
mod dynamics;
mod interior_point;
mod local_form;
mod newton_system;
mod nsgs;
mod parameters;
mod reduction;

pub use admm::Admm;
pub use interior_point::InteriorPoint;
pub use nsgs::Nsgs;
pub use parameters::GlobalSolverParams;
pub use reduction::Reduction;

use crate::Solution;
use crate::cones::{Block, norm_squared};
use crate::error::{SolveError, check_finite, check_size};
use crate::friction_contact::check_blocks;
use crate::matrix::SparseMatrix;
use crate::report::{SolveReport, SolveStatus};
use dynamics::Dynamics;

/// M v = H r + f, u = Hᵀ v + w with a law per block.
///
/// The result of a solve is a [`Solution`] with r and u; the velocities v belong to r by the first equation:
/// [`Self::body_velocity`] computes them, and each solver keeps those of its last solve.
#[derive(Clone, Debug, Default)]
pub struct GlobalFrictionContact {
    /// M, kg; n_dof × n_dof, symmetric positive definite. Both triangles are stored; symmetry is not checked.
    pub m: SparseMatrix,
    /// H, n_dof × n_rows: columns are the directions in which contact impulses act.
    pub h: SparseMatrix,
    /// Momentum without contact impulse f, N·s.
    pub f: Vec<f64>,
    /// What contact velocities have besides those of the bodies (moving walls, impact law) w, m/s.
    pub w: Vec<f64>,
    /// The law of each block of rows.
    pub blocks: Vec<Block>,
}

impl GlobalFrictionContact {
    /// Number of scalar contact rows.
    pub fn n_rows(&self) -> usize {
        self.w.len()
    }

    /// Number of velocities of bodies.
    pub fn n_dof(&self) -> usize {
        self.f.len()
    }

    /// True when no block has friction.
    pub fn is_frictionless(&self) -> bool {
        self.blocks.iter().all(Block::is_frictionless)
    }

    /// u = Hᵀ v + w.
    pub fn contact_velocity(&self, v: &[f64], u: &mut [f64]) {
        u.copy_from_slice(&self.w);
        for (i, v) in v.iter().enumerate() {
            for (j, h) in self.h.row(i) {
                u[j] += h * v;
            }
        }
    }

    /// v = M⁻¹ (H r + f), by sparse factorisation.
    ///
    /// # Errors
    /// Those of [`Self::validate`], [`SolveError::SizeMismatch`] when r has another size than the problem and [`SolveError::NotDefinite`].
    pub fn body_velocity(&self, r: &[f64]) -> Result<Vec<f64>, SolveError> {
        self.validate()?;
        check_size("r", self.n_rows(), r.len())?;
        let mut dynamics = Dynamics::default();
        dynamics.factor(self)?;
        let mut u = vec![0.0; self.n_rows()];
        dynamics.velocities(self, r, &mut u);
        check_finite("v", dynamics.v())?;
        Ok(dynamics.v().to_vec())
    }

    /// Error of (v, r, u), with u = Hᵀ v + w already computed: that of the contacts, the metric of the local
    /// form, plus that of the dynamics,
    ///
    /// ```text
    ///     sqrt(Σ_c |r_c − P_K(r_c − û_c)|²) / max(|w|, |r|, |u|)  +  |M v − H r − f| / max(|M v|, |H r|, |f|)
    /// ```
    ///
    /// where a division by a number below machine precision is left out. The error of Siconos for the global form is such a sum, too.
    /// Of the local form's metric it keeps all but |q|, which is not known here.
    pub fn residual(&self, v: &[f64], r: &[f64], u: &[f64]) -> f64 {
        self.residual_in_mass_unit(v, r, u, 1.0)
    }

    /// s = mean(diag(Hᵀ D⁻¹ H)), 1/kg, with D = diag M; 1 when that is not positive. This is mean(diag W) for a diagonal M
    /// and comes near it for the mass matrices of rigid bodies; for an M with stiffness inside it is smaller.
    pub fn mass_scale(&self) -> f64 {
        let mut sum = 0.0;
        for i in 0..self.n_dof() {
            sum += self.h.row(i).map(|(_, h)| h * h).sum::<f64>() / self.m.get(i, i);
        }
        let mean = sum / self.n_rows() as f64;
        if mean > 0.0 && mean.is_finite() { mean } else { 1.0 }
    }

    /// The residual in the unit of mass that makes [`Self::mass_scale`] one. The judge of convergence of all solvers.
    pub fn residual_normalised(&self, v: &[f64], r: &[f64], u: &[f64]) -> f64 {
        self.residual_in_mass_unit(v, r, u, self.mass_scale())
    }

    fn residual_in_mass_unit(&self, v: &[f64], r: &[f64], u: &[f64], scale: f64) -> f64 {
        let relative = |error: f64, size: f64| if size > f64::EPSILON { error / size } else { error };
        let mut contacts = 0.0;
        let mut start = 0;
        for block in &self.blocks {
            let end = start + block.dim();
            contacts += block.natural_map_squared(&r[start..end], &u[start..end], scale);
            start = end;
        }
        let size = norm_squared(&self.w).max(norm_squared(r) * scale * scale).max(norm_squared(u));
        let (mut dynamics, mut mv, mut hr) = (0.0, 0.0, 0.0);
        for (i, f) in self.f.iter().enumerate() {
            let momentum: f64 = self.m.row(i).map(|(j, m)| m * v[j]).sum();
            let impulse: f64 = self.h.row(i).map(|(j, h)| h * r[j]).sum();
            dynamics += (momentum - impulse - f).powi(2);
            mv += momentum * momentum;
            hr += impulse * impulse;
        }
        let momentum = norm_squared(&self.f).max(mv).max(hr);
        relative(contacts.sqrt(), size.sqrt()) + relative(scale * dynamics.sqrt(), scale * momentum.sqrt())
    }

    /// Checks that sizes fit, all numbers are finite, the diagonal of M is positive and friction coefficients are not negative.
    ///
    /// # Errors
    /// The [`SolveError`] variant of the first fault found.
    pub fn validate(&self) -> Result<(), SolveError> {
        let (n, rows) = (self.f.len(), self.w.len());
        check_size("rows of M", n, self.m.n_rows())?;
        check_size("columns of M", n, self.m.n_columns())?;
        check_size("rows of H", n, self.h.n_rows())?;
        check_size("columns of H", rows, self.h.n_columns())?;
        check_size("rows of the blocks", rows, self.blocks.iter().map(Block::dim).sum())?;
        check_blocks(&self.blocks)?;
        check_finite("M", self.m.values())?;
        check_finite("H", self.h.values())?;
        check_finite("f", &self.f)?;
        check_finite("w", &self.w)?;
        check_columns("columns of a row of M", &self.m)?;
        check_columns("columns of a row of H", &self.h)?;
        if (0..n).any(|i| self.m.get(i, i) <= 0.0) {
            return Err(SolveError::NotDefinite { what: "M" });
        }
        Ok(())
    }

    /// Moves each block of r to its cone.
    fn project_on_cones(&self, r: &mut [f64]) {
        let mut rest = r;
        for block in &self.blocks {
            let (head, tail) = rest.split_at_mut(block.dim());
            block.project(head);
            rest = tail;
        }
    }

    /// The report of a solution with its velocities v: both residuals, and `otherwise` unless the judge is satisfied.
    fn report(&self, name: &'static str, v: &[f64], solution: &Solution, end: End) -> SolveReport {
        let residual_normalised = self.residual_normalised(v, &solution.r, &solution.u);
        SolveReport {
            status: SolveStatus::judged(residual_normalised, end.tolerance, end.status),
            solver: name,
            iterations: end.iterations,
            residual: self.residual(v, &solution.r, &solution.u),
            residual_normalised,
        }
    }
}

/// How the iterations of a solver ended.
#[derive(Clone, Copy, Debug)]
struct End {
    status: SolveStatus,
    iterations: usize,
    tolerance: f64,
}

/// Checks that the columns of each row exist and increase, as the factorisations need.
fn check_columns(what: &'static str, matrix: &SparseMatrix) -> Result<(), SolveError> {
    for row in matrix.row_starts().array_windows().map(|&[start, end]| &matrix.columns()[start..end]) {
        let mut expected = 0;
        for &column in row {
            if column < expected || column >= matrix.n_columns() {
                return Err(SolveError::SizeMismatch { what, expected, found: column });
            }
            expected = column + 1;
        }
    }
    Ok(())
}
