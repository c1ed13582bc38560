//! Joints with clearance in a model file: pins with play, balls in sockets, sliders in guides.
//!
//! ```toml
//! clearance = 1e-4
//! clearance = { size = 1e-4, journal_radius = 0.01, friction = 0.1, restitution = 0.5, axes = "free" }
//! ```

use super::error::suggestion;
use super::joint_limits::{report, stop_law};
use super::numbers::{Must, Reader};
use super::schema::JointSchema;
use super::value::{LawValue, Value};
use carom_dynamics::relations::{JointContact, JointKind, JointPlacement, JointSource};
use carom_dynamics::{ContactLaw, Law, Model, ModelError, Restitution};
use toml::Spanned;

/// What a clearance is given by.
struct Clearance {
    size: f64,
    radius: f64,
    /// Length and height of a slider.
    slider: Option<[f64; 2]>,
    law: ContactLaw,
    /// The axes of the bodies are not kept parallel.
    tilting: bool,
}

/// Adds a joint with clearance: its contacts, and the rows that are left of it.
pub(super) fn clearance(
    reader: &mut Reader<'_>,
    model: &mut Model,
    section: &Spanned<JointSchema>,
    (name, source, planar): (&str, &JointSource, bool),
    q: &[f64],
) {
    let s = section.get_ref();
    let stops = [&s.limits, &s.cone].into_iter().flatten().next();
    if let Some(value) = stops {
        let help = "remove one of them; a joint with clearance has no exact coordinate to limit";
        reader.wrong(value.span(), format!("\"{name}\" has both clearance and limits"), help);
        return;
    }
    let Some(c) = read(reader, s, (name, source.kind, planar)) else { return };
    let systems = model.shared_systems();
    let (law, rough) = (Law::Contact(c.law), !c.law.is_frictionless());
    let added: Result<(), ModelError> = match source.kind {
        JointKind::Revolute => {
            let tangents = usize::from(rough) * if c.tilting { 2 } else { 1 };
            JointContact::journal(name, source, (c.size, c.radius), tangents, &systems, q)
                .and_then(|contact| model.add_interaction(name, Box::new(contact), law))
                .and_then(|()| match (planar, c.tilting) {
                    (true, _) => Ok(()),
                    // the pin does not leave its bore along the axis
                    (false, tilting) => {
                        let kind = if tilting { JointKind::PointInPlane } else { JointKind::Planar };
                        // the pin may lie off the bore's axis at the start; along it only the pin's point counts
                        let placement = JointPlacement { points: [source.placement.points[1]; 2], ..source.placement };
                        model.add_joint(&format!("{name} axis"), &JointSource { kind, placement, ..source.clone() }, q)
                    }
                })
        }
        JointKind::Spherical if !planar => JointContact::ball(name, source, (c.size, c.radius), rough, &systems, q)
            .and_then(|contact| model.add_interaction(name, Box::new(contact), law)),
        JointKind::Prismatic if planar => JointContact::slider(name, source, c.slider.unwrap_or_default(), c.size, rough, &systems, q)
            .and_then(|corners| {
                let names = ["upper left", "upper right", "lower left", "lower right"];
                corners
                    .into_iter()
                    .zip(names)
                    .try_for_each(|(corner, corner_name)| model.add_interaction(&format!("{name} {corner_name}"), Box::new(corner), law))
            }),
        _ => {
            let reason = "clearance is for revolute joints, spherical joints in space and prismatic joints in the plane".into();
            Err(ModelError::Joint { joint: name.to_owned(), reason })
        }
    };
    report(reader, added, section.span());
}

fn read(reader: &mut Reader<'_>, s: &JointSchema, (name, kind, planar): (&str, JointKind, bool)) -> Option<Clearance> {
    let value = s.clearance.as_ref()?;
    let what = |key: &str| format!("the {key} of the clearance of \"{name}\"");
    let mut law = stop_law(reader, s, name)?;
    let slider = kind == JointKind::Prismatic;
    let table = match value.get_ref() {
        LawValue::Simple(number) => {
            let size =
                reader.number(&Spanned::new(value.span(), number.clone()), &format!("the clearance of \"{name}\""), Must::BePositive)?;
            if slider {
                let help = "give { size = …, length = …, height = … } in metres";
                reader.wrong(value.span(), format!("the clearance of \"{name}\" does not say how large its slider is"), help);
                return None;
            }
            return Some(Clearance { size, radius: 0.0, slider: None, law, tilting: false });
        }
        LawValue::Table(table) => &table.0,
    };
    let keys: &[&str] = match (slider, planar || kind == JointKind::Spherical) {
        (true, _) => &["size", "length", "height", "friction", "restitution"],
        (false, true) => &["size", "journal_radius", "friction", "restitution"],
        (false, false) => &["size", "journal_radius", "friction", "restitution", "axes"],
    };
    if let Some((key, _)) = table.iter().find(|(key, _)| !keys.contains(&key.get_ref().as_str())) {
        reader.wrong(key.span(), format!("the clearance of \"{name}\" has no `{}`", key.get_ref()), suggestion(key.get_ref(), keys));
        return None;
    }
    let get = |key: &str| table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value);
    let mut length = |key: &str| match get(key) {
        Some(value) => reader.number(value, &what(key), Must::BePositive),
        None => {
            reader.wrong(value.span(), format!("the clearance of \"{name}\" has no `{key}`"), format!("give `{key}` in metres"));
            None
        }
    };
    let size = length("size")?;
    let slider = if slider { Some([length("length")?, length("height")?]) } else { None };
    let radius = reader.number_or(get("journal_radius"), 0.0, &what("journal radius"), Must::NotBeNegative)?;
    let friction = reader.number_or(get("friction"), 0.0, &what("friction"), Must::NotBeNegative)?;
    if let Some(value) = get("restitution") {
        let coefficient = reader.number(value, &what("restitution"), Must::LieInUnitInterval)?;
        law.restitution = Restitution::Constant { coefficient };
    }
    if let (Some(value), None, None) = (get("friction"), get("journal_radius"), slider.as_ref())
        && friction > 0.0
    {
        let help = "give `journal_radius` in metres, the radius of the pin or ball: friction acts at its surface";
        reader.wrong(value.span(), format!("the clearance of \"{name}\" has friction but no radius"), help);
        return None;
    }
    law.friction = ContactLaw::coulomb(friction, 0.0).friction;
    let tilting = match get("axes").map(|value| (value.get_ref(), value.span())) {
        None => false,
        Some((Value::Formula(text), _)) if text == "parallel" => false,
        Some((Value::Formula(text), _)) if text == "free" => true,
        Some((_, span)) => {
            reader.wrong(
                span,
                format!("the axes of the clearance of \"{name}\" are neither parallel nor free"),
                "give \"parallel\" or \"free\"",
            );
            return None;
        }
    };
    Some(Clearance { size, radius, slider, law, tilting })
}
