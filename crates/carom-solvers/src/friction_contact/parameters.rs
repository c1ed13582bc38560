//! Parameters of the friction contact solvers.
//!
//! What all solvers share is a field here; what only one of them uses is a table of its own, defined beside that solver:
//! `solver = { kind = "nsgs", tolerance = 1e-8, nsgs = { local = "projection" } }`.

use super::{AdmmParams, InteriorPointParams, NonsmoothNewtonParams, NsgsParams, PolyhedralParams, ProjectionParams};
use crate::error::SolveError;
use crate::kinds::{FrictionSolverKind, LcpSolverKind};
use crate::lcp::{LcpSolverParams, LemkeParams};
use crate::parameters::{check_limits, check_relaxation};
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
