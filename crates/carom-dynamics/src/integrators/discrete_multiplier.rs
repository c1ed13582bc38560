//! Multipliers from the discretised equations: "discretise first, substitute next, combine later".
//!
//! The index is not reduced before discretisation but after it: multipliers are those that bring the *next* point onto the constraints. Over a step
//! from t_n they hold the compensation terms ġ_n/h and g_n/h constant:
//!
//! ```text
//! M v̇ = F + Gᵀλ,        G v̇ = −(dG/dt) v − db/dt − (G_n v_n + b_n)/h
//! u   = v + M⁻¹Gᵀμ,      G u = −b − g_n/h,        q̇ = T u
//! ```
//!
//! Brogliato2002 eqs. (42)–(43), derived from (36)–(38). Differs in: μ acts in the metric of the mass (the survey writes ∇φᵀ∇φ, which mixes units); the
//! survey leaves the rule open, here it is Heun's:
//!
//! ```text
//! k₁ at (q_n, v_n),     k₂ at the end of h k₁,     step h (k₁ + k₂)/2;     error estimate h (k₂ − k₁)/2, of order h²
//! ```
//!
//! What it keeps: an error of g or ġ, of the initial state or of a step, is gone after one step up to O(h²) of itself (exactly, for constraints
//! linear in q). Errors do not add up: |g| and |ġ| stay O(h³) for all times, where the multiplier of the acceleration form lets them grow with t
//! (eqs. 40–41). Unlike Baumgarte's stabilisation there is nothing to choose, and the equations do not become stiff as h shrinks. Rows
//! without a position have the first compensation only. Energy is not kept.
//!
//! When to use it: non-stiff mechanisms at low accuracy where drift must stay bounded at the cost of an explicit method; otherwise a half-explicit
//! method. Order 2 in positions, velocities and multipliers (those by the acceleration form at the end). Cost per step: three evaluations of M, F,
//! G and three factorisations of the constraint complement.

use super::registry::{IntegratorEntry, Orders};
use super::{Formulation, Integrator, Step, StepEstimate};
use crate::error::IntegrationError;
use crate::smooth::{Equations, Kkt, MotionPoint};

/// The method.
pub(super) const DISCRETE_MULTIPLIER: IntegratorEntry = IntegratorEntry {
    name: "discrete-multiplier",
    summary: "explicit, order 2: multipliers of the discretised equations keep the drift bounded without parameters",
    formulations: &[Formulation::Ggl],
    choices: &[],
    default_order: None,
    has_estimate: true,
    knows_friction: false,
    orders: |_| Orders::all(2.0),
    build: |_| Box::new(DiscreteMultiplier::default()),
};

/// Work arrays.
#[derive(Default)]
struct DiscreteMultiplier {
    kkt: Kkt,
    mass: Vec<f64>,
    g: Vec<f64>,
    explicit: Vec<f64>,
    right: Vec<f64>,
    multiplier: Vec<f64>,
    force: Vec<f64>,
    holonomic: Vec<bool>,
    /// g_n/h and (G_n v_n + b_n)/h.
    compensation: (Vec<f64>, Vec<f64>),
    u: Vec<f64>,
    w: Vec<f64>,
    stages: [Stage; 2],
    errors: (Vec<f64>, Vec<f64>),
}

/// Rates at one stage.
#[derive(Default)]
struct Stage {
    displacement: Vec<f64>,
    acceleration: Vec<f64>,
}

