//! One step of a first-order system whose formulas are not linear.
//!
//! ```text
//! M(t_{k+θ}, x_{k+θ}) (x_{k+1} − x_k) = h [θ f(t_{k+1}, x_{k+1}) + (1 − θ) f(t_k, x_k)] + h g(t_{k+γ}, x_{k+γ}, λ)
//! y = h(t_{k+γ}, x_{k+γ}, λ),   −y ∈ N_K(λ),   x_{k+γ} = γ x_{k+1} + (1 − γ) x_k
//! ```
//!
//! Newton's method: the equations are linearised at (x, λ), with R their residual and Â = M − hθ ∂f/∂x − hγ ∂g/∂x, so that
//! x⁺ = x − Â⁻¹R + h Â⁻¹ (∂g/∂λ) (λ⁺ − λ), and the law is solved exactly: W = γ C h Â⁻¹ ∂g/∂λ + D. M is evaluated at the iterate, its derivative
//! left out (Newton then converges linearly where M depends on x).

use super::linear_step::singular;
use super::memory::FirstOrderMemory;
use crate::assembly::at_time;
use crate::error::{NonFinite, StepError};
use crate::first_order::set::{FirstOrderSet, LinearParts, Point, Variable};
use crate::report::StepReport;
use crate::state::State;
use crate::systems::Scratch;
use carom_solvers::Solution;
use carom_solvers::linear::RowLu;
use carom_solvers::vi::Set;

/// Weights and where the iteration stops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewtonSettings {
    pub theta: f64,
    pub gamma: f64,
    /// Largest residual relative to the largest term.
    pub tolerance: f64,
    pub max_iterations: usize,
}

/// Work arrays of the iteration.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewtonWork {
    lu: RowLu,
    mass: Vec<f64>,
    f_start: Vec<f64>,
    f_end: Vec<f64>,
    action: Vec<f64>,
    output: Vec<f64>,
    x_middle: Vec<f64>,
    /// R, then Â⁻¹R.
    residual: Vec<f64>,
    /// h ∂g/∂λ by columns, then Â⁻¹ of it.
    columns: Vec<f64>,
    /// C = ∂h/∂x, m × n.
    c: Vec<f64>,
    lambda: Vec<f64>,
}

/// (x_k, h) => λ, y, x_{k+1}.
///
/// # Errors
/// [`StepError`] naming the formula or the state.
pub(crate) fn step_by_newton(
    set: &FirstOrderSet,
    state: &mut State,
    memory: &mut FirstOrderMemory,
    scratch: &mut Scratch,
    (h, settings): (f64, NewtonSettings),
) -> Result<StepReport, StepError> {
    let t = state.t;
    memory.x_start.copy_from_slice(&state.x);
    memory.newton.resize(set);
    memory.newton.lambda.clone_from(&memory.solution.r);
    let start = Point { t, x: &memory.x_start, lambda: &memory.newton.lambda, held: &state.held, q: &state.q, v: &state.v };
    set.drift(&start, &mut memory.newton.f_start, scratch).map_err(at_time(t))?;
    let mut report = StepReport::default();
    for iteration in 0..=settings.max_iterations {
        let (error, mut scale, of_outputs) = evaluate(set, state, memory, scratch, (h, settings)).map_err(at_time(t))?;
        if iteration > 0 && error > settings.tolerance * scale {
            scale = scale.max(largest_term(set, state, memory, scratch, h).map_err(at_time(t))?);
        }
        report.newton_residual = if error == 0.0 { of_outputs } else { (error / scale).max(of_outputs) };
        report.newton_iterations = iteration;
        if iteration > 0 && report.newton_residual <= settings.tolerance {
            report.newton_converged = true;
            break;
        }
        if iteration == settings.max_iterations {
            break;
        }
        linearise(set, state, memory, scratch, (h, settings))?;
        memory.generation += 1;
        memory.problem.generation = memory.generation;
        let FirstOrderMemory { problem, solution, solver, newton, .. } = memory;
        let solve = solver.solve(problem, solution).map_err(|source| StepError::Solve { t, source })?;
        // λ⁺ => x⁺
        let m = solution.r.len();
        for (i, x) in state.x.iter_mut().enumerate() {
            let mut change = -newton.residual[i];
            for j in 0..m {
                change += newton.columns[j * newton.f_end.len() + i] * (solution.r[j] - newton.lambda[j]);
            }
            *x += change;
        }
        newton.lambda.copy_from_slice(&solution.r);
        report.solve = Some(solve);
        check_states(set, &state.x).map_err(at_time(t))?;
    }
    report.n_active = memory.n_held();
    // y of the formulas, not of their linearisation
    memory.solution.u.copy_from_slice(&memory.newton.output);
    if set.has_powers() {
        super::account_powers(set, (state, t), memory, (h, settings.theta), &mut report).map_err(at_time(t))?;
    }
    state.t = t + h;
    Ok(report)
}

