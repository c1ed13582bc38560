//! Energies of a state and their balance.

use serde::Serialize;

/// Energies of a state and what left or entered since the start, all in joules.
///
/// The balance is  kinetic + potential + dissipated = initial + work + error; the error is that of the time discretisation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Energy {
    /// Kinetic energy.
    pub kinetic: f64,
    /// Potential energy.
    pub potential: f64,
    /// Dissipated by the normal impulses so far, −½(u_N⁺ + u_N⁻) p_N summed.
    pub dissipated_impact: f64,
    /// Dissipated by the tangential impulses so far, −½(u_T⁺ + u_T⁻)·p_T summed.
    pub dissipated_friction: f64,
    /// Work of the forces that have no potential, and of moving constraints and obstacles, so far.
    pub work: f64,
}

impl Energy {
    /// Kinetic plus potential energy \[J\].
    #[must_use]
    pub fn mechanical(&self) -> f64 {
        self.kinetic + self.potential
    }
}
