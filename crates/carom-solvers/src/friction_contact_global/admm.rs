//! Alternating direction method of multipliers on velocities.

use super::GlobalSolverParams;
use super::augmented_mass::AugmentedMass;
use super::dynamics::Dynamics;
use super::{End, GlobalFrictionContact};
use crate::cones::{Block, norm_squared};
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::friction_contact::AdmmParams;
use crate::friction_contact::admm_control::{AdmmControl, AdmmResiduals};
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// Splits the velocities û of the contacts from those of the bodies: with the slip term s fixed for an iteration,
///
/// ```text
///     min ½ vᵀ M v − fᵀ v   such that   z = Hᵀ v + w + s,   z ∈ K*
///
///     v ← (M + ρ H Hᵀ)⁻¹ (f + ρ H (z − y − w − s))
///     t ← Hᵀ v + w + s + y,    z ← P_K*(t),    y ← t − z,    r = −ρ y,    s ← (μ |z_T|, 0)
/// ```
///
/// For large M with many contacts, deformable bodies above all: W is never formed and all iterations of one ρ use one sparse
/// factorisation. r lies in its cone and M v = H r + f holds at every iteration.
/// [Boyd, Parikh, Chu, Peleato, Eckstein, *Distributed optimization and statistical learning via the alternating direction
/// method of multipliers*, 2011; De Saxcé & Feng, *The bipotential method*, 1998, for s]; differs in: each block has a unit of its own, in
/// which mean(diag W_cc) is about one; acceleration, restarts and the balance of ρ on the map t ↦ t, see `AdmmControl`. Not a convex
/// problem because of s: convergence is not guaranteed.
///
/// The settings are those of the local form, where velocities and impulses change places: ρ here is 1/ρ there.
/// Cost: a factorisation of M + ρ H Hᵀ for each value of ρ, one solve with it per iteration, one with M per judgement.
#[derive(Clone, Debug)]
pub struct Admm {
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    params: AdmmParams,
    dynamics: Dynamics,
    mass: AugmentedMass,
    /// 1/√mean(diag W_cc) for each row.
    units: Vec<f64>,
    penalties: Vec<f64>,
    state: State,
    control: AdmmControl,
    impulse: Vec<f64>,
    best: Vec<f64>,
}

/// The unknowns of the splitting in the units of the blocks, rows of all contacts.
#[derive(Clone, Debug, Default)]
struct State {
    t: Vec<f64>,
    /// The next t.
    image: Vec<f64>,
    z: Vec<f64>,
    y: Vec<f64>,
    /// w + s.
    shift: Vec<f64>,
    u: Vec<f64>,
    v: Vec<f64>,
}

/// Iterations between judgements.
const CHECK_INTERVAL: usize = 10;

/// Iterations without a better one after which they are given up.
const STALL: usize = 3000;

/// The penalty where none is given, in the units of the blocks: that of the local form, 1/0.1. Stiff bodies would like a hundredth of it, packings
/// this one.
const FIRST_PENALTY: f64 = 10.0;

impl Admm {
    /// A solver with these parameters.
    pub fn new(params: &GlobalSolverParams) -> Self {
        Admm {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            params: params.admm.clone(),
            dynamics: Dynamics::default(),
            mass: AugmentedMass::default(),
            units: Vec::new(),
            penalties: Vec::new(),
            state: State::default(),
            control: AdmmControl::default(),
            impulse: Vec::new(),
            best: Vec::new(),
        }
    }

    /// Velocities v of the bodies in the last solve, m/s.
    pub fn body_velocity(&self) -> &[f64] {
        self.dynamics.v()
    }

