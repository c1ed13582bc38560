//! The elements of circuits and their laws.

use super::error::CircuitError;
use crate::formula::is_valid_name;

/// A circuit: elements between named nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Circuit {
    /// The elements, in the order of the netlist.
    pub elements: Vec<Element>,
    /// Conductance to ground of nodes whose voltage nothing determines while the ideal elements around them block \[S\]; ≥ 0. [`Circuit::LEAK`] is small
    /// enough to change no digit that matters, and makes their voltages unique.
    pub leak: f64,
    /// Constants of the formulas.
    pub parameters: Vec<(String, f64)>,
}

/// One element: its name, the nodes of its terminals in the order of the netlist, what it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// Name, unique in the circuit: a letter, then letters, digits and `_`.
    pub name: String,
    /// Nodes: `0` and `gnd` are the ground.
    pub nodes: Vec<String>,
    /// What it is.
    pub kind: ElementKind,
}

/// Type of a transistor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Polarity {
    /// Conducts from collector to emitter.
    #[default]
    Npn,
    /// Conducts from emitter to collector.
    Pnp,
}

/// What an element is. u is the voltage from its first to its second node, i the current that flows through it from the first to the second.
///
/// Formulas are those of the model file, of t, parameters and, with `v(NODE)`, `v(NODE, NODE)` and `i(ELEMENT)`, of the circuit itself.
#[derive(Clone, Debug, PartialEq)]
pub enum ElementKind {
    /// u = R i.
    Resistor {
        /// R \[Ω\] > 0.
        resistance: f64,
    },
    /// C u̇ = i.
    Capacitor {
        /// C \[F\] > 0.
        capacitance: f64,
        /// u at the start \[V\].
        initial: f64,
    },
    /// L i̇ = u.
    Inductor {
        /// L \[H\] > 0.
        inductance: f64,
        /// i at the start \[A\].
        initial: f64,
    },
    /// Two coils share flux: L₁ i̇₁ + M i̇₂ = u₁, M i̇₁ + L₂ i̇₂ = u₂, M = k √(L₁L₂). It has no nodes.
    Coupling {
        /// Names of the two coils.
        coils: [String; 2],
        /// k, |k| < 1.
        factor: f64,
    },
    /// u = value.
    VoltageSource {
        /// Formula \[V\].
        value: String,
    },
    /// i = value.
    CurrentSource {
        /// Formula \[A\].
        value: String,
    },
    /// u = gain · (voltage between the third and the fourth node).
    VoltageByVoltage {
        /// Dimensionless.
        gain: f64,
    },
    /// i = gain · (voltage between the third and the fourth node).
    CurrentByVoltage {
        /// \[S\].
        gain: f64,
    },
    /// u = gain · (current of another element).
    VoltageByCurrent {
        /// \[Ω\].
        gain: f64,
        /// The other element.
        of: String,
    },
    /// i = gain · (current of another element).
    CurrentByCurrent {
        /// Dimensionless.
        gain: f64,
        /// The other element.
        of: String,
    },
    /// 0 ≤ i ⟂ V_F + R_on i − u ≥ 0; ideal for V_F = R_on = 0.
    Diode {
        /// V_F \[V\] ≥ 0.
        forward: f64,
        /// R_on \[Ω\] ≥ 0.
        resistance: f64,
    },
    /// A diode that also conducts backwards from V_Z on: i = i₁ − i₂, 0 ≤ i₁ ⟂ V_F + R_on i₁ − u ≥ 0, 0 ≤ i₂ ⟂ V_Z + R_on i₂ + u ≥ 0.
    Zener {
        /// V_Z \[V\] > 0.
        breakdown: f64,
        /// V_F \[V\] ≥ 0.
        forward: f64,
        /// R_on \[Ω\] ≥ 0.
        resistance: f64,
    },
    /// u = R_on i while the formula is positive, i = 0 otherwise.
    ///
    /// Written as two opposite Zener diodes whose voltage is V_max (1 − s): i = i₁ − i₂, 0 ≤ i₁ ⟂ V_max (1 − s) + R_on i₁ − u ≥ 0, 0 ≤ i₂ ⟂ V_max (1 − s) + R_on i₂ + u ≥ 0, s = 1 where it is
    /// closed and 0 where it is open. So the matrices stay constant, and an open switch breaks down at V_max instead of tearing a coil's current off, which no finite
    /// voltage can. A formula of the circuit itself makes s a relay: between closed and open where the formula stays zero.
    Switch {
        /// Formula; closed where it is positive.
        closed: String,
        /// V_max \[V\] > 0.
        max_voltage: f64,
        /// R_on \[Ω\] ≥ 0. At 0 the currents of the two directions are unique in their difference only, which is all that counts.
        resistance: f64,
    },
    /// Ideal: u₁ = n u₂, i₂ = −n i₁, between the first two and the last two nodes.
    Transformer {
        /// n = N₁/N₂, not 0.
        ratio: f64,
    },
    /// Bipolar transistor between collector, base and emitter: Ebers and Moll's model with ideal diodes, after a base resistance.
    ///
    /// 0 ≤ i_F ⟂ V_F − (u_BE − R_B i_B) ≥ 0, 0 ≤ i_R ⟂ V_F − (u_BC − R_B i_B) ≥ 0, i_C = α_F i_F − i_R, i_E = α_R i_R − i_F (into the terminals), i_B = −i_C − i_E,
    /// α = β/(1 + β). All signs reversed for PNP.
    Transistor {
        /// Type.
        polarity: Polarity,
        /// β of the forward and of the reverse direction, > 0.
        gains: [f64; 2],
        /// V_F of both junctions \[V\] ≥ 0.
        forward: f64,
        /// R_B \[Ω\] ≥ 0.
        base_resistance: f64,
    },
}

