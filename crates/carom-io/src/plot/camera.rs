//! From where bodies are looked at: parallel projections.

use nalgebra::{Vector2, Vector3};
use std::f64::consts::PI;
use std::str::FromStr;

/// A direction to look from.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum View {
    /// x to the right, z up.
    Front,
    /// y to the right, z up.
    Side,
    /// x to the right, y up.
    Top,
    /// From the front, to the right and above: 30° and 20°.
    #[default]
    Oblique,
    /// From an azimuth (0 is the front, growing to the right) and an elevation \[rad\].
    From {
        /// Azimuth.
        azimuth: f64,
        /// Elevation, −π/2 to π/2.
        elevation: f64,
    },
}

/// A view that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{text}\" is no view; choose front, side, top, oblique, or two angles in degrees such as 30,20: azimuth from the front and elevation"
)]
pub struct ViewError {
    text: String,
}

impl FromStr for View {
    type Err = ViewError;

    fn from_str(text: &str) -> Result<Self, ViewError> {
        let wrong = || ViewError { text: text.to_owned() };
        match text {
            "front" => Ok(View::Front),
            "side" => Ok(View::Side),
            "top" => Ok(View::Top),
            "oblique" => Ok(View::Oblique),
            _ => {
                let (azimuth, elevation) = text.split_once(',').ok_or_else(wrong)?;
                let degrees = |text: &str| text.trim().parse().ok().filter(|x: &f64| x.abs() <= 360.0).ok_or_else(wrong);
                let (azimuth, elevation) = (degrees(azimuth)?, degrees(elevation)?);
                if elevation.abs() > 90.0 {
                    return Err(wrong());
                }
                Ok(View::From { azimuth: azimuth * PI / 180.0, elevation: elevation * PI / 180.0 })
            }
        }
    }
}

/// Axes of a picture in the world, right-handed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Camera {
    right: Vector3<f64>,
    up: Vector3<f64>,
    /// To the one who looks.
    pub(super) towards: Vector3<f64>,
}

impl Camera {
    pub(super) fn new(view: View) -> Self {
        let (azimuth, elevation): (f64, f64) = match view {
            View::Front => (0.0, 0.0),
            View::Side => (PI / 2.0, 0.0),
            View::Top => (0.0, PI / 2.0),
            View::Oblique => (PI / 6.0, PI / 9.0),
            View::From { azimuth, elevation } => (azimuth, elevation),
        };
        let ((s, c), (se, ce)) = (azimuth.sin_cos(), elevation.sin_cos());
        Camera { right: Vector3::new(c, s, 0.0), up: Vector3::new(-s * se, c * se, ce), towards: Vector3::new(s * ce, -c * ce, se) }
    }

    /// Place in the picture, x to the right and y up \[m\].
    pub(super) fn project(&self, p: &Vector3<f64>) -> Vector2<f64> {
        Vector2::new(self.right.dot(p), self.up.dot(p))
    }

    /// Nearness to the one who looks \[m\].
    pub(super) fn depth(&self, p: &Vector3<f64>) -> f64 {
        self.towards.dot(p)
    }

    /// Light on a surface with this normal, 0 to 1; it comes from above, a little from the left and from behind the one who looks.
    pub(super) fn light(&self, normal: &Vector3<f64>) -> f64 {
        let from = (self.towards * 0.6 + self.up * 0.7 - self.right * 0.35).normalize();
        normal.dot(&from).max(0.0)
    }

    /// A direction across the line of sight, in the world.
    pub(super) fn unproject(&self, p: &Vector2<f64>) -> Vector3<f64> {
        self.right * p.x + self.up * p.y
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_have_their_axes() {
        for (view, right, up) in
            [(View::Front, Vector3::x(), Vector3::z()), (View::Side, Vector3::y(), Vector3::z()), (View::Top, Vector3::x(), Vector3::y())]
        {
            let camera = Camera::new(view);
            assert!((camera.right - right).norm() < 1e-15 && (camera.up - up).norm() < 1e-15);
            assert!((camera.right.cross(&camera.up) - camera.towards).norm() < 1e-15);
        }
        let oblique = Camera::new(View::Oblique);
        assert!((oblique.right.cross(&oblique.up) - oblique.towards).norm() < 1e-15 && oblique.towards.z > 0.0 && oblique.towards.y < 0.0);
        assert_eq!("30, 20".parse(), Ok(View::From { azimuth: PI / 6.0, elevation: PI / 9.0 }));
        assert!(["left", "1", "1,91", "nan,0"].iter().all(|text| text.parse::<View>().is_err()));
    }
}
