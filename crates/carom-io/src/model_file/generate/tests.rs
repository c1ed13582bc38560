//! What each kind makes, measured on the bodies themselves.

use super::super::bodies::{Entry, Surfaces};
use super::super::groups::GroupNames;
use super::super::include::merged;
use super::super::materials::Materials;
use super::super::numbers::Reader;
use super::super::schema;
use super::super::sources::Sources;
use super::generate;
use carom_collision::Shape;
use nalgebra::{UnitQuaternion, Vector3};
use std::path::Path;

fn made(text: &str) -> Vec<Entry> {
    let sources = Sources::new(Path::new("test.toml"), text.to_owned());
    let schema = schema::parse(merged(&sources).unwrap()).unwrap();
    let mut reader = Reader::new(&sources);
    let materials = Materials::read(&mut reader, &schema.materials, &schema.material_pairs);
    let groups = GroupNames::collect(&mut reader, std::iter::empty());
    let (mut entries, mut joints) = (Vec::new(), Vec::new());
    for section in &schema.generate {
        generate(&mut reader, section, &Surfaces { materials: &materials, groups: &groups }, &mut entries, &mut joints);
    }
    assert!(reader.mistakes.is_empty(), "{:?}", reader.mistakes);
    entries
}

fn shape(entry: &Entry) -> &Shape {
    &entry.body.parts[0].shape
}

fn radius(entry: &Entry) -> f64 {
    let Shape::Sphere { radius } = shape(entry) else { panic!() };
    *radius
}

fn half(entry: &Entry) -> Vector3<f64> {
    let Shape::Box { half_extents } = shape(entry) else { panic!() };
    *half_extents
}

const GRAINS: &str = "[[generate]]\nkind = \"packing\"\nseed = 1\ncount = 2000\nbody = { shape = { kind = \"sphere\", radius = { min = 0.05, max = 0.0999 } }, density = 1000 }\n";

fn check_grains(grains: &[Entry], inside: impl Fn(&Vector3<f64>, f64) -> bool) {
    assert_eq!(grains.len(), 2000);
    for (k, a) in grains.iter().enumerate() {
        let r = radius(a);
        assert!((0.05..0.0999).contains(&r) && inside(&a.body.position, r), "{} at {:?}", a.name, a.body.position);
        assert!((a.body.mass - 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * r.powi(3)).abs() < 1e-12 * a.body.mass);
        for b in &grains[..k] {
            let distance = (a.body.position - b.body.position).norm();
            assert!(distance >= (r + radius(b)) * (1.0 - 1e-12), "{} and {} overlap", a.name, b.name);
        }
    }
    // uniform radii: the mean of n draws has the standard deviation (b − a)/√(12 n)
    let mean = grains.iter().map(radius).sum::<f64>() / 2000.0;
    assert!((mean - 0.07495).abs() < 4.0 * 0.0499 / (12.0 * 2000.0_f64).sqrt(), "{mean}");
}

#[test]
fn columns_fill_a_box_and_a_cylinder_without_overlaps() {
    let grains = made(&format!("{GRAINS}size = [1.4, 1.4]\npitch = 0.2\ngap = 0.005"));
    check_grains(&grains, |p, r| p.x.abs() <= 0.7 - r && p.y.abs() <= 0.7 - r && p.z >= r * (1.0 - 1e-12));
    // 49 columns in turn, each body above the one before in its column
    assert!((0..49).all(|k| (grains[k].body.position.z - radius(&grains[k])).abs() < 1e-15));
    let (a, b) = (&grains[0], &grains[49]);
    assert!((b.body.position.z - radius(b) - (a.body.position.z + radius(a)) - 0.005).abs() < 1e-15);
    let grains = made(&format!("{GRAINS}radius = 1\nheight = 12"));
    check_grains(&grains, |p, r| p.xy().norm() <= 1.0 - r && p.z >= r * (1.0 - 1e-12) && p.z <= 12.0 - r);
}

#[test]
fn random_places_do_not_overlap_and_follow_the_seed() {
    let text = format!("{GRAINS}size = [2, 2, 3.2]\nmethod = \"random\"");
    let grains = made(&text);
    check_grains(&grains, |p, r| p.x.abs() <= 1.0 - r && p.y.abs() <= 1.0 - r && p.z >= r && p.z <= 3.2 - r);
    let again = made(&text);
    assert!(grains.iter().zip(&again).all(|(a, b)| a.body.position == b.body.position && radius(a) == radius(b)));
    let other = made(&text.replace("seed = 1", "seed = 2"));
    assert!(grains.iter().zip(&other).all(|(a, b)| a.body.position != b.body.position));
    let grains = made(&format!("{GRAINS}radius = 1.1\nheight = 3.4\nmethod = \"random\""));
    check_grains(&grains, |p, r| p.xy().norm() <= 1.1 - r + 1e-15 && p.z >= r && p.z <= 3.4 - r);
}

