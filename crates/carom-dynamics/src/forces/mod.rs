//! Forces between systems that depend on a relation between them: f = Gᵀ λ(g, u).
//!
//! Here are penalised contacts, for comparison with the laws of rigid contact. They belong to F: every strategy and scheme takes them as any
//! other force.

mod compliant;
mod element;

pub use compliant::{Attraction, CompliantLaw, Damping};
pub use element::CompliantContact;
