//! Fixed bodies that move or run, continuous detection, and jointed bodies that do not collide.

use super::read;
use carom_dynamics::detection::{ContactPoint, SurfaceMotion, WORLD};
use carom_dynamics::systems::Instant;
use carom_io::model_file::ModelFile;
use nalgebra::Vector3;

const SCENE: &str = r#"
[parameters]
w = 5.0

[[body]]
name = "ball"
mass = 1
shape = { kind = "sphere", radius = 0.1 }
position = [0.3, 0, 0.1]
continuous = true

[[body]]
name = "table"
fixed = true
shape = { kind = "box", size = [4, 4, 0.2] }
position = [0, 0, -0.1]
motion = { z = "0.1*sin(w*t)" }
"#;

fn contacts(file: &ModelFile, t: f64) -> Vec<ContactPoint> {
    let mut detector = file.model.detector().expect("there are shapes").boxed_clone();
    let mut contacts = Vec::new();
    detector.detect(Instant { t, q: &file.state.q, v: &file.state.v }, 1e-2, &mut contacts).unwrap();
    contacts
}

fn surface(keys: &str) -> SurfaceMotion {
    let file = read(&SCENE.replace("motion = { z = \"0.1*sin(w*t)\" }", keys)).unwrap_or_else(|e| panic!("{e}"));
    let contacts = contacts(&file, 0.0);
    let [contact] = &contacts[..] else { panic!("{contacts:?}") };
    contact.surface.expect("the table moves")
}

fn near(a: Vector3<f64>, b: [f64; 3]) {
    assert!((a - Vector3::from(b)).norm() < 1e-14, "{a} {b:?}");
}

#[test]
fn fixed_bodies_move() {
    near(surface("motion = { z = \"0.1*sin(w*t)\" }").velocity, [0.0, 0.0, 0.5]);
    // about its own position, and about a point of the world
    near(surface("motion = { angle = \"2*t\" }").velocity, [0.0, 0.6, 0.0]);
    near(surface("motion = { angle = \"2*t\", axis = [0, 0, 3], centre = [0.5, 1, 0] }").velocity, [2.0, -0.4, 0.0]);
    near(surface("motion = { x = \"t\", y = \"w*t^2\" }").acceleration, [0.0, 10.0, 0.0]);
}

#[test]
fn surfaces_run() {
    near(surface("surface = { velocity = [\"1+t\", 0, 0] }").velocity, [1.0, 0.0, 0.0]);
    near(surface("surface = { velocity = [\"1+t\", 0, 0] }").acceleration, [1.0, 0.0, 0.0]);
    // in the frame of the body, also where its shape is turned in it
    let quarter = "rotation = { axis = [0, 0, 1], angle = \"pi/2\" }";
    near(surface(&format!("surface = {{ velocity = [2, 0, 0] }}\n{quarter}")).velocity, [0.0, 2.0, 0.0]);
    let turned = SCENE.replace("size = [4, 4, 0.2] }", &format!("size = [4, 4, 0.2], {quarter} }}"));
    let file = read(&turned.replace("motion = { z = \"0.1*sin(w*t)\" }", "surface = { velocity = [2, \"w\", 0] }"))
        .unwrap_or_else(|e| panic!("{e}"));
    near(contacts(&file, 0.0)[0].surface.unwrap().velocity, [2.0, 5.0, 0.0]);
    near(surface("surface = { spin = 2, axis = [0, 0, 1] }").velocity, [0.0, 0.6, 0.0]);
    near(surface("surface = { spin = \"2*cos(t)\", axis = [0, 0, 1], centre = [0.3, 1, 0] }").velocity, [2.0, 0.0, 0.0]);
    // both at once
    near(surface("motion = { z = \"t\" }\nsurface = { velocity = [0, 1, 0] }").velocity, [0.0, 1.0, 1.0]);
}

