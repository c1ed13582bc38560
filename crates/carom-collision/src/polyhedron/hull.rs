//! Triangulated convex hull of points by quickhull: from a tetrahedron outward, the farthest point of a face at a time.

use super::{HullError, Polyhedron, faces};
use nalgebra::Vector3;

/// Heights below this fraction of the size are roundings; tried from the smallest on until the surface closes without
/// slivers.
const TOLERANCES: [f64; 9] = [1e-14, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-5];
/// Triangles of less height than this fraction of the size are slivers: their normals are worth nothing.
const SLIVER: f64 = 1e-8;
/// Of points whose heights differ by less than this fraction of the size, the one farthest off is taken: a corner, not
/// the middle of an edge or face.
const SAME_HEIGHT: f64 = 1e-7;

/// A triangle of the growing hull.
struct Facet {
    corners: [u32; 3],
    /// Facet across the edge from corner k to corner k + 1.
    across: [u32; 3],
    normal: Vector3<f64>,
    offset: f64,
    /// Points above the facet that no earlier facet has taken.
    outside: Vec<u32>,
    alive: bool,
}

/// Hull of points: attempts with growing tolerances until one closes, without slivers, and holds all points.
pub(super) fn polyhedron(points: &[Vector3<f64>]) -> Result<Polyhedron, HullError> {
    let (mut lower, mut upper) = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
    for p in points {
        lower = lower.inf(p);
        upper = upper.sup(p);
    }
    // Far from the origin the roundings of the coordinates count, not those of the differences.
    let size = (upper - lower).amax().max(lower.amax().max(upper.amax()) * 0.25);
    let mut error = HullError::Flat;
    for (attempt, tolerance) in TOLERANCES.into_iter().enumerate() {
        // The last attempt takes thin triangles too.
        let sliver = if attempt + 1 < TOLERANCES.len() { SLIVER * size } else { 0.0 };
        match grow(points, tolerance * size, sliver, SAME_HEIGHT * size) {
            Ok(triangles) => {
                let (vertices, triangles) = compact(points, &triangles);
                match faces::merge(vertices, &triangles, tolerance * size) {
                    Ok(made) => return Ok(made),
                    Err(failed) => error = failed,
                }
            }
            Err(HullError::Flat) => return Err(HullError::Flat),
            Err(failed) => error = failed,
        }
    }
    Err(error)
}

/// Keeps the points that are corners.
fn compact(points: &[Vector3<f64>], triangles: &[[u32; 3]]) -> (Vec<Vector3<f64>>, Vec<[u32; 3]>) {
    let mut number = vec![u32::MAX; points.len()];
    triangles.iter().flatten().for_each(|&v| number[v as usize] = 0);
    let mut vertices = Vec::new();
    for (k, slot) in number.iter_mut().enumerate() {
        if *slot == 0 {
            *slot = vertices.len() as u32;
            vertices.push(points[k]);
        }
    }
    let triangles = triangles.iter().map(|t| t.map(|v| number[v as usize])).collect();
    (vertices, triangles)
}

fn grow(points: &[Vector3<f64>], tolerance: f64, sliver: f64, same_height: f64) -> Result<Vec<[u32; 3]>, HullError> {
    let at = |v: u32| points[v as usize];
    let mut facets = first_tetrahedron(points, tolerance)?;
    let mut stack: Vec<u32> = (0..4).collect();
    let mut starts = std::collections::BTreeMap::new();
    while let Some(seed) = stack.pop() {
        if !facets[seed as usize].alive || facets[seed as usize].outside.is_empty() {
            continue;
        }
        let facet = &facets[seed as usize];
        let height = |v: u32| facet.normal.dot(&at(v)) - facet.offset;
        let highest = facet.outside.iter().map(|&v| height(v)).fold(0.0, f64::max);
        let middle = facet.corners.iter().map(|&v| at(v)).sum::<Vector3<f64>>() / 3.0;
        let mut farthest = (facet.outside[0], f64::NEG_INFINITY);
        for &v in facet.outside.iter().filter(|&&v| height(v) >= highest - same_height) {
            let distance = (at(v) - middle).norm_squared();
            if distance > farthest.1 {
                farthest = (v, distance);
            }
        }
        let peak = farthest.0;
        // Facets that the peak sees, and the rim of that region.
        let mut visible = vec![seed];
        facets[seed as usize].alive = false;
        let mut rim = Vec::new();
        let mut next = 0;
        while next < visible.len() {
            let here = visible[next];
            next += 1;
            for k in 0..3 {
                let (a, b) = (facets[here as usize].corners[k], facets[here as usize].corners[(k + 1) % 3]);
                let other = facets[here as usize].across[k];
                let beyond = &mut facets[other as usize];
                if !beyond.alive {
                    if !visible.contains(&other) {
                        return Err(HullError::Failed("the surface does not close".into()));
                    }
                } else if beyond.normal.dot(&at(peak)) - beyond.offset > tolerance {
                    beyond.alive = false;
                    visible.push(other);
                } else {
                    rim.push((a, b, other, here));
                }
            }
        }
        // An edge between two visible facets may have been taken for rim before the second one was found.
        rim.retain(|&(_, _, other, _)| facets[other as usize].alive);
        starts.clear();
        let first = facets.len() as u32;
        for (k, &(a, b, other, here)) in (first..).zip(&rim) {
            if starts.insert(a, k).is_some() {
                return Err(HullError::Failed("the rim crosses itself".into()));
            }
            let facet = Facet::new(points, [a, b, peak]).filter(|_| thickness(points, [a, b, peak]) > sliver);
            let facet = facet.ok_or_else(|| HullError::Failed("three points nearly on one line".into()))?;
            let place = facets[other as usize].across.iter().position(|&x| x == here);
            let place = place.ok_or_else(|| HullError::Failed("lost a neighbour".into()))?;
            facets[other as usize].across[place] = k;
            facets.push(Facet { across: [other, u32::MAX, u32::MAX], ..facet });
        }
        for (k, &(_, b, ..)) in (first..).zip(&rim) {
            let Some(&after) = starts.get(&b) else { return Err(HullError::Failed("the rim is open".into())) };
            facets[k as usize].across[1] = after;
            facets[after as usize].across[2] = k;
        }
        for gone in visible {
            let orphans = std::mem::take(&mut facets[gone as usize].outside);
            for v in orphans {
                if v != peak {
                    give(points, &mut facets[first as usize..], v, tolerance);
                }
            }
        }
        stack.extend(first..facets.len() as u32);
    }
    Ok(facets.iter().filter(|f| f.alive).map(|f| f.corners).collect())
}

