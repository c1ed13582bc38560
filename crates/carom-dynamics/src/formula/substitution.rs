//! Expressions with some of their symbols set to zero.

use std::collections::{HashMap, HashSet};

use super::graph::{Expr, Graph};
use super::node::{Binary, Node, Unary};

impl Graph {
    /// `e` with the given symbols set to zero.
    pub(crate) fn with_zeros(&mut self, e: Expr, symbols: &HashSet<Expr>) -> Expr {
        let mut made: HashMap<Expr, Expr> = HashMap::new();
        // operands come before their users
        for node in self.reachable(e) {
            let of = |e: Expr| made[&e];
            let value = match self.node(node) {
                _ if symbols.contains(&node) => self.constant(0.0),
                Node::Constant(_) | Node::Symbol(_) => node,
                Node::Unary(Unary::Neg, a) => self.neg(of(a)),
                Node::Unary(operator, a) => self.unary(operator, of(a)),
                Node::Binary(operator, a, b) => {
                    let (a, b) = (of(a), of(b));
                    match operator {
                        Binary::Add => self.add(a, b),
                        Binary::Sub => self.sub(a, b),
                        Binary::Mul => self.mul(a, b),
                        Binary::Div => self.div(a, b),
                        Binary::Pow => self.pow(a, b),
                        _ => self.binary(operator, a, b),
                    }
                }
                Node::PowInt(a, n) => self.pow_integer(of(a), n),
                Node::Select(condition, a, b) => self.select(of(condition), of(a), of(b)),
            };
            made.insert(node, value);
        }
        made[&e]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::{Scope, parse};

    #[test]
    fn symbols_vanish() {
        let (mut graph, mut scope) = (Graph::new(), Scope::new());
        let symbols = ["t", "x", "y"].map(|name| {
            let symbol = graph.symbol(name);
            scope.symbol(name, symbol);
            symbol
        });
        let zeros: HashSet<Expr> = symbols[1..].iter().copied().collect();
        for (text, left) in [("3*x + sin(t) - y/2", "sin(t)"), ("if(x < 1, t^2, y)", "t^2"), ("x*t + cos(y)", "1"), ("t", "t")] {
            let (e, left) = (parse(&mut graph, text, &scope).unwrap(), parse(&mut graph, left, &scope).unwrap());
            assert_eq!(graph.with_zeros(e, &zeros), left, "{text}");
        }
    }
}