impl DiscreteMultiplier {
    /// Writes the rates of stage `k` at (t, q, v), with the displacement `w` from the start of the step.
    fn evaluate(&mut self, equations: &mut Equations<'_>, k: usize, t: f64, q: &[f64], v: &[f64]) -> Result<(), IntegrationError> {
        let layout = equations.layout();
        equations.mass(t, q, &mut self.mass)?;
        equations.force(t, q, v, &mut self.force)?;
        equations.jacobian(t, q, &mut self.g, &mut self.explicit)?;
        equations.acceleration_bias(t, q, v, &mut self.right)?;
        equations.statistics.factorisations += 1;
        equations.statistics.solves += 2;
        self.kkt.factorise(layout, equations.rows(), &self.mass, &self.g, None).map_err(|_| IntegrationError::SingularConstraints {
            t,
            constraint: equations
                .rows()
                .items()
                .first()
                .map_or(String::new(), |item| equations.interaction(item.interaction).name().to_owned()),
            pivot: 0.0,
        })?;
        let stage = &mut self.stages[k];
        // (F, (dG/dt) v, ġ_n/h) => v̇
        for (right, compensation) in self.right.iter_mut().zip(&self.compensation.1) {
            *right = -*right - compensation;
        }
        self.kkt.solve(layout, equations.rows(), &self.force, &self.right, &mut stage.acceleration, &mut self.multiplier);
        // (v, g_n/h) => u
        equations.rows().multiply(&self.g, v, &mut self.right);
        for (row, right) in self.right.iter_mut().enumerate().filter(|(row, _)| self.holonomic[*row]) {
            *right = -self.explicit[row] - self.compensation.0[row];
        }
        layout.multiply(&self.mass, v, &mut self.force);
        self.kkt.solve(layout, equations.rows(), &self.force, &self.right, &mut self.u, &mut self.multiplier);
        equations.displacement_rate(&self.w, &self.u, &mut stage.displacement);
        Ok(())
    }
}

impl Integrator for DiscreteMultiplier {
    fn restart(&mut self, equations: &mut Equations<'_>, _: &MotionPoint) -> Result<(), IntegrationError> {
        let (n, m) = (equations.n_v(), equations.n_rows());
        self.holonomic = equations.rows().items().iter().flat_map(|item| item.rows.clone().map(|_| item.holonomic)).collect();
        self.mass.resize(equations.layout().n_values(), 0.0);
        self.g.resize(equations.rows().n_values(), 0.0);
        let [first, second] = &mut self.stages;
        let stages = [&mut first.displacement, &mut first.acceleration, &mut second.displacement, &mut second.acceleration];
        let others = [&mut self.force, &mut self.u, &mut self.w, &mut self.errors.0, &mut self.errors.1];
        stages.into_iter().chain(others).for_each(|array| array.resize(n, 0.0));
        let rows = [&mut self.explicit, &mut self.right, &mut self.multiplier, &mut self.compensation.0, &mut self.compensation.1];
        rows.into_iter().for_each(|array| array.resize(m, 0.0));
        Ok(())
    }

    fn try_step(&mut self, equations: &mut Equations<'_>, step: Step<'_>, end: &mut MotionPoint) -> Result<StepEstimate, IntegrationError> {
        let Step { start, h, tolerances } = step;
        // (q_n, v_n) => g_n/h, ġ_n/h
        equations.constraints(start.t, &start.q, &mut self.compensation.0)?;
        equations.constraint_velocity(start.t, &start.q, &start.v, &mut self.compensation.1)?;
        let (position, velocity) = (&mut self.compensation.0, &mut self.compensation.1);
        position.iter_mut().chain(velocity).for_each(|x| *x /= h);
        // => k₁
        self.w.fill(0.0);
        self.evaluate(equations, 0, start.t, &start.q, &start.v)?;
        // => k₂
        for i in 0..start.v.len() {
            self.w[i] = h * self.stages[0].displacement[i];
            end.v[i] = start.v[i] + h * self.stages[0].acceleration[i];
        }
        equations.advance(&start.q, &self.w, &mut end.q);
        end.t = start.t + h;
        self.evaluate(equations, 1, end.t, &end.q, &end.v)?;
        // => the step
        let [first, second] = &self.stages;
        for i in 0..start.v.len() {
            self.errors.0[i] = 0.5 * h * (second.displacement[i] - first.displacement[i]);
            self.errors.1[i] = 0.5 * h * (second.acceleration[i] - first.acceleration[i]);
            self.w[i] += self.errors.0[i];
            end.v[i] += self.errors.1[i];
        }
        equations.advance(&start.q, &self.w, &mut end.q);
        equations.accelerate(end.t, &end.q, &end.v, &mut end.a, &mut end.lambda)?;
        let error = tolerances.error(start, end, &self.errors.0, &self.errors.1);
        Ok(StepEstimate { error: Some(error), order: 2 })
    }
}
