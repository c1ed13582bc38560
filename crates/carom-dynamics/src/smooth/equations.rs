//! The constrained equations of motion of a model, evaluated for integrators.

use super::closed_contact::Interactions;
use super::elimination::{Elimination, EliminationError};
use super::iteration_matrix::IterationMatrix;
use super::kkt::{Kkt, KktError};
use super::known_jacobian::KnownJacobian;
use super::loaded_efforts::LoadedEfforts;
use super::motion_point::MotionPoint;
use super::row_layout::RowLayout;
use super::shared_forces::SharedForces;
use super::sliding::{FrictionSystem, SlipWork};
use super::statistics::Statistics;
use crate::block_diagonal::BlockLayout;
use crate::error::{IntegrationError, NonFinite};
use crate::model::Model;
use crate::relations::Rows;
use crate::smooth::{AccelerationForm, Baumgarte};
use crate::systems::{Instant, JacobianFactors, Scratch};
use std::cell::RefCell;

/// M v̇ = F + Gᵀλ with the constraint rows in use, over one model. Evaluations are counted in `statistics`.
pub struct Equations<'m> {
    pub(super) model: &'m Model,
    pub(super) interactions: Interactions<'m>,
    pub(super) rows: RowLayout,
    /// All rows, while some are not in use.
    pub(super) all_rows: Option<RowLayout>,
    /// The rows are those of other closed contacts than the ones selected last.
    pub(crate) rows_are_new: bool,
    /// The forces of closed contacts some of whose rows are not in use, while some slide.
    pub(super) shared: Option<SharedForces>,
    /// A sliding speed up to this is none \[m/s\]: friction acts along the direction in which the contact was said to slide. Default 1e-12.
    pub slip_threshold: f64,
    /// Constraint stabilisation added to the acceleration form.
    pub baumgarte: Option<Baumgarte>,
    /// How [`Equations::accelerate`] finds accelerations; stages of half-explicit methods always have multipliers.
    pub acceleration: AccelerationForm,
    /// What was evaluated so far.
    pub statistics: Statistics,
    pub(super) scratch: Scratch,
    pub(super) kkt: Kkt,
    pub(super) elimination: Elimination,
    work: Work,
    /// `work.mass` holds a mass that is constant.
    mass_is_known: bool,
    /// G and b of constant relations, in the layout of the rows; empty until they are evaluated.
    pub(super) constant: Option<(Vec<f64>, Vec<f64>)>,
    pub(super) last_jacobian: KnownJacobian,
    tangent: Vec<f64>,
    pub(super) block: Vec<f64>,
    pub(super) interpolation: RefCell<[Vec<f64>; 7]>,
    pub(super) loads: LoadedEfforts,
}

/// Work arrays of the evaluations. They are taken out while in use.
#[derive(Clone, Debug, Default)]
struct Work {
    mass: Vec<f64>,
    force: Vec<f64>,
    jacobian: Vec<f64>,
    jacobian_ahead: Vec<f64>,
    right: Vec<f64>,
    explicit: Vec<f64>,
    velocity: Vec<f64>,
    position: Vec<f64>,
}

impl Work {
    /// Gives the arrays their lengths; a mass of the right length keeps its values.
    fn resize(&mut self, layout: &BlockLayout, rows: &RowLayout) {
        self.mass.resize(layout.n_values(), 0.0);
        self.force.resize(layout.n_rows(), 0.0);
        self.jacobian.resize(rows.n_values(), 0.0);
        self.jacobian_ahead.resize(rows.n_values(), 0.0);
        for row in [&mut self.right, &mut self.explicit, &mut self.velocity, &mut self.position] {
            row.resize(rows.n_rows(), 0.0);
        }
    }
}

