//! Projections on the constraints in the mass metric.
//!
//! ```text
//! position:   M(q̃) w = Gᵀ(q̃) μ,     g(t, q̃ ⊕ w) = 0                  Newton's iteration for w
//! velocity:   M(q) (v − ṽ) = Gᵀ(q) μ,     G(q) v + b = 0              linear
//! ```
//!
//! C. Lubich's procedure, Haddouni2015 eqs. (2.12)–(2.13), with our sign of the multiplier. Differs in: the displacement w lives in the chart ⊕, so
//! that rotations stay on their group; rheonomic and nonholonomic rows are in the velocity projection, which takes M where it takes G, at the
//! projected position. In the position projection nonholonomic rows ask A w = 0: a correction goes only where the system can move.
//!
//! The nearest point of the constraint manifold is as far from the exact solution as the drift, O(h^{p+1}) per step, so the order of a method is
//! kept. When to use them: methods of the acceleration or velocity form over long times, where g drifts like t² and ġ like t. Cost: one
//! factorisation each, the position about two iterations; the acceleration is evaluated anew.

use super::equations::Equations;
use super::motion_point::MotionPoint;
use crate::error::IntegrationError;
use crate::smooth::{AccelerationForm, Projection};

/// A residual below this is round-off: a few units in the last place of the terms that make g.
const CONVERGED: f64 = 1e-14;

/// A residual that no longer falls counts as round-off when below this: long sums of terms lose up to three digits.
const STAGNATED: f64 = 1e-11;

/// The iteration matrix is renewed when a residual does not fall by this factor: from the drift of a step, one or two iterations with the first
/// matrix reach the last place.
const SLOW: f64 = 1e-3;

/// Most iterations: quadratic convergence takes ten from any point where it sets in.
const MAX_ITERATIONS: usize = 20;

/// g at a position, and its size.
#[derive(Clone, Debug, Default)]
pub(super) struct Residual {
    /// g, zero for nonholonomic rows.
    pub values: Vec<f64>,
}

impl Residual {
    /// For this number of rows.
    pub fn new(n_rows: usize) -> Self {
        Residual { values: vec![0.0; n_rows] }
    }

    /// Evaluates g and returns its size: the largest |g_i| / (‖G_i‖ max(1, ‖q‖)), a relative distance to the constraint.
    pub fn evaluate(&mut self, equations: &mut Equations<'_>, t: f64, q: &[f64], g: &[f64]) -> Result<f64, IntegrationError> {
        equations.constraints(t, q, &mut self.values)?;
        let extent = q.iter().fold(1.0_f64, |s, q| s.max(q.abs()));
        let mut size = 0.0_f64;
        for item in equations.rows().items() {
            for (k, row) in item.rows.clone().enumerate() {
                let norm = g[item.first + k * item.width..][..item.width].iter().map(|g| g * g).sum::<f64>().sqrt();
                size = size.max(self.values[row].abs() / (if norm > 0.0 { norm } else { 1.0 } * extent));
            }
        }
        Ok(size)
    }
}

/// Watches the residual of an iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    before: f64,
    factor: f64,
}

impl Default for Progress {
    fn default() -> Self {
        Progress { before: f64::INFINITY, factor: 0.0 }
    }
}

impl Progress {
    /// Takes the residual of the next iterate; true when it is round-off.
    pub fn is_done(&mut self, size: f64) -> bool {
        self.factor = size / self.before;
        self.before = size;
        size <= CONVERGED || (size <= STAGNATED && self.factor >= 0.5)
    }

    /// The last iteration gained too little.
    fn is_slow(&self) -> bool {
        self.factor > SLOW
    }
}

