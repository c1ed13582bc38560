//! An impact as a problem of its own, and its resolution.

use super::cluster::{Cluster, Elimination, Path, clusters};
use super::sweeps::Sweeps;
use super::{ImpactLaw, choice, energetic, newton, poisson, sequential};
use crate::laws::{ContactLaw, Law};
use carom_solvers::registry::friction_contact_solver;
use carom_solvers::{Block, BoxedSolver, Delassus, DenseDelassus, FrictionContact, FrictionSolverParams, Solution, SolveError};
use std::ops::Range;

/// Contacts and constraints at the instant of an impact: u⁺ = u⁻ + W P.
///
/// ```
/// use carom_dynamics::impacts::{ImpactLaw, ImpactProblem, resolve};
/// use carom_dynamics::{ContactLaw, Law};
/// use carom_solvers::DenseDelassus;
///
/// // Newton's cradle: three balls of 1 kg in a row, the first arrives at 1 m/s. W = G M⁻¹ Gᵀ.
/// let w = DenseDelassus::new(vec![2.0, -1.0, -1.0, 2.0], &[1, 1])?;
/// let problem = ImpactProblem::new(w.into(), vec![-1.0, 0.0], vec![Law::unilateral(1.0); 2]);
/// let sequential = ImpactLaw::Sequential(Default::default());
/// // the last ball leaves at 1 m/s, the others rest
/// assert_eq!(resolve(&problem, &sequential)?.impulses, [1.0, 1.0]);
/// // Newton's law at both contacts at once: (−1/3, 2/3, 2/3) m/s
/// let together = resolve(&problem, &ImpactLaw::Newton)?.impulses;
/// assert!((together[0] - 4.0 / 3.0).abs() < 1e-12 && (together[1] - 2.0 / 3.0).abs() < 1e-12);
/// # Ok::<(), carom_solvers::SolveError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ImpactProblem {
    /// W = G M⁻¹ Gᵀ \[1/kg\].
    pub w: Delassus,
    /// u⁻ by rows \[m/s\], normal first, negative when approaching.
    pub velocity: Vec<f64>,
    /// The interactions, in the order of the blocks of W.
    pub blocks: Vec<ImpactBlock>,
}

/// An interaction of an impact.
#[derive(Clone, Debug)]
pub struct ImpactBlock {
    /// Its law.
    pub law: Law,
    /// Its rows.
    pub rows: Range<usize>,
    /// Its cone, with the friction coefficient at the sliding speed before the impact.
    pub block: Block,
}

impl ImpactBlock {
    /// Makes a constraint of an effort without bounds; whether it is one. What it keeps is u⁺ = 0: its velocity before the impact is to count as none.
    pub(crate) fn hold_rigid(&mut self) -> bool {
        let is_rigid = self.law.bounded().is_some_and(|law| law.is_rigid(self.rows.len()));
        if is_rigid {
            (self.law, self.block) = (Law::Bilateral, Block::Bilateral { dim: self.rows.len() });
        }
        is_rigid
    }
}

impl ImpactProblem {
    /// The problem of these laws; the cones follow from the number of rows of the blocks of W.
    #[must_use]
    pub fn new(w: Delassus, velocity: Vec<f64>, laws: Vec<Law>) -> Self {
        let block = |(b, law): (usize, Law)| {
            let rows = w.offset(b)..w.offset(b + 1);
            let slip = velocity[rows.clone()].iter().skip(1).take(2).map(|u| u * u).sum::<f64>().sqrt();
            let block = match law {
                Law::Bilateral => Block::Bilateral { dim: rows.len() },
                Law::Contact(contact) => contact.block(rows.len(), slip),
                Law::Bounded(bounded) => bounded.block(rows.len(), 0.0, 0.0),
            };
            ImpactBlock { law, rows, block }
        };
        let blocks = laws.into_iter().enumerate().map(block).collect();
        ImpactProblem { w, velocity, blocks }
    }

