//! Rows that are not plain contacts: joints, limits, motors, contacts with rolling resistance.
//!
//! Joints of an island are solved together, exactly (`joint_block.rs`); the others one after the other.

use super::body::{Bodies, Inertia};
use super::joint_block::JointBlock;
use super::{BodyProblem, BodySolution, GROUND, Measure, turn_response};
use crate::cones::{Block, norm_squared};
use crate::friction_contact::solve_contact;
use std::ops::Range;

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
        self.slow.clear();
        self.asleep.clear();
        self.row_values.sides.clear();
        self.row_values.jacobian.clear();
        self.row_values.free.clear();
    }

    /// Adds a block of rows: per body its number and the rows over its six velocities (world frame), row-major; `free` is what is added to
    /// G v before the law is applied.
    pub fn push_rows<'a>(&mut self, block: Block, free: &[f64], sides: impl Iterator<Item = (u32, &'a [f64])>) {
        self.start_rows(block, free);
        for (body, rows) in sides.filter(|(body, _)| *body != GROUND) {
            self.push_side(body).copy_from_slice(rows);
        }
    }

    /// Adds a block of rows that touches no body yet: see [`BodyProblem::push_side`].
    pub fn start_rows(&mut self, block: Block, free: &[f64]) {
        let values = &mut self.row_values;
        let (first_side, first_row) = (values.sides.len() as u32, values.free.len() as u32);
        values.free.extend_from_slice(free);
        self.rows.push(BodyRows { block, first_side, n_sides: 0, first_row });
    }

    /// Adds a body, not the ground, to the block of rows started last; its rows over the body's six velocities (world frame), row-major, are zero until
    /// written.
    pub fn push_side(&mut self, body: u32) -> &mut [f64] {
        let values = &mut self.row_values;
        let first = values.jacobian.len();
        let Some(rows) = self.rows.last_mut() else { return &mut [] };
        rows.n_sides += 1;
        values.sides.push(RowSide { body, first: first as u32 });
        values.jacobian.resize(first + 6 * rows.block.dim(), 0.0);
        &mut values.jacobian[first..]
    }

    /// The bodies of a block of rows.
    pub fn bodies_of(&self, rows: &BodyRows) -> impl Iterator<Item = u32> + '_ {
        let sides = rows.first_side as usize..(rows.first_side + rows.n_sides) as usize;
        self.row_values.sides[sides].iter().map(|side| side.body)
    }

    /// Number of scalar rows besides those of the contacts.
    #[must_use]
    pub(crate) fn n_other_rows(&self) -> usize {
        self.row_values.free.len()
    }
}

/// A block of rows in an island: its places in the arrays of [`RowSet`].
#[derive(Clone, Debug)]
pub(super) struct RowItem {
    pub block: Block,
    pub sides: Range<usize>,
    pub rows: Range<usize>,
    /// First entry of its diagonal block of W.
    w: usize,
}

/// What a block of rows of an island sees of one body: its number there, its address, and the first of its rows over it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub body: u32,
    pub address: u32,
    pub first: u32,
}

/// The rows of an island. Nothing is allocated once warm.
#[derive(Debug, Default)]
pub(super) struct RowSet {
    pub items: Vec<RowItem>,
    pub sides: Vec<Side>,
    pub jacobian: Vec<[f64; 6]>,
    free: Vec<f64>,
    w: Vec<f64>,
    impulse: Vec<f64>,
    last: Vec<f64>,
    u: Vec<f64>,
    joints: JointBlock,
    step: Vec<f64>,
}

impl RowSet {
    /// Forgets the rows and keeps the storage.
    pub fn clear(&mut self) {
        self.items.clear();
        self.sides.clear();
        self.jacobian.clear();
        self.free.clear();
        self.w.clear();
        self.impulse.clear();
    }

