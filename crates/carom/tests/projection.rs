//! Projection of positions with contacts found by detection: nothing penetrates, nothing fails to converge.

use crate::support::{folder, run};
use carom::dynamics::StepMemory;
use carom::dynamics::schemes::take_step;
use carom::io::model_file::{parse, read};

/// Two tilted boxes and a ball fall on a plane and on each other.
const FALLING: &str = r#"
[[material]]
name = "block"
friction = 0.4
restitution = 0.3
[[body]]
name = "floor"
fixed = true
shape = { kind = "plane", normal = [0, 0, 1] }
[[body]]
name = "one"
shape = { kind = "box", size = 0.1 }
mass = 1.0
position = [0, 0, 0.12]
rotation = { axis = [1, 2, 0.5], angle = 0.4 }
[[body]]
name = "two"
shape = { kind = "box", size = 0.1 }
mass = 1.0
position = [0.01, 0.02, 0.3]
rotation = { axis = [1, 0, 0.5], angle = 0.2 }
[[body]]
name = "ball"
shape = { kind = "sphere", radius = 0.05 }
mass = 1.0
position = [-0.02, 0.0, 0.5]
[simulation]
end = 0.5
step = 1e-3
"#;

/// Every step of falling boxes ends within the tolerance, whichever way all contacts are projected.
#[test]
fn falling_boxes_do_not_penetrate() {
    for scheme in [
        r#"{ kind = "combined-projection" }"#,
        r#"{ kind = "combined-projection", closed_contacts = "touch" }"#,
        r#"{ kind = "direct-projection", projected_contacts = "all", metric = "coordinates" }"#,
    ] {
        let file = parse(&format!("{FALLING}scheme = {scheme}\n"), &folder()).unwrap_or_else(|e| panic!("{e}"));
        let scheme = file.run.scheme.build();
        let (mut state, mut memory) = (file.state.clone(), StepMemory::new(&file.model, &file.run.solver).unwrap());
        let mut touched = 0;
        for _ in 0..500 {
            let report = take_step(&*scheme, &file.model, &mut state, &mut memory, 1e-3).unwrap();
            assert!(report.converged() && report.violations.penetration <= 1e-10, "{:?} at {}: {report:?}", file.run.scheme, state.t);
            touched += usize::from(report.projection.unwrap().iterations > 0);
        }
        assert!(touched > 10, "{touched}");
    }
}

/// Models of the gallery by combined projection, as `--set simulation.scheme.kind=combined-projection` runs them.
#[test]
fn gallery_by_combined_projection() {
    for (name, end) in [("stack_of_cubes", "0.2"), ("bouncing_sphere", "2"), ("column_of_beads", "1"), ("slider_crank_clearance", "0.02")] {
        let done = run(name, &["simulation.scheme.kind=combined-projection", &format!("simulation.end={end}")]);
        let c = &done.certificate;
        assert!(c.unconverged == 0 && c.max_penetration <= 1e-10, "{name}: {} {}", c.unconverged, c.max_penetration);
    }
}

/// No allocation per step once warm.
#[test]
fn projections_of_bodies_do_not_allocate() {
    for kind in ["direct-projection", "combined-projection"] {
        for (name, warm, steps) in [("bouncing_sphere", 2000, 400), ("stack_of_cubes", 100, 50)] {
            let file = read(&folder().join(name), &[format!("simulation.scheme.kind={kind}").parse().unwrap()]).unwrap();
            let scheme = file.run.scheme.build();
            let (mut state, mut memory) = (file.state.clone(), StepMemory::new(&file.model, &file.run.solver).unwrap());
            let mut take = |n: usize| {
                for _ in 0..n {
                    scheme.step(&file.model, &mut state, &mut memory, file.run.step.unwrap()).unwrap();
                }
            };
            take(warm);
            assert_eq!(allocation_counter::measure(|| take(steps)).count_total, 0, "{name} by {kind}");
        }
    }
}
