//! The list of all integrators: one line each.

use super::parameters::{Formulation, IntegratorParams};
use super::{
    Integrator, adams, bdf, discrete_multiplier, extrapolation, generalized_alpha, hem5, hht, implicit_runge_kutta, newmark, phem56,
    rattle, runge_kutta, shake, stormer_verlet,
};
use serde::{Deserialize, Serialize};

/// Orders of convergence of positions, velocities and multipliers at the ends of the steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orders {
    /// Of q.
    pub position: f64,
    /// Of v.
    pub velocity: f64,
    /// Of λ; `None` where the method gives none that converges.
    pub multiplier: Option<f64>,
}

impl Orders {
    /// The same order for all.
    #[must_use]
    pub const fn all(order: f64) -> Self {
        Orders { position: order, velocity: order, multiplier: Some(order) }
    }
}

/// What is known of an integrator.
pub struct IntegratorEntry {
    /// Name in model files and on the command line.
    pub name: &'static str,
    /// When to use it, in one line.
    pub summary: &'static str,
    /// Forms of the constraints it can integrate; the first is the default.
    pub formulations: &'static [Formulation],
    /// Orders to choose from by `order`; ascending; empty for methods of one order.
    pub choices: &'static [usize],
    /// Which of them is taken when none is asked for; `None`: the highest.
    pub default_order: Option<usize>,
    /// It estimates its own local error; otherwise step control halves steps.
    pub has_estimate: bool,
    /// Closed contacts may slide with friction: it takes its accelerations from [`crate::smooth::Equations::accelerate`] and
    /// [`crate::smooth::Equations::solve_stage`] alone.
    pub knows_friction: bool,
    /// Declared orders with these settings (constrained problems, constant step).
    pub orders: fn(&IntegratorParams) -> Orders,
    /// Makes one.
    pub build: fn(&IntegratorParams) -> Box<dyn Integrator>,
}

macro_rules! integrators {
    ($($variant:ident: $entry:path;)*) => {
        /// The integrators.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        #[allow(missing_docs, reason = "each is described by its entry")]
        pub enum IntegratorKind {
            #[default]
            $($variant,)*
        }

        impl IntegratorKind {
            /// All of them.
            pub const ALL: &'static [IntegratorKind] = &[$(IntegratorKind::$variant,)*];

            /// What is known of it.
            #[must_use]
            pub fn entry(self) -> &'static IntegratorEntry {
                match self {
                    $(IntegratorKind::$variant => &$entry,)*
                }
            }
        }
    };
}

integrators! {
    Hem5: hem5::HEM5;
    AdamsBashforth: adams::ADAMS_BASHFORTH;
    AdamsMoulton: adams::ADAMS_MOULTON;
    Bdf: bdf::BDF;
    DiscreteMultiplier: discrete_multiplier::DISCRETE_MULTIPLIER;
    Dopri5: runge_kutta::DOPRI5;
    Extrapolation: extrapolation::EXTRAPOLATION;
    Gauss: implicit_runge_kutta::GAUSS;
    GeneralizedAlpha: generalized_alpha::GENERALIZED_ALPHA;
    Hht: hht::HHT;
    Newmark: newmark::NEWMARK;
    Phem56: phem56::PHEM56;
    RadauIia: implicit_runge_kutta::RADAU_IIA;
    Rattle: rattle::RATTLE;
    Rk4: runge_kutta::RK4;
    Rkf45: runge_kutta::RKF45;
    Sdirk: implicit_runge_kutta::SDIRK;
    Shake: shake::SHAKE;
    StormerVerlet: stormer_verlet::STORMER_VERLET;
}

impl IntegratorKind {
    /// Name in model files and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.entry().name
    }
}

impl From<IntegratorKind> for String {
    fn from(kind: IntegratorKind) -> Self {
        kind.name().to_owned()
    }
}

impl TryFrom<String> for IntegratorKind {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let found = IntegratorKind::ALL.iter().copied().find(|kind| kind.name() == name);
        found.ok_or_else(|| {
            let nearest = crate::nearest::nearest(&name, IntegratorKind::ALL.iter().map(|kind| kind.name()));
            let help = nearest.map_or(String::new(), |best| format!(", did you mean \"{best}\"?"));
            format!("there is no integrator \"{name}\"{help}")
        })
    }
}

/// The integrator these settings ask for.
#[must_use]
pub fn build(params: &IntegratorParams) -> Box<dyn Integrator> {
    (params.kind.entry().build)(params)
}
