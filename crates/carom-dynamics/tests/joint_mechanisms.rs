//! Mechanisms of bodies and joints with clearance against the same mechanisms in minimal coordinates with contacts by formula.

use crate::located::{Located, times};
use crate::support::{distance, run_scheme};
use carom_dynamics::problems::slider_crank_clearance;
use carom_dynamics::relations::{FormulaSource, JointContact, JointKind, JointPlacement, JointSource};
use carom_dynamics::report::EventKind;
use carom_dynamics::schemes::SchemeParams;
use carom_dynamics::systems::{Lagrangian, LagrangianText, PlanarBodies, PlanarBody};
use carom_dynamics::{ContactLaw, Law, Model, State};
use nalgebra::Vector3;

fn joint(kind: JointKind, bodies: [Option<&str>; 2], x: f64, y: f64) -> JointSource {
    let placement = JointPlacement::at(Vector3::new(x, y, 0.0)).along(Vector3::x());
    JointSource { kind, bodies: bodies.map(|b| b.map(str::to_owned)), placement }
}

fn bodies(list: &[(&str, f64, f64)]) -> Model {
    let list = list.iter().map(|&(name, mass, inertia)| PlanarBody { name: name.into(), mass, inertia }).collect();
    Model::new(vec![Box::new(PlanarBodies::new(list, [0.0, -9.81]).unwrap())]).unwrap()
}

/// The slider-crank of [`slider_crank_clearance`] of planar bodies.
fn slider_crank(friction: f64) -> (Model, State) {
    let (l1, l2) = (0.153, 0.306);
    let mut model = bodies(&[("crank", 0.038, 7.4e-5), ("rod", 0.038, 5.9e-4), ("slider", 0.076, 2.7e-6)]);
    let q = vec![l1 / 2.0, 0.0, 0.0, l1 + l2 / 2.0, 0.0, 0.0, l1 + l2, 0.0, 0.0];
    let v = vec![0.0, 75.0 * l1, 150.0, 0.0, 75.0 * l1, -75.0, 0.0, 0.0, 0.0];
    model.add_joint("main pin", &joint(JointKind::Revolute, [None, Some("crank")], 0.0, 0.0), &q).unwrap();
    model.add_joint("crank pin", &joint(JointKind::Revolute, [Some("crank"), Some("rod")], l1, 0.0), &q).unwrap();
    model.add_joint("gudgeon pin", &joint(JointKind::Revolute, [Some("rod"), Some("slider")], l1 + l2, 0.0), &q).unwrap();
    let guide = joint(JointKind::Prismatic, [None, Some("slider")], l1 + l2, 0.0);
    let corners = JointContact::slider("guide", &guide, [0.1, 0.05], 0.001, friction > 0.0, &model.shared_systems(), &q).unwrap();
    let law = ContactLaw::coulomb(friction, slider_crank_clearance::RESTITUTION);
    for (corner, name) in corners.into_iter().zip(["upper left", "upper right", "lower left", "lower right"]) {
        model.add_interaction(name, Box::new(corner), Law::Contact(law)).unwrap();
    }
    (model, State { t: 0.0, q, v, ..State::default() })
}

/// Without friction: the times of the first impacts, to 1e-11 s. With friction: the rates after the first, and both models after six milliseconds
/// and two impacts.
#[test]
fn slider_crank_of_bodies_is_that_of_formulas() {
    let (model, state) = slider_crank(0.0);
    let done = Located::events(1e-12).run(&model, &state, 0.0085);
    let found = times(&done, EventKind::Impact, "upper left");
    assert_eq!(found.len(), 4);
    assert!(distance(&found, &slider_crank_clearance::IMPACTS[..4]) < 1e-11, "{found:?}");

    let ((rough, start), (reference, reference_start)) = (slider_crank(0.01), slider_crank_clearance::model(0.01).unwrap());
    let after = Located::events(1e-12).run(&rough, &start, slider_crank_clearance::IMPACTS[0] + 1e-9);
    let rates = [after.state.v[2], after.state.v[5], after.state.v[8]];
    // in a nanosecond the rates change by 1e-5 at most
    assert!(distance(&rates, &slider_crank_clearance::FIRST_RATES_ROUGH) < 1e-4, "{rates:?}");
    let end = 0.006;
    let (one, other) = (Located::events(1e-12).run(&rough, &start, end), Located::events(1e-12).run(&reference, &reference_start, end));
    let error = distance(&[one.state.q[2], one.state.q[5], one.state.q[8]], &other.state.q);
    let rates = distance(&[one.state.v[2], one.state.v[5], one.state.v[8]], &other.state.v);
    println!("slider-crank, located: {error:e} rad {rates:e} rad/s");
    assert!(times(&one, EventKind::Impact, "upper left").len() >= 2 && error < 1e-10 && rates < 1e-7, "{error:e} {rates:e}");
    let step = 1e-5;
    let (one, other) =
        [(&rough, &start), (&reference, &reference_start)].map(|(m, s)| run_scheme(m, s, end, step, &SchemeParams::default())).into();
    let error = distance(&[one.state.q[2], one.state.q[5], one.state.q[8]], &other.state.q);
    println!("slider-crank, moreau-jean at 1e-5 s: {error:e} rad");
    assert!(error < 1e-3, "{error:e}");
}

