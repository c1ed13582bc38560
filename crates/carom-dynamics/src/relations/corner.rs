//! What a corner does to a velocity.

use serde::{Deserialize, Serialize};

/// The velocity after a corner: where the Jacobians of two pieces differ, the velocity along the first is not one along the second.
///
/// Time-stepping knows the impact only; it has no instant at which a corner is passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CornerLaw {
    /// The new piece is hit, with the restitution of the contact; a constraint is hit without restitution. A contact from whose new piece the
    /// velocity leads away opens. The default.
    #[default]
    Impact,
    /// The normal turns from the first piece to the second while the velocity follows, without loss of energy
    /// (Haddouni2015 eqs. 4.3–4.7, after Glocker).
    TimeScaling,
    /// The velocity is reflected at the bisector of the normals, without loss of energy (Haddouni2015 eqs. 4.8–4.15, after Glocker).
    Reflection,
}

impl CornerLaw {
    /// All of them by name, with one line on what each does.
    pub const LIST: &'static [(&'static str, &'static str)] = &[
        ("impact", "the new piece is hit, with the restitution of the contact: the default"),
        ("time-scaling", "the velocity turns with the normal, its energy is kept"),
        ("reflection", "the velocity is reflected at the bisector of the normals, its energy is kept"),
    ];

    /// The law of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "impact" => Some(CornerLaw::Impact),
            "time-scaling" => Some(CornerLaw::TimeScaling),
            "reflection" => Some(CornerLaw::Reflection),
            _ => None,
        }
    }
}
