//! Time-stepping schemes: each advances the nonsmooth equations by one step.

pub mod moreau_jean;

use crate::diagnostics::Violations;
use crate::error::StepError;
use crate::memory::StepMemory;
use crate::model::Model;
use crate::state::State;
use carom_solvers::SolveReport;

pub use moreau_jean::{MoreauJean, MoreauJeanParams};

/// One step of the measure differential inclusion M dv = F dt + Gᵀ dp.
///
/// To add a scheme:
/// 1. one file in `schemes/` with its `Params` (serde, `validate`), the discrete equations and their source in the header;
/// 2. implement this trait; take shared stages from `assembly.rs`;
/// 3. one line in [`SCHEMES`]; the convergence test runs it on the textbook problems.
pub trait Scheme: Send + Sync {
    /// Name in model files.
    fn name(&self) -> &'static str;

    /// Order of convergence across impacts, and in free motion with constant mass.
    fn order(&self) -> (usize, usize);

    /// Advances `state` by `h` seconds. First of all it keeps the state ([`StepMemory::keep_start`]), so that the caller
    /// can restore it when the step fails or does not converge.
    ///
    /// # Errors
    /// [`StepError`], naming the system or formula. Not converging is a status of the report, not an error.
    fn step(&self, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<StepReport, StepError>;
}

/// The schemes by name, with one line on what each is for.
pub const SCHEMES: [(&str, &str); 1] = [(
    "moreau-jean",
    "velocity–impulse θ-scheme, implicit contact, order 1 across impacts, 2 in free motion at θ = 1/2; passes accumulations of impacts",
)];

/// What one step did.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepReport {
    /// Report of the (last) one-step problem; `None` when no interaction was active.
    pub solve: Option<SolveReport>,
    /// Newton iterations on the discrete equation of motion.
    pub newton_iterations: usize,
    /// Its relative residual.
    pub newton_residual: f64,
    /// Newton's iteration reached its tolerance.
    pub newton_converged: bool,
    /// Active interactions.
    pub n_active: usize,
    /// Violations of the state at the start of the step.
    pub violations: Violations,
    /// Energy dissipated by normal impulses in this step \[J\].
    pub dissipated_impact: f64,
    /// Energy dissipated by tangential impulses in this step \[J\].
    pub dissipated_friction: f64,
    /// Work of non-conservative forces and moving boundaries in this step \[J\].
    pub work: f64,
}

impl StepReport {
    /// The one-step problem and Newton's iteration both reached their tolerances.
    #[must_use]
    pub fn converged(&self) -> bool {
        self.newton_converged && self.solve.is_none_or(|s| s.status.is_accepted())
    }
}
