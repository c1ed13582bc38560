//! Sensors, controllers and actuators against closed forms.

use crate::support::{Done, run_text};

const MASS: &str = r#"
[lagrangian]
coordinates = ["x"]
kinetic = "0.5*x_dot^2"
[initial]
position = { x = 1.0 }
velocity = { x = 0.2 }
"#;

/// Values of a coordinate at all frames.
fn course(done: &Done, name: &str) -> Vec<f64> {
    let names = done.simulation.file.model.systems().coordinates();
    let i = names.position(name).unwrap_or_else(|| panic!("{name} is not recorded"));
    done.keep.q.iter().map(|q| q[i]).collect()
}

/// The double integrator under a sampled PD: x⁺ = x + T v + T²u/2, v⁺ = v + T u, u = −k_p x − k_d v. Steps of 0.03 s do not divide the period of 0.1 s.
#[test]
fn sampled_pd_follows_the_exact_recurrence_in_every_strategy() {
    let (mut x, mut v, period) = (1.0_f64, 0.2_f64, 0.1_f64);
    for _ in 0..20 {
        let u = -4.0 * x - 3.0 * v;
        (x, v) = (x + period * v + 0.5 * period * period * u, v + period * u);
    }
    let control = r#"
[[controller]]
name = "pd"
kind = "pid"
period = 0.1
error = "-x"
rate = "-x_dot"
kp = 4
kd = 3
[[actuator]]
name = "motor"
coordinate = "x"
signal = "pd.u"
"#;
    for simulation in [
        "[simulation]\nend = 2.0\nstep = 0.03\nscheme = { kind = \"moreau-jean\", theta = 0.5 }\n",
        "[simulation]\nend = 2.0\nstrategy = \"smooth\"\nintegrator = { kind = \"dopri5\", tolerance = 1e-12 }\n",
        "[simulation]\nend = 2.0\nstrategy = \"event-driven\"\nintegrator = { kind = \"dopri5\", tolerance = 1e-12 }\n",
        "[simulation]\nend = 2.0\nstrategy = \"hybrid\"\nintegrator = { kind = \"dopri5\", tolerance = 1e-12 }\n",
    ] {
        let done = run_text(&format!("{MASS}{control}{simulation}"));
        // exact up to round-off: the force is constant between samples
        assert!(
            (done.q("x") - x).abs() < 1e-12 && (done.v("x") - v).abs() < 1e-12,
            "{simulation}: {} {}",
            done.q("x") - x,
            done.v("x") - v
        );
        assert!(done.certificate.energy_error().abs() < 1e-12);
    }
}

/// I and D of the PID against their recurrences, written out here, with a limit that is reached.
#[test]
fn pid_integrates_filters_and_lets_the_integral_go() {
    let (kp, ki, kd, filter, tracking, limit, period) = (6.0, 4.0, 2.0, 0.05, 0.5, 3.0_f64, 0.05);
    let (mut x, mut v, mut integral, mut d, mut last) = (1.0_f64, 0.2_f64, 0.0_f64, 0.0_f64, None);
    let mut cut = 0;
    for _ in 0..100 {
        let e = 2.0 - x;
        d = (filter * d + kd * last.map_or(0.0, |last: f64| e - last)) / (filter + period);
        let raw = kp * e + integral + d;
        let u = raw.clamp(-limit, limit);
        cut += u32::from(u != raw);
        integral += period * (ki * e + (u - raw) / tracking);
        last = Some(e);
        let a = u - 0.7;
        (x, v) = (x + period * v + 0.5 * period * period * a, v + period * a);
    }
    assert!(cut > 5, "the limit is reached");
    let text = format!(
        r#"
[lagrangian]
coordinates = ["x"]
kinetic = "0.5*x_dot^2"
potential = "0.7*x"
[initial]
position = {{ x = 1.0 }}
velocity = {{ x = 0.2 }}
[[sensor]]
name = "place"
value = "x"
period = 0.05
[[controller]]
name = "pid"
kind = "pid"
period = 0.05
error = "2 - place"
kp = {kp}
ki = {ki}
kd = {kd}
filter = {filter}
tracking = {tracking}
limits = {limit}
[[actuator]]
name = "motor"
coordinate = "x"
signal = "pid.u"
[simulation]
end = 5
step = 0.02
scheme = {{ kind = "moreau-jean", theta = 0.5 }}
"#
    );
    let done = run_text(&text);
    // a hundred periods of round-off
    assert!((done.q("x") - x).abs() < 1e-11 && (done.v("x") - v).abs() < 1e-11, "{} {}", done.q("x") - x, done.v("x") - v);
}

