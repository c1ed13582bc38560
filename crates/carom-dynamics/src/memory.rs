//! What a step may reuse from the steps before: contacts, impulses, factorisations, work arrays.

mod one_step;

pub(crate) use one_step::OneStep;

use crate::active_set::ActiveSet;
use crate::block_diagonal::BlockFactor;
use crate::checkpoint::{Bytes, CheckpointError, Own, Reader};
use crate::detection::{ContactDetector, ContactKey, ContactPoint, DetectionWarnings, PlanarDetector};
use crate::first_order_step::FirstOrderMemory;
use crate::impacts_before_step::ImpactMemory;
use crate::many_contacts::ManyContacts;
use crate::model::Model;
use crate::recording::Source;
use crate::schemes::Scheme;
use crate::schemes::stiff_elements::StiffElements;
use crate::state::State;
use crate::systems::Scratch;
use carom_solvers::registry::friction_contact_solver;
use carom_solvers::{BoxedSolver, FrictionContact, FrictionSolverKind, FrictionSolverParams, SolveError};
use std::any::Any;

/// Everything that changes during a run besides the state. Dropping it loses the warm start and what the scheme keeps, never what is physical.
pub struct StepMemory {
    /// Finds contacts between bodies.
    pub(crate) detector: Option<Box<dyn ContactDetector>>,
    /// Finds contacts between planar bodies.
    pub(crate) planar_detector: Option<Box<dyn PlanarDetector>>,
    /// Contact points of the present step.
    pub(crate) contacts: Vec<ContactPoint>,
    /// Interactions by formula, evaluated at the start of the step.
    pub(crate) candidates: Candidates,
    /// The active interactions with their Jacobians.
    pub(crate) active: ActiveSet,
    /// Contacts that are solved without rows, where there are many.
    pub(crate) many: ManyContacts,
    /// Stiff force elements of the present step, as rows.
    pub(crate) stiff: StiffElements,
    /// The one-step problem and its solution.
    pub(crate) one_step: OneStep,
    pub(crate) solver: BoxedSolver<FrictionContact>,
    /// Who chose it.
    pub(crate) solver_choice: Chosen,
    /// Its tolerance.
    pub(crate) solver_tolerance: f64,
    /// Impulses of the last step by identity.
    pub(crate) warm: WarmStart,
    /// Mass and iteration matrices.
    pub(crate) matrices: Matrices,
    /// Work vectors.
    pub(crate) work: Work,
    pub(crate) scratch: Scratch,
    /// The impacts at the start of the present step are resolved: its contacts are inelastic.
    pub(crate) impacts_done: bool,
    /// Impacts before the step, where the model's law resolves them separately.
    pub(crate) impacts: ImpactMemory,
    /// The contact that gave most energy in the impacts of the present step, with its normal impulse.
    pub(crate) giver: Option<(Source, f64)>,
    /// Of the first-order part, where there is one.
    pub(crate) first_order: Option<FirstOrderMemory>,
    pub(crate) control: crate::control::ControlWork,
    /// State at which the present step was begun, impacts included.
    begun: State,
    /// Its coordinates and velocities are those that the scheme keeps.
    begun_by_scheme: bool,
    /// What the scheme keeps from step to step: see [`crate::schemes::Scheme::own`].
    own: Box<dyn Own>,
}

