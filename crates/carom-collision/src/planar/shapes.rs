//! The closed set of planar shapes: validation, bounds, mass.

use super::chain::Chain;
use super::polygon::Polygon;
use crate::shape_error::ShapeError;
use nalgebra::Vector2;
use std::f64::consts::PI;
use std::sync::Arc;

/// A shape in the x-y plane, in its own frame; lengths in metres.
///
/// To add a shape: add the variant; the compiler then asks for its validation, bounds and mass; its pairs go to `pairs/`, a file each.
/// A body of several shapes has several colliders; a polygon that is not convex is a list of convex ones ([`Polygon::parts`]).
#[derive(Clone, Debug, PartialEq)]
pub enum PlanarShape {
    /// Disk about the origin.
    Disk {
        /// Radius > 0.
        radius: f64,
    },
    /// Segment along x about the origin, thickened by a radius.
    Capsule {
        /// Radius > 0.
        radius: f64,
        /// Half length of the segment > 0, without the round ends.
        half_length: f64,
    },
    /// Convex polygon.
    Polygon(Arc<Polygon>),
    /// Open or closed polyline, touched from one side or both.
    Chain(Arc<Chain>),
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

/// Mass, centre of mass and moment of inertia about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanarMass {
    /// Mass \[kg\].
    pub mass: f64,
    /// Centre of mass in the shape's frame \[m\].
    pub centre: Vector2<f64>,
    /// Moment of inertia about the centre of mass \[kg m²\].
    pub inertia: f64,
}

impl PlanarMass {
    /// The same seen from a frame in which the shape stands at `position` and `angle`.
    #[must_use]
    pub fn placed(&self, position: Vector2<f64>, angle: f64) -> Self {
        PlanarMass { centre: position + nalgebra::Rotation2::new(angle) * self.centre, ..*self }
    }

    /// Sum over the parts of a body, which are taken not to overlap; `None` of nothing.
    #[must_use]
    pub fn sum(parts: &[PlanarMass]) -> Option<Self> {
        let mass: f64 = parts.iter().map(|p| p.mass).sum();
        if parts.len() <= 1 || mass <= 0.0 {
            return parts.first().copied();
        }
        let centre = parts.iter().fold(Vector2::zeros(), |sum, p| sum + p.centre * p.mass) / mass;
        let inertia = parts.iter().map(|p| p.inertia + p.mass * (p.centre - centre).norm_squared()).sum();
        Some(PlanarMass { mass, centre, inertia })
    }
}

