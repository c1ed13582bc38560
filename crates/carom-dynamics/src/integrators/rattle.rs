//! RATTLE: the symplectic method of Störmer and Verlet with constraints on positions and velocities.
//!
//! ```text
//! v_½     = v_n + h/2 a_n,       M(q_n) a_n = F(t_n, q_n, v_½) + Gᵀ(q_n) λ,             λ such that g(t_{n+1}, q_{n+1}) = 0
//! q_{n+1} = q_n ⊕ h v_½
//! v_{n+1} = v_½ + h/2 a_{n+1},   M(q_{n+1}) a_{n+1} = F(t_{n+1}, q_{n+1}, v_½) + Gᵀ(q_{n+1}) μ,   μ such that G v_{n+1} + b = 0
//! ```
//!
//! Haddouni2015 eqs. (2.47), (2.48); H. C. Andersen, *Rattle: a "velocity" version of the Shake algorithm*, 1983. There M is constant and F = −∇U;
//! then the method is symplectic and the energy error stays bounded over very long times. Here M(q) and F(q, v) are allowed: F at v_½ makes
//! the first half implicit (the Newton iteration of the constraints takes it along as a fixed point) and the second explicit, which
//! keeps the method symmetric, of order 2 and, for reversible forces, reversible; symplectic it is for constant M and F(t, q) only.
//!
//! The multipliers λ and μ belong to the ends of the step only up to O(h): a and λ at the end are found from the acceleration form,
//! so that they converge with order 2 like q and v.
//!
//! When to use: long runs of conservative mechanisms, where bounded energy counts more than accuracy. Both levels of the constraints hold
//! to round-off. Cost: 2 to 5 factorisations in the first half, one in the second, one for λ. Constant steps: step control spoils
//! the bounded energy. No error estimate.

use super::constrained_kick::{ConstrainedKick, Kick};
use super::registry::{IntegratorEntry, Orders};
use super::{Formulation, Integrator, Step, StepEstimate};
use crate::error::IntegrationError;
use crate::smooth::{Equations, MotionPoint, StageSystem};

/// RATTLE.
pub(super) const RATTLE: IntegratorEntry = IntegratorEntry {
    name: "rattle",
    summary: "symplectic method of order 2 on positions and velocities: long runs of conservative mechanisms with constant steps",
    formulations: &[Formulation::Index3],
    choices: &[],
    default_order: None,
    has_estimate: false,
    knows_friction: false,
    orders: |_| Orders::all(2.0),
    build: |params| {
        Box::new(Rattle { kick: ConstrainedKick::new(params, "Newton's iteration of the positions of rattle"), half: Vec::new() })
    },
};

/// Work arrays.
#[derive(Debug)]
struct Rattle {
    kick: ConstrainedKick,
    half: Vec<f64>,
}

impl Integrator for Rattle {
    fn restart(&mut self, equations: &mut Equations<'_>, _: &MotionPoint) -> Result<(), IntegrationError> {
        self.half.resize(equations.n_v(), 0.0);
        self.kick.restart(equations, RATTLE.name)
    }

    fn try_step(&mut self, equations: &mut Equations<'_>, step: Step<'_>, end: &mut MotionPoint) -> Result<StepEstimate, IntegrationError> {
        let Step { start, h, .. } = step;
        // (q_n, v_n) => v_½, q_{n+1}
        let kick = Kick { h, base: &start.v, time: 0.5 * h, force_at_half: true };
        self.kick.solve(equations, start, kick, &mut self.half, end)?;
        // (q_{n+1}, v_½) => v_{n+1}
        let (t, q, v, step) = (end.t, &end.q, &self.half, 0.5 * h);
        let stage = StageSystem { t, q, v, t_ahead: t, q_ahead: q, v_known: v, step, force_factor: 1.0 };
        equations.solve_stage(stage, &mut end.a, &mut end.lambda)?;
        for i in 0..end.v.len() {
            end.v[i] = self.half[i] + step * end.a[i];
        }
        // => a, λ
        equations.accelerate(end.t, &end.q, &end.v, &mut end.a, &mut end.lambda)?;
        Ok(StepEstimate::default())
    }
}
