//! Own pairs against parry's distance query.

use crate::scene::{Random, Scene, looking};
use carom_collision::Shape;
use nalgebra::{UnitQuaternion, Vector3};
use parry3d_f64::math::{Pose3, Rot3, Vector};
use parry3d_f64::query;
use parry3d_f64::shape::{Capsule, Cuboid};

fn pose((p, r): &(Vector3<f64>, UnitQuaternion<f64>)) -> Pose3 {
    Pose3::from_parts(Vector::new(p.x, p.y, p.z), Rot3::from_xyzw(r.i, r.j, r.k, r.w))
}

#[test]
fn capsules() {
    let mut random = Random(11);
    let mut apart = 0;
    for _ in 0..2_000 {
        let mut scene = Scene::default();
        let sizes = [(); 2].map(|()| (random.within(0.1, 0.5), random.within(0.1, 1.0)));
        for (radius, half_length) in sizes {
            scene.add(Shape::Capsule { radius, half_length }, random.vector(-1.0, 1.0), random.rotation());
        }
        scene.velocities[0] = looking(10.0);
        let gap = scene.detect(1.0).iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
        let [a, b] = sizes.map(|(radius, half_length)| Capsule::new_z(half_length, radius));
        let distance = query::distance(&pose(&scene.poses[0]), &a, &pose(&scene.poses[1]), &b).unwrap().distance;
        // Ours comes from points of both, hence is never less than the distance; parry is off by up to 2e-6 here and
        // says 0 for all penetrations.
        assert!((gap.max(0.0) - distance).abs() < 1e-5, "{gap} against {distance}");
        assert!(gap.max(0.0) < distance + 1e-7, "{gap} against {distance}");
        apart += u32::from(distance > 0.0);
    }
    assert!(apart > 500 && apart < 1_900, "{apart}");
}

#[test]
fn boxes_apart() {
    let mut random = Random(12);
    let (mut apart, mut exact) = (0, 0);
    for _ in 0..4_000 {
        let mut scene = Scene::default();
        let halves = [(); 2].map(|()| random.vector(0.2, 0.8));
        for half_extents in halves {
            scene.add(Shape::Box { half_extents }, random.vector(-1.2, 1.2), random.rotation());
        }
        scene.velocities[0] = looking(10.0);
        let gap = scene.detect(1.0).iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
        let [a, b] = halves.map(|h| Cuboid::new(Vector::new(h.x, h.y, h.z)));
        let distance = query::distance(&pose(&scene.poses[0]), &a, &pose(&scene.poses[1]), &b).unwrap().distance;
        if distance > 0.0 {
            apart += 1;
            // No gap is less than the distance (parry: 1e-14 for boxes).
            assert!(gap >= distance - 1e-12, "{gap} against {distance}");
            // Nor is the nearest point missed by more than the preference of face contacts allows.
            let bias = 1e-3 * halves[0].min().min(halves[1].min()) + 1e-2 * distance;
            assert!(gap <= distance + bias + 1e-12, "{gap} against {distance}");
            exact += u32::from(gap <= distance + 1e-12);
        } else {
            assert!(gap <= 1e-9, "{gap} although they overlap");
        }
    }
    // Nearly all are exact; the rest are faces preferred within the bias.
    assert!(apart > 1_000 && exact > apart * 95 / 100, "{exact} exact of {apart}");
}
