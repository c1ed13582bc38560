//! What contacts and multipliers did over time, out of a recorded run.

use crate::recording::{EventTable, RecordingError, RunFile, effort_mode_name};
use carom_dynamics::MultiplierMode;
use carom_dynamics::nearest::nearest;
use carom_dynamics::report::ContactMode;

/// What a lane shows at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneMode {
    /// Of a contact.
    Contact(ContactMode),
    /// Of an effort between bounds: it holds its target, or pushes at a bound.
    Effort {
        /// It holds its target.
        held: bool,
    },
    /// Of a multiplier of the first-order part.
    Multiplier(MultiplierMode),
}

impl LaneMode {
    /// All of them, contacts first.
    pub fn all() -> impl Iterator<Item = Self> {
        let efforts = [true, false].map(|held| LaneMode::Effort { held });
        ContactMode::ALL.into_iter().map(LaneMode::Contact).chain(efforts).chain(MultiplierMode::ALL.into_iter().map(LaneMode::Multiplier))
    }

    /// That of an effort between bounds, which is recorded as sticking or sliding; frames before the first step know none.
    #[must_use]
    pub fn of_effort(mode: ContactMode) -> Self {
        match mode {
            ContactMode::Sticking => LaneMode::Effort { held: true },
            ContactMode::Sliding => LaneMode::Effort { held: false },
            other => LaneMode::Contact(other),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            LaneMode::Contact(mode) => mode.name(),
            LaneMode::Effort { held: true } => effort_mode_name(ContactMode::Sticking),
            LaneMode::Effort { held: false } => effort_mode_name(ContactMode::Sliding),
            LaneMode::Multiplier(mode) => mode.name(),
        }
    }
}

/// What one contact or multiplier did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lane {
    /// Name of the contact or multiplier.
    pub name: String,
    /// Its modes one after another: start \[s\], end \[s\], mode.
    pub spans: Vec<Span>,
    /// Its events: time \[s\] and kind, by name.
    pub marks: Vec<(f64, String)>,
}

/// Start \[s\], end \[s\], mode.
pub type Span = (f64, f64, LaneMode);

/// What all contacts and multipliers of a run did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// First and last recorded instant \[s\].
    pub range: [f64; 2],
    /// One lane each: rigid contacts by formula, the pairs of colliders that ever touched, efforts between bounds, the multipliers of the first-order part.
    pub lanes: Vec<Lane>,
    /// Spans \[s\] in which the hybrid strategy took steps of its scheme; `None` for other strategies.
    pub time_stepping: Option<Vec<(f64, f64)>>,
    /// Events that belong to no contact: watched functions and named times.
    pub marks: Vec<(f64, String)>,
}

