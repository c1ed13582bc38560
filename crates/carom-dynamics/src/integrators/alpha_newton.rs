//! The nonlinear system of an α-method: residual, iteration matrix and increments. The equations are in the header of `alpha_family.rs`.

use super::alpha_family::AlphaCoefficients;
use crate::block_diagonal::{BlockFactor, BlockLayout};
use crate::error::IntegrationError;
use crate::smooth::{Equations, IterationMatrix, MotionPoint, TangentFactors};
use crate::systems::{Instant, JacobianFactors, Scratch};

/// The level at which a constraint row is satisfied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    Position,
    Velocity,
    Acceleration,
    /// Positions and velocities, with a second multiplier η.
    Both,
}

/// Size of an increment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Increment {
    /// Of accelerations and multipliers, relative to their sizes (at least 1 in SI units).
    pub relative: f64,
    /// Of positions, relative to theirs.
    pub position: f64,
}

/// Newton's iteration of one step.
#[derive(Default)]
pub(super) struct AlphaNewton {
    coefficients: AlphaCoefficients,
    levels: Vec<Level>,
    stabilised: bool,
    scaling: bool,
    curved: bool,
    matrix: IterationMatrix,
    /// Step for which the matrix was made.
    matrix_step: Option<f64>,
    scratch: Scratch,
    mass: Vec<f64>,
    g: Vec<f64>,
    explicit: Vec<f64>,
    rows: Vec<f64>,
    /// D(w) by mass blocks.
    chart: Vec<f64>,
    residual: Vec<f64>,
    force: Vec<f64>,
    work: Vec<f64>,
    scale: Vec<f64>,
    value: Vec<f64>,
    /// M_n⁻¹ G_nᵀ, one row of n_v values per constraint row.
    directions: Vec<f64>,
    eta: Vec<f64>,
    factor: BlockFactor,
    block: Vec<f64>,
    unit: Vec<f64>,
}

impl AlphaNewton {
    /// Sizes the arrays for the rows in use.
    pub fn resize(&mut self, equations: &Equations<'_>, coefficients: AlphaCoefficients, levels: Vec<Level>, scaling: bool) {
        let (n, m, systems) = (equations.n_v(), equations.n_rows(), equations.model().systems());
        self.coefficients = coefficients;
        self.scaling = scaling;
        self.stabilised = levels.contains(&Level::Both);
        self.curved = (0..equations.n_q()).any(|c| !systems.is_flat(c));
        self.levels = levels;
        self.matrix_step = None;
        let values = equations.layout().n_values();
        let extra = if self.stabilised { m } else { 0 };
        let sizes = [
            (&mut self.mass, values),
            (&mut self.chart, values),
            (&mut self.g, equations.rows().n_values()),
            (&mut self.rows, equations.rows().n_values()),
            (&mut self.explicit, m),
            (&mut self.value, m),
            (&mut self.residual, n + m + extra),
            (&mut self.force, n),
            (&mut self.work, n),
            (&mut self.scale, n),
            (&mut self.directions, extra * n),
            (&mut self.eta, extra),
            (&mut self.unit, m),
        ];
        for (array, size) in sizes {
            array.clear();
            array.resize(size, 0.0);
        }
    }

    /// Begins a step: η = 0 along M_n⁻¹ G_nᵀ.
    pub fn begin(&mut self, equations: &mut Equations<'_>, start: &MotionPoint) -> Result<(), IntegrationError> {
        let systems = equations.model().systems();
        systems.position_scale(&start.q, &mut self.scale);
        // below 1 (m, rad) the resolution of g counts, not that of a coordinate that happens to vanish
        self.scale.iter_mut().for_each(|s| *s = s.max(1.0));
        if !self.stabilised {
            return Ok(());
        }
        let (layout, n) = (equations.layout(), equations.n_v());
        self.eta.fill(0.0);
        equations.mass(start.t, &start.q, &mut self.mass)?;
        equations.jacobian(start.t, &start.q, &mut self.g, &mut self.explicit)?;
        self.factor
            .factorise(layout, &self.mass)
            .map_err(|e| IntegrationError::SingularMass { t: start.t, system: systems.velocities().name(layout.rows[e.block]) })?;
        for (row, direction) in self.directions.chunks_exact_mut(n.max(1)).enumerate() {
            self.work.fill(0.0);
            self.unit[row] = 1.0;
            equations.rows().add_transposed(&self.g, 1.0, &self.unit, &mut self.work);
            self.unit[row] = 0.0;
            self.factor.solve(layout, &self.work, direction);
        }
        Ok(())
    }

