//! Bodies in contact with exact answers: friction limit, slide to roll, bouncing, cradle, stack.

use crate::support::run;

/// S5: at tan = 0.49 the cube sticks, at 0.51 it slides with a = g (sin − μ cos); both to 1e-10.
#[test]
fn cube_at_the_friction_limit() {
    let stick = run("friction_limit", &["parameters.slope=0.49"]);
    let (start, end) = (&stick.keep.q[0], stick.keep.q.last().unwrap());
    let moved = start.iter().zip(end).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
    assert!(moved < 1e-10, "{moved}");
    let slide = run("friction_limit", &["parameters.slope=0.51"]);
    let slope = 0.51_f64.atan();
    let exact = 9.81 * (slope.sin() - 0.5 * slope.cos());
    let measured = slide.v("cube.vx") / slide.keep.t.last().unwrap();
    assert!((measured - exact).abs() < 1e-10, "{measured} {exact}");
    for name in ["cube.vy", "cube.vz", "cube.wx", "cube.wy", "cube.wz"] {
        assert!(slide.v(name).abs() < 1e-9, "{name} {}", slide.v(name));
    }
}

/// S6: the ball slides obliquely, then rolls from t* = 2|u|/(7 μ g) on with v = (13/7, −4/7): errors O(h), no lift.
#[test]
fn ball_slides_then_rolls() {
    let exact_time = 0.99 * 2.0 * 20.0_f64.sqrt() / (7.0 * 0.3 * 9.81);
    for h in [1e-3, 2.5e-4] {
        let done = run("slide_to_roll", &[&format!("simulation.step={h}"), "record.every=1"]);
        let (vx, vy) = (done.v("ball.vx"), done.v("ball.vy"));
        assert!((vx - 13.0 / 7.0).abs() < 0.1 * h && (vy + 4.0 / 7.0).abs() < 0.1 * h, "{h}: {vx} {vy}");
        let slip = |v: &Vec<f64>| (v[0] - 0.1 * v[4]).hypot(v[1] + 0.1 * v[3]);
        let first = slip(&done.keep.v[0]);
        let rolls = done.keep.v.iter().position(|v| slip(v) < 0.01 * first).unwrap();
        assert!((done.keep.t[rolls] - exact_time).abs() < 2.0 * h, "{h}: {}", done.keep.t[rolls]);
        let lift = done.keep.q.iter().fold(0.0_f64, |m, q| m.max((q[2] - 0.1).abs()));
        assert!(lift < 1e-12, "{h}: {lift}");
        assert!(done.v("ball.wz").abs() < 1e-6, "no torque about the vertical");
    }
}

/// S7: apexes 0.64ⁿ within 1 % at h = 1 ms for the first seven bounces, and better with a smaller step.
#[test]
fn sphere_bounces_to_the_right_heights() {
    let worst = |h: &str| {
        let done = run("bouncing_sphere", &[&format!("simulation.step={h}"), "record.every=1", "simulation.end=3.3"]);
        let z: Vec<f64> = done.keep.q.iter().map(|q| q[2] - 0.1).collect();
        let apexes = z.windows(3).filter(|w| w[1] > w[0] && w[1] >= w[2]).map(|w| w[1]);
        apexes.take(7).enumerate().map(|(n, apex)| (apex / 0.64_f64.powi(n as i32 + 1) - 1.0).abs()).fold(0.0, f64::max)
    };
    let (coarse, fine) = (worst("1e-3"), worst("1e-4"));
    assert!(coarse < 0.01 && fine < 0.4 * coarse, "{coarse} {fine}");
}

/// S8: with gaps the last ball takes all; without, Newton's simultaneous law spreads it. Energy and momentum are 1.
#[test]
fn cradle_conserves_energy_and_momentum() {
    let speeds = |overrides: &[&str]| {
        let done = run("newtons_cradle", overrides);
        let end = done.keep.v.last().unwrap();
        (end.chunks(6).map(|v| v[0]).collect::<Vec<f64>>(), done.certificate)
    };
    for (gap, expected) in [("1e-3", Some([0.0, 0.0, 0.0, 0.0, 1.0])), ("0", None)] {
        let (speeds, certificate) = speeds(&[&format!("parameters.gap={gap}")]);
        let (momentum, energy): (f64, f64) = (speeds.iter().sum(), speeds.iter().map(|v| v * v).sum());
        assert!((momentum - 1.0).abs() < 1e-12 && (energy - 1.0).abs() < 1e-12, "{speeds:?}");
        assert!((certificate.last.mechanical() / certificate.initial.mechanical() - 1.0).abs() < 1e-12);
        if let Some(expected) = expected {
            assert!(speeds.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{speeds:?}");
        }
    }
}

/// S3: the stack of 20 cubes stands for 10 s with the default settings. The bound is a hundred thousandth of an edge; the
/// model's README has what is measured (1e-8 m).
#[test]
fn stack_of_cubes_stands() {
    let done = run("stack_of_cubes", &[]);
    let (start, end) = (&done.keep.q[0], done.keep.q.last().unwrap());
    let moved = start.iter().zip(end).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
    assert!(moved < 1e-6 && done.certificate.max_penetration < 1e-6, "{moved} {}", done.certificate.max_penetration);
    assert_eq!(*done.keep.t.last().unwrap(), 10.0);
}
