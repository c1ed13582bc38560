//! Newton's iteration of the stages of implicit methods.
//!
//! A group of r stages is coupled by coefficients η_ij = h a_ij (one stage with η = hβ for BDF):
//!
//! ```text
//! V_i = v̄_i + Σ_j η_ij A_j,     W_i = w̄_i + Σ_j η_ij Ẇ_j,     Ẇ_j = D(W_j) V_j  (+ M_n⁻¹G_jᵀ μ_j in the GGL form),     Q_i = q_n ⊕ W_i
//! M(Q_i) A_i = F(Q_i, V_i) + G(Q_i)ᵀ Λ_i
//! index 3: g(Q_i) = 0     index 2: G V_i + b = 0     index 1: G A_i + (dG/dt) V_i + db/dt = 0     GGL: g(Q_i) = 0 and G V_i + b = 0
//! ```
//!
//! with v̄, w̄ known. Unknown are the A_i and Λ_i (and μ_i). Rows without position (nonholonomic) are taken at the velocity level in all
//! forms but index 1. The iteration matrix has the blocks
//!
//! ```text
//! δ_ij M + η_ij C + (η²)_ij K,   −Gᵀ;     index 3: (η²)_ij G     index 2: η_ij G + (η²)_ij B     index 1: δ_ij G + 2 η_ij B
//! ```
//!
//! where B = ½ ∂((dG/dt)v + db/dt)/∂v = ∂(G v + b)/∂q, taken by central differences, which are exact because the bias is quadratic in v.
//! The constraint rows are divided by powers of the step (as Haddouni2015 eqs. 2.98 and 2.111 do for other unknowns), so that the matrix
//! and its condition do not depend on the step as it shrinks.
//!
//! Simplified Newton: the matrix is kept over iterations and steps while increments fall at least tenfold. The iteration ends when the
//! increments of V, W and hΛ, relative to 1 + their size, are below the tolerance, or by their rate of decrease will be far below it
//! after one more, or when they no longer fall with a new matrix: at index 3 round-off leaves ε/h in the velocities and ε/h² in the
//! multipliers.
//!
//! Cost: one dense factorisation of r(n + m) rows now and then, r evaluations of M, F, G per iteration.

use super::parameters::{Formulation, NewtonParams};
use crate::block_diagonal::BlockFactor;
use crate::error::IntegrationError;
use crate::smooth::{Equations, IterationMatrix, MotionPoint};

/// Increments must fall at least by this factor per iteration for a matrix to be kept.
const GOOD_RATE: f64 = 0.1;
/// Relative change of the coefficients up to which a kept matrix is used: it slows the iteration by about this rate.
const SAME_STEP: f64 = 0.1;
/// Round-off of positions of size 1, with a margin of about 500 for the condition of G: velocities found from positions have this over h.
const ROUND_OFF: f64 = 1e-13;
/// Increments that stagnate below this are round-off of stiff forces: ε K q, with K up to 1e9 times the mass over the square of the step.
const STAGNANT: f64 = 1e-7;

/// One stage.
#[derive(Clone, Debug, Default)]
pub(super) struct Stage {
    /// t, Q, V, A, Λ; A and Λ hold the first guess before the iteration.
    pub point: MotionPoint,
    /// Ẇ.
    pub rate: Vec<f64>,
    /// W.
    pub w: Vec<f64>,
    /// w̄: what other stages and steps add to W.
    pub known_w: Vec<f64>,
    /// v̄.
    pub known_v: Vec<f64>,
    /// μ of the GGL form.
    pub(super) mu: Vec<f64>,
    pub(super) mass: Vec<f64>,
    pub(super) g: Vec<f64>,
    pub(super) explicit: Vec<f64>,
    /// B, m × n row-major.
    pub(super) slope: Vec<f64>,
}

