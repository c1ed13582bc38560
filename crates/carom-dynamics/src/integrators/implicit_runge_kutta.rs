//! Implicit Runge–Kutta methods by tableau: Radau IIA, Gauss and SDIRK on the constrained equations.
//!
//! ```text
//! V_i = v_n + h Σ_j a_ij A_j,     W_i = h Σ_j a_ij D(W_j) V_j,     M A_i = F + Gᵀ Λ_i at Q_i = q_n ⊕ W_i,     constraints at each stage
//! v_{n+1} = v_n + h Σ_j b_j A_j,     w_{n+1} = h Σ_j b_j D(W_j) V_j
//! ```
//!
//! Hairer & Wanner, *Solving Ordinary Differential Equations II*, sections IV.5–IV.8 and VII.4. The stages are solved by the iteration of
//! [`super::stage_newton`], all together for Radau IIA and Gauss, one by one for SDIRK. Where the last stage is the end of the step
//! (Radau IIA, SDIRK) it gives λ and v̇ too; Gauss takes them from the acceleration form at the end.
//!
//! When to use: Radau IIA for stiff mechanisms (strong springs and dampers) and high accuracy, in the index 2 form unless drift of
//! the positions matters (then GGL); SDIRK for stiff systems with few or no constraints, where small linear systems count; Gauss for
//! unconstrained conservative motion over long times (symplectic: the energy does not drift).
//!
//! The error is estimated by a formula of lower order, err = h (γ₀ ẏ_n + Σ d_i Ẏ_i), filtered so that stiff components do not dominate it:
//!
//! ```text
//! (M + hγ C + h²γ² K) e_v − Gᵀν = M err_v + hγ (F(q_n ⊕ err_w, v_n) − F(q_n, v_n)),     G e_v = 0,     e_w = err_w + hγ e_v
//! ```
//!
//! Between the ends, quintic Hermite interpolation is used: its error O(h⁵) is below that of the collocation polynomial of three stages,
//! O(h⁴). Cost per step: two to five Newton iterations, each with one evaluation of M, F and G per stage.

use super::implicit_tableau::{ImplicitTableau, lagrange};
use super::registry::{IntegratorEntry, Orders};
use super::stage_newton::StageNewton;
use super::{Formulation, Integrator, IntegratorParams, Step, StepControl, StepEstimate};
use crate::error::IntegrationError;
use crate::smooth::{Equations, IterationMatrix, MotionPoint, TangentFactors};

/// Radau IIA.
pub(super) const RADAU_IIA: IntegratorEntry = IntegratorEntry {
    name: "radau-iia",
    summary: "stiff mechanisms and high accuracy: implicit, L-stable, orders 3 and 5",
    formulations: &[Formulation::Index2, Formulation::Index1, Formulation::Index3, Formulation::Ggl],
    choices: &[3, 5],
    default_order: None,
    has_estimate: true,
    knows_friction: false,
    orders: radau_orders,
    build: |params| {
        Box::new(ImplicitRungeKutta::new("Newton's iteration of Radau IIA", ImplicitTableau::radau_iia(params.order()), params))
    },
};

/// Gauss.
pub(super) const GAUSS: IntegratorEntry = IntegratorEntry {
    name: "gauss",
    summary: "long conservative motions without constraints: implicit, symplectic, orders 2, 4 and 6",
    formulations: &[Formulation::Index1, Formulation::Index2, Formulation::Index3],
    choices: &[2, 4, 6],
    default_order: None,
    has_estimate: true,
    knows_friction: false,
    orders: gauss_orders,
    build: |params| Box::new(ImplicitRungeKutta::new("Newton's iteration of Gauss", ImplicitTableau::gauss(params.order()), params)),
};

/// SDIRK.
pub(super) const SDIRK: IntegratorEntry = IntegratorEntry {
    name: "sdirk",
    summary: "stiff systems with few constraints: stages solved one by one, L-stable, orders 2, 3 and 4",
    formulations: &[Formulation::Index1, Formulation::Index2, Formulation::Index3],
    choices: &[2, 3, 4],
    default_order: None,
    has_estimate: true,
    knows_friction: false,
    orders: sdirk_orders,
    build: |params| Box::new(ImplicitRungeKutta::new("Newton's iteration of SDIRK", ImplicitTableau::sdirk(params.order()), params)),
};

