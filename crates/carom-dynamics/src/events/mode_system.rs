//! The equations of contacts whose modes are known, and their solution by shortest steps.

use super::force_problem::{Cone, ForceProblem};
use super::mode_equations::{Mode, RANK_TOLERANCE, norm, unit};
use carom_solvers::project_coulomb;
use nalgebra::{DMatrix, DVector, Dyn, SVD};

/// The equations of given modes.
pub(super) struct Equations<'a> {
    problem: &'a ForceProblem,
    modes: &'a [Mode],
    /// Forces at the rows of closed and sticking contacts, normal forces of slipping ones.
    pub force: Vec<f64>,
    /// Direction of slip of each contact.
    pub directions: Vec<[f64; 2]>,
    unknowns: Vec<Unknown>,
    /// The factorised matrix, where it does not change.
    factor: Option<Factor>,
}

type Factor = SVD<f64, Dyn, Dyn>;

#[derive(Clone, Copy)]
enum Unknown {
    Force {
        row: usize,
    },
    Normal {
        contact: usize,
    },
    Angle {
        contact: usize,
    },
    /// A component of an effort at the edge of its ball.
    Against {
        contact: usize,
        row: usize,
    },
}

impl<'a> Equations<'a> {
    /// From `start` or from zero; a slip in space needs a normal force of the guess to begin with.
    pub fn new(problem: &'a ForceProblem, modes: &'a [Mode], start: Option<&[f64]>, guess: &[f64]) -> Self {
        let mut unknowns = Vec::new();
        let mut force = vec![0.0; problem.n_rows()];
        let mut directions = vec![[0.0; 2]; modes.len()];
        for (k, mode) in modes.iter().enumerate() {
            let rows = problem.rows(k);
            match mode {
                Mode::Open => continue,
                Mode::Closed | Mode::Stick => unknowns.extend(rows.clone().map(|row| Unknown::Force { row })),
                Mode::AtLower | Mode::AtUpper => {
                    if let Cone::Bounded { lower, upper } = problem.cones[k] {
                        force[rows.start] = if *mode == Mode::AtLower { lower } else { upper };
                    }
                    continue;
                }
                Mode::Against => {
                    let (size, radius) = (norm(&guess[rows.clone()]), ball(problem.cones[k]));
                    if radius > 0.0 {
                        unknowns.extend(rows.clone().map(|row| Unknown::Against { contact: k, row }));
                        rows.clone().filter(|_| size > 0.0).for_each(|row| force[row] = guess[row] * radius / size);
                    }
                    continue;
                }
                Mode::Slip(direction) => {
                    directions[k] = *direction;
                    unknowns.push(Unknown::Normal { contact: k });
                    if rows.len() == 3 {
                        unknowns.push(Unknown::Angle { contact: k });
                        // the angle's column needs a normal force to start with
                        force[rows.start] = guess[rows.start].max(0.0);
                    }
                }
            }
            if let Some(start) = start {
                let kept = if matches!(mode, Mode::Slip(_)) { rows.start..rows.start + 1 } else { rows };
                force[kept.clone()].copy_from_slice(&start[kept]);
            }
        }
        Equations { problem, modes, force, directions, unknowns, factor: None }
    }

    /// Directions of slip are unknown.
    pub(crate) fn has_angles(&self) -> bool {
        self.unknowns.iter().any(|unknown| matches!(unknown, Unknown::Angle { .. } | Unknown::Against { .. }))
    }

    /// One solution only, as far as the last step knows.
    pub fn is_regular(&self) -> bool {
        self.factor.as_ref().is_none_or(|svd| svd.singular_values.min() > RANK_TOLERANCE * svd.singular_values.max())
    }

    /// Projects the forces on their cones, with friction smaller by the part `shrink` and normal forces of at least `least`.
    pub fn project(&mut self, shrink: f64, least: f64) {
        for (k, mode) in self.modes.iter().enumerate() {
            let force = &mut self.force[self.problem.rows(k)];
            match mode {
                Mode::Open | Mode::AtLower | Mode::AtUpper | Mode::Against => continue,
                Mode::Stick if self.problem.cones[k].is_effort() => {
                    match self.problem.cones[k] {
                        Cone::Bounded { lower, upper } => force[0] = force[0].max(lower).min(upper),
                        cone if norm(force) > ball(cone) => {
                            let factor = (1.0 - shrink) * ball(cone) / norm(force);
                            force.iter_mut().for_each(|x| *x *= factor);
                        }
                        _ => {}
                    }
                    continue;
                }
                Mode::Stick => project_coulomb((1.0 - shrink) * self.problem.cones[k].friction(), force),
                Mode::Closed | Mode::Slip(_) => {}
            }
            force[0] = force[0].max(least);
        }
    }

    /// The forces of all rows.
    pub fn x(&self) -> Vec<f64> {
        let mut x = self.force.clone();
        for (k, mode) in self.modes.iter().enumerate() {
            if let Mode::Slip(_) = mode {
                let rows = self.problem.rows(k);
                let bound = self.problem.cones[k].friction() * x[rows.start];
                for (x, d) in x[rows].iter_mut().skip(1).zip(self.directions[k]) {
                    *x = -bound * d;
                }
            }
        }
        x
    }

    /// What the equation that goes with an unknown leaves.
    fn left(&self, unknown: Unknown, u: &[f64]) -> f64 {
        match unknown {
            Unknown::Force { row } => u[row],
            Unknown::Normal { contact } => u[self.problem.starts[contact]],
            Unknown::Angle { contact } => {
                let (first, [c, s]) = (self.problem.starts[contact], self.directions[contact]);
                c * u[first + 2] - s * u[first + 1]
            }
            Unknown::Against { contact, row } => {
                u[row] + self.force[row] * norm(&u[self.problem.rows(contact)]) / ball(self.problem.cones[contact])
            }
        }
    }

