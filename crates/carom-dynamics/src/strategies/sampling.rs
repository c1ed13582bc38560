//! What strategies do for the control part of a model: see [`crate::control`].

use super::journal::Journal;
use crate::active_set::ActiveSource;
use crate::assembly::at_time;
use crate::control::AtInstant;
use crate::error::{ModelError, RunError};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::state::State;

/// What control takes from the memory of a run.
pub(super) fn at_instant(memory: &mut StepMemory) -> AtInstant<'_> {
    let StepMemory { control: work, scratch, first_order, .. } = memory;
    let (multipliers, outputs) = first_order.as_ref().map_or((&[][..], &[][..]), |own| (own.multipliers(), own.outputs()));
    AtInstant { work, scratch, multipliers, outputs }
}

/// Before the first frame: what is due at the start, and the modes that hold there.
pub(super) fn begin(model: &Model, state: &mut State, memory: &mut StepMemory) -> Result<(), RunError> {
    let Some(control) = model.control() else { return Ok(()) };
    control.sample(model.systems(), state, at_instant(memory)).map_err(at_time(state.t))?;
    Ok(())
}

/// After a step of size `h` of a scheme, which `memory` holds: sensors of contacts, modes, and what is due at its end.
pub(super) fn after_step(model: &Model, state: &mut State, memory: &mut StepMemory, h: f64) -> Result<(), RunError> {
    let Some(control) = model.control() else { return Ok(()) };
    let located = at_time(state.t);
    let is_it = |source: ActiveSource, interaction: usize| matches!(source, ActiveSource::Interaction(i) if i == interaction);
    control.note_step(state, h, |interaction| {
        let item = memory.active.items().iter().find(|item| is_it(item.source, interaction))?;
        memory.one_step.solution.r.get(item.rows.start).copied()
    });
    control.settle(model.systems(), state, at_instant(memory)).map_err(&located)?;
    if control.is_due(state.t) {
        control.sample(model.systems(), state, at_instant(memory)).map_err(&located)?;
    }
    Ok(())
}

/// Tells the changes of mode since it was last called.
pub(super) fn tell(memory: &mut StepMemory, journal: &mut Journal<'_>) -> Result<(), RunError> {
    let mut events = std::mem::take(&mut memory.control.events);
    let told = events.drain(..).try_for_each(|event| journal.tell(event));
    memory.control.events = events;
    told
}

/// Refuses a model with sample instants or modes for a strategy that does not stop there.
///
/// # Errors
/// [`ModelError::StrategyRefuses`].
pub fn refuse_control(strategy: &'static str, model: &Model) -> Result<(), ModelError> {
    match model.control() {
        None => Ok(()),
        Some(_) => Err(ModelError::StrategyRefuses {
            strategy,
            feature: "sensors, controllers and actuators",
            by: "the control part".to_owned(),
            alternatives: "time-stepping, event-driven, hybrid, smooth",
        }),
    }
}
