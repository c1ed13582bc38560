//! Residuals and iteration matrix of the stages of implicit methods: the equations in the header of [`super::stage_newton`].

use super::parameters::Formulation;
use super::stage_newton::{Stage, StageNewton};
use crate::error::IntegrationError;
use crate::smooth::{Baumgarte, Equations, MotionPoint, TangentFactors};

/// What a constraint row demands.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Position,
    Velocity,
    Acceleration,
    /// μ = 0: a row without position in the GGL form.
    Multiplier,
}

impl StageNewton {
    /// Level of a row of the first (or, in the GGL form, second) set of constraint rows.
    fn level(&self, row: usize, set: usize) -> Level {
        match (self.formulation, set, self.holonomic[row]) {
            (Formulation::Index1, ..) => Level::Acceleration,
            (Formulation::Index2, ..) | (Formulation::Index3, _, false) | (Formulation::Ggl, 1, _) => Level::Velocity,
            (Formulation::Index3 | Formulation::Ggl, _, true) => Level::Position,
            (Formulation::Ggl, _, false) => Level::Multiplier,
        }
    }

    /// Factor of the rows of a level: h⁻², h⁻¹ or 1, and 1 for all without scaling.
    fn scale(&self, level: Level, h: f64) -> f64 {
        match level {
            Level::Position if self.params.scaling => 1.0 / (h * h),
            Level::Velocity | Level::Multiplier if self.params.scaling => 1.0 / h,
            _ => 1.0,
        }
    }

    /// Factor of the columns of μ, whose unit differs from that of λ by a time.
    fn column_scale(&self, h: f64) -> f64 {
        if self.params.scaling { h } else { 1.0 }
    }

    /// Writes the negative residuals to `right`; M, G and b of the stages stay behind.
    pub(super) fn residual(&mut self, equations: &mut Equations<'_>, h: f64) -> Result<(), IntegrationError> {
        let (n, m, d, layout) = (equations.n_v(), equations.n_rows(), self.width(equations), equations.layout());
        let mut right = std::mem::take(&mut self.right);
        right.resize(d * self.stages.len(), 0.0);
        for (i, right) in right.chunks_exact_mut(d).enumerate() {
            let stage = &mut self.stages[i];
            let MotionPoint { t, q, v, a, lambda } = &stage.point;
            equations.mass(*t, q, &mut stage.mass)?;
            equations.jacobian(*t, q, &mut stage.g, &mut stage.explicit)?;
            equations.force(*t, q, v, &mut right[..n])?;
            equations.rows().add_transposed(&stage.g, 1.0, lambda, &mut right[..n]);
            layout.multiply(&stage.mass, a, &mut self.work[..n]);
            right[..n].iter_mut().zip(&self.work).for_each(|(x, ma)| *x -= ma);
            for (set, out) in right[n..].chunks_exact_mut(m.max(1)).enumerate() {
                self.constraint_defects(equations, i, set, out)?;
                for (row, x) in out.iter_mut().enumerate() {
                    *x *= -self.scale(self.level(row, set), h);
                }
            }
        }
        self.right = right;
        Ok(())
    }

    /// Writes g, G v + b, or g̈ (with Baumgarte's terms, where asked for) of a stage.
    fn constraint_defects(&mut self, equations: &mut Equations<'_>, i: usize, set: usize, out: &mut [f64]) -> Result<(), IntegrationError> {
        let Stage { point: MotionPoint { t, q, v, a, .. }, g, explicit, mu, .. } = &self.stages[i];
        let work = &mut self.rows;
        equations.rows().multiply(g, v, out);
        out.iter_mut().zip(explicit).for_each(|(u, b)| *u += b);
        if self.formulation == Formulation::Index1 {
            let Baumgarte { alpha, beta } = equations.baumgarte.unwrap_or(Baumgarte { alpha: 0.0, beta: 0.0 });
            out.iter_mut().for_each(|u| *u *= 2.0 * alpha);
            if beta != 0.0 {
                equations.constraints(*t, q, work)?;
                out.iter_mut().zip(&*work).for_each(|(x, g)| *x += beta * beta * g);
            }
            equations.rows().multiply(g, a, work);
            out.iter_mut().zip(&*work).for_each(|(x, ga)| *x += ga);
            equations.acceleration_bias(*t, q, v, work)?;
            out.iter_mut().zip(&*work).for_each(|(x, bias)| *x += bias);
        } else if self.formulation != Formulation::Index2 && set == 0 {
            equations.constraints(*t, q, work)?;
            for row in 0..out.len() {
                match (self.holonomic[row], self.formulation) {
                    (true, _) => out[row] = self.rows[row],
                    (false, Formulation::Ggl) => out[row] = mu[row],
                    (false, _) => {}
                }
            }
        }
        Ok(())
    }

    /// Makes and factorises the matrix at the current stages, after [`StageNewton::residual`].
    pub(super) fn assemble(&mut self, equations: &mut Equations<'_>, coefficients: &[f64]) -> Result<(), IntegrationError> {
        let (n, m, d, r) = (equations.n_v(), equations.n_rows(), self.width(equations), self.stages.len());
        let h = coefficients[0];
        self.made_for.clear();
        self.assemblies += 1;
        self.matrix.reset(r * d);
        for i in 0..r {
            if m > 0 && self.formulation != Formulation::Index3 {
                self.constraint_slope(equations, i)?;
            }
            equations.add_columns(&self.stages[i].g, -1.0, &mut self.matrix, (i * d, i * d + n));
            for j in 0..r {
                let (once, twice) = (coefficients[i * r + j], self.squared[i * r + j]);
                let factors = TangentFactors { mass: if i == j { 1.0 } else { 0.0 }, velocity: once, position: twice };
                equations.add_tangent(&self.stages[i].point, factors, &mut self.matrix, (i * d, j * d))?;
                for set in 0..(d - n) / m.max(1) {
                    self.add_constraint_block(equations, (i, j), (once, twice), set, h);
                }
                if self.stabilised() {
                    self.add_stabilisation(equations, (i, j), once, h);
                }
            }
        }
        equations.statistics.factorisations += 1;
        if !self.matrix.factorise() {
            let t = self.stages[r - 1].point.t;
            return Err(IntegrationError::NotConverged { t, what: self.what, residual: f64::INFINITY, iterations: 0 });
        }
        self.made_for.extend_from_slice(coefficients);
        Ok(())
    }

