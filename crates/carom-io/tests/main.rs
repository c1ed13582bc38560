//! Recorded runs and plots, through the public interface.

mod fixture;
mod plot;
mod recording;
