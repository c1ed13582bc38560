//! Settings of the Gauss–Seidel sweeps.

use super::freezing::FreezingParams;
use super::local::LocalSolver;
use super::sweep_order::SweepOrder;
use crate::error::SolveError;
use crate::parameters::check;
use serde::{Deserialize, Serialize};

/// Settings of the sweeps. The defaults are what `auto` uses and what to use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NsgsParams {
    /// How a block is solved: `"exact"` (default), `"newton"` or `"projection"`.
    pub local: LocalSolver,
    /// Largest number of iterations of the local solver `newton` or `projection`. Default 100, nominal 1 to 1000; few of them give
    /// inexact sweeps. 0 is an error.
    pub local_iterations: usize,
    /// Relative error at which `newton` or `projection` ends, no unit. Default 1e-14, nominal 1e-15 to 1e-2. Negative or not a
    /// number is an error.
    pub local_tolerance: f64,
    /// Order of the blocks: `"given"` (default), `"shuffled-once"`, `"shuffled"` or `"symmetric"`.
    pub order: SweepOrder,
    /// Seed of the random orders, any number up to 2⁶³ − 1 (the largest of a model file). Default 1.
    pub seed: u64,
    /// Leaves blocks at rest out of some sweeps. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freezing: Option<FreezingParams>,
    /// Combines sweeps by Anderson acceleration. Default true. Has no effect with `order = "shuffled"` or with freezing, where sweeps
    /// are not one and the same map.
    pub acceleration: bool,
}

impl Default for NsgsParams {
    fn default() -> Self {
        NsgsParams {
            local: LocalSolver::Exact,
            local_iterations: 100,
            local_tolerance: 1e-14,
            order: SweepOrder::Given,
            seed: 1,
            freezing: None,
            acceleration: true,
        }
    }
}

impl NsgsParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        check(self.local_iterations > 0, "nsgs.local_iterations", self.local_iterations as f64, "at least 1")?;
        let tolerance = self.local_tolerance;
        check(tolerance >= 0.0 && tolerance.is_finite(), "nsgs.local_tolerance", tolerance, "a number >= 0")?;
        check(self.seed <= i64::MAX as u64, "nsgs.seed", self.seed as f64, "at most 9223372036854775807")?;
        self.freezing.as_ref().map_or(Ok(()), FreezingParams::validate)
    }

    /// True when each sweep is the same map of r.
    pub(super) fn sweeps_repeat(&self) -> bool {
        self.order != SweepOrder::Shuffled && self.freezing.is_none()
    }
}
