//! Force elements in time-stepping: order, energy, and for which stiffness Newton's iteration converges.

use crate::body_force_motion::{at_rest, body, spring, two_masses};
use crate::support::{fitted_order, run, run_scheme};
use carom_dynamics::forces::{DragSource, ForceSource, LinearSpring, PointSpringSource, SpringSource};
use carom_dynamics::schemes::{MoreauJean, MoreauJeanParams, SchemeParams, take_step};
use carom_dynamics::{Model, State, StepMemory};
use nalgebra::Vector3;

/// The two-mass oscillator at θ = 1/2: order 2 with the phase error (ωh)²/12, energy and momentum to round-off, with and without damper.
#[test]
fn order_and_energy_of_the_midpoint_rule() {
    let (model, state, omega, extension) = two_masses(50.0, 0.0);
    let (end, mut errors) = (1.0, Vec::new());
    let steps = [0.02, 0.01, 0.005, 0.0025];
    for h in steps {
        let done = run(&model, &state, end, h, MoreauJeanParams::default());
        errors.push((done.state.q[7] - done.state.q[0] - 1.0 - extension * (omega * end).cos()).abs());
        // Newton's tolerance of 1e-12 in each step
        assert!(done.certificate.energy_error().abs() < 1e-12 * end / h, "{h}: {}", done.certificate.energy_error());
        let momentum = 2.0 * done.state.v[0] + 3.0 * done.state.v[6];
        assert!((momentum - 2.5).abs() < 1e-11, "{h}: {momentum}");
    }
    let order = fitted_order(&steps, &errors);
    assert!((order - 2.0).abs() < 0.05, "{order} {errors:?}");
    // the frequency of the discrete motion: tan(ω' h/2) = ω h/2
    let discrete = 2.0 / 0.01 * (omega * 0.01 / 2.0).atan();
    let expected = (extension * ((discrete * end).cos() - (omega * end).cos())).abs();
    assert!((errors[1] - expected).abs() < 1e-9, "{} {expected}", errors[1]);

    let (model, state, ..) = two_masses(50.0, 4.0);
    let done = run(&model, &state, end, 0.01, MoreauJeanParams::default());
    assert!(done.certificate.last.work < -0.1 && done.certificate.energy_error().abs() < 1e-10, "{}", done.certificate.energy_error());
}

/// Newton iterations of one step of size 1 s for masses of 1 kg with this spring, or `None` where it does not converge.
fn iterations(model: &Model, state: &State, theta: f64) -> Option<usize> {
    let scheme = MoreauJean { params: MoreauJeanParams { theta, ..MoreauJeanParams::default() } };
    let (mut state, mut memory) = (state.clone(), StepMemory::new(model, &Default::default()).unwrap());
    let report = take_step(&scheme, model, &mut state, &mut memory, 1.0).unwrap();
    report.newton_converged.then_some(report.newton_iterations)
}

/// Whatever the stiffness between two bodies, the iteration converges as Newton's: on a line in two iterations and a check.
#[test]
fn convergence_between_two_bodies() {
    let of = |stiffness: f64| {
        let (mut model, mut state) = at_rest(vec![body("a", 1.0, [1.0; 3]), body("b", 1.0, [1.0; 3])], &[0.0, 1.2], Vector3::zeros());
        model.add_force("spring", &spring([Some("a"), Some("b")], LinearSpring::new(stiffness, 0.0).with_rest(1.0)), &state.q).unwrap();
        state.v[0] = 0.1;
        iterations(&model, &state, 0.5)
    };
    let found = [0.01, 0.1, 1.0, 4.0, 100.0, 1e4, 1e6].map(of);
    println!("{found:?}");
    // soft springs stay in the blocks, where the iteration contracts by 0.02 and better
    assert!(found.iter().all(|found| found.is_some_and(|n| n <= 8)), "{found:?}");
    assert!(found[3..].iter().all(|found| found.is_some_and(|n| n <= 3)), "{found:?}");
}

