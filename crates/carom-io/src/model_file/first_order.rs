//! `[first_order]` and `[[relation]]`: first-order systems with their laws.

use super::error::{Diagnostic, suggestion};
use super::formulas::report;
use super::numbers::{Must, Reader};
use super::schema::{FirstOrderSchema, RelationSchema, Schema};
use super::value::{LawValue, Table, Value};
use carom_dynamics::Model;
use carom_dynamics::control::ControlSource;
use carom_dynamics::first_order::source::linear_form;
use carom_dynamics::first_order::{FirstOrderSource, HeldInput, MultiplierLaw, RelationSource, SwitchSource};
use carom_dynamics::systems::Coordinate;
use std::ops::Range;
use toml::Spanned;

/// Adds the first-order part of the file to the model.
pub(super) fn first_order(reader: &mut Reader<'_>, model: &mut Model, schema: &Schema, control: &ControlSource) {
    if schema.circuit.is_some() && schema.first_order.is_none() && schema.sweeping.is_none() {
        if let Some(span) = schema.relations.first().map(Spanned::span).or_else(|| schema.switches.first().map(Spanned::span)) {
            reader.wrong(span, "relations and switches do not belong to a circuit", "write them as elements of the netlist");
        }
        if let Some(circuit) = schema.circuit.as_ref().filter(|_| control.needs_first_order()) {
            reader.wrong(
                circuit.span(),
                "beside a circuit, controllers cannot have states in continuous time or implicit laws",
                "give the controllers a `period`, or write the controller as elements of the netlist",
            );
        }
        return;
    }
    let Some(section) = &schema.first_order else {
        if let Some(span) = schema.relations.first().map(Spanned::span).or_else(|| schema.switches.first().map(Spanned::span)) {
            reader.wrong(span, "there are relations or switches but no first-order system", "add [first_order] with its `states`");
        }
        if schema.sweeping.is_none() && control.needs_first_order() {
            return of_control(reader, model, schema, control);
        }
        return super::sweeping::sweeping(reader, model, schema);
    };
    if let Some(sweeping) = &schema.sweeping {
        reader.wrong(
            sweeping.span(),
            "both [first_order] and [sweeping] are given",
            "write the sets as [[relation]]s, or the system as `rates` of [sweeping]",
        );
        return;
    }
    let before = reader.mistakes.len();
    let s = section.get_ref();
    let Some(mut source) = system(reader, section) else { return };
    let names = Names {
        states: source.states.iter().map(|state| state.name.clone()).collect(),
        inputs: source.inputs.iter().map(|(name, _)| name.clone()).collect(),
    };
    let mut actions: Vec<Vec<String>> = vec![Vec::new(); names.states.len()];
    for (index, section) in schema.relations.iter().enumerate() {
        if let Some((relation, b)) = relation(reader, section, index, &names) {
            for (action, row) in actions.iter_mut().zip(b) {
                let text = linear_form(&row, &relation.multipliers, "0");
                if text != "0" {
                    action.push(text);
                }
            }
            source.relations.push(relation);
        }
    }
    for (rate, action) in source.rates.iter_mut().zip(&actions) {
        for text in action {
            *rate = format!("({rate}) + {text}");
        }
    }
    source.forces = s.forces.0.iter().map(|(name, text)| (name.get_ref().clone(), text.get_ref().clone())).collect();
    for switch in &schema.switches {
        let text = |table: &Table<Spanned<String>>| table.0.iter().map(|(k, v)| (k.get_ref().clone(), v.get_ref().clone())).collect();
        let given = switch.get_ref();
        let (name, surface) = (given.name.get_ref().clone(), given.surface.get_ref().clone());
        let filled = SwitchSource { name, surface, above: text(&given.above), below: text(&given.below) };
        if let Err(error) = source.add_switch(&filled) {
            reader.mistakes.push(Diagnostic::new(switch.span(), error.to_string()));
        }
    }
    if reader.mistakes.len() > before {
        return;
    }
    if let Err(error) = control.extend(&mut source) {
        return super::control::report(reader, schema, &error);
    }
    if let Err(error) = model.set_first_order(&source) {
        let rates = s.rates.0.iter().map(|(_, text)| (text.span(), text.get_ref().as_str()));
        let inputs = s.inputs.0.iter().map(|(_, text)| (text.span(), text.get_ref().as_str()));
        let outputs = schema.relations.iter().flat_map(|r| r.get_ref().outputs.iter().flat_map(|list| list.get_ref()));
        let outputs = outputs.map(|text| (text.span(), text.get_ref().as_str()));
        let forces = s.forces.0.iter().map(|(_, text)| (text.span(), text.get_ref().as_str()));
        let surfaces = schema.switches.iter().map(|s| (s.get_ref().surface.span(), s.get_ref().surface.get_ref().as_str()));
        let places: Vec<(Range<usize>, &str)> = rates.chain(inputs).chain(outputs).chain(forces).chain(surfaces).collect();
        let named = named_place(&error.to_string(), schema);
        report(reader, &error, &places, named.unwrap_or_else(|| section.span()));
    }
}

