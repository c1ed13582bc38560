//! Planar shapes against each other: depth, distance and normal against the Minkowski difference, keys, swapped and turned scenes.

use crate::scene::Random;
use carom_collision::planar::{PlanarCollider, PlanarShape, PlanarShapes, Polygon};
use carom_collision::{Material, PairLaws};
use carom_dynamics::detection::{ContactPoint, PlanarDetector};
use carom_dynamics::systems::Instant;
use nalgebra::{Rotation2, Vector2};
use std::sync::Arc;

/// A shape at a place.
pub type Place = (Vector2<f64>, f64);

/// Points of two bodies within `horizon` seconds at an approach of 1 m/s or more.
pub fn detect_pair(a: &PlanarShape, at_a: Place, b: &PlanarShape, at_b: Place, horizon: f64) -> Vec<ContactPoint> {
    let colliders = vec![PlanarCollider::new("a", Some(0), a.clone()), PlanarCollider::new("b", Some(1), b.clone())];
    let mut detector = PlanarShapes::new(colliders, &[Material::default()], &PairLaws::new()).unwrap();
    let q = [at_a.0.x, at_a.0.y, at_a.1, at_b.0.x, at_b.0.y, at_b.1];
    let mut contacts = Vec::new();
    detector.detect(Instant { t: 0.0, q: &q, v: &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0] }, horizon, &mut contacts).unwrap();
    contacts
}

/// A convex polygon inscribed in an ellipse.
pub fn random_polygon(random: &mut Random) -> PlanarShape {
    let n = 3 + (random.unit() * 6.0) as usize;
    let mut angles: Vec<f64> = (0..n).map(|k| std::f64::consts::TAU * (k as f64 + random.within(0.1, 0.9)) / n as f64).collect();
    angles.sort_by(f64::total_cmp);
    let (a, b) = (random.within(0.3, 1.0), random.within(0.3, 1.0));
    let offset = Vector2::new(random.within(-0.3, 0.3), random.within(-0.3, 0.3));
    let vertices: Vec<Vector2<f64>> = angles.iter().map(|x| offset + Vector2::new(a * x.cos(), b * x.sin())).collect();
    PlanarShape::Polygon(Arc::new(Polygon::new(&vertices).unwrap()))
}

fn random_shape(random: &mut Random) -> PlanarShape {
    match (random.unit() * 5.0) as u32 {
        0 => PlanarShape::Disk { radius: random.within(0.2, 0.8) },
        1 => PlanarShape::Capsule { radius: random.within(0.1, 0.4), half_length: random.within(0.2, 0.8) },
        _ => random_polygon(random),
    }
}

/// Vertices of the core in the world, and the radius.
pub fn core(shape: &PlanarShape, (x, angle): Place) -> (Vec<Vector2<f64>>, f64) {
    let at = |v: &Vector2<f64>| x + Rotation2::new(angle) * v;
    match shape {
        PlanarShape::Disk { radius } => (vec![x], *radius),
        PlanarShape::Capsule { radius, half_length } => {
            (vec![at(&Vector2::new(-half_length, 0.0)), at(&Vector2::new(*half_length, 0.0))], *radius)
        }
        PlanarShape::Polygon(polygon) => (polygon.vertices().iter().map(at).collect(), 0.0),
        _ => unreachable!(),
    }
}

/// Convex hull, counter-clockwise (Andrew's monotone chain).
fn hull(mut points: Vec<Vector2<f64>>) -> Vec<Vector2<f64>> {
    points.sort_by(|p, q| p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y)));
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let half = |list: &mut dyn Iterator<Item = Vector2<f64>>| {
        let mut out: Vec<Vector2<f64>> = Vec::new();
        for p in list {
            while out.len() > 1 && (out[out.len() - 1] - out[out.len() - 2]).perp(&(p - out[out.len() - 1])) <= 0.0 {
                out.pop();
            }
            out.push(p);
        }
        out.pop();
        out
    };
    let mut all = half(&mut points.iter().copied());
    all.extend(half(&mut points.iter().rev().copied()));
    all
}

