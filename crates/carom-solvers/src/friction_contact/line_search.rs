//! Line searches on a merit function that need not be smooth.

use super::nonsmooth_newton::NewtonLineSearch;

/// Finds a length t with θ(t) ≤ θ_ref + m₁ t θ', θ_ref the largest of the last values: the search of Grippo, Lampariello
/// and Lucidi (*A nonmonotone line search technique for Newton's method*, 1986), which lets Newton's steps
/// cross the kinks of θ.
///
/// Goldstein and Price ask for θ(t) ≥ θ + m₂ t θ' as well, else t is too short.
#[derive(Clone, Debug, Default)]
pub(super) struct LineSearch {
    /// The merits before the current one, in a ring.
    merits: Vec<f64>,
    next: usize,
    length: usize,
}

/// The merit at the current point and its slope along the direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decrease {
    pub merit: f64,
    pub slope: f64,
}

/// m₁, the least part of the promised decrease.
const LEAST: f64 = 1e-4;

/// m₂, the part of the promised decrease beyond which a step is too short. Above ½: full Newton steps always pass.
const MOST: f64 = 0.9;

/// Trials before the direction is given up: lengths down to 1e-4 by halving.
const TRIALS: usize = 14;

/// Largest growth of a step that is too short.
const STRETCH: f64 = 4.0;

impl LineSearch {
    /// Forgets all values; the next searches compare with the last `memory` ones, the current one among them.
    pub fn reset(&mut self, memory: usize) {
        self.merits.clear();
        self.next = 0;
        self.length = memory.saturating_sub(1);
    }

    /// Calls `evaluate` with lengths until one is accepted, which is then the last one called; false when none is.
    pub fn search(&mut self, kind: NewtonLineSearch, start: Decrease, mut evaluate: impl FnMut(f64) -> f64) -> bool {
        let reference = self.merits.iter().fold(start.merit, |largest, merit| largest.max(*merit));
        let (mut short, mut long) = (0.0, f64::INFINITY);
        let mut length = 1.0;
        let mut accepted = false;
        for _ in 0..TRIALS {
            let merit = evaluate(length);
            // Written so that NaN is too long.
            let is_low = match kind {
                NewtonLineSearch::None => merit.is_finite(),
                _ => merit <= reference + LEAST * length * start.slope,
            };
            let is_short = kind == NewtonLineSearch::GoldsteinPrice && merit < start.merit + MOST * length * start.slope;
            if !is_low {
                long = length;
            } else if is_short {
                short = length;
            } else {
                accepted = true;
                break;
            }
            length = if long.is_finite() { 0.5 * (short + long) } else { STRETCH * length };
        }
        if !accepted && short > 0.0 {
            // Between a length that is too short and one that is too long: the shorter one decreases θ.
            evaluate(short);
            accepted = true;
        }
        if accepted {
            self.remember(start.merit);
        }
        accepted
    }

    fn remember(&mut self, merit: f64) {
        if self.merits.len() < self.length {
            self.merits.push(merit);
        } else if let Some(oldest) = self.merits.get_mut(self.next) {
            *oldest = merit;
            self.next = (self.next + 1) % self.length;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(search: &mut LineSearch, kind: NewtonLineSearch, slope: f64, theta: impl Fn(f64) -> f64) -> Option<f64> {
        let mut last = 0.0;
        let start = Decrease { merit: theta(0.0), slope };
        search
            .search(kind, start, |t| {
                last = t;
                theta(t)
            })
            .then_some(last)
    }

    #[test]
    fn steps_are_shortened_and_lengthened() {
        let mut search = LineSearch::default();
        search.reset(1);
        // θ = (1 − t)² and (1 − 5t)²: a full Newton step, and one that is five times too long.
        for kind in [NewtonLineSearch::Armijo, NewtonLineSearch::GoldsteinPrice] {
            assert_eq!(find(&mut search, kind, -2.0, |t| (1.0 - t).powi(2)), Some(1.0));
            assert_eq!(find(&mut search, kind, -10.0, |t| (1.0 - 5.0 * t).powi(2)), Some(0.25));
        }
        // θ = 1 + (1 − t/8)²: too short for Goldstein and Price.
        let theta = |t: f64| 1.0 + (1.0 - t / 8.0).powi(2);
        search.reset(1);
        assert_eq!(find(&mut search, NewtonLineSearch::Armijo, -0.25, theta), Some(1.0));
        assert_eq!(find(&mut search, NewtonLineSearch::GoldsteinPrice, -0.25, theta), Some(4.0));
        // No descent, and a function that is not finite.
        assert_eq!(find(&mut search, NewtonLineSearch::Armijo, -1.0, |t| 1.0 + t), None);
        assert_eq!(find(&mut search, NewtonLineSearch::GoldsteinPrice, -1.0, |t| if t > 0.0 { f64::NAN } else { 1.0 }), None);
        assert_eq!(find(&mut search, NewtonLineSearch::None, -1.0, |t| 1.0 + t), Some(1.0));
    }

    #[test]
    fn memory_allows_a_rise() {
        let mut search = LineSearch::default();
        for (memory, length) in [(1, 0.5), (2, 1.0), (3, 1.0)] {
            search.reset(memory);
            // From 4 to 1, then along a direction with a hump at the full step.
            assert_eq!(find(&mut search, NewtonLineSearch::Armijo, -6.0, |t| if t < 1.0 { 4.0 } else { 1.0 }), Some(1.0));
            let hump = |t: f64| if t > 0.6 { 2.0 } else { 1.0 - 0.5 * t };
            assert_eq!(find(&mut search, NewtonLineSearch::Armijo, -0.5, hump), Some(length), "memory {memory}");
        }
    }
}