/// The states and set-valued laws of controllers of a model without a first-order part of its own.
fn of_control(reader: &mut Reader<'_>, model: &mut Model, schema: &Schema, control: &ControlSource) {
    let mut source = FirstOrderSource { parameters: reader.parameters.clone(), ..FirstOrderSource::default() };
    if let Err(error) = control.extend(&mut source).and_then(|()| model.set_first_order(&source)) {
        super::control::report(reader, schema, &error);
    }
}

/// Initial values of the states of controllers.
pub(super) fn initial_of_control(x: &mut [f64], model: &Model, control: &ControlSource) {
    let Some(set) = model.first_order() else { return };
    for controller in &control.controllers {
        for state in controller.states.iter().filter(|state| state.rate.is_some()) {
            let name = format!("control.{}.{}", controller.name, state.name);
            if let Some(i) = set.states().iter().position(|s| s.name == name) {
                x[i] = state.initial;
            }
        }
    }
}

/// What schemes refuse of the first-order part is told where that stands, not at the settings of the run.
pub(super) fn place_mistakes(reader: &mut Reader<'_>, schema: &Schema) {
    let section = schema.first_order.as_ref().map(Spanned::span).or_else(|| schema.circuit.as_ref().map(Spanned::span));
    for mistake in &mut reader.mistakes {
        if let Some(span) = named_place(&mistake.message, schema) {
            mistake.span = Some(span);
        } else if let (true, Some(span)) = (mistake.message.starts_with("the pencil s M"), &section) {
            mistake.span = Some(span.clone());
        }
    }
}

/// The relation that a message names.
fn named_place(message: &str, schema: &Schema) -> Option<Range<usize>> {
    let is_named =
        |r: &&Spanned<RelationSchema>| r.get_ref().name.as_ref().is_some_and(|n| message.contains(&format!("\"{}\"", n.get_ref())));
    schema.relations.iter().find(is_named).map(Spanned::span)
}

/// What matrices have their columns for.
struct Names {
    states: Vec<String>,
    inputs: Vec<String>,
}

fn system(reader: &mut Reader<'_>, section: &Spanned<FirstOrderSchema>) -> Option<FirstOrderSource> {
    let s = section.get_ref();
    let names: Vec<String> = s.states.get_ref().iter().map(|name| name.get_ref().clone()).collect();
    if names.is_empty() && s.forces.0.is_empty() {
        reader.wrong(s.states.span(), "there are no states", "name at least one, or give `forces` on the mechanical part");
        return None;
    }
    let n = names.len();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    for (name, _) in s.rates.0.iter().chain(&s.units.0) {
        if !known.contains(&name.get_ref().as_str()) {
            reader.wrong(name.span(), format!("\"{}\" is not a state", name.get_ref()), suggestion(name.get_ref(), &known));
            return None;
        }
    }
    let unit = |name: &str| s.units.0.iter().find(|(key, _)| key.get_ref() == name).map_or("", |(_, unit)| unit.get_ref());
    let states = names.iter().map(|name| Coordinate::new(name, unit(name))).collect();
    let inputs: Vec<(String, String)> = s.inputs.0.iter().map(|(name, text)| (name.get_ref().clone(), text.get_ref().clone())).collect();
    let held = held(reader, &s.held)?;
    let input_names: Vec<String> = inputs.iter().map(|(name, _)| name.clone()).collect();
    let rates = rates(reader, section, &names, &input_names)?;
    let mass = match &s.mass {
        Some(mass) => matrix(reader, mass, (n, n), "the matrix `mass`")?.concat(),
        None => Vec::new(),
    };
    let storage = match &s.storage {
        Some(storage) => reader.matrix(storage, n, "the storage matrix")?,
        None => Vec::new(),
    };
    if let (Some(value), Some(k)) = (&s.storage, (0..storage.len()).find(|k| storage[*k] != storage[k % n * n + k / n])) {
        let message = format!("the storage matrix is not symmetric at ({}, {})", k / n + 1, k % n + 1);
        reader.wrong(value.span(), message, "½ xᵀP x needs a symmetric P");
        return None;
    }
    Some(FirstOrderSource {
        states,
        parameters: reader.parameters.clone(),
        mass,
        rates,
        inputs,
        held,
        storage,
        ..FirstOrderSource::default()
    })
}

