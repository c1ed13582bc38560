//! Where colliders are at a time, one by one: for pictures and exports. The detector moves all of them at once, in its own way.

use crate::collider::Collider;
use crate::planar::PlanarCollider;
use carom_dynamics::error::NonFinite;
use nalgebra::{Isometry3, Quaternion, Rotation2, UnitQuaternion, Vector2, Vector3};

impl Collider {
    /// Position \[m\] and orientation of the shape at time `t`, with seven coordinates per body in `q`; `None` if the body's are missing or no
    /// pose.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula of a prescribed motion.
    pub fn pose(&self, t: f64, q: &[f64]) -> Result<Option<Isometry3<f64>>, NonFinite> {
        if let Some(motion) = &self.motion {
            let state = motion.at(t, &self.translation, &mut Vec::new())?;
            return Ok(Some(Isometry3::from_parts(state.apply(&self.translation).into(), state.rotation * self.rotation)));
        }
        let Some(body) = self.body.map(|body| body as usize) else {
            return Ok(Some(Isometry3::from_parts(self.translation.into(), self.rotation)));
        };
        let Some(q) = q.get(7 * body..7 * body + 7).filter(|q| q.iter().all(|x| x.is_finite())) else { return Ok(None) };
        let turn = UnitQuaternion::try_new(Quaternion::new(q[3], q[4], q[5], q[6]), f64::MIN_POSITIVE);
        let place = |turn| Vector3::new(q[0], q[1], q[2]) + turn * self.translation;
        Ok(turn.map(|turn: UnitQuaternion<f64>| Isometry3::from_parts(place(turn).into(), turn * self.rotation)))
    }
}

impl PlanarCollider {
    /// Position \[m\] and angle \[rad\] of the shape at time `t`, with three coordinates per body in `q`; `None` if the body's are missing or not
    /// finite.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula of a prescribed motion.
    pub fn pose(&self, t: f64, q: &[f64]) -> Result<Option<(Vector2<f64>, f64)>, NonFinite> {
        if let Some(motion) = &self.motion {
            let state = motion.at(t, &mut Vec::new())?;
            let pivot = self.pivot.unwrap_or(self.position);
            let position = pivot + state.displacement + Rotation2::new(state.angle) * (self.position - pivot);
            return Ok(Some((position, self.angle + state.angle)));
        }
        let Some(body) = self.body.map(|body| body as usize) else { return Ok(Some((self.position, self.angle))) };
        let q = q.get(3 * body..3 * body + 3).filter(|q| q.iter().all(|x| x.is_finite()));
        Ok(q.map(|q| (Vector2::new(q[0], q[1]) + Rotation2::new(q[2]) * self.position, q[2] + self.angle)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::{Motion, MotionSource};
    use crate::shapes::Shape;
    use std::f64::consts::FRAC_PI_2;

    #[test]
    fn colliders_follow_their_bodies_and_motions() {
        let mut collider = Collider::new("a", Some(1), Shape::Sphere { radius: 1.0 });
        collider.translation = Vector3::x();
        let half = FRAC_PI_2 / 2.0;
        // a quarter about z at (1, 2, 3): the shape is one to the y side
        let q = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, half.cos(), 0.0, 0.0, half.sin()];
        let pose = collider.pose(0.0, &q).unwrap().unwrap();
        let place = pose.translation.vector;
        assert!((place - Vector3::new(1.0, 3.0, 3.0)).norm() < 1e-15 && (pose.rotation.angle() - FRAC_PI_2).abs() < 1e-15);
        assert!(collider.pose(0.0, &q[..7]).unwrap().is_none());

        collider.body = None;
        assert_eq!(collider.pose(0.0, &q).unwrap().unwrap().translation.vector, Vector3::x());
        let mut source = MotionSource { centre: Some(Vector3::zeros()), ..MotionSource::default() };
        (source.formulas[2], source.formulas[3]) = (Some("2*t".into()), Some("t".into()));
        collider.motion = Some(Box::new(Motion::new("a", source).unwrap()));
        let place = collider.pose(FRAC_PI_2, &[]).unwrap().unwrap().translation.vector;
        assert!((place - Vector3::new(0.0, 1.0, 2.0 * FRAC_PI_2)).norm() < 1e-15);
    }
}
