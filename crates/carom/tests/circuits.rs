//! Circuits from netlists against exact and published solutions: gallery, orders, energy.

use crate::support::{Done, run, run_text};

/// A netlist with settings of its simulation.
pub fn circuit(netlist: &str, simulation: &str) -> Done {
    run_text(&format!("[circuit]\nnetlist = '''\n{netlist}\n'''\n[simulation]\n{simulation}\n"))
}

/// Slopes of log₂ of the errors of halved steps.
fn orders(errors: &[f64]) -> Vec<f64> {
    errors.windows(2).map(|pair| (pair[0] / pair[1]).log2()).collect()
}

/// Siconos' diode bridge at t = 4.999 ms, as its matrices give it: v = 0.7863839107277327, i = −2.830718054146945e-3, to 1e-9.
#[test]
fn diode_bridge_meets_the_published_numbers() {
    let done = run("diode_bridge_netlist", &["simulation.end=4.999e-3"]);
    assert!((done.x("C1.v") - 0.7863839107277327).abs() < 1e-9, "{}", done.x("C1.v"));
    assert!((done.x("L1.i") + 2.830718054146945e-3).abs() < 1e-9, "{}", done.x("L1.i"));
    let c = &done.certificate;
    assert_eq!(c.unconverged, 0);
    // ideal diodes lose nothing: λᵀy is zero but for the solver's rounding, against 5e-5 J at the start
    assert!(c.last.dissipated_impact.abs() < 1e-17, "{}", c.last.dissipated_impact);
    assert!(c.last.work == 0.0 && c.last.dissipated_friction > 4.9e-5);
}

/// The netlist and the matrices of the same circuit give the same numbers but for rounding.
#[test]
fn netlist_and_matrices_agree() {
    for (netlist, matrices) in [("rlc_diode_netlist", "rlc_diode"), ("diode_bridge_netlist", "diode_bridge")] {
        let (a, b) = (run(netlist, &[]), run(matrices, &[]));
        for (x, y) in a.keep.x.iter().flatten().zip(b.keep.x.iter().flatten()) {
            // volts and amperes of order 10 and 0.1; the leak of 1e-15 S moves 1e-14 A over 5 ms into 1 µF: 5e-11 V
            assert!((x - y).abs() < 1e-10, "{netlist}: {x} {y}");
        }
        assert_eq!(a.keep.x.len(), b.keep.x.len());
    }
}

/// Series RLC on a step of voltage, underdamped: exact, orders 1 of backward Euler and 2 of θ = 1/2.
#[test]
fn linear_circuits_have_the_order_of_the_scheme() {
    let (r, l, c, t) = (10.0, 1e-3, 1e-6, 3e-4_f64);
    let (damping, omega) = (r / (2.0 * l), (1.0 / (l * c) - (r / (2.0_f64 * l)).powi(2)).sqrt());
    let exact = 1.0 - (-damping * t).exp() * ((omega * t).cos() + damping / omega * (omega * t).sin());
    for (theta, order) in [(1.0, 1.0), (0.5, 2.0)] {
        let errors: Vec<f64> = [400, 800, 1600]
            .map(|n| {
                let simulation =
                    format!("end = {t}\nstep = {:e}\nscheme = {{ kind = \"euler-moreau\", theta = {theta} }}", t / f64::from(n));
                let done = circuit("V1 in 0 1\nR1 in a 10\nL1 a out 1m\nC1 out 0 1u", &simulation);
                (done.x("C1.v") - exact).abs()
            })
            .to_vec();
        assert!(orders(&errors).iter().all(|slope| (slope - order).abs() < 0.2), "θ = {theta}: {errors:?}");
    }
}