    /// The contacts among the blocks.
    fn contacts(&self) -> impl Iterator<Item = (&ImpactBlock, &ContactLaw)> {
        self.blocks.iter().filter_map(|block| block.law.contact().map(|law| (block, law)))
    }
}

/// What an impact did.
#[derive(Clone, Debug, Default)]
pub struct ImpactOutcome {
    /// P by rows \[N·s\].
    pub impulses: Vec<f64>,
    /// u⁺ by rows \[m/s\].
    pub velocity: Vec<f64>,
    /// Energy \[J\] that each interaction took by its normal and by its tangential impulses, along the path of the law; zero for constraints.
    /// The sum is the loss of kinetic energy, but for moving obstacles and constraints violated before the impact.
    pub dissipated: Vec<[f64; 2]>,
    /// Interactions in the order in which they were hit, for laws that have one.
    pub sequence: Vec<u32>,
    /// Laws that were chosen by chance, one for each cluster of contacts that left a choice.
    pub chosen: Vec<&'static str>,
    /// Interactions that took part: those of clusters in which some contact approached.
    pub involved: Vec<bool>,
    /// Iterations of solvers, impacts of a sequence, steps of an integration.
    pub iterations: usize,
    /// Largest residual of the solvers, or the speed of approach left over where a sequence was cut off.
    pub residual: f64,
    /// A solver did not reach its tolerance, or the number of impacts or steps was not enough.
    pub failed: bool,
}

impl ImpactOutcome {
    /// Energy taken by all normal and all tangential impulses \[J\].
    #[must_use]
    pub fn total_dissipated(&self) -> [f64; 2] {
        self.dissipated.iter().fold([0.0; 2], |[n, t], taken| [n + taken[0], t + taken[1]])
    }

    /// Energy that the impact created \[J\], 0 where it took some.
    #[must_use]
    pub fn gain(&self) -> f64 {
        let [normal, tangential] = self.total_dissipated();
        (-normal - tangential).max(0.0)
    }
}

/// What resolutions need besides the problem, kept from impact to impact.
pub struct Resolver {
    solver: BoxedSolver<FrictionContact>,
    pub(super) sweeps: Sweeps,
    /// Choices made so far: the counter of the generator of [`ImpactLaw::Choice`].
    pub draws: u64,
}

/// Tolerance of the solvers of impacts, on the normalised residual.
const TOLERANCE: f64 = 1e-13;

impl Resolver {
    /// A resolver with the default solver of friction contact.
    ///
    /// # Errors
    /// Never with the default settings.
    pub fn new() -> Result<Self, SolveError> {
        let params = FrictionSolverParams { tolerance: TOLERANCE, ..FrictionSolverParams::default() };
        Ok(Resolver { solver: friction_contact_solver(&params)?, sweeps: Sweeps::default(), draws: 0 })
    }

    /// Resolves an impact. Clusters without an approaching contact keep their velocities.
    ///
    /// # Errors
    /// [`SolveError`] for sizes and values that no problem can have. Not converging is told by the outcome.
    pub fn resolve(&mut self, problem: &ImpactProblem, law: &ImpactLaw) -> Result<ImpactOutcome, SolveError> {
        self.resolve_above(problem, law, 0.0)
    }

