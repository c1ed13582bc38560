//! A point or a disc over a chain of segments and arcs in the plane: the pieces and their conditions from the geometry.
//!
//! The free side is on the left of the walking direction. With p the point, r the radius of the disc about it and α the angle by which the disc
//! has turned, the rows are the signed distance and the way along the chain:
//!
//! ```text
//! segment a → b          gap n·(p − a) − r          tangent d·(p − a) + r α            d = (b − a)/|b − a|, n = d turned to the left
//! arc to the left        gap R − |p − c| − r        tangent (R − r) φ + r α            counter-clockwise: the free side is inside
//! arc to the right       gap |p − c| − R − r        tangent −(R + r) φ + r α           clockwise: the free side is outside
//! corner of a disc       gap |p − c| − r            tangent −r φ + r α                 an arc of radius 0 to the right
//! ```
//!
//! Where two primitives meet with one direction, the edge is the common normal. At a corner that turns to the right (convex for the point) a disc
//! rolls over the vertex, a piece of its own; for a point the edge is where both signed distances are equal and the larger one is
//! taken: beyond the corner it is the distance to the nearer line, not to the vertex. At a corner that turns to the left (concave) the nearer
//! primitive is taken. Only one primitive is in contact at a time: where a disc lies in a concave corner and touches both sides, give them as two
//! contacts. The first and the last primitive go on beyond the ends of a chain unless it is closed.

use super::formula_space::FormulaSpace;
use super::piecewise::PieceRows;
use super::{CornerLaw, PiecewiseRelation};
use crate::error::ModelError;
use crate::formula::{Comparison, Expr, Function, Graph};
use crate::systems::SystemSet;
use std::f64::consts::TAU;
use std::sync::Arc;

/// A part of a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Primitive {
    /// From one point to another \[m\].
    Segment {
        /// First point.
        from: [f64; 2],
        /// Last point.
        to: [f64; 2],
    },
    /// Of a circle, from one angle to another; to a larger angle it goes counter-clockwise.
    Arc {
        /// Centre \[m\].
        centre: [f64; 2],
        /// Radius \[m\].
        radius: f64,
        /// First angle from the x axis \[rad\].
        from: f64,
        /// Last angle \[rad\].
        to: f64,
    },
}

/// A contact of a point or disc with a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainSource {
    /// Name of the contact, for messages.
    pub name: String,
    /// Names and formulas of the point's coordinates.
    pub point: [(String, String); 2],
    /// Radius of the disc about the point \[m\]; 0 for a point.
    pub radius: f64,
    /// Name and formula of the angle by which the disc has turned, counter-clockwise \[rad\]; `None` for one that does not turn.
    pub angle: Option<(String, String)>,
    /// With a tangent row, for friction.
    pub tangent: bool,
    /// The primitives, in walking direction; each begins where the one before ends.
    pub chain: Vec<Primitive>,
    /// Constants of the formulas.
    pub parameters: Vec<(String, f64)>,
    /// What a corner does.
    pub corner: CornerLaw,
}

/// Directions that differ by less than this are one \[rad\].
const SAME_DIRECTION: f64 = 1e-9;
/// Points closer than this are one, relative to the size of the chain.
const SAME_POINT: f64 = 1e-9;

impl Primitive {
    fn end(self, last: bool) -> [f64; 2] {
        match self {
            Primitive::Segment { from, to } => {
                if last {
                    to
                } else {
                    from
                }
            }
            Primitive::Arc { centre, radius, from, to } => {
                let (sine, cosine) = (if last { to } else { from }).sin_cos();
                [centre[0] + radius * cosine, centre[1] + radius * sine]
            }
        }
    }

