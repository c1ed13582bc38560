//! Motions at edges: how pieces meet, whether an edge is crossed, the velocity after a corner.

use crate::edges::{pieces, points};
use carom_dynamics::block_diagonal::BlockLayout;
use carom_dynamics::events::{
    EdgeCrossing, EdgeMode, EventParams, Junction, MassMetric, Passage, classify_edge, next_piece, pass_corner, turn_velocity,
};
use carom_dynamics::problems::edges::{ENERGY, parabola_plane};
use carom_dynamics::relations::{CornerLaw, PiecewiseRelation, Relation};
use carom_dynamics::systems::Instant;
use carom_dynamics::{Law, RunError};
use nalgebra::{DMatrix, DVector, Matrix4, Vector3, Vector4};

const G: f64 = 9.81;

fn classify(
    relation: &dyn Relation,
    from: usize,
    (q, v): (&[f64], &[f64]),
    accelerations: &mut dyn FnMut(usize) -> Vec<f64>,
) -> Result<EdgeCrossing, RunError> {
    let (at, model) = (Instant { t: 0.5, q, v }, points(&["x", "y", "z"][..q.len()]));
    classify_edge(&model, ("road", relation), true, from, at, &EventParams::default(), &mut |piece| Ok(accelerations(piece)))
}

fn not_asked(_: usize) -> Vec<f64> {
    panic!("a crossing needs no accelerations")
}

fn road(names: &[&str], texts: &[(&str, &str)], corner: CornerLaw) -> PiecewiseRelation {
    points(names).piecewise(&pieces(texts, corner)).unwrap()
}

/// Parabola and plane meet with one normal and two curvatures; (dG/dt) v jumps by ẋ² = 2E.
#[test]
fn curvature_jumps_between_parabola_and_plane() {
    let problem = parabola_plane(Law::Bilateral).unwrap();
    let (relation, speed) = (problem.model.interactions()[0].relation(), (2.0 * ENERGY).sqrt());
    // on the edge, and where a location to 1e-12 s may find it
    for x in [0.0, 5e-12, -5e-12] {
        let crossing = classify(relation, 0, (&[x, 0.0], &[-speed, 0.0]), &mut not_asked).unwrap();
        assert_eq!((crossing.junction, crossing.mode, crossing.to), (Junction::Curvature, EdgeMode::Transversal, 1));
        assert!((crossing.jump - 2.0 * ENERGY).abs() < 1e-12 && (crossing.rate + speed).abs() < 1e-14, "{crossing:?}");
        assert!(crossing.note().contains("from piece 1 to 2"), "{}", crossing.note());
    }
    // at rest on the edge nothing jumps, and nothing moves
    let crossing = classify(relation, 0, (&[0.0; 2], &[0.0; 2]), &mut |_| vec![0.0; 2]).unwrap();
    assert_eq!((crossing.junction, crossing.mode, crossing.to), (Junction::Smooth, EdgeMode::Tangent, 0));
    // back to where it came from
    let crossing = classify(relation, 0, (&[0.0; 2], &[speed, 0.0]), &mut not_asked).unwrap();
    assert_eq!(crossing.to, 0);
}

