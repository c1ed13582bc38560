//! PHEM56, the partitioned half-explicit method of order 5 of Murua, for velocity constraints (index 2).
//!
//! ```text
//! W_i = h Σ_{j<i} a_ij D(W_j) V_j,    Q_i = q_n ⊕ W_i,    V_i = v_n + h Σ_{j<i} a_ij V̇_j,       V̇_1 = a_n
//! W̄_i = h Σ_{j≤i} ā_ij D(W_j) V_j,    Q̄_i = q_n ⊕ W̄_i,    V̄_i = v_n + h Σ_{j≤i} ā_ij V̇_j
//! M(Q_i) V̇_i = F(Q_i, V_i) + Gᵀ(Q_i) Λ_i,     G(Q̄_i) V̄_i + g_t(t_n + c̄_i h, Q̄_i) = 0,              i = 2 … 6
//! ```
//!
//! (a, c) are those of Dormand and Prince. q_{n+1} = Q̄_6, v_{n+1} = V̄_6. The first stage takes the acceleration of the last step's end, which
//! is solved for in the acceleration form: λ_{n+1} has order 5 then. (Murua's stage 7, which takes G at Q̄_7, gives order 4 at the same cost.)
//!
//! Sources: A. Murua, *Partitioned half-explicit Runge–Kutta methods for differential-algebraic systems of index 2*, Computing 59 (1997), with
//! the rational coefficients of his code PHEM56; Haddouni2015 eqs. (2.69)–(2.72) with Gᵀ at Q_i in (2.69), error (2.129).
//!
//! The error is that of the embedded method of order 4, whose velocity is projected on the constraints once. Dense output (order 4): the quartic
//! through both ends, their derivatives, and the value at θ = 19/30 by weights of the stages.
//!
//! When to use it: as `hem5`, where speed counts more than the drift of positions: the steps are larger and cheaper. Cost: 6 factorisations of the KKT
//! system (5 stages and the end, whose factors project the estimate) and 10 evaluations of G per step.

use super::registry::{IntegratorEntry, Orders};
use super::stages::Stages;
use super::{Formulation, Inside, Integrator, Step, StepEstimate};
use crate::error::IntegrationError;
use crate::integrators::Tolerances;
use crate::smooth::{Equations, MotionPoint, StageSystem};

/// PHEM56.
pub(super) const PHEM56: IntegratorEntry = IntegratorEntry {
    name: "phem56",
    summary: "partitioned half-explicit, order 5: as hem5, faster, with a larger drift of positions",
    formulations: &[Formulation::Index2],
    choices: &[],
    default_order: None,
    has_estimate: true,
    knows_friction: true,
    orders: |_| Orders::all(5.0),
    build: |_| Box::new(Phem56::default()),
};

const N_STAGES: usize = 6;
/// The end of the step, whose rate and acceleration the embedded method takes.
const STAGE_7: usize = 6;

/// c_2 … c_6.
const C: [f64; 5] = [0.2, 0.3, 0.8, 8.0 / 9.0, 1.0];