    /// Copies a block of rows with its guess; `place` gives the number of a body in the island and its address.
    pub fn push(
        &mut self,
        problem: &BodyProblem,
        rows: &BodyRows,
        place: impl Fn(u32) -> (u32, u32),
        guess: &BodySolution,
        inertias: &[Inertia],
    ) {
        let (dim, first, values) = (rows.block.dim(), rows.first_row as usize, &problem.row_values);
        let (first_side, first_row, first_w) = (self.sides.len(), self.free.len(), self.w.len());
        for side in &values.sides[rows.first_side as usize..(rows.first_side + rows.n_sides) as usize] {
            let (body, address) = place(side.body);
            self.sides.push(Side { body, address, first: self.jacobian.len() as u32 });
            let rows = values.jacobian[side.first as usize..side.first as usize + 6 * dim].chunks_exact(6);
            self.jacobian.extend(rows.map(|row| [row[0], row[1], row[2], row[3], row[4], row[5]]));
        }
        self.w.resize(first_w + dim * dim, 0.0);
        let w = &mut self.w[first_w..];
        for side in &self.sides[first_side..] {
            let jacobian = &self.jacobian[side.first as usize..side.first as usize + dim];
            for (i, row) in jacobian.iter().enumerate() {
                let response = respond(&inertias[side.body as usize], row);
                for (j, other) in jacobian.iter().enumerate() {
                    w[i * dim + j] += dot6(&response, other);
                }
            }
        }
        self.free.extend_from_slice(&values.free[first..first + dim]);
        self.impulse.extend_from_slice(&guess.row_impulses[first..first + dim]);
        if !rows.block.is_bilateral() {
            rows.block.project(&mut self.impulse[first_row..]);
        }
        let (sides, rows_of_item) = (first_side..self.sides.len(), first_row..first_row + dim);
        self.items.push(RowItem { block: rows.block, sides, rows: rows_of_item, w: first_w });
    }

    /// Ends the list: the joints are factored for an island of `n_bodies`. Returns the sum of the diagonal of W.
    pub fn finish(&mut self, n_bodies: usize, inertias: &[Inertia]) -> f64 {
        self.last.clone_from(&self.impulse);
        self.u.clear();
        self.u.resize(self.free.len(), 0.0);
        let mut joints = std::mem::take(&mut self.joints);
        joints.factor(self, n_bodies, inertias);
        self.joints = joints;
        self.items.iter().map(|item| self.w[item.w..].iter().step_by(item.block.dim() + 1).take(item.block.dim()).sum::<f64>()).sum()
    }

    /// Writes u of an item.
    fn evaluate(&mut self, item: usize, bodies: &impl Bodies) {
        let RowItem { rows, sides, .. } = self.items[item].clone();
        let u = &mut self.u[rows.clone()];
        u.copy_from_slice(&self.free[rows]);
        for side in &self.sides[sides] {
            let v = bodies.at(side.address).velocity();
            for (u, row) in u.iter_mut().zip(&self.jacobian[side.first as usize..]) {
                *u += dot6(row, &v);
            }
        }
    }

    /// Writes u of all.
    fn evaluate_all(&mut self, bodies: &impl Bodies) {
        (0..self.items.len()).for_each(|item| self.evaluate(item, bodies));
    }

    /// Adds the response to a change of the impulse of an item.
    fn apply(&self, item: &RowItem, change: &[f64], inertias: &[Inertia], bodies: &mut impl Bodies) {
        for side in &self.sides[item.sides.clone()] {
            let mut wrench = [0.0; 6];
            for (row, p) in self.jacobian[side.first as usize..].iter().zip(change) {
                wrench.iter_mut().zip(row).for_each(|(w, g)| *w += g * p);
            }
            let body = bodies.at_mut(side.address);
            let mut v = body.velocity();
            v.iter_mut().zip(respond(&inertias[side.body as usize], &wrench)).for_each(|(v, d)| *v += d);
            body.set_velocity(&v);
        }
    }

    /// Adds the responses to the whole impulses.
    pub(crate) fn apply_impulses(&self, inertias: &[Inertia], bodies: &mut impl Bodies) {
        for item in &self.items {
            self.apply(item, &self.impulse[item.rows.clone()], inertias, bodies);
        }
    }

    /// As [`super::pack::Pack::visit`], over all rows; the joints last, so that they hold at the end of a sweep. Returns the square of the change.
    pub fn visit(&mut self, beta: f64, inertias: &[Inertia], bodies: &mut impl Bodies) -> f64 {
        let mut step = 0.0;
        for item in 0..self.items.len() {
            if !self.items[item].block.is_bilateral() {
                step += self.visit_item(item, beta, inertias, bodies);
            }
        }
        step + self.visit_joints(beta, inertias, bodies)
    }