/// A PI controller in continuous time on x' = u: x'' + k_p x' + k_i x = 0, solved by e^(−t) and e^(−2t) for k_p = 3, k_i = 2; order 1 of backward Euler.
#[test]
fn continuous_pi_of_a_first_order_plant() {
    let error = |h: f64| {
        let text = format!(
            r#"
[first_order]
states = ["x"]
rates = {{ x = "0" }}
[initial]
state = {{ x = 1.0 }}
[[controller]]
name = "feedback"
kind = "pid"
error = "-x"
kp = 3
ki = 2
[[actuator]]
name = "valve"
state = "x"
signal = "feedback.u"
[simulation]
end = 1
step = {h:e}
"#
        );
        let done = run_text(&text);
        let exact = 2.0 * (-2.0_f64).exp() - (-1.0_f64).exp();
        (done.simulation.file.state.x[0] - exact).abs()
    };
    let (coarse, fine) = (error(1e-2), error(5e-3));
    let order = (coarse / fine).log2();
    assert!((order - 1.0).abs() < 0.2 && fine < 5e-3, "{coarse} {fine} {order}");
}

const PENDULUM: &str = r#"
[lagrangian]
coordinates = ["a", "b"]
kinetic = "0.5*a_dot^2 + 0.25*(a_dot + b_dot)^2 + 0.5*cos(b)*a_dot*(a_dot + b_dot)"
potential = "9.81*(sin(a) + 0.5*sin(a + b))"
forces = { a = "-0.3*a_dot" }
[initial]
position = { a = 0.4, b = 0.3 }
velocity = { a = -0.2, b = 0.5 }
[[actuator]]
name = "one"
coordinate = "a"
signal = "law.a"
[[actuator]]
name = "two"
coordinate = "b"
signal = "law.b"
"#;

/// Under computed torque e'' + 3 e' + 2 e = 0: e = c₁ e^(−t) + c₂ e^(−2t). The hold makes an error of order 1 in the period.
#[test]
fn computed_torque_makes_the_error_linear() {
    let error = |period: f64| {
        let text = format!(
            r#"{PENDULUM}
[[controller]]
name = "law"
kind = "computed-torque"
period = {period:e}
coordinates = ["a", "b"]
desired = ["0.5*sin(t)", "0.2*t"]
kp = 2
kd = 3
[simulation]
end = 1
strategy = "smooth"
integrator = {{ kind = "dopri5", tolerance = 1e-10 }}
"#
        );
        let done = run_text(&text);
        let exact = |e: f64, e_dot: f64| {
            let (c2, t) = (-(e + e_dot), 1.0_f64);
            (e - c2) * (-t).exp() + c2 * (-2.0 * t).exp()
        };
        let a = 0.5 * 1.0_f64.sin() + exact(0.4, -0.2 - 0.5);
        let b = 0.2 + exact(0.3, 0.5 - 0.2);
        (done.q("a") - a).abs().max((done.q("b") - b).abs())
    };
    let (coarse, fine) = (error(2e-3), error(1e-3));
    let order = (coarse / fine).log2();
    assert!((order - 1.0).abs() < 0.1 && fine < 2e-3, "{coarse} {fine} {order}");
}