#[test]
fn mistakes_in_motions_are_named() {
    let cases: &[(&str, &str, &str)] = &[
        ("motion = { z = \"0.1*sin(w*u)\" }", "the motion of \"table\"", "u"),
        ("motion = { }", "says nothing", "formulas of t"),
        ("motion = { z = [1, 2] }", "neither a number nor a formula", "formula of t"),
        ("motion = { axis = [0, 0, 1], z = \"t\" }", "no angle", "give `angle`"),
        ("motion = { angle = \"t\", axis = [0, 0, 0] }", "is zero", "[0, 0, 1]"),
        ("motion = { angle = \"t\", centre = [0, 0] }", "the centre of the motion of \"table\"", "3"),
        ("motion = { tilt = \"t\" }", "tilt", "angle"),
        ("surface = { }", "the surface of \"table\" says nothing", "velocity"),
        ("surface = { velocity = 1 }", "not a list of three", "[x, y, z]"),
        ("surface = { velocity = [1, \"tt\", 0] }", "the motion of \"table\"", "tt"),
        ("surface = { velocity = [1, 0, 0], axis = [0, 0, 1] }", "no spin", "give `spin`"),
    ];
    for (keys, message, help) in cases {
        let error = read(&SCENE.replace("motion = { z = \"0.1*sin(w*t)\" }", keys)).err().expect(keys).to_string();
        assert!(error.contains(message) && error.contains(help), "{keys}: {error}");
    }
    let moving = SCENE.replace("continuous = true", "motion = { z = \"t\" }");
    let error = read(&moving).err().expect("only fixed bodies move as prescribed").to_string();
    assert!(error.contains("the moving body \"ball\" has a `motion`") && error.contains("fixed = true"), "{error}");
}

const JOINTED: &str = r#"
[[body]]
name = "floor"
fixed = true
shape = { kind = "plane" }

[[body]]
name = "base"
fixed = true
shape = { kind = "compound", parts = [{ kind = "box", size = 1 }, { kind = "sphere", radius = 0.6 }] }
position = [0, 0, 0.5]

[[body]]
name = "arm"
mass = 1
shape = { kind = "box", size = 1 }
position = [0.9, 0, 0.5]

[[body]]
name = "hand"
mass = 1
shape = { kind = "box", size = 1 }
position = [1.8, 0, 0.5]

[[joint]]
kind = "revolute"
bodies = ["base", "arm"]
point = [0.45, 0, 0.5]
axis = [0, 1, 0]

[[joint]]
kind = "revolute"
bodies = ["arm", "hand"]
point = [1.35, 0, 0.5]
axis = [0, 1, 0]
"#;

/// Pairs of colliders in contact, the floor being 0.
fn pairs(text: &str) -> Vec<(u32, u32)> {
    let file = read(text).unwrap_or_else(|e| panic!("{e}"));
    let mut pairs: Vec<(u32, u32)> = contacts(&file, 0.0).iter().map(|c| (c.key.collider_a, c.key.collider_b)).collect();
    pairs.dedup();
    pairs
}

#[test]
fn jointed_bodies_do_not_collide_unless_asked() {
    // floor 0, base 1 and 2, arm 3, hand 4: only the floor is touched
    assert_eq!(pairs(JOINTED), [(3, 0), (4, 0)]);
    let apart = JOINTED.rfind("[[joint]]").unwrap();
    let second = format!("{}collide = true\n{}", &JOINTED[..apart + 10], &JOINTED[apart + 10..]);
    assert_eq!(pairs(&second), [(3, 0), (3, 4), (4, 0)]);
    let first = JOINTED.replacen("[[joint]]\n", "[[joint]]\ncollide = true\n", 1);
    assert_eq!(pairs(&first), [(3, 0), (3, 1), (3, 2), (4, 0)]);
}

const PLANAR: &str = r#"
[[planar_body]]
name = "one"
mass = 1
inertia = 1
shape = { kind = "disk", radius = 0.5 }

[[planar_body]]
name = "two"
mass = 1
inertia = 1
shape = { kind = "disk", radius = 0.5 }
position = [0.9, 0]

[[joint]]
kind = "revolute"
bodies = ["one", "two"]
point = [0.45, 0]
"#;

#[test]
fn planar_jointed_bodies_do_not_collide_unless_asked() {
    for (text, n) in [(PLANAR.to_owned(), 0), (PLANAR.replace("[[joint]]\n", "[[joint]]\ncollide = true\n"), 1)] {
        let file = read(&text).unwrap_or_else(|e| panic!("{e}"));
        let mut detector = file.model.planar_detector().expect("there are shapes").boxed_clone();
        let mut contacts = Vec::new();
        detector.detect(Instant { t: 0.0, q: &file.state.q, v: &file.state.v }, 0.0, &mut contacts).unwrap();
        assert_eq!(contacts.len(), n);
        assert!(contacts.iter().all(|c| c.body_b != WORLD));
    }
}
