//! Mixed LCP: semismooth Newton on the Fischer–Burmeister equations.

use super::Mlcp;
use super::MlcpSolverParams;
use super::equilibrated::Equilibrated;
use crate::best_iterate::BestIterate;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::lcp::active_block::ActiveBlock;
use crate::linear::{SparseLdlt, SparseLu};
use crate::matrix::{Matrix, SparseMatrix};
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// Newton's method with line search on
///
/// ```text
///     Φ_i(z) = w_i                              equality rows
///     Φ_i(z) = √(z_i² + w_i²) − z_i − w_i       complementarity rows
/// ```
///
/// When to use it: large and sparse problems, equations and complementarity together; monotone M.
///
/// Each step solves H d = −Φ with H = diag(a) + diag(b) M (a = 0, b = 1 on equality rows) by sparse LU and goes down the merit
/// function |Φ|²/2. Where H is singular or d does not descend, a Levenberg–Marquardt step takes its place,
/// (HᵀH + μI) d = −HᵀΦ, solved in the quasi-definite form [[μI, Hᵀ], [H, −I]]. Close to a solution the active set it points
/// to is solved directly, which gives the last digits where the solution is degenerate or redundant.
/// [De Luca, Facchinei & Kanzow, *A semismooth equation approach to the solution of nonlinear complementarity problems*,
/// 1996]; differs in: equilibrated units, Levenberg–Marquardt instead of gradient steps, the direct solution at the end.
///
/// Cost: one sparse factorisation per step, rarely two; some 5 to 30 steps.
#[derive(Clone, Debug)]
pub struct NewtonFischerBurmeister {
    tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    units: Equilibrated,
    best: BestIterate,
    h: SparseMatrix,
    lu: SparseLu,
    augmented: SparseMatrix,
    ldlt: SparseLdlt,
    block: ActiveBlock,
    is_active: Vec<bool>,
    tried: Vec<bool>,
    z: Vec<f64>,
    w: Vec<f64>,
    phi: Vec<f64>,
    d: Vec<f64>,
    gradient: Vec<f64>,
    trial: Vec<f64>,
    candidate: Vec<f64>,
}

/// Armijo's constant: the share of the predicted descent a step must keep.
const ARMIJO: f64 = 1e-4;

/// Halvings of a step before its direction is given up.
const HALVINGS: usize = 20;

/// The active set is solved directly once |Φ| is below this, the largest entry of q being one.
const CLOSE: f64 = 1e-2;

/// Newton steps longer than this many times |Φ| come from a singular matrix, the entries of M being at most one.
const LONGEST: f64 = 1e6;

/// Levenberg's μ is |Φ|/10 within these bounds: larger ones are slow, smaller ones lose the digits of the factorisation.
const LEVENBERG: [f64; 2] = [1e-12, 1e-2];

/// Steps that all together lower |Φ| by less than a hundredth end the solve.
const STALL: usize = 20;

impl NewtonFischerBurmeister {
    /// A solver with these parameters.
    pub fn new(params: &MlcpSolverParams) -> Self {
        NewtonFischerBurmeister {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            units: Equilibrated::default(),
            best: BestIterate::default(),
            h: SparseMatrix::default(),
            lu: SparseLu::default(),
            augmented: SparseMatrix::default(),
            ldlt: SparseLdlt::default(),
            block: ActiveBlock::default(),
            is_active: Vec::new(),
            tried: Vec::new(),
            z: Vec::new(),
            w: Vec::new(),
            phi: Vec::new(),
            d: Vec::new(),
            gradient: Vec::new(),
            trial: Vec::new(),
            candidate: Vec::new(),
        }
    }

    /// H at (z, w), in the pattern of M and the diagonal.
    fn fill_newton_matrix(&mut self) {
        let problem = &self.units.problem;
        let n = problem.n();
        self.h.reset(n);
        for i in 0..n {
            let (a, b) = if problem.is_equality[i] { (0.0, 1.0) } else { slopes(self.z[i], self.w[i]) };
            match &problem.m {
                Matrix::Dense(m) => {
                    m.row(i).iter().enumerate().for_each(|(j, x)| self.h.push(j, b * x + if i == j { a } else { 0.0 }));
                }
                Matrix::Sparse(m) => {
                    let mut has_diagonal = false;
                    for (j, x) in m.row(i) {
                        if j > i && !has_diagonal {
                            self.h.push(i, a);
                        }
                        has_diagonal |= j >= i;
                        self.h.push(j, b * x + if i == j { a } else { 0.0 });
                    }
                    if !has_diagonal {
                        self.h.push(i, a);
                    }
                }
            }
            self.h.finish_row();
        }
        // ∇(|Φ|²/2) = Hᵀ Φ.
        self.gradient.clear();
        self.gradient.resize(n, 0.0);
        for i in 0..n {
            self.h.row(i).for_each(|(j, h)| self.gradient[j] += h * self.phi[i]);
        }
    }

