//! Tests of surfaces: facets, sharp edges, the search, and the statements about meshes.

use super::*;
use std::sync::Arc;

fn cube_mesh() -> (Vec<Vector3<f64>>, Vec<[u32; 3]>) {
    let vertices = (0..8_u32).map(|k| Vector3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2))).collect();
    let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    (vertices, quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect())
}

fn mesh(vertices: &[Vector3<f64>], triangles: &[[u32; 3]]) -> Shape {
    Shape::Mesh { vertices: Arc::from(vertices), triangles: Arc::from(triangles) }
}

#[test]
fn a_cube_has_six_facets_and_twelve_sharp_edges() {
    let (vertices, triangles) = cube_mesh();
    let surface = Surface::of(&mesh(&vertices, &triangles)).unwrap().unwrap();
    assert_eq!(surface.facets.len(), 6);
    let mut sharp: Vec<u32> = surface.triangles.iter().flat_map(|t| (0..3).filter(|&k| t.sharp[k]).map(|k| t.edges[k])).collect();
    sharp.sort_unstable();
    assert_eq!(sharp.len(), 24);
    sharp.dedup();
    assert_eq!(sharp.len(), 12);
    let up = Vector3::new(0.1, 0.2, 1.0).normalize();
    let admitting: Vec<u32> = (0..8).filter(|&v| surface.vertex_admits(v, &up)).collect();
    assert_eq!(admitting, [7]);
}

#[test]
fn the_search_finds_what_meets_the_box() {
    let n = 20;
    let heights: Vec<f64> = (0..n * n).map(|k| f64::from(k * 7 % 13) * 0.1).collect();
    let field = Shape::HeightField { heights: heights.into(), columns: n as usize, spacing: [0.5, 0.25] };
    let surface = Surface::of(&field).unwrap().unwrap();
    assert_eq!(surface.triangles.len(), 2 * 19 * 19);
    let (lower, upper) = (Vector3::new(-0.3, 0.2, 0.0), Vector3::new(0.9, 0.8, 0.5));
    let mut found = vec![false; surface.triangles.len()];
    surface.for_each_in(&lower, &upper, |t| found[t as usize] = true);
    for t in 0..surface.triangles.len() as u32 {
        let [a, b, c] = surface.corners(t);
        let (low, high) = (a.inf(&b).inf(&c), a.sup(&b).sup(&c));
        let meets = (0..3).all(|k| low[k] <= upper[k] && high[k] >= lower[k]);
        assert!(found[t as usize] || !meets);
        assert!(surface.plane(t).normal.z > 0.0);
    }
}