/// Gives a point to the facet that it is farthest above, if any.
fn give(points: &[Vector3<f64>], facets: &mut [Facet], v: u32, tolerance: f64) {
    let mut best = (tolerance, None);
    for (k, facet) in facets.iter().enumerate() {
        let height = facet.normal.dot(&points[v as usize]) - facet.offset;
        if height > best.0 {
            best = (height, Some(k));
        }
    }
    if let Some(k) = best.1 {
        facets[k].outside.push(v);
    }
}

/// Least height of a triangle.
fn thickness(points: &[Vector3<f64>], corners: [u32; 3]) -> f64 {
    let [a, b, c] = corners.map(|v| points[v as usize]);
    let longest = (b - a).norm_squared().max((c - b).norm_squared()).max((a - c).norm_squared());
    (b - a).cross(&(c - a)).norm() / longest.sqrt()
}

impl Facet {
    fn new(points: &[Vector3<f64>], corners: [u32; 3]) -> Option<Self> {
        let [a, b, c] = corners.map(|v| points[v as usize]);
        let normal = (b - a).cross(&(c - a)).try_normalize(0.0)?;
        Some(Self { corners, across: [u32::MAX; 3], normal, offset: normal.dot(&a), outside: Vec::new(), alive: true })
    }
}

/// Four points far apart: the extremes along the longest axis, the farthest from their line, the farthest from the plane.
fn first_tetrahedron(points: &[Vector3<f64>], tolerance: f64) -> Result<Vec<Facet>, HullError> {
    let farthest = |measure: &dyn Fn(&Vector3<f64>) -> f64| {
        let mut best = (0, f64::NEG_INFINITY);
        for (k, p) in (0..).zip(points) {
            let value = measure(p);
            if value > best.1 {
                best = (k, value);
            }
        }
        best
    };
    let spread = |k: usize| {
        let (low, high) = (farthest(&|p| -p[k]), farthest(&|p| p[k]));
        (low.1 + high.1, low.0, high.0)
    };
    let (mut extent, mut i, mut j) = spread(0);
    for k in 1..3 {
        let other = spread(k);
        if other.0 > extent {
            (extent, i, j) = other;
        }
    }
    if extent <= tolerance {
        return Err(HullError::Flat);
    }
    let (a, b) = (points[i as usize], points[j as usize]);
    let along = (b - a).normalize();
    let (k, off_line) = farthest(&|p| along.cross(&(p - a)).norm());
    if off_line <= tolerance {
        return Err(HullError::Flat);
    }
    let normal = along.cross(&(points[k as usize] - a)).normalize();
    let (l, off_plane) = farthest(&|p| normal.dot(&(p - a)).abs());
    if off_plane <= tolerance {
        return Err(HullError::Flat);
    }
    // Counter-clockwise from outside: the fourth point below the first three.
    let below = normal.dot(&(points[l as usize] - a)) < 0.0;
    let [i, j, k] = if below { [i, j, k] } else { [j, i, k] };
    let corners = [[i, j, k], [j, i, l], [k, j, l], [i, k, l]];
    let mut facets = Vec::with_capacity(4);
    for c in corners {
        facets.push(Facet::new(points, c).ok_or(HullError::Flat)?);
    }
    // Neighbours by their shared edge.
    for f in 0..4 {
        for e in 0..3 {
            let (from, to) = (corners[f][e], corners[f][(e + 1) % 3]);
            let other = (0..4).find(|&g| (0..3).any(|h| corners[g][h] == to && corners[g][(h + 1) % 3] == from));
            facets[f].across[e] = other.unwrap_or(0) as u32;
        }
    }
    for v in 0..points.len() as u32 {
        if ![i, j, k, l].contains(&v) {
            give(points, &mut facets, v, tolerance);
        }
    }
    Ok(facets)
}
