//! The same solid as box, hull, mesh, cylinder, capsule and prism: the hull of the contact points is the exact overlap of the faces that meet.

use crate::scene::{Scene, looking};
use carom_collision::Shape;
use nalgebra::{UnitQuaternion, Vector2, Vector3};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, TAU};

type Polygon = Vec<Vector2<f64>>;

/// Gap between the solids [m].
const GAP: f64 = -1e-4;

/// Contact points that are further than this from where they should be [m]: rounding of coordinates of about 1 m after a turn of the whole scene, and
/// of the merging of points.
const EXACT: f64 = 1e-7;

/// A box as box, as the hull of its corners, and as a mesh of twelve triangles.
fn as_box(half: Vector3<f64>) -> [(&'static str, Shape); 3] {
    let corner = |k: usize| Vector3::from_fn(|axis, _| if k >> axis & 1 == 1 { half[axis] } else { -half[axis] });
    let vertices: Vec<_> = (0..8).map(corner).collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles: Vec<_> = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let mesh = Shape::Mesh { vertices: vertices.clone().into(), triangles: triangles.into() };
    [("box", Shape::Box { half_extents: half }), ("hull", Shape::Convex { vertices }), ("mesh", mesh)]
}

/// A prism of so many sides around the circle of radius r, which touches it at the corners.
fn prism(radius: f64, half_length: f64, sides: u32) -> Shape {
    let ends = [-half_length, half_length].into_iter();
    let vertices = ends.flat_map(|z| circle(radius, sides).into_iter().map(move |p| Vector3::new(p.x, p.y, z))).collect();
    Shape::Convex { vertices }
}

fn circle(radius: f64, corners: u32) -> Polygon {
    (0..corners).map(|k| TAU * f64::from(k) / f64::from(corners)).map(|angle| radius * Vector2::new(angle.cos(), angle.sin())).collect()
}

fn rectangle(half: Vector3<f64>) -> Polygon {
    vec![Vector2::new(half.x, half.y), Vector2::new(-half.x, half.y), Vector2::new(-half.x, -half.y), Vector2::new(half.x, -half.y)]
}

/// The polygon turned by an angle and moved.
fn placed(polygon: &[Vector2<f64>], angle: f64, shift: Vector2<f64>) -> Polygon {
    let (sin, cos) = angle.sin_cos();
    polygon.iter().map(|p| Vector2::new(cos * p.x - sin * p.y, sin * p.x + cos * p.y) + shift).collect()
}

fn cross(a: Vector2<f64>, b: Vector2<f64>) -> f64 {
    a.x * b.y - a.y * b.x
}

/// The part of a convex polygon (counter-clockwise) inside another one, by clipping with its sides one after the other.
fn clipped(polygon: &[Vector2<f64>], by: &[Vector2<f64>]) -> Polygon {
    let mut rest = polygon.to_vec();
    for (k, &start) in by.iter().enumerate() {
        let side = by[(k + 1) % by.len()] - start;
        let inside = |p: Vector2<f64>| cross(side, p - start);
        let mut next = Vec::new();
        for (i, &p) in rest.iter().enumerate() {
            let q = rest[(i + 1) % rest.len()];
            if inside(p) >= 0.0 {
                next.push(p);
            }
            if inside(p) * inside(q) < 0.0 {
                next.push(p + (q - p) * (inside(p) / (inside(p) - inside(q))));
            }
        }
        rest = next;
    }
    rest
}

/// How far a set of points reaches in a direction.
fn reach(points: &[Vector2<f64>], direction: Vector2<f64>) -> f64 {
    points.iter().map(|p| p.dot(&direction)).fold(f64::NEG_INFINITY, f64::max)
}

/// A solid on another one: both with a face up or down, the upper one turned about the vertical and moved aside.
struct Stacked {
    lower: (Shape, f64),
    upper: (Shape, f64),
    angle: f64,
    shift: Vector2<f64>,
    /// The upper solid is turned by this first.
    lying: UnitQuaternion<f64>,
}

impl Stacked {
    /// Contact points seen from above, in two attitudes of the whole scene; normals must be vertical, gaps all the same.
    fn points(&self, name: &str) -> [Polygon; 2] {
        [UnitQuaternion::identity(), UnitQuaternion::from_euler_angles(0.5, -0.8, 1.9)].map(|whole| {
            let mut scene = Scene::default();
            let turned = whole * UnitQuaternion::from_axis_angle(&Vector3::z_axis(), self.angle) * self.lying;
            let height = self.lower.1 + self.upper.1 + GAP;
            scene.add(self.lower.0.clone(), Vector3::zeros(), whole);
            scene.add(self.upper.0.clone(), whole * Vector3::new(self.shift.x, self.shift.y, height), turned);
            scene.velocities[0] = looking(1e-3);
            let contacts = scene.detect(1.0);
            assert!(!contacts.is_empty(), "{name}: no contact");
            let mut points = Vec::new();
            for contact in contacts {
                // other gaps within the horizon: those of the sides
                let (normal, point) = (whole.inverse() * contact.normal, whole.inverse() * contact.point);
                assert!((normal.z.abs() - 1.0).abs() < 1e-9, "{name}: normal {normal}");
                assert!((contact.gap - GAP).abs() < EXACT, "{name}: gap {:e}", contact.gap);
                assert!((point.z - self.lower.1 - 0.5 * GAP).abs() < EXACT, "{name}: height {}", point.z);
                points.push(Vector2::new(point.x, point.y));
            }
            points
        })
    }

    /// The contact points reach as far as the overlap, in every direction.
    fn check(&self, name: &str, overlap: &[Vector2<f64>]) {
        for points in self.points(name) {
            for k in 0..72 {
                let angle = TAU * f64::from(k) / 72.0;
                let direction = Vector2::new(angle.cos(), angle.sin());
                let (is, should) = (reach(&points, direction), reach(overlap, direction));
                assert!((is - should).abs() < EXACT, "{name}: {is} instead of {should} towards {angle}: {points:?} {overlap:?}");
            }
        }
    }

    /// The contact points are among the overlap (as a polygon around it) and contain its corners.
    fn check_corners(&self, name: &str, within: impl Fn(Vector2<f64>) -> bool, corners: &[Vector2<f64>]) {
        for points in self.points(name) {
            assert!(points.iter().all(|p| within(*p)), "{name}: {points:?} outside");
            for corner in corners {
                let nearest = points.iter().map(|p| (p - corner).norm()).fold(f64::INFINITY, f64::min);
                assert!(nearest < EXACT, "{name}: {corner:?} is missing by {nearest:e} in {points:?}");
            }
        }
    }
}

/// Boxes on boxes, upright and turned, over edges and corners, as boxes, hulls and meshes.
#[test]
fn boxes_touch_where_they_overlap() {
    let (below, above) = (Vector3::new(0.5, 0.3, 0.2), Vector3::new(0.25, 0.4, 0.1));
    for (angle, shift) in [(0.0, [0.1, 0.05]), (0.3, [0.0, 0.0]), (0.7, [0.45, 0.2]), (1.2, [-0.3, 0.28]), (2.5, [0.6, -0.4])] {
        let shift = Vector2::from(shift);
        let overlap = clipped(&placed(&rectangle(above), angle, shift), &rectangle(below));
        for (lower_name, lower) in as_box(below) {
            for (upper_name, upper) in as_box(above) {
                let stacked =
                    Stacked { lower: (lower.clone(), below.z), upper: (upper, above.z), angle, shift, lying: UnitQuaternion::identity() };
                stacked.check(&format!("{upper_name} on {lower_name}, turned {angle}, at {shift:?}"), &overlap);
            }
        }
    }
}

/// Prisms on boxes and on each other.
#[test]
fn prisms_touch_where_they_overlap() {
    let below = Vector3::new(0.5, 0.3, 0.2);
    for (sides, angle, shift) in [(3, 0.2, [0.1, 0.0]), (5, 0.9, [0.4, 0.2]), (8, 0.1, [-0.45, -0.25])] {
        let (shift, corners) = (Vector2::from(shift), circle(0.35, sides));
        let upper = prism(0.35, 0.1, sides);
        for (name, lower) in as_box(below) {
            let stacked = Stacked { lower: (lower, below.z), upper: (upper.clone(), 0.1), angle, shift, lying: UnitQuaternion::identity() };
            stacked.check(&format!("{sides} sides on {name}"), &clipped(&placed(&corners, angle, shift), &rectangle(below)));
        }
        let stacked = Stacked { lower: (prism(0.4, 0.2, 6), 0.2), upper: (upper, 0.1), angle, shift, lying: UnitQuaternion::identity() };
        stacked.check(&format!("{sides} sides on six"), &clipped(&placed(&corners, angle, shift), &circle(0.4, 6)));
    }
}

/// The end of a cylinder over the edge and over the corner of a box: points on the rim, the corners of the box under it and the crossings of its rim
/// with the edges.
#[test]
fn ends_of_cylinders_touch_faces_up_to_their_edges() {
    let (below, radius) = (Vector3::new(0.5, 0.3, 0.2), 0.25);
    for shift in [[0.4, 0.0], [0.0, 0.2], [0.42, 0.21], [-0.55, 0.05], [0.58, 0.38]] {
        let centre = Vector2::from(shift);
        let within = |p: Vector2<f64>| (p - centre).norm() < radius + EXACT && p.x.abs() < below.x + EXACT && p.y.abs() < below.y + EXACT;
        let mut corners: Vec<_> = rectangle(below).into_iter().filter(|p| within(*p)).collect();
        for edge in [-below.x, below.x] {
            let reach = (radius * radius - (edge - centre.x).powi(2)).max(0.0).sqrt();
            corners.extend([-reach, reach].map(|y| Vector2::new(edge, centre.y + y)).into_iter().filter(|p| reach > 0.0 && within(*p)));
        }
        for edge in [-below.y, below.y] {
            let reach = (radius * radius - (edge - centre.y).powi(2)).max(0.0).sqrt();
            corners.extend([-reach, reach].map(|x| Vector2::new(centre.x + x, edge)).into_iter().filter(|p| reach > 0.0 && within(*p)));
        }
        assert!(corners.len() >= 2);
        let drum = Shape::Cylinder { radius, half_length: 0.1 };
        for (name, lower) in as_box(below) {
            let on_box = Stacked {
                lower: (lower.clone(), below.z),
                upper: (drum.clone(), 0.1),
                angle: 0.4,
                shift: centre,
                lying: UnitQuaternion::identity(),
            };
            on_box.check_corners(&format!("cylinder on {name} at {shift:?}"), within, &corners);
            // the box on the drum
            let on_drum = Stacked {
                lower: (drum.clone(), 0.1),
                upper: (lower, below.z),
                angle: 0.0,
                shift: -centre,
                lying: UnitQuaternion::identity(),
            };
            let moved: Vec<_> = corners.iter().map(|p| p - centre).collect();
            on_drum.check_corners(&format!("{name} on cylinder at {shift:?}"), |p| within(p + centre), &moved);
        }
    }
}

/// The ends of two cylinders: the crossings of circles of different radii.
#[test]
fn ends_of_cylinders_touch_each_other_between_the_crossings_of_their_rims() {
    let (a, b) = (0.3, 0.2);
    for (distance, angle) in [(0.15_f64, 0.0_f64), (0.3, 0.7), (0.42, 2.0)] {
        let towards = Vector2::new(angle.cos(), angle.sin());
        let shift = towards * distance;
        // the circles' common chord is at x from the centre of the lower one
        let x = (distance * distance + a * a - b * b) / (2.0 * distance);
        let y = (a * a - x * x).sqrt();
        let aside = Vector2::new(-towards.y, towards.x) * y;
        let corners = [towards * x + aside, towards * x - aside];
        let drum = |radius| Shape::Cylinder { radius, half_length: 0.1 };
        let stacked = Stacked { lower: (drum(a), 0.1), upper: (drum(b), 0.1), angle: 0.3, shift, lying: UnitQuaternion::identity() };
        let within = |p: Vector2<f64>| p.norm() < a + EXACT && (p - shift).norm() < b + EXACT;
        stacked.check_corners(&format!("drums at {distance}"), within, &corners);
    }
}

/// A capsule and a cylinder that lie on a box, on a mesh and across the end of a cylinder: the part of the line over it.
#[test]
fn what_lies_touches_along_its_line() {
    let (radius, half_length) = (0.1, 0.6);
    let lying = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), FRAC_PI_2);
    let below = Vector3::new(0.5, 0.3, 0.2);
    for (what, upper) in [("capsule", Shape::Capsule { radius, half_length }), ("cylinder", Shape::Cylinder { radius, half_length })] {
        for (angle, shift) in [(0.0_f64, [0.0, 0.1]), (0.4, [0.3, 0.1]), (1.3, [-0.2, 0.0])] {
            let shift = Vector2::from(shift);
            let line = [-half_length, half_length].map(|s| Vector2::new(angle.cos(), angle.sin()) * s + shift);
            for (name, lower) in as_box(below) {
                let overlap = clipped(&line, &rectangle(below));
                let stacked = Stacked { lower: (lower, below.z), upper: (upper.clone(), radius), angle, shift, lying };
                stacked.check(&format!("{what} on {name}, turned {angle}"), &overlap);
            }
            let disk: f64 = 0.35;
            let (start, along) = (line[0], (line[1] - line[0]).normalize());
            let middle = -start.dot(&along);
            let half = (disk * disk - (start + along * middle).norm_squared()).sqrt();
            let ends = [-half, half].map(|s| start + along * (middle + s).clamp(0.0, 2.0 * half_length));
            let stacked = Stacked {
                lower: (Shape::Cylinder { radius: disk, half_length: 0.2 }, 0.2),
                upper: (upper.clone(), radius),
                angle,
                shift,
                lying,
            };
            stacked.check(&format!("{what} on a drum, turned {angle}"), &ends);
        }
    }
}

