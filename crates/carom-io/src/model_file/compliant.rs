//! Penalised contacts in a model file: `compliant = { stiffness = …, … }` of a `[[contact]]`.

use super::error::suggestion;
use super::laws::LawTable;
use super::numbers::{Must, Reader};
use super::schema::{CompliantSchema, ContactSchema};
use super::value::LawValue;
use carom_dynamics::forces::{Attraction, CompliantLaw, Damping};
use toml::Spanned;

/// Reads the law of a penalised contact; keys that belong to rigid contacts are refused beside it.
pub(super) fn compliant_law(
    reader: &mut Reader<'_>,
    name: &str,
    contact: &ContactSchema,
    section: &Spanned<CompliantSchema>,
) -> Option<CompliantLaw> {
    let before = reader.mistakes.len();
    refuse_rigid_keys(reader, name, contact);
    let s = section.get_ref();
    let what = |key: &str| format!("`{key}` of the compliant contact \"{name}\"");
    let stiffness = match &s.stiffness {
        Some(value) => reader.number(value, &what("stiffness"), Must::BePositive),
        None => {
            let help = "give `stiffness = …`, in N/m for the exponent 1, in N/m^1.5 for 1.5";
            reader.wrong(section.span(), format!("the compliant contact \"{name}\" has no `stiffness`"), help);
            None
        }
    };
    let exponent = exponent(reader, &what("exponent"), s);
    let damping = damping(reader, &what("damping"), s.damping.as_ref());
    let attraction = attraction(reader, &what("attraction"), s.attraction.as_ref());
    let slip_velocity = reader.number_or(s.slip_velocity.as_ref(), 1e-3, &what("slip_velocity"), Must::BePositive);
    let friction = friction(reader, name, contact.friction.as_ref());
    let law = CompliantLaw {
        stiffness: stiffness?,
        exponent: exponent?,
        damping: damping?,
        attraction: attraction?,
        friction: friction?,
        slip_velocity: slip_velocity?,
    };
    (reader.mistakes.len() == before).then_some(law)
}

fn refuse_rigid_keys(reader: &mut Reader<'_>, name: &str, s: &ContactSchema) {
    let dissipation = "its loss comes from `damping` of `compliant`";
    let of_spring = "give it within `compliant = { … }`";
    let bodies = "it is for bodies with shapes";
    let law = |value: &Option<Spanned<LawValue>>| value.as_ref().map(Spanned::span);
    let given = [
        ("restitution", law(&s.restitution), dissipation),
        ("tangential_restitution", s.tangential_restitution.as_ref().map(Spanned::span), dissipation),
        ("cohesion", law(&s.cohesion), "a compliant contact can pull: `attraction = \"allowed\"` of `compliant`"),
        ("stiffness", s.stiffness.as_ref().map(Spanned::span), of_spring),
        ("exponent", s.exponent.as_ref().map(Spanned::span), of_spring),
        ("corner", s.corner.as_ref().map(Spanned::span), "its force has no corners to pass"),
        ("rolling", s.rolling.as_ref().map(Spanned::span), bodies),
        ("spinning", s.spinning.as_ref().map(Spanned::span), bodies),
    ];
    for (key, span, help) in given {
        if let Some(span) = span {
            reader.wrong(span, format!("\"{name}\" is compliant: `{key}` beside `compliant` has no meaning"), help);
        }
    }
}

fn exponent(reader: &mut Reader<'_>, what: &str, s: &CompliantSchema) -> Option<f64> {
    let Some(value) = &s.exponent else { return Some(1.0) };
    let exponent = reader.number(value, what, Must::BePositive)?;
    if exponent < 1.0 {
        reader.wrong(value.span(), format!("{what} is {exponent}"), "a number ≥ 1 is needed: 1 linear, 1.5 Hertz");
        return None;
    }
    Some(exponent)
}

/// One number is the constant damping, a table has a `kind`.
fn damping(reader: &mut Reader<'_>, what: &str, value: Option<&Spanned<LawValue>>) -> Option<Damping> {
    const KINDS: [(&str, &[&str]); 6] = [
        ("none", &[]),
        ("constant", &["coefficient"]),
        ("step", &["coefficient", "depth"]),
        ("elastic", &["coefficient"]),
        ("root", &["coefficient"]),
        ("critical", &["coefficient", "mass", "load"]),
    ];
    let Some(value) = value else { return Some(Damping::None) };
    let table = match value.get_ref() {
        LawValue::Simple(number) => {
            let coefficient = reader.number(&Spanned::new(value.span(), number.clone()), what, Must::NotBeNegative)?;
            return Some(Damping::Constant { coefficient });
        }
        LawValue::Table(table) => LawTable::read(reader, table, value.span(), what, &KINDS)?,
    };
    if table.kind == "none" {
        return Some(Damping::None);
    }
    let coefficient = table.number(reader, "coefficient", None, Must::NotBeNegative);
    Some(match table.kind {
        "constant" => Damping::Constant { coefficient: coefficient? },
        "step" => {
            let depth = table.number(reader, "depth", None, Must::BePositive);
            Damping::Step { coefficient: coefficient?, depth: depth? }
        }
        "elastic" => Damping::Elastic { coefficient: coefficient? },
        "root" => Damping::Root { coefficient: coefficient? },
        _ => {
            let mass = table.number(reader, "mass", None, Must::BePositive);
            let load = table.number(reader, "load", None, Must::BePositive);
            Damping::Critical { coefficient: coefficient?, mass: mass?, load: load? }
        }
    })
}

fn attraction(reader: &mut Reader<'_>, what: &str, value: Option<&Spanned<String>>) -> Option<Attraction> {
    const NAMES: [&str; 3] = ["none", "reversed", "allowed"];
    let Some(value) = value else { return Some(Attraction::None) };
    match value.get_ref().as_str() {
        "none" => Some(Attraction::None),
        "reversed" => Some(Attraction::Reversed),
        "allowed" => Some(Attraction::Allowed),
        other => {
            reader.wrong(value.span(), format!("{what} is \"{other}\""), suggestion(other, &NAMES));
            None
        }
    }
}

fn friction(reader: &mut Reader<'_>, name: &str, value: Option<&Spanned<LawValue>>) -> Option<f64> {
    let Some(value) = value else { return Some(0.0) };
    match value.get_ref() {
        LawValue::Simple(number) => {
            let what = format!("the friction coefficient of \"{name}\"");
            reader.number(&Spanned::new(value.span(), number.clone()), &what, Must::NotBeNegative)
        }
        LawValue::Table(_) => {
            let help = "friction of a compliant contact is one coefficient: `friction = 0.3`";
            reader.wrong(value.span(), format!("the friction of the compliant contact \"{name}\" is a table"), help);
            None
        }
    }
}
