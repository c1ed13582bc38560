//! `[sweeping]` and `[[set]]`: sweeping processes.

use super::error::suggestion;
use super::formulas::report;
use super::numbers::{Must, Reader};
use super::schema::{Schema, SetSchema, SweepingSchema};
use super::value::Value;
use carom_dynamics::Model;
use carom_dynamics::first_order::{MovingSet, NamedSet, SweepingSource};
use carom_dynamics::systems::Coordinate;
use std::ops::Range;
use toml::Spanned;

/// The kinds of sets with their keys.
const KINDS: [(&str, &[&str]); 5] = [
    ("half-space", &["normal", "offset"]),
    ("ball", &["centre", "radius"]),
    ("box", &["lower", "upper"]),
    ("polytope", &["facets", "bounds"]),
    ("inequality", &["formula"]),
];

/// Adds the sweeping process of the file to the model.
pub(super) fn sweeping(reader: &mut Reader<'_>, model: &mut Model, schema: &Schema) {
    let Some(section) = &schema.sweeping else {
        if let Some(set) = schema.sets.first() {
            reader.wrong(set.span(), "there are sets but no sweeping process", "add [sweeping] with its `states`");
        }
        return;
    };
    let Some(mut source) = process(reader, section) else { return };
    let before = reader.mistakes.len();
    if schema.sets.is_empty() {
        reader.wrong(section.span(), "the sweeping process has no set", "add [[set]] with its `kind`");
    }
    for (index, section) in schema.sets.iter().enumerate() {
        if let Some(set) = set(reader, section, index, source.states.len()) {
            source.sets.push(set);
        }
    }
    if reader.mistakes.len() > before {
        return;
    }
    if let Err(error) = source.system().and_then(|system| model.set_first_order(&system)) {
        let message = error.to_string();
        let is_named = |name: &str| message.contains(&format!("\"{name}\""));
        let place = source.sets.iter().zip(&schema.sets).find(|(set, _)| is_named(&set.name)).map(|(_, section)| section.span());
        let formulas = schema.sets.iter().filter_map(|s| s.get_ref().formula.as_ref());
        let texts = section.get_ref().rates.0.iter().map(|(_, text)| text).chain(formulas);
        let places: Vec<(Range<usize>, &str)> = texts.map(|text| (text.span(), text.get_ref().as_str())).collect();
        report(reader, &error, &places, place.unwrap_or_else(|| section.span()));
    }
}

fn process(reader: &mut Reader<'_>, section: &Spanned<SweepingSchema>) -> Option<SweepingSource> {
    let s = section.get_ref();
    let names: Vec<&str> = s.states.get_ref().iter().map(|name| name.get_ref().as_str()).collect();
    if names.is_empty() {
        reader.wrong(s.states.span(), "there are no states", "name at least one");
        return None;
    }
    for (name, _) in s.rates.0.iter().chain(&s.units.0) {
        if !names.contains(&name.get_ref().as_str()) {
            reader.wrong(name.span(), format!("\"{}\" is not a state", name.get_ref()), suggestion(name.get_ref(), &names));
            return None;
        }
    }
    let of = |table: &super::value::Table<Spanned<String>>, name: &str, default: &str| {
        table.0.iter().find(|(key, _)| key.get_ref() == name).map_or_else(|| default.to_owned(), |(_, text)| text.get_ref().clone())
    };
    let stiffness = match &s.stiffness {
        Some(value) => Some(reader.number(value, "the stiffness of the penalised process", Must::BePositive)?),
        None => None,
    };
    Some(SweepingSource {
        states: names.iter().map(|name| Coordinate::new(*name, of(&s.units, name, ""))).collect(),
        parameters: reader.parameters.clone(),
        rates: names.iter().map(|name| of(&s.rates, name, "0")).collect(),
        sets: Vec::new(),
        stiffness,
    })
}

