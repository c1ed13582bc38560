//! The first time in a step at which a watched function falls through zero.

use super::bracketing::{Bracket, Point, narrow, round_off};
use super::course::{Course, Crossing};
use super::extrema::{may_dip, minima_without_rates, turning_point};
use super::interpolating::crossing_time;
use super::params::Location;
use crate::error::{NonFinite, RunError, StepError};
use crate::systems::Sample;

/// Functions on the dense output of a step, sampled together because one evaluation of the state serves all.
pub trait Watched {
    /// Number of functions.
    fn n(&self) -> usize;

    /// All functions at t.
    ///
    /// # Errors
    /// What the evaluation of the state or of a function says.
    fn sample(&mut self, t: f64, out: &mut [Sample]) -> Result<(), RunError>;

    /// |f_i| up to this is zero; not negative.
    fn threshold(&self, i: usize) -> f64;

    /// |ḟ_i| above this is a rate at which f_i leaves zero or comes to it; by default none is.
    fn fast(&self, _i: usize) -> f64 {
        f64::INFINITY
    }
}

/// How events are looked for in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocationSettings {
    /// The method.
    pub method: Location,
    /// Width of the bracket of a root, and distance of roots that are one event \[s\].
    pub time: f64,
    /// Number of subintervals at whose ends a step is looked at, at least 1; functions that give no rate need 2 for minima to be suspected.
    pub samples: usize,
    /// Width at which IM3 ends its bisection \[s\].
    pub precision: f64,
}

impl Default for LocationSettings {
    fn default() -> Self {
        LocationSettings { method: Location::default(), time: 1e-12, samples: 8, precision: 1e-9 }
    }
}

/// What happens first in a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Time \[s\]: the function that crosses first is below zero there, for the first time up to the accuracy of the method (IM1, IM2: up to the sign).
    pub t: f64,
    /// The functions that cross within `time` of it, in order.
    pub functions: Vec<usize>,
}

/// A function that came to zero and rose again without crossing it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grazing {
    /// The function.
    pub function: usize,
    /// When it was lowest \[s\].
    pub t: f64,
    /// Its value there, within ± threshold.
    pub value: f64,
}

/// What [`first_event`] saw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Search {
    /// The first event, if there is one.
    pub event: Option<Found>,
    /// Touches before it.
    pub grazing: Vec<Grazing>,
    /// Evaluations of all functions.
    pub evaluations: usize,
}

/// The first time in the span at which a function falls through zero.
///
/// **Where.** A function is looked at at the ends of `samples` equal parts of the span. Where it is above zero at both ends of a part and its rate
/// changes from − to +, its minimum is located, so that two roots between samples are not missed (Brogliato2002 §6.5). Rates that are not given are
/// estimated by parabolas through three samples.
///
/// **When.** With τ the threshold of a function:
/// - it is *armed* once f > τ. An armed function that falls below zero is an event at the root;
/// - unless it comes into |f| ≤ τ and rises above zero again: then it grazes, which is no event. Double roots graze;
/// - a function that starts with |f| ≤ τ is not armed: it may rise, and rest, and wander in |f| ≤ τ without an event. If it falls below −τ, that is an
///   event: at its last root before that if it was above zero, otherwise when it passes −τ. So a hop lower than τ cannot tunnel;
/// - a function that starts with |f| ≤ τ and |ḟ| above [`Watched::fast`] is told by its own values instead: rising, |f| at the start takes the place of τ,
///   so that hops far below τ are seen; falling from above zero, zero does; falling from zero or below, it is an event at the start;
/// - a function that starts below −τ is an event at the start, unless it rises: then its value at the start takes the place of −τ.
///
/// **How.** See [`Location`]. Functions that cross within `time`, or the round-off of t, after the first one belong to the event.
/// IM1, IM2 and IM3 use the values at the ends of the span (and the slope at the start, or bisection) only, and see no touches.
/// A function that gives no rate has a straight line in IM2; one that starts at zero and rises has the parabola of IM2 in IM1.
///
/// Cost: `samples` + 1 evaluations, about eight more for each root or minimum.
///
/// # Errors
/// Those of the functions; a value that is not a number.
pub fn first_event(watched: &mut dyn Watched, span: (f64, f64), settings: &LocationSettings) -> Result<Search, RunError> {
    let mut probe = Probe::new(watched);
    let mut search = Search::default();
    if probe.n() > 0 && span.1 > span.0 {
        if settings.method == Location::Bracketing {
            follow(&mut probe, span, settings, &mut search)?;
        } else {
            search.event = interpolate(&mut probe, span, settings)?;
        }
    }
    search.evaluations = probe.evaluations;
    Ok(search)
}

/// Watched functions with a place for their samples.
pub(super) struct Probe<'w> {
    watched: &'w mut dyn Watched,
    samples: Vec<Sample>,
    evaluations: usize,
}

