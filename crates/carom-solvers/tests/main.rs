//! Integration tests of carom-solvers.

mod admm;
mod bodies;
mod bounded;
mod conformance;
#[cfg(feature = "fclib")]
mod fclib;
mod fixed_points;
mod general_friction;
mod generate;
mod generate_global;
mod global;
mod hand_known;
mod hyperstatic;
mod interior_point;
mod lcp;
mod lcp_newton;
mod mlcp;
mod newton;
mod nsgs;
mod polyhedral;
mod properties;
mod qp;
mod residual;
mod rolling;
mod support;
mod vi;
