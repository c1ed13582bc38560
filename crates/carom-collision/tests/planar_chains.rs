//! Segment chains: exact distances, no bumps at inner vertices, sides.

use crate::planar_shapes::{Place, core, minkowski, random_polygon};
use crate::scene::Random;
use carom_collision::planar::{Chain, PlanarCollider, PlanarShape, PlanarShapes, Polygon, Sides};
use carom_collision::{Material, PairLaws};
use carom_dynamics::detection::{ContactPoint, PlanarDetector};
use carom_dynamics::systems::Instant;
use nalgebra::Vector2;
use std::sync::Arc;

fn detect(body: &PlanarShape, at: Place, obstacle: PlanarShape, place: Place, horizon: f64) -> Vec<ContactPoint> {
    let fixed = PlanarCollider { position: place.0, angle: place.1, ..PlanarCollider::new("b", None, obstacle) };
    let colliders = vec![PlanarCollider::new("a", Some(0), body.clone()), fixed];
    let mut detector = PlanarShapes::new(colliders, &[Material::default()], &PairLaws::new()).unwrap();
    let mut contacts = Vec::new();
    detector.detect(Instant { t: 0.0, q: &[at.0.x, at.0.y, at.1], v: &[1.0, 0.0, 0.0] }, horizon, &mut contacts).unwrap();
    contacts
}

fn chain(vertices: &[Vector2<f64>], closed: bool, sides: Sides) -> PlanarShape {
    PlanarShape::Chain(Arc::new(Chain::new(vertices, closed, sides).unwrap()))
}

fn random_body(random: &mut Random) -> PlanarShape {
    match (random.unit() * 4.0) as u32 {
        0 => PlanarShape::Disk { radius: random.within(0.1, 0.4) },
        1 => PlanarShape::Capsule { radius: random.within(0.05, 0.2), half_length: random.within(0.1, 0.5) },
        _ => random_polygon(random),
    }
}

/// The smallest gap to a random polyline is the smallest distance to any of its segments, and its normal points from there.
#[test]
fn distances_to_random_chains() {
    let mut random = Random(51);
    let mut seen = 0;
    for _ in 0..5_000 {
        let n = 3 + (random.unit() * 8.0) as usize;
        let vertices: Vec<Vector2<f64>> = (0..n).map(|k| Vector2::new(0.6 * k as f64 - 2.0, random.within(-0.6, 0.6))).collect();
        let body = random_body(&mut random);
        let at = (Vector2::new(random.within(-3.0, 4.0), random.within(-2.0, 2.0)), random.within(-3.0, 3.0));
        let (points, radius) = core(&body, at);
        let segments = vertices.windows(2).map(|s| minkowski(&points, s)).min_by(|x, y| x.0.total_cmp(&y.0)).unwrap();
        let (distance, normal, _) = segments;
        if distance < 1e-3 {
            continue;
        }
        seen += 1;
        for (sides, must) in [(Sides::Both, true), (Sides::Left, false), (Sides::Right, false)] {
            let found = detect(&body, at, chain(&vertices, false, sides), (Vector2::zeros(), 0.0), 10.0);
            let best = found.iter().min_by(|p, q| p.gap.total_cmp(&q.gap));
            if must {
                let best = best.unwrap();
                assert!((best.gap - (distance - radius)).abs() < 1e-12, "{body:?} {at:?} {vertices:?}\n{found:?} {distance} {radius}");
                let near = |p: &&ContactPoint| (p.gap - best.gap).abs() < 1e-12;
                assert!(found.iter().filter(near).any(|p| (p.normal.xy() - normal).norm() < 1e-9), "{found:?} {normal}");
            }
            // nothing is invented
            assert!(
                found.iter().all(|p| p.gap >= distance - radius - 1e-12),
                "{sides:?} {body:?} {at:?} {vertices:?}\n{found:?} {distance}"
            );
        }
        // the chain as the body, in another order and place
        let found = detect(&body, at, chain(&vertices, false, Sides::Both), (Vector2::zeros(), 0.0), 10.0);
        let colliders =
            vec![PlanarCollider::new("b", Some(0), chain(&vertices, false, Sides::Both)), PlanarCollider::new("a", Some(1), body.clone())];
        let mut detector = PlanarShapes::new(colliders, &[Material::default()], &PairLaws::new()).unwrap();
        let mut swapped = Vec::new();
        let q = [0.0, 0.0, 0.0, at.0.x, at.0.y, at.1];
        detector.detect(Instant { t: 0.0, q: &q, v: &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0] }, 10.0, &mut swapped).unwrap();
        assert_eq!(swapped.len(), found.len());
        for p in &found {
            assert!(swapped.iter().any(|q| q.key.feature == p.key.feature.rotate_left(16) && q.gap == p.gap && q.normal == -p.normal));
        }
    }
    assert!(seen > 1_000, "{seen}");
}

