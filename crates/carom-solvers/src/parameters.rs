//! What the parameters of all solvers have in common: shared by Rust callers, model files and the command line.
//!
//! The parameters of each kind of problem stand in its folder. What all its solvers share is a field there; what only one of them uses is a
//! table of its own, defined beside that solver.

use crate::error::SolveError;

/// Declares parameters without tables of their own solvers.
macro_rules! plain_params {
    ($(#[$doc:meta])* $name:ident, $kind:ty, $tolerance:literal, $iterations:literal { $($(#[$field_doc:meta])* $field:ident: $type:ty = $value:expr,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            /// Which solver, by its name in the registry; the default is the first one there.
            pub kind: $kind,
            /// Largest accepted normalised residual, no unit. Default 1e-10, nominal 1e-14 to 1e-3; not positive or
            /// not finite is an error.
            pub tolerance: f64,
            /// Largest number of sweeps, pivots or Newton steps. Default 10 000. 0 is an error.
            pub max_iterations: usize,
            /// Longest time of a solve, s. Default none. Where it ends a solve, results depend on the speed of the machine.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub time_limit: Option<f64>,
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { kind: Default::default(), tolerance: $tolerance, max_iterations: $iterations, time_limit: None, $($field: $value,)* }
            }
        }
    };
}

pub(crate) use plain_params;

/// The tolerance, the limit of iterations and that of time, which all solvers have.
pub(crate) fn check_limits(tolerance: f64, iterations: usize, time_limit: Option<f64>) -> Result<(), SolveError> {
    check(tolerance > 0.0 && tolerance.is_finite(), "tolerance", tolerance, "a positive number")?;
    check(iterations > 0, "max_iterations", iterations as f64, "at least 1")?;
    let limit = time_limit.unwrap_or(1.0);
    check(limit > 0.0, "time_limit", limit, "a positive number of seconds")
}

/// The relaxation of sweeps.
pub(crate) fn check_relaxation(relaxation: f64) -> Result<(), SolveError> {
    check(relaxation > 0.0 && relaxation < 2.0, "relaxation", relaxation, "a number in (0, 2)")
}

/// [`SolveError::BadParameter`] unless `good`.
pub(crate) fn check(good: bool, name: &'static str, value: f64, expected: &'static str) -> Result<(), SolveError> {
    if good { Ok(()) } else { Err(SolveError::BadParameter { name, value, expected }) }
}

/// The name with the smallest edit distance (Levenshtein).
pub(crate) fn nearest_name(name: &str, names: &[&'static str]) -> &'static str {
    let distance = |candidate: &&&'static str| strsim::levenshtein(name, candidate);
    names.iter().min_by_key(distance).copied().unwrap_or("")
}
