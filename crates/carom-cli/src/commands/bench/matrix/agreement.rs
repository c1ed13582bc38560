//! Do two methods agree at the end of a short run, as far as their orders allow?
//!
//! x_M and x_O are the ends of method and of the model's own method with the step of the file, x' those with half the step (a tenth of the
//! tolerance where a method chooses its steps). In the maximum norm, for coordinates q, velocities v and first-order states x each,
//!
//! ```text
//! |x_M − x_O| ≤ C (|x_M − x_M'| + |x_O − x_O'|) + floor + impacts
//! ```
//!
//! A method of order p has the error |x − x'| / (1 − 2⁻ᵖ), at most twice the difference for p ≥ 1; C = 4 leaves a factor of two for errors that
//! are not yet proportional to hᵖ. The floor is what one-step solvers leave: 1e-6 of the largest velocity, that times the time of the run for
//! coordinates, and 1e-9 in the units of the file, 1e-7 for velocities.
//!
//! *Impacts.* Time-stepping knows the time of an impact to one step, and the error that follows may be the same with half the step. Where a
//! velocity jumps in the window, coordinates may therefore differ by the step times the sum of the jumps, and velocities by what they change
//! in one step without jumps; where it jumps in the last two steps, each end is compared with the range of the other over its last step, and
//! the smaller difference counts.

use crate::commands::bench::trial::{Instants, Tried};

/// C.
const SAFETY: f64 = 4.0;
/// Of the largest velocity: solvers stop at residuals of 1e-8 and less, which a few ill-conditioned contacts may magnify.
const RELATIVE_FLOOR: f64 = 1e-6;
/// Of q, v and x in the units of the file: what solvers leave where nothing moves; laws on gaps divide it by the step.
const ABSOLUTE_FLOOR: [f64; 3] = [1e-9, 1e-7, 1e-9];
/// A change of velocity in a step with an event is a jump from so many times the largest change without one.
const JUMP: f64 = 5.0;

/// The largest difference over what is allowed, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// At most 1 where the methods agree.
    pub ratio: f64,
    /// The worst of the three parts, in words.
    pub worst: String,
}

/// A method with its step and a smaller one.
#[derive(Clone, Copy)]
pub struct Halved<'a> {
    pub coarse: &'a Tried,
    pub fine: &'a Tried,
}

/// Compares the ends of two methods; `step` is that of the file.
pub fn agreement(method: Halved<'_>, own: Halved<'_>, step: f64) -> Agreement {
    let jumps = Jumps::of(method.coarse).larger(Jumps::of(own.coarse));
    let is_late = own.coarse.end - jumps.last <= 2.0 * step;
    let largest_speed = [method, own].iter().map(|m| largest(m.coarse.instants.v.last())).fold(0.0, f64::max);
    let time = own.coarse.end - own.coarse.start;
    let parts: [(&str, Part, f64, f64); 3] = [
        ("q", |i| &i.q, RELATIVE_FLOOR * largest_speed * time, step * jumps.sum),
        ("v", |i| &i.v, RELATIVE_FLOOR * largest_speed, jumps.smooth),
        ("x", |i| &i.x, RELATIVE_FLOOR * largest(own.coarse.instants.x.last()), 0.0),
    ];
    let mut found = Agreement { ratio: 0.0, worst: String::new() };
    for ((name, part, floor, of_impacts), least) in parts.into_iter().zip(ABSOLUTE_FLOOR) {
        let ends = |tried: &Tried| part(&tried.instants).last().cloned().unwrap_or_default();
        let (x, y) = (ends(method.coarse), ends(own.coarse));
        let mut distance = distance(&x, &y);
        if is_late && jumps.sum > 0.0 {
            let ranges = [(&x, own.coarse), (&y, method.coarse)];
            distance = ranges.iter().map(|(x, other)| outside(x, &other.instants, part, step)).fold(distance, f64::min);
        }
        let halving = self::distance(&x, &ends(method.fine)) + self::distance(&y, &ends(own.fine));
        let allowed = SAFETY * halving + floor + least + of_impacts;
        let ratio = if distance.is_finite() && allowed.is_finite() { distance / allowed } else { f64::INFINITY };
        if ratio > found.ratio || found.worst.is_empty() {
            found = Agreement { ratio, worst: format!("{name} differs by {distance:.1e}, {allowed:.1e} is allowed") };
        }
    }
    found
}

type Part = fn(&Instants) -> &Vec<Vec<f64>>;

fn largest(x: Option<&Vec<f64>>) -> f64 {
    x.map_or(0.0, |x| x.iter().fold(0.0, |most: f64, x| most.max(x.abs())))
}

/// Largest difference of two states; infinite where one is no number.
fn distance(x: &[f64], y: &[f64]) -> f64 {
    if x.len() != y.len() {
        return f64::INFINITY;
    }
    x.iter().zip(y).map(|(x, y)| (x - y).abs()).fold(0.0, |most: f64, d| if d.is_nan() { f64::INFINITY } else { most.max(d) })
}

