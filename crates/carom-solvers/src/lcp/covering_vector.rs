//! The covering vector of Lemke's method.

use super::Lcp;
use crate::random::SplitMix64;
use serde::{Deserialize, Serialize};

/// The vector d > 0 of the artificial column d z₀.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum CoveringVector {
    /// d_i = 1: the rows are treated alike in their units.
    #[default]
    Ones,
    /// d_i = √M_ii, or 1 where M_ii is not positive (in units with mean(diag M) = 1): the rows are treated alike whatever
    /// their units.
    Diagonal,
    /// d_i uniform in (0.5, 1.5): tries other solutions. The same seed gives the same d.
    Random {
        /// Seed of the generator; any number.
        seed: u64,
    },
}

impl CoveringVector {
    /// Fills d for a matrix with this mean diagonal.
    pub(super) fn fill(self, problem: &Lcp, mean: f64, d: &mut Vec<f64>) {
        d.clear();
        let n = problem.n();
        match self {
            CoveringVector::Ones => d.resize(n, 1.0),
            CoveringVector::Diagonal => d.extend((0..n).map(|i| {
                let diagonal = problem.m.get(i, i) / mean;
                if diagonal > 0.0 { diagonal.sqrt() } else { 1.0 }
            })),
            CoveringVector::Random { seed } => {
                let mut random = SplitMix64::new(seed);
                d.extend((0..n).map(|_| 0.5 + random.uniform()));
            }
        }
    }
}