impl NewtonWork {
    fn resize(&mut self, set: &FirstOrderSet) {
        let (n, m) = (set.states().len(), set.rows().len());
        self.mass.resize(n * n, 0.0);
        for v in [&mut self.f_start, &mut self.f_end, &mut self.action, &mut self.x_middle, &mut self.residual] {
            v.resize(n, 0.0);
        }
        for v in [&mut self.output, &mut self.lambda] {
            v.resize(m, 0.0);
        }
        self.columns.resize(n * m, 0.0);
        self.c.resize(n * m, 0.0);
    }
}

/// Largest |h ∂f/∂x x| and |h ∂g/∂λ λ| over rows and unknowns: rates that are differences of such terms, as where a motor runs at its idle speed, have their rounding.
fn largest_term(set: &FirstOrderSet, state: &State, memory: &FirstOrderMemory, scratch: &mut Scratch, h: f64) -> Result<f64, NonFinite> {
    let lambda = &memory.newton.lambda;
    let at = Point { t: state.t + h, x: &state.x, lambda, held: &state.held, q: &state.q, v: &state.v };
    let mut largest = 0.0_f64;
    for jacobian in [&set.drift_jacobian, &set.action_jacobian] {
        set.visit(jacobian, &at, scratch, &mut |_, variable, value| {
            let size = match variable {
                Variable::State(j) => state.x[j],
                Variable::Multiplier(j) => lambda[j],
                Variable::Coordinate(_) | Variable::Velocity(_) => 0.0,
            };
            largest = largest.max((h * value * size).abs());
        })?;
    }
    Ok(largest)
}

/// R and y at the iterate; |R|, its largest term, and what the linearised outputs are off. `state.t` is the start of the step.
fn evaluate(
    set: &FirstOrderSet,
    state: &State,
    memory: &mut FirstOrderMemory,
    scratch: &mut Scratch,
    (h, settings): (f64, NewtonSettings),
) -> Result<(f64, f64, f64), NonFinite> {
    let NewtonSettings { theta, gamma, .. } = settings;
    let FirstOrderMemory { newton, x_start, solution, problem, .. } = memory;
    let (n, t) = (x_start.len(), state.t);
    let NewtonWork { mass, f_start, f_end, action, output, x_middle, residual, lambda, .. } = newton;
    let blend = |weight: f64, out: &mut [f64]| {
        for ((out, end), start) in out.iter_mut().zip(&state.x).zip(x_start.iter()) {
            *out = weight * end + (1.0 - weight) * start;
        }
    };
    blend(theta, x_middle);
    let end = Point { t: t + h, x: &state.x, lambda, held: &state.held, q: &state.q, v: &state.v };
    set.mass(&Point { t: t + theta * h, x: x_middle, ..end }, mass, scratch)?;
    set.drift(&end, f_end, scratch)?;
    blend(gamma, x_middle);
    let middle = Point { t: t + gamma * h, x: x_middle, ..end };
    set.action(&middle, action, scratch)?;
    set.output(&middle, output, scratch)?;
    let (mut error, mut scale) = (0.0_f64, f64::MIN_POSITIVE);
    for i in 0..n {
        let inertia: f64 = (0..n).map(|j| mass[i * n + j] * (state.x[j] - x_start[j])).sum();
        let force = h * (theta * f_end[i] + (1.0 - theta) * f_start[i]);
        residual[i] = inertia - force - h * action[i];
        let size: f64 = (0..n).map(|j| (mass[i * n + j] * state.x[j]).abs()).sum();
        error = error.max(residual[i].abs());
        scale = scale.max(size).max(force.abs()).max((h * action[i]).abs());
    }
    // outputs of the formulas against those that the law was solved for
    let of_outputs = output.iter().zip(&solution.u).fold(0.0_f64, |m, (y, u)| m.max((y - u).abs()));
    let output_scale = output.iter().chain(&solution.u).fold(0.0_f64, |m, y| m.max(y.abs()));
    // where outputs vanish but for rounding, they are compared with the numbers that they are differences of
    let slopes = newton.c.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
    let states = state.x.iter().chain(x_start.iter()).fold(0.0_f64, |m, x| m.max(x.abs()));
    let offsets = problem.q.iter().fold(0.0_f64, |m, q| m.max(q.abs()));
    let relative = of_outputs / output_scale.max(slopes * states).max(offsets).max(f64::MIN_POSITIVE);
    Ok((error, scale, relative))
}

