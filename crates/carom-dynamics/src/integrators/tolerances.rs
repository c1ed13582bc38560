//! How errors are measured.

use super::{ErrorComponents, ErrorNorm, IntegratorParams};
use crate::error::ModelError;
use crate::smooth::{Equations, MotionPoint};

/// Tolerances of the positions and velocities, with the norm that compares an error with them.
#[derive(Clone, Debug, PartialEq)]
pub struct Tolerances {
    absolute: Vec<f64>,
    relative: f64,
    /// The coordinate of each velocity, where it is the rate of one alone.
    coordinates: Vec<Option<usize>>,
    norm: ErrorNorm,
    components: ErrorComponents,
}

impl Tolerances {
    /// The tolerances that these settings give for a model with these velocities.
    ///
    /// # Errors
    /// A tolerance for a velocity or coordinate that does not exist.
    pub fn new(equations: &Equations<'_>, params: &IntegratorParams) -> Result<Self, ModelError> {
        let systems = equations.model().systems();
        let mut absolute = vec![params.absolute_tolerance.unwrap_or(params.tolerance); equations.n_v()];
        for (name, &tolerance) in &params.tolerances {
            let velocities = match systems.coordinates().position(name) {
                Some(coordinate) => systems.velocities_of(&[coordinate]),
                None => {
                    return Err(ModelError::BadState {
                        system: "the integrator".into(),
                        reason: format!("a tolerance is given for \"{name}\", which is no coordinate of the model"),
                    });
                }
            };
            velocities.into_iter().for_each(|v| absolute[v] = tolerance);
        }
        let mut coordinates = vec![None; equations.n_v()];
        for coordinate in 0..equations.n_q() {
            if let [velocity] = systems.velocities_of(&[coordinate])[..] {
                coordinates[velocity] = Some(coordinate);
            }
        }
        let relative = params.relative_tolerance.unwrap_or(params.tolerance);
        Ok(Tolerances { absolute, relative, coordinates, norm: params.norm, components: params.error_in })
    }

    /// Errors of velocities count, not only those of positions.
    #[must_use]
    pub(crate) fn count_velocities(&self) -> bool {
        self.components == ErrorComponents::All
    }

    /// The norm of an error, in units of the tolerance: a step is accepted when it is at most 1. `position` is a displacement.
    #[must_use]
    pub fn error(&self, start: &MotionPoint, end: &MotionPoint, position: &[f64], velocity: &[f64]) -> f64 {
        self.norm(
            |i| position[i] / (self.absolute[i] + self.relative * self.position_scale(i, start).max(self.position_scale(i, end))),
            |i| velocity[i] / (self.absolute[i] + self.relative * start.v[i].abs().max(end.v[i].abs())),
        )
    }

    /// The norm of (q, v) itself at a point, in units of the tolerance.
    #[must_use]
    pub fn size(&self, point: &MotionPoint) -> f64 {
        let weighted = |i: usize, size: f64| size / (self.absolute[i] + self.relative * size);
        self.norm(|i| weighted(i, self.position_scale(i, point)), |i| weighted(i, point.v[i].abs()))
    }

    /// What the relative tolerance of a displacement refers to: the coordinate, or 1 where there is no single one (rotations).
    fn position_scale(&self, velocity: usize, point: &MotionPoint) -> f64 {
        self.coordinates[velocity].map_or(1.0, |coordinate| point.q[coordinate].abs())
    }

    fn norm(&self, position: impl Fn(usize) -> f64, velocity: impl Fn(usize) -> f64) -> f64 {
        let (mut sum, mut largest, mut count) = (0.0, 0.0_f64, 0);
        let mut take = |x: f64| {
            sum += x * x;
            // a NaN must not be lost in the maximum
            largest = if x.is_nan() { f64::NAN } else { largest.max(x.abs()) };
            count += 1;
        };
        let n = self.absolute.len();
        (0..n).for_each(|i| take(position(i)));
        if self.count_velocities() {
            (0..n).for_each(|i| take(velocity(i)));
        }
        match self.norm {
            ErrorNorm::Rms => (sum / f64::from(count.max(1))).sqrt(),
            ErrorNorm::Euclidean => sum.sqrt(),
            ErrorNorm::Max => largest,
        }
    }
}
