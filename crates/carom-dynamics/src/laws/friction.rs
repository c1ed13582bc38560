//! Friction coefficients: constant, by direction, by sliding speed.

use super::contact_law::{fraction_of_one, not_negative};
use crate::error::ModelError;
use serde::{Deserialize, Serialize};

/// The friction of a contact. The impulse lies in Coulomb's cone, exactly; μ has no unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Friction {
    /// ‖p_T‖ ≤ μ p_N, and p_T opposes the sliding where it reaches the bound.
    Coulomb {
        /// μ ≥ 0.
        coefficient: f64,
    },
    /// (p₁/μ₁)² + (p₂/μ₂)² ≤ p_N² along the two tangents, with the direction of largest dissipation: sliding at u_T the impulse is
    /// −p_N (μ₁² u₁, μ₂² u₂)/‖(μ₁ u₁, μ₂ u₂)‖. 3D only. The tangents of a contact by formula are those of the formula; those of bodies
    /// follow `direction`.
    Elliptic {
        /// (μ₁, μ₂), both positive.
        coefficients: [f64; 2],
        /// Direction of μ₁ for contacts of bodies, in `frame`: its projection on the contact plane is the first tangent. Zero, or along the
        /// normal: a tangent chosen from the normal alone.
        #[serde(default)]
        direction: [f64; 3],
        /// What `direction` turns with.
        #[serde(default)]
        frame: DirectionFrame,
    },
    /// μ_s while the contact sticks, μ_k ≤ μ_s once it slides. A contact that sticks at the start of a step has μ_s; where it then slides
    /// the step is solved again with μ_k. One that slides has μ_k until it sticks.
    StaticKinetic {
        /// μ_s.
        at_rest: f64,
        /// μ_k.
        sliding: f64,
    },
    /// μ(s) = μ_k + (μ_s − μ_k) exp(−(s/v_S)^δ) of the sliding speed s = ‖u_T‖ at the end of the step.
    Stribeck {
        /// μ_s.
        at_rest: f64,
        /// μ_k.
        sliding: f64,
        /// v_S [m/s], positive.
        velocity: f64,
        /// δ, positive; 1 and 2 are usual. Default 2.
        #[serde(default = "two")]
        exponent: f64,
    },
}

/// What the principal direction of elliptic friction between two bodies is fixed to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DirectionFrame {
    /// The world.
    #[default]
    World,
    /// The body of the pair's first material.
    First,
    /// The body of the pair's second material.
    Second,
}

impl DirectionFrame {
    /// The same when the pair is named in the other order.
    #[must_use]
    pub fn exchanged(self) -> Self {
        match self {
            DirectionFrame::World => DirectionFrame::World,
            DirectionFrame::First => DirectionFrame::Second,
            DirectionFrame::Second => DirectionFrame::First,
        }
    }
}

impl Default for Friction {
    fn default() -> Self {
        Friction::Coulomb { coefficient: 0.0 }
    }
}

fn two() -> f64 {
    2.0
}

impl Friction {
    /// Elliptic friction with the tangents of the formula, or any of them.
    #[must_use]
    pub fn elliptic(first: f64, second: f64) -> Self {
        Friction::Elliptic { coefficients: [first, second], direction: [0.0; 3], frame: DirectionFrame::World }
    }

