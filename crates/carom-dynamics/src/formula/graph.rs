//! The expression graph: every distinct subexpression is one node.

use std::collections::HashMap;

use super::function::Function;
use super::node::{Binary, Comparison, Node, Parity, Unary};

/// Largest integer exponent kept as an integer power; beyond it `powf` is as good.
const MAX_INTEGER_POWER: i32 = 1024;

/// An expression: the index of a node in the [`Graph`] that made it.
///
/// Equal expressions built in one graph are the same `Expr`. Using one with another graph is a
/// mistake that gives a wrong expression or a panic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Expr(pub(super) u32);

impl Expr {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A store of expressions in which equal subexpressions are shared (hash-consing).
///
/// Operands always have smaller indices than the nodes that use them, so that all algorithms here
/// are loops over indices and none recurses, however deep an expression is.
///
/// Simplified while building: arithmetic on constants; `0+x`, `0*x`, `1*x`, `x/1`, `x^0`, `x^1`, `--x`;
/// multiples of the same term (`x-x`, `x+2*x`); powers of the same base (`x*x^2`); constant factors
/// gathered in front; signs drawn out of products, quotients, even and odd functions; operands of commutative
/// operators sorted by first appearance. Results depend only on the order of calls.
#[derive(Clone, Default, Debug)]
pub struct Graph {
    pub(super) nodes: Vec<Node>,
    interned: HashMap<Node, Expr>,
    names: Vec<String>,
    symbols: HashMap<String, Expr>,
    pub(super) derivatives: HashMap<(Expr, Expr), Expr>,
}

impl Graph {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of nodes, simplified-away intermediates included.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The expression of a fixed number.
    pub fn constant(&mut self, x: f64) -> Expr {
        let x = match x {
            0.0 => 0.0,
            x if x.is_nan() => f64::NAN,
            x => x,
        };
        self.intern(Node::Constant(x.to_bits()))
    }

    /// The symbol of this name; the same name gives the same expression.
    pub fn symbol(&mut self, name: &str) -> Expr {
        if let Some(&e) = self.symbols.get(name) {
            return e;
        }
        let id = u32::try_from(self.names.len()).expect("fewer than 2^32 symbols");
        self.names.push(name.to_owned());
        let e = self.intern(Node::Symbol(id));
        self.symbols.insert(name.to_owned(), e);
        e
    }

    /// The name, if `e` is a symbol.
    pub fn symbol_name(&self, e: Expr) -> Option<&str> {
        match self.node(e) {
            Node::Symbol(id) => Some(&self.names[id as usize]),
            _ => None,
        }
    }

