//! Tests of the convex–convex pair against searches that share nothing with it.

use super::*;
use crate::pairs::preference::bias;
use nalgebra::UnitQuaternion;

/// splitmix64, for tests only.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn vector(&mut self, size: f64) -> Vector3<f64> {
        Vector3::from_fn(|_, _| size * (2.0 * self.unit() - 1.0))
    }

    fn pose(&mut self, spread: f64) -> Pose {
        let axis = nalgebra::Unit::new_normalize(self.vector(1.0));
        Pose::new(self.vector(spread), UnitQuaternion::from_axis_angle(&axis, 6.0 * self.unit()))
    }

    fn polyhedron(&mut self) -> Polyhedron {
        let n = 4 + (self.unit() * 12.0) as usize;
        if n.is_multiple_of(3) {
            return Polyhedron::cuboid(&(self.vector(0.4).abs().add_scalar(0.1)));
        }
        let points: Vec<_> = (0..n).map(|_| self.vector(0.6)).collect();
        Polyhedron::hull(&points).unwrap()
    }
}

type Vectors = Vec<Vector3<f64>>;

fn world(shape: &Polyhedron, pose: &Pose) -> (Vectors, Vectors, Vectors) {
    let vertices: Vec<_> = shape.vertices.iter().map(|v| pose.apply(v)).collect();
    let normals = shape.planes.iter().map(|p| pose.rotation * p.normal).collect();
    let edges = shape.edges.iter().map(|e| vertices[e.ends[1] as usize] - vertices[e.ends[0] as usize]).collect();
    (vertices, normals, edges)
}

/// Largest separation over all face normals and all products of edges, by projecting all vertices; its normal, and the
/// largest of the others that point elsewhere.
fn brute_force(a: (&Polyhedron, &Pose), b: (&Polyhedron, &Pose)) -> (f64, Vector3<f64>) {
    let ((va, na, ea), (vb, nb, eb)) = (world(a.0, a.1), world(b.0, b.1));
    let mut axes: Vec<Vector3<f64>> = na.iter().map(|n| -n).chain(nb.iter().copied()).collect();
    for p in &ea {
        for q in &eb {
            if p.cross(q).norm() > 1e-6 * p.norm() * q.norm() {
                axes.extend([p.cross(q).normalize(), -p.cross(q).normalize()]);
            }
        }
    }
    let low = |vertices: &[Vector3<f64>], n: &Vector3<f64>| vertices.iter().map(|v| n.dot(v)).fold(f64::INFINITY, f64::min);
    let mut best = (f64::NEG_INFINITY, Vector3::zeros());
    for n in axes {
        let separation = low(&va, &n) + low(&vb, &-n);
        if separation > best.0 {
            best = (separation, n);
        }
    }
    best
}

fn points_of(a: (&Polyhedron, &Pose), b: (&Polyhedron, &Pose), margin: f64) -> Vec<PairPoint> {
    let mut points = Vec::new();
    collide(a, b, margin, &mut Scratch::default(), &mut points);
    points
}

#[test]
fn depth_and_normal_equal_brute_force() {
    let mut random = Random(1);
    let (mut deep, mut preferred) = (0, 0);
    for _ in 0..1_500 {
        let (a, b) = (random.polyhedron(), random.polyhedron());
        let (pa, pb) = (random.pose(0.35), random.pose(0.35));
        let (best, normal) = brute_force((&a, &pa), (&b, &pb));
        let points = points_of((&a, &pa), (&b, &pb), 0.0);
        if best > 1e-12 {
            assert!(points.is_empty(), "{best} {points:?}");
            continue;
        }
        deep += 1;
        // Never lost.
        assert!(!points.is_empty(), "depth {best}");
        let lowest = points.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        let bias = bias(true, best, a.thickness.min(b.thickness));
        if (points[0].normal - normal).norm() < 1e-10 {
            // The deepest corner of the patch may lie beyond the rim of the reference face.
            assert!(lowest >= best - 1e-12, "{lowest} against {best}");
        } else {
            // Only the preference for a face of nearly the same direction, or an exact tie.
            let tie = points[0].normal.dot(&normal) <= super::super::preference::ALIGNED;
            assert!(
                lowest >= best - if tie { 1e-12 } else { 2.1 * bias },
                "{lowest} against {best}, normals {} {normal}",
                points[0].normal
            );
            preferred += 1;
        }
    }
    assert!(deep > 800 && preferred < deep / 50, "{deep} deep, {preferred} by preference");
}

