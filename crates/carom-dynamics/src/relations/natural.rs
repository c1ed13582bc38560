//! The constraints of natural coordinates: constant scalar products of directions.
//!
//! A direction is the difference of two points, or a vector, all of them coordinates (or places that do not move):
//!
//! ```text
//! g = d₁·d₂ − c,     G = (d₂ᵀ ∂d₁ + d₁ᵀ ∂d₂),     (dG/dt) v = 2 ḋ₁·ḋ₂
//! ```
//!
//! halved where both directions are the same one (a length). Source: J. García de Jalón, E. Bayo, Kinematic and Dynamic Simulation of
//! Multibody Systems, 1994, ch. 2. When to use: through [`crate::systems::Natural`]. Cost: a few operations per row; the curvature is constant.

use super::{Relation, Rows};
use crate::error::{ModelError, NonFinite};
use crate::systems::{Scratch, SystemSet};
use nalgebra::Vector3;

/// A point or vector: coordinates of this name (`NAME.x`, `NAME.y`, …), or a place that does not move.
#[derive(Clone, Debug, PartialEq)]
pub enum NaturalTerm {
    /// Coordinates.
    Coordinates(String),
    /// A place \[m\].
    Fixed(Vector3<f64>),
}

/// A vector, or the difference of two points.
#[derive(Clone, Debug, PartialEq)]
pub struct NaturalDirection {
    /// Its end, or the vector itself.
    pub to: NaturalTerm,
    /// Its start, for a difference.
    pub from: Option<NaturalTerm>,
}

/// A constant scalar product of two directions.
#[derive(Clone, Debug, PartialEq)]
pub struct NaturalRow {
    /// The directions.
    pub directions: [NaturalDirection; 2],
    /// Their product \[m²\], \[m\] or pure, as the directions are differences or vectors.
    pub product: f64,
}

/// A direction over the model's coordinates: (first coordinate, first column of G, sign), and the places that do not move.
#[derive(Clone, Debug)]
struct Direction {
    terms: Vec<(usize, usize, f64)>,
    offset: Vector3<f64>,
}

/// Constant scalar products of directions.
pub struct NaturalRelation {
    dimension: usize,
    rows: Vec<([Direction; 2], f64, f64)>,
    velocities: Vec<usize>,
    /// The model's coordinate of each velocity of the relation.
    coordinates: Vec<usize>,
}

impl NaturalRelation {
    /// Finds the coordinates of the rows; `dimension` is 2 in the plane, 3 in space.
    ///
    /// # Errors
    /// [`ModelError::NoCoordinate`] for a name that is no point or vector of the model.
    pub fn new(rows: &[NaturalRow], dimension: usize, systems: &SystemSet) -> Result<Self, ModelError> {
        let names = systems.coordinates();
        let find = |name: &str| {
            let first = names.iter().position(|c| c.name.strip_suffix(".x") == Some(name));
            first.ok_or_else(|| ModelError::NoCoordinate { what: format!("point \"{name}\"") })
        };
        let named = rows.iter().flat_map(|row| &row.directions).flat_map(|d| std::iter::once(&d.to).chain(&d.from));
        let mut coordinates = Vec::new();
        for term in named {
            if let NaturalTerm::Coordinates(name) = term {
                let first = find(name)?;
                coordinates.extend(first..first + dimension);
            }
        }
        coordinates.sort_unstable();
        coordinates.dedup();
        let mut compiled = Vec::with_capacity(rows.len());
        for row in rows {
            let mut directions = [0, 1].map(|_| Direction { terms: Vec::new(), offset: Vector3::zeros() });
            for (direction, source) in directions.iter_mut().zip(&row.directions) {
                for (term, sign) in [(Some(&source.to), 1.0), (source.from.as_ref(), -1.0)] {
                    match term {
                        Some(NaturalTerm::Fixed(place)) => direction.offset += place * sign,
                        Some(NaturalTerm::Coordinates(name)) => {
                            let first = find(name)?;
                            direction.terms.push((first, coordinates.partition_point(|&c| c < first), sign));
                        }
                        None => {}
                    }
                }
            }
            let factor = if row.directions[0] == row.directions[1] { 0.5 } else { 1.0 };
            compiled.push((directions, row.product, factor));
        }
        Ok(NaturalRelation { dimension, rows: compiled, velocities: systems.velocities_of(&coordinates), coordinates })
    }
}

impl Direction {
    fn value(&self, x: impl Fn(usize, usize) -> f64, dimension: usize) -> Vector3<f64> {
        let mut value = Vector3::zeros();
        for &(first, column, sign) in &self.terms {
            (0..dimension).for_each(|i| value[i] += sign * x(first + i, column + i));
        }
        value
    }
}

impl Relation for NaturalRelation {
    fn n_rows(&self) -> usize {
        self.rows.len()
    }

    fn velocities(&self) -> &[usize] {
        &self.velocities
    }

    fn is_constant(&self) -> bool {
        false
    }

    fn position(&self, _: f64, q: &[f64], g: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        for (g, (directions, product, factor)) in g.iter_mut().zip(&self.rows) {
            let [first, second] = directions.each_ref().map(|d| d.value(|c, _| q[c], self.dimension) + d.offset);
            *g = factor * (first.dot(&second) - product);
        }
        Ok(())
    }

    fn jacobian(&self, _: f64, q: &[f64], rows: Rows<'_>, _: &mut Scratch) -> Result<(), NonFinite> {
        rows.jacobian.fill(0.0);
        rows.bias.fill(0.0);
        for (row, (directions, _, factor)) in rows.jacobian.chunks_exact_mut(self.coordinates.len()).zip(&self.rows) {
            let [first, second] = directions.each_ref().map(|d| d.value(|c, _| q[c], self.dimension) + d.offset);
            for (direction, other) in directions.iter().zip([second, first]) {
                for &(_, column, sign) in &direction.terms {
                    (0..self.dimension).for_each(|i| row[column + i] += factor * sign * other[i]);
                }
            }
        }
        Ok(())
    }

    fn acceleration_bias(&self, _: f64, _: &[f64], v: &[f64], bias: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        for (bias, (directions, _, factor)) in bias.iter_mut().zip(&self.rows) {
            let [first, second] = directions.each_ref().map(|d| d.value(|_, column| v[self.velocities[column]], self.dimension));
            *bias = 2.0 * factor * first.dot(&second);
        }
        Ok(())
    }

    fn add_curvature(&self, _: f64, _: &[f64], lambda: &[f64], factor: f64, matrix: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        let n = self.coordinates.len();
        for (([first, second], _, half), lambda) in self.rows.iter().zip(lambda) {
            for &(_, a, sign) in &first.terms {
                for &(_, b, other) in &second.terms {
                    for i in 0..self.dimension {
                        let value = factor * half * lambda * sign * other;
                        matrix[(a + i) * n + b + i] += value;
                        matrix[(b + i) * n + a + i] += value;
                    }
                }
            }
        }
        Ok(())
    }
}
