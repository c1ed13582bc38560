//! Backward differentiation formulas of orders 1 to 6 with variable steps.
//!
//! The derivative at the end of the step is that of the polynomial through the new value and the last k values, at the times they have:
//!
//! ```text
//! v_{n+1} = v̄ + hβ v̇_{n+1},     w_{n+1} = w̄ + hβ D(w_{n+1}) v_{n+1},     M v̇_{n+1} = F + Gᵀλ_{n+1},     constraints at n+1
//! 1/(hβ) = Σ_{j<k} 1/(t_{n+1} − t_{n−j}),     v̄ = −hβ Σ_{j<k} ℓ'_j(t_{n+1}) v_{n−j}
//! ```
//!
//! with ℓ_j the Lagrange polynomials of the k + 1 times; for equal steps these are the coefficients of Haddouni2015, table A.1 (where β
//! of order 5 must read 60/137). Positions of the past are expressed in the chart of the step, w_{n−j} = q_{n−j} ⊖ q_n, so that rotations
//! stay on their group. v̇ and λ are solved by the iteration of [`super::stage_newton`].
//!
//! Start, and restart after events: k steps of Radau IIA of order 5, whose local error O(h⁶) does not spoil any of the orders, at the
//! velocity level (or the acceleration level for index 1).
//!
//! The error is estimated from the polynomial through the last k + 1 values extended to t_{n+1} (also the first guess):
//!
//! ```text
//! err = c/(1 + c) (y_{n+1} − y_predicted),     c = hβ/(t_{n+1} − t_{n−k})
//! ```
//!
//! Formulas of order above 2 become unstable when steps grow at each step (Hairer, Nørsett & Wanner, *Solving Ordinary Differential
//! Equations I*, section III.5), so growth is held back until k + 1 steps of equal size have been made: the estimate is not given below
//! the value that keeps the step.
//!
//! When to use: smooth, stiff, damped systems where evaluations are dear: one small linear system per step. Not for lightly damped
//! oscillation at orders 3 to 6 (not A-stable), nor for motions with many events (each is a new start). Steps pass by a fast mode that is
//! not excited where its damping ratio is at least cos α = 0.07 at order 3, 0.29 at order 4 (the default), 0.62 at order 5 and 0.95 at
//! order 6 (A(α)-stability, Hairer & Wanner II, section V.2); at order 2 always. Order k in q, v and λ in index 1,
//! 2 and 3; at index 3 round-off in λ grows as ε/h², which hides orders 5 and 6 at small steps.

use super::implicit_runge_kutta::ImplicitRungeKutta;
use super::implicit_tableau::{ImplicitTableau, lagrange};
use super::registry::{IntegratorEntry, Orders};
use super::stage_newton::StageNewton;
use super::{Formulation, Integrator, IntegratorParams, Step, StepEstimate};
use crate::error::IntegrationError;
use crate::integrators::StepController;
use crate::smooth::{Equations, MotionPoint};

/// Backward differentiation formulas.
pub(super) const BDF: IntegratorEntry = IntegratorEntry {
    name: "bdf",
    summary: "smooth, stiff, damped motions where evaluations are dear: multistep, orders 1 to 6",
    formulations: &[Formulation::Index2, Formulation::Index1, Formulation::Index3],
    choices: &[1, 2, 3, 4, 5, 6],
    default_order: Some(4),
    has_estimate: true,
    knows_friction: false,
    orders: |params| Orders::all(params.order() as f64),
    build: |params| Box::new(Bdf::new(params)),
};

/// A point of the past.
#[derive(Clone, Debug, Default)]
struct Past {
    t: f64,
    q: Vec<f64>,
    v: Vec<f64>,
    lambda: Vec<f64>,
    /// Displacement from the start of the step.
    w: Vec<f64>,
}

/// The formulas with their history.
#[derive(Debug)]
struct Bdf {
    order: usize,
    /// Power of h of the error estimate.
    estimate_order: usize,
    /// Estimate that makes the step control keep the step.
    hold: f64,
    newton: StageNewton,
    starter: ImplicitRungeKutta,
    /// The points before the start of the step, newest first: `n_past` of them are in use.
    past: Vec<Past>,
    n_past: usize,
    /// The start of the step just tried, and its size.
    start: Past,
    h: f64,
    /// Size of the last accepted step, and how many of that size there were.
    last: f64,
    equal: usize,
    starting: bool,
    /// Times of the start and the past, from the end of the step in units of h.
    times: Vec<f64>,
    weights: Vec<f64>,
    predicted: (Vec<f64>, Vec<f64>),
    error: (Vec<f64>, Vec<f64>),
}

impl Bdf {
    fn new(params: &IntegratorParams) -> Self {
        let (order, formulation) = (params.order(), params.formulation());
        let start_form = if formulation == Formulation::Index1 { Formulation::Index1 } else { Formulation::Index2 };
        // at index 3 velocities feel the change of the step by one order more
        let estimate_order = if formulation == Formulation::Index3 { order } else { order + 1 };
        Bdf {
            order,
            estimate_order,
            hold: StepController::error_of_factor(params, 1.0, estimate_order),
            newton: StageNewton::new("Newton's iteration of BDF", params.newton, formulation),
            starter: ImplicitRungeKutta::in_form(
                "Newton's iteration of Radau IIA, which starts BDF,",
                ImplicitTableau::radau_iia(5),
                params,
                start_form,
            ),
            past: Vec::new(),
            n_past: 0,
            start: Past::default(),
            h: 0.0,
            last: 0.0,
            equal: 0,
            starting: true,
            times: Vec::new(),
            weights: Vec::new(),
            predicted: (Vec::new(), Vec::new()),
            error: (Vec::new(), Vec::new()),
        }
    }

