//! Time of the parts of a joint between rigid bodies, on Bricard's mechanism (six revolute joints).
//!
//! `cargo bench -p carom-dynamics --bench joints`. Each figure is the best of five repetitions, per joint.

use carom_dynamics::problems::bricard;
use carom_dynamics::relations::Rows;
use carom_dynamics::systems::Scratch;
use std::hint::black_box;
use std::time::Instant;

fn main() {
    let problem = bricard::bricard().expect("model");
    let (q, v, mut scratch) = (&problem.state.q, vec![0.3; problem.state.v.len()], Scratch::default());
    let joints = problem.model.interactions();
    let (mut values, mut five, lambda) = ([0.0; 144], [0.0; 5], [1.0; 5]);
    row("g", || joints.iter().for_each(|j| j.relation().position(0.0, black_box(q), &mut five, &mut scratch).expect("g")));
    let (mut bias, mut scratch) = ([0.0; 5], Scratch::default());
    row("G", || {
        for joint in joints {
            let jacobian = &mut values[..5 * joint.relation().velocities().len()];
            joint.relation().jacobian(0.0, black_box(q), Rows { jacobian, bias: &mut bias }, &mut scratch).expect("G");
        }
    });
    let mut scratch = Scratch::default();
    row("(dG/dt) v", || {
        joints.iter().for_each(|j| j.relation().acceleration_bias(0.0, black_box(q), &v, &mut bias, &mut scratch).expect("bias"));
    });
    let mut scratch = Scratch::default();
    row("curvature", || {
        for joint in joints {
            let matrix = &mut values[..joint.relation().velocities().len().pow(2)];
            joint.relation().add_curvature(0.0, black_box(q), &lambda, 1.0, matrix, &mut scratch).expect("curvature");
        }
    });
}

fn row(name: &str, mut work: impl FnMut()) {
    let mut once = || {
        let clock = Instant::now();
        (0..2000).for_each(|_| work());
        clock.elapsed().as_secs_f64() / (2000.0 * 6.0)
    };
    let best = (0..5).map(|_| once()).fold(f64::INFINITY, f64::min);
    println!("{name:<44}{:>9.1} ns", 1e9 * best);
}
