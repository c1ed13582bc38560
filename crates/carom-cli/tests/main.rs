//! Tests of the `carom` command, as a user runs it.

mod adaptive;
mod bad_input;
mod bench;
mod doubtful_scenes;
mod events;
mod import;
mod plots;
mod runs;
mod scenes;
mod schemes;
mod smooth;
mod solvers;
mod study;
mod support;
