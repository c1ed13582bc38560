//! Integration tests of carom-solvers.

mod conformance;
mod generate;
mod hand_known;
mod hyperstatic;
mod lcp;
mod lcp_newton;
mod properties;
mod qp;
mod residual;
