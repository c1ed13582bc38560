//! HEM5, the half-explicit method of order 5 of Brasey and Hairer, for velocity constraints (index 2).
//!
//! ```text
//! W_i = h Σ_{j<i} a_ij D(W_j) V_j,     Q_i = q_n ⊕ W_i,     V_i = v_n + h Σ_{j<i} a_ij V̇_j,            i = 1 … 9, a_9j = b_j
//! M(Q_i) V̇_i = F(Q_i, V_i) + Gᵀ(Q_i) Λ_i,     G(Q_{i+1}) V_{i+1} + g_t(t_n + c_{i+1} h, Q_{i+1}) = 0
//! ```
//!
//! Each stage is one linear system for (V̇_i, Λ_i), since Q_{i+1} is known before V̇_i. q_{n+1} = Q_9, v_{n+1} = V_9; the velocity
//! constraints hold to round-off, the positions drift as the local error. λ_{n+1} and a_{n+1} are found by a solve of the acceleration form
//! (order 5; the stage value Λ_8 has order 3).
//!
//! Sources: V. Brasey, E. Hairer, *Half-explicit Runge–Kutta methods for differential-algebraic systems of index 2*, SIAM J. Numer. Anal.
//! 30 (1993); Haddouni2015 eqs. (2.59)–(2.68) with the signs mended, error (2.126)–(2.128), dense output (2.134)–(2.138) where the
//! last term takes V̇_10 of the stage system below instead of V̇_9 (with V̇_9, as printed, the velocity is only O(h²)).
//! Coefficients: those of Brasey's code HEM5 (1994), refined to more digits by the conditions of the method; the unit tests check them.
//!
//! When to use it: rigid mechanisms with constraints where the velocity constraints must hold exactly, with or without events; the default.
//! It keeps positions better than `phem56` at the same tolerance and costs about 1.5 times as much per step. Not for stiff problems. Cost: 9
//! factorisations of the KKT system and 9 evaluations of G per step (G ahead is that of the next stage); 1 more for the first dense output of
//! a step and 1 for each.

#![allow(clippy::excessive_precision, reason = "coefficients are given with more digits than f64 holds")]

use super::registry::{IntegratorEntry, Orders};
use super::stages::Stages;
use super::{Formulation, Inside, Integrator, Step, StepEstimate};
use crate::error::IntegrationError;
use crate::integrators::Tolerances;
use crate::smooth::{Equations, MotionPoint, StageSystem};

/// HEM5.
pub(super) const HEM5: IntegratorEntry = IntegratorEntry {
    name: "hem5",
    summary: "half-explicit, order 5: velocity constraints to round-off, small drift of positions; for rigid mechanisms (the default)",
    formulations: &[Formulation::Index2],
    choices: &[],
    default_order: None,
    has_estimate: true,
    knows_friction: true,
    orders: |_| Orders::all(5.0),
    build: |params| Box::new(Hem5 { error_weight: params.hem5_error_weight, ..Hem5::default() }),
};

const N_STAGES: usize = 8;
/// V̇_9, from the end of the step, and stage 10 of the dense output are kept after the eight stages.
const STAGE_9: usize = 8;
const STAGE_10: usize = 9;

/// c_2 … c_9.
const C: [f64; N_STAGES] = [0.1, 0.15, 0.361478734657362446619685, 0.0853558433548641198595919, 0.5, 0.8, 1.0, 1.0];

/// a_ij of the rows 2 … 9; the last row holds b.
const A: [[f64; N_STAGES]; N_STAGES] = [
    [0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.0375, 0.1125, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.322216923621600218794810, -1.18888332298759178051115, 1.22814513402335400833603, 0.0, 0.0, 0.0, 0.0, 0.0],
    [
        -0.0350112389812991996107370,
        0.372542060108615551464316,
        -0.272105353558203104363634,
        0.0199303757857508723696462,
        0.0,
        0.0,
        0.0,
        0.0,
    ],
    [
        -0.557654705504199754814152,
        1.36730728964589424870806,
        -1.73223636046073375288401,
        0.458777200746758550594185,
        0.963806575572280708395918,
        0.0,
        0.0,
        0.0,
    ],
    [
        0.0865451719356516096568573,
        -0.0881008284794702961348190,
        0.198127554732932877782956,
        -0.464542267933110157291481,
        0.161517009110984236492439,
        0.906453360633011729494047,
        0.0,
        0.0,
    ],
    [0.0, 0.0, 0.0, 3.62447724875387161778030, -0.461772418918298838359569, -3.19802462816432470024526, 1.03531979832875192082453, 0.0],
    [
        0.0,
        0.0,
        0.0,
        0.246776066763679034721153,
        0.210659408748972456245065,
        0.176921814912501810107106,
        0.306444644414793413554759,
        0.0591980651600532853719160,
    ],
];

