//! Methods by projection: their settings, the rule for their step, and the iteration shared by friction contact and variational
//! inequalities.
//!
//! All of them look for x in a closed convex set X with
//!
//! ```text
//!     F(x)ᵀ (y − x) ≥ 0  for all y in X,   that is   x = P_X(x − ρ F(x))  for any ρ > 0.
//! ```

use crate::cones::norm_squared;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::parameters::check;
use crate::report::SolveStatus;
use serde::{Deserialize, Serialize};

/// Settings of the methods by projection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProjectionParams {
    /// First step ρ of extragradient and fixed-point, in units of the inverse mean slope of F (for friction 1/mean(diag W) of each
    /// block). Default 1, nominal 1e-3 to 1e3: it is adapted at once. Not positive is an error.
    pub first_step: f64,
    /// Factor on a step that was refused, no unit. Default 2/3, nominal 0.3 to 0.9; outside (0, 1) it is an error.
    pub shrink: f64,
    /// Factor on a step that was accepted easily, no unit. Default 1.5, nominal 1 (never grow) to 3; below 1 or above 10 it is an error.
    pub grow: f64,
    /// Largest ρ |F(x) − F(x̄)| / |x − x̄| accepted, no unit: above, the step is taken again, shorter. Default 0.9, nominal 0.5 to 0.95;
    /// outside (0, 1), where nothing converges, it is an error.
    pub largest_ratio: f64,
    /// The same ratio below which the step grows. Default 0.3; negative or not below `largest_ratio` is an error.
    pub smallest_ratio: f64,
    /// Step of de-saxce in units of 1/λ_max of the scaled W, no unit. Default 1, nominal 0.1 to 1.9; outside (0, 2), where nothing
    /// converges, it is an error.
    pub fixed_step: f64,
}

impl Default for ProjectionParams {
    fn default() -> Self {
        ProjectionParams { first_step: 1.0, shrink: 2.0 / 3.0, grow: 1.5, largest_ratio: 0.9, smallest_ratio: 0.3, fixed_step: 1.0 }
    }
}

impl ProjectionParams {
    /// Checks the ranges of all fields.
    ///
    /// # Errors
    /// [`SolveError::BadParameter`] naming the first field outside its range.
    pub fn validate(&self) -> Result<(), SolveError> {
        let ProjectionParams { first_step, shrink, grow, largest_ratio, smallest_ratio, fixed_step } = *self;
        check(first_step > 0.0 && first_step.is_finite(), "first_step", first_step, "a positive number")?;
        check(shrink > 0.0 && shrink < 1.0, "shrink", shrink, "a number in (0, 1)")?;
        check((1.0..=10.0).contains(&grow), "grow", grow, "a number in [1, 10]")?;
        check(largest_ratio > 0.0 && largest_ratio < 1.0, "largest_ratio", largest_ratio, "a number in (0, 1)")?;
        let below = smallest_ratio >= 0.0 && smallest_ratio < largest_ratio;
        check(below, "smallest_ratio", smallest_ratio, "a number in [0, largest_ratio)")?;
        check(fixed_step > 0.0 && fixed_step < 2.0, "fixed_step", fixed_step, "a number in (0, 2)")
    }
}

/// A problem as the methods by projection see it.
pub(crate) trait ProjectedMap {
    /// f = F(x).
    fn evaluate(&self, x: &[f64], f: &mut [f64]);

    /// Moves x to the nearest point of X.
    fn project(&self, x: &mut [f64]);

    /// The problem's normalised residual at x; infinite where x is of no use.
    fn judge(&mut self, x: &[f64]) -> f64;
}

/// How the next iterate is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Variant {
    /// x ← P_X(x − ρ F(x)) with a step that never changes.
    FixedStep,
    /// The same with a self-adaptive step.
    FixedPoint,
    /// x̄ = P_X(x − ρ F(x)), x ← P_X(x − ρ F(x̄)) with a self-adaptive step.
    Extragradient,
}

/// When an iteration ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Normalised residual.
    pub tolerance: f64,
    /// Number of iterations.
    pub max_iterations: usize,
    /// Time.
    pub deadline: Deadline,
}