/// A crank-rocker whose coupler has play on the rocker's pin, which is centred at the start: bodies and a journal.
fn four_bar(friction: f64) -> (Model, State) {
    let (w, l2, rho) = (30.0, 0.2_f64.sqrt(), 2.0);
    let bar = |l: f64| (rho * l, rho * l.powi(3) / 12.0);
    let mut model = bodies(&[("crank", 0.2, 0.02), ("coupler", bar(l2).0, bar(l2).1), ("rocker", bar(0.3).0, bar(0.3).1)]);
    let q = vec![0.0, 0.05, 0.0, 0.2, 0.2, 0.0, 0.4, 0.15, 0.0];
    let v = vec![-0.05 * w, 0.0, w, -0.1 * w, 0.0, 0.0, -0.05 * w, 0.0, w / 3.0];
    model.add_joint("main pin", &joint(JointKind::Revolute, [None, Some("crank")], 0.0, 0.0), &q).unwrap();
    model.add_joint("crank pin", &joint(JointKind::Revolute, [Some("crank"), Some("coupler")], 0.0, 0.1), &q).unwrap();
    model.add_joint("rocker pivot", &joint(JointKind::Revolute, [None, Some("rocker")], 0.4, 0.0), &q).unwrap();
    let worn = joint(JointKind::Revolute, [Some("coupler"), Some("rocker")], 0.4, 0.3);
    let journal = JointContact::journal("worn pin", &worn, (5e-4, 0.01), usize::from(friction > 0.0), &model.shared_systems(), &q).unwrap();
    model.add_interaction("worn pin", Box::new(journal), Law::Contact(ContactLaw::coulomb(friction, 0.5))).unwrap();
    (model, State { t: 0.0, q, v, ..State::default() })
}

/// The same in the angles a, b, c of the bars from where they start, with the gap by formula.
fn four_bar_by_formula() -> (Model, State) {
    let parameters = [("m1", 0.2), ("j1", 0.02), ("m2", 2.0 * 0.2_f64.sqrt()), ("m3", 0.6), ("g", 9.81)];
    let text = LagrangianText {
        coordinates: ["a", "b", "c"].map(String::from).to_vec(),
        parameters: parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect(),
        // the coupler starts along (0.4, 0.2), its middle lies (0.2, 0.2) − (0, 0.1) from the crank pin; |half|² = 0.05, J = m l²/12
        kinetic: "(j1 + m1*0.05^2)*a_dot^2/2 + m2*(0.01*a_dot^2 + 0.05*b_dot^2 + 2*a_dot*b_dot*0.1*(0.2*sin(b - a) + 0.1*cos(a - b)))/2 \
                  + m2*0.2/12*b_dot^2/2 + m3*0.09/3*c_dot^2/2"
            .into(),
        potential: "g*(m1*0.05*cos(a) + m2*(0.1*cos(a) + 0.2*sin(b) + 0.1*cos(b)) + m3*0.15*cos(c))".into(),
        forces: Vec::new(),
    };
    let mut model = Model::new(vec![Box::new(Lagrangian::new(&text).unwrap())]).unwrap();
    let gap = "5e-4 - hypot(-0.1*sin(a) + 0.4*cos(b) - 0.2*sin(b) - 0.4 + 0.3*sin(c), 0.1*cos(a) + 0.4*sin(b) + 0.2*cos(b) - 0.3*cos(c))";
    let source = FormulaSource { rows: vec![("gap".into(), gap.into())], parameters: Vec::new() };
    model.add_formula("worn pin", &source, Law::unilateral(0.5)).unwrap();
    (model, State { t: 0.0, q: vec![0.0; 3], v: vec![30.0, 0.0, 10.0], ..State::default() })
}

/// Located events of both models, from an eccentricity that the formula can differentiate, and the energy with friction.
#[test]
fn four_bar_with_a_worn_joint_is_that_of_formulas() {
    let ((model, mut state), (reference, mut reference_state)) = (four_bar(0.0), four_bar_by_formula());
    // at zero the formula's gap has no derivative: the rocker starts 1e-4 rad ahead in both
    let shift = 1e-4_f64;
    reference_state.q[2] = shift;
    (state.q[6], state.q[7], state.q[8]) = (0.4 - 0.15 * shift.sin(), 0.15 * shift.cos(), shift);
    (state.v[6], state.v[7]) = (-1.5 * shift.cos(), -1.5 * shift.sin());
    let end = 0.04;
    let (one, other) = (Located::events(1e-11).run(&model, &state, end), Located::events(1e-11).run(&reference, &reference_state, end));
    let (found, expected) = (times(&one, EventKind::Impact, "worn pin"), times(&other, EventKind::Impact, "worn pin"));
    println!("impacts: {found:?}");
    // then impacts accumulate, and how many of them are seen is round-off
    assert!(found.len() >= 8 && expected.len() >= 8, "{found:?} {expected:?}");
    assert!(distance(&found[..8], &expected[..8]) < 1e-12, "{found:?} {expected:?}");

    // rows of bodies and one contact with friction from the centred start: energy never grows
    let (model, state) = four_bar(0.1);
    let done = Located::events(1e-10).run(&model, &state, 0.02);
    let energies: Vec<f64> = done.keep.frames.iter().map(|frame| frame.mechanical).collect();
    assert!(energies.windows(2).all(|pair| pair[1] <= pair[0] + 1e-8), "energy grows");
    assert!(!times(&done, EventKind::Impact, "worn pin").is_empty() && energies[energies.len() - 1] < energies[0] - 1e-6);
}