/// A ball moves along the edge of two planes z = a x and z = b x: accelerations as each plane gives them, −g e_z + Gᵀ λ.
#[test]
fn valley_attracts_and_ridge_repels() {
    for (a, b, wanted) in [
        (1.0, -1.0, EdgeMode::AttractiveSliding { alpha: 0.5 }),
        (1.0, -3.0, EdgeMode::AttractiveSliding { alpha: 0.5 / (0.5 + 0.3) }),
        (-1.0, 1.0, EdgeMode::RepulsiveSliding),
        (1.0, 2.0, EdgeMode::Tangent),
        (-1.0, -2.0, EdgeMode::Tangent),
    ] {
        let (first, second) = (format!("z - ({a})*x"), format!("z - ({b})*x"));
        let relation = road(&["x", "y", "z"], &[("x >= 0", &first), ("x <= 0", &second)], CornerLaw::Impact);
        let mut accelerations = |piece: usize| {
            let normal: Vector3<f64> = Vector3::new(if piece == 0 { -a } else { -b }, 0.0, 1.0);
            let a: Vector3<f64> = Vector3::new(0.0, 0.0, -G) + normal * (G / normal.norm_squared());
            a.as_slice().to_vec()
        };
        let crossing = classify(&relation, 0, (&[0.0; 3], &[0.0, 1.0, 0.0]), &mut accelerations).unwrap();
        assert_eq!(crossing.junction, Junction::Corner);
        match (crossing.mode, wanted) {
            (EdgeMode::AttractiveSliding { alpha }, EdgeMode::AttractiveSliding { alpha: wanted }) => {
                // Filippov's mixture stays on the edge
                let mixed = (1.0 - alpha) * accelerations(0)[0] + alpha * accelerations(1)[0];
                assert!((alpha - wanted).abs() < 1e-14 && mixed.abs() < 1e-14, "{alpha} {mixed}");
            }
            (mode, wanted) => assert_eq!(mode, wanted, "{a} {b}"),
        }
        // both planes fall to the left: over the edge; both to the right: back
        assert_eq!(crossing.to, usize::from(a == 1.0 && b == 2.0), "{a} {b}: {}", crossing.note());
    }
}

/// Pieces that do not meet, and conditions that leave a gap, are told with the place and the amount.
#[test]
fn pieces_that_do_not_meet_are_refused() {
    let step = road(&["x", "y"], &[("x >= 0", "y"), ("x <= 0", "y - 0.01")], CornerLaw::Impact);
    let error = classify(&step, 0, (&[0.0; 2], &[-1.0, 0.0]), &mut not_asked).unwrap_err().to_string();
    assert!(error.contains("\"road\" jumps by -1.000e-2 m from piece 1 to piece 2") && error.contains("t = 0.5"), "{error}");
    let gap = road(&["x", "y"], &[("x >= 0.1", "y"), ("x <= 0", "y")], CornerLaw::Impact);
    let error = classify(&gap, 0, (&[0.1, 0.0], &[-1.0, 0.0]), &mut not_asked).unwrap_err().to_string();
    assert!(error.contains("leaves piece 1 and no condition holds") && error.contains("1.000e-1"), "{error}");
    // a corner found a little late is no step
    let corner = road(&["x", "y"], &[("x >= 0", "y"), ("x <= 0", "y - x")], CornerLaw::Impact);
    let crossing = classify(&corner, 0, (&[-1e-5, 0.0], &[-1.0, 0.0]), &mut not_asked).unwrap();
    assert_eq!((crossing.junction, crossing.jump), (Junction::Corner, 1.0));
}

/// Where three pieces meet, the one into which the motion leads.
#[test]
fn next_piece_is_the_one_the_motion_enters() {
    let relation = road(&["x", "y", "z"], &[("x < 0", "z"), ("x >= 0 and y >= 0", "z"), ("x >= 0 and y < 0", "z")], CornerLaw::Impact);
    let next = |v: [f64; 3]| {
        next_piece(&points(&["x", "y", "z"]), &relation, 0, Instant { t: 0.0, q: &[0.0; 3], v: &v }, &EventParams::default()).unwrap()
    };
    assert_eq!((next([1.0, 0.5, 0.0]), next([1.0, -0.5, 0.0]), next([-1.0, 0.5, 0.0])), (1, 2, 0));
}

/// A bead on a bent wire keeps its speed and goes on along the new direction, whatever the angle.
#[test]
fn bead_follows_a_bent_wire() {
    let (layout, mass) = (BlockLayout::new([2]), [3.0, 0.0, 0.0, 3.0]);
    let metric = MassMetric::new(&layout, &mass).unwrap();
    for law in [CornerLaw::TimeScaling, CornerLaw::Reflection] {
        for angle in [-3.0, -1.0, -1e-9, 0.0, 1e-3, 0.5, 2.0, 3.0_f64] {
            let normals = [&[0.0, 0.5][..], &[-2.0 * angle.sin(), 2.0 * angle.cos()]];
            let turn = turn_velocity(law, &metric, normals, &[], &[2.0, 0.0]).unwrap();
            // 1 + cos θ is small near a cusp
            let bound = 1e-15 * (4.0 + 1.0 / (1.0 + angle.cos()));
            assert!((turn.velocity[0] - 2.0 * angle.cos()).abs() < bound, "{law:?} {angle}: {turn:?}");
            assert!((turn.velocity[1] - 2.0 * angle.sin()).abs() < bound, "{law:?} {angle}: {turn:?}");
            for (i, impulse) in turn.impulse.iter().enumerate() {
                let parts = turn.parts[0] * normals[0][i] + turn.parts[1] * normals[1][i];
                assert!((parts - impulse).abs() < bound * (1.0 + turn.parts[0].abs()), "{law:?} {angle}: {turn:?}");
            }
        }
        assert!(turn_velocity(law, &metric, [&[0.0, 1.0], &[0.0, -1.0]], &[], &[2.0, 0.0]).is_err());
    }
}

