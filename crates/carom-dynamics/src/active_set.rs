//! The active interactions of a step, with their rows of G over the mass blocks they touch.

use crate::block_diagonal::{BlockFactor, BlockLayout, dot};
use crate::laws::Law;
use crate::model::Model;
use carom_solvers::{Block, BlockSparse};
use std::ops::Range;

/// Where an active interaction comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActiveSource {
    /// Interaction number of the model.
    Interaction(usize),
    /// Contact point number of the step.
    Contact(usize),
}

/// One active interaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Active {
    /// Where it comes from.
    pub source: ActiveSource,
    /// Its law.
    pub law: Law,
    /// Its rows in the one-step problem.
    pub rows: Range<usize>,
    /// Gap at the start of the step \[m\]; 0 for constraints.
    pub gap: f64,
    /// The cone of its rows in the one-step problem.
    pub block: Block,
    /// Factor of its third row: see [`crate::Friction::stretch`].
    pub stretch: f64,
    /// Factor of its sixth row: see [`crate::ContactLaw::spin_stretch`].
    pub spin_stretch: f64,
    /// Impulse h c of its cohesion \[N·s\]: the one-step problem is stated for p_N + h c. 0 without cohesion.
    pub pull: f64,
    touched: Range<usize>,
    first: usize,
    width: usize,
}

impl Active {
    /// Its rows do not change within a step.
    #[must_use]
    pub fn is_constant(&self, model: &Model) -> bool {
        match self.source {
            ActiveSource::Interaction(i) => model.interactions()[i].relation().is_constant(),
            ActiveSource::Contact(_) => true,
        }
    }
}

impl Active {
    /// Rows with a factor other than 1, and the factor.
    pub(crate) fn stretched_rows(&self) -> impl Iterator<Item = (usize, f64)> + use<> {
        let n = self.rows.len();
        [(2, self.stretch), (5, self.spin_stretch)].into_iter().filter(move |&(k, factor)| factor != 1.0 && k < n)
    }
}

/// ‖u_T‖ of the rows (N, T…) of a contact.
pub(crate) fn tangential_speed(u: &[f64]) -> f64 {
    u.iter().skip(1).take(2).map(|u| u * u).sum::<f64>().sqrt()
}

/// Active interactions, stored by rows over the mass blocks each touches. Nothing is allocated once warm.
#[derive(Clone, Debug, Default)]
pub struct ActiveSet {
    /// The interactions, then auxiliary rows.
    items: Vec<Active>,
    n_items: usize,
    n_rows: usize,
    /// Per item: (mass block, first column of that block in the item's rows).
    touched: Vec<(u32, u32)>,
    /// G, row-major per item.
    jacobian: Vec<f64>,
    /// (M̂⁻¹ Gᵀ)ᵀ in the same layout.
    response: Vec<f64>,
    /// Work array of the same layout.
    mean: Vec<f64>,
    /// b = ∂g/∂t of each row.
    bias: Vec<f64>,
    /// What b gained over the step, where it is known: see [`ActiveSet::bias_change`].
    bias_change: Vec<f64>,
    /// u at the start of the step, G(q_k) v_k + b.
    velocity_start: Vec<f64>,
    /// What is added to G v + b before the law is applied: e u_k, say.
    shift: Vec<f64>,
    /// Some friction coefficient depends on the sliding speed.
    friction_varies: bool,
    /// Some contact pulls.
    pulls: bool,
    /// Some bound follows the reaction of a joint.
    bounds_vary: bool,
    /// Step over which bounded forces act \[s\]; 0 in an instant.
    step: f64,
    by_block: ItemsByBlock,
    seen: Vec<bool>,
    columns: Vec<u32>,
    dims: Vec<usize>,
}

/// Where the rows of a contact of bodies are written.
pub(crate) struct ContactRows<'a> {
    pub jacobian: &'a mut [f64],
    pub bias: &'a mut [f64],
    pub bias_change: &'a mut [f64],
    pub velocity_start: &'a mut [f64],
}

