//! Three balls above each other that fall on a floor [Haddouni2015, §4.3.1]: impacts accumulate at all contacts, then the column rests.
//!
//! The source gives no numbers. Here: m = 1 kg, diameter d = 0.1 m, gaps of 0.5 m, 0.1 m and 0.05 m (floor first), restitution 1/2 at the
//! floor and between the balls, Newton's law; y are the heights of the lowest points.
//!
//! Known: the column (0, d, 2d) at rest after the accumulation, which is over before 1.5 s.

use super::bouncing_ball::GRAVITY;
use super::{Problem, Solution, add_stop};
use crate::error::ModelError;
use crate::model::Model;
use crate::state::State;
use crate::systems::Linear;

/// Diameter of a ball \[m\].
pub const DIAMETER: f64 = 0.1;
/// Restitution coefficient.
pub const RESTITUTION: f64 = 0.5;

/// The problem up to t = 1.5 s, where the column rests.
///
/// # Errors
/// None for these parameters.
pub fn problem() -> Result<Problem, ModelError> {
    let zero = || vec![0.0; 9];
    let mut mass = zero();
    (0..3).for_each(|i| mass[4 * i] = 1.0);
    let names = ["y1", "y2", "y3"].map(String::from).to_vec();
    let system = Linear::new(names, mass, zero(), zero())?.with_force(vec![-GRAVITY; 3])?;
    let mut model = Model::new(vec![Box::new(system)])?;
    add_stop(&mut model, "floor", "y1", RESTITUTION)?;
    add_stop(&mut model, "lower pair", &format!("y2 - y1 - {DIAMETER}"), RESTITUTION)?;
    add_stop(&mut model, "upper pair", &format!("y3 - y2 - {DIAMETER}"), RESTITUTION)?;
    let state = State { t: 0.0, q: vec![0.5, 0.7, 0.85], v: vec![0.0; 3] };
    Ok(Problem { model, state, end: 1.5, solution: Solution::AtEnd(vec![0.0, DIAMETER, 2.0 * DIAMETER], vec![0.0; 3]) })
}
