//! Products and factors of the small dense matrices of bodies and contacts, row-major.

/// out += A x for a row-major A, unrolled for contacts of rigid bodies.
#[inline]
pub(crate) fn add_product(a: &[f64], x: &[f64], out: &mut [f64]) {
    match (out.len(), x.len()) {
        (3, 6) => add_product_fixed::<3, 6>(a, x, out),
        (1, 6) => add_product_fixed::<1, 6>(a, x, out),
        (2, 3) => add_product_fixed::<2, 3>(a, x, out),
        (1, 3) => add_product_fixed::<1, 3>(a, x, out),
        (_, 0) => {}
        _ => {
            for (row, out) in a.chunks_exact(x.len()).zip(out) {
                *out += row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
            }
        }
    }
}

/// x += Aᵀ r for a row-major A, unrolled likewise.
#[inline]
pub(crate) fn add_transposed(a: &[f64], r: &[f64], x: &mut [f64]) {
    match (r.len(), x.len()) {
        (3, 6) => add_transposed_fixed::<3, 6>(a, r, x),
        (1, 6) => add_transposed_fixed::<1, 6>(a, r, x),
        (2, 3) => add_transposed_fixed::<2, 3>(a, r, x),
        (1, 3) => add_transposed_fixed::<1, 3>(a, r, x),
        (_, 0) => {}
        _ => {
            for (row, r) in a.chunks_exact(x.len()).zip(r) {
                x.iter_mut().zip(row).for_each(|(x, a)| *x += a * r);
            }
        }
    }
}

#[inline]
fn add_product_fixed<const D: usize, const N: usize>(a: &[f64], x: &[f64], out: &mut [f64]) {
    let (rows, _) = a.as_chunks::<N>();
    if let (Ok(rows), Ok(x), Ok(out)) = (<&[[f64; N]; D]>::try_from(rows), <&[f64; N]>::try_from(x), <&mut [f64; D]>::try_from(out)) {
        for i in 0..D {
            let mut sum = 0.0;
            for k in 0..N {
                sum += rows[i][k] * x[k];
            }
            out[i] += sum;
        }
    }
}

#[inline]
fn add_transposed_fixed<const D: usize, const N: usize>(a: &[f64], r: &[f64], x: &mut [f64]) {
    let (rows, _) = a.as_chunks::<N>();
    if let (Ok(rows), Ok(r), Ok(x)) = (<&[[f64; N]; D]>::try_from(rows), <&[f64; D]>::try_from(r), <&mut [f64; N]>::try_from(x)) {
        for k in 0..N {
            for i in 0..D {
                x[k] += rows[i][k] * r[i];
            }
        }
    }
}

/// out += A Bᵀ for rows of `dof` entries; B and out have `columns` rows and columns.
pub(crate) fn add_product_transposed(a: &[f64], b: &[f64], dof: usize, columns: usize, out: &mut [f64]) {
    if dof == 0 {
        return;
    }
    for (row, out) in a.chunks_exact(dof).zip(out.chunks_exact_mut(columns)) {
        for (column, out) in b.chunks_exact(dof).zip(out) {
            *out += row.iter().zip(column).map(|(a, b)| a * b).sum::<f64>();
        }
    }
}

/// Replaces the lower triangle of a symmetric positive semidefinite matrix by C with A = C Cᵀ; false when the matrix is
/// not semidefinite. A pivot at rounding gives a zero column: that coordinate is held, or depends on the ones before.
/// [Golub & Van Loan, *Matrix Computations*, Cholesky factorisation of semidefinite matrices]; differs in: no pivoting.
pub(crate) fn factor_semidefinite(n: usize, a: &mut [f64]) -> bool {
    for j in 0..n {
        let diagonal = a[j * n + j];
        let pivot = diagonal - (0..j).map(|k| a[j * n + k] * a[j * n + k]).sum::<f64>();
        // What is left of a dependent row after n subtractions.
        let rounding = 4.0 * n as f64 * f64::EPSILON * diagonal.abs();
        if pivot < -rounding || pivot.is_nan() {
            return false;
        }
        let root = if pivot > rounding { pivot.sqrt() } else { 0.0 };
        a[j * n + j] = root;
        for i in j + 1..n {
            let rest = a[i * n + j] - (0..j).map(|k| a[i * n + k] * a[j * n + k]).sum::<f64>();
            if root == 0.0 && rest * rest > 4.0 * rounding * a[i * n + i].abs() {
                return false;
            }
            a[i * n + j] = if root > 0.0 { rest / root } else { 0.0 };
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unrolled_products_are_the_plain_ones() {
        for (dim, dof) in [(3, 6), (1, 6), (2, 3), (1, 3), (4, 5), (2, 0)] {
            let a: Vec<f64> = (0..dim * dof).map(|k| (k % 7) as f64 - 3.0).collect();
            let (x, r): (Vec<f64>, Vec<f64>) = ((0..dof).map(|k| k as f64 + 1.0).collect(), (0..dim).map(|k| k as f64 - 0.5).collect());
            let (mut u, mut y) = (vec![1.0; dim], vec![2.0; dof]);
            add_product(&a, &x, &mut u);
            add_transposed(&a, &r, &mut y);
            // Whole and half numbers: no rounding.
            for i in 0..dim {
                assert_eq!(u[i], 1.0 + (0..dof).map(|k| a[i * dof + k] * x[k]).sum::<f64>());
            }
            for k in 0..dof {
                assert_eq!(y[k], 2.0 + (0..dim).map(|i| a[i * dof + k] * r[i]).sum::<f64>());
            }
        }
    }

    #[test]
    fn only_semidefinite_matrices_have_a_root() {
        let mut a = [4.0, 0.0, 2.0, 5.0];
        assert!(factor_semidefinite(2, &mut a));
        assert_eq!((a[0], a[2], a[3]), (2.0, 1.0, 2.0));
        // A dependent coordinate, a held one, and matrices with a negative direction.
        assert!(factor_semidefinite(2, &mut [1.0, 1.0, 1.0, 1.0]));
        assert!(factor_semidefinite(2, &mut [0.0, 0.0, 0.0, 3.0]));
        assert!(!factor_semidefinite(2, &mut [1.0, 2.0, 2.0, 1.0]));
        assert!(!factor_semidefinite(2, &mut [0.0, 1.0, 1.0, 1.0]));
    }
}
