//! Scenes that can be run but are doubtful: each doubt is told, none is hidden.

use crate::support::Folder;

const FLOOR: &str = "[[body]]\nname = \"floor\"\nfixed = true\nshape = { kind = \"box\", size = [1, 1, 0.01] }\n";
const END: &str = "[simulation]\nend = 0.01\nstep = 1e-3\n";
/// A tetrahedron whose triangles look outward.
const VERTICES: &str = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\n";
const OUTWARD: &str = "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
const INWARD: &str = "f 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n";

fn part(faces: &str, more: &str) -> Folder {
    let folder = Folder::new();
    folder.write("part.obj", &format!("{VERTICES}{faces}"));
    let body = "[[body]]\nname = \"part\"\nshape = { kind = \"mesh\", file = \"part.obj\" }\ndensity = 1000\nposition = [0, 0, 1]\n";
    folder.write("model.toml", &format!("{FLOOR}{body}{more}{END}"));
    folder
}

#[test]
fn meshes_that_were_mended_are_told() {
    let right = part(OUTWARD, "").carom(&["check", "."]);
    assert!(right.code == 0 && right.err.is_empty(), "{}", right.err);
    for (faces, words) in [
        (INWARD.to_owned(), ["mesh of part", "turned round"]),
        (format!("{OUTWARD}f 1 1 2\n"), ["1 triangles of the mesh of part", "no area"]),
    ] {
        let folder = part(&faces, "");
        for command in [&["check", "."][..], &["run", ".", "--no-record"]] {
            let said = folder.carom(command);
            assert_eq!(said.code, 0, "{}", said.err);
            assert!(words.iter().all(|word| said.err.contains(word)), "{}", said.err);
        }
        let json = folder.carom(&["check", ".", "--json"]).json();
        assert_eq!(json["meshes"][0]["name"], "part", "{json}");
    }
    // Two triangles that look to different sides have no volume: refused with the place of the density.
    let torn = part(&OUTWARD.replace("f 2 3 4", "f 2 4 3"), "").carom(&["check", "."]);
    assert!(torn.code == 2 && torn.err.contains("density = 1000"), "{}", torn.err);
}

#[test]
fn a_mesh_faster_than_its_width_is_counted() {
    let json = part(OUTWARD, "velocity = [0, 0, -200]\n").carom(&["run", ".", "--no-record", "--json"]).json();
    assert!(json["warnings"]["fast_bodies"].as_u64().is_some_and(|n| n > 0), "{json}");
    let slow = part(OUTWARD, "velocity = [0, 0, -2]\n").carom(&["run", ".", "--no-record", "--json"]).json();
    assert!(slow["warnings"]["fast_bodies"].as_u64().unwrap_or(0) == 0, "{slow}");
}

#[test]
fn velocities_beyond_the_range_of_numbers_are_refused() {
    let said = part(OUTWARD, "velocity = [1e300, 0, 0]\n").carom(&["run", "."]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(["kinetic energy", "part.vx", "1e300"].iter().all(|word| said.err.contains(word)), "{}", said.err);
}
