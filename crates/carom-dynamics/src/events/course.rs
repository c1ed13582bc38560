//! The course of one watched function along a step.

use super::bracketing::{Bracket, Point};
use crate::systems::Sample;

/// How a function fell, and between which points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Crossing {
    /// At the start: below −threshold and not rising.
    Start(f64),
    /// Through zero.
    Zero(Bracket),
    /// Through −threshold without having been above zero: values are f + threshold.
    Level { bracket: Bracket, level: f64 },
}

impl Crossing {
    /// The event is not before this.
    pub(crate) fn earliest(&self) -> f64 {
        match self {
            Crossing::Start(t) => *t,
            Crossing::Zero(bracket) | Crossing::Level { bracket, .. } => bracket.before.t,
        }
    }
}

/// What is known of a function up to a point. The rule is that of [`first_event`](super::location::first_event).
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    /// |f| ≤ threshold is zero.
    pub threshold: f64,
    /// f has been above the threshold.
    pub armed: bool,
    last: Point,
    /// The last point above zero.
    above: Option<Point>,
    /// The first point below zero after it.
    below: Option<Point>,
    /// The lowest point within the threshold since f has come from above.
    lowest: Option<Point>,
}

impl Course {
    /// Begins with the first two samples; a crossing if the function is below −threshold and does not rise, or at zero and falls.
    pub fn begin(t: f64, (first, next): (Sample, Sample), threshold: f64, fast: f64) -> (Self, Option<Crossing>) {
        let last = Point { t, f: first.value };
        let above = (last.f > 0.0).then_some(last);
        let mut course = Course { threshold, armed: last.f > threshold, last, above, below: None, lowest: None };
        if last.f >= -threshold {
            match first.rate {
                // it leaves zero: what it does afterwards is told by its own values
                Some(rate) if last.f <= threshold && rate > fast => course.threshold = last.f.abs(),
                Some(rate) if last.f <= threshold && rate < -fast && last.f > 0.0 => course.threshold = 0.0,
                Some(rate) if last.f <= threshold && rate < -fast => return (course, Some(Crossing::Start(t))),
                _ => {}
            }
            return (course, None);
        }
        course.threshold = -last.f;
        let rises = first.rate.is_some_and(|rate| rate > 0.0) || next.value > first.value;
        (course, (!rises).then_some(Crossing::Start(t)))
    }

    /// f has not been above zero.
    pub(crate) fn is_below(&self) -> bool {
        self.above.is_none()
    }

    /// Goes on to the next point: an event, or a touch that is over.
    pub fn advance(&mut self, point: Point) -> (Option<Crossing>, Option<Point>) {
        let last = std::mem::replace(&mut self.last, point);
        if point.f > self.threshold {
            self.armed = true;
            (self.above, self.below) = (Some(point), None);
            return (None, self.lowest.take());
        }
        if point.f < -self.threshold {
            let level = self.threshold;
            let raised = |point: Point| Point { t: point.t, f: point.f + level };
            let crossing = match self.above {
                Some(before) => Crossing::Zero(Bracket { before, behind: self.below.unwrap_or(point) }),
                None => Crossing::Level { bracket: Bracket { before: raised(last), behind: raised(point) }, level },
            };
            return (Some(crossing), None);
        }
        if point.f > 0.0 {
            (self.above, self.below) = (Some(point), None);
        } else if point.f < 0.0 && self.above.is_some() {
            self.below.get_or_insert(point);
        }
        if self.armed && self.lowest.is_none_or(|lowest| point.f < lowest.f) {
            self.lowest = Some(point);
        }
        (None, None)
    }

    /// The crossing of zero of an armed function that is now below zero, but not below −threshold.
    pub fn pending(&self) -> Option<Crossing> {
        match (self.above, self.below) {
            (Some(before), Some(behind)) if self.armed => Some(Crossing::Zero(Bracket { before, behind })),
            _ => None,
        }
    }

    /// Ends the step within the threshold: a touch if the lowest point is passed, else an event if f is below zero.
    pub fn finish(&self) -> (Option<Crossing>, Option<Point>) {
        match self.lowest {
            Some(lowest) if lowest.f < self.last.f => (None, Some(lowest)),
            _ => (self.pending(), None),
        }
    }
}