impl Equations<'_> {
    /// Projects the position on g(t, q) = 0.
    ///
    /// # Errors
    /// [`IntegrationError::NotConverged`]; errors of evaluation; singular mass or constraints.
    pub fn project_position(&mut self, point: &mut MotionPoint) -> Result<(), IntegrationError> {
        let (m, n, t) = (self.n_rows(), self.n_v(), point.t);
        if m == 0 {
            return Ok(());
        }
        let from = point.q.clone();
        let (mut mass, mut h) = (vec![0.0; self.layout().n_values()], vec![0.0; self.rows().n_values()]);
        let (mut explicit, mut mu, mut w, mut step) = (vec![0.0; m], vec![0.0; m], vec![0.0; n], vec![0.0; n]);
        let zero = vec![0.0; n];
        self.jacobian(t, &from, &mut h, &mut explicit)?;
        let (mut residual, mut progress, mut iterations) = (Residual::new(m), Progress::default(), 0);
        loop {
            let size = residual.evaluate(self, t, &point.q, &h)?;
            if progress.is_done(size) {
                return Ok(());
            }
            if iterations == MAX_ITERATIONS || !size.is_finite() {
                let what = "the projection on the position constraints";
                return Err(IntegrationError::NotConverged { t, what, residual: size, iterations });
            }
            if iterations == 0 {
                self.mass(t, &from, &mut mass)?;
                self.factorise_kkt(t, &mass, &h, None)?;
            } else if progress.is_slow() {
                let mut g = vec![0.0; h.len()];
                self.jacobian(t, &point.q, &mut g, &mut explicit)?;
                self.factorise_kkt(t, &mass, &g, Some(&h))?;
            }
            residual.values.iter_mut().for_each(|g| *g = -*g);
            self.solve_kkt(&zero, &residual.values, &mut step, &mut mu);
            w.iter_mut().zip(&step).for_each(|(w, step)| *w += step);
            self.advance(&from, &w, &mut point.q);
            iterations += 1;
            self.statistics.newton_iterations += 1;
        }
    }

    /// Projects the velocity on G v + b = 0.
    ///
    /// # Errors
    /// Errors of evaluation; singular mass or constraints.
    pub fn project_velocity(&mut self, point: &mut MotionPoint) -> Result<(), IntegrationError> {
        let (m, n, t) = (self.n_rows(), self.n_v(), point.t);
        if m == 0 {
            return Ok(());
        }
        let (mut mass, mut g) = (vec![0.0; self.layout().n_values()], vec![0.0; self.rows().n_values()]);
        let (mut explicit, mut u, mut mu, mut step) = (vec![0.0; m], vec![0.0; m], vec![0.0; m], vec![0.0; n]);
        self.mass(t, &point.q, &mut mass)?;
        self.jacobian(t, &point.q, &mut g, &mut explicit)?;
        self.rows().multiply(&g, &point.v, &mut u);
        u.iter_mut().zip(&explicit).for_each(|(u, b)| *u = -(*u + b));
        self.factorise_kkt(t, &mass, &g, None)?;
        self.solve_kkt(&vec![0.0; n], &u, &mut step, &mut mu);
        point.v.iter_mut().zip(&step).for_each(|(v, step)| *v += step);
        Ok(())
    }

    /// What is done to the end of a step before it is accepted: the projection asked for, or the dependent coordinates of coordinate
    /// partitioning solved from the constraints, which leaves nothing to project. Accelerations and multipliers are found anew.
    ///
    /// # Errors
    /// As [`Equations::project_position`], [`Equations::resolve_dependent`] and [`Equations::accelerate`].
    pub fn correct(&mut self, point: &mut MotionPoint, projection: Projection) -> Result<(), IntegrationError> {
        let partitioned = self.acceleration == AccelerationForm::CoordinatePartitioning;
        if self.n_rows() == 0 || !(partitioned || projection != Projection::None) {
            return Ok(());
        }
        if partitioned {
            self.resolve_dependent(point)?;
        } else {
            if matches!(projection, Projection::Position | Projection::Both) {
                self.project_position(point)?;
            }
            if matches!(projection, Projection::Velocity | Projection::Both) {
                self.project_velocity(point)?;
            }
        }
        let MotionPoint { t, q, v, a, lambda } = point;
        self.accelerate(*t, q, v, a, lambda)
    }
}
