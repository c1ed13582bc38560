//! Polyhedral cones.
