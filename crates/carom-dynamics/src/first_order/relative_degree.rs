//! How far outputs lie from multipliers: the relative degree, and what it asks of a scheme.
//!
//! Of the transfer matrix G(s) = D + C (s M − A)⁻¹ B, row i behaves as s^(−r_i) for large s; r_i is its relative degree, 0 where D acts, 1 where C M⁻¹B does. For
//! unbounded multipliers (complementarity, equality, cones)
//!
//! - r ≤ 1: passive circuits, sweeping processes; any θ;
//! - r = 2: the multiplier acts on the second derivative, as a contact force does on a gap. Backward Euler (θ = γ = 1) gives the inelastic motion; with
//!   θ < 1 states that jump oscillate or bounce;
//! - r ≥ 3: the one-step problems have solutions that do not converge: on Brogliato2002 (46), r = 3, backward Euler gives x₁ = i(i+1)/(2h) (§6.2), which grows without
//!   bound as h → 0. Refused.

use super::set::{FirstOrderSet, LinearParts, Point, Variable};
use crate::error::ModelError;
use crate::state::State;
use crate::systems::Scratch;
use carom_solvers::linear::RowLu;

/// Relative degree of each row; `None` where no multiplier has an influence on it.
///
/// Measured by the slope of |G_i(s)| between two large s: exact for the few powers that matter, also where M is singular. `None` as a whole where s M − A is singular.
#[must_use]
pub(crate) fn relative_degrees(set: &FirstOrderSet, parts: &LinearParts) -> Option<Vec<Option<u32>>> {
    let m = set.rows().len();
    // between the poles and the range where round-off rules: s well above all rates of the system
    let largest = |values: &[f64]| values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let (rates, mass) = (largest(&parts.a), largest(&parts.mass));
    let fastest = if mass > 0.0 { (rates / mass).max(1.0) } else { rates.max(1.0) };
    let (near, far) = (1e4 * fastest, 1e6 * fastest);
    let (at_near, at_far) = (row_sizes(set, parts, near)?, row_sizes(set, parts, far)?);
    let degree = |i: usize| {
        let (a, b) = (at_near[i], at_far[i]);
        (a > 0.0 && b > 0.0).then(|| ((a / b).log10() / 2.0).round().max(0.0) as u32)
    };
    Some((0..m).map(degree).collect())
}

/// Largest |G_ij(s)| of each row.
fn row_sizes(set: &FirstOrderSet, parts: &LinearParts, s: f64) -> Option<Vec<f64>> {
    let (n, m) = (set.states().len(), set.rows().len());
    let mut lu = RowLu::default();
    for (k, entry) in lu.reset(n).iter_mut().enumerate() {
        *entry = s * parts.mass[k] - parts.a[k];
    }
    if !lu.factor() {
        return None;
    }
    let columns = solve_columns(&lu, &parts.b, n);
    let entry = |i: usize, j: usize| parts.d[i * m + j] + (0..n).map(|k| parts.c[i * n + k] * columns[k * m + j]).sum::<f64>();
    Some((0..m).map(|i| (0..m).fold(0.0_f64, |size, j| size.max(entry(i, j).abs()))).collect())
}

/// Refuses a system whose relative degrees the scheme cannot follow, at the initial state.
///
/// # Errors
/// [`ModelError::RelativeDegree`] or [`ModelError::SingularPencil`], naming the row, with the remedy.
pub(crate) fn require_degrees(set: &FirstOrderSet, state: &State, (theta, gamma): (f64, f64)) -> Result<(), ModelError> {
    let linearised;
    let parts = match set.linear() {
        Some(parts) => parts,
        None => {
            linearised = linearise(set, state)?;
            &linearised
        }
    };
    let Some(degrees) = relative_degrees(set, parts) else { return Err(ModelError::SingularPencil { states: state_names(set) }) };
    let backward = theta == 1.0 && gamma == 1.0;
    for (row, degree) in degrees.into_iter().enumerate() {
        let relation = set.relation_of(row);
        // bounded multipliers cannot diverge; facets belong to their polytope
        if relation.law.is_bounded() || matches!(relation.law, super::MultiplierLaw::Polytope { .. }) {
            continue;
        }
        let (relation, name) = (relation.name.clone(), set.rows()[row].clone());
        match degree {
            // a formula may have no influence at one state and some at another
            None if set.linear().is_none() => {}
            None => return Err(ModelError::NoInfluence { relation, row: name }),
            Some(degree) if degree >= 3 || (degree == 2 && !backward) => {
                return Err(ModelError::RelativeDegree { relation, row: name, degree });
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn state_names(set: &FirstOrderSet) -> String {
    set.states().iter().map(|s| s.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// The matrices at a state, with λ = 0.
fn linearise(set: &FirstOrderSet, state: &State) -> Result<LinearParts, ModelError> {
    let (n, m) = (set.states().len(), set.rows().len());
    let (zero, mut scratch) = (vec![0.0; m], Scratch::default());
    let at = Point { t: state.t, x: &state.x, lambda: &zero, held: &state.held, q: &state.q, v: &state.v };
    let (mut mass, mut a, mut b, mut c, mut d) = (vec![0.0; n * n], vec![0.0; n * n], vec![0.0; n * m], vec![0.0; n * m], vec![0.0; m * m]);
    set.mass(&at, &mut mass, &mut scratch)?;
    set.visit(&set.drift_jacobian, &at, &mut scratch, &mut |i, variable, value| {
        if let Variable::State(j) = variable {
            a[i * n + j] += value;
        }
    })?;
    set.visit(&set.action_jacobian, &at, &mut scratch, &mut |i, variable, value| {
        if let Variable::Multiplier(j) = variable {
            b[i * m + j] += value;
        }
    })?;
    set.visit(&set.output_jacobian, &at, &mut scratch, &mut |i, variable, value| match variable {
        Variable::State(j) => c[i * n + j] += value,
        Variable::Multiplier(j) => d[i * m + j] += value,
        Variable::Coordinate(_) | Variable::Velocity(_) => {}
    })?;
    Ok(LinearParts { mass, a, b, c, d, forcing: set.output.clone(), is_autonomous: true, is_held: false })
}

/// A⁻¹ B for row-major B of n columns.
pub(crate) fn solve_columns(lu: &RowLu, b: &[f64], n: usize) -> Vec<f64> {
    let columns = b.len() / n.max(1);
    let mut out = vec![0.0; b.len()];
    let mut column = vec![0.0; n];
    for j in 0..columns {
        (0..n).for_each(|i| column[i] = b[i * columns + j]);
        lu.solve(&mut column);
        (0..n).for_each(|i| out[i * columns + j] = column[i]);
    }
    out
}
