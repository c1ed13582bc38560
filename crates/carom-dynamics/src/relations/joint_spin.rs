//! The relative angular velocity of two bodies: what friction in a ball joint acts on.
//!
//! ```text
//! u = ω₂ − ω₁        in the axes of the world, [rad/s]
//! ```
//!
//! It is the rate of no coordinates; a torque −λ on it is that of body 1 on body 2, with its reaction. Bodies may be of any systems.

use super::joint_frames::JointFrames;
use super::joint_source::JointSource;
use super::{Relation, Rows};
use crate::error::{ModelError, NonFinite};
use crate::systems::{Scratch, SystemSet, Wrench};
use nalgebra::Vector3;
use std::sync::Arc;

/// The relative angular velocity of the bodies of a joint in space.
#[derive(Clone)]
pub struct JointSpin {
    frames: JointFrames,
}

impl JointSpin {
    /// Of the bodies of a joint that lies as `source` says at the coordinates `q`. The joint itself need not exist.
    ///
    /// # Errors
    /// [`ModelError::Joint`]: bodies that do not exist; bodies of the plane, whose joints turn about one axis.
    pub fn new(name: &str, source: &JointSource, systems: &Arc<SystemSet>, q: &[f64]) -> Result<Self, ModelError> {
        let (frames, built) = JointFrames::new(name, &source.bodies, &source.placement.points, systems, q)?;
        if built.planar {
            let reason = "bodies in the plane turn about one axis: use a revolute joint".into();
            return Err(ModelError::Joint { joint: name.to_owned(), reason });
        }
        Ok(JointSpin { frames })
    }
}

impl Relation for JointSpin {
    fn n_rows(&self) -> usize {
        3
    }

    fn velocities(&self) -> &[usize] {
        self.frames.velocities()
    }

    fn is_constant(&self) -> bool {
        false
    }

    fn is_holonomic(&self) -> bool {
        false
    }

    fn position(&self, _: f64, _: &[f64], g: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        g.fill(0.0);
        Ok(())
    }

    fn jacobian(&self, _: f64, q: &[f64], rows: Rows<'_>, _: &mut Scratch) -> Result<(), NonFinite> {
        rows.jacobian.fill(0.0);
        rows.bias.fill(0.0);
        let about =
            |sign: f64| [Vector3::x(), Vector3::y(), Vector3::z()].map(|axis| Wrench { force: Vector3::zeros(), moment: axis * sign });
        self.frames.add_rows(q, [&about(-1.0), &about(1.0)], rows.jacobian);
        Ok(())
    }

    fn acceleration_bias(&self, _: f64, q: &[f64], v: &[f64], bias: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        let [first, second] = self.frames.motions(q, v, &self.frames.arrangement(q));
        bias.copy_from_slice((second.angular_acceleration - first.angular_acceleration).as_slice());
        Ok(())
    }
}
