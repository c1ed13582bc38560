//! Initial conditions that satisfy the constraints: checked, assembled, or refused.
//!
//! A state whose |g| and |G v + b| are at most 1e-10 (in the unit of the constraint) is taken as it is. Up to the bounds of
//! [`AssemblyParams`] it is projected in the mass metric, position first, then velocity (see [`Equations::project_position`]); beyond them,
//! or when projection is not wanted, it is refused with the name and residual of every constraint that is violated. Rheonomic and
//! nonholonomic rows are checked at the velocities like all others. The velocity is judged at the position given or at the one assembled,
//! whichever suits it better: it may belong to either.

use super::equations::Equations;
use super::motion_point::MotionPoint;
use super::row_layout::RowLayout;
use crate::error::{IntegrationError, Violation};
use crate::smooth::{AssemblyMode, AssemblyParams};
use serde::Serialize;

/// Residuals up to this are taken as they are: well above the round-off of formulas, well below what moves anything visibly.
const CONSISTENT: f64 = 1e-10;

/// What was done to the initial state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct AssemblyReport {
    /// Largest |g| of the state given.
    pub position_before: f64,
    /// Largest |g| of the state in use.
    pub position_after: f64,
    /// Largest |G v + b| of the state given.
    pub velocity_before: f64,
    /// Largest |G v + b| of the state in use.
    pub velocity_after: f64,
    /// Largest displacement \[m or rad\].
    pub moved: f64,
    /// Largest change of a velocity \[m/s or rad/s\].
    pub velocity_changed: f64,
}

impl AssemblyReport {
    /// The state was changed.
    #[must_use]
    pub fn is_assembled(&self) -> bool {
        self.moved > 0.0 || self.velocity_changed > 0.0
    }
}

impl Equations<'_> {
    /// Makes an initial state consistent, or refuses it, and selects the independent rows there. All rows are judged, redundant ones too.
    ///
    /// # Errors
    /// [`IntegrationError::InconsistentStart`], [`IntegrationError::ContradictoryConstraints`]; errors of evaluation and projection.
    pub fn assemble(&mut self, point: &mut MotionPoint, params: &AssemblyParams) -> Result<AssemblyReport, IntegrationError> {
        let (g, mut u) = self.residuals_of_all(point)?;
        let mut report = AssemblyReport {
            position_before: largest(&g),
            position_after: largest(&g),
            velocity_before: largest(&u),
            velocity_after: largest(&u),
            ..AssemblyReport::default()
        };
        let allowed = |bound: f64| if params.mode == AssemblyMode::Project { bound.max(CONSISTENT) } else { CONSISTENT };
        self.refuse_beyond("position", &g, allowed(params.bound), params)?;
        self.select_rows(point)?;
        if report.position_before > CONSISTENT {
            let from = point.q.clone();
            self.project_position(point)?;
            let mut w = vec![0.0; self.n_v()];
            self.model().systems().difference(&from, &point.q, &mut w);
            report.moved = largest(&w);
            // rows that depend on others only where the constraints hold
            self.select_rows(point)?;
            let (g, moved_u) = self.residuals_of_all(point)?;
            report.position_after = largest(&g);
            self.refuse_contradiction("position", &g)?;
            report.velocity_after = largest(&moved_u);
            if report.velocity_after < report.velocity_before {
                u = moved_u;
            }
        }
        self.refuse_beyond("velocity", &u, allowed(params.velocity_bound), params)?;
        if report.velocity_after > CONSISTENT {
            let from = point.v.clone();
            self.project_velocity(point)?;
            report.velocity_changed = from.iter().zip(&point.v).fold(0.0, |m, (a, b)| f64::max(m, (a - b).abs()));
            let (_, u) = self.residuals_of_all(point)?;
            report.velocity_after = largest(&u);
            self.refuse_contradiction("velocity", &u)?;
        }
        point.lambda.resize(self.n_rows(), 0.0);
        Ok(report)
    }

    /// g and G v + b of all rows, redundant ones too.
    fn residuals_of_all(&mut self, point: &MotionPoint) -> Result<(Vec<f64>, Vec<f64>), IntegrationError> {
        let in_use = self.rows().clone();
        self.use_rows(RowLayout::with_contacts(&self.interactions, |_, _| true));
        let (mut g, mut u) = (vec![0.0; self.n_rows()], vec![0.0; self.n_rows()]);
        let done = self.constraints(point.t, &point.q, &mut g);
        let done = done.and_then(|()| self.constraint_velocity(point.t, &point.q, &point.v, &mut u));
        self.use_rows(in_use);
        done.map(|()| (g, u))
    }

    fn refuse_beyond(&self, what: &'static str, values: &[f64], bound: f64, params: &AssemblyParams) -> Result<(), IntegrationError> {
        // written so that a NaN is refused too
        if values.iter().all(|x| x.abs() <= bound) {
            return Ok(());
        }
        let violations = self.violations_in(values);
        Err(IntegrationError::InconsistentStart { what, violations, bound, refused: params.mode == AssemblyMode::Refuse })
    }

    /// After a projection on the independent rows the others hold, too, unless they contradict them.
    fn refuse_contradiction(&self, what: &'static str, values: &[f64]) -> Result<(), IntegrationError> {
        if values.iter().all(|x| x.abs() <= CONSISTENT) {
            return Ok(());
        }
        Err(IntegrationError::ContradictoryConstraints { what, violations: self.violations_in(values) })
    }

    /// The rows, of all, whose residual is not round-off.
    fn violations_in(&self, values: &[f64]) -> Vec<Violation> {
        let mut violations = Vec::new();
        for item in RowLayout::with_contacts(&self.interactions, |_, _| true).items() {
            let interaction = self.interaction(item.interaction);
            for (row, k) in item.rows.clone().zip(&item.selected).filter(|(row, _)| values[*row].abs() > CONSISTENT) {
                let single = interaction.relation().n_rows() == 1;
                let constraint =
                    if single { format!("\"{}\"", interaction.name()) } else { format!("\"{}\" (row {})", interaction.name(), k + 1) };
                violations.push(Violation { constraint, residual: values[row] });
            }
        }
        violations
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m, x| m.max(x.abs()))
}
