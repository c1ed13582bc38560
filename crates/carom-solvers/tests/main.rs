//! Integration tests of carom-solvers.

mod admm;
mod conformance;
mod fixed_points;
mod generate;
mod generate_global;
mod global;
mod hand_known;
mod hyperstatic;
mod interior_point;
mod lcp;
mod newton;
mod properties;
mod residual;
