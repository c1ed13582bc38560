//! Expressions as text, for messages and tests.

use super::graph::{Expr, Graph};
use super::node::{Binary, Node, Unary};
use super::precedence::{AND, ATOM, COMPARISON, LOOSEST, NOT, OR, POWER, PRODUCT, SIGN, SUM};

/// Longest text; a shared subexpression is written out at each use, so that length must be bounded.
const MAX_TEXT: usize = 4_000;

/// Work left: a piece of text, an exponent, or an expression with the least precedence that needs no parentheses.
enum Piece {
    Text(&'static str),
    Integer(i32),
    Expr(Expr, u8),
}

impl Graph {
    /// The expression as a formula that can be parsed again, cut off with `...` if very long.
    pub fn to_string(&self, e: Expr) -> String {
        let mut text = String::new();
        let mut stack = vec![Piece::Expr(e, LOOSEST)];
        while let Some(piece) = stack.pop() {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Integer(n) => text.push_str(&n.to_string()),
                Piece::Expr(e, least) => self.expand(e, least, &mut text, &mut stack),
            }
            if text.len() > MAX_TEXT {
                text.push_str("...");
                break;
            }
        }
        text
    }

    /// Writes a leaf, or pushes the pieces of anything else in reverse.
    fn expand(&self, e: Expr, least: u8, text: &mut String, stack: &mut Vec<Piece>) {
        use Piece::Text;
        let function = |name, arguments: &[Expr]| {
            let mut pieces = vec![Text(name), Text("(")];
            for (i, &argument) in arguments.iter().enumerate() {
                pieces.extend((i > 0).then_some(Text(", ")));
                pieces.push(Piece::Expr(argument, LOOSEST));
            }
            pieces.push(Text(")"));
            (ATOM, pieces)
        };
        let infix = |sign, own: u8, a, left, b, right| (own, vec![Piece::Expr(a, left), Text(sign), Piece::Expr(b, right)]);
        let (own, mut pieces) = match self.node(e) {
            Node::Symbol(_) => {
                text.push_str(self.symbol_name(e).unwrap_or_default());
                return;
            }
            Node::Constant(bits) => {
                let x = f64::from_bits(bits);
                let number = if x.abs() < 1e15 { format!("{x}") } else { format!("{x:e}") };
                let is_tight = x >= 0.0 || least <= SIGN;
                text.push_str(&if is_tight { number } else { format!("({number})") });
                return;
            }
            Node::Unary(Unary::Neg, a) => (SIGN, vec![Text("-"), Piece::Expr(a, SIGN)]),
            Node::Unary(Unary::Not, a) => (NOT, vec![Text("not "), Piece::Expr(a, NOT)]),
            Node::Unary(operator, a) => function(operator.name(), &[a]),
            Node::Select(c, a, b) => function("if", &[c, a, b]),
            Node::PowInt(a, n) => (POWER, vec![Piece::Expr(a, ATOM), Text("^"), Piece::Integer(n)]),
            Node::Binary(operator, a, b) => match operator {
                Binary::Add => infix(" + ", SUM, a, SUM, b, PRODUCT),
                Binary::Sub => infix(" - ", SUM, a, SUM, b, PRODUCT),
                Binary::Mul => infix("*", PRODUCT, a, PRODUCT, b, SIGN),
                Binary::Div => infix("/", PRODUCT, a, PRODUCT, b, SIGN),
                Binary::Pow => infix("^", POWER, a, ATOM, b, SIGN),
                Binary::Less => infix(" < ", COMPARISON, a, SUM, b, SUM),
                Binary::LessEqual => infix(" <= ", COMPARISON, a, SUM, b, SUM),
                Binary::Equal => infix(" == ", COMPARISON, a, SUM, b, SUM),
                Binary::NotEqual => infix(" != ", COMPARISON, a, SUM, b, SUM),
                Binary::And => infix(" and ", AND, a, AND, b, NOT),
                Binary::Or => infix(" or ", OR, a, OR, b, AND),
                Binary::Atan2 => function("atan2", &[a, b]),
                Binary::Hypot => function("hypot", &[a, b]),
                Binary::Min => function("min", &[a, b]),
                Binary::Max => function("max", &[a, b]),
            },
        };
        if own < least {
            pieces.insert(0, Text("("));
            pieces.push(Text(")"));
        }
        stack.extend(pieces.into_iter().rev());
    }
}