/// (signed distance of the cores, normal, the next best depth) from the hull of all differences a − b.
pub fn minkowski(a: &[Vector2<f64>], b: &[Vector2<f64>]) -> (f64, Vector2<f64>, f64) {
    let m = hull(a.iter().flat_map(|p| b.iter().map(move |q| p - q)).collect());
    let n = m.len();
    let outward = |i: usize| {
        let along = m[(i + 1) % n] - m[i];
        Vector2::new(along.y, -along.x) / along.norm()
    };
    let depths: Vec<f64> = if n > 2 { (0..n).map(|i| outward(i).dot(&m[i])).collect() } else { vec![-1.0] };
    if depths.iter().all(|d| *d >= 0.0) {
        let best = (0..n).min_by(|&i, &j| depths[i].total_cmp(&depths[j])).unwrap();
        let next = (0..n).filter(|&i| i != best).map(|i| depths[i]).fold(f64::INFINITY, f64::min);
        return (-depths[best], -outward(best), next);
    }
    let nearest = |i: usize| {
        let along = m[(i + 1) % n] - m[i];
        let s = if n == 1 { 0.0 } else { (-m[i].dot(&along) / along.norm_squared()).clamp(0.0, 1.0) };
        m[i] + along * s
    };
    let p = (0..n).map(nearest).min_by(|p, q| p.norm().total_cmp(&q.norm())).unwrap();
    (p.norm(), p / p.norm(), f64::INFINITY)
}

#[test]
fn random_pairs_against_the_minkowski_difference() {
    let mut random = Random(41);
    let mut seen = [0; 2];
    for _ in 0..20_000 {
        let (a, b) = (random_shape(&mut random), random_shape(&mut random));
        let mut place = |far: f64| (Vector2::new(random.within(-far, far), random.within(-far, far)), random.within(-3.0, 3.0));
        let (at_a, at_b) = (place(1.5), place(0.5));
        let found = detect_pair(&a, at_a, &b, at_b, 10.0);
        let ((pa, ra), (pb, rb)) = (core(&a, at_a), core(&b, at_b));
        let (distance, normal, next) = minkowski(&pa, &pb);
        let gap = distance - ra - rb;
        assert!((1..=2).contains(&found.len()), "{found:?}");
        let best = found.iter().min_by(|p, q| p.gap.total_cmp(&q.gap)).unwrap();
        seen[usize::from(gap < 0.0)] += 1;
        // roundings of lengths of about 1
        assert!((best.gap - gap).abs() < 1e-12, "{a:?} {at_a:?}\n{b:?} {at_b:?}\n{found:?}\n{gap} {normal}");
        if next + distance > 1e-9 && distance.abs() > 1e-6 {
            let along = found.iter().any(|p| (p.gap - gap).abs() < 1e-12 && (p.normal.xy() - normal).norm() < 1e-9);
            assert!(along, "{found:?} {normal}");
        }
        // swapped: the same points, the normals turned round, the features exchanged
        let swapped = detect_pair(&b, at_b, &a, at_a, 10.0);
        assert_eq!(found.len(), swapped.len());
        for p in &found {
            let q = swapped.iter().find(|q| (q.point - p.point).norm() < 1e-12).unwrap_or_else(|| panic!("{found:?} {swapped:?}"));
            assert!((q.gap - p.gap).abs() < 1e-13 && (q.normal + p.normal).norm() < 1e-12);
            assert_eq!(q.key.feature, p.key.feature.rotate_left(16));
        }
        // the whole scene turned and moved
        let (turn, shift) = (Rotation2::new(1.234), Vector2::new(0.3, -0.7));
        let moved = |(x, angle): Place| (turn * x + shift, angle + 1.234);
        let turned = detect_pair(&a, moved(at_a), &b, moved(at_b), 10.0);
        assert_eq!(found.len(), turned.len(), "{found:?} {turned:?}");
        for (p, q) in found.iter().zip(&turned) {
            assert_eq!(p.key, q.key);
            assert!((q.gap - p.gap).abs() < 1e-12 && (q.normal.xy() - turn * p.normal.xy()).norm() < 1e-11);
            assert!((q.point.xy() - turn * p.point.xy() - shift).norm() < 1e-11);
        }
    }
    assert!(seen.iter().all(|n| *n > 3_000), "{seen:?}");
}

