//! `[[controller]]`.

use super::super::error::suggestion;
use super::super::numbers::{Must, Reader};
use super::super::value::Table;
use super::clock;
use super::ready;
use super::schema::{ControllerSchema, ModeSchema};
use carom_dynamics::control::ready::LIST;
use carom_dynamics::control::{Clock, ControlSource, ControllerSource, ModeSource, StateSource, TransitionSource};
use toml::Spanned;

/// The keys of each kind beside `name`, `kind`, `period` and `phase`.
const KEYS: [(&str, &[&str]); 7] = [
    ("formula", &["states", "locals", "outputs", "mode"]),
    ("pid", &["error", "rate", "kp", "ki", "kd", "filter", "limits", "tracking"]),
    ("computed-torque", &["coordinates", "desired", "kp", "kd"]),
    ("passivity", &["coordinates", "desired", "lambda", "gain"]),
    ("sliding-mode", &["form", "surface", "gain", "equivalent"]),
    ("twisting", &["form", "surface", "rate", "gains"]),
    ("observer", &["estimates", "initial", "A", "B", "C", "L", "inputs", "measured"]),
];

/// A section with what is common to all kinds.
pub(super) struct Section<'a> {
    pub s: &'a ControllerSchema,
    pub span: std::ops::Range<usize>,
    pub name: String,
    /// "the controller \"…\"".
    pub what: String,
    pub clock: Option<Clock>,
}

/// Reads a controller into the source.
pub(super) fn controller(reader: &mut Reader<'_>, section: &Spanned<ControllerSchema>, source: &mut ControlSource) {
    let s = section.get_ref();
    let what = format!("the controller \"{}\"", s.name.get_ref());
    let kind = s.kind.as_ref().map_or("formula", |kind| kind.get_ref().as_str());
    let Some((kind, keys)) = KEYS.iter().find(|(known, _)| *known == kind) else {
        let kinds: Vec<&str> = LIST.iter().map(|(name, _)| *name).collect();
        let span = s.kind.as_ref().map_or(section.span(), Spanned::span);
        return reader.wrong(span, format!("there is no controller \"{kind}\""), suggestion(kind, &kinds));
    };
    let before = reader.mistakes.len();
    for (key, span) in s.given() {
        if !keys.contains(&key) {
            reader.wrong(span, format!("{what} is of kind \"{kind}\" and has no `{key}`"), format!("its keys are: {}", keys.join(", ")));
        }
    }
    let Some(clock) = clock(reader, s.period.as_ref(), s.phase.as_ref(), &what) else { return };
    if reader.mistakes.len() > before {
        return;
    }
    let it = Section { s, span: section.span(), name: s.name.get_ref().clone(), what, clock };
    match *kind {
        "formula" => source.controllers.extend(it.by_formula(reader)),
        "computed-torque" | "passivity" => source.model_based.extend(ready::model_based(reader, &it, kind)),
        "pid" => source.controllers.extend(ready::pid(reader, &it)),
        "observer" => source.controllers.extend(ready::observer(reader, &it)),
        _ => ready::set_valued(reader, &it, kind, source),
    }
}

/// A table of texts in the order of the file: each may use earlier ones.
fn texts(table: &Table<Spanned<String>>) -> Vec<(String, String)> {
    let mut entries: Vec<_> = table.0.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries.into_iter().map(|(key, text)| (key.get_ref().clone(), text.get_ref().clone())).collect()
}

impl Section<'_> {
    /// A key that is not there.
    pub fn missing<T>(&self, reader: &mut Reader<'_>, key: &str, help: &str) -> Option<T> {
        reader.wrong(self.span.clone(), format!("{} has no `{key}`", self.what), help);
        None
    }

    fn by_formula(&self, reader: &mut Reader<'_>) -> Option<ControllerSource> {
        let s = self.s;
        if s.outputs.0.is_empty() {
            return self.missing(reader, "outputs", "give at least one: outputs = { u = \"…\" }");
        }
        let mut states = Vec::new();
        let mut given: Vec<_> = s.states.0.iter().collect();
        given.sort_by_key(|(name, _)| name.span().start);
        for (name, state) in given {
            let given = state.get_ref();
            let what = format!("the initial value of {} of {}", name.get_ref(), self.what);
            let initial = reader.number_or(given.initial.as_ref(), 0.0, &what, Must::BeFinite)?;
            let reason = match (self.clock, &given.update, &given.rate) {
                (Some(_), _, Some(_)) => Some(("has a rate, but the controller is sampled", "give an `update`, or leave `period` out")),
                (None, Some(_), _) => Some(("has an update, but the controller no period", "give a `rate`, or the controller a `period`")),
                _ => None,
            };
            if let Some((reason, help)) = reason {
                reader.wrong(self.span.clone(), format!("the state \"{}\" of {} {reason}", name.get_ref(), self.what), help);
                return None;
            }
            let text = |text: &Option<Spanned<String>>| text.as_ref().map(|text| text.get_ref().clone());
            states.push(StateSource { name: name.get_ref().clone(), initial, update: text(&given.update), rate: text(&given.rate) });
        }
        Some(ControllerSource {
            name: self.name.clone(),
            clock: self.clock,
            states,
            locals: texts(&s.locals),
            outputs: texts(&s.outputs),
            modes: s.modes.iter().map(|mode| read_mode(mode.get_ref())).collect(),
        })
    }
}

fn read_mode(mode: &ModeSchema) -> ModeSource {
    let transitions = mode.transitions.iter().map(|transition| {
        let given = transition.get_ref();
        TransitionSource { to: given.to.get_ref().clone(), when: given.when.get_ref().clone(), set: texts(&given.set) }
    });
    ModeSource {
        name: mode.name.get_ref().clone(),
        locals: texts(&mode.locals),
        outputs: texts(&mode.outputs),
        transitions: transitions.collect(),
    }
}
