//! Convex polygons, the checks of any outline, and mass properties by the formulas of Green's theorem.

use super::decompose::convex_parts;
use super::shapes::PlanarMass;
use nalgebra::Vector2;
use thiserror::Error;

/// Areas below this fraction of the squared size count as none, and turns below it as straight.
const FLAT_FRACTION: f64 = 1e-12;

/// Most vertices of a polygon or a chain: their numbers are part of the keys of contacts.
pub const MOST_VERTICES: usize = 32_767;

/// Why an outline or a chain is not usable.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum OutlineError {
    /// A coordinate is infinite or not a number.
    #[error("vertex {vertex} is not finite")]
    NonFinite {
        /// Its number, from 1.
        vertex: usize,
    },
    /// Too few vertices.
    #[error("{given} vertices are too few: at least {needed} are needed, not counting those that repeat their neighbour")]
    TooFew {
        /// Different vertices given.
        given: usize,
        /// Least number.
        needed: usize,
    },
    /// Too many vertices.
    #[error("{given} vertices are too many: at most {MOST_VERTICES}")]
    TooMany {
        /// Vertices given.
        given: usize,
    },
    /// The outline encloses no area.
    #[error("the polygon encloses no area ({area:e} m² at a size of {size:e} m)")]
    NoArea {
        /// Its area \[m²\].
        area: f64,
        /// Its largest extent \[m\].
        size: f64,
    },
    /// Two edges cross or touch.
    #[error("the polygon meets itself: the edges after vertices {first} and {second} cross or touch")]
    SelfIntersecting {
        /// Number of the vertex before the first edge, from 1.
        first: usize,
        /// Number of the vertex before the second edge, from 1.
        second: usize,
    },
    /// A convex polygon was asked for.
    #[error("the polygon is not convex at vertex {vertex}")]
    NotConvex {
        /// Its number, from 1.
        vertex: usize,
    },
    /// A chain turns back on itself.
    #[error("the chain turns back on itself at vertex {vertex}")]
    TurnsBack {
        /// Its number, from 1.
        vertex: usize,
    },
}

/// A convex polygon, counter-clockwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Polygon {
    vertices: Vec<Vector2<f64>>,
    /// Outward unit normal of the edge from vertex i to i + 1.
    normals: Vec<Vector2<f64>>,
    /// The edge lies inside the polygon that this is a part of.
    internal: Vec<bool>,
    area: f64,
    centre: Vector2<f64>,
    /// ∫ |r|² dA about the centre \[m⁴\].
    second_moment: f64,
}

impl Polygon {
    /// A convex polygon by its vertices in either order; repeated vertices and those on a straight line are left out.
    ///
    /// # Errors
    /// [`OutlineError`], also for outlines that are not convex.
    pub fn new(vertices: &[Vector2<f64>]) -> Result<Self, OutlineError> {
        let outline = checked_outline(vertices)?;
        let n = outline.len();
        for i in 0..n {
            if turn(&outline[(i + n - 1) % n].1, &outline[i].1, &outline[(i + 1) % n].1) <= 0.0 {
                return Err(OutlineError::NotConvex { vertex: outline[i].0 + 1 });
            }
        }
        Ok(Self::of_loop(outline.into_iter().map(|(_, v)| v).collect(), vec![false; n]))
    }

    /// Any simple polygon as convex parts; one for a convex polygon. Edges between parts take no contacts.
    ///
    /// # Errors
    /// [`OutlineError`].
    pub fn parts(vertices: &[Vector2<f64>]) -> Result<Vec<Self>, OutlineError> {
        let numbered = checked_outline(vertices)?;
        let outline: Vec<Vector2<f64>> = numbered.iter().map(|(_, v)| *v).collect();
        let n = outline.len();
        let loops = convex_parts(&outline).ok_or(OutlineError::SelfIntersecting { first: 1, second: n })?;
        let part = |corners: Vec<usize>| {
            let next = |k: usize| corners[(k + 1) % corners.len()];
            let internal = (0..corners.len()).map(|k| next(k) != (corners[k] + 1) % n).collect();
            Self::of_loop(corners.iter().map(|&i| outline[i]).collect(), internal)
        };
        Ok(loops.into_iter().map(part).collect())
    }

    /// A rectangle about the origin with sides along x and y.
    ///
    /// # Errors
    /// [`OutlineError`] for sides that are not positive and finite.
    pub fn rectangle(size: [f64; 2]) -> Result<Self, OutlineError> {
        let (x, y) = (0.5 * size[0], 0.5 * size[1]);
        Self::new(&[Vector2::new(-x, -y), Vector2::new(x, -y), Vector2::new(x, y), Vector2::new(-x, y)])
    }

