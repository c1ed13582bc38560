//! Efforts at bounds that follow the reaction of a joint: Coulomb friction in it.
//!
//! ```text
//! M a = F + Gᵀλ − Σ_k c_k x_k G_kᵀ d_k,     x_k = ‖R_k‖,     R_k the first multipliers of joint k
//! ```
//!
//! a and λ are affine in the loads x: one more solution of the factorised system for each. What is left are as many equations x_k = ‖R_k(x)‖ as there are
//! such efforts, solved by Newton's method to round-off. A joint whose friction causes more reaction than it needs jams: there is no solution, or not one
//! only, which is told.

use super::efforts::{Effort, EffortRole, length};
use super::equations::{Equations, at};
use super::row_layout::RowLayout;
use super::sliding::SlipWork;
use crate::error::IntegrationError;
use crate::laws::JointLoad;
use crate::systems::Instant;

/// Steps of Newton's method, and the change relative to the largest load at which they end.
const STEPS: usize = 40;
const SETTLED: f64 = 4.0 * f64::EPSILON;

/// Work arrays of the loads; nothing is allocated once warm.
#[derive(Clone, Debug, Default)]
pub(super) struct LoadedEfforts {
    /// For each effort with a load: its number, and the place of R in λ.
    efforts: Vec<(usize, std::ops::Range<usize>)>,
    force: Vec<f64>,
    right: Vec<f64>,
    /// Change of a and of λ with each load.
    a: Vec<f64>,
    lambda: Vec<f64>,
    /// λ at the loads x.
    reaction: Vec<f64>,
    x: Vec<f64>,
    /// (1 − ∂‖R‖/∂x, ‖R‖ − x) by rows.
    matrix: Vec<f64>,
}

