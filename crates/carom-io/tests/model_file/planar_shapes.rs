//! Planar polygons, boxes, capsules, chains and compounds in a model file: their masses and places, and their mistakes.

use super::{Case, check_cases, read};
use std::f64::consts::PI;

const SHAPES: &str = r#"
[parameters]
a = 2.0

[[planar_body]]
name = "box"
shape = { kind = "box", size = ["a", 1] }
density = 3.0

[[planar_body]]
name = "capsule"
shape = { kind = "capsule", radius = 0.5, length = 2 }
density = 1.0
position = [10, 0]

[[planar_body]]
name = "triangle"
shape = { kind = "polygon", vertices = [[0, 0], [0, 3], [3, 0]] }
mass = 2.0
position = [20, 0]
angle = "pi/2"
velocity = [1, 0]
angular_velocity = 2.0

[[planar_body]]
name = "letter"
shape = { kind = "polygon", vertices = [[0, 0], [3, 0], [3, 1], [1, 1], [1, 4], [0, 4]] }
density = 1.0
position = [30, 0]

[[planar_body]]
name = "hammer"
shape = { kind = "compound", parts = [
  { kind = "box", size = [4, 1] },
  { kind = "disk", radius = 1, position = [3, 0], angle = 1.0 },
] }
density = 1.0
position = [40, 0]

[[planar_body]]
name = "hoop"
shape = { kind = "chain", vertices = [[1, 1], [-1, 1], [-1, -1], [1, -1]], closed = true }
mass = 1.0
position = [50, 0]

[[obstacle]]
name = "floor"
shape = { kind = "chain", vertices = [[-9, -5], [0, -6], [60, -5]], side = "left" }

[[obstacle]]
name = "paddle"
shape = { kind = "compound", parts = [{ kind = "box", size = [1, 1], position = [2, 0] }] }
position = [0, -9]
motion = { angle = "t" }
"#;

#[test]
fn shapes_have_their_masses_and_places() {
    let file = read(SHAPES).unwrap();
    let (model, q, v) = (&file.model, &file.state.q, &file.state.v);
    let mut mass = vec![0.0; 6 * 9];
    model.systems().mass(0.0, q, &mut mass, &mut Default::default()).unwrap();
    let body = |k: usize| (mass[9 * k], mass[9 * k + 8]);
    let near = |(m, i): (f64, f64), (n, j): (f64, f64)| assert!((m - n).abs() < 1e-13 && (i - j).abs() < 1e-12, "{m} {n}, {i} {j}");
    near(body(0), (6.0, 6.0 * 5.0 / 12.0));
    assert!((body(1).0 - (2.0 + PI / 4.0)).abs() < 1e-14);
    // right triangle: m (b² + h²)/18; given clockwise
    near(body(2), (2.0, 2.0 * 18.0 / 18.0));
    // its centre of mass (1, 1) turned by 90°, and the velocity there
    let (place, speed) = (&q[6..9], &v[6..9]);
    assert!((place[0] - 19.0).abs() < 1e-14 && (place[1] - 1.0).abs() < 1e-14 && (place[2] - PI / 2.0).abs() < 1e-15);
    assert!((speed[0] - (1.0 - 2.0)).abs() < 1e-14 && (speed[1] + 2.0).abs() < 1e-14 && speed[2] == 2.0);
    // 3 × 1 and 1 × 3 above its left end: centres (1.5, 0.5) and (0.5, 2.5)
    let centre = [1.0, 1.5];
    assert!((q[9] - 30.0 - centre[0]).abs() < 1e-13 && (q[10] - centre[1]).abs() < 1e-13);
    near(body(3), (6.0, 2.0 * 3.0 * 10.0 / 12.0 + 2.0 * 3.0 * (0.25 + 1.0)));
    let disk = PI;
    let x = 3.0 * disk / (4.0 + disk);
    let inertia = 4.0 * 17.0 / 12.0 + 4.0 * x * x + 0.5 * disk + disk * (3.0 - x) * (3.0 - x);
    near(body(4), (4.0 + disk, inertia));
    assert!((q[12] - 40.0 - x).abs() < 1e-13);
    // four rods of 2 m and 1/4 kg, each 1 m from the centre
    near(body(5), (1.0, 4.0 * 0.25 * (4.0 / 12.0 + 1.0)));
    let names: Vec<&str> = (0..model.n_colliders()).map(|i| model.collider_name(i)).collect();
    assert_eq!(names, ["box", "capsule", "triangle", "letter", "letter", "hammer", "hammer", "hoop", "floor", "paddle"]);
}

const TRIANGLE: &str = "[[0, 0], [0, 3], [3, 0]]";
const FLOOR: &str = "vertices = [[-9, -5], [0, -6], [60, -5]]";

const CASES: &[Case] = &[
    (SHAPES, "kind = \"capsule\"", "kind = \"capsul\"", &["no planar shape \"capsul\"", "capsule"], "\"capsul\""),
    (SHAPES, "size = [\"a\", 1]", "size = [\"a\", 0]", &["size of the box", "positive"], "[\"a\", 0]"),
    (SHAPES, "size = [\"a\", 1]", "radius = 1", &["a box has no `radius`", "size"], "1"),
    (SHAPES, ", size = [\"a\", 1]", "", &["the box has no size", "size = [a, b]"], "{ kind"),
    (SHAPES, "radius = 0.5, length = 2", "radius = 0.5", &["no length"], "{ kind"),
    (SHAPES, TRIANGLE, "[[0, 0], [0, 3]]", &["\"triangle\"", "2 vertices are too few"], "[[0, 0]"),
    (SHAPES, TRIANGLE, "[[0, 0], [0, 3], [0, 9]]", &["\"triangle\"", "no area"], "[[0, 0]"),
    (SHAPES, TRIANGLE, "[[0, 0], [1, 1], [1, 0], [0, 1]]", &["meets itself", "vertices 1 and 3"], "[[0, 0]"),
    (SHAPES, TRIANGLE, "[[0, 0], [0, 3], [3, \"1/0\"]]", &["vertex"], "[[0, 0]"),
    (SHAPES, TRIANGLE, "3", &["vertices are not a list"], "3"),
    (SHAPES, FLOOR, "vertices = [[-9, -5], [0, -6], [-9, -5]]", &["\"floor\"", "turns back", "vertex 2"], "[[-9, -5]"),
    (SHAPES, "side = \"left\"", "side = \"top\"", &["no side \"top\"", "left"], "\"top\""),
    (SHAPES, "side = \"left\"", "size = [1, 1]", &["a chain has no `size`", "closed"], "[1, 1]"),
    (SHAPES, "closed = true }\nmass = 1.0", "closed = true }\ndensity = 1.0", &["no shape with an area"], "1.0"),
    (SHAPES, "{ kind = \"disk\", radius = 1,", "{ kind = \"half-plane\",", &["a part of a compound is a half-plane"], "\"half-plane\""),
    (SHAPES, "{ kind = \"disk\", radius = 1,", "{ kind = \"compound\",", &["a part of a compound is a compound"], "\"compound\""),
    (SHAPES, "radius = 0.5, length = 2", "radius = 0.5, length = 2, angle = 1", &["only the parts", "`angle`"], "1"),
    (SHAPES, "parts = [{ kind = \"box\", size = [1, 1], position = [2, 0] }]", "parts = []", &["\"paddle\" has no parts"], "[]"),
];

#[test]
fn mistakes_are_shown_at_their_place() {
    check_cases(CASES);
}
