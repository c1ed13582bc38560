//! One step of a mechanical and a first-order part together.
//!
//! ```text
//! M(q_{k+1}) (v_{k+1} − v_k) = h [(1 − θ) F_k + θ F_{k+1}] + h F_λ + Gᵀ p,        q_{k+1} = q_k ⊕ h T v_{k+θ}
//! M_x (x_{k+1} − x_k)        = h [(1 − θ) f_k + θ f_{k+1}] + h g(·, λ)
//! u = G v_{k+1} + b + shift,      y = h(t_{k+1}, q_{k+1}, v_{k+1}, x_{k+1}, λ)
//! ```
//!
//! with the laws of contacts between u and p, those of relations between y and λ. F holds the forces of the first-order part without multipliers, F_λ the rest. All are linearised together in
//! z = (v, x), with the full coupling, and (p, λ) are the unknowns of one affine variational inequality; Newton's method repeats it. Coulomb friction is De Saxcé's form: the
//! cone of p is dual to u + μ|u_T| n, whose norm is linearised with the rest. Dense in z: for mechanisms with controllers, not for piles.

use super::memory::FirstOrderMemory;
use super::newton_step::{NewtonSettings, check_states};
use crate::assembly::{Activation, at_time, measure_violations, note_varying_rows, select_active, update_jacobians};
use crate::error::{NonFinite, StepError};
use crate::first_order::set::{FirstOrderSet, Point, Variable};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::report::StepReport;
use crate::schemes::stages::{Span, advance, evaluate_mass, finish};
use crate::schemes::{MoreauJean, MoreauJeanParams};
use crate::state::State;
use crate::systems::{Instant, JacobianFactors};
use carom_solvers::linear::RowLu;
use carom_solvers::vi::Set;
use carom_solvers::{Block, Solution, SolveError};

/// Work arrays of mixed steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct MixedWork {
    pub(super) lu: RowLu,
    /// Rates and forces without multipliers at the start and at the end, and their parts by multipliers.
    pub(super) start: Vec<f64>,
    pub(super) end: Vec<f64>,
    pub(super) action: Vec<f64>,
    output: Vec<f64>,
    pub(super) mass: Vec<f64>,
    force_start: Vec<f64>,
    /// R, then Â⁻¹R, over (v, x).
    residual: Vec<f64>,
    /// What p and λ bring to the equations, by columns; then Â⁻¹ of it.
    columns: Vec<f64>,
    /// Slopes of u and y over (v, x), by rows.
    rows: Vec<f64>,
    /// u and y at the iterate.
    values: Vec<f64>,
    sets: Vec<Set>,
    solution: Solution,
    pull: Vec<f64>,
}

/// Sizes: velocities, states, rows of contacts, rows of relations.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    v: usize,
    x: usize,
    p: usize,
    lambda: usize,
}

impl Sizes {
    fn z(self) -> usize {
        self.v + self.x
    }
    fn rows(self) -> usize {
        self.p + self.lambda
    }
}

/// Residuals of the equations of motion and of the states, each with its largest term, and the relative one of outputs.
#[derive(Clone, Copy, Debug)]
struct Judged {
    motion: (f64, f64),
    states: (f64, f64),
    law: f64,
}

impl Judged {
    fn residual(&self) -> f64 {
        (self.motion.0 / self.motion.1).max(self.states.0 / self.states.1).max(self.law)
    }
}

