//! A motion that cannot go over the edge of two pieces.

use crate::error::NonFinite;
/// A motion that cannot go over an edge.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EdgeError {
    /// The pieces do not meet.
    #[error(
        "at t = {t:.9} s, \"{name}\" jumps by {jump:.3e} m from piece {from} to piece {to}: where two pieces meet, their formulas must agree"
    )]
    Jump {
        /// The constraint or contact.
        name: String,
        /// Time \[s\].
        t: f64,
        /// The piece before, from 1.
        from: usize,
        /// The piece after, from 1.
        to: usize,
        /// g_2 − g_1 \[m\].
        jump: f64,
    },
    /// The conditions leave a gap.
    #[error(
        "at t = {t:.9} s, \"{name}\" leaves piece {from} and no condition holds (the nearest misses by {miss:.3e}): let the conditions meet"
    )]
    Uncovered {
        /// The constraint or contact.
        name: String,
        /// Time \[s\].
        t: f64,
        /// The piece before, from 1.
        from: usize,
        /// By how much the nearest condition misses.
        miss: f64,
    },
    /// A corner that its law cannot pass.
    #[error("at t = {t:.9} s, the corner of \"{name}\": {reason}")]
    Corner {
        /// The constraint or contact.
        name: String,
        /// Time \[s\].
        t: f64,
        /// What is wrong and how to mend it.
        reason: &'static str,
    },
    /// A quantity is not finite.
    #[error("at t = {t:.9} s, {source}")]
    NonFinite {
        /// Time \[s\].
        t: f64,
        /// What is not finite.
        source: NonFinite,
    },
}
