//! Each element of a netlist against its exact law.

use crate::circuits::circuit;
use crate::support::{Done, failure};

const SLOW: &str = "end = 1e-2\nstep = 1e-5";

/// A Zener diode clamps at its voltage, forwards at V_F.
#[test]
fn zener_clamps_both_ways() {
    let up = circuit("V1 in 0 10\nR1 in a 1k\nZ1 0 a 5.1 VF=0.7\nC1 a 0 1u", SLOW);
    assert!((up.x("C1.v") - 5.1).abs() < 1e-9); // the solver's tolerance
    assert!((up.signal("i.Z1").last().unwrap() + 4.9e-3).abs() < 1e-9);
    let down = circuit("V1 in 0 -10\nR1 in a 1k\nZ1 0 a 5.1 VF=0.7\nC1 a 0 1u", SLOW);
    assert!((down.x("C1.v") + 0.7).abs() < 1e-9);
}

/// Ideal transformer: voltages by n, currents by 1/n, no power kept.
#[test]
fn transformer_scales() {
    let done = circuit("V1 in 0 12\nT1 in 0 a 0 3\nR1 a 0 8\nRC a b 10\nC1 b 0 1u", SLOW);
    assert!((done.signal("v.a").last().unwrap() - 4.0).abs() < 1e-12);
    // 4 V on 8 Ω is 0.5 A, on the primary a third
    assert!((done.signal("i.T1").last().unwrap() - 0.5 / 3.0).abs() < 1e-9);
}

/// Coupled coils with the second one shorted: i₁ = V t/((1 − k²) L₁), i₂ = −k √(L₁/L₂) i₁.
#[test]
fn coupled_coils_share_flux() {
    let done = circuit("V1 a 0 1\nL1 a 0 1m\nV2 b 0 0\nL2 b 0 4m\nK1 L1 L2 0.6", "end = 1e-3\nstep = 1e-5");
    let i1 = 1e-3 / ((1.0 - 0.36) * 1e-3);
    assert!((done.x("L1.i") - i1).abs() < 1e-11); // rounding of 100 steps
    assert!((done.x("L2.i") + 0.6 * 0.5 * i1).abs() < 1e-11);
}

/// Capacitors in parallel share a charge at once, coils in series a current.
#[test]
fn dependent_states_stay_equal() {
    let done =
        circuit("C1 a 0 1u IC=3\nC2 a 0 2u IC=3\nR1 a 0 1k", "end = 3e-3\nstep = 1e-6\nscheme = { kind = \"euler-moreau\", theta = 0.5 }");
    let exact = 3.0 * (-1.0_f64).exp();
    assert!((done.x("C1.v") - exact).abs() < 1e-3 && (done.x("C1.v") - done.x("C2.v")).abs() < 1e-12, "{}", done.x("C1.v"));
    let jump = circuit("C1 a 0 1u IC=3\nC2 a 0 2u\nR1 a 0 1meg", "end = 1e-6\nstep = 1e-7");
    // charge 3 µC on 3 µF: 1 V, and the event is told
    assert!((jump.x("C2.v") - 1.0).abs() < 1e-5, "{}", jump.x("C2.v"));
    assert!(jump.keep.events.iter().any(|event| event.note.contains("jumps")));
    let coils = circuit("V1 in 0 1\nL1 in a 1m\nL2 a b 3m\nR1 b 0 1", "end = 4e-3\nstep = 1e-6");
    assert!((coils.x("L1.i") - (1.0 - (-1.0_f64).exp())).abs() < 1e-3 && (coils.x("L1.i") - coils.x("L2.i")).abs() < 1e-12);
}

/// A switch by time: the capacitor charges while it is closed and keeps its voltage while it is open, exactly.
#[test]
fn switches_open_and_close() {
    let done = circuit("V1 in 0 5\nS1 in a {1e-3 - t}\nR1 a out 1k\nC1 out 0 1u", "end = 2e-3\nstep = 1e-6");
    let exact = 5.0 * (1.0 - (-1.0_f64).exp());
    assert!((done.x("C1.v") - exact).abs() < 5e-3, "{}", done.x("C1.v"));
    let out = done.signal("v.out");
    // 1e-15 S of leak at the switch's node
    assert!((out[1002] - out[2000]).abs() < 1e-11 && done.signal("i.S1")[1500].abs() < 1e-12);
}

