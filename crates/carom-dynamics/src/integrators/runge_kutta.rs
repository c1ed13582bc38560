//! Explicit Runge–Kutta methods by tableau, on the acceleration form.
//!
//! ```text
//! W_i = h Σ_j a_ij D(W_j) V_j,     V_i = v_n + h Σ_j a_ij A_j,     A_i = v̇(t_n + c_i h, q_n ⊕ W_i, V_i)
//! w_{n+1} = h Σ b_i D(W_i) V_i,    v_{n+1} = v_n + h Σ b_i A_i,    λ_{n+1} from the accelerations at the end
//! ```
//!
//! Tableaux and their sources: `tableaux.rs`. The thesis (Haddouni2015, Appendix A) integrates the same form in flat coordinates; here
//! the stages lie in the chart of the step (the method of Munthe-Kaas on the groups), so that rotations keep unit quaternions.
//!
//! | method | propagates | estimate | evaluations per step |
//! |---|---|---|---|
//! | `rk4` | order 4 | none: halving | 4 |
//! | `rkf45` | order 4 (as Haddouni2015 "RKF") or 5 by `order` | difference of both, O(h⁵) | 6 |
//! | `dopri5` | order 5 | difference to order 4, O(h⁵) | 6 |
//!
//! The first stage is the end of the step before. λ has the order of q and v, for it is a function of them.
//!
//! When to use: motion that is not stiff. `dopri5` at tolerances from 1e-4 to 1e-9, the only one with an interpolant of its own (order 4);
//! `rk4` for constant steps. Constraints drift as the error does, unless they are stabilised or projected on.

use super::registry::{IntegratorEntry, Orders};
use super::slope::{Slope, add_slopes};
use super::tableaux::{self, DOPRI5_DENSE, Tableau};
use super::{Formulation, Inside, Integrator, Step, StepEstimate};
use crate::error::IntegrationError;
use crate::smooth::{Equations, MotionPoint, quintic_hermite};

/// Dormand and Prince's pair, order 5.
pub(super) const DOPRI5: IntegratorEntry = IntegratorEntry {
    name: "dopri5",
    summary: "explicit Runge–Kutta pair of order 5 with dense output: the first choice for motion that is not stiff",
    formulations: &[Formulation::Index1],
    choices: &[],
    default_order: None,
    has_estimate: true,
    knows_friction: true,
    orders: |_| Orders::all(5.0),
    build: |_| Box::new(RungeKutta::new(&tableaux::DOPRI5, true)),
};

/// The classical method of order 4.
pub(super) const RK4: IntegratorEntry = IntegratorEntry {
    name: "rk4",
    summary: "the classical explicit method of order 4 with constant steps",
    formulations: &[Formulation::Index1],
    choices: &[],
    default_order: None,
    has_estimate: false,
    knows_friction: true,
    orders: |_| Orders::all(4.0),
    build: |_| Box::new(RungeKutta::new(&tableaux::RK4, false)),
};

/// Fehlberg's pair, order 4 or 5.
pub(super) const RKF45: IntegratorEntry = IntegratorEntry {
    name: "rkf45",
    summary: "Fehlberg's explicit pair, for comparison with published runs: order 4 controlled by order 5, or the reverse by order = 5",
    formulations: &[Formulation::Index1],
    choices: &[4, 5],
    default_order: Some(4),
    has_estimate: true,
    knows_friction: true,
    orders: |params| Orders::all(params.order() as f64),
    build: |params| Box::new(RungeKutta::new(&tableaux::RKF45, params.order() == 5)),
};

/// An explicit Runge–Kutta method with its stages.
#[derive(Debug)]
pub(super) struct RungeKutta {
    tableau: &'static Tableau,
    weights: &'static [f64],
    companion: Option<&'static [f64]>,
    stages: Vec<Slope>,
    w: Vec<f64>,
    error: Slope,
    /// Start and size of the step the stages belong to.
    step: (f64, f64),
}

impl RungeKutta {
    /// The method that propagates the solution of higher or lower order of a pair.
    fn new(tableau: &'static Tableau, propagate_high: bool) -> Self {
        let (weights, companion) = match tableau.high {
            Some(high) if propagate_high => (high, Some(tableau.low)),
            high => (tableau.low, high),
        };
        RungeKutta { tableau, weights, companion, stages: Vec::new(), w: Vec::new(), error: Slope::default(), step: (0.0, 0.0) }
    }

    /// The method of Dormand and Prince, which starts multistep methods.
    pub(super) fn dopri5() -> Self {
        RungeKutta::new(&tableaux::DOPRI5, true)
    }
}

