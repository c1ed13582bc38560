//! `[[event]]`: formulas whose changes of sign are located, and times at which loads change at once.

use super::components::choose;
use super::formulas::report;
use super::numbers::{Must, Reader};
use super::schema::EventSchema;
use super::value::Value;
use carom_dynamics::Model;
use carom_dynamics::strategies::StrategyKind;
use carom_dynamics::user_events::{Direction, EventAction, UserEvent};
use toml::Spanned;

/// Adds `[[event]]` number `index`; `start` is the initial time.
pub(super) fn event(reader: &mut Reader<'_>, model: &mut Model, section: &Spanned<EventSchema>, index: usize, start: f64) {
    let s = section.get_ref();
    let name = s.name.as_ref().map_or_else(|| format!("event {}", index + 1), |name| name.get_ref().clone());
    match (&s.when, &s.at) {
        (Some(when), None) => by_formula(reader, model, s, (&name, when)),
        (None, Some(at)) => by_time(reader, model, s, (&name, at), start),
        (Some(_), Some(at)) => {
            reader.wrong(
                at.span(),
                format!("\"{name}\" has both `when` and `at`"),
                "give a formula or times; two events have two sections",
            );
        }
        (None, None) => {
            let help = "give `when = \"…\"`, a formula whose change of sign is the event, or `at`, a time [s] or a list of them";
            reader.wrong(section.span(), format!("\"{name}\" has neither `when` nor `at`"), help);
        }
    }
}

fn by_formula(reader: &mut Reader<'_>, model: &mut Model, s: &EventSchema, (name, when): (&str, &Spanned<String>)) {
    let direction = choose(reader, s.direction.as_ref(), "direction", &["both", "falling", "rising"]);
    let action = choose(reader, s.action.as_ref(), "action", &["record", "restart", "stop"]);
    let (Some(direction), Some(action)) = (direction, action) else { return };
    let event = UserEvent {
        name: name.to_owned(),
        formula: when.get_ref().clone(),
        parameters: reader.parameters.clone(),
        direction: match direction.as_str() {
            "falling" => Direction::Falling,
            "rising" => Direction::Rising,
            _ => Direction::Both,
        },
        action: match action.as_str() {
            "restart" => EventAction::Restart,
            "stop" => EventAction::Stop,
            _ => EventAction::Record,
        },
    };
    if let Err(error) = model.add_event(event) {
        report(reader, &error, &[(when.span(), when.get_ref())], when.span());
    }
}

/// One time, or a list of times whose events have numbers: `pulse 1`, `pulse 2`, …
fn by_time(reader: &mut Reader<'_>, model: &mut Model, s: &EventSchema, (name, at): (&str, &Spanned<Value>), start: f64) {
    for (key, given) in [("direction", &s.direction), ("action", &s.action)] {
        if let Some(given) = given {
            let help = "leave it out: at a named time the integrator is restarted; `direction` and `action` belong to `when`";
            reader.wrong(given.span(), format!("\"{name}\" is an event by time and has no `{key}`"), help);
        }
    }
    let what = format!("the time of event \"{name}\"");
    let times: Vec<(String, f64)> = match at.get_ref() {
        Value::List(items) if items.is_empty() => {
            reader.wrong(at.span(), format!("\"{name}\" has no times"), "give at least one");
            return;
        }
        Value::List(items) => {
            let values = items.iter().map(|item| reader.number(&Spanned::new(at.span(), item.clone()), &what, Must::BeFinite));
            let values: Vec<Option<f64>> = values.collect();
            values.into_iter().flatten().enumerate().map(|(k, t)| (format!("{name} {}", k + 1), t)).collect()
        }
        _ => reader.number(at, &what, Must::BeFinite).map(|t| (name.to_owned(), t)).into_iter().collect(),
    };
    for (name, t) in times {
        if t < start {
            reader.wrong(at.span(), format!("the time {t} of event \"{name}\" lies before the start {start}"), "give a later time");
        } else if let Err(error) = model.add_time_event(&name, t) {
            report(reader, &error, &[], at.span());
        }
    }
}

/// Reports events that a strategy without located events passes over.
pub(super) fn note_unlocated(reader: &mut Reader<'_>, sections: &[Spanned<EventSchema>], strategy: StrategyKind) {
    if !sections.is_empty() && !strategy.locates_events() {
        reader.note(format!("[[event]] has no effect: the strategy \"{strategy}\" locates none; \"event-driven\" and \"hybrid\" do"));
    }
}