    /// From a counter-clockwise convex loop.
    fn of_loop(vertices: Vec<Vector2<f64>>, internal: Vec<bool>) -> Self {
        let n = vertices.len();
        let normal = |i: usize| {
            let along = vertices[(i + 1) % n] - vertices[i];
            Vector2::new(along.y, -along.x) / along.norm()
        };
        let normals = (0..n).map(normal).collect();
        // relative to the first vertex, so that a far polygon loses no digits
        let (mut twice_area, mut first, mut second) = (0.0, Vector2::zeros(), 0.0);
        for i in 1..n - 1 {
            let (p, q) = (vertices[i] - vertices[0], vertices[i + 1] - vertices[0]);
            let cross = p.perp(&q);
            twice_area += cross;
            first += (p + q) * (cross / 3.0);
            second += cross / 6.0 * (p.norm_squared() + p.dot(&q) + q.norm_squared());
        }
        let area = 0.5 * twice_area;
        let offset = first / twice_area;
        let second_moment = 0.5 * second - area * offset.norm_squared();
        Polygon { centre: vertices[0] + offset, vertices, normals, internal, area, second_moment }
    }

    /// Vertices, counter-clockwise.
    #[must_use]
    pub fn vertices(&self) -> &[Vector2<f64>] {
        &self.vertices
    }

    pub(super) fn normals(&self) -> &[Vector2<f64>] {
        &self.normals
    }

    pub(super) fn internal(&self) -> &[bool] {
        &self.internal
    }

    /// Area \[m²\].
    #[must_use]
    pub fn area(&self) -> f64 {
        self.area
    }

    /// Centre of area \[m\].
    #[must_use]
    pub fn centre(&self) -> Vector2<f64> {
        self.centre
    }

    /// Distance of the centre from the nearest edge line \[m\].
    pub(super) fn inner_radius(&self) -> f64 {
        let depth = |(v, n): (&Vector2<f64>, &Vector2<f64>)| n.dot(&(v - self.centre));
        self.vertices.iter().zip(&self.normals).map(depth).fold(f64::INFINITY, f64::min)
    }

    /// Mass properties at an area density in kg/m².
    #[must_use]
    pub fn mass(&self, density: f64) -> PlanarMass {
        PlanarMass { mass: density * self.area, centre: self.centre, inertia: density * self.second_moment }
    }
}

/// Twice the signed area of a triangle, zero where it is straight up to rounding.
fn turn(a: &Vector2<f64>, b: &Vector2<f64>, c: &Vector2<f64>) -> f64 {
    let (u, v) = (b - a, c - b);
    let cross = u.perp(&v);
    if cross.abs() <= FLAT_FRACTION * u.norm() * v.norm() { 0.0 } else { cross }
}

/// Checks that all vertices are finite and not too many, and leaves out those that repeat their neighbour; each with its number.
pub(super) fn distinct(vertices: &[Vector2<f64>], closed: bool, needed: usize) -> Result<Vec<(usize, Vector2<f64>)>, OutlineError> {
    if let Some(i) = vertices.iter().position(|v| !v.iter().all(|x| x.is_finite())) {
        return Err(OutlineError::NonFinite { vertex: i + 1 });
    }
    if vertices.len() > MOST_VERTICES {
        return Err(OutlineError::TooMany { given: vertices.len() });
    }
    let mut kept: Vec<(usize, Vector2<f64>)> = Vec::with_capacity(vertices.len());
    for (i, v) in vertices.iter().enumerate() {
        if kept.last().is_none_or(|(_, last)| last != v) {
            kept.push((i, *v));
        }
    }
    while closed && kept.len() > 1 && kept.first().map(|(_, v)| v) == kept.last().map(|(_, v)| v) {
        kept.pop();
    }
    if kept.len() < needed {
        return Err(OutlineError::TooFew { given: kept.len(), needed });
    }
    Ok(kept)
}

/// A simple outline: checked, counter-clockwise, without straight vertices; each vertex with its number in the list given.
fn checked_outline(vertices: &[Vector2<f64>]) -> Result<Vec<(usize, Vector2<f64>)>, OutlineError> {
    let mut outline = distinct(vertices, true, 3)?;
    let (lower, upper) = outline.iter().fold((outline[0].1, outline[0].1), |(l, u), (_, v)| (l.inf(v), u.sup(v)));
    let size = (upper - lower).amax();
    let origin = outline[0].1;
    let pairs = |o: &[(usize, Vector2<f64>)]| (0..o.len()).map(|i| (o[i].1 - origin).perp(&(o[(i + 1) % o.len()].1 - origin))).sum::<f64>();
    let area = 0.5 * pairs(&outline);
    if !area.is_finite() || !size.is_finite() {
        return Err(OutlineError::NoArea { area, size });
    }
    check_simple(&outline).or_else(|error| {
        // all on one line: say so rather than that they touch
        let flat = outline.iter().all(|(_, v)| (v - origin).perp(&(outline[1].1 - origin)).abs() <= FLAT_FRACTION * size * size);
        if flat { Ok(()) } else { Err(error) }
    })?;
    if area.abs() <= FLAT_FRACTION * size * size {
        return Err(OutlineError::NoArea { area: area.abs(), size });
    }
    if area < 0.0 {
        outline.reverse();
    }
    let mut i = 0;
    while i < outline.len() && outline.len() > 3 {
        let n = outline.len();
        if turn(&outline[(i + n - 1) % n].1, &outline[i].1, &outline[(i + 1) % n].1) == 0.0 {
            outline.remove(i);
            i = i.saturating_sub(1);
        } else {
            i += 1;
        }
    }
    Ok(outline)
}

