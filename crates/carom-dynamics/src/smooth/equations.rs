//! The constrained equations of motion of a model, evaluated for integrators.

use super::elimination::{Elimination, EliminationError};
use super::error::IntegrationError;
use super::iteration_matrix::IterationMatrix;
use super::kkt::{Kkt, KktError};
use super::motion_point::MotionPoint;
use super::row_layout::RowLayout;
use super::statistics::Statistics;
use crate::block_diagonal::BlockLayout;
use crate::error::NonFinite;
use crate::integrators::{AccelerationForm, Baumgarte};
use crate::model::Model;
use crate::relations::Rows;
use crate::systems::{Instant, JacobianFactors, Scratch};

/// M v̇ = F + Gᵀλ with the constraint rows in use, over one model. Evaluations are counted in `statistics`.
pub struct Equations<'m> {
    model: &'m Model,
    rows: RowLayout,
    /// Constraint stabilisation added to the acceleration form.
    pub baumgarte: Option<Baumgarte>,
    /// How [`Equations::accelerate`] finds accelerations; stages of half-explicit methods always have multipliers.
    pub acceleration: AccelerationForm,
    /// What was evaluated so far.
    pub statistics: Statistics,
    scratch: Scratch,
    kkt: Kkt,
    pub(super) elimination: Elimination,
    mass: Vec<f64>,
    force: Vec<f64>,
    jacobian: Vec<f64>,
    jacobian_ahead: Vec<f64>,
    right: Vec<f64>,
    block: Vec<f64>,
}

/// A stage of a half-explicit method:
///
/// ```text
/// M(q) a = F(q, v) + Gᵀ(q) λ,     G(q_ahead) a = r
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StageSystem<'a> {
    /// Time of M, F and Gᵀ.
    pub t: f64,
    /// Position of M, F and Gᵀ.
    pub q: &'a [f64],
    /// Velocity of F.
    pub v: &'a [f64],
    /// Time of G.
    pub t_ahead: f64,
    /// Position of G.
    pub q_ahead: &'a [f64],
    /// Velocity known so far at the position ahead: r = −(G v_known + g_t)/step.
    pub v_known: &'a [f64],
    /// Coefficient of a in the velocity ahead \[s\].
    pub step: f64,
}

/// Factors of the matrices in a tangent c_m M + c_v C + c_q K, with C = −∂F/∂v and K = ∂(M a − F − Gᵀλ)/∂q T.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TangentFactors {
    /// Factor of M.
    pub mass: f64,
    /// Factor of C.
    pub velocity: f64,
    /// Factor of K.
    pub position: f64,
}

impl<'m> Equations<'m> {
    /// The equations with all rows of the bilateral interactions.
    #[must_use]
    pub fn new(model: &'m Model) -> Self {
        Equations {
            model,
            rows: RowLayout::new(model, |_, _| true),
            baumgarte: None,
            acceleration: AccelerationForm::default(),
            statistics: Statistics::default(),
            scratch: Scratch::default(),
            kkt: Kkt::default(),
            elimination: Elimination::default(),
            mass: vec![0.0; model.systems().layout().n_values()],
            force: vec![0.0; model.systems().velocities().len()],
            jacobian: Vec::new(),
            jacobian_ahead: Vec::new(),
            right: Vec::new(),
            block: Vec::new(),
        }
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// The rows in use.
    #[must_use]
    pub fn rows(&self) -> &RowLayout {
        &self.rows
    }

    /// The layout of the mass matrix.
    #[must_use]
    pub fn layout(&self) -> &'m BlockLayout {
        self.model.systems().layout()
    }

    /// Number of coordinates.
    #[must_use]
    pub fn n_q(&self) -> usize {
        self.model.systems().coordinates().len()
    }

    /// Number of velocities.
    #[must_use]
    pub fn n_v(&self) -> usize {
        self.model.systems().velocities().len()
    }