/// For each mass block the items that touch it.
#[derive(Clone, Debug, Default)]
struct ItemsByBlock {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl ItemsByBlock {
    /// Counting sort of the items by block; cost O(blocks + touches).
    fn sort(&mut self, items: &[Active], touched: &[(u32, u32)], n_blocks: usize) {
        self.starts.clear();
        self.starts.resize(n_blocks + 2, 0);
        for &(block, _) in touched {
            self.starts[block as usize + 2] += 1;
        }
        for b in 2..self.starts.len() {
            self.starts[b] += self.starts[b - 1];
        }
        self.items.resize(touched.len(), 0);
        for (i, item) in items.iter().enumerate() {
            for &(block, _) in &touched[item.touched.clone()] {
                let next = &mut self.starts[block as usize + 1];
                self.items[*next as usize] = i as u32;
                *next += 1;
            }
        }
    }

    fn of(&self, block: u32) -> &[u32] {
        &self.items[self.starts[block as usize] as usize..self.starts[block as usize + 1] as usize]
    }
}

impl ActiveSet {
    /// Empties the set.
    pub fn clear(&mut self) {
        self.items.clear();
        (self.n_items, self.n_rows) = (0, 0);
        self.touched.clear();
        self.jacobian.clear();
        self.bias.clear();
        self.bias_change.clear();
        self.velocity_start.clear();
        self.shift.clear();
        (self.friction_varies, self.pulls, self.bounds_vary, self.step) = (false, false, false, 0.0);
    }

    /// Adds an interaction that touches `blocks`; its rows are zero until written.
    pub fn push(
        &mut self,
        source: ActiveSource,
        law: Law,
        gap: f64,
        dim: usize,
        blocks: impl Iterator<Item = u32>,
        layout: &BlockLayout,
    ) -> usize {
        let (first_touched, mut width) = (self.touched.len(), 0);
        for block in blocks {
            self.touched.push((block, width as u32));
            width += layout.size(block as usize);
        }
        let row = self.bias.len();
        let first = self.jacobian.len();
        self.jacobian.resize(first + dim * width, 0.0);
        self.bias.resize(row + dim, 0.0);
        self.bias_change.resize(row + dim, 0.0);
        self.velocity_start.resize(row + dim, 0.0);
        self.shift.resize(row + dim, 0.0);
        let (rows, touched, block) = (row..row + dim, first_touched..self.touched.len(), Block::Bilateral { dim });
        self.items.push(Active { source, law, rows, gap, block, stretch: 1.0, spin_stretch: 1.0, pull: 0.0, touched, first, width });
        (self.n_items, self.n_rows) = (self.items.len(), row + dim);
        self.items.len() - 1
    }

    /// Adds bilateral rows that belong to no interaction, after all interactions: they take part in the one-step problem and are seen by nothing else.
    /// Returns their place for [`ActiveSet::rows_mut`].
    pub(crate) fn push_auxiliary(&mut self, dim: usize, blocks: impl Iterator<Item = u32>, layout: &BlockLayout) -> usize {
        let kept = (self.n_items, self.n_rows);
        let place = self.push(ActiveSource::Interaction(usize::MAX), Law::Bilateral, 0.0, dim, blocks, layout);
        (self.n_items, self.n_rows) = kept;
        place
    }

    /// Takes the auxiliary rows away.
    pub(crate) fn drop_auxiliary(&mut self) {
        if let Some(first) = self.items.get(self.n_items) {
            let (touched, values) = (first.touched.start, first.first);
            self.touched.truncate(touched);
            self.jacobian.truncate(values);
            self.response.truncate(values);
            for list in [&mut self.bias, &mut self.bias_change, &mut self.velocity_start, &mut self.shift] {
                list.truncate(self.n_rows);
            }
            self.items.truncate(self.n_items);
        }
    }

    /// The active interactions and the auxiliary rows after them.
    pub(crate) fn all_items(&self) -> &[Active] {
        &self.items
    }

    /// Number of rows of interactions, without auxiliary ones.
    pub(crate) fn n_own_rows(&self) -> usize {
        self.n_rows
    }

