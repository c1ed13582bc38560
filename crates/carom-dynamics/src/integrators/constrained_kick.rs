//! The kick of SHAKE and RATTLE: a change of velocity whose constraint forces bring the positions at the end of the step onto the constraints.
//!
//! ```text
//! v_½ = v̄ + c a,     M(q_n) a = F(t_n, q_n, ·) + Gᵀ(q_n) λ,     q_{n+1} = q_n ⊕ h v_½,     g(t_{n+1}, q_{n+1}) = 0
//! ```
//!
//! solved by Newton's iteration in λ: with G⁺ = G(q_n ⊕ h v_½) of the iterate,
//!
//! ```text
//! [ M  −Gᵀ ] [a_new]   [      F          ]
//! [ G⁺  0  ] [  λ  ] = [ G⁺ a − g⁺/(h c) ]
//! ```
//!
//! On rotation groups G⁺ is taken without the differential of the exponential map over the step: convergence is then linear with rate O(h).

use super::{IntegratorParams, NewtonParams};
use crate::error::IntegrationError;
use crate::smooth::{Equations, Kkt, MotionPoint};

/// Work arrays of the iteration.
#[derive(Debug, Default)]
pub(super) struct ConstrainedKick {
    newton: NewtonParams,
    what: &'static str,
    kkt: Kkt,
    mass: Vec<f64>,
    force: Vec<f64>,
    rows: Vec<f64>,
    rows_ahead: Vec<f64>,
    explicit: Vec<f64>,
    position: Vec<f64>,
    right: Vec<f64>,
    lambda: Vec<f64>,
    w: Vec<f64>,
    a: Vec<f64>,
    a_new: Vec<f64>,
}

/// What a kick begins with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kick<'a> {
    /// Step h \[s\].
    pub(super) h: f64,
    /// v̄.
    pub(super) base: &'a [f64],
    /// c \[s\].
    pub(super) time: f64,
    /// F takes v_½ (implicit); otherwise the velocity at the start.
    pub(super) force_at_half: bool,
}

impl ConstrainedKick {
    /// With the settings of Newton's iteration; `what` names it in errors.
    pub(super) fn new(params: &IntegratorParams, what: &'static str) -> Self {
        ConstrainedKick { newton: params.newton, what, ..ConstrainedKick::default() }
    }

    /// Sizes the arrays.
    ///
    /// # Errors
    /// [`IntegrationError::Unsupported`] with nonholonomic constraints, which have no positions.
    pub(super) fn restart(&mut self, equations: &Equations<'_>, integrator: &'static str) -> Result<(), IntegrationError> {
        let (n, m, values) = (equations.n_v(), equations.n_rows(), equations.rows().n_values());
        if let Some(item) = equations.rows().items().iter().find(|item| !item.holonomic) {
            let name = equations.interaction(item.interaction).name();
            let reason = format!(
                "the constraint \"{name}\" is nonholonomic, but the method satisfies constraints of position. \
                 Use an integrator with formulation index-1 or index-2, such as dopri5"
            );
            return Err(IntegrationError::Unsupported { integrator, reason });
        }
        self.mass.resize(equations.layout().n_values(), 0.0);
        for array in [&mut self.force, &mut self.w, &mut self.a, &mut self.a_new] {
            array.resize(n, 0.0);
        }
        for array in [&mut self.explicit, &mut self.position, &mut self.right, &mut self.lambda] {
            array.resize(m, 0.0);
        }
        self.rows.resize(values, 0.0);
        self.rows_ahead.resize(values, 0.0);
        Ok(())
    }

    /// Writes v_½ into `half`, and t and q of the end.
    pub(super) fn solve(
        &mut self,
        equations: &mut Equations<'_>,
        start: &MotionPoint,
        kick: Kick<'_>,
        half: &mut [f64],
        end: &mut MotionPoint,
    ) -> Result<(), IntegrationError> {
        let Kick { h, base, time, force_at_half } = kick;
        let layout = equations.layout();
        end.t = start.t + h;
        equations.mass(start.t, &start.q, &mut self.mass)?;
        equations.jacobian(start.t, &start.q, &mut self.rows, &mut self.explicit)?;
        self.a.copy_from_slice(&start.a);
        let size = |x: &[f64]| x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let mut change = f64::INFINITY;
        for iteration in 0..self.newton.max_iterations {
            // a => v_½, q_{n+1}
            for i in 0..half.len() {
                half[i] = base[i] + time * self.a[i];
                self.w[i] = h * half[i];
            }
            equations.advance(&start.q, &self.w, &mut end.q);
            // increments of the velocity; below the last term they are round-off of the positions
            if change <= self.newton.tolerance * (1.0 + size(half)) + 16.0 * f64::EPSILON * (1.0 + size(&end.q)) / h.abs() {
                return Ok(());
            }
            if iteration == 0 || force_at_half {
                equations.force(start.t, &start.q, if force_at_half { half } else { &start.v }, &mut self.force)?;
            }
            equations.constraints(end.t, &end.q, &mut self.position)?;
            equations.jacobian(end.t, &end.q, &mut self.rows_ahead, &mut self.explicit)?;
            equations.rows().multiply(&self.rows_ahead, &self.a, &mut self.right);
            for (r, g) in self.right.iter_mut().zip(&self.position) {
                *r -= g / (h * time);
            }
            equations.statistics.factorisations += 1;
            equations.statistics.solves += 1;
            equations.statistics.newton_iterations += 1;
            if self.kkt.factorise(layout, equations.rows(), &self.mass, &self.rows_ahead, Some(&self.rows)).is_err() {
                // M was regular at the start: the positions ahead have left the reach of the constraints
                return Err(self.not_converged(end.t, size(&self.position), iteration));
            }
            self.kkt.solve(layout, equations.rows(), &self.force, &self.right, &mut self.a_new, &mut self.lambda);
            change = time.abs() * self.a.iter().zip(&self.a_new).fold(0.0, |m, (a, b)| f64::max(m, (a - b).abs()));
            std::mem::swap(&mut self.a, &mut self.a_new);
        }
        Err(self.not_converged(end.t, change, self.newton.max_iterations))
    }

    fn not_converged(&self, t: f64, residual: f64, iterations: usize) -> IntegrationError {
        IntegrationError::NotConverged { t, what: self.what, residual, iterations }
    }
}
