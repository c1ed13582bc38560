//! What a solver says about its result.

/// How a solve ended. Only [`SolveStatus::Converged`] promises a residual below the tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolveStatus {
    /// The normalised residual is at or below the tolerance.
    Converged,
    /// The iteration limit was reached first; the best iterate found is returned.
    MaxIterations,
    /// Further iterations would not improve the iterate, which is still above the tolerance.
    Stalled,
    /// A pivoting method followed an unbounded ray: the problem may have no solution.
    RayTermination,
    /// The time limit was reached first; the best iterate found is returned.
    TimeLimit,
    /// The approximate law the solver was asked for (a convex relaxation, a polyhedral cone) is solved. The residuals are
    /// those of the exact law, above the tolerance.
    Relaxed,
}

impl SolveStatus {
    /// True when the result meets the tolerance.
    pub fn is_converged(self) -> bool {
        self == SolveStatus::Converged
    }

    /// What the judge says: converged where the residual meets the tolerance, otherwise how the method ended. A method that
    /// believed in its success has stalled.
    pub(crate) fn judged(residual: f64, tolerance: f64, otherwise: SolveStatus) -> SolveStatus {
        if residual <= tolerance {
            SolveStatus::Converged
        } else if otherwise.is_converged() {
            SolveStatus::Stalled
        } else {
            otherwise
        }
    }

    /// True when the result is what was asked for: converged, or the solution of the approximate law that was chosen.
    pub fn is_accepted(self) -> bool {
        matches!(self, SolveStatus::Converged | SolveStatus::Relaxed)
    }

    /// The name in reports: `converged`, `max-iterations`, `stalled`, `ray`, `time-limit` or `relaxed`.
    pub fn name(self) -> &'static str {
        match self {
            SolveStatus::Converged => "converged",
            SolveStatus::MaxIterations => "max-iterations",
            SolveStatus::Stalled => "stalled",
            SolveStatus::RayTermination => "ray",
            SolveStatus::TimeLimit => "time-limit",
            SolveStatus::Relaxed => "relaxed",
        }
    }
}

/// Result of one solve. The residuals are those of the problem, recomputed from the returned
/// solution, never an estimate internal to the solver.
#[derive(Clone, Copy, Debug)]
pub struct SolveReport {
    /// How the solve ended.
    pub status: SolveStatus,
    /// Registry name of the solver that produced the solution (for `auto`, the one chosen).
    pub solver: &'static str,
    /// Sweeps or pivots done; 0 when the guess was already a solution.
    pub iterations: usize,
    /// Residual in the units of the problem.
    pub residual: f64,
    /// Residual in the mass unit that gives mean(diag W) = 1: the judge of convergence.
    pub residual_normalised: f64,
}

impl SolveReport {
    /// True when the result meets the tolerance.
    pub fn is_converged(&self) -> bool {
        self.status.is_converged()
    }

    /// True when the result is what was asked for; see [`SolveStatus::is_accepted`].
    pub fn is_accepted(&self) -> bool {
        self.status.is_accepted()
    }
}