    /// The active interactions.
    #[must_use]
    pub fn items(&self) -> &[Active] {
        &self.items[..self.n_items]
    }

    /// No interaction is active.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.bias.len()
    }

    /// G of an item (row-major over its touched blocks), and b and u_k of its rows, to be written.
    pub(crate) fn rows_mut(&mut self, item: usize) -> (&mut [f64], &mut [f64], &mut [f64]) {
        let Active { rows, first, width, .. } = &self.items[item];
        let n = rows.len() * width;
        (&mut self.jacobian[*first..first + n], &mut self.bias[rows.clone()], &mut self.velocity_start[rows.clone()])
    }

    /// Binds the rows of an item to its law once they are written: rows are stretched, the cone and the shift e u_k are set. With
    /// `with_restitution` false the contact is inelastic.
    pub(crate) fn bind(&mut self, item: usize, with_restitution: bool) {
        if let Active { law: Law::Bounded(law), rows, block, gap, .. } = &mut self.items[item] {
            *block = law.block(rows.len(), self.step, 0.0);
            self.shift[rows.start] = law.shift(self.step, *gap);
            self.bounds_vary |= law.load.is_some() && self.step > 0.0;
            return;
        }
        let Active { law: Law::Contact(law), rows, stretch, spin_stretch, .. } = &mut self.items[item] else { return };
        (*stretch, *spin_stretch) = (law.friction.stretch(), law.spin_stretch());
        if *stretch != 1.0 || *spin_stretch != 1.0 {
            let rows = rows.clone();
            self.stretch(item);
            for (k, factor) in self.items[item].stretched_rows() {
                self.velocity_start[rows.start + k] *= factor;
                self.bias_change[rows.start + k] *= factor;
            }
        }
        let Active { law: Law::Contact(law), rows, block, .. } = &mut self.items[item] else { return };
        let velocity = &self.velocity_start[rows.clone()];
        let slip = if law.friction.varies() { tangential_speed(velocity) } else { 0.0 };
        self.friction_varies |= law.friction.varies();
        *block = law.block(rows.len(), slip);
        if with_restitution {
            let shift = &mut self.shift[rows.clone()];
            shift[0] = law.restitution.at(velocity[0]) * velocity[0];
            if law.tangential_restitution != 0.0 {
                for (shift, u) in shift.iter_mut().zip(velocity).skip(1).take(2) {
                    *shift = law.tangential_restitution * u;
                }
            }
        }
    }

    /// Stretches the rows of an item that were just written.
    pub(crate) fn stretch(&mut self, item: usize) {
        let Active { rows, first, width, .. } = &self.items[item];
        for (k, factor) in self.items[item].stretched_rows() {
            self.jacobian[first + k * width..first + (k + 1) * width].iter_mut().for_each(|g| *g *= factor);
            self.bias[rows.start + k] *= factor;
        }
    }

    /// Lets a contact pull with the impulse `pull` = h c ≥ 0. Where the contact is open, `open` is gap/h: it may close by its gap, not more.
    pub(crate) fn set_pull(&mut self, item: usize, pull: f64, open: Option<f64>) {
        self.items[item].pull = pull;
        self.pulls |= pull > 0.0;
        if let Some(speed) = open {
            let rows = self.items[item].rows.clone();
            self.shift[rows.clone()].fill(0.0);
            self.shift[rows.start] = speed;
        }
    }

    /// Some contact pulls: [`Active::pull`].
    #[must_use]
    pub fn pulls(&self) -> bool {
        self.pulls
    }

    /// Sets the time over which bounded forces act; none after [`ActiveSet::clear`].
    pub(crate) fn set_step(&mut self, step: f64) {
        self.step = step;
    }

    /// The time over which bounded forces act \[s\].
    pub(crate) fn step(&self) -> f64 {
        self.step
    }

    /// Lets bounded forces act over another time: 0 for a collision within the step.
    pub(crate) fn bind_bounds(&mut self, step: f64) {
        self.step = step;
        for item in &mut self.items {
            if let Law::Bounded(law) = item.law {
                item.block = law.block(item.rows.len(), step, 0.0);
            }
        }
    }

