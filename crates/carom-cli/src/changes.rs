//! What the command line changes in a model: single values, and the methods in one word.

use carom::io::model_file::Override;
use clap::Args;

/// Options of all commands that read a model.
#[derive(Args, Clone, Debug, Default)]
pub struct Changes {
    /// Set a value of the model, e.g. simulation.step=1e-5 or solver.tolerance=1e-12 (may be repeated)
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Override>,
    /// Strategy (`carom list strategies`); short for --set simulation.strategy=NAME
    #[arg(long, value_name = "NAME")]
    strategy: Option<String>,
    /// Scheme (`carom list schemes`), with settings as NAME:KEY=VALUE; short for --set simulation.scheme.kind=NAME
    #[arg(long, value_name = "NAME")]
    scheme: Option<String>,
    /// Integrator (`carom list integrators`), with settings as NAME:KEY=VALUE; short for --set simulation.integrator.kind=NAME
    #[arg(long, value_name = "NAME")]
    integrator: Option<String>,
    /// Solver of one-step problems (`carom list solvers`), with settings as NAME:KEY=VALUE; short for --set simulation.solver.kind=NAME
    #[arg(long, value_name = "NAME")]
    solver: Option<String>,
    /// Impact law (`carom list laws`), with settings as NAME:KEY=VALUE; short for --set impact.law=NAME
    #[arg(long, value_name = "NAME")]
    law: Option<String>,
}

impl Changes {
    /// All of them, the methods first.
    pub fn overrides(&self) -> Vec<Override> {
        let strategy = self.strategy.iter().map(|name| value(&["simulation"], "strategy", name)).collect::<Vec<_>>();
        let sections: [(&Option<String>, &[&str], &str); 4] = [
            (&self.scheme, &["simulation", "scheme"], "kind"),
            (&self.integrator, &["simulation", "integrator"], "kind"),
            (&self.solver, &["simulation", "solver"], "kind"),
            (&self.law, &["impact"], "law"),
        ];
        let methods = sections.into_iter().filter_map(|(text, path, kind)| Some(method(text.as_deref()?, path, kind)));
        strategy.into_iter().chain(methods.flatten()).chain(self.set.iter().cloned()).collect()
    }
}

/// `moreau-jean:theta=0.6` as the kind and the settings of a section.
fn method(text: &str, section: &[&str], kind: &str) -> Vec<Override> {
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default();
    let settings = parts.map(|part| part.split_once('=').unwrap_or((part, "")));
    std::iter::once((kind, name)).chain(settings).map(|(key, text)| value(section, key, text)).collect()
}

fn value(section: &[&str], key: &str, value: &str) -> Override {
    let words = section.iter().copied().chain(key.split('.')).map(|word| word.trim().to_owned());
    Override { path: words.collect(), value: value.trim().to_owned() }
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
            strategy: Some("hybrid".into()),
            scheme: Some("moreau-gap:sweeps.tolerance=1e-6".into()),
            law: Some("poisson".into()),
            ..Changes::default()
        };
        let shown: Vec<String> = changes.overrides().iter().map(|one| format!("{}={}", one.path.join("."), one.value)).collect();
        let expected = [
            "simulation.strategy=hybrid",
            "simulation.scheme.kind=moreau-gap",
            "simulation.scheme.sweeps.tolerance=1e-6",
            "impact.law=poisson",
            "simulation.scheme.gamma=1",
        ];
        assert_eq!(shown, expected);
    }
}