    /// Number of constraint rows in use.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.rows.n_rows()
    }

    /// q⁺ = q ⊕ w.
    pub fn advance(&self, q: &[f64], w: &[f64], q_next: &mut [f64]) {
        self.model.systems().advance(q, w, q_next);
    }

    /// ẇ = D(w) v of a displacement from the start of the step.
    pub fn displacement_rate(&self, w: &[f64], v: &[f64], rate: &mut [f64]) {
        self.model.systems().displacement_rate(w, v, rate);
    }

    /// Writes M(t, q).
    ///
    /// # Errors
    /// [`IntegrationError::NonFinite`].
    pub fn mass(&mut self, t: f64, q: &[f64], mass: &mut [f64]) -> Result<(), IntegrationError> {
        self.model.systems().mass(t, q, mass, &mut self.scratch).map_err(at(t))
    }

    /// Writes F(t, q, v).
    ///
    /// # Errors
    /// [`IntegrationError::NonFinite`].
    pub fn force(&mut self, t: f64, q: &[f64], v: &[f64], force: &mut [f64]) -> Result<(), IntegrationError> {
        self.statistics.force_evaluations += 1;
        self.model.systems().force(t, q, v, force, &mut self.scratch).map_err(at(t))
    }

    /// Writes g(t, q) of the rows in use; zero for nonholonomic rows.
    ///
    /// # Errors
    /// [`IntegrationError::NonFinite`].
    pub fn constraints(&mut self, t: f64, q: &[f64], g: &mut [f64]) -> Result<(), IntegrationError> {
        g.fill(0.0);
        for item in self.rows.items().iter().filter(|item| item.holonomic) {
            let relation = self.model.interactions()[item.interaction].relation();
            let mut all = [0.0; 6];
            relation.position(t, q, &mut all[..relation.n_rows()], &mut self.scratch).map_err(at(t))?;
            for (row, &k) in item.rows.clone().zip(&item.selected) {
                g[row] = all[k];
            }
        }
        Ok(())
    }

    /// Writes the values of G(t, q) in the layout of [`Equations::rows`], and b = ∂g/∂t.
    ///
    /// # Errors
    /// [`IntegrationError::NonFinite`].
    pub fn jacobian(&mut self, t: f64, q: &[f64], values: &mut [f64], explicit: &mut [f64]) -> Result<(), IntegrationError> {
        self.statistics.jacobian_evaluations += 1;
        for item in self.rows.items() {
            let interaction = &self.model.interactions()[item.interaction];
            let relation = interaction.relation();
            let (n, width) = (relation.n_rows(), relation.velocities().len());
            self.block.clear();
            self.block.resize(n * width, 0.0);
            let mut bias = [0.0; 6];
            relation.jacobian(t, q, Rows { jacobian: &mut self.block, bias: &mut bias[..n] }, &mut self.scratch).map_err(at(t))?;
            let out = &mut values[item.first..item.first + item.rows.len() * item.width];
            for ((row, &k), out) in item.rows.clone().zip(&item.selected).zip(out.chunks_exact_mut(item.width)) {
                interaction.spread(&self.block[k * width..(k + 1) * width], out);
                explicit[row] = bias[k];
            }
        }
        Ok(())
    }

    /// Writes (dG/dt) v + db/dt.
    ///
    /// # Errors
    /// [`IntegrationError::NonFinite`].
    pub fn acceleration_bias(&mut self, t: f64, q: &[f64], v: &[f64], bias: &mut [f64]) -> Result<(), IntegrationError> {
        for item in self.rows.items() {
            let relation = self.model.interactions()[item.interaction].relation();
            let mut all = [0.0; 6];
            relation.acceleration_bias(t, q, v, &mut all[..relation.n_rows()], &mut self.scratch).map_err(at(t))?;
            for (row, &k) in item.rows.clone().zip(&item.selected) {
                bias[row] = all[k];
            }
        }
        Ok(())
    }

    /// Writes u = G v + b.
    ///
    /// # Errors
    /// [`IntegrationError::NonFinite`].
    pub fn constraint_velocity(&mut self, t: f64, q: &[f64], v: &[f64], u: &mut [f64]) -> Result<(), IntegrationError> {
        let mut values = std::mem::take(&mut self.jacobian);
        values.resize(self.rows.n_values(), 0.0);
        let mut explicit = std::mem::take(&mut self.right);
        explicit.resize(self.n_rows(), 0.0);
        let done = self.jacobian(t, q, &mut values, &mut explicit);
        self.rows.multiply(self.layout(), &values, v, u);
        for (u, b) in u.iter_mut().zip(&explicit) {
            *u += b;
        }
        (self.jacobian, self.right) = (values, explicit);
        done
    }

    /// Accelerations and multipliers of the acceleration (index 1) form:
    ///
    /// ```text
    /// M a = F + Gᵀλ,     G a = −(dG/dt) v − db/dt − 2α (G v + b) − β² g
    /// ```
    ///
    /// with α = β = 0 unless Baumgarte's stabilisation is asked for. Solved by [`Equations::acceleration`].
    ///
    /// # Errors
    /// [`IntegrationError`]: values that are not finite, singular mass or constraints.
    pub fn accelerate(&mut self, t: f64, q: &[f64], v: &[f64], a: &mut [f64], lambda: &mut [f64]) -> Result<(), IntegrationError> {
        let (m, layout) = (self.n_rows(), self.layout());
        let (mut mass, mut force, mut g, mut right) = self.take_arrays();
        let mut explicit = vec![0.0; m];
        self.mass(t, q, &mut mass)?;
        self.force(t, q, v, &mut force)?;
        self.jacobian(t, q, &mut g, &mut explicit)?;
        self.acceleration_bias(t, q, v, &mut right)?;
        right.iter_mut().for_each(|r| *r = -*r);
        if let Some(Baumgarte { alpha, beta }) = self.baumgarte {
            let (mut u, mut position) = (vec![0.0; m], vec![0.0; m]);
            self.rows.multiply(layout, &g, v, &mut u);
            self.constraints(t, q, &mut position)?;
            for (i, r) in right.iter_mut().enumerate() {
                *r -= 2.0 * alpha * (u[i] + explicit[i]) + beta * beta * position[i];
            }
        }
        self.statistics.factorisations += 1;
        self.statistics.solves += 1;
        if self.acceleration == AccelerationForm::Multipliers {
            self.factorise_kkt(t, &mass, &g, None)?;
            self.kkt.solve(layout, &self.rows, &force, &right, a, lambda);
        } else {
            let system = self.dense_system(&mass, &force, &g, &right);
            self.elimination.solve(self.acceleration, system, a, lambda).map_err(|e| elimination_error(t, e))?;
        }
        (self.mass, self.force, self.jacobian, self.right) = (mass, force, g, right);
        Ok(())
    }

    /// Solves a stage of a half-explicit method for its acceleration and multipliers.
    ///
    /// # Errors
    /// As [`Equations::accelerate`].
    pub fn solve_stage(&mut self, stage: StageSystem<'_>, a: &mut [f64], lambda: &mut [f64]) -> Result<(), IntegrationError> {
        let layout = self.layout();
        let (mut mass, mut force, mut h, mut right) = self.take_arrays();
        let mut g = std::mem::take(&mut self.jacobian_ahead);
        g.resize(self.rows.n_values(), 0.0);
        let mut explicit = vec![0.0; self.n_rows()];
        self.mass(stage.t, stage.q, &mut mass)?;
        self.force(stage.t, stage.q, stage.v, &mut force)?;
        self.jacobian(stage.t, stage.q, &mut h, &mut explicit)?;
        self.jacobian(stage.t_ahead, stage.q_ahead, &mut g, &mut explicit)?;
        self.rows.multiply(layout, &g, stage.v_known, &mut right);
        for (r, b) in right.iter_mut().zip(&explicit) {
            *r = -(*r + b) / stage.step;
        }
        self.statistics.factorisations += 1;
        self.statistics.solves += 1;
        let factorised = self.kkt.factorise(layout, &self.rows, &mass, &g, Some(&h));
        factorised.map_err(|e| self.kkt_error(stage.t, e))?;
        self.kkt.solve(layout, &self.rows, &force, &right, a, lambda);
        (self.mass, self.force, self.jacobian, self.right, self.jacobian_ahead) = (mass, force, h, right, g);
        Ok(())
    }

    /// Adds the tangent c_m M + c_v C + c_q K at a point to a matrix, its first row and column at `place`.
    ///
    /// # Errors
    /// [`IntegrationError::NonFinite`].
    pub fn add_tangent(
        &mut self,
        point: &MotionPoint,
        factors: TangentFactors,
        matrix: &mut IterationMatrix,
        place: (usize, usize),
    ) -> Result<(), IntegrationError> {
        let (layout, systems, t) = (self.layout(), self.model.systems(), point.t);
        let mut values = std::mem::take(&mut self.mass);
        values.resize(layout.n_values(), 0.0);
        systems.mass(t, &point.q, &mut values, &mut self.scratch).map_err(at(t))?;
        values.iter_mut().for_each(|m| *m *= factors.mass);
        let instant = Instant { t, q: &point.q, v: &point.v };
        let jacobian_factors = JacobianFactors { velocity: factors.velocity, position: factors.position };
        systems.add_jacobians(instant, jacobian_factors, &mut values, &mut self.scratch).map_err(at(t))?;
        systems.add_mass_derivative(t, &point.q, &point.a, factors.position, &mut values, &mut self.scratch).map_err(at(t))?;
        for b in 0..layout.n_blocks() {
            let (first, n) = (layout.rows[b], layout.size(b));
            for (k, &value) in values[layout.values[b]..layout.values[b + 1]].iter().enumerate() {
                matrix.add(place.0 + first + k / n, place.1 + first + k % n, value);
            }
        }
        self.mass = values;
        for item in self.rows.items() {
            let relation = self.model.interactions()[item.interaction].relation();
            let velocities = relation.velocities();
            let n = velocities.len();
            let mut lambda = [0.0; 6];
            for (row, &k) in item.rows.clone().zip(&item.selected) {
                lambda[k] = point.lambda[row];
            }
            self.block.clear();
            self.block.resize(n * n, 0.0);
            relation
                .add_curvature(t, &point.q, &lambda[..relation.n_rows()], -factors.position, &mut self.block, &mut self.scratch)
                .map_err(at(t))?;
            for (k, &value) in self.block.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                matrix.add(place.0 + velocities[k / n], place.1 + velocities[k % n], value);
            }
        }
        Ok(())
    }

    /// Adds c G to a matrix, its first row and column at `place`.
    pub fn add_rows(&self, g: &[f64], factor: f64, matrix: &mut IterationMatrix, place: (usize, usize)) {
        self.each_entry(g, |row, column, value| matrix.add(place.0 + row, place.1 + column, factor * value));
    }

    /// Adds c Gᵀ to a matrix, its first row and column at `place`.
    pub fn add_columns(&self, g: &[f64], factor: f64, matrix: &mut IterationMatrix, place: (usize, usize)) {
        self.each_entry(g, |row, column, value| matrix.add(place.0 + column, place.1 + row, factor * value));
    }

    pub(super) fn each_entry(&self, g: &[f64], mut take: impl FnMut(usize, usize, f64)) {
        let layout = self.layout();
        for item in self.rows.items() {
            for (k, row) in item.rows.clone().enumerate() {
                let values = &g[item.first + k * item.width..][..item.width];
                for &(block, column) in self.rows.touched(item) {
                    for (i, velocity) in (layout.rows[block as usize]..layout.rows[block as usize + 1]).enumerate() {
                        take(row, velocity, values[column as usize + i]);
                    }
                }
            }
        }
    }

    fn take_arrays(&mut self) -> (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>) {
        let (mut mass, mut force) = (std::mem::take(&mut self.mass), std::mem::take(&mut self.force));
        let (mut g, mut right) = (std::mem::take(&mut self.jacobian), std::mem::take(&mut self.right));
        mass.resize(self.layout().n_values(), 0.0);
        force.resize(self.n_v(), 0.0);
        g.resize(self.rows.n_values(), 0.0);
        right.resize(self.n_rows(), 0.0);
        (mass, force, g, right)
    }

    /// Factorises the KKT matrix with these values of M and G and, where it differs, H.
    pub(super) fn factorise_kkt(&mut self, t: f64, mass: &[f64], g: &[f64], h: Option<&[f64]>) -> Result<(), IntegrationError> {
        let factorised = self.kkt.factorise(self.model.systems().layout(), &self.rows, mass, g, h);
        factorised.map_err(|e| self.kkt_error(t, e))?;
        Ok(())
    }

    /// Writes x and μ with M x − Hᵀμ = f, G x = r by the last factorisation.
    pub(super) fn solve_kkt(&mut self, f: &[f64], r: &[f64], x: &mut [f64], mu: &mut [f64]) {
        self.statistics.solves += 1;
        self.kkt.solve(self.model.systems().layout(), &self.rows, f, r, x, mu);
    }

    fn kkt_error(&self, t: f64, error: KktError) -> IntegrationError {
        match error {
            KktError::Mass(block) => {
                IntegrationError::SingularMass { t, system: self.model.systems().velocities()[self.layout().rows[block]].name.clone() }
            }
            KktError::Row(row, pivot) => {
                let item = self.rows.items().iter().find(|item| item.rows.contains(&row));
                let constraint = item.map_or(String::new(), |item| self.model.interactions()[item.interaction].name().to_owned());
                IntegrationError::SingularConstraints { t, constraint, pivot }
            }
        }
    }
}

/// Adds the time to an error of elimination.
fn elimination_error(t: f64, error: EliminationError) -> IntegrationError {
    match error {
        EliminationError::Mass => IntegrationError::SingularMass { t, system: "the motion that the constraints leave free".into() },
        EliminationError::Decomposition => {
            let what = "a singular value of the constraint rows".to_owned();
            IntegrationError::NonFinite { t, source: NonFinite { what, value: f64::NAN } }
        }
    }
}

/// Adds the time to an error of evaluation.
fn at(t: f64) -> impl Fn(NonFinite) -> IntegrationError {
    move |source| IntegrationError::NonFinite { t, source }
}
