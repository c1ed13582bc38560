//! Scenes with exact answers, with the default settings: the scheme moreau-gap and its solvers.

use crate::support::{Done, run, run_text};

const G: f64 = 9.81;

fn scene(materials: &str, bodies: &str, end: f64, step: f64) -> Done {
    run_text(&format!(
        r#"
        [[material]]
        name = "m"
        {materials}
        [[body]]
        name = "floor"
        fixed = true
        shape = {{ kind = "box", size = [10, 10, 1] }}
        position = [0, 0, -0.5]
        {bodies}
        [simulation]
        end = {end}
        step = {step}
        [record]
        every = 1
        "#
    ))
}

fn largest_displacement(done: &Done) -> f64 {
    let first = &done.keep.q[0];
    done.keep.q.iter().flat_map(|q| q.iter().zip(first).map(|(a, b)| (a - b).abs())).fold(0.0, f64::max)
}

/// A cube on an incline sticks at a slope of 0.49 and slides at 0.51 with g (sin − μ cos); solves to 1e-10 leave less than that.
#[test]
fn friction_has_its_limit() {
    for (slope, slides) in [(0.49_f64, false), (0.51, true)] {
        let angle = slope.atan();
        let text = r#"
            [[body]]
            name = "cube"
            shape = { kind = "box", size = 0.2 }
            density = 1000
            position = [0, 0, 0.1]"#;
        let gravity = format!("gravity = [{}, 0, {}]", G * angle.sin(), -G * angle.cos());
        let done = run_text(&format!(
            "{gravity}\n[[material]]\nname = \"m\"\nfriction = 0.5\n[[body]]\nname = \"floor\"\nfixed = true\nshape = {{ kind = \"plane\", normal = [0, 0, 1] }}\n{text}\n[simulation]\nend = 2\nstep = 5e-3\n"
        ));
        let a = if slides { G * (angle.sin() - 0.5 * angle.cos()) } else { 0.0 };
        assert!((done.q("cube.x") - 2.0 * a).abs() < 1e-10, "{}", done.q("cube.x"));
        assert!((done.v("cube.vx") - 2.0 * a).abs() < 1e-10, "{}", done.v("cube.vx"));
    }
}

/// The first ball strikes the second, which meets the third within the same step, from beyond where contacts are sought: 4 % of the radius away, at half the
/// speed. No overlap is left, and momentum is shared by all three in the end.
#[test]
fn struck_bodies_do_not_run_into_others() {
    for many in [1, 1000] {
        let ball = |name: &str, x: f64, v: f64| {
            format!(
                "[[body]]\nname = \"{name}\"\nshape = {{ kind = \"sphere\", radius = 0.1 }}\ndensity = 1000\nposition = [{x}, 0, 0]\nvelocity = [{v}, 0, 0]\n"
            )
        };
        let balls = ball("a", 0.0, 2.0) + &ball("b", 0.2, 0.0) + &ball("c", 0.404, 0.0);
        let simulation = format!(
            "[simulation]\nend = 0.05\nstep = 5e-3\nscheme = {{ kind = \"moreau-gap\", many = {many}, sweeps = {{ tolerance = 1e-13 }} }}\n[record]\nevery = 1\n"
        );
        let done = run_text(&format!("gravity = [0, 0, 0]\n{balls}{simulation}"));
        let overlap = |q: &[f64]| (0.2 - (q[7] - q[0])).max(0.2 - (q[14] - q[7]));
        let deepest = done.keep.q.iter().map(|q| overlap(q)).fold(0.0, f64::max);
        // 1 mm where the contact is met one step late; what is left is rounding and the tolerance
        assert!(deepest < 1e-12, "many = {many}: {deepest}");
        for body in ["a", "b", "c"] {
            assert!((done.v(&format!("{body}.vx")) - 2.0 / 3.0).abs() < 1e-11, "many = {many}: {}", done.v(&format!("{body}.vx")));
        }
    }
}