impl Timeline {
    /// Reads the modes and events of a run; of all contacts and multipliers if `contacts` names none, but for multipliers of equations, which have one mode only.
    ///
    /// Where events are located, a mode holds from its event or frame to the next; elsewhere a frame tells the mode in the step that ended there.
    ///
    /// # Errors
    /// [`RecordingError::NothingToDraw`] if the run has no modes or no such contact, [`RecordingError::Unreadable`].
    pub fn of_run(run: &RunFile, contacts: &[String]) -> Result<Self, RecordingError> {
        let nothing = |reason: String, advice| Err(RecordingError::NothingToDraw { reason, advice });
        let path = run.path().display();
        let (Some(&start), Some(&end)) = (run.time().first(), run.time().last()) else {
            return nothing(format!("{path} holds no recorded instant"), "let the run go further");
        };
        if !run.has_modes() {
            return nothing(format!("{path} has no modes of contacts"), "record the run again with this version");
        }
        let all = run.mode_sources()?;
        if let Some(name) = contacts.iter().find(|name| !all.iter().any(|other| is_pair(other, name))) {
            let near =
                nearest(name, all.iter().map(String::as_str)).map_or_else(String::new, |best| format!(" (did you mean \"{best}\"?)"));
            return nothing(format!("{path} has no contact or multiplier \"{name}\"{near}"), "`carom info` lists them as mode.NAME");
        }
        let events = run.events()?;
        let n_contacts = run.contact_sources()?.len();
        let mut lanes = Vec::new();
        for (place, name) in all.into_iter().enumerate() {
            if !contacts.is_empty() && !contacts.iter().any(|other| is_pair(&name, other)) {
                continue;
            }
            let codes = run.quantity(&format!("mode.{name}"))?.swap_remove(0).values;
            let lane = match place {
                _ if place < n_contacts => of_contact(run, &codes, &events, name, LaneMode::Contact),
                _ if place < n_contacts + run.effort_names().len() => of_contact(run, &codes, &events, name, LaneMode::of_effort),
                _ => of_multiplier(run, &codes, &events, name),
            };
            if !contacts.is_empty() || lane.spans.iter().any(|span| !is_equation(span.2)) {
                lanes.push(lane);
            }
        }
        if lanes.is_empty() {
            return nothing(format!("{path} has no contacts, and no multipliers whose modes change"), "draw quantities instead");
        }
        let free = |k: &usize| matches!(events.kind[*k].as_str(), "user-event" | "time-event");
        let marks = (0..events.t.len()).filter(free).map(|k| (events.t[k], events.kind[k].clone())).collect();
        Ok(Timeline { range: [start, end], lanes, time_stepping: phases(&events, end), marks })
    }
}

/// The name, also when the dash between two colliders was typed as a hyphen.
fn is_pair(name: &str, typed: &str) -> bool {
    name == typed || name.replace('–', "-") == typed
}

/// An equation holds always: there is nothing to see.
fn is_equation(mode: LaneMode) -> bool {
    matches!(mode, LaneMode::Multiplier(MultiplierMode::Equation | MultiplierMode::Unknown))
}

fn of_contact(run: &RunFile, codes: &[f64], events: &EventTable, name: String, shown: fn(ContactMode) -> LaneMode) -> Lane {
    let mode = |code: &f64| shown(ContactMode::ALL.get(*code as usize).copied().unwrap_or_default());
    let modes: Vec<LaneMode> = codes.iter().map(mode).collect();
    let own = || (0..events.t.len()).filter(|k| events.name[*k] == name);
    let marks = own().map(|k| (events.t[k], events.kind[k].clone())).collect();
    let is_located = events.modes.iter().any(Option::is_some);
    let after = own().filter_map(|k| Some((events.t[k], shown(events.modes[k]?.1))));
    let spans = if is_located { located(run.time(), &modes, after) } else { by_steps(run.time(), &modes) };
    Lane { name, spans, marks }
}

/// Changes of mode are events, whatever the strategy, so that nothing between two frames is missed. The first frame knows no mode.
fn of_multiplier(run: &RunFile, codes: &[f64], events: &EventTable, name: String) -> Lane {
    let mode = |code: &f64| LaneMode::Multiplier(MultiplierMode::ALL.get(*code as usize).copied().unwrap_or_default());
    let modes: Vec<LaneMode> = codes.iter().map(mode).collect();
    let own = (0..events.t.len()).filter(|k| events.name[*k] == name && events.kind[*k] == "mode-changed");
    let named = |word: &str| MultiplierMode::ALL.into_iter().find(|mode| mode.name() == word).map(LaneMode::Multiplier);
    let changes: Vec<(f64, LaneMode, LaneMode)> = own
        .filter_map(|k| {
            let (before, after) = events.note[k].split_once(" → ")?;
            Some((events.t[k], named(before)?, named(after)?))
        })
        .collect();
    let (Some(&start), Some(&end)) = (run.time().first(), run.time().last()) else { return Lane { name, ..Lane::default() } };
    let first = changes.first().map(|change| change.1).or(modes.last().copied());
    let points: Vec<(f64, LaneMode)> =
        first.map(|mode| (start, mode)).into_iter().chain(changes.iter().map(|&(t, _, after)| (t, after))).collect();
    Lane { name, spans: until_next(&points, end), marks: Vec::new() }
}