impl PlanarShape {
    /// Name in messages and model files.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            PlanarShape::Disk { .. } => "disk",
            PlanarShape::Capsule { .. } => "capsule",
            PlanarShape::Polygon(_) => "polygon",
            PlanarShape::Chain(_) => "chain",
            PlanarShape::Segment { .. } => "segment",
            PlanarShape::HalfPlane { .. } => "half-plane",
        }
    }

    /// Bodies that move freely may have this shape.
    #[must_use]
    pub fn can_move_freely(&self) -> bool {
        !matches!(self, PlanarShape::Segment { .. } | PlanarShape::HalfPlane { .. })
    }

    /// Checks the sizes.
    ///
    /// # Errors
    /// The first quantity that is not finite or not positive.
    pub fn validate(&self) -> Result<(), ShapeError> {
        let shape = self.name();
        let check = |quantity, size: f64, values: &[f64]| {
            if let Some(&value) = values.iter().find(|x| !x.is_finite()) {
                return Err(ShapeError::NonFinite { shape, quantity, value });
            }
            if size > 0.0 && size.is_finite() { Ok(()) } else { Err(ShapeError::NonPositive { shape, quantity, value: size }) }
        };
        match self {
            PlanarShape::Disk { radius } => check("radius", *radius, &[*radius]),
            PlanarShape::Capsule { radius, half_length } => {
                check("radius", *radius, &[*radius])?;
                check("length", 2.0 * half_length, &[2.0 * half_length])
            }
            // checked when they were made
            PlanarShape::Polygon(_) | PlanarShape::Chain(_) => Ok(()),
            PlanarShape::Segment { ends: [a, b] } => check("length", (a - b).norm(), &[a.x, a.y, b.x, b.y]),
            PlanarShape::HalfPlane { normal } => check("length of the normal", normal.amax(), &[normal.x, normal.y]),
        }
    }

    /// Largest distance of its points from its origin \[m\]; infinite for a half-plane.
    #[must_use]
    pub fn reach(&self) -> f64 {
        let farthest = |points: &[Vector2<f64>]| points.iter().fold(0.0_f64, |m, p| m.max(p.norm()));
        match self {
            PlanarShape::Disk { radius } => *radius,
            PlanarShape::Capsule { radius, half_length } => radius + half_length,
            PlanarShape::Polygon(polygon) => farthest(polygon.vertices()),
            PlanarShape::Chain(chain) => farthest(chain.vertices()),
            PlanarShape::Segment { ends } => farthest(ends),
            PlanarShape::HalfPlane { .. } => f64::INFINITY,
        }
    }

    /// How far its centre lies from its surface \[m\]; infinite for shapes without area. Overlaps of half of this count as deep.
    #[must_use]
    pub fn inner_radius(&self) -> f64 {
        match self {
            PlanarShape::Disk { radius } | PlanarShape::Capsule { radius, .. } => *radius,
            PlanarShape::Polygon(polygon) => polygon.inner_radius(),
            PlanarShape::Chain(_) | PlanarShape::Segment { .. } | PlanarShape::HalfPlane { .. } => f64::INFINITY,
        }
    }

    /// Mass properties at an area density in kg/m², that is density × depth of a plate; `None` for shapes without area.
    #[must_use]
    pub fn mass(&self, density: f64) -> Option<PlanarMass> {
        match self {
            PlanarShape::Disk { radius } => {
                let mass = density * PI * radius * radius;
                Some(PlanarMass { mass, centre: Vector2::zeros(), inertia: 0.5 * mass * radius * radius })
            }
            PlanarShape::Capsule { radius: r, half_length: l } => {
                // a rectangle and two half disks, whose centres of mass lie 4r/3π beyond its ends
                let (middle, ends, out) = (density * 4.0 * l * r, density * PI * r * r, 4.0 * r / (3.0 * PI));
                let of_middle = middle * (l * l + r * r) / 3.0;
                let of_ends = ends * (0.5 * r * r - out * out + (l + out) * (l + out));
                Some(PlanarMass { mass: middle + ends, centre: Vector2::zeros(), inertia: of_middle + of_ends })
            }
            PlanarShape::Polygon(polygon) => Some(polygon.mass(density)),
            PlanarShape::Chain(_) | PlanarShape::Segment { .. } | PlanarShape::HalfPlane { .. } => None,
        }
    }

    /// Mass properties of one kilogram spread over its area, or along the line of a chain; `None` for shapes of obstacles.
    #[must_use]
    pub fn unit_mass(&self) -> Option<PlanarMass> {
        if let PlanarShape::Chain(chain) = self {
            return Some(chain.unit_mass());
        }
        let p = self.mass(1.0)?;
        Some(PlanarMass { mass: 1.0, inertia: p.inertia / p.mass, ..p })
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
        let capsule = |radius, half_length| PlanarShape::Capsule { radius, half_length }.validate();
        assert!(
            capsule(1.0, 0.0).is_err() && capsule(0.0, 1.0).is_err() && capsule(1.0, f64::INFINITY).is_err() && capsule(1.0, 1.0).is_ok()
        );
        let a = Vector2::new(1.0, 2.0);
        assert!(matches!(PlanarShape::Segment { ends: [a, a] }.validate(), Err(ShapeError::NonPositive { .. })));
        assert!(PlanarShape::HalfPlane { normal: Vector2::zeros() }.validate().is_err());
    }

    #[test]
    fn masses_of_density_one() {
        let got = PlanarShape::Disk { radius: 2.0 }.mass(1.0).unwrap();
        // π r² and π r⁴/2; a rounding or two
        assert!((got.mass - 4.0 * PI).abs() < 1e-14 && (got.inertia - 8.0 * PI).abs() < 1e-14);
        assert_eq!(PlanarShape::HalfPlane { normal: Vector2::y() }.mass(1.0), None);
        // a capsule of no length is nearly a disk, a long thin one nearly a rod of m L²/12
        let got = PlanarShape::Capsule { radius: 2.0, half_length: 1e-9 }.mass(1.0).unwrap();
        assert!((got.mass - 4.0 * PI).abs() < 1e-7 && (got.inertia - 8.0 * PI).abs() < 1e-7);
        let got = PlanarShape::Capsule { radius: 1e-4, half_length: 1.0 }.unit_mass().unwrap();
        assert!((got.inertia - 1.0 / 3.0).abs() < 2e-4, "{got:?}");
        // against slices across the axis of width dx and height 2y
        let (r, l, n) = (0.3, 0.7, 100_000);
        let (mut area, mut moment) = (0.0, 0.0);
        for k in 0..n {
            let (dx, x) = (2.0 * (l + r) / f64::from(n), (2.0 * (f64::from(k) + 0.5) / f64::from(n) - 1.0) * (l + r));
            let beyond = (x.abs() - l).max(0.0);
            let y = (r * r - beyond * beyond).max(0.0).sqrt();
            area += 2.0 * y * dx;
            moment += 2.0 * y * dx * (x * x + y * y / 3.0);
        }
        let got = PlanarShape::Capsule { radius: r, half_length: l }.mass(1.0).unwrap();
        assert!((got.mass - area).abs() < 1e-6 && (got.inertia - moment).abs() < 1e-6, "{got:?} {area} {moment}");
    }

    #[test]
    fn a_square_of_two_halves() {
        let half = PlanarMass { mass: 2.0, centre: Vector2::zeros(), inertia: 2.0 * (1.0 + 4.0) / 12.0 };
        let parts = [half.placed(Vector2::new(-0.5, 3.0), 0.0), half.placed(Vector2::new(0.5, 3.0), PI)];
        let got = PlanarMass::sum(&parts).unwrap();
        assert!((got.mass - 4.0).abs() < 1e-15 && (got.centre - Vector2::new(0.0, 3.0)).norm() < 1e-15);
        assert!((got.inertia - 4.0 * 8.0 / 12.0).abs() < 1e-14, "{got:?}");
    }
}