impl Integrator for RungeKutta {
    fn restart(&mut self, equations: &mut Equations<'_>, _: &MotionPoint) -> Result<(), IntegrationError> {
        let n = equations.n_v();
        self.stages.resize_with(self.tableau.c.len(), Slope::default);
        self.stages.iter_mut().for_each(|stage| *stage = Slope::new(n));
        self.error = Slope::new(n);
        self.w.resize(n, 0.0);
        Ok(())
    }

    fn try_step(&mut self, equations: &mut Equations<'_>, step: Step<'_>, end: &mut MotionPoint) -> Result<StepEstimate, IntegrationError> {
        let Step { start, h, tolerances } = step;
        let Tableau { c, a, ends_at_last_stage, .. } = *self.tableau;
        self.step = (start.t, h);
        // stages: (q_n, v_n, a_n) => ẏ_i
        self.stages[0].take_start(start);
        for i in 1..c.len() {
            let (known, open) = self.stages.split_at_mut(i);
            self.w.fill(0.0);
            end.v.copy_from_slice(&start.v);
            add_slopes(a[i].iter().map(|a| h * a), known, &mut self.w, &mut end.v);
            end.t = start.t + c[i] * h;
            open[0].evaluate(equations, start, &self.w, end)?;
        }
        // ẏ_i => end
        if !ends_at_last_stage {
            self.w.fill(0.0);
            end.v.copy_from_slice(&start.v);
            add_slopes(self.weights.iter().map(|b| h * b), &self.stages, &mut self.w, &mut end.v);
            end.t = start.t + h;
            equations.advance(&start.q, &self.w, &mut end.q);
            equations.accelerate(end.t, &end.q, &end.v, &mut end.a, &mut end.lambda)?;
        }
        let Some(companion) = self.companion else { return Ok(StepEstimate::default()) };
        let Slope { rate, acceleration } = &mut self.error;
        rate.fill(0.0);
        acceleration.fill(0.0);
        add_slopes(self.weights.iter().zip(companion).map(|(b, c)| h * (b - c)), &self.stages, rate, acceleration);
        // both pairs have orders 4 and 5: their difference is O(h⁵)
        Ok(StepEstimate { error: Some(tolerances.error(start, end, rate, acceleration)), order: 5 })
    }

    /// The interpolant of order 4 of DOPRI5 (Hairer, Nørsett, Wanner, *Solving Ordinary Differential Equations I*, section II.6) through the
    /// ends of the step:
    ///
    /// ```text
    /// y(θ) = y_0 + θ (r₂ + (1−θ)(r₃ + θ (r₄ + (1−θ) r₅))),   r₂ = y_1 − y_0,  r₃ = h ẏ_0 − r₂,  r₄ = r₂ − h ẏ_1 − r₃,  r₅ = h Σ d_i ẏ_i
    /// ```
    ///
    /// The others, and steps that are not the last one tried, are interpolated by quintic Hermite polynomials.
    fn interpolate(&mut self, equations: &mut Equations<'_>, at: Inside<'_>, q: &mut [f64], v: &mut [f64]) -> Result<(), IntegrationError> {
        let Inside { start, end, theta } = at;
        let h = end.t - start.t;
        // the time at the end may have been set to the end of the run: a difference of round-off
        let same = self.step.0 == start.t && (self.step.1 - h).abs() <= 1e-9 * h.abs();
        if !self.tableau.ends_at_last_stage || !same {
            quintic_hermite(equations, start, end, theta, q, v);
            return Ok(());
        }
        equations.model().systems().difference(&start.q, &end.q, &mut self.w);
        let (first, last) = (&self.stages[0], &self.stages[self.stages.len() - 1]);
        let value = |r2: f64, first: f64, last: f64, r5: f64| {
            let r3 = h * first - r2;
            let r4 = r2 - h * last - r3;
            theta * (r2 + (1.0 - theta) * (r3 + theta * (r4 + (1.0 - theta) * r5)))
        };
        let Slope { rate, acceleration } = &mut self.error;
        rate.fill(0.0);
        acceleration.fill(0.0);
        add_slopes(DOPRI5_DENSE.iter().map(|d| h * d), &self.stages, rate, acceleration);
        for i in 0..v.len() {
            self.w[i] = value(self.w[i], first.rate[i], last.rate[i], rate[i]);
            v[i] = start.v[i] + value(end.v[i] - start.v[i], first.acceleration[i], last.acceleration[i], acceleration[i]);
        }
        equations.advance(&start.q, &self.w, q);
        Ok(())
    }
}
