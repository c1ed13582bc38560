//! What one step did: the problems it solved, how well, and the energies that it exchanged.

use super::Violations;
use carom_solvers::SolveReport;

/// What the impacts before a step did.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImpactReport {
    /// Contacts that took part; 0 where there was no impact.
    pub contacts: usize,
    /// Iterations of solvers, impacts of a sequence, steps of an integration.
    pub iterations: usize,
    /// Largest residual of the solvers, or the speed of approach left over where a sequence was cut off.
    pub residual: f64,
    /// A solver did not reach its tolerance, or the number of impacts or steps was not enough.
    pub failed: bool,
}

/// What a projection did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProjectionReport {
    /// Displacements made in the step.
    pub iterations: usize,
    /// Largest |g| or penetration left (unit of the constraint; \[m\] for contacts).
    pub violation: f64,
    /// It is within the tolerance.
    pub converged: bool,
}

/// What one step did.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepReport {
    /// Report of the (last) one-step problem; `None` when no interaction was active.
    pub solve: Option<SolveReport>,
    /// Largest residual of that problem with which the scheme still does what it promises: see [`StepReport::is_tolerable`]. 0: only its tolerance counts.
    pub tolerated: f64,
    /// Newton iterations on the discrete equation of motion.
    pub newton_iterations: usize,
    /// Its relative residual.
    pub newton_residual: f64,
    /// Newton's iteration reached its tolerance.
    pub newton_converged: bool,
    /// The projection of the positions, where the scheme has one.
    pub projection: Option<ProjectionReport>,
    /// Active interactions.
    pub n_active: usize,
    /// Violations of the state at the start of the step.
    pub violations: Violations,
    /// Energy dissipated by normal impulses in this step \[J\].
    pub dissipated_impact: f64,
    /// Energy dissipated by tangential impulses in this step \[J\].
    pub dissipated_friction: f64,
    /// Energy that impacts created in this step \[J\]: contacts closed and gave more than they took.
    pub impact_gain: f64,
    /// Work of non-conservative forces and moving boundaries in this step \[J\].
    pub work: f64,
    /// The impacts before the step, where the impact law resolves them separately.
    pub impacts: ImpactReport,
}

/// Takes the report of a further one-step problem of the step: the worse of them is kept.
pub(crate) fn report_worse(report: &mut StepReport, solve: SolveReport) {
    let is_worse = |other: &SolveReport| match (solve.is_accepted(), other.is_accepted()) {
        (true, false) => false,
        (false, true) => true,
        _ => solve.residual_normalised >= other.residual_normalised,
    };
    let iterations = solve.iterations + report.solve.map_or(0, |other| other.iterations);
    let worse = if report.solve.as_ref().is_none_or(is_worse) { Some(solve) } else { report.solve };
    report.solve = worse.map(|kept| SolveReport { iterations, ..kept });
}

impl StepReport {
    /// The impacts, the one-step problem, Newton's iteration and the projection of the positions all reached their tolerances.
    #[must_use]
    pub fn converged(&self) -> bool {
        self.solve.is_none_or(|s| s.status.is_accepted()) && self.converged_but_for_solver()
    }

    /// The one-step problem has a residual that the scheme tolerates, and all else reached its tolerance: the step is gone on with, counted and recorded
    /// as an event, whatever the policy of the run.
    #[must_use]
    pub fn is_tolerable(&self) -> bool {
        self.tolerated > 0.0 && self.converged_but_for_solver() && self.solve.is_some_and(|s| s.residual_normalised <= self.tolerated)
    }

    fn converged_but_for_solver(&self) -> bool {
        self.newton_converged && !self.impacts.failed && self.projection.is_none_or(|p| p.converged)
    }
}
