//! Impact laws in runs: convergence through accumulations, records, events, energy that impacts create.

use crate::schemes::variants;
use crate::support::{Done, distance, fitted_order, run_scheme};
use carom_dynamics::impacts::{ChoiceParams, EnergeticParams, ImpactLaw, PossibleOutcome, SequentialParams};
use carom_dynamics::problems::{Solution, bouncing_ball, impact_oscillator, sliding_block};
use carom_dynamics::relations::FormulaSource;
use carom_dynamics::report::EventKind;
use carom_dynamics::schemes::{SchemeParams, check_scheme};
use carom_dynamics::systems::{Lagrangian, LagrangianText, Linear};
use carom_dynamics::{ContactLaw, Law, Model, State};

fn sequential() -> ImpactLaw {
    ImpactLaw::Sequential(SequentialParams::default())
}

fn energetic() -> ImpactLaw {
    ImpactLaw::Energetic(EnergeticParams::default())
}

fn tableau(seed: u64) -> ImpactLaw {
    let outcomes =
        vec![PossibleOutcome { probability: 0.5, law: ImpactLaw::Poisson }, PossibleOutcome { probability: 0.5, law: sequential() }];
    ImpactLaw::Choice(ChoiceParams { seed, outcomes })
}

fn separate() -> Vec<ImpactLaw> {
    vec![ImpactLaw::Poisson, sequential(), energetic(), tableau(1)]
}

/// The bouncing ball converges at first order through its accumulation of impacts and rests afterwards, under every law and every scheme
/// that takes impact laws; the energy account closes.
#[test]
fn the_bouncing_ball_comes_to_rest_under_every_law() {
    for params in variants() {
        for law in separate() {
            let mut problem = bouncing_ball::problem(0.5).unwrap();
            problem.model.set_impact_law(law.clone());
            if check_scheme(params.entry(), &problem.model).is_err() {
                continue;
            }
            let Solution::Exact(exact) = &problem.solution else { panic!() };
            let steps = [4e-3, 2e-3, 1e-3, 5e-4];
            let runs = steps.map(|h| run_scheme(&problem.model, &problem.state, 2.0, h, &params));
            let error = |done: &Done, h: f64| h * done.keep.frames.iter().map(|f| distance(&f.q, &exact(f.t).0)).sum::<f64>();
            let errors: Vec<f64> = runs.iter().zip(steps).map(|(done, h)| error(done, h)).collect();
            let (order, last) = (fitted_order(&steps, &errors), &runs[3]);
            let c = &last.certificate;
            println!("{:20} {:10} order {order:.2} error {:.1e} v {:e}", params.entry().name, law.name(), errors[3], last.state.v[0]);
            assert!(order > 0.7, "{} {law:?}: {errors:?}", params.entry().name);
            assert!(last.state.v[0].abs() < 20.0 * steps[3] && c.max_penetration < 10.0 * steps[3], "{c:?}");
            assert_eq!(c.impact_gain, 0.0);
            // no micro-impacts are left: all frames of the last tenth are at rest, and contacts neither open nor close
            let mut end = last.keep.frames.iter().filter(|f| f.t > 1.8);
            assert!(end.clone().all(|f| f.v[0].abs() < 1e-12), "{:?}", end.next_back());
            assert!(last.keep.events.iter().all(|event| event.t < 1.8), "{:?}", last.keep.events.last());
        }
    }
}

/// Three balls of 1 kg and radius 0.1 on a line; the first arrives at 1 m/s, the others touch.
fn cradle() -> (Model, State) {
    let n = 3;
    let mass = (0..n * n).map(|k| f64::from(u8::from(k % (n + 1) == 0))).collect();
    let names = (1..=n).map(|i| format!("x{i}")).collect();
    let mut model = Model::new(vec![Box::new(Linear::new(names, mass, vec![0.0; 9], vec![0.0; 9]).unwrap())]).unwrap();
    for i in 1..n {
        let name = format!("{i}–{}", i + 1);
        let source = FormulaSource { rows: vec![(format!("gap of \"{name}\""), format!("x{}-x{i}-0.2", i + 1))], parameters: Vec::new() };
        let law = ContactLaw::coulomb(0.0, 1.0).with_stiffness(1.0, 1.5);
        model.add_formula(&name, &source, Law::Contact(law)).unwrap();
    }
    (model, State { t: 0.0, q: vec![-0.05, 0.2, 0.4], v: vec![1.0, 0.0, 0.0], ..State::default() })
}

