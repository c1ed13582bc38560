//! One step of a linear first-order system.
//!
//! M ẋ = A x + B λ + a(t), y = C x + D λ + b(t). Both discretisations have the form
//!
//! ```text
//! x_{k+1} = Φ x_k + Γ ā + Ξ λ,    y = Q x_k + Ψ ā + b + W λ,    W = γ C Ξ + D,    Q = C (γ Φ + (1 − γ)),    Ψ = γ C Γ
//! ```
//!
//! with λ the multiplier of the step and ā the mean of a. θ-scheme: M̂ = M − hθA, Φ = M̂⁻¹(M + h(1−θ)A), Γ = h M̂⁻¹, Ξ = Γ B. Zero-order hold: Φ = exp(h M⁻¹A),
//! Γ = ∫₀ʰ exp(s M⁻¹A) ds M⁻¹. The matrices are made once per step size: a step of constant size is three small products and one back-substitution.

use super::memory::FirstOrderMemory;
use crate::assembly::at_time;
use crate::error::{NonFinite, StepError};
use crate::first_order::relative_degree::solve_columns;
use crate::first_order::set::{FirstOrderSet, LinearParts};
use crate::report::StepReport;
use crate::state::State;
use crate::systems::Scratch;
use carom_solvers::linear::RowLu;
use nalgebra::DMatrix;

/// How the smooth part is discretised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Discretisation {
    /// θ of f, γ of multipliers and outputs.
    Theta { theta: f64, gamma: f64 },
    /// Exact for constant a and λ, outputs at the end of the step.
    ZeroOrderHold,
    /// Explicit multipliers: λ from y at the start of the step, for bounded laws; θ of f.
    ExplicitMultipliers { theta: f64 },
}

impl Discretisation {
    /// Weight of the end of the step in multipliers and outputs.
    fn gamma(self) -> f64 {
        match self {
            Discretisation::Theta { gamma, .. } => gamma,
            Discretisation::ZeroOrderHold | Discretisation::ExplicitMultipliers { .. } => 1.0,
        }
    }

    /// Weight of the end of the step in the account of powers.
    fn power_weight(self) -> f64 {
        match self {
            Discretisation::Theta { theta, .. } | Discretisation::ExplicitMultipliers { theta } => theta,
            Discretisation::ZeroOrderHold => 0.5,
        }
    }

    /// Weight of the end of the step in ā; held inputs are those of the start.
    fn weight(self) -> f64 {
        match self {
            Discretisation::Theta { theta, .. } | Discretisation::ExplicitMultipliers { theta } => theta,
            Discretisation::ZeroOrderHold => 0.0,
        }
    }
}

/// The matrices of one step size, row-major.
#[derive(Clone, Debug, Default)]
pub(crate) struct Discrete {
    key: Option<(f64, Discretisation)>,
    /// Generation of W.
    generation: u64,
    phi: Vec<f64>,
    gamma: Vec<f64>,
    xi: Vec<f64>,
    q: Vec<f64>,
    psi: Vec<f64>,
    /// a and b at the start, at the end and where outputs are taken; the time of the end.
    start: Vec<f64>,
    end: Vec<f64>,
    middle: Vec<f64>,
    t_end: Option<f64>,
    /// ā.
    mean: Vec<f64>,
    inputs: Vec<f64>,
    registers: Vec<f64>,
    /// Γ ā and Ξ λ, for the energy account.
    by_sources: Vec<f64>,
    by_multipliers: Vec<f64>,
    work: Vec<f64>,
}

