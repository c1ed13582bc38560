//! Passivity of linear systems: storage functions found and verified, and why there are none.

use crate::first_order::theta;
use crate::support::{run_scheme, try_scheme};
use carom_dynamics::first_order::source::LinearRelation;
use carom_dynamics::first_order::{FirstOrderSource, MultiplierLaw, NotPassive, Passivity};
use carom_dynamics::problems::FirstOrderProblem;
use carom_dynamics::report::EventKind;
use nalgebra::DMatrix;

fn source(a: &DMatrix<f64>, b: &DMatrix<f64>, c: &DMatrix<f64>, d: &DMatrix<f64>) -> FirstOrderSource {
    let names: Vec<String> = (1..=a.nrows()).map(|k| format!("x{k}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let by_rows = |m: &DMatrix<f64>| m.transpose().as_slice().to_vec();
    let (b, c, d) = (by_rows(b), by_rows(c), by_rows(d));
    let law = MultiplierLaw::Complementarity;
    let relation = LinearRelation { multiplier: "p", rows: d.len().isqrt(), b: &b, c: &c, d: &d, law };
    FirstOrderSource::linear(&names, &by_rows(a), relation)
}

fn passivity(source: &FirstOrderSource) -> Passivity {
    let problem = FirstOrderProblem::new(source, &vec![0.0; source.states.len()], 1.0).unwrap();
    problem.model.first_order().unwrap().passivity().unwrap().clone()
}

/// Largest eigenvalue of the matrix of Kalman, Yakubovich and Popov, relative to its largest entry.
fn excess(a: &DMatrix<f64>, b: &DMatrix<f64>, c: &DMatrix<f64>, d: &DMatrix<f64>, p: &DMatrix<f64>) -> f64 {
    let (n, m) = (a.nrows(), d.nrows());
    let mut f = DMatrix::zeros(n + m, n + m);
    f.view_mut((0, 0), (n, n)).copy_from(&(a.transpose() * p + p * a));
    f.view_mut((0, n), (n, m)).copy_from(&(p * b - c.transpose()));
    f.view_mut((n, 0), (m, n)).copy_from(&(b.transpose() * p - c));
    f.view_mut((n, n), (m, m)).copy_from(&-(d + d.transpose()));
    f.clone().symmetric_eigenvalues().max() / (p * a).amax().max(c.amax()).max(d.amax())
}

fn random(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 11) as f64 / (1_u64 << 53) as f64 * 2.0 - 1.0
}

/// x and λ of a coil and a capacitor with a diode: P is that of the elements.
#[test]
fn circuits_have_the_energy_of_their_elements() {
    let (l, c, r) = (1e-3, 1e-6, 50.0);
    let a = DMatrix::from_row_slice(2, 2, &[0.0, -1.0 / c, 1.0 / l, 0.0]);
    let b = DMatrix::from_row_slice(2, 1, &[1.0 / c, 0.0]);
    let output = DMatrix::from_row_slice(1, 2, &[1.0, 0.0]);
    let source = source(&a, &b, &output, &DMatrix::from_element(1, 1, r));
    let Passivity::Passive { storage, .. } = passivity(&source) else { panic!() };
    assert!((storage[0] - c).abs() < 1e-18 && (storage[3] - l).abs() < 1e-15, "{storage:?}");
    assert_eq!((storage[1], storage[2]), (0.0, 0.0));
    // the account is there without a storage function being given, and closes: LC keeps its energy but for the diode's resistance
    let problem = FirstOrderProblem::new(&source, &[5.0, 0.0], 1e-3).unwrap();
    let done = run_scheme(&problem.model, &problem.state, problem.end, 1e-6, &theta(0.5, 1.0));
    let certificate = &done.certificate;
    assert!((certificate.initial.mechanical() - 12.5 * c).abs() < 1e-18, "{:?}", certificate.initial);
    assert!(certificate.energy_error().abs() < 1e-12 * 12.5 * c, "{}", certificate.energy_error()); // rounding of 1000 steps
    assert!(certificate.last.dissipated_impact > 0.0);
}

/// Located events account the same function: what an oscillation that a diode cuts off loses is what the diode's resistance takes, to the tolerance.
#[test]
fn located_events_account_the_storage_function() {
    let a = DMatrix::from_row_slice(2, 2, &[-0.1, -1.0, 1.0, 0.0]);
    let b = DMatrix::from_row_slice(2, 1, &[1.0, 0.0]);
    let mut source = source(&a, &b, &b.transpose(), &DMatrix::from_element(1, 1, 0.5));
    source.rates[1] += " + 0.3";
    let problem = FirstOrderProblem::new(&source, &[1.0, 0.0], 10.0).unwrap();
    let done = crate::sweeping::located(&problem, 1e-9);
    let certificate = &done.certificate;
    let last = &certificate.last;
    assert!(last.dissipated_impact > 0.01 && last.dissipated_friction > 0.01 && last.work.abs() > 0.01, "{last:?}");
    assert!(certificate.energy_error().abs() < 1e-7, "{}", certificate.energy_error()); // the tolerance over some hundred steps
}

/// Port-Hamiltonian systems ẋ = (J − R) Q x + G λ, y = GᵀQ x + D λ are passive with P = Q: one is found for each, in coordinates that hide it, and verified by the eigenvalues of the inequality.
#[test]
fn storage_functions_are_found_in_any_coordinates() {
    let mut seed = 7;
    for case in 0..24 {
        let (n, m) = (1 + case % 4, 1 + case % 3);
        let mut matrix = |rows: usize, columns: usize| DMatrix::from_fn(rows, columns, |_, _| random(&mut seed));
        let (skew, loss, root) = (matrix(n, n), matrix(n, n), matrix(n, n));
        let q = &root * root.transpose() + DMatrix::identity(n, n) * 0.2;
        // without losses in a third of the cases, without D in another third
        let loss = if case % 3 == 0 { DMatrix::zeros(n, n) } else { &loss * loss.transpose() };
        let through = matrix(m, m);
        let d = if case % 3 == 1 { DMatrix::zeros(m, m) } else { &through * through.transpose() };
        let g = matrix(n, m);
        let a = (&skew - skew.transpose() - loss) * &q;
        let c = g.transpose() * &q;
        let Passivity::Passive { storage, excess: told } = passivity(&source(&a, &g, &c, &d)) else {
            panic!("case {case}: {}", passivity(&source(&a, &g, &c, &d)))
        };
        let p = DMatrix::from_row_slice(n, n, &storage);
        assert!(p.clone().symmetric_eigenvalues().min() > 0.0, "case {case}");
        // the accuracy that the search promises, in other units
        assert!(excess(&a, &g, &c, &d, &p) < 1e-6 && told <= 1e-7, "case {case}: {told:e} {:e}", excess(&a, &g, &c, &d, &p));
    }
}

/// A negative resistance, a state that grows, multipliers that gain at a frequency: each is told by name.
#[test]
fn systems_that_are_not_passive_say_why() {
    let one = |x: f64| DMatrix::from_element(1, 1, x);
    let why = |source: &FirstOrderSource| match passivity(source) {
        Passivity::NotPassive(why) => why,
        other => panic!("{other}"),
    };
    let negative = why(&source(&one(-1.0), &one(1.0), &one(1.0), &one(-0.5)));
    assert!(matches!(&negative, NotPassive::Resistance { rows, value } if rows == "p1" && (value + 0.5).abs() < 1e-15), "{negative}");
    let a = DMatrix::from_row_slice(2, 2, &[-1.0, 0.0, 0.0, 0.3]);
    let growing = why(&source(&a, &DMatrix::from_row_slice(2, 1, &[1.0, 0.0]), &DMatrix::from_row_slice(1, 2, &[1.0, 0.0]), &one(0.0)));
    assert!(matches!(&growing, NotPassive::Growing { state, rate } if state == "x2" && (rate - 0.3).abs() < 1e-12), "{growing}");
    // G = 1/(s + 1)²: its real part (1 − ω²)/(1 + ω²)² is negative above ω = 1, least −1/8 at √3
    let a = DMatrix::from_row_slice(2, 2, &[-1.0, 1.0, 0.0, -1.0]);
    let lag = why(&source(&a, &DMatrix::from_row_slice(2, 1, &[0.0, 1.0]), &DMatrix::from_row_slice(1, 2, &[1.0, 0.0]), &one(0.0)));
    let NotPassive::Frequency { rows, omega, value } = &lag else { panic!("{lag}") };
    // twenty frequencies per decade
    assert!(rows == "p1" && (omega / 3.0_f64.sqrt()).log10().abs() < 0.05 && (value + 0.125).abs() < 1e-3, "{lag}");
}

/// Where a multiplier lowers its own output the law has two solutions or none, and the row is named. A relay of the same sign is bounded: it runs, and says that an outcome was chosen. What is not passive but has a P-matrix runs
/// without a word.
#[test]
fn what_has_no_solution_is_refused_and_nothing_else() {
    let one = |x: f64| DMatrix::from_element(1, 1, x);
    let problem = |source: &FirstOrderSource| FirstOrderProblem::new(source, &[1.0], 0.1).unwrap();
    let mut wrong = source(&one(-1.0), &one(1.0), &one(1.0), &one(-0.5));
    let refused = problem(&wrong);
    let error = try_scheme(&refused.model, &refused.state, 0.1, 0.01, &theta(1.0, 1.0)).err().map(|ending| format!("{ending:?}")).unwrap();
    assert!(error.contains("NotSolvable") && error.contains("p1"), "{error}");
    wrong.relations[0].law = MultiplierLaw::Relay { lower: -1.0, upper: 1.0 };
    let relay = problem(&wrong);
    let done = run_scheme(&relay.model, &relay.state, 0.1, 0.01, &theta(1.0, 1.0));
    let told = done.keep.events.iter().filter(|event| event.kind == EventKind::OutcomeChosen).count();
    assert_eq!(told, 1);
    // an unstable plant with a diode of the right sign
    let active = problem(&source(&one(2.0), &one(1.0), &one(1.0), &one(0.0)));
    let done = run_scheme(&active.model, &active.state, 0.1, 0.01, &theta(1.0, 1.0));
    assert!(done.keep.events.iter().all(|event| event.kind != EventKind::OutcomeChosen));
    assert!((done.state.x[0] - (1.0 - 0.02_f64).powi(-10)).abs() < 1e-12); // backward Euler of ẋ = 2 x
}
