//! Parameters of the solvers, shared by Rust callers, model files and the command line.
//!
//! What all solvers of a problem share is a field here; what only one of them uses is a table of its own, defined beside
//! that solver: `solver = { kind = "nsgs", tolerance = 1e-8, nsgs = { local = "projection" } }`.

use crate::error::SolveError;
use crate::friction_contact::{AdmmParams, InteriorPointParams, NonsmoothNewtonParams, NsgsParams, PolyhedralParams, ProjectionParams};
use crate::lcp::LemkeParams;
pub use crate::registry::{FrictionSolverKind, GlobalSolverKind, LcpSolverKind, MlcpSolverKind, QpSolverKind, ViSolverKind};
use serde::{Deserialize, Serialize};

/// Parameters of a friction contact solver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FrictionSolverParams {
    /// Which solver, by its name in the registry. Default `"auto"`. Another name is refused with the nearest right one.
    pub kind: FrictionSolverKind,
    /// Largest accepted normalised residual, no unit. Default 1e-10, nominal 1e-14 to 1e-3. Below
    /// 1e-14 rounding prevents convergence (status `Stalled`); not positive or not finite is an error.
    pub tolerance: f64,
    /// Largest number of sweeps, pivots or Newton steps. Default 10 000, nominal 10 to 100 000. 0 is an error.
    pub max_iterations: usize,
    /// Longest time of a solve, s. Default none. Where it ends a solve, results depend on the speed of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<f64>,
    /// Relaxation ω of sweeps, no unit. Default 1, nominal 0.5 to 1.5. Outside
    /// (0, 2), where sweeps diverge, it is an error. Other methods ignore it.
    pub relaxation: f64,
    /// Settings of the sweeps.
    pub nsgs: NsgsParams,
    /// Settings of the three nonsmooth Newton methods.
    pub newton: NonsmoothNewtonParams,
    /// Settings of ADMM.
    pub admm: AdmmParams,
    /// Settings of the interior point method.
    pub interior_point: InteriorPointParams,
    /// Settings of the methods by projection: de-saxce, extragradient, fixed-point.
    pub projection: ProjectionParams,
    /// Settings of the polyhedral cones.
    pub polyhedral: PolyhedralParams,
}

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

plain_params! {
    /// Parameters of an LCP solver.
    LcpSolverParams, LcpSolverKind, 1e-10, 10_000 {
        /// Relaxation ω of projected Gauss–Seidel, no unit. Default 1, nominal 0.5 to 1.5. Outside (0, 2)
        /// it is an error. Other methods ignore it.
        relaxation: f64 = 1.0,
        /// Settings of Lemke's method.
        lemke: LemkeParams = LemkeParams::default(),
    }
}

plain_params! {
    /// Parameters of a mixed LCP solver.
    MlcpSolverParams, MlcpSolverKind, 1e-10, 10_000 {
        /// Relaxation ω of projected Gauss–Seidel, in (0, 2). Default 1.
        relaxation: f64 = 1.0,
        /// The LCP solver after elimination. Default `"auto"`.
        lcp: LcpSolverKind = LcpSolverKind::Auto,
    }
}

plain_params! {
    /// Parameters of a solver of quadratic programs.
    QpSolverParams, QpSolverKind, 1e-10, 10_000 {}
}

plain_params! {
    /// Parameters of a solver of variational inequalities.
    ViSolverParams, ViSolverKind, 1e-10, 10_000 {
        /// Settings of the methods by projection.
        projection: ProjectionParams = ProjectionParams::default(),
    }
}

plain_params! {
    /// Parameters of a solver of the global form.
    GlobalSolverParams, GlobalSolverKind, 1e-10, 10_000 {
        /// The solver of the local form after reduction. Default `"auto"`.
        local: FrictionSolverKind = FrictionSolverKind::Auto,
        /// Settings of ADMM.
        admm: AdmmParams = AdmmParams::default(),
        /// Settings of the interior point method.
        interior_point: InteriorPointParams = InteriorPointParams::default(),
    }
}

impl Default for FrictionSolverParams {
    fn default() -> Self {
        FrictionSolverParams {
            kind: FrictionSolverKind::Auto,
            tolerance: 1e-10,
            max_iterations: 10_000,
            time_limit: None,
            relaxation: 1.0,
            nsgs: NsgsParams::default(),
            newton: NonsmoothNewtonParams::default(),
            admm: AdmmParams::default(),
            interior_point: InteriorPointParams::default(),
            projection: ProjectionParams::default(),
            polyhedral: PolyhedralParams::default(),
        }
    }
}

impl FrictionSolverParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        check_limits(self.tolerance, self.max_iterations, self.time_limit)?;
        check_relaxation(self.relaxation)?;
        self.nsgs.validate()?;
        self.newton.validate()?;
        self.admm.validate()?;
        self.interior_point.validate()?;
        self.projection.validate()?;
        self.polyhedral.validate()
    }

    /// The same numbers for the LCP solver of an inner problem.
    pub(crate) fn for_lcp(&self, kind: LcpSolverKind) -> LcpSolverParams {
        LcpSolverParams {
            kind,
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            time_limit: self.time_limit,
            relaxation: self.relaxation,
            lemke: LemkeParams::default(),
        }
    }
}

impl LcpSolverParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        check_limits(self.tolerance, self.max_iterations, self.time_limit)?;
        check_relaxation(self.relaxation)
    }
}

impl MlcpSolverParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        check_limits(self.tolerance, self.max_iterations, self.time_limit)?;
        check_relaxation(self.relaxation)
    }

    /// The same numbers for the LCP solver of an inner problem.
    pub(crate) fn for_lcp(&self) -> LcpSolverParams {
        LcpSolverParams {
            kind: self.lcp,
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            time_limit: self.time_limit,
            relaxation: self.relaxation,
            lemke: LemkeParams::default(),
        }
    }
}

impl QpSolverParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        check_limits(self.tolerance, self.max_iterations, self.time_limit)
    }
}

impl ViSolverParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        check_limits(self.tolerance, self.max_iterations, self.time_limit)?;
        self.projection.validate()
    }
}

impl GlobalSolverParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        check_limits(self.tolerance, self.max_iterations, self.time_limit)?;
        self.admm.validate()?;
        self.interior_point.validate()
    }

    /// The same numbers for a solver of the local form.
    pub(crate) fn for_local(&self) -> FrictionSolverParams {
        FrictionSolverParams {
            kind: self.local,
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            time_limit: self.time_limit,
            admm: self.admm.clone(),
            interior_point: self.interior_point.clone(),
            ..FrictionSolverParams::default()
        }
    }
}

fn check_limits(tolerance: f64, iterations: usize, time_limit: Option<f64>) -> Result<(), SolveError> {
    check(tolerance > 0.0 && tolerance.is_finite(), "tolerance", tolerance, "a positive number")?;
    check(iterations > 0, "max_iterations", iterations as f64, "at least 1")?;
    let limit = time_limit.unwrap_or(1.0);
    check(limit > 0.0, "time_limit", limit, "a positive number of seconds")
}

fn check_relaxation(relaxation: f64) -> Result<(), SolveError> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
            FrictionSolverParams { time_limit: Some(0.0), ..good.clone() },
            FrictionSolverParams { relaxation: 2.0, ..good.clone() },
        ];
        for params in broken {
            assert!(params.validate().is_err(), "{params:?}");
        }
    }
}
