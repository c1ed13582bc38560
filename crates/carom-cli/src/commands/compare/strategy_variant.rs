//! A strategy with its settings, as written on the command line: `hybrid`, `event-driven:integrator.kind=dopri5`.

use super::variant::set;
use carom::dynamics::nearest::nearest;
use carom::dynamics::strategies::STRATEGIES;
use carom::io::model_file::RunSettings;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// One of the strategies to compare.
#[derive(Clone, Debug)]
pub struct StrategyVariant {
    /// As written.
    pub label: String,
    /// Its settings; the tolerance is set by run.
    pub settings: RunSettings,
}

/// The tables whose settings can be given.
const TABLES: [&str; 5] = ["integrator", "events", "hybrid", "adaptive", "scheme"];

impl StrategyVariant {
    /// Reads a variant over the settings of the model.
    ///
    /// # Errors
    /// In words, with the nearest name.
    pub fn parse(text: &str, own: &RunSettings) -> Result<Self, String> {
        let mut parts = text.split(':').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let names: Vec<&str> = STRATEGIES.iter().map(|(name, _)| *name).filter(|name| *name != "time-stepping").collect();
        if name == "time-stepping" {
            return Err("time-stepping has steps, not a tolerance: compare it with --schemes and --steps".to_owned());
        }
        if !names.contains(&name) {
            let help = suggestion(name, &names);
            return Err(format!("there is no strategy \"{name}\": {help}"));
        }
        let mut tables = json!({
            "integrator": own.integrator, "events": own.events, "hybrid": own.hybrid, "adaptive": own.adaptive, "scheme": own.scheme,
        });
        for part in parts {
            let given = part.split_once('=').and_then(|(key, value)| Some((key.trim().split_once('.')?, value.trim())));
            let ((table, key), value) =
                given.ok_or_else(|| format!("{text}: give settings as TABLE.KEY=VALUE, e.g. integrator.kind=dopri5"))?;
            if !TABLES.contains(&table) {
                return Err(format!("{text}: there are no settings \"{table}\": {}", suggestion(table, &TABLES)));
            }
            match (table, key) {
                // the settings of another scheme are its own
                ("scheme", "kind") => tables[table] = json!({"kind": value}),
                ("integrator", "kind") => {
                    // order and form are those of another method
                    tables[table]["order"] = Value::Null;
                    tables[table]["formulation"] = Value::Null;
                    tables[table][key] = Value::from(value);
                }
                _ => set(&mut tables[table], key, value),
            }
        }
        let settings = RunSettings {
            strategy: name.to_owned(),
            step: if name == "adaptive" { own.step } else { 0.0 },
            integrator: read(text, &tables["integrator"])?,
            events: read(text, &tables["events"])?,
            hybrid: read(text, &tables["hybrid"])?,
            adaptive: read(text, &tables["adaptive"])?,
            scheme: read(text, &tables["scheme"])?,
            ..own.clone()
        };
        let checks = [
            settings.integrator.validate(),
            settings.events.validate(),
            settings.hybrid.validate(),
            settings.adaptive.validate(),
            settings.scheme.validate(),
        ];
        checks.into_iter().collect::<Result<(), _>>().map_err(|error| format!("{text}: {error}"))?;
        Ok(StrategyVariant { label: text.to_owned(), settings })
    }

    /// The settings for a run to a tolerance and an end.
    pub fn at(&self, tolerance: f64, end: f64) -> RunSettings {
        let mut settings = RunSettings { end, ..self.settings.clone() };
        if settings.is_adaptive() {
            settings.adaptive.tolerance = tolerance;
        } else {
            settings.integrator.tolerance = tolerance;
            settings.integrator.absolute_tolerance = None;
            settings.integrator.relative_tolerance = None;
        }
        settings
    }
}

fn read<P: DeserializeOwned>(text: &str, table: &Value) -> Result<P, String> {
    serde_json::from_value(table.clone()).map_err(|error| format!("{text}: {error}"))
}

fn suggestion(name: &str, names: &[&str]) -> String {
    nearest(name, names.iter().copied())
        .map_or_else(|| format!("choose from {}", names.join(", ")), |best| format!("did you mean \"{best}\"?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use carom::Simulation;

    fn own() -> RunSettings {
        let text = "[linear]\ncoordinates = [\"y\"]\nmass = 1.0\n[simulation]\nend = 1.0\nstep = 1e-3\nscheme = { kind = \"moreau-jean\", theta = 0.6 }\n";
        Simulation::from_text(text).unwrap().file.run
    }

    #[test]
    fn variants_are_read_and_mistakes_are_told() {
        let own = own();
        let variant =
            StrategyVariant::parse("hybrid:integrator.kind=dopri5:events.location=im1:hybrid.switch_on.slip=false", &own).unwrap();
        let settings = variant.at(1e-5, 3.0);
        assert_eq!((settings.integrator.kind.name(), settings.integrator.tolerance, settings.end), ("dopri5", 1e-5, 3.0));
        assert!(!settings.hybrid.switch_on.slip && settings.scheme == own.scheme && settings.step == 0.0);
        let adaptive = StrategyVariant::parse("adaptive:adaptive.control=halving", &own).unwrap().at(1e-3, 1.0);
        assert_eq!((adaptive.adaptive.tolerance, adaptive.integrator.tolerance), (1e-3, own.integrator.tolerance));
        for (wrong, word) in [
            ("hybrd", "hybrid"),
            ("time-stepping", "--schemes"),
            ("hybrid:tolerance=1", "TABLE.KEY=VALUE"),
            ("hybrid:event.gap=1", "events"),
            ("hybrid:events.gp=1", "gp"),
            ("hybrid:events.gap=-1", "events.gap"),
            ("hybrid:scheme.kind=moreau-jan", "moreau-jan"),
        ] {
            let error = StrategyVariant::parse(wrong, &own).unwrap_err();
            assert!(error.contains(word), "{wrong}: {error}");
        }
    }
}
