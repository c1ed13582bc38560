//! Scalar products of long vectors.

/// Partial sums kept side by side, so that they become vector instructions. The order of summation is the same on every machine.
const LANES: usize = 8;

/// aᵀ b.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a_chunks.zip(b_chunks) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_counts_once() {
        for n in [0, 1, 7, 8, 9, 31] {
            let a: Vec<f64> = (0..n).map(f64::from).collect();
            let expected: i32 = (0..n).map(|k| k * k).sum();
            assert_eq!(dot(&a, &a), f64::from(expected)); // whole numbers: exact
        }
    }
}