fn rectangle(x: f64, y: f64) -> PlanarShape {
    PlanarShape::Polygon(Arc::new(Polygon::rectangle([x, y]).unwrap()))
}

#[test]
fn edges_touch_at_the_ends_of_their_overlap() {
    let at = |x: f64, y: f64| (Vector2::new(x, y), 0.0);
    // a brick of 2 × 1 half over another: overlap from 0.0 to 1.0, then turned together
    let (brick, small) = (rectangle(2.0, 1.0), rectangle(0.5, 1.0));
    let found = detect_pair(&brick, at(1.0, 1.0), &brick, at(0.0, 0.0), 1e-3);
    let mut ends: Vec<(f64, f64, f64)> = found.iter().map(|p| (p.point.x, p.point.y, p.gap)).collect();
    ends.sort_by(|p, q| p.0.total_cmp(&q.0));
    assert_eq!(ends, [(0.0, 0.5, 0.0), (1.0, 0.5, 0.0)]);
    assert!(found.iter().all(|p| p.normal.xy() == Vector2::y()));
    // one on a wider one: its own corners; aligned ones: the common corners
    let found = detect_pair(&small, at(0.3, 1.0), &brick, at(0.0, 0.0), 1e-3);
    let xs: Vec<f64> = found.iter().map(|p| p.point.x).collect();
    assert!(xs.len() == 2 && (xs[0] - 0.05).abs() < 1e-15 && (xs[1] - 0.55).abs() < 1e-15, "{xs:?}");
    assert_eq!(detect_pair(&brick, at(0.0, 1.0), &brick, at(0.0, 0.0), 1e-3).len(), 2);
    // a corner over an edge: one point
    let found = detect_pair(&small, (Vector2::new(0.2, 1.0), 0.6), &brick, at(0.0, 0.0), 0.1);
    assert_eq!(found.len(), 1);
    // capsule on a box, and capsules side by side
    let capsule = PlanarShape::Capsule { radius: 0.25, half_length: 0.5 };
    let found = detect_pair(&capsule, at(0.0, 0.75), &brick, at(0.0, 0.0), 1e-3);
    assert!(found.len() == 2 && found.iter().all(|p| p.gap == 0.0 && p.point.x.abs() == 0.5 && p.point.y == 0.5), "{found:?}");
    assert_eq!(detect_pair(&capsule, at(0.3, 0.5), &capsule, at(0.0, 0.0), 1e-3).len(), 2);
    // end to end: one
    let found = detect_pair(&capsule, at(1.5, 0.0), &capsule, at(0.0, 0.0), 1e-3);
    assert!(found.len() == 1 && found[0].gap.abs() < 1e-15 && (found[0].normal.xy() - Vector2::x()).norm() < 1e-15, "{found:?}");
}

/// Keys of aligned blocks stay while roundings shift them against each other.
#[test]
fn keys_of_aligned_blocks_are_stable() {
    let cube = rectangle(1.0, 1.0);
    let keys = |dx: f64, turn: f64| {
        let found = detect_pair(&cube, (Vector2::new(dx, 1.0), turn), &cube, (Vector2::zeros(), 0.0), 1e-2);
        found.iter().map(|p| p.key).collect::<Vec<_>>()
    };
    let still = keys(0.0, 0.0);
    assert_eq!(still.len(), 2);
    for dx in [1e-16, -1e-16, 1e-12, -1e-12, 1e-9, -1e-9] {
        for turn in [0.0, 1e-12, -1e-12, 1e-9, -1e-9] {
            assert_eq!(keys(dx, turn), still, "{dx} {turn}");
        }
    }
}