impl StepMemory {
    /// Memory for a run of `model` with the given solver.
    ///
    /// # Errors
    /// Parameters of the solver that it refuses.
    pub fn new(model: &Model, solver: &FrictionSolverParams) -> Result<Self, SolveError> {
        let n_v = model.systems().velocities().len();
        Ok(StepMemory {
            detector: model.detector().map(ContactDetector::boxed_clone),
            planar_detector: model.planar_detector().map(PlanarDetector::boxed_clone),
            contacts: Vec::new(),
            candidates: Candidates::new(model),
            active: ActiveSet::default(),
            many: ManyContacts::default(),
            stiff: StiffElements::default(),
            one_step: OneStep::default(),
            solver: friction_contact_solver(solver)?,
            solver_choice: if solver.kind == FrictionSolverKind::default() { Chosen::Default } else { Chosen::Given },
            solver_tolerance: solver.tolerance,
            warm: WarmStart { by_interaction: vec![[0.0; 6]; model.interactions().len()], ..WarmStart::default() },
            matrices: Matrices::default(),
            work: Work::new(n_v, model.systems().coordinates().len()),
            scratch: Scratch::default(),
            impacts_done: false,
            impacts: ImpactMemory::default(),
            giver: None,
            first_order: model.first_order().map(|set| FirstOrderMemory::new(set, solver.tolerance)).transpose()?,
            control: crate::control::ControlWork::default(),
            begun: State::default(),
            begun_by_scheme: false,
            own: Box::new(()),
        })
    }

    /// Keeps the state at which a step begins, for [`StepMemory::restore`]; with `by_scheme` coordinates and velocities where the scheme keeps them as well.
    pub(crate) fn begin_step(&mut self, state: &State, by_scheme: bool) {
        self.begun_by_scheme = by_scheme;
        self.begun.t = state.t;
        self.begun.x.clone_from(&state.x);
        self.begun.held.clone_from(&state.held);
        self.begun.bonds.clone_from(&state.bonds);
        self.begun.draws = state.draws;
        if by_scheme {
            self.keep_start(state);
        } else {
            self.begun.q.clone_from(&state.q);
            self.begun.v.clone_from(&state.v);
        }
        self.impacts.begin_step();
        self.giver = None;
    }

    /// Puts `state` back to where the last step began.
    pub fn restore(&mut self, state: &mut State) {
        let StepMemory { begun, work, .. } = &*self;
        let (q, v) = if self.begun_by_scheme { (&work.q_start, &work.v_start) } else { (&begun.q, &begun.v) };
        state.t = begun.t;
        state.q.clone_from(q);
        state.v.clone_from(v);
        state.x.clone_from(&begun.x);
        state.held.clone_from(&begun.held);
        state.bonds.clone_from(&begun.bonds);
        state.draws = begun.draws;
    }

    /// Keeps (q_k, v_k) of a scheme's step.
    pub(crate) fn keep_start(&mut self, state: &State) {
        self.work.q_start.copy_from_slice(&state.q);
        self.work.v_start.copy_from_slice(&state.v);
    }

    /// Does something with what the scheme keeps from step to step, which begins with its default.
    pub(crate) fn with_own<T: Own + Default, R>(&mut self, work: impl FnOnce(&mut Self, &mut T) -> R) -> R {
        // a box of nothing takes no storage
        let own = std::mem::replace(&mut self.own, Box::new(()));
        let mut own: Box<T> = (own as Box<dyn Any>).downcast().unwrap_or_default();
        let result = work(self, &mut own);
        self.own = own;
        result
    }

    /// Writes what the next steps depend on besides the state: what the scheme remembers, and the impulses and multipliers that they start from.
    pub fn save(&self, out: &mut Bytes) {
        self.warm.save(out);
        out.numbers(self.multipliers_and_outputs().0);
        out.numbers(self.multipliers_and_outputs().1);
        self.own.save(out);
    }

