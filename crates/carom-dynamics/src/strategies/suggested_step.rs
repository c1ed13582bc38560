//! A step for time-stepping where nobody gives one.

use crate::integrators::{Integration, IntegratorParams};
use crate::model::Model;
use crate::state::State;

/// Largest and smallest parts of the time span; the part that is taken where the motion has no scale of its own.
const LARGEST: f64 = 1e-2;
const SMALLEST: f64 = 1e-5;
const WITHOUT_SCALE: f64 = 1e-3;

/// A step for a run from `state` to `end` \[s\]: the step of the integrator where its settings have one, otherwise the first step that it would take with
/// all contacts open, between 1e-5 and 1e-2 of the time span; rounded down to 1, 2 or 5 times a power of ten, so that it reads well and rounding of
/// the rule does not enter. Models without velocities, and those that the integrator refuses, get a thousandth of the span.
///
/// It resolves the smooth motion at the start. It knows nothing of impacts and of what comes later: the error of a run has to be judged by halving it.
/// Cost: two evaluations of the accelerations.
#[must_use]
pub fn suggested_step(model: &Model, state: &State, end: f64, integrator: &IntegratorParams) -> f64 {
    let span = (end - state.t).max(0.0);
    if let Some(step) = integrator.step {
        return step;
    }
    let own = || Integration::new(model, state, integrator).ok().map(|integration| integration.next_step());
    let own = if model.systems().velocities().is_empty() { None } else { own() };
    let step = own.filter(|step| step.is_finite()).map_or(WITHOUT_SCALE * span, |step| step.clamp(SMALLEST * span, LARGEST * span));
    rounded_down(step)
}

/// The largest of 1, 2 and 5 times a power of ten that is not above a number; numbers that are not positive stay.
fn rounded_down(value: f64) -> f64 {
    if value <= 0.0 {
        return value;
    }
    // the decimal text of a power of ten is exact, powi is not
    let power: f64 = format!("1e{}", value.log10().floor()).parse().unwrap_or(value);
    // a value that is meant to be one of them may lie below it by rounding
    let fits = |factor: &&f64| **factor * power <= value * (1.0 + 1e-12);
    [5.0, 2.0, 1.0].iter().find(fits).map_or(value, |factor| factor * power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::systems::Linear;

    #[test]
    fn steps_are_round() {
        for (value, expected) in [(1e-3, 1e-3), (1.99e-3, 1e-3), (2.1e-3, 2e-3), (0.7, 0.5), (5e-7, 5e-7), (0.0, 0.0)] {
            assert_eq!(rounded_down(value), expected, "{value}");
        }
    }

    #[test]
    fn stiffer_springs_get_smaller_steps_in_proportion() {
        let step = |stiffness: f64| {
            let system = Linear::new(vec!["x".into()], vec![1.0], vec![0.0], vec![stiffness]).unwrap();
            let model = Model::new(vec![Box::new(system)]).unwrap();
            let state = State { q: vec![1.0], v: vec![0.0], ..State::default() };
            suggested_step(&model, &state, 10.0, &IntegratorParams::default())
        };
        let (slow, fast) = (step(1.0), step(1e4));
        // ω = 1 and 100 rad/s: a hundredth, up to the rounding to 1, 2 or 5
        assert!((0.004..0.025).contains(&(fast / slow)), "{slow} {fast}");
        assert!(slow > 1e-4 && slow <= 0.1, "{slow}");
    }

    #[test]
    fn the_integrators_own_step_is_taken() {
        let system = Linear::new(vec!["x".into()], vec![1.0], vec![0.0], vec![1.0]).unwrap();
        let model = Model::new(vec![Box::new(system)]).unwrap();
        let state = State { q: vec![1.0], v: vec![0.0], ..State::default() };
        let integrator = IntegratorParams { step: Some(3e-3), ..IntegratorParams::default() };
        assert_eq!(suggested_step(&model, &state, 1.0, &integrator), 3e-3);
    }
}
