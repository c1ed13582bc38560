//! What a smooth run tells about itself besides its certificate.

use super::{Formulation, IntegratorKind};
use crate::smooth::{AssemblyReport, RowDrift, Statistics};
use serde::Serialize;

/// Cost, step sizes and drift of a smooth run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SmoothReport {
    /// The method.
    pub integrator: IntegratorKind,
    /// The form of the constraints.
    pub formulation: Formulation,
    /// Counts.
    #[serde(flatten)]
    pub statistics: Statistics,
    /// Mean of the accepted steps \[s\]; zero before the first.
    pub average_step: f64,
    /// Smallest accepted step \[s\]. The last step, which is cut to meet the end, counts only when it is the only one.
    pub min_step: f64,
    /// Largest accepted step \[s\].
    pub max_step: f64,
    /// Largest error of the energy balance over the accepted steps, either way \[J\].
    pub max_energy_error: f64,
    /// What was done to the initial state so that it satisfies the constraints; `None` when nothing was needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assembly: Option<AssemblyReport>,
    /// Constraint rows that depend on others, at most at a recorded instant. Their forces are not unique: the shortest multipliers are recorded.
    pub redundant_rows: usize,
    /// Per row of the constraints, in the model's order, redundant rows too.
    pub drift: Vec<RowDrift>,
}

impl SmoothReport {
    /// A report of nothing yet.
    #[must_use]
    pub fn new(integrator: IntegratorKind, formulation: Formulation) -> Self {
        SmoothReport {
            integrator,
            formulation,
            statistics: Statistics::default(),
            average_step: 0.0,
            min_step: 0.0,
            max_step: 0.0,
            max_energy_error: 0.0,
            assembly: None,
            redundant_rows: 0,
            drift: Vec::new(),
        }
    }

    /// Takes in an accepted step of size h, the n-th (from 1), after which the integration has covered `span` seconds.
    pub fn add_step(&mut self, n: usize, h: f64, span: f64, is_last: bool) {
        self.average_step = span / n as f64;
        self.max_step = self.max_step.max(h);
        if n == 1 {
            self.min_step = h;
        } else if !is_last {
            self.min_step = self.min_step.min(h);
        }
    }
}