/// A coil whose current is cut breaks the switch down at V_max: L i²/2 goes into the switch.
#[test]
fn an_opened_coil_breaks_its_switch_down() {
    let done = circuit("V1 in 0 10\nR1 in a 10\nL1 a b 1m IC=1\nS1 b 0 {-1} VMAX=110", "end = 2e-5\nstep = 1e-8");
    // L i̇ = 10 − 10 i − 110: i reaches zero at (L/R) ln(11/10)
    let i = done.signal("i.L1");
    let zero = done.keep.t[i.iter().position(|&i| i.abs() < 1e-12).unwrap()];
    assert!((zero - 1e-4 * 1.1_f64.ln()).abs() < 3e-8, "{zero}"); // two steps
    assert!(done.certificate.last.dissipated_friction > 5e-4);
}

/// All four controlled sources.
#[test]
fn controlled_sources_follow() {
    let done = circuit(
        "V1 in 0 2\nR1 in 0 1k\nE1 a 0 in 0 3\nRA a b 1k\nC1 b 0 1n\nG1 0 g in 0 1m\nRG g 0 500\n\
         H1 h 0 R1 4k\nRH h 0 1k\nF1 0 f R1 2\nRF f 0 250",
        "end = 1e-4\nstep = 1e-6",
    );
    for (name, value) in [("v.a", 6.0), ("v.b", 6.0), ("v.g", 1.0), ("v.h", 8.0), ("v.f", 1.0)] {
        assert!((done.signal(name).last().unwrap() - value).abs() < 1e-9, "{name}");
    }
}

/// A source by a formula of the circuit that is not linear: C v̇ = −v³, v = 1/√(1 + 2t).
#[test]
fn formulas_of_the_circuit_may_be_nonlinear() {
    let done = circuit("C1 a 0 1 IC=1\nI1 a 0 {v(a)^3}", "end = 1\nstep = 1e-3\nscheme = { kind = \"euler-moreau\", theta = 0.5 }");
    let exact = 1.0 / 3.0_f64.sqrt();
    assert!((done.x("C1.v") - exact).abs() < 1e-3, "{}", done.x("C1.v")); // order 1: the source's value is a multiplier
    assert_eq!(done.certificate.unconverged, 0);
}

/// Forward active: i_C = β i_B; saturated: both junctions conduct and u_CE = 0; cut off: nothing flows. PNP is the mirror image.
#[test]
fn transistors_amplify_saturate_and_block() {
    for (sign, kind) in [(1.0, "NPN"), (-1.0, "PNP")] {
        let stage = |base: f64, load: &str| {
            let netlist = format!(
                "VC cc 0 {}\nRC cc c {load}\nC1 c 0 1n\nVB bb 0 {}\nRB bb b 10k\nQ1 c b 0 {kind} BF=100 VF=0.7",
                10.0 * sign,
                base * sign
            );
            let done = circuit(&netlist, "end = 1e-3\nstep = 1e-6");
            let last = |name: &str| sign * done.signal(name).last().unwrap();
            (last("i.Q1"), last("i.Q1.base"), last("v.c"))
        };
        let (collector, base, v) = stage(1.7, "500");
        assert!((base - 1e-4).abs() < 1e-9 && (collector - 1e-2).abs() < 1e-7 && (v - 5.0).abs() < 1e-4, "{kind}: {collector} {base} {v}");
        let (collector, _, v) = stage(1.7, "5k");
        assert!(v.abs() < 1e-6 && (collector - 2e-3).abs() < 1e-8, "{kind}: {collector} {v}");
        let (collector, base, v) = stage(0.5, "5k");
        assert!(collector.abs() < 1e-12 && base.abs() < 1e-12 && (v - 10.0).abs() < 1e-6, "{kind}: {collector} {base} {v}");
    }
}

/// Converters whose switches have this resistance.
fn converters(resistance: &str) -> Vec<(&'static str, String, &'static str)> {
    let gate = "sin(2*pi*2500*t)";
    let filter = "L1 sw out 20m IC=0.5\nC1 out 0 47u IC=12\nR1 out 0 22";
    let switch = |name: &str, nodes: &str, gate: &str| format!("{name} {nodes} {{{gate}}} VMAX=100 RON={resistance}");
    let not = format!("-{gate}");
    vec![
        ("buck", format!("V1 in 0 24\n{}\nD1 0 sw\n{filter}", switch("S1", "in sw", gate)), "end = 2e-3\nstep = 4e-7"),
        (
            "two switches",
            format!("V1 in 0 24\n{}\n{}\n{filter}", switch("S1", "in sw", gate), switch("S2", "sw 0", &not)),
            "end = 2e-3\nstep = 4e-7",
        ),
        (
            "full bridge",
            format!(
                "V1 in 0 24\n{}\n{}\n{}\n{}\nL1 a c 2m\nR1 c b 5",
                switch("S1", "in a", gate),
                switch("S2", "a 0", &not),
                switch("S3", "in b", &not),
                switch("S4", "b 0", gate)
            ),
            "end = 2e-3\nstep = 4e-7",
        ),
        (
            "parallel",
            format!("V1 in 0 5\n{}\n{}\nR1 a out 1k\nC1 out 0 1u", switch("S1", "in a", "1e-3 - t"), switch("S2", "in a", "2e-3 - t")),
            "end = 3e-3\nstep = 1e-6",
        ),
        (
            "alternating",
            format!("V1 in 0 SIN(0 10 1000)\n{}\nL1 a b 1m\nC1 b 0 1u\nR1 b 0 100", switch("S1", "in a", "sin(2*pi*300*t)")),
            "end = 5e-3\nstep = 1e-6",
        ),
    ]
}

