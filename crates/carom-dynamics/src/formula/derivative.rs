//! Symbolic differentiation.

use super::graph::{Expr, Graph};
use super::node::{Binary, Comparison, Node, Unary};

impl Graph {
    /// The derivative of `e` with respect to `symbol`, everything else held fixed.
    ///
    /// Kinks are treated as said in the [module documentation](super). Results are remembered for
    /// each (node, symbol), so that derivatives of expressions with common parts share work and nodes.
    /// Cost: a constant number of new nodes per node of `e`.
    pub fn derivative(&mut self, e: Expr, symbol: Expr) -> Expr {
        for node in self.undifferentiated(e, symbol) {
            let derivative = self.differentiate_node(node, symbol);
            self.derivatives.insert((node, symbol), derivative);
        }
        self.known_derivative(e, symbol)
    }

    /// Nodes under `e` whose derivative is not known yet, operands before users.
    fn undifferentiated(&self, e: Expr, symbol: Expr) -> Vec<Expr> {
        // Nodes older than the symbol cannot contain it.
        let is_open = |e: Expr| e.index() > symbol.index() && !self.derivatives.contains_key(&(e, symbol));
        if !is_open(e) {
            return Vec::new();
        }
        let mut seen = vec![false; e.index() - symbol.index()];
        let (mut found, mut stack) = (Vec::new(), vec![e]);
        while let Some(e) = stack.pop() {
            if is_open(e) && !std::mem::replace(&mut seen[e.index() - symbol.index() - 1], true) {
                found.push(e);
                stack.extend(self.node(e).operands());
            }
        }
        found.sort_unstable_by_key(|e| e.index());
        found
    }

    fn known_derivative(&mut self, e: Expr, symbol: Expr) -> Expr {
        if e == symbol {
            return self.constant(1.0);
        }
        match self.derivatives.get(&(e, symbol)) {
            Some(&derivative) => derivative,
            None => self.constant(0.0),
        }
    }

    /// The chain rule at one node whose operands are done.
    fn differentiate_node(&mut self, e: Expr, symbol: Expr) -> Expr {
        match self.node(e) {
            Node::Constant(_) | Node::Symbol(_) => self.constant(0.0),
            Node::Unary(operator, a) => {
                let da = self.known_derivative(a, symbol);
                if self.is_zero(da) {
                    return da;
                }
                self.differentiate_unary(operator, e, a, da)
            }
            Node::Binary(operator, a, b) => {
                let da = self.known_derivative(a, symbol);
                let db = self.known_derivative(b, symbol);
                if self.is_zero(da) && self.is_zero(db) {
                    return da;
                }
                self.differentiate_binary(operator, e, (a, da), (b, db))
            }
            Node::PowInt(a, n) => {
                let da = self.known_derivative(a, symbol);
                let factor = self.constant(f64::from(n));
                let power = self.pow_integer(a, n - 1);
                let slope = self.mul(factor, power);
                self.mul(slope, da)
            }
            Node::Select(condition, a, b) => {
                let da = self.known_derivative(a, symbol);
                let db = self.known_derivative(b, symbol);
                self.select(condition, da, db)
            }
        }
    }

