//! First-order systems: published circuits, relays, laws, refusals, energy, the zero-order hold.

use crate::support::{Done, distance, fitted_order, run_scheme, try_scheme};
use carom_dynamics::first_order::source::LinearRelation;
use carom_dynamics::first_order::{FirstOrderSource, MultiplierLaw, RelationSource};
use carom_dynamics::problems::{FirstOrderProblem, circuits};
use carom_dynamics::report::EventKind;
use carom_dynamics::schemes::{EulerMoreauParams, Multipliers, SchemeParams, check_settings, take_step};
use carom_dynamics::strategies::Ending;
use carom_dynamics::systems::Coordinate;
use carom_dynamics::{ModelError, StepMemory};
use carom_solvers::FrictionSolverParams;

pub fn theta(theta: f64, gamma: f64) -> SchemeParams {
    SchemeParams::EulerMoreau(EulerMoreauParams { theta, gamma, ..EulerMoreauParams::default() })
}

fn run(problem: &FirstOrderProblem, step: f64, params: &SchemeParams) -> Done {
    run_scheme(&problem.model, &problem.state, problem.end, step, params)
}

#[test]
fn the_diode_bridge_is_that_of_the_reference() {
    let mut problem = circuits::diode_bridge().unwrap();
    problem.end = 4.999e-3;
    let done = run(&problem, 1e-6, &theta(0.5, 1.0));
    // 4999 steps of round-off against another implementation
    assert!(distance(&done.state.x, &circuits::BRIDGE) < 1e-11, "{:?}", done.state.x);
    assert!(done.certificate.max_residual < 1e-14 && done.certificate.unconverged == 0);
    // what is stored, lost and taken adds up, and nothing is created
    assert!(done.certificate.energy_error().abs() < 1e-17, "{}", done.certificate.energy_error());
    assert!(done.certificate.last.dissipated_impact > 4.9e-5);
}

#[test]
fn the_rlc_circuit_is_that_of_the_reference() {
    let mut problem = circuits::rlc_diode().unwrap();
    problem.end = 4.99e-3;
    let done = run(&problem, 1e-5, &theta(0.500000001, 1.0));
    assert!((done.state.x[0] - circuits::RLC_VOLTAGE).abs() < 1e-11, "{}", done.state.x[0]); // the digits of the reference
    // implicit multipliers with θ ≥ 1/2 create no energy
    assert!(done.certificate.last.mechanical() <= done.certificate.initial.mechanical());
}

#[test]
fn relays_reach_zero_and_stay_there() {
    let mut problem = circuits::relays().unwrap();
    problem.end = 0.5;
    assert_eq!(run(&problem, 1e-3, &theta(0.5, 1.0)).state.x, [0.0, 0.0]);
    problem.end = 1.0;
    let done = run(&problem, 1e-3, &theta(0.5, 1.0));
    assert_eq!(done.state.x, [0.0, 0.0]);
    // one change per relay: no chattering
    let changes = |done: &Done| done.keep.events.iter().filter(|e| e.kind == EventKind::ModeChanged).count();
    assert_eq!(changes(&done), 2);
    // taken explicitly, with a step that does not meet zero, they chatter by the step
    let explicit = EulerMoreauParams { multipliers: Multipliers::Explicit, ..EulerMoreauParams::default() };
    let done = run(&problem, 0.7e-3, &SchemeParams::EulerMoreau(explicit));
    assert!(done.state.x[0].abs() > 1e-5 && done.state.x[0].abs() <= 1.4e-3, "{:?}", done.state.x);
}

/// One step costs no allocation: changes of diodes included.
#[test]
fn steps_of_circuits_do_not_allocate() {
    for problem in [circuits::diode_bridge().unwrap(), circuits::rlc_diode().unwrap(), circuits::relays().unwrap()] {
        let scheme = theta(0.5, 1.0).build();
        let mut memory = StepMemory::new(&problem.model, &FrictionSolverParams::default()).unwrap();
        let mut go = |n: usize| {
            let mut state = problem.state.clone();
            scheme.start(&problem.model, &state, &mut memory).unwrap();
            let before = allocation_counter::measure(|| {
                for _ in 0..n {
                    take_step(&*scheme, &problem.model, &mut state, &mut memory, 1e-6).unwrap();
                }
            });
            before.count_total
        };
        go(2000);
        // the state at the start is cloned outside
        assert_eq!(go(2000), 0);
    }
}