    /// The number, if `e` is a constant.
    pub fn as_constant(&self, e: Expr) -> Option<f64> {
        match self.node(e) {
            Node::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// Whether `e` is the constant 0.
    pub fn is_zero(&self, e: Expr) -> bool {
        self.as_constant(e) == Some(0.0)
    }

    /// Whether any of `symbols` occurs in `e`.
    pub fn depends_on(&self, e: Expr, symbols: &[Expr]) -> bool {
        self.reachable(e).iter().any(|node| symbols.contains(node))
    }

    /// All symbols that occur in `e`, in the order in which the graph first saw them.
    pub fn symbols_of(&self, e: Expr) -> Vec<Expr> {
        let mut found = self.reachable(e);
        found.retain(|&node| matches!(self.node(node), Node::Symbol(_)));
        found
    }

    /// The sum `a + b`.
    pub fn add(&mut self, a: Expr, b: Expr) -> Expr {
        if let (Some(x), Some(y)) = (self.as_constant(a), self.as_constant(b)) {
            return self.constant(x + y);
        }
        if self.is_zero(a) {
            return b;
        }
        if self.is_zero(b) {
            return a;
        }
        let ((x, rest_a), (y, rest_b)) = (self.split_factor(a), self.split_factor(b));
        if rest_a == rest_b {
            return self.scale(x + y, rest_a);
        }
        if let Some(b) = self.without_sign(b) {
            return self.sub(a, b);
        }
        if let Some(a) = self.without_sign(a) {
            return self.sub(b, a);
        }
        self.binary(Binary::Add, a, b)
    }

    /// The difference `a - b`.
    pub fn sub(&mut self, a: Expr, b: Expr) -> Expr {
        if let (Some(x), Some(y)) = (self.as_constant(a), self.as_constant(b)) {
            return self.constant(x - y);
        }
        if self.is_zero(a) {
            return self.neg(b);
        }
        if self.is_zero(b) {
            return a;
        }
        let ((x, rest_a), (y, rest_b)) = (self.split_factor(a), self.split_factor(b));
        if rest_a == rest_b {
            return self.scale(x - y, rest_a);
        }
        if let Some(b) = self.without_sign(b) {
            return self.add(a, b);
        }
        if let Node::Unary(Unary::Neg, a) = self.node(a) {
            let sum = self.add(a, b);
            return self.neg(sum);
        }
        self.binary(Binary::Sub, a, b)
    }

    /// The opposite `-a`.
    pub fn neg(&mut self, a: Expr) -> Expr {
        if let Some(x) = self.as_constant(a) {
            return self.constant(-x);
        }
        match self.node(a) {
            Node::Unary(Unary::Neg, x) => x,
            Node::Binary(Binary::Sub, x, y) => self.sub(y, x),
            Node::Binary(Binary::Mul, x, y) => match self.as_constant(x) {
                Some(factor) => self.scale(-factor, y),
                None => self.intern(Node::Unary(Unary::Neg, a)),
            },
            _ => self.intern(Node::Unary(Unary::Neg, a)),
        }
    }

    /// The product `a * b`.
    pub fn mul(&mut self, a: Expr, b: Expr) -> Expr {
        if let Some(x) = self.as_constant(a) {
            return self.scale(x, b);
        }
        if let Some(y) = self.as_constant(b) {
            return self.scale(y, a);
        }
        let ((x, rest_a), (y, rest_b)) = (self.split_factor(a), self.split_factor(b));
        if !is_safe_product(x, y) {
            return self.binary(Binary::Mul, a, b);
        }
        let product = match (self.split_power(rest_a), self.split_power(rest_b)) {
            ((base, m), (other, n)) if base == other && m > 0 && n > 0 => self.pow_integer(base, m + n),
            _ => self.binary(Binary::Mul, rest_a, rest_b),
        };
        self.scale(x * y, product)
    }

    /// The quotient `a / b`.
    pub fn div(&mut self, a: Expr, b: Expr) -> Expr {
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(x), Some(y)) => return self.constant(x / y),
            (Some(0.0), None) => return a,
            (None, Some(y)) => {
                // Scaling by a power of two, and by ±1, is exact.
                if y.is_normal() && (1.0 / y).is_normal() && y.to_bits().trailing_zeros() >= 52 {
                    return self.scale(1.0 / y, a);
                }
                if let (x, rest) = self.split_factor(a)
                    && rest != a
                    && (x / y).is_normal()
                {
                    return self.scale(x / y, rest);
                }
            }
            _ => {}
        }
        if let Node::Unary(Unary::Neg, x) = self.node(a) {
            let quotient = self.div(x, b);
            return self.neg(quotient);
        }
        if let Some(y) = self.without_sign(b) {
            let quotient = self.div(a, y);
            return self.neg(quotient);
        }
        self.binary(Binary::Div, a, b)
    }

    /// The power `a ^ b`; `x^0` is 1 for every `x`, also for 0.
    pub fn pow(&mut self, a: Expr, b: Expr) -> Expr {
        let Some(y) = self.as_constant(b) else {
            return self.binary(Binary::Pow, a, b);
        };
        if y == 0.5 {
            return self.unary(Unary::Sqrt, a);
        }
        if y.fract() == 0.0 && y.abs() <= f64::from(MAX_INTEGER_POWER) {
            return self.pow_integer(a, y as i32);
        }
        self.binary(Binary::Pow, a, b)
    }

