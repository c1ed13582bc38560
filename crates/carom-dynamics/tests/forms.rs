//! Ways of finding accelerations, projections, Baumgarte's stabilisation and the assembly of initial states.

use crate::support::{distance, fitted_order};
use carom_dynamics::error::IntegrationError;
use carom_dynamics::integrators::{Integration, IntegratorKind, IntegratorParams, Step, StepControl, Tolerances, build};
use carom_dynamics::laws::Law;
use carom_dynamics::problems::mechanisms::{Mechanism, four_bar, pendulum, slider_crank};
use carom_dynamics::relations::FormulaSource;
use carom_dynamics::smooth::{AccelerationForm, AssemblyMode, AssemblyParams, Baumgarte, Equations, MotionPoint, Projection, Statistics};
use carom_dynamics::systems::{RigidBodies, RigidBody};
use carom_dynamics::{Model, State};
use nalgebra::{Matrix3, Vector3};

const ELIMINATIONS: [AccelerationForm; 5] = [
    AccelerationForm::UdwadiaKalaba,
    AccelerationForm::MaggiKane,
    AccelerationForm::NullSpaceQr,
    AccelerationForm::NullSpaceSvd,
    AccelerationForm::CoordinatePartitioning,
];

/// Fixed steps of rk4.
fn fixed(step: f64) -> IntegratorParams {
    IntegratorParams { kind: IntegratorKind::Rk4, control: StepControl::Fixed, step: Some(step), ..IntegratorParams::default() }
}

/// The end of a run, the largest |g| and |G v + b| at its steps, and its counts.
struct Run {
    end: MotionPoint,
    drift: [f64; 2],
    statistics: Statistics,
    /// Gᵀλ at the end.
    reaction: Vec<f64>,
}

fn run(model: &Model, state: &State, params: &IntegratorParams, t_end: f64) -> Run {
    let mut integration = Integration::new(model, state, params).unwrap();
    let mut drift = [0.0_f64; 2];
    let m = integration.equations().n_rows();
    let (mut g, mut u) = (vec![0.0; m], vec![0.0; m]);
    while integration.point().t < t_end {
        integration.step(t_end).unwrap();
        let MotionPoint { t, q, v, .. } = integration.point().clone();
        integration.equations().constraints(t, &q, &mut g).unwrap();
        integration.equations().constraint_velocity(t, &q, &v, &mut u).unwrap();
        drift[0] = g.iter().fold(drift[0], |m, g| m.max(g.abs()));
        drift[1] = u.iter().fold(drift[1], |m, u| m.max(u.abs()));
    }
    let (end, statistics) = (integration.point().clone(), integration.statistics());
    let equations = integration.equations();
    let (mut rows, mut reaction) = (vec![0.0; equations.rows().n_values()], vec![0.0; equations.n_v()]);
    equations.jacobian(end.t, &end.q, &mut rows, &mut u).unwrap();
    equations.rows().add_transposed(&rows, 1.0, &end.lambda, &mut reaction);
    Run { end, drift, statistics, reaction }
}

/// Steps at which rk4 shows its order: the four-bar whirls through a position with 40 rad/s.
fn steps(name: &str) -> [f64; 3] {
    if name == "four-bar" { [0.001, 0.0005, 0.00025] } else { [0.01, 0.005, 0.0025] }
}