/// c_10 and (a_10,6, a_10,7, a_10,9) of the dense output.
const C_10: f64 = 1.0 / 20.0;
const A_10: [f64; 9] = [0.0, 0.0, 0.0, 0.0, 0.0, 907.0 / 3600.0, -139.0 / 360.0, 0.0, 221.0 / 1200.0];

/// b̂_j(θ) = Σ_i D_ij θ^i for j = 4, 5, 6, 7, 8, 10.
const D: [[f64; 6]; 4] = [
    [
        -0.2661262387119049190168,
        -0.4784628694414551570173,
        -0.08492247115800086885141,
        0.2500588298424714254607,
        -0.1047577768468999542594,
        32.0 / 19.0,
    ],
    [
        2.963408265226129950507,
        5.405521925135884867116,
        0.9129165649485093401527,
        -2.963932600779881895902,
        1.261033213890410369704,
        -144.0 / 19.0,
    ],
    [
        -4.14133354726182900508,
        -8.5330176069515144382,
        -0.8633784567730088333227,
        6.40346728969152316964,
        -2.971000836599907735143,
        192.0 / 19.0,
    ],
    [
        1.69082758751128300831,
        3.816617960006057184347,
        0.2123061778950021721285,
        -3.383148874339319285645,
        1.87392346471645060507,
        -80.0 / 19.0,
    ],
];

/// Power of h of the estimate err₁²/(err₁ + c err₂) while err₁ is small beside c err₂, as the code HEM5 takes it.
const ERROR_ORDER: usize = 5;

/// Weights b̂ of the ten stages at θ.
fn dense_weights(theta: f64) -> [f64; 10] {
    let mut weights = [0.0; 10];
    for (k, j) in [3, 4, 5, 6, 7, STAGE_10].into_iter().enumerate() {
        weights[j] = theta * (D[0][k] + theta * (D[1][k] + theta * (D[2][k] + theta * D[3][k])));
    }
    weights
}

/// Work arrays of a step.
#[derive(Debug, Default)]
struct Hem5 {
    /// c in the error estimate.
    error_weight: f64,
    stages: Stages,
    /// Position and velocity of a stage, and of the next.
    q: Vec<f64>,
    v: Vec<f64>,
    q_ahead: Vec<f64>,
    v_ahead: Vec<f64>,
    w: Vec<f64>,
    /// Velocities, where an error is formed.
    error: Vec<f64>,
    /// Multipliers of a stage.
    lambda: Vec<f64>,
    /// Position and velocity of stage 10, once there is a dense output of this step.
    q_10: Vec<f64>,
    v_10: Vec<f64>,
    has_stage_10: bool,
}

impl Hem5 {
    /// err = err₁²/(err₁ + c err₂) with err₁ = |y_{n+1} − Y_8| (order 3) and err₂ = |y_{n+1} − y_n − h (5/2 Ẏ_7 − 3/2 Ẏ_8)| (order 2).
    fn estimate(&mut self, ends: (&MotionPoint, &MotionPoint), h: f64, tolerances: &Tolerances) -> f64 {
        let (mut first, mut second) = (A[7], A[7]);
        first.iter_mut().zip(&A[6]).for_each(|(b, a)| *b -= a);
        second[6] -= 2.5;
        second[7] += 1.5;
        let [first, second] = [first, second].map(|weights| {
            self.stages.displacement(h, &weights, &mut self.w);
            self.stages.velocity_change(h, &weights, &mut self.error);
            tolerances.error(ends.0, ends.1, &self.w, &self.error)
        });
        // 0/0 where nothing moves
        if first == 0.0 { 0.0 } else { first * first / (first + self.error_weight * second) }
    }

    /// V̇_9 from G at Q_10, and stage 10 itself.
    fn prepare_dense(&mut self, equations: &mut Equations<'_>, start: &MotionPoint, end: &MotionPoint) -> Result<(), IntegrationError> {
        let h = end.t - start.t;
        // the displacement of the end, by which the rate is found
        self.stages.displacement(h, &A[7], &mut self.w);
        equations.displacement_rate(&self.w, &end.v, self.stages.rate(STAGE_9));
        self.stages.displacement(h, &A_10, &mut self.w);
        equations.advance(&start.q, &self.w, &mut self.q_10);
        self.stages.velocity(&start.v, h, &A_10[..STAGE_9], &mut self.v_ahead);
        let stage = StageSystem {
            t: end.t,
            q: &end.q,
            v: &end.v,
            t_ahead: start.t + C_10 * h,
            q_ahead: &self.q_10,
            v_known: &self.v_ahead,
            step: h * A_10[STAGE_9],
            force_factor: 1.0,
        };
        equations.solve_stage(stage, self.stages.acceleration(STAGE_9), &mut self.lambda)?;
        self.stages.velocity(&start.v, h, &A_10, &mut self.v_10);
        equations.displacement_rate(&self.w, &self.v_10, self.stages.rate(STAGE_10));
        self.has_stage_10 = true;
        Ok(())
    }
}

