//! Penalised contact: exact solutions, and the defects that the literature names (attraction, energy gain, creep, stiffness).

use crate::support::{Done, Keep, adaptive, constant_steps};
use carom_dynamics::forces::{Attraction, CompliantLaw, Damping};
use carom_dynamics::integrators::{IntegratorKind, IntegratorParams};
use carom_dynamics::relations::FormulaSource;
use carom_dynamics::strategies::{Continue, Ending, Observers, Smooth, Strategy};
use carom_dynamics::systems::{Linear, Scratch};
use carom_dynamics::{Model, State, StepMemory};

/// A unit mass on a line above a compliant floor at y = 0, with a constant force.
fn ball(law: CompliantLaw, force: f64) -> Model {
    let system = Linear::new(vec!["y".into()], vec![1.0], vec![0.0], vec![0.0]).unwrap().with_force(vec![force]).unwrap();
    let mut model = Model::new(vec![Box::new(system)]).unwrap();
    let source = FormulaSource { rows: vec![("gap of \"floor\"".into(), "y".into())], parameters: Vec::new() };
    model.add_compliant_formula("floor", &source, law).unwrap();
    model
}

fn run(model: &Model, (q, v): (&[f64], &[f64]), end: f64, integrator: IntegratorParams) -> Done {
    let (mut state, mut keep) = (State { t: 0.0, q: q.to_vec(), v: v.to_vec(), ..State::default() }, Keep::default());
    let mut memory = StepMemory::new(model, &Default::default()).unwrap();
    let strategy = Smooth { integrator, end, record_every: 1, record_interval: None };
    let mut watch = |_: &_| Continue::Yes;
    let outcome = strategy.run(model, &mut state, &mut memory, Observers { recorder: &mut keep, watch: &mut watch });
    assert!(matches!(outcome.ending, Ending::Finished), "{:?}", outcome.ending);
    Done { state, certificate: outcome.certificate, keep }
}

fn dopri(tolerance: f64) -> IntegratorParams {
    adaptive(IntegratorKind::Dopri5, tolerance)
}

fn force_of(model: &Model, q: f64, v: f64) -> f64 {
    let mut force = [0.0];
    model.force(0.0, &[q], &[v], &mut force, &mut Scratch::default()).unwrap();
    force[0]
}

/// The example after eq. 34 of Brogliato2002: m = k = 1, d = 3 and q̇(0) = −√5 give F = (1 + 3r₁) e^(r₁t) − (1 + 3r₂) e^(r₂t) with the roots
/// r = (−3 ± √5)/2, printed as 6.86 exp(−2.62 t) − 0.14 exp(−0.38 t): attractive in the end, though its impulse is positive.
#[test]
fn spring_and_dashpot_glue() {
    let damping = Damping::Constant { coefficient: 3.0 };
    let law = CompliantLaw { damping, attraction: Attraction::Allowed, ..CompliantLaw::spring(1.0, 1.0) };
    let model = ball(law, 0.0);
    let done = run(&model, (&[0.0], &[-5.0_f64.sqrt()]), 5.0, dopri(1e-10));
    let roots = [(-3.0 + 5.0_f64.sqrt()) / 2.0, (-3.0 - 5.0_f64.sqrt()) / 2.0];
    let mut least = 0.0_f64;
    for frame in &done.keep.frames[1..] {
        let [a, b] = roots.map(|r| (r * frame.t).exp() * (1.0 + 3.0 * r));
        let force = force_of(&model, frame.q[0], frame.v[0]);
        // ten times the tolerance of the integrator, for the sum of its errors times k and d
        assert!((force - (a - b)).abs() < 1e-8, "{frame:?}: {force}, {}", a - b);
        least = least.min(force);
    }
    assert!(least < -0.04, "{least}");
    assert!(done.state.v[0] > -5.0_f64.sqrt(), "the impulse is positive");
    // cut off, it does not pull
    let cut = ball(CompliantLaw { attraction: Attraction::None, ..law }, 0.0);
    assert_eq!(force_of(&cut, -0.01, 1.0), 0.0);
}

