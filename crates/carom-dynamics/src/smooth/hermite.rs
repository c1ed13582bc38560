//! Interpolation between two points of a motion.

use super::equations::Equations;
use super::motion_point::MotionPoint;

/// Quintic Hermite interpolation of (q, v) at start.t + θ h from positions, velocities and accelerations at both ends
/// (Haddouni2015 eqs. 2.131–2.133, with derivatives scaled to the step).
///
/// On groups the displacement from the start is interpolated; its rates at the end are ẇ = D(w) v, and ẅ by the difference of ẇ along
/// the motion. Error O(h⁶) in q and O(h⁵) in v when the data are exact.
pub fn quintic_hermite(equations: &Equations<'_>, start: &MotionPoint, end: &MotionPoint, theta: f64, q: &mut [f64], v: &mut [f64]) {
    let (n, h) = (start.v.len(), end.t - start.t);
    let mut w = vec![0.0; n];
    let systems = equations.model().systems();
    systems.difference(&start.q, &end.q, &mut w);
    let (mut rate, mut moved, mut ahead) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    systems.displacement_rate(&w, &end.v, &mut rate);
    // ẅ = d/dt D(w) v by a central difference along (ẇ, v̇): exact for flat coordinates, where D = I
    let epsilon = 1e-4 * h;
    let shifted = |sign: f64, out: &mut Vec<f64>| {
        let w: Vec<f64> = w.iter().zip(&rate).map(|(w, r)| w + sign * epsilon * r).collect();
        let v: Vec<f64> = end.v.iter().zip(&end.a).map(|(v, a)| v + sign * epsilon * a).collect();
        systems.displacement_rate(&w, &v, out);
    };
    shifted(1.0, &mut ahead);
    shifted(-1.0, &mut moved);
    let acceleration: Vec<f64> = ahead.iter().zip(&moved).map(|(a, b)| (a - b) / (2.0 * epsilon)).collect();
    let s = theta;
    let (s2, s3, s4, s5) = (s * s, s.powi(3), s.powi(4), s.powi(5));
    // weights of w1, v0, v1, a0, a1 (w0 = 0) and their derivatives
    let value = [
        10.0 * s3 - 15.0 * s4 + 6.0 * s5,
        h * (s - 6.0 * s3 + 8.0 * s4 - 3.0 * s5),
        h * (-4.0 * s3 + 7.0 * s4 - 3.0 * s5),
        h * h * 0.5 * (s2 - 3.0 * s3 + 3.0 * s4 - s5),
        h * h * 0.5 * (s3 - 2.0 * s4 + s5),
    ];
    let slope = [
        (30.0 * s2 - 60.0 * s3 + 30.0 * s4) / h,
        1.0 - 18.0 * s2 + 32.0 * s3 - 15.0 * s4,
        -12.0 * s2 + 28.0 * s3 - 15.0 * s4,
        h * 0.5 * (2.0 * s - 9.0 * s2 + 12.0 * s3 - 5.0 * s4),
        h * 0.5 * (3.0 * s2 - 8.0 * s3 + 5.0 * s4),
    ];
    let combine = |c: &[f64; 5], i: usize| c[0] * w[i] + c[1] * start.v[i] + c[2] * rate[i] + c[3] * start.a[i] + c[4] * acceleration[i];
    let inside: Vec<f64> = (0..n).map(|i| combine(&value, i)).collect();
    let rates: Vec<f64> = (0..n).map(|i| combine(&slope, i)).collect();
    systems.advance(&start.q, &inside, q);
    systems.velocity_of_rate(&inside, &rates, v);
}