    /// Walking direction at an end.
    fn direction(self, last: bool) -> [f64; 2] {
        match self {
            Primitive::Segment { from, to } => {
                let (x, y) = (to[0] - from[0], to[1] - from[1]);
                let length = x.hypot(y);
                [x / length, y / length]
            }
            Primitive::Arc { from, to, .. } => {
                let (sine, cosine) = (if last { to } else { from }).sin_cos();
                let way = (to - from).signum();
                [-way * sine, way * cosine]
            }
        }
    }
}

/// How two primitives meet.
#[derive(Clone, Copy, PartialEq)]
enum Joint {
    Smooth,
    /// Turns to the left.
    Concave,
    /// Turns to the right.
    Convex,
}

impl ChainSource {
    /// The pieces over the coordinates of `systems`.
    ///
    /// # Errors
    /// Formulas that cannot be read; [`ModelError::Pieces`] for primitives that make no chain.
    pub fn relation(&self, systems: &Arc<SystemSet>) -> Result<PiecewiseRelation, ModelError> {
        let (closed, joints) = self.joints().map_err(|reason| ModelError::Pieces { name: self.name.clone(), reason })?;
        let mut space = FormulaSpace::new(systems, &self.parameters);
        let point = space.parse(&self.point)?;
        if space.coordinates_of(&point).is_empty() {
            return Err(ModelError::NoCoordinate { what: format!("point of \"{}\"", self.name) });
        }
        let turned = match &self.angle {
            Some(angle) => space.parse(std::slice::from_ref(angle))?[0],
            None => space.graph.constant(0.0),
        };
        let mut draw = Draw { graph: &mut space.graph, x: point[0], y: point[1], turned, radius: self.radius };
        let parts: Vec<Part> = self.chain.iter().map(|&primitive| draw.primitive(primitive)).collect();
        let drawn = draw.pieces(&self.chain, &parts, &joints, closed);
        let pieces = self.nearest(&mut space.graph, drawn);
        PiecewiseRelation::of_pieces(&mut space, &self.name, pieces, self.corner)
    }

    /// Whether the chain is closed, and how each primitive meets the next.
    fn joints(&self) -> Result<(bool, Vec<Joint>), String> {
        let chain = &self.chain;
        if chain.len() < 2 {
            return Err(format!("the chain has {} primitive(s); two are needed, one alone is a `gap`", chain.len()));
        }
        let size = chain.iter().flat_map(|p| [p.end(false), p.end(true)]).flatten().fold(0.0, |m, x| f64::max(m, x.abs()));
        let apart = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
        for (i, &primitive) in chain.iter().enumerate() {
            self.check(i, primitive, SAME_POINT * size)?;
        }
        for (i, pair) in chain.windows(2).enumerate() {
            let (a, b) = (pair[0].end(true), pair[1].end(false));
            if apart(a, b) > SAME_POINT * size {
                let (first, second) = (i + 1, i + 2);
                return Err(format!(
                    "primitive {first} ends at ({}, {}) and primitive {second} begins at ({}, {}): let them meet",
                    a[0], a[1], b[0], b[1]
                ));
            }
        }
        let closed = apart(chain[chain.len() - 1].end(true), chain[0].end(false)) <= SAME_POINT * size;
        let n_joints = if closed { chain.len() } else { chain.len() - 1 };
        let mut joints = Vec::with_capacity(n_joints);
        for i in 0..n_joints {
            let (a, b) = (chain[i].direction(true), chain[(i + 1) % chain.len()].direction(false));
            let turn = (a[0] * b[1] - a[1] * b[0]).atan2(a[0] * b[0] + a[1] * b[1]);
            if turn.abs() > std::f64::consts::PI - SAME_DIRECTION {
                return Err(format!("the chain turns back on itself after primitive {}", i + 1));
            }
            joints.push(if turn.abs() <= SAME_DIRECTION {
                Joint::Smooth
            } else if turn > 0.0 {
                Joint::Concave
            } else {
                Joint::Convex
            });
        }
        Ok((closed, joints))
    }

