//! The θ-method on the discretised gap: consistency, candidates, what it means for rigid bodies.

use crate::support::run_scheme;
use carom_dynamics::problems::{add_stop, bouncing_ball, pendulum};
use carom_dynamics::report::StepReport;
use carom_dynamics::schemes::{GapRule, SchemeParams, ThetaGapParams, take_step};
use carom_dynamics::{State, StepMemory};

const RULES: [GapRule; 3] = [GapRule::Theta, GapRule::ThetaEuler, GapRule::ModifiedTheta];
const H: f64 = 0.01;

fn scheme(gap: GapRule, theta: f64) -> SchemeParams {
    SchemeParams::ThetaGap(ThetaGapParams { theta, gap, ..ThetaGapParams::default() })
}

/// One step of a ball above a floor without restitution => (q, v).
fn ball_step(params: &SchemeParams, gap: f64, velocity: f64) -> (f64, f64, StepReport) {
    let p = bouncing_ball::problem(0.0).unwrap();
    let mut memory = StepMemory::new(&p.model, &Default::default()).unwrap();
    let mut state = State { t: 0.0, q: vec![gap], v: vec![velocity], ..State::default() };
    let report = take_step(&*params.build(), &p.model, &mut state, &mut memory, H).unwrap();
    (state.q[0], state.v[0], report)
}

/// φ_k = φ_{k+1} = 0 => u_{k+1} = 0 for θ-Euler and modified θ, and for θ at θ = 1 only [Brogliato2002, Remark 12]: otherwise u changes its sign.
#[test]
fn consistency_of_the_gap() {
    let before = -0.3;
    for theta in [0.5, 0.55, 0.75, 1.0] {
        for rule in RULES {
            // φ_k = 0 with the ball approaching
            let gap = if rule == GapRule::ModifiedTheta { -H * (1.0 - theta) * before } else { 0.0 };
            let (q, v, report) = ball_step(&scheme(rule, theta), gap, before);
            assert!(report.converged());
            // the contact holds: φ_{k+1} = 0
            let end = if rule == GapRule::ModifiedTheta { q + H * (1.0 - theta) * v } else { q };
            assert!(end.abs() < 1e-15, "{rule:?} {theta}: φ = {end}");
            let expected = if rule == GapRule::Theta { -(1.0 - theta) / theta * before } else { 0.0 };
            assert!((v - expected).abs() < 1e-14, "{rule:?} {theta}: u = {v}, not {expected}");
        }
    }
}

/// No contact by formula is missed, however far or slow at the start of the step.
#[test]
fn candidates() {
    for rule in RULES {
        for (gap, velocity) in [(1.0, -1000.0), (1e-4, 0.0), (1e-4, 0.01), (0.0, 0.0)] {
            let (q, v, report) = ball_step(&scheme(rule, 0.5), gap, velocity);
            assert_eq!(report.n_active, 1);
            // modified θ keeps the point h/2 u ahead out of the floor
            let judged = if rule == GapRule::ModifiedTheta { q + 0.5 * H * v } else { q };
            assert!(judged > -1e-12, "{rule:?} from {gap}, {velocity}: {judged}");
        }
    }
}

/// A rigid ball that falls on the floor stays there with the consistent rules. With "theta" it rebounds by a part of its speed that depends on
/// where in the step it touches, and not on the size of the step: the rule is made for nodes of deformable bodies, whose mass falls with the mesh.
#[test]
fn rigid_impacts() {
    for rule in RULES {
        let mut rebound = 0.0_f64;
        for k in 0..8 {
            let h = 1e-3 / f64::from(1 << (k / 4)) * (1.0 + 0.13 * f64::from(k % 4));
            let p = bouncing_ball::problem(0.0).unwrap();
            let done = run_scheme(&p.model, &p.state, 0.6, h, &scheme(rule, 0.5));
            rebound = done.keep.frames.iter().fold(rebound, |m, f| m.max(f.v[0]));
        }
        println!("{rule:?}: largest velocity after the impact {rebound:.3} m/s of 4.43");
        if rule == GapRule::Theta { assert!(rebound > 1.0) } else { assert!(rebound < 1e-9) }
    }
}

/// A gap that is not linear in the coordinates: a pendulum falls against a wall. Newton's iteration converges, and what violates the gap is its
/// curvature over a step, O(h²).
#[test]
fn curved_gap() {
    for rule in [GapRule::ThetaEuler, GapRule::ModifiedTheta] {
        let depth = |h: f64| {
            let mut p = pendulum::by_angle().unwrap();
            add_stop(&mut p.model, "wall", "sin(a) + 0.5", 0.0).unwrap();
            let done = run_scheme(&p.model, &p.state, 1.5, h, &scheme(rule, 0.5));
            // it comes to the wall and swings back from there
            let least = done.keep.frames.iter().fold(0.0_f64, |m, f| m.min(f.q[0]));
            assert!((least + std::f64::consts::FRAC_PI_6).abs() < 10.0 * h * h && done.state.v[0] > 1.0, "{least} {:?}", done.state);
            done.certificate.max_penetration
        };
        let (coarse, fine) = (depth(4e-3), depth(1e-3));
        println!("{rule:?}: depth {coarse:.1e}, {fine:.1e} m");
        assert!(coarse < 5.0 * 4e-3_f64.powi(2) && fine < 5.0 * 1e-3_f64.powi(2));
    }
}
