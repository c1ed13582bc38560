//! Extrapolation of the explicit midpoint rule (Gragg, Bulirsch, Stoer), on the acceleration form.
//!
//! ```text
//! y_1 = y_0 + k f(y_0),   y_{i+1} = y_{i−1} + 2k f(y_i),   k = h/n_j,   T_{j,1} = y_{n_j}          n_j = 2, 4, 6, 8, …
//! T_{j,l+1} = T_{j,l} + (T_{j,l} − T_{j−1,l}) / ((n_j / n_{j−l})² − 1)                                (Aitken, Neville)
//! ```
//!
//! with y = (w, v) in the chart of the step. The error of T_{j,1} has an expansion in even powers of k, so that T_{j,j} is of order 2j.
//! E. Hairer, S. P. Nørsett, G. Wanner, *Solving Ordinary Differential Equations I*, section II.9, without the smoothing step (eq. 9.13b), which the
//! even numbers of substeps do not need. Haddouni2015 has no such method.
//!
//! The error estimate is T_{j,j} − T_{j,j−1} = O(h^{2j−1}). With constant steps or halving, all columns of the order asked for are computed. With the
//! method's own step control the order varies below it: a step ends at the first column whose error fits the tolerance, from the
//! one before the column aimed at; the column aimed at next is the one of least work per unit time, W_j = A_j / H_j (loc. cit. eqs. 9.24–9.26),
//! with A_j evaluations and H_j = h err_j^{−1/(2j−1)}; a higher column comes with a step longer by A_{j+1}/A_j.
//!
//! When to use: reference solutions and tolerances below 1e-9 for smooth motion that is not stiff. Order 4 to 12; A_j = j² + 1 evaluations per
//! step of order 2j, the first of them being that of the step before. Steps are long: interpolation within them (quintic Hermite) is
//! poorer than their ends, so choose `max_step` where values between are wanted. A rotation within a step must stay below 2π.

use super::registry::{IntegratorEntry, Orders};
use super::slope::{Slope, add_slopes};
use super::{Formulation, Integrator, Step, StepControl, StepEstimate};
use crate::error::IntegrationError;
use crate::smooth::{Equations, MotionPoint};

/// The method of Gragg, Bulirsch and Stoer.
pub(super) const EXTRAPOLATION: IntegratorEntry = IntegratorEntry {
    name: "extrapolation",
    summary: "explicit extrapolation of variable order up to 12: reference solutions and tight tolerances",
    formulations: &[Formulation::Index1],
    choices: &[4, 6, 8, 10, 12],
    default_order: None,
    has_estimate: true,
    knows_friction: true,
    orders: |params| Orders::all(params.order() as f64),
    build: |params| {
        let columns = params.order() / 2;
        // the middle of the range: the order finds itself within a few steps
        let first = columns / 2 + 1;
        let varies = params.control == StepControl::Adaptive;
        Box::new(Extrapolation { columns, varies, target: first, next_target: first, ..Extrapolation::default() })
    },
};

/// A column must be cheaper than its neighbour by this factor to be taken instead, so that the order does not flutter; after ODEX.
const GAIN: f64 = 0.9;

/// A step is far too small when it could grow by the inverse of this.
const SMALL_STEP: f64 = 0.1;

/// A row of the table: (w, v).
type Entry = (Vec<f64>, Vec<f64>);

/// Table and work arrays.
#[derive(Debug, Default)]
struct Extrapolation {
    /// Most columns: half the order asked for.
    columns: usize,
    /// The order may vary below it.
    varies: bool,
    /// Column aimed at in this step, and in the next one if this one is accepted.
    target: usize,
    next_target: usize,
    /// T_{j,1..j} of the newest row j in place of those of the row before.
    row: Vec<Entry>,
    before: Entry,
    slopes: Vec<Slope>,
    error: Entry,
}

impl Extrapolation {
    /// The midpoint rule with n substeps: writes T_{j,1} into `self.row[0]`.
    fn midpoint(
        &mut self,
        equations: &mut Equations<'_>,
        start: &MotionPoint,
        h: f64,
        n: usize,
        work: &mut MotionPoint,
    ) -> Result<(), IntegrationError> {
        let k = h / n as f64;
        let (w, v) = &mut self.row[0];
        let (w_before, v_before) = &mut self.before;
        w_before.fill(0.0);
        v_before.copy_from_slice(&start.v);
        w.fill(0.0);
        v.copy_from_slice(&start.v);
        add_slopes([k].into_iter(), &self.slopes[..1], w, v);
        for i in 1..n {
            // (y_{i−1}, y_i) => (y_i, y_{i+1})
            work.t = start.t + k * i as f64;
            work.v.copy_from_slice(v);
            self.slopes[1].evaluate(equations, start, w, work)?;
            add_slopes([2.0 * k].into_iter(), &self.slopes[1..], w_before, v_before);
            std::mem::swap(w, w_before);
            std::mem::swap(v, v_before);
        }
        Ok(())
    }

