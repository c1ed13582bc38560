//! SHAKE: the leapfrog method with constraints on positions.
//!
//! ```text
//! v_{n+½} = v_{n−½} + (h_{n−1} + h_n)/2 a_n,     M(q_n) a_n = F(t_n, q_n, v_n) + Gᵀ(q_n) λ_n,     λ_n such that g(t_{n+1}, q_{n+1}) = 0
//! q_{n+1} = q_n ⊕ h_n v_{n+½}
//! ```
//!
//! Haddouni2015 eq. (2.47), where the factor of the forces is misprinted as h/2 twice (it is h with constant steps); J.-P. Ryckaert, G. Ciccotti,
//! H. J. C. Berendsen, *Numerical integration of the cartesian equations of motion of a system with constraints*, 1977. It starts with
//! v_½ = v_0 + h/2 a_0. The positions are those of RATTLE for constant M and F = −∇U.
//!
//! The velocity at the end is v_{n+1} = v_{n+½} + h/2 v̇ with v̇ of the acceleration form there (extrapolated velocity 2 v_{n+½} − v_n in F), of order 2; it
//! enters the forces but is not propagated, and G v + b = 0 holds to O(h²) only. a and λ are those of the acceleration form at the end, order 2.
//! Differs from the source: M(q), F(q, v) and changing steps are allowed, with which the method keeps its order but is not symplectic.
//!
//! When to use: as RATTLE, where velocities matter less than cost. 2 to 4 factorisations per step for the positions and two for v̇ and λ.
//! No error estimate.

use super::constrained_kick::{ConstrainedKick, Kick};
use super::registry::{IntegratorEntry, Orders};
use super::{Formulation, Integrator, Step, StepEstimate};
use crate::error::IntegrationError;
use crate::smooth::{Equations, MotionPoint};

/// SHAKE.
pub(super) const SHAKE: IntegratorEntry = IntegratorEntry {
    name: "shake",
    summary: "leapfrog method of order 2 on positions: long runs of conservative mechanisms; prefer rattle where velocities matter",
    formulations: &[Formulation::Index3],
    choices: &[],
    default_order: None,
    has_estimate: false,
    knows_friction: false,
    orders: |_| Orders::all(2.0),
    build: |params| {
        Box::new(Shake { kick: ConstrainedKick::new(params, "Newton's iteration of the positions of shake"), ..Shake::default() })
    },
};

/// The velocity at the middle of a step.
#[derive(Clone, Debug, Default)]
struct HalfVelocity {
    /// Time at the end of the step \[s\].
    t_end: f64,
    /// Size of the step \[s\]; zero for none.
    h: f64,
    v: Vec<f64>,
}

impl HalfVelocity {
    /// It is that of the step which ended at t, up to round-off.
    fn ends_at(&self, t: f64) -> bool {
        self.h != 0.0 && (self.t_end - t).abs() <= 1e-6 * self.h.abs()
    }
}

/// Work arrays and the velocity at the middle of the step before.
#[derive(Debug, Default)]
struct Shake {
    kick: ConstrainedKick,
    before: HalfVelocity,
    tried: HalfVelocity,
    base: Vec<f64>,
    half: Vec<f64>,
}

impl Integrator for Shake {
    fn restart(&mut self, equations: &mut Equations<'_>, _: &MotionPoint) -> Result<(), IntegrationError> {
        let n = equations.n_v();
        for velocity in [&mut self.before, &mut self.tried] {
            *velocity = HalfVelocity { t_end: 0.0, h: 0.0, v: vec![0.0; n] };
        }
        self.base.resize(n, 0.0);
        self.half.resize(n, 0.0);
        self.kick.restart(equations, SHAKE.name)
    }

    fn try_step(&mut self, equations: &mut Equations<'_>, step: Step<'_>, end: &mut MotionPoint) -> Result<StepEstimate, IntegrationError> {
        let Step { start, h, .. } = step;
        if self.tried.ends_at(start.t) {
            std::mem::swap(&mut self.before, &mut self.tried);
            self.tried.h = 0.0;
        }
        let time = if self.before.ends_at(start.t) {
            self.base.copy_from_slice(&self.before.v);
            0.5 * (self.before.h + h)
        } else {
            self.base.copy_from_slice(&start.v);
            0.5 * h
        };
        // (q_n, v_{n−½}) => v_{n+½}, q_{n+1}
        let kick = Kick { h, base: &self.base, time, force_at_half: false };
        self.kick.solve(equations, start, kick, &mut self.half, end)?;
        self.tried.t_end = end.t;
        self.tried.h = h;
        self.tried.v.copy_from_slice(&self.half);
        // (q_{n+1}, v_{n+½}) => v_{n+1}, a, λ
        for i in 0..end.v.len() {
            end.v[i] = 2.0 * self.half[i] - start.v[i];
        }
        equations.accelerate(end.t, &end.q, &end.v, &mut end.a, &mut end.lambda)?;
        for i in 0..end.v.len() {
            end.v[i] = self.half[i] + 0.5 * h * end.a[i];
        }
        equations.accelerate(end.t, &end.q, &end.v, &mut end.a, &mut end.lambda)?;
        Ok(StepEstimate::default())
    }
}
