//! First-order nonsmooth systems: circuits, relays, complementarity systems, sweeping processes.
//!
//! ```text
//! M(t,x) ẋ = f(t,x) + r,     r = g(t,x,λ),     y = h(t,x,λ),     −y ∈ N_K(λ)
//! ```
//!
//! K is a product of simple convex sets, one per relation ([`MultiplierLaw`]): ℝ (an equation), ℝ₊ (0 ≤ y ⟂ λ ≥ 0), an interval (a relay), a polytope, a
//! ball, a second-order cone. M may be singular where the pencil s M − ∂f/∂x is regular: circuits have algebraic unknowns. f, g, h are formulas of t, the states,
//! the multipliers, held inputs and, in mixed models, coordinates and rates of the mechanical part; Jacobians are derived.
//! Where all Jacobians are constant the system is *linear*, M ẋ = A x + B λ + a(t), y = C x + D λ + b(t), and steps of constant size factor their matrices once.
//!
//! | file | what it holds |
//! |---|---|
//! | `source.rs`, `law.rs` | what a user gives: texts, matrices as texts, laws |
//! | `sweeping.rs`, `switched.rs` | sweeping processes and Filippov systems, written as first-order systems |
//! | `set.rs`, `compile.rs` | the compiled system |
//! | `relative_degree.rs` | what is asked of a system before it starts: a relative degree that the scheme can follow |
//! | `passivity/` | storage functions |
//!
//! Steps, jumps and energies are in `first_order_step/`.

mod compile;
pub mod law;
pub mod passivity;
pub(crate) mod relative_degree;
pub(crate) mod set;
pub mod source;
pub mod sweeping;
pub mod switched;

pub use law::MultiplierLaw;
pub use passivity::{NotPassive, Passivity};
pub(crate) use relative_degree::require_degrees;
pub(crate) use set::Point;
pub use set::{FirstOrderSet, LinearParts, RelationRows};
pub use source::{FirstOrderSource, HeldInput, PowerSource, RelationSource};
pub use sweeping::{MovingSet, NamedSet, SweepingSource};
pub use switched::SwitchSource;