    /// No friction at all.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.at(0.0) == 0.0
    }

    /// μ at the sliding speed `slip` [m/s]: the first coefficient of an ellipse, μ_s only at zero speed of a static–kinetic law.
    #[must_use]
    pub fn at(&self, slip: f64) -> f64 {
        match *self {
            Friction::Coulomb { coefficient } => coefficient,
            Friction::Elliptic { coefficients, .. } => coefficients[0],
            Friction::StaticKinetic { at_rest, sliding } => {
                if slip == 0.0 {
                    at_rest
                } else {
                    sliding
                }
            }
            Friction::Stribeck { at_rest, sliding, velocity, exponent } => {
                sliding + (at_rest - sliding) * (-(slip / velocity).powf(exponent)).exp()
            }
        }
    }

    /// Friction force per normal force while the contact slides at the speed `slip` \[m/s\] along the unit vector `direction`, opposed to the slip:
    /// μ d with the kinetic coefficient at any speed, (μ₁² d₁, μ₂² d₂)/‖(μ₁ d₁, μ₂ d₂)‖ of an ellipse.
    #[must_use]
    pub(crate) fn sliding_resistance(&self, slip: f64, direction: [f64; 2]) -> [f64; 2] {
        let [d1, d2] = direction;
        match *self {
            Friction::Elliptic { coefficients: [first, second], .. } => {
                let length = (first * d1).hypot(second * d2);
                [first * first * d1 / length, second * second * d2 / length]
            }
            Friction::StaticKinetic { sliding, .. } => [sliding * d1, sliding * d2],
            _ => {
                let mu = self.at(slip);
                [mu * d1, mu * d2]
            }
        }
    }

    /// μ depends on the sliding speed.
    #[must_use]
    pub fn varies(&self) -> bool {
        matches!(self, Friction::StaticKinetic { .. } | Friction::Stribeck { .. })
    }

    /// Factor by which the second tangent is stretched so that an ellipse becomes a disk, μ₂/μ₁; 1 for all other laws.
    ///
    /// With u₂' = (μ₂/μ₁) u₂ and p₂' = (μ₁/μ₂) p₂ the ellipse is the disk ‖p_T'‖ ≤ μ₁ p_N, the power p·u is the same, and the impulse of
    /// largest dissipation opposes u_T'.
    #[must_use]
    pub fn stretch(&self) -> f64 {
        match *self {
            Friction::Elliptic { coefficients, .. } => coefficients[1] / coefficients[0],
            _ => 1.0,
        }
    }

    /// Checks the coefficients; `name` is that of the contact.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`].
    pub fn validate(&self, name: &str) -> Result<(), ModelError> {
        let friction = |value| not_negative("friction", name, value);
        let positive = |what: &str, value: f64| {
            if value > 0.0 && value.is_finite() {
                return Ok(());
            }
            Err(ModelError::OutOfRange { what: format!("{what} of \"{name}\""), value, expected: "a positive number is needed" })
        };
        match *self {
            Friction::Coulomb { coefficient } => friction(coefficient),
            Friction::Elliptic { coefficients, direction, .. } => {
                coefficients.into_iter().try_for_each(|c| positive("elliptic friction", c))?;
                match direction.into_iter().find(|x| !x.is_finite()) {
                    None => Ok(()),
                    Some(value) => Err(ModelError::OutOfRange {
                        what: format!("direction of elliptic friction of \"{name}\""),
                        value,
                        expected: "three finite numbers are needed",
                    }),
                }
            }
            Friction::StaticKinetic { at_rest, sliding } => [at_rest, sliding].into_iter().try_for_each(friction),
            Friction::Stribeck { at_rest, sliding, velocity, exponent } => {
                [at_rest, sliding].into_iter().try_for_each(friction)?;
                positive("Stribeck velocity", velocity)?;
                positive("Stribeck exponent", exponent)
            }
        }?;
        if let Friction::StaticKinetic { at_rest, sliding } | Friction::Stribeck { at_rest, sliding, .. } = *self
            && at_rest > 0.0
        {
            fraction_of_one("ratio of sliding to static friction", name, sliding / at_rest)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opposed to the slip with the kinetic coefficient at any speed; of an ellipse the point of largest dissipation, among many.
    #[test]
    fn resistance_while_sliding() {
        let kinetic = Friction::StaticKinetic { at_rest: 0.5, sliding: 0.3 };
        assert_eq!(kinetic.sliding_resistance(0.0, [0.6, -0.8]), [0.3 * 0.6, -0.3 * 0.8]);
        let d = [0.6, 0.8];
        let [first, second] = Friction::elliptic(0.4, 0.1).sliding_resistance(1.0, d);
        assert!(((first / 0.4).powi(2) + (second / 0.1).powi(2) - 1.0).abs() < 1e-15);
        let power = |x: f64, y: f64| x * d[0] + y * d[1];
        let best = (0..1000).map(|k| f64::from(k) * 6.28e-3).fold(0.0_f64, |m, a| m.max(power(0.4 * a.cos(), 0.1 * a.sin())));
        assert!(power(first, second) >= best && power(first, second) < best + 1e-5, "{best}");
    }
}