#[test]
fn separate_ones_have_the_distance_of_all_features() {
    // Exhaustive: all vertices against all faces, all edges against all edges; also from the two views swapped.
    let mut random = Random(2);
    let (mut apart, mut exact) = (0, 0);
    for _ in 0..1_500 {
        let (a, b) = (random.polyhedron(), random.polyhedron());
        let (pa, pb) = (random.pose(0.6), random.pose(0.6));
        if brute_force((&a, &pa), (&b, &pb)).0 <= 0.0 {
            continue;
        }
        apart += 1;
        let mut moved = Moved::default();
        let rotation = pb.rotation.tr_mul(&pa.rotation);
        let view_a = moved.place(&a, &rotation, &pb.rotation.tr_mul(&(pa.position - pb.position)));
        let nearest = nearest_features::find(&view_a, &b.view(), &Vector3::z(), f64::INFINITY, 1e-9).unwrap();
        let points = points_of((&a, &pa), (&b, &pb), 10.0);
        let back = points_of((&b, &pb), (&a, &pa), 10.0);
        for list in [&points, &back] {
            let lowest = list.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
            assert!(lowest >= nearest.gap - 1e-12 && lowest <= nearest.gap + 2.1 * NEAR, "{lowest} against {}", nearest.gap);
            exact += usize::from((lowest - nearest.gap).abs() < 1e-12);
        }
        // The nearest points are on both surfaces.
        let (on_a, on_b) = (nearest.point + nearest.normal * (0.5 * nearest.gap), nearest.point - nearest.normal * (0.5 * nearest.gap));
        assert!(view_a.largest_height(&on_a).1.abs() < 1e-12 && b.view().largest_height(&on_b).1.abs() < 1e-12);
    }
    assert!(apart > 500 && exact > 2 * apart * 97 / 100, "{exact} exact of twice {apart}");
}

#[test]
fn a_prism_flat_on_another_has_only_its_corners() {
    // Hexagonal prism on a large octagonal one: six points, each numbered by a vertex of the upper one.
    let prism = |n: u32, r: f64| {
        let points: Vec<_> = (0..n)
            .flat_map(|k| {
                let (s, c) = (std::f64::consts::TAU * f64::from(k) / f64::from(n)).sin_cos();
                [Vector3::new(r * c, r * s, 0.25), Vector3::new(r * c, r * s, -0.25)]
            })
            .collect();
        Polyhedron::hull(&points).unwrap()
    };
    let (upper, lower) = (prism(6, 0.5), prism(8, 2.0));
    let ground = Pose::new(Vector3::zeros(), UnitQuaternion::identity());
    let at = |x: f64, y: f64, turn: f64, gap: f64| {
        Pose::new(Vector3::new(x, y, 0.5 + gap), UnitQuaternion::from_axis_angle(&Vector3::z_axis(), turn))
    };
    for gap in [-1e-3, -1e-9, 0.0, 1e-9, 1e-3] {
        let mut numbers = None;
        for step in 0..20 {
            let pose = at(0.03 * f64::from(step), -0.02 * f64::from(step), 0.1 * f64::from(step), gap);
            let points = points_of((&upper, &pose), (&lower, &ground), 2e-3);
            assert_eq!(points.len(), 6, "{gap} {step}");
            for p in &points {
                assert!((p.gap - gap).abs() < 1e-14 && (p.normal - Vector3::z()).norm() < 1e-14);
                assert!((p.point.z - 0.25 - 0.5 * gap).abs() < 1e-14);
            }
            let mut features: Vec<_> = points.iter().map(|p| p.feature).collect();
            features.sort_unstable();
            assert_eq!(*numbers.get_or_insert(features.clone()), features);
            // Swapped: the same points, normals turned.
            let back = points_of((&lower, &ground), (&upper, &pose), 2e-3);
            assert_eq!(back.len(), 6);
            for p in &points {
                assert!(back.iter().any(|q| (q.point - p.point).norm() < 1e-13 && (q.normal + p.normal).norm() < 1e-14));
            }
        }
    }
    // Half over the rim: a polygon of the rim and the corners within, no point twice or on a line with its neighbours.
    let points = points_of((&upper, &at(1.8, 0.1, 0.3, 0.0)), (&lower, &ground), 1e-3);
    assert!((4..=8).contains(&points.len()), "{}", points.len());
}

#[test]
fn coinciding_polyhedra_have_a_contact_of_full_depth() {
    let mut random = Random(4);
    for _ in 0..50 {
        let a = random.polyhedron();
        let pose = random.pose(1.0);
        let points = points_of((&a, &pose), (&a, &pose), 0.0);
        assert!(!points.is_empty());
        assert!(points.iter().all(|p| p.gap.is_finite() && p.gap < 0.0 && (p.normal.norm() - 1.0).abs() < 1e-12));
        assert_eq!(points, points_of((&a, &pose), (&a, &pose), 0.0));
    }
}
