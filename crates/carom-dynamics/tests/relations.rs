//! G, b and (dG/dt) v + db/dt of relations by formula, against finite differences along a motion.

use carom_dynamics::relations::{FormulaRelation, FormulaSource, Relation, Rows};
use carom_dynamics::systems::{Lagrangian, LagrangianText, RigidBodies, RigidBody, Scratch, System, SystemSet};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use std::sync::Arc;

fn systems() -> Arc<SystemSet> {
    let text =
        LagrangianText { coordinates: vec!["a".into(), "b".into()], kinetic: "a_dot^2/2 + b_dot^2/2".into(), ..LagrangianText::default() };
    let body = |name: &str| RigidBody { name: name.into(), mass: 1.0, inertia: Matrix3::from_diagonal(&Vector3::new(1.0, 1.2, 1.5)) };
    let parts: Vec<Box<dyn System>> = vec![
        Box::new(Lagrangian::new(&text).unwrap()),
        Box::new(RigidBodies::new(vec![body("first"), body("second")], Vector3::zeros()).unwrap()),
    ];
    Arc::new(SystemSet::new(parts).unwrap())
}

/// Along q(ε) = q ⊕ ε v, t(ε) = t + ε with constant v: dg/dε = G v + b and d²g/dε² = (dG/dt) v + db/dt.
#[test]
fn first_and_second_derivatives_by_differences() {
    let systems = systems();
    let r = UnitQuaternion::from_euler_angles(0.2, -0.5, 0.9);
    let q = [0.3, -0.7, 0.1, 0.2, 0.3, 1.0, 0.0, 0.0, 0.0, -0.4, 0.5, 0.6, r.w, r.i, r.j, r.k];
    let v = [0.9, -0.4, 0.2, 0.3, -0.1, 0.4, 0.5, -0.6, -0.2, 0.1, 0.3, 1.0, -0.7, 0.8];
    let t = 0.4;
    let rows = [
        "sin(a)*b^2 + t*a",
        "(a - 1)^2 + exp(b*t)",
        "second.z + 2*(second.qw*second.qy - second.qx*second.qz)*a",
        "first.x*second.y - first.qx*second.qw + cos(3*t)*b",
    ];
    for row in rows {
        let source = FormulaSource { rows: vec![("test".into(), row.into())], parameters: Vec::new() };
        let relation = FormulaRelation::new(&source, &systems).unwrap();
        let mut scratch = Scratch::default();
        let mut value = |epsilon: f64| {
            let step: Vec<f64> = v.iter().map(|v| v * epsilon).collect();
            let (mut moved, mut g) = (q, [0.0]);
            systems.advance(&q, &step, &mut moved);
            relation.position(t + epsilon, &moved, &mut g, &mut scratch).unwrap();
            g[0]
        };
        let epsilon = 1e-4;
        let (plus, zero, minus) = (value(epsilon), value(0.0), value(-epsilon));
        let (mut jacobian, mut bias) = (vec![0.0; relation.velocities().len()], [0.0]);
        relation.jacobian(t, &q, Rows { jacobian: &mut jacobian, bias: &mut bias }, &mut scratch).unwrap();
        let first = bias[0] + jacobian.iter().zip(relation.velocities()).map(|(g, &i)| g * v[i]).sum::<f64>();
        let mut second = [0.0];
        relation.acceleration_bias(t, &q, &v, &mut second, &mut scratch).unwrap();
        // truncation ε²/6 × third derivative (below 30) = 5e-8; round-off 1e-16/ε² = 1e-8
        assert!((first - (plus - minus) / (2.0 * epsilon)).abs() < 1e-7, "{row}: {first}");
        let difference = (plus - 2.0 * zero + minus) / (epsilon * epsilon);
        assert!((second[0] - difference).abs() < 1e-6, "{row}: {} {difference}", second[0]);
    }
}

/// A relation touches only the velocities it depends on, and knows when it is constant.
#[test]
fn dependencies_are_found() {
    let systems = systems();
    let relation = |text: &str| {
        let source = FormulaSource { rows: vec![("gap".into(), text.into())], parameters: vec![("l".into(), 2.0)] };
        FormulaRelation::new(&source, &systems)
    };
    let linear = relation("l*b - first.z + 3").unwrap();
    assert_eq!((linear.velocities(), linear.n_rows()), (&[1, 4][..], 1));
    assert!(!linear.is_constant(), "bodies have curved coordinates, so their rows are evaluated anew");
    assert!(relation("l*b - a").unwrap().is_constant());
    assert!(relation("b - t").unwrap().is_constant());
    assert!(!relation("b*a").unwrap().is_constant());
    assert_eq!(relation("second.qx").unwrap().velocities(), &[11, 12, 13]);
    assert!(relation("l*t").is_err());
    assert!(relation("c").is_err());
}
