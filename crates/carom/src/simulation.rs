//! A model file, ready to run.

use carom_dynamics::recording::Recorder;
use carom_dynamics::smooth::constraint_rows;
use carom_dynamics::strategies::{Continue, Observers, Outcome, Progress};
use carom_dynamics::{Law, StepMemory};
use carom_io::model_file::{self, ModelFile, ModelFileError, Override};
use carom_io::recording::{InteractionKind, InteractionName, NamedUnit, RunInfo};
use carom_solvers::SolveError;
use std::path::Path;

/// A model with its state, settings and the memory of its steps.
pub struct Simulation {
    /// The model file; its state moves on as the simulation runs.
    pub file: ModelFile,
    memory: StepMemory,
}

/// A model that cannot be simulated.
#[derive(Debug)]
pub enum SetupError {
    /// The model file is wrong.
    File(ModelFileError),
    /// The solver refuses its settings.
    Solver(SolveError),
}

impl std::fmt::Display for SetupError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SetupError::File(error) => error.fmt(f),
            SetupError::Solver(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SetupError {}

impl Simulation {
    /// Reads a model file, or `model.toml` in a folder, with overrides.
    ///
    /// # Errors
    /// [`SetupError`].
    pub fn from_path(path: &Path, overrides: &[Override]) -> Result<Self, SetupError> {
        Self::new(model_file::read(path, overrides).map_err(SetupError::File)?)
    }

    /// Reads a model from text.
    ///
    /// # Errors
    /// [`SetupError`].
    pub fn from_text(text: &str) -> Result<Self, SetupError> {
        Self::new(model_file::parse(text, Path::new("model")).map_err(SetupError::File)?)
    }

    fn new(file: ModelFile) -> Result<Self, SetupError> {
        let memory = StepMemory::new(&file.model, &file.run.solver).map_err(SetupError::Solver)?;
        Ok(Simulation { file, memory })
    }

    /// Runs to the end time. `watch` is told the progress after each step and may stop the run.
    pub fn run(&mut self, recorder: &mut dyn Recorder, watch: &mut dyn FnMut(&Progress) -> Continue) -> Outcome {
        let strategy = self.file.run.strategy(self.file.record);
        strategy.run(&self.file.model, &mut self.file.state, &mut self.memory, Observers { recorder, watch })
    }

    /// What a recorder must know before the first frame.
    #[must_use]
    pub fn run_info(&self) -> RunInfo {
        let model = &self.file.model;
        let named =
            |list: &[carom_dynamics::systems::Coordinate]| list.iter().map(|c| NamedUnit::new(c.name.clone(), c.unit.clone())).collect();
        let kind = |law: &Law| match law {
            Law::Bilateral => InteractionKind::Constraint,
            Law::Contact(_) => InteractionKind::Contact,
            Law::Bounded(_) => InteractionKind::Bounded,
        };
        let interactions = model.interactions();
        let rigid = interactions.iter().filter(|i| i.is_contact()).map(|i| i.name().to_owned());
        RunInfo {
            title: self.file.title.clone(),
            model_text: self.file.text.clone(),
            settings: self.file.run.list(),
            version: crate::VERSION.to_owned(),
            coordinates: model.systems().coordinates().clone(),
            velocities: model.systems().velocities().clone(),
            states: model.first_order().map_or_else(Vec::new, |set| named(set.states())),
            rows: model.first_order().map_or_else(Vec::new, |set| set.rows().to_vec()),
            signals: model.first_order().map_or_else(Vec::new, |set| named(set.signals())),
            interactions: interactions.iter().map(|i| InteractionName { name: i.name().to_owned(), kind: kind(i.law()) }).collect(),
            gaps: rigid.chain(model.compliant_contacts().iter().map(|c| c.name().to_owned())).collect(),
            forces: if self.file.run.strategy.integrates() { constraint_rows(model) } else { Vec::new() },
            contact_forces: self.file.run.strategy.locates_events(),
            colliders: (0..model.n_colliders()).map(|i| model.collider_name(i).to_owned()).collect(),
            precision: self.file.record.precision,
            skip_contacts: !self.file.record.contacts,
        }
    }
}