#[test]
fn meshes_say_what_is_wrong() {
    let (vertices, triangles) = cube_mesh();
    let solid = mesh(&vertices, &triangles).mass_properties(2.0).unwrap();
    // Sums of twelve tetrahedra of unit size.
    assert!((solid.mass - 2.0).abs() < 1e-14 && (solid.centre_of_mass - Vector3::repeat(0.5)).norm() < 1e-14);
    assert!((solid.inertia - nalgebra::Matrix3::identity() * (2.0 / 6.0)).norm() < 1e-14);
    // Inward: turned round, and said so.
    let inward: Vec<_> = triangles.iter().map(|t| [t[0], t[2], t[1]]).collect();
    let turned = mesh(&vertices, &inward);
    assert!(turned.mesh_statement().unwrap().unwrap().turned_round);
    assert!((turned.volume().unwrap() - 1.0).abs() < 1e-14);
    let surface = Surface::of(&turned).unwrap().unwrap();
    for t in &surface.triangles {
        for k in 0..3 {
            // The neighbours are still the right ones.
            let other = &surface.triangles[t.across[k] as usize];
            assert!(other.corners.contains(&t.corners[k]) && other.corners.contains(&t.corners[(k + 1) % 3]));
        }
    }
    // Every triangle with corners of its own, as STL files have them.
    let soup: Vec<_> = triangles.iter().flat_map(|t| t.map(|v| vertices[v as usize])).collect();
    let separate: Vec<_> = (0..12).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let statement = mesh(&soup, &separate).mesh_statement().unwrap().unwrap();
    assert_eq!((statement.equal_vertices, statement.open_edges), (28, 0));
    assert!((mesh(&soup, &separate).volume().unwrap() - 1.0).abs() < 1e-14);
    // Open, inconsistent, bad index, no triangles, flat, not finite.
    assert!(matches!(mesh(&vertices, &triangles[1..]).volume(), Err(ShapeError::OpenMesh { edges: 3, .. })));
    let mut one_turned = triangles.clone();
    one_turned[4].swap(0, 1);
    assert!(matches!(mesh(&vertices, &one_turned).volume(), Err(ShapeError::Orientation { edges: 3, .. })));
    let bad = mesh(&vertices, &[[0, 1, 8]]).validate();
    assert_eq!(bad, Err(ShapeError::BadIndex { triangle: 0, index: 8, vertices: 8 }));
    assert_eq!(mesh(&vertices, &[]).validate(), Err(ShapeError::EmptyMesh { triangles: 0 }));
    assert_eq!(mesh(&vertices, &[[0, 0, 1], [2, 3, 2]]).validate(), Err(ShapeError::EmptyMesh { triangles: 2 }));
    let two_sided = mesh(&vertices, &[[0, 1, 2], [0, 2, 1]]);
    assert!(matches!(two_sided.volume(), Err(ShapeError::FlatMesh { .. })), "{:?}", two_sided.volume());
    let mut far = vertices.clone();
    far[3].y = f64::NAN;
    assert!(matches!(mesh(&far, &triangles).validate(), Err(ShapeError::NonFinite { .. })));
    let mut with_degenerate = triangles.clone();
    with_degenerate.push([1, 1, 2]);
    let shape = mesh(&vertices, &with_degenerate);
    assert_eq!(shape.mesh_statement().unwrap().unwrap().degenerate_triangles, 1);
    assert!((shape.volume().unwrap() - 1.0).abs() < 1e-14);
    let grid = |n: usize, columns: usize| Shape::HeightField { heights: vec![0.0; n].into(), columns, spacing: [1.0; 2] };
    assert_eq!(grid(6, 3).validate(), Ok(()));
    assert_eq!(grid(7, 3).validate(), Err(ShapeError::Grid { heights: 7, columns: 3 }));
    assert!(grid(3, 3).validate().is_err() && grid(4, 1).validate().is_err());
    assert_eq!(grid(6, 3).volume(), Err(ShapeError::NoVolume));
}

#[test]
fn two_trees_find_all_near_triangles() {
    // A height field and a cube of many triangles turned against it: every pair with corners nearer than the reach is found, once.
    let heights: Vec<f64> = (0..225_u32).map(|k| 0.1 * f64::from(k % 7) - 0.05 * f64::from(k % 11)).collect();
    let field = Surface::of(&Shape::HeightField { heights: heights.into(), columns: 15, spacing: [0.1; 2] }).unwrap().unwrap();
    let (vertices, triangles) = cube_mesh();
    let cube = Surface::of(&mesh(&vertices, &triangles)).unwrap().unwrap();
    let mut stack = Vec::new();
    let mut n_near = 0;
    for step in 0..60 {
        let angle = 0.37 * f64::from(step);
        let rotation = *nalgebra::Rotation3::from_euler_angles(angle, 0.7 * angle, 1.3 * angle).matrix();
        let shift = Vector3::new(angle.sin(), angle.cos(), 0.02 * f64::from(step) - 0.6);
        let reach = 0.2;
        let mut found = Vec::new();
        field.for_each_pair((&cube, &rotation, &shift), reach, &mut stack, |own, other| found.push((own, other)));
        let n = found.len();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), n);
        for own in 0..field.triangles.len() as u32 {
            for other in 0..cube.triangles.len() as u32 {
                let there = cube.corners(other).map(|p| rotation * p + shift);
                if field.corners(own).iter().any(|p| there.iter().any(|q| (p - q).norm() <= reach)) {
                    n_near += 1;
                    assert!(found.binary_search(&(own, other)).is_ok(), "{step}: {own} {other}");
                }
            }
        }
    }
    assert!(n_near > 100, "{n_near}");
}
