//! Tokens → expression, by precedence climbing.

use std::ops::Range;

use super::error::{FormulaError, FormulaErrorKind};
use super::function::Function;
use super::graph::{Expr, Graph};
use super::lex::{Token, TokenKind, tokenize};
use super::node::Comparison;
use super::precedence::{AND, COMPARISON, NOT, OR, POWER, PRODUCT, SIGN, SUM};
use super::scope::Scope;
use crate::nearest::nearest;

/// Longest formula, in bytes.
pub const MAX_BYTES: usize = 10_000;
/// Deepest nesting of parentheses, calls, signs and powers.
pub const MAX_DEPTH: usize = 200;
/// Most operators and operands of one formula.
pub const MAX_NODES: usize = 5_000;

const OPERAND: &str = "a number, a name or `(`";

/// Reads a formula in the language of the [module documentation](super).
///
/// Safe on any input: size and nesting are limited by [`MAX_BYTES`], [`MAX_DEPTH`] and [`MAX_NODES`].
///
/// # Errors
/// The first fault from the left, with its place in the text.
pub fn parse(graph: &mut Graph, text: &str, scope: &Scope) -> Result<Expr, FormulaError> {
    if text.len() > MAX_BYTES {
        let kind = FormulaErrorKind::TooLong { limit: MAX_BYTES };
        return Err(FormulaError { kind, span: 0..text.len() });
    }
    let tokens = tokenize(text)?;
    if tokens.len() == 1 {
        return Err(FormulaError { kind: FormulaErrorKind::Empty, span: 0..text.len() });
    }
    let mut parser = Parser { graph, text, scope, tokens, at: 0, depth: 0, n_nodes: 0 };
    let e = parser.expression(OR)?;
    match parser.peek().kind {
        TokenKind::End => Ok(e),
        kind => Err(parser.unexpected(after_operand(kind))),
    }
}

struct Parser<'a> {
    graph: &'a mut Graph,
    text: &'a str,
    scope: &'a Scope,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    n_nodes: usize,
}

impl<'a> Parser<'a> {
    /// Operators of at least the given precedence and their operands.
    fn expression(&mut self, least: u8) -> Result<Expr, FormulaError> {
        let mut left = self.operand(least)?;
        loop {
            let kind = self.peek().kind;
            let Some(precedence) = precedence(kind).filter(|&p| p >= least) else {
                return Ok(left);
            };
            self.count()?;
            self.at += 1;
            // Powers group to the right and take a sign in the exponent: 2^-x^2.
            let right = if precedence == POWER { self.nested(|parser| parser.expression(SIGN))? } else { self.expression(precedence + 1)? };
            left = self.combine(kind, left, right);
            if precedence == COMPARISON && comparison(self.peek().kind).is_some() {
                return Err(self.fault(FormulaErrorKind::ChainedComparison));
            }
        }
    }

    /// A number, a name, a call, a parenthesis or a signed operand.
    fn operand(&mut self, least: u8) -> Result<Expr, FormulaError> {
        self.count()?;
        let kind = self.peek().kind;
        match kind {
            TokenKind::Number(x) => {
                self.at += 1;
                Ok(self.graph.constant(x))
            }
            TokenKind::Name => self.name(),
            TokenKind::Open => {
                let e = self.nested(|parser| {
                    let open = parser.advance();
                    let e = parser.expression(OR)?;
                    match parser.peek().kind {
                        TokenKind::Close => Ok((parser.advance(), e).1),
                        kind => Err(parser.missing_close(open, after_operand(kind))),
                    }
                })?;
                Ok(e)
            }
            TokenKind::Minus | TokenKind::Plus | TokenKind::Bang => {
                let e = self.nested(|parser| {
                    parser.at += 1;
                    parser.expression(SIGN)
                })?;
                Ok(match kind {
                    TokenKind::Minus => self.graph.neg(e),
                    TokenKind::Bang => self.graph.not(e),
                    _ => e,
                })
            }
            TokenKind::Not if least <= NOT => {
                let e = self.nested(|parser| {
                    parser.at += 1;
                    parser.expression(NOT)
                })?;
                Ok(self.graph.not(e))
            }
            TokenKind::Not => Err(self.unexpected("an operand, or `(not ...)` in parentheses,")),
            _ => Err(self.unexpected(OPERAND)),
        }
    }

    fn name(&mut self) -> Result<Expr, FormulaError> {
        let span = self.peek().span.clone();
        let name = &self.text[span.clone()];
        if self.tokens[self.at + 1].kind == TokenKind::Open {
            return self.call(name);
        }
        if let Some(e) = self.scope.resolve(self.graph, name) {
            self.at += 1;
            return Ok(e);
        }
        Err(self.fault(match Function::from_name(name) {
            Some(function) => FormulaErrorKind::MissingArguments { function: function.name() },
            None => FormulaErrorKind::UnknownName { name: name.to_owned(), nearest: self.scope.nearest(name), known: self.scope.names() },
        }))
    }

