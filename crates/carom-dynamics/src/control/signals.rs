//! What formulas of control may use, and functions of it.

use crate::error::{ModelError, NonFinite};
use crate::first_order::FirstOrderSet;
use crate::formula::{Expr, Graph, Scope, Tape};
use crate::systems::formula_force::{check_finite, compile, parse};
use crate::systems::{Scratch, StateSymbols, SystemSet};
use crate::user_events::state_scope;
use std::collections::HashMap;

/// A quantity of the running model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    Time,
    Coordinate(usize),
    Rate(usize),
    Velocity(usize),
    State(usize),
    Multiplier(usize),
    Output(usize),
    /// Output of a law in continuous time that uses the model's equations: its number among all such outputs, and the held value that shows it.
    Law {
        number: usize,
        place: usize,
    },
}

/// The running model as controllers see it.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// Time \[s\].
    pub t: f64,
    /// Coordinates, held values among them.
    pub q: &'a [f64],
    /// Velocities.
    pub v: &'a [f64],
    /// States of the first-order part.
    pub x: &'a [f64],
    /// Multipliers λ of the first-order part in the last step.
    pub multipliers: &'a [f64],
    /// Outputs y of the first-order part in the last step.
    pub outputs: &'a [f64],
    /// Outputs of laws in continuous time; empty where their held values are up to date.
    pub laws: &'a [f64],
}

impl Signal {
    fn value(self, systems: &SystemSet, at: &Sight<'_>) -> f64 {
        match self {
            Signal::Time => at.t,
            Signal::Coordinate(i) => at.q[i],
            Signal::Rate(i) => systems.rate(at.q, at.v, i),
            Signal::Velocity(i) => at.v[i],
            Signal::State(i) => at.x[i],
            // no step has been taken yet
            Signal::Multiplier(i) => at.multipliers.get(i).copied().unwrap_or(0.0),
            Signal::Output(i) => at.outputs.get(i).copied().unwrap_or(0.0),
            Signal::Law { number, place } => at.laws.get(number).copied().unwrap_or(at.q[place]),
        }
    }
}

/// The names of a model, with what they stand for.
pub(super) struct Signals {
    pub graph: Graph,
    pub scope: Scope,
    pub symbols: StateSymbols,
    /// Only looked up.
    meaning: HashMap<Expr, Signal>,
}

impl Signals {
    pub fn new(parameters: &[(String, f64)], systems: &SystemSet, first_order: Option<&FirstOrderSet>) -> Self {
        let mut graph = Graph::new();
        let (mut scope, symbols) = state_scope(&mut graph, systems);
        let mut meaning = HashMap::from([(symbols.t, Signal::Time)]);
        meaning.extend(symbols.coordinates.iter().map(|&(i, e)| (e, Signal::Coordinate(i))));
        meaning.extend(symbols.rates.iter().map(|&(i, e)| (e, Signal::Rate(i))));
        meaning.extend(symbols.velocities.iter().map(|&(i, e)| (e, Signal::Velocity(i))));
        if let Some(set) = first_order {
            let mut declare = |name: &str, signal: Signal| {
                let symbol = graph.symbol(name);
                scope.symbol(name, symbol);
                meaning.insert(symbol, signal);
            };
            set.states().iter().enumerate().for_each(|(i, state)| declare(&state.name, Signal::State(i)));
            for (i, row) in set.rows().iter().enumerate() {
                declare(row, Signal::Multiplier(i));
                declare(&format!("{row}.y"), Signal::Output(i));
            }
        }
        for (name, value) in parameters {
            scope.constant(name, *value);
        }
        Signals { graph, scope, symbols, meaning }
    }

    /// The symbol of a coordinate.
    pub fn coordinate(&self, i: usize) -> Expr {
        self.symbols.coordinates[i].1
    }

    /// Declares the output of a law in continuous time.
    pub(crate) fn declare_law(&mut self, name: &str, number: usize, place: usize) {
        let symbol = self.graph.symbol(name);
        self.scope.symbol(name, symbol);
        self.meaning.insert(symbol, Signal::Law { number, place });
    }

    /// The output of a law in continuous time is used.
    pub(crate) fn uses_law(&self, e: Expr) -> bool {
        self.inputs_of(&[e]).1.iter().any(|signal| matches!(signal, Signal::Law { .. }))
    }

    /// Reads a formula in a scope.
    pub fn read(&mut self, what: &str, text: &str, scope: &Scope) -> Result<Expr, ModelError> {
        parse(&mut self.graph, what, text, scope)
    }

    /// A function of everything; `names` say what its values are.
    pub fn function(&self, outputs: &[Expr], names: Vec<String>) -> Function {
        let (inputs, signals) = self.inputs_of(outputs);
        Function { tape: compile(&self.graph, &inputs, outputs), signals, names }
    }

    /// The symbols that some expressions use, each once, with their meaning.
    pub(crate) fn inputs_of(&self, outputs: &[Expr]) -> (Vec<Expr>, Vec<Signal>) {
        let mut inputs: Vec<Expr> = Vec::new();
        for &e in outputs {
            for symbol in self.graph.symbols_of(e) {
                if !inputs.contains(&symbol) {
                    inputs.push(symbol);
                }
            }
        }
        let signals = inputs.iter().map(|symbol| self.meaning[symbol]).collect();
        (inputs, signals)
    }

    /// Something other than t, coordinates and velocities is used.
    pub(crate) fn uses_first_order(&self, e: Expr) -> bool {
        self.inputs_of(&[e]).1.iter().any(|signal| matches!(signal, Signal::State(_) | Signal::Multiplier(_) | Signal::Output(_)))
    }
}

/// Several formulas as one tape.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub tape: Tape,
    pub signals: Vec<Signal>,
    names: Vec<String>,
}

impl Function {
    /// Writes the values to `scratch.outputs`.
    pub fn evaluate(&self, systems: &SystemSet, at: &Sight<'_>, scratch: &mut Scratch) -> Result<(), NonFinite> {
        let Scratch { inputs, registers, outputs, .. } = scratch;
        inputs.clear();
        inputs.extend(self.signals.iter().map(|signal| signal.value(systems, at)));
        outputs.resize(self.tape.n_outputs(), 0.0);
        self.tape.evaluate(inputs, registers, outputs);
        check_finite(outputs, |i| self.names.get(i).cloned().unwrap_or_default())
    }
}