fn radau_orders(params: &IntegratorParams) -> Orders {
    let p = params.order() as f64;
    let s = (p + 1.0) / 2.0;
    match params.formulation() {
        Formulation::Index1 => Orders::all(p),
        Formulation::Index2 | Formulation::Ggl => Orders { multiplier: Some(s), ..Orders::all(p) },
        Formulation::Index3 => Orders { position: p, velocity: s, multiplier: Some(s - 1.0) },
    }
}

/// Above index 1 the ends of the steps lie off the constraints and nothing damps that: with two stages at index 3 the velocities do not
/// converge.
fn gauss_orders(params: &IntegratorParams) -> Orders {
    let (q, v, multiplier) = match (params.formulation(), params.order()) {
        (Formulation::Index1, p) => (p, p, Some(p)),
        (_, 2) => (2, 2, Some(2)),
        (Formulation::Index2, 4) => (4, 2, Some(2)),
        (Formulation::Index2, _) => (6, 4, Some(4)),
        (_, 4) => (2, 0, None),
        _ => (4, 2, Some(2)),
    };
    Orders { position: q as f64, velocity: v as f64, multiplier: multiplier.map(|m| m as f64) }
}

/// Above index 1 the stages, which have order 1, govern.
fn sdirk_orders(params: &IntegratorParams) -> Orders {
    match params.formulation() {
        Formulation::Index1 => Orders::all(params.order() as f64),
        Formulation::Index2 => Orders { position: 2.0, velocity: 2.0, multiplier: Some(1.0) },
        _ => Orders { position: 1.0, velocity: 1.0, multiplier: None },
    }
}

/// An implicit Runge–Kutta method with its work arrays.
#[derive(Debug)]
pub(super) struct ImplicitRungeKutta {
    tableau: ImplicitTableau,
    newton: StageNewton,
    /// Why steps must be constant, where they must.
    constant_steps: Option<&'static str>,
    /// Ẇ, A and Λ of the stages of this step.
    rates: Vec<Vec<f64>>,
    accelerations: Vec<Vec<f64>>,
    multipliers: Vec<Vec<f64>>,
    /// A and Λ of the step before and its size, from which the first guess is extrapolated.
    before: Option<f64>,
    accelerations_before: Vec<Vec<f64>>,
    multipliers_before: Vec<Vec<f64>>,
    h: f64,
    coefficients: Vec<f64>,
    w: Vec<f64>,
    filter: IterationMatrix,
    filter_made: usize,
    error: (Vec<f64>, Vec<f64>),
    right: Vec<f64>,
    mass: Vec<f64>,
    g: Vec<f64>,
    shifted: Vec<f64>,
    q: Vec<f64>,
}

impl ImplicitRungeKutta {
    /// A method by tableau; `what` names its iteration in errors.
    pub(super) fn new(what: &'static str, tableau: ImplicitTableau, params: &IntegratorParams) -> Self {
        Self::in_form(what, tableau, params, params.formulation())
    }

    /// The same in a form of the constraints of one's choice.
    pub(super) fn in_form(what: &'static str, tableau: ImplicitTableau, params: &IntegratorParams, formulation: Formulation) -> Self {
        let undamped = !tableau.stiffly_accurate && formulation == Formulation::Index3 && params.control != StepControl::Fixed;
        ImplicitRungeKutta {
            constant_steps: undamped.then_some(
                "in the index 3 form, changes of the step size excite velocities that nothing damps: \
                 choose formulation = \"index1\" or \"index2\", control = \"fixed\", or the integrator radau-iia",
            ),
            tableau,
            newton: StageNewton::new(what, params.newton, formulation),
            rates: Vec::new(),
            accelerations: Vec::new(),
            multipliers: Vec::new(),
            before: None,
            accelerations_before: Vec::new(),
            multipliers_before: Vec::new(),
            h: 0.0,
            coefficients: Vec::new(),
            w: Vec::new(),
            filter: IterationMatrix::default(),
            filter_made: usize::MAX,
            error: (Vec::new(), Vec::new()),
            right: Vec::new(),
            mass: Vec::new(),
            g: Vec::new(),
            shifted: Vec::new(),
            q: Vec::new(),
        }
    }

