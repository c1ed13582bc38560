//! Where expressions switch: the arguments whose sign decides which branch is taken.

use super::graph::{Expr, Graph};
use super::node::{Binary, Node, Unary};

impl Graph {
    /// Expressions at whose changes of sign `e` or its derivatives may jump, each once, in the order of the graph.
    ///
    /// ```text
    /// abs(x), sign(x), step(x)                  x
    /// floor(x)                                  sin(π x)
    /// min(a, b), max(a, b), a < b, a <= b, …    a − b
    /// ```
    ///
    /// Signs are drawn out and differences taken in one order, so that `a < b` and `step(a - b)` give the same. `==` and `!=` differ from one side at single instants only and
    /// give nothing; the branch cut of `atan2` is not seen.
    pub fn switches(&mut self, e: Expr) -> Vec<Expr> {
        let mut found = Vec::new();
        for node in self.reachable(e) {
            let switch = match self.node(node) {
                Node::Unary(Unary::Abs | Unary::Sign | Unary::Step, a) => a,
                Node::Unary(Unary::Floor, a) => {
                    let pi = self.constant(std::f64::consts::PI);
                    let phase = self.mul(pi, a);
                    self.unary(Unary::Sin, phase)
                }
                Node::Binary(Binary::Min | Binary::Max | Binary::Less | Binary::LessEqual, a, b) => self.sub(a, b),
                _ => continue,
            };
            let switch = self.without_direction(switch);
            if self.as_constant(switch).is_none() && !found.contains(&switch) {
                found.push(switch);
            }
        }
        found
    }

    /// `e` or `-e`, whichever is written without a leading sign or constant.
    fn without_direction(&mut self, e: Expr) -> Expr {
        if let Some(opposite) = self.without_sign(e) {
            return opposite;
        }
        match self.node(e) {
            Node::Binary(Binary::Sub, a, b)
                if self.as_constant(a).is_some() || (self.as_constant(b).is_none() && a.index() < b.index()) =>
            {
                self.sub(b, a)
            }
            _ => e,
        }
    }

    /// An expression whose sign says whether `e` holds: of a condition its [`Graph::margin`], of `==` and `!=` `e` − 1/2, of anything else `e` itself.
    pub fn signed(&mut self, e: Expr) -> Expr {
        if let Some(margin) = self.margin(e) {
            return margin;
        }
        match self.node(e) {
            Node::Binary(Binary::And | Binary::Or | Binary::Equal | Binary::NotEqual, ..) | Node::Unary(Unary::Not, _) => {
                let half = self.constant(0.5);
                self.sub(e, half)
            }
            _ => e,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::{Scope, parse};

    fn switches(text: &str) -> Vec<String> {
        let mut graph = Graph::new();
        let mut scope = Scope::new();
        for name in ["t", "x", "y"] {
            let symbol = graph.symbol(name);
            scope.symbol(name, symbol);
        }
        let e = parse(&mut graph, text, &scope).unwrap();
        graph.switches(e).iter().map(|&e| graph.to_string(e)).collect()
    }

    #[test]
    fn every_kink_is_found_once() {
        assert_eq!(switches("sin(t)*x^2 + hypot(x, y)"), [""; 0]);
        assert_eq!(switches("abs(x) + sign(-x) + 3*abs(-x)"), ["x"]);
        assert_eq!(switches("x - floor(x)"), ["sin(3.141592653589793*x)"]);
        for same in ["if(t < 1, 1, -2)", "if(t > 1, -2, 1) + step(t - 1)", "step(1 - t)", "max(t, 1) + abs(1 - t)"] {
            assert_eq!(switches(same), ["t - 1"], "{same}");
        }
        assert_eq!(switches("step(x - y) + (y < x) + sign(-2*x)").len(), 2);
        assert_eq!(switches("max(x, 0)"), ["x"]);
        assert_eq!(switches("clamp(x, -1, y)").len(), 2);
        assert_eq!(switches("if(x < y and not (y < x) or t == 1, 1, 0)").len(), 1);
        // inside one another
        assert_eq!(switches("abs(x - abs(y))").len(), 2);
        assert_eq!(switches("abs(2) + min(1, 3)"), [""; 0]);
    }
}
