//! Coordinates of rotations other than the unit quaternion.
//!
//! ```text
//! matrix       r_ij of R (9)                       ṙ_ij = ω · (e_j × R_i)                 no singularity
//! angles       R = R_a(α) R_b(β) R_c(γ)            ω = b₁ α̇ + b₂ β̇ + b₃ γ̇                sin β = 0 (a = c) or cos β = 0 (a ≠ c)
//! Rodrigues    g = tan(θ/2) n                      ġ = ½ (ω + g × ω + g (g·ω))            θ = π
//! ```
//!
//! with ω in the body frame, R_i the rows of R, b₁ = (R_b R_c)ᵀ e_a, b₂ = R_cᵀ e_b, b₃ = e_c. Sources: any textbook of rigid-body kinematics,
//! e.g. A. Shabana, Dynamics of Multibody Systems, ch. 2; the rates are tested by differences.
//!
//! Angles are followed continuously: α is the solution (mod π) nearest to the angle before, β and γ follow from it. Where the sequence is
//! singular α is kept, so that motion passes through; only rates of the angles do not exist there, and are NaN.

use nalgebra::{Matrix3, Quaternion, Rotation3, UnitQuaternion, Vector3};
use std::f64::consts::{PI, TAU};

/// How the orientation of a body is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotationCoordinates {
    /// The nine entries of the rotation matrix, by rows.
    Matrix,
    /// Three angles about these axes (0, 1, 2 for x, y, z) of the turning body, first to last. Neighbours differ.
    Angles([usize; 3]),
    /// Rodrigues parameters tan(θ/2) n.
    Rodrigues,
}

impl RotationCoordinates {
    /// The coordinates of this name: "matrix", "rodrigues", "cardan" (the same as "angles-xyz"), "euler" (the same as "angles-zxz"), or
    /// "angles-" with the letters of one of the twelve sequences.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let sequence = match name {
            "matrix" => return Some(RotationCoordinates::Matrix),
            "rodrigues" => return Some(RotationCoordinates::Rodrigues),
            "cardan" => "xyz",
            "euler" => "zxz",
            other => other.strip_prefix("angles-")?,
        };
        let axes: Vec<usize> = sequence.chars().map(|c| "xyz".find(c)).collect::<Option<_>>()?;
        match axes[..] {
            [a, b, c] if a != b && b != c => Some(RotationCoordinates::Angles([a, b, c])),
            _ => None,
        }
    }

    /// Number of coordinates.
    #[must_use]
    pub fn len(self) -> usize {
        if self == RotationCoordinates::Matrix { 9 } else { 3 }
    }

    /// There are always some.
    #[must_use]
    pub fn is_empty(self) -> bool {
        false
    }

    /// Names and units of the coordinates.
    pub(super) fn names(self) -> &'static [(&'static str, &'static str)] {
        match self {
            RotationCoordinates::Matrix => {
                &[("r11", ""), ("r12", ""), ("r13", ""), ("r21", ""), ("r22", ""), ("r23", ""), ("r31", ""), ("r32", ""), ("r33", "")]
            }
            RotationCoordinates::Angles(_) => &[("angle1", "rad"), ("angle2", "rad"), ("angle3", "rad")],
            RotationCoordinates::Rodrigues => &[("g1", ""), ("g2", ""), ("g3", "")],
        }
    }

    /// The rotation of these coordinates.
    #[must_use]
    pub fn rotation(self, c: &[f64]) -> UnitQuaternion<f64> {
        match self {
            RotationCoordinates::Matrix => {
                UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(Matrix3::from_row_slice(&c[..9])))
            }
            RotationCoordinates::Angles(axes) => about(axes[0], c[0]) * about(axes[1], c[1]) * about(axes[2], c[2]),
            RotationCoordinates::Rodrigues => UnitQuaternion::new_normalize(Quaternion::new(1.0, c[0], c[1], c[2])),
        }
    }

    /// Writes the coordinates of a rotation; angles are those nearest to `before`. Rodrigues parameters are infinite at half a turn.
    pub fn write(self, rotation: &UnitQuaternion<f64>, before: &[f64], c: &mut [f64]) {
        match self {
            RotationCoordinates::Matrix => {
                let r = rotation.to_rotation_matrix();
                c.iter_mut().enumerate().for_each(|(k, c)| *c = r[(k / 3, k % 3)]);
            }
            RotationCoordinates::Angles(axes) => c.copy_from_slice(&angles(axes, rotation, before)),
            RotationCoordinates::Rodrigues => c.copy_from_slice((rotation.imag() / rotation.w).as_slice()),
        }
    }

    /// Writes the row of the rate of coordinate k over the angular velocity in the body frame.
    pub(super) fn rate_row(self, c: &[f64], k: usize, row: &mut [f64]) {
        let row_vector = match self {
            RotationCoordinates::Matrix => {
                let (i, j) = (k / 3, k % 3);
                unit(j).cross(&Vector3::new(c[3 * i], c[3 * i + 1], c[3 * i + 2]))
            }
            RotationCoordinates::Angles(axes) => match rate_axes(axes, c).try_inverse() {
                Some(inverse) => inverse.row(k).transpose(),
                None => Vector3::repeat(f64::NAN),
            },
            RotationCoordinates::Rodrigues => {
                let g = Vector3::new(c[0], c[1], c[2]);
                0.5 * (unit(k) + unit(k).cross(&g) + g * g[k])
            }
        };
        row.copy_from_slice(row_vector.as_slice());
    }

    /// The second derivative of coordinate k at constant angular velocity in the body frame.
    pub(super) fn rate_bias(self, c: &[f64], omega: &Vector3<f64>, k: usize) -> f64 {
        match self {
            RotationCoordinates::Matrix => {
                let (i, j) = (k / 3, k % 3);
                omega.cross(&omega.cross(&unit(j))).dot(&Vector3::new(c[3 * i], c[3 * i + 1], c[3 * i + 2]))
            }
            RotationCoordinates::Angles(axes) => {
                let b = rate_axes(axes, c);
                let Some(inverse) = b.try_inverse() else { return f64::NAN };
                let rates = inverse * omega;
                let (b1, b2, b3): (Vector3<f64>, Vector3<f64>, Vector3<f64>) = (b.column(0).into(), b.column(1).into(), b.column(2).into());
                let db1 = -(b2 * rates.y + b3 * rates.z).cross(&b1);
                let db2 = -(b3 * rates.z).cross(&b2);
                -(inverse * (db1 * rates.x + db2 * rates.y))[k]
            }
            RotationCoordinates::Rodrigues => {
                let g = Vector3::new(c[0], c[1], c[2]);
                let rate = 0.5 * (omega + g.cross(omega) + g * g.dot(omega));
                0.5 * (rate.cross(omega) + rate * g.dot(omega) + g * rate.dot(omega))[k]
            }
        }
    }

    /// Refuses coordinates that are not those of a rotation, and the singularities.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub(super) fn check(self, c: &[f64]) -> Result<(), String> {
        match self {
            RotationCoordinates::Matrix => {
                let r = Matrix3::from_row_slice(&c[..9]);
                let error = (r * r.transpose() - Matrix3::identity()).amax();
                // what decimal input with ten digits can say
                if error > 1e-9 || r.determinant() < 0.0 {
                    return Err(format!("is not a rotation matrix: |R Rᵀ − I| is {error:.1e}, its determinant {:.3}", r.determinant()));
                }
            }
            RotationCoordinates::Angles(_) => {}
            RotationCoordinates::Rodrigues => {
                // tan(θ/2) beyond 1e6 leaves less than ten digits of the rotation
                if !c.iter().all(|c| c.abs() < 1e6) {
                    return Err("has turned by half a turn, where Rodrigues parameters are infinite; use a quaternion".into());
                }
            }
        }
        Ok(())
    }
}

