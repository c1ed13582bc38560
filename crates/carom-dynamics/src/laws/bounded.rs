//! Efforts between bounds: motors and dry friction whose bound does not follow a normal impulse of its own.

use crate::error::ModelError;
use carom_solvers::Block;
use serde::{Deserialize, Serialize};

/// The law of one row whose force or torque lies between bounds,
///
/// ```text
/// −(u + k g) ∈ N_[lower, upper](λ):      u + k g = 0 while lower < λ < upper,  ≥ 0 at the lower bound,  ≤ 0 at the upper one
/// ```
///
/// with the local velocity u = G v + b. The target is part of the relation: −b is the speed that a motor holds, and g, where the gain k is not
/// zero, the position error of a servo (see [`crate::relations::Driven`]). Over a step of size h the impulse lies in \[h lower, h upper\]; the
/// servo's term is taken at the end of the step, u⁺ + k (g_k + h u⁺) = 0, that is
///
/// ```text
/// u⁺ = −k g_k/(1 + h k),
/// ```
///
/// stable for any gain. Of two or three rows the effort is friction that lies in a ball, |λ| ≤ upper, against the direction of u: that of a ball
/// joint. Within an instant (an impact) bounded forces do nothing: there the bounds are zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundedLaw {
    /// Least force \[N\] or torque \[N m\], or −∞.
    pub lower: f64,
    /// Largest force \[N\] or torque \[N m\], or ∞; not below `lower`.
    pub upper: f64,
    /// Rate k at which a servo takes back its position error \[1/s\], ≥ 0, default 0: a velocity motor, or friction.
    #[serde(default)]
    pub gain: f64,
    /// Whose effort it is: decides where its energy is booked.
    pub role: BoundedRole,
    /// What the bounds gain with the load of a joint: Coulomb friction in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<JointLoad>,
}

/// Whose effort a bounded row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoundedRole {
    /// A motor: all of its power is work.
    Motor,
    /// Friction: −u·p is dissipated, −b·p is the work of what moves the surface.
    Friction,
}

/// Bounds that follow the reaction R of a joint: factor · |R| is added to the upper and taken from the lower bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointLoad {
    /// Number of the interaction that is the joint, which comes before the friction in the model.
    pub joint: usize,
    /// Its first rows, whose multipliers are the components of R: 3 of a revolute or spherical joint (2 in the plane), 2 of a prismatic or
    /// cylindrical one (1 in the plane).
    pub rows: usize,
    /// Friction coefficient μ for a force along the joint; μ times the radius of the journal \[m\] for a torque about it. ≥ 0.
    pub factor: f64,
}

impl BoundedLaw {
    /// A motor with an effort up to `most` \[N or N m\] either way.
    #[must_use]
    pub fn motor(most: f64) -> Self {
        BoundedLaw { lower: -most, upper: most, gain: 0.0, role: BoundedRole::Motor, load: None }
    }

    /// Dry friction up to `most` \[N or N m\] either way.
    #[must_use]
    pub fn friction(most: f64) -> Self {
        BoundedLaw { role: BoundedRole::Friction, ..BoundedLaw::motor(most) }
    }

    /// The same as a servo with this gain \[1/s\].
    #[must_use]
    pub fn with_gain(self, gain: f64) -> Self {
        BoundedLaw { gain, ..self }
    }

    /// The same with bounds that follow the load of a joint.
    #[must_use]
    pub fn with_load(self, load: JointLoad) -> Self {
        BoundedLaw { load: Some(load), ..self }
    }

    /// It gives whatever its target asks for, in both directions: nothing moves its rows, not even an impact. One of several rows is as strong all around.
    #[must_use]
    pub(crate) fn is_rigid(&self, rows: usize) -> bool {
        self.upper == f64::INFINITY && (rows > 1 || self.lower == f64::NEG_INFINITY)
    }

    /// The rows of a one-step problem over `step` seconds while the joint it may depend on bears the impulse `load` \[N·s\].
    #[must_use]
    pub fn block(&self, rows: usize, step: f64, load: f64) -> Block {
        let more = if step == 0.0 { 0.0 } else { self.load.map_or(0.0, |of| of.factor * load) };
        // in an instant bounds give nothing; see `is_rigid`
        let [lower, upper] = [self.lower, self.upper].map(|x| if step == 0.0 { 0.0 } else { step * x });
        match rows {
            1 => Block::Bounded { lower: lower - more, upper: upper + more },
            dim => Block::Ball { dim, radius: upper + more },
        }
    }

    /// What is added to u for the servo's position error `g` at the start of a step.
    #[must_use]
    pub fn shift(&self, step: f64, g: f64) -> f64 {
        if self.gain == 0.0 { 0.0 } else { self.gain * g / (1.0 + step * self.gain) }
    }

