//! Limits, clearances, couplings, ropes and curves of joints in model files, and their mistakes.

use super::{Case, check_cases, read};
use carom_dynamics::Law;
use carom_io::model_file::ModelFile;

const MACHINE: &str = r#"
[parameters]
l = 0.5
e = 0.4

[[planar_body]]
name = "crank"
mass = 1.0
inertia = 0.1
position = [0.25, 0]

[[planar_body]]
name = "rod"
mass = 1.0
inertia = 0.1
position = [1, 0]

[[planar_body]]
name = "slider"
mass = 1.0
inertia = 0.1
position = [1.5, 0]

[[joint]]
name = "pin"
kind = "revolute"
bodies = ["ground", "crank"]
point = [0, 0]
turn = 0.2
limits = [-1, "pi"]
restitution = "e"

[[joint]]
name = "worn"
kind = "revolute"
bodies = ["crank", "rod"]
point = ["l", 0]
clearance = { size = 1e-3, journal_radius = 0.01, friction = 0.1, restitution = 0.3 }

[[joint]]
name = "guide"
kind = "prismatic"
bodies = ["ground", "slider"]
point = [1.5, 0]
axis = [1, 0]
limits = [-0.2, inf]
collide = true

[[joint]]
name = "rack"
kind = "rack"
joints = ["pin", "guide"]
radius = 0.1

[[joint]]
name = "cord"
kind = "rope"
bodies = ["rod", "slider"]
points = [[1, 0], [1.5, 0]]
length = 0.7
restitution = 0.1

[[joint]]
name = "slot"
kind = "point-on-curve"
bodies = ["ground", "rod"]
point = [1, 0]
curve = ["cos(s)", "l*sin(s)"]
range = [0, 6.283185307179586]
"#;

const SPACE: &str = r#"
[[body]]
name = "arm"
mass = 1.0
inertia = 0.1

[[body]]
name = "hand"
mass = 1.0
inertia = 0.1
position = [0, 0, 1]

[[joint]]
name = "shoulder"
kind = "spherical"
bodies = ["ground", "arm"]
point = [0, 0, 0]
axis = [0, 0, 1]
cone = 0.7
restitution = 0.5

[[joint]]
name = "thread"
kind = "screw"
bodies = ["arm", "hand"]
point = [0, 0, 1]
axis = [0, 0, 1]
pitch = 0.02
slide_limits = [-0.1, 0.1]

[[joint]]
name = "bearing"
kind = "revolute"
bodies = ["ground", "hand"]
point = [0, 0, 1]
axis = [0, 0, 1]
clearance = { size = 1e-4, journal_radius = 0.01, friction = 0.2, axes = "free" }

[[joint]]
name = "second thread"
kind = "cylindrical"
bodies = ["ground", "hand"]
point = [0, 0, 1]
axis = [0, 0, 1]
turn_limits = [-1, 1]

[[joint]]
name = "gears"
kind = "gear"
joints = ["thread", "second thread"]
teeth = [20, -60]

[[joint]]
name = "socket"
kind = "spherical"
bodies = ["ground", "hand"]
point = [0, 0, 1]
clearance = 1e-3
"#;

fn rows(file: &ModelFile) -> Vec<(&str, usize, bool)> {
    file.model.interactions().iter().map(|i| (i.name(), i.relation().n_rows(), i.is_bilateral())).collect()
}

fn gap(file: &ModelFile, name: &str) -> f64 {
    let interaction = file.model.interactions().iter().find(|i| i.name() == name).unwrap();
    let mut g = [f64::NAN; 6];
    interaction.relation().position(0.0, &file.state.q, &mut g, &mut Default::default()).unwrap();
    g[0]
}

#[test]
fn joints_in_the_plane_are_read() {
    let file = read(MACHINE).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        rows(&file),
        [
            ("pin", 2, true),
            ("pin lower limit", 1, false),
            ("pin upper limit", 1, false),
            ("worn", 2, false),
            ("guide", 2, true),
            ("guide lower limit", 1, false),
            ("cord", 1, false),
            ("slot", 1, true),
            ("rack", 1, true),
        ]
    );
    let exact = [
        ("pin lower limit", 1.2),
        ("pin upper limit", std::f64::consts::PI - 0.2),
        ("worn", 1e-3),
        ("guide lower limit", 0.2),
        ("cord", 0.2),
        ("slot", 0.0),
        ("rack", 0.0),
    ];
    for (name, exact) in exact {
        assert!((gap(&file, name) - exact).abs() < 1e-14, "{name}: {}", gap(&file, name));
    }
    let law = |name: &str| file.model.interactions().iter().find(|i| i.name() == name).map(|i| *i.law());
    assert_eq!(law("pin lower limit"), Some(Law::unilateral(0.4)));
    let Some(Law::Contact(worn)) = law("worn") else { panic!() };
    assert!(worn.friction.at(0.0) == 0.1 && worn.restitution.at(-1.0) == 0.3);
    // the guide is with the ground, the slot too; crank and rod, rod and slider do not collide
    assert_eq!((&file.jointed.planar[..], &file.jointed.rigid[..]), (&[(0, 1), (1, 2)][..], &[][..]));
}

