//! `carom plot --scene`: the bodies themselves.

use crate::support::Folder;

const SCENE: &str = r#"
title = "All shapes"

[[body]]
name = "ground"
fixed = true
shape = { kind = "plane" }

[[body]]
name = "ball"
shape = { kind = "sphere", radius = 0.1 }
density = 1000
position = [0, 0, 0.1]

[[body]]
name = "cube"
shape = { kind = "box", size = 0.2 }
density = 1000
position = [1, 0, 0.1]

[[body]]
name = "rod"
shape = { kind = "compound", parts = [
    { kind = "capsule", radius = 0.1, length = 0.3 },
    { kind = "cone", radius = 0.1, height = 0.2, position = [0, 0.5, 0] },
    { kind = "cylinder", radius = 0.1, length = 0.2, position = [0, -0.5, 0] },
    { kind = "convex", vertices = [[0, 0, 1], [0.1, 0, 1], [0, 0.1, 1], [0, 0, 1.1]] },
] }
density = 1000
position = [2, 0, 0.3]

[simulation]
end = 0.02
step = 1e-2
"#;

fn run(folder: &Folder, text: &str) {
    folder.write("model.toml", text);
    let run = folder.carom(&["run", "model.toml", "-o", "run.h5", "--overwrite"]);
    assert_eq!(run.code, 0, "{}", run.err);
}

/// A ball is one circle and its cap; a cube from the front is one square, from an oblique direction three faces: per panel.
#[test]
fn bodies_are_drawn_at_chosen_times() {
    let folder = Folder::new();
    run(&folder, SCENE);
    let draw = |options: &[&str]| {
        let said = folder.carom(&[&["plot", "run.h5", "--scene", "-o", "scene.svg", "--overwrite"], options].concat());
        assert_eq!(said.code, 0, "{}", said.err);
        std::fs::read_to_string(folder.path("scene.svg")).unwrap()
    };
    let three = draw(&[]);
    assert!(three.contains("All shapes") && three.contains("t = 0.010 s") && three.contains("500 mm"), "{three}");
    assert_eq!(three.matches("<circle").count(), 3);
    let front = draw(&["--times", "0", "--view", "front", "--window", "1,0,0.1,0.5,0.5"]);
    // the cube's front, and the ground below it
    assert_eq!((front.matches("<circle").count(), front.matches("<polygon").count()), (0, 2), "{front}");
    let oblique = draw(&["--times", "0", "--view", "30,20", "--window", "1,0,0.1,0.5,0.5"]);
    assert_eq!(oblique.matches("<polygon").count(), 4, "{oblique}");
    assert_eq!(folder.carom(&["plot", "run.h5", "--scene", "-o", "scene.png"]).code, 0);
}

#[test]
fn planar_bodies_are_drawn_too() {
    let folder = Folder::new();
    run(
        &folder,
        r#"
        [[planar_body]]
        name = "disk"
        shape = { kind = "disk", radius = 0.1 }
        density = 10
        position = [0, 0.1]
        [[planar_body]]
        name = "box"
        shape = { kind = "box", size = [0.2, 0.1] }
        density = 10
        position = [0.5, 0.05]
        [[obstacle]]
        name = "ground"
        shape = { kind = "half-plane" }
        [simulation]
        end = 0.01
        step = 1e-2
        "#,
    );
    let said = folder.carom(&["plot", "run.h5", "--scene", "--times", "0", "-o", "scene.svg"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let svg = std::fs::read_to_string(folder.path("scene.svg")).unwrap();
    // a disk with its spoke and the bar of the scale, a box, the ground
    let counts = ["<circle", "<polyline", "<polygon"].map(|tag| svg.matches(tag).count());
    assert_eq!(counts, [1, 2, 2], "{svg}");
}

#[test]
fn mistakes_are_told() {
    let folder = Folder::new();
    run(&folder, SCENE);
    for (options, words) in [
        (&["--scene", "--view", "above"][..], "front, side, top, oblique"),
        (&["--scene", "--window", "1,2,3"][..], "X,Y,Z,W,H"),
        (&["--scene", "--timeline"][..], "--timeline"),
        (&["--times", "1"][..], "--scene"),
    ] {
        let said = folder.carom(&[&["plot", "run.h5", "-o", "no.svg"], options].concat());
        assert!(said.code == 2 && said.err.contains(words), "{}", said.err);
    }
    run(&folder, "[linear]\ncoordinates = [\"y\"]\nmass = 1\n[simulation]\nend = 0.02\nstep = 1e-2\n");
    let said = folder.carom(&["plot", "run.h5", "--scene", "-o", "no.svg"]);
    assert!(said.code == 2 && said.err.contains("no body of this model has a shape"), "{}", said.err);
    folder.write("other.toml", SCENE);
    let said = folder.carom(&["plot", "run.h5", "--scene", "--model", "other.toml", "-o", "no.svg"]);
    assert!(said.code == 2 && said.err.contains("other coordinates than the run"), "{}", said.err);
}