/// Largest distance of a state from the ranges of another motion over its last step.
fn outside(x: &[f64], other: &Instants, part: Part, step: f64) -> f64 {
    let end = other.t.last().copied().unwrap_or(0.0);
    let from = other.t.iter().rposition(|t| *t <= end - 0.99 * step).unwrap_or(0);
    let last = &part(other)[from..];
    if last.iter().any(|y| y.len() != x.len()) {
        return f64::INFINITY;
    }
    let of = |i: usize| {
        let (low, high) = last.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y[i]), high.max(y[i])));
        (low - x[i]).max(x[i] - high).max(0.0)
    };
    (0..x.len()).map(of).fold(0.0, |most: f64, d| if d.is_nan() { f64::INFINITY } else { most.max(d) })
}

/// What velocities do between frames.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Jumps {
    /// Sum of the changes in frames with jumps.
    sum: f64,
    /// Largest change in a frame without, where there are jumps.
    smooth: f64,
    /// Time of the last jump.
    last: f64,
}

impl Jumps {
    fn of(tried: &Tried) -> Self {
        let Instants { t, v, .. } = &tried.instants;
        let has_event = |k: usize| tried.jumps.iter().any(|at| t[k] - 1e-12 <= *at && *at <= t[k + 1] + 1e-12);
        let changes: Vec<(usize, f64)> = (0..t.len().saturating_sub(1)).map(|k| (k, distance(&v[k], &v[k + 1]))).collect();
        let smooth = changes.iter().filter(|(k, _)| !has_event(*k)).map(|(_, change)| *change).fold(0.0, f64::max);
        let jumps: Vec<_> = changes.iter().filter(|(k, change)| has_event(*k) && *change > JUMP * smooth).collect();
        let last = jumps.last().map_or(f64::NEG_INFINITY, |(k, _)| t[k + 1]);
        Jumps { sum: jumps.iter().map(|(_, change)| change).sum(), smooth: if jumps.is_empty() { 0.0 } else { smooth }, last }
    }

    fn larger(self, other: Self) -> Self {
        Jumps { sum: self.sum.max(other.sum), smooth: self.smooth.max(other.smooth), last: self.last.max(other.last) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::bench::trial::Ended;

    /// A motion of one coordinate in ten steps of 0.1 s.
    fn motion(q: impl Fn(f64) -> f64, v: impl Fn(f64) -> f64, jumps: &[f64]) -> Tried {
        let t: Vec<f64> = (0..=10).map(|k| 0.1 * f64::from(k)).collect();
        let instants = Instants {
            q: t.iter().map(|t| vec![q(*t)]).collect(),
            v: t.iter().map(|t| vec![v(*t)]).collect(),
            x: vec![Vec::new(); t.len()],
            t,
        };
        Tried { instants, end: 1.0, jumps: jumps.to_vec(), ..Tried::ended(Ended::Finished) }
    }

    /// q = sin t with the error of a method of order one, c h t.
    fn first_order(c: f64, h: f64) -> Tried {
        motion(|t| t.sin() + c * h * t, f64::cos, &[])
    }

    fn compared([coarse, fine]: [&Tried; 2], [own, own_fine]: [&Tried; 2]) -> Agreement {
        agreement(Halved { coarse, fine }, Halved { coarse: own, fine: own_fine }, 0.1)
    }

    #[test]
    fn errors_of_the_order_agree_and_others_do_not() {
        let exact = first_order(0.0, 0.1);
        let (coarse, fine) = (first_order(0.3, 0.1), first_order(0.3, 0.05));
        // the difference is twice that of the halving; C = 4
        let right = compared([&coarse, &fine], [&exact, &exact]);
        assert!((0.49..0.51).contains(&right.ratio), "{right:?}");
        // a constant error that does not become smaller with the step
        let wrong = motion(|t| t.sin() + 1e-3 * t, f64::cos, &[]);
        assert!(compared([&wrong, &wrong], [&exact, &exact]).ratio > 100.0);
        let broken = motion(|_| f64::NAN, f64::cos, &[]);
        assert!(compared([&broken, &broken], [&exact, &exact]).ratio.is_infinite());
    }

    /// An impact at 0.35 s turns the velocity from −1 to 1; a method that sees it at the end of its step is late by 0.05 s, at any step.
    #[test]
    fn impacts_may_be_late_by_a_step_and_no_more() {
        let bounce = |at: f64| motion(move |t| if t < at { -t } else { t - 2.0 * at }, move |t| if t < at { -1.0 } else { 1.0 }, &[at]);
        let (located, late, missed) = (bounce(0.35), bounce(0.4), motion(|t| -t, |_| -1.0, &[]));
        assert!(compared([&late, &late], [&located, &located]).ratio < 1.0);
        assert!(compared([&missed, &missed], [&located, &located]).ratio > 1.0);
        assert!(compared([&bounce(0.6), &bounce(0.6)], [&located, &located]).ratio > 1.0);
    }

    /// At the end the one has met the floor and the other not yet.
    #[test]
    fn an_impact_at_the_end_may_come_one_step_later() {
        let meets = |at: f64| motion(move |t| -t.min(at), move |t| if t < at { -1.0 } else { 0.0 }, &[at]);
        let (early, late) = (meets(0.99), motion(|t| -t, |_| -1.0, &[]));
        assert!(compared([&late, &late], [&early, &early]).ratio < 1.0);
    }
}