fn unit(i: usize) -> Vector3<f64> {
    Vector3::from_fn(|k, _| f64::from(u8::from(k == i)))
}

fn about(axis: usize, angle: f64) -> UnitQuaternion<f64> {
    UnitQuaternion::from_scaled_axis(unit(axis) * angle)
}

/// The columns b₁, b₂, b₃.
fn rate_axes(axes: [usize; 3], c: &[f64]) -> Matrix3<f64> {
    let last = about(axes[2], -c[2]);
    let middle = last * about(axes[1], -c[1]);
    Matrix3::from_columns(&[middle * unit(axes[0]), last * unit(axes[1]), unit(axes[2])])
}

/// Angles of a rotation, nearest to those before.
fn angles([i, j, k]: [usize; 3], rotation: &UnitQuaternion<f64>, before: &[f64]) -> [f64; 3] {
    let r = rotation.to_rotation_matrix().into_inner();
    // the third axis, and whether (i, j, m) is right-handed
    let m = 3 - i - j;
    let s = unit(i).cross(&unit(j))[m];
    // the part of R e_k across the first axis is ∓ cos β or ± sin β (sin α, cos α)
    let (sine, cosine) = if i == k { (r[(j, i)], -s * r[(m, i)]) } else { (-s * r[(j, k)], r[(k, k)]) };
    // below this the direction is round-off: the sequence is singular
    let first = if sine.hypot(cosine) < 1e-14 { before[0] } else { nearest(sine.atan2(cosine), before[0], PI) };
    let rest = (about(i, -first) * rotation).to_rotation_matrix().into_inner();
    let second = if i == k { (-s * rest[(m, i)]).atan2(rest[(i, i)]) } else { (s * rest[(i, k)]).atan2(rest[(k, k)]) };
    let last = (about(j, -second) * about(i, -first) * rotation).to_rotation_matrix().into_inner();
    let (x, y) = ((k + 1) % 3, (k + 2) % 3);
    let third = last[(y, x)].atan2(last[(x, x)]);
    [first, nearest(second, before[1], TAU), nearest(third, before[2], TAU)]
}

/// The angle equal to this one up to multiples of a period that is nearest to another.
fn nearest(angle: f64, to: f64, period: f64) -> f64 {
    angle + period * ((to - angle) / period).round()
}
