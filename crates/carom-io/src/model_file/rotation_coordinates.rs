//! Bodies of a model file whose orientation is given by other coordinates than a quaternion.

use super::bodies::{Body, Placed};
use super::error::suggestion;
use super::numbers::Reader;
use super::schema::BodySchema;
use carom_dynamics::systems::{ParametrisedBodies, RigidBody, RotationCoordinates};
use nalgebra::Vector3;
use std::ops::Range;

/// The rotation coordinates of a moving body, where they are not a quaternion.
pub(super) fn rotation_coordinates(reader: &mut Reader<'_>, s: &BodySchema) -> Option<RotationCoordinates> {
    let name = s.rotation_coordinates.as_ref()?;
    let (text, body) = (name.get_ref().as_str(), s.name.get_ref());
    let kind = RotationCoordinates::from_name(text);
    if kind.is_none() && text != "quaternion" {
        let known = ["quaternion", "matrix", "euler", "cardan", "rodrigues", "angles-xyz", "angles-zxz"];
        reader.wrong(name.span(), format!("there are no rotation coordinates \"{text}\""), suggestion(text, &known));
    } else if s.fixed {
        reader.wrong(name.span(), format!("the fixed body \"{body}\" has rotation coordinates"), "remove them, or `fixed = true`");
    } else if let (Some(_), Some(shape)) = (kind, &s.shape) {
        let help = "contacts need quaternions: remove `rotation_coordinates`, or the shape (then give `mass` and `inertia`)";
        reader.wrong(shape.span(), format!("\"{body}\" has a shape and {text} coordinates"), help);
    }
    kind
}

/// Bodies with other rotation coordinates, as one system for each kind of them.
pub(super) fn parametrised(
    reader: &mut Reader<'_>,
    bodies: Vec<(RotationCoordinates, String, Range<usize>, Body)>,
    gravity: Vector3<f64>,
) -> Option<Vec<Placed<ParametrisedBodies>>> {
    let mut kinds: Vec<RotationCoordinates> = Vec::new();
    for (kind, ..) in &bodies {
        if !kinds.contains(kind) {
            kinds.push(*kind);
        }
    }
    let mut systems = Vec::new();
    for kind in kinds {
        let members: Vec<_> = bodies.iter().filter(|(other, ..)| *other == kind).collect();
        let list =
            members.iter().map(|(_, name, _, body)| RigidBody { name: name.clone(), mass: body.mass, inertia: body.inertia }).collect();
        let system = match ParametrisedBodies::new(list, kind, gravity) {
            Ok(system) => system,
            Err(error) => {
                reader.mistakes.push(super::Diagnostic::new(members.first().map(|(_, _, span, _)| span.clone()), error.to_string()));
                return None;
            }
        };
        let q =
            members.iter().flat_map(|(.., b)| system.coordinates_at(&(b.position + b.orientation * b.centre), &b.orientation)).collect();
        let v = members.iter().flat_map(|(.., b)| b.state_velocity()).collect();
        systems.push(Placed { system, q, v });
    }
    Some(systems)
}