/// A stage of a half-explicit method:
///
/// ```text
/// M(q) a = c F(q, v) + Gᵀ(q) λ,     G(q_ahead) a = r
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
    /// c, usually 1; with `step` = 1, c = h is a stage in terms of h a, and c = 0 the projection of v_known.
    pub force_factor: f64,
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
            interactions: Interactions::new(model),
            rows: RowLayout::new(model, |_, _| true),
            all_rows: None,
            rows_are_new: false,
            shared: None,
            slip_threshold: 1e-12,
            baumgarte: None,
            acceleration: AccelerationForm::default(),
            statistics: Statistics::default(),
            scratch: Scratch::default(),
            kkt: Kkt::default(),
            work: Work::default(),
            mass_is_known: false,
            constant: None,
            last_jacobian: KnownJacobian::default(),
            tangent: Vec::new(),
            elimination: Elimination::default(),
            block: Vec::new(),
            interpolation: RefCell::default(),
            loads: LoadedEfforts::default(),
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

    /// Writes F(t, q, v), with the efforts that push at a bound.
    ///
    /// # Errors
    /// [`IntegrationError::NonFinite`].
    pub fn force(&mut self, t: f64, q: &[f64], v: &[f64], force: &mut [f64]) -> Result<(), IntegrationError> {
        self.statistics.force_evaluations += 1;
        self.model.force(t, q, v, force, &mut self.scratch).map_err(at(t))?;
        if self.interactions.pushes() {
            let mut work = SlipWork { block: &mut self.block, scratch: &mut self.scratch };
            self.interactions.add_pushes(Instant { t, q, v }, self.slip_threshold, force, &mut work).map_err(at(t))?;
        }
        Ok(())
    }

    /// Writes g(t, q) of the rows in use; zero for nonholonomic rows.
    ///
    /// # Errors
    /// [`IntegrationError::NonFinite`].
    pub fn constraints(&mut self, t: f64, q: &[f64], g: &mut [f64]) -> Result<(), IntegrationError> {
        self.rows.positions(&self.interactions, (t, q), g, &mut self.scratch).map_err(at(t))
    }

    /// Writes the values of G(t, q) in the layout of [`Equations::rows`], and b = ∂g/∂t. Constant relations are evaluated once, and the last
    /// values are kept: stages and projections often ask for them again.
    ///
    /// # Errors
    /// [`IntegrationError::NonFinite`].
    pub fn jacobian(&mut self, t: f64, q: &[f64], values: &mut [f64], explicit: &mut [f64]) -> Result<(), IntegrationError> {
        if self.last_jacobian.copy_to(t, q, values, explicit) {
            return Ok(());
        }
        self.statistics.jacobian_evaluations += 1;
        for item in self.rows.items() {
            let (span, rows) = (item.values(), item.rows.clone());
            if let (true, Some((known, bias))) = (item.constant, &self.constant) {
                values[span.clone()].copy_from_slice(&known[span]);
                explicit[rows.clone()].copy_from_slice(&bias[rows]);
                continue;
            }
            let out = Rows { jacobian: &mut values[span], bias: &mut explicit[rows] };
            item.jacobian(&self.interactions, (t, q), out, &mut self.block, &mut self.scratch).map_err(at(t))?;
        }
        if self.constant.is_none() && self.rows.items().iter().any(|item| item.constant) {
            self.constant = Some((values.to_vec(), explicit.to_vec()));
        }
        self.last_jacobian.keep(t, q, values, explicit);
        Ok(())
    }

    /// Writes (dG/dt) v + db/dt.
    ///
    /// # Errors
    /// [`IntegrationError::NonFinite`].
    pub fn acceleration_bias(&mut self, t: f64, q: &[f64], v: &[f64], bias: &mut [f64]) -> Result<(), IntegrationError> {
        for item in self.rows.items() {
            let relation = self.interactions.relation(item.interaction);
            let mut all = [0.0; 6];
            relation.acceleration_bias(t, q, v, &mut all[..relation.n_rows()], &mut self.scratch).map_err(at(t))?;
            let mut work = SlipWork { block: &mut self.block, scratch: &mut self.scratch };
            all[0] += self.interactions.servo_rate(item.interaction, Instant { t, q, v }, &mut work).map_err(at(t))?;
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
        let mut work = self.take_work();
        let done = self.jacobian(t, q, &mut work.jacobian, &mut work.explicit);
        self.rows.multiply(&work.jacobian, v, u);
        for (u, b) in u.iter_mut().zip(&work.explicit) {
            *u += b;
        }
        self.work = work;
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
        let mut work = self.take_work();
        let done = self.accelerate_with(&mut work, Instant { t, q, v }, a, lambda);
        self.work = work;
        done
    }

    fn accelerate_with(&mut self, work: &mut Work, at: Instant<'_>, a: &mut [f64], lambda: &mut [f64]) -> Result<(), IntegrationError> {
        let (layout, Instant { t, q, v }) = (self.layout(), at);
        let Work { mass, force, jacobian: g, jacobian_ahead: h, right, explicit, velocity, position } = work;
        self.mass_once(t, q, mass)?;
        self.force(t, q, v, force)?;
        self.jacobian(t, q, g, explicit)?;
        self.acceleration_bias(t, q, v, right)?;
        right.iter_mut().for_each(|r| *r = -*r);
        if let Some(Baumgarte { alpha, beta }) = self.baumgarte {
            self.rows.multiply(g, v, velocity);
            self.constraints(t, q, position)?;
            for (i, r) in right.iter_mut().enumerate() {
                *r -= 2.0 * alpha * (velocity[i] + explicit[i]) + beta * beta * position[i];
            }
        }
        self.statistics.solves += 1;
        if self.interactions.slides() {
            if self.acceleration != AccelerationForm::Multipliers {
                let reason = "contacts that slide with friction need the form \"multipliers\"".to_owned();
                return Err(IntegrationError::Unsupported { integrator: "acceleration", reason });
            }
            h.copy_from_slice(g);
            self.solve_with_friction(at, FrictionSystem { mass, force, g, h, right }, a, lambda)?;
        } else if self.acceleration == AccelerationForm::Multipliers {
            self.factorise_kkt(t, mass, g, None)?;
            self.kkt.solve(layout, &self.rows, force, right, a, lambda);
        } else {
            self.statistics.factorisations += 1;
            let system = self.dense_system(mass, force, g, right);
            self.elimination.solve(self.acceleration, system, a, lambda).map_err(|e| elimination_error(t, e))?;
        }
        self.add_loads(at, 1.0, a, lambda)
    }

    /// Solves a stage of a half-explicit method for its acceleration and multipliers.
    ///
    /// # Errors
    /// As [`Equations::accelerate`].
    pub fn solve_stage(&mut self, stage: StageSystem<'_>, a: &mut [f64], lambda: &mut [f64]) -> Result<(), IntegrationError> {
        let mut work = self.take_work();
        let done = self.solve_stage_with(&mut work, stage, a, lambda);
        self.work = work;
        done
    }

    fn solve_stage_with(
        &mut self,
        work: &mut Work,
        stage: StageSystem<'_>,
        a: &mut [f64],
        lambda: &mut [f64],
    ) -> Result<(), IntegrationError> {
        let layout = self.layout();
        let Work { mass, force, jacobian: h, jacobian_ahead: g, right, explicit, .. } = work;
        self.mass_once(stage.t, stage.q, mass)?;
        if stage.force_factor == 0.0 {
            force.fill(0.0);
        } else {
            self.force(stage.t, stage.q, stage.v, force)?;
            force.iter_mut().for_each(|f| *f *= stage.force_factor);
        }
        // a projection has the constraints where it is
        let ahead = stage.t != stage.t_ahead || stage.q != stage.q_ahead;
        let friction = self.interactions.slides() && stage.force_factor != 0.0;
        if ahead || friction {
            self.jacobian(stage.t, stage.q, h, explicit)?;
        }
        self.jacobian(stage.t_ahead, stage.q_ahead, g, explicit)?;
        self.rows.multiply(g, stage.v_known, right);
        for (r, b) in right.iter_mut().zip(explicit.iter()) {
            *r = -(*r + b) / stage.step;
        }
        self.statistics.solves += 1;
        let at = Instant { t: stage.t, q: stage.q, v: stage.v };
        if friction {
            self.solve_with_friction(at, FrictionSystem { mass, force, g, h, right }, a, lambda)?;
        } else {
            self.factorise_kkt(stage.t, mass, g, ahead.then_some(h.as_slice()))?;
            self.kkt.solve(layout, &self.rows, force, right, a, lambda);
        }
        if stage.force_factor == 0.0 { Ok(()) } else { self.add_loads(at, stage.force_factor.signum(), a, lambda) }
    }

    /// Adds the tangent c_m M + c_v C + c_q K at a point to a matrix, its first row and column at `place`.
    ///
    /// # Errors
    /// [`IntegrationError::NonFinite`].
    pub(crate) fn add_tangent(
        &mut self,
        point: &MotionPoint,
        factors: TangentFactors,
        matrix: &mut IterationMatrix,
        place: (usize, usize),
    ) -> Result<(), IntegrationError> {
        let (layout, systems, t) = (self.layout(), self.model.systems(), point.t);
        self.tangent.resize(layout.n_values(), 0.0);
        let values = &mut self.tangent;
        systems.mass(t, &point.q, values, &mut self.scratch).map_err(at(t))?;
        values.iter_mut().for_each(|m| *m *= factors.mass);
        let instant = Instant { t, q: &point.q, v: &point.v };
        let jacobian_factors = JacobianFactors { velocity: factors.velocity, position: factors.position };
        self.model.add_jacobians_without_elements(instant, jacobian_factors, values, &mut self.scratch).map_err(at(t))?;
        systems.add_mass_derivative(t, &point.q, &point.a, factors.position, values, &mut self.scratch).map_err(at(t))?;
        for b in 0..layout.n_blocks() {
            let (first, n) = (layout.rows[b], layout.size(b));
            for (k, &value) in values[layout.values[b]..layout.values[b + 1]].iter().enumerate() {
                matrix.add(place.0 + first + k / n, place.1 + first + k % n, value);
            }
        }
        let mut add = |i: usize, j: usize, value: f64| matrix.add(place.0 + i, place.1 + j, value);
        self.model.visit_element_jacobians(instant, jacobian_factors, &mut self.scratch, &mut add).map_err(at(t))?;
        for item in self.rows.items() {
            let relation = self.interactions.relation(item.interaction);
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

    /// The work arrays, to be given back.
    fn take_work(&mut self) -> Work {
        let mut work = std::mem::take(&mut self.work);
        work.resize(self.layout(), &self.rows);
        work
    }

    /// Factorises the KKT matrix with these values of M and G and, where it differs, H.
    pub(super) fn factorise_kkt(&mut self, t: f64, mass: &[f64], g: &[f64], h: Option<&[f64]>) -> Result<(), IntegrationError> {
        let factorised = self.kkt.factorise(self.model.systems().layout(), &self.rows, mass, g, h);
        self.statistics.factorisations += usize::from(factorised.map_err(|e| self.kkt_error(t, e))?);
        Ok(())
    }

    /// Writes x and μ with M x − Hᵀμ = f, G x = r by the last factorisation.
    pub(super) fn solve_kkt(&mut self, f: &[f64], r: &[f64], x: &mut [f64], mu: &mut [f64]) {
        self.statistics.solves += 1;
        self.kkt.solve(self.model.systems().layout(), &self.rows, f, r, x, mu);
    }

    /// Writes M(t, q) into the work array unless it is known to be there.
    fn mass_once(&mut self, t: f64, q: &[f64], mass: &mut [f64]) -> Result<(), IntegrationError> {
        if !self.mass_is_known {
            self.mass(t, q, mass)?;
            self.mass_is_known = self.model.systems().mass_is_constant();
        }
        Ok(())
    }

    /// Uses these rows from now on.
    pub(super) fn use_rows(&mut self, rows: RowLayout) {
        self.rows = rows;
        self.constant = None;
        self.last_jacobian = KnownJacobian::default();
    }

    pub(super) fn kkt_error(&self, t: f64, error: KktError) -> IntegrationError {
        match error {
            KktError::Mass(block) => {
                IntegrationError::SingularMass { t, system: self.model.systems().velocities().name(self.layout().rows[block]) }
            }
            KktError::Row(row, pivot) => {
                let item = self.rows.items().iter().find(|item| item.rows.contains(&row));
                let constraint = item.map_or(String::new(), |item| self.interaction(item.interaction).name().to_owned());
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
pub(super) fn at(t: f64) -> impl Fn(NonFinite) -> IntegrationError {
    move |source| IntegrationError::NonFinite { t, source }
}
