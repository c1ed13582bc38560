//! Elimination inside a dense front.
//!
//! The functions are inlined into the caller, which chooses the vector instructions of the machine.

/// Pivots eliminated together: the rows below are read and written once for all of them.
const PANEL: usize = 4;

/// Eliminates the first k columns of a row-major m × m front, with pivots among the first k rows; false when a pivot vanished and was replaced by
/// machine precision.
#[inline(always)]
pub(super) fn factor_front(front: &mut [f64], m: usize, k: usize, exchanges: &mut [usize]) -> bool {
    let mut is_regular = true;
    eliminate(front, m, k, |front, j| {
        let (mut pivot, mut size) = (j, -1.0);
        for i in j..k {
            let candidate = front[i * m + j].abs();
            if candidate > size {
                (pivot, size) = (i, candidate);
            }
        }
        exchanges[j] = pivot;
        if pivot != j {
            let (top, bottom) = front.split_at_mut(pivot * m);
            top[j * m..(j + 1) * m].swap_with_slice(&mut bottom[..m]);
        }
        if size == 0.0 {
            front[j * m + j] = f64::EPSILON;
            is_regular = false;
        }
    });
    is_regular
}

/// The same for a front whose symmetric part is positive semidefinite: pivots are taken from the diagonal as they come. One that is not above its
/// floor belongs to a row that depends on those before it; it becomes infinite, so that its unknown is zero and its equation is left out.
/// Returns the number of such rows.
#[inline(always)]
pub(super) fn factor_semidefinite_front(front: &mut [f64], m: usize, k: usize, floors: &[f64]) -> usize {
    let mut redundant = 0;
    eliminate(front, m, k, |front, j| {
        let pivot = &mut front[j * m + j];
        // also where the pivot is not a number
        if pivot.is_nan() || *pivot <= floors[j] {
            *pivot = f64::INFINITY;
            redundant += 1;
        }
    });
    redundant
}

/// Elimination by panels; `choose(front, j)` brings the pivot of column j to its place.
#[inline(always)]
fn eliminate(front: &mut [f64], m: usize, k: usize, mut choose: impl FnMut(&mut [f64], usize)) {
    let mut begin = 0;
    while begin < k {
        let end = (begin + PANEL).min(k);
        // The panel: columns begin..end of all rows, whole rows exchanged.
        for j in begin..end {
            choose(front, j);
            let inverse = 1.0 / front[j * m + j];
            let (top, bottom) = front.split_at_mut((j + 1) * m);
            let pivot_row = &top[j * m..];
            for row in bottom.chunks_exact_mut(m) {
                let factor = row[j] * inverse;
                row[j] = factor;
                for c in j + 1..end {
                    row[c] -= factor * pivot_row[c];
                }
            }
        }
        // The rows of the panel, right of it.
        for j in begin + 1..end {
            let (top, bottom) = front.split_at_mut(j * m);
            let row = &mut bottom[..m];
            for p in begin..j {
                let factor = row[p];
                for (y, x) in row[end..].iter_mut().zip(&top[p * m + end..(p + 1) * m]) {
                    *y -= factor * x;
                }
            }
        }
        let (top, bottom) = front.split_at_mut(end * m);
        let panel = &top[begin * m..];
        if end - begin == PANEL {
            update_rows(panel, bottom, m, begin);
        } else {
            for row in bottom.chunks_exact_mut(m) {
                for p in begin..end {
                    let factor = row[p];
                    let source = &panel[(p - begin) * m + end..(p - begin + 1) * m];
                    for (y, x) in row[end..].iter_mut().zip(source) {
                        *y -= factor * x;
                    }
                }
            }
        }
        begin = end;
    }
}

/// Subtracts the products with the four pivot rows of a full panel from all rows below, two at a time.
#[inline(always)]
fn update_rows(panel: &[f64], below: &mut [f64], m: usize, begin: usize) {
    let end = begin + PANEL;
    let [p0, p1, p2, p3] = std::array::from_fn(|p| &panel[p * m + end..(p + 1) * m]);
    let mut pairs = below.chunks_exact_mut(2 * m);
    for pair in &mut pairs {
        let (first, second) = pair.split_at_mut(m);
        let (&[e0, e1, e2, e3], &[f0, f1, f2, f3]) = (&factors(first, begin), &factors(second, begin));
        let rows = first[end..].iter_mut().zip(&mut second[end..]);
        for (((((y, z), a), b), c), d) in rows.zip(p0).zip(p1).zip(p2).zip(p3) {
            *y -= e0 * a + e1 * b + e2 * c + e3 * d;
            *z -= f0 * a + f1 * b + f2 * c + f3 * d;
        }
    }
    let row = pairs.into_remainder();
    if !row.is_empty() {
        let [f0, f1, f2, f3] = factors(row, begin);
        for ((((y, a), b), c), d) in row[end..].iter_mut().zip(p0).zip(p1).zip(p2).zip(p3) {
            *y -= f0 * a + f1 * b + f2 * c + f3 * d;
        }
    }
}

#[inline]
fn factors(row: &[f64], begin: usize) -> [f64; PANEL] {
    std::array::from_fn(|p| row[begin + p])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_front_is_its_schur_complement() {
        // Two pivots, the first of which needs an exchange: [[0, 2, 1], [4, 1, 3], [2, 5, 6]].
        let mut front = [0.0, 2.0, 1.0, 4.0, 1.0, 3.0, 2.0, 5.0, 6.0];
        let mut exchanges = [0; 2];
        factor_front(&mut front, 3, 2, &mut exchanges);
        assert_eq!(exchanges, [1, 1]);
        // 6 − (2, 5) [[0, 2], [4, 1]]⁻¹ (1, 3)ᵀ, all in binary fractions.
        assert_eq!(front[8], 2.25);
    }

    #[test]
    fn a_dependent_row_of_a_semidefinite_front_is_left_out() {
        // Gram matrix of (1, 0), (1, 0), (1, 1): the second row is the first one again.
        let mut front = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0];
        assert_eq!(factor_semidefinite_front(&mut front, 3, 2, &[1e-12; 2]), 1);
        assert_eq!((front[4], front[7], front[8]), (f64::INFINITY, 0.0, 1.0));
    }

    #[test]
    fn a_vanishing_pivot_does_not_stop_it() {
        let mut front = [0.0; 4];
        factor_front(&mut front, 2, 2, &mut [0; 2]);
        assert!(front.iter().all(|x| x.is_finite()));
    }
}
