//! The method of Störmer and Verlet in its velocity form, on the acceleration form.
//!
//! ```text
//! v_½     = v_n + h/2 v̇(t_n, q_n, v_½)
//! q_{n+1} = q_n ⊕ h v_½
//! v_{n+1} = v_½ + h/2 v̇(t_{n+1}, q_{n+1}, v_½)
//! ```
//!
//! Haddouni2015 eq. (2.46); E. Hairer, C. Lubich, G. Wanner, *Geometric numerical integration illustrated by the Störmer–Verlet method*, 2003. There v̇
//! depends on the positions only; then the method is explicit and symplectic. Where it depends on velocities (damping, gyroscopic and
//! Coriolis forces, constraints: v̇ has the term −(dG/dt) v) the first half is implicit and solved by fixed-point iteration, started with v̇_n; the
//! method stays symmetric and of order 2. λ at the end is that of the acceleration form, order 2.
//!
//! When to use: long runs of unconstrained conservative systems with constant steps. With constraints prefer `rattle`, which keeps them. Cost: 3
//! evaluations per step without velocities in the forces, 5 to 8 with. The iteration converges for h ‖∂v̇/∂v‖ < 2. No error estimate.

use super::registry::{IntegratorEntry, Orders};
use super::{Formulation, Integrator, NewtonParams, Step, StepEstimate};
use crate::error::IntegrationError;
use crate::smooth::{Equations, MotionPoint};

/// Störmer–Verlet.
pub(super) const STORMER_VERLET: IntegratorEntry = IntegratorEntry {
    name: "stormer-verlet",
    summary: "symmetric method of order 2, symplectic for forces of position: long runs of unconstrained conservative systems",
    formulations: &[Formulation::Index1],
    choices: &[],
    default_order: None,
    has_estimate: false,
    knows_friction: true,
    orders: |_| Orders::all(2.0),
    build: |params| Box::new(StormerVerlet { newton: params.newton, half: Vec::new(), w: Vec::new() }),
};

/// Work arrays.
#[derive(Debug)]
struct StormerVerlet {
    newton: NewtonParams,
    half: Vec<f64>,
    w: Vec<f64>,
}

impl Integrator for StormerVerlet {
    fn restart(&mut self, equations: &mut Equations<'_>, _: &MotionPoint) -> Result<(), IntegrationError> {
        self.half.resize(equations.n_v(), 0.0);
        self.w.resize(equations.n_v(), 0.0);
        Ok(())
    }

    fn try_step(&mut self, equations: &mut Equations<'_>, step: Step<'_>, end: &mut MotionPoint) -> Result<StepEstimate, IntegrationError> {
        let Step { start, h, .. } = step;
        // (q_n, v_n) => v_½
        for i in 0..self.half.len() {
            self.half[i] = start.v[i] + 0.5 * h * start.a[i];
        }
        let mut iterations = 0;
        loop {
            equations.accelerate(start.t, &start.q, &self.half, &mut end.a, &mut end.lambda)?;
            let (mut change, mut size) = (0.0_f64, 1.0_f64);
            for i in 0..self.half.len() {
                let v = start.v[i] + 0.5 * h * end.a[i];
                change = change.max((v - self.half[i]).abs());
                size = size.max(v.abs());
                self.half[i] = v;
            }
            iterations += 1;
            if change <= self.newton.tolerance * size {
                break;
            }
            if iterations == self.newton.max_iterations || !change.is_finite() {
                let what = "the fixed-point iteration of stormer-verlet";
                return Err(IntegrationError::NotConverged { t: start.t, what, residual: change, iterations });
            }
        }
        // v_½ => q_{n+1}, v_{n+1}
        for (w, v) in self.w.iter_mut().zip(&self.half) {
            *w = h * v;
        }
        end.t = start.t + h;
        equations.advance(&start.q, &self.w, &mut end.q);
        equations.accelerate(end.t, &end.q, &self.half, &mut end.a, &mut end.lambda)?;
        for i in 0..end.v.len() {
            end.v[i] = self.half[i] + 0.5 * h * end.a[i];
        }
        // => a, λ
        equations.accelerate(end.t, &end.q, &end.v, &mut end.a, &mut end.lambda)?;
        Ok(StepEstimate::default())
    }
}
