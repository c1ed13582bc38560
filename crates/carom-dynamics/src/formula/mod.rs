//! Text formulas: parsed, differentiated symbolically, compiled once, evaluated fast.
//!
//! The way of a formula (a kinetic energy, a gap, a force) is
//!
//! 1. [`parse`]: text → [`Expr`], an index into a [`Graph`]; errors carry the byte range at fault;
//! 2. [`Graph::derivative`]: exact first, second, … derivatives in the same graph;
//! 3. [`Tape::compile`]: *all* wanted expressions → one flat list of instructions, in which
//!    every shared subexpression occurs once;
//! 4. [`Tape::evaluate`]: numbers in, numbers out, without allocation.
//!
//! ```
//! use carom_dynamics::formula::{Graph, Scope, Tape, parse};
//!
//! let mut graph = Graph::new();
//! let q = graph.symbol("q");
//! let mut scope = Scope::new();
//! scope.symbol("q", q).constant("k", 4.0);
//! let energy = parse(&mut graph, "k*q^2/2", &scope)?;
//! let force = graph.derivative(energy, q);
//!
//! let tape = Tape::compile(&graph, &[q], &[energy, force])?;
//! let (mut registers, mut out) = (Vec::new(), [0.0; 2]);
//! tape.evaluate(&[3.0], &mut registers, &mut out);
//! assert_eq!(out, [18.0, 12.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Language
//!
//! | | |
//! |---|---|
//! | numbers | `1`, `1.5`, `.5`, `1e-3` |
//! | names | letters, digits, `_`, with dots between parts: `ball.x`; `pi` is always known |
//! | operators, loosest first | `or` `\|\|`; `and` `&&`; `not`; `< <= > >= == !=`; `+ -`; `* /`; unary `- + !`; `^` `**` |
//! | functions | `sin cos tan asin acos atan atan2 sinh cosh tanh exp ln log10 sqrt abs sign step floor min max clamp if pow hypot` |
//!
//! `-x^2` is `-(x^2)`, `2^3^2` is `2^(3^2)`. Comparisons and logic give 1 or 0, every number but 0
//! counts as true. `step(0)` is 1, `sign(0)` is 0. `clamp(x, lo, hi)` is `min(max(x, lo), hi)`.
//! `if(c, a, b)` computes `a` and `b` and picks one: a NaN in the other does not leak.
//!
//! # Derivatives at kinks
//!
//! `abs' = sign`, `sign' = step' = floor' = 0`, comparisons and logic have derivative 0, `min`, `max`, `clamp`
//! and `if` differentiate the branch taken (the first one at a tie). Where a function has no finite
//! derivative (`sqrt` or `hypot` at 0) the result is infinite or NaN; nothing is invented.
//!
//! # Simplification
//!
//! Expressions are simplified while they are built (see [`Graph`]). `0*x` becomes 0 and `x-x` becomes 0
//! whatever `x` is, so an infinite or undefined `x` is then not seen.

mod compile;
mod condition;
mod derivative;
mod error;
mod function;
mod graph;
mod lex;
mod node;
mod parse;
mod precedence;
mod print;
mod schedule;
mod scope;
mod substitution;
mod switches;
mod tape;

pub use error::{FormulaError, FormulaErrorKind};
pub use function::Function;
pub use graph::{Expr, Graph};
pub use node::Comparison;
pub use parse::{MAX_BYTES, MAX_DEPTH, MAX_NODES, parse};
pub use scope::{Scope, ScopeValue, is_reserved_name, is_valid_name};
pub use tape::{Tape, TapeError};
