//! Narrowing a bracket of a change of sign.
//!
//! Inverse quadratic interpolation or bisection, chosen by the criterion of Chandrupatla, *Advances in Engineering Software* 28 (1997), which is as fast as
//! Brent's method on smooth functions; then the projection of the ITP method of Oliveira & Takahashi, *ACM Transactions on Mathematical Software* 47
//! (2020), which keeps the worst case at that of bisection, up to a number of evaluations chosen beforehand: some watched functions are indicators that
//! jump, or flat at their root.

use crate::error::RunError;

/// Evaluations that the worst case may need beyond those of bisection.
const MORE_THAN_BISECTION: i32 = 2;
/// An estimate of the root is moved by this fraction of the wanted width, so that the next one is likely on the other side.
const OVERSHOOT: f64 = 0.25;

/// A function at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    /// Time \[s\].
    pub t: f64,
    /// Value.
    pub f: f64,
}

/// Two times between which a function falls through zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bracket {
    /// Not below zero.
    pub before: Point,
    /// Below zero.
    pub behind: Point,
}

impl Bracket {
    fn width(&self) -> f64 {
        self.behind.t - self.before.t
    }

    /// Takes a point inside as one of the ends; the end that goes.
    fn replace(&mut self, point: Point) -> Point {
        let end = if point.f < 0.0 { &mut self.behind } else { &mut self.before };
        std::mem::replace(end, point)
    }

    /// The place of the root by inverse quadratic interpolation, if that can be trusted; `gone` is the end that was replaced last.
    ///
    /// With x₁ the newest end, x₂ the other, x₃ the one that is gone,
    ///
    /// ```text
    /// ξ = (x₁ − x₂)/(x₃ − x₂),   φ = (f₁ − f₂)/(f₃ − f₂):   trusted if φ² < ξ and (1 − φ)² < 1 − ξ
    /// ```
    fn estimate(&self, gone: Point) -> Option<f64> {
        let is_behind = gone.t >= self.behind.t;
        let (newest, other) = if is_behind { (self.behind, self.before) } else { (self.before, self.behind) };
        let xi = (newest.t - other.t) / (gone.t - other.t);
        let phi = (newest.f - other.f) / (gone.f - other.f);
        let is_trusted = phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi;
        is_trusted.then(|| {
            let ratio = (gone.t - newest.t) / (other.t - newest.t);
            let first = newest.f / (other.f - newest.f) * (gone.f / (other.f - gone.f));
            let second = ratio * (newest.f / (gone.f - newest.f)) * (other.f / (gone.f - other.f));
            newest.t + (first + second) * (other.t - newest.t)
        })
    }

    fn secant(&self) -> f64 {
        self.before.t + self.width() * (self.before.f / (self.before.f - self.behind.f))
    }
}

/// The least distance of times near t that is more than round-off.
pub(super) fn round_off(t: f64) -> f64 {
    4.0 * f64::EPSILON * t.abs()
}

