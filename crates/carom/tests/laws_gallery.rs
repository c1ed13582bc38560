//! The models of the gallery that show laws of contact, friction and impact, against their closed forms.

use crate::support::{Done, run};
use carom::dynamics::report::EventKind;

const G: f64 = 9.81;

/// Times at which a series crosses `level` upwards, by linear interpolation.
fn rises(t: &[f64], x: &[f64], level: f64) -> Vec<f64> {
    let crosses = (1..x.len()).filter(|&i| x[i - 1] < level && x[i] >= level);
    crosses.map(|i| t[i] - (t[i] - t[i - 1]) * (x[i] - level) / (x[i] - x[i - 1])).collect()
}

fn positions(done: &Done, i: usize) -> Vec<f64> {
    done.keep.q.iter().map(|q| q[i]).collect()
}

fn velocities(done: &Done, i: usize) -> Vec<f64> {
    done.keep.v.iter().map(|v| v[i]).collect()
}

/// ∫₀¹ f by the midpoint rule.
fn integral(f: impl Fn(f64) -> f64) -> f64 {
    let n = 100_000;
    (0..n).map(|i| f((f64::from(i) + 0.5) / f64::from(n))).sum::<f64>() / f64::from(n)
}

/// Both motions turn about at each of the five bounces; the points of contact are ±v₀ √(2 · 0.5 m/g).
#[test]
fn super_ball() {
    let done = run("super_ball", &[]);
    let (vx, spin) = (velocities(&done, 0), velocities(&done, 2));
    assert!(vx.iter().all(|v| (v.abs() - 1.0).abs() < 1e-12) && spin.iter().all(|w| (w.abs() - 25.0).abs() < 1e-10));
    assert_eq!(vx.windows(2).filter(|v| v[0] * v[1] < 0.0).count(), 5);
    let (farthest, x) = ((1.0 / G).sqrt(), positions(&done, 0));
    let ends = [x.iter().fold(0.0_f64, |m, &x| m.max(x)), -x.iter().fold(0.0_f64, |m, &x| m.min(x))];
    // impacts are within a step of their time
    assert!(ends.iter().all(|end| (end - farthest).abs() < 2e-3), "{ends:?} {farthest}");
}

/// v_y = (v_x/2)⁹ throughout; with s = v_x/2 it takes (2/μ₁g) ∫ √(1 + 9 s¹⁶/4) ds to stop.
#[test]
fn elliptic_friction() {
    let done = run("elliptic_friction", &[]);
    let root = |s: f64| (1.0 + 2.25 * s.powi(16)).sqrt() * 2.0 / (0.2 * G);
    let (stop, x, y) = (integral(root), integral(|s| 2.0 * s * root(s)), integral(|s| s.powi(9) * root(s)));
    let moving = done.keep.v.iter().position(|v| v[0] < 1e-9).unwrap();
    assert!((done.keep.t[moving] - stop).abs() < 2e-3, "{} {stop}", done.keep.t[moving]);
    assert!((done.q("x") - x).abs() < 5e-4 && (done.q("y") - y).abs() < 5e-4, "{} {} {x} {y}", done.q("x"), done.q("y"));
    for v in &done.keep.v {
        // first order; the error is largest where the path bends
        assert!((v[1] - (v[0] / 2.0).powi(9)).abs() < 5e-3, "{v:?}");
    }
}

/// Period 2Δ/v₀ + (2/ω)(π − atan(Δω/v₀)) and amplitude (Δ² + v₀²/ω²)^½ about μ_k g/k, with Δ = (μ_s − μ_k) g/k, ω² = k/m.
#[test]
fn stick_slip() {
    let done = run("stick_slip", &[]);
    let (belt, omega, delta, middle) = (0.2, 5.0, 0.2 * G / 25.0, 0.2 * G / 25.0);
    let period = 2.0 * delta / belt + 2.0 / omega * (std::f64::consts::PI - (delta * omega / belt).atan());
    let x = positions(&done, 0);
    let times = rises(&done.keep.t, &x, middle);
    let measured = (times[5] - times[1]) / 4.0;
    assert!((measured - period).abs() < 1e-3, "{measured} {period}");
    let top = x.iter().fold(0.0_f64, |m, &x| m.max(x)) - middle;
    assert!((top - delta.hypot(belt / omega)).abs() < 2e-4, "{top}");
}

