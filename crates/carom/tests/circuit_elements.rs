//! Each element of a netlist against its exact law.

use crate::circuits::circuit;

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
