//! Integrators by name, as the command reads and writes them.

use carom::dynamics::integrators::{Formulation, IntegratorParams, StepControl};
use serde::Serialize;

/// The name of a setting's value in files.
fn name(value: impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// `index2` and so on.
pub fn form_name(form: Formulation) -> String {
    name(form)
}

/// The method with what matters most of its settings.
pub fn describe(params: &IntegratorParams) -> String {
    let entry = params.kind.entry();
    let order = if entry.choices.len() > 1 { format!(" of order {}", params.order()) } else { String::new() };
    let form = form_name(params.formulation());
    let steps = match (params.control, params.step) {
        (StepControl::Fixed, Some(step)) => format!("constant steps of {step:e} s"),
        _ => format!("tolerance {:e}", params.tolerance),
    };
    format!("{}{order}, {form}, {steps}", entry.name)
}
