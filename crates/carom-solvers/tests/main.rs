//! Integration tests of carom-solvers.

mod conformance;
mod generate;
mod generate_global;
mod global;
mod hand_known;
mod hyperstatic;
mod lcp;
mod properties;
mod residual;
