//! Gears and racks: two coordinates of joints bound to each other.
//!
//! ```text
//! gear     g = θ₁ − i θ₂ − g₀       i the ratio; by teeth z₁, z₂ in mesh i = −z₂/z₁, the teeth of a ring counted negative
//! rack     g = x₂ − r θ₁ − g₀       r the pinion's radius
//! ```
//!
//! g₀ is the value where the coupling is built: the teeth are in mesh there. Angles are known up to a turn only, so g is too: up to 2π/n for
//! a ratio m/n of whole numbers, up to 2πr for a rack. The value nearest to zero is taken, which is right as long as the drift is below half of
//! that. The two joints may share bodies: with both on an arm that turns, the coupling is a planetary gear.
//!
//! Cost: that of two rows of joints. Exact G, (dG/dt) v and curvature, tested by differences.

use super::joint_coordinate::{JointAxis, JointCoordinate};
use super::joint_source::JointSource;
use super::joint_turn::nearest_branch;
use super::{Relation, Rows};
use crate::error::{ModelError, NonFinite};
use crate::systems::{Scratch, SystemSet};
use std::f64::consts::TAU;
use std::sync::Arc;

/// Two coordinates of joints in a fixed ratio.
pub struct JointCoupling {
    /// Each with its factor as sign.
    parts: [JointCoordinate; 2],
    /// Values of g that differ by this are one position of the mechanism.
    period: f64,
    start: f64,
}

/// Largest number of turns after which a pair of gears repeats its position.
const MAX_TURNS: i32 = 1000;

impl JointCoupling {
    /// The turn of the first joint is `ratio` times that of the second.
    ///
    /// # Errors
    /// [`ModelError::Joint`]: joints without an angle, a ratio that is zero or not m/n with n ≤ 1000.
    pub fn gear(name: &str, joints: [&JointSource; 2], ratio: f64, systems: &Arc<SystemSet>, q: &[f64]) -> Result<Self, ModelError> {
        let wrong = |reason: String| Err(ModelError::Joint { joint: name.to_owned(), reason });
        if !(ratio.is_finite() && ratio != 0.0) {
            return wrong(format!("its ratio is {ratio}; a number that is not zero is needed"));
        }
        // round-off of a quotient of whole numbers
        let whole =
            |n: &i32| (ratio * f64::from(*n) - (ratio * f64::from(*n)).round()).abs() <= 4.0 * f64::EPSILON * (ratio * f64::from(*n)).abs();
        let Some(turns) = (1..=MAX_TURNS).find(whole) else {
            return wrong(format!(
                "its ratio {ratio} is not m/n with whole numbers and n ≤ {MAX_TURNS}, so its position after some turns is not defined; give `teeth`"
            ));
        };
        Self::new(name, joints, [JointAxis::Turn; 2], [1.0, -ratio], TAU / f64::from(turns), systems, q)
    }

    /// The displacement of the second joint is `radius` times the turn of the first.
    ///
    /// # Errors
    /// [`ModelError::Joint`]: a first joint without an angle, a second without a displacement, a radius that is zero.
    pub fn rack(name: &str, joints: [&JointSource; 2], radius: f64, systems: &Arc<SystemSet>, q: &[f64]) -> Result<Self, ModelError> {
        if !(radius.is_finite() && radius != 0.0) {
            let reason = format!("its radius is {radius} m; a number that is not zero is needed");
            return Err(ModelError::Joint { joint: name.to_owned(), reason });
        }
        Self::new(name, joints, [JointAxis::Turn, JointAxis::Slide], [-radius, 1.0], TAU * radius.abs(), systems, q)
    }

    fn new(
        name: &str,
        joints: [&JointSource; 2],
        axes: [JointAxis; 2],
        factors: [f64; 2],
        period: f64,
        systems: &Arc<SystemSet>,
        q: &[f64],
    ) -> Result<Self, ModelError> {
        let part = |i: usize| JointCoordinate::new(name, joints[i], axes[i], systems, q).map(|x| x.with_offset(factors[i], 0.0));
        let mut parts = [part(0)?, part(1)?];
        let mut velocities = [parts[0].velocities(), parts[1].velocities()].concat();
        velocities.sort_unstable();
        velocities.dedup();
        parts.iter_mut().for_each(|part| part.set_velocities(velocities.clone()));
        let start = parts.iter().map(|part| part.scaled_value(q)).sum();
        Ok(JointCoupling { parts, period, start })
    }
}

impl Relation for JointCoupling {
    fn n_rows(&self) -> usize {
        1
    }

    fn velocities(&self) -> &[usize] {
        self.parts[0].velocities()
    }

    fn is_constant(&self) -> bool {
        false
    }

    fn position(&self, _: f64, q: &[f64], g: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        g[0] = nearest_branch(self.parts.iter().map(|part| part.scaled_value(q)).sum::<f64>() - self.start, self.period);
        Ok(())
    }

    fn jacobian(&self, _: f64, q: &[f64], rows: Rows<'_>, _: &mut Scratch) -> Result<(), NonFinite> {
        rows.jacobian.fill(0.0);
        rows.bias.fill(0.0);
        self.parts.iter().try_for_each(|part| part.add_row(q, rows.jacobian))
    }

    fn acceleration_bias(&self, t: f64, q: &[f64], v: &[f64], bias: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        let mut sum = 0.0;
        for part in &self.parts {
            part.acceleration_bias(t, q, v, bias, scratch)?;
            sum += bias[0];
        }
        bias[0] = sum;
        Ok(())
    }

    fn add_curvature(
        &self,
        t: f64,
        q: &[f64],
        lambda: &[f64],
        factor: f64,
        matrix: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        self.parts.iter().try_for_each(|part| part.add_curvature(t, q, lambda, factor, matrix, scratch))
    }
}
