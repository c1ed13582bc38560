//! The P with the least largest eigenvalue of F(P), by a barrier method.
//!
//! ```text
//! minimise  t   over  F(P) ≤ t,   LOW ≤ P ≤ HIGH
//! ```
//!
//! Newton's method on τ t − log det(t − F) − log det(P − LOW) − log det(HIGH − P), τ growing. On the path t is at most ν/τ above the least one, ν the number of rows of all three matrices: a bound that proves that there is
//! no P where it stays positive. [Boyd & Vandenberghe, *Convex Optimization*, §11.6]

use super::form::{Form, basis};
use nalgebra::{Cholesky, DMatrix, DVector};

/// Bounds of the eigenvalues of P, in the units of the form.
const LOW: f64 = 1e-6;
const HIGH: f64 = 1e6;

/// Growth of τ per round, and its end.
const GROWTH: f64 = 6.0;
const LAST: f64 = 1e10;

/// Newton steps per round.
const STEPS: usize = 40;

/// What the search ends with.
pub(super) struct Found {
    /// P in the units of the form.
    pub p: DMatrix<f64>,
    /// No P between the bounds has a largest eigenvalue of F below this.
    pub bound: f64,
}

/// A point of the search.
struct Barrier {
    t: f64,
    p: DMatrix<f64>,
}

impl Barrier {
    /// The three matrices, factorised; `None` outside.
    fn factors(&self, form: &Form) -> Option<[Cholesky<f64, nalgebra::Dyn>; 3]> {
        let n = self.p.nrows();
        let f = form.value(&self.p);
        let one = DMatrix::identity(n, n);
        let slack = DMatrix::identity(f.nrows(), f.nrows()) * self.t - f;
        Some([slack.cholesky()?, (&self.p - &one * LOW).cholesky()?, (one * HIGH - &self.p).cholesky()?])
    }

    fn value(&self, form: &Form, tau: f64) -> Option<f64> {
        let logs =
            self.factors(form)?.iter().map(|factor| factor.l_dirty().diagonal().iter().map(|x| 2.0 * x.ln()).sum::<f64>()).sum::<f64>();
        Some(tau * self.t - logs)
    }
}

/// Follows the path from P = 1; ends early where F(P) < 0.
pub(super) fn minimise(form: &Form) -> Found {
    let n = form.states.nrows();
    let mut at = Barrier { t: 0.0, p: DMatrix::identity(n, n) };
    at.t = form.value(&at.p).symmetric_eigenvalues().max() + 1.0;
    let places: Vec<(usize, usize)> = (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))).collect();
    let directions: Vec<DMatrix<f64>> = places.iter().map(|&(i, j)| basis(n, i, j)).collect();
    let slopes: Vec<DMatrix<f64>> = directions.iter().map(|e| form.linear(e)).collect();
    let order = (form.supply.nrows() + 2 * n) as f64;
    let (mut tau, mut bound) = (1.0, f64::NEG_INFINITY);
    while tau < LAST && at.t > 0.0 {
        if !centre(form, &mut at, tau, (&directions, &slopes)) {
            break;
        }
        // twice the gap of the exact centre, for one that is nearly there
        bound = f64::max(bound, at.t - 2.0 * order / tau);
        tau *= GROWTH;
    }
    Found { p: at.p, bound }
}

/// Newton's method for one τ; false where rounding ends it.
fn centre(form: &Form, at: &mut Barrier, tau: f64, (directions, slopes): (&[DMatrix<f64>], &[DMatrix<f64>])) -> bool {
    for _ in 0..STEPS {
        let Some([slack, low, high]) = at.factors(form) else { return false };
        let k = directions.len();
        // X⁻¹ dX of the three matrices by each unknown; the last unknown is t
        let parts: Vec<[Option<DMatrix<f64>>; 3]> = (0..=k)
            .map(|u| match u < k {
                true => [Some(-slack.solve(&slopes[u])), Some(low.solve(&directions[u])), Some(-high.solve(&directions[u]))],
                false => [Some(slack.inverse()), None, None],
            })
            .collect();
        let trace = |part: &[Option<DMatrix<f64>>; 3]| part.iter().flatten().map(|x| x.trace()).sum::<f64>();
        let gradient = DVector::from_fn(k + 1, |u, _| if u == k { tau - trace(&parts[u]) } else { -trace(&parts[u]) });
        let product = |a: &DMatrix<f64>, b: &DMatrix<f64>| a.component_mul(&b.transpose()).sum();
        let hessian = DMatrix::from_fn(k + 1, k + 1, |u, w| {
            parts[u].iter().zip(&parts[w]).map(|(a, b)| a.as_ref().zip(b.as_ref()).map_or(0.0, |(a, b)| product(a, b))).sum()
        });
        let Some(factor) = hessian.cholesky() else { return false };
        let step = -factor.solve(&gradient);
        let decrement = -gradient.dot(&step);
        if decrement.is_nan() || decrement < 1e-9 {
            return !decrement.is_nan();
        }
        let Some(now) = at.value(form, tau) else { return false };
        let mut length = 1.0;
        loop {
            let p = directions.iter().zip(step.iter()).fold(at.p.clone(), |p, (e, x)| p + e * (length * *x));
            let next = Barrier { t: at.t + length * step[step.len() - 1], p };
            if next.value(form, tau).is_some_and(|value| value < now - 0.1 * length * decrement || (length < 1e-3 && value < now)) {
                *at = next;
                break;
            }
            length *= 0.5;
            if length < 1e-10 {
                // nothing is left to gain but rounding
                return decrement < 1e-3;
            }
        }
    }
    false
}
