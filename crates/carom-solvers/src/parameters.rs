//! Parameters of the solvers, shared by Rust callers, model files and the command line.

use crate::error::SolveError;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The solvers of friction contact problems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum FrictionSolverKind {
    /// Chooses by size and kind of the problem.
    #[default]
    Auto,
    /// Nonlinear block Gauss–Seidel.
    Nsgs,
    /// Proximal point iterations around a semismooth Newton method.
    ProximalNewton,
    /// Lemke's pivoting on the complementarity form; frictionless and planar problems.
    Lemke,
    /// Projected Gauss–Seidel on the complementarity form; frictionless problems.
    Pgs,
}

/// The solvers of linear complementarity problems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum LcpSolverKind {
    /// Lemke's complementary pivoting.
    #[default]
    Lemke,
    /// Projected Gauss–Seidel.
    Pgs,
}

/// Parameters of a friction contact solver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FrictionSolverParams {
    /// Which solver: `"auto"`, `"nsgs"`, `"proximal-newton"`, `"lemke"` or `"pgs"`. Default `"auto"`. Another name is
    /// refused with the nearest right one.
    pub kind: FrictionSolverKind,
    /// Largest accepted normalised residual, no unit. Default 1e-10, nominal 1e-14 to 1e-3. Below
    /// 1e-14 rounding prevents convergence (status `Stalled`); not positive or not finite is an error.
    pub tolerance: f64,
    /// Largest number of sweeps, pivots or Newton steps. Default 10 000, nominal 10 to 100 000. 0 is an error.
    pub max_iterations: usize,
    /// Relaxation ω of the Gauss–Seidel sweeps, no unit. Default 1, nominal 0.5 to 1.5. Outside
    /// (0, 2), where sweeps diverge, it is an error. Pivoting ignores it.
    pub relaxation: f64,
}

/// Parameters of an LCP solver; the fields are those of [`FrictionSolverParams`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LcpSolverParams {
    /// Which solver: `"lemke"` or `"pgs"`. Default `"lemke"`. Another name is refused with the nearest
    /// right one.
    pub kind: LcpSolverKind,
    /// Largest accepted normalised residual, no unit. Default 1e-10, nominal 1e-14 to 1e-3; not
    /// positive or not finite is an error.
    pub tolerance: f64,
    /// Largest number of sweeps or pivots. Default 10 000, nominal 10 to 100 000. 0 is an error.
    pub max_iterations: usize,
    /// Relaxation ω of projected Gauss–Seidel, no unit. Default 1, nominal 0.5 to 1.5. Outside (0, 2)
    /// it is an error. Lemke ignores it.
    pub relaxation: f64,
}

impl Default for FrictionSolverParams {
    fn default() -> Self {
        FrictionSolverParams { kind: FrictionSolverKind::Auto, tolerance: 1e-10, max_iterations: 10_000, relaxation: 1.0 }
    }
}

impl Default for LcpSolverParams {
    fn default() -> Self {
        LcpSolverParams { kind: LcpSolverKind::Lemke, tolerance: 1e-10, max_iterations: 10_000, relaxation: 1.0 }
    }
}

impl FrictionSolverParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        check_ranges(self.tolerance, self.max_iterations, self.relaxation)
    }

    /// The same numbers for the LCP solver of an inner problem.
    pub(crate) fn for_lcp(&self, kind: LcpSolverKind) -> LcpSolverParams {
        LcpSolverParams { kind, tolerance: self.tolerance, max_iterations: self.max_iterations, relaxation: self.relaxation }
    }
}

impl LcpSolverParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        check_ranges(self.tolerance, self.max_iterations, self.relaxation)
    }
}