/// The iteration with its work arrays.
///
/// ```text
///     x̄ = P_X(x − ρ F(x)),   accepted when  ρ |F(x) − F(x̄)| ≤ L |x − x̄|,  otherwise ρ ← shrink·ρ and again,
///     x ← x̄  (fixed point)   or   x ← P_X(x − ρ F(x̄))  (extragradient),
///     ρ ← grow·ρ             when  ρ |F(x) − F(x̄)| < L_min |x − x̄|.
/// ```
///
/// Rule of the step: Khobotov, *Modification of the extra-gradient method for solving variational inequalities and certain
/// optimization problems*, 1987, and Marcotte 1991; as the solvers VI-FP and VI-EG of Acary, Brémond & Huber, *On solving contact problems with Coulomb
/// friction: formulations and numerical comparisons*, 2018. Differs in: the judge is evaluated every few iterations only, and the best iterate returned.
///
/// Cost of an iteration: one evaluation of F and one projection per trial step, one more of each for the extragradient. No allocation when warm.
#[derive(Clone, Debug)]
pub(crate) struct Projections {
    variant: Variant,
    params: ProjectionParams,
    x: Vec<f64>,
    f: Vec<f64>,
    next: Vec<f64>,
    f_next: Vec<f64>,
    best: Vec<f64>,
}

/// Iterations between evaluations of the judge, which costs about as much as an iteration.
const CHECK_INTERVAL: usize = 10;

/// Evaluations of the judge without progress after which the iteration circles.
const STALL_CHECKS: usize = 300;

/// Shortest steps tried in one iteration: (2/3)¹⁰⁰ is 2e-18, below which x would not move.
const MAX_SHRINKS: usize = 100;

/// |x̄ − x|/|x| at which differences of F are rounding and say nothing about the step.
const ROUNDING: f64 = 1e-14;

impl Projections {
    /// An iteration with these settings.
    pub fn new(variant: Variant, params: &ProjectionParams) -> Self {
        Projections {
            variant,
            params: params.clone(),
            x: Vec::new(),
            f: Vec::new(),
            next: Vec::new(),
            f_next: Vec::new(),
            best: Vec::new(),
        }
    }

    /// Iterates from `x`, with `step` the first ρ, and leaves the best iterate there.
    pub fn run(&mut self, map: &mut impl ProjectedMap, x: &mut [f64], step: f64, limits: Limits) -> (SolveStatus, usize) {
        for v in [&mut self.x, &mut self.f, &mut self.next, &mut self.f_next, &mut self.best] {
            v.clear();
            v.extend_from_slice(x);
        }
        map.project(&mut self.x);
        self.best.copy_from_slice(&self.x);
        let end = self.iterate(map, step, limits);
        x.copy_from_slice(&self.best);
        end
    }

    /// The last iterate of the last run, not its best one.
    pub fn last(&self) -> &[f64] {
        &self.x
    }

    fn iterate(&mut self, map: &mut impl ProjectedMap, step: f64, limits: Limits) -> (SolveStatus, usize) {
        let mut rho = step;
        let mut best = map.judge(&self.x);
        if best <= limits.tolerance {
            return (SolveStatus::Converged, 0);
        }
        map.evaluate(&self.x, &mut self.f);
        let mut judge_per_step = 1.0; // ratio of the judge to |x̄ − x|/ρ, learned at each check
        let mut checks_without_progress = 0;
        for iteration in 1..=limits.max_iterations {
            if limits.deadline.is_over() {
                return (SolveStatus::TimeLimit, iteration - 1);
            }
            // (x, F(x)) => x̄, ρ
            let (change, ratio) = self.adapt(map, &mut rho);
            let cheap = change / rho;
            // x̄ => x
            if self.variant == Variant::Extragradient {
                self.advance(map, rho, true);
            }
            std::mem::swap(&mut self.x, &mut self.next);
            std::mem::swap(&mut self.f, &mut self.f_next);
            if !cheap.is_finite() || self.x.iter().chain(&self.f).any(|x| !x.is_finite()) {
                return (SolveStatus::Stalled, iteration);
            }
            let promising = cheap * judge_per_step <= limits.tolerance;
            let due = iteration % CHECK_INTERVAL == 0 || iteration == limits.max_iterations;
            if promising || due {
                let judge = map.judge(&self.x);
                checks_without_progress += 1;
                if judge < best {
                    checks_without_progress = 0;
                    best = judge;
                    self.best.copy_from_slice(&self.x);
                }
                if best <= limits.tolerance {
                    return (SolveStatus::Converged, iteration);
                }
                if cheap == 0.0 || checks_without_progress >= STALL_CHECKS {
                    return (SolveStatus::Stalled, iteration);
                }
                judge_per_step = judge / cheap;
            }
            if self.variant != Variant::FixedStep && ratio < self.params.smallest_ratio {
                rho *= self.params.grow;
            }
        }
        (SolveStatus::MaxIterations, limits.max_iterations)
    }

