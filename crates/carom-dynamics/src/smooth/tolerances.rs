//! How errors are measured.

use super::equations::Equations;
use super::motion_point::MotionPoint;
use crate::error::ModelError;
use crate::integrators::{ErrorComponents, ErrorNorm, IntegratorParams};

/// Tolerances of the positions and velocities, with the norm that compares an error with them.
#[derive(Clone, Debug, PartialEq)]
pub struct Tolerances {
    absolute: Vec<f64>,
    relative: f64,
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
            let velocities = match systems.coordinates().iter().position(|c| &c.name == name) {
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
        let relative = params.relative_tolerance.unwrap_or(params.tolerance);
        Ok(Tolerances { absolute, relative, norm: params.norm, components: params.error_in })
    }

    /// Errors of velocities count, not only those of positions.
    #[must_use]
    pub fn count_velocities(&self) -> bool {
        self.components == ErrorComponents::All
    }

    /// The norm of an error, in units of the tolerance: a step is accepted when it is at most 1. `position` is a displacement.
    #[must_use]
    pub fn error(&self, equations: &Equations<'_>, start: &MotionPoint, end: &MotionPoint, position: &[f64], velocity: &[f64]) -> f64 {
        let systems = equations.model().systems();
        let n = self.absolute.len();
        let mut scales = (vec![0.0; n], vec![0.0; n]);
        systems.position_scale(&start.q, &mut scales.0);
        systems.position_scale(&end.q, &mut scales.1);
        let (mut sum, mut largest, mut count) = (0.0, 0.0_f64, 0);
        let mut take = |error: f64, tolerance: f64| {
            let x = (error / tolerance).abs();
            sum += x * x;
            // a NaN must not be lost in the maximum
            largest = if x.is_nan() { f64::NAN } else { largest.max(x) };
            count += 1;
        };
        for i in 0..n {
            take(position[i], self.absolute[i] + self.relative * scales.0[i].max(scales.1[i]));
        }
        if self.components == ErrorComponents::All {
            for i in 0..n {
                take(velocity[i], self.absolute[i] + self.relative * start.v[i].abs().max(end.v[i].abs()));
            }
        }
        match self.norm {
            ErrorNorm::Rms => (sum / count.max(1) as f64).sqrt(),
            ErrorNorm::Euclidean => sum.sqrt(),
            ErrorNorm::Max => largest,
        }
    }
}