/// Without a period computed torque is evaluated wherever forces are: the error dynamics are those of e'' + 3 e' + 2 e = 0 to the accuracy of the method, whatever it is.
#[test]
fn computed_torque_in_continuous_time_is_exact() {
    let error = |simulation: &str| {
        let law = "[[controller]]\nname = \"law\"\nkind = \"computed-torque\"\ncoordinates = [\"a\", \"b\"]\n\
                   desired = [\"0.5*sin(t)\", \"0.2*t\"]\nkp = 2\nkd = 3\n[simulation]\nend = 1\n";
        let done = run_text(&format!("{PENDULUM}{law}{simulation}"));
        assert!(done.certificate.unconverged == 0, "{simulation}");
        let exact = |e: f64, e_dot: f64| {
            let (c2, t) = (-(e + e_dot), 1.0_f64);
            (e - c2) * (-t).exp() + c2 * (-2.0 * t).exp()
        };
        let a = 0.5 * 1.0_f64.sin() + exact(0.4, -0.2 - 0.5);
        let b = 0.2 + exact(0.3, 0.5 - 0.2);
        // what is recorded is the torque at the instant: M (q̈_d − K_d ė − K_p e) − F of the last frame
        let shown = [course(&done, "control.law.a"), course(&done, "actuator.one")];
        assert_eq!(shown[0].last(), shown[1].last());
        (done.q("a") - a).abs().max((done.q("b") - b).abs())
    };
    for strategy in ["smooth", "event-driven"] {
        for integrator in ["dopri5", "radau-iia"] {
            let found = error(&format!("strategy = \"{strategy}\"\nintegrator = {{ kind = \"{integrator}\", tolerance = 1e-10 }}\n"));
            // the tolerance over a unit of time, with a margin for its growth
            assert!(found < 1e-8, "{strategy}, {integrator}: {found}");
        }
    }
    let stepped = |h: f64| error(&format!("step = {h:e}\nscheme = {{ kind = \"moreau-jean\", theta = 0.5 }}\n"));
    // of order 1 where the mass matrix varies, with or without a controller
    let (coarse, fine) = (stepped(2e-2), stepped(1e-2));
    let order = (coarse / fine).log2();
    assert!((order - 1.0).abs() < 0.2 && fine < 2e-4, "{coarse} {fine} {order}");
}

/// One joint of mass M under the passivity-based law: M ṡ + K s = 0, so that s = s₀ e^(−Kt/M), and ė + Λ e = s gives e in closed form. The law knows the weight and damping of the
/// pendulum, and the actuator's limits cut nothing off.
#[test]
fn passivity_in_continuous_time_follows_its_closed_form() {
    let joint = r#"
[lagrangian]
coordinates = ["a"]
kinetic = "a_dot^2"
potential = "9.81*sin(a)"
[initial]
position = { a = 0.7 }
velocity = { a = 0.1 }
[[controller]]
name = "law"
kind = "passivity"
coordinates = ["a"]
desired = ["0.2*t^2"]
lambda = 3
gain = 2
[[actuator]]
name = "motor"
coordinate = "a"
signal = "law.a"
limits = 100
[simulation]
end = 1.5
"#;
    // M = 2, K = 2, Λ = 3, e(0) = 0.7, s(0) = 0.1 + 3·0.7: e = e₀ e^(−3t) + s₀ (e^(−t) − e^(−3t))/2
    let (t, s) = (1.5_f64, 0.1 + 3.0 * 0.7);
    let exact = 0.2 * t * t + 0.7 * (-3.0 * t).exp() + 0.5 * s * ((-t).exp() - (-3.0 * t).exp());
    let error = |simulation: &str| (run_text(&format!("{joint}{simulation}")).q("a") - exact).abs();
    let smooth = error("strategy = \"smooth\"\nintegrator = { kind = \"dopri5\", tolerance = 1e-11 }\n");
    assert!(smooth < 1e-9, "{smooth}");
    // implicit within the step: the order of the θ-scheme for a constant mass
    let stepped = |h: f64| error(&format!("step = {h:e}\nscheme = {{ kind = \"moreau-jean\", theta = 0.5 }}\n"));
    let (coarse, fine) = (stepped(2e-2), stepped(1e-2));
    let order = (coarse / fine).log2();
    assert!((order - 2.0).abs() < 0.2 && fine < 1e-4, "{coarse} {fine} {order}");
    // a stiff gain, h K/M = 50, is damped and not amplified
    let stiff = run_text(&format!("{}step = 1e-2\n", joint.replace("gain = 2", "gain = 1e4").replace("limits = 100", "")));
    let slope = 0.7 * (-3.0 * t).exp() + 0.2 * t * t;
    assert!((stiff.q("a") - slope).abs() < 1e-2, "{} {slope}", stiff.q("a"));
}

