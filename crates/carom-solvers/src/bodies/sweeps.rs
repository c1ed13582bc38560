//! The solver: islands, then sweeps over each.

use super::island::{Island, Task};
use super::islands::Islands;
use super::leader::{Limits, Outcome};
use super::partition::n_blocks;
use super::{BodyProblem, BodySolution, GROUND, Measure};
use crate::report::{SolveReport, SolveStatus};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Settings of [`BodySweeps`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BodySweepsParams {
    /// Largest accepted normalised residual, default 1e-4, positive, nominal 1e-10 … 1e-3.
    pub tolerance: f64,
    /// Largest number of sweeps, default 5000, ≥ 1.
    pub max_sweeps: usize,
    /// Residual that is aimed at where this is cheap: sweeps go on from the tolerance towards it as long as the contacts have had fewer visits than
    /// `cheap_visits`, all together. Default 1e-12, ≥ 0. Structures at rest, which start from the solution of the last step, get there.
    pub aim: f64,
    /// Visits of contacts up to which `aim` is sought, default 20 000 (half a millisecond); 0 stops at the tolerance.
    pub cheap_visits: usize,
    /// Momentum between sweeps, default on.
    pub momentum: bool,
    /// Islands at rest that do not reach `aim` cheaply are solved by Newton's method with a sparse factorisation of up to so many floating-point operations; default 3e7
    /// (some ten milliseconds), ≥ 0. 0 leaves them at the tolerance: towers and walls then creep.
    pub exact_flops: f64,
}

impl Default for BodySweepsParams {
    fn default() -> Self {
        BodySweepsParams { tolerance: 1e-4, max_sweeps: 5000, aim: 1e-12, cheap_visits: 20_000, momentum: true, exact_flops: 3e7 }
    }
}

/// Problems for which the storage of islands that are not in use is kept.
const KEPT: usize = 32;

/// Tolerance of islands, in that of the whole, where the whole is not within it although each island is: its residual may be up to √3 times the largest of them; more
/// where some islands are not to be solved again.
const TIGHTER: [f64; 2] = [0.57, 0.05];

/// Fewest contacts that a thread takes at once.
const PIECE: usize = 1024;

/// Solver for contacts of many rigid bodies; see the [module](super).
#[derive(Debug, Default)]
pub struct BodySweeps {
    params: BodySweepsParams,
    arch: pulp::Arch,
    union: Islands,
    sizes: Vec<u32>,
    order: Vec<u32>,
    /// Number of each body in its island.
    local: Vec<u32>,
    islands: Vec<Island>,
    n_islands: usize,
    /// Most islands of the last problems, and the number of these problems.
    most_islands: usize,
    problems: usize,
    /// Parts of the residual.
    parts: Vec<Measure>,
    /// Mass unit of the last problem, and how each of its islands came out, by the first body, ascending.
    unit: f64,
    outcomes: Vec<(u32, Outcome)>,
}

impl BodySweeps {
    /// Its name in reports.
    pub const NAME: &str = "body-sweeps";

    /// A solver with these settings.
    #[must_use]
    pub fn new(params: BodySweepsParams) -> Self {
        BodySweeps { params, ..BodySweeps::default() }
    }

    /// Changes the settings.
    pub fn set_params(&mut self, params: BodySweepsParams) {
        self.params = params;
    }

    /// Number of islands of the last problem.
    #[must_use]
    pub fn n_islands(&self) -> usize {
        self.n_islands
    }

    /// Bodies and contacts of an island of the last problem, both ascending.
    #[must_use]
    pub fn island(&self, number: usize) -> (&[u32], &[u32]) {
        let island = &self.islands[..self.n_islands][number];
        (&island.bodies, &island.contacts)
    }

    /// Solves from the guess in `solution.impulses` and `solution.row_impulses`; any other length than the problem's counts as zero.
    pub fn solve(&mut self, problem: &BodyProblem, solution: &mut BodySolution) -> SolveReport {
        solution.row_impulses.resize(problem.n_other_rows(), 0.0);
        solution.row_velocities.resize(problem.n_other_rows(), 0.0);
        solution.bodies.clone_from(&problem.velocities);
        rest_sleepers(problem, solution);
        self.split(problem);
        self.islands[..self.n_islands].iter_mut().for_each(|island| island.is_open = true);
        self.solve_islands(problem, solution, None)
    }

    /// Solves a problem that differs from the last one by contacts at the places `changed`, which are new or other than they were, from its solution, with a guess of the
    /// impulses of new contacts among the others: only the islands that they belong to. The residual is in the mass unit of the last problem. There must be no rows.
    pub fn solve_changed(&mut self, problem: &BodyProblem, solution: &mut BodySolution, changed: &[u32]) -> SolveReport {
        self.split(problem);
        let outcomes = &self.outcomes;
        for island in &mut self.islands[..self.n_islands] {
            let found = outcomes.binary_search_by_key(&island.bodies.first(), |(body, _)| Some(body));
            // where all is as it was, that is how it came out
            island.is_open = found.is_err();
            island.outcome = found.map_or(Outcome::default(), |place| outcomes[place].1);
        }
        for &contact in changed {
            for body in problem.contacts[contact as usize].bodies.into_iter().filter(|body| *body != GROUND) {
                self.islands[self.union.island(body)].is_open = true;
            }
        }
        self.solve_islands(problem, solution, Some(self.unit))
    }

    /// Solves the islands that are open. The mass unit is that of the whole problem where none is given.
    fn solve_islands(&mut self, problem: &BodyProblem, solution: &mut BodySolution, unit: Option<f64>) -> SolveReport {
        solution.impulses.resize(problem.contacts.len(), [0.0; 3]);
        let threads = rayon::current_num_threads();
        let islands = &mut self.islands[..self.n_islands];
        let n_large = islands.iter().take_while(|island| threads > 1 && n_blocks(island.contacts.len()) > 1).count();
        let (large, small) = islands.split_at_mut(n_large);
        let (local, guess) = (&self.local, &*solution);
        on_open((large, small), |island, _| island.build(problem, guess, local));
        let n_contacts: usize = large.iter().chain(&*small).map(|island| island.contacts.len()).sum();
        self.unit = unit.unwrap_or_else(|| {
            let trace: f64 = large.iter().chain(&*small).map(|island| island.trace).sum();
            let mean = trace / (3 * n_contacts + problem.n_other_rows()).max(1) as f64;
            if mean > 0.0 && mean.is_finite() { mean } else { 1.0 }
        });
        let tolerance = self.params.tolerance;
        let BodySweepsParams { max_sweeps, aim, cheap_visits, momentum, exact_flops, .. } = self.params;
        let cheap_sweeps = cheap_visits / n_contacts.max(1);
        let limits = Limits { tolerance, max_sweeps, aim: aim.min(tolerance), cheap_sweeps, unit: self.unit, momentum, exact_flops };
        let task = Task { problem, local, limits, arch: self.arch };
        on_open((large, small), |island, shared| island.solve(task, shared));
        for part in TIGHTER {
            let mut total = Measure::default();
            large.iter().chain(&*small).for_each(|island| total.add(&island.outcome.measure));
            if total.residual() <= tolerance {
                break;
            }
            let limits = Limits { tolerance: part * tolerance, ..limits };
            on_open((large, small), |island, shared| island.go_on(Task { limits, ..task }, shared));
        }
        self.report(problem, solution)
    }

    fn report(&mut self, problem: &BodyProblem, solution: &mut BodySolution) -> SolveReport {
        let (mut total, mut sweeps, mut stalled) = (Measure::default(), 0, false);
        self.outcomes.clear();
        for island in &mut self.islands[..self.n_islands] {
            if island.is_open {
                island.read_out(problem, solution);
            }
            total.add(&island.outcome.measure);
            sweeps = sweeps.max(island.outcome.sweeps);
            stalled |= island.outcome.stalled;
            self.outcomes.push((island.bodies[0], island.outcome));
        }
        self.outcomes.sort_unstable_by_key(|(body, _)| *body);
        let residual_normalised = total.residual();
        let otherwise = if stalled { SolveStatus::Stalled } else { SolveStatus::MaxIterations };
        SolveReport {
            status: SolveStatus::judged(residual_normalised, self.params.tolerance, otherwise),
            solver: Self::NAME,
            iterations: sweeps,
            residual: problem.judge(solution, &mut self.parts),
            residual_normalised,
        }
    }

    /// Gives back the storage of islands that have not been in use for some problems: piles that collapse into one leave many behind.
    fn drop_unused(&mut self) {
        self.most_islands = self.most_islands.max(self.n_islands);
        self.problems += 1;
        if self.problems == KEPT {
            self.islands.truncate(self.most_islands);
            (self.most_islands, self.problems) = (0, 0);
        }
    }

    /// Sorts contacts and rows into islands.
    fn split(&mut self, problem: &BodyProblem) {
        let n = problem.masses.len();
        self.union.reset(n);
        let moving = |bodies: [u32; 2]| bodies.into_iter().filter(|&body| body != GROUND && !problem.sleeps(body));
        let union = &self.union;
        problem.contacts.par_iter().with_min_len(PIECE).for_each(|contact| {
            let mut moving = moving(contact.bodies);
            if let (Some(a), Some(b)) = (moving.next(), moving.next()) {
                union.join(a, b);
            }
        });
        for rows in &problem.rows {
            let mut bodies = problem.bodies_of(rows);
            if let Some(first) = bodies.next() {
                bodies.for_each(|other| self.union.join(first, other));
            }
        }
        self.sizes.clear();
        self.sizes.resize(n, 0);
        for contact in &problem.contacts {
            if let Some(body) = moving(contact.bodies).next() {
                self.sizes[self.union.root(body) as usize] += 1;
            }
        }
        for rows in &problem.rows {
            if let Some(body) = problem.bodies_of(rows).next() {
                self.sizes[self.union.root(body) as usize] += 1;
            }
        }
        self.union.number(&self.sizes, &mut self.order);
        self.n_islands = self.order.len();
        self.drop_unused();
        if self.islands.len() < self.n_islands {
            self.islands.resize_with(self.n_islands, Island::default);
        }
        self.islands.iter_mut().for_each(Island::clear);
        self.local.clear();
        self.local.resize(n, u32::MAX);
        for body in 0..n as u32 {
            let root = self.union.root(body);
            if self.sizes[root as usize] > 0 {
                let island = &mut self.islands[self.union.island(body)];
                self.local[body as usize] = island.bodies.len() as u32;
                island.bodies.push(body);
            }
        }
        for (index, contact) in problem.contacts.iter().enumerate() {
            if let Some(body) = moving(contact.bodies).next() {
                self.islands[self.union.island(body)].contacts.push(index as u32);
            }
        }
        for (index, rows) in problem.rows.iter().enumerate() {
            if let Some(body) = problem.bodies_of(rows).next() {
                self.islands[self.union.island(body)].rows.push(index as u32);
            }
        }
    }
}

/// Acts on the islands that are open: large ones one after the other, by all threads (`true`), then small ones side by side.
fn on_open((large, small): (&mut [Island], &mut [Island]), act: impl Fn(&mut Island, bool) + Sync) {
    large.iter_mut().filter(|island| island.is_open).for_each(|island| act(island, true));
    small.par_iter_mut().filter(|island| island.is_open).for_each(|island| act(island, false));
}

/// Bodies that sleep do not move; the impulses of their contacts stay those of the guess.
fn rest_sleepers(problem: &BodyProblem, solution: &mut BodySolution) {
    for (v, _) in solution.bodies.iter_mut().zip(&problem.asleep).filter(|(_, asleep)| **asleep) {
        *v = [0.0; 6];
    }
}