/// The cradle in a run: the outcome of the law, the impulses in the frame of the impact, the contacts in the events, the energy.
#[test]
fn impulses_of_impacts_are_recorded() {
    let third = 1.0 / 3.0;
    for (law, expected) in [(ImpactLaw::Poisson, [-third, 2.0 * third, 2.0 * third]), (sequential(), [0.0, 0.0, 1.0])] {
        let (mut model, state) = cradle();
        model.set_impact_law(law.clone());
        let done = run_scheme(&model, &state, 0.1, 1e-3, &SchemeParams::default());
        assert!(distance(&done.state.v, &expected) < 1e-12, "{law:?}: {:?}", done.state.v);
        let total: f64 = done.keep.frames.iter().map(|f| f.impulse).sum();
        let exact = (1.0 - expected[0]) + expected[2];
        assert!((total - exact).abs() < 1e-12, "{law:?}: {total} {exact}");
        let closed: Vec<&str> = done.keep.events.iter().filter(|e| e.kind == EventKind::ContactClosed).map(|e| e.name.as_str()).collect();
        assert_eq!(closed, ["1–2", "2–3"], "{law:?}");
        assert!(done.certificate.energy_error().abs() < 1e-13 && done.certificate.impact_gain == 0.0);
    }
    let (mut model, state) = cradle();
    model.set_impact_law(energetic());
    let done = run_scheme(&model, &state, 0.1, 1e-3, &SchemeParams::default());
    let c = &done.certificate;
    assert!(done.state.v[2] > 0.9 && c.energy_error().abs() < 1e-13 && c.last.dissipated_impact.abs() < 1e-8, "{c:?}");
}

/// Choices are told as events and a run gives the same bits again.
#[test]
fn choices_are_recorded() {
    let run = |seed: u64| {
        let (mut model, state) = cradle();
        model.set_impact_law(tableau(seed));
        let done = run_scheme(&model, &state, 0.1, 1e-3, &SchemeParams::default());
        let chosen: Vec<String> = done.keep.events.iter().filter(|e| e.kind == EventKind::OutcomeChosen).map(|e| e.name.clone()).collect();
        assert_eq!(chosen.len(), 1, "{chosen:?}");
        let sequential = done.state.v[2] > 0.9;
        assert_eq!(chosen[0], if sequential { "sequential" } else { "poisson" });
        (chosen[0].clone(), done.state.v.clone())
    };
    let all: Vec<_> = (0..20).map(run).collect();
    assert_eq!(all, (0..20).map(run).collect::<Vec<_>>());
    assert!(all.iter().any(|one| one.0 == "sequential") && all.iter().any(|one| one.0 == "poisson"));
}

/// Kane's double pendulum just above the ground, without gravity: uniform rods of 1 m and 1 kg from the vertical.
fn kane() -> (Model, State) {
    let system = Lagrangian::new(&LagrangianText {
        coordinates: vec!["a".into(), "b".into()],
        parameters: Vec::new(),
        kinetic: "2/3*a_dot^2 + b_dot^2/6 + a_dot*b_dot*cos(a-b)/2".into(),
        potential: "0".into(),
        forces: Vec::new(),
    })
    .unwrap();
    let mut model = Model::new(vec![Box::new(system)]).unwrap();
    let (a, b) = (20.0_f64.to_radians(), 30.0_f64.to_radians());
    let rows = vec![
        ("gap of \"ground\"".to_owned(), "height - cos(a) - cos(b)".to_owned()),
        ("tangent of \"ground\"".to_owned(), "sin(a) + sin(b)".to_owned()),
    ];
    let height = a.cos() + b.cos();
    let source = FormulaSource { rows, parameters: vec![("height".into(), height)] };
    model.add_formula("ground", &source, Law::Contact(ContactLaw::coulomb(0.5, 0.7))).unwrap();
    (model, State { t: 0.0, q: vec![a, b], v: vec![-0.1, -0.2], ..State::default() })
}

/// Newton's law within the step creates energy there, 1.7576 of the energy before: it is certified and told with the contact's name. Under
/// Poisson's and the energetic law nothing is created and nothing told.
#[test]
fn created_energy_is_reported() {
    let before = 0.023_181_410_863_455_4;
    for law in [ImpactLaw::Newton, ImpactLaw::Poisson, energetic(), sequential()] {
        let (mut model, state) = kane();
        model.set_impact_law(law.clone());
        let done = run_scheme(&model, &state, 1e-4, 1e-5, &SchemeParams::default());
        let c = &done.certificate;
        let told: Vec<_> = done.keep.events.iter().filter(|e| e.kind == EventKind::EnergyCreated).collect();
        println!("{:10} gain {:.6} of the energy before, balance {:e}", law.name(), c.impact_gain / before, c.energy_error());
        if matches!(law, ImpactLaw::Newton | ImpactLaw::Sequential(_)) {
            // 1.757611 by hand at the exact configuration; the step turns the rows by 1e-5
            assert!((c.impact_gain / before - 1.757_611).abs() < 1e-3, "{c:?}");
            assert!((c.last.kinetic - before - c.impact_gain).abs() < 1e-4 * before, "{c:?}");
            assert_eq!(told.len(), 1);
            assert_eq!(told[0].name, "ground");
        } else {
            assert!(c.impact_gain == 0.0 && told.is_empty() && c.last.kinetic < before, "{c:?}");
        }
    }
}