#[test]
fn boxes_are_drawn_with_random_orientations() {
    let text = "[[generate]]\nkind = \"packing\"\nname = \"stone\"\nseed = 2\ncount = 500\nsize = [1, 1]\npitch = 0.25\ngap = 0.005
        body = { shape = { kind = \"box\", half_extents = { min = [0.04, 0.04, 0.04], max = [0.07, 0.07, 0.07] } }, density = 1000, orientation = \"random\" }";
    let stones = made(text);
    assert_eq!((stones.len(), stones[499].name.as_str()), (500, "stone500"));
    // a uniform rotation turns the mean of R to zero and that of its squares to 1/3
    let matrices: Vec<_> = stones.iter().map(|s| s.body.orientation.to_rotation_matrix().into_inner()).collect();
    let mean = matrices.iter().sum::<nalgebra::Matrix3<f64>>() / 500.0;
    let squares = matrices.iter().map(|m| m.component_mul(m)).sum::<nalgebra::Matrix3<f64>>() / 500.0;
    assert!(mean.amax() < 0.13 && squares.add_scalar(-1.0 / 3.0).amax() < 0.07, "{mean} {squares}");
    for stone in &stones {
        let h = half(stone);
        assert!(h.iter().all(|x| (0.04..0.07).contains(x)) && h.x != h.y);
        let extent = stone.body.orientation.to_rotation_matrix().matrix().abs() * h;
        let p = stone.body.position;
        assert!(p.x.abs() + extent.x <= 0.5 + 1e-12 && p.z - extent.z >= -1e-12);
    }
}

#[test]
fn lattices_and_stacks() {
    let lattice = made(
        "[[generate]]\nkind = \"lattice\"\ncounts = [2, 3, 4]\nspacing = [1, 2, 3]\nposition = [10, 0, 0]\nrotation = { axis = [0, 0, 1], angle = \"pi/2\" }\nbody = { shape = { kind = \"sphere\", radius = 0.5 }, mass = 2, velocity = [1, 0, 0] }",
    );
    assert_eq!(lattice.len(), 24);
    let last = &lattice[23].body;
    // (1, 4, 9) turned by a quarter about z
    assert!((last.position - Vector3::new(10.0 - 4.0, 1.0, 9.0)).norm() < 1e-14 && (last.velocity - Vector3::y()).norm() < 1e-15);
    let moved = made(
        "[[generate]]\nkind = \"lattice\"\ncounts = [5, 5, 5]\nspacing = 1\njitter = 0.1\nbody = { shape = { kind = \"sphere\", radius = 0.4 }, mass = 2 }",
    );
    let off = |e: &Entry| e.body.position - e.body.position.map(f64::round);
    assert!(moved.iter().all(|e| off(e).amax() <= 0.1 && off(e).amin() > 0.0 || off(e).amax() > 0.0));
    let stack = made(
        "[[generate]]\nkind = \"stack\"\nname = \"cube\"\ncount = 20\njitter = 0.005\nyaw = \"5*pi/180\"\nseed = 3\nbody = { shape = { kind = \"box\", size = 0.1 }, mass = 1 }",
    );
    for (k, cube) in stack.iter().enumerate() {
        let (p, (_, _, yaw)) = (cube.body.position, cube.body.orientation.euler_angles());
        assert!((p.z - 0.1 * (k as f64 + 0.5)).abs() < 1e-14 && p.x.abs() <= 0.005 && p.y.abs() <= 0.005 && yaw.abs() <= 0.0873);
        assert!((cube.body.inertia[(0, 0)] - 0.01 / 6.0).abs() < 1e-17);
    }
    assert!(stack.windows(2).all(|w| w[0].body.orientation != w[1].body.orientation));
}

/// Bricks stand on bricks and end flush: each row is as long as the wall, and joints do not line up.
#[test]
fn walls_are_in_running_bond() {
    let bricks =
        made("[[generate]]\nkind = \"wall\"\nrows = 3\ncolumns = 4\nsize = [0.2, 0.1, 0.06]\ngap = 0.01\nbody = { density = 2000 }");
    assert_eq!(bricks.len(), 4 + 5 + 4);
    let ends =
        |row: &[Entry]| -> Vec<(f64, f64)> { row.iter().map(|b| (b.body.position.x - half(b).x, b.body.position.x + half(b).x)).collect() };
    let (low, mid) = (ends(&bricks[..4]), ends(&bricks[4..9]));
    for row in [&low, &mid] {
        assert!((row[0].0 + 0.415).abs() < 1e-15 && (row[row.len() - 1].1 - 0.415).abs() < 1e-14);
        assert!(row.windows(2).all(|w| (w[1].0 - w[0].1 - 0.01).abs() < 1e-14));
    }
    assert!((mid[1].0 - (low[0].0 + 0.105)).abs() < 1e-15);
    assert!((bricks[9].body.position.z - (2.5 * 0.06 + 0.02)).abs() < 1e-15);
}

/// The volume of a voussoir is the depth times the area between two chords; all together have no gaps.
#[test]
fn arches_have_radial_joints_without_gaps() {
    let arch = made(
        "[[generate]]\nkind = \"arch\"\ncount = 21\ninner_radius = 0.9\nouter_radius = 1.1\ndepth = 0.3\nposition = [0, 0, 0]\nbody = { density = 2000 }",
    );
    let sector = 0.5 * (1.1_f64.powi(2) - 0.9_f64.powi(2)) * (std::f64::consts::PI / 21.0).sin();
    let corners = |e: &Entry| -> Vec<Vector3<f64>> {
        let Shape::Convex { vertices } = shape(e) else { panic!() };
        vertices.iter().map(|v| v + e.body.position).collect()
    };
    for voussoir in &arch {
        assert!((voussoir.body.mass - 2000.0 * 0.3 * sector).abs() < 1e-11, "{}", voussoir.body.mass);
        assert!(voussoir.body.centre.norm() < 0.01 && voussoir.body.orientation == UnitQuaternion::identity());
    }
    for pair in arch.windows(2) {
        let shared = corners(&pair[0]).iter().filter(|a| corners(&pair[1]).iter().any(|b| (*a - b).norm() < 1e-15)).count();
        assert_eq!(shared, 4);
    }
    // both springings lie on z = 0, the first at −x
    let feet = |e: &Entry| corners(e).iter().filter(|c| c.z.abs() < 1e-15).count();
    assert!(feet(&arch[0]) == 4 && feet(&arch[20]) == 4 && arch[0].body.position.x < -0.9 && arch[10].body.position.x.abs() < 1e-15);
}

#[test]
fn towers_containers_and_dominoes() {
    let tower = made("[[generate]]\nkind = \"tower\"\nlayers = 5\nplanks = 3\nsize = [0.12, 0.024, 0.008]\nbody = { density = 600 }");
    assert_eq!(tower.len(), 15);
    assert!((tower[0].body.position - Vector3::new(0.0, -0.048, 0.004)).norm() < 1e-15);
    assert!((tower[3].body.position - Vector3::new(-0.048, 0.0, 0.012)).norm() < 1e-15);
    assert!((tower[3].body.orientation * Vector3::x() - Vector3::y()).norm() < 1e-15);

    let sides = made("[[generate]]\nkind = \"container\"\nname = \"bin\"\nsize = [1, 2, 3]\nthickness = 0.5");
    let names: Vec<&str> = sides.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["bin_floor", "bin_wall1", "bin_wall2", "bin_wall3", "bin_wall4"]);
    assert!(sides.iter().all(|s| s.fixed && s.body.mass == 0.0));
    let inner = |s: &Entry, axis: usize| (s.body.position[axis].abs() - half(s)[axis]).abs();
    assert!((sides[0].body.position.z + half(&sides[0]).z).abs() < 1e-15);
    assert!((inner(&sides[1], 0) - 0.5).abs() < 1e-15 && (inner(&sides[4], 1) - 1.0).abs() < 1e-15);

    let row = made(
        "[[generate]]\nkind = \"dominoes\"\nsize = [0.01, 0.05, 0.1]\nspacing = 0.04\npath = [[0, 0], [1, 0], [1, 1]]\npush = 2\nbody = { mass = 0.1 }",
    );
    assert_eq!(row.len(), 51);
    assert!((row[50].body.position - Vector3::new(1.0, 1.0, 0.05)).norm() < 1e-12);
    assert!((row[50].body.orientation * Vector3::x() - Vector3::y()).norm() < 1e-15);
    // it turns about its lower front edge, which is at rest
    let first = &row[0].body;
    let edge = first.velocity + first.angular_velocity.cross(&Vector3::new(0.005, 0.0, -0.05));
    assert!(edge.norm() < 1e-15 && first.angular_velocity == Vector3::new(0.0, 2.0, 0.0) && first.velocity.x > 0.0);
    let ring = made("[[generate]]\nkind = \"dominoes\"\nsize = [0.01, 0.05, 0.1]\nspacing = 0.04\nradius = 1\nbody = { mass = 0.1 }");
    let gap = |k: usize| (ring[k].body.position - ring[(k + 1) % ring.len()].body.position).norm();
    assert!(ring.len() == 157 && (0..157).all(|k| (gap(k) - gap(0)).abs() < 1e-14));
}

/// Volume of all pieces of a vessel, and the pieces in the frame of the body.
fn pieces(entry: &Entry) -> (f64, Vec<Vec<Vector3<f64>>>) {
    assert!(entry.fixed && entry.body.mass == 0.0);
    let volume = entry.body.parts.iter().map(|part| part.shape.mass_properties(1.0).unwrap().mass).sum();
    let corners = entry.body.parts.iter().map(|part| {
        let Shape::Convex { vertices } = &part.shape else { panic!() };
        vertices.iter().map(|v| part.position + part.rotation * v).collect()
    });
    (volume, corners.collect())
}

/// A regular polygon of n sides about a circle of radius r has the area n r² tan(π/n): so the volume of a wall is known, and it is exact
/// only if pieces neither overlap nor leave gaps at corners of the profile. Round-off of some hundred sums.
#[test]
fn vessels_are_tight() {
    let tangents = |n: f64| n * (std::f64::consts::PI / n).tan();
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12 * b, "{a} {b}");

    let drum = &made("[[generate]]\nkind = \"drum\"\nradius = 0.5\nlength = 0.3\nsides = 24\nthickness = 0.1\nposition = [1, 2, 3]")[0];
    assert_eq!((drum.name.as_str(), drum.body.parts.len(), drum.body.position), ("drum", 24 + 2, Vector3::new(1.0, 2.0, 3.0)));
    let (volume, corners) = pieces(drum);
    close(volume, tangents(24.0) * (0.6 * 0.6 * 0.5 - 0.5 * 0.5 * 0.3));
    // it lies along y, its ends at half its length
    assert!(
        corners.iter().flatten().all(|p| p.y.abs() <= 0.25 + 1e-15 && p.xz().norm() * (std::f64::consts::PI / 24.0).cos() <= 0.6 + 1e-12)
    );
    assert!(corners.iter().flatten().all(|p| p.y.abs() > 0.15 - 1e-15 || p.xz().norm() > 0.5));

    let hopper = &made("[[generate]]\nkind = \"hopper\"\nradius = 0.5\nheight = 1\norifice = 0.1\nsides = 16\nthickness = 0.05")[0];
    let (volume, corners) = pieces(hopper);
    assert_eq!(corners.len(), 32);
    close(volume, tangents(16.0) * (0.55 * 0.55 * 1.05 - 0.5 * 0.5 - 0.1 * 0.1 * 0.05));

    // a funnel at 45°: frusta have the volume h (r² + r R + R²)/3 times that factor; the floor is 0.4 along r and z, moved by 0.05 √2 along −z
    let funnel =
        &made("[[generate]]\nkind = \"hopper\"\nradius = 0.5\nheight = 1\norifice = 0.1\nangle = \"pi/4\"\nthickness = 0.05\nsides = 8")[0];
    let (volume, corners) = pieces(funnel);
    assert!(corners.iter().flatten().all(|p| p.z > -0.05 && p.z < 1.4 + 1e-12));
    let frustum = |h: f64, a: f64, b: f64| h * (a * a + a * b + b * b) / 3.0;
    let (tip, mitre) = (0.05 / 2.0_f64.sqrt(), 0.05 * (std::f64::consts::PI / 8.0).tan());
    let outside = frustum(0.4 - mitre + tip, 0.1 + tip, 0.55) + (1.0 + mitre) * 0.55 * 0.55;
    // the outer wall begins at z = −tip with the radius 0.1 + tip; inside it are the room and the frustum below the orifice's edge
    let inside = frustum(0.4, 0.1, 0.5) + 0.25 + frustum(tip, 0.1 + tip, 0.1);
    close(volume, tangents(8.0) * (outside - inside));

    // the same room by its profile
    let vessel =
        &made("[[generate]]\nkind = \"vessel\"\nname = \"v\"\nprofile = [[0.1, 0], [0.5, 0.4], [0.5, 1.4]]\nthickness = 0.05\nsides = 8")
            [0];
    assert!(pieces(vessel).1.iter().flatten().zip(corners.iter().flatten()).all(|(a, b)| (a - b).norm() < 1e-15));
}
