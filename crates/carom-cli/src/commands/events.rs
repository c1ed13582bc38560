//! The events of a run, for people and for programs.

use carom::dynamics::diagnostics::Certificate;
use carom::dynamics::error::RecordError;
use carom::dynamics::recording::{Frame, Recorder};
use carom::dynamics::report::Event;
use carom::io::recording::EventTable;
use serde_json::{Map, Value, json};

/// Events shown in full in the JSON report; the recorded run has all.
const MAX_KEPT: usize = 1000;

/// One event in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub t: f64,
    pub kind: String,
    pub name: String,
    pub impulse: f64,
    /// Names of the modes before and after.
    pub modes: Option<(&'static str, &'static str)>,
    pub note: String,
}

impl From<&Event> for Line {
    fn from(event: &Event) -> Self {
        Line {
            t: event.t,
            kind: event.kind.name().to_owned(),
            name: event.name.clone(),
            impulse: event.impulse,
            modes: event.modes.map(|(before, after)| (before.name(), after.name())),
            note: event.note.clone(),
        }
    }
}

/// The first events of a run, and how many there are of each kind.
#[derive(Clone, Debug, Default)]
pub struct EventList {
    pub lines: Vec<Line>,
    /// Kinds that occurred, in the order of their first event.
    counts: Vec<(String, usize)>,
}

impl EventList {
    /// All events of a recorded run.
    pub fn of_run(table: &EventTable) -> Self {
        let mut list = EventList::default();
        for k in 0..table.t.len() {
            let modes = table.modes[k].map(|(before, after)| (before.name(), after.name()));
            let (kind, name, note) = (table.kind[k].clone(), table.name[k].clone(), table.note[k].clone());
            list.count(&kind);
            list.lines.push(Line { t: table.t[k], kind, name, impulse: table.impulse[k], modes, note });
        }
        list
    }

    fn count(&mut self, kind: &str) {
        match self.counts.iter_mut().find(|(name, _)| name == kind) {
            Some((_, n)) => *n += 1,
            None => self.counts.push((kind.to_owned(), 1)),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.counts.iter().map(|(_, n)| n).sum()
    }

    /// `7: 4 impact, 2 stick-to-slip, 1 accumulation`.
    pub fn summary(&self) -> String {
        let kinds: Vec<String> = self.counts.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        if kinds.is_empty() { "0".to_owned() } else { format!("{}: {}", self.len(), kinds.join(", ")) }
    }

    /// The numbers by kind, as a JSON object.
    pub fn counts(&self) -> Value {
        Value::Object(self.counts.iter().map(|(kind, n)| (kind.clone(), json!(n))).collect::<Map<_, _>>())
    }

    /// The events that are kept, as a JSON list.
    pub fn json(&self) -> Value {
        let object = |e: &Line| {
            let mut object = json!({"t": e.t, "kind": e.kind, "name": e.name, "impulse": e.impulse});
            if let Some((before, after)) = e.modes {
                object["mode_before"] = json!(before);
                object["mode_after"] = json!(after);
            }
            if !e.note.is_empty() {
                object["note"] = json!(e.note);
            }
            object
        };
        Value::Array(self.lines.iter().map(object).collect())
    }

    /// A table of at most `most` events, indented; `remedy` says where the others are.
    pub fn table(&self, most: usize, remedy: &str) -> String {
        if self.lines.is_empty() {
            return String::new();
        }
        let mut rows = vec![["t [s]", "event", "contact", "mode", "impulse [N·s]", "note"].map(str::to_owned)];
        rows.extend(self.lines.iter().take(most).map(|e| {
            let modes = e.modes.map_or_else(String::new, |(before, after)| format!("{before} → {after}"));
            let impulse = if e.impulse == 0.0 { String::new() } else { super::report::short(e.impulse) };
            [format!("{:.9}", e.t), e.kind.clone(), e.name.clone(), modes, impulse, e.note.clone()]
        }));
        let mut out = String::new();
        let widths: Vec<usize> = (0..6).map(|i| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0)).collect();
        // a column in which nothing stands is left out
        let stands: Vec<bool> = (0..6).map(|i| rows[1..].iter().any(|row| !row[i].is_empty())).collect();
        for row in &rows {
            let mut line = String::new();
            for i in (0..6).filter(|&i| stands[i]) {
                let width = widths[i];
                // numbers to the right
                let field = if i == 0 || i == 4 { format!("  {:>width$}", row[i]) } else { format!("  {:width$}", row[i]) };
                line.push_str(&field);
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        let left = self.len() - (rows.len() - 1);
        if left > 0 {
            out.push_str(&format!("  … and {left} more; {remedy}\n"));
        }
        out
    }
}

/// Keeps the first events while a run goes.
impl Recorder for EventList {
    fn frame(&mut self, _: &Frame<'_>) -> Result<(), RecordError> {
        Ok(())
    }
    fn event(&mut self, event: &Event) -> Result<(), RecordError> {
        self.count(event.kind.name());
        if self.lines.len() < MAX_KEPT {
            self.lines.push(event.into());
        }
        Ok(())
    }
    fn finish(&mut self, _: &Certificate, _: &str) -> Result<(), RecordError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use carom::dynamics::report::{ContactMode, EventKind};

    #[test]
    fn table_is_short_and_says_what_is_left_out() {
        let mut list = EventList::default();
        assert_eq!((list.summary().as_str(), list.table(20, "").as_str()), ("0", ""));
        for k in 0..1100 {
            let event = Event::new(f64::from(k), EventKind::Impact, "floor").with_impulse(2.5);
            list.event(&event.with_modes(ContactMode::Open, ContactMode::Touching)).unwrap();
        }
        list.event(&Event::new(1100.0, EventKind::Accumulation, "floor").with_note("t* = 2 s")).unwrap();
        assert_eq!(list.summary(), "1101: 1100 impact, 1 accumulation");
        assert_eq!((list.len(), list.lines.len()), (1101, MAX_KEPT));
        let table = list.table(2, "carom info shows all");
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 4, "{table}");
        assert_eq!(lines[0], "        t [s]  event   contact  mode             impulse [N·s]");
        assert_eq!(lines[1], "  0.000000000  impact  floor    open → touching            2.5");
        assert_eq!(lines[3], "  … and 1099 more; carom info shows all");
        let json = list.json();
        assert_eq!((json[0]["mode_after"].as_str(), json[0].get("note")), (Some("touching"), None));
        assert_eq!(list.counts()["impact"], 1100);
    }
}