/// Ordinary problems under Newton's law within the step: nothing is created.
#[test]
fn ordinary_impacts_create_nothing() {
    let ball = |e| bouncing_ball::problem(e).unwrap();
    for problem in [ball(0.0), ball(0.8), ball(1.0), impact_oscillator::accumulating().unwrap(), sliding_block::problem().unwrap()] {
        let done = run_scheme(&problem.model, &problem.state, problem.end, 1e-3, &SchemeParams::default());
        assert_eq!(done.certificate.impact_gain, 0.0);
        assert!(done.keep.events.iter().all(|e| e.kind != EventKind::EnergyCreated));
    }
}

/// A sequence that is cut off is a step that did not converge.
#[test]
#[should_panic(expected = "the impact problem")]
fn a_sequence_cut_off_stops_the_run() {
    let (mut model, state) = cradle();
    model.set_impact_law(ImpactLaw::Sequential(SequentialParams { max_impacts: 1, ..SequentialParams::default() }));
    run_scheme(&model, &state, 0.1, 1e-3, &SchemeParams::default());
}

/// What a law does not know is refused with those that do.
#[test]
fn tangential_restitution_is_refused_where_the_law_has_none() {
    let (mut model, _) = cradle();
    let rows = vec![("gap of \"wall\"".to_owned(), "2-x3".to_owned()), ("tangent of \"wall\"".to_owned(), "x1".to_owned())];
    let law = ContactLaw::coulomb(0.1, 0.5).with_tangential_restitution(0.3);
    model.add_formula("wall", &FormulaSource { rows, parameters: Vec::new() }, Law::Contact(law)).unwrap();
    for (law, ok) in [(ImpactLaw::Poisson, false), (energetic(), false), (sequential(), true), (ImpactLaw::Newton, true)] {
        model.set_impact_law(law);
        match check_scheme(SchemeParams::default().entry(), &model) {
            Ok(()) => assert!(ok),
            Err(error) => assert!(!ok && error.to_string().contains("\"wall\"") && error.to_string().contains("sequential"), "{error}"),
        }
    }
}

/// Three balls dropped one above the other, e = 0.5 between them and on the floor, come to rest on each other under every law. One impact
/// after the other, with exact flights between, they do so at 0.248164 s.
#[test]
fn a_column_comes_to_rest_under_every_law() {
    for law in separate() {
        let zero = vec![0.0; 9];
        let mass = (0..9).map(|k| f64::from(u8::from(k % 4 == 0))).collect();
        let names = (1..=3).map(|i| format!("y{i}")).collect();
        let system = Linear::new(names, mass, zero.clone(), zero).unwrap().with_force(vec![-9.81; 3]).unwrap();
        let mut model = Model::new(vec![Box::new(system)]).unwrap();
        for (name, gap) in [("floor", "y1-0.1"), ("1–2", "y2-y1-0.2"), ("2–3", "y3-y2-0.2")] {
            let source = FormulaSource { rows: vec![(format!("gap of \"{name}\""), gap.to_owned())], parameters: Vec::new() };
            model.add_formula(name, &source, Law::unilateral(0.5)).unwrap();
        }
        model.set_impact_law(law.clone());
        let state = State { t: 0.0, q: vec![0.2, 0.45, 0.7], v: vec![0.0; 3], ..State::default() };
        let done = run_scheme(&model, &state, 2.5, 1e-3, &SchemeParams::default());
        let c = &done.certificate;
        println!("{:10} v {:?}, error {:e}, last event {:?}", law.name(), done.state.v, c.energy_error(), done.keep.events.last());
        assert!(done.state.v.iter().all(|v| v.abs() < 1e-9), "{law:?}: {:?}", done.state.v);
        assert!(c.energy_error().abs() < 1e-12 && c.max_penetration < 0.02, "{c:?}");
        let last = done.keep.events.last().unwrap().t;
        assert!(last < 2.3, "{law:?}: {last}");
        assert!(law.name() != "sequential" || (last - 0.248_164).abs() < 1e-2, "{last}");
    }
}