/// No two edges meet but neighbours at their vertex. O(n²), with a look at the bounds first.
fn check_simple(outline: &[(usize, Vector2<f64>)]) -> Result<(), OutlineError> {
    let n = outline.len();
    let edge = |i: usize| (outline[i].1, outline[(i + 1) % n].1);
    let meets = |first: usize, second: usize| OutlineError::SelfIntersecting { first: outline[first].0 + 1, second: outline[second].0 + 1 };
    for i in 0..n {
        let (a, b) = edge(i);
        // the next edge turns back
        let c = edge((i + 1) % n).1;
        if turn(&a, &b, &c) == 0.0 && (b - a).dot(&(c - b)) < 0.0 {
            return Err(meets(i, (i + 1) % n));
        }
        for j in i + 2..n {
            if i == 0 && j == n - 1 {
                continue;
            }
            let (c, d) = edge(j);
            let apart = (0..2).any(|k| a[k].max(b[k]) < c[k].min(d[k]) || c[k].max(d[k]) < a[k].min(b[k]));
            if !apart {
                let side = |p: &Vector2<f64>, q: &Vector2<f64>, r: &Vector2<f64>| (q - p).perp(&(r - p));
                let (s1, s2, s3, s4) = (side(&a, &b, &c), side(&a, &b, &d), side(&c, &d, &a), side(&c, &d, &b));
                let astride = |x: f64, y: f64| (x <= 0.0 && y >= 0.0) || (x >= 0.0 && y <= 0.0);
                if astride(s1, s2) && astride(s3, s4) {
                    return Err(meets(i, j));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(list: &[[f64; 2]]) -> Vec<Vector2<f64>> {
        list.iter().map(|p| Vector2::from(*p)).collect()
    }

    #[test]
    fn a_triangle_far_away_in_either_order() {
        let far = |order: [usize; 3]| order.map(|i| Vector2::from([[1e3, 0.0], [1e3 + 3.0, 0.0], [1e3, 4.0]][i]));
        for order in [[0, 1, 2], [2, 1, 0]] {
            let triangle = Polygon::new(&far(order)).unwrap();
            let p = triangle.mass(2.0);
            // b h/2 and b h (b² + h²)/36 for a right triangle; roundings of 1e3
            assert!((p.mass - 12.0).abs() < 1e-12 && (p.inertia - 2.0 * 12.0 * 25.0 / 36.0).abs() < 1e-10, "{p:?}");
            assert!((p.centre - Vector2::new(1e3 + 1.0, 4.0 / 3.0)).norm() < 1e-12);
        }
    }

    #[test]
    fn straight_and_repeated_vertices_are_left_out() {
        let square = Polygon::new(&points(&[[0., 0.], [1., 0.], [1., 0.], [2., 0.], [2., 2.], [0., 2.], [0., 0.]])).unwrap();
        assert_eq!(square.vertices(), points(&[[0., 0.], [2., 0.], [2., 2.], [0., 2.]]));
        assert_eq!(square.inner_radius(), 1.0);
    }

    #[test]
    fn outlines_that_cannot_be_used() {
        let error = |list: &[[f64; 2]]| Polygon::parts(&points(list)).unwrap_err();
        assert_eq!(error(&[[0., 0.], [1., 0.], [1., 0.]]), OutlineError::TooFew { given: 2, needed: 3 });
        assert_eq!(error(&[[0., 0.], [1., f64::NAN], [1., 1.]]), OutlineError::NonFinite { vertex: 2 });
        assert!(matches!(error(&[[0., 0.], [1., 1.], [3., 3.]]), OutlineError::NoArea { .. }));
        assert_eq!(error(&[[0., 0.], [1., 1.], [1., 0.], [0., 1.]]), OutlineError::SelfIntersecting { first: 1, second: 3 });
        // an edge that a vertex touches
        assert!(matches!(error(&[[0., 0.], [2., 0.], [2., 2.], [1., 0.], [0., 2.]]), OutlineError::SelfIntersecting { .. }));
        // a spike
        assert!(matches!(error(&[[0., 0.], [2., 0.], [2., 2.], [2., 1.], [0., 2.]]), OutlineError::SelfIntersecting { .. }));
        let arrow = points(&[[0., 0.], [2., 1.], [0., 2.], [1., 1.]]);
        assert_eq!(Polygon::new(&arrow), Err(OutlineError::NotConvex { vertex: 4 }));
        assert!(Polygon::rectangle([1.0, 0.0]).is_err() && Polygon::rectangle([1.0, f64::INFINITY]).is_err());
    }
}