/// Â⁻¹R, Â⁻¹ h ∂g/∂λ, W and q at the iterate.
fn linearise(
    set: &FirstOrderSet,
    state: &State,
    memory: &mut FirstOrderMemory,
    scratch: &mut Scratch,
    (h, settings): (f64, NewtonSettings),
) -> Result<(), StepError> {
    let NewtonSettings { theta, gamma, .. } = settings;
    let FirstOrderMemory { newton, problem, .. } = memory;
    let NewtonWork { lu, mass, output, x_middle, residual, columns, c, lambda, .. } = newton;
    let (n, m, t) = (residual.len(), lambda.len(), state.t);
    let at = at_time(t);
    let matrix = lu.reset(n);
    matrix.copy_from_slice(mass);
    columns.fill(0.0);
    c.fill(0.0);
    problem.w.fill(0.0);
    let point = |t: f64, x| Point { t, x, lambda, held: &state.held, q: &state.q, v: &state.v };
    set.visit(&set.drift_jacobian, &point(t + h, &state.x), scratch, &mut |i, variable, value| {
        if let Variable::State(j) = variable {
            matrix[i * n + j] -= h * theta * value;
        }
    })
    .map_err(&at)?;
    let middle = point(t + gamma * h, x_middle);
    set.visit(&set.action_jacobian, &middle, scratch, &mut |i, variable, value| match variable {
        Variable::State(j) => matrix[i * n + j] -= h * gamma * value,
        Variable::Multiplier(j) => columns[j * n + i] += h * value,
        Variable::Coordinate(_) | Variable::Velocity(_) => {}
    })
    .map_err(&at)?;
    set.visit(&set.output_jacobian, &middle, scratch, &mut |i, variable, value| match variable {
        Variable::State(j) => c[i * n + j] += value,
        Variable::Multiplier(j) => problem.w[i * m + j] += value,
        Variable::Coordinate(_) | Variable::Velocity(_) => {}
    })
    .map_err(&at)?;
    if !lu.factor() {
        return Err(singular(set, lu, t, "M − hθ ∂f/∂x − hγ ∂g/∂x"));
    }
    lu.solve(residual);
    for column in columns.chunks_exact_mut(n.max(1)).take(m) {
        lu.solve(column);
    }
    for i in 0..m {
        let row = &c[i * n..(i + 1) * n];
        let dot = |column: &[f64]| row.iter().zip(column).map(|(a, b)| a * b).sum::<f64>();
        let mut q = output[i] - gamma * dot(residual);
        for j in 0..m {
            problem.w[i * m + j] += gamma * dot(&columns[j * n..(j + 1) * n]);
            q -= problem.w[i * m + j] * lambda[j];
        }
        problem.q[i] = q;
    }
    Ok(())
}

/// Refuses states that are not finite, by name.
pub(super) fn check_states(set: &FirstOrderSet, x: &[f64]) -> Result<(), NonFinite> {
    match x.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(i) => Err(NonFinite { what: set.states()[i].name.clone(), value: x[i] }),
    }
}

/// λ ∈ −N_K⁻¹(y) from y = C x + b alone, for bounded laws: the explicit discretisation, which chatters.
pub(super) fn explicit_multipliers(set: &FirstOrderSet, parts: &LinearParts, (x, offsets): (&[f64], &[f64]), solution: &mut Solution) {
    let n = x.len();
    let Solution { r, u } = solution;
    for (i, u) in u.iter_mut().enumerate() {
        *u = offsets[n + i] + parts.c[i * n..(i + 1) * n].iter().zip(x).map(|(c, x)| c * x).sum::<f64>();
    }
    let mut start = 0;
    for law in set.sets() {
        let rows = start..start + law.dim();
        start = rows.end;
        let (y, lambda) = (&u[rows.clone()], &mut r[rows]);
        match *law {
            Set::Interval { lower, upper } => {
                lambda[0] = if y[0] > 0.0 {
                    lower
                } else if y[0] < 0.0 {
                    upper
                } else {
                    0.0_f64.clamp(lower, upper)
                };
            }
            Set::Ball { radius, .. } => {
                let size = y.iter().map(|y| y * y).sum::<f64>().sqrt();
                let factor = if size > 0.0 { -radius / size } else { 0.0 };
                lambda.iter_mut().zip(y).for_each(|(lambda, y)| *lambda = factor * y);
            }
            _ => lambda.fill(0.0),
        }
    }
}
