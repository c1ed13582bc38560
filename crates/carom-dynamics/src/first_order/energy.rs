//! The energy account of a system with a storage function S = ½ xᵀP x.
//!
//! A step from x to x⁺ changes S by x̄ᵀP (x⁺ − x), x̄ = ½(x + x⁺), exactly. For linear systems with M = 1 this splits into what sources supply (a), what the system loses (A)
//! and what multipliers take (B λ): supplied − lost − taken is the change of S, whatever the discretisation of Φ, since the three are the parts of x⁺ − x by superposition. For passive
//! systems, λᵀy = 0 makes what multipliers take the loss of the discretisation: it is not negative for θ ≥ ½ and implicit multipliers.

use super::set::FirstOrderSet;
use crate::schemes::StepReport;

/// S \[J\]; zero where there is no storage function.
pub(crate) fn stored(set: &FirstOrderSet, x: &[f64]) -> f64 {
    0.5 * weigh(set, x, x)
}

fn weigh(set: &FirstOrderSet, left: &[f64], right: &[f64]) -> f64 {
    let (p, n) = (set.storage(), right.len());
    if p.is_empty() {
        return 0.0;
    }
    left.iter().enumerate().map(|(i, l)| l * p[i * n..(i + 1) * n].iter().zip(right).map(|(p, r)| p * r).sum::<f64>()).sum()
}

/// The step from `x_start` to `x`: what sources supplied goes to `work`, what the system lost to `dissipated_friction`, what multipliers took to
/// `dissipated_impact`. `by_sources` and `by_multipliers` are their parts of x⁺ − x.
pub(crate) fn account(
    set: &FirstOrderSet,
    (x_start, x): (&[f64], &[f64]),
    (by_sources, by_multipliers): (&[f64], &[f64]),
    mean: &mut Vec<f64>,
    report: &mut StepReport,
) {
    mean.clear();
    mean.extend(x_start.iter().zip(x).map(|(a, b)| 0.5 * (a + b)));
    let (supplied, given) = (weigh(set, mean, by_sources), weigh(set, mean, by_multipliers));
    let change = stored(set, x) - stored(set, x_start);
    report.work += supplied;
    report.dissipated_impact -= given;
    report.dissipated_friction -= change - supplied - given;
}
