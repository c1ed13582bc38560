//! Events that a model names: sign changes of a formula, and times.

use crate::error::{ModelError, NonFinite};
use crate::formula::{Graph, Scope};
use crate::relations::nonholonomic::body_velocities;
use crate::systems::formula_force::parse;
use crate::systems::{Instant, Sample, Scratch, StateFunction, StateSymbols, SystemSet};
use serde::{Deserialize, Serialize};

/// Which changes of sign of a formula are events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From + to −.
    Falling,
    /// From − to +.
    Rising,
    /// Either.
    #[default]
    Both,
}

impl Direction {
    /// A change of sign counts: from + to − when it `falls`.
    #[must_use]
    pub fn counts(self, falls: bool) -> bool {
        match self {
            Direction::Both => true,
            Direction::Falling => falls,
            Direction::Rising => !falls,
        }
    }
}

/// What a run does at an event of a formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventAction {
    /// Its time is recorded.
    #[default]
    Record,
    /// Also, the integrator is restarted there: forces jump where the formula changes its sign.
    Restart,
    /// The run ends there.
    Stop,
}

/// An event by formula.
///
/// The formula may use `t`, all coordinates, the rate `NAME_dot` of each, and of rigid bodies the velocities `ball.vx` … `ball.vz` and the angular velocity
/// `ball.wx` … `ball.wz` in the world frame. A comparison (`x > 1`) rises when it becomes true, and falls when it ceases to be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserEvent {
    /// Name in records.
    pub name: String,
    /// The formula.
    pub formula: String,
    /// Constants of the formula.
    pub parameters: Vec<(String, f64)>,
    /// Which changes of sign count.
    pub direction: Direction,
    /// What happens then.
    pub action: EventAction,
}

/// A guard that was located: controller, mode, transition.
pub(crate) type GuardId = (usize, usize, usize);

/// An event by formula of a model.
#[derive(Clone, Debug)]
pub struct ModelEvent {
    source: UserEvent,
    function: StateFunction,
    guard: Option<GuardId>,
}

impl ModelEvent {
    /// Reads and differentiates the formula.
    ///
    /// # Errors
    /// A formula that cannot be read.
    pub fn new(source: UserEvent, systems: &SystemSet) -> Result<Self, ModelError> {
        let mut graph = Graph::new();
        let (mut scope, symbols) = state_scope(&mut graph, systems);
        for (name, value) in &source.parameters {
            scope.constant(name, *value);
        }
        let e = parse(&mut graph, &format!("formula of event \"{}\"", source.name), &source.formula, &scope)?;
        let margin = graph.signed(e);
        let function = StateFunction::new(&mut graph, margin, &symbols);
        Ok(ModelEvent { source, function, guard: None })
    }

    /// The guard of a controller's mode.
    pub(crate) fn of_guard(source: UserEvent, function: StateFunction, guard: GuardId) -> Self {
        ModelEvent { source, function, guard: Some(guard) }
    }

    /// The transition that it guards, if it is not the user's.
    pub(crate) fn guard(&self) -> Option<GuardId> {
        self.guard
    }

    /// What it was made of.
    #[must_use]
    pub fn source(&self) -> &UserEvent {
        &self.source
    }

    /// The rate needs v̇.
    #[must_use]
    pub fn needs_acceleration(&self) -> bool {
        self.function.needs_acceleration()
    }

    /// Value of the formula and its rate: see [`StateFunction::sample`].
    ///
    /// # Errors
    /// [`NonFinite`] naming the event.
    pub fn sample(
        &self,
        systems: &SystemSet,
        at: Instant<'_>,
        acceleration: Option<&[f64]>,
        scratch: &mut Scratch,
    ) -> Result<Sample, NonFinite> {
        let sample = self.function.sample(systems, at, acceleration, scratch);
        sample.map_err(|error| NonFinite { what: format!("the formula of event \"{}\"", self.source.name), ..error })
    }
}

/// A time at which the integrator stops and is restarted: loads change there at once.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeEvent {
    /// Name in records.
    pub name: String,
    /// Time \[s\].
    pub t: f64,
}

/// All names that a function of the state may use, with their symbols.
pub(crate) fn state_scope(graph: &mut Graph, systems: &SystemSet) -> (Scope, StateSymbols) {
    let mut scope = Scope::new();
    let t = graph.symbol("t");
    scope.symbol("t", t);
    let (mut coordinates, mut rates) = (Vec::new(), Vec::new());
    for (i, coordinate) in systems.coordinates().iter().enumerate() {
        let (q, rate) = (graph.symbol(&coordinate.name), format!("{}_dot", coordinate.name));
        let q_dot = graph.symbol(&rate);
        scope.symbol(&coordinate.name, q).symbol(&rate, q_dot);
        coordinates.push((i, q));
        rates.push((i, q_dot));
    }
    let q: Vec<_> = coordinates.iter().map(|(_, symbol)| *symbol).collect();
    let velocities = body_velocities(graph, &q, systems, &mut scope);
    (scope, StateSymbols { t, coordinates, rates, velocities })
}