/// A battery charges a capacitor over a diode and a coil: half a sine of current, then the diode keeps twice the battery's voltage.
///
/// Exact: i = V √(C/L) sin ωt until π/ω, v = V (1 − cos ωt), then v = 2V. The current of the diode is a multiplier, so that the order is 1 for every θ.
#[test]
fn resonant_charging_is_exact_to_first_order() {
    let (v, l, c) = (10.0, 1e-3, 1e-6_f64);
    let omega = 1.0 / (l * c).sqrt();
    let at = |t: f64, n: f64| {
        let done = circuit("V1 in 0 10\nD1 in a\nL1 a out 1m\nC1 out 0 1u", &format!("end = {t:e}\nstep = {:e}", t / n));
        assert_eq!(done.certificate.unconverged, 0);
        (done.x("C1.v"), done.x("L1.i"))
    };
    let half: f64 = std::f64::consts::PI / omega;
    // at a third of the half wave, v = V (1 − cos 60°)
    let rising: Vec<f64> = [500.0, 1000.0, 2000.0].map(|n| (at(half / 3.0, n).0 - 0.5 * v).abs()).to_vec();
    assert!(orders(&rising).iter().all(|slope| (slope - 1.0).abs() < 0.2), "{rising:?}");
    let held: Vec<f64> = [1000.0, 2000.0, 4000.0]
        .map(|n| {
            let (out, current) = at(2.0 * half, n);
            assert!(current.abs() < 1e-12, "the diode lets {current} A through"); // leak of 1e-15 S at 20 V
            (out - 2.0 * v).abs()
        })
        .to_vec();
    assert!(orders(&held).iter().all(|slope| (slope - 1.0).abs() < 0.2), "{held:?}");
    assert!(held[2] < 0.02 * v, "{held:?}");
}

/// Passive circuits: LC keeps its energy with θ = 1/2, R takes exactly what is lost, sources supply the rest.
#[test]
fn energy_accounts_close() {
    let theta = "scheme = { kind = \"euler-moreau\", theta = 0.5 }";
    let lc = circuit("C1 a 0 1u IC=5\nL1 a 0 1m", &format!("end = 1e-3\nstep = 1e-6\n{theta}")).certificate;
    assert!((lc.last.mechanical() - lc.initial.mechanical()).abs() < 1e-12 * lc.initial.mechanical()); // rounding of 1000 steps
    assert_eq!((lc.last.work, lc.last.dissipated_friction), (0.0, 0.0));
    // the midpoint rule accounts linear circuits exactly: what sources supply is stored or lost in the resistor
    let driven = circuit("V1 in 0 5\nR1 in a 50\nL1 a out 1m\nC1 out 0 1u", &format!("end = 1e-3\nstep = 1e-6\n{theta}")).certificate;
    assert!(driven.last.work > 2e-5 && driven.last.dissipated_friction > 1e-5);
    assert!(driven.energy_error().abs() < 1e-12 * driven.last.work, "{}", driven.energy_error());
    // backward Euler loses energy beside, at first order
    let lost: Vec<f64> = ["1e-6", "5e-7", "2.5e-7"]
        .map(|h| -circuit("V1 in 0 5\nR1 in a 50\nL1 a out 1m\nC1 out 0 1u", &format!("end = 1e-3\nstep = {h}")).certificate.energy_error())
        .to_vec();
    assert!(lost.iter().all(|&x| x > 0.0) && orders(&lost).iter().all(|slope| (slope - 1.0).abs() < 0.2), "{lost:?}");
}

/// A motor by its netlist, back-EMF as a source, that lifts a load: supplied = stored + lost, for both parts together. θ = 1/2 closes to rounding; backward Euler loses at first order.
#[test]
fn motors_of_netlists_account_both_parts() {
    let motor = |theta: f64, h: &str| {
        run_text(&format!(
            "[linear]\ncoordinates = [\"angle\"]\nmass = 1e-4\nforce = [-0.02]\n[circuit]\nnetlist = '''\nV1 in 0 12\nR1 in a 2\nL1 a b 5m\nVE b 0 {{0.05*angle_dot}}\n'''\n\
             forces = {{ angle = \"0.05*i(L1)\" }}\n[simulation]\nend = 0.1\nstep = {h}\nscheme = {{ kind = \"euler-moreau\", theta = {theta} }}\n"
        ))
        .certificate
    };
    let middle = motor(0.5, "1e-4");
    assert!(middle.last.work > 0.5 && middle.last.dissipated_friction > 0.1, "{:?}", middle.last);
    assert!(middle.energy_error().abs() < 1e-12 * middle.last.work, "{}", middle.energy_error());
    let lost: Vec<f64> = ["1e-4", "5e-5", "2.5e-5"].map(|h| -motor(1.0, h).energy_error()).to_vec();
    assert!(lost.iter().all(|&x| x > 0.0) && orders(&lost).iter().all(|slope| (slope - 1.0).abs() < 0.2), "{lost:?}");
}