    /// Stages solved together.
    fn group(&self) -> usize {
        if self.tableau.diagonal { 1 } else { self.tableau.n_stages() }
    }

    /// First guess of A and Λ of a stage.
    fn guess(&mut self, start: &MotionPoint, stage: usize, slot: usize, h: f64) {
        let MotionPoint { a, lambda, .. } = &mut self.newton.stages[slot].point;
        let c = &self.tableau.c;
        match self.before {
            // SDIRK goes on from the stage before, which is near enough
            _ if self.tableau.diagonal && stage > 0 => {
                a.copy_from_slice(&self.accelerations[stage - 1]);
                lambda.copy_from_slice(&self.multipliers[stage - 1]);
            }
            // steps that grow much leave the range in which extrapolation helps
            Some(before) if !self.tableau.diagonal && h < 2.0 * before => {
                a.fill(0.0);
                lambda.fill(0.0);
                for j in 0..c.len() {
                    let weight = lagrange(c, j, 1.0 + c[stage] * h / before);
                    a.iter_mut().zip(&self.accelerations_before[j]).for_each(|(x, y)| *x += weight * y);
                    lambda.iter_mut().zip(&self.multipliers_before[j]).for_each(|(x, y)| *x += weight * y);
                }
            }
            _ => {
                a.copy_from_slice(&start.a);
                lambda.copy_from_slice(&start.lambda);
            }
        }
    }

    /// Solves the stages first..first + group.
    fn solve_group(&mut self, equations: &mut Equations<'_>, start: &MotionPoint, h: f64, first: usize) -> Result<(), IntegrationError> {
        let (s, r) = (self.tableau.n_stages(), self.group());
        self.coefficients.clear();
        for slot in 0..r {
            let i = first + slot;
            self.guess(start, i, slot, h);
            let row = &self.tableau.a[i * s..(i + 1) * s];
            self.coefficients.extend(row[first..first + r].iter().map(|a| h * a));
            let stage = &mut self.newton.stages[slot];
            stage.point.t = start.t + self.tableau.c[i] * h;
            stage.known_w.fill(0.0);
            stage.known_v.copy_from_slice(&start.v);
            for (j, a) in row[..first].iter().enumerate() {
                stage.known_w.iter_mut().zip(&self.rates[j]).for_each(|(w, rate)| *w += h * a * rate);
                stage.known_v.iter_mut().zip(&self.accelerations[j]).for_each(|(v, x)| *v += h * a * x);
            }
        }
        self.newton.solve(equations, start, &self.coefficients)?;
        for (slot, stage) in self.newton.stages.iter().enumerate() {
            self.rates[first + slot].copy_from_slice(&stage.rate);
            self.accelerations[first + slot].copy_from_slice(&stage.point.a);
            self.multipliers[first + slot].copy_from_slice(&stage.point.lambda);
        }
        Ok(())
    }