/// Narrows a bracket to the width given, or to round-off of the time; the end behind the root is then within round-off of it if the function is smooth.
///
/// # Errors
/// Those of the function.
pub(super) fn narrow(mut bracket: Bracket, width: f64, f: &mut dyn FnMut(f64) -> Result<f64, RunError>) -> Result<Bracket, RunError> {
    let ulps = round_off(bracket.before.t).max(round_off(bracket.behind.t)).max(f64::MIN_POSITIVE);
    let (width, first) = (width.max(ulps), bracket.width());
    let halvings = (first / width).log2().ceil().clamp(0.0, 1100.0) as i32;
    let mut allowance = width * 2.0_f64.powi(halvings + MORE_THAN_BISECTION);
    let mut gone: Option<Point> = None;
    while bracket.width() > width {
        let now = bracket.width();
        let middle = bracket.before.t + 0.5 * now;
        let mut t = gone.and_then(|gone| bracket.estimate(gone)).unwrap_or(middle);
        let overshoot = OVERSHOOT * width;
        if (middle - t).abs() > overshoot {
            t += overshoot.copysign(middle - t);
        }
        t = t.clamp(bracket.before.t + overshoot, bracket.behind.t - overshoot);
        // the projection: what remains is never wider than the allowance, which is halved every time
        let slack = (0.5 * (allowance - now)).max(0.0);
        t = t.clamp(middle - slack, middle + slack);
        if !(t > bracket.before.t && t < bracket.behind.t) {
            t = middle;
        }
        gone = Some(bracket.replace(Point { t, f: f(t)? }));
        allowance *= 0.5;
    }
    // what interpolation knows better than the bracket
    for ulp in [0.5 * ulps, ulps] {
        let t = bracket.secant() + ulp;
        if bracket.width() > 2.0 * ulps && t > bracket.before.t && t < bracket.behind.t {
            bracket.replace(Point { t, f: f(t)? });
        }
    }
    Ok(bracket)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Root and number of evaluations.
    fn root(f: impl Fn(f64) -> f64, a: f64, b: f64, width: f64) -> (f64, usize) {
        let mut n = 0;
        let bracket = Bracket { before: Point { t: a, f: f(a) }, behind: Point { t: b, f: f(b) } };
        let narrowed = narrow(bracket, width, &mut |t| {
            n += 1;
            Ok(f(t))
        });
        let narrowed = narrowed.unwrap();
        assert!(narrowed.before.f >= 0.0 && narrowed.behind.f < 0.0);
        (narrowed.behind.t, n)
    }

    #[test]
    fn smooth_functions_take_about_ten_evaluations() {
        let cases: [(&dyn Fn(f64) -> f64, f64); 5] = [
            (&|t: f64| 0.3 - t, 0.3),
            (&|t: f64| 0.5 - t * t, 0.5_f64.sqrt()),
            (&|t: f64| (2.0 * t).cos() - t, 0.514_933_264_661_129_4),
            (&|t: f64| 1.0 - t.exp() * t, 0.567_143_290_409_783_8),
            (&|t: f64| 1e-3 + 0.4 * t - 0.9 * t * t * t, 0.6679131685123811),
        ];
        for (k, (f, exact)) in cases.into_iter().enumerate() {
            let (t, n) = root(f, 0.0, 1.0, 1e-13);
            // round-off of the values moves the root by some ulps
            assert!((t - exact).abs() < 2e-15, "case {k}: {t:.17} instead of {exact:.17}");
            assert!(n <= 10, "case {k}: {n} evaluations");
        }
    }

    #[test]
    fn jumps_take_hardly_more_than_bisection() {
        // log₂(1/1e-13) = 43.2 halvings; two more are allowed, and two for the attempt to polish
        let (t, n) = root(|t| if t < 0.7 { 1.0 } else { -1.0 }, 0.0, 1.0, 1e-13);
        assert!((t - 0.7).abs() <= 1e-13 && n <= 48, "{t:.17} after {n}");
        let (t, n) = root(|t| if t < 0.001 { 1e-9 } else { -1e9 }, 0.0, 1.0, 1e-13);
        assert!((t - 0.001).abs() <= 1e-13 && n <= 48, "{t:.17} after {n}");
    }

    #[test]
    fn flat_roots_take_hardly_more_than_bisection() {
        let (t, n) = root(|t: f64| -(t - 0.3).powi(9), 0.0, 1.0, 1e-13);
        assert!((t - 0.3).abs() <= 1e-13 && n <= 48, "{t:.17} after {n}");
    }

    #[test]
    fn late_times_end_at_their_round_off() {
        let (t, n) = root(|t| 1e6 + 0.125 - t, 1e6, 1e6 + 1.0, 1e-15);
        assert!((t - 1_000_000.125).abs() < 1e-8 * 0.1 && n < 20, "{t} after {n}");
    }
}
