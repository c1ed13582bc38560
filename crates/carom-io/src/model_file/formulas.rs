//! The parts of a model file that are given by formulas or matrices: systems, constraints, contacts.

use super::compliant::compliant_law;
use super::error::suggestion;
use super::laws::{LawKeys, contact_law};
use super::numbers::Reader;
use super::pieces::{self, Geometry};
use super::schema::{CompliantSchema, ConstraintSchema, ContactSchema, LagrangianSchema, LinearSchema};
use super::value::{Table, Value};
use carom_dynamics::error::ModelError;
use carom_dynamics::forces::CompliantLaw;
use carom_dynamics::formula;
use carom_dynamics::relations::{FormulaSource, Relation};
use carom_dynamics::systems::{Lagrangian, LagrangianText, Linear};
use carom_dynamics::{Friction, Law, Model};
use std::ops::Range;
use toml::Spanned;

/// Names of coordinates, refused where a formula could not use them.
fn coordinates(reader: &mut Reader<'_>, names: &Spanned<Vec<Spanned<String>>>) -> Option<Vec<String>> {
    let (mut seen, before): (Vec<String>, usize) = (Vec::new(), reader.mistakes.len());
    if names.get_ref().is_empty() {
        reader.wrong(names.span(), "there are no coordinates", "name at least one");
    }
    for name in names.get_ref() {
        let (text, span) = (name.get_ref(), name.span());
        if !formula::is_valid_name(text) || text.contains('.') || formula::is_reserved_name(text) || text == "t" {
            reader.wrong(span, format!("\"{text}\" cannot name a coordinate"), "use letters, digits and _; not t, pi, and, or, not");
        } else if seen.contains(text) {
            reader.wrong(span, format!("the coordinate \"{text}\" is named twice"), "give each coordinate its own name");
        } else if reader.parameters.iter().any(|(other, _)| other == text || other == &format!("{text}_dot")) {
            reader.wrong(span, format!("\"{text}\" or \"{text}_dot\" names both a parameter and a coordinate"), "rename one of them");
        }
        seen.push(text.clone());
    }
    (reader.mistakes.len() == before).then_some(seen)
}

/// The units of the coordinates; empty where none is given.
fn units(reader: &mut Reader<'_>, table: &Table<Spanned<String>>, coordinates: &[String]) -> Option<Vec<String>> {
    let names: Vec<&str> = coordinates.iter().map(String::as_str).collect();
    let mut units = vec![String::new(); coordinates.len()];
    for (name, unit) in &table.0 {
        match names.iter().position(|other| other == name.get_ref()) {
            Some(i) => units[i] = unit.get_ref().clone(),
            None => {
                let help = suggestion(name.get_ref(), &names);
                reader.wrong(name.span(), format!("a unit is given for \"{}\", which is not a coordinate", name.get_ref()), help);
                return None;
            }
        }
    }
    Some(units)
}

/// The `[lagrangian]` system.
pub(super) fn lagrangian(reader: &mut Reader<'_>, section: &Spanned<LagrangianSchema>) -> Option<Lagrangian> {
    let s = section.get_ref();
    let coordinates = coordinates(reader, &s.coordinates)?;
    let names: Vec<&str> = coordinates.iter().map(String::as_str).collect();
    for (name, _) in &s.forces.0 {
        if !names.contains(&name.get_ref().as_str()) {
            let help = suggestion(name.get_ref(), &names);
            reader.wrong(name.span(), format!("a force is given on \"{}\", which is not a coordinate", name.get_ref()), help);
            return None;
        }
    }
    let text = LagrangianText {
        parameters: reader.parameters.clone(),
        kinetic: s.kinetic.get_ref().clone(),
        potential: s.potential.as_ref().map(|p| p.get_ref().clone()).unwrap_or_default(),
        forces: s.forces.0.iter().map(|(name, f)| (name.get_ref().clone(), f.get_ref().clone())).collect(),
        coordinates,
    };
    let units = units(reader, &s.units, &text.coordinates)?;
    match Lagrangian::new(&text).and_then(|system| system.with_units(units)) {
        Ok(system) => Some(system),
        Err(error) => {
            let spans = std::iter::once(s.kinetic.span())
                .chain(s.potential.iter().map(Spanned::span))
                .chain(s.forces.0.iter().map(|(_, f)| f.span()));
            let texts = std::iter::once(&s.kinetic).chain(&s.potential).chain(s.forces.0.iter().map(|(_, f)| f));
            let places: Vec<(Range<usize>, &str)> = spans.zip(texts.map(|t| t.get_ref().as_str())).collect();
            report(reader, &error, &places, s.kinetic.span());
            None
        }
    }
}