/// The exact implicit step of n masses of 1 kg in a row with springs (k, c) between them, from (x, v) over h at θ = 1/2:
/// (I + h/2 C + h²/4 K) v⁺ = (I − h/2 C − h²/4 K) v + h f(x).
fn exact_row(x: &[f64], v: &[f64], (k, c): (f64, f64), h: f64) -> (Vec<f64>, Vec<f64>) {
    let n = x.len();
    let mut laplace = nalgebra::DMatrix::zeros(n, n);
    let mut force = nalgebra::DVector::zeros(n);
    for i in 0..n - 1 {
        for (a, b, sign) in [(i, i, 1.0), (i + 1, i + 1, 1.0), (i, i + 1, -1.0), (i + 1, i, -1.0)] {
            laplace[(a, b)] += sign;
        }
        let tension = k * (x[i + 1] - x[i] - 1.0);
        force[i] += tension;
        force[i + 1] -= tension;
    }
    let implicit = &laplace * (0.5 * h * c + 0.25 * h * h * k);
    let identity = nalgebra::DMatrix::identity(n, n);
    let start = nalgebra::DVector::from_column_slice(v);
    let right = (&identity - &implicit) * &start + force * h;
    let end = (identity + implicit).cholesky().unwrap().solve(&right);
    let place = x.iter().zip(start.iter().zip(&end)).map(|(x, (a, b))| x + 0.5 * h * (a + b)).collect();
    (place, end.iter().copied().collect())
}

/// Six masses in a row with springs of k h²/m up to 1e6, with and without dampers, for 20 steps: the exact implicit solution, by two schemes.
#[test]
fn stiff_springs_meet_the_exact_implicit_step() {
    for (stiffness, damping) in [(1.0, 0.0), (1e2, 0.0), (1e2, 30.0), (1e4, 0.0), (1e6, 0.0), (1e6, 1e3)] {
        let bodies = (0..6).map(|i| body(&format!("b{i}"), 1.0, [0.1; 3])).collect();
        let places: Vec<f64> = (0..6).map(|i| 1.02 * f64::from(i)).collect();
        let (mut model, mut state) = at_rest(bodies, &places, Vector3::zeros());
        for i in 0..5 {
            let (a, b) = (format!("b{i}"), format!("b{}", i + 1));
            let law = LinearSpring::new(stiffness, damping).with_rest(1.0);
            model.add_force(&format!("s{i}"), &spring([Some(&a), Some(&b)], law), &state.q).unwrap();
        }
        (0..6).for_each(|i| state.v[6 * i] = 0.02 * (1.7 * i as f64).sin());
        for params in [SchemeParams::MoreauJean(Default::default()), SchemeParams::MoreauGap(Default::default())] {
            let (scheme, mut state) = (params.build(), state.clone());
            let mut memory = StepMemory::new(&model, &Default::default()).unwrap();
            for step in 0..20 {
                let [x, v] = [(&state.q, 7), (&state.v, 6)].map(|(list, width)| list.iter().step_by(width).copied().collect::<Vec<f64>>());
                let (place, speed) = exact_row(&x, &v, (stiffness, damping), 1.0);
                let report = take_step(&*scheme, &model, &mut state, &mut memory, 1.0).unwrap();
                assert!(report.converged() && report.newton_iterations <= 6, "k {stiffness}: {report:?}");
                for i in 0..6 {
                    // Newton's tolerance is 1e-12 of forces up to k · 0.02 m, and roundings of these
                    let error = (state.v[6 * i] - speed[i]).abs().max((state.q[7 * i] - place[i]).abs());
                    assert!(
                        error < 1e-11 + 1e-13 * stiffness.sqrt(),
                        "k {stiffness} c {damping}, {} step {step}: {error:.1e}",
                        scheme.name()
                    );
                }
            }
        }
    }
}