    /// Adds row j ≥ 1 to the table; the error T_{j,j} − T_{j,j−1} is kept.
    fn add_row(
        &mut self,
        equations: &mut Equations<'_>,
        start: &MotionPoint,
        h: f64,
        j: usize,
        work: &mut MotionPoint,
    ) -> Result<(), IntegrationError> {
        // the entries of the row before move up by one, so that row[0] is free
        self.row[..=j].rotate_right(1);
        self.midpoint(equations, start, h, 2 * (j + 1), work)?;
        // row[l] holds T_{j−1,l−1} before and T_{j,l} after its turn
        for l in 1..=j {
            let ratio = (j + 1) as f64 / (j + 1 - l) as f64;
            let factor = 1.0 / (ratio * ratio - 1.0);
            let (low, high) = self.row.split_at_mut(l);
            let (now, out) = (&low[l - 1], &mut high[0]);
            let neville = |now: &[f64], out: &mut [f64], error: &mut [f64]| {
                for ((now, out), error) in now.iter().zip(out).zip(error) {
                    *error = factor * (now - *out);
                    *out = now + *error;
                }
            };
            neville(&now.0, &mut out.0, &mut self.error.0);
            neville(&now.1, &mut out.1, &mut self.error.1);
        }
        Ok(())
    }

    /// Chooses the column of the next step after an accepted one that ended at column j with err_{j−1}, err_j, and reports the error such that the
    /// step control asks for the step of that column: H_{j−1}, H_j, or H_j A_{j+1}/A_j.
    fn choose_next(&mut self, j: usize, before: f64, error: f64) -> StepEstimate {
        let order = 2 * j - 1;
        let (low, high) = (if j > 2 { Self::work(j - 1, before) } else { f64::INFINITY }, Self::work(j, error));
        if error < SMALL_STEP.powi(order as i32) {
            // far from the step that fits: errors do not tell which column is best
            self.next_target = self.target;
        } else if low < GAIN * high {
            self.next_target = j - 1;
            return StepEstimate { error: Some(before.min(1.0)), order: order - 2 };
        } else if high < GAIN * low && j < self.columns {
            self.next_target = j + 1;
            let growth = Self::evaluations(j + 1) / Self::evaluations(j);
            return StepEstimate { error: Some(error / growth.powi(order as i32)), order };
        }
        StepEstimate { error: Some(error), order }
    }

    /// A_j.
    fn evaluations(j: usize) -> f64 {
        (j * j + 1) as f64
    }

    /// Work per unit time of column j (counted from 1) with its error: A_j / H_j up to the common factor 1/h.
    fn work(j: usize, error: f64) -> f64 {
        Self::evaluations(j) * error.powf(1.0 / (2 * j - 1) as f64)
    }
}

impl Integrator for Extrapolation {
    fn restart(&mut self, equations: &mut Equations<'_>, _: &MotionPoint) -> Result<(), IntegrationError> {
        let n = equations.n_v();
        let entry: Entry = (vec![0.0; n], vec![0.0; n]);
        self.row = vec![entry.clone(); self.columns];
        (self.before, self.error) = (entry.clone(), entry);
        self.slopes = vec![Slope::new(n); 2];
        Ok(())
    }

    fn try_step(&mut self, equations: &mut Equations<'_>, step: Step<'_>, end: &mut MotionPoint) -> Result<StepEstimate, IntegrationError> {
        let Step { start, h, tolerances } = step;
        self.slopes[0].take_start(start);
        self.midpoint(equations, start, h, 2, end)?;
        let (mut before, mut error, mut column) = (f64::INFINITY, f64::INFINITY, 1);
        while column < self.columns {
            self.add_row(equations, start, h, column, end)?;
            column += 1;
            end.v.copy_from_slice(&self.row[column - 1].1);
            equations.advance(&start.q, &self.row[column - 1].0, &mut end.q);
            before = error;
            error = tolerances.error(start, end, &self.error.0, &self.error.1);
            // up to one column beyond the target, while that may still bring the error down to the tolerance
            if self.varies && (column + 1 >= self.target && error <= 1.0 || column > self.target) {
                break;
            }
        }
        end.t = start.t + h;
        equations.accelerate(end.t, &end.q, &end.v, &mut end.a, &mut end.lambda)?;
        self.next_target = column;
        let estimate = StepEstimate { error: Some(error), order: 2 * column - 1 };
        if !self.varies {
            return Ok(estimate);
        }
        if error > 1.0 {
            // a refused step is tried again at no higher order
            self.target = self.target.min(column);
            return Ok(estimate);
        }
        Ok(self.choose_next(column, before, error))
    }

    fn accept(&mut self) {
        self.target = self.next_target;
    }
}
