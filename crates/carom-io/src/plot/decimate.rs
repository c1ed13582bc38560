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

/// Drops points that lie within `tolerance` of the line through the points that stay (Douglas and Peucker's algorithm).
///
/// Ends and corners stay; half a pixel's tenth cannot be seen and makes files several times smaller.
pub(super) fn straighten(points: &[[f32; 2]], tolerance: f32) -> Vec<[f32; 2]> {
    if points.len() < 3 {
        return points.to_vec();
    }
    let mut stays = vec![false; points.len()];
    (stays[0], stays[points.len() - 1]) = (true, true);
    let mut spans = vec![(0, points.len() - 1)];
    while let Some((first, last)) = spans.pop() {
        let farthest = (first + 1..last).map(|i| (distance(points[i], points[first], points[last]), i)).max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((distance, i)) = farthest
            && distance > tolerance
        {
            stays[i] = true;
            spans.extend([(first, i), (i, last)]);
        }
    }
    points.iter().zip(&stays).filter(|(_, stays)| **stays).map(|(point, _)| *point).collect()
}

/// Distance of a point from a segment.
fn distance(p: [f32; 2], a: [f32; 2], b: [f32; 2]) -> f32 {
    let (along, from) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
    let length2 = along[0] * along[0] + along[1] * along[1];
    let s = if length2 > 0.0 { ((from[0] * along[0] + from[1] * along[1]) / length2).clamp(0.0, 1.0) } else { 0.0 };
    (from[0] - s * along[0]).hypot(from[1] - s * along[1])
}

#[cfg(test)]
mod tests {
    use super::straighten;

    #[test]
    fn straight_parts_lose_their_inner_points_and_corners_stay() {
        let points: Vec<[f32; 2]> = (0..=20).map(|i| [i as f32, if i < 10 { 0.0 } else { (i - 10) as f32 }]).collect();
        assert_eq!(straighten(&points, 0.05), [[0.0, 0.0], [10.0, 0.0], [20.0, 10.0]]);
        let spike = [[0.0, 0.0], [1.0, 0.0], [1.0, 50.0], [1.0, 0.0], [2.0, 0.0]];
        assert!(straighten(&spike, 0.05).contains(&[1.0, 50.0]));
        let circle: Vec<[f32; 2]> = (0..=360).map(|i| (i as f32).to_radians()).map(|a| [100.0 * a.cos(), 100.0 * a.sin()]).collect();
        // the sagitta of a chord of n degrees is 100 (1 − cos n/2): 0.05 is reached at 3.6 degrees
        assert!((90..200).contains(&straighten(&circle, 0.05).len()));
    }
}
