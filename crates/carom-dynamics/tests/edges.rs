//! Relations made of pieces: which piece holds, margins, the ball over the edge of parabola and plane.

use crate::support::{distance, fitted_order, run};
use carom_dynamics::problems::bouncing_ball::GRAVITY;
use carom_dynamics::problems::edges::{self, flight_from_edge, parabola_plane, parabola_plane_at, plane_parabola, plane_parabola_at};
use carom_dynamics::problems::{Problem, Solution};
use carom_dynamics::relations::{CornerLaw, PieceSource, PiecewiseRelation, PiecewiseSource, Relation, Rows};
use carom_dynamics::schemes::MoreauJeanParams;
use carom_dynamics::systems::{Linear, Scratch};
use carom_dynamics::{Law, Model, ModelError};

/// A model of coordinates with unit masses.
pub fn points(names: &[&str]) -> Model {
    let n = names.len();
    let mass = (0..n * n).map(|k| if k / n == k % n { 1.0 } else { 0.0 }).collect();
    let names = names.iter().map(|&name| name.to_owned()).collect();
    Model::new(vec![Box::new(Linear::new(names, mass, vec![0.0; n * n], vec![0.0; n * n]).unwrap())]).unwrap()
}

/// Pieces with one row each; an empty condition is none.
pub fn pieces(texts: &[(&str, &str)], corner: CornerLaw) -> PiecewiseSource {
    let piece = |(i, (when, row)): (usize, &(&str, &str))| PieceSource {
        when: (!when.is_empty()).then(|| (format!("condition of piece {} of \"road\"", i + 1), (*when).to_owned())),
        rows: vec![(format!("piece {} of \"road\"", i + 1), (*row).to_owned())],
    };
    PiecewiseSource { name: "road".into(), pieces: texts.iter().enumerate().map(piece).collect(), parameters: Vec::new(), corner }
}

fn road(texts: &[(&str, &str)]) -> Result<PiecewiseRelation, ModelError> {
    points(&["x", "y", "z"]).piecewise(&pieces(texts, CornerLaw::Impact))
}

/// The first condition that holds decides; margins tell when another begins to hold; without any, the one that misses least.
#[test]
fn the_first_condition_that_holds_decides() {
    let relation = road(&[("x > 0 and x < 2", "y"), ("x <= 0", "y + x^2"), ("x > 1 or t > 5", "z - 1"), ("", "y - z")]).unwrap();
    let mut scratch = Scratch::default();
    let mut at = |t: f64, x: f64| {
        let q = [x, 0.25, 3.0];
        let piece = relation.piece_at(t, &q, &mut scratch).unwrap();
        let margins: Vec<f64> = (0..4).map(|i| relation.piece_margin(i, t, &q, &mut scratch).unwrap()).collect();
        for (i, &margin) in margins.iter().enumerate() {
            assert!(margin == 0.0 || (margin > 0.0) == (i == piece), "x = {x}: piece {piece}, margins {margins:?}");
        }
        let mut g = [0.0];
        relation.position(t, &q, &mut g, &mut scratch).unwrap();
        (piece, margins[piece], g[0])
    };
    assert_eq!(at(0.0, 0.5), (0, 0.5, 0.25));
    assert_eq!(at(0.0, 1.75), (0, 0.25, 0.25)); // the third holds too
    assert_eq!(at(0.0, -0.5), (1, 0.5, 0.5));
    assert_eq!(at(0.0, 0.0).0, 1, "x > 0 does not hold at 0, x <= 0 does");
    assert_eq!(at(0.0, 2.5), (2, 0.5, 2.0)); // from 2, not from 1: there the first holds
    assert_eq!(relation.velocities(), &[0, 1, 2], "all pieces are over all coordinates used by any");
    // strict conditions on both sides leave the edge itself to the nearest
    let strict = road(&[("x > 0", "y"), ("x < 0", "z")]).unwrap();
    assert_eq!(strict.piece_at(0.0, &[0.0, 1.0, 1.0], &mut scratch).unwrap(), 0);
    let gap = road(&[("x > 1", "y"), ("x < 0", "z")]).unwrap();
    assert_eq!(gap.piece_at(0.0, &[0.4, 1.0, 1.0], &mut scratch).unwrap(), 1);
    assert_eq!(gap.piece_at(0.0, &[0.6, 1.0, 1.0], &mut scratch).unwrap(), 0);
}

