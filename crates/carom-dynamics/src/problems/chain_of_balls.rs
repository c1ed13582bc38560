//! Three balls above each other that fall on a floor [Haddouni2015, §4.3.1]: impacts accumulate at all contacts, then the column rests.
//!
//! The source gives no numbers. Here: m = 1 kg, diameter d = 0.1 m, gaps of 0.5 m, 0.1 m and 0.05 m (floor first), restitution 1/2 at the
//! floor and between the balls, Newton's law; y are the heights of the lowest points.
//!
//! Known: the times of the first impacts, between which balls fly on parabolas; and the column (0, d, 2d) at rest after accumulations at all contacts, the last of
//! them soon after 0.457 s.

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

/// Times of the first ten impacts \[s\]: parabolas in exact arithmetic with 40 digits.
pub const IMPACTS: [f64; 10] = [
    0.319_275_428_407_050_5,
    0.340_560_456_967_520_5,
    0.354_482_587_123_614_5,
    0.354_750_476_007_833_8,
    0.363_397_104_120_935_5,
    0.368_962_641_072_078_27,
    0.377_915_974_959_374_96,
    0.379_781_258_688_521_9,
    0.381_205_910_571_859,
    0.397_915_098_525_121_6,
];

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
    let state = State { t: 0.0, q: vec![0.5, 0.7, 0.85], v: vec![0.0; 3], ..State::default() };
    Ok(Problem { model, state, end: 1.5, solution: Solution::AtEnd(vec![0.0, DIAMETER, 2.0 * DIAMETER], vec![0.0; 3]) })
}