fn mechanisms() -> [(&'static str, Mechanism); 3] {
    [("pendulum", pendulum().unwrap()), ("slider-crank", slider_crank().unwrap()), ("four-bar", four_bar().unwrap())]
}

/// All forms give the motion and multipliers of the multiplier form.
#[test]
fn eliminations_agree_with_multipliers() {
    for (name, Mechanism { model, state, .. }) in mechanisms() {
        // before the four-bar whirls through its fastest position, where rk4 needs smaller steps
        let t_end = 0.5;
        let params = fixed(if name == "four-bar" { 1.25e-4 } else { 5e-4 });
        let wanted = run(&model, &state, &params, t_end).end;
        for acceleration in ELIMINATIONS {
            let end = run(&model, &state, &IntegratorParams { acceleration, ..params.clone() }, t_end).end;
            // the method's own error is below 1e-10; λ reaches 100 N
            let errors = [distance(&end.q, &wanted.q), distance(&end.v, &wanted.v), 1e-2 * distance(&end.lambda, &wanted.lambda)];
            assert!(errors.iter().all(|&e| e < 1e-9), "{name}, {acceleration:?}: {errors:?}");
        }
    }
}

/// Rows given twice, and once more in another unit, change neither the motion nor the reaction.
#[test]
fn redundant_rows_do_no_harm() {
    let single = four_bar().unwrap();
    let mut doubled = four_bar().unwrap();
    for (name, equation) in [
        ("loop x again", "0.3*cos(p1) + sqrt(0.13)*cos(p2) - 0.4*cos(p3) - 0.7"),
        ("loop y in millimetres", "1000*(0.3*sin(p1) + sqrt(0.13)*sin(p2) - 0.4*sin(p3))"),
    ] {
        let source = FormulaSource { rows: vec![("equation".into(), equation.into())], parameters: Vec::new() };
        doubled.model.add_formula(name, &source, Law::Bilateral).unwrap();
    }
    let params = fixed(1.25e-4);
    let wanted = run(&single.model, &single.state, &params, 0.25);
    for acceleration in ELIMINATIONS {
        let found = run(&doubled.model, &doubled.state, &IntegratorParams { acceleration, ..params.clone() }, 0.25);
        // as above; the reaction is of the order of 100 N
        let errors = [
            distance(&found.end.q, &wanted.end.q),
            distance(&found.end.v, &wanted.end.v),
            1e-2 * distance(&found.reaction, &wanted.reaction),
        ];
        assert!(errors.iter().all(|&e| e < 1e-9), "{acceleration:?}: {errors:?}");
    }
}

/// Coordinate partitioning leaves no drift, changes its partition on the way, and keeps the order.
#[test]
fn coordinate_partitioning_does_not_drift() {
    for (name, Mechanism { model, state, references }) in mechanisms() {
        let t_end = references[0].t;
        let with = |acceleration, step| run(&model, &state, &IntegratorParams { acceleration, ..fixed(step) }, t_end);
        let (plain, found) = (with(AccelerationForm::Multipliers, 0.01), with(AccelerationForm::CoordinatePartitioning, 0.01));
        // round-off of the constraints, whose terms are of size 1 to 10
        assert!(found.drift.iter().all(|&d| d < 1e-12), "{name}: {:?}", found.drift);
        assert!(plain.drift[0] > 1e-9, "{name} does not drift by itself: {:?}", plain.drift);
        if name == "pendulum" {
            // the release determines x by y; when |y/x| reaches 10 near the lowest point, y by x; at the end |x/y| is 6
            assert!(found.statistics.partitions == 2, "{:?}", found.statistics);
        }
        let steps = steps(name);
        let errors = steps.map(|h| distance(&with(AccelerationForm::CoordinatePartitioning, h).end.q, &references[0].q));
        let order = fitted_order(&steps, &errors);
        assert!((order - 4.0).abs() < 0.2, "{name}: {order} {errors:?}");
    }
}

/// Projections remove the drift of what they project, and keep the order.
#[test]
fn projections_remove_drift_and_keep_the_order() {
    for (name, Mechanism { model, state, references }) in mechanisms() {
        let t_end = references[0].t;
        let with = |projection, step| run(&model, &state, &IntegratorParams { projection, ..fixed(step) }, t_end);
        let plain = with(Projection::None, 0.01);
        for projection in [Projection::Position, Projection::Velocity, Projection::Both] {
            let found = with(projection, 0.01);
            // round-off of the constraints, whose terms are of size 1 to 10
            let clean = found.drift.map(|d| d < 1e-12);
            assert_eq!(clean[0], projection != Projection::Velocity, "{name}, {projection:?}: {:?}", found.drift);
            assert_eq!(clean[1], projection != Projection::Position, "{name}, {projection:?}: {:?}", found.drift);
            assert!(plain.drift[0] > 1e-9 && plain.drift[1] > 1e-9, "{name} does not drift by itself: {:?}", plain.drift);
            let steps = steps(name);
            let errors = steps.map(|h| distance(&with(projection, h).end.q, &references[0].q));
            let order = fitted_order(&steps, &errors);
            assert!((order - 4.0).abs() < 0.2, "{name}, {projection:?}: {order} {errors:?}");
        }
    }
}

/// Between projected steps the interpolation joins their ends and stays as near to the constraints as its order says.
#[test]
fn interpolation_joins_projected_steps() {
    let Mechanism { model, state, .. } = slider_crank().unwrap();
    let worst = [0.02, 0.01].map(|h| {
        let params = IntegratorParams { projection: Projection::Both, ..fixed(h) };
        let mut integration = Integration::new(&model, &state, &params).unwrap();
        let (mut q, mut v, mut g, mut worst) = ([0.0; 2], [0.0; 2], [0.0], 0.0_f64);
        while integration.point().t < 0.5 {
            integration.step(0.5).unwrap();
            let (from, to) = (integration.previous().clone(), integration.point().clone());
            for (t, end) in [(from.t, &from), (to.t, &to)] {
                integration.interpolate(t, &mut q, &mut v).unwrap();
                // sums of terms of size 10
                assert!(distance(&q, &end.q) < 1e-14 && distance(&v, &end.v) < 1e-13, "{q:?} {end:?}");
            }
            let middle = 0.5 * (from.t + to.t);
            integration.interpolate(middle, &mut q, &mut v).unwrap();
            integration.equations().constraints(middle, &q, &mut g).unwrap();
            worst = worst.max(g[0].abs());
        }
        worst
    });
    // the interpolant errs by h⁶, plus h times the error of the velocities at the ends, which is h⁵
    let order = (worst[0] / worst[1]).log2();
    assert!(order > 5.0 && worst[1] < 1e-9, "{order} {worst:?}");
}

/// A projection moves at right angles to the free directions in the mass metric: bᵀ M w = 0 for G b = 0.
#[test]
fn projections_are_orthogonal_in_the_mass_metric() {
    let Mechanism { model, state, .. } = slider_crank().unwrap();
    let mut equations = Equations::new(&model);
    let mut point = MotionPoint::at_state(&State { q: vec![0.6, -0.25], ..state }, 1);
    let from = point.clone();
    let (mut rows, mut explicit, mut mass) = ([0.0; 2], [0.0], [0.0; 4]);
    let mut product = |q: &[f64], along: &[f64], w: [f64; 2], equations: &mut Equations<'_>| {
        equations.jacobian(0.0, along, &mut rows, &mut explicit).unwrap();
        equations.mass(0.0, q, &mut mass).unwrap();
        let b = [rows[1], -rows[0]];
        b[0] * (mass[0] * w[0] + mass[1] * w[1]) + b[1] * (mass[2] * w[0] + mass[3] * w[1])
    };
    equations.project_position(&mut point).unwrap();
    let w = [point.q[0] - from.q[0], point.q[1] - from.q[1]];
    assert!(w[0].abs() > 1e-3, "nothing to project: {w:?}");
    // products of numbers of size 0.1 in double precision
    assert!(product(&from.q, &from.q, w, &mut equations).abs() < 1e-14);
    equations.project_velocity(&mut point).unwrap();
    let change = [point.v[0] - from.v[0], point.v[1] - from.v[1]];
    assert!(change[0].abs() > 1e-3, "nothing to project: {change:?}");
    // numbers of size 10
    assert!(product(&point.q, &point.q, change, &mut equations).abs() < 1e-13);
}