impl<'w> Probe<'w> {
    fn new(watched: &'w mut dyn Watched) -> Self {
        let samples = vec![Sample::default(); watched.n()];
        Probe { watched, samples, evaluations: 0 }
    }

    fn n(&self) -> usize {
        self.samples.len()
    }

    pub(super) fn threshold(&self, i: usize) -> f64 {
        self.watched.threshold(i)
    }

    fn fast(&self, i: usize) -> f64 {
        self.watched.fast(i)
    }

    /// All functions at t.
    fn at(&mut self, t: f64) -> Result<&[Sample], RunError> {
        self.evaluations += 1;
        self.watched.sample(t, &mut self.samples)?;
        for (i, sample) in self.samples.iter().enumerate() {
            if sample.value.is_nan() || sample.rate.is_some_and(f64::is_nan) {
                let source = NonFinite { what: format!("watched function {i}"), value: f64::NAN };
                return Err(StepError::NonFinite { t, source }.into());
            }
        }
        Ok(&self.samples)
    }

    /// Function i at t.
    pub(super) fn sample(&mut self, i: usize, t: f64) -> Result<Sample, RunError> {
        Ok(self.at(t)?[i])
    }

    /// f_i(t).
    pub(super) fn value(&mut self, i: usize, t: f64) -> Result<f64, RunError> {
        Ok(self.at(t)?[i].value)
    }
}

/// The samples of a span.
struct Grid {
    times: Vec<f64>,
    samples: Vec<Vec<Sample>>,
}

impl Grid {
    fn new(probe: &mut Probe<'_>, span: (f64, f64), parts: usize) -> Result<Self, RunError> {
        let parts = parts.max(1);
        let time = |k: usize| if k == parts { span.1 } else { span.0 + (span.1 - span.0) * (k as f64 / parts as f64) };
        let times: Vec<f64> = (0..=parts).map(time).collect();
        let samples = times.iter().map(|&t| Ok(probe.at(t)?.to_vec())).collect::<Result<_, RunError>>()?;
        Ok(Grid { times, samples })
    }

    fn point(&self, k: usize, i: usize) -> Point {
        Point { t: self.times[k], f: self.samples[k][i].value }
    }

    fn rates(&self, k: usize, i: usize) -> Option<(f64, f64)> {
        self.samples[k][i].rate.zip(self.samples[k + 1][i].rate)
    }
}

/// One function on its way through the grid.
struct Follower {
    course: Course,
    crossing: Option<Crossing>,
    /// Minima found beforehand, where rates are not given.
    minima: Vec<Point>,
}

/// Follows all functions part by part up to the first in which one crosses.
fn follow(probe: &mut Probe<'_>, span: (f64, f64), settings: &LocationSettings, search: &mut Search) -> Result<(), RunError> {
    let grid = Grid::new(probe, span, settings.samples)?;
    let parts = grid.times.len() - 1;
    let mut followers = Vec::with_capacity(probe.n());
    for i in 0..probe.n() {
        let (course, crossing) = Course::begin(span.0, (grid.samples[0][i], grid.samples[1][i]), probe.threshold(i), probe.fast(i));
        let mut minima = Vec::new();
        if crossing.is_none() && grid.samples[0][i].rate.is_none() {
            let points: Vec<Point> = (0..=parts).map(|k| grid.point(k, i)).collect();
            minima = minima_without_rates(probe, i, &points)?;
        }
        followers.push(Follower { course, crossing, minima });
    }
    for k in 0..parts {
        for (i, follower) in followers.iter_mut().enumerate().filter(|(_, follower)| follower.crossing.is_none()) {
            let between = match turning_between(probe, &grid, (k, i), &follower.course, settings.time)? {
                Some(point) => Some(point),
                None => follower.minima.iter().copied().find(|point| point.t > grid.times[k] && point.t < grid.times[k + 1]),
            };
            for point in between.into_iter().chain([grid.point(k + 1, i)]) {
                let (crossing, touch) = follower.course.advance(point);
                search.grazing.extend(touch.map(|point| Grazing { function: i, t: point.t, value: point.f }));
                follower.crossing = crossing;
                if crossing.is_some() {
                    break;
                }
            }
            if k + 1 == parts && follower.crossing.is_none() {
                let (crossing, touch) = follower.course.finish();
                search.grazing.extend(touch.map(|point| Grazing { function: i, t: point.t, value: point.f }));
                follower.crossing = crossing;
            }
        }
        if followers.iter().any(|follower| follower.crossing.is_some()) {
            let crossings: Vec<_> = followers.iter().map(|follower| follower.crossing.or_else(|| follower.course.pending())).collect();
            let found = earliest(probe, &followers, &crossings, span.1, settings)?;
            search.grazing.retain(|touch| touch.t <= found.t);
            search.event = Some(found);
            break;
        }
    }
    search.grazing.sort_by(|a, b| a.t.total_cmp(&b.t));
    Ok(())
}

