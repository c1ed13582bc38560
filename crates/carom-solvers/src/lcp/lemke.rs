//! Lemke's complementary pivoting with the lexicographic ratio test.

use super::Lcp;
use super::LcpSolverParams;
use super::covering_vector::CoveringVector;
use crate::best_iterate::BestIterate;
use crate::deadline::Deadline;
use crate::error::{SolveError, check_size};
use crate::linear::RankRevealingLu;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};
use serde::{Deserialize, Serialize};

/// Settings of Lemke's method.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LemkeParams {
    /// The covering vector d. Default `"ones"`. Another one gives another path, and another solution where several exist.
    pub covering: CoveringVector,
}

impl LemkeParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        Ok(())
    }
}

/// Solves w = M z + q + d z₀ by pivots that keep w_i z_i = 0, until the artificial variable z₀ leaves.
/// [Cottle, Pang & Stone, *The Linear Complementarity Problem*, 1992, ch. 4]
///
/// When to use it: any M, small (up to a few hundred rows), degenerate or redundant, or where it matters to learn that there
/// is no solution.
///
/// The tableau [w | z | z₀ | q] is dense. Ties of the ratio test are broken by the rows of B⁻¹ (the
/// columns of w), so degenerate problems do not cycle. For copositive-plus M (any W = G M⁻¹ Gᵀ) a ray
/// proves that w = M z + q, w ≥ 0, z ≥ 0 is infeasible; otherwise it leaves the question open.
/// The last basis is solved again from M by LU, so that the errors of the pivots do not accumulate.
///
/// Cost: 2n² per pivot, usually n to 3n pivots. Nothing is kept between solves but storage.
#[derive(Clone, Debug)]
pub struct Lemke {
    pub(crate) tolerance: f64,
    max_iterations: usize,
    time_limit: Option<f64>,
    choice: CoveringVector,
    /// The vector given by the caller; empty where there is none.
    given: Vec<f64>,
    covering: Vec<f64>,
    best: BestIterate,
    tableau: Vec<f64>,
    basis: Vec<usize>,
    pivot_row: Vec<f64>,
    candidate: Vec<f64>,
    lu: RankRevealingLu,
    block: Vec<f64>,
    active: Vec<usize>,
}

/// Entries of the entering column below this fraction of its largest are no pivots.
const PIVOT_TOLERANCE: f64 = 1e-11;

/// Ratios closer than this are a tie: rounding of a tableau whose entries are about one.
const TIE_TOLERANCE: f64 = 1e-12;

impl Lemke {
    /// Largest problem: its tableau has 64 MB.
    pub const MAX_ROWS: usize = 2000;

    /// A solver with these parameters.
    pub fn new(params: &LcpSolverParams) -> Self {
        Lemke {
            tolerance: params.tolerance,
            max_iterations: params.max_iterations,
            time_limit: params.time_limit,
            choice: params.lemke.covering,
            given: Vec::new(),
            covering: Vec::new(),
            best: BestIterate::default(),
            tableau: Vec::new(),
            basis: Vec::new(),
            pivot_row: Vec::new(),
            candidate: Vec::new(),
            lu: RankRevealingLu::default(),
            block: Vec::new(),
            active: Vec::new(),
        }
    }

    /// Uses this covering vector d > 0 instead of the one of the parameters.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] unless all entries are positive and finite.
    pub fn with_covering_vector(mut self, d: Vec<f64>) -> Result<Self, SolveError> {
        if let Some(&value) = d.iter().find(|d| !(**d > 0.0 && d.is_finite())) {
            return Err(SolveError::BadParameter { name: "covering vector", value, expected: "positive entries" });
        }
        self.given = d;
        Ok(self)
    }

    /// Fills the tableau I w − M z − d z₀ = q, in units with mean |diag M| = 1 and max |q| = 1.
    fn fill(&mut self, problem: &Lcp, scale: f64, speed: f64) {
        let n = problem.n();
        self.tableau.clear();
        for i in 0..n {
            self.tableau.extend((0..n).map(|j| f64::from(u8::from(i == j))));
            let start = self.tableau.len();
            self.tableau.resize(start + n, 0.0);
            problem.m.add_row(i, -1.0 / scale, &mut self.tableau[start..]);
            self.tableau.push(-self.covering[i]);
            self.tableau.push(problem.q[i] / speed);
        }
        self.basis.clear();
        self.basis.extend(0..n);
    }

    /// Row of the first pivot: the lexicographic minimum of (q_i, e_i)/d_i. On a tie the unit vectors
    /// decide, and the last row is the smallest.
    fn first_row(&self, n: usize) -> usize {
        let width = 2 * n + 2;
        let ratio = |i: usize| -self.tableau[i * width + 2 * n + 1] / self.tableau[i * width + 2 * n];
        let mut best = 0;
        for i in 1..n {
            // Column z₀ holds −d: the ratio above is q_i/d_i.
            if ratio(i) <= ratio(best) + TIE_TOLERANCE {
                best = i;
            }
        }
        best
    }