/// A body on a ball joint, by three rows of its quaternion: positions and velocities stay on the constraints, and the quaternion on its sphere.
#[test]
fn projections_keep_rotations_on_their_group() {
    let body = RigidBody { name: "top".into(), mass: 2.0, inertia: Matrix3::from_diagonal(&Vector3::new(0.2, 0.3, 0.1)) };
    let bodies = RigidBodies::new(vec![body], Vector3::new(0.0, 0.0, -9.81)).unwrap();
    let mut model = Model::new(vec![Box::new(bodies)]).unwrap();
    let rows =
        ["top.x - (top.qx*top.qz + top.qw*top.qy)", "top.y - (top.qy*top.qz - top.qw*top.qx)", "top.z - (1 - 2*(top.qx^2 + top.qy^2))/2"];
    let rows = rows.iter().map(|row| ("equation".to_owned(), (*row).to_owned())).collect();
    model.add_formula("joint", &FormulaSource { rows, parameters: Vec::new() }, Law::Bilateral).unwrap();
    // the body's axis along z, turning at (1, 2, 3) rad/s: v = ω × r with r = (0, 0, 1/2)
    let state = State { t: 0.0, q: vec![0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0], v: vec![1.0, -0.5, 0.0, 1.0, 2.0, 3.0], ..State::default() };
    let reference = run(&model, &state, &IntegratorParams { projection: Projection::Both, ..fixed(2e-3) }, 1.0).end;
    let forms = ELIMINATIONS.into_iter().chain([AccelerationForm::Multipliers]);
    for acceleration in forms {
        let params = IntegratorParams { acceleration, projection: Projection::Both, ..fixed(0.01) };
        let found = run(&model, &state, &params, 1.0);
        let norm = found.end.q[3..7].iter().map(|q| q * q).sum::<f64>().sqrt();
        // round-off of 100 steps
        assert!(found.drift.iter().all(|&d| d < 1e-12) && (norm - 1.0).abs() < 1e-13, "{acceleration:?}: {:?} {norm}", found.drift);
        // the error with h = 0.01 is 2e-7, that of the reference 5⁴ times smaller
        assert!(distance(&found.end.q, &reference.q) < 5e-7, "{acceleration:?}: {}", distance(&found.end.q, &reference.q));
    }
}

