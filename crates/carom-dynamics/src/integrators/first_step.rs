//! The first step of an integration.

use super::tolerances::Tolerances;
use crate::smooth::{Equations, MotionPoint};

/// Size of a first step from `start` for a method of this order \[s\], by the rule of Hairer, Nørsett and Wanner, *Solving Ordinary
/// Differential Equations I*, section II.4:
///
/// ```text
/// d₀ = |y|, d₁ = |ẏ|, h₀ = d₀/(100 d₁),     d₂ = |ẏ(y + h₀ ẏ) − ẏ|/h₀,     h₁ = (0.01/max(d₁, d₂))^{1/(p+1)},     h = min(100 h₀, h₁)
/// ```
///
/// with y = (q, v) in units of the tolerance. One evaluation of the accelerations; where that fails, h₀ is taken.
pub(super) fn first_step(equations: &mut Equations<'_>, tolerances: &Tolerances, start: &MotionPoint, order: f64) -> f64 {
    let (d0, d1) = (tolerances.size(start), tolerances.error(start, start, &start.v, &start.a));
    // nothing to compare with: the values that the rule's authors take
    let h0 = if d0 < 1e-5 || d1 < 1e-5 { 1e-6 } else { 0.01 * d0 / d1 };
    let mut ahead = start.clone();
    let w: Vec<f64> = start.v.iter().map(|v| h0 * v).collect();
    equations.advance(&start.q, &w, &mut ahead.q);
    ahead.v.iter_mut().zip(&start.a).for_each(|(v, a)| *v += h0 * a);
    let evaluated = equations.accelerate(start.t + h0, &ahead.q, &ahead.v, &mut ahead.a, &mut ahead.lambda);
    if evaluated.is_err() || !ahead.is_finite() {
        return h0;
    }
    let change = |ahead: &[f64], start: &[f64]| ahead.iter().zip(start).map(|(a, s)| (a - s) / h0).collect::<Vec<f64>>();
    let d2 = tolerances.error(start, start, &change(&ahead.v, &start.v), &change(&ahead.a, &start.a));
    let fastest = d1.max(d2);
    let h1 = if fastest <= 1e-15 { (1e-3 * h0).max(1e-6) } else { (0.01 / fastest).powf(1.0 / (order + 1.0)) };
    h1.min(100.0 * h0)
}
