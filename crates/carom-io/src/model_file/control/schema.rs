//! The keys of `[[sensor]]`, `[[controller]]` and `[[actuator]]`.

use super::super::value::{Table, Value};
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

type Number = Spanned<Value>;
type Text = Spanned<String>;
type Texts = Spanned<Vec<Text>>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct SensorSchema {
    pub name: Text,
    pub value: Option<Text>,
    pub contact: Option<Text>,
    pub period: Option<Number>,
    pub phase: Option<Number>,
    pub delay: Option<Number>,
    pub noise: Option<Number>,
    pub seed: Option<Number>,
    pub quantum: Option<Number>,
    pub initial: Option<Number>,
    pub unit: Option<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct ControllerSchema {
    pub name: Text,
    pub kind: Option<Text>,
    pub period: Option<Number>,
    pub phase: Option<Number>,
    pub form: Option<Text>,
    // by formula
    #[serde(default)]
    pub states: Table<Spanned<StateSchema>>,
    #[serde(default)]
    pub locals: Table<Text>,
    #[serde(default)]
    pub outputs: Table<Text>,
    #[serde(default, rename = "mode")]
    pub modes: Vec<Spanned<ModeSchema>>,
    // ready ones
    pub error: Option<Text>,
    pub rate: Option<Text>,
    pub kp: Option<Number>,
    pub ki: Option<Number>,
    pub kd: Option<Number>,
    pub filter: Option<Number>,
    pub limits: Option<Number>,
    pub tracking: Option<Number>,
    pub coordinates: Option<Texts>,
    pub desired: Option<Texts>,
    pub lambda: Option<Number>,
    pub gain: Option<Number>,
    pub gains: Option<Number>,
    pub surface: Option<Text>,
    pub equivalent: Option<Text>,
    pub estimates: Option<Texts>,
    pub initial: Option<Number>,
    #[serde(rename = "A")]
    pub a: Option<Number>,
    #[serde(rename = "B")]
    pub b: Option<Number>,
    #[serde(rename = "C")]
    pub c: Option<Number>,
    #[serde(rename = "L")]
    pub l: Option<Number>,
    pub inputs: Option<Texts>,
    pub measured: Option<Texts>,
}

impl ControllerSchema {
    /// The keys that are given beside `name`, `kind`, `period` and `phase`, with their places.
    pub fn given(&self) -> Vec<(&'static str, Range<usize>)> {
        let numbers = [
            ("kp", &self.kp),
            ("ki", &self.ki),
            ("kd", &self.kd),
            ("filter", &self.filter),
            ("limits", &self.limits),
            ("tracking", &self.tracking),
            ("lambda", &self.lambda),
            ("gain", &self.gain),
            ("gains", &self.gains),
            ("initial", &self.initial),
            ("A", &self.a),
            ("B", &self.b),
            ("C", &self.c),
            ("L", &self.l),
        ];
        let words = [
            ("form", &self.form),
            ("error", &self.error),
            ("rate", &self.rate),
            ("surface", &self.surface),
            ("equivalent", &self.equivalent),
        ];
        let lists = [
            ("coordinates", &self.coordinates),
            ("desired", &self.desired),
            ("estimates", &self.estimates),
            ("inputs", &self.inputs),
            ("measured", &self.measured),
        ];
        let tables = [
            ("states", self.states.0.first().map(|(key, _)| key.span())),
            ("locals", self.locals.0.first().map(|(key, _)| key.span())),
            ("outputs", self.outputs.0.first().map(|(key, _)| key.span())),
            ("mode", self.modes.first().map(Spanned::span)),
        ];
        let numbers = numbers.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?.span())));
        let words = words.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?.span())));
        let lists = lists.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?.span())));
        numbers.chain(words).chain(lists).chain(tables.into_iter().filter_map(|(key, span)| Some((key, span?)))).collect()
    }

    /// All formulas, with their places.
    pub fn formulas(&self) -> Vec<(Range<usize>, &str)> {
        let words = [&self.error, &self.rate, &self.surface, &self.equivalent].into_iter().flatten();
        let lists = [&self.desired, &self.inputs, &self.measured].into_iter().flatten().flat_map(|list| list.get_ref());
        let states = self.states.0.iter().flat_map(|(_, state)| [&state.get_ref().update, &state.get_ref().rate]).flatten();
        let tables = self.modes.iter().flat_map(|mode| [&mode.get_ref().locals, &mode.get_ref().outputs]);
        let tables = tables.chain([&self.locals, &self.outputs]).flat_map(|table| &table.0).map(|(_, text)| text);
        let transitions = self.modes.iter().flat_map(|mode| &mode.get_ref().transitions).map(Spanned::get_ref);
        let transitions = transitions.flat_map(|t| std::iter::once(&t.when).chain(t.set.0.iter().map(|(_, text)| text)));
        let all = words.chain(lists).chain(states).chain(tables).chain(transitions);
        all.map(|text| (text.span(), text.get_ref().as_str())).collect()
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct StateSchema {
    pub initial: Option<Number>,
    pub update: Option<Text>,
    pub rate: Option<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct ModeSchema {
    pub name: Text,
    #[serde(default)]
    pub locals: Table<Text>,
    #[serde(default)]
    pub outputs: Table<Text>,
    #[serde(default, rename = "transition")]
    pub transitions: Vec<Spanned<TransitionSchema>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct TransitionSchema {
    pub to: Text,
    pub when: Text,
    #[serde(default)]
    pub set: Table<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct ActuatorSchema {
    pub name: Text,
    pub signal: Text,
    pub period: Option<Number>,
    pub phase: Option<Number>,
    pub limits: Option<Number>,
    pub unit: Option<Text>,
    pub coordinate: Option<Text>,
    pub input: Option<Text>,
    pub state: Option<Text>,
    pub body: Option<Text>,
    pub force: Option<Number>,
    pub torque: Option<Number>,
    pub axes: Option<Text>,
    pub point: Option<Number>,
    pub joint: Option<Text>,
    pub along: Option<Text>,
}