    /// Reads what [`StepMemory::save`] wrote in a run of the same model and scheme. A memory that was just made, with the state, then goes on as that run did.
    ///
    /// # Errors
    /// [`CheckpointError`] where the bytes are those of another model or scheme.
    pub fn load(&mut self, model: &Model, scheme: &dyn Scheme, from: &Bytes) -> Result<(), CheckpointError> {
        let mut reader = from.reader();
        self.warm.load(&mut reader)?;
        let (mut lambda, mut outputs) = (Vec::new(), Vec::new());
        reader.numbers(&mut lambda)?;
        reader.numbers(&mut outputs)?;
        let mut own = scheme.own(model);
        own.load(&mut reader)?;
        reader.end()?;
        let known = self.multipliers_and_outputs();
        if self.warm.by_interaction.len() != model.interactions().len() || known.0.len() != lambda.len() || known.1.len() != outputs.len() {
            return Err(CheckpointError::Unknown {
                what: "number of impulses of this model",
                found: self.warm.by_interaction.len() as u64,
            });
        }
        if let Some(first_order) = &mut self.first_order {
            first_order.solution.r = lambda;
            first_order.solution.u = outputs;
        }
        self.own = own;
        Ok(())
    }

    /// The contact points found for the last step.
    #[must_use]
    pub fn contacts(&self) -> &[ContactPoint] {
        &self.contacts
    }

    /// What was doubtful in the last search for contacts between shapes.
    #[must_use]
    pub fn warnings(&self) -> DetectionWarnings {
        let mut warnings = self.detector.as_ref().map_or_else(DetectionWarnings::default, |detector| detector.warnings());
        if let Some(detector) = &self.planar_detector {
            warnings.add(&detector.warnings());
        }
        warnings
    }

    /// The interactions that were active in the last step.
    #[must_use]
    pub fn active(&self) -> &ActiveSet {
        &self.active
    }

    /// Impulses p of the last step, in the rows of [`StepMemory::active`].
    #[must_use]
    pub fn impulses(&self) -> &[f64] {
        &self.one_step.solution.r
    }

    /// Multipliers λ and outputs y of the first-order part in the last step, by rows; empty where there is none.
    #[must_use]
    pub(crate) fn multipliers_and_outputs(&self) -> (&[f64], &[f64]) {
        self.first_order.as_ref().map_or((&[], &[]), |memory| (memory.multipliers(), memory.outputs()))
    }

    /// The one-step problem that was solved last.
    #[must_use]
    pub fn problem(&self) -> &FrictionContact {
        &self.one_step.problem
    }
}

/// Who chose a solver: a scheme may put a method of its own in the place of the default one, never of one that the user asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chosen {
    Default,
    Given,
}

/// Values of the interactions by formula at the start of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Candidates {
    /// First row of each interaction, and the total.
    pub rows: Vec<usize>,
    /// First entry of each Jacobian, and the total.
    pub entries: Vec<usize>,
    pub position: Vec<f64>,
    /// G_k.
    pub jacobian: Vec<f64>,
    /// G at the last iterate of the step, where it changes.
    pub iterate: Vec<f64>,
    pub bias: Vec<f64>,
    pub velocity: Vec<f64>,
    /// Constant Jacobians have been written.
    pub ready: bool,
}

impl Candidates {
    fn new(model: &Model) -> Self {
        let (mut rows, mut entries) = (vec![0], vec![0]);
        for interaction in model.interactions() {
            let relation = interaction.relation();
            rows.push(rows[rows.len() - 1] + relation.n_rows());
            entries.push(entries[entries.len() - 1] + relation.n_rows() * relation.velocities().len());
        }
        let (n_rows, n_entries) = (rows[rows.len() - 1], entries[entries.len() - 1]);
        Candidates {
            rows,
            entries,
            position: vec![0.0; n_rows],
            jacobian: vec![0.0; n_entries],
            iterate: vec![0.0; n_entries],
            bias: vec![0.0; n_rows],
            velocity: vec![0.0; n_rows],
            ready: false,
        }
    }
}

/// Impulses of the last step.
#[derive(Clone, Debug, Default)]
pub(crate) struct WarmStart {
    pub by_interaction: Vec<[f64; 6]>,
    /// Sorted by key.
    pub by_contact: Vec<(ContactKey, [f64; 6])>,
}

