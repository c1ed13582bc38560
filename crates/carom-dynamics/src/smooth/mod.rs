//! Smooth motion between events: the constrained equations, their forms, and the integration over time.
//!
//! ```text
//! q̇ = T(q) v,     M(t,q) v̇ = F(t,q,v) + Gᵀλ,     g(t,q) = 0     (or A(t,q) q̇ + b = 0 for nonholonomic rows)
//! ```
//!
//! [`Equations`] evaluates them for the bilateral constraints of a model and contacts that are closed between events ([`ClosedContact`]) and efforts between bounds ([`Effort`]); an [`crate::integrators::Integrator`] takes one step;
//! [`crate::integrators::Integration`] controls the step size and counts. All integrators work with displacements w in the chart q = q_n ⊕ w of the
//! current step, so that rotations stay on their group: see [`crate::systems::System::displacement_rate`].

mod closed_contact;
mod complement;
mod consistent_start;
mod contact_forces;
mod drift;
mod efforts;
mod elimination;
mod equations;
mod hermite;
mod iteration_matrix;
mod kkt;
mod known_jacobian;
mod loaded_efforts;
mod motion_point;
mod projection;
mod redundant_rows;
mod row_layout;
mod row_selection;
mod settings;
mod shared_forces;
mod sharing;
mod sliding;
mod statistics;
mod symmetric_factor;

pub use closed_contact::{ClosedContact, InteractionRef, Role};
pub use consistent_start::AssemblyReport;
pub use drift::{DriftMeter, RowDrift, constraint_rows};
pub use efforts::{Effort, EffortRole};
pub use equations::{Equations, StageSystem, TangentFactors};
pub(crate) use hermite::quintic_hermite;
pub use iteration_matrix::IterationMatrix;
pub use kkt::{Kkt, KktError};
pub use motion_point::MotionPoint;
pub use row_layout::{RowItem, RowLayout, Span};
pub use row_selection::RowSelection;
pub use settings::{AccelerationForm, AssemblyMode, AssemblyParams, Baumgarte, Projection};
pub use statistics::Statistics;