/// `0` or `gnd`.
#[must_use]
pub(crate) fn is_ground(node: &str) -> bool {
    node == "0" || node.eq_ignore_ascii_case("gnd")
}

impl ElementKind {
    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        match self {
            ElementKind::Coupling { .. } => 0,
            ElementKind::VoltageByVoltage { .. } | ElementKind::CurrentByVoltage { .. } | ElementKind::Transformer { .. } => 4,
            ElementKind::Transistor { .. } => 3,
            _ => 2,
        }
    }

    /// Numbers with what they are, whether they may be zero, and whether they may be negative.
    fn numbers(&self) -> Vec<(&'static str, f64, Allowed)> {
        use Allowed::{Any, NotNegative, NotZero, Positive};
        match self {
            ElementKind::Resistor { resistance } => vec![("resistance [Ω]", *resistance, Positive)],
            ElementKind::Capacitor { capacitance, initial } => {
                vec![("capacitance [F]", *capacitance, Positive), ("initial voltage [V]", *initial, Any)]
            }
            ElementKind::Inductor { inductance, initial } => {
                vec![("inductance [H]", *inductance, Positive), ("initial current [A]", *initial, Any)]
            }
            ElementKind::Coupling { factor, .. } => vec![("coupling factor", *factor, Any)],
            ElementKind::VoltageSource { .. } | ElementKind::CurrentSource { .. } => Vec::new(),
            ElementKind::VoltageByVoltage { gain }
            | ElementKind::CurrentByVoltage { gain }
            | ElementKind::VoltageByCurrent { gain, .. }
            | ElementKind::CurrentByCurrent { gain, .. } => vec![("gain", *gain, Any)],
            ElementKind::Diode { forward, resistance } => {
                vec![("forward voltage [V]", *forward, NotNegative), ("on-resistance [Ω]", *resistance, NotNegative)]
            }
            ElementKind::Zener { breakdown, forward, resistance } => vec![
                ("Zener voltage [V]", *breakdown, Positive),
                ("forward voltage [V]", *forward, NotNegative),
                ("on-resistance [Ω]", *resistance, NotNegative),
            ],
            ElementKind::Switch { max_voltage, resistance, .. } => {
                vec![("largest voltage [V]", *max_voltage, Positive), ("on-resistance [Ω]", *resistance, NotNegative)]
            }
            ElementKind::Transformer { ratio } => vec![("ratio of turns", *ratio, NotZero)],
            ElementKind::Transistor { gains, forward, base_resistance, .. } => vec![
                ("forward gain", gains[0], Positive),
                ("reverse gain", gains[1], Positive),
                ("forward voltage [V]", *forward, NotNegative),
                ("base resistance [Ω]", *base_resistance, NotNegative),
            ],
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Allowed {
    Any,
    NotNegative,
    NotZero,
    Positive,
}

impl Circuit {
    /// Default of [`Circuit::leak`] \[S\].
    pub const LEAK: f64 = 1e-15;

    /// Checks names, numbers of nodes and values.
    ///
    /// # Errors
    /// [`CircuitError`] naming the element.
    pub(super) fn check_elements(&self) -> Result<(), CircuitError> {
        if self.elements.is_empty() {
            return Err(CircuitError::new(None, "the circuit has no elements", "write one element per line, such as \"R1 in out 1k\""));
        }
        if !(self.leak >= 0.0 && self.leak.is_finite()) {
            return Err(CircuitError::new(None, format!("the leak is {}", self.leak), "a finite conductance ≥ 0 is needed [S]"));
        }
        for (index, element) in self.elements.iter().enumerate() {
            let name = &element.name;
            let wrong = |message: String, help: &str| Err(CircuitError::new(index, message, help));
            if !is_valid_name(name) || name.contains('.') {
                return wrong(format!("\"{name}\" cannot name an element"), "use a letter, then letters, digits and _");
            }
            if let Some(other) = self.elements[..index].iter().find(|other| other.name.eq_ignore_ascii_case(name)) {
                return wrong(format!("there are two elements {} and {name}", other.name), "give every element its own name");
            }
            let (expected, found) = (element.kind.n_nodes(), element.nodes.len());
            if expected != found {
                return wrong(format!("{name} has {found} nodes"), &format!("{expected} are needed"));
            }
            if let Some(node) = element.nodes.iter().find(|node| !is_valid_name(&format!("n{node}")) || node.contains('.')) {
                return wrong(format!("\"{node}\" cannot name a node"), "use letters, digits and _");
            }
            if let (2, [a, b]) = (expected, element.nodes.as_slice())
                && (a == b || (is_ground(a) && is_ground(b)))
            {
                return wrong(format!("both ends of {name} are at node {a}"), "connect it to two different nodes, or leave it out");
            }
            for (what, value, allowed) in element.kind.numbers() {
                let (good, needed) = match allowed {
                    Allowed::Any => (true, "a finite number is needed"),
                    Allowed::NotNegative => (value >= 0.0, "a number ≥ 0 is needed"),
                    Allowed::NotZero => (value != 0.0, "a number other than 0 is needed"),
                    Allowed::Positive => (value > 0.0, "a number > 0 is needed"),
                };
                if !good || !value.is_finite() {
                    return wrong(format!("the {what} of {name} is {value}"), needed);
                }
            }
        }
        Ok(())
    }
}
