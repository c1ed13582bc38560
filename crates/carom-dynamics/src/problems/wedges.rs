//! Bodies in wedges, where the sum of the friction cones is not pointed: contacts can press against each other without bound.

use super::add_contact;
use super::bouncing_ball::GRAVITY;
use crate::error::ModelError;
use crate::laws::ContactLaw;
use crate::model::Model;
use crate::systems::Linear;

/// A particle of 1 kg in a groove of 90 degrees along x, friction 1 on both sides: the sum of the two cones is not closed, (1, 0, 0) is a limit of reactions
/// that grow without bound [Anitescu1998, §3.1, eqs. 24–26]. Coordinates (x, y, z), sides "left" and "right", weight along −z where `heavy`.
///
/// # Errors
/// None for these parameters.
pub fn particle_in_groove(heavy: bool) -> Result<Model, ModelError> {
    let mass = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let names = ["x", "y", "z"].map(String::from).to_vec();
    let weight = if heavy { -GRAVITY } else { 0.0 };
    let system = Linear::new(names, mass, vec![0.0; 9], vec![0.0; 9])?.with_force(vec![0.0, 0.0, weight])?;
    let mut model = Model::new(vec![Box::new(system)])?;
    for (name, gap, tangent) in [("left", "(z + y)/sqrt(2)", "(z - y)/sqrt(2)"), ("right", "(z - y)/sqrt(2)", "(z + y)/sqrt(2)")] {
        add_contact(&mut model, name, &[gap, "x", tangent], &[], ContactLaw::coulomb(1.0, 0.0))?;
    }
    Ok(model)
}

/// A disc (1 kg, radius 0.1 m) between two walls that open upwards by `half_angle` to each side of the vertical: jams where μ > tan α
/// [Brogliato2002, §3.1]. Coordinates: centre (x, y) from the edge of the wedge, angle a.
///
/// # Errors
/// Of a friction coefficient out of range.
pub fn disc_between_walls(half_angle: f64, friction: f64) -> Result<Model, ModelError> {
    let mass = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.5 * RADIUS * RADIUS];
    let names = ["x", "y", "a"].map(String::from).to_vec();
    let system = Linear::new(names, mass, vec![0.0; 9], vec![0.0; 9])?.with_force(vec![0.0, -GRAVITY, 0.0])?;
    let mut model = Model::new(vec![Box::new(system)])?;
    let parameters = [("s", half_angle.sin()), ("c", half_angle.cos()), ("r", RADIUS)];
    add_contact(&mut model, "left wall", &["c*x + s*y - r", "-s*x + c*y - r*a"], &parameters, ContactLaw::coulomb(friction, 0.0))?;
    add_contact(&mut model, "right wall", &["-c*x + s*y - r", "s*x + c*y + r*a"], &parameters, ContactLaw::coulomb(friction, 0.0))?;
    Ok(model)
}

/// Radius of the disc \[m\].
pub const RADIUS: f64 = 0.1;
