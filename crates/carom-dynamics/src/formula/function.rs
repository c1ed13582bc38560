//! The functions a formula may call.

use super::node::Unary;

/// A function that formulas can call by name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Function {
    /// Sine of an angle in radians.
    Sin,
    /// Cosine of an angle in radians.
    Cos,
    /// Tangent of an angle in radians.
    Tan,
    /// Inverse sine, in [−π/2, π/2].
    Asin,
    /// Inverse cosine, in [0, π].
    Acos,
    /// Inverse tangent, in (−π/2, π/2).
    Atan,
    /// `atan2(y, x)`: angle of the point (x, y), in (−π, π].
    Atan2,
    /// Hyperbolic sine.
    Sinh,
    /// Hyperbolic cosine.
    Cosh,
    /// Hyperbolic tangent.
    Tanh,
    /// Exponential.
    Exp,
    /// Natural logarithm.
    Ln,
    /// Decimal logarithm.
    Log10,
    /// Square root.
    Sqrt,
    /// Absolute value.
    Abs,
    /// −1, 0 or 1.
    Sign,
    /// 1 for `x >= 0`, else 0.
    Step,
    /// Largest integer that is not above x.
    Floor,
    /// Smallest of two or more.
    Min,
    /// Largest of two or more.
    Max,
    /// `clamp(x, lo, hi)` = `min(max(x, lo), hi)`.
    Clamp,
    /// `if(condition, a, b)`: `a` where the condition is not 0, else `b`.
    If,
    /// `pow(x, y)` = `x^y`.
    Pow,
    /// `hypot(x, y)` = √(x² + y²) without overflow.
    Hypot,
}

impl Function {
    /// All functions, in the order of the documentation.
    pub const ALL: [Function; 24] = [
        Function::Sin,
        Function::Cos,
        Function::Tan,
        Function::Asin,
        Function::Acos,
        Function::Atan,
        Function::Atan2,
        Function::Sinh,
        Function::Cosh,
        Function::Tanh,
        Function::Exp,
        Function::Ln,
        Function::Log10,
        Function::Sqrt,
        Function::Abs,
        Function::Sign,
        Function::Step,
        Function::Floor,
        Function::Min,
        Function::Max,
        Function::Clamp,
        Function::If,
        Function::Pow,
        Function::Hypot,
    ];

    /// The name in formulas.
    pub fn name(self) -> &'static str {
        match self {
            Function::Atan2 => "atan2",
            Function::Min => "min",
            Function::Max => "max",
            Function::Clamp => "clamp",
            Function::If => "if",
            Function::Pow => "pow",
            Function::Hypot => "hypot",
            _ => self.unary().map_or("", Unary::name),
        }
    }

    /// The function of this name.
    pub fn from_name(name: &str) -> Option<Function> {
        Function::ALL.into_iter().find(|f| f.name() == name)
    }

    /// Whether the function can be called with `count` arguments.
    pub fn accepts(self, count: usize) -> bool {
        match self {
            Function::Min | Function::Max => count >= 2,
            Function::Clamp | Function::If => count == 3,
            Function::Atan2 | Function::Pow | Function::Hypot => count == 2,
            _ => count == 1,
        }
    }

    /// The arguments in words: `1`, `2 or more`, `3: a condition, …`.
    pub(crate) fn expected_arguments(self) -> &'static str {
        match self {
            Function::Min | Function::Max => "2 or more",
            Function::Clamp => "3 (a value, its lower and its upper bound)",
            Function::If => "3 (a condition, the value if it holds, the value if not)",
            Function::Atan2 => "2 (y, then x)",
            Function::Pow => "2 (base, then exponent)",
            Function::Hypot => "2",
            _ => "1",
        }
    }

    /// The operator behind a function of one argument.
    pub(super) fn unary(self) -> Option<Unary> {
        Some(match self {
            Function::Sin => Unary::Sin,
            Function::Cos => Unary::Cos,
            Function::Tan => Unary::Tan,
            Function::Asin => Unary::Asin,
            Function::Acos => Unary::Acos,
            Function::Atan => Unary::Atan,
            Function::Sinh => Unary::Sinh,
            Function::Cosh => Unary::Cosh,
            Function::Tanh => Unary::Tanh,
            Function::Exp => Unary::Exp,
            Function::Ln => Unary::Ln,
            Function::Log10 => Unary::Log10,
            Function::Sqrt => Unary::Sqrt,
            Function::Abs => Unary::Abs,
            Function::Sign => Unary::Sign,
            Function::Step => Unary::Step,
            Function::Floor => Unary::Floor,
            Function::Atan2 | Function::Min | Function::Max | Function::Clamp | Function::If | Function::Pow | Function::Hypot => {
                return None;
            }
        })
    }
}
