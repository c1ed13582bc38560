//! The closed set of planar shapes: validation, bounds, mass.

use crate::shapes::ShapeError;
use nalgebra::Vector2;
use std::f64::consts::PI;

/// A shape in the x-y plane, in its own frame; lengths in metres.
///
/// To add a shape: add the variant; the compiler then asks for its validation, bounds and mass; its pairs go to `pairs/`, a file each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlanarShape {
    /// Disk about the origin.
    Disk {
        /// Radius > 0.
        radius: f64,
    },
    /// Line between two points, touched from both sides and at its ends; obstacles only.
    Segment {
        /// Its ends, not the same.
        ends: [Vector2<f64>; 2],
    },
    /// Everything below the line through the origin; obstacles only.
    HalfPlane {
        /// Outward normal; normalised when the detector is built.
        normal: Vector2<f64>,
    },
}

/// Mass and moment of inertia of a homogeneous plate about its centre of mass, which is the shape's origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanarMass {
    /// Mass \[kg\].
    pub mass: f64,
    /// Moment of inertia \[kg m²\].
    pub inertia: f64,
}

impl PlanarShape {
    /// Name in messages and model files.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            PlanarShape::Disk { .. } => "disk",
            PlanarShape::Segment { .. } => "segment",
            PlanarShape::HalfPlane { .. } => "half-plane",
        }
    }

    /// Bodies that move freely may have this shape.
    #[must_use]
    pub fn can_move_freely(&self) -> bool {
        matches!(self, PlanarShape::Disk { .. })
    }

    /// Checks the sizes.
    ///
    /// # Errors
    /// The first quantity that is not finite or not positive.
    pub fn validate(&self) -> Result<(), ShapeError> {
        let shape = self.name();
        let (quantity, size, values): (_, _, &[f64]) = match self {
            PlanarShape::Disk { radius } => ("radius", *radius, std::slice::from_ref(radius)),
            PlanarShape::Segment { ends: [a, b] } => ("length", (a - b).norm(), &[a.x, a.y, b.x, b.y]),
            PlanarShape::HalfPlane { normal } => ("length of the normal", normal.amax(), &[normal.x, normal.y]),
        };
        if let Some(&value) = values.iter().find(|x| !x.is_finite()) {
            return Err(ShapeError::NonFinite { shape, quantity, value });
        }
        if size > 0.0 && size.is_finite() { Ok(()) } else { Err(ShapeError::NonPositive { shape, quantity, value: size }) }
    }

    /// Largest distance of its points from its origin \[m\]; infinite for a half-plane.
    #[must_use]
    pub fn reach(&self) -> f64 {
        match self {
            PlanarShape::Disk { radius } => *radius,
            PlanarShape::Segment { ends: [a, b] } => a.norm().max(b.norm()),
            PlanarShape::HalfPlane { .. } => f64::INFINITY,
        }
    }

    /// Mass and inertia at an area density in kg/m²; `None` for shapes without area.
    #[must_use]
    pub fn mass(&self, density: f64) -> Option<PlanarMass> {
        match self {
            PlanarShape::Disk { radius } => {
                let mass = density * PI * radius * radius;
                Some(PlanarMass { mass, inertia: 0.5 * mass * radius * radius })
            }
            PlanarShape::Segment { .. } | PlanarShape::HalfPlane { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked() {
        let disk = |radius| PlanarShape::Disk { radius }.validate();
        assert_eq!(disk(0.1), Ok(()));
        assert!(matches!(disk(0.0), Err(ShapeError::NonPositive { .. })));
        assert!(matches!(disk(f64::NAN), Err(ShapeError::NonFinite { .. })));
        let a = Vector2::new(1.0, 2.0);
        assert!(matches!(PlanarShape::Segment { ends: [a, a] }.validate(), Err(ShapeError::NonPositive { .. })));
        assert!(PlanarShape::HalfPlane { normal: Vector2::zeros() }.validate().is_err());
    }

    #[test]
    fn a_disk_of_density_one() {
        let got = PlanarShape::Disk { radius: 2.0 }.mass(1.0).unwrap();
        // π r² and π r⁴/2; a rounding or two
        assert!((got.mass - 4.0 * PI).abs() < 1e-14 && (got.inertia - 8.0 * PI).abs() < 1e-14);
        assert_eq!(PlanarShape::HalfPlane { normal: Vector2::y() }.mass(1.0), None);
    }
}
