//! Time-stepping schemes: each advances the nonsmooth equations by one step.

pub mod anitescu_potra;
pub mod combined_projection;
pub mod d1_minus;
pub mod direct_projection;
pub mod euler_moreau;
mod explicit_stage;
mod friction_cone;
mod left_limit;
pub mod lotstedt;
pub mod moreau_gap;
pub mod moreau_jean;
pub mod moreau_midpoint;
pub mod nonsmooth_alpha;
pub mod position_projection;
pub mod prox;
mod prox_iteration;
mod registry;
pub mod schatzman_paoli;
mod settings;
pub(crate) mod stages;
mod stewart_trinkle;
pub(crate) mod stiff_elements;
pub mod theta_gap;
mod theta_step;
pub mod zero_order_hold;

use crate::assembly::update_bonds;
use crate::checkpoint::Own;
use crate::error::StepError;
use crate::impacts_before_step::resolve_before_step;
use crate::memory::StepMemory;
use crate::model::Model;
use crate::report::StepReport;
use crate::state::State;
use carom_solvers::FrictionSolverParams;

pub use anitescu_potra::{AnitescuPotra, AnitescuPotraParams, Decompression};
pub use combined_projection::{ClosedContacts, CombinedProjection, CombinedProjectionParams};
pub use d1_minus::{D1Minus, D1MinusParams};
pub use direct_projection::{DirectProjection, DirectProjectionParams, ProjectedContacts};
pub use euler_moreau::{EulerMoreau, EulerMoreauParams, Multipliers};
pub use friction_cone::FrictionCone;
pub use lotstedt::{Lotstedt, LotstedtParams};
pub use moreau_gap::{MoreauGap, MoreauGapParams};
pub use moreau_jean::{MoreauJean, MoreauJeanParams};
pub use moreau_midpoint::{MoreauMidpoint, MoreauMidpointParams};
pub use nonsmooth_alpha::{AlphaLevel, NonsmoothAlpha, NonsmoothAlphaParams};
pub use position_projection::Metric;
pub use prox::{Prox, ProxIteration, ProxParams, Sweep};
pub use registry::{Feature, SCHEMES, SchemeEntry, SchemeParams, check_scheme, check_settings};
pub use schatzman_paoli::{SchatzmanPaoli, SchatzmanPaoliParams};
pub use stewart_trinkle::{StewartTrinkle, StewartTrinkleParams};
pub use theta_gap::{GapRule, ThetaGap, ThetaGapParams};
pub use zero_order_hold::{ZeroOrderHold, ZeroOrderHoldParams};

/// Orders of convergence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orders {
    /// Of the positions in L¹, across impacts.
    pub impacts: usize,
    /// Of positions and velocities in free motion.
    pub smooth: usize,
}

/// One step of the measure differential inclusion M dv = F dt + Gᵀ dp.
///
/// To add a scheme:
/// 1. one file in `schemes/` with its `Params` (serde, `validate`), the discrete equations, their source, what is conserved and what violated
///    in the header;
/// 2. implement this trait; take shared stages from `assembly.rs`; what it remembers from step to step is its [`Scheme::own`];
/// 3. its lines in `registry.rs`; the tests in `tests/schemes.rs` run it on the textbook problems.
pub trait Scheme: Send + Sync {
    /// Name in model files.
    fn name(&self) -> &'static str;

    /// Orders of convergence with its settings.
    fn orders(&self) -> Orders;

    /// Fraction of a step over which the closing of contacts is foreseen: impacts before the step concern contacts with g + fraction · h u_N ≤ 0.
    fn foresight(&self) -> f64 {
        0.5
    }

    /// A contact whose foreseen gap is below this counts as closed \[m\].
    fn activation_threshold(&self) -> f64 {
        1e-9
    }

    /// The solver of its one-step problems, where the scheme prescribes one and the user has not chosen.
    fn solver(&self) -> Option<FrictionSolverParams> {
        None
    }

    /// It goes on from any state with any step size. Not so for schemes whose law of contact needs the step before: steps of varying size are
    /// not for them.
    fn restarts(&self) -> bool {
        true
    }

    /// What the scheme remembers from step to step besides the state, as it is before the first step; nothing by default.
    fn own(&self, _model: &Model) -> Box<dyn Own> {
        Box::new(())
    }

    /// Steps before the present one whose values enter it: 0 for a one-step scheme. One that looks back is started anew where the step size changes.
    fn looks_back(&self) -> usize {
        0
    }

    /// Prepares a run, or goes on after the state was changed from outside: what was kept of earlier steps no longer holds.
    ///
    /// # Errors
    /// [`StepError`], naming the system or formula.
    fn start(&self, _model: &Model, _state: &State, _memory: &mut StepMemory) -> Result<(), StepError> {
        Ok(())
    }

    /// Makes the initial state one that the laws allow, once, before the first step (of size `h` \[s\]): states of first-order systems may jump. The default leaves it as it is.
    ///
    /// # Errors
    /// As [`Scheme::step`].
    fn begin(&self, _model: &Model, _state: &mut State, _memory: &mut StepMemory, _h: f64) -> Result<(), StepError> {
        Ok(())
    }

    /// Advances `state` by `h` seconds. It leaves the active interactions with their impulses in `memory`, and changes nothing there that the
    /// same step with another `h` would need: see [`Scheme::accept`].
    ///
    /// # Errors
    /// [`StepError`], naming the system or formula. Not converging is a status of the report, not an error.
    fn step(&self, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<StepReport, StepError>;

    /// q_start and v_start of the work vectors are (q_k, v_k) from the start of a step to the start of the next.
    fn keeps_start(&self) -> bool {
        false
    }

    /// The last step stands: schemes that remember steps take it into their [`Scheme::own`].
    fn accept(&self, _model: &Model, _state: &State, _memory: &mut StepMemory) {}
}

/// One step of a scheme with the impacts at its start, where the model's impact law resolves them separately. The state can be put back by
/// [`StepMemory::restore`]; a step that stands is told to [`Scheme::accept`].
///
/// # Errors
/// As [`Scheme::step`].
pub fn take_step(scheme: &dyn Scheme, model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<StepReport, StepError> {
    memory.impacts_done = model.impact_law().is_separate();
    memory.begin_step(state, scheme.keeps_start() && !memory.impacts_done);
    update_bonds(model, state, memory)?;
    if !memory.impacts_done {
        return scheme.step(model, state, memory, h);
    }
    let mut impact = StepReport::default();
    resolve_before_step(scheme, model, state, memory, h, &mut impact)?;
    let mut report = scheme.step(model, state, memory, h)?;
    report.impacts = impact.impacts;
    report.dissipated_impact += impact.dissipated_impact;
    report.dissipated_friction += impact.dissipated_friction;
    report.impact_gain += impact.impact_gain;
    report.work += impact.work;
    Ok(report)
}