/// The same with disks in the plane.
#[test]
fn struck_disks_do_not_run_into_others() {
    let disk = |name: &str, x: f64, v: f64| {
        format!(
            "[[planar_body]]\nname = \"{name}\"\nshape = {{ kind = \"disk\", radius = 0.1 }}\nmass = 1.0\nposition = [{x}, 0]\nvelocity = [{v}, 0]\n"
        )
    };
    let disks = disk("a", 0.0, 2.0) + &disk("b", 0.2, 0.0) + &disk("c", 0.404, 0.0);
    let simulation = "[simulation]\nend = 0.05\nstep = 5e-3\nscheme = \"moreau-gap\"\n[record]\nevery = 1\n";
    let done = run_text(&format!("gravity = [0, 0]\n{disks}{simulation}"));
    let overlap = |q: &[f64]| (0.2 - (q[3] - q[0])).max(0.2 - (q[6] - q[3]));
    let deepest = done.keep.q.iter().map(|q| overlap(q)).fold(0.0, f64::max);
    // as above
    assert!(deepest < 1e-12, "{deepest}");
    for body in ["a", "b", "c"] {
        assert!((done.v(&format!("{body}.vx")) - 2.0 / 3.0).abs() < 1e-11, "{}", done.v(&format!("{body}.vx")));
    }
}

/// A ball that slides obliquely and spins rolls with (13/7, −4/7) m/s in the end, and does not leave the floor.
#[test]
fn a_sliding_ball_comes_to_roll() {
    let ball = r#"
        [[body]]
        name = "ball"
        shape = { kind = "sphere", radius = 0.1 }
        density = 1000
        position = [0, 0, 0.1]
        velocity = [3, 0, 0]
        angular_velocity = [20, -10, 0]"#;
    let done = scene("friction = 0.3", ball, 1.0, 1e-3);
    // the step in which sliding ends decides the last digits: μ g h = 3e-3 m/s at most
    assert!((done.v("ball.vx") - 13.0 / 7.0).abs() < 1e-4 && (done.v("ball.vy") + 4.0 / 7.0).abs() < 1e-4);
    assert!(done.keep.q.iter().all(|q| (q[2] - 0.1).abs() < 1e-12));
}

/// Apexes of a ball with e = 0.8 fall by 0.64; each impact acts at its time in the step.
#[test]
fn a_ball_bounces_to_the_right_heights() {
    let ball = r#"
        [[body]]
        name = "ball"
        shape = { kind = "sphere", radius = 0.1 }
        density = 1000
        position = [0, 0, 1.1]"#;
    let done = scene("friction = 0.0\nrestitution = 0.8", ball, 5.0, 1e-3);
    let heights: Vec<f64> = done.keep.q.iter().map(|q| q[2] - 0.1).collect();
    let apexes: Vec<f64> = heights.windows(3).filter(|w| w[1] > w[0] && w[1] >= w[2]).map(|w| w[1]).collect();
    for (n, apex) in apexes.iter().enumerate().take(10) {
        let exact = 0.64_f64.powi(n as i32 + 1);
        assert!((apex / exact - 1.0).abs() < 1e-3, "apex {n}: {apex} instead of {exact}");
    }
    let last = done.keep.t.iter().zip(&heights).filter(|(_, z)| **z > 1e-3).map(|(t, _)| *t).fold(0.0, f64::max);
    assert!((last - 3.9277).abs() < 4e-3, "{last}");
    assert!(heights.iter().all(|z| *z > -1e-12));
}

/// The arch stands; below Milankovitch's thickness it falls.
#[test]
fn an_arch_stands_where_statics_lets_it() {
    let stands = run("masonry_arch", &["simulation.end=0.5"]);
    assert!(largest_displacement(&stands) < 1e-9, "{:e}", largest_displacement(&stands));
    let text = std::fs::read_to_string(crate::support::folder().join("masonry_arch/model.toml")).unwrap();
    let thin = text.replace("inner_radius = 0.9", "inner_radius = 0.95").replace("outer_radius = 1.1", "outer_radius = 1.05");
    let falls = run_text(&thin.replace("end = 2", "end = 1"));
    assert!(largest_displacement(&falls) > 0.05, "{:e}", largest_displacement(&falls));
}

/// Cubes laid on each other stay where they are.
#[test]
fn a_stack_of_cubes_stands() {
    let remove = ["simulation.scheme.kind=moreau-gap", "simulation.scheme.theta=", "simulation.end=0.5"];
    let done = run("stack_of_cubes", &remove);
    assert!(largest_displacement(&done) < 1e-8, "{:e}", largest_displacement(&done));
}

