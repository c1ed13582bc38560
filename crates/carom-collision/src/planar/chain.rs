//! Segment chains: polylines that bodies slide over without feeling their inner vertices.
//!
//! A segment takes contacts along its normal only, a vertex only with normals in the cone between those of its two segments, and only where
//! the chain is convex there, seen from the side that is touched. Vertices on a straight line and in valleys take none.

use super::polygon::{OutlineError, distinct};
use super::shapes::PlanarMass;
use nalgebra::Vector2;
use std::f64::consts::PI;

/// A vertex whose turn has a sine below this is straight.
const STRAIGHT: f64 = 1e-9;

/// From which side a chain is touched, looking along it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sides {
    /// From both; a body is on the side on which its centre is.
    #[default]
    Both,
    /// From the left: a floor from left to right, the inside of a closed counter-clockwise chain.
    Left,
    /// From the right.
    Right,
}

impl Sides {
    /// +1 for left, −1 for right.
    pub(super) fn list(self) -> &'static [f64] {
        match self {
            Sides::Both => &[1.0, -1.0],
            Sides::Left => &[1.0],
            Sides::Right => &[-1.0],
        }
    }
}

/// The normals that a vertex takes: the cone between two unit vectors less than a half-turn apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cone(pub Vector2<f64>, pub Vector2<f64>);

impl Cone {
    /// Whether a unit vector lies within, up to rounding.
    pub fn holds(&self, n: &Vector2<f64>) -> bool {
        let orientation = self.0.perp(&self.1).signum();
        orientation * self.0.perp(n) >= -STRAIGHT && orientation * n.perp(&self.1) >= -STRAIGHT && n.dot(&(self.0 + self.1)) > 0.0
    }
}

type Bounds2 = (Vector2<f64>, Vector2<f64>);

/// An open or closed polyline.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    vertices: Vec<Vector2<f64>>,
    is_closed: bool,
    sides: Sides,
    /// Per segment: unit direction, length.
    directions: Vec<(Vector2<f64>, f64)>,
    /// Per segment and side (left, right): first segment of the convex run that it belongs to.
    runs: [Vec<u32>; 2],
    /// Boxes of ranges of segments as a binary heap; see [`Chain::near`].
    boxes: Vec<Bounds2>,
}

impl Chain {
    /// A chain by its vertices; those that repeat their neighbour are left out. A closed chain has a segment from the last to the first.
    ///
    /// # Errors
    /// [`OutlineError`] for vertices that are not finite, too few or too many, and a chain that turns back on itself.
    pub fn new(vertices: &[Vector2<f64>], is_closed: bool, sides: Sides) -> Result<Self, OutlineError> {
        let numbered = distinct(vertices, is_closed, if is_closed { 3 } else { 2 })?;
        let vertices: Vec<Vector2<f64>> = numbered.iter().map(|(_, v)| *v).collect();
        let n = vertices.len();
        let n_segments = if is_closed { n } else { n - 1 };
        let direction = |i: usize| {
            let along = vertices[(i + 1) % n] - vertices[i];
            (along / along.norm(), along.norm())
        };
        let directions: Vec<(Vector2<f64>, f64)> = (0..n_segments).map(direction).collect();
        let mut chain = Chain { vertices, is_closed, sides, directions, runs: Default::default(), boxes: Vec::new() };
        for (i, (number, _)) in numbered.iter().enumerate() {
            if let Some((before, after)) = chain.neighbours(i)
                && chain.directions[before].0.dot(&chain.directions[after].0) < 0.0
                && chain.turn(before, after).abs() <= STRAIGHT
            {
                return Err(OutlineError::TurnsBack { vertex: number + 1 });
            }
        }
        chain.runs = [chain.runs_of(1.0), chain.runs_of(-1.0)];
        chain.boxes = vec![(Vector2::repeat(f64::INFINITY), Vector2::repeat(f64::NEG_INFINITY)); 4 * n_segments];
        chain.fill_boxes(1, 0, n_segments);
        Ok(chain)
    }

    /// Its vertices.
    #[must_use]
    pub fn vertices(&self) -> &[Vector2<f64>] {
        &self.vertices
    }