    /// Row that leaves when `column` enters, by the lexicographic ratio test; z₀ leaves if it can.
    fn leaving_row(&self, n: usize, column: usize) -> Option<usize> {
        let width = 2 * n + 2;
        let entry = |i: usize, j: usize| self.tableau[i * width + j];
        let largest = (0..n).map(|i| entry(i, column).abs()).fold(0.0, f64::max);
        let mut best: Option<usize> = None;
        for i in (0..n).filter(|&i| entry(i, column) > PIVOT_TOLERANCE * largest.max(1.0)) {
            best = match best {
                None => Some(i),
                Some(k) => {
                    let smaller = std::iter::once(2 * n + 1).chain(0..n).find_map(|j| {
                        let a = entry(i, j) / entry(i, column);
                        let b = entry(k, j) / entry(k, column);
                        let tie = TIE_TOLERANCE * (1.0 + a.abs().max(b.abs()));
                        if j == 2 * n + 1 && (a - b).abs() <= tie {
                            // z₀ may leave as well: that ends the path.
                            if self.basis[i] == 2 * n {
                                return Some(true);
                            }
                            if self.basis[k] == 2 * n {
                                return Some(false);
                            }
                        }
                        ((a - b).abs() > tie).then_some(a < b)
                    });
                    Some(if smaller == Some(true) { i } else { k })
                }
            };
        }
        best
    }

    /// Brings `column` into the basis at `row`.
    fn pivot(&mut self, n: usize, row: usize, column: usize) {
        let width = 2 * n + 2;
        self.pivot_row.clear();
        let source = &self.tableau[row * width..(row + 1) * width];
        let inverse = 1.0 / source[column];
        self.pivot_row.extend(source.iter().map(|x| x * inverse));
        for (i, target) in self.tableau.chunks_exact_mut(width).enumerate() {
            if i == row {
                target.copy_from_slice(&self.pivot_row);
            } else if target[column] != 0.0 {
                let factor = target[column];
                for (t, p) in target.iter_mut().zip(&self.pivot_row) {
                    *t -= factor * p;
                }
                target[column] = 0.0;
            }
        }
        self.basis[row] = column;
    }

    /// Pivots until z₀ leaves. Returns the way it ended and the number of pivots.
    fn follow_path(&mut self, n: usize, deadline: &Deadline) -> (SolveStatus, usize) {
        let z0 = 2 * n;
        let mut row = self.first_row(n);
        let mut column = z0;
        for iteration in 1..=self.max_iterations {
            let leaving = self.basis[row];
            self.pivot(n, row, column);
            if leaving == z0 {
                return (SolveStatus::Converged, iteration);
            }
            column = if leaving < n { leaving + n } else { leaving - n };
            match self.leaving_row(n, column) {
                Some(next) => row = next,
                None => return (SolveStatus::RayTermination, iteration),
            }
            if deadline.is_over() {
                return (SolveStatus::TimeLimit, iteration);
            }
        }
        (SolveStatus::MaxIterations, self.max_iterations)
    }

    /// Offers z as read off the tableau, and the solution of M_BB z_B = −q_B on its basis.
    fn offer(&mut self, problem: &Lcp, unit: f64) {
        let n = problem.n();
        let width = 2 * n + 2;
        self.candidate.clear();
        self.candidate.resize(n, 0.0);
        self.active.clear();
        for (i, &variable) in self.basis.iter().enumerate() {
            if (n..2 * n).contains(&variable) {
                self.candidate[variable - n] = (self.tableau[i * width + 2 * n + 1] * unit).max(0.0);
                self.active.push(variable - n);
            }
        }
        self.best.offer(problem, &self.candidate);
        self.block.clear();
        for &i in &self.active {
            self.block.extend(self.active.iter().map(|&j| problem.m.get(i, j)));
        }
        self.lu.factor(self.active.len(), &self.block);
        self.block.clear();
        self.block.extend(self.active.iter().map(|&i| -problem.q[i]));
        self.lu.solve(&mut self.block);
        self.candidate.fill(0.0);
        for (&i, value) in self.active.iter().zip(&self.block) {
            self.candidate[i] = value.max(0.0);
        }
        self.best.offer(problem, &self.candidate);
    }
}

