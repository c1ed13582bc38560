//! Laws of contacts of a particle against exact motions: friction by direction and speed, restitution, moving obstacles.

use crate::support::{Done, distance, fitted_order, run_scheme};
use carom_dynamics::relations::FormulaSource;
use carom_dynamics::schemes::{AnitescuPotraParams, FrictionCone, SchemeParams, StewartTrinkleParams, check_scheme};
use carom_dynamics::systems::Linear;
use carom_dynamics::{Cohesion, ContactLaw, Friction, Law, Model, ModelError, Restitution, State};

pub const G: f64 = 9.81;

/// Unit masses with a diagonal stiffness and a constant force.
pub fn masses(names: &[&str], stiffness: &[f64], force: &[f64]) -> Linear {
    let n = names.len();
    let diagonal = |d: &[f64]| (0..n * n).map(|k| if k / n == k % n { d[k / n] } else { 0.0 }).collect::<Vec<f64>>();
    let names = names.iter().map(|&name| name.to_owned()).collect();
    Linear::new(names, diagonal(&vec![1.0; n]), vec![0.0; n * n], diagonal(stiffness)).unwrap().with_force(force.to_vec()).unwrap()
}

/// A system with one contact: its gap, then its tangents.
pub fn with_contact(system: Linear, rows: &[&str], law: ContactLaw) -> Result<Model, ModelError> {
    let mut model = Model::new(vec![Box::new(system)])?;
    let rows = rows.iter().map(|&text| ("row of \"floor\"".to_owned(), text.to_owned())).collect();
    model.add_formula("floor", &FormulaSource { rows, parameters: Vec::new() }, Law::Contact(law))?;
    Ok(model)
}

/// A particle in space above the plane z = 0.
fn particle(force: [f64; 3], law: ContactLaw) -> Model {
    with_contact(masses(&["x", "y", "z"], &[0.0; 3], &force), &["z", "x", "y"], law).unwrap()
}

fn friction(friction: Friction) -> ContactLaw {
    ContactLaw { friction, ..ContactLaw::default() }
}

fn start(q: &[f64], v: &[f64]) -> State {
    State { t: 0.0, q: q.to_vec(), v: v.to_vec(), ..State::default() }
}

/// Schemes that know the laws of a model.
pub fn schemes(model: &Model) -> Vec<SchemeParams> {
    // exact laws need the exact cone
    let exact = |params| match params {
        SchemeParams::StewartTrinkle(p) => SchemeParams::StewartTrinkle(StewartTrinkleParams { cone: FrictionCone::Exact, ..p }),
        SchemeParams::AnitescuPotra(p) => SchemeParams::AnitescuPotra(AnitescuPotraParams { cone: FrictionCone::Exact, ..p }),
        other => other,
    };
    SchemeParams::all().into_iter().filter(|params| check_scheme(params.entry(), model).is_ok()).map(exact).collect()
}

/// Of these, the schemes that resolve an impact of a free particle within one step, by the law itself.
pub fn velocity_schemes(model: &Model) -> Vec<SchemeParams> {
    let names = ["moreau-jean", "moreau-midpoint", "direct-projection", "combined-projection", "prox"];
    schemes(model).into_iter().filter(|params| names.contains(&params.entry().name)).collect()
}

