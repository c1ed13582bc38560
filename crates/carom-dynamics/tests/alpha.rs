//! The methods of the Newmark family against reference solutions.

use crate::support::{Blade, distance};
use carom_dynamics::error::IntegrationError;
use carom_dynamics::integrators::{
    Formulation, Integration, IntegratorKind, IntegratorParams, NewtonParams, Step, StepControl, Tolerances, build,
};
use carom_dynamics::problems::heavy_top::heavy_top;
use carom_dynamics::problems::mechanisms::{Mechanism, Reference, pendulum, slider_crank};
use carom_dynamics::problems::spherical_pendulum::spherical_pendulum;
use carom_dynamics::relations::FormulaSource;
use carom_dynamics::smooth::{Equations, MotionPoint};
use carom_dynamics::systems::{Lagrangian, LagrangianText, Linear};
use carom_dynamics::{Law, Model, State};

/// A method with its settings.
fn method(kind: IntegratorKind, formulation: Formulation) -> IntegratorParams {
    IntegratorParams { kind, formulation: Some(formulation), ..IntegratorParams::default() }
}

/// Largest errors of q, v and λ at the first reference, with n constant steps, and the largest |g|, |G v + b| over the run.
struct Run {
    errors: [f64; 3],
    drift: [f64; 2],
    end: MotionPoint,
    iterations: usize,
}

fn run(mechanism: &Mechanism, params: &IntegratorParams, n: usize) -> Run {
    let reference = &mechanism.references[0];
    let params = IntegratorParams { control: StepControl::Fixed, step: Some(reference.t / n as f64), ..params.clone() };
    let mut integration = Integration::new(&mechanism.model, &mechanism.state, &params).unwrap();
    let mut drift = [0.0_f64; 2];
    while integration.point().t < reference.t {
        integration.step(reference.t).unwrap();
        let now = integration.point().clone();
        drift = drift_at(integration.equations(), &now, drift);
    }
    let end = integration.point().clone();
    let errors = [distance(&end.q, &reference.q), distance(&end.v, &reference.v), distance(&end.lambda, &reference.lambda)];
    Run { errors, drift, end, iterations: integration.statistics().newton_iterations }
}

/// |g| and |G v + b|, where they exceed `before`.
fn drift_at(equations: &mut Equations<'_>, point: &MotionPoint, before: [f64; 2]) -> [f64; 2] {
    let (mut g, mut u) = (point.lambda.clone(), point.lambda.clone());
    equations.constraints(point.t, &point.q, &mut g).unwrap();
    equations.constraint_velocity(point.t, &point.q, &point.v, &mut u).unwrap();
    let largest = |x: &[f64], start: f64| x.iter().fold(start, |m, x| m.max(x.abs()));
    [largest(&g, before[0]), largest(&u, before[1])]
}

/// Orders between n and 2n steps are within 0.2 of the declared ones.
fn assert_orders(name: &str, mechanism: &Mechanism, params: &IntegratorParams, n: usize) -> Run {
    let declared = (params.kind.entry().orders)(params);
    let (coarse, fine) = (run(mechanism, params, n), run(mechanism, params, 2 * n));
    let declared = [Some(declared.position), Some(declared.velocity), declared.multiplier];
    for (k, declared) in declared.into_iter().enumerate().filter_map(|(k, order)| order.map(|order| (k, order))) {
        let order = (coarse.errors[k] / fine.errors[k]).log2();
        let what = ["q", "v", "λ"][k];
        assert!((order - declared).abs() < 0.2, "{name}, {} {:?}: {order:.3} in {what}", params.kind.name(), params.formulation);
    }
    fine
}

/// All forms of the family with the parameters of their published comparisons.
fn family() -> Vec<IntegratorParams> {
    let mut list = Vec::new();
    for form in [Formulation::Index3, Formulation::Index2, Formulation::Ggl] {
        for spectral_radius in [0.0, 0.6, 0.9] {
            list.push(IntegratorParams { spectral_radius, ..method(IntegratorKind::GeneralizedAlpha, form) });
        }
    }
    for form in [Formulation::Index3, Formulation::Index2] {
        for hht_alpha in [-0.3, -0.05] {
            list.push(IntegratorParams { hht_alpha, ..method(IntegratorKind::Hht, form) });
        }
    }
    for form in [Formulation::Index2, Formulation::Index3, Formulation::Index1] {
        list.push(method(IntegratorKind::Newmark, form));
        // γ > ½ damps, at first order
        list.push(IntegratorParams { newmark_beta: 0.36, newmark_gamma: 0.7, ..method(IntegratorKind::Newmark, form) });
    }
    list
}

