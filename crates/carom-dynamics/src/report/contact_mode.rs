//! What a contact does at an instant.

use serde::{Deserialize, Serialize};

/// The mode of a contact: its place in the index sets I₁ ⊇ I₂ = I_St ∪ I_Sl (Haddouni2015 §2.1.1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContactMode {
    /// Not in I₁.
    #[default]
    Open,
    /// In I₁, not in I₂: it touches and separates, or is about to collide.
    Touching,
    /// In I₂, without friction.
    Closed,
    /// In I_St.
    Sticking,
    /// In I_Sl.
    Sliding,
}

impl ContactMode {
    /// All of them, in the order of their codes.
    pub const ALL: [ContactMode; 5] =
        [ContactMode::Open, ContactMode::Touching, ContactMode::Closed, ContactMode::Sticking, ContactMode::Sliding];

    /// Name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ContactMode::Open => "open",
            ContactMode::Touching => "touching",
            ContactMode::Closed => "closed",
            ContactMode::Sticking => "sticking",
            ContactMode::Sliding => "sliding",
        }
    }

    /// Number in records: its place in [`ContactMode::ALL`].
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// In I₁: g ≤ τ₀.
    #[must_use]
    pub fn touches(self) -> bool {
        self != ContactMode::Open
    }

    /// In I₂: g ≤ τ₀ and |ġ| ≤ τ₁.
    #[must_use]
    pub fn is_closed(self) -> bool {
        self >= ContactMode::Closed
    }
}
