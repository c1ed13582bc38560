//! One run of a method to a tolerance: cost, drift and true error.

use carom::dynamics::error::IntegrationError;
use carom::dynamics::integrators::{Integration, IntegratorParams};
use carom::dynamics::smooth::{DriftMeter, RowDrift, Statistics};
use carom::dynamics::{Model, State};
use cpu_time::ThreadTime;

/// Steps between two looks at the clock.
const CLOCK: usize = 64;

/// What to integrate.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    pub model: &'a Model,
    pub state: &'a State,
    pub end: f64,
    /// Longest CPU time of a run, s.
    pub time_limit: f64,
}

/// The end of a motion, velocities as files give them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndState {
    pub q: Vec<f64>,
    pub v: Vec<f64>,
}

/// Largest relative errors at the end: |Δ| / max(1, |value|).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    pub position: f64,
    pub velocity: f64,
}

impl Errors {
    /// The larger of both.
    pub fn largest(self) -> f64 {
        self.position.max(self.velocity)
    }
}

/// What a run did, as far as it came.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    pub statistics: Statistics,
    pub cpu_time: f64,
    /// Time reached, s, from the start.
    pub span: f64,
    /// Largest |g| and |ġ| by row, over the accepted steps.
    pub drift: Vec<RowDrift>,
    pub end: EndState,
    /// Why it did not reach the end.
    pub failure: Option<String>,
}

impl Task<'_> {
    /// Runs with the drift measured, then `repeat` times for the clock alone: the least time counts.
    pub fn measure(&self, params: &IntegratorParams, repeat: usize) -> Measured {
        let mut measured = self.run(params, true);
        for k in 0..repeat {
            if measured.failure.is_some() {
                break;
            }
            let again = self.run(params, false);
            measured.cpu_time = if k == 0 { again.cpu_time } else { measured.cpu_time.min(again.cpu_time) };
        }
        measured
    }

    /// One run.
    pub fn run(&self, params: &IntegratorParams, with_drift: bool) -> Measured {
        let mut measured = Measured::default();
        let mut drift = with_drift.then(|| DriftMeter::new(self.model));
        let clock = ThreadTime::now();
        if let Err(failure) = self.integrate(params, drift.as_mut(), &clock, &mut measured) {
            measured.failure = Some(failure);
        }
        measured.cpu_time = clock.elapsed().as_secs_f64();
        measured.drift = drift.map(|drift| drift.rows).unwrap_or_default();
        measured
    }

    fn integrate(
        &self,
        params: &IntegratorParams,
        mut drift: Option<&mut DriftMeter<'_>>,
        clock: &ThreadTime,
        out: &mut Measured,
    ) -> Result<(), String> {
        let said = |error: IntegrationError| error.to_string();
        let mut integration = Integration::new(self.model, self.state, params).map_err(said)?;
        for step in 1.. {
            if integration.point().t >= self.end {
                break;
            }
            let stepped = integration.step(self.end);
            out.statistics = integration.statistics();
            stepped.map_err(said)?;
            out.span = integration.point().t - self.state.t;
            if let Some(drift) = &mut drift {
                let point = integration.point();
                drift.evaluate(point.t, &point.q, &point.v).map_err(|error| error.to_string())?;
                drift.keep();
            }
            if step % CLOCK == 0 && clock.elapsed().as_secs_f64() > self.time_limit {
                return Err(format!("stopped after {} s of CPU time at t = {:.6} s", self.time_limit, integration.point().t));
            }
        }
        out.end.q.clone_from(&integration.point().q);
        out.end.v.resize(integration.point().v.len(), 0.0);
        self.model.systems().file_velocities(&integration.point().q, &integration.point().v, &mut out.end.v);
        Ok(())
    }

    /// Errors of an end against another.
    pub fn errors(&self, end: &EndState, reference: &EndState) -> Errors {
        let systems = self.model.systems();
        let n = systems.velocities().len();
        let (mut w, mut scale) = (vec![0.0; n], vec![0.0; n]);
        systems.difference(&reference.q, &end.q, &mut w);
        systems.position_scale(&reference.q, &mut scale);
        let worst = |errors: &mut dyn Iterator<Item = (f64, f64)>| {
            errors.fold(0.0, |worst: f64, (error, size)| {
                let error = error.abs() / size.abs().max(1.0);
                if error.is_nan() { f64::NAN } else { worst.max(error) }
            })
        };
        let velocity = end.v.iter().zip(&reference.v).map(|(v, r)| (v - r, *r));
        Errors { position: worst(&mut w.iter().copied().zip(scale)), velocity: worst(&mut velocity.into_iter()) }
    }
}