    /// Adds the derivative of a set of constraint rows of stage i by the acceleration of stage j.
    fn add_constraint_block(&mut self, equations: &Equations<'_>, (i, j): (usize, usize), (once, twice): (f64, f64), set: usize, h: f64) {
        let (n, m, d) = (equations.n_v(), equations.n_rows(), self.width(equations));
        let Baumgarte { alpha, beta } = equations.baumgarte.unwrap_or(Baumgarte { alpha: 0.0, beta: 0.0 });
        // factors of G and B by row
        let factors = |row: usize| {
            let level = self.level(row, set);
            let scale = self.scale(level, h);
            match level {
                Level::Position => (twice * scale, 0.0),
                Level::Velocity => (once * scale, twice * scale),
                Level::Acceleration => {
                    let own = if i == j { 1.0 } else { 0.0 };
                    (own + 2.0 * alpha * once + beta * beta * twice, 2.0 * once)
                }
                Level::Multiplier => (0.0, 0.0),
            }
        };
        let by_row: Vec<(f64, f64)> = (0..m).map(factors).collect();
        let (first_row, first_column) = (i * d + n + set * m, j * d);
        let (stage, matrix) = (&self.stages[i], &mut self.matrix);
        let mut scaled = stage.g.clone();
        for item in equations.rows().items() {
            for (k, row) in item.rows.clone().enumerate() {
                scaled[item.first + k * item.width..][..item.width].iter_mut().for_each(|g| *g *= by_row[row].0);
            }
        }
        equations.add_rows(&scaled, 1.0, matrix, (first_row, first_column));
        if self.formulation != Formulation::Index3 {
            for (k, slope) in stage.slope.iter().enumerate() {
                matrix.add(first_row + k / n, first_column + k % n, by_row[k / n].1 * slope);
            }
        }
    }

    /// Adds the derivative of the position rows of stage i by μ of stage j: η_ij G_i M_n⁻¹ G_jᵀ.
    fn add_stabilisation(&mut self, equations: &Equations<'_>, (i, j): (usize, usize), once: f64, h: f64) {
        let (n, m, d, layout) = (equations.n_v(), equations.n_rows(), self.width(equations), equations.layout());
        let (mut unit, mut force) = (vec![0.0; m], vec![0.0; n]);
        for column in 0..m {
            unit.fill(0.0);
            unit[column] = 1.0;
            force.fill(0.0);
            equations.rows().add_transposed(&self.stages[j].g, 1.0, &unit, &mut force);
            self.metric.solve(layout, &force, &mut self.work[..n]);
            equations.rows().multiply(&self.stages[i].g, &self.work[..n], &mut self.rows);
            for row in 0..m {
                let level = self.level(row, 0);
                let value = match level {
                    Level::Multiplier if i == j && row == column => 1.0,
                    Level::Multiplier => 0.0,
                    _ => once * self.rows[row],
                };
                let scaled = value * self.scale(level, h) * self.column_scale(h);
                self.matrix.add(i * d + n + row, j * d + n + m + column, scaled);
            }
        }
    }

    /// B of a stage by central differences of the bias in v.
    fn constraint_slope(&mut self, equations: &mut Equations<'_>, i: usize) -> Result<(), IntegrationError> {
        let (n, m) = (equations.n_v(), equations.n_rows());
        let Stage { point: MotionPoint { t, q, v, .. }, slope, .. } = &mut self.stages[i];
        // any width is exact for a quadratic; the size of v loses least to round-off
        let width = v.iter().fold(1.0_f64, |x, v| x.max(v.abs()));
        let mut ahead = vec![0.0; m];
        for k in 0..n {
            let own = v[k];
            v[k] = own + width;
            equations.acceleration_bias(*t, q, v, &mut ahead)?;
            v[k] = own - width;
            equations.acceleration_bias(*t, q, v, &mut self.rows)?;
            v[k] = own;
            for row in 0..m {
                slope[row * n + k] = (ahead[row] - self.rows[row]) / (4.0 * width);
            }
        }
        Ok(())
    }

    /// Adds the solved increments to A, Λ and μ. Returns the largest change of hΛ, relative to 1 + its size.
    pub(super) fn take_increments(&mut self, equations: &Equations<'_>, h: f64) -> f64 {
        let (n, m, d, scale) = (equations.n_v(), equations.n_rows(), self.width(equations), self.column_scale(h));
        let mut change = 0.0_f64;
        for (stage, right) in self.stages.iter_mut().zip(self.right.chunks_exact(d)) {
            stage.point.a.iter_mut().zip(right).for_each(|(a, x)| *a += x);
            stage.mu.iter_mut().zip(&right[n + m..]).for_each(|(mu, x)| *mu += scale * x);
            stage.point.lambda.iter_mut().zip(&right[n..]).for_each(|(lambda, x)| *lambda += x);
            let size = 1.0 + h * stage.point.lambda.iter().fold(0.0, |size: f64, x| size.max(x.abs()));
            for x in &right[n..n + m] {
                change = if x.is_nan() { f64::NAN } else { change.max(h * x.abs() / size) };
            }
        }
        change
    }
}
