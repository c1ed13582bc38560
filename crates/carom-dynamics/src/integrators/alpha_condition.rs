//! Test of the condition of the iteration matrices of α-methods as the step shrinks.

use super::alpha_family::AlphaCoefficients;
use super::alpha_newton::{AlphaNewton, Level};
use crate::problems::mechanisms::pendulum;
use crate::smooth::{Equations, MotionPoint};
use nalgebra::DMatrix;

/// ‖A‖ ‖A⁻¹‖ (largest row sums) of the pendulum's matrix on its first step.
fn condition(level: Level, scaling: bool, h: f64) -> f64 {
    let mechanism = pendulum().unwrap();
    let mut equations = Equations::new(&mechanism.model);
    let mut end = MotionPoint::at_state(&mechanism.state, 1);
    equations.accelerate(0.0, &end.q.clone(), &end.v.clone(), &mut end.a, &mut end.lambda).unwrap();
    let mut newton = AlphaNewton::default();
    let coefficients = AlphaCoefficients { mass: 0.0, force: 0.0, beta: 0.25, gamma: 0.5 };
    newton.resize(&equations, coefficients, vec![level], scaling);
    newton.begin(&mut equations, &end).unwrap();
    newton.evaluate(&mut equations, &end, h).unwrap();
    newton.assemble(&mut equations, &end, &[0.0; 2], h).unwrap();
    let inverse = newton.inverse();
    let n = inverse[0].len();
    let inverse = DMatrix::from_fn(n, n, |i, j| inverse[j][i]);
    let norm = |m: &DMatrix<f64>| m.row_iter().map(|row| row.iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
    norm(&inverse) * norm(&inverse.clone().try_inverse().unwrap())
}

/// Scaled, the condition has a limit; otherwise it grows as h⁻⁴ in index 3, as h⁻³ with velocities.
#[test]
fn scaling_bounds_the_condition() {
    for level in [Level::Position, Level::Velocity, Level::Both] {
        let scaled = [1e-2, 1e-4, 1e-6].map(|h| condition(level, true, h));
        // the limit depends on M, G, β, γ of size 1; 1 % for the terms O(h) at h = 1e-2
        assert!(scaled.iter().all(|&c| c < 100.0 && (c / scaled[2] - 1.0).abs() < 0.01), "{level:?}: {scaled:?}");
        let growth = (condition(level, false, 1e-3) / condition(level, false, 1e-2)).log10();
        let expected = if level == Level::Position { 4.0 } else { 3.0 };
        assert!((growth - expected).abs() < 0.1, "{level:?}: h^-{growth}");
    }
}
