//! A strategy or a scheme with its settings, as written on the command line: `hybrid:integrator.kind=dopri5`, `moreau-jean:theta=0.6`.
//!
//! A variant is the model file with one word changed, so that what runs here is what `carom run --strategy` and `--scheme` run.

use super::Args;
use crate::changes::MethodName;
use crate::failure::Failure;
use carom::dynamics::strategies::StrategyKind;
use carom::io::model_file::{ModelFile, Override, RunSettings, read};

/// What makes a run finer: the tolerance of strategies with error control, the step \[s\] of time-stepping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fineness {
    Tolerance(f64),
    Step(f64),
}

impl Fineness {
    /// Sets it in the settings of a run.
    pub fn set(self, settings: &mut RunSettings) {
        match self {
            Fineness::Step(step) => settings.step = Some(step),
            Fineness::Tolerance(tolerance) if settings.strategy == StrategyKind::Adaptive => settings.adaptive.tolerance = tolerance,
            Fineness::Tolerance(tolerance) => {
                settings.integrator.tolerance = tolerance;
                settings.integrator.absolute_tolerance = None;
                settings.integrator.relative_tolerance = None;
            }
        }
    }
}

/// What a variant names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// A strategy, with settings as TABLE.KEY=VALUE.
    Strategy,
    /// A scheme for time-stepping, with settings as KEY=VALUE.
    Scheme,
}

/// One of the methods to compare.
#[derive(Clone, Debug)]
pub struct MethodVariant {
    /// As written.
    pub label: String,
    /// Its settings, or why it cannot follow the model.
    pub settings: Result<RunSettings, String>,
}

impl MethodVariant {
    /// Reads the model of `args` with the method.
    ///
    /// # Errors
    /// Names and settings that do not exist.
    pub fn read(args: &Args, text: &str, method: Method) -> Result<Self, Failure> {
        let label = text.trim().to_owned();
        match file_with(args, &label, method) {
            Ok(file) => Ok(MethodVariant { label, settings: Ok(file.run) }),
            Err(Failure::Model(error)) if error.is_refusal() => {
                let reasons: Vec<&str> = error.diagnostics.iter().map(|d| d.message.as_str()).collect();
                Ok(MethodVariant { label, settings: Err(reasons.join("; ")) })
            }
            Err(error) => Err(error),
        }
    }
}

/// The model of `args` with a method.
///
/// # Errors
/// As [`MethodVariant::read`], and where the method cannot follow the model.
pub fn file_with(args: &Args, text: &str, method: Method) -> Result<ModelFile, Failure> {
    let mut overrides = args.changes.overrides();
    overrides.extend(words(text, method)?);
    read(&args.model, &overrides).map_err(Failure::Model)
}

/// The values that a variant sets.
fn words(text: &str, method: Method) -> Result<Vec<Override>, Failure> {
    let named: MethodName = text.parse().map_err(Failure::Input)?;
    match method {
        Method::Strategy => match named.settings.iter().find(|(key, _)| !key.contains('.')) {
            None => Ok(named.overrides(&["simulation"], "strategy")),
            Some(_) => Err(Failure::Input(format!("{text}: give settings as TABLE.KEY=VALUE, e.g. integrator.kind=dopri5"))),
        },
        Method::Scheme => {
            let steps = MethodName { name: StrategyKind::TimeStepping.name().to_owned(), settings: Vec::new() };
            Ok([steps.overrides(&["simulation"], "strategy"), named.overrides(&["simulation", "scheme"], "kind")].concat())
        }
    }
}
