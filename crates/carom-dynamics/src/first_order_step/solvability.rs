//! Whether the one-step problems of a linear system have one solution: what is asked of its data before it starts.
//!
//! With W = D + γ C Ξ of the step (see `linear_step.rs`), the rows of equations eliminated, −(W λ + q) ∈ N_K(λ) has
//!
//! - for every q one λ where W is a P-matrix (all principal minors positive), whether the system is passive or not;
//! - solutions wherever there is an admissible λ, all with the same y (but for degenerate ones), where W + Wᵀ ≥ 0: passive systems with backward Euler;
//! - else for some q several, for others possibly none. Bounded laws (relays, balls) always have one.
//!
//! A diagonal entry W_ii < 0 of a complementarity row is the plain case, a multiplier that pushes its own output the wrong way: with the others at zero there are two solutions for q_i > 0 and none for q_i < 0. It is refused. What else
//! has a negative minor and is not monotone goes on, and an event says so at the start: the run may be right, and the residual tells every step that is not.

use super::memory::FirstOrderMemory;
use crate::error::ModelError;
use crate::first_order::law::MultiplierLaw;
use crate::first_order::set::FirstOrderSet;
use crate::report::{Event, EventKind};
use carom_solvers::vi::Set;
use nalgebra::DMatrix;

/// Rows up to which all principal minors are looked at.
const MOST_ROWS: usize = 12;

/// Entries and minors below this fraction of their terms are rounding.
const ROUNDING: f64 = 1e-12;

/// Refuses one-step problems that have no or several solutions for every q, and notes those that may have; `w` is W, row-major.
///
/// # Errors
/// [`ModelError::NotSolvable`] naming the row.
pub(crate) fn require_solvable(set: &FirstOrderSet, w: &[f64], t: f64, memory: &mut FirstOrderMemory) -> Result<(), ModelError> {
    let Some((rows, reduced)) = without_equations(set, w) else { return Ok(()) };
    let size = reduced.amax();
    if size == 0.0 {
        return Ok(());
    }
    let is_plain = |&k: &usize| set.relation_of(rows[k]).law == MultiplierLaw::Complementarity;
    if let Some(k) = (0..rows.len()).filter(is_plain).find(|&k| reduced[(k, k)] < -ROUNDING * reduced.row(k).amax()) {
        let relation = set.relation_of(rows[k]).name.clone();
        let passivity = set.passivity().map_or_else(String::new, |passivity| format!(" (the system is {passivity})"));
        return Err(ModelError::NotSolvable { relation, row: set.rows()[rows[k]].clone(), slope: reduced[(k, k)], passivity });
    }
    if is_monotone(&reduced) {
        return Ok(());
    }
    let Some(doubtful) = bad_minor(&reduced) else { return Ok(()) };
    // bounded laws have a solution whatever W is
    let names: Vec<&str> = doubtful.iter().map(|&k| set.rows()[rows[k]].as_str()).collect();
    let bounded = doubtful.iter().all(|&k| set.relation_of(rows[k]).law.is_bounded());
    let count = if bounded { "several solutions are possible" } else { "several solutions or none are possible" };
    let passivity = set.passivity().map_or_else(|| "passivity is not known".to_owned(), ToString::to_string);
    let note = format!("{count}: the one-step matrix of {} has a negative principal minor; {passivity}", names.join(", "));
    memory.events.push(Event::new(t, EventKind::OutcomeChosen, names.join(", ")).with_note(note));
    Ok(())
}

/// The rows that are no equations, and W over them with the equations solved; `None` where these do not determine their multipliers, or sets are neither intervals nor equations.
fn without_equations(set: &FirstOrderSet, w: &[f64]) -> Option<(Vec<usize>, DMatrix<f64>)> {
    let m = set.rows().len();
    if set.sets().iter().any(|set| matches!(set, Set::Ball { .. } | Set::SecondOrderCone { .. } | Set::Simplex { .. })) {
        return None;
    }
    let is_free: Vec<bool> = set.sets().iter().flat_map(|set| std::iter::repeat_n(matches!(set, Set::Free { .. }), set.dim())).collect();
    let (free, rows): (Vec<usize>, Vec<usize>) = (0..m).partition(|&i| is_free[i]);
    let whole = DMatrix::from_row_slice(m, m, w);
    let pick = |i: &[usize], j: &[usize]| whole.select_rows(i).select_columns(j);
    let own = pick(&rows, &rows);
    if free.is_empty() {
        return Some((rows, own));
    }
    let solved = pick(&free, &free).full_piv_lu().solve(&pick(&free, &rows))?;
    let (direct, through) = (own.amax(), pick(&rows, &free) * solved);
    // what the leak of a floating node determines is no property of the elements
    (through.amax() <= 1e9 * direct.max(whole.amax())).then(|| (rows, own - through))
}

/// W + Wᵀ ≥ 0 but for rounding, in units in which the diagonal is one.
fn is_monotone(w: &DMatrix<f64>) -> bool {
    let size = w.amax();
    let unit: Vec<f64> = (0..w.nrows()).map(|i| w[(i, i)].abs().max(1e-12 * size).sqrt().recip()).collect();
    let scaled = DMatrix::from_fn(w.nrows(), w.ncols(), |i, j| (w[(i, j)] + w[(j, i)]) * unit[i] * unit[j]);
    let largest = scaled.amax();
    scaled.symmetric_eigenvalues().min() >= -1e-9 * largest
}

/// The rows of the smallest principal minor that is negative; `None` where there is none, or there are too many.
fn bad_minor(w: &DMatrix<f64>) -> Option<Vec<usize>> {
    let m = w.nrows();
    if m > MOST_ROWS {
        return None;
    }
    let mut subsets: Vec<u32> = (1..1_u32 << m).collect();
    subsets.sort_by_key(|subset| subset.count_ones());
    subsets.into_iter().map(|subset| (0..m).filter(|k| subset >> k & 1 == 1).collect::<Vec<_>>()).find(|rows| {
        let block = w.select_rows(rows).select_columns(rows);
        let terms: f64 = block.row_iter().map(|row| row.norm()).product();
        block.determinant() <= -ROUNDING * terms
    })
}