    /// A segment joins the last vertex and the first.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// From which sides it is touched.
    #[must_use]
    pub fn sides(&self) -> Sides {
        self.sides
    }

    /// Number of segments.
    #[must_use]
    pub(crate) fn n_segments(&self) -> usize {
        self.directions.len()
    }

    /// Start, unit direction and length of a segment.
    pub(super) fn segment(&self, i: usize) -> (Vector2<f64>, Vector2<f64>, f64) {
        let (direction, length) = self.directions[i];
        (self.vertices[i], direction, length)
    }

    /// Vertex at the end of a segment.
    pub(super) fn end(&self, segment: usize) -> usize {
        (segment + 1) % self.vertices.len()
    }

    /// Number of the convex run of a segment, seen from a side: a body that moves along a run keeps the key of its contact.
    pub(super) fn run(&self, segment: usize, side: f64) -> u32 {
        self.runs[usize::from(side < 0.0)][segment]
    }

    /// Smallest box of all segments.
    pub(super) fn bounds(&self) -> Bounds2 {
        self.boxes[1]
    }

    /// Segments before and after a vertex; `None` at a free end.
    pub(super) fn neighbours(&self, vertex: usize) -> Option<(usize, usize)> {
        let n = self.n_segments();
        if self.is_closed { Some(((vertex + n - 1) % n, vertex)) } else { (vertex > 0 && vertex < n).then(|| (vertex - 1, vertex)) }
    }

    /// Sine of the turn to the left.
    fn turn(&self, before: usize, after: usize) -> f64 {
        self.directions[before].0.perp(&self.directions[after].0)
    }

    /// Whether a vertex lies on a straight line.
    pub(super) fn is_straight(&self, vertex: usize) -> bool {
        self.neighbours(vertex).is_some_and(|(before, after)| self.turn(before, after).abs() <= STRAIGHT)
    }

    /// The normals that a vertex takes from one side; `None` where it takes none.
    pub(super) fn cone(&self, vertex: usize, side: f64) -> Option<Cone> {
        let left = |d: Vector2<f64>| Vector2::new(-d.y, d.x) * side;
        match self.neighbours(vertex) {
            Some((before, after)) if side * self.turn(before, after) < -STRAIGHT => {
                Some(Cone(left(self.directions[before].0), left(self.directions[after].0)))
            }
            Some(_) => None,
            None if vertex == 0 => Some(Cone(left(self.directions[0].0), -self.directions[0].0)),
            None => self.directions.last().map(|(d, _)| Cone(left(*d), *d)),
        }
    }

    /// Convex runs of at most a half-turn, so that a convex body outside touches each at one place.
    fn runs_of(&self, side: f64) -> Vec<u32> {
        let (mut runs, mut turned) = (vec![0_u32], 0.0);
        for segment in 1..self.n_segments() {
            let (before, after) = (self.directions[segment - 1].0, self.directions[segment].0);
            let turn = side * before.perp(&after).atan2(before.dot(&after));
            turned += turn.abs();
            let begins = turn > STRAIGHT || turned > PI;
            if begins {
                turned = 0.0;
            }
            runs.push(if begins { segment as u32 } else { runs[segment - 1] });
        }
        runs
    }

    fn fill_boxes(&mut self, node: usize, first: usize, after: usize) -> Bounds2 {
        let found = if after - first == 1 {
            let (a, b) = (self.vertices[first], self.vertices[self.end(first)]);
            (a.inf(&b), a.sup(&b))
        } else {
            let middle = first.midpoint(after);
            let (l, r) = (self.fill_boxes(2 * node, first, middle), self.fill_boxes(2 * node + 1, middle, after));
            (l.0.inf(&r.0), l.1.sup(&r.1))
        };
        self.boxes[node] = found;
        found
    }

    /// Calls `found` with every segment whose box meets another box, in order; O(found · log n).
    pub(super) fn near(&self, bounds: &Bounds2, found: &mut impl FnMut(usize)) {
        self.near_within(1, (0, self.n_segments()), bounds, found);
    }

