//! What can be wrong with a problem or with the parameters of a solver.

use thiserror::Error;

/// An input a solver cannot work with. Not converging is *not* an error: see
/// [`SolveStatus`](crate::SolveStatus).
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SolveError {
    /// An entry of the problem is infinite or not a number.
    #[error("{what}[{index}] is not finite")]
    NotFinite {
        /// The array that holds the entry.
        what: &'static str,
        /// Position of the first such entry in that array.
        index: usize,
    },
    /// Two arrays of the problem do not fit together.
    #[error("{what} has size {found}, expected {expected}")]
    SizeMismatch {
        /// The array with the wrong size.
        what: &'static str,
        /// The size it should have.
        expected: usize,
        /// The size it has.
        found: usize,
    },
    /// A matrix has rows that were not finished.
    #[error("{what} has unfinished rows")]
    Incomplete {
        /// The matrix.
        what: &'static str,
    },
    /// A matrix that must be positive definite (an inverse mass: semidefinite) is not.
    #[error("{what} is not positive definite")]
    NotDefinite {
        /// The matrix.
        what: &'static str,
    },
    /// A block of the problem is outside its admissible set.
    #[error("block {block}: found {value}, expected {expected}")]
    BadBlock {
        /// Index of the block.
        block: usize,
        /// The offending value.
        value: f64,
        /// What is accepted.
        expected: &'static str,
    },
    /// The solver does not handle this kind of problem.
    #[error("solver '{solver}' cannot solve this problem: {reason}; use {alternatives}")]
    Unsupported {
        /// Registry name of the solver.
        solver: &'static str,
        /// The property of the problem it does not handle.
        reason: &'static str,
        /// Registry names of solvers that do.
        alternatives: &'static str,
    },
    /// No solver has this name.
    #[error("unknown solver '{name}'; did you mean '{nearest}'?")]
    UnknownSolver {
        /// The name asked for.
        name: String,
        /// The registered name closest to it.
        nearest: &'static str,
    },
    /// A parameter of a solver is outside its admissible range.
    #[error("parameter {name} = {value}, expected {expected}")]
    BadParameter {
        /// Name of the parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What is accepted.
        expected: &'static str,
    },
}

/// Checks that all entries of an array are finite.
///
/// # Errors
/// [`SolveError::NotFinite`] with the index of the first offending entry.
pub(crate) fn check_finite(what: &'static str, values: &[f64]) -> Result<(), SolveError> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(index) => Err(SolveError::NotFinite { what, index }),
    }
}

/// Checks the size of an array.
///
/// # Errors
/// [`SolveError::SizeMismatch`].
pub(crate) fn check_size(what: &'static str, expected: usize, found: usize) -> Result<(), SolveError> {
    if expected == found { Ok(()) } else { Err(SolveError::SizeMismatch { what, expected, found }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_carry_the_data() {
        let error = check_finite("q", &[0.0, f64::NAN]).unwrap_err();
        assert_eq!(error.to_string(), "q[1] is not finite");
        let error = check_size("q", 3, 2).unwrap_err();
        assert_eq!(error.to_string(), "q has size 2, expected 3");
    }
}
