//! Derivatives of constraint forces and inertia that implicit integrators use, against differences.

use carom_dynamics::problems::heavy_top::heavy_top;
use carom_dynamics::relations::{ClosureRelation, FormulaRelation, FormulaSource, Relation, Rows};
use carom_dynamics::systems::{Lagrangian, LagrangianText, RigidBodies, RigidBody, Scratch, System, SystemSet};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use std::sync::Arc;

/// Central differences of Gᵀλ along q ⊕ ε e_j, as `Relation::add_curvature` orders them.
fn force_differences(systems: &SystemSet, relation: &dyn Relation, t: f64, q: &[f64], lambda: &[f64]) -> Vec<f64> {
    let (n, m, mut scratch) = (relation.velocities().len(), relation.n_rows(), Scratch::default());
    let mut force = |j: usize, epsilon: f64| {
        let (mut w, mut moved) = (vec![0.0; systems.velocities().len()], q.to_vec());
        w[relation.velocities()[j]] = epsilon;
        systems.advance(q, &w, &mut moved);
        let (mut g, mut bias) = (vec![0.0; m * n], vec![0.0; m]);
        relation.jacobian(t, &moved, Rows { jacobian: &mut g, bias: &mut bias }, &mut scratch).unwrap();
        (0..n).map(|i| (0..m).map(|k| lambda[k] * g[k * n + i]).sum()).collect::<Vec<f64>>()
    };
    let (epsilon, mut matrix) = (1e-5, vec![0.0; n * n]);
    for j in 0..n {
        for (i, (plus, minus)) in force(j, epsilon).iter().zip(force(j, -epsilon)).enumerate() {
            matrix[i * n + j] = (plus - minus) / (2.0 * epsilon);
        }
    }
    matrix
}

fn curvature(relation: &dyn Relation, t: f64, q: &[f64], lambda: &[f64], factor: f64) -> Vec<f64> {
    let mut matrix = vec![0.0; relation.velocities().len().pow(2)];
    relation.add_curvature(t, q, lambda, factor, &mut matrix, &mut Scratch::default()).unwrap();
    matrix
}

/// Truncation ε²/6 × third derivatives (below 30) and round-off 1e-15/ε are both below 1e-9; values are of size 1.
fn assert_close(found: &[f64], differences: &[f64], what: &str) {
    assert_eq!(found.len(), differences.len());
    assert!(found.iter().any(|x| x.abs() > 1e-2), "{what}: nothing to compare");
    for (k, (a, b)) in found.iter().zip(differences).enumerate() {
        assert!((a - b).abs() < 2e-9, "{what}, entry {k}: {a} {b}");
    }
}

#[test]
fn curvature_of_formulas_by_differences() {
    let text =
        LagrangianText { coordinates: vec!["a".into(), "b".into()], kinetic: "a_dot^2/2 + b_dot^2/2".into(), ..LagrangianText::default() };
    let body = |name: &str| RigidBody { name: name.into(), mass: 1.0, inertia: Matrix3::from_diagonal(&Vector3::new(1.0, 1.2, 1.5)) };
    let parts: Vec<Box<dyn System>> = vec![
        Box::new(Lagrangian::new(&text).unwrap()),
        Box::new(RigidBodies::new(vec![body("first"), body("second")], Vector3::zeros()).unwrap()),
    ];
    let systems = Arc::new(SystemSet::new(parts).unwrap());
    let (r, s) = (UnitQuaternion::from_euler_angles(0.2, -0.5, 0.9), UnitQuaternion::from_euler_angles(-1.0, 0.3, 0.4));
    let q = [0.3, -0.7, 0.1, 0.2, 0.3, s.w, s.i, s.j, s.k, -0.4, 0.5, 0.6, r.w, r.i, r.j, r.k];
    let flat = ["sin(a)*b^2 + t*a", "(a - 1)^2 + exp(b*t)"];
    let mixed = [
        "second.z + 2*(second.qw*second.qy - second.qx*second.qz)*a",
        "first.x*second.y - first.qx*second.qw + cos(3*t)*b",
        "first.qw^2*second.qz - first.y*first.qy",
    ];
    for rows in [&flat[..], &mixed[..]] {
        let rows: Vec<(String, String)> = rows.iter().map(|row| ("test".to_owned(), (*row).to_owned())).collect();
        let relation = FormulaRelation::new(&FormulaSource { rows, parameters: Vec::new() }, &systems).unwrap();
        let lambda = [0.7, -1.3, 0.4];
        let lambda = &lambda[..relation.n_rows()];
        let found = curvature(&relation, 0.4, &q, lambda, 1.0);
        assert_close(&found, &force_differences(&systems, &relation, 0.4, &q, lambda), "formula");
        let doubled: Vec<f64> = curvature(&relation, 0.4, &q, lambda, -2.0).iter().map(|x| -0.5 * x).collect();
        assert_close(&doubled, &found, "factor");
    }
}

