//! Model files in, recorded runs out.

pub mod meshes;
pub mod model_file;
pub mod netlist;
pub mod plot;
pub mod recording;
pub mod urdf;
