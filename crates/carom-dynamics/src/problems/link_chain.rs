//! A chain of links on spherical joints with a heavy end: what joints at scale are measured on.
//!
//! n uniform rods of 0.1 m and 0.1 kg hang in a row from the ground, held straight at a slope to the vertical and let go. The last one carries `ratio`
//! times the mass of the others, as a ball around its end: the forces in the chain are those of the heavy end, and methods that pass impulses from link to link
//! see a mass ratio of `ratio` over n joints.

use crate::error::ModelError;
use crate::model::Model;
use crate::relations::{JointKind, JointPlacement, JointSource};
use crate::state::State;
use crate::systems::{RigidBodies, RigidBody};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};

/// Length of a link \[m\].
pub const LENGTH: f64 = 0.1;

/// Mass of a link \[kg\].
pub const MASS: f64 = 0.1;

/// The chain with its initial state.
pub struct LinkChain {
    /// n rigid bodies `link1`, … on n spherical joints.
    pub model: Model,
    /// At rest, straight.
    pub state: State,
}

/// A chain of n links, the last one `ratio` times as heavy, at `slope` \[rad\] to the vertical. Cost linear in n.
///
/// # Errors
/// None for n ≥ 1, ratio > 0.
pub fn link_chain(n: usize, ratio: f64, slope: f64) -> Result<LinkChain, ModelError> {
    let (along, turn) = (Vector3::new(slope.sin(), 0.0, -slope.cos()), UnitQuaternion::from_axis_angle(&Vector3::y_axis(), -slope));
    let (mut bodies, mut q) = (Vec::new(), Vec::new());
    for k in 0..n {
        let mass = if k + 1 == n { ratio * MASS } else { MASS };
        // a rod with a section of 1 cm; the ball has a radius of half the link
        let across = if k + 1 == n { 0.4 * 0.25 } else { 1.0 / 12.0 };
        let axial = if k + 1 == n { across } else { 1e-2 / 6.0 };
        let inertia = Matrix3::from_diagonal(&Vector3::new(across, across, axial)) * mass * LENGTH * LENGTH;
        bodies.push(RigidBody { name: format!("link{}", k + 1), mass, inertia });
        let centre = along * (LENGTH * (k as f64 + 0.5));
        q.extend_from_slice(&[centre.x, centre.y, centre.z, turn.w, turn.i, turn.j, turn.k]);
    }
    let mut model = Model::new(vec![Box::new(RigidBodies::new(bodies, Vector3::new(0.0, 0.0, -9.81))?)])?;
    for k in 0..n {
        let body = |k: usize| (k > 0).then(|| format!("link{k}"));
        let placement = JointPlacement::at(along * (LENGTH * k as f64));
        let source = JointSource { kind: JointKind::Spherical, bodies: [body(k), body(k + 1)], placement };
        model.add_joint(&format!("joint{}", k + 1), &source, &q)?;
    }
    Ok(LinkChain { model, state: State { t: 0.0, v: vec![0.0; 6 * n], q, ..State::default() } })
}
