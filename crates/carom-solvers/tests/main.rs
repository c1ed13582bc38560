//! Integration tests of carom-solvers.

mod conformance;
mod general_friction;
mod generate;
mod hand_known;
mod hyperstatic;
mod lcp;
mod properties;
mod residual;
mod vi;