/// A sensor that samples, a PI regulator and an actuator on a held input of a first-order plant ẋ = −x + u: between samples x⁺ = a x + (1 − a) u with a = e^(−T), exactly that
/// of zero-order hold.
#[test]
fn a_sampled_regulator_drives_a_first_order_plant_exactly() {
    let text = r#"
[first_order]
states = ["x"]
rates = { x = "-x + u" }
held = { u = 0 }
[initial]
state = { x = 1.0 }
[[sensor]]
name = "level"
value = "x"
period = 0.1
[[controller]]
name = "regulator"
kind = "pid"
period = 0.1
error = "2 - level"
kp = 1.5
ki = 2
[[actuator]]
name = "valve"
input = "u"
signal = "regulator.u"
[simulation]
end = 3
step = 1e-3
scheme = { kind = "euler-moreau", theta = 0.5 }
"#;
    let done = run_text(text);
    let (mut x, mut integral, a) = (1.0_f64, 0.0_f64, (-0.1_f64).exp());
    for _ in 0..30 {
        let error = 2.0 - x;
        let u = 1.5 * error + integral;
        integral += 2.0 * 0.1 * error;
        x = a * x + (1.0 - a) * u;
    }
    let found = done.simulation.file.state.x[0];
    // θ = 1/2 over steps of 1 ms: h²/12 of the motion
    assert!((found - x).abs() < 1e-6, "{found} {x}");
}

/// Where the motion is on its reference, both laws put out M q̈_d − F: damping, weight and Coriolis forces are made up for exactly.
#[test]
fn passivity_and_computed_torque_agree_on_the_reference() {
    let torque = |kind: &str, gains: &str| {
        let text = format!(
            r#"{PENDULUM}
[[controller]]
name = "law"
kind = "{kind}"
period = 0.1
coordinates = ["a", "b"]
desired = ["0.4 - 0.2*t + 0.7*t^2", "0.3 + 0.5*t - t^2"]
{gains}
[simulation]
end = 0.01
step = 0.01
"#
        );
        let done = run_text(&text);
        [course(&done, "control.law.a")[0], course(&done, "control.law.b")[0]]
    };
    let one = torque("computed-torque", "kp = 5\nkd = [3, 4]");
    let other = torque("passivity", "lambda = 3\ngain = [2, 1]");
    for (one, other) in one.iter().zip(other) {
        assert!((one - other).abs() < 1e-12 * one.abs().max(1.0), "{one} {other}");
    }
}

/// M ṡ + C s + K s = 0 with K large against the error of the hold: the storage sᵀMs/2 falls, and the tracking error with it.
#[test]
fn passivity_tracks() {
    let text = format!(
        r#"{PENDULUM}
[[controller]]
name = "law"
kind = "passivity"
period = 1e-3
coordinates = ["a", "b"]
desired = ["0.5*sin(t)", "0.2*t"]
lambda = 4
gain = 6
[simulation]
end = 8
step = 1e-3
[record]
every = 100
"#
    );
    let done = run_text(&text);
    // e^(−4·8) is nothing; what is left is the hold, of the order of the period
    assert!((done.q("a") - 0.5 * 8.0_f64.sin()).abs() < 2e-3 && (done.q("b") - 1.6).abs() < 2e-3, "{} {}", done.q("a"), done.q("b"));
}

