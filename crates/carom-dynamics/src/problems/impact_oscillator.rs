//! A driven, damped oscillator against a stop:  ẍ + 2a ẋ + ω² x = F cos νt,  x ≤ x_max,  ẋ⁺ = −e ẋ⁻.
//!
//! Variant A (ν = 2, x_max = 0.3, e = 0.8): 13 well separated impacts up to t = 40. Variant B (ν = 0.5, x_max = 0.2,
//! e = 0.3): an accumulation of impacts at t = 1.3462913858977, then rest on the stop until t = 2.73887681200913166, the
//! time at which F cos νt falls below ω² x_max. Reference: piecewise closed form evaluated with 40 digits.

use super::{Problem, Solution, add_stop};
use crate::error::ModelError;
use crate::model::Model;
use crate::state::State;
use crate::systems::Linear;

/// Variant A up to t = 40 s with its end state.
///
/// # Errors
/// None for these parameters.
pub fn separated() -> Result<Problem, ModelError> {
    let model = oscillator(2.0, 0.3, 0.8)?;
    let solution = Solution::AtEnd(vec![-1.244_276_351_625_273_3], vec![-1.448_612_538_671_567_4]);
    Ok(Problem { model, state: at_rest(), end: 40.0, solution })
}

/// Times of the 13 impacts of variant A \[s\].
pub const SEPARATED_IMPACTS: [f64; 13] = [
    0.977_292_982_291_526_8,
    4.353_772_750_198_352,
    7.542_364_853_916_684,
    10.707_059_265_952_623,
    13.862_537_625_078_495,
    17.013_184_925_513_205,
    20.160_898_667_999_366,
    23.306_689_387_643_09,
    26.451_169_998_582_635,
    29.594_743_025_608_267,
    32.737_684_739_639_42,
    35.880_188_643_587_125,
    39.022_391_011_939_355,
];

/// Times of the first impacts of variant B \[s\].
pub const ACCUMULATING_IMPACTS: [f64; 3] = [0.653_823_761_554_147_2, 1.124_380_903_203_493_2, 1.278_122_231_308_962_2];
/// Time at which the impacts of variant B accumulate \[s\].
pub const ACCUMULATION: f64 = 1.346_291_385_897_7;
/// Time at which the mass of variant B leaves the stop \[s\].
pub const RELEASE: f64 = 2.738_876_812_009_132;

/// Variant B up to t = 2.7 s, where the mass rests on the stop.
///
/// # Errors
/// None for these parameters.
pub fn accumulating() -> Result<Problem, ModelError> {
    let model = oscillator(0.5, 0.2, 0.3)?;
    Ok(Problem { model, state: at_rest(), end: 2.7, solution: Solution::AtEnd(vec![0.2], vec![0.0]) })
}

fn at_rest() -> State {
    State { t: 0.0, q: vec![0.0], v: vec![0.0], ..State::default() }
}

fn oscillator(frequency: f64, stop: f64, restitution: f64) -> Result<Model, ModelError> {
    let system = Linear::new(vec!["x".into()], vec![1.0], vec![0.1], vec![1.0])?;
    let system = system.with_excitation(&[format!("cos({frequency}*t)")], &[])?;
    let mut model = Model::new(vec![Box::new(system)])?;
    add_stop(&mut model, "stop", &format!("{stop} - x"), restitution)?;
    Ok(model)
}
