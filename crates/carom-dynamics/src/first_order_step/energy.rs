//! The energy account of a system with a storage function S = ½ xᵀP x.
//!
//! A step from x to x⁺ changes S by x̄ᵀP (x⁺ − x), x̄ = ½(x + x⁺), exactly. For linear systems with M = 1 this splits into what sources supply (a), what the system loses (A)
//! and what multipliers take (B λ): supplied − lost − taken is the change of S, whatever the discretisation of Φ, since the three are the parts of x⁺ − x by superposition. For passive
//! systems, λᵀy = 0 makes what multipliers take the loss of the discretisation: it is not negative for θ ≥ ½ and implicit multipliers.
//!
//! Networks with formulas of their powers are accounted by them, at (t_{k+θ}, x_{k+θ}, λ): what sources supply, what resistors lose, and what the ideal elements take, h λᵀy, which their
//! law makes zero. What is left of the change of S is then the error of the discretisation, not a term that is made to fit.
//!
//! Beside a mechanical part ([`account_mixed`]) forces act in both directions: what the first-order part does on velocities is work on the mechanical energy, what velocities and coordinates do in the rates is work on S. For a motor the
//! two cancel, k i v and −k v i; what is left is what sources supply.

use super::memory::FirstOrderMemory;
use crate::error::NonFinite;
use crate::first_order::law::MultiplierLaw;
use crate::first_order::set::{FirstOrderSet, Point, Variable};
use crate::memory::Work;
use crate::report::StepReport;
use crate::state::State;
use crate::systems::Scratch;
use carom_solvers::Solution;

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
    blend(weight, x_start, &state.x, power_point);
    let at = Point { t: t + weight * h, x: power_point, lambda: &solution.r, held: &state.held, q: &state.q, v: &state.v };
    add_powers(set, &at, (solution, power_scratch), h, report)
}

fn blend(weight: f64, start: &[f64], end: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.extend(start.iter().zip(end).map(|(a, b)| (1.0 - weight) * a + weight * b));
}

fn add_powers(
    set: &FirstOrderSet,
    at: &Point<'_>,
    (solution, scratch): (&Solution, &mut Scratch),
    h: f64,
    report: &mut StepReport,
) -> Result<(), NonFinite> {
    let [supplied, dissipated] = set.powers(at, scratch)?;
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

/// The account of a mixed step from (`work.q_start`, `work.v_start`, `memory.x_start`) to `state`, of length `h`, θ = `theta`; `t` is its start.
///
/// Networks with formulas of their powers by these, at θ. Others by S alone: with J = ∂f/∂x, h x̄ᵀP M⁻¹J x_{k+θ} is what the system loses, h x̄ᵀP M⁻¹g what multipliers take, the rest of h x̄ᵀP M⁻¹f what sources and
/// the mechanical part bring; where M is singular all of the change counts as brought.
///
/// # Errors
/// [`NonFinite`] for a power or a derivative that is none.
pub(crate) fn account_mixed(
    set: &FirstOrderSet,
    (state, t, work): (&State, f64, &Work),
    memory: &mut FirstOrderMemory,
    (h, theta): (f64, f64),
    report: &mut StepReport,
) -> Result<(), NonFinite> {
    let FirstOrderMemory { mixed, solution, x_start, power_point, power_coordinates, power_velocities, power_scratch, .. } = memory;
    blend(theta, x_start, &state.x, power_point);
    // work of the first-order part on the mechanical one
    let n = state.x.len();
    let rate = |k: usize| (1.0 - theta) * mixed.start[k] + theta * mixed.end[k];
    for (k, &i) in set.acted_on().iter().enumerate() {
        report.work += 0.5 * h * (work.v_start[i] + state.v[i]) * (rate(n + k) + mixed.action[n + k]);
    }
    if set.has_powers() {
        blend(theta, &work.q_start, &state.q, power_coordinates);
        blend(theta, &work.v_start, &state.v, power_velocities);
        let (x, q, v) = (&*power_point, &*power_coordinates, &*power_velocities);
        let at = Point { t: t + theta * h, x, lambda: &solution.r, held: &state.held, q, v };
        return add_powers(set, &at, (solution, power_scratch), h, report);
    }
    if set.storage().is_empty() {
        return Ok(());
    }
    // ∂S/∂x at x̄, then times h M⁻¹, in `power_velocities`
    let (p, mean) = (set.storage(), |i: usize| 0.5 * (x_start[i] + state.x[i]));
    let slope = power_velocities;
    slope.clear();
    slope.extend((0..n).map(|j| (0..n).map(|i| mean(i) * p[i * n + j]).sum::<f64>()));
    mixed.lu.reset(n).iter_mut().enumerate().for_each(|(k, m)| *m = mixed.mass[k % n * n + k / n]);
    if !mixed.lu.factor() {
        report.work += stored(set, &state.x) - stored(set, x_start);
        return Ok(());
    }
    mixed.lu.solve(slope);
    let mut own = 0.0;
    let at = Point { t: t + h, x: &state.x, lambda: &solution.r, held: &state.held, q: &state.q, v: &state.v };
    set.visit(&set.drift_jacobian, &at, power_scratch, &mut |i, variable, value| {
        if let (true, Variable::State(j)) = (i < n, variable) {
            own += h * slope[i] * value * power_point[j];
        }
    })?;
    let brought: f64 = (0..n).map(|i| h * slope[i] * rate(i)).sum();
    report.dissipated_friction -= own;
    report.dissipated_impact -= (0..n).map(|i| h * slope[i] * mixed.action[i]).sum::<f64>();
    report.work += brought - own;
    Ok(())
}
