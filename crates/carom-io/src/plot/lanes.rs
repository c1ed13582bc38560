//! What contacts did over time, out of a recorded run.

use crate::recording::{EventTable, RecordingError, RunFile};
use carom_dynamics::events::ContactMode;
use carom_dynamics::nearest::nearest;

/// What one contact did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lane {
    /// Name of the contact.
    pub name: String,
    /// Its modes one after another: start \[s\], end \[s\], mode.
    pub spans: Vec<(f64, f64, ContactMode)>,
    /// Events of the contact: time \[s\] and kind, by name.
    pub marks: Vec<(f64, String)>,
}

/// What all contacts of a run did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// First and last recorded instant \[s\].
    pub range: [f64; 2],
    /// One lane per contact: rigid contacts by formula first, then the pairs of colliders that ever touched.
    pub lanes: Vec<Lane>,
    /// Spans \[s\] in which the hybrid strategy took steps of its scheme; `None` for other strategies.
    pub time_stepping: Option<Vec<(f64, f64)>>,
    /// Events that belong to no contact: watched functions and named times.
    pub marks: Vec<(f64, String)>,
}

impl Timeline {
    /// Reads the modes and events of a run; of all contacts if `contacts` names none.
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
        let all = run.contact_sources()?;
        if let Some(name) = contacts.iter().find(|name| !all.iter().any(|other| is_pair(other, name))) {
            let near =
                nearest(name, all.iter().map(String::as_str)).map_or_else(String::new, |best| format!(" (did you mean \"{best}\"?)"));
            return nothing(format!("{path} has no contact \"{name}\"{near}"), "`carom info` lists them as mode.NAME");
        }
        if all.is_empty() {
            return nothing(format!("{path} has no contacts"), "draw quantities instead");
        }
        let events = run.events()?;
        let is_located = events.modes.iter().any(Option::is_some);
        let mut lanes = Vec::new();
        for name in all.into_iter().filter(|name| contacts.is_empty() || contacts.iter().any(|other| is_pair(name, other))) {
            let codes = run.quantity(&format!("mode.{name}"))?.swap_remove(0).values;
            let modes: Vec<ContactMode> =
                codes.iter().map(|code| ContactMode::ALL.get(*code as usize).copied().unwrap_or_default()).collect();
            let of_contact = |k: &usize| events.name[*k] == name;
            let marks = (0..events.t.len()).filter(of_contact).map(|k| (events.t[k], events.kind[k].clone())).collect();
            let spans = if is_located { located(run.time(), &modes, &events, &name) } else { by_steps(run.time(), &modes) };
            lanes.push(Lane { name, spans, marks });
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

/// Modes at frames and after events, each until the next of them; events come after a frame at the same instant.
fn located(time: &[f64], modes: &[ContactMode], events: &EventTable, name: &str) -> Vec<(f64, f64, ContactMode)> {
    let after = |k: usize| Some((events.t[k], events.modes[k].filter(|_| events.name[k] == name)?.1));
    let mut points: Vec<(f64, ContactMode)> = time.iter().copied().zip(modes.iter().copied()).collect();
    points.extend((0..events.t.len()).filter_map(after));
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let end = points.last().map_or(0.0, |point| point.0);
    let next = points.iter().skip(1).map(|point| point.0).chain([end]);
    joined(points.iter().zip(next).map(|(&(t, mode), next)| (t, next, mode)))
}

/// The mode of a frame held in the steps since the frame before.
fn by_steps(time: &[f64], modes: &[ContactMode]) -> Vec<(f64, f64, ContactMode)> {
    joined(time.windows(2).zip(modes.iter().skip(1)).map(|(t, &mode)| (t[0], t[1], mode)))
}

/// Neighbours of one mode as one span; none without a length.
fn joined(spans: impl Iterator<Item = (f64, f64, ContactMode)>) -> Vec<(f64, f64, ContactMode)> {
    let mut out: Vec<(f64, f64, ContactMode)> = Vec::new();
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
        let events = EventTable {
            t: vec![0.25, 0.25, 0.5, 1.0],
            kind: ["impact", "impact", "slip-to-stick", "impact"].map(String::from).into(),
            name: ["a", "b", "a", "a"].map(String::from).into(),
            impulse: vec![0.0; 4],
            modes: vec![Some((Open, Sliding)), Some((Open, Closed)), Some((Sliding, Sticking)), None],
            note: vec![String::new(); 4],
        };
        // the frame at 0.5 is of the state before the event
        let spans = located(&[0.0, 0.3, 0.5, 0.75, 1.0], &[Open, Sliding, Sliding, Sticking, Touching], &events, "a");
        assert_eq!(spans, [(0.0, 0.25, Open), (0.25, 0.5, Sliding), (0.5, 1.0, Sticking)]);
        assert_eq!(by_steps(&[0.0, 1.0, 2.0, 3.0], &[Closed, Open, Closed, Closed]), [(0.0, 1.0, Open), (1.0, 3.0, Closed)]);
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