    fn check(&self, i: usize, primitive: Primitive, least: f64) -> Result<(), String> {
        let number = i + 1;
        match primitive {
            Primitive::Segment { from, to } if (to[0] - from[0]).hypot(to[1] - from[1]) <= least => {
                Err(format!("the segment {number} has no length"))
            }
            Primitive::Arc { radius, .. } if radius.is_nan() || radius <= least => Err(format!("the arc {number} has the radius {radius}")),
            Primitive::Arc { from, to, .. } if !((to - from).abs() > SAME_DIRECTION && (to - from).abs() < TAU - SAME_DIRECTION) => {
                Err(format!("the arc {number} goes from {from} to {to} rad: less than a full turn is needed, and more than none"))
            }
            Primitive::Arc { radius, from, to, .. } if to > from && self.radius >= radius => {
                Err(format!("the disc of radius {} does not fit into the arc {number} of radius {radius}", self.radius))
            }
            _ => Ok(()),
        }
    }

    /// Of the pieces that would hold at a place, the nearest.
    fn nearest(&self, graph: &mut Graph, pieces: Vec<Part>) -> Vec<PieceRows> {
        let zero = graph.constant(0.0);
        let radius = graph.constant(self.radius);
        let mut distance = |piece: &Part| {
            let of_point = graph.add(piece.gap, radius);
            graph.call(Function::Abs, &[of_point])
        };
        let distances: Vec<Expr> = pieces.iter().map(&mut distance).collect();
        let mut out = Vec::with_capacity(pieces.len());
        for (i, piece) in pieces.iter().enumerate() {
            let mut margin = piece.own;
            for (j, other) in pieces.iter().enumerate().filter(|&(j, _)| j != i) {
                let (outside, farther) = (graph.neg(other.own), graph.sub(distances[j], distances[i]));
                let either = graph.max(outside, farther);
                margin = graph.min(margin, either);
            }
            let (mut names, mut rows) = (vec![format!("gap of \"{}\"", self.name)], vec![piece.gap]);
            if self.tangent {
                names.push(format!("tangent of \"{}\"", self.name));
                rows.push(piece.tangent);
            }
            let condition = graph.compare(Comparison::GreaterEqual, margin, zero);
            out.push(PieceRows {
                condition_name: format!("condition of piece {} of \"{}\"", i + 1, self.name),
                condition,
                margin,
                names,
                rows,
            });
        }
        out
    }
}

/// A primitive as expressions.
#[derive(Clone, Copy)]
struct Part {
    gap: Expr,
    tangent: Expr,
    /// Way from its start and to its end \[m\]: positive on it.
    start: Expr,
    end: Expr,
    /// Margin of the strip or wedge in which it can be the nearest.
    own: Expr,
}

/// Writes expressions of the point (x, y).
struct Draw<'g> {
    graph: &'g mut Graph,
    x: Expr,
    y: Expr,
    turned: Expr,
    radius: f64,
}

