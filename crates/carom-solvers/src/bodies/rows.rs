//! Rows that are not plain contacts: joints, limits, motors, contacts with rolling resistance. Worked on one after the other.

use super::velocities::{Inertia, Velocities};
use super::{BodyProblem, GROUND, Measure, turn_response};
use crate::cones::{Block, norm_squared};
use crate::friction_contact::solve_contact;
use crate::linear::RankRevealingLu;

/// A block of rows over some bodies. Its numbers lie in [`BodyProblem`].
#[derive(Clone, Copy, Debug)]
pub struct BodyRows {
    /// The law.
    pub block: Block,
    pub(super) first_side: u32,
    pub(super) n_sides: u32,
    pub(super) first_row: u32,
}

/// What a block of rows sees of one body.
#[derive(Clone, Copy, Debug)]
pub struct RowSide {
    /// The body.
    pub body: u32,
    /// First of the block's rows over this body's six velocities among the values.
    pub(super) first: u32,
}

/// Storage of all rows of a problem.
#[derive(Clone, Debug, Default)]
pub struct RowValues {
    pub(super) sides: Vec<RowSide>,
    pub(super) jacobian: Vec<f64>,
    pub(super) free: Vec<f64>,
}

impl BodyProblem {
    /// Empties the problem and keeps its storage.
    pub fn clear(&mut self) {
        self.masses.clear();
        self.velocities.clear();
        self.contacts.clear();
        self.rows.clear();
        self.row_values.sides.clear();
        self.row_values.jacobian.clear();
        self.row_values.free.clear();
    }

    /// Adds a block of rows: per body its number and the rows over its six velocities (world frame), row-major; `free` is what is added to
    /// G v before the law is applied.
    pub fn push_rows<'a>(&mut self, block: Block, free: &[f64], sides: impl Iterator<Item = (u32, &'a [f64])>) {
        let values = &mut self.row_values;
        let (first_side, first_row) = (values.sides.len() as u32, values.free.len() as u32);
        values.free.extend_from_slice(free);
        for (body, rows) in sides.filter(|(body, _)| *body != GROUND) {
            values.sides.push(RowSide { body, first: values.jacobian.len() as u32 });
            values.jacobian.extend_from_slice(rows);
        }
        let n_sides = values.sides.len() as u32 - first_side;
        self.rows.push(BodyRows { block, first_side, n_sides, first_row });
    }

    /// The bodies of a block of rows.
    pub fn bodies_of(&self, rows: &BodyRows) -> impl Iterator<Item = u32> + '_ {
        let sides = rows.first_side as usize..(rows.first_side + rows.n_sides) as usize;
        self.row_values.sides[sides].iter().map(|side| side.body)
    }

    /// Number of scalar rows besides those of the contacts.
    #[must_use]
    pub fn n_other_rows(&self) -> usize {
        self.row_values.free.len()
    }
}

/// A block of rows in an island.
#[derive(Clone, Debug)]
pub(super) struct RowWork {
    block: Block,
    /// Bodies in the island with their rows.
    sides: Vec<(u32, Vec<[f64; 6]>)>,
    free: Vec<f64>,
    w: Vec<f64>,
    factor: RankRevealingLu,
    pub impulse: Vec<f64>,
    last: Vec<f64>,
    u: Vec<f64>,
}

impl RowWork {
    /// Copies a block of rows with its guess; `local` numbers bodies as in the island.
    pub fn new(problem: &BodyProblem, rows: &BodyRows, local: impl Fn(u32) -> u32, guess: &[f64], inertias: &[Inertia]) -> Self {
        let dim = rows.block.dim();
        let first = rows.first_row as usize;
        let values = &problem.row_values;
        let sides = &values.sides[rows.first_side as usize..(rows.first_side + rows.n_sides) as usize];
        let read = |side: &RowSide| {
            let rows = values.jacobian[side.first as usize..side.first as usize + 6 * dim].chunks_exact(6);
            rows.map(|row| [row[0], row[1], row[2], row[3], row[4], row[5]]).collect::<Vec<_>>()
        };
        let sides: Vec<(u32, Vec<[f64; 6]>)> = sides.iter().map(|side| (local(side.body), read(side))).collect();
        let mut w = vec![0.0; dim * dim];
        for (body, jacobian) in &sides {
            for (i, row) in jacobian.iter().enumerate() {
                let response = respond(&inertias[*body as usize], row);
                for (j, other) in jacobian.iter().enumerate() {
                    w[i * dim + j] += response.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
                }
            }
        }
        let mut factor = RankRevealingLu::default();
        if rows.block.is_bilateral() {
            factor.factor(dim, &w);
        }
        let mut impulse = guess.to_vec();
        if !rows.block.is_bilateral() {
            rows.block.project(&mut impulse);
        }
        let last = impulse.clone();
        RowWork { block: rows.block, sides, free: values.free[first..first + dim].to_vec(), w, factor, impulse, last, u: vec![0.0; dim] }
    }

