//! The steps of the first-order part: discrete equations, jumps, modes between events, energies.
//!
//! | file | what |
//! |---|---|
//! | `linear_step.rs`, `newton_step.rs`, `mixed_step.rs` | one step, where the system is linear, where it is not, and beside mechanics |
//! | `solvability.rs`, `jump.rs` | whether one-step problems have one solution, consistent initial data |
//! | `mode_flow.rs` | the motion while all rows keep their pieces |
//! | `energy.rs` | stored, supplied and dissipated energy |
//! | `memory.rs` | what steps reuse |

mod energy;
mod jump;
mod linear_step;
mod memory;
pub(crate) mod mixed_step;
pub(crate) mod mode_flow;
mod newton_step;
mod solvability;

pub(crate) use energy::{account, account_mixed, account_powers, stored};
pub(crate) use jump::make_consistent;
pub(crate) use linear_step::{Discretisation, check_linear_steps, step_linear};
pub(crate) use memory::FirstOrderMemory;
pub(crate) use newton_step::{NewtonSettings, step_by_newton};
pub(crate) use solvability::require_solvable;
