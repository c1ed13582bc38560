//! No allocation per step once warm, with contact detection.

use crate::support::folder;
use carom::dynamics::StepMemory;
use carom::io::model_file::read;

/// Spheres and boxes on planes and on each other; warm after the contacts have been found and solved a few times.
#[test]
fn steps_of_bodies_do_not_allocate() {
    for (name, warm, steps) in [
        ("slide_to_roll", 20, 200),
        ("bouncing_sphere", 600, 400),
        ("friction_limit", 20, 200),
        ("stack_of_cubes", 100, 50),
        ("shaken_vessel", 150, 20),
    ] {
        let file = read(&folder().join(name), &[]).unwrap();
        let scheme = file.run.scheme.build();
        let (mut state, mut memory) = (file.state.clone(), StepMemory::new(&file.model, &file.run.solver).unwrap());
        let mut take = |n: usize| {
            for _ in 0..n {
                scheme.step(&file.model, &mut state, &mut memory, file.run.step.unwrap()).unwrap();
            }
        };
        take(warm);
        assert_eq!(allocation_counter::measure(|| take(steps)).count_total, 0, "{name}");
    }
}
