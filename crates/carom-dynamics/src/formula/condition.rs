//! Conditions as numbers: by how much a condition holds.

use super::graph::{Expr, Graph};
use super::node::{Binary, Node, Unary};

impl Graph {
    /// The margin of a condition: positive where it holds, negative where it does not, zero at its edge.
    ///
    /// ```text
    /// a < b, a <= b:  b − a        a and b:  min(margin a, margin b)        a or b:  max(margin a, margin b)        not a:  −margin a
    /// ```
    ///
    /// `None` for expressions that are not made of these: numbers, `==` and `!=`.
    pub fn margin(&mut self, condition: Expr) -> Option<Expr> {
        match self.node(condition) {
            Node::Binary(Binary::Less | Binary::LessEqual, a, b) => Some(self.sub(b, a)),
            Node::Binary(operator @ (Binary::And | Binary::Or), a, b) => {
                let (a, b) = (self.margin(a)?, self.margin(b)?);
                Some(if operator == Binary::And { self.min(a, b) } else { self.max(a, b) })
            }
            Node::Unary(Unary::Not, a) => {
                let margin = self.margin(a)?;
                Some(self.neg(margin))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::formula::{Graph, Scope, Tape, parse};

    fn margin(text: &str, x: f64) -> Option<f64> {
        let (mut graph, mut scope) = (Graph::new(), Scope::new());
        let symbol = graph.symbol("x");
        scope.symbol("x", symbol);
        let condition = parse(&mut graph, text, &scope).expect("a formula");
        let margin = graph.margin(condition)?;
        let tape = Tape::compile(&graph, &[symbol], &[margin]).expect("of x only");
        let mut out = [0.0];
        tape.evaluate(&[x], &mut Vec::new(), &mut out);
        Some(out[0])
    }

    #[test]
    fn margins_of_conditions() {
        for (text, x, wanted) in [
            ("x >= 0", 0.5, 0.5),
            ("x < 2", 0.5, 1.5),
            ("x > 1", 0.5, -0.5),
            ("x >= 0 and x < 2", 0.5, 0.5),
            ("x >= 0 && x < 2", 1.75, 0.25),
            ("x < 0 or x > 3", 1.0, -1.0),
            ("not x > 1", 0.5, 0.5),
            ("not (x > 1 and x < 4)", 5.0, 1.0),
        ] {
            assert_eq!(margin(text, x), Some(wanted), "{text}");
        }
        for text in ["x", "1", "x == 0", "x > 0 and x != 1", "2 > 1"] {
            assert_eq!(margin(text, 1.0), None, "{text}");
        }
    }
}