/// e_{k+1} = (Φ − L C) e_k: the plant by its exact discretisation, the oscillator x₁' = x₂, x₂' = −x₁ + u with u held.
#[test]
fn the_error_of_an_observer_decays_as_its_matrix_says() {
    let text = r#"
[first_order]
states = ["p", "v"]
rates = { p = "v", v = "-p + control.drive.u" }
[initial]
state = { p = 1.0, v = -0.5 }
[[controller]]
name = "drive"
period = 0.2
outputs = { u = "sin(3*t)" }
[[controller]]
name = "luenberger"
kind = "observer"
period = 0.2
estimates = ["p", "v"]
A = [[0, 1], [-1, 0]]
B = [0, 1]
C = [[1, 0]]
L = [0.9, 0.4]
inputs = ["drive.u"]
measured = ["p"]
[simulation]
end = 4
step = 0.05
scheme = "zero-order-hold"
"#;
    let done = run_text(text);
    let (c, s) = (0.2_f64.cos(), 0.2_f64.sin());
    let (mut e1, mut e2) = (1.0, -0.5);
    // the estimates after the sample at t = 4 are those for 4.2: look at the ones put out there
    for _ in 0..20 {
        (e1, e2) = ((c - 0.9) * e1 + s * e2, (-s - 0.4) * e1 + c * e2);
    }
    let x = &done.simulation.file.state.x;
    let found = [x[0] - done.q("control.luenberger.p_hat"), x[1] - done.q("control.luenberger.v_hat")];
    assert!((found[0] - e1).abs() < 1e-12 && (found[1] - e2).abs() < 1e-12, "{found:?} {e1} {e2}");
}

/// A mass of constant speed: the reading at t is the place at the last sample that has arrived.
#[test]
fn delayed_readings_arrive_when_they_should() {
    let text = r#"
[lagrangian]
coordinates = ["x"]
kinetic = "0.5*x_dot^2"
[initial]
velocity = { x = 1.0 }
[[sensor]]
name = "late"
value = "x"
period = 0.1
phase = 0.03
delay = 0.25
initial = -1
[simulation]
end = 1
step = 0.02
"#;
    let done = run_text(text);
    for (t, reading) in done.keep.t.iter().zip(course(&done, "sensor.late")) {
        let k = ((t - 0.28 + 1e-9) / 0.1).floor();
        let expected = if k < 0.0 { -1.0 } else { 0.03 + 0.1 * k };
        assert!((reading - expected).abs() < 1e-12, "t = {t}: {reading} {expected}");
    }
    assert_eq!(done.keep.t.len(), 51, "frames are those of the steps");
}

#[test]
fn noise_is_the_same_for_a_seed_and_readings_are_quantised() {
    let readings = |seed: u32| {
        let text = format!(
            r#"{MASS}
[[sensor]]
name = "s"
value = "x"
period = 0.05
noise = 0.3
seed = {seed}
quantum = 0.125
[simulation]
end = 1
step = 0.02
"#
        );
        course(&run_text(&text), "sensor.s")
    };
    let (one, again, other) = (readings(3), readings(3), readings(4));
    assert_eq!(one, again);
    assert_ne!(one, other);
    assert!(one.iter().all(|x| (x / 0.125).fract() == 0.0));
}

