//! Integration tests of the crate, one module per subject.

mod allocation;
mod energy;
mod formula;
mod integrators;
mod joints;
mod moreau_jean;
mod natural;
mod policies;
mod relations;
mod rotations;
mod support;
mod systems;
mod trees;
