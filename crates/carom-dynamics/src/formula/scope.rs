//! The names a formula may use.

use std::collections::BTreeMap;

use super::graph::{Expr, Graph};
use crate::nearest::nearest;

const WORDS: [&str; 4] = ["pi", "and", "or", "not"];

/// What a name stands for: an expression or a number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ScopeValue {
    /// An expression of the graph the formula is parsed into.
    Expr(Expr),
    /// A number, folded into the formula.
    Number(f64),
}

impl From<Expr> for ScopeValue {
    fn from(e: Expr) -> Self {
        ScopeValue::Expr(e)
    }
}

impl From<f64> for ScopeValue {
    fn from(x: f64) -> Self {
        ScopeValue::Number(x)
    }
}

/// The names a formula may use. `pi` is always among them and cannot be redefined.
#[derive(Clone, Default, Debug)]
pub struct Scope {
    names: BTreeMap<String, ScopeValue>,
}

impl Scope {
    /// A scope that knows `pi` only.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a variable. A name given before gets the new meaning.
    pub fn symbol(&mut self, name: &str, e: Expr) -> &mut Self {
        self.constant(name, e)
    }

    /// Adds a named number or a named subexpression. A name given before gets the new meaning.
    pub fn constant(&mut self, name: &str, value: impl Into<ScopeValue>) -> &mut Self {
        self.names.insert(name.to_owned(), value.into());
        self
    }

    /// Whether a formula may use the name.
    pub fn contains(&self, name: &str) -> bool {
        name == "pi" || self.names.contains_key(name)
    }

    /// All names, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.names.keys().cloned().collect();
        if !self.names.contains_key("pi") {
            names.push("pi".to_owned());
            names.sort();
        }
        names
    }

    pub(super) fn resolve(&self, graph: &mut Graph, name: &str) -> Option<Expr> {
        if name == "pi" {
            return Some(graph.constant(std::f64::consts::PI));
        }
        self.names.get(name).map(|value| match *value {
            ScopeValue::Expr(e) => e,
            ScopeValue::Number(x) => graph.constant(x),
        })
    }

    pub(super) fn nearest(&self, name: &str) -> Option<String> {
        nearest(name, self.names.keys().map(String::as_str).chain(["pi"])).map(str::to_owned)
    }
}

/// Whether formulas can refer to a variable of this name: parts of letters, digits and `_`, not starting with a
/// digit, joined by dots.
pub fn is_valid_name(name: &str) -> bool {
    name.split('.').all(|part| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Whether the name has a fixed meaning (`pi`, `and`, `or`, `not`) and cannot name a variable.
///
/// Function names are not reserved: `step` is the variable, `step(x)` the function.
pub fn is_reserved_name(name: &str) -> bool {
    WORDS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        for good in ["x", "_", "ball.x", "a1.b_2.c", "step"] {
            assert!(is_valid_name(good) && !is_reserved_name(good), "{good}");
        }
        for bad in ["", "1x", "ball.", ".x", "a..b", "a.1", "a b", "é", "a-b"] {
            assert!(!is_valid_name(bad), "{bad}");
        }
        assert!(is_reserved_name("pi") && is_reserved_name("and"));
    }

    #[test]
    fn pi_is_listed_once_and_in_order() {
        let mut scope = Scope::new();
        scope.constant("z", 1.0).constant("a", 2.0);
        assert_eq!(scope.names(), ["a", "pi", "z"]);
        assert!(scope.contains("pi") && !scope.contains("b"));
    }
}