/// Springs at the corners of bodies couple four blocks; block-diagonal matrices without more would let the iteration diverge. A net of such springs, to the
/// ground too, converges.
#[test]
fn convergence_at_corners() {
    let net = |stiffness: f64| {
        let bodies = (0..6).map(|i| body(&format!("b{i}"), 1.0, [0.1, 0.12, 0.15])).collect();
        let places: Vec<f64> = (0..6).map(f64::from).collect();
        let (mut model, mut state) = at_rest(bodies, &places, Vector3::zeros());
        for i in 0..6 {
            let (x, next) = (i as f64, if i < 5 { Some(format!("b{}", i + 1)) } else { None });
            let other = next.clone().map_or(x + 0.8, |_| x + 0.7);
            for (y, z) in [(0.4, 0.4), (-0.4, 0.4), (0.4, -0.4)] {
                let points = [Some(Vector3::new(x + 0.3, y, z)), Some(Vector3::new(other, -y, z))];
                let law = SpringSource::Linear(LinearSpring::new(stiffness, 0.1 * stiffness));
                let source = PointSpringSource { bodies: [Some(format!("b{i}")), next.clone()], points, law };
                model.add_force(&format!("s{i} {y} {z}"), &ForceSource::Spring(source), &state.q).unwrap();
            }
        }
        state.v.iter_mut().enumerate().for_each(|(i, v)| *v = 0.02 * (i as f64 * 1.7).sin());
        iterations(&model, &state, 0.5)
    };
    let found = [0.01, 0.1, 0.3].map(net);
    println!("{found:?}");
    assert!(found.iter().all(Option::is_some), "{found:?}");
}

/// Springs at corners turn the bodies too: with bushings and springs of k h²/m up to 1e4 the step converges in a few iterations, momentum is kept.
#[test]
fn stiff_elements_at_corners_converge() {
    for stiffness in [20.0, 1e3, 1e4] {
        let (mut model, mut state) = at_rest(vec![body("a", 1.0, [0.1; 3]), body("b", 1.0, [0.1; 3])], &[0.0, 1.0], Vector3::zeros());
        let points = [Some(Vector3::new(0.3, 0.4, 0.0)), Some(Vector3::new(0.7, -0.4, 0.2))];
        let law = SpringSource::Linear(LinearSpring::new(stiffness, 0.0));
        let source = PointSpringSource { bodies: [Some("a".into()), Some("b".into())], points, law };
        model.add_force("spring", &ForceSource::Spring(source), &state.q).unwrap();
        let bushing = carom_dynamics::forces::BushingSource {
            bodies: [Some("a".into()), Some("b".into())],
            point: Vector3::new(0.5, 0.1, 0.0),
            axes: nalgebra::UnitQuaternion::from_euler_angles(0.2, 0.3, 0.4),
            stiffness: Vector3::new(1.0, 2.0, 3.0) * stiffness,
            damping: Vector3::zeros(),
            rotational_stiffness: Vector3::new(0.3, 0.1, 0.2) * stiffness,
            rotational_damping: Vector3::zeros(),
        };
        model.add_force("bushing", &ForceSource::Bushing(bushing), &state.q).unwrap();
        (state.v[1], state.v[9]) = (1e-3, 2e-3);
        let scheme = MoreauJean::default();
        let mut memory = StepMemory::new(&model, &Default::default()).unwrap();
        for _ in 0..20 {
            let report = take_step(&scheme, &model, &mut state, &mut memory, 1.0).unwrap();
            assert!(report.newton_converged && report.newton_iterations < 15, "{stiffness}: {report:?}");
            // forces between bodies, to Newton's tolerance
            assert!((state.v[1] + state.v[7] - 1e-3).abs() < 1e-11, "{stiffness}: {:?}", state.v);
        }
    }
}

/// Linearised once, a scheme leaves springs between bodies explicit, so that momentum is kept, and takes drag implicitly, so that it is stable.
#[test]
fn linearised_schemes_keep_momentum() {
    let (model, state, omega, extension) = two_masses(50.0, 0.0);
    let done = run_scheme(&model, &state, 1.0, 1e-3, &SchemeParams::AnitescuPotra(Default::default()));
    let momentum = 2.0 * done.state.v[0] + 3.0 * done.state.v[6];
    assert!((momentum - 2.5).abs() < 1e-11, "{momentum}");
    assert!((done.state.q[7] - done.state.q[0] - 1.0 - extension * omega.cos()).abs() < 0.01);
    let (mut model, mut state) = at_rest(vec![body("a", 1.0, [1.0; 3])], &[0.0], Vector3::zeros());
    let drag = DragSource { bodies: vec!["a".into()], linear: 1e5, ..DragSource::default() };
    model.add_force("oil", &ForceSource::Drag(drag), &state.q).unwrap();
    state.v[0] = 1.0;
    let done = run_scheme(&model, &state, 0.1, 1e-2, &SchemeParams::AnitescuPotra(Default::default()));
    assert!(done.state.v[0].abs() < 1e-20, "{:?}", done.state.v);
}