    /// The integer power `a ^ n`.
    pub(super) fn pow_integer(&mut self, a: Expr, n: i32) -> Expr {
        if let Some(x) = self.as_constant(a) {
            return self.constant(x.powi(n));
        }
        match n {
            0 => return self.constant(1.0),
            1 => return a,
            -1 => {
                let one = self.constant(1.0);
                return self.div(one, a);
            }
            _ => {}
        }
        match self.node(a) {
            Node::Unary(Unary::Neg, x) => {
                let power = self.pow_integer(x, n);
                if n % 2 == 0 { power } else { self.neg(power) }
            }
            Node::PowInt(x, m) if m > 0 && n > 0 && m.saturating_mul(n) <= MAX_INTEGER_POWER => self.intern(Node::PowInt(x, m * n)),
            _ => self.intern(Node::PowInt(a, n)),
        }
    }

    /// The smaller of two; NaN if either is NaN.
    pub fn min(&mut self, a: Expr, b: Expr) -> Expr {
        if a == b { a } else { self.binary(Binary::Min, a, b) }
    }

    /// The larger of two; NaN if either is NaN.
    pub fn max(&mut self, a: Expr, b: Expr) -> Expr {
        if a == b { a } else { self.binary(Binary::Max, a, b) }
    }

    /// 1 where the comparison holds, else 0.
    pub fn compare(&mut self, comparison: Comparison, a: Expr, b: Expr) -> Expr {
        match comparison {
            Comparison::Less => self.binary(Binary::Less, a, b),
            Comparison::LessEqual => self.binary(Binary::LessEqual, a, b),
            Comparison::Greater => self.binary(Binary::Less, b, a),
            Comparison::GreaterEqual => self.binary(Binary::LessEqual, b, a),
            Comparison::Equal => self.binary(Binary::Equal, a, b),
            Comparison::NotEqual => self.binary(Binary::NotEqual, a, b),
        }
    }

    /// 1 where neither is 0, else 0.
    pub fn and(&mut self, a: Expr, b: Expr) -> Expr {
        self.binary(Binary::And, a, b)
    }

    /// 1 where not both are 0, else 0.
    pub fn or(&mut self, a: Expr, b: Expr) -> Expr {
        self.binary(Binary::Or, a, b)
    }

    /// 1 where `a` is 0, else 0.
    pub fn not(&mut self, a: Expr) -> Expr {
        self.unary(Unary::Not, a)
    }

    /// `a` where `condition` is not 0, else `b`.
    pub fn select(&mut self, condition: Expr, a: Expr, b: Expr) -> Expr {
        match self.as_constant(condition) {
            Some(0.0) => b,
            Some(_) => a,
            None if a == b => a,
            None => self.intern(Node::Select(condition, a, b)),
        }
    }

    /// The function applied to the arguments.
    ///
    /// # Panics
    /// If [`Function::accepts`] refuses the number of arguments.
    pub fn call(&mut self, function: Function, arguments: &[Expr]) -> Expr {
        assert!(
            function.accepts(arguments.len()),
            "{} takes {} argument(s), not {}",
            function.name(),
            function.expected_arguments(),
            arguments.len()
        );
        match (function, arguments) {
            (Function::Atan2, &[y, x]) => self.binary(Binary::Atan2, y, x),
            (Function::Hypot, &[x, y]) => self.binary(Binary::Hypot, x, y),
            (Function::Pow, &[x, y]) => self.pow(x, y),
            (Function::If, &[condition, a, b]) => self.select(condition, a, b),
            (Function::Clamp, &[x, low, high]) => {
                let raised = self.max(x, low);
                self.min(raised, high)
            }
            (Function::Min, &[first, ref rest @ ..]) => rest.iter().fold(first, |least, &e| self.min(least, e)),
            (Function::Max, &[first, ref rest @ ..]) => rest.iter().fold(first, |most, &e| self.max(most, e)),
            (_, arguments) => {
                let operator = function.unary().expect("all others take one argument");
                self.unary(operator, arguments[0])
            }
        }
    }