    fn near_within(&self, node: usize, (first, after): (usize, usize), bounds: &Bounds2, found: &mut impl FnMut(usize)) {
        let (lower, upper) = &self.boxes[node];
        if (0..2).any(|k| upper[k] < bounds.0[k] || bounds.1[k] < lower[k]) {
            return;
        }
        if after - first == 1 {
            return found(first);
        }
        let middle = first.midpoint(after);
        self.near_within(2 * node, (first, middle), bounds, found);
        self.near_within(2 * node + 1, (middle, after), bounds, found);
    }

    /// Mass properties of one kilogram spread evenly along the line.
    #[must_use]
    pub fn unit_mass(&self) -> PlanarMass {
        let middle = |i: usize| self.vertices[i] + self.directions[i].0 * (0.5 * self.directions[i].1);
        let length: f64 = self.directions.iter().map(|(_, l)| l).sum();
        let weighted = (0..self.n_segments()).fold(Vector2::zeros(), |sum, i| sum + middle(i) * self.directions[i].1);
        let centre = weighted / length;
        let of_segment = |i: usize| {
            let l = self.directions[i].1;
            l * (l * l / 12.0 + (middle(i) - centre).norm_squared())
        };
        PlanarMass { mass: 1.0, centre, inertia: (0..self.n_segments()).map(of_segment).sum::<f64>() / length }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hill() -> Chain {
        Chain::new(&[[0., 0.], [1., 0.], [2., 1.], [3., 0.], [4., 0.]].map(Vector2::from), false, Sides::Both).unwrap()
    }

    #[test]
    fn cones_of_a_hill() {
        let hill = hill();
        let peak = hill.cone(2, 1.0).unwrap();
        assert!(peak.holds(&Vector2::y()) && !peak.holds(&Vector2::x()) && !peak.holds(&-Vector2::y()));
        assert_eq!((hill.cone(2, -1.0), hill.cone(1, 1.0)), (None, None));
        assert!(hill.cone(1, -1.0).unwrap().holds(&Vector2::new(0.3, -1.0).normalize()));
        let end = hill.cone(4, 1.0).unwrap();
        assert!(end.holds(&Vector2::x()) && end.holds(&Vector2::y()) && !end.holds(&-Vector2::y()));
        assert!(hill.cone(0, -1.0).unwrap().holds(&Vector2::new(-1.0, -1.0).normalize()));
        assert_eq!(hill.runs, [vec![0, 1, 1, 3], vec![0, 0, 2, 2]]);
    }

    #[test]
    fn near_segments() {
        let mut found = Vec::new();
        hill().near(&(Vector2::new(1.9, 0.9), Vector2::new(2.1, 2.0)), &mut |i| found.push(i));
        assert_eq!(found, [1, 2]);
    }

    #[test]
    fn a_hoop_and_mistakes() {
        let circle: Vec<Vector2<f64>> =
            (0..1000).map(|k| std::f64::consts::TAU * f64::from(k) / 1000.0).map(|a| Vector2::new(2.0 * a.cos(), 2.0 * a.sin())).collect();
        let p = Chain::new(&circle, true, Sides::Left).unwrap().unit_mass();
        // m r² but for the polygon's defect of O((π/n)²)
        assert!((p.inertia - 4.0).abs() < 1e-4 && p.centre.norm() < 1e-14);
        let chain =
            |list: &[[f64; 2]], closed| Chain::new(&list.iter().map(|p| Vector2::from(*p)).collect::<Vec<_>>(), closed, Sides::Both);
        assert_eq!(chain(&[[0., 0.], [0., 0.]], false), Err(OutlineError::TooFew { given: 1, needed: 2 }));
        assert_eq!(chain(&[[0., 0.], [2., 0.], [1., 0.]], false), Err(OutlineError::TurnsBack { vertex: 2 }));
        assert!(matches!(chain(&[[0., 0.], [1., 0.]], true), Err(OutlineError::TooFew { .. })));
        assert!(matches!(chain(&[[0., 0.], [f64::INFINITY, 0.]], false), Err(OutlineError::NonFinite { vertex: 2 })));
    }
}