fn check_ranges(tolerance: f64, iterations: usize, relaxation: f64) -> Result<(), SolveError> {
    let bad = |name, value, expected| Err(SolveError::BadParameter { name, value, expected });
    if !(tolerance > 0.0 && tolerance.is_finite()) {
        bad("tolerance", tolerance, "a positive number")
    } else if iterations == 0 {
        bad("max_iterations", 0.0, "at least 1")
    } else if !(relaxation > 0.0 && relaxation < 2.0) {
        bad("relaxation", relaxation, "a number in (0, 2)")
    } else {
        Ok(())
    }
}

/// Names of the kinds of an enum, and their conversions from and to text.
macro_rules! kind_names {
    ($kind:ident { $($variant:ident = $name:literal),+ $(,)? }) => {
        impl $kind {
            /// All kinds, in the order of the registry.
            pub const ALL: &'static [$kind] = &[$($kind::$variant),+];

            /// Name in model files and in the registry.
            pub fn name(self) -> &'static str {
                match self { $($kind::$variant => $name),+ }
            }
        }

        impl FromStr for $kind {
            type Err = SolveError;

            fn from_str(name: &str) -> Result<Self, SolveError> {
                match name {
                    $($name => Ok($kind::$variant),)+
                    _ => Err(SolveError::UnknownSolver {
                        name: name.to_owned(),
                        nearest: nearest_name(name, &[$($name),+]),
                    }),
                }
            }
        }

        impl TryFrom<String> for $kind {
            type Error = SolveError;

            fn try_from(name: String) -> Result<Self, SolveError> {
                name.parse()
            }
        }

        impl From<$kind> for String {
            fn from(kind: $kind) -> String {
                kind.name().to_owned()
            }
        }
    };
}

kind_names!(FrictionSolverKind { Auto = "auto", Nsgs = "nsgs", ProximalNewton = "proximal-newton", Lemke = "lemke", Pgs = "pgs" });
kind_names!(LcpSolverKind { Lemke = "lemke", Pgs = "pgs" });

/// The name with the smallest edit distance (Levenshtein).
fn nearest_name(name: &str, names: &[&'static str]) -> &'static str {
    let distance = |candidate: &&&'static str| strsim::levenshtein(name, candidate);
    names.iter().min_by_key(distance).copied().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways_and_mistakes_are_answered() {
        for kind in FrictionSolverKind::ALL {
            assert_eq!(kind.name().parse::<FrictionSolverKind>().unwrap(), *kind);
        }
        let error = "ngs".parse::<FrictionSolverKind>().unwrap_err();
        assert_eq!(error, SolveError::UnknownSolver { name: "ngs".into(), nearest: "nsgs" });
    }

    #[test]
    fn text_forms_are_read_strictly() {
        use serde::de::IntoDeserializer;
        use serde::de::value::{Error, MapDeserializer, StrDeserializer};

        let text = |name: &'static str| -> StrDeserializer<'static, Error> { name.into_deserializer() };
        assert_eq!(FrictionSolverKind::deserialize(text("pgs")).unwrap(), FrictionSolverKind::Pgs);
        let error = FrictionSolverKind::deserialize(text("lemkey")).unwrap_err();
        assert!(error.to_string().contains("'lemke'"), "{error}");

        let read = |key: &'static str| {
            let map = MapDeserializer::<_, Error>::new([(key, 0.5)].into_iter());
            FrictionSolverParams::deserialize(map)
        };
        assert_eq!(read("relaxation").unwrap().relaxation, 0.5);
        assert_eq!(read("relaxation").unwrap().tolerance, 1e-10);
        assert!(read("relaxtion").is_err());
    }

    #[test]
    fn ranges_are_checked() {
        let good = FrictionSolverParams::default();
        assert!(good.validate().is_ok());
        let broken = [
            FrictionSolverParams { tolerance: f64::NAN, ..good.clone() },
            FrictionSolverParams { tolerance: 0.0, ..good.clone() },
            FrictionSolverParams { max_iterations: 0, ..good.clone() },
            FrictionSolverParams { relaxation: 2.0, ..good.clone() },
        ];
        for params in broken {
            assert!(params.validate().is_err(), "{params:?}");
        }
    }
}
