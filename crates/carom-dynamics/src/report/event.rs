//! Something that happened at an instant.

use super::ContactMode;

/// Something that happened at an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Time at which it happened; at the end of the step in which it happened where events are not located \[s\].
    pub t: f64,
    /// What happened.
    pub kind: EventKind,
    /// Name of the interaction, "a–b" for two colliders; empty when none is meant.
    pub name: String,
    /// Normal impulse [N·s] of the step or of the impact, or zero.
    pub impulse: f64,
    /// Mode of the contact before and after, where an event changes it.
    pub modes: Option<(ContactMode, ContactMode)>,
    /// What else is to be said: the reason of a switch, the time of an accumulation; empty when nothing is.
    pub note: String,
}

impl Event {
    /// An event of a named interaction, or of none (an empty name).
    #[must_use]
    pub fn new(t: f64, kind: EventKind, name: impl Into<String>) -> Self {
        Event { t, kind, name: name.into(), impulse: 0.0, modes: None, note: String::new() }
    }

    /// The same with a normal impulse [N·s].
    #[must_use]
    pub fn with_impulse(self, impulse: f64) -> Self {
        Event { impulse, ..self }
    }

    /// The same with the modes of the contact before and after.
    #[must_use]
    pub fn with_modes(self, before: ContactMode, after: ContactMode) -> Self {
        Event { modes: Some((before, after)), ..self }
    }

    /// The same with a remark.
    #[must_use]
    pub fn with_note(self, note: impl Into<String>) -> Self {
        Event { note: note.into(), ..self }
    }
}

/// The kinds of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A contact began to carry an impulse.
    ContactClosed,
    /// A contact ceased to carry an impulse.
    ContactOpened,
    /// A one-step problem was not solved to the tolerance (and the run went on, as asked).
    SolveNotConverged,
    /// The step was halved after a failed solve.
    StepHalved,
    /// A contact that was not approaching received the impulse of an impact: Painlevé's paradox.
    ImpactWithoutCollision,
    /// An impact created energy; its law allows it.
    EnergyCreated,
    /// One of several possible outcomes of an impact was chosen.
    OutcomeChosen,
    /// A contact collided: it was hit, or was touching where another was.
    Impact,
    /// A sliding contact came to stick.
    SlipToStick,
    /// A sticking contact began to slide.
    StickToSlip,
    /// A sliding contact reversed or turned its direction at once.
    SlipReversed,
    /// A gap touched zero and opened again without an impact.
    Grazing,
    /// A piecewise constraint or contact went over to another piece.
    EdgeCrossed,
    /// A function that the user watches crossed zero.
    UserEvent,
    /// A time that the user named: a load that changes at once.
    TimeEvent,
    /// Impacts accumulated, and the contact closed.
    Accumulation,
    /// The hybrid strategy went over to time-stepping.
    ToTimeStepping,
    /// The hybrid strategy went back to located events.
    ToEventDriven,
    /// A first-order state jumped.
    StateJump,
    /// A multiplier went over to another piece of its law: a diode, a relay, a face of a moving set.
    ModeChanged,
}

impl EventKind {
    /// All of them, in the order of their codes in files.
    pub const ALL: [EventKind; 20] = [
        EventKind::ContactClosed,
        EventKind::ContactOpened,
        EventKind::SolveNotConverged,
        EventKind::StepHalved,
        EventKind::ImpactWithoutCollision,
        EventKind::EnergyCreated,
        EventKind::OutcomeChosen,
        EventKind::Impact,
        EventKind::SlipToStick,
        EventKind::StickToSlip,
        EventKind::SlipReversed,
        EventKind::Grazing,
        EventKind::EdgeCrossed,
        EventKind::UserEvent,
        EventKind::TimeEvent,
        EventKind::Accumulation,
        EventKind::ToTimeStepping,
        EventKind::ToEventDriven,
        EventKind::StateJump,
        EventKind::ModeChanged,
    ];

    /// Number in files: its place in [`EventKind::ALL`].
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            EventKind::ContactClosed => "contact-closed",
            EventKind::ContactOpened => "contact-opened",
            EventKind::SolveNotConverged => "solve-not-converged",
            EventKind::StepHalved => "step-halved",
            EventKind::ImpactWithoutCollision => "impact-without-collision",
            EventKind::EnergyCreated => "energy-created",
            EventKind::OutcomeChosen => "outcome-chosen",
            EventKind::Impact => "impact",
            EventKind::SlipToStick => "slip-to-stick",
            EventKind::StickToSlip => "stick-to-slip",
            EventKind::SlipReversed => "slip-reversed",
            EventKind::Grazing => "grazing",
            EventKind::EdgeCrossed => "edge-crossed",
            EventKind::UserEvent => "user-event",
            EventKind::TimeEvent => "time-event",
            EventKind::Accumulation => "accumulation",
            EventKind::ToTimeStepping => "to-time-stepping",
            EventKind::ToEventDriven => "to-event-driven",
            EventKind::StateJump => "state-jump",
            EventKind::ModeChanged => "mode-changed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_events_are_places_in_the_list() {
        for (code, kind) in EventKind::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(kind.code()), code, "{}", kind.name());
        }
        assert_eq!(EventKind::ALL.last(), Some(&EventKind::ModeChanged), "a kind that follows is missing in the list");
    }
}
