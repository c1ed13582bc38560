//! Integration tests of the crate, one module per subject.

mod allocation;
mod alpha;
mod bricard;
mod energy;
mod explicit_integrators;
mod forms;
mod formula;
mod half_explicit;
mod implicit;
mod integrators;
mod joints;
mod kkt;
mod moreau_jean;
mod n_four_bar;
mod natural;
mod nonholonomic;
mod policies;
mod references;
mod relations;
mod rotations;
mod smooth_strategy;
mod step_control;
mod support;
mod systems;
mod tangents;
mod trees;