#[test]
fn declared_orders_and_no_drift_at_the_level_of_the_form() {
    for (name, mechanism, n) in [("pendulum", pendulum().unwrap(), 400), ("slider-crank", slider_crank().unwrap(), 200)] {
        for params in family() {
            let done = assert_orders(name, &mechanism, &params, n);
            let [position, velocity] = done.drift;
            // a few units in the last place of g (terms of size 1 to 2), and of G v with |G v| terms up to 10
            let (kept, limits) = (params.formulation.unwrap(), (1e-15, 1e-13));
            assert_eq!(position < limits.0, matches!(kept, Formulation::Index3 | Formulation::Ggl), "{name} {kept:?}: g {position:e}");
            assert_eq!(velocity < limits.1, matches!(kept, Formulation::Index2 | Formulation::Ggl), "{name} {kept:?}: G v {velocity:e}");
        }
    }
}

/// Index 3 of the undamped method: multipliers oscillate, as its header says.
#[test]
fn multipliers_of_undamped_index_3_do_not_converge() {
    let (slider, params) = (slider_crank().unwrap(), method(IntegratorKind::Newmark, Formulation::Index3));
    assert_eq!((params.kind.entry().orders)(&params).multiplier, None);
    let errors = [200, 400, 800].map(|n| run(&slider, &params, n).errors[2]);
    assert!(errors.iter().all(|&e| e > 5.0), "{errors:?}");
}

#[test]
fn heavy_top_at_second_order_with_unit_quaternions() {
    let top = heavy_top().unwrap();
    for form in [Formulation::Index3, Formulation::Index2, Formulation::Ggl] {
        let params = method(IntegratorKind::GeneralizedAlpha, form);
        let done = assert_orders("heavy top", &top, &params, 1000);
        let norm = done.end.q[3..7].iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!((norm - 1.0).abs() < 1e-14, "{form:?}: {norm}");
        // round-off of x − R X (size 1) and of v + R X̃ Ω with |Ω| = 150 rad/s
        assert!(form == Formulation::Index2 || done.drift[0] < 2e-15, "{form:?}: {:e}", done.drift[0]);
        assert!(form == Formulation::Index3 || done.drift[1] < 1e-12, "{form:?}: {:e}", done.drift[1]);
        // the exact tangent, chart included: two corrections and one that confirms (GGL leaves out small terms)
        let exact = IntegratorParams { newton: NewtonParams { keep_matrix: false, ..NewtonParams::default() }, ..params };
        let iterations = run(&top, &exact, 1000).iterations;
        let limit = if form == Formulation::Ggl { 4000 } else { 3000 };
        assert!(iterations <= limit, "{form:?}: {iterations} iterations in 1000 steps");
    }
}

#[test]
fn spherical_pendulum_at_second_order() {
    let pendulum = spherical_pendulum().unwrap();
    for form in [Formulation::Index3, Formulation::Index2, Formulation::Ggl] {
        assert_orders("spherical pendulum", &pendulum, &method(IntegratorKind::GeneralizedAlpha, form), 1000);
    }
}