/// Hertz: largest penetration (5 m v²/(4 K))^(2/5), and the rebound has the speed of the approach.
#[test]
fn hertz_is_elastic() {
    let (stiffness, speed) = (1e6, 2.0);
    let model = ball(CompliantLaw::spring(stiffness, 1.5), 0.0);
    let done = run(&model, (&[1e-3], &[-speed]), 0.02, dopri(1e-11));
    let deepest = done.keep.frames.iter().fold(0.0_f64, |m, f| m.max(-f.q[0]));
    let exact = (1.25 * speed * speed / stiffness).powf(0.4);
    // frames are at steps, the deepest of them lies within half a step of the turning point
    assert!(deepest <= exact * (1.0 + 1e-8) && deepest > 0.99 * exact, "{deepest} {exact}");
    assert!((done.state.v[0] - speed).abs() < 1e-7, "{:?}", done.state);
    assert!(done.certificate.energy_error().abs() < 1e-7, "{:?}", done.certificate);
}

/// The dampings of eq. 74: coefficients of restitution, all between 0 and 1 without attraction, and the account balances.
#[test]
fn dampings_dissipate() {
    let spring = CompliantLaw::spring(1e5, 1.5);
    let dampings = [
        ("constant", Damping::Constant { coefficient: 20.0 }),
        ("step", Damping::Step { coefficient: 50.0, depth: 1e-3 }),
        ("elastic", Damping::Elastic { coefficient: 0.2 }),
        ("root", Damping::Root { coefficient: 400.0 }),
        ("critical", Damping::Critical { coefficient: 0.1, mass: 1.0, load: 9.81 }),
    ];
    for (name, damping) in dampings {
        let model = ball(CompliantLaw { damping, ..spring }, 0.0);
        let done = run(&model, (&[1e-3], &[-1.0]), 0.1, dopri(1e-9));
        let e = done.state.v[0];
        println!("{name}: e = {e:.4}");
        assert!(e > 0.05 && e < 0.99, "{name}: {e}");
        let c = &done.certificate;
        // the quadrature of the account is of low order in the steps with the touch, where the force has a kink, or jumps
        let jumps = matches!(damping, Damping::Constant { .. } | Damping::Critical { .. });
        assert!((c.last.work + 0.5 * (1.0 - e * e)).abs() < if jumps { 1e-3 } else { 1e-4 }, "{name}: {c:?}");
    }
}

/// |f| instead of f (eq. 76) turns the pull of a damper into a push: released from rest, the ball leaves with more energy than the spring held.
#[test]
fn reversed_attraction_creates_energy() {
    let law = CompliantLaw { damping: Damping::Constant { coefficient: 60.0 }, ..CompliantLaw::spring(1e4, 1.5) };
    let depth = 0.02;
    let stored = law.potential(-depth);
    let released = |attraction| {
        let model = ball(CompliantLaw { attraction, ..law }, 0.0);
        let done = run(&model, (&[-depth], &[0.0]), 0.5, dopri(1e-9));
        0.5 * done.state.v[0].powi(2) / stored
    };
    let (cut, reversed) = (released(Attraction::None), released(Attraction::Reversed));
    println!("released energy over stored: cut {cut}, reversed {reversed}");
    assert!(cut < 0.9 && reversed > 1.1, "{cut} {reversed}");
}

/// Steps that are too large for the time of contact π √(m/K) change the energy of an elastic bounce; small ones do not.
#[test]
fn large_steps_gain_or_lose_energy() {
    let model = ball(CompliantLaw::spring(1e6, 1.0), 0.0);
    let speed = |step: f64| run(&model, (&[1.3e-3], &[-1.0]), 0.02, constant_steps(IntegratorKind::StormerVerlet, step)).state.v[0];
    // the contact lasts 3.1 ms: 1.6 and 300 steps
    let (large, small) = (speed(1.9e-3), speed(1e-5));
    println!("large {large}, small {small}");
    assert!((large.powi(2) - 1.0).abs() > 0.1 && (small - 1.0).abs() < 1e-3, "{large} {small}");
}