/// The account of a circuit with diodes closes to first order, and the discretisation only takes.
#[test]
fn rectifiers_gain_no_energy() {
    let error = |h: &str| {
        let c = run("bridge_filter", &["simulation.end=0.05", &format!("simulation.step={h}")]).certificate;
        assert_eq!(c.unconverged, 0);
        assert!(c.last.dissipated_impact.abs() < 1e-10 * c.last.work, "{}", c.last.dissipated_impact); // the solver's tolerance
        c.energy_error() / c.last.work
    };
    let (coarse, fine) = (error("2e-5"), error("1e-5"));
    assert!(coarse < 0.0 && fine < 0.0 && (coarse / fine).log2() > 0.8, "{coarse} {fine}");
    assert!(fine > -0.01, "{fine}");
}

/// The rectifier between crests: the capacitor discharges into the load alone, v = v₀ e^(−t/RC), while all diodes block and the bridge floats.
#[test]
fn filter_discharges_between_crests() {
    let done = run("bridge_filter", &["simulation.end=0.1"]);
    let (p, m) = (done.signal("v.p"), done.signal("v.m"));
    let diodes: Vec<Vec<f64>> = ["i.D1", "i.D2", "i.D3", "i.D4"].map(|name| done.signal(name)).to_vec();
    let blocked = |k: usize| diodes.iter().all(|i| i[k] < 1e-12);
    let mut longest = 0;
    let mut start = None;
    for k in 1..p.len() {
        match (blocked(k), start) {
            (true, None) => start = Some(k),
            (true, Some(s)) => {
                let (v0, v) = (p[s] - m[s], p[k] - m[k]);
                let exact = v0 * (-(done.keep.t[k] - done.keep.t[s]) / 0.1_f64).exp();
                // backward Euler: relative error ½ (h/RC)² per step, 5e-9, over at most 1000 steps
                assert!((v - exact).abs() < 1e-5 * v0, "{v} {exact}");
                longest = longest.max(k - s);
            }
            (false, _) => start = None,
        }
    }
    // they block for most of each half period of 1000 steps
    assert!(longest > 600, "{longest}");
    // crest of the secondary, 325/20 V, less what the winding takes
    let most = p.iter().zip(&m).map(|(p, m)| p - m).fold(0.0_f64, f64::max);
    assert!((15.0..16.25).contains(&most), "{most}");
}

/// The buck converter with feedback: the period of the ramp at 24 V of input, twice that at 28 V; volts at the beginning of periods from the exact motion between switchings
/// (closed form of the damped oscillation, instants of switching by bisection to 1e-16 s).
#[test]
fn buck_converter_doubles_its_period() {
    for (input, exact) in [("24", [12.022165, 12.022165]), ("28", [12.057351, 12.078603])] {
        let done = run("buck_converter", &[&format!("parameters.E={input}"), "simulation.end=0.06"]);
        assert_eq!(done.certificate.unconverged, 0);
        let (t, out) = (&done.keep.t, done.signal("v.out"));
        let at = |time: f64| out[t.iter().position(|t| (t - time).abs() < 1e-9).unwrap()];
        let mut strobe = [at(0.06), at(0.06 - 400e-6)];
        strobe.sort_by(f64::total_cmp);
        // instants of switching are known to a step, 1/1000 of the period: 24 V · 4e-7 s/20 mH is 0.5 mA, on 47 µF for a period 4 mV
        assert!(strobe.iter().zip(exact).all(|(v, exact)| (v - exact).abs() < 4e-3), "{input} V: {strobe:?} {exact:?}");
    }
}