/// With α = β a violation decays as g₀ (1 + αt) exp(−αt), and consistent motion keeps its order.
#[test]
fn baumgarte_damps_violations() {
    let Mechanism { model, state, references } = pendulum().unwrap();
    let (alpha, h) = (5.0, 1e-3);
    let params = IntegratorParams { baumgarte: Some(Baumgarte { alpha, beta: alpha }), ..fixed(h) };
    let mut equations = Equations::new(&model);
    equations.baumgarte = params.baumgarte;
    let tolerances = Tolerances::new(&equations, &params).unwrap();
    let mut start = MotionPoint::at_state(&State { q: vec![1.0005, 0.0], ..state.clone() }, 1);
    let MotionPoint { t, q, v, a, lambda } = &mut start;
    equations.accelerate(*t, q, v, a, lambda).unwrap();
    let mut integrator = build(&params);
    integrator.restart(&mut equations, &start).unwrap();
    let (mut end, mut g, mut worst) = (start.clone(), [0.0], 0.0_f64);
    equations.constraints(0.0, &start.q, &mut g).unwrap();
    let initial = g[0];
    for _ in 0..2000 {
        integrator.try_step(&mut equations, Step { start: &start, h, tolerances: &tolerances }, &mut end).unwrap();
        std::mem::swap(&mut start, &mut end);
        equations.constraints(start.t, &start.q, &mut g).unwrap();
        worst = worst.max((g[0] - initial * (1.0 + alpha * start.t) * (-alpha * start.t).exp()).abs());
    }
    // the exact g satisfies the stabilised equation; rk4 with h = 1e-3 errs by 1e-11
    assert!(initial > 1e-3 && worst < 1e-10, "{initial} {worst}");
    let steps = [0.02, 0.01, 0.005];
    let errors = steps.map(|h| {
        let params = IntegratorParams { step: Some(h), ..params.clone() };
        distance(&run(&model, &state, &params, 1.0).end.q, &references[0].q)
    });
    let order = fitted_order(&steps, &errors);
    assert!((order - 4.0).abs() < 0.2, "{order} {errors:?}");
}

