//! Explicit Runge–Kutta methods by tableau, on the acceleration form.
//!
//! ```text
//! W_i = h Σ_j a_ij D(W_j) V_j,     V_i = v_n + h Σ_j a_ij A_j,     A_i = v̇(t_n + c_i h, q_n ⊕ W_i, V_i)
//! ```

use super::registry::{IntegratorEntry, Orders};
use super::{Formulation, Integrator, StepEstimate};
use crate::smooth::{Equations, IntegrationError, MotionPoint, Tolerances};

/// The classical method of order 4.
pub(super) const RK4: IntegratorEntry = IntegratorEntry {
    name: "rk4",
    summary: "the classical explicit method of order 4 with constant steps",
    formulations: &[Formulation::Index1],
    choices: &[],
    has_estimate: false,
    orders: |_| Orders::all(4.0),
    build: |_| Box::new(ExplicitRungeKutta::default()),
};

/// Work arrays of an explicit Runge–Kutta method.
#[derive(Debug, Default)]
struct ExplicitRungeKutta {
    rates: Vec<Vec<f64>>,
    accelerations: Vec<Vec<f64>>,
}

impl Integrator for ExplicitRungeKutta {
    fn restart(&mut self, equations: &mut Equations<'_>, _: &MotionPoint) -> Result<(), IntegrationError> {
        self.rates = vec![vec![0.0; equations.n_v()]; 4];
        self.accelerations = self.rates.clone();
        Ok(())
    }

    fn try_step(
        &mut self,
        equations: &mut Equations<'_>,
        start: &MotionPoint,
        h: f64,
        end: &mut MotionPoint,
        _: &Tolerances,
    ) -> Result<StepEstimate, IntegrationError> {
        let n = equations.n_v();
        let mut w = vec![0.0; n];
        for (i, c) in [0.0, 0.5, 0.5, 1.0].into_iter().enumerate() {
            end.v.copy_from_slice(&start.v);
            w.fill(0.0);
            if i > 0 {
                for k in 0..n {
                    w[k] = h * c * self.rates[i - 1][k];
                    end.v[k] += h * c * self.accelerations[i - 1][k];
                }
            }
            equations.advance(&start.q, &w, &mut end.q);
            equations.displacement_rate(&w, &end.v, &mut self.rates[i]);
            equations.accelerate(start.t + c * h, &end.q, &end.v, &mut self.accelerations[i], &mut end.lambda)?;
        }
        let weights = [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0];
        for k in 0..n {
            w[k] = h * weights.iter().zip(&self.rates).map(|(b, r)| b * r[k]).sum::<f64>();
            end.v[k] = start.v[k] + h * weights.iter().zip(&self.accelerations).map(|(b, a)| b * a[k]).sum::<f64>();
        }
        end.t = start.t + h;
        equations.advance(&start.q, &w, &mut end.q);
        equations.accelerate(end.t, &end.q, &end.v, &mut end.a, &mut end.lambda)?;
        Ok(StepEstimate::default())
    }
}
