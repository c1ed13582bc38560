//! Trees of bodies in relative coordinates in a model file.

use super::bodies::{Placed, check_names, read_orientation};
use super::error::suggestion;
use super::joints::GROUND;
use super::numbers::{Must, Reader};
use super::schema::{TreeBodySchema, TreeSchema};
use super::value::Value;
use carom_dynamics::ModelError;
use carom_dynamics::systems::{RigidBodies, RigidBody, Tree, TreeBody, TreeJoint};
use nalgebra::{Matrix3, Vector3};
use toml::Spanned;

/// The `[tree]` with its initial coordinates and velocities.
pub(super) fn tree(reader: &mut Reader<'_>, section: &Spanned<TreeSchema>, gravity: Vector3<f64>) -> Option<Placed<Tree>> {
    let sections = &section.get_ref().bodies;
    check_names(reader, sections.iter().map(|s| &s.get_ref().name), "body");
    let (mut bodies, mut q, mut v) = (Vec::<TreeBody>::new(), Vec::new(), Vec::new());
    for (index, body) in sections.iter().enumerate() {
        let earlier: Vec<&str> = sections[..index].iter().map(|s| s.get_ref().name.get_ref().as_str()).collect();
        let Some(read) = read_body(reader, body, &earlier) else { continue };
        let joint = read.joint;
        let start = values(reader, body.get_ref().coordinates.as_ref(), &joint.zero(), "coordinates", body.get_ref());
        let rates = values(reader, body.get_ref().rates.as_ref(), &vec![0.0; joint.n_velocities()], "rates", body.get_ref());
        q.extend(start.unwrap_or_default());
        v.extend(rates.unwrap_or_default());
        bodies.push(read);
    }
    if !reader.mistakes.is_empty() {
        return None;
    }
    let built = Tree::new(bodies, gravity).map_err(|error| {
        // at the body it is about, where it says so
        let named = |name: &str| sections.iter().find(|s| s.get_ref().name.get_ref() == name).map(Spanned::span);
        let span = match &error {
            ModelError::Joint { joint, .. } => named(joint),
            _ => None,
        };
        reader.mistakes.push(super::Diagnostic::new(span.unwrap_or(section.span()), error.to_string()));
    });
    Some(Placed { system: built.ok()?, q, v })
}

fn read_body(reader: &mut Reader<'_>, section: &Spanned<TreeBodySchema>, earlier: &[&str]) -> Option<TreeBody> {
    let s = section.get_ref();
    let name = s.name.get_ref();
    let Some((_, joint)) = TreeJoint::NAMES.into_iter().find(|(other, _)| other == s.joint.get_ref()) else {
        let names = TreeJoint::NAMES.map(|(name, _)| name);
        let help = suggestion(s.joint.get_ref(), &names);
        reader.wrong(s.joint.span(), format!("there is no joint \"{}\" in a tree", s.joint.get_ref()), help);
        return None;
    };
    let parent = s.parent.as_ref().filter(|parent| parent.get_ref() != GROUND);
    if let Some(parent) = parent.filter(|p| !earlier.contains(&p.get_ref().as_str())) {
        let known: Vec<&str> = earlier.iter().copied().chain([GROUND]).collect();
        let help = format!("{}; parents come before their children", suggestion(parent.get_ref(), &known));
        reader.wrong(parent.span(), format!("the parent \"{}\" of \"{name}\" is no body before it", parent.get_ref()), help);
        return None;
    }
    let mass = reader.number(&s.mass, &format!("the mass of \"{name}\""), Must::BePositive)?;
    let inertia = Matrix3::from_row_slice(&reader.matrix(&s.inertia, 3, &format!("the inertia of \"{name}\""))?);
    let body = RigidBody { name: name.clone(), mass, inertia };
    if let Err(error) = RigidBodies::new(vec![body.clone()], Vector3::zeros()) {
        reader.mistakes.push(super::Diagnostic::new(s.inertia.span(), error.to_string()));
        return None;
    }
    let position = Vector3::from(reader.vector::<3>(&s.position, &format!("the position of \"{name}\""))?);
    let orientation = read_orientation(reader, s.orientation.as_ref(), s.rotation.as_ref(), name)?;
    let point = match &s.point {
        Some(value) => reader.vector::<3>(value, &format!("the point of the joint of \"{name}\""))?.into(),
        None => position,
    };
    let axis = match (&s.axis, joint.has_axis()) {
        (Some(value), true) => reader.vector::<3>(value, &format!("the axis of the joint of \"{name}\""))?.into(),
        (None, false) => Vector3::zeros(),
        (Some(value), false) => {
            reader.wrong(value.span(), format!("a {} joint has no axis", s.joint.get_ref()), "remove it");
            return None;
        }
        (None, true) => {
            reader.wrong(section.span(), format!("the joint of \"{name}\" has no axis"), "give `axis = [x, y, z]`");
            return None;
        }
    };
    Some(TreeBody { body, parent: parent.map(|p| p.get_ref().clone()), joint, position, orientation, point, axis })
}

/// Initial values of a joint: a list, or one number where there is one.
fn values(reader: &mut Reader<'_>, value: Option<&Spanned<Value>>, default: &[f64], what: &str, body: &TreeBodySchema) -> Option<Vec<f64>> {
    let Some(value) = value else { return Some(default.to_vec()) };
    let (n, what) = (default.len(), format!("{what} of \"{}\"", body.name.get_ref()));
    let items = match value.get_ref() {
        Value::List(items) => items.clone(),
        one => vec![one.clone()],
    };
    if items.len() != n {
        let help = format!("a {} joint has {n}", body.joint.get_ref());
        reader.wrong(value.span(), format!("the {what} are {} numbers", items.len()), help);
        return None;
    }
    items
        .into_iter()
        .map(|item| reader.number(&Spanned::new(value.span(), item), &format!("an entry of the {what}"), Must::BeFinite))
        .collect()
}