/// Parts of a polygon that is not convex: no contact with the edges between them, and the same way out as from the whole.
#[test]
fn edges_between_parts_take_no_contacts() {
    // a dart, convex but at one vertex: split along a diagonal into it
    let dart = [[0.0, 0.0], [2.0, 1.0], [4.0, 0.0], [2.0, 3.0]].map(Vector2::from);
    let parts = Polygon::parts(&dart).unwrap();
    assert_eq!(parts.len(), 2);
    let mut colliders: Vec<PlanarCollider> =
        parts.into_iter().map(|p| PlanarCollider::new("dart", None, PlanarShape::Polygon(Arc::new(p)))).collect();
    colliders.push(PlanarCollider::new("disk", Some(0), PlanarShape::Disk { radius: 0.5 }));
    let mut detector = PlanarShapes::new(colliders, &[Material::default()], &PairLaws::new()).unwrap();
    // a disk over the apex at (2, 3), a little into it
    let mut contacts = Vec::new();
    detector.detect(Instant { t: 0.0, q: &[2.0, 3.45, 0.0], v: &[0.0; 3] }, 0.0, &mut contacts).unwrap();
    assert!(!contacts.is_empty());
    for p in &contacts {
        assert!((p.normal.xy() - Vector2::y()).norm() < 1e-15 && (p.gap + 0.05).abs() < 1e-15, "{p:?}");
    }
}

#[test]
fn deep_and_degenerate_overlaps_are_counted() {
    let square = rectangle(1.0, 1.0);
    let build = |b: PlanarShape| {
        let colliders = vec![PlanarCollider::new("a", Some(0), square.clone()), PlanarCollider::new("b", Some(1), b)];
        PlanarShapes::new(colliders, &[Material::default()], &PairLaws::new()).unwrap()
    };
    let detect = |detector: &mut PlanarShapes, y: f64| {
        let mut contacts = Vec::new();
        detector.detect(Instant { t: 0.0, q: &[0.0, y, 0.0, 0.0, 0.0, 0.0], v: &[0.0; 6] }, 0.0, &mut contacts).unwrap();
        contacts
    };
    for b in [square.clone(), PlanarShape::Disk { radius: 0.3 }, PlanarShape::Capsule { radius: 0.3, half_length: 0.3 }] {
        let mut detector = build(b.clone());
        let still = detect(&mut detector, 0.99 - if matches!(b, PlanarShape::Polygon(_)) { 0.0 } else { 0.2 });
        assert!(!still.is_empty());
        assert!(detector.warnings().is_empty(), "{b:?}");
        let first = detect(&mut detector, 0.0);
        assert_eq!(detector.warnings().deep_overlaps, 1, "{b:?}");
        // the same again, and from a fresh detector
        assert_eq!(first, detect(&mut detector, 0.0));
        assert_eq!(first, detect(&mut build(b), 0.0));
    }
    let mut detector = build(square.clone());
    let _ = detect(&mut detector, 0.0);
    assert!(detector.warnings().degenerate > 0);
}

/// Cost per body of a pile of touching squares at two sizes.
#[test]
#[ignore = "a measurement: cargo test --release -p carom-collision --test main cost_is_linear -- --ignored --nocapture"]
fn cost_is_linear() {
    for side in [50_usize, 100, 200, 300] {
        let square = rectangle(1.0, 1.0);
        let n = side * side;
        let colliders = (0..n).map(|i| PlanarCollider::new(format!("{i}"), Some(i as u32), square.clone())).collect();
        let mut detector = PlanarShapes::new(colliders, &[Material::default()], &PairLaws::new()).unwrap();
        let q: Vec<f64> = (0..n).flat_map(|i| [(i % side) as f64, (i / side) as f64, 0.0]).collect();
        let v = vec![0.0; 3 * n];
        let mut contacts = Vec::new();
        let mut time = f64::INFINITY;
        for _ in 0..5 {
            contacts.clear();
            let start = std::time::Instant::now();
            detector.detect(Instant { t: 0.0, q: &q, v: &v }, 1e-3, &mut contacts).unwrap();
            time = time.min(start.elapsed().as_secs_f64());
        }
        println!("{n} squares, {} contacts: {:.3} ms, {:.2} µs per body", contacts.len(), 1e3 * time, 1e6 * time / n as f64);
    }
}