/// Switches without resistance are the limit of switches with a small one: states differ in proportion to it, 1000 times less for 1 µΩ than for 1 mΩ, and the accounts close as well.
#[test]
fn ideal_switches_are_the_limit_of_small_resistances() {
    for ((name, ideal, simulation), (_, small, _), (_, large, _)) in
        converters("0").into_iter().zip(converters("1u")).zip(converters("1m")).map(|((a, b), c)| (a, b, c))
    {
        let [ideal, small, large] = [ideal, small, large].map(|netlist| circuit(&netlist, simulation));
        let last = |done: &Done| done.keep.x.last().unwrap().clone();
        let off = |done: &Done| last(done).iter().zip(last(&ideal)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let (a, b) = (off(&small), off(&large));
        assert!(b > 0.0 && (b / a - 1000.0).abs() < 50.0, "{name}: {a:e} {b:e}");
        let (c, of_small) = (&ideal.certificate, &small.certificate);
        assert_eq!(c.unconverged, 0, "{name}");
        // the error of the scheme, not of the switches
        assert!(
            (c.energy_error() - of_small.energy_error()).abs() < 1e-4 * of_small.energy_error().abs(),
            "{name}: {} {}",
            c.energy_error(),
            of_small.energy_error()
        );
        assert!(c.last.dissipated_impact.abs() < 1e-12 * c.last.work.abs(), "{name}: {}", c.last.dissipated_impact);
    }
}

/// The buck converter with feedback and an ideal switch: currents balance at the switch's node in every step, whatever the pieces of its law went through.
#[test]
fn an_ideal_switch_with_feedback_keeps_the_balance_of_currents() {
    let netlist = |resistance: &str| {
        format!(
            "V1 in 0 24\nS1 in sw {{v(ramp) - 8.4*(v(out) - 11.3)}} VMAX=100 RON={resistance}\nD1 0 sw\nL1 sw out 20m IC=0.5\nC1 out 0 47u IC=12\nR1 out 0 22\n\
             VR ramp 0 {{3.8 + 4.4*(t/400e-6 - floor(t/400e-6))}}\nRR ramp 0 1k"
        )
    };
    let done = circuit(&netlist("0"), "end = 4e-3\nstep = 4e-7");
    assert_eq!(done.certificate.unconverged, 0);
    let (switch, diode, coil) = (done.signal("i.S1"), done.signal("i.D1"), done.signal("i.L1"));
    for k in 1..switch.len() {
        // leak of 1e-15 S at 24 V; rounding of an ampere
        assert!((switch[k] + diode[k] - coil[k]).abs() < 1e-12, "{k}: {} {} {}", switch[k], diode[k], coil[k]);
    }
    let small = circuit(&netlist("1u"), "end = 4e-3\nstep = 4e-7");
    // 1 µΩ at 0.6 A, and an instant of switching that may move by a step of 0.4 µs: 24 V · 0.4 µs/20 mH
    assert!((done.x("L1.i") - small.x("L1.i")).abs() < 4.8e-4, "{} {}", done.x("L1.i"), small.x("L1.i"));
}

/// A switch without resistance must not short a source; two that do so together have no solution, and the message names one.
#[test]
fn ideal_switches_do_not_short_sources() {
    let text = |netlist: &str| format!("[circuit]\nnetlist = '''\n{netlist}\n'''\n[simulation]\nend = 1e-3\nstep = 1e-5\n");
    let refused =
        carom::Simulation::from_text(&text("V1 in 0 5\nS1 in 0 {t - 1} RON=0\nR1 in a 1\nC1 a 0 1u")).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("S1 has no resistance") && refused.contains("V1"), "{refused}");
    let shorted = failure(&text("V1 in 0 5\nS1 in m {t - 5e-4} RON=0\nS2 m 0 {t - 4e-4} RON=0\nR1 m a 1\nC1 a 0 1u"));
    assert!(shorted.contains("worst at") && shorted.contains("S"), "{shorted}");
}