/// A loop that does not quite close is assembled and reported; one that is open, or should not be touched, is refused by name.
#[test]
fn initial_states_are_assembled_or_refused() {
    let Mechanism { model, state, .. } = four_bar().unwrap();
    let begin = |q: f64, v: f64, assembly: AssemblyParams| {
        let mut off = state.clone();
        off.q[1] += q;
        off.v[0] += v;
        Integration::new(&model, &off, &IntegratorParams { assembly, ..fixed(0.01) }).map(|i| (*i.assembly(), i.point().clone()))
    };
    let (report, point) = begin(0.0, 0.0, AssemblyParams::default()).unwrap();
    assert!(!report.is_assembled() && report.position_before < 1e-15 && point.q == state.q, "{report:?}");

    let (report, point) = begin(1e-4, 1e-3, AssemblyParams::default()).unwrap();
    // |∂g/∂p2| ≤ l2 = 0.36 and |∂g/∂p1| ≤ 0.3 bound the residuals; round-off is left of them
    assert!(report.position_before > 1e-5 && report.position_before < 3.6e-5 && report.position_after < 1e-14, "{report:?}");
    assert!(report.velocity_before > 1e-4 && report.velocity_before < 3e-4 && report.velocity_after < 1e-14, "{report:?}");
    // the correction in the mass metric is not more than a few times the error given
    assert!(report.moved > 1e-5 && report.moved < 5e-4 && report.velocity_changed > 1e-5 && report.velocity_changed < 5e-3, "{report:?}");
    assert!(distance(&point.q, &state.q) < 6e-4);

    let refuse = AssemblyParams { mode: AssemblyMode::Refuse, ..AssemblyParams::default() };
    for (q, v, assembly, what, help) in [
        (0.1, 0.0, AssemblyParams::default(), "position", "assembly.bound"),
        (0.0, 0.1, AssemblyParams::default(), "velocity", "assembly.velocity_bound"),
        (1e-4, 0.0, refuse, "position", "assembly.mode"),
    ] {
        let error = begin(q, v, assembly).unwrap_err();
        let IntegrationError::InconsistentStart { what: found, violations, .. } = &error else { panic!("{error}") };
        assert!(*found == what && violations.len() == 2 && violations.iter().all(|v| v.residual.abs() > 1e-6), "{violations:?}");
        let text = error.to_string();
        assert!(text.contains("\"loop x\" by") && text.contains("\"loop y\" by") && text.contains(help), "{text}");
    }
    let wide = AssemblyParams { bound: 0.1, velocity_bound: 0.1, ..AssemblyParams::default() };
    let (report, _) = begin(0.1, 0.1, wide).unwrap();
    assert!(report.moved > 0.01 && report.position_after < 1e-14 && report.velocity_after < 1e-14, "{report:?}");
    let baumgarte = IntegratorParams { baumgarte: Some(Baumgarte { alpha: -1.0, beta: 1.0 }), ..fixed(0.01) };
    assert!(baumgarte.validate().unwrap_err().to_string().contains("integrator.baumgarte.alpha = -1"));
    let negative = begin(0.0, 0.0, AssemblyParams { bound: -1.0, ..AssemblyParams::default() }).unwrap_err();
    assert!(negative.to_string().contains("integrator.assembly.bound = -1"), "{negative}");
}

/// Redundant rows are judged, too: a second guide beside the first cannot hold with it.
#[test]
fn contradictory_constraints_are_refused_by_name() {
    let Mechanism { mut model, state, .. } = pendulum().unwrap();
    let rows = vec![("the longer rod".to_owned(), "x^2 + y^2 - 1.0005".to_owned())];
    model.add_formula("longer", &FormulaSource { rows, parameters: Vec::new() }, Law::Bilateral).unwrap();
    let error = Integration::new(&model, &state, &fixed(0.01)).map(|_| ()).unwrap_err();
    assert!(matches!(error, IntegrationError::ContradictoryConstraints { what: "position", .. }), "{error}");
    assert!(error.to_string().contains("\"longer\" by -5.000e-4"), "{error}");
}