    /// The loop. Leaves the best iterate in `self.best`.
    fn iterate(&mut self, problem: &GlobalFrictionContact, solution: &mut Solution) -> (SolveStatus, usize) {
        let deadline = Deadline::after(self.time_limit);
        let u = &mut solution.u;
        problem.project_on_cones(&mut solution.r);
        let mut best = self.dynamics.judge(problem, &solution.r, u);
        self.best.clone_from(&solution.r);
        if best <= self.tolerance {
            return (SolveStatus::Converged, 0);
        }
        let first = self.params.rho.map_or(FIRST_PENALTY, |rho| 1.0 / rho);
        self.control.reset(&self.params, first, problem.n_rows());
        self.start(problem, &solution.r, u);
        if !self.factor(problem) {
            return (SolveStatus::Stalled, 0);
        }
        let mut judge_per_step = 1.0; // ratio of the judge to the change of t, learned at each judgement
        let mut best_iteration = 0;
        for iteration in 1..=self.max_iterations {
            let residuals = self.apply(problem);
            let is_late = deadline.is_over();
            let size = residuals.primal_size.max(residuals.dual_size).max(f64::MIN_POSITIVE);
            let cheap = residuals.primal.hypot(residuals.dual) / size;
            let due = iteration % CHECK_INTERVAL == 0 || iteration == self.max_iterations || is_late;
            if due || cheap * judge_per_step <= self.tolerance {
                self.restore_impulse(problem);
                let judge = self.dynamics.judge(problem, &self.impulse, u);
                if judge < best && self.dynamics.is_usable(&self.impulse, judge) {
                    (best, best_iteration) = (judge, iteration);
                    self.best.copy_from_slice(&self.impulse);
                }
                if best <= self.tolerance {
                    return (SolveStatus::Converged, iteration);
                }
                if is_late {
                    return (SolveStatus::TimeLimit, iteration);
                }
                if cheap == 0.0 || !judge.is_finite() || iteration >= best_iteration + STALL {
                    return (SolveStatus::Stalled, iteration);
                }
                judge_per_step = judge / cheap;
            }
            let old = self.control.rho();
            let state = &mut self.state;
            if self.control.balance(residuals) {
                // z and r = −ρ y stay.
                let change = old / self.control.rho();
                for (image, (z, y)) in state.image.iter_mut().zip(state.z.iter().zip(&state.y)) {
                    *image = z + change * y;
                }
                std::mem::swap(&mut state.t, &mut state.image);
                if !self.factor(problem) {
                    return (SolveStatus::Stalled, iteration);
                }
            } else {
                self.control.advance(&state.t, &mut state.image);
                std::mem::swap(&mut state.t, &mut state.image);
            }
        }
        (SolveStatus::MaxIterations, self.max_iterations)
    }

    /// Units of the blocks, and t = z + y at the impulse r with velocity u.
    fn start(&mut self, problem: &GlobalFrictionContact, r: &[f64], u: &[f64]) {
        let n = problem.n_rows();
        self.mass.prepare(problem);
        self.units.clear();
        self.units.resize(n, 0.0);
        for i in 0..problem.n_dof() {
            for (j, h) in problem.h.row(i) {
                self.units[j] += h * h / problem.m.get(i, i);
            }
        }
        let (state, rho) = (&mut self.state, self.control.rho());
        state.v.resize(problem.n_dof(), 0.0);
        for x in [&mut state.t, &mut state.image, &mut state.z, &mut state.y, &mut state.shift, &mut state.u, &mut self.impulse] {
            x.resize(n, 0.0);
        }
        let mut start = 0;
        for block in &problem.blocks {
            let rows = start..start + block.dim();
            let mean = self.units[rows.clone()].iter().sum::<f64>() / block.dim() as f64;
            let unit = 1.0 / mean.sqrt();
            self.units[rows.clone()].fill(if unit.is_finite() && unit > 0.0 { unit } else { 1.0 });
            for k in rows.clone() {
                state.z[k] = self.units[k] * u[k];
                state.y[k] = -r[k] / (rho * self.units[k]);
            }
            state.z[start] += block.slip_term(&state.z[rows.clone()]);
            for k in rows.clone() {
                state.t[k] = state.z[k] + state.y[k];
            }
            start = rows.end;
        }
    }

    /// Factors M + ρ H Hᵀ; false when that fails.
    fn factor(&mut self, problem: &GlobalFrictionContact) -> bool {
        let rho = self.control.rho();
        self.penalties.clear();
        self.penalties.extend(self.units.iter().map(|unit| rho * unit * unit));
        self.mass.factor(problem, &self.penalties)
    }

    /// One iteration: t => its image with z and y, and how far they moved.
    fn apply(&mut self, problem: &GlobalFrictionContact) -> AdmmResiduals {
        let (units, state) = (&self.units, &mut self.state);
        let (rho, omega) = (self.control.rho(), self.params.relaxation);
        split(&problem.blocks, &state.t, &mut state.z, &mut state.y);
        for (shift, (w, unit)) in state.shift.iter_mut().zip(problem.w.iter().zip(units)) {
            *shift = unit * w;
        }
        let mut start = 0;
        for block in &problem.blocks {
            state.shift[start] += block.slip_term(&state.z[start..]);
            start += block.dim();
        }
        // z, y, s => v
        for (i, (v, f)) in state.v.iter_mut().zip(&problem.f).enumerate() {
            let row = problem.h.row(i).map(|(j, h)| h * units[j] * (state.z[j] - state.y[j] - state.shift[j]));
            *v = f + rho * row.sum::<f64>();
        }
        self.mass.solve(&mut state.v);
        // v => t, z, y
        problem.contact_velocity(&state.v, &mut state.u);
        for (k, unit) in units.iter().enumerate() {
            state.u[k] = unit * (state.u[k] - problem.w[k]) + state.shift[k];
            state.image[k] = omega * state.u[k] + (1.0 - omega) * state.z[k] + state.y[k];
        }
        let (mut primal, mut dual) = (0.0, 0.0);
        let mut start = 0;
        for block in &problem.blocks {
            let rows = start..start + block.dim();
            let mut y = [0.0; Block::MAX_DIM];
            let y = &mut y[..block.dim()];
            project_polar(*block, &state.image[rows.clone()], y);
            for (k, y) in rows.clone().zip(&*y) {
                let z = state.image[k] - y;
                primal += (state.u[k] - z).powi(2);
                dual += (z - state.z[k]).powi(2);
                (state.z[k], state.y[k]) = (z, *y);
            }
            start = rows.end;
        }
        AdmmResiduals {
            primal: primal.sqrt(),
            dual: rho * dual.sqrt(),
            primal_size: norm_squared(&state.z).max(norm_squared(&state.shift)).sqrt(),
            dual_size: rho * norm_squared(&state.y).sqrt(),
        }
    }