/// Modes at frames and after events, each until the next of them; events come after a frame at the same instant.
fn located(time: &[f64], modes: &[LaneMode], after: impl Iterator<Item = (f64, LaneMode)>) -> Vec<Span> {
    let mut points: Vec<(f64, LaneMode)> = time.iter().copied().zip(modes.iter().copied()).collect();
    points.extend(after);
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let end = points.last().map_or(0.0, |point| point.0);
    until_next(&points, end)
}

/// Every mode from its time to the next one's, the last to the end.
fn until_next(points: &[(f64, LaneMode)], end: f64) -> Vec<Span> {
    let next = points.iter().skip(1).map(|point| point.0).chain([end]);
    joined(points.iter().zip(next).map(|(&(t, mode), next)| (t, next, mode)))
}

/// The mode of a frame held in the steps since the frame before.
fn by_steps(time: &[f64], modes: &[LaneMode]) -> Vec<Span> {
    joined(time.windows(2).zip(modes.iter().skip(1)).map(|(t, &mode)| (t[0], t[1], mode)))
}

/// Neighbours of one mode as one span; none without a length.
fn joined(spans: impl Iterator<Item = Span>) -> Vec<Span> {
    let mut out: Vec<Span> = Vec::new();
    for span in spans.filter(|span| span.1 > span.0) {
        match out.last_mut() {
            Some(last) if last.2 == span.2 => last.1 = span.1,
            _ => out.push(span),
        }
    }
    out
}

/// When the hybrid strategy was in its scheme.
fn phases(events: &EventTable, end: f64) -> Option<Vec<(f64, f64)>> {
    let (mut spans, mut since, mut is_hybrid) = (Vec::new(), None, false);
    for (t, kind) in events.t.iter().zip(&events.kind) {
        match kind.as_str() {
            "to-time-stepping" => since = since.or(Some(*t)),
            "to-event-driven" => spans.extend(since.take().map(|start| (start, *t))),
            _ => continue,
        }
        is_hybrid = true;
    }
    spans.extend(since.map(|start| (start, end)));
    is_hybrid.then_some(spans)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ContactMode::{Closed, Open, Sliding, Sticking, Touching};

    #[test]
    fn modes_hold_from_their_event_to_the_next() {
        let of = |list: &[ContactMode]| list.iter().map(|&mode| LaneMode::Contact(mode)).collect::<Vec<_>>();
        let spans = |list: &[(f64, f64, ContactMode)]| list.iter().map(|&(a, b, mode)| (a, b, LaneMode::Contact(mode))).collect::<Vec<_>>();
        // the frame at 0.5 is of the state before the event
        let after = [(0.25, LaneMode::Contact(Sliding)), (0.5, LaneMode::Contact(Sticking))].into_iter();
        let found = located(&[0.0, 0.3, 0.5, 0.75, 1.0], &of(&[Open, Sliding, Sliding, Sticking, Touching]), after);
        assert_eq!(found, spans(&[(0.0, 0.25, Open), (0.25, 0.5, Sliding), (0.5, 1.0, Sticking)]));
        let found = by_steps(&[0.0, 1.0, 2.0, 3.0], &of(&[Closed, Open, Closed, Closed]));
        assert_eq!(found, spans(&[(0.0, 1.0, Open), (1.0, 3.0, Closed)]));
    }

    #[test]
    fn phases_of_time_stepping_end_with_the_run() {
        let table = |kinds: &[&str]| EventTable {
            t: (1..=kinds.len()).map(|k| k as f64).collect(),
            kind: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
            ..EventTable::default()
        };
        assert_eq!(phases(&table(&["impact"]), 9.0), None);
        let kinds = ["to-time-stepping", "impact", "to-event-driven", "to-time-stepping"];
        assert_eq!(phases(&table(&kinds), 9.0), Some(vec![(1.0, 3.0), (4.0, 9.0)]));
    }
}