impl Integrator for Hem5 {
    fn restart(&mut self, equations: &mut Equations<'_>, start: &MotionPoint) -> Result<(), IntegrationError> {
        let (q, v) = (vec![0.0; start.q.len()], vec![0.0; equations.n_v()]);
        *self = Hem5 {
            error_weight: self.error_weight,
            stages: Stages::new(10, v.len()),
            q: q.clone(),
            v: v.clone(),
            q_ahead: q.clone(),
            v_ahead: v.clone(),
            w: v.clone(),
            error: v.clone(),
            lambda: vec![0.0; equations.n_rows()],
            q_10: q,
            v_10: v,
            has_stage_10: false,
        };
        Ok(())
    }

    fn try_step(&mut self, equations: &mut Equations<'_>, step: Step<'_>, end: &mut MotionPoint) -> Result<StepEstimate, IntegrationError> {
        let Step { start, h, tolerances } = step;
        self.has_stage_10 = false;
        self.q.copy_from_slice(&start.q);
        self.v.copy_from_slice(&start.v);
        self.w.fill(0.0);
        let mut t = start.t;
        for i in 0..N_STAGES {
            // (W_i, V_i) => ẇ_i => Q_{i+1}
            equations.displacement_rate(&self.w, &self.v, self.stages.rate(i));
            self.stages.displacement(h, &A[i][..=i], &mut self.w);
            equations.advance(&start.q, &self.w, &mut self.q_ahead);
            // the constraint ahead => V̇_i, Λ_i => V_{i+1}
            self.stages.velocity(&start.v, h, &A[i][..i], &mut self.v_ahead);
            let t_ahead = start.t + C[i] * h;
            let stage = StageSystem {
                t,
                q: &self.q,
                v: &self.v,
                t_ahead,
                q_ahead: &self.q_ahead,
                v_known: &self.v_ahead,
                step: h * A[i][i],
                force_factor: 1.0,
            };
            equations.solve_stage(stage, self.stages.acceleration(i), &mut self.lambda)?;
            for (v, a) in self.v_ahead.iter_mut().zip(self.stages.acceleration(i).iter()) {
                *v += h * A[i][i] * a;
            }
            std::mem::swap(&mut self.q, &mut self.q_ahead);
            std::mem::swap(&mut self.v, &mut self.v_ahead);
            t = t_ahead;
        }
        end.t = start.t + h;
        end.q.copy_from_slice(&self.q);
        end.v.copy_from_slice(&self.v);
        equations.accelerate(end.t, &end.q, &end.v, &mut end.a, &mut end.lambda)?;
        Ok(StepEstimate { error: Some(self.estimate((start, end), h, tolerances)), order: ERROR_ORDER })
    }

