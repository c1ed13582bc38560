//! Cores: the shapes of the round pairs without their rounding, by support function, support points and Gauss map.
//!
//! A capsule is a segment with a rounding, the others have none. On the sphere of directions u the support function
//! h(u) = max over the core of u·x is smooth in *regions* (vertices, rims), has kinks along *arcs* (edges: u ⟂ edge;
//! side of a cylinder: u ⟂ axis; side of a cone: u·axis = sin of the side's slope) and at *nodes* (faces, caps).

use super::facets::Facets;
use crate::pose::Pose;
use crate::shapes::Shape;
use nalgebra::{Matrix3, Vector3};

/// A core placed in the world; directions in world axes, points relative to `centre`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Core<'a> {
    pub centre: Vector3<f64>,
    pub rotation: &'a Matrix3<f64>,
    /// Thickness around the core \[m\]; 0 unless a capsule.
    pub rounding: f64,
    /// Radius of a ball about `centre` that holds the core \[m\].
    pub size: f64,
    pub body: Body<'a>,
}

/// The kinds of cores; axes are unit vectors in the world frame.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Body<'a> {
    Segment {
        axis: Vector3<f64>,
        half_length: f64,
    },
    Cylinder {
        axis: Vector3<f64>,
        radius: f64,
        half_length: f64,
    },
    /// Base at −half_height, apex at +half_height.
    Cone {
        axis: Vector3<f64>,
        radius: f64,
        half_height: f64,
    },
    Polytope(Facets<'a>),
}

/// Support point and curvature of a smooth piece: h(u) ≈ u·point, ∇²h = bend · tangent tangentᵀ.
#[derive(Clone, Copy, Debug)]
pub(in crate::pairs) struct Smooth {
    pub point: Vector3<f64>,
    pub tangent: Vector3<f64>,
    pub bend: f64,
}

/// An arc of the Gauss map: directions u with u·axis = level, on which `piece` gives h.
#[derive(Clone, Copy, Debug)]
pub(in crate::pairs) struct Arc {
    pub axis: Vector3<f64>,
    pub level: f64,
    pub piece: Piece,
}

/// A smooth piece of a core.
#[derive(Clone, Copy, Debug)]
pub(in crate::pairs) enum Piece {
    Vertex(Vector3<f64>),
    /// Circle about an axis.
    Circle {
        centre: Vector3<f64>,
        axis: Vector3<f64>,
        radius: f64,
    },
}

impl Piece {
    pub fn at(&self, u: &Vector3<f64>) -> Smooth {
        match *self {
            Piece::Vertex(point) => Smooth { point, tangent: Vector3::zeros(), bend: 0.0 },
            Piece::Circle { centre, axis, radius } => {
                let tangent = axis.cross(u);
                let sine = tangent.norm();
                if sine < 1e-12 {
                    return Smooth { point: centre, tangent: Vector3::zeros(), bend: 0.0 };
                }
                let tangent = tangent / sine;
                Smooth { point: centre + tangent.cross(&axis) * radius, tangent, bend: radius / sine }
            }
        }
    }
}

/// A few arcs near a direction.
pub(in crate::pairs) struct ArcList {
    arcs: [Option<Arc>; 12],
    len: usize,
}

impl ArcList {
    pub fn new() -> Self {
        Self { arcs: [None; 12], len: 0 }
    }