/// a_ij of the rows 2 … 6.
const A: [[f64; 5]; 5] = [
    [0.2, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
];

/// c̄_2 … c̄_6.
const C_BAR: [f64; 5] = [0.3, 3.0 / 8.0, 5.0 / 7.0, 1.0, 1.0];

/// ā_ij of the rows 2 … 6; the last row holds b.
const A_BAR: [[f64; N_STAGES]; 5] = [
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [21.0 / 256.0, 45.0 / 256.0, 15.0 / 128.0, 0.0, 0.0, 0.0],
    [19235.0 / 98784.0, -225.0 / 392.0, 6235.0 / 6174.0, 2755.0 / 32928.0, 0.0, 0.0],
    [-293.0 / 1152.0, 85.0 / 48.0, -2275.0 / 1908.0, 35.0 / 32.0, -2835.0 / 6784.0, 0.0],
    [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];

/// Weights of the embedded method of order 4.
const B_EMBEDDED: [f64; 7] = [5179.0 / 57600.0, 0.0, 7571.0 / 16695.0, 393.0 / 640.0, -92097.0 / 339_200.0, 187.0 / 2100.0, 1.0 / 40.0];

/// Weights of the value at θ = 19/30.
const B_INSIDE: [f64; 7] = [
    1_812_923.0 / 20_736_000.0,
    0.0,
    45847.0 / 100_170.0,
    56677.0 / 414_720.0,
    -289_161.0 / 13_568_000.0,
    -67507.0 / 4_536_000.0,
    -3971.0 / 324_000.0,
];
const THETA_INSIDE: f64 = 19.0 / 30.0;

/// Power of h of the difference of orders 5 and 4.
const ERROR_ORDER: usize = 5;

/// Weights of (y_1 − y_0, h ẏ_0, h ẏ_1, y_T − y_0) in the quartic with these data at θ.
fn quartic_weights(theta: f64) -> [f64; 4] {
    let (x, t) = (theta, THETA_INSIDE);
    [
        x * x * (t * (3.0 * t - 4.0) + x * (4.0 - 2.0 * t * t) + x * x * (2.0 * t - 3.0)) / (1.0 - t).powi(2),
        x * (x - 1.0).powi(2) * (t - x) / t,
        -x * x * (x - 1.0) * (t - x) / (1.0 - t),
        (x * (x - 1.0) / (t * (1.0 - t))).powi(2),
    ]
}

/// Work arrays of a step.
#[derive(Debug, Default)]
struct Phem56 {
    stages: Stages,
    /// Position, velocity and displacement of a stage.
    q: Vec<f64>,
    v: Vec<f64>,
    w: Vec<f64>,
    /// The same of its constraint.
    q_bar: Vec<f64>,
    v_bar: Vec<f64>,
    w_bar: Vec<f64>,
    /// Multipliers of a stage.
    lambda: Vec<f64>,
}

impl Phem56 {
    /// |y_{n+1} − ŷ_{n+1}| with the embedded velocity v̂ projected: M δ = Gᵀμ, G (v̂ + δ) + g_t = 0 at q_{n+1}.
    fn estimate(
        &mut self,
        equations: &mut Equations<'_>,
        (start, end): (&MotionPoint, &MotionPoint),
        h: f64,
        tolerances: &Tolerances,
    ) -> Result<f64, IntegrationError> {
        let mut weights = B_EMBEDDED;
        weights.iter_mut().zip(&A_BAR[4]).for_each(|(w, b)| *w -= b);
        self.stages.displacement(h, &weights, &mut self.w);
        if tolerances.count_velocities() {
            self.stages.velocity(&start.v, h, &B_EMBEDDED, &mut self.v_bar);
            let stage = StageSystem {
                t: end.t,
                q: &end.q,
                v: &end.v,
                t_ahead: end.t,
                q_ahead: &end.q,
                v_known: &self.v_bar,
                step: 1.0,
                force_factor: 0.0,
            };
            equations.solve_stage(stage, &mut self.v, &mut self.lambda)?;
            for ((error, embedded), v) in self.v.iter_mut().zip(&self.v_bar).zip(&end.v) {
                *error += embedded - v;
            }
        }
        Ok(tolerances.error(start, end, &self.w, &self.v))
    }
}

impl Integrator for Phem56 {
    fn restart(&mut self, equations: &mut Equations<'_>, start: &MotionPoint) -> Result<(), IntegrationError> {
        let (q, v) = (vec![0.0; start.q.len()], vec![0.0; equations.n_v()]);
        *self = Phem56 {
            stages: Stages::new(N_STAGES + 1, v.len()),
            q: q.clone(),
            v: v.clone(),
            w: v.clone(),
            q_bar: q,
            v_bar: v.clone(),
            w_bar: v,
            lambda: vec![0.0; equations.n_rows()],
        };
        Ok(())
    }

    fn try_step(&mut self, equations: &mut Equations<'_>, step: Step<'_>, end: &mut MotionPoint) -> Result<StepEstimate, IntegrationError> {
        let Step { start, h, tolerances } = step;
        // stage 1 is the start: w = 0, where D = I
        self.stages.rate(0).copy_from_slice(&start.v);
        self.stages.acceleration(0).copy_from_slice(&start.a);
        for i in 1..N_STAGES {
            let (a, a_bar, step) = (&A[i - 1][..i], &A_BAR[i - 1], h * A_BAR[i - 1][i]);
            // (Q_i, V_i) => ẇ_i => Q̄_i
            self.stages.displacement(h, a, &mut self.w);
            self.stages.velocity(&start.v, h, a, &mut self.v);
            equations.advance(&start.q, &self.w, &mut self.q);
            equations.displacement_rate(&self.w, &self.v, self.stages.rate(i));
            self.stages.displacement(h, &a_bar[..=i], &mut self.w_bar);
            equations.advance(&start.q, &self.w_bar, &mut self.q_bar);
            // the constraint at Q̄_i => V̇_i, Λ_i
            self.stages.velocity(&start.v, h, &a_bar[..i], &mut self.v_bar);
            let stage = StageSystem {
                t: start.t + C[i - 1] * h,
                q: &self.q,
                v: &self.v,
                t_ahead: start.t + C_BAR[i - 1] * h,
                q_ahead: &self.q_bar,
                v_known: &self.v_bar,
                step,
                force_factor: 1.0,
            };
            equations.solve_stage(stage, self.stages.acceleration(i), &mut self.lambda)?;
        }
        end.t = start.t + h;
        end.q.copy_from_slice(&self.q_bar);
        self.stages.velocity(&start.v, h, &A_BAR[4], &mut end.v);
        equations.accelerate(end.t, &end.q, &end.v, &mut end.a, &mut end.lambda)?;
        equations.displacement_rate(&self.w_bar, &end.v, self.stages.rate(STAGE_7));
        self.stages.acceleration(STAGE_7).copy_from_slice(&end.a);
        let error = self.estimate(equations, (start, end), h, tolerances)?;
        Ok(StepEstimate { error: Some(error), order: ERROR_ORDER })
    }

    fn interpolate(&mut self, equations: &mut Equations<'_>, at: Inside<'_>, q: &mut [f64], v: &mut [f64]) -> Result<(), IntegrationError> {
        let Inside { start, end, theta } = at;
        let (h, [end_weight, rate_0, rate_1, inside]) = (end.t - start.t, quartic_weights(theta));
        // both ends and the value inside are weights of the stages, hence the quartic is
        let mut weights = [0.0; 7];
        for (j, weight) in weights.iter_mut().enumerate() {
            *weight = end_weight * A_BAR[4].get(j).copied().unwrap_or(0.0) + inside * B_INSIDE[j];
        }
        weights[0] += rate_0;
        weights[STAGE_7] += rate_1;
        self.stages.displacement(h, &weights, &mut self.w_bar);
        equations.advance(&start.q, &self.w_bar, q);
        self.stages.velocity(&start.v, h, &weights, v);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{A, A_BAR, B_EMBEDDED, B_INSIDE, C, C_BAR, THETA_INSIDE, quartic_weights};

    fn moment(weights: &[f64], k: i32) -> f64 {
        let c = [0.0, C[0], C[1], C[2], C[3], C[4], 1.0];
        weights.iter().zip(c).map(|(w, c)| w * c.powi(k)).sum()
    }

    /// Sums of seven products of size 12 in f64.
    const ROUND_OFF: f64 = 1e-14;

    #[test]
    fn coefficients_satisfy_the_conditions_of_quadrature() {
        for (row, c) in A.iter().zip(C) {
            assert!((moment(row, 0) - c).abs() < ROUND_OFF);
        }
        // the constraints' rows have stage order 2
        for (row, c) in A_BAR.iter().zip(C_BAR) {
            for k in 0..=1 {
                assert!((moment(row, k) - c.powi(k + 1) / f64::from(k + 1)).abs() < ROUND_OFF, "c = {c}, k = {k}");
            }
        }
        for k in 0..=4 {
            assert!((moment(&A_BAR[4], k) - 1.0 / f64::from(k + 1)).abs() < ROUND_OFF);
        }
        for k in 0..=3 {
            assert!((moment(&B_EMBEDDED, k) - 1.0 / f64::from(k + 1)).abs() < ROUND_OFF);
            assert!((moment(&B_INSIDE, k) - THETA_INSIDE.powi(k + 1) / f64::from(k + 1)).abs() < ROUND_OFF);
        }
    }

    #[test]
    fn the_quartic_is_exact_for_quartics() {
        for k in 1..=4 {
            for x in [0.0, 0.2, THETA_INSIDE, 0.9, 1.0_f64] {
                let [end, rate_0, rate_1, inside] = quartic_weights(x);
                let value = end + if k == 1 { rate_0 } else { 0.0 } + f64::from(k) * rate_1 + inside * THETA_INSIDE.powi(k);
                assert!((value - x.powi(k)).abs() < ROUND_OFF, "{k} at {x}: {value}");
            }
        }
    }
}