/// Slides for t₁ = v₀/(g (μ + 5/2 (μ − ρ/R))), then rolls and slows down at 5ρg/(7R).
#[test]
fn rolling_resistance() {
    let (r, mu, rho, v0) = (0.1, 0.3, 0.005, 2.0);
    let t1 = v0 / (G * (mu + 2.5 * (mu - rho / r)));
    let (v1, rate) = (v0 - mu * G * t1, 5.0 * rho * G / (7.0 * r));
    let done = run("rolling_resistance", &[]);
    let (vx, wy) = (velocities(&done, 0), velocities(&done, 4));
    let rolls = (0..vx.len()).find(|&i| (vx[i] - r * wy[i]).abs() < 1e-9).unwrap();
    let stops = vx.iter().position(|&v| v < 1e-9).unwrap();
    assert!((done.keep.t[rolls] - t1).abs() < 2e-3 && (done.keep.t[stops] - t1 - v1 / rate).abs() < 2e-3);
    let way = v0 * t1 - 0.5 * mu * G * t1 * t1 + v1 * v1 / (2.0 * rate);
    assert!((done.q("ball.x") - way).abs() < 1e-4, "{} {way}", done.q("ball.x"));
    assert!(done.v("ball.vx").abs() < 1e-12 && done.v("ball.wy").abs() < 1e-12);
}

/// One impact without collision, of ¾ m v sin a cos a and what the weight adds in the step; below μ = 4/3 there is none.
#[test]
fn painleve_rod() {
    let told = |settings: &[&str]| -> Vec<f64> {
        let done = run("painleve_rod", settings);
        let of_kind = done.keep.events.iter().filter(|e| e.kind == EventKind::ImpactWithoutCollision);
        of_kind.map(|e| e.impulse).collect()
    };
    let exact = 0.75 * 1.1_f64.sin() * 1.1_f64.cos();
    let (coarse, fine) = (told(&[]), told(&["simulation.step=1e-4"]));
    assert!(coarse.len() == 1 && (coarse[0] - exact).abs() < 1e-2, "{coarse:?} {exact}");
    assert!(fine.len() == 1 && (fine[0] - exact).abs() < 1e-3, "{fine:?} {exact}");
    assert!(told(&["parameters.mu=1.2"]).is_empty());
}

/// Without gravity: C (v + v⁺) = ln((1 + C v)/(1 − C v⁺)), whatever the stiffness.
#[test]
fn penalised_ball() {
    let (c, v) = (0.1, 4.0_f64);
    let (mut low, mut high) = (0.0, v);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if c * (v + middle) < ((1.0 + c * v) / (1.0 - c * middle)).ln() { high = middle } else { low = middle }
    }
    for stiffness in ["1e6", "1e8"] {
        let stiffness = format!("contact.floor.compliant.stiffness={stiffness}");
        let done = run("penalised_ball", &["parameters.g=0", "parameters.v0=-4", "parameters.y0=0.1", "simulation.end=0.3", &stiffness]);
        assert!((done.v("y") - low).abs() < 1e-6, "{} {low}", done.v("y"));
    }
    // with gravity the ball bounces lower each time, and what it lost is in the account; the quadrature there is of low order at the touch
    let done = run("penalised_ball", &[]);
    let c = &done.certificate;
    assert!(c.last.work < -8.0 && c.energy_error().abs() < 1e-4, "{c:?}");
}