impl Draw<'_> {
    /// a·(p − origin).
    fn along(&mut self, a: [f64; 2], origin: [f64; 2]) -> Expr {
        let mut sum = self.graph.constant(0.0);
        for (p, a, o) in [(self.x, a[0], origin[0]), (self.y, a[1], origin[1])] {
            let (a, o) = (self.graph.constant(a), self.graph.constant(o));
            let difference = self.graph.sub(p, o);
            let term = self.graph.mul(a, difference);
            sum = self.graph.add(sum, term);
        }
        sum
    }

    /// c + f e.
    fn affine(&mut self, constant: f64, factor: f64, e: Expr) -> Expr {
        let (constant, factor) = (self.graph.constant(constant), self.graph.constant(factor));
        let term = self.graph.mul(factor, e);
        self.graph.add(constant, term)
    }

    /// The way of the point of the disc that touches: r α more.
    fn rolling(&mut self, way: Expr) -> Expr {
        let rolled = self.affine(0.0, self.radius, self.turned);
        self.graph.add(way, rolled)
    }

    fn primitive(&mut self, primitive: Primitive) -> Part {
        match primitive {
            Primitive::Segment { from, to } => {
                let d = primitive.direction(false);
                let (way, height) = (self.along(d, from), self.along([-d[1], d[0]], from));
                let gap = self.affine(-self.radius, 1.0, height);
                let end = self.affine((to[0] - from[0]).hypot(to[1] - from[1]), -1.0, way);
                Part { gap, tangent: self.rolling(way), start: way, end, own: way }
            }
            Primitive::Arc { centre, radius, from, to } => self.arc(centre, radius, from, to),
        }
    }

    /// An arc; of radius 0 and to the right, a vertex.
    fn arc(&mut self, centre: [f64; 2], radius: f64, from: f64, to: f64) -> Part {
        // angles from the middle of the arc, so that their jump lies opposite
        let (sine, cosine) = (0.5 * (from + to)).sin_cos();
        let (u, w) = (self.along([cosine, sine], centre), self.along([-sine, cosine], centre));
        let (distance, angle) = (self.graph.call(Function::Hypot, &[u, w]), self.graph.call(Function::Atan2, &[w, u]));
        let (way, half) = ((to - from).signum(), 0.5 * (to - from).abs());
        let gap = self.affine(way * radius - self.radius, -way, distance);
        let along = self.affine(0.0, way * (radius - way * self.radius), angle);
        let scale = f64::max(radius, self.radius);
        let (start, end) = (self.affine(scale * half, scale * way, angle), self.affine(scale * half, -scale * way, angle));
        Part { gap, tangent: self.rolling(along), start, end, own: start }
    }

    /// All pieces, vertices between their neighbours, with the margins of their strips.
    fn pieces(&mut self, chain: &[Primitive], parts: &[Part], joints: &[Joint], closed: bool) -> Vec<Part> {
        let n = parts.len();
        let mut pieces = Vec::with_capacity(2 * n);
        for i in 0..n {
            let before = (i > 0 || closed).then(|| (i + n - 1) % n);
            let mut own: Option<Expr> = None;
            let mut limit = |graph: &mut Graph, margin: Expr| own = Some(own.map_or(margin, |own| graph.min(own, margin)));
            if let Some(before) = before {
                let margin = self.limit(joints[before], parts[i].start, parts[i].gap, parts[before].gap);
                limit(self.graph, margin);
            }
            if i + 1 < n || closed {
                let margin = self.limit(joints[i], parts[i].end, parts[i].gap, parts[(i + 1) % n].gap);
                limit(self.graph, margin);
            }
            // a chain has two primitives at least, so that each has a neighbour
            pieces.push(Part { own: own.unwrap_or(parts[i].own), ..parts[i] });
            if joints.get(i) == Some(&Joint::Convex) && self.radius > 0.0 {
                let next = (i + 1) % n;
                let (a, b) = (chain[i].direction(true), chain[next].direction(false));
                // normals to the left of both directions bound the wedge of the vertex
                let (from, to) = (a[0].atan2(-a[1]), b[0].atan2(-b[1]));
                let to = if to > from { to - TAU } else { to };
                let vertex = self.arc(chain[i].end(true), 0.0, from, to);
                let (before, after) = (self.graph.neg(parts[i].end), self.graph.neg(parts[next].start));
                pieces.push(Part { own: self.graph.min(before, after), ..vertex });
            }
        }
        pieces
    }

    /// The margin of a primitive at a joint: its strip, or where it is the one that counts.
    fn limit(&mut self, joint: Joint, strip: Expr, gap: Expr, other: Expr) -> Expr {
        match joint {
            Joint::Smooth => strip,
            Joint::Convex if self.radius > 0.0 => strip,
            Joint::Convex => self.graph.sub(gap, other),
            Joint::Concave => self.graph.sub(other, gap),
        }
    }
}
