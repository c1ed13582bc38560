//! The work done on a system along the dense output of a smooth motion.

use crate::error::{IntegrationError, RunError};
use crate::integrators::Integration;
use crate::model::Model;
use crate::systems::{Instant, Scratch};

/// Nodes and weights of Gauss's formula on \[0, 1\]: degree 5, so that the account is not coarser than the integrators of order 5.
pub(super) const GAUSS: [(f64, f64); 3] = [(0.112_701_665_379_258_3, 5.0 / 18.0), (0.5, 8.0 / 18.0), (0.887_298_334_620_741_7, 5.0 / 18.0)];

/// Integrates the power that enters the system,
///
/// ```text
/// P = F_applied·v + ∂V/∂t − ∂T/∂t − λᵀ b,
/// ```
///
/// the last term because constraints that move do the work λᵀ G v = −λᵀ b. The multipliers between the ends of a step are those of the
/// acceleration form at the interpolated state.
pub(super) struct WorkMeter<'m> {
    model: &'m Model,
    scratch: Scratch,
    q: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
    force: Vec<f64>,
    lambda: Vec<f64>,
    jacobian: Vec<f64>,
    explicit: Vec<f64>,
}

impl<'m> WorkMeter<'m> {
    pub fn new(model: &'m Model) -> Self {
        let (n_q, n_v) = (model.systems().coordinates().len(), model.systems().velocities().len());
        WorkMeter {
            model,
            scratch: Scratch::default(),
            q: vec![0.0; n_q],
            v: vec![0.0; n_v],
            a: vec![0.0; n_v],
            force: vec![0.0; n_v],
            lambda: Vec::new(),
            jacobian: Vec::new(),
            explicit: Vec::new(),
        }
    }

    /// Work between two times within the last step \[J\]; `moving`: a constraint moves in it. Evaluations made here are not counted as the
    /// integrator's.
    pub fn between(&mut self, integration: &mut Integration<'m>, from: f64, to: f64, moving: bool) -> Result<f64, RunError> {
        if !(moving || self.model.exchanges_energy()) {
            return Ok(0.0);
        }
        let counted = integration.equations().statistics;
        let mut work = 0.0;
        for (node, weight) in GAUSS {
            let t = from + node * (to - from);
            integration.interpolate(t, &mut self.q, &mut self.v)?;
            work += weight * (to - from) * self.power(integration, t, moving)?;
        }
        integration.equations().statistics = counted;
        Ok(work)
    }

    /// F_applied·v + ∂V/∂t − ∂T/∂t \[W\].
    pub(crate) fn applied_power(&mut self, at: Instant<'_>) -> Result<f64, IntegrationError> {
        let located = |source| IntegrationError::NonFinite { t: at.t, source };
        self.model.applied_force(at, &mut self.force, &mut self.scratch).map_err(located)?;
        let applied: f64 = self.force.iter().zip(at.v).map(|(f, v)| f * v).sum();
        Ok(applied + self.model.explicit_power(at, &mut self.scratch).map_err(located)?)
    }

    fn power(&mut self, integration: &mut Integration<'m>, t: f64, moving: bool) -> Result<f64, IntegrationError> {
        let (q, v) = (std::mem::take(&mut self.q), std::mem::take(&mut self.v));
        let applied = self.applied_power(Instant { t, q: &q, v: &v });
        (self.q, self.v) = (q, v);
        let mut power = applied?;
        if moving {
            let equations = integration.equations();
            self.lambda.resize(equations.n_rows(), 0.0);
            self.explicit.resize(equations.n_rows(), 0.0);
            self.jacobian.resize(equations.rows().n_values(), 0.0);
            equations.accelerate(t, &self.q, &self.v, &mut self.a, &mut self.lambda)?;
            equations.jacobian(t, &self.q, &mut self.jacobian, &mut self.explicit)?;
            power -= self.lambda.iter().zip(&self.explicit).map(|(l, b)| l * b).sum::<f64>();
        }
        Ok(power)
    }
}
