//! (model, state, own, warm start) determines the steps that follow, bit for bit: a run that is saved and loaded into a new memory goes on as if nothing had been.

use carom_dynamics::checkpoint::Bytes;
use carom_dynamics::problems::{bouncing_ball, chain_of_balls, mechanisms, pendulum, slider_crank_clearance};
use carom_dynamics::schemes::{Scheme, SchemeParams, check_scheme, take_step};
use carom_dynamics::{Model, State, StepMemory};
use carom_solvers::FrictionSolverParams;

fn advance(scheme: &dyn Scheme, model: &Model, run: (&mut State, &mut StepMemory), h: f64, n: usize) {
    let (state, memory) = run;
    for _ in 0..n {
        take_step(scheme, model, state, memory, h).unwrap();
        scheme.accept(model, state, memory);
    }
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

fn problems() -> Vec<(&'static str, Model, State, f64)> {
    let (ball, balls, rod) = (bouncing_ball::problem(0.8).unwrap(), chain_of_balls::problem().unwrap(), pendulum::cartesian().unwrap());
    let (crank, four_bar) = (slider_crank_clearance::model(0.1).unwrap(), mechanisms::four_bar().unwrap());
    vec![
        ("bouncing ball", ball.model, ball.state, 5e-3),
        ("chain of balls", balls.model, balls.state, 1e-3),
        ("pendulum", rod.model, rod.state, 5e-3),
        ("slider-crank", crank.0, crank.1, 1e-5),
        ("four-bar linkage", four_bar.model, four_bar.state, 1e-3),
    ]
}

#[test]
fn what_is_saved_and_loaded_goes_on_bit_for_bit() {
    let mut compared = 0;
    for (name, model, start, h) in problems() {
        for params in SchemeParams::all() {
            if check_scheme(params.entry(), &model).is_err() {
                continue;
            }
            let scheme = params.build();
            // the steps at which runs are cut: in flight, in impacts, at rest
            for n in [1, 37, 92, 150] {
                let (mut state, mut memory) = (start.clone(), StepMemory::new(&model, &FrictionSolverParams::default()).unwrap());
                scheme.start(&model, &state, &mut memory).unwrap();
                advance(&*scheme, &model, (&mut state, &mut memory), h, n);
                let mut saved = Bytes::default();
                memory.save(&mut saved);
                let mut other = state.clone();
                advance(&*scheme, &model, (&mut state, &mut memory), h, 40);

                let mut loaded = StepMemory::new(&model, &FrictionSolverParams::default()).unwrap();
                loaded.load(&model, &*scheme, &Bytes::of(saved.as_slice().to_vec())).unwrap();
                advance(&*scheme, &model, (&mut other, &mut loaded), h, 40);
                assert_eq!(
                    (bits(&state.q), bits(&state.v)),
                    (bits(&other.q), bits(&other.v)),
                    "{} at step {n} of the {name}",
                    scheme.name()
                );
                compared += 1;
            }
        }
    }
    assert!(compared >= 120, "{compared} runs");
}

#[test]
fn the_memory_of_another_scheme_or_model_is_refused() {
    let ball = bouncing_ball::problem(0.8).unwrap();
    let memory = || StepMemory::new(&ball.model, &FrictionSolverParams::default()).unwrap();
    let mut saved = Bytes::default();
    let (mut state, mut run) = (ball.state.clone(), memory());
    let lotstedt = SchemeParams::Lotstedt(Default::default()).build();
    lotstedt.start(&ball.model, &state, &mut run).unwrap();
    advance(&*lotstedt, &ball.model, (&mut state, &mut run), 5e-3, 3);
    run.save(&mut saved);
    assert!(memory().load(&ball.model, &*lotstedt, &saved).is_ok());
    for other in [SchemeParams::MoreauJean(Default::default()), SchemeParams::NonsmoothAlpha(Default::default())] {
        assert!(memory().load(&ball.model, &*other.build(), &saved).is_err(), "{}", other.entry().name);
    }
    let crank = slider_crank_clearance::model(0.1).unwrap();
    let mut of_crank = StepMemory::new(&crank.0, &FrictionSolverParams::default()).unwrap();
    assert!(of_crank.load(&crank.0, &*lotstedt, &saved).is_err());
}