    pub(super) fn node(&self, e: Expr) -> Node {
        self.nodes[e.index()]
    }

    /// The expression of this node, if it is in the graph.
    pub(super) fn find(&self, node: Node) -> Option<Expr> {
        self.interned.get(&node).copied()
    }

    /// All nodes of `e`, itself included, in index order.
    pub(super) fn reachable(&self, e: Expr) -> Vec<Expr> {
        let mut seen = vec![false; e.index() + 1];
        let (mut found, mut stack) = (Vec::new(), vec![e]);
        while let Some(e) = stack.pop() {
            if !std::mem::replace(&mut seen[e.index()], true) {
                found.push(e);
                stack.extend(self.node(e).operands());
            }
        }
        found.sort_unstable_by_key(|e| e.index());
        found
    }

    pub(super) fn unary(&mut self, operator: Unary, a: Expr) -> Expr {
        if let Some(x) = self.as_constant(a) {
            return self.constant(operator.apply(x));
        }
        match (operator.parity(), self.without_sign(a)) {
            (Parity::Even, Some(a)) => self.intern(Node::Unary(operator, a)),
            (Parity::Odd, Some(a)) => {
                let value = self.intern(Node::Unary(operator, a));
                self.neg(value)
            }
            _ => self.intern(Node::Unary(operator, a)),
        }
    }

    pub(super) fn binary(&mut self, operator: Binary, a: Expr, b: Expr) -> Expr {
        if let (Some(x), Some(y)) = (self.as_constant(a), self.as_constant(b)) {
            return self.constant(operator.apply(x, y));
        }
        // Constants first, then by age.
        let rank = |e: Expr| (self.as_constant(e).is_none(), e.index());
        if operator.is_commutative() && rank(b) < rank(a) {
            return self.intern(Node::Binary(operator, b, a));
        }
        self.intern(Node::Binary(operator, a, b))
    }

    fn intern(&mut self, node: Node) -> Expr {
        if let Some(&e) = self.interned.get(&node) {
            return e;
        }
        let e = Expr(u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes"));
        self.nodes.push(node);
        self.interned.insert(node, e);
        e
    }

    /// `factor * e`, with the factor merged into the one `e` may have.
    fn scale(&mut self, factor: f64, e: Expr) -> Expr {
        if let Some(x) = self.as_constant(e) {
            return self.constant(factor * x);
        }
        if factor == 0.0 {
            return self.constant(0.0);
        }
        if factor == 1.0 {
            return e;
        }
        if factor == -1.0 {
            return self.neg(e);
        }
        let (inner, rest) = self.split_factor(e);
        if rest != e && is_safe_product(factor, inner) {
            return self.scale(factor * inner, rest);
        }
        let factor = self.constant(factor);
        self.binary(Binary::Mul, factor, e)
    }

    /// Writes `e` as factor × rest, where the rest has no constant factor.
    fn split_factor(&self, e: Expr) -> (f64, Expr) {
        match self.node(e) {
            Node::Unary(Unary::Neg, x) => (-1.0, x),
            Node::Binary(Binary::Mul, x, y) => match self.as_constant(x) {
                Some(factor) => (factor, y),
                None => (1.0, e),
            },
            _ => (1.0, e),
        }
    }

    fn split_power(&self, e: Expr) -> (Expr, i32) {
        match self.node(e) {
            Node::PowInt(x, n) if n < MAX_INTEGER_POWER / 2 => (x, n),
            _ => (e, 1),
        }
    }

    /// `-e`, if `e` is an opposite or a product with a negative constant.
    pub(super) fn without_sign(&mut self, e: Expr) -> Option<Expr> {
        match self.split_factor(e) {
            (factor, rest) if factor < 0.0 && rest != e => Some(self.scale(-factor, rest)),
            _ => None,
        }
    }
}

/// Whether two factors can be merged without overflow or underflow.
fn is_safe_product(x: f64, y: f64) -> bool {
    (x * y).is_normal()
}