/// Puts a [`ModelError`] at the formula it is about, or at `fallback`.
pub(super) fn report(reader: &mut Reader<'_>, error: &ModelError, formulas: &[(Range<usize>, &str)], fallback: Range<usize>) {
    match error {
        ModelError::Formula { what, text, error } => {
            let span = formulas.iter().find(|(_, formula)| formula == text).map_or(fallback, |(span, _)| span.clone());
            reader.wrong_formula(span, &format!("the {what}"), text, error);
        }
        ModelError::NotAffine { text, .. } | ModelError::NoRate { text, .. } | ModelError::Condition { text, .. } => {
            let span = formulas.iter().find(|(_, formula)| formula == text).map_or(fallback, |(span, _)| span.clone());
            reader.mistakes.push(super::Diagnostic::new(span, error.to_string()));
        }
        other => reader.mistakes.push(super::Diagnostic::new(fallback, other.to_string())),
    }
}

/// The `[linear]` system.
pub(super) fn linear(reader: &mut Reader<'_>, section: &Spanned<LinearSchema>) -> Option<Linear> {
    let s = section.get_ref();
    let coordinates = coordinates(reader, &s.coordinates)?;
    let n = coordinates.len();
    let zero = || vec![0.0; n * n];
    let mass = reader.matrix(&s.mass, n, "the mass matrix");
    let damping = s.damping.as_ref().map_or_else(|| Some(zero()), |m| reader.matrix(m, n, "the damping matrix"));
    let stiffness = s.stiffness.as_ref().map_or_else(|| Some(zero()), |m| reader.matrix(m, n, "the stiffness matrix"));
    let units = units(reader, &s.units, &coordinates);
    let (mass, damping, stiffness, units) = (mass?, damping?, stiffness?, units?);
    let system = match Linear::new(coordinates, mass, damping, stiffness).and_then(|system| system.with_units(units)) {
        Ok(system) => system,
        Err(error) => {
            reader.mistakes.push(super::Diagnostic::new(s.mass.span(), error.to_string()));
            return None;
        }
    };
    let Some(force) = &s.force else { return Some(system) };
    let Value::List(items) = force.get_ref() else {
        reader.wrong(
            force.span(),
            "the force is not a list",
            format!("a list of {n} numbers or formulas of t, coordinates and rates is needed"),
        );
        return None;
    };
    if items.len() != n {
        reader.wrong(force.span(), format!("the force has {} entries", items.len()), format!("{n} are needed, one per coordinate"));
        return None;
    }
    let with_force = match constants(reader, items) {
        Some(force) => system.with_force(force),
        None => {
            let formulas: Vec<String> = items.iter().map(as_formula).collect();
            system.with_excitation(&formulas, &reader.parameters)
        }
    };
    with_force.map_err(|error| report(reader, &error, &[], force.span())).ok()
}

/// The values of a force that depends on nothing but parameters.
fn constants(reader: &Reader<'_>, items: &[Value]) -> Option<Vec<f64>> {
    items.iter().map(|item| reader.constant(item)).collect()
}