impl Equations<'_> {
    /// c ‖R‖, what the load of a joint adds to the bounds of an effort of the model, with λ of the rows in use; zero without one.
    pub(crate) fn joint_load(&self, interaction: usize, lambda: &[f64]) -> Result<f64, IntegrationError> {
        let Some(load) = self.load_of(interaction) else { return Ok(0.0) };
        Ok(load.factor * length(&lambda[self.reaction_rows(interaction, load)?]))
    }

    /// Refuses efforts whose bounds follow a load that the motion does not determine.
    ///
    /// # Errors
    /// [`IntegrationError::Unsupported`], naming the effort and the joint.
    pub(crate) fn check_loads(&self) -> Result<(), IntegrationError> {
        for effort in self.interactions.efforts() {
            if let Some(load) = self.load_of(effort.interaction) {
                self.reaction_rows(effort.interaction, load)?;
            }
        }
        Ok(())
    }

    /// The load that the bounds of an effort follow, if it is not always zero.
    fn load_of(&self, interaction: usize) -> Option<JointLoad> {
        self.interactions.bounded(interaction).and_then(|law| law.load).filter(|load| load.factor > 0.0)
    }

    /// The reactions of constraints are determined by the motion: of all rows only those of efforts, which share what they hold, may be redundant.
    fn reactions_are_unique(&self) -> bool {
        let first_contact = self.interactions.n_of_model();
        let counts = |rows: &RowLayout| (rows.n_bilateral(self.model), rows.n_rows() - rows.n_rows_before(first_contact));
        self.all_rows.as_ref().is_none_or(|all| counts(all) == counts(&self.rows))
    }

    /// The multiplier of a load of one row, whose size has a kink where it vanishes; `None` for all others.
    pub(crate) fn single_load(&self, interaction: usize, lambda: &[f64]) -> Result<Option<f64>, IntegrationError> {
        match self.load_of(interaction).filter(|load| load.rows == 1) {
            Some(load) => Ok(Some(lambda[self.reaction_rows(interaction, load)?.start])),
            None => Ok(None),
        }
    }

    /// Where the reaction of a joint lies among the multipliers.
    fn reaction_rows(&self, interaction: usize, load: JointLoad) -> Result<std::ops::Range<usize>, IntegrationError> {
        let item = self.rows.items().iter().find(|item| item.interaction == load.joint);
        match item {
            Some(item) if self.reactions_are_unique() && item.rows.len() >= load.rows => Ok(item.rows.start..item.rows.start + load.rows),
            _ => {
                let name = |i: usize| self.model.interactions().get(i).map_or("", |x| x.name());
                let reason = format!(
                    "the bounds of \"{}\" follow the load of \"{}\", which the motion does not determine: constraints depend on each other. \
                     Take the redundant ones away, or use strategy = \"time-stepping\"",
                    name(interaction),
                    name(load.joint)
                );
                Err(IntegrationError::Unsupported { integrator: "event-driven", reason })
            }
        }
    }

    /// Adds what the loads of joints do, to a and λ that were solved without them by the factorisation at hand. Forces and multipliers are all times a factor
    /// of this sign: ‖R‖ does not turn with it.
    pub(super) fn add_loads(&mut self, at: Instant<'_>, sign: f64, a: &mut [f64], lambda: &mut [f64]) -> Result<(), IntegrationError> {
        if !self.interactions.has_loads() {
            return Ok(());
        }
        let mut work = std::mem::take(&mut self.loads);
        let done = self.prepare_loads(&mut work, at, sign).and_then(|()| work.solve(at.t, a, lambda));
        self.loads = work;
        done
    }

    /// The change of a and λ with each load.
    fn prepare_loads(&mut self, work: &mut LoadedEfforts, instant: Instant<'_>, sign: f64) -> Result<(), IntegrationError> {
        let (n_v, n_rows) = (self.n_v(), self.n_rows());
        work.efforts.clear();
        for (e, &Effort { interaction, role }) in self.interactions.efforts().iter().enumerate() {
            if let (Some(load), EffortRole::Pushed { .. }) = (self.load_of(interaction), role) {
                work.efforts.push((e, self.reaction_rows(interaction, load)?));
            }
        }
        let n = work.efforts.len();
        work.right.clear();
        work.right.resize(n_rows, 0.0);
        work.a.resize(n * n_v, 0.0);
        work.lambda.resize(n * n_rows, 0.0);
        for k in 0..n {
            let e = work.efforts[k].0;
            let factor = self.load_of(self.interactions.efforts()[e].interaction).map_or(0.0, |load| load.factor);
            work.force.clear();
            work.force.resize(n_v, 0.0);
            let mut slip = SlipWork { block: &mut self.block, scratch: &mut self.scratch };
            if let Some(push) = self.interactions.push(e, instant, self.slip_threshold, &mut slip).map_err(at(instant.t))? {
                let unit = push.direction.map(|d| -sign * factor * d);
                self.interactions.add_force(e, &unit[..push.rows], slip.block, &mut work.force);
            }
            let (a, lambda) = (&mut work.a[k * n_v..(k + 1) * n_v], &mut work.lambda[k * n_rows..(k + 1) * n_rows]);
            self.solve_kkt(&work.force, &work.right, a, lambda);
        }
        Ok(())
    }
}