    fn newton_direction(&mut self) {
        self.lu.factor(&self.h);
        self.d.clear();
        self.d.extend(self.phi.iter().map(|phi| -phi));
        self.lu.solve(&mut self.d);
    }

    fn levenberg_direction(&mut self) {
        let n = self.phi.len();
        let mu = (0.1 * norm(&self.phi)).clamp(LEVENBERG[0], LEVENBERG[1]);
        self.augmented.reset(2 * n);
        for i in 0..n {
            self.augmented.push(i, mu);
            self.augmented.finish_row();
        }
        for i in 0..n {
            self.h.row(i).for_each(|(j, h)| self.augmented.push(j, h));
            self.augmented.push(n + i, -1.0);
            self.augmented.finish_row();
        }
        self.ldlt.factor(&self.augmented);
        self.d.clear();
        self.d.resize(n, 0.0);
        self.d.extend(self.phi.iter().map(|phi| -phi));
        self.ldlt.solve(&mut self.d);
        self.d.truncate(n);
    }

    /// True when d is so long that H must be singular: such steps fill the redundant unknowns with large numbers, in which an
    /// error of the others disappears.
    fn is_too_long(&self) -> bool {
        let largest = self.d.iter().fold(0.0, |s: f64, d| if d.is_finite() { s.max(d.abs()) } else { f64::INFINITY });
        largest > LONGEST * norm(&self.phi)
    }

    /// Goes along d as far as the merit function falls enough; false when it does not.
    fn search_line(&mut self) -> bool {
        let slope: f64 = self.d.iter().zip(&self.gradient).map(|(d, g)| d * g).sum();
        if !(slope < 0.0 && slope.is_finite()) {
            return false;
        }
        let before = 0.5 * norm(&self.phi).powi(2);
        let mut step = 1.0;
        for _ in 0..HALVINGS {
            self.trial.clear();
            self.trial.extend(self.z.iter().zip(&self.d).map(|(z, d)| z + step * d));
            self.units.problem.velocity(&self.trial, &mut self.w);
            evaluate(&self.units.problem, &self.trial, &self.w, &mut self.phi);
            if 0.5 * norm(&self.phi).powi(2) <= before + ARMIJO * step * slope {
                std::mem::swap(&mut self.z, &mut self.trial);
                return true;
            }
            step *= 0.5;
        }
        self.evaluate_at_z();
        false
    }

    fn evaluate_at_z(&mut self) {
        self.units.problem.velocity(&self.z, &mut self.w);
        evaluate(&self.units.problem, &self.z, &self.w, &mut self.phi);
    }

    fn offer(&mut self, problem: &Mlcp) {
        self.units.to_problem(&self.z, &mut self.candidate);
        self.best.offer(problem, &self.candidate);
    }

    /// Offers the solution on the active set the iterate points to.
    fn offer_active_set(&mut self, problem: &Mlcp) {
        let scaled = &self.units.problem;
        self.is_active.clear();
        self.is_active.extend((0..scaled.n()).map(|i| scaled.is_equality[i] || self.z[i] > self.w[i]));
        if self.is_active == self.tried {
            return;
        }
        self.tried.clone_from(&self.is_active);
        self.block.factor(&scaled.m, &self.is_active);
        self.trial.clear();
        self.trial.extend(scaled.q.iter().map(|q| -q));
        self.block.solve(&scaled.m, &mut self.trial);
        self.units.to_problem(&self.trial, &mut self.candidate);
        self.best.offer(problem, &self.candidate);
    }

    fn iterate(&mut self, problem: &Mlcp, deadline: &Deadline) -> (SolveStatus, usize) {
        self.tried.clear();
        self.evaluate_at_z();
        let mut mark = (norm(&self.phi), 0);
        for iteration in 1..=self.max_iterations {
            self.fill_newton_matrix();
            self.newton_direction();
            if self.is_too_long() || !self.search_line() {
                self.levenberg_direction();
                if !self.search_line() {
                    self.offer_active_set(problem);
                    return (SolveStatus::Stalled, iteration);
                }
            }
            self.offer(problem);
            let size = norm(&self.phi);
            if size <= CLOSE && self.best.residual() > self.tolerance {
                self.offer_active_set(problem);
            }
            if self.best.residual() <= self.tolerance {
                return (SolveStatus::Converged, iteration);
            }
            if deadline.is_over() {
                return (SolveStatus::TimeLimit, iteration);
            }
            if size < 0.99 * mark.0 {
                mark = (size, iteration);
            } else if iteration - mark.1 >= STALL {
                return (SolveStatus::Stalled, iteration);
            }
        }
        (SolveStatus::MaxIterations, self.max_iterations)
    }
}

