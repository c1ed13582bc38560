//! Mass, centre of mass and inertia of homogeneous shapes, in closed form, and of bodies put together from parts.

use crate::mesh::topology::Topology;
use crate::shape_error::ShapeError;
use crate::shapes::{Shape, hull_of};
use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use std::f64::consts::PI;

/// Mass properties of a homogeneous body in its shape's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Mass \[kg\].
    pub mass: f64,
    /// Centre of mass \[m\].
    pub centre_of_mass: Vector3<f64>,
    /// Inertia about the centre of mass, axes of the shape's frame \[kg m²\].
    pub inertia: Matrix3<f64>,
}

impl MassProperties {
    /// Mass properties of parts that move as one body, each with its pose in the body's frame; overlaps count twice.
    ///
    /// ```text
    /// m = Σ mᵢ,  c = Σ mᵢ cᵢ / m,  J = Σ Rᵢ Jᵢ Rᵢᵀ + mᵢ (|dᵢ|² 1 − dᵢ dᵢᵀ),  dᵢ = cᵢ − c
    /// ```
    ///
    /// with cᵢ the part's centre of mass in the body's frame. `None` without parts or without mass.
    #[must_use]
    pub fn combine(parts: &[(MassProperties, Vector3<f64>, UnitQuaternion<f64>)]) -> Option<Self> {
        let mass: f64 = parts.iter().map(|(part, ..)| part.mass).sum();
        if !(mass.is_finite() && mass > 0.0) {
            return None;
        }
        let centre =
            |(part, position, rotation): &(MassProperties, Vector3<f64>, UnitQuaternion<f64>)| position + rotation * part.centre_of_mass;
        let centre_of_mass = parts.iter().map(|p| centre(p) * p.0.mass).sum::<Vector3<f64>>() / mass;
        let mut inertia = Matrix3::zeros();
        for part in parts {
            let turn = part.2.to_rotation_matrix();
            let d = centre(part) - centre_of_mass;
            inertia += turn.matrix() * part.0.inertia * turn.matrix().transpose();
            inertia += (Matrix3::identity() * d.norm_squared() - d * d.transpose()) * part.0.mass;
        }
        // Exactly symmetric, whatever the roundings of the turns.
        let inertia = (inertia + inertia.transpose()) * 0.5;
        Some(Self { mass, centre_of_mass, inertia })
    }

    /// Mass properties of the solid within a closed surface of outward triangles, by the divergence theorem: the sum
    /// over the tetrahedra spanned by `origin` and the triangles.
    ///
    /// For a tetrahedron (0, a, b, c) of volume V: ∫x = V s/4 and ∫x xᵀ = V (s sᵀ + a aᵀ + b bᵀ + c cᵀ)/20 with
    /// s = a + b + c. An origin on the surface keeps the cancellation small for solids far from zero.
    fn of_solid(origin: Vector3<f64>, triangles: impl Iterator<Item = [Vector3<f64>; 3]>, density: f64) -> Self {
        let (mut volume, mut first, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
        for triangle in triangles {
            let [a, b, c] = triangle.map(|v| v - origin);
            let (v, s) = (a.dot(&b.cross(&c)) / 6.0, a + b + c);
            volume += v;
            first += v / 4.0 * s;
            second += v / 20.0 * (s * s.transpose() + a * a.transpose() + b * b.transpose() + c * c.transpose());
        }
        let centre = first / volume;
        let central = second - volume * centre * centre.transpose();
        Self {
            mass: density * volume,
            centre_of_mass: origin + centre,
            inertia: density * (Matrix3::identity() * central.trace() - central),
        }
    }
}

impl Shape {
    /// Volume \[m³\]; of hulls and meshes by the sum of signed tetrahedra, of all others in closed form.
    ///
    /// # Errors
    /// [`ShapeError::NoVolume`] for a plane or height field, what [`Shape::validate`] finds, and for a mesh that is open
    /// ([`ShapeError::OpenMesh`]), not oriented ([`ShapeError::Orientation`]) or flat ([`ShapeError::FlatMesh`]).
    pub fn volume(&self) -> Result<f64, ShapeError> {
        Ok(self.mass_properties(1.0)?.mass)
    }

