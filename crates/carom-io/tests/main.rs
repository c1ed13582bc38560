//! Model files, recorded runs and plots, through the public interface.

mod fixture;
mod model_file;
mod plot;
mod recording;
mod urdf;
