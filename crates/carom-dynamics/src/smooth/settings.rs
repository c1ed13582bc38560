//! Settings of the equations of smooth motion and of what is projected.

use serde::{Deserialize, Serialize};

/// How accelerations are found under constraints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccelerationForm {
    /// Multipliers from the KKT system.
    #[default]
    Multipliers,
    /// Udwadia and Kalaba: v̇ = v̇_free + M^{-1/2}(G M^{-1/2})⁺(r − G v̇_free).
    UdwadiaKalaba,
    /// Maggi and Kane: independent velocities, v = S u + …, by elimination with pivoting.
    MaggiKane,
    /// A basis of the null space of G by QR.
    NullSpaceQr,
    /// A basis of the null space of G by SVD.
    NullSpaceSvd,
    /// Independent coordinates; the dependent ones from the constraints, chosen anew when needed.
    CoordinatePartitioning,
}

/// Baumgarte's stabilisation g̈ + 2α ġ + β² g = 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baumgarte {
    /// α \[1/s\], ≥ 0.
    pub alpha: f64,
    /// β \[1/s\], ≥ 0; β = α damps critically.
    pub beta: f64,
}

/// Which constraint manifolds a state is projected on after each step, in the mass metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Projection {
    /// None.
    #[default]
    None,
    /// On g = 0.
    Position,
    /// On G v + b = 0.
    Velocity,
    /// On both.
    Both,
}

/// What is done about initial conditions that violate the constraints by more than 1e-10.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AssemblyParams {
    /// Default `project`.
    pub mode: AssemblyMode,
    /// Largest |g| that is projected (unit of the constraint, m or rad). Default 1e-3; ≥ 0. A mechanism further apart than this was
    /// probably meant otherwise.
    pub bound: f64,
    /// Largest |G v + b| that is projected (m/s or rad/s). Default 1e-3; ≥ 0.
    pub velocity_bound: f64,
}

impl Default for AssemblyParams {
    fn default() -> Self {
        AssemblyParams { mode: AssemblyMode::default(), bound: 1e-3, velocity_bound: 1e-3 }
    }
}

/// Whether inconsistent initial conditions are mended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AssemblyMode {
    /// Projected in the mass metric when within the bounds, else refused.
    #[default]
    Project,
    /// Refused.
    Refuse,
}