/// (q_k, v_k, x_k, h) => p, λ, v_{k+1}, q_{k+1}, x_{k+1}.
///
/// # Errors
/// [`StepError`] naming the formula, state or coordinate.
pub(crate) fn step_mixed(
    model: &Model,
    state: &mut State,
    memory: &mut StepMemory,
    (h, settings): (f64, NewtonSettings),
) -> Result<StepReport, StepError> {
    let located = at_time(state.t);
    let (Some(set), Some(mut own)) = (model.first_order(), memory.first_order.take()) else {
        return Ok(StepReport { newton_converged: true, ..StepReport::default() });
    };
    let result = (|| {
        let mut report = StepReport::default();
        let scheme = MoreauJean { params: MoreauJeanParams { theta: settings.theta, ..MoreauJeanParams::default() } };
        // (q_k, v_k) => F_k, gaps, the active set
        scheme.prepare(model, state, memory, 0.5 * h)?;
        report.violations = measure_violations(model, memory);
        let rule = Activation { horizon: 0.5 * h, step: h, threshold: scheme.params.activation_threshold };
        select_active(model, state, memory, rule);
        note_varying_rows(model, memory);
        report.n_active = memory.active.items().len();
        let sizes = own.begin(set, state, memory).map_err(&located)?;
        // Newton on all equations => p, λ, v, q, x
        own.iterate(model, set, state, memory, (h, settings, sizes), &mut report)?;
        memory.one_step.solution.r.clear();
        memory.one_step.solution.r.extend_from_slice(&own.mixed.solution.r[..sizes.p]);
        memory.one_step.solution.u.resize(sizes.p, 0.0);
        memory.active.local_velocity(model.systems().layout(), &state.v, &mut memory.one_step.solution.u);
        for (u, shift) in memory.one_step.solution.u.iter_mut().zip(memory.active.shift()) {
            *u += shift;
        }
        own.solution.r.copy_from_slice(&own.mixed.solution.r[sizes.p..]);
        own.solution.u.copy_from_slice(&own.mixed.output);
        super::account_mixed(set, (state, state.t, &memory.work), &mut own, (h, settings.theta), &mut report).map_err(&located)?;
        finish(model, state, memory, Span { h, theta: settings.theta }, &mut report).map_err(&located)?;
        Ok(report)
    })();
    memory.first_order = Some(own);
    result
}

impl FirstOrderMemory {
    /// Keeps the start of the step and sizes the work arrays.
    fn begin(&mut self, set: &FirstOrderSet, state: &State, memory: &mut StepMemory) -> Result<Sizes, NonFinite> {
        let sizes = Sizes { v: state.v.len(), x: state.x.len(), p: memory.active.n_rows(), lambda: set.rows().len() };
        self.x_start.copy_from_slice(&state.x);
        let w = &mut self.mixed;
        let rates = sizes.x + set.acted_on().len();
        for v in [&mut w.start, &mut w.end, &mut w.action] {
            v.resize(rates, 0.0);
        }
        w.output.resize(sizes.lambda, 0.0);
        w.mass.resize(sizes.x * sizes.x, 0.0);
        w.residual.resize(sizes.z(), 0.0);
        w.columns.resize(sizes.z() * sizes.rows(), 0.0);
        w.rows.resize(sizes.z() * sizes.rows(), 0.0);
        w.values.resize(sizes.rows(), 0.0);
        w.solution.u.clear();
        w.solution.u.resize(sizes.rows(), 0.0);
        w.solution.r.clear();
        w.solution.r.resize(sizes.p, 0.0);
        w.solution.r.extend_from_slice(&self.solution.r);
        w.sets.clear();
        for item in memory.active.items() {
            w.sets.push(set_of(item.block));
        }
        w.sets.extend_from_slice(set.sets());
        w.force_start.clone_from(&memory.work.force_start);
        let lambda = &w.solution.r[sizes.p..];
        let at = Point { t: state.t, x: &state.x, lambda, held: &state.held, q: &state.q, v: &state.v };
        set.drift(&at, &mut w.start, &mut memory.scratch)?;
        Ok(sizes)
    }

    fn iterate(
        &mut self,
        model: &Model,
        set: &FirstOrderSet,
        state: &mut State,
        memory: &mut StepMemory,
        (h, settings, sizes): (f64, NewtonSettings, Sizes),
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let (t, located) = (state.t, at_time(state.t));
        self.problem.sets.clone_from(&self.mixed.sets);
        self.problem.q.resize(sizes.rows(), 0.0);
        self.problem.w.resize(sizes.rows() * sizes.rows(), 0.0);
        for iteration in 0..=settings.max_iterations {
            advance(model, state, memory, h, settings.theta).map_err(&located)?;
            let mut judged = self.evaluate(model, set, state, memory, (h, settings.theta, sizes)).map_err(&located)?;
            if iteration > 0 && judged.residual() > settings.tolerance {
                self.add_terms(set, state, memory, (h, sizes), &mut judged).map_err(&located)?;
            }
            let residual = judged.residual();
            report.newton_residual = residual;
            report.newton_iterations = iteration;
            if iteration > 0 && residual <= settings.tolerance {
                report.newton_converged = true;
                return Ok(());
            }
            if iteration == settings.max_iterations {
                return Ok(());
            }
            self.linearise(model, set, state, memory, (h, settings.theta, sizes))?;
            let FirstOrderMemory { problem, solver, mixed, .. } = &mut *self;
            let before = mixed.solution.r.clone();
            let solve = solver.solve(problem, &mut mixed.solution).map_err(|source: SolveError| StepError::Solve { t, source })?;
            report.solve = Some(solve);
            // (p, λ) => v, x
            for i in 0..sizes.z() {
                let mut change = -mixed.residual[i];
                for (j, (now, before)) in mixed.solution.r.iter().zip(&before).enumerate() {
                    change += mixed.columns[j * sizes.z() + i] * (now - before);
                }
                if i < sizes.v { state.v[i] += change } else { state.x[i - sizes.v] += change }
            }
            check_states(set, &state.x).map_err(&located)?;
        }
        Ok(())
    }

