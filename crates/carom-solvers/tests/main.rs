//! Integration tests of carom-solvers.

mod conformance;
mod generate;
mod hand_known;
mod hyperstatic;
mod lcp;
mod mlcp;
mod properties;
mod residual;
