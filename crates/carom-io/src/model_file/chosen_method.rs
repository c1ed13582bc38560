//! What a word that changes the method from outside brings along: settings of the method before are dropped, the strategy becomes one that uses the
//! method, and values that the run will not use are reported.

use super::overrides::Override;
use carom_dynamics::impacts::ImpactLaw;
use carom_dynamics::integrators::IntegratorParams;
use carom_dynamics::schemes::SchemeParams;
use carom_dynamics::strategies::StrategyKind;
use carom_solvers::FrictionSolverParams;
use serde::Deserialize;
use toml_edit::{Item, TableLike, Value};

/// A section whose kind decides which settings it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Scheme,
    Solver,
    Integrator,
    ImpactLaw,
}

impl Section {
    /// The section whose kind stands at a path.
    pub fn of_kind(path: &[String]) -> Option<Self> {
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["simulation", "scheme", "kind"] => Some(Section::Scheme),
            ["simulation", "solver", "kind"] => Some(Section::Solver),
            ["simulation", "integrator", "kind"] => Some(Section::Integrator),
            ["impact", "law"] => Some(Section::ImpactLaw),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Section::Scheme => "scheme",
            Section::Solver => "solver",
            Section::Integrator => "integrator",
            Section::ImpactLaw => "impact law",
        }
    }

    /// A kind has a setting, with this value.
    fn takes(self, kind: &str, key: &str, value: &toml::Value) -> bool {
        let kind_key = if self == Section::ImpactLaw { "law" } else { "kind" };
        let entries = [(kind_key.to_owned(), toml::Value::String(kind.to_owned())), (key.to_owned(), value.clone())];
        let table = toml::Value::Table(entries.into_iter().collect());
        match self {
            Section::Scheme => SchemeParams::deserialize(table).is_ok_and(|params| params.validate().is_ok()),
            Section::Solver => FrictionSolverParams::deserialize(table).is_ok_and(|params| params.validate().is_ok()),
            Section::Integrator => IntegratorParams::deserialize(table).is_ok_and(|params| params.validate().is_ok()),
            Section::ImpactLaw => match kind {
                "newton" | "inelastic" | "poisson" => false,
                // of its two settings one alone is no law
                "choice" => matches!(key, "seed" | "outcomes"),
                _ => ImpactLaw::deserialize(table).is_ok_and(|law| law.validate().is_ok()),
            },
        }
    }
}

/// Drops the settings of a section that its new kind does not have and the kind before had; those in `set` were given with the new kind. A line for the
/// user where there are any.
pub(super) fn drop_foreign(
    section: Section,
    table: &mut dyn TableLike,
    (before, now): (Option<&str>, &str),
    set: &[&str],
) -> Option<String> {
    let kind_key = if section == Section::ImpactLaw { "law" } else { "kind" };
    if before == Some(now) {
        return None;
    }
    let foreign = |(key, item): (&str, &Item)| {
        let value = plain(item)?;
        let is_foreign = key != kind_key && !set.contains(&key) && !section.takes(now, key, &value);
        // a mistake of the file stays, to be reported as one
        let was_right = before.is_none_or(|before| section.takes(before, key, &value));
        (is_foreign && was_right).then(|| (key.to_owned(), format!("{key} = {value}")))
    };
    let dropped: Vec<(String, String)> = table.iter().filter_map(foreign).collect();
    for (key, _) in &dropped {
        table.remove(key);
    }
    let listed = dropped.iter().map(|(_, shown)| shown.as_str()).collect::<Vec<_>>().join(", ");
    let whose = before.map_or_else(|| "which it does not have".to_owned(), |before| format!("of \"{before}\""));
    (!dropped.is_empty()).then(|| format!("{} \"{now}\": dropped {listed}, {whose}", section.name()))
}

/// An item without comments and places.
fn plain(item: &Item) -> Option<toml::Value> {
    let mut value = item.clone().into_value().ok()?;
    value.decor_mut().clear();
    format!("value = {value}").parse::<toml::Table>().ok()?.remove("value")
}

/// The strategy of a file and whether its step control integrates, as far as the text says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strategy {
    pub kind: StrategyKind,
    pub high_order: bool,
}

impl Strategy {
    /// A part of `[simulation]` takes part in a run by this strategy.
    fn uses(self, part: &str) -> bool {
        match part {
            "step" => matches!(self.kind, StrategyKind::TimeStepping | StrategyKind::Adaptive),
            "scheme" | "solver" | "on_failure" => self.kind.has_scheme(),
            "integrator" => self.kind.integrates() || (self.kind == StrategyKind::Adaptive && self.high_order),
            "adaptive" => self.kind == StrategyKind::Adaptive,
            "events" => self.kind.locates_events(),
            "hybrid" => self.kind == StrategyKind::Hybrid,
            _ => true,
        }
    }

    /// The strategy that uses the scheme or the integrator chosen from outside, where this one does not and none was chosen with it.
    pub(crate) fn to_use(self, overrides: &[Override]) -> Option<StrategyKind> {
        let chooses = |part: &str| {
            let is_choice = |path: &[String]| match path {
                [simulation, section] => simulation == "simulation" && section == part,
                [simulation, section, kind] => simulation == "simulation" && section == part && kind == "kind",
                _ => false,
            };
            overrides.iter().any(|one| is_choice(&one.path) && !one.value.is_empty())
        };
        if chooses("strategy") {
            None
        } else if chooses("scheme") && !self.uses("scheme") {
            Some(StrategyKind::TimeStepping)
        } else if chooses("integrator") && !self.uses("integrator") {
            Some(StrategyKind::EventDriven)
        } else {
            None
        }
    }

    /// A line for each value set from outside that the run does not use.
    pub fn unused(self, overrides: &[Override]) -> Vec<String> {
        let unused =
            |one: &&Override| one.path[0] == "simulation" && one.path.len() > 1 && !one.value.is_empty() && !self.uses(&one.path[1]);
        let line = |one: &Override| {
            let why = match (one.path[1].as_str(), self.kind) {
                ("integrator", StrategyKind::Adaptive) => "only adaptive.control = \"high-order\" has an integrator".to_owned(),
                (part, kind) => format!("the strategy \"{kind}\" does not use `{part}`"),
            };
            format!("{}={} has no effect: {why}", one.path.join("."), one.value)
        };
        overrides.iter().filter(unused).map(line).collect()
    }
}

/// The text of a value.
pub(super) fn text_of(item: Option<&Item>) -> Option<&str> {
    item.and_then(Item::as_value).and_then(Value::as_str)
}