/// With a full mass matrix and other constraints: G₂v⁺ = 0, C v⁺ = 0, the energy is kept, both laws agree, and both give what the integration
/// of M v′ = Gᵀλ + Cᵀν with G v = 0, C v = 0 along G = (1 − τ) G₁ + τ G₂ gives.
#[test]
fn energy_is_kept_with_any_mass() {
    let root = Matrix4::new(1.0, 0.2, -0.3, 0.1, 0.0, 2.0, 0.5, 0.3, 0.4, 0.0, 1.5, -0.6, 0.1, 0.7, 0.0, 0.8);
    let mass = root.transpose() * root;
    let (first, second) = (Vector4::new(1.0, -0.5, 0.3, 0.2), Vector4::new(-0.4, 1.0, 0.6, -0.9));
    let row: Vector4<f64> = Vector4::new(0.3, 0.1, -1.0, 0.5);
    let values: Vec<f64> = mass.transpose().as_slice().to_vec();
    let layout = BlockLayout::new([4]);
    let metric = MassMetric::new(&layout, &values).unwrap();
    for others in [vec![], vec![row.as_slice().to_vec()], vec![row.as_slice().to_vec(), row.iter().map(|r| 2.0 * r).collect()]] {
        let wanted =
            project(&mass, &[vec![first], if others.is_empty() { vec![] } else { vec![row] }].concat(), Vector4::new(1.0, 2.0, -1.0, 0.5));
        let v = wanted.as_slice();
        let (by_time, by_mirror) = (
            turn_velocity(CornerLaw::TimeScaling, &metric, [first.as_slice(), second.as_slice()], &others, v).unwrap(),
            turn_velocity(CornerLaw::Reflection, &metric, [first.as_slice(), second.as_slice()], &others, v).unwrap(),
        );
        let energy = |v: &Vector4<f64>| 0.5 * v.dot(&(mass * v));
        for turn in [&by_time, &by_mirror] {
            let after = Vector4::from_row_slice(&turn.velocity);
            assert!((energy(&after) - energy(&wanted)).abs() < 1e-12 * energy(&wanted));
            assert!(second.dot(&after).abs() < 1e-13 && (others.is_empty() || row.dot(&after).abs() < 1e-13));
            let impulse = mass * (after - wanted);
            assert!((impulse - Vector4::from_row_slice(&turn.impulse)).norm() < 1e-13);
        }
        let difference = Vector4::from_row_slice(&by_time.velocity) - Vector4::from_row_slice(&by_mirror.velocity);
        assert!(difference.norm() < 1e-13, "{difference}");
        let constant = if others.is_empty() { vec![] } else { vec![row] };
        let integrated = integrate(&mass, &first, &second, &constant, wanted);
        let error = (integrated - Vector4::from_row_slice(&by_time.velocity)).norm();
        println!("{} other rows: time scaling by 2000 steps of RK4 differs by {error:.1e}", others.len());
        assert!(error < 1e-11);
        assert!((integrated - wanted).norm() > 0.1, "the corner does something");
    }
    // what eqs. 4.10–4.13 say as printed keeps neither
    let v = project(&mass, &[first], Vector4::new(1.0, 2.0, -1.0, 0.5));
    let n = (first.normalize() + second.normalize()).normalize();
    let printed = v - 2.0 * mass.try_inverse().unwrap() * n * n.dot(&v);
    let energy = printed.dot(&(mass * printed)) / v.dot(&(mass * v));
    println!("as printed: G₂v⁺ = {:.3}, energy times {energy:.3}", second.dot(&printed));
    assert!(second.dot(&printed).abs() > 0.1 && (energy - 1.0).abs() > 1e-3);
}