    /// An impulse is at a bound of its rows, not between them.
    #[must_use]
    pub(crate) fn is_at_bound(block: Block, impulse: &[f64]) -> bool {
        let (lower, upper, impulse) = match (block.bounds(), block.radius()) {
            (Some((lower, upper)), _) => (lower, upper, impulse[0]),
            (_, Some(radius)) => (-radius, radius, impulse.iter().map(|p| p * p).sum::<f64>().sqrt()),
            _ => return false,
        };
        // what a solver leaves open
        let slack = NEAR * if upper.is_finite() && lower.is_finite() { upper - lower } else { lower.abs().min(upper.abs()) };
        impulse <= lower + slack || impulse >= upper - slack
    }

    /// Checks the values; `name` is that of the interaction, `rows` the number of rows of its relation.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the value; [`ModelError::LawNeedsRows`] for more than one row.
    pub fn validate(&self, name: &str, rows: usize) -> Result<(), ModelError> {
        let wrong = |what: &str, value, expected| Err(ModelError::OutOfRange { what: format!("{what} of \"{name}\""), value, expected });
        let is_ball = self.role == BoundedRole::Friction && self.gain == 0.0 && self.lower == -self.upper;
        if !(rows == 1 || is_ball && (2..=3).contains(&rows)) {
            let needed = "one row, or up to three for friction that is the same in all directions";
            return Err(ModelError::LawNeedsRows { name: name.to_owned(), law: "bounded", rows, needed });
        }
        if self.lower.is_nan() || self.lower == f64::INFINITY {
            return wrong("lower bound", self.lower, "a number or −inf is needed");
        }
        if !(self.upper >= self.lower && self.upper > f64::NEG_INFINITY) {
            return wrong("upper bound", self.upper, "a number not below the lower bound, or inf, is needed");
        }
        if !(self.gain >= 0.0 && self.gain.is_finite()) {
            return wrong("gain", self.gain, "a number ≥ 0 [1/s] is needed");
        }
        match self.load {
            Some(load) if !(load.factor >= 0.0 && load.factor.is_finite()) => {
                wrong("friction in the joint", load.factor, "a coefficient ≥ 0, times a radius ≥ 0 [m] for torques, is needed")
            }
            Some(load) if !(1..=6).contains(&load.rows) => {
                wrong("rows of the load", load.rows as f64, "1 to 6 rows of the joint are needed")
            }
            _ => Ok(()),
        }
    }
}

/// An impulse counts as at its bound within this part of the room between the bounds.
const NEAR: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_grow_with_the_step_and_the_load_and_vanish_in_an_instant() {
        let law = BoundedLaw::friction(2.0).with_load(JointLoad { joint: 0, rows: 3, factor: 0.5 });
        assert_eq!(law.block(1, 0.1, 3.0), Block::Bounded { lower: -1.7, upper: 1.7 });
        assert_eq!(law.block(3, 0.1, 3.0), Block::Ball { dim: 3, radius: 1.7 });
        assert_eq!(law.block(1, 0.0, 3.0), Block::Bounded { lower: 0.0, upper: 0.0 });
        assert_eq!(BoundedLaw::motor(f64::INFINITY).block(1, 0.0, 0.0), Block::Bounded { lower: 0.0, upper: 0.0 });
        // u⁺ + k (g + h u⁺) = 0
        let servo = BoundedLaw::motor(1.0).with_gain(30.0);
        let (h, g) = (0.1, 0.2);
        let u = -servo.shift(h, g);
        assert!((u + 30.0 * (g + h * u)).abs() < 1e-15); // roundings
    }

    #[test]
    fn the_mode_is_that_of_the_impulse() {
        let block = Block::Bounded { lower: -1.0, upper: 2.0 };
        assert!(
            BoundedLaw::is_at_bound(block, &[-1.0]) && BoundedLaw::is_at_bound(block, &[2.0]) && !BoundedLaw::is_at_bound(block, &[0.0])
        );
        let free = Block::Bounded { lower: f64::NEG_INFINITY, upper: f64::INFINITY };
        assert!(!BoundedLaw::is_at_bound(free, &[1e9]));
        assert!(BoundedLaw::is_at_bound(Block::Bounded { lower: 0.0, upper: 0.0 }, &[0.0]));
    }

    #[test]
    fn mistakes_are_named() {
        let cases = [
            (BoundedLaw { lower: 2.0, ..BoundedLaw::motor(1.0) }, "upper bound"),
            (BoundedLaw::motor(f64::NAN), "lower bound"),
            (BoundedLaw::motor(1.0).with_gain(-1.0), "gain"),
            (BoundedLaw::friction(0.0).with_load(JointLoad { joint: 0, rows: 3, factor: -0.1 }), "friction in the joint"),
        ];
        for (law, what) in cases {
            let error = law.validate("hinge", 1).unwrap_err().to_string();
            assert!(error.contains(what) && error.contains("hinge"), "{error}");
        }
        assert!(BoundedLaw::motor(1.0).validate("hinge", 2).unwrap_err().to_string().contains("one row"));
    }
}
