//! What the command line changes in a model: single values, and the methods in one word.

use carom::io::model_file::Override;
use clap::Args;
use std::str::FromStr;

/// Options of all commands that read a model.
#[derive(Args, Clone, Debug, Default)]
pub struct Changes {
    /// Set a value of the model, e.g. simulation.step=1e-5 or solver.tolerance=1e-12 (may be repeated)
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Override>,
    /// Strategy (`carom list strategies`), with settings as NAME:TABLE.KEY=VALUE; short for --set simulation.strategy=NAME
    #[arg(long, value_name = "NAME")]
    strategy: Option<MethodName>,
    /// Scheme (`carom list schemes`), with settings as NAME:KEY=VALUE; short for --set simulation.scheme.kind=NAME
    #[arg(long, value_name = "NAME")]
    scheme: Option<MethodName>,
    /// Integrator (`carom list integrators`), with settings as NAME:KEY=VALUE; short for --set simulation.integrator.kind=NAME
    #[arg(long, value_name = "NAME")]
    integrator: Option<MethodName>,
    /// Solver of one-step problems (`carom list solvers`), with settings as NAME:KEY=VALUE; short for --set simulation.solver.kind=NAME
    #[arg(long, value_name = "NAME")]
    solver: Option<MethodName>,
    /// Impact law (`carom list laws`), with settings as NAME:KEY=VALUE; short for --set impact.law=NAME
    #[arg(long, value_name = "NAME")]
    law: Option<MethodName>,
}

impl Changes {
    /// All of them, the methods first.
    pub fn overrides(&self) -> Vec<Override> {
        let methods: [(&Option<MethodName>, &[&str], &str); 5] = [
            (&self.strategy, &["simulation"], "strategy"),
            (&self.scheme, &["simulation", "scheme"], "kind"),
            (&self.integrator, &["simulation", "integrator"], "kind"),
            (&self.solver, &["simulation", "solver"], "kind"),
            (&self.law, &["impact"], "law"),
        ];
        let methods = methods.into_iter().filter_map(|(method, section, kind)| Some(method.as_ref()?.overrides(section, kind)));
        methods.flatten().chain(self.set.iter().cloned()).collect()
    }
}

/// A method with its settings: `moreau-jean:theta=0.6`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodName {
    pub name: String,
    pub settings: Vec<(String, String)>,
}

impl FromStr for MethodName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split(':').map(str::trim);
        let name = parts.next().unwrap_or_default().to_owned();
        let setting = |part: &str| match part.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
            _ => Err(format!("{text}: give settings as {name}:KEY=VALUE")),
        };
        Ok(MethodName { settings: parts.map(setting).collect::<Result<_, _>>()?, name })
    }
}

impl MethodName {
    /// The values that it sets: `kind` of a section and its other keys.
    pub fn overrides(&self, section: &[&str], kind: &str) -> Vec<Override> {
        let value = |key: &str, value: &str| {
            let words = section.iter().copied().chain(key.split('.')).map(|word| word.trim().to_owned());
            Override { path: words.collect(), value: value.to_owned() }
        };
        std::iter::once(value(kind, &self.name)).chain(self.settings.iter().map(|(key, text)| value(key, text))).collect()
    }
}

/// Reports on standard error what was decided for the user.
pub fn show_notes(notes: &[String]) {
    notes.iter().for_each(|note| eprintln!("note: {note}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_overrides_in_one_word() {
        let changes = Changes {
            set: vec!["scheme.gamma=1".parse().unwrap()],
            strategy: Some("hybrid:events.gap=1e-9".parse().unwrap()),
            scheme: Some("moreau-gap:sweeps.tolerance=1e-6".parse().unwrap()),
            law: Some("poisson".parse().unwrap()),
            ..Changes::default()
        };
        let shown: Vec<String> = changes.overrides().iter().map(|one| format!("{}={}", one.path.join("."), one.value)).collect();
        let expected = [
            "simulation.strategy=hybrid",
            "simulation.events.gap=1e-9",
            "simulation.scheme.kind=moreau-gap",
            "simulation.scheme.sweeps.tolerance=1e-6",
            "impact.law=poisson",
            "simulation.scheme.gamma=1",
        ];
        assert_eq!(shown, expected);
        // a key without a value would take the key away
        assert!("moreau-jean:theta".parse::<MethodName>().is_err() && "moreau-jean:=1".parse::<MethodName>().is_err());
    }
}
