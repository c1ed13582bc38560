//! Compounds, groups and given mass properties of bodies.

use super::{Case, check_cases, read};

const HAMMER: &str = r#"
[[body]]
name = "hammer"
density = 1000
groups = ["tools"]
collides_with = ["default"]
shape = { kind = "compound", parts = [
    { kind = "box", size = [0.2, 0.1, 0.1], position = [0, 0, 1] },
    { kind = "cylinder", radius = 0.02, length = 1, position = [0, 0, 0.5], rotation = { axis = [1, 0, 0], angle = 0 } },
] }

[[body]]
name = "link"
mass = 2
centre = [0.1, 0, 0]
inertia = [0.1, 0.2, 0.25]
shape = { kind = "box", size = 0.1, position = [1, 0, 0], rotation = { axis = [0, 0, 1], angle = "pi/4" } }
position = [5, 0, 0]
"#;

#[test]
fn compounds_have_the_mass_of_their_parts() {
    let file = read(HAMMER).unwrap();
    assert_eq!(file.model.n_colliders(), 3);
    assert_eq!([0, 1, 2].map(|i| file.model.collider_name(i).to_owned()), ["hammer.1", "hammer.2", "link"]);
    let (head, stick) = (1000.0 * 0.002, 1000.0 * std::f64::consts::PI * 4e-4);
    let (mass, centre) = (head + stick, (head + 0.5 * stick) / (head + stick));
    assert!((file.state.q[2] - centre).abs() < 1e-15 && (file.state.q[7] - 5.1).abs() < 1e-15);
    // a unit turn about x: parallel axes by hand
    let about_x = head * (0.02 / 12.0 + (1.0 - centre).powi(2)) + stick * (4e-4 / 4.0 + 1.0 / 12.0 + (0.5 - centre).powi(2));
    let mut v = vec![0.0; 12];
    let mut energy = |k: usize| {
        v.fill(0.0);
        v[k] = 1.0;
        file.model.energy(0.0, &file.state.q, &v, &mut Default::default()).unwrap().0
    };
    assert!((energy(0) - 0.5 * mass).abs() < 1e-14 && (energy(3) - 0.5 * about_x).abs() < 1e-14);
    assert!((energy(6) - 1.0).abs() < 1e-15 && (energy(11) - 0.125).abs() < 1e-15);
}

const CASES: &[Case] = &[
    (HAMMER, "[\"default\"]", "[\"tool\"]", &["no group \"tool\"", "tools"], "\"tool\""),
    (HAMMER, "[\"tools\"]", "[]", &["`groups` is empty"], "[]"),
    (HAMMER, "parts = [", "radius = 1, parts = [", &["a compound has no `radius`"], "1"),
    (
        HAMMER,
        "kind = \"cylinder\", radius = 0.02",
        "kind = \"compound\", radius = 0.02",
        &["part of a compound is a compound"],
        "{ kind = \"compound\"",
    ),
    (HAMMER, "kind = \"cylinder\", radius = 0.02", "kind = \"cylinder\", radius = -0.02", &["radius is -0.02"], "-0.02"),
    (HAMMER, "inertia = [0.1, 0.2, 0.25]\n", "", &["centre of mass but no inertia"], "[0.1"),
    (HAMMER, "position = [0, 0, 1] }", "position = [0, 0] }", &["position of a shape", "3 numbers"], "[0, 0]"),
    (HAMMER, "size = [0.2, 0.1, 0.1], position", "parts = [], position", &["a box has no `parts`"], "\"box\""),
];

#[test]
fn mistakes_in_compounds_and_groups_are_shown() {
    check_cases(CASES);
    let many: String = (0..40).map(|k| format!("\"g{k}\", ")).collect();
    let error = read(&HAMMER.replace("\"tools\"", &many)).err().unwrap().to_string();
    assert!(error.contains("more than 32 groups"), "{error}");
}
