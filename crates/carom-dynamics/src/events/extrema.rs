//! Least and greatest values of watched functions between samples.

use super::bracketing::{Bracket, Point, narrow};
use super::location::Probe;
use crate::error::RunError;

/// How much steeper than at the ends a function may be inside for its extremum to be looked at surely.
const STEEPER: f64 = 2.0;

/// A function with the rates `rates` at the ends may have a minimum between that is as low as `floor`.
pub(super) fn may_dip(a: Point, b: Point, rates: (f64, f64), floor: f64) -> bool {
    let reach = STEEPER * (b.t - a.t);
    rates.0 < 0.0 && rates.1 > 0.0 && (a.f + reach * rates.0 <= floor || b.f - reach * rates.1 <= floor)
}

/// The extremum of function i between two samples whose rates differ in sign: the root of the rate.
pub(super) fn turning_point(probe: &mut Probe<'_>, i: usize, a: (f64, f64), b: (f64, f64), width: f64) -> Result<Point, RunError> {
    let sign = a.1.signum();
    let bracket = Bracket { before: Point { t: a.0, f: sign * a.1 }, behind: Point { t: b.0, f: sign * b.1 } };
    // a function that gave a rate at the samples gives it everywhere; one that does not is taken as flat
    let narrowed = narrow(bracket, width, &mut |t| Ok(sign * probe.sample(i, t)?.rate.unwrap_or(0.0)))?;
    let t = narrowed.behind.t;
    Ok(Point { t, f: probe.value(i, t)? })
}

/// The minima of function i, which gives no rates, that may be as low as its threshold: suspected where the slopes of parabolas through three
/// samples change from − to +, located by [`least`] between the neighbouring samples.
pub(super) fn minima_without_rates(probe: &mut Probe<'_>, i: usize, points: &[Point]) -> Result<Vec<Point>, RunError> {
    let (n, threshold) = (points.len(), probe.threshold(i));
    let mut minima = Vec::new();
    if n < 3 {
        return Ok(minima);
    }
    let slope = |k: usize| {
        let middle = k.clamp(1, n - 2);
        let [a, b, c] = [points[middle - 1], points[middle], points[middle + 1]];
        let (left, right) = ((b.f - a.f) / (b.t - a.t), (c.f - b.f) / (c.t - b.t));
        left + (right - left) / (c.t - a.t) * ((points[k].t - a.t) + (points[k].t - b.t))
    };
    for k in 0..n - 1 {
        if may_dip(points[k], points[k + 1], (slope(k), slope(k + 1)), threshold) {
            let (low, high) = (points[k.saturating_sub(1)].t, points[(k + 2).min(n - 1)].t);
            let minimum = least(probe, i, (low, high), threshold)?;
            if minima.last().is_none_or(|last: &Point| minimum.t > last.t) {
                minima.push(minimum);
            }
        }
    }
    Ok(minima)
}

/// The least value of function i between two times, by parabolic interpolation with golden section (Brent, *Algorithms for Minimization Without
/// Derivatives*, 1973, chapter 5); the first value below −threshold ends the search.
///
/// The time has about half of the digits, the value all.
fn least(probe: &mut Probe<'_>, i: usize, span: (f64, f64), threshold: f64) -> Result<Point, RunError> {
    const GOLDEN: f64 = 0.381_966_011_250_105;
    let (mut low, mut high) = span;
    let tolerance = 1e-9 * (high - low) + f64::EPSILON * high.abs();
    let at = |probe: &mut Probe<'_>, t: f64| -> Result<Point, RunError> { Ok(Point { t, f: probe.value(i, t)? }) };
    let mut best = at(probe, low + GOLDEN * (high - low))?;
    let (mut second, mut third) = (best, best);
    let (mut step, mut before) = (0.0_f64, 0.0_f64);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if best.f < -threshold || (best.t - middle).abs() + 0.5 * (high - low) <= 2.0 * tolerance {
            break;
        }
        // vertex of the parabola through the three best, as a fraction
        let (r, q) = ((best.t - second.t) * (best.f - third.f), (best.t - third.t) * (best.f - second.f));
        let (over, under) = ((best.t - third.t) * q - (best.t - second.t) * r, 2.0 * (r - q));
        let vertex = over / under;
        let is_good = vertex.is_finite() && vertex.abs() < 0.5 * before.abs() && best.t + vertex > low && best.t + vertex < high;
        before = if is_good { step } else { if best.t < middle { high - best.t } else { low - best.t } };
        step = if is_good { vertex } else { GOLDEN * before };
        let moved = if step.abs() >= tolerance { step } else { tolerance.copysign(step) };
        let tried = at(probe, best.t + moved)?;
        if tried.f <= best.f {
            *(if tried.t >= best.t { &mut low } else { &mut high }) = best.t;
            (third, second, best) = (second, best, tried);
        } else {
            *(if tried.t < best.t { &mut low } else { &mut high }) = tried.t;
            if tried.f <= second.f || second.t == best.t {
                (third, second) = (second, tried);
            } else if tried.f <= third.f || third.t == best.t || third.t == second.t {
                third = tried;
            }
        }
    }
    Ok(best)
}
