//! Points and triangles of a height field.

use nalgebra::Vector3;

/// Grid points row by row.
pub(crate) fn points(heights: &[f64], columns: usize, spacing: [f64; 2]) -> impl Iterator<Item = Vector3<f64>> {
    let columns = columns.max(1);
    let rows = heights.len() / columns;
    let middle = [columns, rows].map(|n| 0.5 * (n as f64 - 1.0));
    heights.iter().enumerate().map(move |(k, height)| {
        let (row, column) = (k / columns, k % columns);
        Vector3::new((column as f64 - middle[0]) * spacing[0], (row as f64 - middle[1]) * spacing[1], *height)
    })
}

/// Two triangles per cell, both seen counter-clockwise from above.
pub(crate) fn triangles(n_heights: usize, columns: usize) -> impl Iterator<Item = [u32; 3]> {
    let rows = n_heights / columns.max(1);
    let (cells_x, cells_y) = (columns.saturating_sub(1), rows.saturating_sub(1));
    (0..cells_x * cells_y).flat_map(move |cell| {
        let corner = cell / cells_x * columns + cell % cells_x;
        let [a, b, c, d] = [corner, corner + 1, corner + columns + 1, corner + columns].map(|k| k as u32);
        [[a, b, c], [a, c, d]]
    })
}
