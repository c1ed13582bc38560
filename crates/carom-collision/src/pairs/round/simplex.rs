//! Nearest point of a simplex of up to four points to the origin.

use nalgebra::Vector3;

/// Up to four points; after [`Simplex::reduce`] only those that carry the nearest point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Simplex {
    points: [Vector3<f64>; 4],
    len: usize,
}

/// A nearest point and the vertices that carry it, as bits.
#[derive(Clone, Copy)]
struct Nearest {
    point: Vector3<f64>,
    carriers: u8,
}

impl Simplex {
    pub fn new(point: Vector3<f64>) -> Self {
        Self { points: [point; 4], len: 1 }
    }

    /// Adds a point unless it is already there; false then.
    pub fn push(&mut self, point: Vector3<f64>) -> bool {
        if self.len == 4 || self.points[..self.len].contains(&point) {
            return false;
        }
        self.points[self.len] = point;
        self.len += 1;
        true
    }

    /// Nearest point to the origin; drops the vertices that do not carry it. `None` when the origin is inside.
    pub fn reduce(&mut self) -> Option<Vector3<f64>> {
        let nearest = match self.len {
            1 => Nearest { point: self.points[0], carriers: 1 },
            2 => self.on_segment(0, 1),
            3 => self.on_triangle(0, 1, 2),
            _ => self.on_tetrahedron()?,
        };
        let mut kept = 0;
        for k in 0..self.len {
            if nearest.carriers >> k & 1 == 1 {
                self.points[kept] = self.points[k];
                kept += 1;
            }
        }
        self.len = kept;
        Some(nearest.point)
    }

    fn on_segment(&self, i: usize, j: usize) -> Nearest {
        let (a, b) = (self.points[i], self.points[j]);
        let ab = b - a;
        let t = -a.dot(&ab) / ab.norm_squared();
        if t.is_nan() || t <= 0.0 {
            Nearest { point: a, carriers: 1 << i }
        } else if t >= 1.0 {
            Nearest { point: b, carriers: 1 << j }
        } else {
            Nearest { point: a + ab * t, carriers: 1 << i | 1 << j }
        }
    }

    fn on_triangle(&self, i: usize, j: usize, k: usize) -> Nearest {
        let (a, b, c) = (self.points[i], self.points[j], self.points[k]);
        let normal = (b - a).cross(&(c - a));
        let inside = |p: &Vector3<f64>, q: &Vector3<f64>| (q - p).cross(p).dot(&normal) <= 0.0;
        let area = normal.norm_squared();
        // (q − p) × (0 − p) against the normal: the origin's projection is on the inner side of every edge
        if area > 0.0 && inside(&a, &b) && inside(&b, &c) && inside(&c, &a) {
            return Nearest { point: normal * (normal.dot(&a) / area), carriers: 1 << i | 1 << j | 1 << k };
        }
        nearest_of([self.on_segment(i, j), self.on_segment(j, k), self.on_segment(k, i)])
    }

    fn on_tetrahedron(&self) -> Option<Nearest> {
        let faces = [(0, 1, 2, 3), (0, 1, 3, 2), (0, 2, 3, 1), (1, 2, 3, 0)];
        let mut best: Option<Nearest> = None;
        for (i, j, k, opposite) in faces {
            let (a, b, c, d) = (self.points[i], self.points[j], self.points[k], self.points[opposite]);
            let normal = (b - a).cross(&(c - a));
            let (side_d, side_o) = (normal.dot(&(d - a)), -normal.dot(&a));
            if side_d * side_o > 0.0 {
                continue;
            }
            let candidate = self.on_triangle(i, j, k);
            if best.is_none_or(|best| candidate.point.norm_squared() < best.point.norm_squared()) {
                best = Some(candidate);
            }
        }
        best
    }
}

fn nearest_of(candidates: [Nearest; 3]) -> Nearest {
    let mut best = candidates[0];
    for candidate in &candidates[1..] {
        if candidate.point.norm_squared() < best.point.norm_squared() {
            best = *candidate;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simplex(points: &[[f64; 3]]) -> Simplex {
        let mut simplex = Simplex::new(Vector3::from(points[0]));
        for p in &points[1..] {
            assert!(simplex.push(Vector3::from(*p)));
        }
        simplex
    }

    #[test]
    fn faces_edges_vertices_and_inside() {
        let mut face = simplex(&[[1.0, -1.0, 2.0], [-1.0, -1.0, 2.0], [0.0, 3.0, 2.0], [0.0, 0.0, 9.0]]);
        assert_eq!(face.reduce(), Some(Vector3::new(0.0, 0.0, 2.0)));
        assert_eq!(face.len, 3);
        let mut edge = simplex(&[[1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 3.0, 1.0]]);
        assert_eq!(edge.reduce(), Some(Vector3::new(0.0, 1.0, 0.0)));
        assert_eq!(edge.len, 2);
        let mut vertex = simplex(&[[1.0, 1.0, 0.0], [2.0, 1.0, 0.0]]);
        assert_eq!(vertex.reduce(), Some(Vector3::new(1.0, 1.0, 0.0)));
        let mut around = simplex(&[[1.0, 0.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, -1.0], [0.0, 0.0, 2.0]]);
        assert_eq!(around.reduce(), None);
    }
}
