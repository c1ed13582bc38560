//! One coordinate of a joint: the angle about its axis, the displacement along it, or the distance of its points.
//!
//! ```text
//! g = k (x − x₀)        x the coordinate, k and x₀ chosen
//! lower limit           k = 1,  x₀ = lower          g ≥ 0
//! upper limit           k = −1, x₀ = upper          g ≥ 0
//! servo, spring         k = 1,  x₀ = 0              g = x
//! ```
//!
//! The angle is that of the second body relative to the first about the joint's axis (z in the plane), the displacement that of the point of
//! the second body along the axis of the first. Both are zero where the joint is built unless its placement says otherwise. The angle is
//! a function of the coordinates, so it cannot count turns: it lies within π of a centre (zero unless set), and jumps opposite to it.
//!
//! When to use: limits, motors, springs and friction of joints; torsion springs between bodies without a joint. Cost: about that of one row of
//! a joint. Bodies may be of any systems. Exact G, (dG/dt) v and curvature, tested by differences.

use super::joint_frames::{Built, JointFrames};
use super::joint_row::{Curvature, JointRow};
use super::joint_rows::{turn, unit_axis, universal_turns};
use super::joint_source::{JointKind, JointSource};
use super::joint_turn::nearest_branch;
use super::{Relation, Rows};
use crate::error::{ModelError, NonFinite};
use crate::systems::{Scratch, SystemSet, Wrench};
use nalgebra::Matrix3;
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

/// Which coordinate of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointAxis {
    /// Angle about the joint's axis \[rad\]; of a universal joint that about the axis of the first body.
    Turn,
    /// Angle of a universal joint about the axis of the second body \[rad\].
    SecondTurn,
    /// Displacement along the joint's axis \[m\].
    Slide,
    /// Distance of the joint's two points \[m\].
    Distance,
}

/// A coordinate of a joint as a relation of one row.
#[derive(Clone)]
pub struct JointCoordinate {
    frames: JointFrames,
    row: JointRow,
    /// Value of the coordinate where its row is zero \[rad or m\].
    start: f64,
    /// Centre of the turn in which an angle is given.
    centre: Option<f64>,
    sign: f64,
    offset: f64,
}

impl JointCoordinate {
    /// The coordinate of a joint that lies as `source` says at the coordinates `q`. The joint itself need not exist.
    ///
    /// # Errors
    /// [`ModelError::Joint`]: as [`super::Joint::new`]; a kind of joint that has no such coordinate.
    pub fn new(name: &str, source: &JointSource, axis: JointAxis, systems: &Arc<SystemSet>, q: &[f64]) -> Result<Self, ModelError> {
        let (frames, built) = JointFrames::new(name, &source.bodies, &source.placement.points, systems, q)?;
        let wrong = |reason: String| ModelError::Joint { joint: name.to_owned(), reason };
        let row = coordinate_row(source, axis, &built).map_err(wrong)?;
        let (start, centre) = match axis {
            JointAxis::Turn => (source.placement.turn, Some(0.0)),
            JointAxis::SecondTurn => (0.0, Some(0.0)),
            JointAxis::Slide => (source.placement.slide, None),
            JointAxis::Distance => (0.0, None),
        };
        Ok(JointCoordinate { frames, row, start, centre, sign: 1.0, offset: 0.0 })
    }

    /// g = sign (x − offset) instead of x; `sign` may be any factor.
    #[must_use]
    pub fn with_offset(self, sign: f64, offset: f64) -> Self {
        JointCoordinate { sign, offset, ..self }
    }

    /// Gives an angle within π of this one, so that limits up to a turn apart are no further from each other than from the jump.
    #[must_use]
    pub fn with_centre(self, centre: f64) -> Self {
        JointCoordinate { centre: self.centre.map(|_| centre), ..self }
    }

    /// Value of the coordinate at `q` \[rad or m\].
    #[must_use]
    pub fn value(&self, q: &[f64]) -> f64 {
        let x = self.row.value(&self.frames.arrangement(q)) + self.start;
        match self.centre {
            Some(centre) => centre + nearest_branch(x - centre, TAU),
            None => x,
        }
    }