    fn visit_item(&mut self, item: usize, beta: f64, inertias: &[Inertia], bodies: &mut impl Bodies) -> f64 {
        self.evaluate(item, bodies);
        let RowItem { block, rows, w, .. } = self.items[item].clone();
        let dim = block.dim();
        let (mut y, mut x, mut q) = ([0.0; Block::MAX_DIM], [0.0; Block::MAX_DIM], [0.0; Block::MAX_DIM]);
        for ((y, now), last) in y.iter_mut().zip(&self.impulse[rows.clone()]).zip(&self.last[rows.clone()]) {
            *y = now + beta * (now - last);
        }
        x[..dim].copy_from_slice(&y[..dim]);
        let w = &self.w[w..w + dim * dim];
        for (k, row) in w.chunks_exact(dim).enumerate() {
            q[k] = self.u[rows.start + k] - row.iter().zip(&y).map(|(w, y)| w * y).sum::<f64>();
        }
        solve_contact(block, w, &q[..dim], &mut x[..dim]);
        let mut change = [0.0; Block::MAX_DIM];
        for ((change, x), y) in change.iter_mut().zip(&x).zip(&y) {
            *change = x - y;
        }
        self.apply(&self.items[item], &change[..dim], inertias, bodies);
        self.last[rows.clone()].copy_from_slice(&self.impulse[rows.clone()]);
        self.impulse[rows].copy_from_slice(&x[..dim]);
        norm_squared(&change[..dim])
    }

    /// All joints at once: p ← y − W_BB⁺ u.
    fn visit_joints(&mut self, beta: f64, inertias: &[Inertia], bodies: &mut impl Bodies) -> f64 {
        let mut step = std::mem::take(&mut self.step);
        step.clear();
        for joint in 0..self.joints.items.len() {
            let item = self.joints.items[joint] as usize;
            self.evaluate(item, bodies);
            step.extend(self.u[self.items[item].rows.clone()].iter().map(|u| -u));
        }
        self.joints.solve(&mut step);
        let mut rest = &step[..];
        for &item in &self.joints.items {
            let item = &self.items[item as usize];
            let (change, after) = rest.split_at(item.rows.len());
            rest = after;
            self.apply(item, change, inertias, bodies);
            for (row, change) in item.rows.clone().zip(change) {
                let (now, last) = (self.impulse[row], self.last[row]);
                self.last[row] = now;
                self.impulse[row] = now + beta * (now - last) + change;
            }
        }
        let sum = norm_squared(&step);
        self.step = step;
        sum
    }

    /// Parts of the residual.
    pub fn measure(&mut self, unit: f64, bodies: &impl Bodies) -> Measure {
        self.evaluate_all(bodies);
        let mut total = Measure::default();
        for item in &self.items {
            let (p, u) = (&self.impulse[item.rows.clone()], &self.u[item.rows.clone()]);
            total.add(&Measure {
                error: item.block.natural_map_squared(p, u, unit),
                impulse: unit * unit * norm_squared(p),
                velocity: norm_squared(u),
                free: 0.0,
            });
        }
        total
    }

    /// |u|² without impulses, from the free velocities.
    pub(crate) fn free_square(&mut self, bodies: &impl Bodies) -> f64 {
        self.evaluate_all(bodies);
        norm_squared(&self.u)
    }

    /// Writes impulses and velocities of the rows numbered `rows` in the problem into its solution.
    pub(crate) fn read_out(&mut self, problem: &BodyProblem, rows: &[u32], bodies: &impl Bodies, solution: &mut BodySolution) {
        self.evaluate_all(bodies);
        for (&number, item) in rows.iter().zip(&self.items) {
            let first = problem.rows[number as usize].first_row as usize;
            let range = first..first + item.rows.len();
            solution.row_impulses[range.clone()].copy_from_slice(&self.impulse[item.rows.clone()]);
            solution.row_velocities[range].copy_from_slice(&self.u[item.rows.clone()]);
        }
    }
}

#[inline]
pub(super) fn dot6(a: &[f64; 6], b: &[f64; 6]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// M⁻¹ of a wrench.
pub(super) fn respond(inertia: &Inertia, wrench: &[f64; 6]) -> [f64; 6] {
    let turn = turn_response(inertia, &[wrench[3], wrench[4], wrench[5]]);
    [inertia[0] * wrench[0], inertia[0] * wrench[1], inertia[0] * wrench[2], turn[0], turn[1], turn[2]]
}