/// The classical Runge–Kutta method with steps so small that its error does not count.
fn integrate<const N: usize>(mut x: [f64; N], end: f64, rate: impl Fn([f64; N]) -> [f64; N]) -> [f64; N] {
    let n = 20_000;
    let h = end / f64::from(n);
    let moved = |x: [f64; N], k: [f64; N], h: f64| std::array::from_fn(|i| x[i] + h * k[i]);
    for _ in 0..n {
        let a = rate(x);
        let b = rate(moved(x, a, 0.5 * h));
        let c = rate(moved(x, b, 0.5 * h));
        let d = rate(moved(x, c, h));
        x = std::array::from_fn(|i| x[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
    }
    x
}

/// The error at the end falls with the step as the scheme declares across impacts.
fn converges(model: &Model, state: &State, end: f64, exact: &[f64]) {
    for params in schemes(model) {
        let steps = [4e-3, 2e-3, 1e-3, 5e-4];
        let ends: Vec<Done> = steps.iter().map(|&h| run_scheme(model, state, end, h, &params)).collect();
        let errors: Vec<f64> = ends.iter().map(|done| distance(&[&done.state.q[..], &done.state.v[..]].concat(), exact)).collect();
        let order = fitted_order(&steps, &errors);
        println!("{}: {order:.2} {errors:?}", params.entry().name);
        let declared = params.build().orders().impacts as f64;
        assert!(errors[3] < 1e-10 || (order > declared - 0.2 && errors[3] < 2e-3), "{params:?}: {order} {errors:?}");
        // the account of energy closes exactly with the mean velocities of Moreau's schemes, to the order of the scheme with others
        let gap = ends[3].certificate.energy_error().abs();
        let bound = if velocity_schemes(model).contains(&params) { 1e-9 } else { errors[3] };
        assert!(gap < bound, "{params:?}: {gap} {errors:?}");
    }
}

/// u̇ = −g (μ₁² u₁, μ₂² u₂)/‖(μ₁ u₁, μ₂ u₂)‖: the impulse of largest dissipation in the ellipse.
#[test]
fn sliding_with_elliptic_friction() {
    let mu = [0.2, 0.6];
    let model = particle([0.0, 0.0, -G], friction(Friction::elliptic(mu[0], mu[1])));
    let state = start(&[0.0; 3], &[2.0, 1.0, 0.0]);
    let [x, y, vx, vy] = integrate([0.0, 0.0, 2.0, 1.0], 0.4, |[_, _, a, b]| {
        let size = (mu[0] * a).hypot(mu[1] * b);
        [a, b, -G * mu[0] * mu[0] * a / size, -G * mu[1] * mu[1] * b / size]
    });
    // the integral of motion u₂ = c u₁^((μ₂/μ₁)²) checks the reference
    assert!((vy - (vx / 2.0).powi(9)).abs() < 1e-12, "{vx} {vy}");
    converges(&model, &state, 0.4, &[x, y, 0.0, vx, vy, 0.0]);
}

/// On a slope the particle sticks inside the ellipse and slides outside of it.
#[test]
fn elliptic_friction_holds_inside_the_ellipse() {
    let mu: [f64; 2] = [0.3, 0.9];
    for angle in [0.0_f64, 0.4, 1.0, 1.5] {
        let limit = 1.0 / (angle.cos() / mu[0]).hypot(angle.sin() / mu[1]);
        for (share, sticks) in [(0.999, true), (1.001, false)] {
            let pull = share * limit * G;
            let model = particle([pull * angle.cos(), pull * angle.sin(), -G], friction(Friction::elliptic(mu[0], mu[1])));
            for params in schemes(&model) {
                let done = run_scheme(&model, &start(&[0.0; 3], &[0.0; 3]), 0.1, 1e-3, &params);
                let moved = distance(&done.state.q, &[0.0; 3]);
                assert!(if sticks { moved < 1e-12 } else { moved > 1e-6 }, "{params:?} {angle} {share}: {moved}");
            }
        }
    }
}

/// A block at rest withstands μ_s m g; once it slides, μ_k acts.
#[test]
fn static_and_kinetic_coefficients() {
    let law = friction(Friction::StaticKinetic { at_rest: 0.5, sliding: 0.3 });
    for (pull, acceleration) in [(0.499 * G, 0.0), (0.501 * G, 0.201 * G)] {
        let model = particle([pull, 0.0, -G], law);
        for params in schemes(&model) {
            let done = run_scheme(&model, &start(&[0.0; 3], &[0.0; 3]), 0.2, 1e-3, &params);
            assert!((done.state.v[0] - 0.2 * acceleration).abs() < 1e-10, "{params:?} {pull}: {}", done.state.v[0]);
        }
    }
    // sliding with a pull between the two: slows down by nothing, speeds up by the difference to μ_k
    let model = particle([0.4 * G, 0.0, -G], law);
    let done = run_scheme(&model, &start(&[0.0; 3], &[1.0, 0.0, 0.0]), 0.2, 1e-3, &SchemeParams::default());
    assert!((done.state.v[0] - 1.0 - 0.2 * 0.1 * G).abs() < 1e-10, "{}", done.state.v[0]);
}

/// A mass on a belt, held by a spring: it sticks until k x = μ_s g, then swings about μ_k g/k until it has the speed of the belt again.
///
/// With Δ = (μ_s − μ_k) g/k and ω² = k the period is 2Δ/v₀ + (2/ω)(π − atan(Δω/v₀)), the amplitude (Δ² + v₀²/ω²)^½.
#[test]
fn stick_slip_on_a_belt() {
    let (k, belt, at_rest, sliding) = (25.0_f64, 0.2, 0.4, 0.2);
    let law = friction(Friction::StaticKinetic { at_rest, sliding });
    let model = with_contact(masses(&["x", "y"], &[k, 0.0], &[0.0, -G]), &["y", "x - 0.2*t"], law).unwrap();
    let (omega, delta) = (k.sqrt(), (at_rest - sliding) * G / k);
    let period = 2.0 * delta / belt + 2.0 / omega * (std::f64::consts::PI - (delta * omega / belt).atan());
    let (middle, amplitude) = (sliding * G / k, delta.hypot(belt / omega));
    for params in schemes(&model) {
        for h in [2e-3, 5e-4] {
            let done = run_scheme(&model, &start(&[at_rest * G / k, 0.0], &[belt, 0.0]), 4.0 * period, h, &params);
            let x: Vec<f64> = done.keep.frames.iter().map(|f| f.q[0]).collect();
            let rises: Vec<f64> = (1..x.len())
                .filter(|&i| x[i - 1] < middle && x[i] >= middle)
                .map(|i| h * (i as f64 - (x[i] - middle) / (x[i] - x[i - 1])))
                .collect();
            let measured = (rises[2] - rises[0]) / 2.0;
            let top = x.iter().fold(0.0_f64, |m, x| m.max(*x)) - middle;
            println!("{} {h}: period {measured} {period}, amplitude {top} {amplitude}", params.entry().name);
            // four stick phases begin or end within a step; schemes of first order lose as much again in the spring
            let steps = if params.build().orders().smooth == 2 { 2.0 } else { 6.0 };
            assert!((measured - period).abs() < steps * h && (top - amplitude).abs() < belt * h, "{params:?} {h}: {measured} {top}");
            // schemes of first order err by O(h) of the 2.5 J that the spring exchanges
            let balance = if params.build().orders().smooth == 2 { 1e-6 } else { 20.0 * h };
            assert!(rises.len() >= 3 && done.certificate.energy_error().abs() < balance, "{params:?}: {:?}", done.certificate);
        }
    }
}

/// v̇ = −g μ(v) with Stribeck's coefficient.
#[test]
fn stribeck_deceleration() {
    let (at_rest, sliding, velocity) = (0.5, 0.2, 0.5);
    for exponent in [1.0, 2.0] {
        let law = Friction::Stribeck { at_rest, sliding, velocity, exponent };
        let model = particle([0.0, 0.0, -G], friction(law));
        let [x, v] =
            integrate([0.0, 1.0], 0.25, |[_, v]| [v, -G * (sliding + (at_rest - sliding) * (-(v / velocity).powf(exponent)).exp())]);
        assert!(v > 0.05);
        converges(&model, &start(&[0.0; 3], &[1.0, 0.0, 0.0]), 0.25, &[x, 0.0, 0.0, v, 0.0, 0.0]);
        // at rest it withstands μ_s
        let model = particle([0.49 * G, 0.0, -G], friction(law));
        let done = run_scheme(&model, &start(&[0.0; 3], &[0.0; 3]), 0.1, 1e-3, &SchemeParams::default());
        assert!(done.state.v[0].abs() < 1e-12, "{}", done.state.v[0]);
    }
}

/// A disk that meets the floor: coordinates (x, y, s) with s the turn times a length that makes its inertia 1; J = 2/5 R².
fn ball(law: ContactLaw, gravity: f64) -> Model {
    // R ω = (5/2)^½ ṡ
    let tangent = format!("x + {}*s", 2.5_f64.sqrt());
    with_contact(masses(&["x", "y", "s"], &[0.0; 3], &[0.0, -gravity, 0.0]), &["y", &tangent], law).unwrap()
}

fn bouncing(mu: f64, normal: f64, tangential: f64) -> ContactLaw {
    ContactLaw::coulomb(mu, normal).with_tangential_restitution(tangential)
}

/// The impact map of the (e_n, e_t, μ) law: p_N = (1 + e_n)|v_n|, p_T = −(1 + e_t) u_T 2/7 or the bound of friction.
#[test]
fn oblique_impacts() {
    for (mu, e_n, e_t) in [(10.0, 1.0, 1.0), (10.0, 0.5, 0.7), (0.1, 1.0, 1.0), (0.1, 0.6, 0.0), (0.2, 0.3, 0.9)] {
        let model = ball(bouncing(mu, e_n, e_t), 0.0);
        let (vx, vn, rw) = (1.0, -2.0, 0.5);
        let slip: f64 = vx + rw;
        let normal = -(1.0 + e_n) * vn;
        let tangential = -((1.0 + e_t) * slip * 2.0 / 7.0).min(mu * normal);
        let exact = [vx + tangential, -e_n * vn, (rw + 2.5 * tangential) / 2.5_f64.sqrt()];
        for params in velocity_schemes(&model) {
            let done = run_scheme(&model, &start(&[0.0, 0.05, 0.0], &[vx, vn, rw / 2.5_f64.sqrt()]), 0.1, 1e-2, &params);
            assert!(distance(&done.state.v, &exact) < 1e-12, "{params:?}: {:?} {exact:?}", done.state.v);
            // normal and tangential directions are not coupled: energy is never gained, and kept where all is elastic and nothing slides
            let c = &done.certificate;
            let dissipated = c.last.dissipated_impact + c.last.dissipated_friction;
            assert!(dissipated > -1e-14 && c.energy_error().abs() < 1e-14, "{c:?}");
            assert!((e_n * e_t < 1.0 || mu < 1.0) == (dissipated > 1e-3), "{dissipated}");
        }
    }
}

/// A super-ball with R ω = 5/2 v hops backwards and forwards: e_n = e_t = 1 reverse speed and spin at each impact.
#[test]
fn super_ball() {
    let model = ball(bouncing(10.0, 1.0, 1.0), G);
    for params in velocity_schemes(&model) {
        let done = run_scheme(&model, &start(&[0.0, 0.5, 0.0], &[1.0, 0.0, 2.5 / 2.5_f64.sqrt()]), 3.0, 1e-3, &params);
        let mut reversals = 0;
        for pair in done.keep.frames.windows(2) {
            assert!((pair[1].v[0].abs() - 1.0).abs() < 1e-11, "{params:?}: {:?}", pair[1].v);
            reversals += usize::from(pair[0].v[0] * pair[1].v[0] < 0.0);
        }
        // falls of (2 · 0.5/g)^½ = 0.319 s: impacts at 0.319, 0.958, 1.596, 2.235, 2.873 s
        assert_eq!(reversals, 5, "{params:?}");
    }
}

/// u⁺ = −e(s) s at the speed of approach s, exactly; the height of a rebound is e² that of the drop.
#[test]
fn restitution_of_the_speed_of_approach() {
    let threshold = Restitution::Threshold { coefficient: 0.8, velocity: 0.5 };
    let power = Restitution::PowerLaw { coefficient: 0.9, velocity: 1.0, exponent: 0.25 };
    let viscoelastic = Restitution::Viscoelastic { coefficient: 0.2 };
    for (restitution, speed, e) in [
        (threshold, 0.6, 0.8),
        (threshold, 0.4, 0.0),
        (power, 0.5, 0.9),
        (power, 16.0, 0.45),
        (viscoelastic, 1.0, 0.8),
        (viscoelastic, 0.2_f64.powi(5), 0.96),
        (viscoelastic, 6.0_f64.powi(5), 0.0),
    ] {
        let law = ContactLaw { restitution, ..ContactLaw::default() };
        assert!((restitution.at(-speed) - e).abs() < 1e-15);
        let free = with_contact(masses(&["y"], &[0.0], &[0.0]), &["y"], law).unwrap();
        for params in velocity_schemes(&free) {
            let h = 1e-2;
            let done = run_scheme(&free, &start(&[3.3 * h * speed], &[-speed]), 6.0 * h, h, &params);
            assert!((done.state.v[0] - e * speed).abs() < 1e-12 * speed, "{params:?} {restitution:?} {speed}: {}", done.state.v[0]);
        }
        let height = speed * speed / (2.0 * G);
        let heavy = with_contact(masses(&["y"], &[0.0], &[-G]), &["y"], law).unwrap();
        if (0.1..10.0).contains(&speed) && e > 0.0 {
            let fall = speed / G;
            let done = run_scheme(&heavy, &start(&[height], &[0.0]), fall * (1.0 + e), fall * 1e-3, &SchemeParams::default());
            assert!((done.state.q[0] / (height * e * e) - 1.0).abs() < 0.01, "{restitution:?} {speed}: {}", done.state.q[0]);
        }
    }
}

/// A ball meets a table that moves as A sin Ωt: v⁺ = (1 + e) ẏ_table − e v⁻, and the table does the work.
#[test]
fn bounce_on_a_moving_table() {
    let (e, v) = (0.7, -1.0);
    let law = ContactLaw::coulomb(0.0, e);
    let model = with_contact(masses(&["y"], &[0.0], &[0.0]), &["y - 0.02*sin(10*t)"], law).unwrap();
    let (mut lower, mut upper) = (0.0, 0.2);
    for _ in 0..60 {
        let t: f64 = 0.5 * (lower + upper);
        if 0.1 + v * t > 0.02 * (10.0 * t).sin() { lower = t } else { upper = t }
    }
    let exact = (1.0 + e) * 0.2 * (10.0 * lower).cos() - e * v;
    for params in velocity_schemes(&model) {
        let steps = [1e-2, 2.5e-3, 6.25e-4, 1.5625e-4];
        let runs: Vec<Done> = steps.iter().map(|&h| run_scheme(&model, &start(&[0.1], &[v]), 0.15, h, &params)).collect();
        for (done, h) in runs.iter().zip(steps) {
            assert!((done.state.v[0] - exact).abs() < 4.0 * h, "{params:?} {h}: {} {exact}", done.state.v[0]);
            let c = &done.certificate;
            assert!(c.last.work > 0.1 && c.energy_error().abs() < 1e-13, "{params:?}: {c:?}");
        }
    }
}

/// Every law with every scheme that takes it: the runs end, what they find is finite and no contact makes energy.
#[test]
fn every_law_with_every_scheme() {
    let coulomb = ContactLaw::coulomb(0.4, 0.3);
    let frictions = [
        Friction::elliptic(0.2, 0.5),
        Friction::StaticKinetic { at_rest: 0.5, sliding: 0.3 },
        Friction::Stribeck { at_rest: 0.5, sliding: 0.3, velocity: 0.1, exponent: 1.0 },
    ];
    let restitutions = [
        Restitution::Threshold { coefficient: 0.5, velocity: 0.1 },
        Restitution::PowerLaw { coefficient: 0.9, velocity: 0.5, exponent: 0.25 },
        Restitution::Viscoelastic { coefficient: 0.3 },
    ];
    let cohesions = [Cohesion::Constant { force: 5.0, reach: 1e-4 }, Cohesion::Zone { strength: 20.0, opening: 1e-3 }];
    let mut laws = vec![coulomb, coulomb.with_tangential_restitution(0.5)];
    laws.extend(frictions.map(|friction| ContactLaw { friction, ..ContactLaw::default() }));
    laws.extend(restitutions.map(|restitution| ContactLaw { restitution, ..coulomb }));
    laws.extend(cohesions.map(|cohesion| ContactLaw { cohesion, ..ContactLaw::coulomb(0.4, 0.0) }));
    for law in laws {
        let model = particle([1.0, 0.5, -G], law);
        let taking = schemes(&model);
        assert!(!taking.is_empty());
        for params in taking {
            for height in [0.0, 0.01] {
                let done = run_scheme(&model, &start(&[0.0, 0.0, height], &[1.0, -0.5, 0.0]), 0.2, 1e-3, &params);
                assert!(done.state.q.iter().chain(&done.state.v).all(|x| x.is_finite()), "{params:?} {law:?}");
                let c = &done.certificate;
                assert!(c.last.dissipated_impact + c.last.dissipated_friction > 0.0 && c.contact_gain < 1e-2, "{params:?} {law:?} {c:?}");
            }
        }
    }
}

/// Laws that act on rows which a contact by formula does not have are refused by name.
#[test]
fn laws_need_their_rows() {
    let plane =
        |rows: &[&str], law: ContactLaw| with_contact(masses(&["x", "y"], &[0.0; 2], &[0.0; 2]), rows, law).map(|_| ()).unwrap_err();
    let elliptic = plane(&["y", "x"], friction(Friction::elliptic(0.1, 0.2)));
    assert_eq!(elliptic.to_string(), "\"floor\" has 2 row(s); elliptic friction needs two tangents");
    let rolling = plane(&["y", "x"], ContactLaw { rolling: 0.1, ..ContactLaw::coulomb(0.3, 0.0) });
    assert!(rolling.to_string().contains("rolling or spinning resistance needs rows for relative rotations"), "{rolling}");
    let ratio = plane(&["y", "x"], friction(Friction::StaticKinetic { at_rest: 0.2, sliding: 0.3 }));
    assert!(ratio.to_string().contains("ratio of sliding to static friction"), "{ratio}");
}
