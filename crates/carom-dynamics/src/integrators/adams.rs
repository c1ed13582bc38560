//! Adams–Bashforth and Adams–Moulton methods of order 1 to 6, on the acceleration form.
//!
//! ```text
//! y = (w, v),   ẏ = (D(w) v, v̇)
//! AB_k   y_{n+1} = y_n + Σ_{j=0}^{k−1} β_j ẏ_{n−j},          β_j = ∫ ℓ_j(t) dt over the step, ℓ_j Lagrange's polynomials of t_n … t_{n−k+1}
//! AM_k   y_{n+1} = y_n + Σ_{j=−1}^{k−2} β*_j ẏ_{n−j},        the same with t_{n+1} among the nodes; k = 1: implicit Euler
//! ```
//!
//! Haddouni2015 Tables A.2 and A.3 for constant steps; with the times as they were, the weights hold for any steps. `adams-moulton` is
//! PECE: predict by AB_k, evaluate, correct by AM_k, evaluate. The history is kept as points of the motion and seen from the chart of the
//! current step, w_j = q_j ⊖ q_n and ẇ_j = D(w_j) v_j, so that the methods hold on rotation groups.
//!
//! Start: steps of DOPRI5 until k points are known (their error O(h⁶) each does not spoil order 6); anew after each event.
//!
//! Error estimates, O(h^{k+1}): for AB_k its difference to the corrector AM_{k+1} over the same points, which costs nothing as v̇_{n+1} is
//! evaluated anyhow; for AM_k Milne's device, the difference of corrector and predictor times γ*_k/(γ_k − γ*_k) of constant steps
//! (E. Hairer, S. P. Nørsett, G. Wanner, *Solving Ordinary Differential Equations I*, section III.1).
//!
//! When to use: smooth motion whose forces are dear: one (AB) or two (AM) evaluations per step at any order. Poor with events, for each
//! restarts. Stability shrinks with the order: prefer `adams-moulton`, order 3 to 5, where there is damping. The defaults are the highest
//! orders that neither damping nor oscillation drives out soon: AB_4 is stable to h|λ| = 0.30 on the negative real axis and 0.42 on the
//! imaginary axis (AB_5: 0.16 and 0.01), AM_5 to 0.94 and 0.25 (AM_6: 0.69 and 0.52).

use super::registry::{IntegratorEntry, Orders};
use super::runge_kutta::RungeKutta;
use super::slope::{Slope, add_slopes};
use super::{Formulation, Inside, Integrator, IntegratorParams, Step, StepEstimate};
use crate::error::IntegrationError;
use crate::integrators::StepController;
use crate::smooth::{Equations, MotionPoint};

/// The explicit methods.
pub(super) const ADAMS_BASHFORTH: IntegratorEntry = IntegratorEntry {
    name: "adams-bashforth",
    summary: "explicit multistep method of order 1 to 6: one evaluation per step, for smooth motion with dear forces",
    formulations: &[Formulation::Index1],
    choices: &[1, 2, 3, 4, 5, 6],
    default_order: Some(4),
    has_estimate: true,
    knows_friction: true,
    orders: |params| Orders::all(params.order() as f64),
    build: |params| Box::new(Adams::new(params, false)),
};

/// The predictor–corrector methods.
pub(super) const ADAMS_MOULTON: IntegratorEntry = IntegratorEntry {
    name: "adams-moulton",
    summary: "predictor–corrector multistep method of order 1 to 6: two evaluations per step, more accurate and stable than adams-bashforth",
    formulations: &[Formulation::Index1],
    choices: &[1, 2, 3, 4, 5, 6],
    default_order: Some(5),
    has_estimate: true,
    knows_friction: true,
    orders: |params| Orders::all(params.order() as f64),
    build: |params| Box::new(Adams::new(params, true)),
};

/// Highest order.
const MAX_ORDER: usize = 6;

/// γ_k of the Adams–Bashforth methods: the error of AB_k is γ_k h^{k+1} y^{(k+1)}.
const PREDICTOR_ERROR: [f64; 7] = [1.0, 1.0 / 2.0, 5.0 / 12.0, 3.0 / 8.0, 251.0 / 720.0, 95.0 / 288.0, 19087.0 / 60480.0];

/// γ*_k of the Adams–Moulton methods.
const CORRECTOR_ERROR: [f64; 7] = [1.0, -1.0 / 2.0, -1.0 / 12.0, -1.0 / 24.0, -19.0 / 720.0, -3.0 / 160.0, -863.0 / 60480.0];

/// Steps grow at most by this factor at once: the weights of AB_k grow like the ratio of the steps to the power k − 1, and with them the
/// errors of the past.
const MOST_GROWTH: f64 = 2.0;

/// Steps are kept unless they can grow by this factor, as in CVODE (A. C. Hindmarsh et al., *SUNDIALS*, ACM TOMS 31, 2005): the estimate sees the
/// last k steps, so that steps which follow it at once overshoot and are refused. On the slider-crank at 1e-5, AB_5 has 13 refusals in place of 21.
const LEAST_GROWTH: f64 = 1.5;