/// The extremum of function i in part k of the grid, if rates show one and it matters: a minimum that may touch or cross zero, or a maximum
/// between a start at zero and an end below, where the function was above zero.
fn turning_between(
    probe: &mut Probe<'_>,
    grid: &Grid,
    (k, i): (usize, usize),
    course: &Course,
    width: f64,
) -> Result<Option<Point>, RunError> {
    let Some((rate, next)) = grid.rates(k, i) else { return Ok(None) };
    let (a, b, band) = (grid.point(k, i), grid.point(k + 1, i), course.threshold);
    let floor = if course.armed { band } else { -band };
    let is_minimum = b.f >= -band && may_dip(a, b, (rate, next), floor);
    let matters = !course.armed && b.f <= band && (b.f >= -band || course.is_below());
    let mirrored = |point: Point| Point { t: point.t, f: -point.f };
    let is_maximum = matters && may_dip(mirrored(a), mirrored(b), (-rate, -next), 0.0);
    if !(is_minimum || is_maximum) {
        return Ok(None);
    }
    turning_point(probe, i, (a.t, rate), (b.t, next), width).map(Some)
}

/// Locates the crossings that may be first, and gathers those that are one event with the first.
fn earliest(
    probe: &mut Probe<'_>,
    followers: &[Follower],
    crossings: &[Option<Crossing>],
    end: f64,
    settings: &LocationSettings,
) -> Result<Found, RunError> {
    let mut order: Vec<(usize, Crossing)> = crossings.iter().enumerate().filter_map(|(i, crossing)| Some((i, (*crossing)?))).collect();
    order.sort_by(|a, b| a.1.earliest().total_cmp(&b.1.earliest()));
    let (mut first, mut roots) = (f64::INFINITY, Vec::with_capacity(order.len()));
    for (i, crossing) in order {
        if crossing.earliest() <= first + settings.time.max(round_off(crossing.earliest())) {
            let t = locate(probe, i, crossing, settings.time)?;
            roots.push((i, t));
            first = first.min(t);
        }
    }
    let together = (first + settings.time.max(round_off(first))).min(end);
    let mut functions: Vec<usize> = roots.iter().filter(|(_, t)| *t <= together).map(|(i, _)| *i).collect();
    // those that cross in the next part, and yet together
    let samples = probe.at(together)?;
    functions.extend((0..followers.len()).filter(|&i| {
        let course = &followers[i].course;
        crossings[i].is_none() && samples[i].value < if course.armed { 0.0 } else { -course.threshold }
    }));
    functions.sort_unstable();
    Ok(Found { t: first, functions })
}

/// The time of a crossing.
fn locate(probe: &mut Probe<'_>, i: usize, crossing: Crossing, width: f64) -> Result<f64, RunError> {
    match crossing {
        Crossing::Start(t) => Ok(t),
        Crossing::Zero(bracket) => Ok(narrow(bracket, width, &mut |t| probe.value(i, t))?.behind.t),
        Crossing::Level { bracket, level } => {
            let behind = narrow(bracket, width, &mut |t| Ok(probe.value(i, t)? + level))?.behind;
            // a hop that no sample saw: its top, if it is a parabola from the start of the bracket, f = f₀ + α s + β s²
            let (start, length) = (bracket.before.t, behind.t - bracket.before.t);
            let half = probe.value(i, start + 0.5 * length)? + level - bracket.before.f;
            let whole = behind.f - bracket.before.f;
            let (alpha, beta) = ((4.0 * half - whole) / length, (2.0 * whole - 4.0 * half) / (length * length));
            let t = start - 0.5 * alpha / beta;
            if !(t > start && t < behind.t) {
                return Ok(behind.t);
            }
            let f = probe.value(i, t)?;
            if f <= 0.0 {
                return Ok(behind.t);
            }
            let hop = Bracket { before: Point { t, f }, behind: Point { t: behind.t, f: behind.f - level } };
            Ok(narrow(hop, width, &mut |t| probe.value(i, t))?.behind.t)
        }
    }
}

/// IM1, IM2, IM3: one time for each function that is below zero at the end, then the first of them.
fn interpolate(probe: &mut Probe<'_>, span: (f64, f64), settings: &LocationSettings) -> Result<Option<Found>, RunError> {
    let (first, last) = (probe.at(span.0)?.to_vec(), probe.at(span.1)?.to_vec());
    let mut roots = Vec::new();
    for i in 0..probe.n() {
        if let Some(t) = crossing_time(probe, i, span, (first[i], last[i]), settings)? {
            roots.push((i, t));
        }
    }
    let Some(t) = roots.iter().map(|root| root.1).min_by(f64::total_cmp) else { return Ok(None) };
    let together = t + settings.time.max(round_off(t));
    Ok(Some(Found { t, functions: roots.iter().filter(|root| root.1 <= together).map(|root| root.0).collect() }))
}