#[test]
fn a_relative_degree_that_diverges_is_refused() {
    let problem = circuits::third_order().unwrap();
    for (params, degree) in [(theta(1.0, 1.0), 3), (SchemeParams::ZeroOrderHold(Default::default()), 3)] {
        match check_settings(&params, &problem.model, &problem.state) {
            Err(ModelError::RelativeDegree { degree: found, row, .. }) => assert_eq!((found, row.as_str()), (degree, "p1")),
            other => panic!("{other:?}"),
        }
        // also where only the run sees the scheme
        assert!(matches!(try_scheme(&problem.model, &problem.state, 1.0, 0.01, &params), Err(Ending::Failed(_))));
    }
    // a contact by position has degree 2: backward Euler only
    let law = MultiplierLaw::Complementarity;
    let relation = LinearRelation { multiplier: "p", rows: 1, b: &[0.0, 1.0], c: &[1.0, 0.0], d: &[0.0], law };
    let source = FirstOrderSource::linear(&["x", "v"], &[0.0, 1.0, 0.0, 0.0], relation);
    let contact = FirstOrderProblem::new(&source, &[1.0, -1.0], 2.0).unwrap();
    assert!(check_settings(&theta(0.5, 1.0), &contact.model, &contact.state).is_err());
    let done = run(&contact, 1e-3, &theta(1.0, 1.0));
    assert!(distance(&done.state.x, &[0.0, 0.0]) < 1e-9, "{:?}", done.state.x); // inelastic: at rest on the wall
}

#[test]
fn outputs_that_nothing_acts_on_are_refused() {
    let law = MultiplierLaw::Complementarity;
    let relation = LinearRelation { multiplier: "p", rows: 1, b: &[0.0, 1.0], c: &[1.0, 0.0], d: &[0.0], law };
    let source = FirstOrderSource::linear(&["x", "z"], &[-1.0, 0.0, 0.0, -1.0], relation);
    let problem = FirstOrderProblem::new(&source, &[1.0, 0.0], 1.0).unwrap();
    assert!(matches!(check_settings(&theta(1.0, 1.0), &problem.model, &problem.state), Err(ModelError::NoInfluence { .. })));
    // twice the same equation: the pencil is singular
    let mut source = FirstOrderSource::linear(
        &["x", "z"],
        &[-1.0, 1.0, -1.0, 1.0],
        LinearRelation { multiplier: "p", rows: 1, b: &[1.0, 1.0], c: &[1.0, 0.0], d: &[0.0], law: MultiplierLaw::Complementarity },
    );
    source.mass = ["0", "0", "0", "0"].map(str::to_owned).to_vec();
    let problem = FirstOrderProblem::new(&source, &[1.0, 0.0], 1.0).unwrap();
    let refused = check_settings(&theta(1.0, 1.0), &problem.model, &problem.state);
    assert!(matches!(refused, Err(ModelError::SingularPencil { .. })), "{refused:?}");
}

/// 0 ≤ x ⟂ λ ≥ 0, ẋ = λ − 1, from x = −2: the state jumps to 0 and stays.
#[test]
fn inconsistent_states_jump() {
    let law = MultiplierLaw::Complementarity;
    let relation = LinearRelation { multiplier: "p", rows: 1, b: &[1.0], c: &[1.0], d: &[0.0], law };
    let mut source = FirstOrderSource::linear(&["x"], &[0.0], relation);
    source.rates[0] += " - 1";
    let problem = FirstOrderProblem::new(&source, &[-2.0], 1.0).unwrap();
    let done = run(&problem, 0.1, &theta(0.5, 1.0));
    let jump = done.keep.events.iter().find(|e| e.kind == EventKind::StateJump).unwrap();
    assert_eq!((jump.t, jump.name.as_str()), (0.0, "x"));
    assert!(done.state.x[0].abs() < 1e-9); // the instant that stands for the jump is 1e-9 of a step
    // a consistent start makes no event
    let problem = FirstOrderProblem::new(&source, &[2.0], 1.0).unwrap();
    assert!(run(&problem, 0.1, &theta(0.5, 1.0)).keep.events.iter().all(|e| e.kind != EventKind::StateJump));
}