/// Errors of starting steps are reported larger by this factor, 4⁵: the steps become a quarter of what DOPRI5 would take, for the multistep
/// formulas must interpolate through them.
const START_CAUTION: f64 = 1024.0;

/// A method with its history.
struct Adams {
    order: usize,
    corrects: bool,
    /// Errors that make the step control keep the step, and let it grow by the least and the most.
    growth: [f64; 3],
    starter: RungeKutta,
    /// Points of the motion, newest first; the first `known` are valid.
    past: Vec<MotionPoint>,
    known: usize,
    /// ẏ at the end (first) and at the past points, seen from the chart of the step.
    slopes: Vec<Slope>,
    w: Vec<f64>,
    /// Predicted (w, v), then the error.
    other: (Vec<f64>, Vec<f64>),
}

impl Adams {
    fn new(params: &IntegratorParams, corrects: bool) -> Self {
        let (order, past, slopes) = (params.order(), Vec::new(), Vec::new());
        let growth = [1.0, LEAST_GROWTH, MOST_GROWTH].map(|factor| StepController::error_of_factor(params, factor, order + 1));
        Adams { order, corrects, growth, starter: RungeKutta::dopri5(), past, known: 0, slopes, w: Vec::new(), other: Default::default() }
    }

    /// Makes the start of the step the newest point of the history. Points at its time or later belong to a step that was not taken.
    fn remember(&mut self, start: &MotionPoint) {
        let stale = self.past[..self.known].iter().take_while(|point| point.t >= start.t).count();
        self.past[..self.known].rotate_left(stale);
        self.known -= stale;
        self.past.rotate_right(1);
        self.past[0].copy_from(start);
        self.known = (self.known + 1).min(self.past.len());
    }

    /// Writes ẏ of the past points as seen from the start.
    fn see_past(&mut self, equations: &Equations<'_>, start: &MotionPoint) {
        let systems = equations.model().systems();
        self.slopes[1].take_start(start);
        for (point, slope) in self.past[1..self.known].iter().zip(&mut self.slopes[2..]) {
            systems.difference(&start.q, &point.q, &mut self.w);
            systems.displacement_rate(&self.w, &point.v, &mut slope.rate);
            slope.acceleration.copy_from_slice(&point.a);
        }
    }

    /// Times of the past points in steps from the start, after the time of the end: 1, 0, −…
    fn nodes(&self, h: f64) -> [f64; MAX_ORDER + 2] {
        let mut nodes = [1.0; MAX_ORDER + 2];
        for (node, point) in nodes[1..].iter_mut().zip(&self.past[..self.known]) {
            *node = (point.t - self.past[0].t) / h;
        }
        nodes
    }
}

/// ∫₀¹ ℓ_j(s) ds of Lagrange's polynomials of these nodes, at most seven.
fn weights(nodes: &[f64]) -> [f64; MAX_ORDER + 1] {
    let mut weights = [0.0; MAX_ORDER + 1];
    for (j, weight) in weights.iter_mut().enumerate().take(nodes.len()) {
        // coefficients of Π_{i≠j} (s − s_i)/(s_j − s_i)
        let mut polynomial = [0.0; MAX_ORDER + 1];
        polynomial[0] = 1.0;
        for (i, &node) in nodes.iter().enumerate().filter(|(i, _)| *i != j) {
            let scale = 1.0 / (nodes[j] - node);
            let degree = if i < j { i } else { i - 1 };
            for d in (0..=degree + 1).rev() {
                let lower = if d > 0 { polynomial[d - 1] } else { 0.0 };
                polynomial[d] = scale * (lower - node * polynomial[d]);
            }
        }
        *weight = polynomial.iter().enumerate().map(|(d, c)| c / (d + 1) as f64).sum();
    }
    weights
}

impl Integrator for Adams {
    fn restart(&mut self, equations: &mut Equations<'_>, start: &MotionPoint) -> Result<(), IntegrationError> {
        let n = equations.n_v();
        self.past = vec![start.clone(); self.order];
        self.known = 0;
        self.slopes = vec![Slope::new(n); self.order + 1];
        self.w = vec![0.0; n];
        self.other = (vec![0.0; n], vec![0.0; n]);
        self.starter.restart(equations, start)
    }

