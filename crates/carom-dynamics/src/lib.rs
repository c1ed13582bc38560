//! Nonsmooth multibody dynamics: systems, relations, laws, schemes, strategies.
//!
//! The equations are the measure differential inclusion
//!
//! ```text
//! q̇ = T(q) v,      M(q) dv = F(t,q,v) dt + Gᵀ dp
//! ```
//!
//! with bilateral constraints g_B = 0, unilateral contacts 0 ≤ g_N ⟂ dp_N ≥ 0, Coulomb friction, and an impact law.
//!
//! A run needs: a [`model::Model`] (constant), a [`state::State`], a [`memory::StepMemory`] (what steps reuse), a
//! [`strategies::Strategy`] with its [`schemes::Scheme`], and a [`recording::Recorder`]. See [`problems`] for complete
//! examples with exact solutions.

pub mod active_set;
mod assembly;
pub mod block_diagonal;
pub mod bonds;
pub mod checkpoint;
pub mod circuits;
mod contact_key;
pub mod control;
mod coupled_bounds;
pub mod detection;
pub mod diagnostics;
pub mod error;
pub mod events;
pub mod first_order;
mod first_order_step;
pub mod forces;
pub mod formula;
pub mod impacts;
mod impacts_before_step;
pub mod integrators;
pub mod interactions;
pub mod laws;
mod many_contacts;
pub mod memory;
pub mod model;
mod multiplier_mode;
pub mod nearest;
pub mod overlaps;
mod paradox;
mod planar_contacts;
pub mod problems;
pub mod recording;
pub mod relations;
pub mod report;
pub mod schemes;
pub mod smooth;
pub mod state;
pub mod strategies;
pub mod systems;
pub mod user_events;
mod variable_friction;

pub use error::{ModelError, NonFinite, RunError, StepError};
pub use interactions::Interaction;
pub use laws::{BoundedLaw, BoundedRole, Cohesion, ContactLaw, Friction, JointLoad, Law, Restitution};
pub use memory::StepMemory;
pub use model::Model;
pub use multiplier_mode::MultiplierMode;
pub use state::State;
