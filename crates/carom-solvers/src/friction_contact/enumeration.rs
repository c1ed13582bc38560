//! Planar contacts by enumeration of their modes.

use super::FrictionContact;
use super::FrictionSolverParams;
use super::contact_modes::{ContactModes, NAME};
use super::elimination::Elimination;
use crate::cones::{Block, norm_squared};
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::report::{SolveReport, SolveStatus};
use crate::{OneStepSolver, Solution};

/// Tries every combination of the modes of planar and frictionless contacts,
///
/// ```text
///   open:   r = 0,                       u_N ≥ 0
///   stick:  u = 0,                       |r_T| ≤ μ r_N
///   slide:  u_N = 0, r_T = −s μ r_N,     s u_T ≥ 0, r_N ≥ 0,    s = ±1
/// ```
///
/// each a linear system in the impulses of the closed contacts, the joints eliminated. A frictionless contact is open or closed.
/// [the modes: Pfeiffer & Glocker, *Multibody Dynamics with Unilateral Contacts*, 1996]
///
/// When to use it: to know *all* solutions of a small problem ([`Enumeration::all_solutions`]), such as the several ones, or none,
/// of Painlevé's rod; as the reference for the other solvers. At most 4¹⁰ combinations: 10 contacts with friction, or 20 without.
/// [`OneStepSolver::solve`] stops at the first solution, starting with the modes of the guess. Where every combination was tried
/// without success the status is `Stalled` with the best impulse found: there is no solution, or it is lost in rounding.
///
/// Where the system of a combination is singular (redundant contacts) its solutions are a family, of which one is tried, with as many zero
/// impulses as possible; the corners of the family belong to other combinations, which are tried too. Works for W that is not
/// symmetric or indefinite. Cost: one LU per combination, some 4 µs for ten
/// contacts, so seconds for all of theirs and longer where redundant contacts give hundreds of solutions; combinations are not cut
/// short, as no partial choice of modes excludes a solution for every W. `max_iterations` does not limit it, `time_limit` does.
#[derive(Debug)]
pub struct Enumeration {
    tolerance: f64,
    time_limit: Option<f64>,
    elimination: Elimination,
    contacts: ContactModes,
}

/// Solutions whose impulses differ by less than this part of the largest are one: at the edge of two modes a solution is found twice,
/// with roundings in the digits the residual leaves open.
const SAME: f64 = 1e-7;

impl Enumeration {
    /// A solver with these parameters.
    pub fn new(params: &FrictionSolverParams) -> Self {
        Enumeration {
            tolerance: params.tolerance,
            time_limit: params.time_limit,
            elimination: Elimination::new(),
            contacts: ContactModes::default(),
        }
    }

    /// All solutions with a normalised residual of at most 1e-10, in the order of their modes; empty when there is none. Of a
    /// family of solutions (redundant contacts) some members.
    ///
    /// # Errors
    /// Those of a malformed problem, and [`SolveError::Unsupported`] for spatial friction or too many contacts.
    pub fn all_solutions(problem: &FrictionContact) -> Result<Vec<Solution>, SolveError> {
        problem.validate()?;
        let Enumeration { tolerance, mut elimination, mut contacts, .. } = Enumeration::new(&FrictionSolverParams::default());
        let mut found = Vec::new();
        let mut collect = |problem: &FrictionContact, tolerance: f64| -> Result<(), SolveError> {
            let smallest = norm_squared(&problem.q).sqrt() / problem.mass_scale();
            contacts.enumerate(problem, tolerance, Deadline::default(), |solution, _| {
                if !found.iter().any(|other| are_same(other, solution, smallest)) {
                    found.push(solution.clone());
                }
                false
            })?;
            Ok(())
        };
        if !problem.blocks.iter().any(Block::is_bilateral) {
            collect(problem, tolerance)?;
            return Ok(found);
        }
        // The joints follow from the contacts: first all of the contacts, then each with its joints.
        let mut full = Solution::default();
        full.prepare(problem.n_rows());
        let report = elimination.solve(problem, &mut full, tolerance, |reduced, solution, tolerance| {
            collect(reduced, tolerance)?;
            reduced.velocity(&solution.r, &mut solution.u);
            Ok(reduced.report(NAME, solution, 1, 0.0, SolveStatus::Stalled))
        })?;
        if problem.blocks.iter().all(Block::is_bilateral) {
            return Ok(if report.is_converged() { vec![full] } else { Vec::new() });
        }
        let mut all = Vec::new();
        for contacts in &found {
            let report = elimination.solve(problem, &mut full, tolerance, |reduced, solution, _| {
                solution.clone_from(contacts);
                Ok(reduced.report(NAME, solution, 1, 0.0, SolveStatus::Stalled))
            })?;
            if report.is_converged() {
                all.push(full.clone());
            }
        }
        Ok(all)
    }
}

/// True when the impulses agree up to [`SAME`], relative to the largest or to `smallest`.
fn are_same(a: &Solution, b: &Solution, smallest: f64) -> bool {
    let size = a.r.iter().chain(&b.r).fold(smallest, |size, x| size.max(x.abs()));
    a.r.iter().zip(&b.r).all(|(x, y)| (x - y).abs() <= SAME * size)
}