#[test]
fn curvature_of_closures_by_differences() {
    let text =
        LagrangianText { coordinates: vec!["a".into(), "b".into()], kinetic: "a_dot^2/2 + b_dot^2/2".into(), ..LagrangianText::default() };
    let systems = SystemSet::new(vec![Box::new(Lagrangian::new(&text).unwrap())]).unwrap();
    let build = || {
        ClosureRelation::new(
            1,
            vec![0, 1],
            |_, q, g| g[0] = q[0].sin() * q[1],
            |_, q, rows| {
                rows.jacobian.copy_from_slice(&[q[0].cos() * q[1], q[0].sin()]);
                rows.bias.fill(0.0);
            },
            |_, q, v, out| out[0] = -q[0].sin() * q[1] * v[0] * v[0] + 2.0 * q[0].cos() * v[0] * v[1],
        )
    };
    let (q, lambda): ([f64; 2], _) = ([0.4, 1.7], [2.0]);
    let exact = [-2.0 * q[0].sin() * q[1], 2.0 * q[0].cos(), 2.0 * q[0].cos(), 0.0];
    assert_close(&curvature(&build().with_flat_coordinates(), 0.0, &q, &lambda, 1.0), &exact, "flat closure");
    assert!(curvature(&build(), 0.0, &q, &lambda, 1.0).iter().all(|&x| x == 0.0));
    assert_close(&force_differences(&systems, &build(), 0.0, &q, &lambda), &exact, "closure");

    // the heavy top gives its curvature by a closure, on quaternions
    let top = heavy_top().unwrap();
    let r = UnitQuaternion::from_euler_angles(0.2, -0.5, 0.9);
    let (q, lambda) = ([0.1, 0.2, 0.3, r.w, r.i, r.j, r.k], [0.5, -0.3, 0.8]);
    let relation = top.model.interactions()[0].relation();
    let differences = force_differences(top.model.systems(), relation, 0.0, &q, &lambda);
    assert_close(&curvature(relation, 0.0, &q, &lambda, 1.0), &differences, "heavy top");
}

#[test]
fn mass_derivative_of_lagrangians_by_differences() {
    let system = Lagrangian::new(&LagrangianText {
        coordinates: vec!["x".into(), "y".into(), "z".into()],
        kinetic: "(1 + x^2)*x_dot^2/2 + cos(x - y)*x_dot*y_dot + (2 + sin(z)*y)*z_dot^2/2 + y_dot^2 + t*z*y_dot*z_dot".into(),
        ..LagrangianText::default()
    })
    .unwrap();
    let (t, q, a, mut scratch) = (0.3, [0.4, -0.8, 1.1], [1.2, -0.7, 0.9], Scratch::default());
    let mut product = |q: &[f64; 3]| {
        let mut mass = [0.0; 9];
        system.mass(t, q, &mut mass, &mut scratch).unwrap();
        [0, 1, 2].map(|i| (0..3).map(|j| mass[3 * i + j] * a[j]).sum::<f64>())
    };
    let (epsilon, mut differences) = (1e-5, [0.0; 9]);
    for j in 0..3 {
        let mut shifted = |sign: f64| {
            let mut moved = q;
            moved[j] += sign * epsilon;
            product(&moved)
        };
        let (plus, minus) = (shifted(1.0), shifted(-1.0));
        for i in 0..3 {
            differences[3 * i + j] = (plus[i] - minus[i]) / (2.0 * epsilon);
        }
    }
    let mut matrix = [0.0; 9];
    system.add_mass_derivative(t, &q, &a, 1.0, &mut matrix, &mut Scratch::default()).unwrap();
    assert_close(&matrix, &differences, "mass");
}