impl OneStepSolver<Lcp> for Lemke {
    fn name(&self) -> &'static str {
        "lemke"
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &Lcp, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        let n = problem.n();
        if n > Self::MAX_ROWS {
            return Err(SolveError::Unsupported {
                solver: "lemke",
                reason: "it has more than 2000 rows, too many for a dense tableau",
                alternatives: "auto, newton-min, interior-point",
            });
        }
        let deadline = Deadline::after(self.time_limit);
        let scale = problem.mass_scale();
        if self.given.is_empty() {
            self.choice.fill(problem, scale, &mut self.covering);
        } else {
            check_size("covering vector", n, self.given.len())?;
            self.covering.clone_from(&self.given);
        }
        solution.prepare(n);
        solution.r.iter_mut().for_each(|z| *z = z.max(0.0));
        self.best.restart(n);
        self.best.offer(problem, &solution.r);
        let (mut status, mut iterations) = (SolveStatus::Converged, 0);
        if self.best.residual() > self.tolerance {
            self.candidate.clear();
            self.candidate.resize(n, 0.0);
            self.best.offer(problem, &self.candidate);
            let speed = problem.q.iter().fold(0.0_f64, |s, q| s.max(-q));
            if speed > 0.0 {
                self.fill(problem, scale, speed);
                (status, iterations) = self.follow_path(n, &deadline);
                self.offer(problem, speed / scale);
            }
        }
        self.best.write(problem, solution);
        Ok(problem.report("lemke", solution, iterations, self.tolerance, status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(m: &[f64], q: &[f64]) -> (SolveReport, Solution) {
        let problem = Lcp::dense(m.to_vec(), q.to_vec()).unwrap();
        let mut solution = Solution::default();
        let report = Lemke::new(&LcpSolverParams::default()).solve(&problem, &mut solution).unwrap();
        (report, solution)
    }

    #[test]
    fn solves_a_problem_known_by_hand() {
        // Both rows active: 2z₁ + z₂ = 5, z₁ + 2z₂ = 6.
        let (report, solution) = solve(&[2.0, 1.0, 1.0, 2.0], &[-5.0, -6.0]);
        assert!(report.is_converged());
        assert!((solution.r[0] - 4.0 / 3.0).abs() < 1e-15); // one rounding
        assert!((solution.r[1] - 7.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn degenerate_ties_end() {
        // Four equal rows: one constraint four times.
        let (report, solution) = solve(&[1.0; 16], &[-1.0; 4]);
        assert!(report.is_converged());
        assert!((solution.r.iter().sum::<f64>() - 1.0).abs() < 1e-14); // a few roundings
    }

    #[test]
    fn the_lexicographic_rule_resolves_ties() {
        // All first ratios tie; ties broken by row order do not get there in these few pivots.
        let (report, solution) = solve(&[1.0, 2.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0], &[-1.0; 3]);
        assert!(report.is_converged(), "{report:?}");
        assert!(report.iterations < 10, "{report:?}");
        for z in solution.r {
            assert!((z - 1.0 / 3.0).abs() < 1e-15); // one rounding
        }
    }

    #[test]
    fn an_infeasible_problem_ends_on_a_ray() {
        let (report, _) = solve(&[1.0, -1.0, -1.0, 1.0], &[-1.0, -1.0]);
        assert_eq!(report.status, SolveStatus::RayTermination);
    }

    #[test]
    fn a_covering_vector_must_be_positive() {
        let lemke = Lemke::new(&LcpSolverParams::default());
        assert!(lemke.with_covering_vector(vec![1.0, 0.0]).is_err());
    }

    #[test]
    fn every_covering_vector_leads_to_a_solution() {
        // M = [[1, 2], [2, 1]], q = −1: solutions (1, 0), (0, 1) and (1, 1)/3.
        let problem = Lcp::dense(vec![1.0, 2.0, 2.0, 1.0], vec![-1.0; 2]).unwrap();
        let mut found = Vec::new();
        let random = (0..8).map(|seed| CoveringVector::Random { seed });
        for covering in [CoveringVector::Ones, CoveringVector::Diagonal].into_iter().chain(random) {
            let params = LcpSolverParams { lemke: LemkeParams { covering }, ..Default::default() };
            let mut solution = Solution::default();
            let report = Lemke::new(&params).solve(&problem, &mut solution).unwrap();
            assert!(report.is_converged(), "{covering:?} {report:?}");
            found.push(solution.r);
        }
        assert!(found.contains(&vec![1.0, 0.0]) && found.contains(&vec![0.0, 1.0]), "{found:?}");
        let given =
            Lemke::new(&LcpSolverParams::default()).with_covering_vector(vec![1.0; 3]).unwrap().solve(&problem, &mut Solution::default());
        assert!(matches!(given, Err(SolveError::SizeMismatch { what: "covering vector", .. })));
    }

    #[test]
    fn time_ends_the_path() {
        let problem = Lcp::dense(vec![2.0, 1.0, 1.0, 2.0], vec![-5.0, -6.0]).unwrap();
        let params = LcpSolverParams { time_limit: Some(1e-9), ..Default::default() };
        let report = Lemke::new(&params).solve(&problem, &mut Solution::default()).unwrap();
        assert_eq!((report.status, report.iterations), (SolveStatus::TimeLimit, 1));
    }
}