impl OneStepSolver<FrictionContact> for Enumeration {
    fn name(&self) -> &'static str {
        NAME
    }

    fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    fn solve(&mut self, problem: &FrictionContact, solution: &mut Solution) -> Result<SolveReport, SolveError> {
        problem.validate()?;
        solution.prepare(problem.n_rows());
        let deadline = Deadline::after(self.time_limit);
        let contacts = &mut self.contacts;
        if problem.blocks.iter().any(Block::is_bilateral) {
            let solve = |p: &FrictionContact, s: &mut Solution, t| contacts.solve(p, s, t, deadline);
            self.elimination.solve(problem, solution, self.tolerance, solve)
        } else {
            contacts.solve(problem, solution, self.tolerance, deadline)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delassus::{Delassus, DenseDelassus};

    fn problem(w: Vec<f64>, q: Vec<f64>, blocks: Vec<Block>) -> FrictionContact {
        let dims: Vec<usize> = blocks.iter().map(Block::dim).collect();
        FrictionContact { w: Delassus::Dense(DenseDelassus::new(w, &dims).unwrap()), q, blocks }
    }

    fn impulses(problem: &FrictionContact) -> Vec<Vec<f64>> {
        Enumeration::all_solutions(problem).unwrap().into_iter().map(|s| s.r).collect()
    }

    fn near(x: &[Vec<f64>], exact: &[&[f64]]) {
        assert_eq!(x.len(), exact.len(), "{x:?}");
        for (a, b) in x.iter().flatten().zip(exact.iter().copied().flatten()) {
            assert!((a - b).abs() < 1e-13, "{x:?}"); // roundings of a 2 × 2 system
        }
    }

    #[test]
    fn a_rod_in_the_mode_of_painleve_has_three_solutions() {
        // W positive definite with W_NN − μ W_NT = 1 − 2 < 0: pressing harder while sliding to the right pulls the tip down.
        // q_N > 0: open; slide r_N = −q_N/(−1) = 0.1; stick r = −W⁻¹ q = (−0.5 + 2, 0.2 − 1).
        let rod = problem(vec![1.0, 2.0, 2.0, 5.0], vec![0.1, 1.0], vec![Block::Coulomb2 { mu: 1.0 }]);
        near(&impulses(&rod), &[&[0.0, 0.0], &[1.5, -0.8], &[0.1, -0.1]]);
        // Without coupling there is one.
        let free = problem(vec![1.0, 0.0, 0.0, 5.0], vec![0.1, 1.0], vec![Block::Coulomb2 { mu: 1.0 }]);
        near(&impulses(&free), &[&[0.0, 0.0]]);
    }

    #[test]
    fn a_rod_without_a_solution_is_said_to_have_none() {
        // A rod that can only slide (its tip is driven, W_TT = W_TN = 0): u_N = −0.1 + (1 − 2) r_N stays negative. [Painlevé's case of no solution]
        let driven = problem(vec![1.0, 2.0, 0.0, 0.0], vec![-0.1, 1.0], vec![Block::Coulomb2 { mu: 1.0 }]);
        assert!(impulses(&driven).is_empty());
        let mut solution = Solution::default();
        let mut solver = Enumeration::new(&FrictionSolverParams::default());
        let report = solver.solve(&driven, &mut solution).unwrap();
        assert_eq!(report.status, SolveStatus::Stalled);
        assert_eq!(report.iterations, 4);
        // The same tip separating: it may go on, or be caught with r_N = 0.1.
        let separating = problem(vec![1.0, 2.0, 0.0, 0.0], vec![0.1, 1.0], vec![Block::Coulomb2 { mu: 1.0 }]);
        near(&impulses(&separating), &[&[0.0, 0.0], &[0.1, -0.1]]);
    }

    #[test]
    fn joints_follow_the_contacts() {
        // The rod above with a joint on a body of its own, coupled to the tip's normal.
        let w = vec![1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 2.0, 5.0];
        let blocks = vec![Block::Bilateral { dim: 1 }, Block::Coulomb2 { mu: 1.0 }];
        near(&impulses(&problem(w, vec![-3.0, 0.1, 1.0], blocks)), &[&[3.0, 0.0, 0.0], &[3.0, 1.5, -0.8], &[3.0, 0.1, -0.1]]);
        let only = problem(vec![2.0], vec![-3.0], vec![Block::Bilateral { dim: 1 }]);
        near(&impulses(&only), &[&[1.5]]);
    }

    #[test]
    fn the_guess_shows_the_modes_to_try_first() {
        let rod = problem(vec![1.0, 2.0, 2.0, 5.0], vec![0.1, 1.0], vec![Block::Coulomb2 { mu: 1.0 }]);
        let mut solver = Enumeration::new(&FrictionSolverParams::default());
        for (guess, exact) in [([0.0, 0.0], [0.0, 0.0]), ([1.0, -0.1], [1.5, -0.8]), ([1.0, -1.0], [0.1, -0.1])] {
            let mut solution = Solution { r: guess.to_vec(), u: Vec::new() };
            let report = solver.solve(&rod, &mut solution).unwrap();
            assert!(report.is_converged() && report.iterations <= 1, "{report:?}");
            near(&[solution.r], &[&exact]);
        }
    }

    #[test]
    fn large_and_spatial_problems_are_refused() {
        let large = problem(vec![0.0; 22 * 22], vec![-1.0; 22], vec![Block::Coulomb2 { mu: 0.5 }; 11]);
        assert!(matches!(Enumeration::all_solutions(&large), Err(SolveError::Unsupported { .. })));
        let spatial = problem(vec![0.0; 9], vec![-1.0; 3], vec![Block::Coulomb3 { mu: 0.5 }]);
        assert!(matches!(Enumeration::all_solutions(&spatial), Err(SolveError::Unsupported { .. })));
    }
}