    /// Takes away the shifts of all but bounded forces.
    pub(crate) fn clear_shifts(&mut self) {
        for item in self.items.iter().filter(|item| item.law.bounded().is_none()) {
            self.shift[item.rows.clone()].fill(0.0);
        }
    }

    /// Some bound follows the reaction of a joint.
    #[must_use]
    pub(crate) fn bounds_vary(&self) -> bool {
        self.bounds_vary
    }

    /// Some friction coefficient depends on the sliding speed.
    #[must_use]
    pub(crate) fn friction_varies(&self) -> bool {
        self.friction_varies
    }

    /// Adds M̂⁻¹ Gᵀ (−h c) of the contacts that pull to `out`.
    pub(crate) fn add_pulls(&self, layout: &BlockLayout, out: &mut [f64]) {
        for item in self.items.iter().filter(|item| item.pull != 0.0) {
            for &(block, column) in &self.touched[item.touched.clone()] {
                let rows = layout.rows[block as usize]..layout.rows[block as usize + 1];
                for (out, value) in out[rows].iter_mut().zip(&self.response[item.first + column as usize..]) {
                    *out -= value * item.pull;
                }
            }
        }
    }

    /// Mass blocks that an item touches.
    pub(crate) fn blocks_of(&self, item: usize) -> impl Iterator<Item = u32> + '_ {
        self.touched[self.items[item].touched.clone()].iter().map(|(block, _)| *block)
    }

    /// Mass blocks that an item touches, each with the rows of G over it.
    pub(crate) fn rows_by_block(&self, item: usize) -> impl Iterator<Item = (usize, impl Iterator<Item = &[f64]>)> {
        let Active { touched, first, width, rows, .. } = &self.items[item];
        self.touched[touched.clone()].iter().map(move |&(block, column)| {
            let row = move |k: usize| &self.jacobian[first + k * width + column as usize..first + (k + 1) * width];
            (block as usize, (0..rows.len()).map(row))
        })
    }

    /// The active interactions, to change their cones.
    pub(crate) fn items_mut(&mut self) -> &mut [Active] {
        &mut self.items[..self.n_items]
    }

    /// What is added to G v + b before the laws are applied, by rows.
    #[must_use]
    pub fn shift(&self) -> &[f64] {
        &self.shift
    }

    /// The same, to be written: schemes that state their law otherwise than u + e u_k (on gaps, say) do it here.
    pub(crate) fn shift_mut(&mut self) -> &mut [f64] {
        &mut self.shift
    }

    /// u_k of all rows.
    #[must_use]
    pub(crate) fn velocity_start(&self) -> &[f64] {
        &self.velocity_start
    }

    /// b of all rows.
    #[must_use]
    pub fn bias(&self) -> &[f64] {
        &self.bias
    }

    /// What b of each row gained over the step: b is that of its end, b less this that of its start. Zero for interactions by formula.
    #[must_use]
    pub fn bias_change(&self) -> &[f64] {
        &self.bias_change
    }

    /// G, b, the change of b, and u_k of a contact of bodies, to be written.
    pub(crate) fn contact_rows_mut(&mut self, item: usize) -> ContactRows<'_> {
        let Active { rows, first, width, .. } = &self.items[item];
        ContactRows {
            jacobian: &mut self.jacobian[*first..first + rows.len() * width],
            bias: &mut self.bias[rows.clone()],
            bias_change: &mut self.bias_change[rows.clone()],
            velocity_start: &mut self.velocity_start[rows.clone()],
        }
    }

    /// Writes M̂⁻¹ Gᵀ. Cost O(rows × block size²).
    pub(crate) fn compute_response(&mut self, layout: &BlockLayout, factor: &BlockFactor) {
        let jacobian = std::mem::take(&mut self.jacobian);
        self.respond_to(layout, factor, &jacobian);
        self.jacobian = jacobian;
    }

    /// Writes M̂⁻¹ Hᵀ with the mean H of the rows of this set and of another one with the same interactions in the same order.
    pub(crate) fn compute_mean_response(&mut self, layout: &BlockLayout, factor: &BlockFactor, other: &ActiveSet) {
        let mut mean = std::mem::take(&mut self.mean);
        mean.clear();
        mean.extend(self.jacobian.iter().zip(&other.jacobian).map(|(a, b)| 0.5 * (a + b)));
        self.respond_to(layout, factor, &mean);
        self.mean = mean;
    }

    /// Writes M̂⁻¹ Gᵀ of rows in the layout of this set.
    fn respond_to(&mut self, layout: &BlockLayout, factor: &BlockFactor, jacobian: &[f64]) {
        self.response.resize(jacobian.len(), 0.0);
        for item in &self.items {
            for r in 0..item.rows.len() {
                let row = item.first + r * item.width;
                for &(block, column) in &self.touched[item.touched.clone()] {
                    let start = row + column as usize;
                    let span = start..start + layout.size(block as usize);
                    factor.solve_block(layout, block as usize, &jacobian[span.clone()], &mut self.response[span]);
                }
            }
        }
    }

    /// u = G v + b over all rows.
    pub(crate) fn local_velocity(&self, layout: &BlockLayout, v: &[f64], u: &mut [f64]) {
        for item in &self.items {
            self.velocity_of(item, layout, v, &mut u[item.rows.clone()]);
        }
    }

    /// u = G v + b over the rows of an item.
    pub(crate) fn local_velocity_of(&self, item: usize, layout: &BlockLayout, v: &[f64], u: &mut [f64]) {
        self.velocity_of(&self.items[item], layout, v, u);
    }

    #[inline(always)]
    fn velocity_of(&self, item: &Active, layout: &BlockLayout, v: &[f64], u: &mut [f64]) {
        for ((r, row), u) in item.rows.clone().enumerate().zip(u) {
            let start = item.first + r * item.width;
            let mut sum = self.bias[row];
            for &(block, column) in &self.touched[item.touched.clone()] {
                let rows = layout.rows[block as usize]..layout.rows[block as usize + 1];
                let start = start + column as usize;
                sum += dot(&self.jacobian[start..start + rows.len()], &v[rows]);
            }
            *u = sum;
        }
    }

    /// Largest |G_ij v_j|: the size of the terms that make local velocities.
    #[must_use]
    pub(crate) fn largest_product(&self, layout: &BlockLayout, v: &[f64]) -> f64 {
        let mut largest = 0.0_f64;
        for item in &self.items {
            for row in self.jacobian[item.first..item.first + item.rows.len() * item.width].chunks_exact(item.width) {
                for &(block, column) in &self.touched[item.touched.clone()] {
                    let rows = layout.rows[block as usize]..layout.rows[block as usize + 1];
                    for (g, v) in row[column as usize..].iter().zip(&v[rows]) {
                        largest = largest.max((g * v).abs());
                    }
                }
            }
        }
        largest
    }

    /// The first row of G of an item times a vector of velocities.
    pub(crate) fn first_row_product(&self, layout: &BlockLayout, item: usize, v: &[f64]) -> f64 {
        let item = &self.items[item];
        let row = &self.jacobian[item.first..item.first + item.width];
        let touched = self.touched[item.touched.clone()].iter();
        touched
            .map(|&(block, column)| {
                let rows = layout.rows[block as usize]..layout.rows[block as usize + 1];
                dot(&row[column as usize..column as usize + rows.len()], &v[rows])
            })
            .sum()
    }

    /// Adds Gᵀ p to `out`.
    pub(crate) fn add_reaction(&self, layout: &BlockLayout, p: &[f64], out: &mut [f64]) {
        self.add_transposed(&self.jacobian, layout, p, out);
    }

    /// Adds M̂⁻¹ Gᵀ p to `out`.
    pub(crate) fn add_response(&self, layout: &BlockLayout, p: &[f64], out: &mut [f64]) {
        self.add_transposed(&self.response, layout, p, out);
    }

    fn add_transposed(&self, values: &[f64], layout: &BlockLayout, p: &[f64], out: &mut [f64]) {
        for item in &self.items {
            let p = &p[item.rows.clone()];
            if p.iter().all(|p| *p == 0.0) {
                continue;
            }
            let values = &values[item.first..item.first + item.rows.len() * item.width];
            for &(block, column) in &self.touched[item.touched.clone()] {
                let out = &mut out[layout.rows[block as usize]..layout.rows[block as usize + 1]];
                // the size of almost all blocks
                if let [x, y, z] = &mut *out {
                    let (mut sum, column) = ([*x, *y, *z], column as usize);
                    for (row, p) in values.chunks_exact(item.width).zip(p) {
                        if let Some(&[a, b, c]) = row.get(column..).and_then(|row| row.first_chunk::<3>()) {
                            sum = [sum[0] + a * p, sum[1] + b * p, sum[2] + c * p];
                        }
                    }
                    (*x, *y, *z) = (sum[0], sum[1], sum[2]);
                    continue;
                }
                for (row, p) in values.chunks_exact(item.width).zip(p) {
                    out.iter_mut().zip(&row[column as usize..]).for_each(|(out, value)| *out += value * p);
                }
            }
        }
    }

    /// Assembles W = G M̂⁻¹ Gᵀ block by block: only pairs of interactions that share a mass block are stored.
    pub(crate) fn assemble_delassus(&mut self, layout: &BlockLayout, w: &mut BlockSparse) {
        self.by_block.sort(&self.items, &self.touched, layout.n_blocks());
        self.dims.clear();
        self.dims.extend(self.items.iter().map(|item| item.rows.len()));
        w.reset(&self.dims);
        self.seen.clear();
        self.seen.resize(self.items.len(), false);
        for item in &self.items {
            self.columns.clear();
            for &(block, _) in &self.touched[item.touched.clone()] {
                for &j in self.by_block.of(block) {
                    if !std::mem::replace(&mut self.seen[j as usize], true) {
                        self.columns.push(j);
                    }
                }
            }
            for &j in &self.columns {
                self.seen[j as usize] = false;
                self.add_pair(layout, item, &self.items[j as usize], w.push_block(j as usize));
            }
            w.finish_row();
        }
    }

    /// W_ij = Σ over shared mass blocks of G_i M̂⁻¹ G_jᵀ.
    fn add_pair(&self, layout: &BlockLayout, item: &Active, other: &Active, out: &mut [f64]) {
        for &(block, column) in &self.touched[item.touched.clone()] {
            let Some(&(_, other_column)) = self.touched[other.touched.clone()].iter().find(|(b, _)| *b == block) else { continue };
            let size = layout.size(block as usize);
            if size == 3 {
                self.add_pair_over((item, column), (other, other_column), out);
                continue;
            }
            for a in 0..item.rows.len() {
                let start = item.first + a * item.width + column as usize;
                let left = &self.jacobian[start..start + size];
                for b in 0..other.rows.len() {
                    let start = other.first + b * other.width + other_column as usize;
                    out[a * other.rows.len() + b] += dot(left, &self.response[start..start + size]);
                }
            }
        }
    }

    /// The same over one block of size 3, the size of almost all, from its columns of either; the sums are those of [`dot`].
    #[inline(always)]
    fn add_pair_over(&self, (item, column): (&Active, u32), (other, other_column): (&Active, u32), out: &mut [f64]) {
        let three =
            |values: &[f64], column: u32| values.get(column as usize..).and_then(|row| row.first_chunk::<3>().copied()).unwrap_or_default();
        let n = other.rows.len();
        let mut rights = [[0.0; 3]; Block::MAX_DIM];
        let responses = self.response[other.first..other.first + n * other.width].chunks_exact(other.width);
        rights.iter_mut().zip(responses).for_each(|(right, row)| *right = three(row, other_column));
        let rows = self.jacobian[item.first..item.first + item.rows.len() * item.width].chunks_exact(item.width);
        for (row, out) in rows.zip(out.chunks_exact_mut(n)) {
            let left = three(row, column);
            for (out, right) in out.iter_mut().zip(&rights) {
                *out += left[0] * right[0] + left[1] * right[1] + left[2] * right[2];
            }
        }
    }
}