pub(super) fn held(reader: &mut Reader<'_>, table: &Table<Spanned<Value>>) -> Option<Vec<HeldInput>> {
    let read = |(name, value): &(Spanned<String>, Spanned<Value>)| {
        let initial = reader.number(value, &format!("the initial value of the held input {}", name.get_ref()), Must::BeFinite)?;
        Some(HeldInput { name: name.get_ref().clone(), initial })
    };
    table.0.iter().map(read).collect()
}

/// M ẋ by formulas, or A x + E u + a.
fn rates(reader: &mut Reader<'_>, section: &Spanned<FirstOrderSchema>, names: &[String], inputs: &[String]) -> Option<Vec<String>> {
    let (s, n) = (section.get_ref(), names.len());
    let by_matrices = s.a_matrix.is_some() || s.e_matrix.is_some() || s.a_vector.is_some();
    if by_matrices && !s.rates.0.is_empty() {
        reader.wrong(
            section.span(),
            "both `rates` and matrices are given",
            "give formulas, `rates = { x = \"…\" }`, or matrices `A`, `E`, `a`",
        );
        return None;
    }
    if !by_matrices {
        let rate = |name: &String| s.rates.0.iter().find(|(key, _)| key.get_ref() == name).map_or("0", |(_, text)| text.get_ref());
        return Some(names.iter().map(|name| rate(name).to_owned()).collect());
    }
    let a = optional(reader, s.a_matrix.as_ref(), (n, n), "the matrix A")?;
    let e = optional(reader, s.e_matrix.as_ref(), (n, inputs.len()), "the matrix E")?;
    let offset = optional(reader, s.a_vector.as_ref(), (n, 1), "the vector a")?;
    let all: Vec<String> = names.iter().chain(inputs).cloned().collect();
    Some((0..n).map(|i| linear_form(&[a[i].clone(), e[i].clone()].concat(), &all, &offset[i][0])).collect())
}

/// A relation, and the rows of its B.
fn relation(
    reader: &mut Reader<'_>,
    section: &Spanned<RelationSchema>,
    index: usize,
    names: &Names,
) -> Option<(RelationSource, Vec<Vec<String>>)> {
    let s = section.get_ref();
    let name = s.name.as_ref().map_or_else(|| format!("relation {}", index + 1), |name| name.get_ref().clone());
    let multipliers: Vec<String> = s.multipliers.get_ref().iter().map(|name| name.get_ref().clone()).collect();
    let (n, m) = (names.states.len(), multipliers.len());
    let law = law(reader, &name, section, m)?;
    let of = |matrix: &str| format!("{matrix} of \"{name}\"");
    let b = optional(reader, s.b_matrix.as_ref(), (n, m), &of("the matrix B"))?;
    let by_matrices = s.c_matrix.is_some() || s.d_matrix.is_some() || s.f_matrix.is_some() || s.b_vector.is_some();
    let outputs: Vec<String> = match (&s.outputs, by_matrices) {
        (Some(list), false) => list.get_ref().iter().map(|text| text.get_ref().clone()).collect(),
        (None, true) => {
            let c = optional(reader, s.c_matrix.as_ref(), (m, n), &of("the matrix C"))?;
            let d = optional(reader, s.d_matrix.as_ref(), (m, m), &of("the matrix D"))?;
            let f = optional(reader, s.f_matrix.as_ref(), (m, names.inputs.len()), &of("the matrix F"))?;
            let offset = optional(reader, s.b_vector.as_ref(), (m, 1), &of("the vector b"))?;
            let all: Vec<String> = names.states.iter().chain(&multipliers).chain(&names.inputs).cloned().collect();
            (0..m).map(|i| linear_form(&[c[i].clone(), d[i].clone(), f[i].clone()].concat(), &all, &offset[i][0])).collect()
        }
        (Some(_), true) => {
            reader.wrong(
                section.span(),
                format!("\"{name}\" has both `y` and matrices"),
                "give formulas `y = [\"…\"]`, or matrices C, D, F, b",
            );
            return None;
        }
        (None, false) => {
            reader.wrong(
                section.span(),
                format!("\"{name}\" has no outputs"),
                "give `y = [\"…\", …]`, one formula per multiplier, or matrices C, D",
            );
            return None;
        }
    };
    if outputs.len() != m {
        let span = s.outputs.as_ref().map_or(section.span(), Spanned::span);
        reader.wrong(span, format!("\"{name}\" has {} outputs and {m} multipliers", outputs.len()), "give one output per multiplier");
        return None;
    }
    let compliance = reader.number_or(s.compliance.as_ref(), 0.0, &format!("the compliance of \"{name}\""), Must::NotBeNegative)?;
    Some((RelationSource { name, multipliers, outputs, law, compliance }, b))
}