/// (x_k, h) => λ, y, x_{k+1}. `h` in seconds.
///
/// # Errors
/// [`StepError`] for an iteration matrix without inverse, or a forcing that is not finite.
pub(crate) fn step_linear(
    set: &FirstOrderSet,
    parts: &LinearParts,
    state: &mut State,
    memory: &mut FirstOrderMemory,
    (h, kind): (f64, Discretisation),
) -> Result<StepReport, StepError> {
    let t = state.t;
    memory.x_start.copy_from_slice(&state.x);
    prepare_linear(set, parts, t, memory, (h, kind))?;
    let FirstOrderMemory { discrete, problem, solution, solver, x_start, .. } = memory;
    discrete.force(set, parts, state, (h, kind)).map_err(at_time(t))?;
    // x_k, ā, b => q => λ, y
    discrete.write_q(x_start, &mut problem.q);
    let solve = match kind {
        Discretisation::ExplicitMultipliers { .. } => {
            super::newton_step::explicit_multipliers(set, parts, (x_start, &discrete.start), solution);
            problem.velocity(&solution.r, &mut solution.u);
            None
        }
        _ => Some(solver.solve(problem, solution).map_err(|source| StepError::Solve { t, source })?),
    };
    // => x_{k+1}
    discrete.advance(x_start, &solution.r, &mut state.x);
    super::newton_step::check_states(set, &state.x).map_err(at_time(t))?;
    let mut report = StepReport { solve, newton_converged: true, ..StepReport::default() };
    if set.has_powers() {
        super::account_powers(set, (state, t), memory, (h, kind.power_weight()), &mut report).map_err(at_time(t))?;
    } else if !set.storage().is_empty() {
        discrete.split(&solution.r);
        let Discrete { by_sources, by_multipliers, work, .. } = discrete;
        super::account(set, (x_start, &state.x), (by_sources, by_multipliers), work, &mut report);
    }
    state.t = t + h;
    report.n_active = memory.n_held();
    Ok(report)
}

/// The matrices of this step size, and W in the problem.
///
/// # Errors
/// [`StepError`] for an iteration matrix without inverse.
pub(crate) fn prepare_linear(
    set: &FirstOrderSet,
    parts: &LinearParts,
    t: f64,
    memory: &mut FirstOrderMemory,
    (h, kind): (f64, Discretisation),
) -> Result<(), StepError> {
    if memory.discrete.key != Some((h, kind)) {
        memory.generation += 1;
        memory.discrete.make(set, parts, t, (h, kind))?;
        memory.discrete.generation = memory.generation;
    }
    let FirstOrderMemory { discrete, problem, .. } = memory;
    if problem.generation != discrete.generation {
        problem.generation = discrete.generation;
        discrete.fill_w(parts, kind.gamma(), &mut problem.w);
    }
    Ok(())
}

/// Refuses one-step problems of this step size that have several solutions or none: see [`super::require_solvable`].
///
/// # Errors
/// [`StepError`] naming the row.
pub(crate) fn check_linear_steps(
    set: &FirstOrderSet,
    parts: &LinearParts,
    t: f64,
    memory: &mut FirstOrderMemory,
    (h, kind): (f64, Discretisation),
) -> Result<(), StepError> {
    prepare_linear(set, parts, t, memory, (h, kind))?;
    let w = std::mem::take(&mut memory.problem.w);
    let checked = super::require_solvable(set, &w, t, memory);
    memory.problem.w = w;
    Ok(checked?)
}

impl Discrete {
    fn make(&mut self, set: &FirstOrderSet, parts: &LinearParts, t: f64, (h, kind): (f64, Discretisation)) -> Result<(), StepError> {
        let n = set.states().len();
        let m = set.rows().len();
        (self.phi, self.gamma) = match kind {
            Discretisation::Theta { theta, .. } | Discretisation::ExplicitMultipliers { theta } => theta_matrices(set, parts, t, h, theta)?,
            Discretisation::ZeroOrderHold => hold_matrices(set, parts, t, h)?,
        };
        let gamma = kind.gamma();
        self.xi = product(&self.gamma, &parts.b, n, n, m);
        let blend: Vec<f64> =
            self.phi.iter().enumerate().map(|(k, &phi)| gamma * phi + if k / n == k % n { 1.0 - gamma } else { 0.0 }).collect();
        self.q = product(&parts.c, &blend, m, n, n);
        self.psi = product(&parts.c, &self.gamma, m, n, n);
        self.psi.iter_mut().for_each(|x| *x *= gamma);
        for v in [&mut self.start, &mut self.end, &mut self.middle] {
            v.resize(n + m, 0.0);
        }
        self.mean.resize(n, 0.0);
        self.t_end = None;
        self.key = Some((h, kind));
        Ok(())
    }

