//! Thinning of long curves.

/// Thins a curve to what can be seen in `n_columns` pixel columns over `x_range`.
///
/// Of the consecutive points that fall into one column, the first, the lowest, the highest and the last stay (in their order),
/// so no extreme is lost and the picture is the same. Points must be finite. Curves that are short already are returned whole.
#[must_use]
pub fn decimate(points: &[[f64; 2]], x_range: [f64; 2], n_columns: usize) -> Vec<[f64; 2]> {
    if points.len() <= 4 * n_columns {
        return points.to_vec();
    }
    let scale = n_columns as f64 / (x_range[1] - x_range[0]);
    let column = |point: &[f64; 2]| ((point[0] - x_range[0]) * scale).floor() as i64;
    let mut kept = Vec::with_capacity(4 * n_columns);
    for run in points.chunk_by(|a, b| column(a) == column(b)) {
        let by_height = |a: &usize, b: &usize| run[*a][1].total_cmp(&run[*b][1]);
        let lowest = (0..run.len()).min_by(by_height).unwrap_or(0);
        let highest = (0..run.len()).max_by(by_height).unwrap_or(0);
        let mut places = [0, lowest, highest, run.len() - 1];
        places.sort_unstable();
        for (i, place) in places.iter().enumerate() {
            if i == 0 || places[i - 1] != *place {
                kept.push(run[*place]);
            }
        }
    }
    kept
}