/// The iteration, with its kept matrix.
#[derive(Debug)]
pub(super) struct StageNewton {
    pub stages: Vec<Stage>,
    /// Number of matrices made so far.
    pub assemblies: usize,
    pub(super) what: &'static str,
    pub(super) params: NewtonParams,
    pub(super) formulation: Formulation,
    pub(super) holonomic: Vec<bool>,
    pub(super) matrix: IterationMatrix,
    /// Coefficients of the kept matrix; empty when there is none.
    pub(super) made_for: Vec<f64>,
    pub(super) squared: Vec<f64>,
    pub(super) metric: BlockFactor,
    size_w: Vec<f64>,
    force: Vec<f64>,
    pub(super) right: Vec<f64>,
    pub(super) work: Vec<f64>,
    pub(super) rows: Vec<f64>,
}

impl StageNewton {
    /// `what` names the iteration in errors.
    pub fn new(what: &'static str, params: NewtonParams, formulation: Formulation) -> Self {
        StageNewton {
            stages: Vec::new(),
            assemblies: 0,
            what,
            params,
            formulation,
            holonomic: Vec::new(),
            matrix: IterationMatrix::default(),
            made_for: Vec::new(),
            squared: Vec::new(),
            metric: BlockFactor::default(),
            size_w: Vec::new(),
            force: Vec::new(),
            right: Vec::new(),
            work: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Makes r stages for these equations and forgets the kept matrix.
    pub fn restart(&mut self, equations: &Equations<'_>, r: usize) {
        let (n, m) = (equations.n_v(), equations.n_rows());
        let stage = Stage {
            point: MotionPoint { t: 0.0, q: vec![0.0; equations.n_q()], v: vec![0.0; n], a: vec![0.0; n], lambda: vec![0.0; m] },
            rate: vec![0.0; n],
            w: vec![0.0; n],
            known_w: vec![0.0; n],
            known_v: vec![0.0; n],
            mu: vec![0.0; m],
            mass: vec![0.0; equations.layout().n_values()],
            g: vec![0.0; equations.rows().n_values()],
            explicit: vec![0.0; m],
            slope: vec![0.0; m * n],
        };
        self.stages = vec![stage; r];
        self.holonomic = equations.rows().items().iter().flat_map(|item| item.rows.clone().map(|_| item.holonomic)).collect();
        self.made_for.clear();
        self.work = vec![0.0; n.max(m)];
        self.rows = vec![0.0; m];
        self.size_w = vec![0.0; n];
        self.force = vec![0.0; n];
    }

    pub(super) fn stabilised(&self) -> bool {
        self.formulation == Formulation::Ggl
    }

    /// Unknowns per stage.
    pub(super) fn width(&self, equations: &Equations<'_>) -> usize {
        equations.n_v() + equations.n_rows() * if self.stabilised() { 2 } else { 1 }
    }

    /// The kept matrix may be used for these coefficients.
    fn fits(&self, coefficients: &[f64]) -> bool {
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= SAME_STEP * b.abs();
        self.params.keep_matrix && self.made_for.len() == coefficients.len() && self.made_for.iter().zip(coefficients).all(close)
    }

    /// Solves the stages from the position `start.q`, with coefficients η (r × r, row-major, in seconds).
    ///
    /// # Errors
    /// [`IntegrationError::NotConverged`] and errors of evaluation.
    pub fn solve(&mut self, equations: &mut Equations<'_>, start: &MotionPoint, coefficients: &[f64]) -> Result<(), IntegrationError> {
        let r = self.stages.len();
        self.squared.resize(r * r, 0.0);
        for k in 0..r * r {
            self.squared[k] = (0..r).map(|l| coefficients[k / r * r + l] * coefficients[l * r + k % r]).sum();
        }
        if self.stabilised() {
            let mass = &mut self.stages[0].mass;
            equations.mass(start.t, &start.q, mass)?;
            let factorised = self.metric.factorise(equations.layout(), mass);
            factorised.map_err(|e| IntegrationError::SingularMass {
                t: start.t,
                system: equations.model().systems().velocities().name(equations.layout().rows[e.block]),
            })?;
        }
        equations.model().systems().position_scale(&start.q, &mut self.size_w);
        self.guess(equations, start);
        self.place(equations, start, coefficients);

        let tolerance = self.params.tolerance;
        let by_position = matches!(self.formulation, Formulation::Index3 | Formulation::Ggl);
        let (mut before, mut fresh, mut iterations) = (f64::INFINITY, false, 0);
        let mut renew = !self.fits(coefficients);
        for iteration in 1..=self.params.max_iterations {
            iterations = iteration;
            equations.statistics.newton_iterations += 1;
            self.residual(equations, coefficients[0])?;
            if renew {
                self.assemble(equations, coefficients)?;
            }
            fresh |= renew;
            equations.statistics.solves += 1;
            self.matrix.solve(&mut self.right);
            let change_lambda = self.take_increments(equations, coefficients[0]);
            let (change_v, change_w) = self.place(equations, start, coefficients);
            let change = change_v.max(change_w).max(change_lambda);
            let rate = change / before;
            if !(change_v + change_w + change_lambda).is_finite() {
                break;
            }
            // the prediction is taken one hundred times stricter, for rates vary from one iteration to the next
            let predicted = if before.is_finite() && rate < 1.0 { 100.0 * change * rate / (1.0 - rate) } else { f64::INFINITY };
            // one iteration with an old matrix says nothing about its error
            if predicted <= tolerance || (change <= tolerance && (fresh || iteration > 1)) {
                return Ok(());
            }
            // with a new matrix, increments that no longer fall are round-off
            let by_round_off = by_position && change_w <= 1e3 * tolerance && rate > 0.3 && change <= ROUND_OFF / coefficients[0];
            if fresh && iteration > 2 && (by_round_off || (rate > 0.9 && change <= STAGNANT)) {
                return Ok(());
            }
            if fresh && rate > 2.0 && iteration > 3 {
                break;
            }
            renew = !self.params.keep_matrix || (rate > GOOD_RATE && before.is_finite() && (!fresh || rate > 0.5));
            before = change;
        }
        self.made_for.clear();
        let t = self.stages[r - 1].point.t;
        Err(IntegrationError::NotConverged { t, what: self.what, residual: before, iterations })
    }

    /// First values that the iteration itself needs: W and Ẇ as at the start, μ = 0.
    fn guess(&mut self, equations: &Equations<'_>, start: &MotionPoint) {
        for stage in &mut self.stages {
            stage.mu.fill(0.0);
            stage.point.v.copy_from_slice(&start.v);
            stage.w.copy_from_slice(&stage.known_w);
            equations.displacement_rate(&stage.w, &start.v, &mut stage.rate);
        }
    }

    /// A, μ => V, Ẇ, W, Q. Returns the largest changes of V and W, relative to 1 + their sizes.
    fn place(&mut self, equations: &Equations<'_>, start: &MotionPoint, coefficients: &[f64]) -> (f64, f64) {
        let (n, r, stabilised) = (equations.n_v(), self.stages.len(), self.stabilised());
        let largest = |change: f64, x: f64| if x.is_nan() { f64::NAN } else { change.max(x) };
        let (mut change_v, mut change_w) = (0.0, 0.0);
        for i in 0..r {
            for k in 0..n {
                let v = self.stages[i].known_v[k] + (0..r).map(|j| coefficients[i * r + j] * self.stages[j].point.a[k]).sum::<f64>();
                let old = std::mem::replace(&mut self.stages[i].point.v[k], v);
                change_v = largest(change_v, (v - old).abs() / (1.0 + v.abs()));
            }
        }
        for stage in &mut self.stages {
            equations.displacement_rate(&stage.w, &stage.point.v, &mut stage.rate);
            if stabilised && stage.mu.iter().any(|&x| x != 0.0) {
                let layout = equations.layout();
                self.force.fill(0.0);
                equations.rows().add_transposed(&stage.g, 1.0, &stage.mu, &mut self.force);
                self.metric.solve(layout, &self.force, &mut self.work[..n]);
                stage.rate.iter_mut().zip(&self.work).for_each(|(rate, x)| *rate += x);
            }
        }
        for i in 0..r {
            for k in 0..n {
                let w = self.stages[i].known_w[k] + (0..r).map(|j| coefficients[i * r + j] * self.stages[j].rate[k]).sum::<f64>();
                let old = std::mem::replace(&mut self.stages[i].w[k], w);
                change_w = largest(change_w, (w - old).abs() / (1.0 + self.size_w[k]));
            }
            let stage = &mut self.stages[i];
            equations.advance(&start.q, &stage.w, &mut stage.point.q);
        }
        (change_v, change_w)
    }
}
