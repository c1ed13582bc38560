//! How far a state is from its constraints and contacts.

/// How far a state is from satisfying its constraints and contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Violations {
    /// Largest penetration of a contact \[m\].
    pub penetration: f64,
    /// Largest |g| of a bilateral constraint (unit of the constraint).
    pub constraint: f64,
    /// Largest |ġ| of a bilateral constraint (unit of the constraint per second).
    pub constraint_velocity: f64,
}