fn as_formula(item: &Value) -> String {
    match item {
        Value::Formula(text) => text.clone(),
        Value::Number(x) => format!("{x:e}"),
        Value::List(_) => "list".to_owned(), // refused as an unknown name, at the force
    }
}

/// Adds `[[constraint]]` number `index`.
pub(super) fn constraint(reader: &mut Reader<'_>, model: &mut Model, section: &Spanned<ConstraintSchema>, index: usize) {
    let s = section.get_ref();
    let name = s.name.as_ref().map_or_else(|| format!("constraint {}", index + 1), |name| name.get_ref().clone());
    if let Some(list) = &s.pieces {
        let Some(geometry) = pieces::constraint(reader, (&name, section.span()), s, list) else { return };
        add(reader, model, (&name, section.span()), geometry, Binding::Law(Law::Bilateral));
        return;
    }
    if let Some(corner) = &s.corner {
        pieces::corner_of_nothing(reader, &name, corner);
        return;
    }
    let given = [(&s.equation, &s.equations, "equation"), (&s.velocity, &s.velocities, "velocity")];
    let mut kinds = given.iter().filter(|(one, many, _)| one.is_some() || many.is_some());
    let (Some(&(one, many, kind)), None) = (kinds.next(), kinds.next()) else {
        reader.wrong(
            section.span(),
            format!("\"{name}\" has no equation, or two kinds of them"),
            "give `equation = \"…\"`, `equations = [\"…\", …]` or `pieces = [{ when = \"…\", equation = \"…\" }, …]` between positions, or `velocity = \"…\"` or `velocities = [\"…\", …]` between rates",
        );
        return;
    };
    let equations: Vec<&Spanned<String>> = match (one, many) {
        (Some(one), None) => vec![one],
        (None, Some(many)) if (1..=6).contains(&many.get_ref().len()) => many.get_ref().iter().collect(),
        (None, Some(many)) => {
            reader.wrong(
                many.span(),
                format!("there are {} equations", many.get_ref().len()),
                "give 1 to 6; more go into constraints of their own",
            );
            return;
        }
        _ => {
            reader.wrong(section.span(), format!("\"{name}\" has both one {kind} and a list"), "give one of them");
            return;
        }
    };
    let rows = equations.iter().map(|e| (format!("{kind} of \"{name}\""), e.get_ref().clone())).collect();
    if kind == "velocity" {
        let source = FormulaSource { rows, parameters: reader.parameters.clone() };
        let added = model.add_velocity_formula(&name, &source);
        report_at(reader, added, &equations, None, section.span());
        return;
    }
    add(reader, model, (&name, section.span()), Geometry::Formulas { texts: equations, rows }, Binding::Law(Law::Bilateral));
}

/// Adds `[[contact]]` number `index`.
pub(super) fn contact(reader: &mut Reader<'_>, model: &mut Model, section: &Spanned<ContactSchema>, index: usize) {
    let s = section.get_ref();
    let name = s.name.as_ref().map_or_else(|| format!("contact {}", index + 1), |name| name.get_ref().clone());
    let Some(mut geometry) = pieces::contact(reader, (&name, section.span()), s) else { return };
    if let Some(compliant) = &s.compliant {
        compliant_contact(reader, model, (&name, section), geometry, compliant);
        return;
    }
    let keys = LawKeys {
        friction: s.friction.as_ref(),
        restitution: s.restitution.as_ref(),
        tangential_restitution: s.tangential_restitution.as_ref(),
        rolling: s.rolling.as_ref(),
        spinning: s.spinning.as_ref(),
        cohesion: s.cohesion.as_ref(),
        stiffness: s.stiffness.as_ref(),
        exponent: s.exponent.as_ref(),
        materials: None,
    };
    let Some(law) = contact_law(reader, &name, &keys) else { return };
    let friction_span = || s.friction.as_ref().map_or(section.span(), Spanned::span);
    if law.rolling > 0.0 || law.spinning > 0.0 {
        let span = s.rolling.as_ref().or(s.spinning.as_ref()).map_or(section.span(), Spanned::span);
        let help = "they are for bodies with shapes: give them in [[material]] or [[material_pair]]";
        reader.wrong(span, format!("\"{name}\" is a contact by formula: it has no rolling or spinning resistance"), help);
        return;
    }
    geometry.use_tangent(!law.is_frictionless());
    if geometry.n_tangents() == 0 && !law.is_frictionless() {
        let span = s.tangential_restitution.as_ref().filter(|_| s.friction.is_none()).map_or_else(friction_span, Spanned::span);
        reader.wrong(span, format!("\"{name}\" has friction but no tangent"), "give the sliding coordinate: `tangent = \"…\"`");
        return;
    }
    if geometry.n_tangents() < 2 && matches!(law.friction, Friction::Elliptic { .. }) {
        let help = "give both: `tangents = [\"…\", \"…\"]`, in the order of the coefficients";
        reader.wrong(friction_span(), format!("\"{name}\" has elliptic friction but one tangent"), help);
        return;
    }
    add(reader, model, (&name, section.span()), geometry, Binding::Law(Law::Contact(law)));
}