    /// `name(argument, …)`, standing at the name.
    fn call(&mut self, name: &'a str) -> Result<Expr, FormulaError> {
        let Some(function) = Function::from_name(name) else {
            return Err(self.fault(if self.scope.contains(name) {
                FormulaErrorKind::NotAFunction { name: name.to_owned() }
            } else {
                let known = Function::ALL.into_iter().map(Function::name);
                let nearest = if name == "log" { Some("ln") } else { nearest(name, known) };
                FormulaErrorKind::UnknownFunction { name: name.to_owned(), nearest: nearest.map(str::to_owned) }
            }));
        };
        let start = self.advance().start;
        let arguments = self.nested(Self::arguments)?;
        if !function.accepts(arguments.len()) {
            let kind = FormulaErrorKind::WrongArgumentCount {
                function: function.name(),
                expected: function.expected_arguments(),
                found: arguments.len(),
            };
            let end = self.tokens[self.at - 1].span.end;
            return Err(FormulaError { kind, span: start..end });
        }
        Ok(self.graph.call(function, &arguments))
    }

    /// `(argument, …)`, standing at `(`.
    fn arguments(&mut self) -> Result<Vec<Expr>, FormulaError> {
        let open = self.advance();
        let mut arguments = Vec::new();
        if self.peek().kind == TokenKind::Close {
            self.at += 1;
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expression(OR)?);
            match self.peek().kind {
                TokenKind::Comma => self.at += 1,
                TokenKind::Close => {
                    self.at += 1;
                    return Ok(arguments);
                }
                TokenKind::Name | TokenKind::Number(_) | TokenKind::Open => {
                    return Err(self.missing_close(open, "an operator, `,` or `)`"));
                }
                _ => return Err(self.missing_close(open, "`,` or `)`")),
            }
        }
    }

    fn combine(&mut self, operator: TokenKind, a: Expr, b: Expr) -> Expr {
        let graph = &mut *self.graph;
        match operator {
            TokenKind::Plus => graph.add(a, b),
            TokenKind::Minus => graph.sub(a, b),
            TokenKind::Star => graph.mul(a, b),
            TokenKind::Slash => graph.div(a, b),
            TokenKind::Caret => graph.pow(a, b),
            TokenKind::And => graph.and(a, b),
            TokenKind::Or => graph.or(a, b),
            other => {
                let comparison = comparison(other).expect("all other operators compare");
                graph.compare(comparison, a, b)
            }
        }
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    /// Goes past a token that is not the last; its place.
    fn advance(&mut self) -> Range<usize> {
        self.at += 1;
        self.tokens[self.at - 1].span.clone()
    }

    fn count(&mut self) -> Result<(), FormulaError> {
        self.n_nodes += 1;
        if self.n_nodes > MAX_NODES {
            return Err(self.fault(FormulaErrorKind::TooLarge { limit: MAX_NODES }));
        }
        Ok(())
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, FormulaError>) -> Result<T, FormulaError> {
        if self.depth == MAX_DEPTH {
            return Err(self.fault(FormulaErrorKind::TooDeep { limit: MAX_DEPTH }));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// An error at the present token.
    fn fault(&self, kind: FormulaErrorKind) -> FormulaError {
        FormulaError { kind, span: self.peek().span.clone() }
    }

    fn unexpected(&self, expected: &'static str) -> FormulaError {
        let found = self.text[self.peek().span.clone()].to_owned();
        self.fault(match self.peek().kind {
            TokenKind::End => FormulaErrorKind::UnexpectedEnd { expected },
            _ => FormulaErrorKind::UnexpectedToken { found, expected },
        })
    }

    /// The error where `)` should be: at the end of the text, `open` is at fault.
    fn missing_close(&self, open: Range<usize>, expected: &'static str) -> FormulaError {
        match self.peek().kind {
            TokenKind::End => FormulaError { kind: FormulaErrorKind::UnclosedParenthesis, span: open },
            _ => self.unexpected(expected),
        }
    }
}

fn precedence(kind: TokenKind) -> Option<u8> {
    Some(match kind {
        TokenKind::Or => OR,
        TokenKind::And => AND,
        TokenKind::Plus | TokenKind::Minus => SUM,
        TokenKind::Star | TokenKind::Slash => PRODUCT,
        TokenKind::Caret => POWER,
        other => {
            comparison(other)?;
            COMPARISON
        }
    })
}

fn comparison(kind: TokenKind) -> Option<Comparison> {
    Some(match kind {
        TokenKind::Less => Comparison::Less,
        TokenKind::LessEqual => Comparison::LessEqual,
        TokenKind::Greater => Comparison::Greater,
        TokenKind::GreaterEqual => Comparison::GreaterEqual,
        TokenKind::Equal => Comparison::Equal,
        TokenKind::NotEqual => Comparison::NotEqual,
        _ => return None,
    })
}

/// What should have come after a complete operand, given what came.
fn after_operand(found: TokenKind) -> &'static str {
    match found {
        TokenKind::Close => "an operator or the end of the formula (there is no `(` for this `)`)",
        TokenKind::Comma => "an operator (decimals are written with a point)",
        _ => "an operator (products are written with `*`)",
    }
}