    /// The cosine of the swing of a ball joint: the angle between an axis of either body, equal where it is built. With a cone of the half
    /// angle α the row is (cos swing − cos α)/sin α ≥ 0, near its limit the angle that is left \[rad\], and smooth everywhere.
    ///
    /// # Errors
    /// [`ModelError::Joint`]: as [`super::Joint::new`]; an angle outside (0, π).
    pub fn cone(name: &str, source: &JointSource, angle: f64, systems: &Arc<SystemSet>, q: &[f64]) -> Result<Self, ModelError> {
        let (frames, built) = JointFrames::new(name, &source.bodies, &source.placement.points, systems, q)?;
        let wrong = |reason: String| ModelError::Joint { joint: name.to_owned(), reason };
        if !(angle > 0.0 && angle < PI) {
            return Err(wrong(format!("its cone has the half angle {angle} rad; it must lie between 0 and pi")));
        }
        let [first, second] = [unit_axis(&source.placement.axes[0]).map_err(wrong)?, unit_axis(&source.placement.axes[1]).map_err(wrong)?];
        let row = JointRow::Perpendicular(built.local(0, &first), built.local(1, &second));
        Ok(JointCoordinate { frames, row, start: 0.0, centre: None, sign: 1.0 / angle.sin(), offset: angle.cos() })
    }

    /// Columns of the row from now on: ascending, and more than before.
    pub(super) fn set_velocities(&mut self, velocities: Vec<usize>) {
        self.frames.set_velocities(velocities);
    }

    /// Sign times the coordinate.
    pub(super) fn scaled_value(&self, q: &[f64]) -> f64 {
        self.sign * self.value(q)
    }

    /// Adds the row of G.
    pub(super) fn add_row(&self, q: &[f64], jacobian: &mut [f64]) -> Result<(), NonFinite> {
        let at = self.frames.arrangement(q);
        self.row.check(&at)?;
        let [first, second] = self.row.wrenches(&at).map(|w| w.scaled(self.sign));
        self.frames.add_rows(q, [&[first], &[second]], jacobian);
        Ok(())
    }
}

/// The row whose value is the coordinate.
fn coordinate_row(source: &JointSource, axis: JointAxis, built: &Built) -> Result<JointRow, String> {
    let (kind, placement) = (source.kind, &source.placement);
    let name = JointKind::NAMES.iter().find(|(_, other)| *other == kind).map_or("", |(name, _)| name);
    if placement.points.iter().chain(&placement.axes).any(|x| !x.iter().all(|x| x.is_finite())) {
        return Err("a point or an axis is not finite".into());
    }
    match axis {
        JointAxis::Turn | JointAxis::SecondTurn if kind == JointKind::Universal => {
            let [first, second] = universal_turns(placement, built)?;
            Ok(JointRow::Turn(Box::new(if axis == JointAxis::Turn { first } else { second })))
        }
        JointAxis::Turn if kind.turns() => Ok(JointRow::Turn(Box::new(turn(placement, built)?))),
        JointAxis::Slide if kind.slides() => Ok(JointRow::Normal(built.local(0, &unit_axis(&placement.axes[0])?))),
        JointAxis::Distance if kind == JointKind::Distance => Ok(JointRow::Distance(0.0)),
        JointAxis::Turn => Err(format!("a {name} joint has no angle; revolute, universal, cylindrical, planar and screw joints have one")),
        JointAxis::SecondTurn => Err(format!("a {name} joint has no second angle; universal joints have one")),
        JointAxis::Slide => {
            Err(format!("a {name} joint has no displacement; prismatic, cylindrical, point-on-line and screw joints have one"))
        }
        JointAxis::Distance => Err(format!("a {name} joint has no distance; use the kind \"distance\" with two points")),
    }
}

impl Relation for JointCoordinate {
    fn n_rows(&self) -> usize {
        1
    }

    fn velocities(&self) -> &[usize] {
        self.frames.velocities()
    }

    fn is_constant(&self) -> bool {
        false
    }

    fn position(&self, _: f64, q: &[f64], g: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        g[0] = self.sign * (self.value(q) - self.offset);
        Ok(())
    }

    fn jacobian(&self, _: f64, q: &[f64], rows: Rows<'_>, _: &mut Scratch) -> Result<(), NonFinite> {
        rows.jacobian.fill(0.0);
        rows.bias.fill(0.0);
        self.add_row(q, rows.jacobian)
    }

    fn acceleration_bias(&self, _: f64, q: &[f64], v: &[f64], bias: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        let at = self.frames.arrangement(q);
        self.row.check(&at)?;
        bias[0] = self.sign * self.row.acceleration(&at, &self.frames.motions(q, v, &at));
        Ok(())
    }

    fn add_curvature(
        &self,
        _: f64,
        q: &[f64],
        lambda: &[f64],
        factor: f64,
        matrix: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        let at = self.frames.arrangement(q);
        self.row.check(&at)?;
        let mut blocks: Curvature = [[Matrix3::zeros(); 4]; 4];
        let lambda = lambda[0] * self.sign;
        self.row.add_curvature(&at, lambda, &mut blocks);
        let total: [Wrench; 2] = self.row.wrenches(&at).map(|w| w.scaled(lambda));
        self.frames.add_curvature(q, (&blocks, &total), factor, matrix, scratch);
        Ok(())
    }
}