fn set(reader: &mut Reader<'_>, section: &Spanned<SetSchema>, index: usize, n: usize) -> Option<NamedSet> {
    let s = section.get_ref();
    let name = s.name.as_ref().map_or_else(|| format!("set{}", index + 1), |name| name.get_ref().clone());
    let kind = s.kind.get_ref().as_str();
    let Some((_, keys)) = KINDS.iter().find(|(known, _)| *known == kind) else {
        let kinds: Vec<&str> = KINDS.iter().map(|(kind, _)| *kind).collect();
        reader.wrong(s.kind.span(), format!("there is no kind of set \"{kind}\""), suggestion(kind, &kinds));
        return None;
    };
    if let Some((key, span)) = s.given().into_iter().find(|(key, _)| !keys.contains(key)) {
        reader.wrong(span, format!("a {kind} has no `{key}`"), format!("it has: {}", keys.join(", ")));
        return None;
    }
    let given: Vec<&str> = s.given().into_iter().map(|(key, _)| key).collect();
    let optional = ["offset", "lower", "upper"];
    if let Some(key) = keys.iter().find(|key| !given.contains(key) && !optional.contains(key)) {
        reader.wrong(section.span(), format!("the {kind} \"{name}\" has no `{key}`"), format!("give `{key}`"));
        return None;
    }
    let one = |value: &Option<Spanned<Value>>, default: &str| match value.as_ref().map(Spanned::get_ref) {
        None => default.to_owned(),
        Some(Value::Formula(text)) => text.clone(),
        Some(Value::Number(x)) => format!("{x:e}"),
        Some(Value::List(_)) => "list".to_owned(), // refused as an unknown name
    };
    let what = |key: &str| format!("`{key}` of \"{name}\"");
    let set = match kind {
        "half-space" => {
            MovingSet::HalfSpace { normal: texts(reader, s.normal.as_ref()?, n, &what("normal"))?, offset: one(&s.offset, "0") }
        }
        "ball" => MovingSet::Ball { centre: texts(reader, s.centre.as_ref()?, n, &what("centre"))?, radius: one(&s.radius, "1") },
        "box" => {
            let mut bounds = |value: &Option<Spanned<Value>>, key: &str| match value {
                Some(value) => {
                    Some(texts(reader, value, n, &what(key))?.into_iter().map(|text| (!is_unbounded(&text)).then_some(text)).collect())
                }
                None => Some(vec![None; n]),
            };
            MovingSet::Box { lower: bounds(&s.lower, "lower")?, upper: bounds(&s.upper, "upper")? }
        }
        "polytope" => {
            let facets = s.facets.as_ref()?;
            let Value::List(rows) = facets.get_ref() else {
                reader.wrong(facets.span(), format!("{} is not a list of rows", what("facets")), "give one row per facet");
                return None;
            };
            let rows: Option<Vec<Vec<f64>>> = rows.iter().map(|row| reader.numbers(row, facets.span(), n, "a facet")).collect();
            let rows = rows?;
            let bounds = texts(reader, s.bounds.as_ref()?, rows.len(), &what("bounds"))?;
            MovingSet::Polytope { facets: rows, bounds }
        }
        _ => MovingSet::Inequality { formula: s.formula.as_ref()?.get_ref().clone() },
    };
    let translation = match &s.translation {
        Some(_) if kind == "inequality" => {
            let help = "write the moving point into the formula: x - cos(t) in place of x";
            reader.wrong(section.span(), format!("the inequality \"{name}\" cannot be translated"), help);
            return None;
        }
        Some(value) => texts(reader, value, n, &what("translation"))?,
        None => Vec::new(),
    };
    Some(NamedSet { name, set, translation })
}

fn is_unbounded(text: &str) -> bool {
    matches!(text.trim(), "inf" | "-inf" | "+inf")
}

/// n numbers or formulas as formulas.
fn texts(reader: &mut Reader<'_>, value: &Spanned<Value>, n: usize, what: &str) -> Option<Vec<String>> {
    let text = |item: &Value| match item {
        Value::Number(x) => Some(format!("{x:e}")),
        Value::Formula(text) => Some(text.clone()),
        Value::List(_) => None,
    };
    let list = match value.get_ref() {
        Value::List(items) => items.iter().map(text).collect::<Option<Vec<_>>>(),
        single => text(single).map(|text| vec![text]),
    };
    match list {
        Some(list) if list.len() == n => Some(list),
        Some(list) => {
            reader.wrong(value.span(), format!("{what} has {} entries", list.len()), format!("{n} are needed"));
            None
        }
        None => {
            reader.wrong(value.span(), format!("{what} is a list of lists"), format!("a list of {n} numbers or formulas is needed"));
            None
        }
    }
}