/// Steps with elements of free bodies allocate nothing once warm.
#[test]
fn elements_do_not_allocate() {
    let (mut model, state, ..) = two_masses(50.0, 4.0);
    let wind = Some(["sin(t)", "0", "z"].map(String::from));
    let drag = DragSource { bodies: vec!["a".into(), "b".into()], linear: 0.1, quadratic: 0.2, wind, ..DragSource::default() };
    model.add_force("air", &ForceSource::Drag(drag), &state.q).unwrap();
    let bushing = carom_dynamics::forces::BushingSource {
        bodies: [None, Some("b".into())],
        point: Vector3::new(1.5, 0.1, 0.0),
        axes: nalgebra::UnitQuaternion::identity(),
        stiffness: Vector3::repeat(3.0),
        damping: Vector3::repeat(0.1),
        rotational_stiffness: Vector3::repeat(1.0),
        rotational_damping: Vector3::repeat(0.1),
    };
    model.add_force("bushing", &ForceSource::Bushing(bushing), &state.q).unwrap();
    let load = carom_dynamics::forces::LoadSource {
        kind: carom_dynamics::forces::LoadKind::Force,
        body: "a".into(),
        point: Some(Vector3::new(0.1, 0.2, 0.0)),
        axes: carom_dynamics::forces::LoadAxes::Body,
        components: ["sin(t)", "b.x - x", "-vz"].map(String::from),
        parameters: Vec::new(),
    };
    model.add_force("load", &ForceSource::Load(load), &state.q).unwrap();
    let scheme = MoreauJean::default();
    let mut memory = StepMemory::new(&model, &Default::default()).unwrap();
    let mut go = |mut state: State| {
        for _ in 0..50 {
            take_step(&scheme, &model, &mut state, &mut memory, 0.01).unwrap();
        }
    };
    go(state.clone());
    assert_eq!(allocation_counter::measure(|| go(state.clone())).count_total, 2, "the clone of the state only");
}

/// Cost of drag on many bodies.
#[test]
#[ignore = "a measurement: run it alone, in release"]
fn drag_on_many_bodies() {
    for n in [1_000, 10_000, 100_000] {
        let bodies = (0..n).map(|i| body(&format!("b{i}"), 1.0, [0.1, 0.12, 0.15])).collect();
        let places: Vec<f64> = (0..n).map(f64::from).collect();
        let (mut model, mut state) = at_rest(bodies, &places, Vector3::new(0.0, 0.0, -9.81));
        let scheme = MoreauJean::default();
        for with_drag in [false, true] {
            if with_drag {
                let bodies = (0..n).map(|i| format!("b{i}")).collect();
                let begin = std::time::Instant::now();
                let drag = DragSource { bodies, linear: 0.1, quadratic: 0.2, rotational: 0.1, ..DragSource::default() };
                model.add_force("air", &ForceSource::Drag(drag), &state.q).unwrap();
                println!("{n} bodies: built in {:?}", begin.elapsed());
            }
            state.v.iter_mut().enumerate().for_each(|(i, v)| *v = (i as f64).sin());
            let mut memory = StepMemory::new(&model, &Default::default()).unwrap();
            let (mut newton, begin) = (0, std::time::Instant::now());
            for _ in 0..10 {
                newton += take_step(&scheme, &model, &mut state, &mut memory, 1e-3).unwrap().newton_iterations;
            }
            println!("{n} bodies, drag {with_drag}: {:?} per step, {newton} iterations in 10 steps", begin.elapsed() / 10);
        }
    }
}
