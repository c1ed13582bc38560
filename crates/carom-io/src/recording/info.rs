//! What a recorder must know before the first frame.

use carom_dynamics::systems::Coordinates;

/// Everything about a run that does not change while it goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunInfo {
    /// Title of the model.
    pub title: String,
    /// The whole text of the model file, so that the run can be repeated from its record.
    pub model_text: String,
    /// Settings in force, by name, in the order to be kept.
    pub settings: Vec<(String, String)>,
    /// Version of carom.
    pub version: String,
    /// Coordinates q: one for each entry of a frame's `q`.
    pub coordinates: Coordinates,
    /// Velocities v: one for each entry of a frame's `v`.
    pub velocities: Coordinates,
    /// States of the first-order part: one for each entry of a frame's `x`.
    pub states: Vec<NamedUnit>,
    /// Names of the rows of the first-order part: one for each entry of a frame's `outputs` and `multipliers`.
    pub rows: Vec<String>,
    /// Recorded quantities of the first-order part, by their full names: one for each entry of a frame's `signals`.
    pub signals: Vec<NamedUnit>,
    /// Interactions of the model by number: constraints and contacts by formula.
    pub interactions: Vec<InteractionName>,
    /// Names of the contacts by formula, penalised ones last: one for each entry of a frame's `gaps`.
    pub gaps: Vec<String>,
    /// Names of the rows of the constraints: one for each entry of a frame's `forces`; empty where the strategy gives no forces.
    pub forces: Vec<String>,
    /// Contacts have forces at the instants of frames, not only impulses of steps: their events are located.
    pub contact_forces: bool,
    /// Names of the colliders by number.
    pub colliders: Vec<String>,
    /// How exactly tables are kept.
    pub precision: Precision,
    /// The contacts of frames are left out: the files of large runs are smaller.
    pub skip_contacts: bool,
}

/// How exactly the tables of a run are kept. Time, energies and what steps report are always double.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// 64 bits: what was computed.
    #[default]
    Double,
    /// 32 bits, about seven digits, in half the space: for large runs that are looked at, not continued.
    Single,
}

impl Precision {
    /// Name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Precision::Double => "double",
            Precision::Single => "single",
        }
    }
}

impl RunInfo {
    /// Names of the rigid contacts by formula: one for each entry of a frame's `modes`.
    pub fn contact_names(&self) -> impl Iterator<Item = &str> {
        self.interactions.iter().filter(|i| i.kind == InteractionKind::Contact).map(|i| i.name.as_str())
    }
}

/// A column's name and its unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedUnit {
    /// Name, for example `y` or `ball.x`.
    pub name: String,
    /// Unit, for example `m` or `rad/s`; empty for a pure number.
    pub unit: String,
}

impl NamedUnit {
    /// A column `name` in `unit`.
    pub fn new(name: impl Into<String>, unit: impl Into<String>) -> Self {
        NamedUnit { name: name.into(), unit: unit.into() }
    }
}

/// Name and kind of an interaction of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InteractionName {
    /// Name in the model file.
    pub name: String,
    /// Constraint, contact or force between bounds.
    pub kind: InteractionKind,
}

/// What an interaction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InteractionKind {
    /// Bilateral: holds always.
    Constraint,
    /// Unilateral: may open and close.
    Contact,
    /// A force between bounds: a motor, or friction of known bound.
    Bounded,
}

impl InteractionKind {
    /// Name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            InteractionKind::Constraint => "constraint",
            InteractionKind::Contact => "contact",
            InteractionKind::Bounded => "bounded",
        }
    }
}
