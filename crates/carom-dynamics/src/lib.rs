//! carom

pub mod formula;
