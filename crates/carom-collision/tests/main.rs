//! Integration tests of the detector through its public interface.

mod broad_phase;
mod invariance;
mod parry;
mod planar;
mod polyhedra;
mod robustness;
mod scene;
mod stacks;
