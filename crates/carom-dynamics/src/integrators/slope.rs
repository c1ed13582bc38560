//! The motion as a first-order system in the chart of a step: what explicit methods evaluate.
//!
//! ```text
//! y = (w, v),     ẇ = D(w) v,     v̇ = a(t, q_n ⊕ w, v)
//! ```
//!
//! with the accelerations of the acceleration (index 1) form, [`Equations::accelerate`].

use crate::error::IntegrationError;
use crate::smooth::{Equations, MotionPoint};

/// ẏ = (ẇ, v̇) at one instant.
#[derive(Clone, Debug, Default)]
pub(super) struct Slope {
    /// ẇ.
    pub(super) rate: Vec<f64>,
    /// v̇.
    pub(super) acceleration: Vec<f64>,
}

impl Slope {
    /// Zero, for n velocities.
    pub(super) fn new(n: usize) -> Self {
        Slope { rate: vec![0.0; n], acceleration: vec![0.0; n] }
    }

    /// The slope at the start of a step, whose accelerations are known: no evaluation.
    pub(super) fn take_start(&mut self, start: &MotionPoint) {
        // D(0) = I
        self.rate.copy_from_slice(&start.v);
        self.acceleration.copy_from_slice(&start.a);
    }

    /// Evaluates at (t, w, v), the time and velocity being those of `point`, whose q, a and λ are written. One evaluation of the equations.
    pub(super) fn evaluate(
        &mut self,
        equations: &mut Equations<'_>,
        start: &MotionPoint,
        w: &[f64],
        point: &mut MotionPoint,
    ) -> Result<(), IntegrationError> {
        equations.advance(&start.q, w, &mut point.q);
        equations.displacement_rate(w, &point.v, &mut self.rate);
        equations.accelerate(point.t, &point.q, &point.v, &mut point.a, &mut point.lambda)?;
        self.acceleration.copy_from_slice(&point.a);
        Ok(())
    }
}

/// Adds Σ_i c_i ẏ_i to (w, v).
pub(super) fn add_slopes(weights: impl Iterator<Item = f64>, slopes: &[Slope], w: &mut [f64], v: &mut [f64]) {
    for (c, slope) in weights.zip(slopes).filter(|(c, _)| *c != 0.0) {
        for (w, rate) in w.iter_mut().zip(&slope.rate) {
            *w += c * rate;
        }
        for (v, a) in v.iter_mut().zip(&slope.acceleration) {
            *v += c * a;
        }
    }
}
