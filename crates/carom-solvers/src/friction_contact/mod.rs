//! The friction contact problem in local form.
//!
//!   u = W r + q,   û = u + (μ|u_T|, 0),   K* ∋ û ⊥ r ∈ K   for each contact block,
//!   u = 0 for each bilateral block,       0 ≤ u ⊥ r ≥ 0 for each unilateral one,
//!   −u ∈ N_\[lower, upper\](r) for each bounded row (motors of limited effort, dry friction of known bound).
//!
//! u_N > 0 is separation, r_N > 0 compression; q is the velocity without impulse, the impact law
//! already inside. The change of variable û is De Saxcé's; the error is the one of FCLIB and Siconos.

mod aclm;
mod admm;
pub(crate) mod admm_control;
mod alart_curnier;
mod auto;
mod ball;
mod bipotential;
mod block_equation;
mod bounded_friction;
mod complementarity;
mod conic_form;
mod contact_modes;
mod de_saxce;
mod disk;
mod disk_equations;
mod elimination;
mod enumeration;
mod extragradient;
mod fischer_burmeister_cone;
mod fixed_point;
mod forecast;
mod freezing;
mod interior_point;
mod line_search;
mod linearised_system;
mod local;
mod local_newton;
mod local_projection;
mod local_rolling;
mod newton_system;
mod nonsmooth_newton;
mod nsgs;
mod one_contact;
mod one_contact_2d;
mod one_contact_3d;
mod one_contact_rolling;
mod panagiotopoulos;
mod parameters;
mod polyhedral;
mod projected_gradient;
pub(crate) mod projection;
mod proximal_newton;
mod scaled;
mod shifted_matrix;
mod sweep_order;
mod sweep_settings;
mod tresca;
mod via_lcp;
mod without_balls;

pub use aclm::Aclm;
pub use admm::{Admm, AdmmAcceleration, AdmmBalancing, AdmmParams};
pub use auto::Auto;
pub use de_saxce::DeSaxce;
pub use enumeration::Enumeration;
pub use extragradient::Extragradient;
pub use fixed_point::FixedPoint;
pub use freezing::FreezingParams;
pub use interior_point::{InteriorPoint, InteriorPointParams};
pub use local::LocalSolver;
pub(crate) use local::solve_contact;
pub use nonsmooth_newton::{NewtonLineSearch, NonsmoothNewton, NonsmoothNewtonParams};
pub use nsgs::Nsgs;
pub use panagiotopoulos::Panagiotopoulos;
pub use parameters::FrictionSolverParams;
pub use polyhedral::{Polyhedral, PolyhedralParams};
pub use projected_gradient::ProjectedGradient;
pub use projection::ProjectionParams;
pub use proximal_newton::ProximalNewton;
pub use sweep_order::SweepOrder;
pub use sweep_settings::NsgsParams;
pub use tresca::Tresca;
pub use via_lcp::ViaLcp;
pub(crate) use without_balls::WithoutBalls;

use crate::Solution;
use crate::cones::{Block, norm_squared};
use crate::delassus::Delassus;
use crate::error::{SolveError, check_finite, check_size};
use crate::report::{SolveReport, SolveStatus};

/// u = W r + q with a law per block.
#[derive(Clone, Debug)]
pub struct FrictionContact {
    /// The Delassus operator W, 1/kg.
    pub w: Delassus,
    /// Velocity without impulse q, m/s.
    pub q: Vec<f64>,
    /// The law of each block of rows.
    pub blocks: Vec<Block>,
}

/// Recognises impulses that only grow because nothing stops them, as on a body squeezed from both sides.
///
/// The residual is relative to |r|: where there is no solution, so that u stays off by a part of q, it falls below any
/// tolerance when r grows. Where s|r| exceeds 1e8 |q|, u has to be right to a thousandth of |q| as well (a mass ratio of 1e8 is no
/// reason to refuse); beyond 1e12 |q| rounding hides u, and nothing is believed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runaway {
    mass_scale: f64,
    speed: f64,
}

impl Runaway {
    /// For impulses in the mass unit s and a problem whose velocities without impulse are about `speed`.
    pub fn new(mass_scale: f64, speed: f64) -> Self {
        Runaway { mass_scale, speed }
    }

    /// True for the iterate r with this normalised residual.
    pub(crate) fn applies(&self, r: &[f64], residual: f64) -> bool {
        self.applies_to_size(self.mass_scale * norm_squared(r).sqrt(), residual)
    }

    /// The same for s|r|.
    #[inline]
    pub(crate) fn applies_to_size(&self, size: f64, residual: f64) -> bool {
        size > 1e8 * self.speed && (residual * size > 1e-3 * self.speed || size > 1e12 * self.speed)
    }
}

impl FrictionContact {
    /// Number of scalar rows.
    pub fn n_rows(&self) -> usize {
        self.q.len()
    }

    /// True when no block has friction.
    pub fn is_frictionless(&self) -> bool {
        self.blocks.iter().all(Block::is_frictionless)
    }