/// Boxes and balls that fall into a heap, with contacts solved on velocities from `many` points on.
fn heap(many: usize, end: f64) -> Done {
    run_text(&format!(
        r#"
        [[material]]
        name = "m"
        friction = 0.5
        restitution = 0.2
        [[generate]]
        kind = "container"
        name = "tray"
        size = [0.8, 0.8, 3]
        [[generate]]
        kind = "packing"
        name = "ball"
        count = 32
        seed = 1
        size = [0.8, 0.8]
        pitch = 0.2
        gap = 0.002
        body = {{ shape = {{ kind = "sphere", radius = {{ min = 0.06, max = 0.0999 }} }}, density = 1000 }}
        [[body]]
        name = "lid"
        shape = {{ kind = "box", size = [0.3, 0.3, 0.1] }}
        density = 500
        position = [0, 0, 0.6]
        angular_velocity = [1, 2, 0]
        [simulation]
        end = {end}
        step = 2e-3
        scheme = {{ kind = "moreau-gap", many = {many}, sweeps = {{ tolerance = 1e-10, max_sweeps = 50000 }} }}
        solver = {{ tolerance = 1e-10 }}
        "#
    ))
}

/// Contacts solved on velocities are solved to the tolerance at every step, and lose energy only.
#[test]
fn a_heap_is_solved_on_velocities() {
    let done = heap(1, 0.2);
    assert_eq!(done.certificate.unconverged, 0);
    assert!(done.certificate.max_residual <= 1e-10, "{:e}", done.certificate.max_residual);
    let energy = &done.keep.energy;
    // recorded at every step: what the positions gain by impulses that act from the start of the step stays below a thousandth
    assert!(energy.windows(2).all(|e| e[1] <= e[0] + 1e-3 * e[0].abs()), "{energy:?}");
    assert!(energy.last() < energy.first());
}

/// The same bits for any number of threads.
#[test]
fn runs_do_not_depend_on_the_number_of_threads() {
    let by = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| heap(1, 0.1).keep.q.last().unwrap().clone())
    };
    let one = by(1);
    for threads in [1, 2, 3] {
        assert_eq!(one, by(threads), "{threads} threads");
    }
}

/// 25 stacks of three cubes, numbered along x, y and z; a ball falls on the first of them, a force pushes the top of the last from 0.4 s on. The ball lands at about 0.45 s.
fn stacks(sleep: &str) -> Done {
    run_text(&format!(
        r#"
        [[material]]
        name = "m"
        friction = 0.5
        [[body]]
        name = "floor"
        fixed = true
        shape = {{ kind = "plane", normal = [0, 0, 1] }}
        [[generate]]
        kind = "lattice"
        name = "cube"
        counts = [5, 5, 3]
        spacing = [0.5, 0.5, 0.1]
        position = [0, 0, 0.05]
        body = {{ shape = {{ kind = "box", size = 0.1 }}, density = 1000 }}
        [[body]]
        name = "ball"
        shape = {{ kind = "sphere", radius = 0.05 }}
        density = 1000
        position = [0.02, 0.01, 1.35]
        [[force]]
        kind = "force"
        body = "cube75"
        force = ["if(t > 0.4, 8, 0)", 0, 0]
        [simulation]
        end = 0.5
        step = 2e-3
        scheme = {{ kind = "moreau-gap"{sleep} }}
        [record]
        every = 1
        "#
    ))
}

/// What sleeps does not move by a bit, and wakes where a body meets it or a force changes, as if it had not slept.
#[test]
fn islands_sleep_and_wake() {
    let (awake, sleepy) = (stacks(""), stacks(", sleep_after = 0.1"));
    let still = |done: &Done, name: &str| ["vx", "vy", "vz", "wx", "wy", "wz"].iter().all(|v| done.v(&format!("{name}.{v}")) == 0.0);
    assert!(still(&sleepy, "cube63") && still(&sleepy, "cube20"));
    // both that are met move: the force gains 8/1 − μ g ≥ 3 m/s² for 0.1 s
    assert!(!still(&sleepy, "cube51") && sleepy.v("cube75.vx") > 0.25, "{}", sleepy.v("cube75.vx"));
    // residuals of 1e-4 while they move, times speeds of a few m/s
    for (a, b) in awake.keep.q.last().unwrap().iter().zip(sleepy.keep.q.last().unwrap()) {
        assert!((a - b).abs() < 1e-4, "{a} {b}");
    }
    // before the ball lands nothing differs but what rest leaves
    let at = sleepy.keep.q.len() * 7 / 10;
    for (a, b) in awake.keep.q[at].iter().zip(&sleepy.keep.q[at]) {
        assert!((a - b).abs() < 1e-10, "{a} {b}");
    }
}