/// A box on collinear segments has the points that it has on a half-plane, wherever it lies and however it is tilted.
#[test]
fn a_floor_of_segments_is_a_line() {
    let mut random = Random(52);
    let floor: Vec<Vector2<f64>> = (0..=20).map(|k| Vector2::new(0.37 * f64::from(k) - 3.0, 0.0)).collect();
    let line = PlanarShape::HalfPlane { normal: Vector2::y() };
    let block = PlanarShape::Polygon(Arc::new(Polygon::rectangle([1.0, 0.5]).unwrap()));
    for k in 0..3_000 {
        let tilt = [0.0, 1e-14, 1e-10, 1e-6, 1e-3, 0.1][k % 6] * random.within(-1.0, 1.0);
        let depth = [0.0, 1e-14, 1e-10, 1e-6, 1e-3][k % 5] * random.within(-1.0, 1.0);
        // corners right on a vertex too
        let x = if k % 7 == 0 { 0.37 * f64::from((k % 10) as u32) - 3.0 + 0.5 + 0.37 } else { random.within(-2.0, 3.0) };
        let at = (Vector2::new(x, 0.25 + depth), tilt);
        for sides in [Sides::Both, Sides::Left] {
            let found = detect(&block, at, chain(&floor, false, sides), (Vector2::zeros(), 0.0), 0.2);
            let expected = detect(&block, at, line.clone(), (Vector2::zeros(), 0.0), 0.2);
            assert_eq!(found.len(), 2, "{at:?} {found:?}");
            assert!(expected.len() == 2);
            for (p, q) in found.iter().zip(&expected) {
                assert_eq!((p.normal, p.gap, p.point), (q.normal, q.gap, q.point));
                assert_eq!(p.key.feature >> 16, q.key.feature >> 16);
            }
        }
    }
}

/// Valleys touch twice, hills once; the other side of a one-sided chain is not there; a disk keeps its key along a convex run.
#[test]
fn valleys_hills_and_sides() {
    let hill = [[-4.0, 0.0], [-1.0, 0.0], [0.0, 0.2], [1.0, 0.0], [4.0, 0.0]].map(Vector2::from);
    let disk = PlanarShape::Disk { radius: 0.5 };
    let keys = |x: f64, y: f64, sides| {
        let found = detect(&disk, (Vector2::new(x, y), 0.0), chain(&hill, false, sides), (Vector2::zeros(), 0.0), 0.05);
        found.iter().map(|p| p.key.feature).collect::<Vec<_>>()
    };
    assert_eq!(keys(-0.02, 0.69, Sides::Left), keys(0.3, 0.63, Sides::Left));
    assert_eq!(keys(0.0, 0.7, Sides::Left).len(), 1);
    assert_eq!(keys(-1.05, 0.5, Sides::Left).len(), 2);
    assert_eq!(keys(0.0, -0.3, Sides::Left), Vec::<u32>::new());
    assert_eq!(keys(2.5, -0.5, Sides::Right).len(), 1);
    assert_eq!(keys(2.5, -0.5, Sides::Both).len(), 1);
    // a closed chain as a vessel and as a block
    let square = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]].map(Vector2::from);
    let within = detect(&disk, (Vector2::new(0.5, 0.5), 0.0), chain(&square, true, Sides::Left), (Vector2::zeros(), 0.0), 0.0);
    assert_eq!(within.len(), 2);
    assert!(within.iter().all(|p| p.gap == 0.0));
    let outside = detect(&disk, (Vector2::new(2.4, 2.3), 0.0), chain(&square, true, Sides::Right), (Vector2::zeros(), 0.0), 0.0);
    assert!(outside.len() == 1 && outside[0].gap.abs() < 1e-15, "{outside:?}");
    assert_eq!(detect(&disk, (Vector2::new(2.4, 2.3), 0.0), chain(&square, true, Sides::Left), (Vector2::zeros(), 0.0), 0.0), []);
    // a box on a narrow plateau: its two ends, and both stay while it tilts
    let plateau = [[-3.0, -1.0], [-0.2, 0.0], [0.2, 0.0], [3.0, -1.0]].map(Vector2::from);
    let block = PlanarShape::Polygon(Arc::new(Polygon::rectangle([1.0, 0.5]).unwrap()));
    for tilt in [0.0, 1e-7, -1e-7, 1e-3, -1e-3] {
        let at = (Vector2::new(0.03, 0.25), tilt);
        let found = detect(&block, at, chain(&plateau, false, Sides::Left), (Vector2::zeros(), 0.0), 0.01);
        let mut xs: Vec<f64> = found.iter().map(|p| p.point.x).collect();
        xs.sort_by(f64::total_cmp);
        assert!(xs.len() == 2 && (xs[0] + 0.2).abs() < 1e-3 && (xs[1] - 0.2).abs() < 1e-3, "{tilt}: {found:?}");
    }
}