fn planar(rates: [&str; 2], relation: RelationSource) -> FirstOrderSource {
    FirstOrderSource {
        states: ["x", "y"].map(|name| Coordinate::new(name, "")).to_vec(),
        rates: rates.map(str::to_owned).to_vec(),
        relations: vec![relation],
        ..FirstOrderSource::default()
    }
}

fn relation(law: MultiplierLaw, outputs: [&str; 2]) -> RelationSource {
    RelationSource {
        name: "law".into(),
        multipliers: vec!["a".into(), "b".into()],
        outputs: outputs.map(str::to_owned).to_vec(),
        law,
        compliance: 0.0,
    }
}

/// ẋ = λ, −x ∈ N_ball(λ): straight to the origin at unit speed; a square in place of the ball: each component by itself.
#[test]
fn balls_and_polytopes_are_relays_in_the_plane() {
    for nonlinear in [false, true] {
        // a term that vanishes on the path makes the formulas nonlinear
        let rates = if nonlinear { ["a + (4*x - 3*y)^2", "b"] } else { ["a", "b"] };
        let source = planar(rates, relation(MultiplierLaw::Ball { radius: 1.0 }, ["x", "y"]));
        let problem = FirstOrderProblem::new(&source, &[0.3, 0.4], 0.25).unwrap();
        assert_eq!(problem.model.first_order().unwrap().linear().is_none(), nonlinear);
        let done = run(&problem, 0.01, &theta(1.0, 1.0));
        assert!(distance(&done.state.x, &[0.15, 0.2]) < 1e-10, "{:?}", done.state.x); // the tolerance of the one-step problem
        let problem = FirstOrderProblem::new(&source, &[0.3, 0.4], 1.0).unwrap();
        assert!(distance(&run(&problem, 0.01, &theta(1.0, 1.0)).state.x, &[0.0, 0.0]) < 1e-10);
    }
    let facets = vec![vec![1.0, 0.0], vec![-1.0, 0.0], vec![0.0, 1.0], vec![0.0, -1.0]];
    let source = planar(["a", "b"], relation(MultiplierLaw::Polytope { facets, bounds: vec![1.0; 4] }, ["x", "y"]));
    let problem = FirstOrderProblem::new(&source, &[0.3, 0.4], 0.35).unwrap();
    assert!(distance(&run(&problem, 0.01, &theta(1.0, 1.0)).state.x, &[0.0, 0.05]) < 1e-12);
}

/// A point falling into the dual of the cone |λ_b| ≤ ½ λ_a, {x ≥ ½|y|}: ẋ = λ − (1, 0) ends on the axis of the cone's edge, nearest point by nearest point.
#[test]
fn a_cone_holds_its_dual() {
    let source = planar(["a - 1", "b"], relation(MultiplierLaw::Cone { slope: 0.5 }, ["x", "y"]));
    let problem = FirstOrderProblem::new(&source, &[1.0, 1.0], 5.0).unwrap();
    let done = run(&problem, 0.01, &theta(1.0, 1.0));
    let [x, y] = done.state.x[..] else { panic!() };
    assert!((x - 0.5 * y.abs()).abs() < 1e-9, "{x} {y}"); // on the boundary, to the tolerance
    // along the edge (1, 2)/√5 the motion is the component of (−1, 0): speed 1/√5, from the point (0.5, 1) met at t = 1/2
    let along = 1.25_f64.sqrt() - 4.5 / 5.0_f64.sqrt();
    assert!(along < 0.0 && x.hypot(y) < 1e-9); // the vertex is reached before the end, and held
}

/// M(x) ẋ = −x with M = 1 + x²: t = ln(x₀/x) + (x₀² − x²)/2.
#[test]
fn mass_matrices_may_depend_on_states() {
    let source = FirstOrderSource {
        states: vec![Coordinate::new("x", "")],
        rates: vec!["-x".into()],
        mass: vec!["1 + x^2".into()],
        ..FirstOrderSource::default()
    };
    let errors: Vec<f64> = [0.02, 0.01, 0.005]
        .iter()
        .map(|&h| {
            let x: f64 = run(&FirstOrderProblem::new(&source, &[1.0], 1.0).unwrap(), h, &theta(0.5, 1.0)).state.x[0];
            (1.0 - (1.0 / x).ln() - (1.0 - x * x) / 2.0).abs()
        })
        .collect();
    let order = fitted_order(&[0.02, 0.01, 0.005], &errors);
    assert!((order - 2.0).abs() < 0.2, "{order} {errors:?}");
}