/// The bond opens at t₀ = strength/rate by y = (rate/mλ³)(sinh λτ − λτ), λ² = strength/(m · opening), and breaks at y = opening.
#[test]
fn cohesive_bond() {
    let done = run("cohesive_bond", &[]);
    let y = positions(&done, 0);
    let opens = y.iter().position(|&y| y > 1e-12).unwrap();
    assert!((done.keep.t[opens] - 0.1).abs() < 1e-4, "{}", done.keep.t[opens]);
    let exact = |t: f64| 1e-4 * ((100.0 * (t - 0.1)).sinh() - 100.0 * (t - 0.1));
    let (mut breaks, mut worst) = (0.0, 0.0_f64);
    for (&t, &y) in done.keep.t.iter().zip(&y).skip(opens).take_while(|(_, y)| **y < 1e-3) {
        worst = worst.max((y - exact(t)).abs());
        breaks = t;
    }
    assert!(worst < 1e-5 && (breaks - 0.132_808_9).abs() < 1e-4, "{worst} {breaks}");
    // half of strength · opening
    let dissipated = done.certificate.last.dissipated_impact;
    assert!((dissipated - 5e-3).abs() < 1e-4, "{dissipated}");
    assert!(run("cohesive_bond", &["simulation.end=0.099"]).q("y").abs() < 1e-12);
}

/// Newton's law: the tip slides back after the impact with p_N = −(1 + e) u_N/(W_NN − μ W_NT), which creates 0.0407439 J.
#[test]
fn kane_pendulum() {
    let newton = run("kane_pendulum", &[]);
    // the weight adds its part in the step of the impact
    let created = newton.certificate.impact_gain;
    assert!((created - 0.040_743_904_55).abs() < 2e-4, "{created}");
    let fine = run("kane_pendulum", &["simulation.step=1e-5"]).certificate.impact_gain;
    assert!((fine - 0.040_743_904_55).abs() < 2e-5, "{fine}");
    assert!(newton.keep.events.iter().any(|e| e.kind == EventKind::EnergyCreated && e.name == "tip"));
    for law in ["poisson", "energetic"] {
        let done = run("kane_pendulum", &[&format!("impact.law={law}")]);
        let lost = done.certificate.last.dissipated_impact + done.certificate.last.dissipated_friction;
        assert!(done.certificate.impact_gain == 0.0 && lost > 5e-3, "{law}: {lost}");
    }
}

/// The published velocities, which are off the solution by 5e-4 (explicit steps in the impulse); momentum and energy as at the start.
#[test]
fn chain_of_balls_lzb() {
    let published = [
        -0.071_059_3,
        -0.030_186_2,
        -0.015_749_6,
        -0.008_808_06,
        -0.005_062_34,
        -0.002_936_63,
        -0.001_701_86,
        0.002_624_52,
        0.146_923_385_6,
        0.985_956_121,
    ];
    let done = run("chain_of_balls_lzb", &[]);
    let v = done.keep.v.last().unwrap();
    for (v, published) in v.iter().zip(&published) {
        assert!((v - published).abs() < 6e-4, "{v} {published}");
    }
    assert!((v.iter().sum::<f64>() - 1.0).abs() < 1e-12 && (v.iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-9);
}

/// One impact per period, at the phase where the table rises at (gT/2)(1 − e)/(1 + e).
#[test]
fn shaken_table() {
    let done = run("shaken_table", &[]);
    let closed: Vec<f64> = done.keep.events.iter().filter(|e| e.kind == EventKind::ContactClosed).map(|e| e.t).collect();
    assert_eq!(closed.len(), 50);
    let (period, omega) = (0.1, 20.0 * std::f64::consts::PI);
    let rise: f64 = 0.5 * G * period * (1.0 - 0.8) / (1.0 + 0.8);
    let phase = (rise / (1.32e-3 * omega)).acos();
    for t in &closed[35..] {
        let found = (t % period) * omega;
        // steps of 1e-4 s are 0.006 in phase
        assert!((found - phase).abs() < 0.02, "{t}: {found} {phase}");
    }
}