    fn push(&mut self, arc: Arc) {
        if self.len < self.arcs.len() {
            self.arcs[self.len] = Some(arc);
            self.len += 1;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc> {
        self.arcs[..self.len].iter().flatten()
    }
}

impl<'a> Core<'a> {
    /// The core of a capsule, cylinder or cone; `None` for other shapes.
    pub(crate) fn revolved(shape: &Shape, pose: &'a Pose) -> Option<Self> {
        let axis = pose.axis();
        let (body, rounding, size) = match *shape {
            Shape::Capsule { radius, half_length } => (Body::Segment { axis, half_length }, radius, half_length),
            Shape::Cylinder { radius, half_length } => (Body::Cylinder { axis, radius, half_length }, 0.0, radius.hypot(half_length)),
            Shape::Cone { radius, half_height } => (Body::Cone { axis, radius, half_height }, 0.0, radius.hypot(half_height)),
            _ => return None,
        };
        Some(Self { centre: pose.position, rotation: &pose.rotation, rounding, size, body })
    }

    /// A box or a hull.
    pub fn polytope(facets: Facets<'a>, pose: &'a Pose) -> Self {
        let size = facets.vertices.iter().map(Vector3::norm).fold(0.0, f64::max);
        Self { centre: pose.position, rotation: &pose.rotation, rounding: 0.0, size, body: Body::Polytope(facets) }
    }

    /// Support function relative to the centre, for a unit direction.
    pub fn reach(&self, u: &Vector3<f64>) -> f64 {
        match &self.body {
            Body::Segment { axis, half_length } => half_length * axis.dot(u).abs(),
            Body::Cylinder { axis, radius, half_length } => radius * axis.cross(u).norm() + half_length * axis.dot(u).abs(),
            Body::Cone { axis, radius, half_height } => {
                let along = half_height * axis.dot(u);
                along.max(radius * axis.cross(u).norm() - along)
            }
            Body::Polytope(facets) => facets.reach(&self.rotation.tr_mul(u)),
        }
    }

    /// The smooth piece that supports a direction; of two equal ones a definite one.
    pub fn piece(&self, u: &Vector3<f64>) -> Piece {
        match &self.body {
            Body::Segment { axis, half_length } => Piece::Vertex(axis * half_length.copysign(axis.dot(u))),
            Body::Cylinder { axis, radius, half_length } => {
                Piece::Circle { centre: axis * half_length.copysign(axis.dot(u)), axis: *axis, radius: *radius }
            }
            Body::Cone { axis, radius, half_height } => {
                let along = half_height * axis.dot(u);
                if along > radius * axis.cross(u).norm() - along {
                    Piece::Vertex(axis * *half_height)
                } else {
                    Piece::Circle { centre: axis * -half_height, axis: *axis, radius: *radius }
                }
            }
            Body::Polytope(facets) => Piece::Vertex(self.rotation * facets.vertices[facets.farthest(&self.rotation.tr_mul(u))]),
        }
    }

    /// A point farthest in a direction.
    pub fn support(&self, u: &Vector3<f64>) -> Vector3<f64> {
        self.piece(u).at(u).point
    }

    /// Calls `found` with the normal of every face and cap within an angle of a direction, given by its cosine.
    pub(crate) fn nodes_near(&self, u: &Vector3<f64>, cosine: f64, mut found: impl FnMut(Vector3<f64>)) {
        match &self.body {
            Body::Segment { .. } => {}
            Body::Cylinder { axis, .. } => {
                for normal in [-axis, *axis] {
                    if normal.dot(u) >= cosine {
                        found(normal);
                    }
                }
            }
            Body::Cone { axis, .. } => {
                if -axis.dot(u) >= cosine {
                    found(-axis);
                }
            }
            Body::Polytope(facets) => {
                let local = self.rotation.tr_mul(u);
                for normal in facets.normals().filter(|normal| normal.dot(&local) >= cosine) {
                    found(self.rotation * normal);
                }
            }
        }
    }

    /// The arcs within about an angle of a direction.
    pub(crate) fn arcs_near(&self, u: &Vector3<f64>, angle: f64, list: &mut ArcList) {
        match &self.body {
            Body::Segment { axis, .. } => {
                if axis.dot(u).abs() <= angle {
                    list.push(Arc { axis: *axis, level: 0.0, piece: Piece::Vertex(Vector3::zeros()) });
                }
            }
            Body::Cylinder { axis, radius, .. } => {
                if axis.dot(u).abs() <= angle {
                    let piece = Piece::Circle { centre: Vector3::zeros(), axis: *axis, radius: *radius };
                    list.push(Arc { axis: *axis, level: 0.0, piece });
                }
            }
            Body::Cone { axis, radius, half_height } => {
                let level = radius / radius.hypot(2.0 * half_height);
                if (axis.dot(u) - level).abs() <= angle {
                    list.push(Arc { axis: *axis, level, piece: Piece::Vertex(axis * *half_height) });
                }
            }
            Body::Polytope(facets) => {
                let local = self.rotation.tr_mul(u);
                let lowest = facets.reach(&local) - angle * self.size;
                for edge in facets.edges() {
                    let [p, q] = edge.map(|i| facets.vertices[i as usize]);
                    let (hp, hq) = (p.dot(&local), q.dot(&local));
                    if hp < lowest || hq < lowest {
                        continue;
                    }
                    let along = q - p;
                    let length = along.norm();
                    if (hq - hp).abs() <= angle * length {
                        let piece = Piece::Vertex(self.rotation * (0.5 * (p + q)));
                        list.push(Arc { axis: self.rotation * (along / length), level: 0.0, piece });
                    }
                }
            }
        }
    }
}