/// Singular M: ẋ = −z with the algebraic equation 0 = z − 2 x.
#[test]
fn algebraic_states_are_solved() {
    let source = FirstOrderSource {
        states: ["x", "z"].map(|name| Coordinate::new(name, "")).to_vec(),
        rates: vec!["-z".into(), "z - 2*x".into()],
        mass: ["1", "0", "0", "0"].map(str::to_owned).to_vec(),
        ..FirstOrderSource::default()
    };
    let problem = FirstOrderProblem::new(&source, &[1.0, 2.0], 1.0).unwrap();
    let done = run(&problem, 1e-3, &theta(1.0, 1.0));
    let exact = (-2.0_f64).exp();
    assert!((done.state.x[0] - exact).abs() < 2e-3 * exact && (done.state.x[1] - 2.0 * done.state.x[0]).abs() < 1e-12);
}

/// Held inputs and constant multipliers are exact whatever the step.
#[test]
fn the_zero_order_hold_is_exact_between_samples() {
    let source = FirstOrderSource {
        states: vec![Coordinate::new("x", "")],
        rates: vec!["-3*x + u".into()],
        held: vec![carom_dynamics::first_order::HeldInput { name: "u".into(), initial: 6.0 }],
        ..FirstOrderSource::default()
    };
    let problem = FirstOrderProblem::new(&source, &[0.0], 1.0).unwrap();
    for h in [1.0, 0.5, 0.1] {
        let done = run(&problem, h, &SchemeParams::ZeroOrderHold(Default::default()));
        assert!((done.state.x[0] - 2.0 * (1.0 - (-3.0_f64).exp())).abs() < 1e-14, "{h}"); // round-off of the exponential
    }
}

/// θ = 1/2 is of second order where nothing switches, 1 of first.
#[test]
fn orders_between_events() {
    let source = FirstOrderSource {
        states: ["x", "z"].map(|name| Coordinate::new(name, "")).to_vec(),
        rates: vec!["z".into(), "-x + cos(3*t)".into()],
        ..FirstOrderSource::default()
    };
    let exact = |t: f64| t.cos() - (3.0 * t).cos() / 8.0 + t.cos() / 8.0;
    for (params, expected) in [(theta(0.5, 1.0), 2.0), (theta(1.0, 1.0), 1.0)] {
        let steps = [0.02, 0.01, 0.005, 0.0025];
        let errors: Vec<f64> = steps
            .iter()
            .map(|&h| {
                let problem = FirstOrderProblem::new(&source, &[1.0, 0.0], 2.0).unwrap();
                (run(&problem, h, &params).state.x[0] - exact(2.0)).abs()
            })
            .collect();
        let order = fitted_order(&steps, &errors);
        assert!((order - expected).abs() < 0.2, "{order} {errors:?}");
    }
}

#[test]
fn names_and_sizes_are_checked() {
    let refused = |change: &dyn Fn(&mut FirstOrderSource)| {
        let mut source = planar(["a", "b"], relation(MultiplierLaw::Complementarity, ["x", "y"]));
        change(&mut source);
        FirstOrderProblem::new(&source, &[0.0, 0.0], 1.0).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert!(refused(&|s| s.relations[0].multipliers[1] = "x".into()).contains("two multipliers are called \"x\""));
    assert!(refused(&|s| s.states[0].name = "t".into()).contains("cannot name a state"));
    assert!(refused(&|s| s.relations[0].outputs = vec!["x".into()]).contains("the list of outputs of \"law\" has 1 entries, 2 are needed"));
    assert!(refused(&|s| s.relations[0].law = MultiplierLaw::Relay { lower: 1.0, upper: 0.0 }).contains("the lower bound of \"law\" = 1"));
    assert!(refused(&|s| s.relations[0].outputs[0] = "x + w".into()).contains("output of a in \"law\""));
    assert!(refused(&|s| s.mass = vec!["1".into()]).contains("the matrix M has 1 entries, 4 are needed"));
}