    /// d/ds f(a) with value `e` = f(a) and `da` = da/ds.
    fn differentiate_unary(&mut self, operator: Unary, e: Expr, a: Expr, da: Expr) -> Expr {
        let one = self.constant(1.0);
        match operator {
            Unary::Neg => self.neg(da),
            Unary::Sin => {
                let cos = self.unary(Unary::Cos, a);
                self.mul(cos, da)
            }
            Unary::Cos => {
                let sin = self.unary(Unary::Sin, a);
                let slope = self.neg(sin);
                self.mul(slope, da)
            }
            Unary::Tan => {
                let square = self.pow_integer(e, 2);
                let slope = self.add(one, square);
                self.mul(slope, da)
            }
            Unary::Asin | Unary::Acos => {
                let square = self.pow_integer(a, 2);
                let rest = self.sub(one, square);
                let root = self.unary(Unary::Sqrt, rest);
                let quotient = self.div(da, root);
                if operator == Unary::Asin { quotient } else { self.neg(quotient) }
            }
            Unary::Atan => {
                let square = self.pow_integer(a, 2);
                let sum = self.add(one, square);
                self.div(da, sum)
            }
            Unary::Sinh => {
                let cosh = self.unary(Unary::Cosh, a);
                self.mul(cosh, da)
            }
            Unary::Cosh => {
                let sinh = self.unary(Unary::Sinh, a);
                self.mul(sinh, da)
            }
            Unary::Tanh => {
                let square = self.pow_integer(e, 2);
                let slope = self.sub(one, square);
                self.mul(slope, da)
            }
            Unary::Exp => self.mul(e, da),
            Unary::Ln => self.div(da, a),
            Unary::Log10 => {
                let ln_10 = self.constant(std::f64::consts::LN_10);
                let scaled = self.mul(ln_10, a);
                self.div(da, scaled)
            }
            Unary::Sqrt => {
                let two = self.constant(2.0);
                let twice = self.mul(two, e);
                self.div(da, twice)
            }
            Unary::Abs => {
                let sign = self.unary(Unary::Sign, a);
                self.mul(sign, da)
            }
            Unary::Sign | Unary::Step | Unary::Floor | Unary::Not => self.constant(0.0),
        }
    }

    /// d/ds f(a, b) with value `e` = f(a, b).
    fn differentiate_binary(&mut self, operator: Binary, e: Expr, (a, da): (Expr, Expr), (b, db): (Expr, Expr)) -> Expr {
        match operator {
            Binary::Add => self.add(da, db),
            Binary::Sub => self.sub(da, db),
            Binary::Mul => self.combine(da, b, db, a),
            Binary::Div => {
                // (da − (a/b) db) / b: the quotient is there already.
                let change = self.mul(e, db);
                let numerator = self.sub(da, change);
                self.div(numerator, b)
            }
            Binary::Pow => self.differentiate_power(e, (a, da), (b, db)),
            Binary::Atan2 => {
                let opposite = self.neg(a);
                let numerator = self.combine(da, b, db, opposite);
                let (a2, b2) = (self.pow_integer(a, 2), self.pow_integer(b, 2));
                let square = self.add(a2, b2);
                self.div(numerator, square)
            }
            Binary::Hypot => {
                let numerator = self.combine(da, a, db, b);
                self.div(numerator, e)
            }
            Binary::Min => {
                let first = self.compare(Comparison::LessEqual, a, b);
                self.select(first, da, db)
            }
            Binary::Max => {
                let first = self.compare(Comparison::GreaterEqual, a, b);
                self.select(first, da, db)
            }
            Binary::Less | Binary::LessEqual | Binary::Equal | Binary::NotEqual | Binary::And | Binary::Or => self.constant(0.0),
        }
    }

    /// d(a^b) = b a^(b−1) da + a^b ln(a) db.
    ///
    /// The limits b → 0 of the first and a → 0 of the second coefficient are 0; computed plainly they
    /// would be NaN.
    fn differentiate_power(&mut self, e: Expr, (a, da): (Expr, Expr), (b, db): (Expr, Expr)) -> Expr {
        let (zero, one) = (self.constant(0.0), self.constant(1.0));
        let mut result = zero;
        if !self.is_zero(da) {
            let exponent = self.sub(b, one);
            let power = self.pow(a, exponent);
            let slope = self.mul(b, power);
            let is_flat = self.compare(Comparison::Equal, b, zero);
            let slope = self.select(is_flat, zero, slope);
            result = self.mul(slope, da);
        }
        if !self.is_zero(db) {
            let ln = self.unary(Unary::Ln, a);
            let slope = self.mul(e, ln);
            let is_flat = self.compare(Comparison::Equal, a, zero);
            let slope = self.select(is_flat, zero, slope);
            let change = self.mul(slope, db);
            result = self.add(result, change);
        }
        result
    }

    /// a b + c d
    fn combine(&mut self, a: Expr, b: Expr, c: Expr, d: Expr) -> Expr {
        let first = self.mul(a, b);
        let second = self.mul(c, d);
        self.add(first, second)
    }
}
