//! Direct and combined projection against published runs, and what they promise: no drift, no penetration.

use crate::support::{Done, run_scheme};
use carom_dynamics::laws::{ContactLaw, Law};
use carom_dynamics::relations::FormulaSource;
use carom_dynamics::schemes::{
    ClosedContacts, CombinedProjectionParams, DirectProjectionParams, Metric, ProjectedContacts, SchemeParams,
};
use carom_dynamics::systems::{Lagrangian, LagrangianText};
use carom_dynamics::{Model, State};
use std::f64::consts::TAU;

/// The slider-crank whose slider plays in its guide [Flores, Leine & Glocker 2010]: four corners with friction and restitution.
fn slider_crank_with_clearance() -> (Model, State) {
    let numbers = [
        ("l1", 0.153),
        ("l2", 0.306),
        ("a", 0.05),
        ("b", 0.025),
        ("d", 0.052),
        ("m1", 0.038),
        ("m2", 0.038),
        ("m3", 0.076),
        ("j1", 7.4e-5),
        ("j2", 5.9e-4),
        ("j3", 2.7e-6),
        ("g", 9.81),
    ];
    let parameters: Vec<(String, f64)> = numbers.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let system = Lagrangian::new(&LagrangianText {
        coordinates: ["th1", "th2", "th3"].map(String::from).to_vec(),
        parameters: parameters.clone(),
        kinetic: "(j1 + (m1/4 + m2 + m3)*l1^2)*th1_dot^2/2 + (m2/2 + m3)*l1*l2*cos(th2 - th1)*th1_dot*th2_dot
            + (j2 + (m2/4 + m3)*l2^2)*th2_dot^2/2 + j3*th3_dot^2/2"
            .into(),
        potential: "g*(m1/2 + m2 + m3)*l1*sin(th1) + g*(m2/2 + m3)*l2*sin(th2)".into(),
        forces: Vec::new(),
    })
    .unwrap();
    let mut model = Model::new(vec![Box::new(system)]).unwrap();
    for (name, wall, side) in [("upper left", -1, -1), ("upper right", -1, 1), ("lower left", 1, -1), ("lower right", 1, 1)] {
        let gap = format!("d/2 + ({wall})*(l1*sin(th1) + l2*sin(th2) + ({side})*a*sin(th3)) - b*cos(th3)");
        let tangent = format!("l1*cos(th1) + l2*cos(th2) + ({side})*a*cos(th3) + ({wall})*b*sin(th3)");
        let source = FormulaSource { rows: vec![("gap".into(), gap), ("tangent".into(), tangent)], parameters: parameters.clone() };
        model.add_formula(name, &source, Law::Contact(ContactLaw::coulomb(0.01, 0.4))).unwrap();
    }
    (model, State { t: 0.0, q: vec![0.0; 3], v: vec![150.0, -75.0, 0.0] })
}

fn crank(params: &SchemeParams) -> Done {
    let (model, state) = slider_crank_with_clearance();
    run_scheme(&model, &state, 0.2, 1e-4, params)
}

#[test]
fn explore() {
    let (t,) = (0.0999,);
    let show = |name: &str, params: &SchemeParams| {
        let done = crank(params);
        let at = |t: f64| done.keep.frames.iter().find(|f| (f.t - t).abs() < 1e-9).unwrap();
        println!("{name}: {:.9} {:.9} {:.9} {:.9} {:.9}  omega {:.9} depth {:e}", at(0.02).q[0]/TAU, at(0.05).q[0]/TAU, at(t).q[0] / TAU, at(0.15).q[0]/TAU, at(0.2).q[0] / TAU, at(0.2).v[0], done.certificate.max_penetration);
    };
    for metric in [Metric::Mass, Metric::Coordinates] {
        for closed_contacts in [ClosedContacts::MayOpen, ClosedContacts::Touch] {
            let p = CombinedProjectionParams { metric, closed_contacts, activation_threshold: 0.0, ..Default::default() };
            show(&format!("{metric:?} {closed_contacts:?}"), &SchemeParams::CombinedProjection(p));
        }
        let p = DirectProjectionParams { metric, projected_contacts: ProjectedContacts::All, gamma: 0.0, activation_threshold: 1e-6, ..Default::default() };
        show(&format!("{metric:?} direct"), &SchemeParams::DirectProjection(p));
    }
}