    /// The same, where contacts that approach at most at the speed `rest` \[m/s\] are at rest.
    pub(crate) fn resolve_above(&mut self, problem: &ImpactProblem, law: &ImpactLaw, rest: f64) -> Result<ImpactOutcome, SolveError> {
        let n = problem.velocity.len();
        let mut outcome = ImpactOutcome {
            impulses: vec![0.0; n],
            velocity: problem.velocity.clone(),
            dissipated: vec![[0.0; 2]; problem.blocks.len()],
            involved: vec![false; problem.blocks.len()],
            ..ImpactOutcome::default()
        };
        if !problem.contacts().any(|(block, _)| problem.velocity[block.rows.start] < -rest) {
            return Ok(outcome);
        }
        let mut dense = Vec::new();
        problem.w.to_dense(&mut dense);
        for blocks in clusters(&problem.w, &dense) {
            let mut of_contacts = blocks.iter().filter(|&&b| problem.blocks[b].law.is_contact());
            if !of_contacts.any(|&b| problem.velocity[problem.blocks[b].rows.start] < -rest) {
                continue;
            }
            let (elimination, cluster) = Elimination::new(problem, &dense, &blocks);
            let mut path = Path::new(&cluster);
            let (chosen, law) = choice::choose(law, &cluster, &mut self.draws);
            outcome.chosen.extend(chosen.then(|| law.name()));
            self.resolve_cluster(&cluster, law, &mut path)?;
            elimination.spread(&path.p, &mut outcome.impulses);
            let contacts: Vec<usize> = blocks.iter().copied().filter(|&b| problem.blocks[b].law.is_contact()).collect();
            for (&b, taken) in contacts.iter().zip(&path.dissipated) {
                outcome.dissipated[b] = *taken;
            }
            outcome.sequence.extend(path.sequence.iter().map(|&i| contacts[i as usize] as u32));
            blocks.iter().for_each(|&b| outcome.involved[b] = true);
            outcome.iterations += path.iterations;
            outcome.residual = outcome.residual.max(path.residual);
            outcome.failed |= path.failed;
        }
        problem.w.multiply(&outcome.impulses, &mut outcome.velocity);
        for (u, before) in outcome.velocity.iter_mut().zip(&problem.velocity) {
            *u += before;
        }
        Ok(outcome)
    }

    fn resolve_cluster(&mut self, cluster: &Cluster, law: &ImpactLaw, path: &mut Path) -> Result<(), SolveError> {
        match law {
            ImpactLaw::Newton => newton::newton(self, cluster, path),
            ImpactLaw::Inelastic => newton::inelastic(self, cluster, path),
            ImpactLaw::Poisson => poisson::poisson(self, cluster, path),
            ImpactLaw::Sequential(params) => sequential::sequential(self, cluster, params, path),
            ImpactLaw::Energetic(params) => {
                energetic::energetic(&mut self.sweeps, cluster, params, path);
                Ok(())
            }
            // a choice is made before, and none among its outcomes is one
            ImpactLaw::Choice(_) => Ok(()),
        }
    }

    /// Solves u = W p + q with the cones of these contacts, whose rows start at `rows.start`: p, with the report taken into the path.
    pub(super) fn solve(&mut self, parts: LocalProblem<'_>, path: &mut Path) -> Result<Vec<f64>, SolveError> {
        let dims: Vec<usize> = parts.blocks.iter().map(Block::dim).collect();
        let w = Delassus::Dense(DenseDelassus::new(parts.w, &dims)?);
        let mut solution = Solution::default();
        let problem = FrictionContact { w, q: parts.q, blocks: parts.blocks.to_vec() };
        let report = self.solver.solve(&problem, &mut solution)?;
        path.iterations += report.iterations;
        path.residual = path.residual.max(report.residual_normalised);
        // a stall at the level of rounding is a solution
        path.failed |= !report.is_accepted() && report.residual_normalised > 1e-10;
        Ok(solution.r)
    }
}

/// W, q and the cones of a friction contact problem.
pub(super) struct LocalProblem<'a> {
    pub w: Vec<f64>,
    pub q: Vec<f64>,
    pub blocks: &'a [Block],
}

/// Resolves one impact; see [`Resolver::resolve`].
///
/// # Errors
/// As [`Resolver::resolve`].
pub fn resolve(problem: &ImpactProblem, law: &ImpactLaw) -> Result<ImpactOutcome, SolveError> {
    Resolver::new()?.resolve(problem, law)
}
