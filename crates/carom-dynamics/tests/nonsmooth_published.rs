//! Published cases by the schemes that are of second order between impacts.

use crate::nonsmooth_second_order::{alpha, d1_minus};
use crate::support::run_scheme;
use carom_dynamics::problems::{bouncing_ball, woodpecker};
use carom_dynamics::relations::FormulaSource;
use carom_dynamics::schemes::AlphaLevel;
use carom_dynamics::systems::{Lagrangian, LagrangianText};
use carom_dynamics::{ContactLaw, Law, Model, State};

/// D⁻₁ on the bouncing ball, m = 1, q₀ = 1, e = 0.9, h = 5e-4: the published numbers of its first impact and of the force at the end.
#[test]
fn published_bouncing_ball() {
    let problem = bouncing_ball::problem(0.9).unwrap();
    let done = run_scheme(&problem.model, &problem.state, 10.0, 5e-4, &d1_minus());
    let frames = &done.keep.frames;
    let impact = frames.iter().find(|f| f.impulse > 0.0).unwrap();
    let expected = [(impact.t, 0.452), (impact.q[0], -2.11112e-3), (impact.v[0], 3.990708), (impact.impulse, 8.424828)];
    for (found, expected) in expected {
        // all digits that were printed; 904 steps of round-off
        assert!((found - expected).abs() < 1e-12, "{found} instead of {expected}");
    }
    let last = &frames[frames.len() - 1];
    assert!((last.impulse / 5e-4 - 9.81).abs() < 1e-9 && last.v[0].abs() < 1e-12, "{last:?}");
}

/// The slider-crank whose slider plays in its guide, with friction μ at its four corners [Flores, Leine & Glocker 2010].
fn slider_crank(friction: f64) -> Model {
    let text = LagrangianText {
        coordinates: vec!["th1".into(), "th2".into(), "th3".into()],
        parameters: [
            ("l1", 0.153),
            ("l2", 0.306),
            ("m1", 0.038),
            ("m2", 0.038),
            ("m3", 0.076),
            ("j1", 7.4e-5),
            ("j2", 5.9e-4),
            ("j3", 2.7e-6),
            ("g", 9.81),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec(),
        kinetic: "(j1 + (m1/4 + m2 + m3)*l1^2)*th1_dot^2/2 + (m2/2 + m3)*l1*l2*cos(th2 - th1)*th1_dot*th2_dot \
                  + (j2 + (m2/4 + m3)*l2^2)*th2_dot^2/2 + j3*th3_dot^2/2"
            .into(),
        potential: "g*m1*l1/2*sin(th1) + g*m2*(l1*sin(th1) + l2/2*sin(th2)) + g*m3*(l1*sin(th1) + l2*sin(th2))".into(),
        forces: Vec::new(),
    };
    let mut model = Model::new(vec![Box::new(Lagrangian::new(&text).unwrap())]).unwrap();
    for (name, side, along) in [("ul", "-", "-"), ("ur", "-", "+"), ("ll", "+", "-"), ("lr", "+", "+")] {
        let (corner, other) = if side == "-" { ("+", "-") } else { ("-", "+") };
        let gap = format!("0.026 {side} (0.153*sin(th1) + 0.306*sin(th2) {along} 0.05*sin(th3) {corner} 0.025*cos(th3))");
        let tangent = format!("0.153*cos(th1) + 0.306*cos(th2) {along} 0.05*cos(th3) {other} 0.025*sin(th3)");
        let rows = vec![("gap".to_owned(), gap), ("tangent".to_owned(), tangent)];
        let law = Law::Contact(ContactLaw::coulomb(friction, 0.4));
        model.add_formula(name, &FormulaSource { rows, parameters: Vec::new() }, law).unwrap();
    }
    model
}

/// Without friction: times of the first impacts, from event-driven references of 18 digits.
#[test]
fn slider_crank_impacts() {
    let model = slider_crank(0.0);
    let state = State { t: 0.0, q: vec![0.0; 3], v: vec![150.0, -75.0, 0.0] };
    let (h, times) = (1e-5, [0.002_692_502_752_021_213, 0.005_607_797_868_070_891]);
    for params in [d1_minus(), alpha(AlphaLevel::Velocity, 0.8), alpha(AlphaLevel::PositionVelocity, 0.8)] {
        let done = run_scheme(&model, &state, 6e-3, h, &params);
        let impacts: Vec<f64> = done.keep.frames.iter().filter(|f| f.impulse > 0.0).map(|f| f.t).collect();
        println!("{impacts:?}");
        assert!((impacts[0] - times[0]).abs() <= h && (impacts[1] - times[1]).abs() <= 3.0 * h, "{params:?}: {impacts:?}");
        assert!(done.state.q[2].abs() < 1e-9, "the slider stays parallel: {}", done.state.q[2]);
    }
}

/// With friction, turns of the crank after 0.05 s against Moreau–Jean with the same step, 0.7636247 (all are of first order there).
#[test]
fn slider_crank_turns() {
    let model = slider_crank(0.01);
    let state = State { t: 0.0, q: vec![0.0; 3], v: vec![150.0, -75.0, -0.01] };
    for params in [alpha(AlphaLevel::Velocity, 0.8), alpha(AlphaLevel::PositionVelocity, 0.8), d1_minus()] {
        let done = run_scheme(&model, &state, 0.05, 1e-5, &params);
        let (c, turns) = (&done.certificate, done.state.q[0] / std::f64::consts::TAU);
        println!("{turns} depth {:9.1e} gain {:9.1e} {params:?}", c.max_penetration, c.contact_gain);
        assert!((turns - 0.763_624_7).abs() < 5e-3, "{params:?}: {turns}");
    }
}

/// The woodpecker toy (impacts, friction, jamming in its sleeve) at the end of 0.3 s, against its published run by Moreau–Jean with the same step.
#[test]
fn woodpecker_descends() {
    let problem = woodpecker::problem().unwrap();
    let (q, _) = problem.solution.at_end(problem.end);
    for params in [alpha(AlphaLevel::Velocity, 0.8), alpha(AlphaLevel::PositionVelocity, 0.8), d1_minus()] {
        let done = run_scheme(&problem.model, &problem.state, problem.end, 2e-5, &params);
        let c = &done.certificate;
        println!("{:?} {q:?} gain {:9.1e} depth {:9.1e} {params:?}", done.state.q, c.contact_gain, c.max_penetration);
        // both are of first order in the times of impacts: 1 % of the descent, 0.0413 m
        assert!((done.state.q[0] - q[0]).abs() < 5e-4, "{params:?}: {:?}", done.state.q);
    }
}
