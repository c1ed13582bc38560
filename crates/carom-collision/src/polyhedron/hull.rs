//! Triangulated convex hull of points by quickhull: from a tetrahedron outward, the farthest point of a face at a time.

use super::HullError;
use nalgebra::Vector3;

/// Heights below this fraction of the size are roundings; tried from the smallest on until the surface closes.
const TOLERANCES: [f64; 5] = [1e-14, 1e-13, 1e-12, 1e-11, 1e-10];

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

/// Vertices of the hull in the order of the points, and its triangles, counter-clockwise seen from outside.
pub(super) fn triangulated(points: &[Vector3<f64>]) -> Result<(Vec<Vector3<f64>>, Vec<[u32; 3]>), HullError> {
    let (mut lower, mut upper) = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
    for p in points {
        lower = lower.inf(p);
        upper = upper.sup(p);
    }
    // Far from the origin the roundings of the coordinates count, not those of the differences.
    let size = (upper - lower).amax().max(lower.amax().max(upper.amax()) * 0.25);
    let mut error = HullError::Flat;
    for tolerance in TOLERANCES {
        match grow(points, tolerance * size) {
            Ok(triangles) => return Ok(compact(points, &triangles)),
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

fn grow(points: &[Vector3<f64>], tolerance: f64) -> Result<Vec<[u32; 3]>, HullError> {
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
        let mut peak = facet.outside[0];
        for &v in &facet.outside[1..] {
            if height(v) > height(peak) {
                peak = v;
            }
        }
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
            let facet = Facet::new(points, [a, b, peak]).ok_or_else(|| HullError::Failed("three points on one line".into()))?;
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
