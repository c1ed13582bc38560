//! The proof of how well a run satisfies its equations: energies, violations, residuals.

use crate::detection::DetectionWarnings;
use crate::integrators::SmoothReport;
use crate::report::{AdaptiveReport, Energy, EventReport, StepReport, Violations};
use serde::Serialize;

/// What a run certifies about itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Certificate {
    /// Steps taken.
    pub steps: usize,
    /// Largest penetration of a contact \[m\], over the states at the ends of the steps.
    pub max_penetration: f64,
    /// Largest |g| of a bilateral constraint (unit of the constraint).
    pub max_constraint_violation: f64,
    /// Largest |ġ| of a bilateral constraint (unit of the constraint per second).
    pub max_constraint_velocity: f64,
    /// Largest natural-map error of the one-step problems (mass unit chosen so that mean(diag W) = 1).
    pub max_residual: f64,
    /// Largest relative residual of the discrete equation of motion.
    pub max_newton_residual: f64,
    /// One-step problems that did not reach the tolerance.
    pub unconverged: usize,
    /// Steps repeated with a smaller step size.
    pub halved_steps: usize,
    /// Largest number of simultaneously active interactions.
    pub max_active: usize,
    /// Sum of the solver's iterations.
    pub solver_iterations: usize,
    /// Energy at the start.
    pub initial: Energy,
    /// Energy at the end.
    pub last: Energy,
    /// Largest rise of (mechanical energy + dissipated − work) over its initial value so far \[J\]: the largest energy error upwards.
    pub max_energy_gain: f64,
    /// Energy that contacts gave to the system, summed over the steps in which they gave more than they took \[J\]. No
    /// contact can: it is the error of the scheme on curved contact paths (first order in the step), or of an impact law
    /// that creates energy.
    pub contact_gain: f64,
    /// Energy that impacts created, summed over the steps in which contacts closed and gave more than they took \[J\]: the gain of an impact
    /// law that can create energy (Newton's with friction, or with unequal coefficients at several contacts).
    pub impact_gain: f64,
    /// Events counted.
    pub events: usize,
    /// What was doubtful in the contacts between shapes, summed over the steps.
    #[serde(skip_serializing_if = "DetectionWarnings::is_empty")]
    pub warnings: DetectionWarnings,
    /// Cost, steps and drift of a run by the strategy `smooth`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smooth: Option<SmoothReport>,
    /// Steps of a run by the strategy `adaptive`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<AdaptiveReport>,
    /// Events of a run by the strategies `event-driven` and `hybrid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_driven: Option<EventReport>,
}

impl Certificate {
    /// Starts the account with the initial energy.
    #[must_use]
    pub fn new(initial: Energy) -> Self {
        Certificate { initial, last: initial, ..Certificate::default() }
    }

    /// mechanical(last) + dissipated − work − mechanical(initial) \[J\]: what the time discretisation gained or lost.
    #[must_use]
    pub fn energy_error(&self) -> f64 {
        let e = &self.last;
        e.mechanical() + e.dissipated_impact + e.dissipated_friction - e.work - self.initial.mechanical()
    }

    /// Takes the violations of a state into the account.
    pub(crate) fn add_violations(&mut self, violations: &Violations) {
        self.max_penetration = self.max_penetration.max(violations.penetration);
        self.max_constraint_violation = self.max_constraint_violation.max(violations.constraint);
        self.max_constraint_velocity = self.max_constraint_velocity.max(violations.constraint_velocity);
    }

    /// Takes an event into the account: what it exchanged, the residual of its problems, and kinetic and potential energy after it.
    pub fn add_event(&mut self, exchanged: &StepReport, residual: f64, (kinetic, potential): (f64, f64)) {
        self.max_residual = self.max_residual.max(residual);
        self.exchange(exchanged, kinetic, potential);
    }

    /// Takes a finished step into the account; `energy` are kinetic and potential energy after it.
    pub fn add_step(&mut self, report: &StepReport, kinetic: f64, potential: f64) {
        self.steps += 1;
        self.add_violations(&report.violations);
        self.max_newton_residual = self.max_newton_residual.max(report.newton_residual);
        self.max_active = self.max_active.max(report.n_active);
        if let Some(solve) = &report.solve {
            self.max_residual = self.max_residual.max(solve.residual_normalised);
            self.solver_iterations += solve.iterations;
        }
        self.unconverged += usize::from(!report.converged());
        self.exchange(report, kinetic, potential);
    }

    /// Takes what was doubtful in the contacts of a step into the account.
    pub(crate) fn add_warnings(&mut self, warnings: &DetectionWarnings) {
        self.warnings.add(warnings);
    }

    /// Brings the energies up to date.
    fn exchange(&mut self, report: &StepReport, kinetic: f64, potential: f64) {
        let last = &mut self.last;
        last.kinetic = kinetic;
        last.potential = potential;
        last.dissipated_impact += report.dissipated_impact;
        last.dissipated_friction += report.dissipated_friction;
        last.work += report.work;
        self.impact_gain += report.impact_gain;
        self.contact_gain += (-report.dissipated_impact - report.dissipated_friction).max(0.0);
        self.max_energy_gain = self.max_energy_gain.max(self.energy_error());
    }
}