/// A relation of pieces gives the g, G, (dG/dt) v of the one that holds, spread over the velocities of all.
#[test]
fn the_piece_that_holds_is_evaluated() {
    let relation = road(&[("x >= 0", "y - x^2"), ("x < 0", "z*y")]).unwrap();
    let (mut scratch, v) = (Scratch::default(), [1.0, 2.0, 3.0]);
    for (q, gradient, acceleration) in [([0.5, 7.0, 2.0], [-1.0, 1.0, 0.0], -2.0), ([-0.5, 7.0, 2.0], [0.0, 2.0, 7.0], 12.0)] {
        let (mut g, mut b, mut bias) = ([0.0; 3], [1.0], [0.0]);
        relation.jacobian(0.0, &q, Rows { jacobian: &mut g, bias: &mut b }, &mut scratch).unwrap();
        relation.acceleration_bias(0.0, &q, &v, &mut bias, &mut scratch).unwrap();
        assert_eq!((g, b[0], bias[0]), (gradient, 0.0, acceleration));
        let piece = relation.piece(relation.piece_at(0.0, &q, &mut scratch).unwrap()).unwrap();
        assert_eq!((piece.velocities(), piece.n_rows()), (relation.velocities(), 1));
        piece.jacobian(0.0, &q, Rows { jacobian: &mut g, bias: &mut b }, &mut scratch).unwrap();
        assert_eq!(g, gradient);
    }
    assert!(!relation.is_constant() && relation.n_pieces() == 2 && relation.piece(2).is_none());
    // the rates of the margins, as a relation of its own
    let margins = relation.margins().unwrap();
    assert_eq!((margins.n_rows(), margins.velocities()), (2, &[0][..]));
}

#[test]
fn pieces_that_make_no_relation() {
    for (texts, wanted) in [
        (&[("x >= 0", "y")][..], "at least two"),
        (&[("", "y"), ("x >= 0", "y")], "piece 1 has no condition"),
        (&[("x", "y"), ("x >= 0", "y")], "no comparison"),
        (&[("x == 0", "y"), ("x >= 0", "y")], "no comparison"),
        (&[("x >= 0", "y"), ("x < 0", "1")], "depends on no coordinate"),
        (&[("x >= 0", "y"), ("w < 0", "y")], "no `w`"),
    ] {
        let error = road(texts).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(wanted), "{texts:?}: {error}");
    }
    let mut source = pieces(&[("x >= 0", "y"), ("x < 0", "y")], CornerLaw::Impact);
    source.pieces[1].rows.push(("tangent".into(), "x".into()));
    let error = points(&["x", "y"]).piecewise(&source).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("piece 2 has 2 row(s), piece 1 has 1"), "{error}");
}

