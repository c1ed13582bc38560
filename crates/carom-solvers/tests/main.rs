//! Integration tests of carom-solvers.

mod conformance;
#[cfg(feature = "fclib")]
mod fclib;
mod generate;
mod hand_known;
mod hyperstatic;
mod lcp;
mod properties;
mod residual;