    /// Takes the terms |h ∂f/∂· ·| of rates and forces into the scales: where they cancel, as at the idle speed of a motor, the residual is their rounding.
    fn add_terms(
        &self,
        set: &FirstOrderSet,
        state: &State,
        memory: &mut StepMemory,
        (h, sizes): (f64, Sizes),
        judged: &mut Judged,
    ) -> Result<(), NonFinite> {
        let lambda = &self.mixed.solution.r[sizes.p..];
        let at = Point { t: state.t + h, x: &state.x, lambda, held: &state.held, q: &state.q, v: &state.v };
        set.visit(&set.drift_jacobian, &at, &mut memory.scratch, &mut |row, variable, value| {
            let size = match variable {
                Variable::State(j) => state.x[j],
                Variable::Multiplier(j) => lambda[j],
                Variable::Coordinate(j) => state.q[j],
                Variable::Velocity(j) => state.v[j],
            };
            let scale = if row < sizes.x { &mut judged.states.1 } else { &mut judged.motion.1 };
            *scale = scale.max((h * value * size).abs());
        })
    }

    /// R, u and y at the iterate; the largest residuals with the largest terms.
    fn evaluate(
        &mut self,
        model: &Model,
        set: &FirstOrderSet,
        state: &State,
        memory: &mut StepMemory,
        (h, theta, sizes): (f64, f64, Sizes),
    ) -> Result<Judged, NonFinite> {
        let FirstOrderMemory { mixed: w, x_start, problem, .. } = self;
        let StepMemory { work, matrices, scratch, .. } = &mut *memory;
        let (t, layout) = (state.t + h, model.systems().layout());
        evaluate_mass(model, t, &state.q, matrices, scratch)?;
        model.force(t, &state.q, &state.v, &mut work.force_end, scratch)?;
        for ((change, end), start) in work.v_free.iter_mut().zip(&state.v).zip(&work.v_start) {
            *change = end - start;
        }
        layout.multiply(&matrices.mass, &work.v_free, &mut work.momentum);
        let at = Point { t, x: &state.x, lambda: &w.solution.r[sizes.p..], held: &state.held, q: &state.q, v: &state.v };
        set.mass(&at, &mut w.mass, scratch)?;
        set.drift(&at, &mut w.end, scratch)?;
        set.action(&at, &mut w.action, scratch)?;
        set.output(&at, &mut w.output, scratch)?;
        let mut scale = f64::MIN_POSITIVE;
        for i in 0..sizes.v {
            let force = h * ((1.0 - theta) * w.force_start[i] + theta * work.force_end[i]);
            w.residual[i] = work.momentum[i] - force;
            scale = scale.max(work.momentum[i].abs()).max(force.abs());
        }
        let forcing = |k: usize| h * ((1.0 - theta) * w.start[k] + theta * w.end[k] + w.action[k]);
        for (k, &i) in set.acted_on().iter().enumerate() {
            w.residual[i] -= forcing(sizes.x + k);
            scale = scale.max(forcing(sizes.x + k).abs());
        }
        layout.multiply(&matrices.mass, &state.v, &mut work.momentum);
        scale = work.momentum.iter().fold(scale, |m, p| m.max(p.abs()));
        let mut state_scale = f64::MIN_POSITIVE;
        for i in 0..sizes.x {
            let row = &w.mass[i * sizes.x..(i + 1) * sizes.x];
            let inertia: f64 = row.iter().zip(state.x.iter().zip(x_start.iter())).map(|(m, (end, start))| m * (end - start)).sum();
            w.residual[sizes.v + i] = inertia - forcing(i);
            let size: f64 = row.iter().zip(&state.x).map(|(m, x)| (m * x).abs()).sum();
            state_scale = state_scale.max(size).max(forcing(i).abs());
        }
        // multipliers that cancel each other leave the round-off of each
        let lambda = &w.solution.r[sizes.p..];
        set.visit(&set.action_jacobian, &at, scratch, &mut |row, variable, value| {
            if let Variable::Multiplier(j) = variable {
                let scale = if row < sizes.x { &mut state_scale } else { &mut scale };
                *scale = scale.max((h * value * lambda[j]).abs());
            }
        })?;
        if memory.work.rows_vary {
            memory.work.q_inner.clone_from(&state.q);
            update_jacobians(model, t, memory)?;
        }
        let (active, w) = (&memory.active, &mut self.mixed);
        if sizes.p > 0 {
            memory.work.local.resize(sizes.p, 0.0);
            active.local_velocity(layout, &state.v, &mut w.values[..sizes.p]);
            for (u, shift) in w.values.iter_mut().zip(active.shift()) {
                *u += shift;
            }
            for item in active.items() {
                let slip = item.block.slip_term(&w.values[item.rows.clone()]);
                w.values[item.rows.start] += slip;
            }
            w.pull.clear();
            w.pull.resize(sizes.v, 0.0);
            active.add_reaction(layout, &w.solution.r[..sizes.p], &mut w.pull);
            for (r, pull) in w.residual.iter_mut().zip(&w.pull) {
                *r -= pull;
                scale = scale.max(pull.abs());
            }
        }
        w.values[sizes.p..].copy_from_slice(&w.output);
        let error = |values: &[f64]| values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let motion = (error(&w.residual[..sizes.v]), scale);
        let states = (error(&w.residual[sizes.v..]), state_scale);
        let of_law = w.values.iter().zip(&w.solution.u).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
        let law_scale = error(&w.values).max(error(&w.solution.u)).max(error(&problem.q)).max(error(&state.v)).max(f64::MIN_POSITIVE);
        let n_rows = sizes.rows().max(1);
        let terms = problem.w.iter().enumerate().map(|(k, w_kj)| (w_kj * w.solution.r[k % n_rows]).abs());
        let law_scale = terms.fold(law_scale, f64::max);
        let law = if sizes.rows() == 0 { 0.0 } else { of_law / law_scale };
        Ok(Judged { motion, states, law })
    }

