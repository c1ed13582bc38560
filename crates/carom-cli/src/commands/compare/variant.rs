//! A method with its settings, as written on the command line: `generalized-alpha:index2`, `bdf:order=4`, `rk4:control=fixed:step=1e-3`.

use crate::integrating::form_name;
use carom::dynamics::integrators::{Formulation, IntegratorKind, IntegratorParams};
use carom::dynamics::nearest::nearest;
use clap::ValueEnum;
use serde_json::Value;

/// One of the methods to compare.
#[derive(Clone, Debug)]
pub struct Variant {
    /// As written.
    pub label: String,
    /// Its settings; the tolerance is set by run.
    pub params: IntegratorParams,
}

/// Where the step control takes its settings from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Control {
    /// The model file.
    #[default]
    Model,
    /// Haddouni2015, section 3.1 and Table 3.1: absolute errors of the positions, h ≥ 1e-6 s, drift ≤ 1e-2; for the number of steps of its tables
    Haddouni,
}

impl Variant {
    /// Reads a variant over the settings of the model.
    ///
    /// # Errors
    /// In words, with the nearest name.
    pub fn parse(text: &str, base: &IntegratorParams) -> Result<Self, String> {
        let mut parts = text.split(':').map(str::trim);
        let kind = IntegratorKind::try_from(parts.next().unwrap_or_default().to_owned())?;
        // order and form are those of another method
        let params = IntegratorParams { kind, order: None, formulation: None, ..base.clone() };
        let mut settings = serde_json::to_value(params).map_err(|error| error.to_string())?;
        for part in parts {
            match part.split_once('=') {
                Some((key, value)) => set(&mut settings, key.trim(), value.trim()),
                None => settings["formulation"] = Value::from(form_name(formulation(kind, part)?)),
            }
        }
        let params: IntegratorParams = serde_json::from_value(settings).map_err(|error| format!("{text}: {error}"))?;
        params.validate().map_err(|error| error.to_string())?;
        Ok(Variant { label: text.to_owned(), params })
    }

    /// The settings for a run to a tolerance.
    pub fn at(&self, tolerance: f64, control: Control) -> IntegratorParams {
        let params = IntegratorParams { tolerance, ..self.params.clone() };
        match control {
            Control::Model => IntegratorParams { absolute_tolerance: None, relative_tolerance: None, ..params },
            Control::Haddouni => params.with_haddouni_control(),
        }
    }
}

/// Sets `key` or `table.key`; what is no JSON is text.
pub fn set(settings: &mut Value, key: &str, value: &str) {
    let place = key.split('.').fold(settings, |place, part| {
        if !place.is_object() {
            *place = serde_json::json!({});
        }
        &mut place[part]
    });
    *place = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
}

/// `index2`, also written `index-2`, among the forms of a method.
fn formulation(kind: IntegratorKind, text: &str) -> Result<Formulation, String> {
    let forms = kind.entry().formulations;
    let plain = |name: &str| name.replace('-', "");
    if let Some(form) = forms.iter().find(|form| plain(&form_name(**form)) == plain(text)) {
        return Ok(*form);
    }
    let names: Vec<String> = forms.iter().map(|form| form_name(*form)).collect();
    let help = match nearest(text, names.iter().map(String::as_str)) {
        Some(best) => format!("did you mean \"{best}\"?"),
        None => format!("choose from {}, or give a setting as key=value", names.join(", ")),
    };
    Err(format!("{} has no form \"{text}\": {help}", kind.name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use carom::dynamics::integrators::ErrorComponents;

    #[test]
    fn variants_are_read_and_mistakes_are_told() {
        let base = IntegratorParams { tolerance: 1e-3, order: Some(7), ..IntegratorParams::default() };
        let variant = Variant::parse("rk4:index-1:control=fixed:step=1e-3:newton.max_iterations=7", &base).unwrap();
        assert_eq!((variant.params.step, variant.params.formulation), (Some(1e-3), Some(Formulation::Index1)));
        assert_eq!((variant.params.newton.max_iterations, variant.params.order), (7, None));
        for (wrong, word) in
            [("rk5", "rk4"), ("rk4:index9", "index1"), ("rk4:stp=1", "stp"), ("rk4:order=9", "one order"), ("rk4:step=-1", "step")]
        {
            let error = Variant::parse(wrong, &base).unwrap_err();
            assert!(error.contains(word), "{wrong}: {error}");
        }
    }

    #[test]
    fn the_control_of_the_thesis_has_its_values() {
        let variant = Variant::parse("rk4", &IntegratorParams::default()).unwrap();
        let params = variant.at(1e-5, Control::Haddouni);
        assert_eq!((params.relative_tolerance, params.max_drift, params.min_step), (Some(0.0), Some(1e-2), 1e-6));
        assert!(params.validate().is_ok() && params.error_in == ErrorComponents::All);
        assert_eq!(variant.at(1e-5, Control::Model).tolerance, 1e-5);
    }
}