#[test]
fn joints_in_space_are_read() {
    let file = read(SPACE).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        rows(&file),
        [
            ("shoulder", 3, true),
            ("shoulder cone", 1, false),
            ("thread", 5, true),
            ("thread slide lower limit", 1, false),
            ("thread slide upper limit", 1, false),
            ("bearing", 3, false),
            ("bearing axis", 1, true),
            ("second thread", 4, true),
            ("second thread turn lower limit", 1, false),
            ("second thread turn upper limit", 1, false),
            ("socket", 1, false),
            ("gears", 1, true),
        ]
    );
    assert_eq!(file.jointed.rigid, [(0, 1)]);
    let parallel = read(&SPACE.replace("\"free\"", "\"parallel\"")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(rows(&parallel)[5..7], [("bearing", 2, false), ("bearing axis", 3, true)]);
    let colliding = read(&SPACE.replace("pitch = 0.02", "pitch = 0.02\ncollide = true")).unwrap_or_else(|e| panic!("{e}"));
    assert!(colliding.jointed.rigid.is_empty());
}

const CASES: &[Case] = &[
    (MACHINE, "limits = [-1, \"pi\"]", "limits = [-4, 4]", &["a turn or more apart"], "[-4, 4]"),
    (MACHINE, "limits = [-1, \"pi\"]", "limits = [1, -1]", &["no range"], "[1, -1]"),
    (MACHINE, "limits = [-1, \"pi\"]", "limits = [1]", &["1 entries", "2 numbers"], "[1]"),
    (MACHINE, "limits = [-1, \"pi\"]\n", "", &["restitution but nothing to strike"], "\"e\""),
    (MACHINE, "limits = [-1, \"pi\"]", "slide_limits = [-1, 1]", &["no `slide_limits`", "cylindrical, screw"], "[-1, 1]"),
    (MACHINE, "turn = 0.2", "turn = 0.2\npitch = 0.1", &["no `pitch`", "screw has it"], "0.1"),
    (MACHINE, "size = 1e-3", "size = -1e-3", &["size of the clearance", "positive"], "-1e-3"),
    (MACHINE, "size = 1e-3, ", "", &["no `size`"], "{ journal"),
    (MACHINE, "journal_radius = 0.01, ", "", &["friction but no radius", "journal_radius"], "0.1"),
    (MACHINE, "journal_radius = 0.01", "jornal_radius = 0.01", &["no `jornal_radius`", "journal_radius"], "jornal"),
    (MACHINE, "friction = 0.1, restitution = 0.3 }", "friction = 0.1 }\nlimits = [-1, 1]", &["both clearance and limits"], "[-1, 1]"),
    (MACHINE, "joints = [\"pin\", \"guide\"]", "joints = [\"pin\", \"guid\"]", &["no joint \"guid\"", "guide"], "\"guid\""),
    (MACHINE, "joints = [\"pin\", \"guide\"]", "joints = [\"pin\", \"worn\"]", &["no coordinate to couple"], "\"worn\""),
    (MACHINE, "joints = [\"pin\", \"guide\"]", "joints = [\"guide\", \"pin\"]", &["no angle"], "[[joint]]"),
    (MACHINE, "joints = [\"pin\", \"guide\"]", "joints = [\"pin\"]", &["couples 1 joints"], "[\"pin\"]"),
    (MACHINE, "radius = 0.1\n", "", &["no radius"], "[[joint]]"),
    (MACHINE, "joints = [\"pin\", \"guide\"]\n", "", &["has no joints"], "[[joint]]"),
    (MACHINE, "bodies = [\"ground\", \"crank\"]\n", "", &["has no bodies", "ground"], "[[joint]]"),
    (MACHINE, "length = 0.7", "length = 0", &["length", "positive"], "0"),
    (MACHINE, "\"l*sin(s)\"", "\"l*sin(u)\"", &["u"], "u"),
    (MACHINE, "curve = [\"cos(s)\", \"l*sin(s)\"]\n", "", &["no curve"], "[[joint]]"),
    (MACHINE, "curve = [\"cos(s)\"", "curve = [\"2*cos(s)\"", &["off the curve", "nearest point"], "[[joint]]"),
    (SPACE, "pitch = 0.02\n", "", &["pitch", "advance per turn"], "[[joint]]"),
    (SPACE, "slide_limits", "limits", &["turn_limits", "slide_limits"], "[-0.1"),
    (SPACE, "cone = 0.7", "cone = 4.0", &["half angle", "below pi"], "4.0"),
    (SPACE, "teeth = [20, -60]", "teeth = [20, 1.5]", &["whole numbers"], "[20, 1.5]"),
    (SPACE, "teeth = [20, -60]", "ratio = 0.31830988618379", &["whole numbers", "teeth"], "[[joint]]"),
    (SPACE, "teeth = [20, -60]\n", "", &["no ratio", "teeth"], "[[joint]]"),
    (SPACE, "axes = \"free\"", "axes = \"loose\"", &["neither parallel nor free"], "\"loose\""),
];

#[test]
fn mistakes_are_shown_at_their_place() {
    check_cases(CASES);
}