    /// Â, what p and λ bring, slopes of u and y => W and q of the one-step problem.
    fn linearise(
        &mut self,
        model: &Model,
        set: &FirstOrderSet,
        state: &State,
        memory: &mut StepMemory,
        (h, theta, sizes): (f64, f64, Sizes),
    ) -> Result<(), StepError> {
        let located = at_time(state.t);
        let FirstOrderMemory { mixed: w, problem, generation, .. } = self;
        let StepMemory { matrices, scratch, active, .. } = memory;
        let (t, layout, nz, n_rows) = (state.t + h, model.systems().layout(), sizes.z(), sizes.rows());
        // M̂ = M + hθ C + h²θ² K of the mechanical part
        matrices.iteration.clone_from(&matrices.mass);
        let factors = JacobianFactors { velocity: h * theta, position: h * h * theta * theta };
        let instant = Instant { t, q: &state.q, v: &state.v };
        model.add_jacobians(instant, factors, &mut matrices.iteration, scratch).map_err(&located)?;
        matrices.factor_of = None;
        let matrix = w.lu.reset(nz);
        for b in 0..layout.n_blocks() {
            let (first, size) = (layout.rows[b], layout.size(b));
            for i in 0..size {
                for j in 0..size {
                    matrix[(first + i) * nz + first + j] = matrices.iteration[layout.values[b] + i * size + j];
                }
            }
        }
        for i in 0..sizes.x {
            for j in 0..sizes.x {
                matrix[(sizes.v + i) * nz + sizes.v + j] = w.mass[i * sizes.x + j];
            }
        }
        w.columns.fill(0.0);
        w.rows.fill(0.0);
        problem.w.fill(0.0);
        let at = Point { t, x: &state.x, lambda: &w.solution.r[sizes.p..], held: &state.held, q: &state.q, v: &state.v };
        let place = |row: usize| if row < sizes.x { sizes.v + row } else { set.acted_on()[row - sizes.x] };
        let systems = model.systems();
        // Adds a slope by a variable to a row over z; q_{k+1} moves with hθ T v.
        let add = |row: &mut [f64], variable: Variable, value: f64| match variable {
            Variable::State(j) => row[sizes.v + j] += value,
            Variable::Velocity(j) => row[j] += value,
            Variable::Coordinate(c) => {
                let mut kinematic = [0.0; 6];
                let velocities = &set.pulls[c];
                systems.pull_back(&state.q, (&[c], &[h * theta * value]), (velocities, &mut kinematic[..velocities.len()]));
                for (&j, slope) in velocities.iter().zip(&kinematic) {
                    row[j] += slope;
                }
            }
            Variable::Multiplier(_) => {}
        };
        for (jacobian, weight) in [(&set.drift_jacobian, h * theta), (&set.action_jacobian, h)] {
            set.visit(jacobian, &at, scratch, &mut |row, variable, value| {
                let i = place(row);
                match variable {
                    Variable::Multiplier(j) => w.columns[(sizes.p + j) * nz + i] += weight * value,
                    _ => add(&mut matrix[i * nz..(i + 1) * nz], variable, -weight * value),
                }
            })
            .map_err(&located)?;
        }
        set.visit(&set.output_jacobian, &at, scratch, &mut |row, variable, value| {
            let i = sizes.p + row;
            match variable {
                Variable::Multiplier(j) => problem.w[i * n_rows + sizes.p + j] += value,
                _ => add(&mut w.rows[i * nz..(i + 1) * nz], variable, value),
            }
        })
        .map_err(&located)?;
        // G, and with the slope of the slip term for u
        for (index, item) in active.items().iter().enumerate() {
            for (block, rows) in active.rows_by_block(index) {
                for (k, row) in rows.enumerate() {
                    let r = item.rows.start + k;
                    let first = layout.rows[block];
                    for (j, &g) in row.iter().enumerate() {
                        w.rows[r * nz + first + j] = g;
                        w.columns[r * nz + first + j] = g;
                    }
                }
            }
            let (mu, first) = (item.block.friction(), item.rows.start);
            let speed = w.values[first + 1..item.rows.end].iter().map(|u| u * u).sum::<f64>().sqrt();
            if mu > 0.0 && speed > 0.0 {
                for k in 1..item.rows.len() {
                    let weight = mu * w.values[first + k] / speed;
                    for j in 0..nz {
                        w.rows[first * nz + j] += weight * w.rows[(first + k) * nz + j];
                    }
                }
            }
        }
        if !w.lu.factor() {
            let system = systems.velocities().names().next().unwrap_or_default();
            return Err(StepError::SingularIterationMatrix { t: state.t, system, block: 0 });
        }
        w.lu.solve(&mut w.residual);
        for column in w.columns.chunks_exact_mut(nz.max(1)).take(n_rows) {
            w.lu.solve(column);
        }
        for i in 0..n_rows {
            let row = &w.rows[i * nz..(i + 1) * nz];
            let dot = |column: &[f64]| row.iter().zip(column).map(|(a, b)| a * b).sum::<f64>();
            let mut q = w.values[i] - dot(&w.residual);
            for j in 0..n_rows {
                problem.w[i * n_rows + j] += dot(&w.columns[j * nz..(j + 1) * nz]);
                q -= problem.w[i * n_rows + j] * w.solution.r[j];
            }
            problem.q[i] = q;
        }
        *generation += 1;
        problem.generation = *generation;
        Ok(())
    }
}

/// The set of impulses of a block; friction in De Saxcé's form.
fn set_of(block: Block) -> Set {
    match block {
        Block::Bilateral { dim } => Set::Free { dim },
        Block::Unilateral => Set::NonNegative { dim: 1 },
        Block::Bounded { lower, upper } => Set::Interval { lower, upper },
        other => Set::SecondOrderCone { mu: other.friction(), dim: other.dim() },
    }
}
