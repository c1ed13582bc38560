//! Mass, centre of mass and inertia of bodies in a model file: given, or from a density and the shapes.

use super::error::Diagnostic;
use super::numbers::{Must, Reader};
use super::shapes::Part;
use super::value::Value;
use carom_collision::{MassProperties, ShapeError};
use carom_dynamics::systems::{RigidBodies, RigidBody};
use nalgebra::{Matrix3, Vector3};
use std::ops::Range;
use toml::Spanned;

/// The keys that say how heavy a body is.
pub(super) struct MassKeys<'a> {
    pub name: &'a str,
    pub span: Range<usize>,
    pub mass: Option<&'a Spanned<Value>>,
    pub density: Option<&'a Spanned<Value>>,
    pub centre: Option<&'a Spanned<Value>>,
    pub inertia: Option<&'a Spanned<Value>>,
}

/// What the keys say, before a shape is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct MassRule {
    amount: Amount,
    centre: Option<Vector3<f64>>,
    inertia: Option<Matrix3<f64>>,
}

#[derive(Clone, Copy, Debug)]
enum Amount {
    Mass(f64),
    Density(f64),
}

/// Reads the keys.
pub(super) fn read_rule(reader: &mut Reader<'_>, keys: &MassKeys<'_>) -> Option<MassRule> {
    let name = keys.name;
    let amount = match (keys.mass, keys.density) {
        (Some(mass), None) => Amount::Mass(reader.number(mass, &format!("the mass of \"{name}\""), Must::BePositive)?),
        (None, Some(density)) => Amount::Density(reader.number(density, &format!("the density of \"{name}\""), Must::BePositive)?),
        (Some(_), Some(density)) => {
            reader.wrong(density.span(), format!("\"{name}\" has both mass and density"), "give one of them");
            return None;
        }
        (None, None) => {
            let help = "give `mass` [kg], `density` [kg/m³], or `fixed = true`";
            reader.wrong(keys.span.clone(), format!("the body \"{name}\" has no mass"), help);
            return None;
        }
    };
    let inertia = match keys.inertia {
        None => None,
        Some(value) => Some(Matrix3::from_row_slice(&reader.matrix(value, 3, &format!("the inertia of \"{name}\""))?)),
    };
    let centre = match keys.centre {
        None => None,
        Some(value) => Some(Vector3::from(reader.vector::<3>(value, &format!("the centre of mass of \"{name}\""))?)),
    };
    if let (Some(centre), None) = (keys.centre, inertia) {
        let help = "give `inertia` [kg m²] too: that of the shapes is about their own centre of mass";
        reader.wrong(centre.span(), format!("\"{name}\" has a centre of mass but no inertia"), help);
        return None;
    }
    Some(MassRule { amount, centre, inertia })
}

impl MassRule {
    /// Mass, centre of mass and inertia about it with these shapes; an error is noted at the keys.
    pub fn apply(&self, reader: &mut Reader<'_>, keys: &MassKeys<'_>, parts: &[Part]) -> Option<MassProperties> {
        let (name, mut no_volume) = (keys.name, None);
        let found = match self.amount {
            Amount::Mass(mass) => {
                // the inertia is proportional to the mass
                let unit = properties(parts, 1.0).map_err(|reason| no_volume = reason);
                unit.map_or((mass, Vector3::zeros(), None), |p: MassProperties| (mass, p.centre_of_mass, Some(p.inertia * (mass / p.mass))))
            }
            Amount::Density(density) => match properties(parts, density) {
                Ok(p) => (p.mass, p.centre_of_mass, Some(p.inertia)),
                Err(reason) => {
                    let span = keys.density.map_or_else(|| keys.span.clone(), Spanned::span);
                    let message = format!("\"{name}\" has a density but no shape with a volume{}", told(reason.as_ref()));
                    reader.wrong(span, message, "give a shape with a volume, or `mass` and `inertia`");
                    return None;
                }
            },
        };
        let (mass, centre, from_shape) = found;
        let inertia = match (self.inertia, from_shape) {
            (Some(inertia), _) => {
                let probe = RigidBody { name: name.to_owned(), mass, inertia };
                if let Err(error) = RigidBodies::new(vec![probe], Vector3::zeros()) {
                    let span = keys.inertia.map_or_else(|| keys.span.clone(), Spanned::span);
                    reader.mistakes.push(Diagnostic::new(span, error.to_string()));
                    return None;
                }
                inertia
            }
            (None, Some(inertia)) => inertia,
            (None, None) => {
                let help = "give `inertia` [kg m²], or a shape with a volume";
                reader.wrong(keys.span.clone(), format!("the body \"{name}\" has no inertia{}", told(no_volume.as_ref())), help);
                return None;
            }
        };
        Some(MassProperties { mass, centre_of_mass: self.centre.unwrap_or(centre), inertia })
    }
}

/// Why shapes have no volume, in brackets.
fn told(reason: Option<&ShapeError>) -> String {
    reason.map_or_else(String::new, |reason| format!(" ({reason})"))
}

/// Properties of all shapes of a body together; what two of them share counts twice. An error if there is none, or one has no volume.
fn properties(parts: &[Part], density: f64) -> Result<MassProperties, Option<ShapeError>> {
    let properties_of = |part: &'_ Part| part.shape.mass_properties(density).map_err(Some);
    if let [part] = parts
        && part.rotation.angle() == 0.0
    {
        let p = properties_of(part)?;
        return Ok(MassProperties { centre_of_mass: part.position + p.centre_of_mass, ..p });
    }
    let each = parts.iter().map(|part| Ok((properties_of(part)?, part))).collect::<Result<Vec<_>, Option<ShapeError>>>()?;
    let mass: f64 = each.iter().map(|(p, _)| p.mass).sum();
    if each.is_empty() {
        return Err(None);
    }
    let centre_of = |(p, part): &(MassProperties, &Part)| part.position + part.rotation * p.centre_of_mass;
    let centre: Vector3<f64> = each.iter().map(|one| centre_of(one) * one.0.mass).sum::<Vector3<f64>>() / mass;
    let mut inertia = Matrix3::zeros();
    for one in &each {
        let (rotation, arm) = (one.1.rotation.to_rotation_matrix(), centre_of(one) - centre);
        // parallel axes: I + m (|r|² 1 − r rᵀ)
        inertia += rotation * one.0.inertia * rotation.transpose();
        inertia += (Matrix3::from_diagonal_element(arm.norm_squared()) - arm * arm.transpose()) * one.0.mass;
    }
    // products of rotations are symmetric only to round-off
    Ok(MassProperties { mass, centre_of_mass: centre, inertia: 0.5 * (inertia + inertia.transpose()) })
}
