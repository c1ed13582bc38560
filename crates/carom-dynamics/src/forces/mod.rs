//! Forces between systems and on bodies: what F holds beside the systems' own forces.
//!
//! Penalised contacts, f = Gᵀ λ(g, u), for comparison with the laws of rigid contact; and force elements on bodies ([`ForceSource`]): loads by formula,
//! springs and dampers, bushings, drag. They belong to F: every strategy and scheme takes them as any other force.
//!
//! **Implicit steps.** Jacobians of elements are exact, but iteration matrices of schemes are block diagonal by bodies. In the θ-steps (`moreau-jean`,
//! `moreau-gap`, `theta-gap`, the projection schemes) springs and bushings that are stiff join the one-step problem as compliant rows, which couples bodies
//! exactly: see `schemes/stiff_elements.rs`. Of other elements, and in other schemes, what is coupled between N blocks is left out and the diagonal blocks are taken max(1, N/2)-fold: for symmetric
//! K, C ≥ 0 the matrix is then more than half of the true one, and the iteration converges for every stiffness, by a factor κ/(1 + κ) per iteration with
//! κ ≈ max(1, N/2) (hθ c + h²θ² k)/m. With 50 iterations and a tolerance of 1e-12 that is k h²/m up to about 5 between two bodies at θ = 1/2.

mod acting;
mod body_force;
mod bushing;
mod compliant;
mod drag;
mod element;
mod elements;
mod load;
mod load_formula;
mod relation_spring;
mod spring;
mod spring_law;

pub use body_force::{ForceElement, ForcePart};
pub use bushing::BushingSource;
pub use compliant::{Attraction, CompliantLaw, Damping};
pub use drag::DragSource;
pub use element::CompliantContact;
pub use elements::{ForceElements, ForceSource};
pub use load::{LoadAxes, LoadKind, LoadSource};
pub use spring::PointSpringSource;
pub use spring_law::{LinearSpring, Sense, SpringSource};