/// The Colpitts oscillator while its first swings still repeat: volts and amperes at 50 µs from a fourth-order Runge–Kutta method of steps of 5 ns on
/// the three equations with i_B = max(0, (u_BE − 0.75)/100); order 1, since the base current is a multiplier.
#[test]
fn colpitts_follows_its_equations() {
    let energy_norm = |done: &Done| {
        let [c1, c2, l] = [("C1.v", 5.401494329768513), ("C2.v", -0.46509480733632624), ("L1.i", 8.870206254579993e-3)]
            .map(|(name, exact)| done.x(name) - exact);
        (54e-9 * (c1 * c1 + c2 * c2) + 98.5e-6 * l * l).sqrt()
    };
    let errors: Vec<f64> =
        ["2e-8", "1e-8", "5e-9"].map(|h| energy_norm(&run("colpitts", &["simulation.end=5e-5", &format!("simulation.step={h}")]))).to_vec();
    assert!(orders(&errors).iter().all(|slope| (slope - 1.0).abs() < 0.2), "{errors:?}");
    // against 5.4 V on 54 nF: 1.25e-3 in the same norm
    assert!(errors[2] < 2e-6, "{errors:?}");
}

/// Least and largest value in a span of time.
fn range(done: &Done, values: &[f64], span: std::ops::Range<f64>) -> [f64; 2] {
    let inside = done.keep.t.iter().zip(values).filter(|(t, _)| span.contains(t)).map(|(_, &value)| value);
    inside.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(x), b.max(x)])
}

/// The design equations of its README: ΔI = V (1 − D) T/L and ΔV = ΔI T/(8C) with D = V/E, which take the other one's ripple as zero: right up to a part of
/// T²/(LC) = 0.17, in ΔV about a sixth of it.
#[test]
fn buck_converter_has_the_ripple_of_its_design() {
    let done = run("buck_converter", &["simulation.end=0.06"]);
    let (e, period, l, c) = (24.0, 400e-6, 20e-3, 47e-6);
    let last = 0.06 - 2.0 * period..0.06;
    let [low, high] = range(&done, &done.signal("v.out"), last.clone());
    let [least, most] = range(&done, &done.signal("i.L1"), last);
    let v = 0.5 * (low + high);
    let ripple = v * (1.0 - v / e) * period / l;
    assert!(((most - least) / ripple - 1.0).abs() < 0.02, "{} {ripple}", most - least);
    assert!(((high - low) / (ripple * period / (8.0 * c)) - 1.0).abs() < 0.04, "{}", high - low);
    // the coil never runs dry: the mean current is more than half its ripple
    assert!(least > 0.0 && (0.5 * (least + most) - v / 22.0).abs() < 5e-3, "{least} {most}");
}

/// Colpitts' resonance and start-up. Linear about its operating point, with g_m = β/R_B and G = 1/R_B + 1/R_EE, the three equations have the polynomial
/// s³ + a₂ s² + a₁ s + a₀; by Routh it is unstable from a₀ = a₁ a₂ on, where it oscillates with ω = √a₁.
#[test]
fn colpitts_starts_from_the_current_gain_of_its_design_on() {
    let (l, c1, c2, rl, rb, ree) = (98.5e-6_f64, 54e-9, 54e-9, 35.0, 100.0, 400.0);
    let g = 1.0 / rb + 1.0 / ree;
    let (a2, a1) = (rl / l + g / c2, 1.0 / (l * c1) + 1.0 / (l * c2) + rl * g / (l * c2));
    let (least_gain, frequency) = (rb * (a1 * a2 * l * c1 * c2 - g), a1.sqrt() / std::f64::consts::TAU);
    let swing = |gain: f64| {
        let done = run("colpitts", &[&format!("parameters.beta={gain}"), "simulation.end=1.2e-3"]);
        let v: Vec<f64> = done.signal("v.c");
        let width = |start: f64| range(&done, &v, start..start + 1e-4).into_iter().reduce(|a, b| b - a).unwrap();
        let mean = 0.5 * range(&done, &v, 1e-3..1.2e-3).iter().sum::<f64>();
        let rises: Vec<f64> =
            (1..v.len()).filter(|&k| v[k - 1] < mean && v[k] >= mean).map(|k| done.keep.t[k]).filter(|&t| t > 1e-3).collect();
        (width(5e-4), width(1.1e-3), (rises.len() - 1) as f64 / (rises[rises.len() - 1] - rises[0]))
    };
    // 3 % below it dies away, 3 % above it stays and has the frequency of the linear equations up to the amplitude squared
    let (before, after, _) = swing(0.97 * least_gain);
    assert!(after < 0.5 * before, "{least_gain}: {before} {after}");
    let (before, after, found) = swing(1.03 * least_gain);
    assert!((after / before - 1.0).abs() < 0.1 && after > 0.1, "{least_gain}: {before} {after}");
    assert!((found / frequency - 1.0).abs() < 0.01, "{found} {frequency}");
}

