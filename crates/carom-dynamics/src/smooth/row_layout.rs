//! Where the rows of G lie: each constraint over the mass blocks it touches.

use crate::block_diagonal::{BlockLayout, dot};
use crate::model::Model;
use std::ops::Range;

/// One bilateral interaction with the rows of it that are in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowItem {
    /// Number of the interaction in the model.
    pub interaction: usize,
    /// Its rows in use, as numbers within the interaction.
    pub selected: Vec<usize>,
    /// The same rows in the numbering of the equations.
    pub rows: Range<usize>,
    /// Its entries in [`RowLayout::touched`].
    pub touched: Range<usize>,
    /// First value of its rows in arrays of G values; each row has `width` values.
    pub first: usize,
    /// Sum of the sizes of the touched blocks.
    pub width: usize,
    /// It has a position g(t, q).
    pub holonomic: bool,
}

/// The layout of G for a selection of constraint rows. Values are stored apart, one array per instant at which G is needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowLayout {
    items: Vec<RowItem>,
    /// Per item: (mass block, first column of the block within the item's rows).
    touched: Vec<(u32, u32)>,
    n_rows: usize,
    n_values: usize,
}

impl RowLayout {
    /// All rows of the bilateral interactions of a model for which `keep(interaction, row)` holds.
    #[must_use]
    pub fn new(model: &Model, keep: impl Fn(usize, usize) -> bool) -> Self {
        let (layout, mut rows) = (model.systems().layout(), RowLayout::default());
        for (i, interaction) in model.interactions().iter().enumerate().filter(|(_, x)| x.is_bilateral()) {
            let selected: Vec<usize> = (0..interaction.relation().n_rows()).filter(|&row| keep(i, row)).collect();
            if selected.is_empty() {
                continue;
            }
            let (start, mut width) = (rows.touched.len(), 0);
            for &block in interaction.blocks() {
                rows.touched.push((block, width as u32));
                width += layout.size(block as usize);
            }
            let (n, first) = (selected.len(), rows.n_values);
            rows.items.push(RowItem {
                interaction: i,
                selected,
                rows: rows.n_rows..rows.n_rows + n,
                touched: start..rows.touched.len(),
                first,
                width,
                holonomic: interaction.relation().is_holonomic(),
            });
            rows.n_rows += n;
            rows.n_values += n * width;
        }
        rows
    }

    /// The constraints, in the model's order.
    #[must_use]
    pub fn items(&self) -> &[RowItem] {
        &self.items
    }

    /// (mass block, first column) pairs of an item.
    #[must_use]
    pub fn touched(&self, item: &RowItem) -> &[(u32, u32)] {
        &self.touched[item.touched.clone()]
    }

    /// Number of rows in use.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of values of G.
    #[must_use]
    pub fn n_values(&self) -> usize {
        self.n_values
    }

    /// u = G v.
    pub fn multiply(&self, layout: &BlockLayout, g: &[f64], v: &[f64], u: &mut [f64]) {
        u.fill(0.0);
        for item in &self.items {
            for (k, row) in item.rows.clone().enumerate() {
                let values = &g[item.first + k * item.width..][..item.width];
                for &(block, column) in self.touched(item) {
                    let (start, n) = (layout.rows[block as usize], layout.size(block as usize));
                    u[row] += dot(&values[column as usize..column as usize + n], &v[start..start + n]);
                }
            }
        }
    }

    /// f += c Gᵀ λ.
    pub fn add_transposed(&self, layout: &BlockLayout, g: &[f64], factor: f64, lambda: &[f64], f: &mut [f64]) {
        for item in &self.items {
            for (k, row) in item.rows.clone().enumerate() {
                let (values, scale) = (&g[item.first + k * item.width..][..item.width], factor * lambda[row]);
                for &(block, column) in self.touched(item) {
                    let (start, n) = (layout.rows[block as usize], layout.size(block as usize));
                    for (f, g) in f[start..start + n].iter_mut().zip(&values[column as usize..column as usize + n]) {
                        *f += scale * g;
                    }
                }
            }
        }
    }
}
