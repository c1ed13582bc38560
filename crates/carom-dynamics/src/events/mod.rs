//! Events of a motion that is smooth in between: contact modes, index sets, location, impacts, the modes after an event.
//!
//! ```text
//! I₀ = all constraints and contacts
//! I₁ = {α ∈ I₀ | g_α ≤ τ₀}                      closed in position
//! I₂ = {α ∈ I₁ | |ġ_α| ≤ τ₁}                    closed in position and velocity
//! I_St = {α ∈ I₂ | ‖u_T‖ ≤ τ_T, no slip begins}  sticking,     I_Sl = I₂ \ I_St   sliding
//! ```
//!
//! Haddouni2015 §2.1.1.1. A [`crate::report::ContactMode`] says in which of the sets a contact is.
//!
//! At an event two problems are solved for a [`ClosedSet`], the constraints and the contacts of I₁ or I₂ at one instant: the impact, v⁻ => v⁺, and the
//! accelerations, which say in which modes the motion goes on.

mod acceleration;
mod accumulation;
mod bracketing;
mod closed_set;
mod constraint_elimination;
mod contacts;
mod corner;
mod course;
mod detected_contact;
mod detected_points;
mod edges;
mod effort_modes;
mod endless_efforts;
mod extrema;
mod force_problem;
mod impact;
mod interpolating;
mod location;
mod mode_equations;
mod mode_search;
mod mode_system;
mod params;
mod switching;

pub use acceleration::{Accelerations, ContactAfter, Verdict};
pub use accumulation::{Accumulating, AccumulationWatch};
pub use closed_set::ClosedSet;
pub use contacts::{Contacts, check_contacts};
pub use corner::{MassMetric, Passage, Turn, pass_corner, turn_velocity};
pub use detected_contact::{DetectedContact, FAR};
pub use detected_points::DetectedPoints;
pub use edges::{EdgeCrossing, EdgeMode, Junction, classify_edge, next_piece};
pub use effort_modes::EffortAfter;
pub use endless_efforts::Jump;
pub use impact::{Impact, ImpactSettings};
pub use location::{Found, Grazing, LocationSettings, Search, Watched, first_event};
pub use params::{Accumulation, EventParams, Location};
pub use switching::SwitchingFunction;