fn sliding(form: &str, h: f64) -> Done {
    let period = if form == "explicit" { format!("period = {h:e}") } else { String::new() };
    run_text(&format!(
        r#"
[lagrangian]
coordinates = ["x"]
kinetic = "0.5*x_dot^2"
forces = {{ x = "0.4*sin(2*t)" }}
[initial]
position = {{ x = 1.0 }}
[[controller]]
name = "smc"
kind = "sliding-mode"
form = "{form}"
{period}
surface = "x_dot + x"
gain = 2
[[controller]]
name = "monitor"
outputs = {{ s = "x_dot + x" }}
[[actuator]]
name = "motor"
coordinate = "x"
signal = "smc.u"
[simulation]
end = 4
step = {h:e}
"#
    ))
}

fn largest_after(done: &Done, name: &str, t: f64) -> f64 {
    let values = course(done, name);
    done.keep.t.iter().zip(values).filter(|(time, _)| **time > t).map(|(_, x)| x.abs()).fold(0.0, f64::max)
}

/// On the surface the implicit law keeps s = 0 to the tolerance of the solver, whatever the step; the explicit one jumps over it by an amount of order h.
#[test]
fn implicit_sliding_does_not_chatter_and_explicit_sliding_does() {
    for h in [1e-2, 1e-3] {
        let done = sliding("implicit", h);
        // the solver's tolerance of 1e-12 in the unit of the problem
        assert!(largest_after(&done, "control.monitor.s", 1.0) < 1e-10, "{}", largest_after(&done, "control.monitor.s", 1.0));
        // on the surface the input makes up for the disturbance and for ẋ: it is no ±2
        assert!(largest_after(&done, "control.smc.u", 1.0) < 1.0);
    }
    let amplitudes = [1e-2, 1e-3].map(|h| largest_after(&sliding("explicit", h), "control.monitor.s", 1.0));
    let ratio = amplitudes[0] / amplitudes[1];
    assert!(amplitudes[0] > 1e-3 && (ratio - 10.0).abs() < 2.0, "{amplitudes:?}");
}

/// Twisting brings x'' = u + d to x = x' = 0 in finite time and keeps it there.
#[test]
fn implicit_twisting_reaches_the_origin_and_stays() {
    for h in [1e-2, 1e-3] {
        let done = run_text(&format!(
            r#"
[lagrangian]
coordinates = ["x"]
kinetic = "0.5*x_dot^2"
forces = {{ x = "0.3*cos(t)" }}
[initial]
position = {{ x = 1.0 }}
[[controller]]
name = "twist"
kind = "twisting"
surface = "x"
rate = "x_dot"
gains = [3, 1.5]
[[actuator]]
name = "motor"
coordinate = "x"
signal = "twist.u"
[simulation]
end = 8
step = {h:e}
scheme = {{ kind = "euler-moreau", theta = 1 }}
"#
        ));
        let (x, v) = (largest_after(&done, "x", 6.0), done.v("x").abs());
        assert!(x < 1e-9 && v < 1e-9, "h = {h}: {x} {v}");
    }
}

/// A relay on x and a bouncing contact on y are unknowns of one problem.
#[test]
fn a_relay_and_a_contact_in_one_problem() {
    let done = run_text(
        r#"
[lagrangian]
coordinates = ["x", "y"]
kinetic = "0.5*(x_dot^2 + y_dot^2 + x_dot*y_dot)"
potential = "9.81*y"
[initial]
position = { x = 0.3, y = 0.5 }
[[contact]]
name = "floor"
gap = "y"
restitution = 0.5
[[controller]]
name = "smc"
kind = "sliding-mode"
surface = "x_dot + x"
gain = 20
[[actuator]]
name = "motor"
coordinate = "x"
signal = "smc.u"
[simulation]
end = 3
step = 1e-3
"#,
    );
    let s = done.v("x") + done.q("x");
    assert!(s.abs() < 1e-10, "{s}");
    assert!(done.q("y").abs() < 1e-3 && done.certificate.max_residual < 1e-8, "{} {}", done.q("y"), done.certificate.max_residual);
}