/// Regularised friction never sticks: on a slope within the friction angle a block creeps at v_s tan α/μ.
#[test]
fn regularised_friction_creeps() {
    let zero = || vec![0.0; 4];
    let (g, angle, mu, slip) = (9.81, 0.2_f64, 0.5, 1e-2);
    let system = Linear::new(vec!["x".into(), "y".into()], vec![1.0, 0.0, 0.0, 1.0], zero(), zero()).unwrap();
    let system = system.with_force(vec![g * angle.sin(), -g * angle.cos()]).unwrap();
    let mut model = Model::new(vec![Box::new(system)]).unwrap();
    let rows = vec![("gap of \"slope\"".into(), "y".into()), ("tangent of \"slope\"".into(), "x".into())];
    let damping = Damping::Constant { coefficient: 100.0 };
    let law = CompliantLaw { damping, friction: mu, slip_velocity: slip, ..CompliantLaw::spring(1e4, 1.0) };
    model.add_compliant_formula("slope", &FormulaSource { rows, parameters: Vec::new() }, law).unwrap();
    let at_rest = -g * angle.cos() / 1e4;
    let done = run(&model, (&[0.0, at_rest], &[0.0, 0.0]), 1.0, dopri(1e-10));
    let creep = slip * angle.tan() / mu;
    assert!((done.state.v[0] - creep).abs() < 1e-9, "{} {creep}", done.state.v[0]);
}

/// A contact between two systems of different mass blocks: forces are opposite, Jacobians are those of the force by finite differences.
#[test]
fn forces_and_jacobians_agree() {
    use carom_dynamics::systems::{Instant, JacobianFactors};
    let law = CompliantLaw { damping: Damping::Root { coefficient: 7.0 }, ..CompliantLaw::spring(300.0, 1.5) };
    let line = |name: &str| Linear::new(vec![name.into()], vec![2.0], vec![0.0], vec![0.0]).unwrap();
    let mut model = Model::new(vec![Box::new(line("a")), Box::new(line("b"))]).unwrap();
    let source = FormulaSource { rows: vec![("gap of \"pair\"".into(), "b - a - 1".into())], parameters: Vec::new() };
    model.add_compliant_formula("pair", &source, law).unwrap();
    let (q, v) = ([0.3, 1.1], [0.4, -0.2]);
    let mut scratch = Scratch::default();
    let mut force = |q: &[f64], v: &[f64]| {
        let mut f = [0.0; 2];
        model.force(0.0, q, v, &mut f, &mut scratch).unwrap();
        f
    };
    let at = force(&q, &v);
    assert!(at[0] < 0.0 && (at[0] + at[1]).abs() < 1e-15, "{at:?}");
    let d = 1e-6;
    let damping = (force(&q, &[v[0] - d, v[1]])[0] - force(&q, &[v[0] + d, v[1]])[0]) / (2.0 * d);
    let mut matrix = [0.0; 2];
    let factors = JacobianFactors { velocity: 1.0, position: 0.0 };
    model.add_jacobians(Instant { t: 0.0, q: &q, v: &v }, factors, &mut matrix, &mut Scratch::default()).unwrap();
    assert!((matrix[0] - damping).abs() < 1e-6 * damping, "{matrix:?} {damping}");
}

/// As the stiffness grows the elastic contact becomes the rigid one with e = 1: the time lost per bounce is that of the contact.
#[test]
fn stiff_contact_tends_to_the_rigid_one() {
    // dropped from 5 cm under gravity 10: a rigid ball is back at t = 0.2 s
    let delay = |stiffness: f64| {
        let model = ball(CompliantLaw::spring(stiffness, 1.0), -10.0);
        let done = run(&model, (&[0.05], &[0.0]), 0.2, dopri(1e-10));
        (done.state.q[0] - 0.05).abs()
    };
    let (soft, stiff) = (delay(1e4), delay(1e6));
    // the contact lasts π √(m/K); ten times shorter, at rest at the top the height is second order in the delay
    assert!(stiff < soft / 50.0 && stiff < 1e-4, "{soft} {stiff}");
}

#[test]
fn wrong_coefficients_are_refused() {
    let law = CompliantLaw::spring(1.0, 1.0);
    for (wrong, word) in [
        (CompliantLaw { stiffness: 0.0, ..law }, "stiffness"),
        (CompliantLaw { exponent: 0.5, ..law }, "exponent"),
        (CompliantLaw { damping: Damping::Step { coefficient: 1.0, depth: 0.0 }, ..law }, "depth"),
        (CompliantLaw { slip_velocity: 0.0, ..law }, "slip velocity"),
    ] {
        let error = wrong.validate("floor").unwrap_err().to_string();
        assert!(error.contains(word) && error.contains("floor"), "{error}");
    }
}
