//! Natural coordinates: bodies by the places of points and the directions of unit vectors that they share.
//!
//! Each material point of a body is a linear combination of its points and vectors, so the mass matrix is constant and there are no
//! velocity-dependent forces; M q̈ = f + Gᵀλ with constraints that keep lengths and angles:
//!
//! ```text
//! bar  (two points)               r = (1 − ξ) r_i + ξ r_j   (+ η S (r_j − r_i) in the plane)
//! body (two points, two vectors)  r = r_i + ξ₁ (r_j − r_i) + ξ₂ u + ξ₃ w,     M = ∫ c cᵀ dm ⊗ I₃,  c = (1 − ξ₁, ξ₁, ξ₂, ξ₃)
//! ```
//!
//! Bodies that share a point are hinged there; a point that does not move is a hinge on the ground. Source: J. García de Jalón, E. Bayo,
//! Kinematic and Dynamic Simulation of Multibody Systems, 1994, ch. 2 (coordinates), ch. 4 (mass matrices).
//!
//! When to use: mechanisms of bars with many hinges, which need no joint equations here. The system is one [`Linear`] block: n³ for its
//! factorisation, once.

use super::Linear;
use crate::error::ModelError;
use nalgebra::{Matrix3, Matrix4, Vector3, Vector4};

/// A point that bodies share.
#[derive(Clone, Debug, PartialEq)]
pub struct NaturalPoint {
    /// Name: its coordinates are `NAME.x`, `NAME.y` and in space `NAME.z` \[m\].
    pub name: String,
    /// Where it starts \[m\].
    pub position: Vector3<f64>,
    /// It does not move and is no coordinate.
    pub fixed: bool,
}

/// A unit vector that bodies share (in space).
#[derive(Clone, Debug, PartialEq)]
pub struct NaturalVector {
    /// Name: its coordinates are `NAME.x`, `NAME.y`, `NAME.z`.
    pub name: String,
    /// Where it points at the start, of any length.
    pub direction: Vector3<f64>,
}

/// A bar between two points.
#[derive(Clone, Debug, PartialEq)]
pub struct NaturalBar {
    /// Name of its constraint.
    pub name: String,
    /// Its points, by number.
    pub points: [usize; 2],
    /// Mass \[kg\].
    pub mass: f64,
    /// Centre of mass from the first point \[m\]: along the bar, and in the plane to its left.
    pub centre: [f64; 2],
    /// Moment of inertia about the centre of mass, across the bar \[kg m²\]; in space the bar is thin.
    pub inertia: f64,
}

/// A body in space with two points and two vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct NaturalBody {
    /// Name of its constraints.
    pub name: String,
    /// Its points, by number.
    pub points: [usize; 2],
    /// Its vectors, by number; with the line of the points they span the space.
    pub vectors: [usize; 2],
    /// Mass \[kg\].
    pub mass: f64,
    /// Centre of mass at the start \[m\].
    pub centre: Vector3<f64>,
    /// Inertia about the centre of mass in world directions at the start \[kg m²\].
    pub inertia: Matrix3<f64>,
}

/// A mechanism in natural coordinates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Natural {
    /// It moves in the x-y plane.
    pub planar: bool,
    /// Points.
    pub points: Vec<NaturalPoint>,
    /// Vectors.
    pub vectors: Vec<NaturalVector>,
    /// Bars.
    pub bars: Vec<NaturalBar>,
    /// Bodies.
    pub bodies: Vec<NaturalBody>,
    /// Gravity \[m/s²\].
    pub gravity: Vector3<f64>,
}

/// A matrix under assembly with the first coordinate of each point and vector.
struct Assembly {
    dimension: usize,
    n: usize,
    /// First coordinate of each point, then of each vector.
    first: Vec<Option<usize>>,
    mass: Vec<f64>,
    force: Vec<f64>,
}

impl Assembly {
    /// Adds `value` times a matrix of the plane (turned by `turn`) or the identity between two terms.
    fn add(&mut self, a: usize, b: usize, value: f64, turn: f64) {
        let (Some(a), Some(b)) = (self.first[a], self.first[b]) else { return };
        for i in 0..self.dimension {
            self.mass[(a + i) * self.n + b + i] += value;
        }
        if turn != 0.0 {
            self.mass[a * self.n + b + 1] -= turn;
            self.mass[(a + 1) * self.n + b] += turn;
        }
    }

    fn push(&mut self, a: usize, weight: &Vector3<f64>) {
        if let Some(a) = self.first[a] {
            (0..self.dimension).for_each(|i| self.force[a + i] += weight[i]);
        }
    }
}

impl Natural {
    pub(crate) fn dimension(&self) -> usize {
        if self.planar { 2 } else { 3 }
    }

    fn wrong(name: &str, reason: impl Into<String>) -> ModelError {
        ModelError::Joint { joint: name.to_owned(), reason: reason.into() }
    }

    /// The system of the points and vectors that move.
    ///
    /// # Errors
    /// Points that coincide, vectors that are zero or do not span the space, masses and inertias that no body can have, a point or vector
    /// without mass.
    pub fn system(&self) -> Result<Linear, ModelError> {
        let d = self.dimension();
        let (mut names, mut first) = (Vec::new(), Vec::new());
        let terms = self.points.iter().map(|p| (&p.name, p.fixed, "m")).chain(self.vectors.iter().map(|v| (&v.name, false, "")));
        for (name, fixed, unit) in terms {
            first.push((!fixed).then_some(names.len()));
            if !fixed {
                names.extend(["x", "y", "z"][..d].iter().map(|part| (format!("{name}.{part}"), unit.to_owned())));
            }
        }
        let n = names.len();
        let mut assembly = Assembly { dimension: d, n, first, mass: vec![0.0; n * n], force: vec![0.0; n] };
        for bar in &self.bars {
            self.add_bar(bar, &mut assembly)?;
        }
        for body in &self.bodies {
            self.add_body(body, &mut assembly)?;
        }
        let (names, units) = names.into_iter().unzip();
        let zero = vec![0.0; n * n];
        let system = Linear::new(names, assembly.mass, zero.clone(), zero).map_err(|error| match error {
            ModelError::MassNotPositive { .. } => {
                ModelError::MassNotPositive { system: "the natural coordinates (a point without a bar?)".into() }
            }
            other => other,
        })?;
        system.with_force(assembly.force)?.with_units(units)
    }

