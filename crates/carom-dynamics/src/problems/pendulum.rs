//! A mathematical pendulum (m = 1 kg, L = 1 m, g = 9.81 m/s²) released at rest from the horizontal, in its angle and in
//! Cartesian coordinates with the constraint x² + y² = 1.
//!
//! Reference at t = 1 s: Jacobi elliptic functions, q = (−0.98629175113187532, −0.16501085312554117),
//! v = (−0.29690551591631582, 1.7746436411126556); multiplier λ = 3 g y/2 for g = x² + y² − 1.

use super::{Problem, Solution};
use crate::error::ModelError;
use crate::laws::Law;
use crate::model::Model;
use crate::relations::FormulaSource;
use crate::state::State;
use crate::systems::{Lagrangian, LagrangianText};

/// Cartesian position and velocity at t = 1 s.
pub const AT_ONE_SECOND: ([f64; 2], [f64; 2]) =
    ([-0.986_291_751_131_875_3, -0.165_010_853_125_541_17], [-0.296_905_515_916_315_8, 1.774_643_641_112_655_6]);

/// In the angle a from the downward vertical: x = sin a, y = −cos a.
///
/// # Errors
/// None for these parameters.
pub fn by_angle() -> Result<Problem, ModelError> {
    let system = Lagrangian::new(&LagrangianText {
        coordinates: vec!["a".into()],
        parameters: vec![("m".into(), 1.0), ("l".into(), 1.0), ("g".into(), 9.81)],
        kinetic: "m*l^2*a_dot^2/2".into(),
        potential: "-m*g*l*cos(a)".into(),
        forces: Vec::new(),
    })?;
    let model = Model::new(vec![Box::new(system)])?;
    let ([x, y], [vx, vy]) = AT_ONE_SECOND;
    // ẋ = cos a ȧ, ẏ = sin a ȧ
    let solution = Solution::AtEnd(vec![x.atan2(-y)], vec![vx * -y + vy * x]);
    Ok(Problem {
        model,
        state: State { t: 0.0, q: vec![std::f64::consts::FRAC_PI_2], v: vec![0.0], ..State::default() },
        end: 1.0,
        solution,
    })
}

/// In Cartesian coordinates with a bilateral constraint.
///
/// # Errors
/// None for these parameters.
pub fn cartesian() -> Result<Problem, ModelError> {
    let system = Lagrangian::new(&LagrangianText {
        coordinates: vec!["x".into(), "y".into()],
        parameters: vec![("m".into(), 1.0), ("g".into(), 9.81)],
        kinetic: "m*(x_dot^2 + y_dot^2)/2".into(),
        potential: "m*g*y".into(),
        forces: Vec::new(),
    })?;
    let mut model = Model::new(vec![Box::new(system)])?;
    let source = FormulaSource { rows: vec![("equation of \"rod\"".into(), "x^2 + y^2 - 1".into())], parameters: Vec::new() };
    model.add_formula("rod", &source, Law::Bilateral)?;
    let (q, v) = AT_ONE_SECOND;
    let solution = Solution::AtEnd(q.to_vec(), v.to_vec());
    Ok(Problem { model, state: State { t: 0.0, q: vec![1.0, 0.0], v: vec![0.0; 2], ..State::default() }, end: 1.0, solution })
}
