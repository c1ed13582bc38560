//! Time of contact detection: spheres on a lattice with small random displacements, and single box–box pairs.
//!
//! Processor time with one thread, wall time with several. "new": the near pairs are searched anew in each call; "kept": bodies stay within a twentieth of their size.

use carom_collision::{Collider, Detector, Material, PairLaws, Shape};
use carom_dynamics::detection::{ContactDetector, ContactPoint};
use carom_dynamics::systems::Instant;
use cpu_time::ThreadTime;
use nalgebra::Vector3;

/// Medians of some repetitions of a detection [s], with near pairs found anew and kept, and the number of contacts.
fn time(colliders: Vec<Collider>, q: &[f64], repetitions: usize) -> ([f64; 2], usize) {
    let n_bodies = q.len() / 7;
    let v = vec![0.01; 6 * n_bodies];
    let mut detector = Detector::new(colliders, vec![Material::default()], PairLaws::new()).expect("the shapes are sound");
    let (mut contacts, one_thread) = (Vec::new(), rayon::current_num_threads() == 1);
    let medians = [true, false].map(|anew| {
        let mut times: Vec<f64> = (0..repetitions)
            .map(|_| {
                contacts.clear();
                if anew {
                    detector.rebuild();
                }
                let (wall, cpu) = (std::time::Instant::now(), ThreadTime::now());
                detector.detect(Instant { t: 0.0, q, v: &v }, 1e-3, &mut contacts).expect("nothing moves as prescribed");
                if one_thread { cpu.elapsed() } else { wall.elapsed() }.as_secs_f64()
            })
            .collect();
        times.sort_by(f64::total_cmp);
        times[repetitions / 2]
    });
    (medians, contacts.len())
}

fn spheres() {
    for n in [1_000_u32, 10_000, 100_000] {
        let side = f64::from(n).cbrt().round() as u32;
        let (mut q, mut seed) = (Vec::new(), 1_u64);
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut colliders = vec![Collider::new("ground", None, Shape::Plane { normal: Vector3::z() })];
        for k in 0..n {
            let (x, y, z) = (k % side, k / side % side, k / side / side);
            let place = [x, y, z].map(|i| f64::from(i) + 0.5 + 1e-3 * random());
            q.extend(place);
            q.extend([1.0, 0.0, 0.0, 0.0]);
            colliders.push(Collider::new("ball", Some(k), Shape::Sphere { radius: 0.5005 }));
        }
        let ([anew, kept], contacts) = time(colliders, &q, if n > 50_000 { 11 } else { 51 });
        let per_body = |seconds: f64| seconds / f64::from(n) * 1e9;
        println!(
            "{n:6} spheres, {contacts} contacts: new {:.3} ms ({:.0} ns per body), kept {:.3} ms ({:.0} ns per body)",
            1e3 * anew,
            per_body(anew),
            1e3 * kept,
            per_body(kept)
        );
    }
}

fn main() {
    println!("{} bytes per contact point", size_of::<ContactPoint>());
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
        println!("{threads} threads");
        pool.install(spheres);
    }
    let turns = [
        ("flush", [1.0, 0.0, 0.0, 0.0], 1.0),
        ("turned by 0.3 about z", [0.15_f64.cos(), 0.0, 0.0, 0.15_f64.sin()], 1.0),
        ("on an edge", [0.924, 0.383, 0.0, 0.0], 1.2),
        ("tilted, overlapping", [0.9, 0.2, 0.3, 0.1], 1.15),
    ];
    let half = Vector3::repeat(0.5);
    let corners: Vec<_> = (0..8_u32).map(|k| Vector3::from_fn(|i, _| if k >> i & 1 == 1 { 0.5 } else { -0.5 })).collect();
    // Sixteen points of a ball, and a prism of sixteen corners.
    let rock: Vec<_> = (0..16)
        .map(|k| {
            let (z, turn) = (-0.95 + 1.9 * f64::from(k) / 15.0, 2.4 * f64::from(k));
            let r = (1.0_f64 - z * z).sqrt();
            Vector3::new(r * turn.cos(), r * turn.sin(), z) * 0.6
        })
        .collect();
    let shapes: [(&str, Shape, Shape); 4] = [
        ("box–box", Shape::Box { half_extents: half }, Shape::Box { half_extents: half }),
        ("convex–convex (cubes)", Shape::Convex { vertices: corners.clone() }, Shape::Convex { vertices: corners.clone() }),
        ("box–convex (cubes)", Shape::Box { half_extents: half }, Shape::Convex { vertices: corners }),
        ("convex–convex (16 points of a ball)", Shape::Convex { vertices: rock.clone() }, Shape::Convex { vertices: rock }),
    ];
    let pairs = 500_u32;
    for (kind, first, second) in shapes {
        for (name, turn, height) in turns {
            let mut q = Vec::new();
            let mut colliders = Vec::new();
            for k in 0..pairs {
                let x = 10.0 * f64::from(k);
                q.extend([x, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
                q.extend([x + 0.1, 0.05, height]);
                q.extend(turn);
                colliders.push(Collider::new("lower", Some(2 * k), first.clone()));
                colliders.push(Collider::new("upper", Some(2 * k + 1), second.clone()));
            }
            let ([_, seconds], contacts) = time(colliders, &q, 101);
            println!("{kind}, {name}: {:.2} µs per pair, {contacts} contacts of {pairs} pairs", seconds / f64::from(pairs) * 1e6);
        }
    }
}
