//! Textbook problems: each gives a model, its initial state, and an exact or reference solution with its source.
//!
//! Tests and benchmarks take their models from here; the same models are in the gallery as files.

pub mod andrews;
pub mod belt_oscillator;
pub mod bouncing_ball;
pub mod bricard;
pub mod chain_of_balls;
pub mod circuits;
pub mod cross_force;
pub mod edges;
pub mod elastic_bars;
pub mod filippov;
pub mod flexible_slider_crank;
pub mod flyball;
pub mod free_bodies;
pub mod heavy_top;
pub mod impact_oscillator;
pub mod link_chain;
pub mod mechanisms;
pub mod n_four_bar;
pub mod oscillating_incline;
pub mod painleve_rod;
pub mod pendulum;
pub mod seven_body_contacts;
pub mod slider_crank_clearance;
pub mod sliding_block;
pub mod spherical_pendulum;
pub mod spinning_sphere;
pub mod sweeping;
pub mod wedges;
pub mod woodpecker;

use crate::model::Model;
use crate::state::State;

/// A model with its initial state and what is known about its motion.
pub struct Problem {
    /// The model.
    pub model: Model,
    /// Initial state.
    pub state: State,
    /// Time up to which the solution is known \[s\].
    pub end: f64,
    /// The known solution: (q, v) at a time.
    pub solution: Solution,
}

/// A first-order model with its initial state and what is known about its motion.
pub struct FirstOrderProblem {
    /// The model.
    pub model: Model,
    /// Initial state.
    pub state: State,
    /// Time up to which the solution is known \[s\].
    pub end: f64,
    /// x at a time, where it is known exactly.
    pub exact: Option<ExactStates>,
}

/// x as a function of time.
pub type ExactStates = Box<dyn Fn(f64) -> Vec<f64> + Send + Sync>;

impl FirstOrderProblem {
    /// A model of this system alone, from these states at t = 0.
    ///
    /// # Errors
    /// As [`Model::set_first_order`].
    pub fn new(source: &crate::first_order::FirstOrderSource, x: &[f64], end: f64) -> Result<Self, crate::ModelError> {
        let mut model = Model::new(Vec::new())?;
        model.set_first_order(source)?;
        let held = source.held.iter().map(|held| held.initial).collect();
        let state = State { x: x.to_vec(), held, ..State::default() };
        Ok(FirstOrderProblem { model, state, end, exact: None })
    }

    /// With its exact solution.
    #[must_use]
    pub(crate) fn with_exact(self, exact: impl Fn(f64) -> Vec<f64> + Send + Sync + 'static) -> Self {
        FirstOrderProblem { exact: Some(Box::new(exact)), ..self }
    }
}

/// (q, v) as a function of time.
pub type ExactMotion = Box<dyn Fn(f64) -> (Vec<f64>, Vec<f64>) + Send + Sync>;

/// What is known about the motion.
pub enum Solution {
    /// (q, v) at any time up to the end.
    Exact(ExactMotion),
    /// (q, v) at the end only.
    AtEnd(Vec<f64>, Vec<f64>),
}

impl Solution {
    /// (q, v) at the end time `end`.
    #[must_use]
    pub fn at_end(&self, end: f64) -> (Vec<f64>, Vec<f64>) {
        match self {
            Solution::Exact(f) => f(end),
            Solution::AtEnd(q, v) => (q.clone(), v.clone()),
        }
    }
}

/// A contact by formula: rows are its gap and its tangents.
fn add_contact(
    model: &mut Model,
    name: &str,
    rows: &[&str],
    parameters: &[(&str, f64)],
    law: crate::ContactLaw,
) -> Result<(), crate::ModelError> {
    let kind = |k: usize| if k == 0 { "gap" } else { "tangent" };
    let rows = rows.iter().enumerate().map(|(k, &row)| (format!("{} of \"{name}\"", kind(k)), row.to_owned())).collect();
    let source = crate::relations::FormulaSource { rows, parameters: mechanisms::parameters(parameters) };
    model.add_formula(name, &source, crate::Law::Contact(law))
}

/// The root between `a` and `b` of a function that changes its sign there, to round-off.
fn bisect(mut a: f64, mut b: f64, f: impl Fn(f64) -> f64) -> f64 {
    let left = f(a) > 0.0;
    loop {
        let middle = 0.5 * (a + b);
        if middle <= a.min(b) || middle >= a.max(b) {
            return middle;
        }
        if (f(middle) > 0.0) == left { a = middle } else { b = middle }
    }
}

/// A frictionless contact by formula.
///
/// # Errors
/// As [`Model::add_formula`].
pub fn add_stop(model: &mut Model, name: &str, gap: &str, restitution: f64) -> Result<(), crate::ModelError> {
    let source = crate::relations::FormulaSource { rows: vec![(format!("gap of \"{name}\""), gap.to_owned())], parameters: Vec::new() };
    model.add_formula(name, &source, crate::Law::unilateral(restitution))
}