/// exp(A t) of a 3 × 3 matrix by its series after halving.
fn exponential(a: [[f64; 3]; 3], t: f64) -> [[f64; 3]; 3] {
    let product = |a: [[f64; 3]; 3], b: [[f64; 3]; 3]| {
        std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum::<f64>()))
    };
    let small = a.map(|row| row.map(|x| x * t / 1024.0));
    let unit: [[f64; 3]; 3] = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
    let (mut sum, mut term) = (unit, unit);
    for k in 1..12 {
        term = product(term, small).map(|row| row.map(|x| x / f64::from(k)));
        sum = std::array::from_fn(|i| std::array::from_fn(|j| sum[i][j] + term[i][j]));
    }
    (0..10).fold(sum, |e, _| product(e, e))
}

/// A sensor, a PI regulator and an actuator on a circuit. In the steady state the sampled output is the reference, and the duty that which the exact periodic motion needs (matrix
/// exponentials of both phases), for the load and for twice the load; the switch opens at ends of steps, which grains the duty by h/T.
#[test]
fn the_regulated_buck_converter_holds_its_output() {
    let done = run("buck_regulator", &[]);
    assert_eq!(done.certificate.unconverged, 0);
    let (e, l, c, period, h, on) = (24.0, 1e-3, 100e-6, 1e-4, 1e-7, 1e-3);
    // output at the beginning of periods and ripple of the current in the periodic motion of a duty
    let orbit = |duty: f64, r: f64| {
        let closed = exponential([[-on / l, -1.0 / l, e / l], [1.0 / c, -1.0 / (r * c), 0.0], [0.0; 3]], duty * period);
        let open = exponential([[0.0, -1.0 / l, 0.0], [1.0 / c, -1.0 / (r * c), 0.0], [0.0; 3]], (1.0 - duty) * period);
        let p: [[f64; 3]; 3] = std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| open[i][k] * closed[k][j]).sum()));
        let determinant = (1.0 - p[0][0]) * (1.0 - p[1][1]) - p[0][1] * p[1][0];
        let i = (p[0][2] * (1.0 - p[1][1]) + p[0][1] * p[1][2]) / determinant;
        let v = ((1.0 - p[0][0]) * p[1][2] + p[1][0] * p[0][2]) / determinant;
        (v, closed[0][0] * i + closed[0][1] * v + closed[0][2] - i)
    };
    let course = |name: &str| -> Vec<f64> {
        let names = done.simulation.file.model.systems().coordinates();
        let i = names.position(name).unwrap();
        done.keep.q.iter().map(|q| q[i]).collect()
    };
    for (r, span) in [(5.0, 0.012..0.015), (2.5, 0.026..0.03)] {
        let (mut low, mut high) = (0.3, 0.5);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if orbit(middle, r).0 < 9.0 { low = middle } else { high = middle }
        }
        let grain = h / period;
        let volts = range(&done, &course("sensor.volts"), span.clone());
        // a grain of duty moves the output by E h/T, and the filter overshoots by less than as much again
        assert!(volts.iter().all(|v| (v - 9.0).abs() < 2.0 * e * grain), "{r} Ω: {volts:?}");
        let duty = range(&done, &course("actuator.duty"), span.clone());
        assert!(duty.iter().all(|d| (d - low).abs() < 2.0 * grain), "{r} Ω: {duty:?}, exactly {low}");
        let [least, most] = range(&done, &done.signal("i.L1"), span);
        // a grain of duty moves the ripple by E h/L, and the mean by twice E h/(T R) from period to period
        let slack = e * h / l + 4.0 * e * grain / r;
        assert!((most - least - orbit(low, r).1).abs() < slack, "{r} Ω: {} {}", most - least, orbit(low, r).1);
    }
}