/// Adds a contact that acts by a force.
fn compliant_contact(
    reader: &mut Reader<'_>,
    model: &mut Model,
    (name, section): (&str, &Spanned<ContactSchema>),
    mut geometry: Geometry<'_>,
    compliant: &Spanned<CompliantSchema>,
) {
    let s = section.get_ref();
    let Some(law) = compliant_law(reader, name, s, compliant) else { return };
    geometry.use_tangent(law.friction > 0.0);
    if let (true, true, Some(friction)) = (geometry.n_tangents() == 0, law.friction > 0.0, &s.friction) {
        let help = "give the sliding coordinate: `tangent = \"…\"`";
        reader.wrong(friction.span(), format!("\"{name}\" has friction but no tangent"), help);
        return;
    }
    add(reader, model, (name, section.span()), geometry, Binding::Compliant(law));
}

/// What binds the rows of a relation.
enum Binding {
    Law(Law),
    Compliant(CompliantLaw),
}

/// Adds an interaction with a law, or a penalised contact.
fn add(reader: &mut Reader<'_>, model: &mut Model, (name, span): (&str, Range<usize>), geometry: Geometry<'_>, binding: Binding) {
    let (texts, place) = (geometry.texts().to_vec(), geometry.place());
    let relation: Result<Box<dyn Relation>, ModelError> = match geometry {
        Geometry::Formulas { rows, .. } => {
            let source = FormulaSource { rows, parameters: reader.parameters.clone() };
            let added = match binding {
                Binding::Law(law) => model.add_formula(name, &source, law),
                Binding::Compliant(law) => model.add_compliant_formula(name, &source, law),
            };
            return report_at(reader, added, &texts, place, span);
        }
        Geometry::Pieces { source, .. } => model.piecewise(&source).map(|relation| Box::new(relation) as _),
        Geometry::Chain { source, .. } => model.chain(&source).map(|relation| Box::new(relation) as _),
    };
    let added = relation.and_then(|relation| match binding {
        Binding::Law(law) => model.add_interaction(name, relation, law),
        Binding::Compliant(law) => model.add_compliant_contact(name, relation, law),
    });
    report_at(reader, added, &texts, place, span);
}

/// Shows a mistake at the formula it is in, else at the place given, else at the first formula, else at the section.
fn report_at(
    reader: &mut Reader<'_>,
    added: Result<(), ModelError>,
    texts: &[&Spanned<String>],
    place: Option<Range<usize>>,
    section: Range<usize>,
) {
    if let Err(error) = added {
        let places: Vec<(Range<usize>, &str)> = texts.iter().map(|t| (t.span(), t.get_ref().as_str())).collect();
        let fallback = place.or_else(|| texts.first().map(|t| t.span())).unwrap_or(section);
        report(reader, &error, &places, fallback);
    }
}
