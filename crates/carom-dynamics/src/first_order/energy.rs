//! The energy account of a system with a storage function S = ½ xᵀP x.
//!
//! A step from x to x⁺ changes S by x̄ᵀP (x⁺ − x), x̄ = ½(x + x⁺), exactly. For linear systems with M = 1 this splits into what sources supply (a), what the system loses (A)
//! and what multipliers take (B λ): supplied − lost − taken is the change of S, whatever the discretisation of Φ, since the three are the parts of x⁺ − x by superposition. For passive
//! systems, λᵀy = 0 makes what multipliers take the loss of the discretisation: it is not negative for θ ≥ ½ and implicit multipliers.
//!
//! Networks with formulas of their powers are accounted by them, at (t_{k+θ}, x_{k+θ}, λ): what sources supply, what resistors lose, and what the ideal elements take, h λᵀy, which their
//! law makes zero. What is left of the change of S is then the error of the discretisation, not a term that is made to fit.

use super::law::MultiplierLaw;
use super::memory::FirstOrderMemory;
use super::set::{FirstOrderSet, Point};
use crate::error::NonFinite;
use crate::schemes::StepReport;
use crate::state::State;

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

/// The account of a step from `memory.x_start` to `state.x`, of length `h`, by the powers at `weight` of the end: supplied to `work`, lost in resistors to
/// `dissipated_friction`, taken by ideal elements to `dissipated_impact`. `t` is the start of the step.
///
/// # Errors
/// [`NonFinite`] for a power that is none.
pub(crate) fn account_powers(
    set: &FirstOrderSet,
    (state, t): (&State, f64),
    memory: &mut FirstOrderMemory,
    (h, weight): (f64, f64),
    report: &mut StepReport,
) -> Result<(), NonFinite> {
    let FirstOrderMemory { solution, x_start, power_point, power_scratch, .. } = memory;
    power_point.clear();
    power_point.extend(x_start.iter().zip(&state.x).map(|(a, b)| (1.0 - weight) * a + weight * b));
    let at = Point { t: t + weight * h, x: power_point, lambda: &solution.r, held: &state.held, q: &state.q, v: &state.v };
    let [supplied, dissipated] = set.powers(&at, power_scratch)?;
    report.work += h * supplied;
    report.dissipated_friction += h * dissipated;
    for relation in set.relations().iter().filter(|relation| relation.law != MultiplierLaw::Equality) {
        let taken: f64 = relation.rows.clone().map(|i| solution.r[i] * solution.u[i]).sum();
        // a relay's multiplier is a command, not a current: it takes no power
        if !relation.law.is_bounded() {
            report.dissipated_impact += h * taken;
        }
    }
    Ok(())
}
