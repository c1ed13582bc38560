//! The mechanisms of the gallery against their reference solutions.
//!
//! References: extrapolation in extended precision, confirmed by a second method to 1e-11 or better (the flexible slider-crank: 2e-12
//! relative in the extrapolation, 5e-9 against the second method). Each model is checked twice: with constant steps of the classical
//! Runge–Kutta method, whose bounds are three times what it was measured to reach, so that a wrong model shows; and with its own
//! settings, where the default integrator controls its error.

#![allow(clippy::excessive_precision, reason = "references are given with all their digits")]

use crate::support::{Done, run};

/// A model with a reference solution: final time, coordinates, velocities.
struct Case {
    model: &'static str,
    end: f64,
    q: &'static [f64],
    v: &'static [f64],
    /// Step of the classical method \[s\] and its largest errors in q and v.
    step: f64,
    bounds: [f64; 2],
}

const CASES: &[Case] = &[
    Case {
        model: "four_bar",
        end: 3.0,
        q: &[-8.5442961769412407e-01, -3.8738954654102972e-01, 4.2757238329610113],
        v: &[2.8371280571553197, -2.1602366597835960, 9.5921703114298798e-01],
        step: 5e-4,
        bounds: [8e-8, 2.2e-6],
    },
    Case {
        model: "slider_crank",
        end: 5.0,
        q: &[-3.6770604504938677, -2.5797357368809086e-01],
        v: &[8.9319153922056992e-01, 3.9723055119302302e-01],
        step: 1e-3,
        bounds: [5e-10, 4e-9],
    },
    Case {
        model: "spherical_pendulum",
        end: 5.0,
        q: &[-0.5527848684154093, -0.6739621972239203, -0.4901059538141313],
        v: &[2.258023747042558, 0.0394776470693687, -2.6010861360222366],
        step: 1e-3,
        bounds: [9e-9, 3e-8],
    },
    Case {
        model: "andrews",
        end: 0.03,
        q: &[
            1.5810771195153723e+01,
            -1.5756371058411862e+01,
            4.0822240119648342e-02,
            -5.3473011634207479e-01,
            5.2440996587995404e-01,
            5.3473011634207288e-01,
            1.0480807410419371,
        ],
        v: &[
            1.1399203022591071e+03,
            -1.4243792951775411e+03,
            1.1032911910624331e+01,
            1.9293374105042045e+01,
            5.7356991482974637e-01,
            -1.9293374105042157e+01,
            3.2317914924933725e-01,
        ],
        step: 1e-5,
        bounds: [2.1e-8, 8e-6],
    },
    Case {
        model: "flexible_slider_crank",
        end: 0.1,
        q: &[
            1.4999999999999732e+01,
            -3.3117349882572216e-01,
            1.6973733264003742e-01,
            1.8931928430215076e-04,
            2.3757513204895580e-05,
            -5.3238967781925064e-06,
            -8.3633132916669341e-06,
        ],
        v: &[
            1.5e+02,
            6.0253467551287211e+01,
            -8.7531163267302881,
            -3.0055411709483318e-02,
            -5.5004306459255174e-03,
            4.9741116636735414e-04,
            1.1055599716080357e-03,
        ],
        step: 1e-5,
        bounds: [9e-10, 1.7e-5],
    },
    // position of the centre and its velocity; the quaternion is not compared
    Case {
        model: "heavy_top",
        end: 1.0,
        q: &[0.17334396409838565, 0.6400885920705692, -0.7484907911335811],
        v: &[0.570825303425488, -4.5887282963349465, -3.791955154710041],
        step: 1e-4,
        bounds: [3e-7, 6e-7],
    },
    Case {
        model: "flyball_governor",
        end: 1.0,
        q: &[5.5863469658690095, 0.521833301625545, 0.501420922379569],
        v: &[6.271125741876546, 0.1408855794795277, -0.12215149289774668],
        step: 5e-5,
        bounds: [6e-10, 6e-9],
    },
];

/// Largest differences of q and v from the reference.
fn errors(done: &Done, case: &Case) -> [f64; 2] {
    let worst = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    [worst(done.keep.q.last().unwrap(), case.q), worst(done.keep.v.last().unwrap(), case.v)]
}

fn run_classical(model: &str, end: f64, step: f64) -> Done {
    let settings = [
        format!("simulation.end={end}"),
        "integrator.kind=rk4".into(),
        "integrator.control=fixed".into(),
        format!("integrator.step={step}"),
        "record.interval=1e9".into(),
    ];
    run(model, &settings.each_ref().map(String::as_str))
}

#[test]
fn models_have_the_motion_of_their_references() {
    for case in CASES {
        let done = run_classical(case.model, case.end, case.step);
        let [q, v] = errors(&done, case);
        assert!(q < case.bounds[0] && v < case.bounds[1], "{}: {q:e} in q, {v:e} in v", case.model);
    }
}