    fn try_step(&mut self, equations: &mut Equations<'_>, step: Step<'_>, end: &mut MotionPoint) -> Result<StepEstimate, IntegrationError> {
        let Step { start, h, tolerances } = step;
        self.remember(start);
        if self.known < self.order {
            let estimate = self.starter.try_step(equations, Step { start, h, tolerances }, end)?;
            return Ok(StepEstimate { error: estimate.error.map(|error| START_CAUTION * error), ..estimate });
        }
        self.see_past(equations, start);
        let (k, nodes) = (self.order, self.nodes(h));
        let explicit = weights(&nodes[1..=k]).map(|b| h * b);
        // predict: (y_n, ẏ_n, …) => y_{n+1}, ẏ_{n+1}
        self.w.fill(0.0);
        end.v.copy_from_slice(&start.v);
        add_slopes(explicit.into_iter().take(k), &self.slopes[1..], &mut self.w, &mut end.v);
        end.t = start.t + h;
        self.slopes[0].evaluate(equations, start, &self.w, end)?;
        // correct with ẏ_{n+1} among the slopes: AM_k, or AM_{k+1} for the estimate of AB_k
        let used = if self.corrects { k } else { k + 1 };
        let implicit = weights(&nodes[..used]).map(|b| h * b);
        let (w, v) = &mut self.other;
        w.fill(0.0);
        v.copy_from_slice(&start.v);
        add_slopes(implicit.into_iter().take(used), &self.slopes, w, v);
        let mut scale = 1.0;
        if self.corrects {
            std::mem::swap(w, &mut self.w);
            std::mem::swap(v, &mut end.v);
            self.slopes[0].evaluate(equations, start, &self.w, end)?;
            scale = CORRECTOR_ERROR[k] / (PREDICTOR_ERROR[k] - CORRECTOR_ERROR[k]);
        }
        // corrected − predicted => local error
        let difference = |other: &mut [f64], end: &[f64]| other.iter_mut().zip(end).for_each(|(x, y)| *x = scale * (*x - y));
        difference(w, &self.w);
        difference(v, &end.v);
        let ([keep, least, most], error) = (self.growth, tolerances.error(start, end, w, v));
        let error = if error <= least {
            error.max(most)
        } else if error < keep {
            keep
        } else {
            error
        };
        Ok(StepEstimate { error: Some(error), order: k + 1 })
    }

    /// Steps taken by the starting method have its interpolant; the others quintic Hermite polynomials, which it falls back to.
    fn interpolate(&mut self, equations: &mut Equations<'_>, at: Inside<'_>, q: &mut [f64], v: &mut [f64]) -> Result<(), IntegrationError> {
        let Inside { start, end, theta } = at;
        self.starter.interpolate(equations, Inside { start, end, theta }, q, v)
    }
}

#[cfg(test)]
mod tests {
    use super::weights;

    /// Haddouni2015 Tables A.2 and A.3, which agree with any textbook.
    #[test]
    fn constant_steps_give_the_classical_weights() {
        let explicit: [&[f64]; 6] = [
            &[1.0],
            &[3.0 / 2.0, -1.0 / 2.0],
            &[23.0 / 12.0, -4.0 / 3.0, 5.0 / 12.0],
            &[55.0 / 24.0, -59.0 / 24.0, 37.0 / 24.0, -3.0 / 8.0],
            &[1901.0 / 720.0, -1387.0 / 360.0, 109.0 / 30.0, -637.0 / 360.0, 251.0 / 720.0],
            &[4277.0 / 1440.0, -2641.0 / 480.0, 4991.0 / 720.0, -3649.0 / 720.0, 959.0 / 480.0, -95.0 / 288.0],
        ];
        let implicit: [&[f64]; 6] = [
            &[1.0],
            &[1.0 / 2.0, 1.0 / 2.0],
            &[5.0 / 12.0, 2.0 / 3.0, -1.0 / 12.0],
            &[3.0 / 8.0, 19.0 / 24.0, -5.0 / 24.0, 1.0 / 24.0],
            &[251.0 / 720.0, 323.0 / 360.0, -11.0 / 30.0, 53.0 / 360.0, -19.0 / 720.0],
            &[95.0 / 288.0, 1427.0 / 1440.0, -133.0 / 240.0, 241.0 / 720.0, -173.0 / 1440.0, 3.0 / 160.0],
        ];
        let nodes = [1.0, 0.0, -1.0, -2.0, -3.0, -4.0, -5.0];
        for k in 1..=6 {
            for (found, expected) in weights(&nodes[1..=k]).iter().zip(explicit[k - 1]) {
                // sums of at most seven terms of size below 100
                assert!((found - expected).abs() < 1e-13, "AB {k}: {found} {expected}");
            }
            for (found, expected) in weights(&nodes[..k]).iter().zip(implicit[k - 1]) {
                assert!((found - expected).abs() < 1e-13, "AM {k}: {found} {expected}");
            }
        }
    }

    #[test]
    fn uneven_steps_integrate_polynomials_exactly() {
        let nodes: [f64; 5] = [1.0, 0.0, -0.3, -1.7, -1.9];
        let weights = weights(&nodes);
        for degree in 0..5 {
            let sum: f64 = nodes.iter().zip(&weights).map(|(s, b)| b * s.powi(degree)).sum();
            // sums of five terms of size below 100
            assert!((sum - 1.0 / f64::from(degree + 1)).abs() < 1e-13);
        }
    }
}
