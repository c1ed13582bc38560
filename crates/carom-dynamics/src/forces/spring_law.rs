//! The force of a spring and damper over one coordinate: a length, an angle, a displacement.

use crate::error::{ModelError, NonFinite};
use crate::formula::{Expr, Graph, Scope, Tape};
use crate::systems::Scratch;
use crate::systems::formula_force::{compile, parse};

/// In which sense a spring acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sense {
    /// It pulls and pushes: the default.
    #[default]
    Both,
    /// It only pulls, as a rope.
    TensionOnly,
    /// It only pushes, as a buffer.
    CompressionOnly,
}

impl Sense {
    /// All with their names.
    pub const NAMES: [(&'static str, Sense); 3] =
        [("both", Sense::Both), ("tension-only", Sense::TensionOnly), ("compression-only", Sense::CompressionOnly)];

    /// +1 or −1 for one sense only.
    fn sign(self) -> Option<f64> {
        match self {
            Sense::Both => None,
            Sense::TensionOnly => Some(1.0),
            Sense::CompressionOnly => Some(-1.0),
        }
    }
}

/// A linear spring and damper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearSpring {
    /// k \[N/m\] or \[N m/rad\], ≥ 0; positive for one sense only.
    pub stiffness: f64,
    /// c \[N s/m\] or \[N m s/rad\], ≥ 0.
    pub damping: f64,
    /// Coordinate x₀ without elastic force \[m\] or \[rad\]; the coordinate at the start if `None`.
    pub rest: Option<f64>,
    /// Tension f₀ at x₀ \[N\] or \[N m\].
    pub preload: f64,
    /// In which sense it acts.
    pub sense: Sense,
}

impl LinearSpring {
    /// A spring and damper with its rest at the start.
    #[must_use]
    pub fn new(stiffness: f64, damping: f64) -> Self {
        LinearSpring { stiffness, damping, rest: None, preload: 0.0, sense: Sense::Both }
    }

    /// With this rest.
    #[must_use]
    pub fn with_rest(self, rest: f64) -> Self {
        LinearSpring { rest: Some(rest), ..self }
    }
}

/// What the force of a spring is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum SpringSource {
    /// k (x − x₀) + c ẋ + f₀.
    Linear(LinearSpring),
    /// A formula of the coordinate, of its rate and of `t`; its work is counted as applied.
    Formula {
        /// The formula.
        text: String,
        /// Constants of the formula.
        parameters: Vec<(String, f64)>,
    },
}

/// The tension f(x, ẋ, t) over a coordinate x, positive where it pulls x back.
///
/// ```text
/// f = k (x − x₀) + f₀ + c ẋ
/// ```
///
/// A spring of one sense acts where its elastic part f_e = k (x − x₀) + f₀ has its sign, and never with the other: max(0, f_e + c ẋ) where
/// f_e > 0, for tension only. The potential is ½ k (x − x₀)² + f₀ (x − x₀), or f_e²/(2k) for one sense.
#[derive(Clone, Debug)]
pub(super) enum SpringLaw {
    Linear { stiffness: f64, damping: f64, rest: f64, preload: f64, sense: Sense },
    Formula(Box<FormulaLaw>),
}

#[derive(Clone, Debug)]
pub(super) struct FormulaLaw {
    what: String,
    /// f; inputs t, x, ẋ.
    value: Tape,
    /// ∂f/∂x, ∂f/∂ẋ.
    slopes: Tape,
    /// Its switching functions.
    switches: Tape,
    switch_names: Vec<String>,
}

/// A coordinate at an instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extension {
    pub t: f64,
    pub x: f64,
    pub rate: f64,
}

impl SpringLaw {
    /// `coordinate` and `rate` are the names that formulas use, `start` is the coordinate at the start.
    pub fn new(name: &str, source: &SpringSource, [coordinate, rate]: [&str; 2], start: f64) -> Result<Self, ModelError> {
        match source {
            SpringSource::Linear(spring) => Self::linear(name, spring, start),
            SpringSource::Formula { text, parameters } => {
                let (mut graph, mut scope) = (Graph::new(), Scope::new());
                let inputs: Vec<Expr> = ["t", coordinate, rate].iter().map(|name| graph.symbol(name)).collect();
                for (value, key) in parameters.iter().map(|(key, value)| (*value, key)) {
                    scope.constant(key, value);
                }
                for (symbol, key) in inputs.iter().zip(["t", coordinate, rate]) {
                    scope.symbol(key, *symbol);
                }
                let what = format!("force of \"{name}\"");
                let f = parse(&mut graph, &what, text, &scope)?;
                let slopes = [graph.derivative(f, inputs[1]), graph.derivative(f, inputs[2])];
                let switches = graph.switches(f);
                Ok(SpringLaw::Formula(Box::new(FormulaLaw {
                    value: compile(&graph, &inputs, &[f]),
                    slopes: compile(&graph, &inputs, &slopes),
                    switches: compile(&graph, &inputs, &switches),
                    switch_names: switches.iter().map(|&e| graph.to_string(e)).collect(),
                    what,
                })))
            }
        }
    }

