//! (model, state, own, warm start) determines the steps that follow: runs of shapes that are saved and loaded into a new memory go on bit for bit.

use crate::support::folder;
use carom::dynamics::StepMemory;
use carom::dynamics::checkpoint::Bytes;
use carom::dynamics::schemes::take_step;
use carom::io::model_file::{Override, read};

/// (model, settings, steps before the cut, steps after it)
const RUNS: &[(&str, &[&str], usize, usize)] = &[
    ("stack_of_cubes", &[], 60, 40),
    ("stack_of_cubes", &["simulation.scheme.kind=moreau-gap"], 60, 40),
    // on the velocities of the bodies, with the energy guard
    ("stack_of_cubes", &["simulation.scheme.kind=moreau-gap", "simulation.scheme.many=1"], 60, 40),
    ("newtons_cradle", &[], 200, 100),
    ("four_bar_clearance", &[], 150, 100),
    ("cohesive_bond", &[], 100, 100),
];

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn runs_that_are_saved_and_loaded_go_on_bit_for_bit() {
    for &(name, settings, before, after) in RUNS {
        let overrides: Vec<Override> = settings.iter().map(|text| text.parse().unwrap()).collect();
        let file = read(&folder().join(name), &overrides).unwrap();
        let (model, scheme) = (&file.model, file.run.scheme.build());
        let memory = || StepMemory::new(model, &file.run.solver).unwrap();
        let advance = |state: &mut _, memory: &mut StepMemory, n: usize| {
            for _ in 0..n {
                take_step(&*scheme, model, state, memory, file.run.step.unwrap()).unwrap();
                scheme.accept(model, state, memory);
            }
        };
        let (mut state, mut whole) = (file.state.clone(), memory());
        scheme.start(model, &state, &mut whole).unwrap();
        advance(&mut state, &mut whole, before);
        let mut saved = Bytes::default();
        whole.save(&mut saved);
        let (mut other, mut loaded) = (state.clone(), memory());
        advance(&mut state, &mut whole, after);
        loaded.load(model, &*scheme, &saved).unwrap();
        advance(&mut other, &mut loaded, after);
        assert_eq!((bits(&state.q), bits(&state.v)), (bits(&other.q), bits(&other.v)), "{name} {settings:?}");
        assert_eq!(state, other, "{name} {settings:?}");
    }
}