/// Two boxes edge on edge, crossed at any angle: one point, half way between the edges.
#[test]
fn crossed_edges_touch_half_way() {
    let half = Vector3::new(0.4, 0.2, 0.2);
    let edge_up = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), FRAC_PI_4);
    for (angle, shift) in [(FRAC_PI_2, [0.1, 0.05]), (0.8, [0.0, 0.1])] {
        let (shift, height) = (Vector2::from(shift), 0.2 * 2.0_f64.sqrt());
        // the upper edge passes over the lower one, y = 0, here
        let crossing = Vector2::new(shift.x - shift.y / f64::tan(angle), 0.0);
        for (lower_name, lower) in as_box(half) {
            for (upper_name, upper) in as_box(half) {
                let whole = UnitQuaternion::from_euler_angles(0.5, -0.8, 1.9);
                let mut scene = Scene::default();
                let turned = whole * UnitQuaternion::from_axis_angle(&Vector3::z_axis(), angle) * edge_up;
                scene.add(lower.clone(), Vector3::zeros(), whole * edge_up);
                scene.add(upper, whole * Vector3::new(shift.x, shift.y, 2.0 * height + GAP), turned);
                scene.velocities[0] = looking(1e-3);
                let contacts = scene.detect(1.0);
                let name = format!("{upper_name} on {lower_name}, turned {angle}");
                assert_eq!(contacts.len(), 1, "{name}: {contacts:?}");
                let (normal, point) = (whole.inverse() * contacts[0].normal, whole.inverse() * contacts[0].point);
                let expected = Vector3::new(crossing.x, crossing.y, height + 0.5 * GAP);
                assert!((normal.z.abs() - 1.0).abs() < 1e-9 && (contacts[0].gap - GAP).abs() < EXACT, "{name}: {contacts:?}");
                assert!((point - expected).amax() < EXACT, "{name}: {point} instead of {expected}");
            }
        }
    }
}