/// Steps by hand: sizes h, 1.7 h, h, … up to the first reference. Errors of q, v and λ, and of the last two estimates.
fn uneven(mechanism: &Mechanism, params: &IntegratorParams, n: usize) -> ([f64; 3], f64) {
    let reference = &mechanism.references[0];
    let mut equations = Equations::new(&mechanism.model);
    let tolerances = Tolerances::new(&equations, params).unwrap();
    let mut start = MotionPoint::at_state(&mechanism.state, equations.n_rows());
    let State { t, q, v, .. } = &mechanism.state;
    equations.accelerate(*t, q, v, &mut start.a, &mut start.lambda).unwrap();
    let mut integrator = build(params);
    integrator.restart(&mut equations, &start).unwrap();
    let (mut end, mut estimate, h) = (start.clone(), 0.0, reference.t / (2.7 * n as f64));
    for step in 0..2 * n {
        let h = if step % 2 == 0 { h } else { 1.7 * h };
        // a refused step leaves no trace
        if step % 5 == 0 {
            integrator.try_step(&mut equations, Step { start: &start, h: 0.3 * h, tolerances: &tolerances }, &mut end).unwrap();
        }
        estimate =
            integrator.try_step(&mut equations, Step { start: &start, h, tolerances: &tolerances }, &mut end).unwrap().error.unwrap();
        integrator.accept();
        std::mem::swap(&mut start, &mut end);
    }
    ([distance(&start.q, &reference.q), distance(&start.v, &reference.v), distance(&start.lambda, &reference.lambda)], estimate)
}

#[test]
fn second_order_and_third_order_estimates_with_uneven_steps() {
    let slider = slider_crank().unwrap();
    for form in [Formulation::Index3, Formulation::Index2, Formulation::Ggl] {
        let params = method(IntegratorKind::GeneralizedAlpha, form);
        let (coarse, fine) = (uneven(&slider, &params, 200), uneven(&slider, &params, 400));
        for k in 0..3 {
            let order = (coarse.0[k] / fine.0[k]).log2();
            assert!((order - 2.0).abs() < 0.2, "{form:?}: {order} in {}", ["q", "v", "λ"][k]);
        }
        let order = (coarse.1 / fine.1).log2();
        assert!((order - 3.0).abs() < 0.2, "{form:?}: {order} of the estimate");
    }
}

#[test]
fn adaptive_steps_meet_the_tolerance_on_rotations() {
    let top = heavy_top().unwrap();
    for form in [Formulation::Index3, Formulation::Ggl] {
        let errors = [1e-5, 1e-7].map(|tolerance| {
            let params = IntegratorParams { tolerance, ..method(IntegratorKind::GeneralizedAlpha, form) };
            let mut integration = Integration::new(&top.model, &top.state, &params).unwrap();
            while integration.point().t < 1.0 {
                integration.step(1.0).unwrap();
            }
            distance(&integration.point().q[..3], &top.references[0].q[..3])
        });
        // global error ∝ tolerance^{2/3}: a factor 22 for 100
        let gain = errors[0] / errors[1];
        assert!((10.0..50.0).contains(&gain), "{form:?}: {errors:?}");
    }
}

#[test]
fn nonholonomic_rows_hold_at_velocity_level() {
    let unit = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let system = Linear::new(vec!["x".into(), "y".into(), "a".into()], unit, vec![0.0; 9], vec![0.0; 9])
        .unwrap()
        .with_force(vec![1.0, 0.0, 0.0])
        .unwrap();
    let mut model = Model::new(vec![Box::new(system)]).unwrap();
    model.add_interaction("blade", Box::new(Blade), Law::Bilateral).unwrap();
    // 1 kg turning at 1 rad/s, pulled by 1 N along x: the speed along the blade is u = 1 + sin t, the force across it λ = u + sin t
    let (t, sin, cos) = (2.0, 2.0_f64.sin(), 2.0_f64.cos());
    let state = State { t: 0.0, q: vec![0.0; 3], v: vec![1.0, 0.0, 1.0], ..State::default() };
    let (q, u) = (vec![sin + 0.5 * sin * sin, 1.0 - cos + 0.5 * (t - sin * cos), t], 1.0 + sin);
    let references = vec![Reference { t, q, v: vec![u * cos, u * sin, 1.0], lambda: vec![u + sin] }];
    let skate = Mechanism { model, state, references };
    for form in [Formulation::Index3, Formulation::Index2, Formulation::Ggl] {
        let done = assert_orders("skate", &skate, &method(IntegratorKind::GeneralizedAlpha, form), 100);
        // round-off of two terms of size 1
        assert!(done.drift[1] < 1e-14, "{form:?}: {:e}", done.drift[1]);
    }
    assert_orders("skate", &skate, &method(IntegratorKind::DiscreteMultiplier, Formulation::Ggl), 100);
}

