//! Quadratic minimum over a disk.

/// y = argmin ½ yᵀAy + bᵀy over |y| ≤ radius, for a symmetric positive semidefinite A (row-major) of one or two rows.
///
/// In two dimensions y(τ) = −(A + τI)⁻¹b in the eigenvectors of A, with the τ ≥ 0 that makes |y| = radius unless the free minimum is inside:
/// Newton on 1/|y(τ)| from the left, which is monotone. [Moré & Sorensen, *Computing a trust region step*, 1983]
pub(super) fn minimise_on_disk(a: &[f64], b: &[f64], radius: f64, y: &mut [f64]) {
    match (a, b, y) {
        (_, _, y) if radius <= 0.0 => y.fill(0.0),
        (&[a], &[b], [y]) => {
            let free = -b / a;
            *y = if free.is_nan() { 0.0 } else { free.clamp(-radius, radius) };
        }
        (&[a, b_, _, c], &[p, q], [y0, y1]) => {
            let ([low, high], [cos, sin]) = eigen(a, b_, c);
            let (along, across) = (cos * p + sin * q, -sin * p + cos * q);
            let (first, second) = solve_secular([low, high], [across, along], radius);
            (*y0, *y1) = (cos * second - sin * first, sin * second + cos * first);
        }
        _ => {}
    }
}

/// Eigenvalues (smaller first, not negative) of [[a, b], [b, c]], and the eigenvector of the larger.
fn eigen(a: f64, b: f64, c: f64) -> ([f64; 2], [f64; 2]) {
    let (mean, half) = (0.5 * (a + c), 0.5 * (a - c));
    let radius = half.hypot(b);
    let angle = 0.5 * b.atan2(half);
    ([(mean - radius).max(0.0), mean + radius], [angle.cos(), angle.sin()])
}

/// Newton steps on the secular equation: it gains digits quadratically from the start.
const SECULAR_STEPS: usize = 30;

/// −b_i/(λ_i + τ) with the smallest τ ≥ 0 that keeps the vector inside the radius.
fn solve_secular(eigenvalues: [f64; 2], b: [f64; 2], radius: f64) -> (f64, f64) {
    let at = |shift: f64| {
        let part = |k: usize| if b[k] == 0.0 { 0.0 } else { -b[k] / (eigenvalues[k] + shift) };
        (part(0), part(1))
    };
    let (x, y) = at(0.0);
    if x.hypot(y) <= radius {
        return (x, y);
    }
    // At least the shift that is right when A is a multiple of the identity.
    let mut shift = (b[0].hypot(b[1]) / radius - eigenvalues[1]).max(0.0);
    for _ in 0..SECULAR_STEPS {
        let (x, y) = at(shift);
        let size = x.hypot(y);
        let slope = x * x / (eigenvalues[0] + shift) + y * y / (eigenvalues[1] + shift);
        let step = (size / radius - 1.0) * size * size / slope;
        if !(step > f64::EPSILON * shift) {
            if !step.is_finite() {
                // A is zero along b: the first tiny shift is on the right side.
                shift = shift.max(f64::EPSILON * eigenvalues[1]).max(f64::MIN_POSITIVE);
                continue;
            }
            break;
        }
        shift += step;
    }
    let (x, y) = at(shift);
    let size = x.hypot(y);
    if size > 0.0 && size.is_finite() { (radius * x / size, radius * y / size) } else { (0.0, 0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minima_satisfy_the_law_of_friction() {
        let matrices = [[2.0, 0.5, 0.5, 1.0], [1.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1e6, 3.0, 3.0, 1e-4], [0.0; 4]];
        for a in matrices {
            for b in [[1.0, 0.0], [-0.3, 2.0], [1e-3, -1e-3], [1.0, -1.0]] {
                for radius in [1e-6, 0.1, 1.0, 50.0] {
                    let mut y = [0.0; 2];
                    minimise_on_disk(&a, &b, radius, &mut y);
                    let u = [a[0] * y[0] + a[1] * y[1] + b[0], a[2] * y[0] + a[3] * y[1] + b[1]];
                    let size = y[0].hypot(y[1]);
                    assert!(size <= radius * (1.0 + 1e-14), "{a:?} {b:?} {radius}: {y:?}");
                    // u = −τ y with τ ≥ 0, and τ = 0 inside; u has lost the digits of A y.
                    let lost = 1e-12 * (b[0].hypot(b[1]) + a[0].max(a[3]) * radius);
                    let along = (u[0] * y[0] + u[1] * y[1]) / size.max(1e-300);
                    assert!((u[0] * y[1] - u[1] * y[0]).abs() <= lost * size && along <= lost, "{a:?} {b:?} {radius}: {y:?} {u:?}");
                    if size < radius * (1.0 - 1e-9) {
                        assert!(u[0].hypot(u[1]) <= lost, "{a:?} {b:?} {radius}: {y:?} {u:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn in_one_dimension_the_minimum_is_clipped() {
        let mut y = [0.0];
        minimise_on_disk(&[2.0], &[-1.0], 3.0, &mut y);
        assert_eq!(y, [0.5]);
        minimise_on_disk(&[2.0], &[8.0], 3.0, &mut y);
        assert_eq!(y, [-3.0]);
        minimise_on_disk(&[2.0], &[8.0], 0.0, &mut y);
        assert_eq!(y, [0.0]);
    }
}