    /// The dense output of order 4:
    ///
    /// ```text
    /// w(θ) = h Σ_j b̂_j(θ) D(W_j) V_j,     v(θ) = v_n + h Σ_{j=4…8} b̂_j(θ) V̇_j + δ
    /// M(Q_10) δ = h b̂_10 F(Q_10, V_10) + Gᵀ(Q_10) μ,     G(q(θ)) v(θ) + g_t = 0
    /// ```
    ///
    /// δ = h b̂_10 V̇_10 is solved for, since b̂_10 vanishes at θ = 2/5. The velocity satisfies the constraints at every θ.
    fn interpolate(&mut self, equations: &mut Equations<'_>, at: Inside<'_>, q: &mut [f64], v: &mut [f64]) -> Result<(), IntegrationError> {
        let Inside { start, end, theta } = at;
        if !self.has_stage_10 {
            self.prepare_dense(equations, start, end)?;
        }
        let (h, weights) = (end.t - start.t, dense_weights(theta));
        self.stages.displacement(h, &weights, &mut self.w);
        equations.advance(&start.q, &self.w, q);
        self.stages.velocity(&start.v, h, &weights[..N_STAGES], v);
        let stage = StageSystem {
            t: start.t + C_10 * h,
            q: &self.q_10,
            v: &self.v_10,
            t_ahead: start.t + theta * h,
            q_ahead: q,
            v_known: v,
            step: 1.0,
            force_factor: h * weights[STAGE_10],
        };
        equations.solve_stage(stage, &mut self.error, &mut self.lambda)?;
        for (v, delta) in v.iter_mut().zip(&self.error) {
            *v += delta;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{A, A_10, C, C_10, D, N_STAGES, dense_weights};

    /// c_1 … c_8.
    fn places() -> [f64; N_STAGES] {
        let mut c = [0.0; N_STAGES];
        c[1..].copy_from_slice(&C[..N_STAGES - 1]);
        c
    }

    fn moment(weights: &[f64], c: &[f64], k: i32) -> f64 {
        weights.iter().zip(c).map(|(w, c)| w * c.powi(k)).sum()
    }

    /// Sums of up to eight products of size 3 in f64.
    const ROUND_OFF: f64 = 5e-15;

    #[test]
    fn coefficients_satisfy_the_conditions_of_the_method() {
        let c = places();
        // Σ_j a_ij c_j^k = c_i^{k+1}/(k+1), k ≤ 2 from the third stage on, and k ≤ 4 for b
        for (row, place) in A.iter().zip(C).skip(1) {
            for k in 0..=2 {
                let expected = if k == 2 && place == C[1] { continue } else { place.powi(k + 1) / f64::from(k + 1) };
                assert!((moment(row, &c, k) - expected).abs() < ROUND_OFF, "c = {place}, k = {k}");
            }
        }
        for k in 0..=4 {
            assert!((moment(&A[7], &c, k) - 1.0 / f64::from(k + 1)).abs() < ROUND_OFF);
        }
        // bᵀA = bᵀ(I − C)
        for j in 0..N_STAGES {
            let product: f64 = (1..N_STAGES).map(|i| A[7][i] * A[i - 1][j]).sum();
            assert!((product - A[7][j] * (1.0 - c[j])).abs() < ROUND_OFF, "column {j}");
        }
        // c_4 and c_5 are the roots of x² − ((34 − √193)/45) x + (25 − √193)/360
        let root = 193_f64.sqrt();
        assert!((C[2] + C[3] - (34.0 - root) / 45.0).abs() < ROUND_OFF && (C[2] * C[3] - (25.0 - root) / 360.0).abs() < ROUND_OFF);
    }

    /// bᵀ C W c⁴ = 4/5 with W the inverse of (a_{i+1,j}), and W e₁ as published: conditions of the multipliers.
    #[test]
    fn coefficients_satisfy_the_conditions_of_the_multipliers() {
        let solve = |right: [f64; N_STAGES]| {
            let mut x = [0.0; N_STAGES];
            for i in 0..N_STAGES {
                x[i] = (right[i] - (0..i).map(|j| A[i][j] * x[j]).sum::<f64>()) / A[i][i];
            }
            x
        };
        let mut unit = [0.0; N_STAGES];
        unit[0] = 1.0;
        let expected = [10.0, -10.0 / 3.0, -5.850_378_303_935_87, 0.0, 0.0, 0.0, 0.0, 0.0];
        for (x, expected) in solve(unit).into_iter().zip(expected) {
            // the pivots go down to 0.02, which magnifies round-off by 50 to 1000
            assert!((x - expected).abs() < 5e-12, "{x} {expected}");
        }
        let x = solve(C.map(|c| c.powi(4)));
        let sum: f64 = (0..N_STAGES).map(|i| A[7][i] * places()[i] * x[i]).sum();
        assert!((sum - 0.8).abs() < 5e-13, "{sum}");
    }

    #[test]
    fn dense_output_has_the_moments_of_order_4() {
        let c = [C[2], C[3], 0.5, 0.8, 1.0, C_10];
        let fourth = [-61.0 / 5000.0, 1549.0 / 10000.0, -1183.0 / 2500.0, 1061.0 / 2000.0];
        for (i, row) in D.iter().enumerate() {
            for k in 0..4 {
                let expected = if k == i { 1.0 / (i + 1) as f64 } else { 0.0 };
                assert!((moment(row, &c, k as i32) - expected).abs() < 4.0 * ROUND_OFF, "row {i}, k = {k}");
            }
            assert!((moment(row, &c, 4) - fourth[i]).abs() < 4.0 * ROUND_OFF);
        }
        // at the end of the step it is the method itself
        for (dense, b) in dense_weights(1.0).into_iter().zip(A[7]) {
            assert!((dense - b).abs() < 4.0 * ROUND_OFF, "{dense} {b}");
        }
        let c = [0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.8, 1.0, 1.0];
        for k in 0..=2 {
            assert!((moment(&A_10, &c, k) - C_10.powi(k + 1) / f64::from(k + 1)).abs() < ROUND_OFF, "stage 10, k = {k}");
        }
    }
}