    /// M and weight of a bar.
    fn add_bar(&self, bar: &NaturalBar, to: &mut Assembly) -> Result<(), ModelError> {
        let length = self.length(&bar.name, bar.points)?;
        let physical = bar.mass > 0.0 && bar.inertia > 0.0 && bar.mass.is_finite() && bar.inertia.is_finite();
        if !physical {
            return Err(Self::wrong(&bar.name, "its mass and inertia must be positive and finite"));
        }
        if !self.planar && bar.centre[1] != 0.0 {
            return Err(Self::wrong(&bar.name, "the centre of mass of a bar in space lies on the bar"));
        }
        let [i, j] = bar.points;
        let (along, left) = (bar.centre[0] / length, bar.centre[1] / length);
        // ∫ (ξ² + η²) dm
        let second = (bar.inertia / (length * length)) + bar.mass * (along * along + left * left);
        to.add(i, i, bar.mass * (1.0 - 2.0 * along) + second, 0.0);
        to.add(i, j, bar.mass * along - second, bar.mass * left);
        to.add(j, i, bar.mass * along - second, -bar.mass * left);
        to.add(j, j, second, 0.0);
        // r_G = (1 − ξ) r_i + ξ r_j + η S (r_j − r_i)
        let weight = self.gravity * bar.mass;
        let turned = Vector3::new(weight.y, -weight.x, 0.0);
        to.push(i, &(weight * (1.0 - along) - turned * left));
        to.push(j, &(weight * along + turned * left));
        Ok(())
    }

    /// M and weight of a body.
    fn add_body(&self, body: &NaturalBody, to: &mut Assembly) -> Result<(), ModelError> {
        if self.planar {
            return Err(Self::wrong(&body.name, "a body with vectors lives in space; in the plane use a bar"));
        }
        self.length(&body.name, body.points)?;
        super::rigid_bodies::check_mass(&body.name, body.mass)?;
        super::rigid_bodies::check_inertia(&body.name, &body.inertia)?;
        let start = self.points[body.points[0]].position;
        let line = self.points[body.points[1]].position - start;
        let [u, w] = [self.unit(body.vectors[0])?, self.unit(body.vectors[1])?];
        let basis = Matrix3::from_columns(&[line, u, w]);
        // a basis flatter than this loses half of the digits
        let inverse = basis.try_inverse().filter(|_| basis.determinant().abs() > 1e-8 * line.norm());
        let inverse = inverse.ok_or_else(|| Self::wrong(&body.name, "its line and its vectors lie in one plane; choose others"))?;
        // ∫ r rᵀ dm about the first point, from the inertia
        let arm = body.centre - start;
        let moments = Matrix3::identity() * (0.5 * body.inertia.trace()) - body.inertia + arm * arm.transpose() * body.mass;
        let (first, second) = (inverse * arm * body.mass, inverse * moments * inverse.transpose());
        // c = (1, 0, 0, 0) + A ξ
        let a = nalgebra::Matrix4x3::new(-1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
        let e = Vector4::new(1.0, 0.0, 0.0, 0.0);
        let linear = a * first;
        let products: Matrix4<f64> =
            e * e.transpose() * body.mass + e * linear.transpose() + linear * e.transpose() + a * second * a.transpose();
        let centre = e * body.mass + linear;
        let terms = [body.points[0], body.points[1], self.points.len() + body.vectors[0], self.points.len() + body.vectors[1]];
        for (k, &s) in terms.iter().enumerate() {
            for (l, &t) in terms.iter().enumerate() {
                to.add(s, t, products[(k, l)], 0.0);
            }
            to.push(s, &(self.gravity * centre[k]));
        }
        Ok(())
    }

    fn length(&self, name: &str, points: [usize; 2]) -> Result<f64, ModelError> {
        let length = (self.points[points[1]].position - self.points[points[0]].position).norm();
        if length > 0.0 && length.is_finite() { Ok(length) } else { Err(Self::wrong(name, "its two points coincide or are not finite")) }
    }

    /// A vector that bodies share, of unit length.
    pub(crate) fn unit(&self, vector: usize) -> Result<Vector3<f64>, ModelError> {
        let v = &self.vectors[vector];
        v.direction
            .try_normalize(0.0)
            .filter(|d| d.iter().all(|x| x.is_finite()))
            .ok_or_else(|| Self::wrong(&v.name, "it has no direction"))
    }

    /// The initial coordinates of the points and vectors that move.
    ///
    /// # Errors
    /// A vector that is zero.
    pub fn coordinates(&self) -> Result<Vec<f64>, ModelError> {
        let d = self.dimension();
        let mut q: Vec<f64> =
            self.points.iter().filter(|p| !p.fixed).flat_map(|p| p.position.iter().take(d).copied().collect::<Vec<_>>()).collect();
        for vector in 0..self.vectors.len() {
            q.extend(self.unit(vector)?.iter());
        }
        Ok(q)
    }
}
