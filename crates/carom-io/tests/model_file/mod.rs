//! Mechanisms in model files: joints, trees and their mistakes.

mod adaptive;
mod circuits;
mod compliant;
mod control;
mod event_driven;
mod files;
mod first_order;
mod forces;
mod generate;
mod impacts;
mod joints;
mod laws;
mod motion;
mod motors;
mod one_word;
mod pieces;
mod planar_contact;
mod planar_shapes;
mod shapes;
mod velocity_constraints;

use carom_io::model_file::{ModelFile, ModelFileError, parse};
use std::path::Path;

const SIMULATION: &str = "[simulation]\nend = 1.0\nstep = 1e-3\n";

const LINKS: &str = r#"
[parameters]
l = 2.0

[[planar_body]]
name = "crank"
mass = 1.0
inertia = 0.1
position = [0.5, 0]

[[body]]
name = "arm"
mass = 1.0
inertia = 0.1
position = [0, 0, 1]

[[body]]
name = "frame"
fixed = true
shape = { kind = "sphere", radius = 0.1 }

[[joint]]
name = "pin"
kind = "revolute"
bodies = ["ground", "crank"]
point = [0, 0]

[[joint]]
kind = "universal"
bodies = ["frame", "arm"]
point = [0, 0, "l"]
axes = [[1, 0, 0], [0, 1, 0]]

[[joint]]
name = "rope"
kind = "distance"
bodies = ["arm", "crank"]
points = [[0, 0, 1], [1, 0, 0]]
"#;

const TREE: &str = r#"
gravity = [0, -9.81, 0]

[[tree.body]]
name = "upper"
joint = "revolute"
axis = [0, 0, 1]
point = [0, 0, 0]
position = [0, -0.5, 0]
mass = 1.0
inertia = [0.1, 0.1, 0.1]
coordinates = 0.3
rates = [1.0]

[[tree.body]]
name = "lower"
parent = "upper"
joint = "spherical"
point = [0, -1, 0]
position = [0, -1.5, 0]
rotation = { axis = [0, 0, 1], angle = "pi/2" }
mass = 1.0
inertia = 0.1

[[joint]]
name = "slot"
kind = "point-on-line"
bodies = ["ground", "lower"]
point = [0, -1.5, 0]
axis = [1, 0, 0]
"#;

const NATURAL: &str = r#"
[natural]
planar = true

[[natural.point]]
name = "o"
position = [0, 0]
fixed = true

[[natural.point]]
name = "a"
position = [2, 0]
velocity = [0, 1]

[[natural.bar]]
name = "rod"
points = ["o", "a"]
mass = 3.0
"#;

const TOPS: &str = r#"
[[body]]
name = "first"
mass = 1.0
inertia = [1.0, 1.2, 1.5]
rotation = { axis = [0, 0, 1], angle = 0.5 }
rotation_coordinates = "euler"

[[body]]
name = "second"
mass = 1.0
inertia = 1.0
rotation_coordinates = "matrix"
angular_velocity = [0, 0, 2]

[[body]]
name = "third"
mass = 1.0
inertia = 1.0
rotation_coordinates = "quaternion"
"#;

fn read(text: &str) -> Result<ModelFile, ModelFileError> {
    parse(&format!("{text}\n{SIMULATION}"), Path::new("test.toml"))
}

#[test]
fn joints_are_read() {
    let file = read(LINKS).unwrap();
    let joints = file.model.interactions();
    let rows: Vec<(&str, usize)> = joints.iter().map(|i| (i.name(), i.relation().n_rows())).collect();
    assert_eq!(rows, [("pin", 2), ("joint 2", 4), ("rope", 1)]);
    let mut g = [1.0; 6];
    for joint in joints {
        joint.relation().position(0.0, &file.state.q, &mut g, &mut Default::default()).unwrap();
        assert!(g[..joint.relation().n_rows()].iter().all(|g| g.abs() < 1e-15));
    }
    // a fixed body is the ground: only the six velocities of the arm
    assert_eq!(joints[1].relation().velocities().len(), 6);
}