const SWITCHED: &str = r#"
[lagrangian]
coordinates = ["x"]
kinetic = "0.5*x_dot^2"
[[controller]]
name = "push"
states = { since = { initial = 0 } }
outputs = { u = "1" }
[[controller.mode]]
name = "on"
[[controller.mode.transition]]
to = "off"
when = "x >= 0.5"
set = { since = "t" }
[[controller.mode]]
name = "off"
outputs = { u = "0" }
[[actuator]]
name = "motor"
coordinate = "x"
signal = "push.u"
"#;

/// Pushed by 1 N until x = ½ at t = 1, then coasting: x(2) = 1.5. Guards are located by events, and met at the ends of steps by time-stepping.
#[test]
fn guards_are_events_where_events_are_located() {
    let located = run_text(&format!(
        "{SWITCHED}[simulation]\nend = 2\nstrategy = \"event-driven\"\nintegrator = {{ kind = \"dopri5\", tolerance = 1e-10 }}\n"
    ));
    assert!((located.q("x") - 1.5).abs() < 1e-8 && (located.q("control.push.since") - 1.0).abs() < 1e-8, "{}", located.q("x"));
    assert_eq!(located.keep.events.len(), 1);
    assert_eq!(located.keep.events[0].note, "on → off");
    let h = 7e-3;
    let stepped = run_text(&format!("{SWITCHED}[simulation]\nend = 2\nstep = {h}\n"));
    assert!((stepped.q("control.push.since") - 1.0).abs() <= h && (stepped.q("x") - 1.5).abs() < 2.0 * h, "{}", stepped.q("x"));
}

/// Forces on a body and on a joint, held between samples and cut off: 2 N on 1 kg, 3 N m on 0.5 kg m² about the hinge.
#[test]
fn actuators_on_bodies_and_joints() {
    let done = run_text(
        r#"
gravity = [0, 0, 0]
[[body]]
name = "ball"
mass = 1.0
inertia = 0.1
position = [0, 0, 0]
[[body]]
name = "door"
mass = 1.0
inertia = 0.25
position = [0.5, 5, 0]
[[joint]]
name = "hinge"
kind = "revolute"
bodies = ["ground", "door"]
point = [0, 5, 0]
axis = [0, 0, 1]
[[actuator]]
name = "thrust"
signal = "10"
limits = 2
period = 0.01
body = "ball"
force = [0, 1, 0]
[[actuator]]
name = "motor"
signal = "3"
period = 0.01
joint = "hinge"
[simulation]
end = 1
strategy = "smooth"
integrator = { kind = "hem5", tolerance = 1e-10 }
"#,
    );
    assert!((done.q("ball.y") - 1.0).abs() < 1e-10, "{}", done.q("ball.y"));
    assert!((done.v("ball.vy") - 2.0).abs() < 1e-10);
    assert!((done.v("door.wz") - 6.0).abs() < 1e-7, "{}", done.v("door.wz"));
}

/// Beside a circuit, actuators act on rates of its states (v̇ = −v/(RC) + 2 comes to 2 RC) and on coordinates (3 N on 1 kg for 0.1 s), through one system.
#[test]
fn actuators_act_beside_a_circuit() {
    let text = format!(
        "{MASS}[circuit]\nnetlist = '''\nR1 out 0 1\nC1 out 0 1m\n'''\n\
         [[actuator]]\nname = \"charge\"\nstate = \"C1.v\"\nsignal = \"2\"\nperiod = 1e-3\n\
         [[actuator]]\nname = \"push\"\ncoordinate = \"x\"\nsignal = \"3\"\nperiod = 1e-3\n[simulation]\nend = 0.1\nstep = 1e-4\n"
    );
    let done = run_text(&text);
    assert!((done.x("C1.v") - 2e-3).abs() < 1e-12, "{}", done.x("C1.v"));
    assert!((done.v("x") - 0.5).abs() < 1e-12, "{}", done.v("x"));
}