    /// r = −ρ y in the units of the problem.
    fn restore_impulse(&mut self, problem: &GlobalFrictionContact) {
        let rho = self.control.rho();
        for ((r, y), unit) in self.impulse.iter_mut().zip(&self.state.y).zip(&self.units) {
            *r = -rho * y * unit;
        }
        // The units are those of whole blocks: only rounding is projected away.
        problem.project_on_cones(&mut self.impulse);
    }
}

/// y = P_{−K}(t), the part of t outside K*.
fn project_polar(block: Block, t: &[f64], y: &mut [f64]) {
    for (y, t) in y.iter_mut().zip(t) {
        *y = -t;
    }
    block.project(y);
    y.iter_mut().for_each(|y| *y = -*y);
}

/// t = z + y with z ∈ K*, y ∈ −K, zᵀ y = 0.
fn split(blocks: &[Block], t: &[f64], z: &mut [f64], y: &mut [f64]) {
    let mut start = 0;
    for block in blocks {
        let rows = start..start + block.dim();
        project_polar(*block, &t[rows.clone()], &mut y[rows.clone()]);
        for k in rows.clone() {
            z[k] = t[k] - y[k];
        }
        start = rows.end;
    }
}

impl OneStepSolver<GlobalFrictionContact> for Admm {
    fn name(&self) -> &'static str {
        "admm"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &GlobalFrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        if problem.blocks.iter().any(|block| block.bounds().is_some()) {
            return Err(SolveError::Unsupported {
                solver: "admm",
                reason: "its splitting needs cones, and a bounded row is an interval",
                alternatives: "reduction (with local auto), nsgs",
            });
        }
        solution.prepare(problem.n_rows());
        self.dynamics.factor(problem)?;
        self.dynamics.free_velocity(problem, &mut solution.u)?;
        let (status, iterations) = self.iterate(problem, solution);
        solution.r.copy_from_slice(&self.best);
        self.dynamics.velocities(problem, &solution.r, &mut solution.u);
        let end = End { status, iterations, tolerance: self.tolerance };
        Ok(problem.report("admm", self.dynamics.v(), solution, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::SparseMatrix;

    #[test]
    fn an_elastic_bar_is_stopped_at_its_end() {
        // Two masses on a line with a spring in M; the first one hits the ground at 1 m/s: r = 1/(M⁻¹)_11, M⁻¹ = [[3, 1], [1, 2]]/5.
        let problem = GlobalFrictionContact {
            m: SparseMatrix::from_triplets(2, 2, &[(0, 0, 2.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 3.0)]).unwrap(),
            h: SparseMatrix::from_triplets(2, 1, &[(0, 0, 1.0)]).unwrap(),
            f: vec![-1.0, -2.0],
            w: vec![0.0],
            blocks: vec![Block::Unilateral],
        };
        let mut solver = Admm::new(&GlobalSolverParams::default());
        let mut solution = Solution::default();
        let report = solver.solve(&problem, &mut solution).unwrap();
        assert!(report.is_converged(), "{report:?}");
        for (x, exact) in solution.r.iter().chain(solver.body_velocity()).zip([5.0 / 3.0, 0.0, -2.0 / 3.0]) {
            assert!((x - exact).abs() < 1e-9, "{x} {exact}"); // the tolerance times |r|
        }
        assert_eq!(solver.solve(&problem, &mut solution).unwrap().iterations, 0);
    }

    #[test]
    fn parts_of_a_vector_are_orthogonal() {
        let blocks = [Block::Coulomb3 { mu: 0.5 }, Block::Bilateral { dim: 2 }, Block::Unilateral];
        let t = [0.2, 1.0, -2.0, 3.0, -4.0, -5.0];
        let (mut z, mut y) = ([0.0; 6], [0.0; 6]);
        split(&blocks, &t, &mut z, &mut y);
        let product: f64 = z[..3].iter().zip(&y).map(|(z, y)| z * y).sum();
        assert!(product.abs() < 1e-14, "{z:?} {y:?}"); // roundings of numbers of order one
        // z on the boundary of K*, and the parts of joints and of a closed contact.
        assert!((z[0] - 0.5 * z[1].hypot(z[2])).abs() < 1e-14, "{z:?}"); // as above
        assert_eq!((&z[3..], &y[3..]), (&[0.0; 3][..], &t[3..]));
    }
}
