//! Free rigid bodies: many of them for measuring cost, and one without torque whose motion is known.

use super::{Problem, Solution};
use crate::error::ModelError;
use crate::model::Model;
use crate::state::State;
use crate::systems::{RigidBodies, RigidBody};
use nalgebra::{Matrix3, Vector3};

/// `n` tumbling bodies in free fall on a lattice, no contact.
///
/// # Errors
/// None for these parameters.
pub fn lattice(n: usize) -> Result<(Model, State), ModelError> {
    let inertia = Matrix3::from_diagonal(&Vector3::new(1e-3, 1.5e-3, 2e-3));
    let bodies = (0..n).map(|i| RigidBody { name: format!("b{i}"), mass: 1.0, inertia }).collect();
    let model = Model::new(vec![Box::new(RigidBodies::new(bodies, Vector3::new(0.0, 0.0, -9.81))?)])?;
    let (mut q, mut v) = (Vec::with_capacity(7 * n), Vec::with_capacity(6 * n));
    for i in 0..n {
        let (x, y) = ((i % 100) as f64, (i / 100) as f64);
        q.extend_from_slice(&[x, y, 0.0, 1.0, 0.0, 0.0, 0.0]);
        v.extend_from_slice(&[0.0, 0.0, 1.0, 0.3, 1.0, 0.2]);
    }
    Ok((model, State { t: 0.0, q, v, ..State::default() }))
}

/// A symmetric top (J = diag(2, 2, 1) kg m²) without torque: in the body frame ω precesses about the symmetry axis at
/// the rate Ω = ω₃ (J₃ − J₁)/J₁ [any textbook on rigid-body dynamics], here with ω(0) = (1, 0, 3) rad/s, Ω = −1.5 rad/s.
///
/// # Errors
/// None for these parameters.
pub fn symmetric_top() -> Result<Problem, ModelError> {
    let body = RigidBody { name: "top".into(), mass: 1.0, inertia: Matrix3::from_diagonal(&Vector3::new(2.0, 2.0, 1.0)) };
    let model = Model::new(vec![Box::new(RigidBodies::new(vec![body], Vector3::zeros())?)])?;
    let state = State { t: 0.0, q: vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], v: vec![0.0, 0.0, 0.0, 1.0, 0.0, 3.0], ..State::default() };
    let exact = |t: f64| {
        let (omega1, omega3, rate) = (1.0_f64, 3.0_f64, -1.5_f64);
        let v = vec![0.0, 0.0, 0.0, omega1 * (rate * t).cos(), omega1 * (rate * t).sin(), omega3];
        // space motion: rotation about L at |L|/J₁, then about the body axis at −Ω
        let momentum = Vector3::new(2.0 * omega1, 0.0, omega3);
        let about_momentum = nalgebra::UnitQuaternion::from_scaled_axis(momentum / 2.0 * t);
        let about_axis = nalgebra::UnitQuaternion::from_scaled_axis(Vector3::z() * (-rate * t));
        let r = about_momentum * about_axis;
        (vec![0.0, 0.0, 0.0, r.w, r.i, r.j, r.k], v)
    };
    Ok(Problem { model, state, end: 1.0, solution: Solution::Exact(Box::new(exact)) })
}