/// `law = "complementarity"` or `law = { kind = "relay", lower = -1, upper = 1 }`.
fn law(reader: &mut Reader<'_>, name: &str, section: &Spanned<RelationSchema>, rows: usize) -> Option<MultiplierLaw> {
    let law = &section.get_ref().law;
    let none = Table::default();
    let (kind, table, kind_span) = match law.get_ref() {
        LawValue::Simple(Value::Formula(kind)) => (kind.clone(), &none, law.span()),
        LawValue::Table(table) => match table.0.iter().find(|(key, _)| key.get_ref() == "kind").map(|(_, value)| value) {
            Some(value) => match value.get_ref() {
                Value::Formula(kind) => (kind.clone(), table, value.span()),
                _ => return wrong_kind(reader, name, value.span()),
            },
            None => return wrong_kind(reader, name, law.span()),
        },
        LawValue::Simple(_) => return wrong_kind(reader, name, law.span()),
    };
    let wanted: &[&str] = match kind.as_str() {
        "equality" | "complementarity" => &[],
        "relay" => &["lower", "upper"],
        "ball" => &["radius"],
        "cone" => &["slope"],
        "polytope" => &["facets", "bounds"],
        _ => {
            let kinds: Vec<&str> = MultiplierLaw::LIST.iter().map(|(name, _)| *name).collect();
            reader.wrong(kind_span, format!("there is no law \"{kind}\" of multipliers"), suggestion(&kind, &kinds));
            return None;
        }
    };
    if let Some((key, _)) = table.0.iter().find(|(key, _)| key.get_ref() != "kind" && !wanted.contains(&key.get_ref().as_str())) {
        let help = if wanted.is_empty() { "it has no settings".to_owned() } else { suggestion(key.get_ref(), wanted) };
        reader.wrong(key.span(), format!("the law \"{kind}\" of \"{name}\" does not know `{}`", key.get_ref()), help);
        return None;
    }
    let value = |key: &str| table.0.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value);
    let mut number = |key: &str, default: f64| reader.number_or(value(key), default, &format!("`{key}` of \"{name}\""), Must::BeFinite);
    Some(match kind.as_str() {
        "equality" => MultiplierLaw::Equality,
        "complementarity" => MultiplierLaw::Complementarity,
        "relay" => MultiplierLaw::Relay { lower: number("lower", -1.0)?, upper: number("upper", 1.0)? },
        "ball" => MultiplierLaw::Ball { radius: number("radius", 1.0)? },
        "cone" => MultiplierLaw::Cone { slope: number("slope", 1.0)? },
        _ => {
            let (Some(facets), Some(bounds)) = (value("facets"), value("bounds")) else {
                let help = "give `facets = [[…], …]`, one row per facet, and `bounds = […]`: {λ : G λ ≤ g}";
                reader.wrong(law.span(), format!("the polytope of \"{name}\" has no facets or no bounds"), help);
                return None;
            };
            let Value::List(rows_given) = facets.get_ref() else {
                reader.wrong(facets.span(), format!("the facets of \"{name}\" are not a list of rows"), "give one row per facet");
                return None;
            };
            let what = format!("a facet of \"{name}\"");
            let facets: Option<Vec<Vec<f64>>> = rows_given.iter().map(|row| reader.numbers(row, facets.span(), rows, &what)).collect();
            let facets = facets?;
            let bounds = reader.numbers(bounds.get_ref(), bounds.span(), facets.len(), &format!("the bounds of \"{name}\""))?;
            MultiplierLaw::Polytope { facets, bounds }
        }
    })
}