/// Φ at (z, w).
fn evaluate(problem: &Mlcp, z: &[f64], w: &[f64], phi: &mut Vec<f64>) {
    phi.clear();
    phi.extend(z.iter().zip(w).zip(&problem.is_equality).map(|((z, w), equality)| if *equality { *w } else { fischer(*z, *w) }));
}

/// √(z² + w²) − z − w, without cancellation where both are positive.
fn fischer(z: f64, w: f64) -> f64 {
    let (size, sum) = (z.hypot(w), z + w);
    if sum > 0.0 { -2.0 * z * w / (size + sum) } else { size - sum }
}

/// Its derivatives by z and w; at the origin those of the direction (1, 1).
fn slopes(z: f64, w: f64) -> (f64, f64) {
    let size = z.hypot(w);
    if size > f64::MIN_POSITIVE { (z / size - 1.0, w / size - 1.0) } else { (0.5_f64.sqrt() - 1.0, 0.5_f64.sqrt() - 1.0) }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

impl OneStepSolver<Mlcp> for NewtonFischerBurmeister {
    fn name(&self) -> &'static str {
        "newton-fischer-burmeister"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &Mlcp, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        let n = problem.n();
        let deadline = Deadline::after(self.time_limit);
        solution.prepare(n);
        problem.project(&mut solution.r);
        self.best.restart(n);
        self.best.offer(problem, &solution.r);
        let (mut status, mut iterations) = (SolveStatus::Converged, 0);
        if self.best.residual() > self.tolerance {
            self.units.fill(problem);
            for vector in [&mut self.z, &mut self.w, &mut self.candidate] {
                vector.clear();
                vector.resize(n, 0.0);
            }
            self.units.to_scaled(&solution.r, &mut self.z);
            (status, iterations) = self.iterate(problem, &deadline);
        }
        self.best.write(problem, solution);
        Ok(problem.report("newton-fischer-burmeister", solution, iterations, self.tolerance, status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(problem: &Mlcp) -> (SolveReport, Solution) {
        let mut solution = Solution::default();
        let report = NewtonFischerBurmeister::new(&MlcpSolverParams::default()).solve(problem, &mut solution).unwrap();
        (report, solution)
    }

    #[test]
    fn the_function_vanishes_on_complementary_pairs_only() {
        assert_eq!(fischer(3.0, 0.0), 0.0);
        assert_eq!(fischer(0.0, 2.0), 0.0);
        assert_eq!(fischer(3.0, 4.0), -2.0);
        assert_eq!(fischer(-3.0, -4.0), 12.0);
        // No cancellation: −2·3·1e-20/(6 + …).
        assert!((fischer(3.0, 1e-20) / -1e-20 - 1.0).abs() < 1e-15); // one rounding
    }

    #[test]
    fn two_masses_on_the_ground_are_solved() {
        // m_i v_i − p_i = −m_i, 0 ≤ v_i ⊥ p_i ≥ 0 and a rod v₁ = v₂ between them: v = 0, the rod's force is free to choose.
        let m = vec![
            1.0, 0.0, 1.0, -1.0, 0.0, //
            0.0, 2.0, -1.0, 0.0, -1.0, //
            -1.0, 1.0, 0.0, 0.0, 0.0, //
            1.0, 0.0, 0.0, 0.0, 0.0, //
            0.0, 1.0, 0.0, 0.0, 0.0,
        ];
        let problem = Mlcp::dense(m, vec![1.0, 2.0, 0.0, 0.0, 0.0], vec![true, true, true, false, false]).unwrap();
        let (report, solution) = solve(&problem);
        assert!(report.is_converged() && report.iterations < 20, "{report:?}");
        assert!((solution.r[3] + solution.r[4] - 3.0).abs() < 1e-9, "{:?}", solution.r); // tolerance 1e-10
    }

    #[test]
    fn repeated_equations_take_regularised_steps() {
        let problem = Mlcp::dense(vec![1.0; 9], vec![-2.0; 3], vec![true, true, false]).unwrap();
        let (report, solution) = solve(&problem);
        assert!(report.is_converged(), "{report:?}");
        assert!((solution.r.iter().sum::<f64>() - 2.0).abs() < 1e-9, "{:?}", solution.r); // tolerance 1e-10
    }
}