    /// next = P_X(x − ρ F(x)), f_next = F(next), shortening ρ until the step is accepted. Returns |next − x| and the ratio of the rule.
    fn adapt(&mut self, map: &impl ProjectedMap, rho: &mut f64) -> (f64, f64) {
        let size = norm_squared(&self.x).sqrt();
        let mut change = 0.0;
        for _ in 0..MAX_SHRINKS {
            self.advance(map, *rho, false);
            change = distance(&self.x, &self.next);
            let ratio = *rho * distance(&self.f, &self.f_next) / change;
            if change <= ROUNDING * size || self.variant == Variant::FixedStep {
                return (change, 1.0);
            }
            if ratio <= self.params.largest_ratio {
                return (change, ratio);
            }
            *rho *= self.params.shrink;
        }
        (change, 1.0)
    }

    /// next = P_X(x − ρ f), f_next = F(next); f is F(x) or, `from_next`, what f_next holds.
    fn advance(&mut self, map: &impl ProjectedMap, rho: f64, from_next: bool) {
        let f = if from_next { &self.f_next } else { &self.f };
        for ((next, x), f) in self.next.iter_mut().zip(&self.x).zip(f) {
            *next = x - rho * f;
        }
        map.project(&mut self.next);
        map.evaluate(&self.next, &mut self.f_next);
    }
}

/// |a − b|.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F(x) = A (x − 1) with A = [[1, turn], [−turn, 1/4]] on the half line x₀ ≥ 2: the solution is x₀ = 2, x₁ = 1 + 4 turn.
    struct Example {
        turn: f64,
    }

    impl ProjectedMap for Example {
        fn evaluate(&self, x: &[f64], f: &mut [f64]) {
            let (a, b) = (x[0] - 1.0, x[1] - 1.0);
            f.copy_from_slice(&[a + self.turn * b, 0.25 * b - self.turn * a]);
        }

        fn project(&self, x: &mut [f64]) {
            x[0] = x[0].max(2.0);
        }

        fn judge(&mut self, x: &[f64]) -> f64 {
            (x[0] - 2.0).abs() + (x[1] - 1.0 - 4.0 * self.turn).abs()
        }
    }

    const LIMITS: Limits = Limits { tolerance: 1e-12, max_iterations: 1000, deadline: Deadline::NONE };

    #[test]
    fn every_variant_finds_the_solution_whatever_the_first_step() {
        for variant in [Variant::FixedPoint, Variant::Extragradient] {
            for step in [1e-6, 1.0, 1e6] {
                let mut x = [0.0; 2];
                let (status, iterations) =
                    Projections::new(variant, &ProjectionParams::default()).run(&mut Example { turn: 0.5 }, &mut x, step, LIMITS);
                assert_eq!(status, SolveStatus::Converged, "{variant:?} {step} {iterations}");
                assert!((x[0] - 2.0).abs() + (x[1] - 3.0).abs() <= 1e-12, "{x:?}"); // the tolerance
            }
        }
    }

    #[test]
    fn a_fixed_step_contracts_by_its_rate() {
        // x₁ − 1 is multiplied by 1 − 0.25 in each iteration: 1e-12 after 97 of them, found at the next check at the latest.
        let mut x = [0.0; 2];
        let mut iteration = Projections::new(Variant::FixedStep, &ProjectionParams::default());
        let (status, iterations) = iteration.run(&mut Example { turn: 0.0 }, &mut x, 1.0, LIMITS);
        assert_eq!(status, SolveStatus::Converged);
        assert!((97..=110).contains(&iterations), "{iterations}");
    }

    #[test]
    fn ranges_are_checked() {
        let good = ProjectionParams::default();
        assert!(good.validate().is_ok());
        let broken = [
            ProjectionParams { first_step: 0.0, ..good.clone() },
            ProjectionParams { shrink: 1.0, ..good.clone() },
            ProjectionParams { grow: 0.9, ..good.clone() },
            ProjectionParams { largest_ratio: 1.0, ..good.clone() },
            ProjectionParams { smallest_ratio: 0.9, ..good.clone() },
            ProjectionParams { fixed_step: f64::NAN, ..good.clone() },
        ];
        for params in broken {
            assert!(params.validate().is_err(), "{params:?}");
        }
    }
}
