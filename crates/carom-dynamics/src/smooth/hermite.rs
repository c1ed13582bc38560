//! Interpolation between two points of a motion.

use super::equations::Equations;
use super::motion_point::MotionPoint;

/// Quintic Hermite interpolation of (q, v) at start.t + θ h from positions, velocities and accelerations at both ends
/// (Haddouni2015 eqs. 2.131–2.133, with derivatives scaled to the step).
///
/// On groups the displacement from the start is interpolated; its rates at the end are ẇ = D(w) v, and ẅ by the difference of ẇ along
/// the motion. Error O(h⁶) in q and O(h⁵) in v when the data are exact.
pub(crate) fn quintic_hermite(equations: &Equations<'_>, start: &MotionPoint, end: &MotionPoint, theta: f64, q: &mut [f64], v: &mut [f64]) {
    let (n, h) = (start.v.len(), end.t - start.t);
    let systems = equations.model().systems();
    let mut work = equations.interpolation.borrow_mut();
    work.iter_mut().for_each(|x| x.resize(n, 0.0));
    let [w, rate, acceleration, behind, ahead, inside, rates] = &mut *work;
    systems.difference(&start.q, &end.q, w);
    systems.displacement_rate(w, &end.v, rate);
    // ẅ = d/dt D(w) v by a central difference along (ẇ, v̇): exact for flat coordinates, where D = I
    let epsilon = 1e-4 * h;
    for (sign, out) in [(1.0, &mut *ahead), (-1.0, &mut *behind)] {
        for i in 0..n {
            inside[i] = w[i] + sign * epsilon * rate[i];
            rates[i] = end.v[i] + sign * epsilon * end.a[i];
        }
        systems.displacement_rate(inside, rates, out);
    }
    for i in 0..n {
        acceleration[i] = (ahead[i] - behind[i]) / (2.0 * epsilon);
    }
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
    for i in 0..n {
        inside[i] = combine(&value, i);
        rates[i] = combine(&slope, i);
    }
    systems.advance(&start.q, inside, q);
    systems.velocity_of_rate(inside, rates, v);
}
