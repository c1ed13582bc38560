//! What a first-order system is made from: names, formulas, laws.

use super::law::MultiplierLaw;
use crate::systems::Coordinate;

/// The text of a first-order system.
///
/// Formulas use `t`, the states, the multipliers of all relations, inputs, held inputs, parameters and, in mixed models, coordinates and rates
/// (`NAME_dot`, or the velocity's own name as in `ball.vx`) of the mechanical part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FirstOrderSource {
    /// The states x with their units.
    pub states: Vec<Coordinate>,
    /// Constants of the formulas.
    pub parameters: Vec<(String, f64)>,
    /// M by rows, n × n formulas of t and the states; empty for the identity.
    pub mass: Vec<String>,
    /// The right sides M ẋ, one formula per state, multipliers included.
    pub rates: Vec<String>,
    /// Named subexpressions that the formulas may use, in an order in which each uses earlier ones only.
    pub inputs: Vec<(String, String)>,
    /// Inputs that are constant between samples.
    pub held: Vec<HeldInput>,
    /// The relations with their laws.
    pub relations: Vec<RelationSource>,
    /// P of the storage function ½ xᵀP x \[J\], row-major, symmetric; empty where the user gives none.
    pub storage: Vec<f64>,
    /// Generalised forces on the mechanical part: the velocity's name and a formula.
    pub forces: Vec<(String, String)>,
    /// Quantities to record beside states, outputs and multipliers: name, unit and formula. Names need not be names of formulas.
    pub signals: Vec<(Coordinate, String)>,
    /// What enters and leaves, where the system is a network with a storage function; without it the account is made from the matrices.
    pub powers: Option<PowerSource>,
}

/// Powers of a network \[W\], as formulas.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerSource {
    /// What sources give.
    pub supplied: String,
    /// What resistive elements turn into heat, ≥ 0.
    pub dissipated: String,
}

/// An input whose value lies in [`crate::State::held`].
#[derive(Clone, Debug, PartialEq)]
pub struct HeldInput {
    /// Name in formulas.
    pub name: String,
    /// Value at the start.
    pub initial: f64,
}

/// A relation y = h(t,x,λ) with its law.
#[derive(Clone, Debug, PartialEq)]
pub struct RelationSource {
    /// Name for messages and events.
    pub name: String,
    /// Names of the multipliers, one per row: they name the rows in formulas and records.
    pub multipliers: Vec<String>,
    /// h, one formula per row.
    pub outputs: Vec<String>,
    /// The law.
    pub law: MultiplierLaw,
    /// ε ≥ 0: y + ε λ takes the place of y. 0 is the law itself; 1/κ is its penalised form of stiffness κ (Moreau–Yosida).
    pub compliance: f64,
}

/// Σ c_j name_j + rest as a formula; coefficients that are zero are left out.
#[must_use]
pub fn linear_form(coefficients: &[String], names: &[String], rest: &str) -> String {
    let is_zero = |text: &str| text.trim().parse::<f64>().is_ok_and(|x| x == 0.0);
    let mut terms: Vec<String> =
        coefficients.iter().zip(names).filter(|(c, _)| !is_zero(c)).map(|(c, name)| format!("({c})*{name}")).collect();
    if !is_zero(rest) {
        terms.push(format!("({rest})"));
    }
    if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") }
}

impl FirstOrderSource {
    /// A linear system M ẋ = A x + B λ, y = C x + D λ with one relation, from row-major numbers; M = 1.
    #[must_use]
    pub fn linear(states: &[&str], a: &[f64], relation: LinearRelation<'_>) -> Self {
        let n = states.len();
        let text = |values: &[f64]| values.iter().map(|x| format!("{x:e}")).collect::<Vec<_>>();
        let names: Vec<String> = states.iter().map(|s| (*s).to_owned()).collect();
        let multipliers: Vec<String> = (1..=relation.rows).map(|k| format!("{}{k}", relation.multiplier)).collect();
        let all: Vec<String> = names.iter().chain(&multipliers).cloned().collect();
        let row = |left: &[f64], right: &[f64]| linear_form(&[text(left), text(right)].concat(), &all, "0");
        let m = relation.rows;
        FirstOrderSource {
            states: states.iter().map(|s| Coordinate::new(*s, "")).collect(),
            rates: (0..n).map(|i| row(&a[i * n..(i + 1) * n], &relation.b[i * m..(i + 1) * m])).collect(),
            relations: vec![RelationSource {
                name: relation.multiplier.to_owned(),
                outputs: (0..m).map(|i| row(&relation.c[i * n..(i + 1) * n], &relation.d[i * m..(i + 1) * m])).collect(),
                multipliers,
                law: relation.law,
                compliance: 0.0,
            }],
            ..FirstOrderSource::default()
        }
    }
}

/// The relation of [`FirstOrderSource::linear`].
#[derive(Clone, Debug)]
pub struct LinearRelation<'a> {
    /// Stem of the multipliers' names.
    pub multiplier: &'a str,
    /// Number of rows m.
    pub rows: usize,
    /// B, n × m.
    pub b: &'a [f64],
    /// C, m × n.
    pub c: &'a [f64],
    /// D, m × m.
    pub d: &'a [f64],
    /// The law.
    pub law: MultiplierLaw,
}
