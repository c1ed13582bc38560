//! Faces of a triangulated hull: triangles of one plane become one polygon.

use super::{HullError, Polyhedron};
use nalgebra::Vector3;

/// Vertices within this fraction of the size from a face's plane belong to the face; tried from the smallest on.
const COPLANAR: [f64; 6] = [1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6];

/// The polyhedron with merged faces.
///
/// The largest triangle not yet in a face gives a plane; all vertices within the tolerance belong to it, and the face
/// is their convex polygon. Thin triangles thus never define a plane unless nothing better covers them. When the
/// polygons do not fit together edge to edge, or leave a vertex outside, the tolerance is raised; at last the triangles
/// themselves are the faces. `rounding` is what the hull took for rounding.
pub(super) fn merge(vertices: Vec<Vector3<f64>>, triangles: &[[u32; 3]], rounding: f64) -> Result<Polyhedron, HullError> {
    let size = vertices.iter().map(|v| (v - vertices[0]).amax()).fold(0.0, f64::max);
    let area = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| vertices[v as usize]);
        (b - a).cross(&(c - a))
    };
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    order.sort_by(|&i, &j| area(&triangles[j]).norm_squared().total_cmp(&area(&triangles[i]).norm_squared()).then(i.cmp(&j)));
    for fraction in COPLANAR {
        let tolerance = fraction * size;
        let mut done = vec![false; triangles.len()];
        let mut rings: Vec<Vec<u32>> = Vec::new();
        for &t in &order {
            if done[t] {
                continue;
            }
            let Some(normal) = area(&triangles[t]).try_normalize(0.0) else { continue };
            let origin = vertices[triangles[t][0] as usize];
            let within = |v: u32| normal.dot(&(vertices[v as usize] - origin)).abs() <= tolerance;
            for (k, triangle) in triangles.iter().enumerate() {
                // A triangle that faces elsewhere may lie in the plane only if it is thin.
                done[k] |= triangle.iter().all(|&v| within(v));
            }
            let members = (0..vertices.len() as u32).filter(|&v| within(v)).collect();
            rings.push(polygon(&vertices, members, &normal, tolerance));
        }
        let sound = |made: &Polyhedron| made.is_strictly_convex() && made.holds_its_vertices(4.0 * tolerance.max(rounding));
        if let Some(made) = assemble(&vertices, rings).filter(sound) {
            return Ok(made);
        }
    }
    let rings: Vec<Vec<u32>> = triangles.iter().map(|t| t.to_vec()).collect();
    let made = Polyhedron::from_rings(vertices, &rings).filter(|made| made.holds_its_vertices(4.0 * rounding.max(COPLANAR[2] * size)));
    made.ok_or_else(|| HullError::Failed("nearly degenerate points".into()))
}

/// Drops the vertices that are corners of no face, sorts the faces by their first corner, and checks the fit.
fn assemble(vertices: &[Vector3<f64>], mut rings: Vec<Vec<u32>>) -> Option<Polyhedron> {
    let mut number = vec![u32::MAX; vertices.len()];
    rings.iter().flatten().for_each(|&v| number[v as usize] = 0);
    let mut kept = Vec::new();
    for (slot, vertex) in number.iter_mut().zip(vertices) {
        if *slot == 0 {
            *slot = kept.len() as u32;
            kept.push(*vertex);
        }
    }
    for ring in &mut rings {
        if ring.len() < 3 {
            return None;
        }
        ring.iter_mut().for_each(|v| *v = number[*v as usize]);
        let lowest = (0..ring.len()).min_by_key(|&k| ring[k])?;
        ring.rotate_left(lowest);
    }
    rings.sort_unstable();
    Polyhedron::from_rings(kept, &rings)
}

/// Strictly convex polygon of points in a plane, counter-clockwise about the normal (Andrew's monotone chain).
fn polygon(vertices: &[Vector3<f64>], mut members: Vec<u32>, normal: &Vector3<f64>, tolerance: f64) -> Vec<u32> {
    let across = if normal.x.abs() < 0.6 { Vector3::x() } else { Vector3::y() };
    let u = normal.cross(&across).normalize();
    let v = normal.cross(&u);
    let at = |k: u32| (u.dot(&vertices[k as usize]), v.dot(&vertices[k as usize]));
    members.sort_by(|&i, &j| {
        let (a, b) = (at(i), at(j));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(i.cmp(&j))
    });
    // Whether b lies right of the chord from a to c, by more than the tolerance.
    let is_corner = |a: u32, b: u32, c: u32| {
        let ((ax, ay), (bx, by), (cx, cy)) = (at(a), at(b), at(c));
        (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) > tolerance * (cx - ax).hypot(cy - ay)
    };
    let half = |order: &mut dyn Iterator<Item = u32>| {
        let mut chain: Vec<u32> = Vec::new();
        for k in order {
            while chain.len() >= 2 && !is_corner(chain[chain.len() - 2], chain[chain.len() - 1], k) {
                chain.pop();
            }
            chain.push(k);
        }
        chain.pop();
        chain
    };
    let mut ring = half(&mut members.iter().copied());
    ring.extend(half(&mut members.iter().rev().copied()));
    // The ends of the chains may lie within an edge that stands upright in (u, v).
    while let Some(k) = (0..ring.len()).find(|&k| {
        let n = ring.len();
        n > 3 && !is_corner(ring[(k + n - 1) % n], ring[k], ring[(k + 1) % n])
    }) {
        ring.remove(k);
    }
    ring
}