    /// Mass, centre of mass and inertia at a density in kg/m³.
    ///
    /// # Errors
    /// As [`Shape::volume`], and [`ShapeError::Density`] unless the density is positive and finite.
    pub fn mass_properties(&self, density: f64) -> Result<MassProperties, ShapeError> {
        if !(density.is_finite() && density > 0.0) {
            return Err(ShapeError::Density { density });
        }
        if !matches!(self, Shape::Convex { .. } | Shape::Mesh { .. }) {
            self.validate()?;
        }
        let centred = |mass: f64, inertia: Vector3<f64>| MassProperties {
            mass,
            centre_of_mass: Vector3::zeros(),
            inertia: Matrix3::from_diagonal(&inertia),
        };
        Ok(match self {
            Shape::Plane { .. } | Shape::HeightField { .. } => return Err(ShapeError::NoVolume),
            Shape::Sphere { radius: r } => {
                let mass = density * 4.0 / 3.0 * PI * r.powi(3);
                centred(mass, Vector3::repeat(0.4 * mass * r * r))
            }
            Shape::Box { half_extents: h } => {
                let mass = density * 8.0 * h.product();
                let s = h.component_mul(h);
                centred(mass, Vector3::new(s.y + s.z, s.z + s.x, s.x + s.y) * (mass / 3.0))
            }
            Shape::Cylinder { radius: r, half_length: l } => {
                let mass = density * PI * r * r * 2.0 * l;
                let across = mass * (r * r / 4.0 + l * l / 3.0);
                centred(mass, Vector3::new(across, across, mass * r * r / 2.0))
            }
            Shape::Capsule { radius: r, half_length: l } => {
                // A cylinder and two half balls, whose centres of mass lie 3r/8 beyond the cylinder's ends.
                let (tube, ends) = (density * PI * r * r * 2.0 * l, density * 4.0 / 3.0 * PI * r.powi(3));
                let across = tube * (r * r / 4.0 + l * l / 3.0) + ends * (0.4 * r * r + l * l + 0.75 * l * r);
                let along = tube * r * r / 2.0 + ends * 0.4 * r * r;
                centred(tube + ends, Vector3::new(across, across, along))
            }
            Shape::Cone { radius: r, half_height } => {
                let height = 2.0 * half_height;
                let mass = density * PI * r * r * height / 3.0;
                let across = mass * (0.15 * r * r + 0.0375 * height * height);
                MassProperties {
                    centre_of_mass: Vector3::new(0.0, 0.0, -half_height / 2.0),
                    ..centred(mass, Vector3::new(across, across, 0.3 * mass * r * r))
                }
            }
            Shape::Convex { vertices } => {
                let hull = hull_of(vertices)?;
                MassProperties::of_solid(hull.vertices[0], hull.triangles(), density)
            }
            Shape::Mesh { vertices, triangles } => {
                let topology = Topology::new(vertices, triangles)?;
                topology.check_solid()?;
                MassProperties::of_solid(topology.vertices[0], topology.solid_triangles(), density)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn box_vertices(h: Vector3<f64>, shift: Vector3<f64>) -> Vec<Vector3<f64>> {
        (0..8)
            .map(|i| {
                let sign = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
                shift + Vector3::new(sign(0) * h.x, sign(1) * h.y, sign(2) * h.z)
            })
            .collect()
    }

    #[test]
    fn closed_forms() {
        // Textbook values; the tolerance is a few roundings.
        let ball = Shape::Sphere { radius: 2.0 }.mass_properties(3.0).unwrap();
        assert!((ball.mass - 32.0 * PI).abs() < 1e-13);
        assert!((ball.inertia[(1, 1)] - 0.4 * 32.0 * PI * 4.0).abs() < 1e-12);
        let cone = Shape::Cone { radius: 1.0, half_height: 1.5 }.mass_properties(1.0).unwrap();
        assert!((cone.mass - PI).abs() < 1e-14);
        assert!((cone.centre_of_mass.z + 0.75).abs() < 1e-15);
        assert!((cone.inertia[(0, 0)] - PI * (3.0 / 20.0 + 3.0 * 9.0 / 80.0)).abs() < 1e-14);
        assert!((cone.inertia[(2, 2)] - 0.3 * PI).abs() < 1e-14);
        let pill = Shape::Capsule { radius: 1.0, half_length: 1e-9 }.mass_properties(1.0).unwrap();
        let unit = Shape::Sphere { radius: 1.0 }.mass_properties(1.0).unwrap();
        // A capsule of no length is a ball, to first order in the length.
        assert!((pill.inertia - unit.inertia).norm() < 1e-7);
    }

    #[test]
    fn round_shapes_equal_a_slice_sum() {
        // Independent check: stack discs of radius ρ(z) by the midpoint rule, whose error is O(n⁻²) ≈ 1e-8 here and
        // O(n^-1.5) at the capsule's round ends.
        let slices = 20_000;
        let check = |shape: Shape, half: f64, radius: &dyn Fn(f64) -> f64| {
            let (mut m, mut mz, mut across, mut along) = (0.0, 0.0, 0.0, 0.0);
            let dz = 2.0 * half / f64::from(slices);
            for k in 0..slices {
                let z = -half + (f64::from(k) + 0.5) * dz;
                let r2 = radius(z).powi(2);
                let dm = PI * r2 * dz;
                m += dm;
                mz += dm * z;
                along += dm * r2 / 2.0;
                across += dm * (r2 / 4.0 + z * z);
            }
            let got = shape.mass_properties(1.0).unwrap();
            let centre = mz / m;
            assert!((got.mass - m).abs() < 1e-6 * m, "{shape:?}");
            assert!((got.centre_of_mass.z - centre).abs() < 1e-6, "{shape:?}");
            assert!((got.inertia[(2, 2)] - along).abs() < 1e-6 * along, "{shape:?}");
            let about_centre = across - m * centre * centre;
            assert!((got.inertia[(0, 0)] - about_centre).abs() < 1e-6 * about_centre, "{shape:?}");
            assert_eq!(got.inertia[(0, 0)], got.inertia[(1, 1)]);
        };
        check(Shape::Cylinder { radius: 0.7, half_length: 1.1 }, 1.1, &|_| 0.7);
        check(Shape::Cone { radius: 0.7, half_height: 1.1 }, 1.1, &|z| 0.7 * (1.1 - z) / 2.2);
        check(Shape::Capsule { radius: 0.7, half_length: 0.4 }, 1.1, &|z: f64| {
            let beyond = (z.abs() - 0.4).max(0.0);
            (0.49 - beyond * beyond).max(0.0).sqrt()
        });
    }

    #[test]
    fn a_box_as_hull_equals_the_box() {
        let h = Vector3::new(0.3, 0.5, 0.7);
        let shift = Vector3::new(0.1, -0.2, 0.4);
        let mut vertices = box_vertices(h, shift);
        vertices.push(shift); // an interior point changes nothing
        let hull = Shape::Convex { vertices }.mass_properties(2.0).unwrap();
        let exact = Shape::Box { half_extents: h }.mass_properties(2.0).unwrap();
        // Sums of 12 tetrahedra: some tens of roundings of numbers near 1.
        assert!((hull.mass - exact.mass).abs() < 1e-13);
        assert!((hull.centre_of_mass - shift).norm() < 1e-13);
        assert!((hull.inertia - exact.inertia).norm() < 1e-12);
    }

    #[test]
    fn tetrahedron_inertia() {
        // Corner tetrahedron of legs 1: volume 1/6, centre 1/4.
        let vertices = vec![Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
        let got = Shape::Convex { vertices }.mass_properties(6.0).unwrap();
        // ∫x² = 1/60, ∫xy = 1/120; with ρ = 6: S_xx = 1/10, S_xy = 1/20; minus m c² = 1/16 each.
        let (diagonal, off) = (1.0 / 10.0 - 1.0 / 16.0, 1.0 / 20.0 - 1.0 / 16.0);
        assert!((got.mass - 1.0).abs() < 1e-14);
        assert!((got.centre_of_mass - Vector3::repeat(0.25)).norm() < 1e-14);
        assert!((got.inertia[(0, 0)] - 2.0 * diagonal).abs() < 1e-14);
        assert!((got.inertia[(0, 1)] + off).abs() < 1e-14);
    }

    #[test]
    fn planes_and_bad_densities_are_refused() {
        let plane = Shape::Plane { normal: Vector3::z() };
        assert_eq!(plane.mass_properties(1.0), Err(ShapeError::NoVolume));
        assert_eq!(Shape::Sphere { radius: 1.0 }.mass_properties(0.0), Err(ShapeError::Density { density: 0.0 }));
        assert!(Shape::Sphere { radius: -1.0 }.mass_properties(1.0).is_err());
    }
}
