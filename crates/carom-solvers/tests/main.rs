//! Integration tests of carom-solvers.

mod conformance;
mod generate;
mod hand_known;
mod properties;
mod residual;