/// The exact motions against what defines them: q̇ by differences of q, v̇ by differences of v, the path, the energy, Newton's law.
#[test]
fn exact_motions_obey_the_equations() {
    let check = |problem: Problem, at: &dyn Fn(f64) -> edges::OnPath, height: &dyn Fn(f64) -> [f64; 2]| {
        let Solution::Exact(motion) = &problem.solution else { panic!("exact") };
        assert_eq!(motion(0.0), (problem.state.q.clone(), problem.state.v.clone()));
        let energy = |q: &[f64], v: &[f64]| 0.5 * (v[0] * v[0] + v[1] * v[1]) + GRAVITY * q[1];
        for t in [0.1, 0.3, 0.45, 0.6, 0.9, 1.2, 1.45] {
            let (q, v) = motion(t);
            let [y, slope] = height(q[0]);
            assert!((q[1] - y).abs() < 1e-14 && (v[1] - slope * v[0]).abs() < 1e-13, "t = {t}: {q:?} {v:?}");
            assert!((energy(&q, &v) - energy(&problem.state.q, &problem.state.v)).abs() < 1e-12);
            let h = 1e-5; // truncation h²/6 × third derivatives below 1e4: 2e-7; round-off 1e-15/h
            let ((before, vb), (after, va)) = (motion(t - h), motion(t + h));
            let rate = |a: &[f64], b: &[f64]| [(b[0] - a[0]) / (2.0 * h), (b[1] - a[1]) / (2.0 * h)];
            assert!(distance(&rate(&before, &after), &v) < 1e-6, "t = {t}");
            let path = at(q[0]);
            assert!(distance(&rate(&vb, &va), &path.acceleration) < 1e-6, "t = {t}: {path:?}");
            assert_eq!(path.velocity.to_vec(), v);
            // m v̇ = (0, −m g) + λ (−η′, 1)
            assert!((path.acceleration[0] + slope * path.force).abs() + (path.acceleration[1] + GRAVITY - path.force).abs() < 1e-13);
        }
    };
    let first = |x: f64| if x >= 0.0 { [0.5 * x * x, x] } else { [0.0; 2] };
    check(parabola_plane(Law::Bilateral).unwrap(), &parabola_plane_at, &first);
    let second = |x: f64| if x >= 0.0 { [0.0; 2] } else { [-0.5 * x * x, -x] };
    check(plane_parabola(edges::SPEED, Law::Bilateral).unwrap(), &|x| plane_parabola_at(edges::SPEED, x), &second);
    // the jump of the force at the edge is η″ ẋ²: 2E = 44.24 m²/s², and −4
    assert!((parabola_plane_at(0.0).force - parabola_plane_at(-1e-300).force - 44.24).abs() < 1e-13);
    assert!((plane_parabola_at(2.0, -1e-300).force - plane_parabola_at(2.0, 0.0).force + 4.0).abs() < 1e-14);
    println!("edge of parabola and plane at t = {:.15} s", edges::parabola_plane_edge());
}

/// Errors of (q, v) at the end by Moreau–Jean, θ = 1/2, and their orders over the steps.
fn orders(problem: &Problem) -> (Vec<f64>, f64, f64) {
    let steps = [4e-3, 2e-3, 1e-3, 5e-4];
    let (q, v) = problem.solution.at_end(problem.end);
    let errors: Vec<(f64, f64)> = steps
        .iter()
        .map(|&h| run(&problem.model, &problem.state, problem.end, h, MoreauJeanParams { theta: 0.5, ..Default::default() }).state)
        .map(|state| (distance(&state.q, &q), distance(&state.v, &v)))
        .collect();
    let (q, v): (Vec<f64>, Vec<f64>) = errors.into_iter().unzip();
    let orders = (fitted_order(&steps, &q), fitted_order(&steps, &v));
    ([q, v].concat(), orders.0, orders.1)
}

/// Time-stepping passes the edge without noticing, at its first order, as a constraint and as a contact.
#[test]
fn time_stepping_passes_edges() {
    for (name, problem) in [
        ("parabola, plane: constraint", parabola_plane(Law::Bilateral)),
        ("parabola, plane: contact", parabola_plane(Law::unilateral(0.0))),
        ("plane, parabola: constraint", plane_parabola(edges::SPEED, Law::Bilateral)),
        ("plane, parabola: contact", plane_parabola(edges::SPEED, Law::unilateral(0.0))),
    ] {
        let (errors, position, velocity) = orders(&problem.unwrap());
        println!("{name}: errors {errors:?}, orders {position:.2} {velocity:.2}");
        assert!((position - 1.0).abs() < 0.05 && (velocity - 1.0).abs() < 0.05, "{name}: orders {position} {velocity}");
        assert!(errors[3] < 1e-2 && errors[7] < 1e-2, "{name}: {errors:?}");
    }
    // with w² > g the contact opens at the edge, here at a step: then flight with constant acceleration, exact with θ = 1/2
    let (errors, ..) = orders(&flight_from_edge(4.0).unwrap());
    assert!(errors.iter().all(|&e| e < 1e-11), "{errors:?}");
}