    /// Writes Σ_j c_j y_j over the newest `weights.len()` points, the start (w = 0) first, for positions and velocities.
    fn combine(weights: &[f64], start: &MotionPoint, past: &[Past], w: &mut [f64], v: &mut [f64]) {
        for k in 0..w.len() {
            w[k] = weights[1..].iter().zip(past).map(|(c, p)| c * p.w[k]).sum();
            v[k] = weights[0] * start.v[k] + weights[1..].iter().zip(past).map(|(c, p)| c * p.v[k]).sum::<f64>();
        }
    }
}

impl Integrator for Bdf {
    fn restart(&mut self, equations: &mut Equations<'_>, start: &MotionPoint) -> Result<(), IntegrationError> {
        let n = equations.n_v();
        self.newton.restart(equations, 1);
        self.starter.restart(equations, start)?;
        self.start = Past { t: start.t, q: start.q.clone(), v: start.v.clone(), lambda: start.lambda.clone(), w: vec![0.0; n] };
        self.past = vec![self.start.clone(); self.order];
        self.n_past = 0;
        (self.last, self.equal) = (0.0, 0);
        self.predicted = (vec![0.0; n], vec![0.0; n]);
        self.error = self.predicted.clone();
        Ok(())
    }

    fn try_step(&mut self, equations: &mut Equations<'_>, step: Step<'_>, end: &mut MotionPoint) -> Result<StepEstimate, IntegrationError> {
        let Step { start, h, tolerances } = step;
        self.h = h;
        self.start.t = start.t;
        self.start.q.copy_from_slice(&start.q);
        self.start.v.copy_from_slice(&start.v);
        self.start.lambda.copy_from_slice(&start.lambda);
        self.starting = self.n_past < self.order;
        if self.starting {
            return self.starter.try_step(equations, Step { start, h, tolerances }, end);
        }

        // (t, q, v)_{n−j} => w_{n−j}, the derivative weights at t_{n+1}, v̄ and w̄
        let (k, systems) = (self.order, equations.model().systems());
        self.times.clear();
        self.times.push(-1.0);
        for past in &mut self.past {
            systems.difference(&start.q, &past.q, &mut past.w);
            self.times.push((past.t - start.t) / h - 1.0);
        }
        let beta = -1.0 / self.times[..k].iter().map(|t| 1.0 / t).sum::<f64>();
        // the polynomial through y_{n+1} at 0 and y_{n−j} at t_j: its slope at 0 is y_{n+1}/β + Σ ℓ_j(0) y_{n−j}/t_j, with ℓ_j over the
        // past times
        self.weights.clear();
        self.weights.extend((0..k).map(|j| -beta * lagrange(&self.times[..k], j, 0.0) / self.times[j]));
        let stage = &mut self.newton.stages[0];
        Self::combine(&self.weights, start, &self.past, &mut stage.known_w, &mut stage.known_v);

        // the polynomial through the last k + 1 values => first guess
        self.weights.clear();
        self.weights.extend((0..=k).map(|j| lagrange(&self.times, j, 0.0)));
        let ahead = &self.weights;
        Self::combine(ahead, start, &self.past, &mut self.predicted.0, &mut self.predicted.1);
        let coefficient = h * beta;
        for ((a, v), known) in stage.point.a.iter_mut().zip(&self.predicted.1).zip(&stage.known_v) {
            *a = (v - known) / coefficient;
        }
        for (i, lambda) in stage.point.lambda.iter_mut().enumerate() {
            *lambda = ahead[0] * start.lambda[i] + ahead[1..].iter().zip(&self.past).map(|(c, p)| c * p.lambda[i]).sum::<f64>();
        }
        stage.point.t = start.t + h;
        self.newton.solve(equations, start, &[coefficient])?;

        let stage = &self.newton.stages[0];
        end.copy_from(&stage.point);
        let c = -beta / self.times[k];
        for i in 0..equations.n_v() {
            self.error.0[i] = c / (1.0 + c) * (stage.w[i] - self.predicted.0[i]);
            self.error.1[i] = c / (1.0 + c) * (stage.point.v[i] - self.predicted.1[i]);
        }
        let mut error = tolerances.error(start, end, &self.error.0, &self.error.1);
        if self.equal < self.order + 1 && error < self.hold {
            error = self.hold;
        }
        Ok(StepEstimate { error: Some(error), order: self.estimate_order })
    }

    fn accept(&mut self) {
        if self.starting {
            self.starter.accept();
        }
        // steps that differ by round-off are equal
        let same = (self.h - self.last).abs() <= 1e-9 * self.h;
        self.equal = if same { self.equal + 1 } else { 1 };
        self.last = self.h;
        self.past.rotate_right(1);
        std::mem::swap(&mut self.past[0], &mut self.start);
        self.n_past = (self.n_past + 1).min(self.order);
    }
}
