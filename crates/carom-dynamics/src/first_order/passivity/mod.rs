//! Passivity of linear systems: is there a storage function that multipliers cannot fill?
//!
//! ```text
//! ẋ = A x + B λ,   y = C x + D λ:      S = ½ xᵀP x, P = Pᵀ > 0, with  dS/dt ≤ λᵀy
//! ⇔   F(P) = [AᵀP + PA, PB − Cᵀ; BᵀP − C, −(D + Dᵀ)] ≤ 0
//! ```
//!
//! (the lemma of Kalman, Yakubovich and Popov; Brogliato, Lozano, Maschke & Egeland, *Dissipative Systems Analysis and Control*, ch. 3). The laws −y ∈ N_K(λ) make λᵀy ≤ 0 where 0 ∈ K, so that a passive system without sources only
//! loses S, and the one-step matrix D + γh C(M − hθA)⁻¹B of backward Euler is positive semidefinite: its problems are monotone. Rows of equations (y = 0) are no ports: F is asked for on the vectors (x, λ) that obey them.
//!
//! | file | what it holds |
//! |---|---|
//! | `form.rs` | F(P) in units in which it is of order one, on the vectors that the equations allow |
//! | `search.rs` | a P with the least largest eigenvalue of F, by a barrier method |
//! | `witness.rs` | why there is none: a frequency, a resistance, a state that grows |
//!
//! What is found is verified by the eigenvalues of F(P) and P, what is not there is proved by a witness or by the bound of the search; what neither decides is said to be undecided.

mod form;
mod search;
mod witness;

use super::set::{FirstOrderSet, LinearParts};
use form::Form;
use nalgebra::DMatrix;

/// What is known of the passivity of a linear system.
#[derive(Clone, Debug, PartialEq)]
pub enum Passivity {
    /// There is a storage function.
    Passive {
        /// P, row-major.
        storage: Vec<f64>,
        /// Largest eigenvalue of F(P) in units in which its entries are of order one: rounding, at most 1e-7.
        excess: f64,
    },
    /// There is none.
    NotPassive(NotPassive),
    /// Neither a storage function nor a proof that there is none was found.
    Undecided,
}

/// Why a system is not passive.
#[derive(Clone, Debug, PartialEq)]
pub enum NotPassive {
    /// λᵀ D λ < 0 for some λ.
    Resistance {
        /// The rows in which this λ is largest.
        rows: String,
        /// λᵀ D λ of the worst λ of length one.
        value: f64,
    },
    /// A has an eigenvalue with positive real part: a state grows by itself.
    Growing {
        /// The state that grows most.
        state: String,
        /// The real part \[1/s\].
        rate: f64,
    },
    /// The Hermitian part of C (iω − A)⁻¹B + D has a negative eigenvalue: multipliers gain energy at this frequency.
    Frequency {
        /// The rows that gain.
        rows: String,
        /// ω \[rad/s\].
        omega: f64,
        /// The eigenvalue.
        value: f64,
    },
    /// No P makes the largest eigenvalue of F smaller than this.
    NoStorage {
        /// Bound of the search, in units in which F is of order one.
        least: f64,
    },
}

impl std::fmt::Display for NotPassive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotPassive::Resistance { rows, value } => write!(f, "λᵀD λ = {value:.3e} for multipliers of {rows}: a negative resistance"),
            NotPassive::Growing { state, rate } => write!(f, "{state} grows by itself, at {rate:.3e} per second"),
            NotPassive::Frequency { rows, omega, value } => {
                write!(f, "{rows} would gain energy at ω = {omega:.3e} rad/s (Hermitian part of the transfer matrix {value:.3e})")
            }
            NotPassive::NoStorage { least } => write!(f, "every ½ xᵀP x can be filled by multipliers (F(P) ≥ {least:.1e})"),
        }
    }
}

impl std::fmt::Display for Passivity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Passivity::Passive { excess, .. } => write!(f, "passive (F(P) ≤ {:.0e})", excess.max(0.0)),
            Passivity::NotPassive(why) => write!(f, "not passive: {why}"),
            Passivity::Undecided => f.write_str("passivity undecided"),
        }
    }
}

/// Largest eigenvalue of F(P), of order one, that counts as rounding for a P that is given or guessed.
const ROUNDING: f64 = 1e-10;

/// The same for a P of the search, which ends with this accuracy.
const SEARCHED: f64 = 1e-7;

/// States beyond which nothing is searched for: the cost grows with their sixth power.
const MOST_STATES: usize = 10;

/// Rows beyond which nothing is examined.
const MOST_ROWS: usize = 64;

/// Decides passivity; `None` where M is singular or the system is large (more than 64 rows).
///
/// Cost: a few eigenvalue problems of the size of states and rows; up to ten states, a search of some ten milliseconds where the storage functions that the matrices suggest do not do.
#[must_use]
pub fn passivity(set: &FirstOrderSet, parts: &LinearParts) -> Option<Passivity> {
    let (n, m) = (set.states().len(), set.rows().len());
    if n == 0 || n + m > MOST_ROWS {
        return None;
    }
    let form = Form::new(set, parts)?;
    let given = (!set.storage().is_empty()).then(|| DMatrix::from_row_slice(n, n, set.storage()));
    for candidate in given.into_iter().chain([form.suggested()]) {
        let scaled = form.scale(&candidate);
        if let Some(excess) = form.excess(&scaled).filter(|&excess| excess <= ROUNDING) {
            return Some(Passivity::Passive { storage: candidate.transpose().as_slice().to_vec(), excess });
        }
    }
    if let Some(why) = witness::find(set, parts) {
        return Some(Passivity::NotPassive(why));
    }
    if n > MOST_STATES {
        return Some(Passivity::Undecided);
    }
    let found = search::minimise(&form);
    let polished = form.polish(&found.p);
    let best = [polished, found.p].into_iter().filter_map(|p| Some((form.excess(&p)?, p))).min_by(|a, b| a.0.total_cmp(&b.0));
    Some(match best {
        Some((excess, p)) if excess <= SEARCHED => Passivity::Passive { storage: form.unscale(&p).transpose().as_slice().to_vec(), excess },
        _ if found.bound > SEARCHED => Passivity::NotPassive(NotPassive::NoStorage { least: found.bound }),
        _ => Passivity::Undecided,
    })
}
