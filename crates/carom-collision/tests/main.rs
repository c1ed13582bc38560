//! Integration tests of the detector through its public interface.

mod broad_phase;
mod continuous;
mod hand_known;
mod invariance;
mod moving_obstacles;
mod overlaps;
mod parry;
mod planar;
mod planar_chains;
mod planar_shapes;
mod polyhedra;
mod robustness;
mod scale;
mod scene;
mod stacks;
