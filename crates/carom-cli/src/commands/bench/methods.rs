//! The methods that a model can be run by, and the one word of its file that names each.

use carom::dynamics::integrators::IntegratorKind;
use carom::dynamics::schemes::SCHEMES;
use carom::dynamics::strategies::StrategyKind;
use carom::io::model_file::{Override, RunSettings};

/// What a method is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodKind {
    Strategy,
    Scheme,
    Integrator,
}

/// A method by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    pub kind: MethodKind,
    pub name: &'static str,
}

impl Method {
    /// All strategies, then all schemes, and the integrators if they are wanted.
    pub fn all(with_integrators: bool) -> Vec<Method> {
        let strategies = StrategyKind::ALL.iter().map(|kind| Method { kind: MethodKind::Strategy, name: kind.name() });
        let schemes = SCHEMES.iter().map(|entry| Method { kind: MethodKind::Scheme, name: entry.name });
        let integrators = IntegratorKind::ALL.iter().filter(|_| with_integrators);
        let integrators = integrators.map(|kind| Method { kind: MethodKind::Integrator, name: kind.entry().name });
        strategies.chain(schemes).chain(integrators).collect()
    }

    /// The word that changes a model's method to this one.
    pub fn word(self) -> Override {
        let path: &[&str] = match self.kind {
            MethodKind::Strategy => &["simulation", "strategy"],
            MethodKind::Scheme => &["simulation", "scheme", "kind"],
            MethodKind::Integrator => &["simulation", "integrator", "kind"],
        };
        Override { path: path.iter().map(|&key| key.to_owned()).collect(), value: self.name.to_owned() }
    }

    /// Steps of these settings are taken by the method. A word that a file accepts and does not use changes nothing.
    pub fn is_used_by(self, run: &RunSettings) -> bool {
        match self.kind {
            MethodKind::Strategy => run.strategy.name() == self.name,
            MethodKind::Scheme => run.strategy.has_scheme() && run.scheme.entry().name == self.name,
            MethodKind::Integrator => run.integrates() && run.integrator.kind.entry().name == self.name,
        }
    }
}

/// The method of a run in words: "time-stepping, moreau-gap", "event-driven, hem5".
pub fn describe(run: &RunSettings) -> String {
    let mut words = vec![run.strategy.name()];
    if run.integrates() {
        words.push(run.integrator.kind.entry().name);
    }
    if run.strategy.has_scheme() {
        words.push(run.scheme.entry().name);
    }
    words.join(", ")
}
