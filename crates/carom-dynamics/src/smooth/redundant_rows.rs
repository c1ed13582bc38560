//! Constraint rows that depend on others: choosing those in use, and what can be said about all of them.
//!
//! With G_d = C G of the redundant rows over those in use, the multipliers (λ, λ_d) of all rows give the same force as μ alone when
//! λ + Cᵀλ_d = μ. The shortest of them is
//!
//! ```text
//! λ = μ − Cᵀ (1 + C Cᵀ)⁻¹ C μ,     λ_d = C λ
//! ```

use super::closed_contact::Role;
use super::equations::{Equations, at};
use super::kkt::KktError;
use super::motion_point::MotionPoint;
use super::row_layout::RowLayout;
use super::row_selection::{RowSelection, independent_rows};
use super::shared_forces::SharedForces;
use crate::block_diagonal::BlockFactor;
use crate::error::IntegrationError;
use crate::relations::Rows;
use nalgebra::{DMatrix, DVector};

impl Equations<'_> {
    /// Chooses anew which rows are in use: the largest set of independent ones at a position that satisfies the constraints. The number of multipliers
    /// changes with it.
    ///
    /// # Errors
    /// [`IntegrationError`]: values that are not finite, a singular mass.
    pub fn select_rows(&mut self, point: &MotionPoint) -> Result<RowSelection, IntegrationError> {
        let (all, layout, t) = (RowLayout::with_contacts(&self.interactions, |_, _| true), self.layout(), point.t);
        self.statistics.row_selections += 1;
        let (values, _) = self.rows_at(&all, point)?;
        let (mut mass, mut factor) = (vec![0.0; layout.n_values()], BlockFactor::default());
        self.mass(t, &point.q, &mut mass)?;
        factor.factorise(layout, &mass).map_err(|e| self.kkt_error(t, KktError::Mass(e.block)))?;
        let first_contact = self.interactions.n_of_model();
        let kept = independent_rows(layout, &all, &factor, &values, all.n_bilateral(self.model));
        let mut selection = RowSelection::default();
        let mut keep = vec![[false; 6]; self.interactions.len()];
        for item in all.items() {
            for (row, &k) in item.rows.clone().zip(&item.selected) {
                keep[item.interaction][k] = kept[row];
                if !kept[row] {
                    selection.redundant.push((self.interaction(item.interaction).name().to_owned(), k));
                }
            }
        }
        let rows = RowLayout::with_contacts(&self.interactions, |interaction, row| keep[interaction][row]);
        selection.changed = rows != self.rows;
        if selection.changed {
            self.use_rows(rows);
            self.all_rows = Some(all).filter(|_| selection.n_redundant() > 0);
        }
        self.rows_are_new = false;
        if self.slides() && !self.forces_are_unique() {
            let carrying =
                RowLayout::with_contacts(&self.interactions, |interaction, row| interaction >= first_contact || keep[interaction][row]);
            self.shared = Some(SharedForces::new(&self.rows, carrying, first_contact));
        } else {
            self.shared = None;
        }
        Ok(selection)
    }

    /// The multipliers of all rows are determined by the motion: no row is redundant.
    #[must_use]
    pub fn multipliers_are_unique(&self) -> bool {
        self.all_rows.is_none()
    }

    /// The forces of the closed contacts and of the efforts that are held are determined by the motion: none of their rows is redundant.
    #[must_use]
    pub fn forces_are_unique(&self) -> bool {
        let n_contact_rows = |rows: &RowLayout| rows.n_rows() - rows.n_bilateral(self.model);
        self.all_rows.as_ref().is_none_or(|all| n_contact_rows(all) == n_contact_rows(&self.rows))
    }

    /// Number of rows of all bilateral interactions and closed contacts, redundant ones among them.
    #[must_use]
    pub fn n_all_rows(&self) -> usize {
        self.all_rows.as_ref().unwrap_or(&self.rows).n_rows()
    }

    /// Largest |G v + b| of the redundant rows.
    ///
    /// # Errors
    /// [`IntegrationError::NonFinite`].
    pub(crate) fn redundant_velocity(&mut self, t: f64, q: &[f64], v: &[f64]) -> Result<f64, IntegrationError> {
        let Equations { interactions, rows, all_rows, block, scratch, .. } = self;
        let (mut used, mut largest) = (rows.items().iter().peekable(), 0.0_f64);
        for item in all_rows.iter().flat_map(RowLayout::items) {
            let own = used.next_if(|x| x.is_of_same(item)).map_or(&[][..], |x| &x.selected);
            if own.len() == item.selected.len() {
                continue;
            }
            let relation = interactions.relation(item.interaction);
            let (n, velocities, mut u) = (relation.n_rows(), relation.velocities(), [0.0; 6]);
            block.clear();
            block.resize(n * velocities.len(), 0.0);
            interactions.jacobian(item.interaction, (t, q), Rows { jacobian: block, bias: &mut u[..n] }, scratch).map_err(at(t))?;
            let redundant = |k: &usize| item.selected.contains(k) && !own.contains(k);
            for (k, row) in block.chunks_exact(velocities.len().max(1)).enumerate().filter(|(k, _)| redundant(k)) {
                let u = u[k] + row.iter().zip(velocities).map(|(g, &i)| g * v[i]).sum::<f64>();
                largest = largest.max(u.abs());
            }
        }
        Ok(largest)
    }

    /// Largest |g| and largest |G v + b| over all rows of the bilateral interactions and closed contacts, redundant ones among them.
    ///
    /// # Errors
    /// [`IntegrationError::NonFinite`].
    pub fn violations(&mut self, t: f64, q: &[f64], v: &[f64]) -> Result<(f64, f64), IntegrationError> {
        let Equations { model, interactions, scratch, .. } = self;
        let (mut position, mut velocity) = (0.0_f64, 0.0_f64);
        let mut block = Vec::new();
        let bilateral = model.interactions().iter().enumerate().filter(|(_, x)| x.is_bilateral()).map(|(i, _)| (i, 6, 6));
        let closed = interactions.closed().iter().enumerate().map(|(k, contact)| {
            let sticks = contact.role == Role::Sticking;
            (interactions.n_of_model() + k, 1, if sticks { 1 + contact.n_tangents() } else { 1 })
        });
        for (i, n_positions, n_velocities) in bilateral.chain(closed) {
            let relation = interactions.relation(i);
            let (n, velocities) = (relation.n_rows(), relation.velocities());
            let (mut g, mut u) = ([0.0; 6], [0.0; 6]);
            if relation.is_holonomic() {
                relation.position(t, q, &mut g[..n], scratch).map_err(at(t))?;
            }
            block.clear();
            block.resize(n * velocities.len(), 0.0);
            relation.jacobian(t, q, Rows { jacobian: &mut block, bias: &mut u[..n] }, scratch).map_err(at(t))?;
            for (u, row) in u.iter_mut().zip(block.chunks_exact(velocities.len().max(1))) {
                *u += row.iter().zip(velocities).map(|(g, &i)| g * v[i]).sum::<f64>();
            }
            position = g[..n.min(n_positions)].iter().fold(position, |most, x| most.max(x.abs()));
            velocity = u[..n.min(n_velocities)].iter().fold(velocity, |most, x| most.max(x.abs()));
        }
        Ok((position, velocity))
    }

    /// Writes the multipliers of all rows, those in use and the redundant ones, that give the force Gᵀλ of the point and are the shortest vector
    /// of those that do. Cost: one factorisation, and a solve per redundant row.
    ///
    /// # Errors
    /// As [`Equations::accelerate`].
    pub fn multipliers_of_all(&mut self, point: &MotionPoint, out: &mut [f64]) -> Result<(), IntegrationError> {
        let Some(all) = self.all_rows.clone() else {
            out.copy_from_slice(&point.lambda);
            return Ok(());
        };
        let (layout, t) = (self.layout(), point.t);
        let (values, _) = self.rows_at(&all, point)?;
        let (mut mass, mut g, mut b) = (vec![0.0; layout.n_values()], vec![0.0; self.rows.n_values()], vec![0.0; self.n_rows()]);
        self.mass(t, &point.q, &mut mass)?;
        self.jacobian(t, &point.q, &mut g, &mut b)?;
        let factorised = self.kkt.factorise(layout, &self.rows, &mass, &g, None);
        factorised.map_err(|e| self.kkt_error(t, e))?;
        // G_dᵀ + Gᵀ c = M a with G a = 0 gives c = −C of a redundant row d
        let (used, dropped) = self.places(&all);
        let (mut force, mut a, mut unit) = (vec![0.0; self.n_v()], vec![0.0; self.n_v()], vec![0.0; all.n_rows()]);
        let (zero, mut c) = (vec![0.0; self.n_rows()], DMatrix::zeros(dropped.len(), self.n_rows()));
        let mut multipliers = vec![0.0; self.n_rows()];
        for (k, &d) in dropped.iter().enumerate() {
            unit.fill(0.0);
            unit[d] = 1.0;
            force.fill(0.0);
            all.add_transposed(&values, 1.0, &unit, &mut force);
            self.kkt.solve(layout, &self.rows, &force, &zero, &mut a, &mut multipliers);
            multipliers.iter().enumerate().for_each(|(j, x)| c[(k, j)] = -x);
        }
        let mu = DVector::from_column_slice(&point.lambda);
        let gram = DMatrix::identity(dropped.len(), dropped.len()) + &c * c.transpose();
        let singular = || self.kkt_error(t, KktError::Row(0, 0.0));
        let share = gram.cholesky().ok_or_else(singular)?.solve(&(&c * &mu));
        let lambda = &mu - c.transpose() * share;
        let dependent = &c * &lambda;
        used.iter().zip(lambda.iter()).for_each(|(&row, x)| out[row] = *x);
        dropped.iter().zip(dependent.iter()).for_each(|(&row, x)| out[row] = *x);
        Ok(())
    }

    /// Numbers, among all rows, of those in use and of the redundant ones.
    fn places(&self, all: &RowLayout) -> (Vec<usize>, Vec<usize>) {
        let mut items = self.rows.items().iter().peekable();
        let (mut used, mut dropped) = (Vec::new(), Vec::new());
        for item in all.items() {
            let own = items.next_if(|x| x.is_of_same(item));
            for (row, k) in item.rows.clone().zip(&item.selected) {
                if own.is_some_and(|x| x.selected.contains(k)) { used.push(row) } else { dropped.push(row) }
            }
        }
        (used, dropped)
    }

    /// G and b of all rows at a point.
    fn rows_at(&mut self, all: &RowLayout, point: &MotionPoint) -> Result<(Vec<f64>, Vec<f64>), IntegrationError> {
        let (mut values, mut explicit, mut block) = (vec![0.0; all.n_values()], vec![0.0; all.n_rows()], Vec::new());
        for item in all.items() {
            let out = Rows { jacobian: &mut values[item.values()], bias: &mut explicit[item.rows.clone()] };
            item.jacobian(&self.interactions, (point.t, &point.q), out, &mut block, &mut self.scratch).map_err(at(point.t))?;
        }
        Ok((values, explicit))
    }
}