/// v without its part across the rows, in the metric of the mass.
fn project(mass: &Matrix4<f64>, rows: &[Vector4<f64>], v: Vector4<f64>) -> Vector4<f64> {
    let g = DMatrix::from_fn(rows.len(), 4, |i, j| rows[i][j]);
    let raised = DMatrix::from_fn(4, rows.len(), |i, j| (mass.try_inverse().unwrap() * rows[j])[i]);
    let lambda = (&g * &raised).lu().solve(&(&g * DVector::from_column_slice(v.as_slice()))).unwrap();
    let change = raised * lambda;
    v - Vector4::from_column_slice(change.as_slice())
}

fn integrate(
    mass: &Matrix4<f64>,
    first: &Vector4<f64>,
    second: &Vector4<f64>,
    others: &[Vector4<f64>],
    mut v: Vector4<f64>,
) -> Vector4<f64> {
    let inverse = mass.try_inverse().unwrap();
    let rate = |tau: f64, v: &Vector4<f64>| {
        let mut rows = vec![(1.0 - tau) * first + tau * second];
        rows.extend_from_slice(others);
        let g = DMatrix::from_fn(rows.len(), 4, |i, j| rows[i][j]);
        let raised = DMatrix::from_fn(4, rows.len(), |i, j| (inverse * rows[j])[i]);
        let mut right = DVector::zeros(rows.len());
        right[0] = -(second - first).dot(v);
        let change = &raised * (&g * &raised).lu().solve(&right).unwrap();
        Vector4::from_column_slice(change.as_slice())
    };
    let n = 2000;
    let h = 1.0 / f64::from(n);
    for i in 0..n {
        let tau = f64::from(i) * h;
        let a = rate(tau, &v);
        let b = rate(tau + 0.5 * h, &(v + 0.5 * h * a));
        let c = rate(tau + 0.5 * h, &(v + 0.5 * h * b));
        let d = rate(tau + h, &(v + h * c));
        v += h / 6.0 * (a + 2.0 * b + 2.0 * c + d);
    }
    v
}

/// What a corner of a relation does, by its law: a rising slope is hit or followed, a falling one is followed by a constraint only.
#[test]
fn corners_by_their_laws() {
    let pass = |slope: &str, sign: &str, bilateral: bool, law: CornerLaw| {
        let model = points(&["x", "y"]);
        let text = format!("{sign}(y {slope} x)");
        let relation = model.piecewise(&pieces(&[("x <= 0", "y"), ("x >= 0", &text)], law)).unwrap();
        let at = Instant { t: 0.0, q: &[0.0; 2], v: &[2.0, 0.0] };
        let crossing = classify(&relation, 0, (at.q, at.v), &mut not_asked).unwrap();
        assert_eq!((crossing.junction, crossing.to), (Junction::Corner, 1));
        pass_corner(&model, ("road", &relation), bilateral, &crossing, at, &[]).unwrap()
    };
    let half = 2.0_f64.sqrt();
    for law in [CornerLaw::TimeScaling, CornerLaw::Reflection] {
        for (slope, sign, bilateral, wanted) in
            [("-", "", true, half), ("-", "-", true, half), ("+", "", true, -half), ("+", "-", true, -half), ("-", "", false, half)]
        {
            let Passage::Turned(turn) = pass(slope, sign, bilateral, law) else { panic!("{slope} {sign} {law:?}") };
            assert!((turn.velocity[0] - half).abs() + (turn.velocity[1] - wanted).abs() < 1e-14, "{slope}{sign}: {turn:?}");
            assert!(bilateral || turn.parts.iter().all(|&p| p > 0.0), "a contact is pushed: {turn:?}");
        }
        assert_eq!(pass("+", "", false, law), Passage::Opens);
    }
    assert_eq!(pass("-", "", false, CornerLaw::Impact), Passage::Impact);
    assert_eq!(pass("-", "", true, CornerLaw::Impact), Passage::Impact);
    assert_eq!(pass("+", "", false, CornerLaw::Impact), Passage::Opens);
}