impl WarmStart {
    fn save(&self, out: &mut Bytes) {
        out.groups(&self.by_interaction);
        out.count(self.by_contact.len());
        for (key, impulse) in &self.by_contact {
            for part in [key.collider_a, key.collider_b, key.feature] {
                out.integer(u64::from(part));
            }
            out.groups(std::slice::from_ref(impulse));
        }
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), CheckpointError> {
        from.groups(&mut self.by_interaction)?;
        self.by_contact.clear();
        let mut impulse = Vec::with_capacity(1);
        for _ in 0..from.count()? {
            let mut part = || {
                let found = from.integer()?;
                u32::try_from(found).map_err(|_| CheckpointError::Unknown { what: "number of a collider", found })
            };
            let key = ContactKey { collider_a: part()?, collider_b: part()?, feature: part()? };
            from.groups(&mut impulse)?;
            let impulse = *impulse.first().ok_or(CheckpointError::Unknown { what: "impulse", found: 0 })?;
            self.by_contact.push((key, impulse));
        }
        Ok(())
    }

    /// Takes the values of another; storage is reused.
    pub fn copy_from(&mut self, other: &WarmStart) {
        self.by_interaction.clone_from(&other.by_interaction);
        self.by_contact.clone_from(&other.by_contact);
    }

    /// As [`WarmStart::of_contact`] for keys that are asked for in increasing order.
    pub(crate) fn of_contact_after(&self, cursor: &mut usize, key: &ContactKey) -> [f64; 6] {
        while self.by_contact.get(*cursor).is_some_and(|(other, _)| other < key) {
            *cursor += 1;
        }
        self.by_contact.get(*cursor).filter(|(other, _)| other == key).map_or([0.0; 6], |(_, p)| *p)
    }

    pub fn of_contact(&self, key: &ContactKey) -> [f64; 6] {
        match self.by_contact.binary_search_by(|(other, _)| other.cmp(key)) {
            Ok(i) => self.by_contact[i].1,
            Err(_) => [0.0; 6],
        }
    }
}

/// Mass matrix, iteration matrix M̂ and its factor.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matrices {
    pub mass: Vec<f64>,
    pub mass_ready: bool,
    /// Where it is needed besides its factor; empty otherwise.
    pub iteration: Vec<f64>,
    pub factor: BlockFactor,
    /// (c_v, c_q) of the M̂ = M + c_v C + c_q K that `factor` was made of, where M̂ depends on nothing else.
    pub factor_of: Option<(f64, f64)>,
    /// Counts the factorisations.
    pub generation: u64,
}

/// Work vectors of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    pub v_start: Vec<f64>,
    pub q_start: Vec<f64>,
    /// Some active interaction's rows change within the step.
    pub rows_vary: bool,
    /// Where M and G are evaluated; empty until M or G that changes within a step is.
    pub q_inner: Vec<f64>,
    pub displacement: Vec<f64>,
    pub v_free: Vec<f64>,
    /// v_free with the impulses of cohesion; empty without.
    pub v_pulled: Vec<f64>,
    /// A value per row of the active set.
    pub local: Vec<f64>,
    pub force_start: Vec<f64>,
    pub force_end: Vec<f64>,
    /// Forces without potential; empty where there are none.
    pub applied_start: Vec<f64>,
    pub applied_end: Vec<f64>,
    pub residual: Vec<f64>,
    pub momentum: Vec<f64>,
}

impl Work {
    fn new(n_v: usize, n_q: usize) -> Self {
        let v = || vec![0.0; n_v];
        let q = || vec![0.0; n_q];
        Work {
            v_start: v(),
            q_start: q(),
            rows_vary: false,
            q_inner: Vec::new(),
            displacement: v(),
            v_free: v(),
            v_pulled: Vec::new(),
            local: Vec::new(),
            force_start: v(),
            force_end: v(),
            applied_start: Vec::new(),
            applied_end: Vec::new(),
            residual: v(),
            momentum: v(),
        }
    }
}
