//! `[impact]`: the impact law of the model, and the springs of contacts that it may need.

use super::error::{Diagnostic, suggestion};
use super::numbers::{Must, Reader};
use super::schema::suggest_key;
use super::value::Value;
use carom_dynamics::impacts::{ChoiceParams, ImpactLaw, PossibleOutcome};
use serde::de::DeserializeOwned;
use std::ops::Range;
use toml::Spanned;

/// Reads `[impact]`: `law`, and the settings of that law.
pub(super) fn impact(reader: &mut Reader<'_>, section: &Spanned<toml::Table>) -> Option<ImpactLaw> {
    let law = read(reader, section.span(), section.get_ref().clone(), "in [impact], ")?;
    law.validate().map_err(|e| reader.mistakes.push(Diagnostic::new(section.span(), format!("in [impact], {e}")))).ok()?;
    Some(law)
}

fn read(reader: &mut Reader<'_>, span: Range<usize>, mut table: toml::Table, place: &str) -> Option<ImpactLaw> {
    let names: Vec<&str> = ImpactLaw::LIST.iter().map(|(name, _)| *name).collect();
    let law = match table.remove("law") {
        Some(toml::Value::String(law)) => law,
        Some(_) => {
            reader.wrong(span, format!("{place}`law` is a name in quotes"), format!("one of: {}", names.join(", ")));
            return None;
        }
        None => {
            reader.wrong(span, format!("{place}there is no `law`"), format!("give `law`, one of: {}", names.join(", ")));
            return None;
        }
    };
    match law.as_str() {
        "newton" | "inelastic" | "poisson" => {
            if let Some(key) = table.keys().next() {
                reader.wrong(span, format!("{place}unknown field `{key}`"), format!("the law \"{law}\" has no settings"));
                return None;
            }
            Some(match law.as_str() {
                "newton" => ImpactLaw::Newton,
                "inelastic" => ImpactLaw::Inelastic,
                _ => ImpactLaw::Poisson,
            })
        }
        "sequential" => Some(ImpactLaw::Sequential(settings(reader, span, table, place)?)),
        "energetic" => Some(ImpactLaw::Energetic(settings(reader, span, table, place)?)),
        "choice" => choice(reader, span, table, place),
        _ => {
            reader.wrong(span, format!("{place}there is no impact law \"{law}\""), suggestion(&law, &names));
            None
        }
    }
}

/// `law = "choice"`: `seed` and `outcomes`, each a law with its probability.
fn choice(reader: &mut Reader<'_>, span: Range<usize>, mut table: toml::Table, place: &str) -> Option<ImpactLaw> {
    let seed = match table.remove("seed") {
        None => 0,
        Some(toml::Value::Integer(seed)) if seed >= 0 => seed as u64,
        Some(other) => {
            reader.wrong(span, format!("{place}seed = {other}"), "a whole number, 0 or more, is needed");
            return None;
        }
    };
    let help = "give `outcomes = [{ law = \"newton\", probability = 0.5 }, { law = \"sequential\", probability = 0.5 }]`";
    let Some(toml::Value::Array(list)) = table.remove("outcomes") else {
        reader.wrong(span, format!("{place}a choice needs `outcomes`, a list of laws with their probabilities"), help);
        return None;
    };
    if let Some(key) = table.keys().next() {
        reader.wrong(span, format!("{place}unknown field `{key}`"), "a choice has `seed` and `outcomes`");
        return None;
    }
    let mut outcomes = Vec::new();
    for (i, outcome) in list.into_iter().enumerate() {
        let place = format!("{place}outcome {}: ", i + 1);
        let toml::Value::Table(mut outcome) = outcome else {
            reader.wrong(span, format!("{place}it is not a table"), help);
            return None;
        };
        let probability = match outcome.remove("probability") {
            Some(toml::Value::Float(p)) => p,
            Some(toml::Value::Integer(p)) => p as f64,
            _ => {
                reader.wrong(span, format!("{place}there is no number `probability`"), help);
                return None;
            }
        };
        outcomes.push(PossibleOutcome { probability, law: read(reader, span.clone(), outcome, &place)? });
    }
    Some(ImpactLaw::Choice(ChoiceParams { seed, outcomes }))
}

fn settings<P: DeserializeOwned>(reader: &mut Reader<'_>, span: Range<usize>, table: toml::Table, place: &str) -> Option<P> {
    match P::deserialize(toml::Value::Table(table)) {
        Ok(params) => Some(params),
        Err(error) => {
            let message = error.to_string();
            let mut diagnostic = Diagnostic::new(span, format!("{place}{}", message.trim_end()));
            if let Some(help) = suggest_key(&message) {
                diagnostic = diagnostic.help(help);
            }
            reader.mistakes.push(diagnostic);
            None
        }
    }
}

/// `stiffness` and `exponent` of a contact or material, 1 where they are not given.
pub(super) fn spring(
    reader: &mut Reader<'_>,
    name: &str,
    stiffness: Option<&Spanned<Value>>,
    exponent: Option<&Spanned<Value>>,
) -> Option<(f64, f64)> {
    let stiffness = reader.number_or(stiffness, 1.0, &format!("the stiffness of \"{name}\""), Must::BePositive);
    let value = reader.number_or(exponent, 1.0, &format!("the exponent of \"{name}\""), Must::BePositive)?;
    if value < 1.0 {
        let span = exponent.map_or(0..0, Spanned::span);
        reader.wrong(span, format!("the exponent of \"{name}\" is {value}"), "a number ≥ 1 is needed: 1, or 3/2 for Hertz's contact");
        return None;
    }
    Some((stiffness?, value))
}