    fn linear(name: &str, spring: &LinearSpring, start: f64) -> Result<Self, ModelError> {
        let LinearSpring { stiffness, damping, rest, preload, sense } = *spring;
        let check = |ok: bool, what: &str, value: f64, expected: &'static str| {
            let ok = ok && value.is_finite();
            if ok { Ok(()) } else { Err(ModelError::OutOfRange { what: format!("{what} of \"{name}\""), value, expected }) }
        };
        check(stiffness >= 0.0, "stiffness", stiffness, "a number ≥ 0 is needed")?;
        check(sense == Sense::Both || stiffness > 0.0, "stiffness", stiffness, "a positive number is needed for a spring of one sense")?;
        check(damping >= 0.0, "damping", damping, "a number ≥ 0 is needed")?;
        check(true, "preload", preload, "a finite number is needed")?;
        let rest = rest.unwrap_or(start);
        check(true, "rest", rest, "a finite number is needed")?;
        Ok(SpringLaw::Linear { stiffness, damping, rest, preload, sense })
    }

    /// f.
    pub fn force(&self, at: Extension, scratch: &mut Scratch) -> Result<f64, NonFinite> {
        match self {
            SpringLaw::Linear { damping, sense, .. } => Ok(match (sense.sign(), self.elastic(at.x)) {
                (None, elastic) => elastic + damping * at.rate,
                (Some(_), 0.0) => 0.0,
                (Some(sign), elastic) => sign * (sign * (elastic + damping * at.rate)).max(0.0),
            }),
            SpringLaw::Formula(law) => {
                let [value] = law.evaluate(&law.value, at, scratch);
                if value.is_finite() { Ok(value) } else { Err(NonFinite { what: format!("the {}", law.what), value }) }
            }
        }
    }

    /// The part with potential.
    pub fn elastic(&self, x: f64) -> f64 {
        match self {
            SpringLaw::Linear { stiffness, rest, preload, sense, .. } => {
                let elastic = stiffness * (x - rest) + preload;
                sense.sign().map_or(elastic, |sign| sign * (sign * elastic).max(0.0))
            }
            SpringLaw::Formula(_) => 0.0,
        }
    }

    /// Its potential.
    pub fn potential(&self, x: f64) -> f64 {
        match self {
            SpringLaw::Linear { stiffness, rest, preload, sense: Sense::Both, .. } => (0.5 * stiffness * (x - rest) + preload) * (x - rest),
            SpringLaw::Linear { stiffness, .. } => 0.5 * self.elastic(x).powi(2) / stiffness,
            SpringLaw::Formula(_) => 0.0,
        }
    }

    /// There is a part without potential.
    pub(crate) fn is_applied(&self) -> bool {
        match self {
            SpringLaw::Linear { damping, .. } => *damping > 0.0,
            SpringLaw::Formula(_) => true,
        }
    }

    /// (∂f/∂x, ∂f/∂ẋ).
    pub fn slopes(&self, at: Extension, scratch: &mut Scratch) -> Result<(f64, f64), NonFinite> {
        match self {
            SpringLaw::Linear { stiffness, damping, sense, .. } => {
                let acts = *sense == Sense::Both || self.force(at, scratch)? != 0.0;
                Ok(if acts { (*stiffness, *damping) } else { (0.0, 0.0) })
            }
            SpringLaw::Formula(law) => {
                let [by_x, by_rate]: [f64; 2] = law.evaluate(&law.slopes, at, scratch);
                match [by_x, by_rate].into_iter().find(|x| !x.is_finite()) {
                    None => Ok((by_x, by_rate)),
                    Some(value) => Err(NonFinite { what: format!("a derivative of the {}", law.what), value }),
                }
            }
        }
    }

    /// f = 0 at x = 0 whatever the direction: a spring of length zero.
    pub(crate) fn vanishes_at_zero(&self) -> Option<f64> {
        match self {
            SpringLaw::Linear { stiffness, rest, preload, sense: Sense::Both, .. } if *rest == 0.0 && *preload == 0.0 => Some(*stiffness),
            _ => None,
        }
    }

    /// Names of its kinks.
    pub fn switches(&self) -> Vec<String> {
        match self {
            SpringLaw::Linear { sense: Sense::Both, .. } => Vec::new(),
            SpringLaw::Linear { damping, .. } if *damping == 0.0 => vec!["slack".into()],
            SpringLaw::Linear { .. } => vec!["slack".into(), "cut-off".into()],
            SpringLaw::Formula(law) => law.switch_names.clone(),
        }
    }

    /// Value of a kink: positive where the spring acts.
    pub(crate) fn switch_value(&self, at: Extension, switch: usize, scratch: &mut Scratch) -> f64 {
        match self {
            SpringLaw::Linear { stiffness, damping, rest, preload, sense } => {
                let sign = sense.sign().unwrap_or(1.0);
                let elastic = sign * (stiffness * (at.x - rest) + preload);
                if switch == 0 {
                    return elastic;
                }
                // without elastic force only that counts
                if elastic > 0.0 { elastic + sign * damping * at.rate } else { 1.0 }
            }
            SpringLaw::Formula(law) => {
                law.run(&law.switches, at, scratch);
                scratch.outputs[switch]
            }
        }
    }
}

impl FormulaLaw {
    fn run(&self, tape: &Tape, at: Extension, scratch: &mut Scratch) {
        scratch.outputs.resize(tape.n_outputs(), 0.0);
        tape.evaluate(&[at.t, at.x, at.rate], &mut scratch.registers, &mut scratch.outputs);
    }

    fn evaluate<const N: usize>(&self, tape: &Tape, at: Extension, scratch: &mut Scratch) -> [f64; N] {
        let mut out = [0.0; N];
        tape.evaluate(&[at.t, at.x, at.rate], &mut scratch.registers, &mut out);
        out
    }
}
