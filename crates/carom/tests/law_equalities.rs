//! Two ways to write the same law give the same motion.

use crate::support::{Done, run_text};

/// Largest difference of the first `n` coordinates over all frames.
fn apart((a, b): (&Done, &Done), n: usize) -> f64 {
    assert_eq!(a.keep.q.len(), b.keep.q.len());
    let frames = a.keep.q.iter().zip(&b.keep.q);
    frames.flat_map(|(a, b)| a[..n].iter().zip(&b[..n])).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// An ellipse does not care which of its axes is named first, on rows that change within a step either. Solved to 1e-13 of velocities of up to 3 m/s.
#[test]
fn the_axes_of_an_ellipse_can_be_exchanged_in_a_bowl() {
    let particle = |tangents: &str, coefficients: &str, scheme: &str| {
        run_text(&format!(
            r#"
            [linear]
            coordinates = ["x", "y", "z"]
            mass = [1.0, 1.0, 1.0]
            force = [0, 0, -9.81]
            [[contact]]
            gap = "z - 0.5*x^2 - 0.5*y^2"
            tangents = {tangents}
            friction = {{ kind = "elliptic", coefficients = {coefficients} }}
            restitution = 0.3
            [initial]
            position = {{ x = 0.6, y = -0.3, z = 0.4 }}
            velocity = {{ x = 0.5, y = 1.0 }}
            [simulation]
            end = 0.5
            step = 1e-3
            scheme = "{scheme}"
            solver = {{ tolerance = 1e-13 }}
            "#
        ))
    };
    for scheme in ["moreau-jean", "moreau-gap"] {
        let one = particle(r#"["x + 0.5*x*z", "y + 0.5*y*z"]"#, "[0.1, 0.4]", scheme);
        let other = particle(r#"["y + 0.5*y*z", "x + 0.5*x*z"]"#, "[0.4, 0.1]", scheme);
        let round = particle(r#"["x + 0.5*x*z", "y + 0.5*y*z"]"#, "[0.4, 0.4]", scheme);
        assert!(apart((&one, &other), 3) < 1e-9, "{scheme}: {:e}", apart((&one, &other), 3));
        assert!(apart((&one, &round), 3) > 0.01, "{scheme}: the ellipse matters");
    }
}

/// A bond that is opened by half, closed, and opened again: what is left of it is the same between shapes and by formula.
#[test]
fn bonds_between_shapes_are_those_by_formula() {
    // the bond takes 5 mJ to break: a part of it, the same in two parts
    for v in [0.05, 0.09] {
        let (by_formula, by_shape) = bonded(v);
        let heights: Vec<f64> = by_shape.keep.q.iter().map(|q| q[2] - 0.1).collect();
        let turns = heights.windows(3).filter(|z| z[1] > z[0] && z[1] > z[2]).count();
        assert!(turns >= 2 && *heights.last().unwrap() < 1e-3, "{v}: opened {turns} times");
        check_alike(&by_formula, &by_shape);
    }
}

#[test]
#[ignore = "a bond that breaks: by formula and by shapes they are 2.3e-9 m apart at 0.08 s, at any tolerance of the solver; the cause is not known"]
fn bonds_between_shapes_break_as_those_by_formula() {
    let (by_formula, by_shape) = bonded(0.12);
    assert!(by_shape.keep.q.last().unwrap()[2] > 0.101);
    check_alike(&by_formula, &by_shape);
}

fn check_alike(by_formula: &Done, by_shape: &Done) {
    // gaps of shapes are rounded at 0.1 m
    assert!(apart((by_formula, by_shape), 3) < 1e-12, "{:e}", apart((by_formula, by_shape), 3));
    let (a, b) = (&by_formula.certificate.last, &by_shape.certificate.last);
    assert!((a.dissipated_impact - b.dissipated_impact).abs() < 1e-12, "{a:?} {b:?}");
}

/// A ball that leaves a floor to which it is bonded with velocity v \[m/s\], by formula and by shapes.
fn bonded(v: f64) -> (Done, Done) {
    let ball = |shape: &str, contact: &str, v: f64| {
        run_text(&format!(
            r#"
            gravity = [0, 0, 0]
            {contact}
            [[body]]
            name = "ball"
            mass = 1.0
            position = [0, 0, 0.1]
            velocity = [0, 0, {v}]
            {shape}
            [simulation]
            end = 0.08
            step = 1e-5
            scheme = "moreau-jean"
            solver = {{ tolerance = 1e-13 }}
            [record]
            every = 100
            "#
        ))
    };
    let law = "cohesion = { kind = \"zone\", strength = 10.0, opening = 1e-3 }\nrestitution = 0.9";
    let formula = format!("[[contact]]\ngap = \"ball.z - 0.1\"\n{law}");
    let shapes = format!(
        "[[material]]\nname = \"m\"\n[[material_pair]]\nmaterials = [\"m\", \"m\"]\n{law}\n[[body]]\nname = \"floor\"\nfixed = true\nshape = {{ kind = \"plane\" }}"
    );
    (ball("inertia = [1, 1, 1]", &formula, v), ball(r#"shape = { kind = "sphere", radius = 0.1 }"#, &shapes, v))
}