    /// W = γ C Ξ + D.
    fn fill_w(&self, parts: &LinearParts, gamma: f64, w: &mut [f64]) {
        let n = self.mean.len();
        let m = self.start.len() - n;
        let direct = product(&parts.c, &self.xi, m, n, m);
        for ((w, direct), d) in w.iter_mut().zip(&direct).zip(&parts.d) {
            *w = gamma * direct + d;
        }
    }

    /// a and b of the step: ā in `mean`, b in the tail of `middle`.
    fn force(
        &mut self,
        set: &FirstOrderSet,
        parts: &LinearParts,
        state: &State,
        (h, kind): (f64, Discretisation),
    ) -> Result<(), NonFinite> {
        let (t, end) = (state.t, state.t + h);
        if parts.is_autonomous && self.t_end.is_some() {
            self.t_end = Some(end);
            return Ok(());
        }
        // what was the end of the last step is the start of this one, but for held inputs that changed in between
        if self.t_end == Some(t) && !parts.is_held {
            std::mem::swap(&mut self.start, &mut self.end);
        } else {
            evaluate(parts, t, state, &mut self.start, (&mut self.inputs, &mut self.registers));
        }
        evaluate(parts, end, state, &mut self.end, (&mut self.inputs, &mut self.registers));
        match kind.gamma() {
            1.0 => self.middle.copy_from_slice(&self.end),
            gamma => evaluate(parts, t + gamma * h, state, &mut self.middle, (&mut self.inputs, &mut self.registers)),
        }
        let weight = kind.weight();
        for (mean, (start, end)) in self.mean.iter_mut().zip(self.start.iter().zip(&self.end)) {
            *mean = (1.0 - weight) * start + weight * end;
        }
        self.t_end = Some(end);
        let n = set.states().len();
        match self.end.iter().chain(&self.start).position(|x| !x.is_finite()) {
            None => Ok(()),
            Some(place) => {
                let i = place % self.end.len();
                let what =
                    if i < n { format!("the rate of {}", set.states()[i].name) } else { format!("the output {}", set.rows()[i - n]) };
                Err(NonFinite { what, value: if place < self.end.len() { self.end[i] } else { self.start[i] } })
            }
        }
    }

    /// q = Q x + Ψ ā + b.
    fn write_q(&self, x: &[f64], q: &mut [f64]) {
        let n = x.len();
        for (i, q) in q.iter_mut().enumerate() {
            let rows = i * n..(i + 1) * n;
            let mut sum = self.middle[n + i];
            for ((w, x), (psi, a)) in self.q[rows.clone()].iter().zip(x).zip(self.psi[rows].iter().zip(&self.mean)) {
                sum += w * x + psi * a;
            }
            *q = sum;
        }
    }

    /// The parts Γ ā and Ξ λ of the step.
    fn split(&mut self, lambda: &[f64]) {
        let (n, m) = (self.mean.len(), lambda.len());
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        self.by_sources.clear();
        self.by_sources.extend((0..n).map(|i| dot(&self.gamma[i * n..(i + 1) * n], &self.mean)));
        self.by_multipliers.clear();
        self.by_multipliers.extend((0..n).map(|i| dot(&self.xi[i * m..(i + 1) * m], lambda)));
    }

    /// x_{k+1} = Φ x + Γ ā + Ξ λ.
    fn advance(&self, x: &[f64], lambda: &[f64], out: &mut [f64]) {
        let (n, m) = (x.len(), lambda.len());
        for (i, out) in out.iter_mut().enumerate() {
            let rows = i * n..(i + 1) * n;
            let mut sum = 0.0;
            for ((phi, x), (gamma, a)) in self.phi[rows.clone()].iter().zip(x).zip(self.gamma[rows].iter().zip(&self.mean)) {
                sum += phi * x + gamma * a;
            }
            for (xi, lambda) in self.xi[i * m..(i + 1) * m].iter().zip(lambda) {
                sum += xi * lambda;
            }
            *out = sum;
        }
    }
}

