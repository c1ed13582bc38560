//! Frames of free bodies in space with velocities (linear in the world frame, angular in the body frame).
//!
//! ```text
//! J = diag(I₃, R),     Jᵀ W = (f, Rᵀ m),     δ(Rᵀ m) = [Rᵀ m]× δθ,     δ(R ω) = −R [ω]× δθ     for  δR = R [δθ]×
//! ```

use super::Wrench;
use nalgebra::{Matrix3, UnitQuaternion, Vector3};

fn matrix(orientation: &UnitQuaternion<f64>) -> Matrix3<f64> {
    orientation.to_rotation_matrix().into_inner()
}

/// Writes the 6 × 6 Jacobian, row-major.
pub(super) fn write_jacobian(orientation: &UnitQuaternion<f64>, jacobian: &mut [f64]) {
    jacobian.fill(0.0);
    let r = matrix(orientation);
    for i in 0..3 {
        jacobian[7 * i] = 1.0;
        for j in 0..3 {
            jacobian[6 * (3 + i) + 3 + j] = r[(i, j)];
        }
    }
}

/// Adds the generalised forces of wrenches, row k at `rows[k * stride..]`.
pub(super) fn add_wrench_rows(orientation: &UnitQuaternion<f64>, wrenches: &[Wrench], rows: &mut [f64], stride: usize) {
    let r = matrix(orientation);
    for (wrench, row) in wrenches.iter().zip(rows.chunks_mut(stride)) {
        let moment = r.tr_mul(&wrench.moment);
        for i in 0..3 {
            row[i] += wrench.force[i];
            row[3 + i] += moment[i];
        }
    }
}

/// Adds c ∂(Jᵀ W)/∂w.
pub(super) fn add_wrench_derivative(orientation: &UnitQuaternion<f64>, wrench: &Wrench, factor: f64, matrix: &mut [f64], stride: usize) {
    let turned = (orientation.inverse() * wrench.moment).cross_matrix();
    for i in 0..3 {
        for j in 0..3 {
            matrix[(3 + i) * stride + 3 + j] += factor * turned[(i, j)];
        }
    }
}

/// Adds c ∂(J v)/∂w, 6 × 6 row-major; `omega` in the body frame.
pub(super) fn add_velocity_derivative(orientation: &UnitQuaternion<f64>, omega: &Vector3<f64>, factor: f64, out: &mut [f64]) {
    let turned = matrix(orientation) * omega.cross_matrix();
    for i in 0..3 {
        for j in 0..3 {
            out[6 * (3 + i) + 3 + j] -= factor * turned[(i, j)];
        }
    }
}
