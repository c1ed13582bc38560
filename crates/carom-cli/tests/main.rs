//! Tests of the `carom` command, as a user runs it.

mod bad_input;
mod plots;
mod runs;
mod schemes;
mod smooth;
mod solvers;
mod support;
