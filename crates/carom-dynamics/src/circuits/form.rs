//! Linear forms of the unknowns of a network.

use std::collections::BTreeMap;

/// What a form is linear in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Column {
    /// Voltage of a node.
    Node(usize),
    /// Current of an element that gives its voltage.
    Branch(usize),
    /// State of a capacitor or a coil.
    State(usize),
    /// Multiplier of a law.
    Multiplier(usize),
    /// Value of a source, or whether a switch is closed.
    Source(usize),
    /// A constant.
    One,
}

/// Σ coefficient · column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Form(BTreeMap<Column, f64>);

/// Sums below this fraction of their terms are zero but for rounding.
const CANCELLED: f64 = 1e-13;

impl Form {
    pub fn of(column: Column) -> Self {
        Form::default().plus(1.0, column)
    }

    pub fn constant(value: f64) -> Self {
        Form::default().plus(value, Column::One)
    }

    /// With coefficient · column added.
    pub fn plus(mut self, coefficient: f64, column: Column) -> Self {
        self.add_term(coefficient, column);
        self
    }

    /// With factor · other added.
    pub(crate) fn plus_form(mut self, factor: f64, other: &Form) -> Self {
        self.add(factor, other);
        self
    }

    pub fn add(&mut self, factor: f64, other: &Form) {
        other.0.iter().for_each(|(&column, &x)| self.add_term(factor * x, column));
    }

    fn add_term(&mut self, term: f64, column: Column) {
        let old = self.0.get(&column).copied().unwrap_or(0.0);
        let sum = old + term;
        if sum.abs() <= CANCELLED * (old.abs() + term.abs()) {
            self.0.remove(&column);
        } else {
            self.0.insert(column, sum);
        }
    }

    pub fn get(&self, column: Column) -> f64 {
        self.0.get(&column).copied().unwrap_or(0.0)
    }

    pub fn terms(&self) -> impl Iterator<Item = (Column, f64)> + '_ {
        self.0.iter().map(|(&column, &x)| (column, x))
    }

    /// Largest coefficient.
    pub fn size(&self) -> f64 {
        self.0.values().fold(0.0, |m, x| m.max(x.abs()))
    }

    /// As a formula, with the columns' names.
    pub fn text(&self, name: &dyn Fn(Column) -> String) -> String {
        if self.0.is_empty() {
            return "0".to_owned();
        }
        let term = |(column, x): (Column, f64)| match column {
            Column::One => format!("({x:e})"),
            _ if x == 1.0 => name(column),
            _ => format!("({x:e})*{}", name(column)),
        };
        self.terms().map(term).collect::<Vec<_>>().join(" + ")
    }
}
