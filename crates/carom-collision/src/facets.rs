//! Surfaces of shapes as polygons, for pictures and exports; contact detection uses the shapes themselves.

use crate::mesh::grid;
use crate::polyhedron::Polyhedron;
use crate::shapes::Shape;
use nalgebra::Vector3;
use std::f64::consts::{FRAC_PI_2, TAU};

impl Shape {
    /// The surface as polygons in the shape's frame, corners counter-clockwise seen from outside \[m\]; round shapes have `sides` (at least 3)
    /// around their axis. A plane has none, and neither has a convex shape without volume.
    #[must_use]
    pub fn facets(&self, sides: usize) -> Vec<Vec<Vector3<f64>>> {
        let sides = sides.max(3);
        match self {
            Shape::Plane { .. } => Vec::new(),
            Shape::Sphere { radius } => revolved(&arc(*radius, 0.0, (-FRAC_PI_2, FRAC_PI_2), sides / 2), sides),
            Shape::Box { half_extents } => faces(&Polyhedron::cuboid(half_extents)),
            Shape::Capsule { radius, half_length } => {
                let mut profile = arc(*radius, -half_length, (-FRAC_PI_2, 0.0), sides / 4);
                profile.extend(arc(*radius, *half_length, (0.0, FRAC_PI_2), sides / 4));
                revolved(&profile, sides)
            }
            Shape::Cylinder { radius, half_length: l } => revolved(&[[0.0, -l], [*radius, -l], [*radius, *l], [0.0, *l]], sides),
            Shape::Cone { radius, half_height: h } => revolved(&[[0.0, -h], [*radius, -h], [0.0, *h]], sides),
            Shape::Convex { vertices } => Polyhedron::hull(vertices).map_or_else(|_| Vec::new(), |hull| faces(&hull)),
            Shape::Mesh { vertices, triangles } => triangles.iter().map(|t| t.map(|v| vertices[v as usize]).to_vec()).collect(),
            Shape::HeightField { heights, columns, spacing } => {
                let points: Vec<Vector3<f64>> = grid::points(heights, *columns, *spacing).collect();
                grid::triangles(heights.len(), *columns).map(|t| t.map(|v| points[v as usize]).to_vec()).collect()
            }
        }
    }
}

fn faces(polyhedron: &Polyhedron) -> Vec<Vec<Vector3<f64>>> {
    let corners = |face: u32| polyhedron.ring(face).iter().map(|&v| polyhedron.vertices[v as usize]).collect();
    (0..polyhedron.planes.len() as u32).map(corners).collect()
}

/// Points (r, z) on a circle about (0, `middle`), from one angle above the base to another; ends at a pole lie on the axis exactly.
fn arc(radius: f64, middle: f64, (from, to): (f64, f64), pieces: usize) -> Vec<[f64; 2]> {
    let pieces = pieces.max(1);
    let point = |k: usize| {
        let angle = from + (to - from) * k as f64 / pieces as f64;
        [if angle.abs() == FRAC_PI_2 { 0.0 } else { radius * angle.cos() }, middle + radius * angle.sin()]
    };
    (0..=pieces).map(point).collect()
}

/// The surface that a profile of points (r, z), from the bottom to the top, makes about z; flat ends are one polygon each.
fn revolved(profile: &[[f64; 2]], sides: usize) -> Vec<Vec<Vector3<f64>>> {
    let corner = |[r, z]: [f64; 2], k: usize| {
        let angle = TAU * (k % sides) as f64 / sides as f64;
        Vector3::new(r * angle.cos(), r * angle.sin(), z)
    };
    let mut facets = Vec::new();
    for ends in profile.windows(2) {
        let (low, high) = (ends[0], ends[1]);
        match (low[0] == 0.0, high[0] == 0.0, low[1] == high[1]) {
            (true, false, true) => facets.push((0..sides).rev().map(|k| corner(high, k)).collect()),
            (false, true, true) => facets.push((0..sides).map(|k| corner(low, k)).collect()),
            (true, false, false) => facets.extend((0..sides).map(|k| vec![corner(low, 0), corner(high, k + 1), corner(high, k)])),
            (false, true, false) => facets.extend((0..sides).map(|k| vec![corner(low, k), corner(low, k + 1), corner(high, 0)])),
            _ => facets.extend((0..sides).map(|k| vec![corner(low, k), corner(low, k + 1), corner(high, k + 1), corner(high, k)])),
        }
    }
    facets
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// Volume by Gauss's theorem, Σ p·(a × b)/6 over fans: positive only if facets look outward, right only if they close.
    fn volume(shape: &Shape, sides: usize) -> f64 {
        let fan = |f: &Vec<Vector3<f64>>| -> f64 { (1..f.len() - 1).map(|k| f[0].dot(&f[k].cross(&f[k + 1])) / 6.0).sum() };
        shape.facets(sides).iter().map(fan).sum()
    }

    #[test]
    fn facets_enclose_the_volume() {
        let cube = Shape::Box { half_extents: Vector3::new(0.5, 1.0, 1.5) };
        assert!((volume(&cube, 8) - 6.0).abs() < 1e-14 && cube.facets(8).len() == 6);
        let tetrahedron =
            Shape::Convex { vertices: vec![Vector3::new(1.0, 1.0, 1.0), Vector3::x() * 4.0, Vector3::y() * 4.0, Vector3::z() * 4.0] };
        // the face on x + y + z = 4 has the area 8√3, and (1, 1, 1) is 1/√3 away from it
        assert!((volume(&tetrahedron, 8) - 8.0 / 3.0).abs() < 1e-13);
        // an inscribed n-gon is smaller than its circle by 2π²/(3n²)
        let n = 400;
        let close =
            |shape: Shape, exact: f64| assert!((volume(&shape, n) / exact - 1.0).abs() < 5.0 * (PI / n as f64).powi(2), "{shape:?}");
        close(Shape::Cylinder { radius: 0.3, half_length: 0.5 }, PI * 0.09);
        close(Shape::Cone { radius: 0.3, half_height: 0.5 }, PI * 0.03);
        close(Shape::Sphere { radius: 0.3 }, 4.0 / 3.0 * PI * 0.027);
        close(Shape::Capsule { radius: 0.3, half_length: 0.5 }, 4.0 / 3.0 * PI * 0.027 + PI * 0.09);
    }

    #[test]
    fn planes_have_no_facets() {
        assert!(Shape::Plane { normal: Vector3::z() }.facets(8).is_empty());
    }
}
