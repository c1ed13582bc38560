//! Integration tests of the detector through its public interface.

mod broad_phase;
mod invariance;
mod moving_obstacles;
mod parry;
mod planar;
mod robustness;
mod scale;
mod scene;
mod stacks;