    /// Change of what an equation leaves with an unknown, whose `column` is the change of u̇.
    fn slope(&self, equation: Unknown, unknown: Unknown, column: &[f64], u: &[f64]) -> f64 {
        match (equation, unknown) {
            (Unknown::Against { contact, row }, _) => {
                let (rows, radius) = (self.problem.rows(contact), ball(self.problem.cones[contact]));
                let speed = norm(&u[rows.clone()]);
                let along: f64 = rows.map(|i| u[i] * column[i]).sum();
                let own = matches!(unknown, Unknown::Against { row: other, .. } if other == row);
                column[row]
                    + if speed > 0.0 { self.force[row] * along / (speed * radius) } else { 0.0 }
                    + if own { speed / radius } else { 0.0 }
            }
            (Unknown::Angle { contact }, Unknown::Angle { contact: other }) if contact == other => {
                let (first, [c, s]) = (self.problem.starts[contact], self.directions[contact]);
                self.left(equation, column) - (c * u[first + 1] + s * u[first + 2])
            }
            _ => self.left(equation, column),
        }
    }

    /// Length of what is left, in units of unit diagonal.
    pub fn residual(&self) -> f64 {
        let u = self.problem.accelerations(&self.x());
        self.unknowns.iter().map(|&unknown| (self.left(unknown, &u) * self.unit(unknown)).powi(2)).sum::<f64>().sqrt()
    }

    /// 1/√w of the row of an unknown.
    fn unit(&self, unknown: Unknown) -> f64 {
        let row = match unknown {
            Unknown::Force { row } | Unknown::Against { row, .. } => row,
            Unknown::Normal { contact } => self.problem.starts[contact],
            Unknown::Angle { contact } => self.problem.starts[contact] + 1,
        };
        let w = self.problem.row(row)[row].abs();
        if w > 0.0 { 1.0 / w.sqrt() } else { 1.0 }
    }

    /// Change of u̇ with an unknown.
    fn column(&self, unknown: Unknown) -> Vec<f64> {
        let problem = self.problem;
        let combine = |row: usize, parts: [f64; 3], n: usize| -> Vec<f64> {
            (0..problem.n_rows()).map(|i| (0..n).map(|k| problem.row(i)[row + k] * parts[k]).sum()).collect()
        };
        match unknown {
            Unknown::Force { row } | Unknown::Against { row, .. } => combine(row, [1.0, 0.0, 0.0], 1),
            Unknown::Normal { contact } => {
                let (rows, mu, [c, s]) = (problem.rows(contact), problem.cones[contact].friction(), self.directions[contact]);
                combine(rows.start, [1.0, -mu * c, -mu * s], rows.len())
            }
            Unknown::Angle { contact } => {
                let (first, mu, [c, s]) = (problem.starts[contact], problem.cones[contact].friction(), self.directions[contact]);
                let bound = mu * self.force[first];
                combine(first, [0.0, bound * s, -bound * c], 3)
            }
        }
    }

    /// Derivatives of the equations in the units of the rows; `scales` are those of the columns, set here where they are angles.
    fn matrix(&self, u: &[f64], units: &[f64], scales: &mut [f64]) -> DMatrix<f64> {
        let n = self.unknowns.len();
        let mut matrix = DMatrix::zeros(n, n);
        for (j, &unknown) in self.unknowns.iter().enumerate() {
            let column = self.column(unknown);
            for (i, &row) in self.unknowns.iter().enumerate() {
                matrix[(i, j)] = self.slope(row, unknown, &column, u) * units[i];
            }
            if let Unknown::Angle { .. } = unknown {
                // radians, not forces: a column of length one
                let length = matrix.column(j).norm();
                scales[j] = if length > 0.0 { 1.0 / length } else { 1.0 };
            }
            matrix.column_mut(j).scale_mut(scales[j]);
        }
        matrix
    }

    /// One step of Newton's method, the shortest where there are several.
    pub fn step(&mut self) {
        let n = self.unknowns.len();
        if n == 0 {
            return;
        }
        let u = self.problem.accelerations(&self.x());
        let units: Vec<f64> = self.unknowns.iter().map(|&unknown| self.unit(unknown)).collect();
        // forces are shortest in newtons
        let mut scales = vec![units.iter().sum::<f64>() / n as f64; n];
        let linear = !self.has_angles();
        let svd = match self.factor.take() {
            Some(svd) if linear => svd,
            _ => self.matrix(&u, &units, &mut scales).svd(true, true),
        };
        let right = DVector::from_fn(n, |i, _| -self.left(self.unknowns[i], &u) * units[i]);
        let least = RANK_TOLERANCE * svd.singular_values.max();
        // both matrices of singular vectors were asked for
        let Ok(change) = svd.solve(&right, least) else { return };
        self.factor = Some(svd);
        for (j, &unknown) in self.unknowns.iter().enumerate() {
            let change = change[j] * scales[j];
            match unknown {
                Unknown::Force { row } | Unknown::Against { row, .. } => self.force[row] += change,
                Unknown::Normal { contact } => self.force[self.problem.starts[contact]] += change,
                Unknown::Angle { contact } => {
                    let ([c, s], (sin, cos)) = (self.directions[contact], change.clamp(-1.0, 1.0).sin_cos());
                    self.directions[contact] = unit(&[c * cos - s * sin, s * cos + c * sin]);
                }
            }
        }
    }
}

/// Radius of the ball of an effort.
fn ball(cone: Cone) -> f64 {
    if let Cone::Ball { radius, .. } = cone { radius } else { 0.0 }
}
