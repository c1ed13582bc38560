//! Integration tests of carom-solvers.

mod conformance;
mod fixed_points;
mod general_friction;
mod generate;
mod hand_known;
mod hyperstatic;
mod interior_point;
mod lcp;
mod nsgs;
mod polyhedral;
mod properties;
mod residual;
mod rolling;
mod vi;