#[test]
fn discrete_multipliers_at_second_order_with_bounded_drift() {
    let params = method(IntegratorKind::DiscreteMultiplier, Formulation::Ggl);
    let mechanisms =
        [("pendulum", pendulum().unwrap(), 400), ("slider-crank", slider_crank().unwrap(), 400), ("heavy top", heavy_top().unwrap(), 4000)];
    for (name, mechanism, n) in mechanisms {
        let (coarse, fine) = (run(&mechanism, &params, n), assert_orders(name, &mechanism, &params, n));
        for k in 0..2 {
            // O(h³) drift: a factor 8, more where the leading term vanishes
            assert!(coarse.drift[k] > 7.0 * fine.drift[k], "{name}: {:?} {:?}", coarse.drift, fine.drift);
        }
    }
    // the drift of the first second is not exceeded in ten, here half a dozen swings
    let (pendulum, mut drift) = (pendulum().unwrap(), [[0.0; 2]; 2]);
    let fixed = IntegratorParams { control: StepControl::Fixed, step: Some(1e-3), ..params.clone() };
    let mut integration = Integration::new(&pendulum.model, &pendulum.state, &fixed).unwrap();
    while integration.point().t < 10.0 {
        integration.step(10.0).unwrap();
        let now = integration.point().clone();
        let late = usize::from(now.t > 1.0);
        drift[late] = drift_at(integration.equations(), &now, drift[late]);
    }
    // the largest speed recurs every half period 1.18 s, hence a little above the maximum of the first second
    assert!(drift[1][0] < 1.1 * drift[0][0] && drift[1][1] < 1.1 * drift[0][1], "{drift:?}");

    // a state off the constraints comes back in one step, up to a multiple of h² and of the square of the error
    let mut equations = Equations::new(&pendulum.model);
    let tolerances = Tolerances::new(&equations, &params).unwrap();
    let mut start = MotionPoint::at_state(&State { t: 0.0, q: vec![1.001, 0.0], v: vec![0.002, -1.0], ..State::default() }, 1);
    start.lambda[0] = 0.0;
    let (mut integrator, mut end) = (build(&params), start.clone());
    integrator.restart(&mut equations, &start).unwrap();
    integrator.try_step(&mut equations, Step { start: &start, h: 1e-3, tolerances: &tolerances }, &mut end).unwrap();
    let (before, after) = (drift_at(&mut equations, &start, [0.0; 2]), drift_at(&mut equations, &end, [0.0; 2]));
    // 2e-3 and 4e-3 before; squares 4e-6, 1.6e-5 after (times curvature of size 1)
    assert!(before[0] > 1e-3 && after[0] < 1e-5 && after[1] < 5e-5, "{before:?} {after:?}");
}

#[test]
fn a_method_that_cannot_reach_its_constraints_says_so() {
    let params = IntegratorParams { newmark_beta: 0.0, ..method(IntegratorKind::Newmark, Formulation::Index3) };
    let pendulum = pendulum().unwrap();
    let refused = Integration::new(&pendulum.model, &pendulum.state, &params).err().unwrap();
    assert!(refused.to_string().contains("newmark: β = 0"), "{refused}");
}

/// λ = 3 g y/2 along the pendulum's exact motion from rest at y = 0. Worst error after the first steps, and the mean number of iterations.
fn small_steps(formulation: Formulation, scaling: bool, h: f64) -> Result<(f64, f64), IntegrationError> {
    let (pendulum, newton) = (pendulum().unwrap(), NewtonParams { scaling, ..NewtonParams::default() });
    let control = StepControl::Fixed;
    let params = IntegratorParams { newton, control, step: Some(h), ..method(IntegratorKind::GeneralizedAlpha, formulation) };
    let mut integration = Integration::new(&pendulum.model, &pendulum.state, &params)?;
    let mut worst = 0.0_f64;
    for step in 0..50 {
        integration.step(10.0)?;
        let end = integration.point();
        if step > 5 {
            worst = worst.max((end.lambda[0] - 1.5 * 9.81 * end.q[1]).abs());
        }
    }
    Ok((worst, integration.statistics().newton_iterations as f64 / 50.0))
}