    /// w += M_n⁻¹ G_nᵀ η.
    pub(crate) fn add_correction(&self, w: &mut [f64]) {
        for (eta, direction) in self.eta.iter().zip(self.directions.chunks_exact(w.len().max(1))) {
            w.iter_mut().zip(direction).for_each(|(w, d)| *w += eta * d);
        }
    }

    pub(crate) fn has_matrix(&self) -> bool {
        self.matrix_step.is_some()
    }

    pub(crate) fn forget_matrix(&mut self) {
        self.matrix_step = None;
    }

    /// The matrix at hand serves a step of size h: always when they are equal, nearly so when it has a limit in h.
    pub(crate) fn can_keep(&self, h: f64, scaling: bool) -> bool {
        self.matrix_step.is_some_and(|step| h == step || (scaling && h < 2.0 * step && step < 2.0 * h))
    }

    /// Factors of the rows of the dynamics, of velocities, and of the unknown multipliers.
    fn scales(&self, h: f64) -> (f64, f64, f64) {
        if self.scaling { (h * h, h, 1.0 / (h * h)) } else { (1.0, 1.0, 1.0) }
    }

    /// Writes the residual of all rows at the end point.
    pub fn evaluate(&mut self, equations: &mut Equations<'_>, end: &MotionPoint, h: f64) -> Result<(), IntegrationError> {
        let (layout, n, m) = (equations.layout(), equations.n_v(), equations.n_rows());
        let (dynamic, kinematic, _) = self.scales(h);
        equations.mass(end.t, &end.q, &mut self.mass)?;
        equations.force(end.t, &end.q, &end.v, &mut self.force)?;
        equations.jacobian(end.t, &end.q, &mut self.g, &mut self.explicit)?;
        // M A − F − Gᵀλ
        layout.multiply(&self.mass, &end.a, &mut self.work);
        equations.rows().add_transposed(&self.g, 1.0, &end.lambda, &mut self.force);
        for i in 0..n {
            self.residual[i] = dynamic * (self.work[i] - self.force[i]);
        }
        let has = |level: Level| self.levels.contains(&level);
        if has(Level::Velocity) || has(Level::Both) {
            equations.rows().multiply(&self.g, &end.v, &mut self.value);
            for row in 0..m {
                self.residual[n + row] = kinematic * (self.value[row] + self.explicit[row]);
            }
        }
        if has(Level::Acceleration) {
            equations.acceleration_bias(end.t, &end.q, &end.v, &mut self.explicit)?;
            equations.rows().multiply(&self.g, &end.a, &mut self.value);
            for row in 0..m {
                self.residual[n + row] = dynamic * (self.value[row] + self.explicit[row]);
            }
        }
        if has(Level::Position) || has(Level::Both) {
            equations.constraints(end.t, &end.q, &mut self.value)?;
            for (row, level) in self.levels.iter().enumerate() {
                match level {
                    Level::Position => self.residual[n + row] = self.value[row],
                    Level::Both => self.residual[n + m + row] = self.value[row],
                    Level::Velocity | Level::Acceleration => {}
                }
            }
        }
        Ok(())
    }

    /// Assembles and factorises the matrix at the end point, after [`AlphaNewton::evaluate`].
    pub fn assemble(&mut self, equations: &mut Equations<'_>, end: &MotionPoint, w: &[f64], h: f64) -> Result<(), IntegrationError> {
        let (n, AlphaCoefficients { beta, gamma, .. }) = (equations.n_v(), self.coefficients);
        let (dynamic, kinematic, multiplier) = self.scales(h);
        let c = self.coefficients.acceleration();
        self.matrix.reset(self.residual.len());
        let factors = TangentFactors { mass: dynamic * c / (h * h), velocity: dynamic * gamma / h, position: dynamic * beta };
        if self.curved {
            self.find_chart(equations, w);
            self.add_inertia(equations, end, factors)?;
            equations.add_tangent(end, TangentFactors { mass: 0.0, velocity: 0.0, ..factors }, &mut self.matrix, (0, 0))?;
        } else {
            equations.add_tangent(end, factors, &mut self.matrix, (0, 0))?;
        }
        equations.add_columns(&self.g, -dynamic * multiplier, &mut self.matrix, (0, n));

        let levels = &self.levels;
        spread_rows(equations, &self.g, self.curved.then_some(&self.chart), &mut self.rows, |row| match levels[row] {
            Level::Position => RowFactor::Plain(beta),
            Level::Velocity | Level::Both => RowFactor::Turned(kinematic * gamma / h),
            Level::Acceleration => RowFactor::Turned(dynamic * c / (h * h)),
        });
        equations.add_rows(&self.rows, 1.0, &mut self.matrix, (n, 0));
        self.add_velocity_tangent(equations, end, kinematic * beta)?;
        if self.stabilised {
            self.add_stabilisation(equations, w, beta);
        }
        equations.statistics.factorisations += 1;
        self.matrix_step = Some(h);
        if self.matrix.factorise() {
            return Ok(());
        }
        self.matrix_step = None;
        Err(IntegrationError::NotConverged {
            t: end.t,
            what: "Newton's iteration of an α-method (its matrix is singular)",
            residual: f64::NAN,
            iterations: 0,
        })
    }

