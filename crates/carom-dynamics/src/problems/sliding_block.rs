//! A block (a point of mass 1 kg) that slides on a floor with friction μ until it stops.
//!
//! Exact: x = v₀ t − ½ μ g t² until t = v₀/(μ g), then rest.

use super::bouncing_ball::GRAVITY;
use super::{Problem, Solution};
use crate::error::ModelError;
use crate::laws::{ContactLaw, Law};
use crate::model::Model;
use crate::relations::FormulaSource;
use crate::state::State;
use crate::systems::Linear;

/// Friction coefficient.
pub const FRICTION: f64 = 0.3;
/// Initial velocity [m/s].
pub const SPEED: f64 = 2.0;

/// The problem up to t = 1 s; the block stops at t = v₀/(μ g) = 0.6796 s.
///
/// # Errors
/// None for these parameters.
pub fn problem() -> Result<Problem, ModelError> {
    let zero = || vec![0.0; 4];
    let system = Linear::new(vec!["x".into(), "y".into()], vec![1.0, 0.0, 0.0, 1.0], zero(), zero())?.with_force(vec![0.0, -GRAVITY])?;
    let mut model = Model::new(vec![Box::new(system)])?;
    let rows = vec![("gap of \"floor\"".to_owned(), "y".to_owned()), ("tangent of \"floor\"".to_owned(), "x".to_owned())];
    model.add_formula("floor", &FormulaSource { rows, parameters: Vec::new() }, Law::Contact(ContactLaw::coulomb(FRICTION, 0.0)))?;
    let state = State { t: 0.0, q: vec![0.0; 2], v: vec![SPEED, 0.0], ..State::default() };
    Ok(Problem { model, state, end: 1.0, solution: Solution::Exact(Box::new(exact)) })
}

/// (q, v) at time t.
fn exact(t: f64) -> (Vec<f64>, Vec<f64>) {
    let deceleration = FRICTION * GRAVITY;
    let t = t.min(SPEED / deceleration);
    (vec![SPEED * t - 0.5 * deceleration * t * t, 0.0], vec![SPEED - deceleration * t, 0.0])
}