/// As h shrinks, iterations stay few and multipliers lose only what round-off of g or G v costs them.
#[test]
fn multipliers_of_very_small_steps() {
    for h in [1e-4, 1e-5, 1e-6, 1e-8] {
        for form in [Formulation::Index2, Formulation::Ggl] {
            let (error, iterations) = small_steps(form, true, h).unwrap();
            // the method's own error h² × 20 and round-off ε |v|/h, |v| < 50 g h
            assert!(error < 20.0 * h * h + 1e-12 && iterations < 3.5, "{form:?}, h = {h:e}: {error:e}, {iterations}");
        }
        let (error, iterations) = small_steps(Formulation::Index3, true, h).unwrap();
        // the method's own error and the round-off ε/(β h²) of positions of size 1, which ρ = 0.8 keeps for some ten steps
        assert!(error < 40.0 * h * h + 100.0 * f64::EPSILON / (h * h) && iterations < 3.5, "h = {h:e}: {error:e}, {iterations}");
    }
    // without scaling the pivots of M/h² and G differ by h⁻⁴ = 1e32: singular in double precision
    assert!(small_steps(Formulation::Index3, true, 1e-8).is_ok() && small_steps(Formulation::Index3, false, 1e-8).is_err());
}

/// A mass on a radial spring of stiffness k, its angle driven in time by a rod that slides (z): rheonomic, with a mass matrix of q.
fn driven_spring(stiffness: f64) -> (Model, State) {
    let system = Lagrangian::new(&LagrangianText {
        coordinates: vec!["r".into(), "a".into(), "z".into()],
        parameters: vec![("k".into(), stiffness)],
        kinetic: "(r_dot^2 + (1 + r)^2*a_dot^2)/2 + z_dot^2/2 + r*z_dot*a_dot/10".into(),
        potential: "k*r^2/2 - 9.81*(1 + r)*cos(a) + z^2/2".into(),
        forces: Vec::new(),
    });
    let mut model = Model::new(vec![Box::new(system.unwrap())]).unwrap();
    let rows = vec![("equation of \"drive\"".to_owned(), "a + z*sin(t)/5 - 0.5*sin(3*t)".to_owned())];
    model.add_formula("drive", &FormulaSource { rows, parameters: Vec::new() }, Law::Bilateral).unwrap();
    // r balances gravity and the centrifugal force at 1.5 rad/s
    (model, State { t: 0.0, q: vec![(9.81 + 2.25) / (stiffness - 2.25), 0.0, 0.0], v: vec![0.0, 1.5, 0.0], ..State::default() })
}

#[test]
fn rheonomic_constraints_at_second_order_and_stiff_springs_with_large_steps() {
    let (model, state) = driven_spring(1e4);
    // reference: the explicit method of order 4 at hω = 2e-3, error below 1e-11
    let params =
        IntegratorParams { kind: IntegratorKind::Rk4, control: StepControl::Fixed, step: Some(2e-5), ..IntegratorParams::default() };
    let mut integration = Integration::new(&model, &state, &params).unwrap();
    while integration.point().t < 1.0 {
        integration.step(1.0).unwrap();
    }
    let MotionPoint { q, v, lambda, .. } = integration.point().clone();
    let soft = Mechanism { references: vec![Reference { t: 1.0, q, v, lambda }], model, state };
    let (model, state) = driven_spring(1e8);
    // the spring force at 1 s from steps of 1/1600 s (index 2), where its period is 1/1592 s
    let nothing = Reference { t: 1.0, q: vec![1.199_863_4e-7, 0.0, 0.0], v: vec![0.0; 3], lambda: vec![0.0] };
    let stiff = Mechanism { model, state, references: vec![nothing] };
    for form in [Formulation::Index3, Formulation::Index2, Formulation::Ggl] {
        let params = method(IntegratorKind::GeneralizedAlpha, form);
        assert_orders("driven spring", &soft, &params, 800);
        // hω = 200: the spring follows the slow motion, with an error of its second order, (h × 3 rad/s)² = 4e-3 of the force
        let done = run(&stiff, &params, 50);
        let error = done.end.q[0] / stiff.references[0].q[0] - 1.0;
        assert!(error.abs() < 4e-3 && done.iterations < 50 * 7, "{form:?}: {error:e}, {} iterations", done.iterations);
    }
}