    /// D(w) by mass blocks: rates of unit velocities, one of each block at a time. Charts couple velocities of one block only.
    fn find_chart(&mut self, equations: &Equations<'_>, w: &[f64]) {
        let layout = equations.layout();
        let largest = (0..layout.n_blocks()).map(|b| layout.size(b)).max().unwrap_or(0);
        for k in 0..largest {
            self.work.fill(0.0);
            let with_column = || (0..layout.n_blocks()).filter(move |&b| layout.size(b) > k);
            with_column().for_each(|b| self.work[layout.rows[b] + k] = 1.0);
            equations.displacement_rate(w, &self.work, &mut self.force);
            for b in with_column() {
                let (first, size) = (layout.rows[b], layout.size(b));
                for i in 0..size {
                    self.chart[layout.values[b] + i * size + k] = self.force[first + i];
                }
            }
        }
    }

    /// Adds (c_m M + c_v C) D.
    fn add_inertia(&mut self, equations: &Equations<'_>, end: &MotionPoint, factors: TangentFactors) -> Result<(), IntegrationError> {
        let (layout, model) = (equations.layout(), equations.model());
        // the next evaluation writes M anew
        self.mass.iter_mut().for_each(|m| *m *= factors.mass);
        let instant = Instant { t: end.t, q: &end.q, v: &end.v };
        let only_velocity = JacobianFactors { velocity: factors.velocity, position: 0.0 };
        let located = |source| IntegrationError::NonFinite { t: end.t, source };
        model.add_jacobians_without_elements(instant, only_velocity, &mut self.mass, &mut self.scratch).map_err(located)?;
        for b in 0..layout.n_blocks() {
            let (first, size, span) = (layout.rows[b], layout.size(b), layout.values[b]..layout.values[b + 1]);
            let (left, right) = (&self.mass[span.clone()], &self.chart[span]);
            for i in 0..size {
                for j in 0..size {
                    let entry = (0..size).map(|k| left[i * size + k] * right[k * size + j]).sum();
                    self.matrix.add(first + i, first + j, entry);
                }
            }
        }
        let AlphaNewton { matrix, chart, scratch, .. } = self;
        let mut add = |i: usize, k: usize, value: f64| {
            let b = layout.block_of_row(k);
            let (first, size) = (layout.rows[b], layout.size(b));
            for j in 0..size {
                matrix.add(i, first + j, value * chart[layout.values[b] + (k - first) * size + j]);
            }
        };
        model.visit_element_jacobians(instant, only_velocity, scratch, &mut add).map_err(located)
    }

    /// Adds c ∂(G v)/∂q to the rows at velocity level: row k is vᵀ ∂(Gᵀe_k)/∂q.
    fn add_velocity_tangent(&mut self, equations: &Equations<'_>, end: &MotionPoint, factor: f64) -> Result<(), IntegrationError> {
        let first = equations.n_v();
        for item in equations.rows().items() {
            let relation = equations.relation(item.interaction);
            let velocities = relation.velocities();
            let (n, mut unit) = (velocities.len(), [0.0; 6]);
            for (row, &k) in item.rows.clone().zip(&item.selected) {
                if !matches!(self.levels[row], Level::Velocity | Level::Both) {
                    continue;
                }
                self.block.clear();
                self.block.resize(n * n, 0.0);
                unit[k] = 1.0;
                relation
                    .add_curvature(end.t, &end.q, &unit[..relation.n_rows()], factor, &mut self.block, &mut self.scratch)
                    .map_err(|source| IntegrationError::NonFinite { t: end.t, source })?;
                unit[k] = 0.0;
                for (j, &column) in velocities.iter().enumerate() {
                    let entry = velocities.iter().enumerate().map(|(i, &velocity)| end.v[velocity] * self.block[i * n + j]).sum();
                    self.matrix.add(first + row, column, entry);
                }
            }
        }
        Ok(())
    }

