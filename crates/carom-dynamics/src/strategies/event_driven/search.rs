//! The way to an event: roots on the dense output, and steps to them.

use super::motion::Motion;
use super::watch::Function;
use crate::error::RunError;
use crate::events::{Found, Location, LocationSettings, Watched, first_event};
use crate::systems::Sample;

/// Steps to a root of the dense output are corrected at most so many times until the root no longer moves.
const CORRECTIONS: usize = 4;

/// Searches in a step that each end beyond the event they promised.
const MOST_SEARCHES: usize = 12;

/// What happens at an event, and the contacts that grazed before, with the times.
type Located = (Vec<Function>, Vec<(usize, f64)>);

/// Where a step to a root has led.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    /// To the root.
    There,
    /// To a point before it.
    Before,
    /// To a point behind it.
    Beyond,
}

/// A function at the end of a step that should be its root.
#[derive(Clone, Copy, Debug)]
struct Root {
    value: f64,
    /// How far the root is by the slope \[s\].
    shift: f64,
    /// It is known to rise, so that this is no root of an event: the dense output of a long step was too coarse.
    rises: bool,
}

impl Motion<'_> {
    /// Looks for the first event of the step just taken and goes to it: what happens there, and what grazed before. `None` when the dense output
    /// promised an event that a step to it does not meet; the motion goes on from where that step ended.
    pub(super) fn locate(&mut self, t_start: f64, location: &LocationSettings) -> Result<Option<Located>, RunError> {
        for _ in 0..MOST_SEARCHES {
            let span = (t_start, self.t());
            let search = self.watching(|watch| first_event(watch, span, location))?;
            let grazing = search.grazing.iter().filter_map(|touch| match self.functions[touch.function] {
                Function::Gap { contact } => Some((contact, touch.t)),
                _ => None,
            });
            let grazing = grazing.collect();
            let Some(Found { t, functions }) = search.event else { return Ok(Some((Vec::new(), grazing))) };
            match self.go_to(t, functions[0])? {
                Arrival::There => return Ok(Some((functions.iter().map(|&i| self.functions[i]).collect(), grazing))),
                Arrival::Before => return Ok(None),
                // the dense output of a shorter step is more exact
                Arrival::Beyond => {}
            }
        }
        Ok(None)
    }

    /// Takes the step back and goes to the time of a root of function i.
    fn go_to(&mut self, mut t: f64, i: usize) -> Result<Arrival, RunError> {
        let t_start = self.integration.previous().t;
        let mut backed = false;
        let polished = self.settings.location == Location::Bracketing && !self.functions[i].is_indicator();
        for correction in 0..=CORRECTIONS {
            self.integration.take_back()?;
            if t - t_start <= f64::EPSILON * t.abs() {
                return Ok(Arrival::There);
            }
            self.integration.plan(t - t_start);
            self.integration.step(t)?;
            if self.t() < t {
                return Ok(Arrival::Before);
            }
            if !polished {
                return Ok(Arrival::There);
            }
            let Root { value, shift, rises } = self.root(i)?;
            if rises {
                return Ok(Arrival::Before);
            }
            let resolved = 2.0 * f64::EPSILON * t.abs();
            if backed {
                return Ok(Arrival::There);
            }
            if shift.abs() <= resolved || value == 0.0 {
                if !self.functions[i].is_switch() || correction == CORRECTIONS {
                    return Ok(Arrival::There);
                }
                // the last stage of the step must not see the forces beyond the switch
                backed = true;
                t -= shift.abs() + 2.0 * resolved;
                continue;
            }
            let converges = shift.is_finite() && shift.abs() < 0.1 * (t - t_start);
            if correction == CORRECTIONS || !converges {
                let near = value.abs() <= self.watching(|watch| watch.threshold(i)) && correction == CORRECTIONS;
                return Ok(if near {
                    Arrival::There
                } else if value < 0.0 {
                    Arrival::Beyond
                } else {
                    Arrival::Before
                });
            }
            t += shift;
        }
        Ok(Arrival::There)
    }

    /// How far the root of function i is from the end of the step.
    fn root(&mut self, i: usize) -> Result<Root, RunError> {
        let (t_start, t_end) = (self.integration.previous().t, self.t());
        let h = t_end - t_start;
        let n = self.functions.len();
        let (mut here, mut before) = (vec![Sample { value: 0.0, rate: None }; n], vec![Sample { value: 0.0, rate: None }; n]);
        let back = 1e-3 * h;
        self.watching(|watch| {
            watch.sample(t_end, &mut here)?;
            watch.sample(t_end - back, &mut before)
        })?;
        let difference = (here[i].value - before[i].value) / back;
        // the point of a contact of bodies may move along an edge: its velocity is then not the rate of the gap
        let slope = here[i].rate.filter(|rate| (rate - difference).abs() <= 0.1 * difference.abs()).unwrap_or(difference);
        let rises = here[i].rate.is_some_and(|rate| rate > 0.0);
        Ok(Root { value: here[i].value, shift: -here[i].value / slope, rises })
    }
}