    /// The filtered estimate of the error, to `error`.
    fn estimate(&mut self, equations: &mut Equations<'_>, start: &MotionPoint, h: f64) -> Result<(), IntegrationError> {
        let (n, m, layout) = (equations.n_v(), equations.n_rows(), equations.layout());
        let weights = &self.tableau.error_weights;
        for k in 0..n {
            let sum = |values: &[Vec<f64>]| weights.iter().zip(values).map(|(d, x)| d * x[k]).sum::<f64>();
            self.error.0[k] = h * (self.tableau.start_weight * start.v[k] + sum(&self.rates));
            self.error.1[k] = h * (self.tableau.start_weight * start.a[k] + sum(&self.accelerations));
        }
        let gamma = h * self.tableau.filter;
        if self.filter_made != self.newton.assemblies {
            self.filter_made = self.newton.assemblies;
            self.filter.reset(n + m);
            self.right.resize(m, 0.0);
            equations.jacobian(start.t, &start.q, &mut self.g, &mut self.right[..m])?;
            let factors = TangentFactors { mass: 1.0, velocity: gamma, position: gamma * gamma };
            equations.add_tangent(start, factors, &mut self.filter, (0, 0))?;
            equations.add_columns(&self.g, -1.0, &mut self.filter, (0, n));
            equations.add_rows(&self.g, 1.0, &mut self.filter, (n, 0));
            equations.statistics.factorisations += 1;
            if !self.filter.factorise() {
                self.filter_made = usize::MAX;
                return Ok(());
            }
            equations.mass(start.t, &start.q, &mut self.mass)?;
        }
        self.right.resize(n + m, 0.0);
        self.right[n..].fill(0.0);
        layout.multiply(&self.mass, &self.error.1, &mut self.right[..n]);
        equations.advance(&start.q, &self.error.0, &mut self.q);
        for (sign, q) in [(gamma, &self.q), (-gamma, &start.q)] {
            equations.force(start.t, q, &start.v, &mut self.shifted)?;
            self.right.iter_mut().zip(&self.shifted).for_each(|(x, f)| *x += sign * f);
        }
        equations.statistics.solves += 1;
        self.filter.solve(&mut self.right);
        for k in 0..n {
            self.error.1[k] = self.right[k];
            self.error.0[k] += gamma * self.right[k];
        }
        Ok(())
    }
}

impl Integrator for ImplicitRungeKutta {
    fn restart(&mut self, equations: &mut Equations<'_>, _: &MotionPoint) -> Result<(), IntegrationError> {
        let (n, m, s) = (equations.n_v(), equations.n_rows(), self.tableau.n_stages());
        if let Some(reason) = self.constant_steps.filter(|_| m > 0) {
            return Err(IntegrationError::Unsupported { integrator: GAUSS.name, reason: reason.to_owned() });
        }
        self.newton.restart(equations, self.group());
        self.rates = vec![vec![0.0; n]; s];
        self.accelerations = self.rates.clone();
        self.accelerations_before = self.rates.clone();
        self.multipliers = vec![vec![0.0; m]; s];
        self.multipliers_before = self.multipliers.clone();
        self.before = None;
        self.w = vec![0.0; n];
        self.error = (vec![0.0; n], vec![0.0; n]);
        self.shifted = vec![0.0; n];
        self.q = vec![0.0; equations.n_q()];
        self.mass = vec![0.0; equations.layout().n_values()];
        self.g = vec![0.0; equations.rows().n_values()];
        self.filter_made = usize::MAX;
        Ok(())
    }

    fn try_step(&mut self, equations: &mut Equations<'_>, step: Step<'_>, end: &mut MotionPoint) -> Result<StepEstimate, IntegrationError> {
        let Step { start, h, tolerances } = step;
        let (n, s, r) = (equations.n_v(), self.tableau.n_stages(), self.group());
        self.h = h;
        for first in (0..s).step_by(r) {
            self.solve_group(equations, start, h, first)?;
        }
        if self.tableau.stiffly_accurate {
            end.copy_from(&self.newton.stages[r - 1].point);
            end.t = start.t + h;
        } else {
            end.t = start.t + h;
            for k in 0..n {
                let sum = |values: &[Vec<f64>]| self.tableau.b.iter().zip(values).map(|(b, x)| b * x[k]).sum::<f64>();
                self.w[k] = h * sum(&self.rates);
                end.v[k] = start.v[k] + h * sum(&self.accelerations);
            }
            equations.advance(&start.q, &self.w, &mut end.q);
            equations.accelerate(end.t, &end.q, &end.v, &mut end.a, &mut end.lambda)?;
        }
        self.estimate(equations, start, h)?;
        let error = tolerances.error(start, end, &self.error.0, &self.error.1);
        Ok(StepEstimate { error: Some(error), order: self.tableau.estimate_order })
    }

    fn accept(&mut self) {
        std::mem::swap(&mut self.accelerations, &mut self.accelerations_before);
        std::mem::swap(&mut self.multipliers, &mut self.multipliers_before);
        self.before = Some(self.h);
    }
}
