//! Contacts that pull: constant cohesion and bonds that break, against exact motions.

use crate::contact_laws::{G, masses, schemes, with_contact};
use crate::support::{fitted_order, run_scheme};
use carom_dynamics::schemes::{SchemeParams, take_step};
use carom_dynamics::{Cohesion, ContactLaw, Model, State, StepMemory};
use carom_solvers::FrictionSolverParams;

/// A unit mass on the floor y = 0 with a constant force along y.
fn mass(force: f64, cohesion: Cohesion) -> Model {
    with_contact(masses(&["y"], &[0.0], &[force]), &["y"], ContactLaw { cohesion, ..ContactLaw::default() }).unwrap()
}

fn at(q: f64, v: f64) -> State {
    State { t: 0.0, q: vec![q], v: vec![v], ..State::default() }
}

/// A mass hangs from the ceiling while its weight is below the cohesion, and falls when it is above.
#[test]
fn constant_cohesion_carries_its_force() {
    for (load, hangs) in [(0.9999, true), (1.0001, false)] {
        // the ceiling is y = 0 seen from below: y points down
        let model = mass(G, Cohesion::Constant { force: G / load, reach: 1e-6 });
        for params in schemes(&model) {
            let done = run_scheme(&model, &at(0.0, 0.0), 1.0, 1e-3, &params);
            let y = done.state.q[0];
            assert!(if hangs { y.abs() < 1e-12 } else { y > 0.3 * G }, "{params:?} {load}: {y}");
            let impulse = done.keep.frames.last().unwrap().impulse;
            if hangs {
                // the recorded impulse is what the contact gives: the weight, pulling
                assert!((impulse + 1e-3 * G).abs() < 1e-12, "{impulse}");
            }
            let c = &done.certificate;
            assert!(c.energy_error().abs() < 1e-10 * y.abs().max(1.0), "{params:?}: {}", c.energy_error());
        }
    }
}

/// The friction of a contact without load is bounded by μ c.
#[test]
fn cohesion_loads_the_friction() {
    let law = ContactLaw { cohesion: Cohesion::Constant { force: 2.0, reach: 1e-6 }, ..ContactLaw::coulomb(0.5, 0.0) };
    for (pull, acceleration) in [(0.99, 0.0), (1.02, 0.02)] {
        let model = with_contact(masses(&["x", "y"], &[0.0; 2], &[pull, 0.0]), &["y", "x"], law).unwrap();
        for params in schemes(&model) {
            let done = run_scheme(&model, &State { t: 0.0, q: vec![0.0; 2], v: vec![0.0; 2], ..State::default() }, 0.5, 1e-3, &params);
            assert!((done.state.v[0] - 0.5 * acceleration).abs() < 1e-12, "{params:?} {pull}: {:?}", done.state.v);
        }
    }
}

const STRENGTH: f64 = 10.0;
const OPENING: f64 = 1e-3;
const ZONE: Cohesion = Cohesion::Zone { strength: STRENGTH, opening: OPENING };