    /// Sum of the diagonal of W.
    pub fn trace(&self) -> f64 {
        self.w.iter().step_by(self.block.dim() + 1).sum()
    }

    /// Writes u.
    fn evaluate(&mut self, velocities: &Velocities) {
        self.u.copy_from_slice(&self.free);
        for (body, jacobian) in &self.sides {
            let v = velocities.get(*body as usize);
            for (u, row) in self.u.iter_mut().zip(jacobian) {
                *u += row.iter().zip(&v).map(|(g, v)| g * v).sum::<f64>();
            }
        }
    }

    fn apply(&self, change: &[f64], inertias: &[Inertia], velocities: &Velocities) {
        for (body, jacobian) in &self.sides {
            let mut wrench = [0.0; 6];
            for (row, p) in jacobian.iter().zip(change) {
                wrench.iter_mut().zip(row).for_each(|(w, g)| *w += g * p);
            }
            let mut v = velocities.get(*body as usize);
            v.iter_mut().zip(respond(&inertias[*body as usize], &wrench)).for_each(|(v, d)| *v += d);
            velocities.set(*body as usize, &v);
        }
    }

    /// Adds the response to the whole impulse.
    pub fn apply_impulse(&self, inertias: &[Inertia], velocities: &Velocities) {
        self.apply(&self.impulse, inertias, velocities);
    }

    /// As [`super::pack::Pack::visit`].
    pub fn visit(&mut self, beta: f64, inertias: &[Inertia], velocities: &Velocities) -> f64 {
        let dim = self.block.dim();
        self.evaluate(velocities);
        let (mut y, mut x, mut q) = ([0.0; Block::MAX_DIM], [0.0; Block::MAX_DIM], [0.0; Block::MAX_DIM]);
        for ((y, now), last) in y.iter_mut().zip(&self.impulse).zip(&self.last) {
            *y = now + beta * (now - last);
        }
        x[..dim].copy_from_slice(&y[..dim]);
        if self.block.is_bilateral() {
            q[..dim].copy_from_slice(&self.u);
            self.factor.solve(&mut q[..dim]);
            x.iter_mut().zip(&q).for_each(|(x, step)| *x -= step);
        } else {
            for (k, row) in self.w.chunks_exact(dim).enumerate() {
                q[k] = self.u[k] - row.iter().zip(&y).map(|(w, y)| w * y).sum::<f64>();
            }
            solve_contact(self.block, &self.w, &q[..dim], &mut x[..dim]);
        }
        let mut change = [0.0; Block::MAX_DIM];
        for ((change, x), y) in change.iter_mut().zip(&x).zip(&y) {
            *change = x - y;
        }
        self.apply(&change[..dim], inertias, velocities);
        self.last.copy_from_slice(&self.impulse);
        self.impulse.copy_from_slice(&x[..dim]);
        norm_squared(&change[..dim])
    }

    /// Parts of the residual.
    pub fn measure(&mut self, unit: f64, velocities: &Velocities) -> Measure {
        self.evaluate(velocities);
        let error = self.block.natural_map_squared(&self.impulse, &self.u, unit);
        Measure { error, impulse: unit * unit * norm_squared(&self.impulse), velocity: norm_squared(&self.u), free: 0.0 }
    }

    /// |u|² without impulses, from the free velocities.
    pub fn free_square(&mut self, velocities: &Velocities) -> f64 {
        self.evaluate(velocities);
        norm_squared(&self.u)
    }

    /// u of the present velocities.
    pub fn velocity(&mut self, velocities: &Velocities) -> &[f64] {
        self.evaluate(velocities);
        &self.u
    }
}

/// M⁻¹ of a wrench.
fn respond(inertia: &Inertia, wrench: &[f64; 6]) -> [f64; 6] {
    let turn = turn_response(inertia, &[wrench[3], wrench[4], wrench[5]]);
    [inertia[0] * wrench[0], inertia[0] * wrench[1], inertia[0] * wrench[2], turn[0], turn[1], turn[2]]
}
