//! The account of a storage function S = ½ xᵀP x along steps of a Runge–Kutta method.
//!
//! dS/dt = xᵀP ẋ, with M ẋ = A x + B λ + a of a linear system: xᵀP M⁻¹a is what sources supply, −xᵀP M⁻¹A x what the system loses, the rest what multipliers bring. Each is integrated with the weights of the method, at its stages: the
//! balance is off by the error of the method. Where the system is not linear all of xᵀP ẋ counts as brought from outside.

use crate::first_order::FirstOrderSet;
use crate::first_order_step::stored;
use crate::report::StepReport;
use crate::systems::Scratch;
use nalgebra::DMatrix;

/// Matrices and work arrays of the account.
pub(super) struct StorageAccount {
    /// P, P M⁻¹ and P M⁻¹A; the latter two only for linear systems.
    p: DMatrix<f64>,
    by_sources: Option<(DMatrix<f64>, DMatrix<f64>)>,
    sources: Vec<f64>,
    scratch: Scratch,
    /// Exchanged since it was last asked for.
    pub exchanged: StepReport,
}

/// A step of a Runge–Kutta method: its stages with the weights of the step.
pub(super) struct Stages<'a> {
    pub t: f64,
    pub x: &'a [f64],
    pub h: f64,
    /// Rates at the stages.
    pub slopes: &'a [Vec<f64>],
    /// Weights of the rates in the point of each stage behind the first; the last are those of the step.
    pub weights: &'a [&'a [f64]],
    /// Times of the stages behind the first, as fractions of the step.
    pub times: &'a [f64],
}

impl StorageAccount {
    /// `None` where there is no storage function.
    pub fn new(set: &FirstOrderSet) -> Option<Self> {
        let n = set.states().len();
        if set.storage().is_empty() {
            return None;
        }
        let p = DMatrix::from_row_slice(n, n, set.storage());
        let by_sources = set.linear().and_then(|parts| {
            let inverse = DMatrix::from_row_slice(n, n, &parts.mass).try_inverse()?;
            let through = &p * inverse;
            let own = &through * DMatrix::from_row_slice(n, n, &parts.a);
            Some((through, own))
        });
        let exchanged = StepReport { newton_converged: true, ..StepReport::default() };
        Some(StorageAccount { p, by_sources, sources: Vec::new(), scratch: Scratch::default(), exchanged })
    }

    /// Takes a step that stands into the account. `held` are the held inputs, `q` the coordinates.
    pub fn add_step(&mut self, set: &FirstOrderSet, step: &Stages<'_>, (held, q): (&[f64], &[f64])) {
        let StorageAccount { p, by_sources, sources, scratch, exchanged } = self;
        let Some(&total) = step.weights.last() else { return };
        let form = |matrix: &DMatrix<f64>, left: &[f64], right: &[f64]| -> f64 {
            (0..left.len()).map(|i| left[i] * (0..right.len()).map(|j| matrix[(i, j)] * right[j]).sum::<f64>()).sum()
        };
        for (s, &weight) in total.iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
            let at = |i: usize| match s {
                0 => step.x[i],
                _ => step.x[i] + step.h * step.weights[s - 1].iter().zip(step.slopes).map(|(a, k)| a * k[i]).sum::<f64>(),
            };
            let point: Vec<f64> = (0..step.x.len()).map(at).collect();
            let time = if s == 0 { step.t } else { step.t + step.times[s - 1] * step.h };
            let all = step.h * weight * form(p, &point, &step.slopes[s]);
            match (by_sources.as_ref(), set.linear()) {
                (Some((through, own)), Some(parts)) => {
                    parts.sources(time, (held, q), sources, scratch);
                    let supplied = step.h * weight * form(through, &point, &sources[..point.len()]);
                    let lost = -step.h * weight * form(own, &point, &point);
                    exchanged.work += supplied;
                    exchanged.dissipated_friction += lost;
                    exchanged.dissipated_impact -= all - supplied + lost;
                }
                _ => exchanged.work += all,
            }
        }
    }

    /// A jump of the states: what it takes is taken by multipliers.
    pub(crate) fn add_jump(&mut self, set: &FirstOrderSet, (before, after): (&[f64], &[f64])) {
        self.exchanged.dissipated_impact += stored(set, before) - stored(set, after);
    }

    /// What was exchanged since it was last asked for.
    pub fn take(&mut self) -> StepReport {
        std::mem::replace(&mut self.exchanged, StepReport { newton_converged: true, ..StepReport::default() })
    }
}
