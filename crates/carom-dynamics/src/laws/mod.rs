//! Contact laws: what binds the local velocity u and the impulse p of an interaction.
//!
//! The set of laws is closed: a new law is a new variant, and the compiler shows every place that must answer for it.
//! What happens when several contacts close at once is a law of the whole model: [`crate::impacts::ImpactLaw`].

mod bounded;
mod cohesion;
mod contact_law;
mod friction;
mod restitution;

pub use bounded::{BoundedLaw, BoundedRole, JointLoad};
pub use cohesion::Cohesion;
pub use contact_law::ContactLaw;
pub use friction::{DirectionFrame, Friction};
pub use restitution::Restitution;

use serde::{Deserialize, Serialize};

/// The law of an interaction.
///
/// Notation: u = (u_N, u_T) local velocity, normal first, u_N > 0 when separating; p the impulse [N·s];
/// u⁻ before and u⁺ after the step or the impact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Law {
    /// Bilateral constraint: u⁺ = 0, p free.
    Bilateral,
    /// Unilateral contact; with friction where the relation has tangents (one in 2D, two in 3D).
    Contact(ContactLaw),
    /// One row whose force lies between bounds: motors of limited effort, dry friction of known bound, friction in joints.
    Bounded(BoundedLaw),
}

impl Law {
    /// All laws by name with one line on what each is for, as `carom list laws` shows them.
    pub const LIST: &'static [(&'static str, &'static str)] = &[
        ("bilateral", "joint or constraint: u = 0, impulse free"),
        ("bounded", "force or torque between bounds: motors and servos of limited effort, dry friction, Coulomb friction in joints"),
        ("unilateral", "frictionless contact, restitution e"),
        ("coulomb", "contact with Coulomb friction (2D and 3D, exact cone), restitution, normal and tangential"),
        ("friction elliptic", "two coefficients along two tangents, direction of largest dissipation; 3D"),
        ("friction static-kinetic", "one coefficient while the contact sticks, a smaller one while it slides"),
        ("friction stribeck", "coefficient that falls with the sliding speed"),
        ("rolling", "moment about the tangents against rolling, at most ρ p_N; contacts of bodies"),
        ("spinning", "moment about the normal against spinning, at most σ p_N (soft finger); contacts of bodies"),
        ("tangential_restitution", "−(u_T + e_T u_T⁻) opposes the friction impulse: super-balls"),
        ("restitution threshold", "e above a speed of approach, 0 below"),
        ("restitution power-law", "e that falls with a power of the speed of approach: plastic impacts"),
        ("restitution viscoelastic", "1 − a s^(1/5) of the speed s of approach: viscoelastic spheres"),
        ("cohesion constant", "pull of constant force up to a gap: liquid bridges, sticky contacts"),
        ("cohesion zone", "bond with linear softening that breaks for good: cohesive zone, fracture energy"),
        ("compliant", "penalised contact, for comparison: spring, damper and regularised friction as a force"),
    ];

    /// Frictionless contact with a constant coefficient of restitution.
    #[must_use]
    pub fn unilateral(restitution: f64) -> Self {
        Law::Contact(ContactLaw::coulomb(0.0, restitution))
    }

    /// It is a constraint, not a contact.
    #[must_use]
    pub fn is_bilateral(&self) -> bool {
        matches!(self, Law::Bilateral)
    }

    /// It is a contact: neither a constraint nor a force between bounds.
    #[must_use]
    pub fn is_contact(&self) -> bool {
        matches!(self, Law::Contact(_))
    }

    /// The bounds of a motor or of friction of known bound.
    #[must_use]
    pub fn bounded(&self) -> Option<&BoundedLaw> {
        match self {
            Law::Bounded(law) => Some(law),
            _ => None,
        }
    }

    /// The coefficients of a contact.
    #[must_use]
    pub fn contact(&self) -> Option<&ContactLaw> {
        match self {
            Law::Bilateral | Law::Bounded(_) => None,
            Law::Contact(contact) => Some(contact),
        }
    }
}