    /// u = W r + q.
    pub fn velocity(&self, r: &[f64], u: &mut [f64]) {
        self.w.multiply(r, u);
        for (u, q) in u.iter_mut().zip(&self.q) {
            *u += q;
        }
    }

    /// Error of (r, u), with u = W r + q already computed:
    ///
    ///   sqrt(Σ_c |r_c − P_K(r_c − û_c)|²) / max(|q|, |r|, |u|)
    ///
    /// where a bilateral block contributes |u_c|² and the division is left out when the largest norm
    /// is below machine precision. The metric of FCLIB and of Siconos `fc3d_compute_error`. It mixes
    /// impulses and velocities, so it depends on the unit of mass.
    pub fn residual(&self, r: &[f64], u: &[f64]) -> f64 {
        self.residual_in_mass_unit(r, u, 1.0)
    }

    /// s = mean(diag W), 1/kg; 1 when that is not positive.
    pub fn mass_scale(&self) -> f64 {
        let mut sum = 0.0;
        for (index, block) in self.blocks.iter().enumerate() {
            let diagonal = self.w.diagonal(index);
            sum += diagonal.iter().step_by(block.dim() + 1).sum::<f64>();
        }
        let mean = sum / self.n_rows() as f64;
        if mean > 0.0 && mean.is_finite() { mean } else { 1.0 }
    }

    /// The residual in the unit of mass that gives mean(diag W) = 1, that is for W/s, s r, q, u with
    /// s = [`Self::mass_scale`]. The judge of convergence of all solvers.
    pub fn residual_normalised(&self, r: &[f64], u: &[f64]) -> f64 {
        self.residual_in_mass_unit(r, u, self.mass_scale())
    }

    #[inline]
    pub(crate) fn residual_in_mass_unit(&self, r: &[f64], u: &[f64], scale: f64) -> f64 {
        let mut error = 0.0;
        let mut start = 0;
        for block in &self.blocks {
            let end = start + block.dim();
            error += block.natural_map_squared(&r[start..end], &u[start..end], scale);
            start = end;
        }
        let size = norm_squared(&self.q).max(norm_squared(r) * scale * scale).max(norm_squared(u)).sqrt();
        if size > f64::EPSILON { error.sqrt() / size } else { error.sqrt() }
    }

    /// The test for impulses that only grow because nothing stops them.
    pub(crate) fn runaway(&self, mass_scale: f64) -> Runaway {
        Runaway::new(mass_scale, runaway_speed(&self.q, &self.blocks, mass_scale))
    }

    /// Checks that sizes fit, all numbers are finite and friction coefficients are not negative.
    ///
    /// # Errors
    /// The [`SolveError`] variant of the first fault found.
    pub fn validate(&self) -> Result<(), SolveError> {
        check_size("blocks", self.w.n_blocks(), self.blocks.len())?;
        check_size("q", self.w.n_rows(), self.q.len())?;
        if !self.w.is_complete() {
            return Err(SolveError::Incomplete { what: "W" });
        }
        check_blocks(&self.blocks)?;
        for (index, block) in self.blocks.iter().enumerate() {
            let dim = block.dim();
            if self.w.offset(index + 1) - self.w.offset(index) != dim {
                return Err(SolveError::BadBlock { block: index, value: dim as f64, expected: "the number of rows of this block in W" });
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

/// What velocities are compared with: those without impulse, and what bounds that do not contain zero do in any case.
pub(crate) fn runaway_speed(q: &[f64], blocks: &[Block], mass_scale: f64) -> f64 {
    let forced: f64 = blocks.iter().map(|block| block.least_impulse().powi(2)).sum();
    norm_squared(q).sqrt() + mass_scale * forced.sqrt()
}

/// Checks the sizes and coefficients of the laws.
///
/// # Errors
/// [`SolveError::BadBlock`] for the first one outside its range.
pub(crate) fn check_blocks(blocks: &[Block]) -> Result<(), SolveError> {
    for (index, block) in blocks.iter().enumerate() {
        let bad = |value, expected| Err(SolveError::BadBlock { block: index, value, expected });
        let dim = block.dim();
        if dim == 0 || dim > Block::MAX_DIM {
            return bad(dim as f64, "1 to 6 rows");
        }
        let mu = block.friction();
        if !(mu >= 0.0 && mu.is_finite()) {
            return bad(mu, "a friction coefficient >= 0");
        }
        if let Some((slope, _)) = block.moments()
            && !(slope >= 0.0 && slope.is_finite())
        {
            return bad(slope, "a rolling or spinning resistance >= 0");
        }
        if let Some(radius) = block.radius()
            && (!(2..=3).contains(&dim) || radius.is_nan() || radius < 0.0)
        {
            return bad(radius, "a ball of two or three rows with a radius >= 0");
        }
        if let Some((lower, upper)) = block.bounds() {
            if lower.is_nan() || lower == f64::INFINITY {
                return bad(lower, "a lower bound that is a number or -inf");
            }
            if !(upper >= lower && upper > f64::NEG_INFINITY) {
                return bad(upper, "an upper bound that is not below the lower one");
            }
        }
    }
    Ok(())
}