/// The default integrator with the tolerances of the models. They bound the error of a step; over the runs it was measured to stay within
/// 7 times the tolerance (the heavy top, 24 turns), mostly below it.
#[test]
fn default_settings_keep_their_promise() {
    for case in CASES {
        let done = run(case.model, &[&format!("simulation.end={}", case.end)]);
        let tolerance = done.simulation.file.run.integrator.tolerance;
        let size = |values: &[f64]| values.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        let [q, v] = errors(&done, case);
        assert!(q < 10.0 * tolerance * size(case.q), "{}: {q:e} in q", case.model);
        assert!(v < 10.0 * tolerance * size(case.v), "{}: {v:e} in v", case.model);
        let report = done.certificate.smooth.unwrap();
        let scale = 1.0 + done.certificate.initial.kinetic.abs() + done.certificate.initial.potential.abs();
        assert!(report.max_energy_error < 10.0 * tolerance * scale, "{}: {:e} J", case.model, report.max_energy_error);
    }
}

/// All bars of the parallelograms turn by one angle: θ'' = −3(3N+1)/(2(4N+1)) g cos θ, here with N = 2, past one singular position.
#[test]
fn parallelograms_turn_as_one_bar() {
    let done = run_classical("n_four_bar", 1.0, 1e-3);
    let text = "[lagrangian]\ncoordinates = [\"a\"]\nkinetic = \"a_dot^2/2\"\npotential = \"7/6*9.81*sin(a)\"\n\
        [initial]\nposition = { a = \"pi/2\" }\nvelocity = { a = -1.0 }\n\
        [simulation]\nend = 1.0\nstrategy = \"smooth\"\nintegrator = { kind = \"rk4\", control = \"fixed\", step = 1e-3 }\n";
    let mut bar = carom::Simulation::from_text(text).unwrap();
    bar.run(&mut carom::prelude::NoRecorder, &mut |_| carom::prelude::Continue::Yes);
    for rod in ["rod0", "rod1", "rod2"] {
        // both are of order 4 with the same step; the constraints add an error of 1e-11 (measured)
        let error = done.q(&format!("{rod}.angle")) - bar.file.state.q[0];
        assert!(error.abs() < 1e-9, "{rod}: {error:e}");
    }
    for coupler in ["coupler0", "coupler1"] {
        assert!(done.q(&format!("{coupler}.angle")).abs() < 1e-9);
    }
}

/// The same double pendulum by its two angles, from its Lagrangian.
#[test]
fn double_pendulum_agrees_with_its_minimal_form() {
    let done = run_classical("double_pendulum", 2.0, 5e-4);
    let text = "[lagrangian]\ncoordinates = [\"a\", \"b\"]\n\
        kinetic = \"(1/3 + 1)*a_dot^2/2 + a_dot*b_dot*cos(a - b)/2 + b_dot^2/6\"\npotential = \"9.81*(1.5*sin(a) + 0.5*sin(b))\"\n\
        [simulation]\nend = 2.0\nstrategy = \"smooth\"\nintegrator = { kind = \"rk4\", control = \"fixed\", step = 5e-4 }\n";
    let mut minimal = carom::Simulation::from_text(text).unwrap();
    minimal.run(&mut carom::prelude::NoRecorder, &mut |_| carom::prelude::Continue::Yes);
    for (name, angle) in ["upper.angle", "lower.angle"].into_iter().zip(&minimal.file.state.q) {
        // of order 4: both are right to 1e-8 (from steps of half the size)
        assert!((done.q(name) - angle).abs() < 1e-7, "{name}: {:e}", done.q(name) - angle);
    }
}

/// The corner that starts at (1, −1, 0) after 1 s: one redundant row, set aside by the equations.
#[test]
fn bricard_loop_moves_though_it_is_overconstrained() {
    let done = run("bricard", &["simulation.end=1"]);
    let of = |part: &str| done.q(&format!("rod2.{part}"));
    let [w, x, y, z] = ["qw", "qx", "qy", "qz"].map(of);
    let along = [2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)];
    let expected = [0.274_481_319_264_618_55, -0.886_707_938_734_663, -0.462_330_002_687_358_6];
    for ((part, along), expected) in ["x", "y", "z"].into_iter().zip(along).zip(expected) {
        // the model's tolerance; measured: 1.1e-11
        let error = of(part) - 0.5 * along - expected;
        assert!(error.abs() < 1e-8, "{part}: {error:e}");
    }
    let drift = &done.certificate.smooth.unwrap().drift;
    assert_eq!(drift.len(), 30, "all rows are watched, the redundant one too");
}

/// The model as it is passes ten singular positions: θ(10 s) by the equation of one bar, and the energy.
#[test]
fn parallelograms_pass_their_singular_positions() {
    let done = run("n_four_bar", &["record.interval=1e9"]);
    // phem56 with steps of 2 ms is right to 1.2e-11 (measured); the reference is good to 6e-12
    assert!((done.q("rod0.angle") + 30.179_800_860_191_16).abs() < 1e-10);
    assert!(done.certificate.energy_error().abs() < 1e-9);
}