#[test]
fn trees_are_read() {
    let file = read(TREE).unwrap();
    assert_eq!(file.state.q, [0.3, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(file.state.v, [1.0, 0.0, 0.0, 0.0]);
    let names: Vec<String> = file.model.systems().coordinates().names().collect();
    assert_eq!(names, ["upper.angle", "lower.qw", "lower.qx", "lower.qy", "lower.qz"]);
    let lower = file.model.systems().find_frame("lower").unwrap();
    let origin = file.model.systems().frame(&file.state.q, lower).origin;
    // all hangs straight at 0.3 rad, 1.5 m from the pivot
    assert!((origin - nalgebra::Vector3::new(1.5 * 0.3_f64.sin(), -1.5 * 0.3_f64.cos(), 0.0)).norm() < 1e-15);
}

#[test]
fn natural_coordinates_are_read() {
    let file = read(NATURAL).unwrap();
    assert_eq!((&file.state.q[..], &file.state.v[..]), (&[2.0, 0.0][..], &[0.0, 1.0][..]));
    assert_eq!(file.model.interactions().len(), 1);
    // a uniform rod that turns at ½ rad/s about its end: T = ½ (m l²/3) ω²
    let (kinetic, _) = file.model.energy(0.0, &file.state.q, &file.state.v, &mut Default::default()).unwrap();
    assert!((kinetic - 0.5 * 4.0 * 0.25).abs() < 1e-15, "{kinetic}");
}

#[test]
fn rotation_coordinates_are_read() {
    let file = read(TOPS).unwrap();
    let names: Vec<String> = file.model.systems().coordinates().names().collect();
    assert_eq!((names.len(), &*names[3], &*names[10], &*names[16]), (7 + 6 + 12, "third.qw", "first.angle1", "second.r11"));
    // z-x-z: a rotation about z is all in the last angle where the middle one is zero
    assert!((file.state.q[10] + file.state.q[12] - 0.5).abs() < 1e-15 && file.state.q[11] == 0.0);
    assert_eq!(file.state.v[17], 2.0);
}

/// (file, what to replace, by what, words of the message and help, text at the place it points to)
type Case = (&'static str, &'static str, &'static str, &'static [&'static str], &'static str);

const CASES: &[Case] = &[
    (LINKS, "kind = \"revolute\"", "kind = \"revolut\"", &["no joint \"revolut\"", "revolute"], "\"revolut\""),
    (LINKS, "kind = \"revolute\"", "kind = \"spherical\"", &["planar bodies have"], "[[joint]]"),
    (LINKS, "[\"ground\", \"crank\"]", "[\"ground\", \"crnk\"]", &["no body", "crank"], "\"crnk\""),
    (LINKS, "[\"ground\", \"crank\"]", "[\"crank\"]", &["1 bodies", "two names"], "[\"crank\"]"),
    (LINKS, "[\"ground\", \"crank\"]", "[\"ground\", \"frame\"]", &["two different bodies"], "[[joint]]"),
    (LINKS, "point = [0, 0]\n", "point = [0, 0, 0]\n", &["point", "3 entries", "2 numbers"], "[0, 0, 0]"),
    (LINKS, "point = [0, 0]\n", "", &["no point", "world coordinates"], "[[joint]]"),
    (LINKS, "point = [0, 0]\n", "point = [0, 0]\naxis = [0, 1]\n", &["in the plane has no axis"], "[0, 1]"),
    (LINKS, "[[1, 0, 0], [0, 1, 0]]", "[[1, 0, 0], [1, 1, 0]]", &["perpendicular"], "[[joint]]"),
    (LINKS, "[[1, 0, 0], [0, 1, 0]]", "[[1, 0, 0]]", &["list of two"], "[[1"),
    (LINKS, "points = [[0, 0, 1], [1, 0, 0]]", "point = [0, 0, 1]", &["coincide", "spherical"], "[[joint]]"),
    (TREE, "joint = \"spherical\"", "joint = \"sperical\"", &["no joint \"sperical\"", "spherical"], "\"sperical\""),
    (TREE, "parent = \"upper\"", "parent = \"lower\"", &["no body before it", "parents come before"], "\"lower\""),
    (TREE, "axis = [0, 0, 1]\npoint = [0, 0, 0]", "axis = [0, 0, 0]\npoint = [0, 0, 0]", &["axis is zero"], "[[tree.body]]"),
    (TREE, "axis = [0, 0, 1]\npoint = [0, 0, 0]", "point = [0, 0, 0]", &["no axis"], "[[tree.body]]"),
    (NATURAL, "points = [\"o\", \"a\"]", "points = [\"o\", \"b\"]", &["no point \"b\"", "choose from: o, a"], "\"b\""),
    (NATURAL, "points = [\"o\", \"a\"]", "points = [\"o\"]", &["1 points", "two points"], "[\"o\"]"),
    (NATURAL, "position = [2, 0]", "position = [0, 0]", &["coincide"], "[natural]"),
    (NATURAL, "fixed = true", "fixed = true\nvelocity = [1, 0]", &["fixed point \"o\" has a velocity"], "[1, 0]"),
    (NATURAL, "mass = 3.0", "mass = 0", &["mass", "positive"], "0"),
    (
        NATURAL,
        "[[natural.bar]]",
        "[[natural.vector]]\nname = \"u\"\ndirection = [1, 0, 0]\n[[natural.bar]]",
        &["no vectors"],
        "[[natural.vector]]",
    ),
    (TOPS, "\"euler\"", "\"eular\"", &["no rotation coordinates", "euler"], "\"eular\""),
    (TOPS, "\"matrix\"", "\"matrix\"\nshape = { kind = \"sphere\", radius = 1 }", &["shape and matrix", "quaternions"], "{ kind"),
    (TREE, "coordinates = 0.3", "coordinates = [0.3, 1]", &["2 numbers", "has 1"], "[0.3"),
    (TREE, "inertia = 0.1", "inertia = [1, 1, 5]", &["inertia", "sum of the other two"], "[1, 1, 5]"),
    (TREE, "mass = 1.0\ninertia = 0.1", "mass = -1.0\ninertia = 0.1", &["mass", "positive"], "-1.0"),
];

#[test]
fn mistakes_are_shown_at_their_place() {
    check_cases(CASES);
}

fn check_cases(cases: &[Case]) {
    for (text, from, to, words, place) in cases {
        assert!(text.contains(from), "{from}");
        let Err(error) = read(&text.replacen(from, to, 1)) else { panic!("{to} should be refused") };
        let [diagnostic] = error.diagnostics.as_slice() else { panic!("{to}: {error}") };
        let message = format!("{} {}", diagnostic.message, diagnostic.help.as_deref().unwrap_or_default());
        for word in *words {
            assert!(message.contains(word), "{to}: \"{word}\" is not in \"{message}\"");
        }
        let span = diagnostic.span.clone().unwrap();
        assert!(error.text[span].starts_with(place), "{to}: {message}");
    }
}
