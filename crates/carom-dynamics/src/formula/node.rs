//! Nodes of the expression graph and the arithmetic of their operators.

use super::graph::Expr;

/// A comparison of two numbers; its value is 1 or 0. With NaN only `NotEqual` holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// `a < b`
    Less,
    /// `a <= b`
    LessEqual,
    /// `a > b`
    Greater,
    /// `a >= b`
    GreaterEqual,
    /// `a == b`
    Equal,
    /// `a != b`
    NotEqual,
}

/// One node; operands have smaller indices than the node itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Node {
    /// Bits of the number; −0 and NaN are stored in one form only.
    Constant(u64),
    /// Index into the table of names.
    Symbol(u32),
    Unary(Unary, Expr),
    Binary(Binary, Expr, Expr),
    /// Integer power; the exponent is none of −1, 0, 1.
    PowInt(Expr, i32),
    /// Condition, value if it is not 0, value if it is 0.
    Select(Expr, Expr, Expr),
}

impl Node {
    /// The operands, in order.
    pub(super) fn operands(self) -> impl Iterator<Item = Expr> {
        let three = match self {
            Node::Constant(_) | Node::Symbol(_) => [None; 3],
            Node::Unary(_, a) | Node::PowInt(a, _) => [Some(a), None, None],
            Node::Binary(_, a, b) => [Some(a), Some(b), None],
            Node::Select(c, a, b) => [Some(c), Some(a), Some(b)],
        };
        three.into_iter().flatten()
    }
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Unary {
    Neg,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Ln,
    Log10,
    Sqrt,
    Abs,
    Sign,
    Step,
    Floor,
    Not,
}

/// How a function answers a change of its argument's sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Parity {
    Even,
    Odd,
    Neither,
}

impl Unary {
    #[inline]
    pub(super) fn apply(self, x: f64) -> f64 {
        match self {
            Unary::Neg => -x,
            Unary::Sin => x.sin(),
            Unary::Cos => x.cos(),
            Unary::Tan => x.tan(),
            Unary::Asin => x.asin(),
            Unary::Acos => x.acos(),
            Unary::Atan => x.atan(),
            Unary::Sinh => x.sinh(),
            Unary::Cosh => x.cosh(),
            Unary::Tanh => x.tanh(),
            Unary::Exp => x.exp(),
            Unary::Ln => x.ln(),
            Unary::Log10 => x.log10(),
            Unary::Sqrt => x.sqrt(),
            Unary::Abs => x.abs(),
            Unary::Sign if x > 0.0 => 1.0,
            Unary::Sign if x < 0.0 => -1.0,
            // 0 stays 0 and NaN stays NaN.
            Unary::Sign => x,
            Unary::Step => truth(x >= 0.0),
            Unary::Floor => x.floor(),
            Unary::Not => truth(x == 0.0),
        }
    }

    pub(super) fn parity(self) -> Parity {
        match self {
            Unary::Cos | Unary::Cosh | Unary::Abs => Parity::Even,
            Unary::Sin | Unary::Tan | Unary::Asin | Unary::Atan | Unary::Sinh | Unary::Tanh | Unary::Sign => Parity::Odd,
            _ => Parity::Neither,
        }
    }

    /// The name in formulas.
    pub(super) fn name(self) -> &'static str {
        match self {
            Unary::Neg => "-",
            Unary::Sin => "sin",
            Unary::Cos => "cos",
            Unary::Tan => "tan",
            Unary::Asin => "asin",
            Unary::Acos => "acos",
            Unary::Atan => "atan",
            Unary::Sinh => "sinh",
            Unary::Cosh => "cosh",
            Unary::Tanh => "tanh",
            Unary::Exp => "exp",
            Unary::Ln => "ln",
            Unary::Log10 => "log10",
            Unary::Sqrt => "sqrt",
            Unary::Abs => "abs",
            Unary::Sign => "sign",
            Unary::Step => "step",
            Unary::Floor => "floor",
            Unary::Not => "not",
        }
    }
}

/// Operators with two operands. `>` and `>=` are `<` and `<=` with swapped operands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Atan2,
    Hypot,
    Min,
    Max,
    Less,
    LessEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

impl Binary {
    #[inline]
    pub(super) fn apply(self, x: f64, y: f64) -> f64 {
        match self {
            Binary::Add => x + y,
            Binary::Sub => x - y,
            Binary::Mul => x * y,
            Binary::Div => x / y,
            Binary::Pow => x.powf(y),
            Binary::Atan2 => x.atan2(y),
            Binary::Hypot => x.hypot(y),
            // Unlike `f64::min`, a NaN on either side is passed on, never hidden.
            Binary::Min if x < y || x.is_nan() => x,
            Binary::Max if x > y || x.is_nan() => x,
            Binary::Min | Binary::Max => y,
            Binary::Less => truth(x < y),
            Binary::LessEqual => truth(x <= y),
            Binary::Equal => truth(x == y),
            Binary::NotEqual => truth(x != y),
            Binary::And => truth(x != 0.0 && y != 0.0),
            Binary::Or => truth(x != 0.0 || y != 0.0),
        }
    }

    pub(super) fn is_commutative(self) -> bool {
        match self {
            Binary::Add | Binary::Mul | Binary::Hypot => true,
            Binary::Equal | Binary::NotEqual | Binary::And | Binary::Or => true,
            Binary::Sub | Binary::Div | Binary::Pow | Binary::Atan2 => false,
            Binary::Less | Binary::LessEqual => false,
            // Order decides which branch is differentiated at a tie.
            Binary::Min | Binary::Max => false,
        }
    }
}

#[inline]
fn truth(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}
