//! Settings of integrators.

use super::registry::IntegratorKind;
use crate::error::ModelError;
use crate::smooth::{AccelerationForm, AssemblyParams, Baumgarte, Projection};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Settings of an integration: `[simulation.integrator]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IntegratorParams {
    /// The method.
    pub kind: IntegratorKind,
    /// Order of methods that exist in several (`bdf`, `adams-bashforth`, …); left out: the method's default.
    pub order: Option<usize>,
    /// Form of the constraints; left out: the method's own.
    pub formulation: Option<Formulation>,
    /// How accelerations are found where a method needs them explicitly. Default `multipliers`.
    pub acceleration: AccelerationForm,
    /// Baumgarte's stabilisation of the acceleration form; none by default.
    pub baumgarte: Option<Baumgarte>,
    /// Projection after each step. Default `none`.
    pub projection: Projection,
    /// What is done about initial conditions that violate the constraints.
    pub assembly: AssemblyParams,
    /// Tolerance of the local error, absolute and relative unless those are given. Default 1e-6; from 1e-13 to 1e-1.
    pub tolerance: f64,
    /// Absolute tolerance (unit of the coordinate; its rate for velocities).
    pub absolute_tolerance: Option<f64>,
    /// Relative tolerance; 0 for none.
    pub relative_tolerance: Option<f64>,
    /// Absolute tolerances by coordinate.
    pub tolerances: BTreeMap<String, f64>,
    /// Norm of the error. Default `rms`.
    pub norm: ErrorNorm,
    /// What the error is taken of. Default `all`.
    pub error_in: ErrorComponents,
    /// How the step size is chosen. Default `adaptive`.
    pub control: StepControl,
    /// How the next step follows from the error. Default `standard`.
    pub controller: Controller,
    /// The constant step, or the first one \[s\].
    pub step: Option<f64>,
    /// Smallest step \[s\]. Default 0: what round-off allows.
    pub min_step: f64,
    /// Largest step \[s\].
    pub max_step: Option<f64>,
    /// Safety factor of the step control. Default 0.9; in (0, 1).
    pub safety: f64,
    /// Largest factor by which a step shrinks at once. Default 0.2; in (0, 1).
    pub max_shrink: f64,
    /// Largest factor by which a step grows at once. Default 5; above 1.
    pub max_growth: f64,
    /// A step that leaves |g| or |ġ| above this is refused; no limit by default.
    pub max_drift: Option<f64>,
    /// c in the error estimate err₁²/(err₁ + c err₂) of `hem5`: larger values trust the method more. Default 0.01; from 1e-4 to 100.
    pub hem5_error_weight: f64,
    /// Newton's iteration of implicit methods.
    pub newton: NewtonParams,
    /// ρ∞ of generalized-α, from 0 (strongest damping of high frequencies) to 1 (none). Default 0.8.
    pub spectral_radius: f64,
    /// α of HHT, from −1/3 to 0. Default −0.1.
    pub hht_alpha: f64,
    /// β of Newmark. Default 1/4.
    pub newmark_beta: f64,
    /// γ of Newmark. Default 1/2.
    pub newmark_gamma: f64,
}

impl Default for IntegratorParams {
    fn default() -> Self {
        IntegratorParams {
            kind: IntegratorKind::default(),
            order: None,
            formulation: None,
            acceleration: AccelerationForm::default(),
            baumgarte: None,
            projection: Projection::default(),
            assembly: AssemblyParams::default(),
            tolerance: 1e-6,
            absolute_tolerance: None,
            relative_tolerance: None,
            tolerances: BTreeMap::new(),
            norm: ErrorNorm::default(),
            error_in: ErrorComponents::default(),
            control: StepControl::default(),
            controller: Controller::default(),
            step: None,
            min_step: 0.0,
            max_step: None,
            safety: 0.9,
            max_shrink: 0.2,
            max_growth: 5.0,
            max_drift: None,
            hem5_error_weight: 0.01,
            newton: NewtonParams::default(),
            spectral_radius: 0.8,
            hht_alpha: -0.1,
            newmark_beta: 0.25,
            newmark_gamma: 0.5,
        }
    }
}

/// The index of the constraints that a method satisfies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Formulation {
    /// Positions: g = 0.
    Index3,
    /// Velocities: G v + b = 0.
    Index2,
    /// Accelerations: G v̇ + (dG/dt) v + db/dt = 0.
    Index1,
    /// Positions and velocities, with a second multiplier in q̇ = T v + M⁻¹Gᵀη or its like (Gear, Gupta, Leimkuhler).
    Ggl,
}

/// How errors of the components become one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorNorm {
    /// Root mean square.
    #[default]
    Rms,
    /// Root of the sum of squares.
    Euclidean,
    /// The largest.
    Max,
}

/// What errors are taken of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorComponents {
    /// Positions and velocities.
    #[default]
    All,
    /// Positions only.
    Positions,
}

/// How step sizes are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepControl {
    /// By the method's own estimate where it has one, else by halving.
    #[default]
    Adaptive,
    /// By comparing one step with two of half its size.
    Halving,
    /// Constant steps.
    Fixed,
}

/// The rule of the next step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Controller {
    /// From the last error.
    #[default]
    Standard,
    /// From the last two: smoother sequences of steps.
    Pi,
}

/// Newton's iteration of implicit methods.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NewtonParams {
    /// Tolerance of the scaled increments (1 = the size of the values). Default 1e-12.
    pub tolerance: f64,
    /// Most iterations. Default 20.
    pub max_iterations: usize,
    /// The iteration matrix is kept over iterations and steps while it converges well. Default true.
    pub keep_matrix: bool,
    /// Rows and columns of the Newton systems are scaled by powers of the step (Haddouni2015 eqs. 2.98, 2.111), so that their condition does not grow as the step shrinks. Default true.
    pub scaling: bool,
}

impl Default for NewtonParams {
    fn default() -> Self {
        NewtonParams { tolerance: 1e-12, max_iterations: 20, keep_matrix: true, scaling: true }
    }
}

impl IntegratorParams {
    /// These settings with the step control of Haddouni2015 (§2.2.7, Table 3.1), under which the numbers of steps of Table 3.3 come out:
    /// absolute errors, root mean square, of the positions (eqs. 2.126, 2.129) or, for methods of the acceleration form, of positions and
    /// velocities (2.130); smallest step 1 µs; drift up to 1e-2. Not said there, and found by comparing the counts: a first
    /// step of 0.1 ms, steps that at most double, and c = 0.1 in the estimate of HEM5. The safety factor stays: 0.9 there, too, but 0.85 for Table 3.5.
    #[must_use]
    pub fn with_haddouni_control(self) -> Self {
        let components = if self.formulation() == Formulation::Index1 { ErrorComponents::All } else { ErrorComponents::Positions };
        IntegratorParams {
            absolute_tolerance: None,
            relative_tolerance: Some(0.0),
            norm: ErrorNorm::Rms,
            error_in: components,
            step: Some(1e-4),
            min_step: 1e-6,
            max_growth: 2.0,
            max_drift: Some(1e-2),
            hem5_error_weight: 0.1,
            ..self
        }
    }

    /// The form of the constraints: the one asked for, or the method's own.
    #[must_use]
    pub fn formulation(&self) -> Formulation {
        self.formulation.unwrap_or(self.kind.entry().formulations[0])
    }

    /// The order: the one asked for, or the method's default.
    #[must_use]
    pub fn order(&self) -> usize {
        let entry = self.kind.entry();
        self.order.or(entry.default_order).or(entry.choices.last().copied()).unwrap_or(0)
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] or [`ModelError::BadState`] naming the setting.
    pub fn validate(&self) -> Result<(), ModelError> {
        let entry = self.kind.entry();
        let refuse = |reason: String| Err(ModelError::BadState { system: format!("the integrator {}", entry.name), reason });
        if let Some(form) = self.formulation
            && !entry.formulations.contains(&form)
        {
            let names: Vec<String> = entry.formulations.iter().map(|f| format!("{f:?}").to_lowercase()).collect();
            return refuse(format!("formulation {form:?} is not one of its forms: {}", names.join(", ")));
        }
        if let Some(order) = self.order
            && !entry.choices.contains(&order)
        {
            return refuse(if entry.choices.is_empty() {
                format!("order = {order} is given, but it has one order only")
            } else {
                format!("order = {order} is not one of {:?}", entry.choices)
            });
        }
        let positive = |what: &str, value: f64| {
            if value > 0.0 && value.is_finite() {
                return Ok(());
            }
            Err(ModelError::OutOfRange { what: format!("integrator.{what}"), value, expected: "a positive, finite number is needed" })
        };
        positive("tolerance", self.tolerance)?;
        let optional = [
            ("absolute_tolerance", self.absolute_tolerance),
            ("step", self.step),
            ("max_step", self.max_step),
            ("max_drift", self.max_drift),
        ];
        for (what, value) in optional.into_iter().chain(self.tolerances.values().map(|&x| ("tolerances", Some(x)))) {
            value.map_or(Ok(()), |value| positive(what, value))?;
        }
        let ranges = [
            ("min_step", self.min_step, 0.0, f64::MAX, "a number ≥ 0 is needed"),
            ("safety", self.safety, 0.1, 0.999, "a number from 0.1 to 0.999 is needed"),
            ("max_shrink", self.max_shrink, 0.01, 0.9, "a number from 0.01 to 0.9 is needed"),
            ("max_growth", self.max_growth, 1.1, 100.0, "a number from 1.1 to 100 is needed"),
            ("hem5_error_weight", self.hem5_error_weight, 1e-4, 100.0, "a number from 1e-4 to 100 is needed"),
            ("relative_tolerance", self.relative_tolerance.unwrap_or(0.0), 0.0, f64::MAX, "a number ≥ 0 is needed"),
            ("spectral_radius", self.spectral_radius, 0.0, 1.0, "a number in [0, 1] is needed"),
            ("hht_alpha", self.hht_alpha, -1.0 / 3.0, 0.0, "a number in [−1/3, 0] is needed"),
            ("newmark_beta", self.newmark_beta, 0.0, 1.0, "a number in [0, 1] is needed"),
            ("newmark_gamma", self.newmark_gamma, 0.0, 1.0, "a number in [0, 1] is needed"),
            ("assembly.bound", self.assembly.bound, 0.0, f64::MAX, "a number ≥ 0 is needed"),
            ("assembly.velocity_bound", self.assembly.velocity_bound, 0.0, f64::MAX, "a number ≥ 0 is needed"),
            ("newton.tolerance", self.newton.tolerance, 1e-15, 1e-2, "a number from 1e-15 to 1e-2 is needed"),
        ];
        for (what, value, low, high, expected) in ranges {
            if !(low..=high).contains(&value) {
                return Err(ModelError::OutOfRange { what: format!("integrator.{what}"), value, expected });
            }
        }
        if let Some(Baumgarte { alpha, beta }) = self.baumgarte {
            for (what, value) in [("baumgarte.alpha", alpha), ("baumgarte.beta", beta)] {
                if !(value >= 0.0 && value.is_finite()) {
                    let expected = "a finite number ≥ 0 is needed";
                    return Err(ModelError::OutOfRange { what: format!("integrator.{what}"), value, expected });
                }
            }
        }
        if self.control == StepControl::Fixed && self.step.is_none() {
            return refuse("control = \"fixed\" needs a step".into());
        }
        Ok(())
    }
}
