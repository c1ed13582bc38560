//! Planar bodies with shapes, grids and obstacles that move, and their mistakes.

use super::{Case, check_cases, read};
use carom_dynamics::StepMemory;
use carom_dynamics::detection::ContactPoint;
use carom_dynamics::systems::Instant;

const VESSEL: &str = r#"
[parameters]
r = 0.5

[[material]]
name = "glass"
friction = 0.3
restitution = 0.5
tangential_restitution = 0.1

[[planar_body]]
name = "bead"
shape = { kind = "disk", radius = "r" }
density = 2.0
material = "glass"
position = [0, "r"]
grid = { counts = [3, 2], spacing = [1, 2], jitter = 0.01, seed = 4 }

[[planar_body]]
name = "free"
mass = 1.0
inertia = 0.1
position = [9, 9]

[[obstacle]]
name = "floor"
shape = { kind = "half-plane" }
motion = { y = "0.2*sin(3*t)", angle = "0" }

[[obstacle]]
name = "wall"
shape = { kind = "segment", ends = [[0, 0], [0, 4]] }
position = [-1, 0]
"#;

#[test]
fn a_vessel_is_read() {
    let file = read(VESSEL).unwrap();
    let model = &file.model;
    assert_eq!(model.systems().planar_bodies().map(|b| b.q.len()), Some(21));
    let names: Vec<&str> = (0..model.n_colliders()).map(|i| model.collider_name(i)).collect();
    assert_eq!(names, ["bead_1", "bead_2", "bead_3", "bead_4", "bead_5", "bead_6", "floor", "wall"]);
    // row by row from below, within the jitter
    for (k, place) in file.state.q.chunks_exact(3).take(6).enumerate() {
        let nominal = [(k % 3) as f64, 0.5 + 2.0 * (k / 3) as f64];
        let off = [place[0] - nominal[0], place[1] - nominal[1]];
        assert!(off.iter().all(|x| x.abs() <= 0.01 && *x != 0.0) && place[2] == 0.0, "{k}: {place:?}");
    }
    assert_eq!(read(VESSEL).unwrap().state.q, file.state.q, "the same seed, the same places");
    assert_ne!(read(&VESSEL.replace("seed = 4", "seed = 5")).unwrap().state.q, file.state.q);
    let mut mass = vec![0.0; 63];
    model.systems().mass(0.0, &file.state.q, &mut mass, &mut Default::default()).unwrap();
    let disk = 2.0 * std::f64::consts::PI * 0.25;
    assert!((mass[0] - disk).abs() < 1e-15 && (mass[8] - 0.5 * disk * 0.25).abs() < 1e-15);
}

#[test]
fn contacts_know_their_law_and_the_motion_of_the_obstacle() {
    let file = read(VESSEL).unwrap();
    let mut detector = file.model.planar_detector().unwrap().boxed_clone();
    let bodies = file.model.systems().planar_bodies().unwrap();
    let at = Instant { t: 0.1, q: &file.state.q[bodies.q.clone()], v: &file.state.v[bodies.v.clone()] };
    let mut contacts: Vec<ContactPoint> = Vec::new();
    detector.detect(at, 1.0, &mut contacts).unwrap();
    let floor = contacts.iter().find(|c| c.key.collider_a == 0 && c.key.collider_b == 6).unwrap();
    let surface = floor.surface.unwrap();
    // y = 0.2 sin 3t and its derivatives; a rounding or two
    assert!((surface.velocity.y - 0.6 * 0.3_f64.cos()).abs() < 1e-15 && surface.velocity.x == 0.0);
    assert!((surface.acceleration.y + 1.8 * 0.3_f64.sin()).abs() < 1e-15);
    assert!((floor.gap - (file.state.q[1] - 0.2 * 0.3_f64.sin() - 0.5)).abs() < 1e-15);
    let law = detector.laws()[floor.law as usize];
    assert_eq!((law.friction.at(0.0), law.restitution.at(-1.0), law.tangential_restitution), (0.3, 0.5, 0.1));
    assert!(StepMemory::new(&file.model, &file.run.solver).is_ok());
}

const CASES: &[Case] = &[
    (VESSEL, "kind = \"disk\"", "kind = \"disc\"", &["no planar shape \"disc\"", "disk"], "\"disc\""),
    (VESSEL, "radius = \"r\"", "radius = -1", &["radius", "positive"], "-1"),
    (VESSEL, "radius = \"r\"", "ends = [[0, 0], [1, 1]]", &["a disk has no `ends`", "radius"], "[[0, 0]"),
    (VESSEL, "{ kind = \"disk\", radius = \"r\" }", "{ kind = \"half-plane\" }", &["moving body", "[[obstacle]]"], "{ kind"),
    (VESSEL, "ends = [[0, 0], [0, 4]]", "ends = [[0, 0], [0, 0]]", &["\"wall\"", "positive"], "{ kind"),
    (VESSEL, "ends = [[0, 0], [0, 4]]", "ends = [[0, 0]]", &["1 ends"], "[[0, 0]]"),
    (VESSEL, "0.2*sin(3*t)", "0.2*sin(3*q)", &["motion of \"floor\"", "q"], "q"),
    (VESSEL, "motion = { y = \"0.2*sin(3*t)\", angle = \"0\" }", "motion = {}", &["says nothing"], "{}"),
    (VESSEL, "counts = [3, 2]", "counts = [3, 0.5]", &["counts", "whole numbers"], "[3, 0.5]"),
    (VESSEL, "material = \"glass\"", "material = \"glas\"", &["no material", "glass"], "\"glas\""),
    (VESSEL, "mass = 1.0", "mass = 1.0\nmaterial = \"glass\"", &["material but no shape"], "\"glass\""),
    (VESSEL, "mass = 1.0", "density = 1.0", &["no shape with an area"], "1.0"),
    (VESSEL, "density = 2.0", "density = 2.0\nmass = 1.0", &["both mass and density"], "2.0"),
    (VESSEL, "density = 2.0\n", "", &["has no mass", "density"], "[[planar_body]]"),
    (VESSEL, "mass = 1.0\ninertia = 0.1", "mass = 1.0", &["has no inertia"], "[[planar_body]]"),
    (VESSEL, "name = \"wall\"", "name = \"floor\"", &["given twice"], "\"floor\""),
];

#[test]
fn mistakes_are_shown_at_their_place() {
    check_cases(CASES);
}

#[test]
fn obstacles_need_planar_bodies() {
    let text = "[[obstacle]]\nname = \"floor\"\nshape = { kind = \"half-plane\" }\n[linear]\ncoordinates = [\"x\"]\nmass = 1.0\n";
    let Err(error) = read(text) else { panic!("should be refused") };
    assert!(error.to_string().contains("obstacles but no planar bodies"), "{error}");
}
