//! Circuits: a list of elements between nodes, written as a first-order complementarity system by modified nodal analysis.
//!
//! ```text
//! C v̇ = i_C,   L i̇ = u_L                          states: voltages of capacitors, currents of coils
//! Σ currents that leave a node = 0                Kirchhoff's current law, node by node
//! e_a − e_b = v                                    elements that give their voltage: capacitors, sources, transformers
//! 0 ≤ i ⟂ −(e_a − e_b) ≥ 0                         ideal diodes; the other laws in `element.rs`
//! ```
//!
//! The unknowns of the network, node voltages e and the currents of elements that give their voltage, are eliminated as far as linear equations determine them. Those that only the
//! diodes and switches determine (the potential of a bridge that floats) stay, as free multipliers of equations. What is left is
//! M ẋ = A x + B λ + a(t), y = C x + D λ + b(t) with M = 1 and one law per element, the form of [Acary2009, §V] and of Siconos' circuits: linear, so that its steps factor
//! once, unless a source is a formula of voltages that is not.
//!
//! | file | what it holds |
//! |---|---|
//! | `element.rs` | the elements and their laws |
//! | `topology.rs` | what no circuit may have: floating nodes, loops of voltage sources, cut sets of current sources |
//! | `form.rs`, `elimination.rs` | linear forms of the unknowns, and their elimination |
//! | `network.rs` | Kirchhoff's laws and the laws of the elements as forms |
//! | `references.rs` | `v(out)` and `i(R1)` in formulas |
//! | `system.rs`, `powers.rs` | the first-order system with its records and its energy account |

pub mod element;
mod elimination;
mod error;
mod form;
mod network;
mod powers;
mod references;
mod system;
mod topology;

pub use element::{Circuit, Element, ElementKind, Polarity};
pub use error::CircuitError;