/// A bond under the load L > F: δ = (L − F) δ_c/F (cosh ωt − 1) with ω² = F/δ_c, until it breaks at δ_c having taken F δ_c/2.
#[test]
fn a_bond_breaks_along_its_curve() {
    let load = 12.0;
    let model = mass(load, ZONE);
    let omega = (STRENGTH / OPENING).sqrt();
    let broken = (1.0 + STRENGTH / (load - STRENGTH)).acosh() / omega;
    let half: f64 = 0.015;
    let exact_half = (load - STRENGTH) * OPENING / STRENGTH * ((omega * half).cosh() - 1.0);
    let speed = (2.0 * (load * OPENING - 0.5 * STRENGTH * OPENING)).sqrt();
    let end = 0.04;
    let exact_speed = speed + load * (end - broken);
    for params in schemes(&model) {
        let (mut halves, mut ends, mut energies) = (Vec::new(), Vec::new(), Vec::new());
        let steps = [1e-4, 5e-5, 2.5e-5, 1.25e-5];
        for h in steps {
            halves.push((run_scheme(&model, &at(0.0, 0.0), half, h, &params).state.q[0] / exact_half - 1.0).abs());
            let done = run_scheme(&model, &at(0.0, 0.0), end, h, &params);
            ends.push((done.state.v[0] / exact_speed - 1.0).abs());
            let c = &done.certificate;
            energies.push(((c.last.dissipated_impact + c.last.dissipated_friction) / (0.5 * STRENGTH * OPENING) - 1.0).abs());
            assert!(c.energy_error().abs() < 1e-12, "{}", c.energy_error());
        }
        println!("{}: opening {halves:?}, speed {ends:?}, energy {energies:?}", params.entry().name);
        assert!(fitted_order(&steps, &halves) > 0.9 && halves[3] < 2e-3, "{params:?}: {halves:?}");
        assert!(ends[3] < 2e-3 && energies[3] < 5e-3, "{params:?}: {ends:?} {energies:?}");
    }
}

/// Loads below the strength do nothing at all.
#[test]
fn a_bond_holds_below_its_strength() {
    let model = mass(0.9999 * STRENGTH, ZONE);
    for params in schemes(&model) {
        let done = run_scheme(&model, &at(0.0, 0.0), 0.1, 1e-4, &params);
        assert!(done.state.q[0].abs() < 1e-12, "{params:?}: {}", done.state.q[0]);
    }
}

/// A kick opens the bond to δ₁ with F (δ₁ − δ₁²/2δ_c) = ½ v²; it comes back and keeps 1 − δ₁/δ_c of its strength for good.
#[test]
fn a_bond_keeps_what_is_left() {
    let (kick, opened) = (0.08, 4e-4);
    let model = mass(0.0, ZONE);
    for params in schemes(&model) {
        let (scheme, h) = (params.build(), 1e-5);
        let mut memory = StepMemory::new(&model, &FrictionSolverParams::default()).unwrap();
        let mut state = at(0.0, kick);
        scheme.start(&model, &state, &mut memory).unwrap();
        let mut largest = 0.0_f64;
        for step in 0..10_000 {
            // a step that is tried and given up leaves the bond as it was
            if step % 7 == 0 {
                take_step(&*scheme, &model, &mut state, &mut memory, 20.0 * h).unwrap();
                memory.restore(&mut state);
            }
            take_step(&*scheme, &model, &mut state, &mut memory, h).unwrap();
            scheme.accept(&model, &state, &mut memory);
            largest = largest.max(state.q[0]);
        }
        assert!((largest / opened - 1.0).abs() < 0.01, "{params:?}: {largest}");
        assert!(state.q[0].abs() < 1e-6 && state.v[0].abs() < 1e-9, "{params:?}: {state:?}");
        let pull = memory.active().items()[0].pull / h;
        assert!((pull / (STRENGTH * (1.0 - largest / OPENING)) - 1.0).abs() < 1e-9, "{params:?}: {pull}");
    }
}

/// Contacts that are open by more than the opening when the run starts are not bonded; those of constant cohesion stick when they close.
#[test]
fn bonds_are_made_at_the_start_only() {
    let fall = at(0.01, -0.5);
    let rebounding = |cohesion| {
        let law = ContactLaw { cohesion, ..ContactLaw::coulomb(0.0, 0.5) };
        with_contact(masses(&["y"], &[0.0], &[0.0]), &["y"], law).unwrap()
    };
    let end = |model: &Model| run_scheme(model, &fall, 0.2, 1e-3, &SchemeParams::default()).state;
    assert!((end(&rebounding(ZONE)).v[0] - 0.25).abs() < 1e-12);
    let sticky = end(&rebounding(Cohesion::Constant { force: 100.0, reach: 1e-3 }));
    assert!(sticky.v[0].abs() < 1e-9 && sticky.q[0].abs() < 1e-3, "{sticky:?}");
}
