//! Integration tests of the crate, one module per subject.

mod allocation;
mod energy;
mod forms;
mod formula;
mod integrators;
mod moreau_jean;
mod nonholonomic;
mod policies;
mod relations;
mod support;
mod systems;