impl LinearParts {
    /// a and b at t, for these held inputs and coordinates.
    pub(crate) fn sources(&self, t: f64, (held, q): (&[f64], &[f64]), out: &mut Vec<f64>, scratch: &mut Scratch) {
        scratch.inputs.clear();
        scratch.inputs.push(t);
        scratch.inputs.extend_from_slice(held);
        scratch.inputs.extend_from_slice(q);
        out.resize(self.forcing.n_outputs(), 0.0);
        self.forcing.evaluate(&scratch.inputs, &mut scratch.registers, out);
    }
}

fn evaluate(parts: &LinearParts, t: f64, state: &State, out: &mut [f64], (inputs, registers): (&mut Vec<f64>, &mut Vec<f64>)) {
    inputs.clear();
    inputs.push(t);
    inputs.extend_from_slice(&state.held);
    inputs.extend_from_slice(&state.q);
    parts.forcing.evaluate(inputs, registers, out);
}

/// Rows × inner times inner × columns, row-major.
fn product(a: &[f64], b: &[f64], rows: usize, inner: usize, columns: usize) -> Vec<f64> {
    let mut out = vec![0.0; rows * columns];
    for i in 0..rows {
        for k in 0..inner {
            for j in 0..columns {
                out[i * columns + j] += a[i * inner + k] * b[k * columns + j];
            }
        }
    }
    out
}

/// Φ and Γ of the θ-scheme.
fn theta_matrices(set: &FirstOrderSet, parts: &LinearParts, t: f64, h: f64, theta: f64) -> Result<(Vec<f64>, Vec<f64>), StepError> {
    let n = set.states().len();
    let mut lu = RowLu::default();
    let matrix = lu.reset(n);
    for (k, entry) in matrix.iter_mut().enumerate() {
        *entry = parts.mass[k] - h * theta * parts.a[k];
    }
    if !lu.factor() {
        return Err(singular(set, &lu, t, "M − hθA"));
    }
    let forward: Vec<f64> = (0..n * n).map(|k| parts.mass[k] + h * (1.0 - theta) * parts.a[k]).collect();
    let phi = solve_columns(&lu, &forward, n);
    let step: Vec<f64> = (0..n * n).map(|k| if k / n == k % n { h } else { 0.0 }).collect();
    let gamma = solve_columns(&lu, &step, n);
    Ok((phi, gamma))
}

/// The error of a matrix without inverse, at the state with the least pivot.
pub(super) fn singular(set: &FirstOrderSet, lu: &RowLu, t: f64, matrix: &'static str) -> StepError {
    let least = lu.pivots().enumerate().min_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).map_or(0, |(i, _)| i);
    StepError::SingularFirstOrder { t, state: set.states().get(least).map_or_else(String::new, |s| s.name.clone()), matrix }
}

/// Φ = exp(h M⁻¹A) and Γ = ∫₀ʰ exp(s M⁻¹A) ds M⁻¹, both from one exponential of twice the size: exp(h [A 1; 0 0]) = [Φ Γ; 0 1].
/// [Van Loan, *Computing integrals involving the matrix exponential*, 1978]
fn hold_matrices(set: &FirstOrderSet, parts: &LinearParts, t: f64, h: f64) -> Result<(Vec<f64>, Vec<f64>), StepError> {
    let n = set.states().len();
    let mut lu = RowLu::default();
    lu.reset(n).copy_from_slice(&parts.mass);
    if !lu.factor() {
        return Err(singular(set, &lu, t, "M, which the zero-order hold inverts,"));
    }
    let rates = solve_columns(&lu, &parts.a, n);
    let mut whole = DMatrix::<f64>::zeros(2 * n, 2 * n);
    for i in 0..n {
        for j in 0..n {
            whole[(i, j)] = h * rates[i * n + j];
        }
        whole[(i, n + i)] = h;
    }
    let exponential = whole.exp();
    let phi = (0..n * n).map(|k| exponential[(k / n, k % n)]).collect();
    let integral: Vec<f64> = (0..n * n).map(|k| exponential[(k / n, n + k % n)]).collect();
    let identity: Vec<f64> = (0..n * n).map(|k| f64::from(u8::from(k / n == k % n))).collect();
    let inverse = solve_columns(&lu, &identity, n);
    Ok((phi, product(&integral, &inverse, n, n, n)))
}
