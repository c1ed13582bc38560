//! Bodies given by meshes that touch meshes, beside boxes on planes and beside statics.

use crate::support::{Done, run, run_text};
use std::fmt::Write;

const QUADS: [[u32; 4]; 6] = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];

/// A cube of edge 0.2 m as a mesh.
fn cube() -> String {
    let sign = |bit: u32| if bit == 1 { 0.1 } else { -0.1 };
    let vertices: Vec<_> = (0..8_u32).map(|k| [sign(k & 1), sign(k >> 1 & 1), sign(k >> 2)]).collect();
    let triangles: Vec<_> = QUADS.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
    format!("{{ kind = \"mesh\", vertices = {vertices:?}, triangles = {triangles:?} }}")
}

/// A floor at z = 0 of n × n cells whose inner corners are out of line.
fn floor(n: u32) -> String {
    let (mut vertices, mut triangles) = (String::new(), String::new());
    for k in 0..(n + 1) * (n + 1) {
        let (i, j) = (k % (n + 1), k / (n + 1));
        let inner = |i: u32| if i == 0 || i == n { 0.0 } else { 0.3 };
        let place = |i: u32, turn: f64| 0.13 * (f64::from(i) - 0.5 * f64::from(n) + inner(i) * (f64::from(k) * turn).sin());
        write!(vertices, "[{}, {}, 0.0], ", place(i, 1.3), place(j, 2.1)).unwrap();
    }
    for k in 0..n * n {
        let a = k / n * (n + 1) + k % n;
        write!(triangles, "[{a}, {}, {}], [{a}, {}, {}], ", a + 1, a + n + 2, a + n + 2, a + n + 1).unwrap();
    }
    format!("{{ kind = \"mesh\", vertices = [{vertices}], triangles = [{triangles}] }}")
}

fn scene(ground: &str, body: &str, placed: &str, (friction, end): (f64, f64)) -> Done {
    run_text(&format!(
        "[[material]]\nname = \"m\"\nfriction = {friction}\n[[body]]\nname = \"ground\"\nfixed = true\nshape = {ground}\nmaterial = \"m\"\n\
         [[body]]\nname = \"cube\"\nshape = {body}\ndensity = 1000\nmaterial = \"m\"\n{placed}\n\
         [simulation]\nend = {end}\nstep = 2e-3\n[record]\nevery = 1\n"
    ))
}

/// A cube that falls a little, turned about the vertical, comes to rest on a mesh as a box on a plane, to roundings of a hundred steps.
#[test]
fn a_mesh_rests_on_a_mesh_as_a_box_on_a_plane() {
    let placed = "position = [0.02, 0.03, 0.103]\nrotation = { axis = [0, 0, 1], angle = 0.3 }";
    let meshes = scene(&floor(8), &cube(), placed, (0.5, 0.2));
    let exact = scene("{ kind = \"plane\" }", "{ kind = \"box\", size = 0.2 }", placed, (0.5, 0.2));
    for (q, p) in meshes.keep.q.iter().zip(&exact.keep.q) {
        let apart = q.iter().zip(p).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-12, "{apart}");
    }
    assert_eq!((meshes.keep.contacts.len(), exact.keep.contacts.len()), (4, 4));
    assert!(meshes.keep.v.last().unwrap().iter().all(|v| v.abs() < 1e-12), "{:?}", meshes.keep.v.last());
}

/// Without friction a cube slides over some hundred edges of a triangulated floor and keeps its velocity.
#[test]
fn a_mesh_slides_over_a_triangulated_floor_without_a_bump() {
    let placed = "position = [-0.5, -0.4, 0.1]\nvelocity = [1.0, 0.8, 0.0]\nrotation = { axis = [0, 0, 1], angle = 0.4 }";
    let done = scene(&floor(10), &cube(), placed, (0.0, 1.0));
    for v in &done.keep.v {
        let change = (v[0] - 1.0).abs().max((v[1] - 0.8).abs()).max(v[2..].iter().fold(0.0, |m, x| x.abs().max(m)));
        assert!(change < 1e-9, "{change}: {v:?}");
    }
}

/// The gallery's parts come to rest where statics says: the angle on the floor against the wall, the nut flat on the plate around the pin.
#[test]
fn parts_of_the_gallery_come_to_rest_in_their_places() {
    let done = run("mesh_parts", &[]);
    // Centre of mass of the angle: areas 400 and 300 mm² at (20, 5) and (5, 25) mm.
    let (x, z) = ((400.0 * 20.0 + 300.0 * 5.0) / 700.0, (400.0 * 5.0 + 300.0 * 25.0) / 700.0);
    let rest = [("angle.x", -0.05 + 1e-3 * x), ("angle.y", 0.0), ("angle.z", 1e-3 * z), ("nut.z", 5e-3)];
    for (name, exact) in rest {
        assert!((done.q(name) - exact).abs() < 1e-6, "{name}: {} {exact}", done.q(name));
    }
    for name in ["nut.qx", "nut.qy", "angle.qx", "angle.qy", "angle.qz"] {
        assert!(done.q(name).abs() < 1e-4, "{name}: {}", done.q(name));
    }
    // The hole is 1 mm wider than the pin.
    assert!((done.q("nut.x") - 0.12).hypot(done.q("nut.y")) < 0.6e-3);
    let speed = done.keep.v.last().unwrap().iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    assert!(speed < 1e-6, "{speed}");
}