fn wrong_kind(reader: &mut Reader<'_>, name: &str, span: Range<usize>) -> Option<MultiplierLaw> {
    let kinds: Vec<&str> = MultiplierLaw::LIST.iter().map(|(name, _)| *name).collect();
    reader.wrong(
        span,
        format!("the law of \"{name}\" has no kind"),
        format!("write law = \"…\" or law = {{ kind = \"…\", … }} with one of: {}", kinds.join(", ")),
    );
    None
}

/// A matrix of formulas; zero where it is not given.
fn optional(reader: &mut Reader<'_>, value: Option<&Spanned<Value>>, shape: (usize, usize), what: &str) -> Option<Vec<Vec<String>>> {
    match value {
        Some(value) => matrix(reader, value, shape, what),
        None => Some(vec![vec!["0".to_owned(); shape.1]; shape.0]),
    }
}

/// A matrix of numbers or formulas: rows of entries; a flat list for one row or column, or for the diagonal of a square matrix; one value for 1 × 1 or a multiple of the identity.
fn matrix(reader: &mut Reader<'_>, value: &Spanned<Value>, (rows, columns): (usize, usize), what: &str) -> Option<Vec<Vec<String>>> {
    let text = |value: &Value| match value {
        Value::Number(x) => Some(format!("{x:e}")),
        Value::Formula(text) => Some(text.clone()),
        Value::List(_) => None,
    };
    let mut wrong = |message: String| {
        reader.mistakes.push(Diagnostic::new(value.span(), message).help(format!("{rows} × {columns} entries are needed")));
        None
    };
    let diagonal = |entries: &[String]| -> Vec<Vec<String>> {
        (0..rows).map(|i| (0..columns).map(|j| if i == j { entries[i].clone() } else { "0".to_owned() }).collect()).collect()
    };
    match value.get_ref() {
        Value::List(items) if items.iter().all(|item| matches!(item, Value::List(_))) && !items.is_empty() => {
            if items.len() != rows {
                return wrong(format!("{what} has {} rows", items.len()));
            }
            let mut all = Vec::new();
            for item in items {
                let Value::List(entries) = item else { return None };
                if entries.len() != columns {
                    return wrong(format!("a row of {what} has {} entries", entries.len()));
                }
                let Some(row) = entries.iter().map(text).collect::<Option<Vec<_>>>() else {
                    return wrong(format!("an entry of {what} is a list"));
                };
                all.push(row);
            }
            Some(all)
        }
        Value::List(items) => {
            let Some(entries) = items.iter().map(text).collect::<Option<Vec<_>>>() else {
                return wrong(format!("{what} mixes entries and rows"));
            };
            match () {
                () if rows == 1 && entries.len() == columns => Some(vec![entries]),
                () if columns == 1 && entries.len() == rows => Some(entries.into_iter().map(|entry| vec![entry]).collect()),
                () if rows == columns && entries.len() == rows => Some(diagonal(&entries)),
                () => wrong(format!("{what} has {} entries in a flat list", entries.len())),
            }
        }
        one => match (text(one), rows == columns) {
            (Some(entry), true) => Some(diagonal(&vec![entry; rows])),
            (Some(entry), false) if rows * columns == 1 => Some(vec![vec![entry]]),
            _ => wrong(format!("{what} is one value")),
        },
    }
}

/// `[initial] state`: values by name; where left out, that of the netlist or zero.
pub(super) fn initial(
    reader: &mut Reader<'_>,
    table: &Table<Spanned<Value>>,
    model: &Model,
    defaults: Option<Vec<f64>>,
) -> (Vec<f64>, Vec<f64>) {
    let Some(set) = model.first_order() else {
        if let Some((name, _)) = table.0.first() {
            reader.wrong(name.span(), "initial states are given, but there is no first-order system", "add [first_order]");
        }
        return (Vec::new(), Vec::new());
    };
    let names: Vec<&str> = set.states().iter().map(|state| state.name.as_str()).collect();
    let mut x = defaults.unwrap_or_else(|| vec![0.0; names.len()]);
    for (name, value) in &table.0 {
        match names.iter().position(|other| other == name.get_ref()) {
            Some(i) => x[i] = reader.number(value, &format!("the initial value of {}", name.get_ref()), Must::BeFinite).unwrap_or(0.0),
            None => reader.wrong(name.span(), format!("\"{}\" is not a state", name.get_ref()), suggestion(name.get_ref(), &names)),
        }
    }
    (x, set.held().iter().map(|(_, value)| *value).collect())
}
