//! Placeholder until pieces are there.
