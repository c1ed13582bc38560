//! What formulas of (t, q) are written in: the graph, the symbols of a model's coordinates, the names.

use crate::error::ModelError;
use crate::formula::{Expr, Graph, Scope};
use crate::systems::SystemSet;
use crate::systems::formula_force::parse;
use std::sync::Arc;

/// The graph of a relation's formulas with the symbols of time and of all coordinates.
pub(super) struct FormulaSpace<'s> {
    pub systems: &'s Arc<SystemSet>,
    pub graph: Graph,
    pub t: Expr,
    /// Of all coordinates of the model.
    pub symbols: Vec<Expr>,
    scope: Scope,
}

impl<'s> FormulaSpace<'s> {
    pub fn new(systems: &'s Arc<SystemSet>, parameters: &[(String, f64)]) -> Self {
        let (mut graph, mut scope) = (Graph::new(), Scope::new());
        let t = graph.symbol("t");
        scope.symbol("t", t);
        let symbols: Vec<Expr> = systems.coordinates().iter().map(|c| graph.symbol(&c.name)).collect();
        for (coordinate, &symbol) in systems.coordinates().iter().zip(&symbols) {
            scope.symbol(&coordinate.name, symbol);
        }
        for (name, value) in parameters {
            scope.constant(name, *value);
        }
        FormulaSpace { systems, graph, t, symbols, scope }
    }

    /// Reads formulas, each with its name for messages.
    pub fn parse(&mut self, texts: &[(String, String)]) -> Result<Vec<Expr>, ModelError> {
        texts.iter().map(|(name, text)| parse(&mut self.graph, name, text, &self.scope)).collect()
    }

    /// Coordinates on which any of the expressions depends, ascending.
    pub(crate) fn coordinates_of(&self, expressions: &[Expr]) -> Vec<usize> {
        let depends = |i: &usize| expressions.iter().any(|&e| self.graph.depends_on(e, &[self.symbols[*i]]));
        (0..self.symbols.len()).filter(depends).collect()
    }

    /// Time and the coordinates with these numbers, as inputs of a tape.
    pub fn inputs(&self, coordinates: &[usize]) -> Vec<Expr> {
        std::iter::once(self.t).chain(coordinates.iter().map(|&i| self.symbols[i])).collect()
    }
}