impl LoadedEfforts {
    /// x_k = ‖R_k(x)‖ by Newton's method from x = ‖R(0)‖, then a and λ.
    fn solve(&mut self, t: f64, a: &mut [f64], lambda: &mut [f64]) -> Result<(), IntegrationError> {
        let (n, n_rows) = (self.efforts.len(), lambda.len());
        self.x.clear();
        self.x.extend(self.efforts.iter().map(|(_, rows)| length(&lambda[rows.clone()])));
        let (mut change, mut iterations) = (f64::INFINITY, 0);
        let scale = |x: &[f64]| x.iter().fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()));
        // the step after a change of √ε is exact
        while change > SETTLED * scale(&self.x) && iterations < STEPS {
            self.react(lambda);
            self.matrix.clear();
            self.matrix.resize(n * (n + 1), 0.0);
            for (k, (_, rows)) in self.efforts.iter().enumerate() {
                let reaction = &self.reaction[rows.clone()];
                let (size, out) = (length(reaction), &mut self.matrix[k * (n + 1)..(k + 1) * (n + 1)]);
                for (j, out) in out[..n].iter_mut().enumerate() {
                    let of_load = &self.lambda[j * n_rows..][rows.clone()];
                    let along: f64 = reaction.iter().zip(of_load).map(|(r, s)| r * s).sum();
                    *out = f64::from(u8::from(j == k)) - if size > 0.0 { along / size } else { 0.0 };
                }
                out[n] = size - self.x[k];
            }
            let last = change;
            change = if eliminate(&mut self.matrix, n) { 0.0 } else { f64::NAN };
            for (k, x) in self.x.iter_mut().enumerate() {
                let step = self.matrix[k * (n + 1) + n];
                *x += step;
                change = if change.is_nan() { change } else { change.max(step.abs()) };
            }
            iterations += 1;
            // at round-off steps no longer shrink
            if change.is_nan() || (change >= 0.5 * last && change <= 1e-13 * scale(&self.x)) {
                break;
            }
        }
        if !(change <= 1e-13 * scale(&self.x) && self.x.iter().all(|x| *x >= 0.0)) {
            let what = "the friction that follows the load of a joint, which may jam,";
            return Err(IntegrationError::NotConverged { t, what, residual: change, iterations });
        }
        self.react(lambda);
        lambda.copy_from_slice(&self.reaction);
        for (x, of_load) in self.x.iter().zip(self.a.chunks_exact(a.len().max(1))) {
            a.iter_mut().zip(of_load).for_each(|(a, s)| *a += x * s);
        }
        Ok(())
    }

    /// λ at the loads x.
    fn react(&mut self, lambda: &[f64]) {
        self.reaction.clear();
        self.reaction.extend_from_slice(lambda);
        for (x, of_load) in self.x.iter().zip(self.lambda.chunks_exact(lambda.len().max(1))) {
            self.reaction.iter_mut().zip(of_load).for_each(|(r, s)| *r += x * s);
        }
    }
}

/// Gauss's elimination with pivots of (A, b) by rows; b becomes the solution. False where A is singular.
fn eliminate(matrix: &mut [f64], n: usize) -> bool {
    let stride = n + 1;
    for c in 0..n {
        let pivot = (c..n).fold(c, |best, i| if matrix[i * stride + c].abs() > matrix[best * stride + c].abs() { i } else { best });
        if matrix[pivot * stride + c] == 0.0 {
            return false;
        }
        (0..stride).filter(|_| pivot != c).for_each(|j| matrix.swap(pivot * stride + j, c * stride + j));
        let scale = 1.0 / matrix[c * stride + c];
        (c..stride).for_each(|j| matrix[c * stride + j] *= scale);
        for i in (0..n).filter(|&i| i != c) {
            let factor = matrix[i * stride + c];
            (c..stride).for_each(|j| matrix[i * stride + j] -= factor * matrix[c * stride + j]);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x = |3 + 0.5 x|: x = 6; x = |3 + 2 x| has no solution.
    #[test]
    fn one_load_is_solved_and_a_jam_is_told() {
        let mut loads = LoadedEfforts { efforts: vec![(0, 0..1)], a: vec![2.0], lambda: vec![0.5], ..LoadedEfforts::default() };
        let (mut a, mut lambda) = ([1.0], [3.0]);
        loads.solve(0.0, &mut a, &mut lambda).unwrap();
        assert_eq!((a, lambda), ([13.0], [6.0]));
        let mut jam = LoadedEfforts { lambda: vec![2.0], ..loads };
        assert!(matches!(jam.solve(0.0, &mut [1.0], &mut [3.0]), Err(IntegrationError::NotConverged { .. })));
    }
}
