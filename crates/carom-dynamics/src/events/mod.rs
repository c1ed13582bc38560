//! Events of a motion that is smooth in between: contact modes, index sets, location, impacts, the modes after an event.
//!
//! ```text
//! I₀ = all constraints and contacts
//! I₁ = {α ∈ I₀ | g_α ≤ τ₀}                      closed in position
//! I₂ = {α ∈ I₁ | |ġ_α| ≤ τ₁}                    closed in position and velocity
//! I_St = {α ∈ I₂ | ‖u_T‖ ≤ τ_T, no slip begins}  sticking,     I_Sl = I₂ \ I_St   sliding
//! ```
//!
//! Haddouni2015 §2.1.1.1. A [`ContactMode`] says in which of the sets a contact is.

mod corner;
mod edges;
mod mode;
mod params;

pub use corner::{MassMetric, Passage, Turn, pass_corner, turn_velocity};
pub use edges::{EdgeCrossing, EdgeError, EdgeMode, Junction, classify_edge, next_piece};
pub use mode::ContactMode;
pub use params::{Accumulation, EventParams, Location};