    /// Rows and columns of g = 0 with η: β G y + G D⁻¹ M_n⁻¹ G_nᵀ η. The effect of η on the other rows, h² smaller, is left out.
    fn add_stabilisation(&mut self, equations: &Equations<'_>, w: &[f64], beta: f64) {
        let (n, m, systems) = (equations.n_v(), equations.n_rows(), equations.model().systems());
        let levels = &self.levels;
        spread_rows(equations, &self.g, None, &mut self.rows, |row| RowFactor::Plain(if levels[row] == Level::Both { beta } else { 0.0 }));
        equations.add_rows(&self.rows, 1.0, &mut self.matrix, (n + m, 0));
        for (k, direction) in self.directions.chunks_exact(n.max(1)).enumerate() {
            if self.levels[k] != Level::Both {
                self.matrix.add(n + m + k, n + m + k, 1.0);
                continue;
            }
            systems.velocity_of_rate(w, direction, &mut self.work);
            equations.rows().multiply(&self.g, &self.work, &mut self.value);
            for row in (0..m).filter(|&row| self.levels[row] == Level::Both) {
                self.matrix.add(n + m + row, n + m + k, self.value[row]);
            }
        }
    }

    /// Solves for the increments and adds them to a, λ and η.
    pub fn improve(&mut self, equations: &mut Equations<'_>, h: f64, a: &mut [f64], end: &mut MotionPoint) -> Increment {
        let (layout, n, m) = (equations.layout(), equations.n_v(), equations.n_rows());
        let (_, _, multiplier) = self.scales(h);
        equations.statistics.solves += 1;
        self.matrix.solve(&mut self.residual);
        let largest = |values: &[f64]| values.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        let (a_scale, lambda_scale) = (largest(&end.a), largest(&end.lambda));
        let mut increment = Increment { relative: 0.0, position: 0.0 };
        // a NaN must not be lost in the maximum
        let widen = |size: &mut f64, x: f64| *size = if x.is_nan() { f64::NAN } else { size.max(x.abs()) };
        if self.curved {
            layout.multiply(&self.chart, &self.residual[..n], &mut self.work);
        } else {
            self.work.copy_from_slice(&self.residual[..n]);
        }
        for (i, a) in a.iter_mut().enumerate() {
            let change = self.work[i] / (h * h);
            *a -= change;
            widen(&mut increment.relative, change / a_scale);
            widen(&mut increment.position, self.work[i] / self.scale[i]);
        }
        for (lambda, x) in end.lambda.iter_mut().zip(&self.residual[n..n + m]) {
            *lambda -= multiplier * x;
            widen(&mut increment.relative, multiplier * x / lambda_scale);
        }
        for (eta, x) in self.eta.iter_mut().zip(&self.residual[n + m..]) {
            *eta -= x;
        }
        increment
    }
}

#[cfg(test)]
impl AlphaNewton {
    /// Columns of the inverse of the matrix.
    pub fn inverse(&mut self) -> Vec<Vec<f64>> {
        let n = self.residual.len();
        let unit = |j: usize| (0..n).map(|i| if i == j { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
        (0..n)
            .map(unit)
            .map(|mut column| {
                self.matrix.solve(&mut column);
                column
            })
            .collect()
    }
}

/// What becomes of a row of G in the matrix.
enum RowFactor {
    /// c G.
    Plain(f64),
    /// c G D.
    Turned(f64),
}

/// Writes the rows of G, each times its factor and, where asked for, times D.
fn spread_rows(equations: &Equations<'_>, g: &[f64], chart: Option<&Vec<f64>>, out: &mut [f64], factor: impl Fn(usize) -> RowFactor) {
    let (layout, rows): (&BlockLayout, _) = (equations.layout(), equations.rows());
    for item in rows.items() {
        for (k, row) in item.rows.clone().enumerate() {
            let span = item.first + k * item.width..item.first + (k + 1) * item.width;
            let (from, to) = (&g[span.clone()], &mut out[span]);
            let (factor, turned) = match factor(row) {
                RowFactor::Plain(factor) => (factor, None),
                RowFactor::Turned(factor) => (factor, chart),
            };
            let Some(chart) = turned else {
                to.iter_mut().zip(from).for_each(|(to, from)| *to = factor * from);
                continue;
            };
            for &(block, column) in rows.touched(item) {
                let (size, first) = (layout.size(block as usize), layout.values[block as usize]);
                let column = column as usize;
                for j in 0..size {
                    to[column + j] = factor * (0..size).map(|i| from[column + i] * chart[first + i * size + j]).sum::<f64>();
                }
            }
        }
    }
}
