//! Real positive roots of polynomials of degree at most four.

/// At most four roots in increasing order, without allocation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Roots {
    values: [f64; 5],
    len: usize,
}

impl Roots {
    fn push(&mut self, root: f64) {
        if self.len < self.values.len() {
            self.values[self.len] = root;
            self.len += 1;
        }
    }

    /// The roots found.
    pub fn as_slice(&self) -> &[f64] {
        &self.values[..self.len]
    }
}

/// Roots in (0, ∞) of c₀ + c₁x + … + c₄x⁴, by bracketing between the roots of the derivative,
/// recursively from degree one. Points where the derivative vanishes and the polynomial is zero to
/// rounding (double roots) are included.
///
/// Beyond the Fujiwara bound 2 max |c_{n−k}/c_n|^{1/k} there is no root.
pub(crate) fn positive_roots(coefficients: &[f64]) -> Roots {
    let degree = match coefficients.iter().rposition(|c| *c != 0.0) {
        None | Some(0) => return Roots::default(),
        Some(degree) => degree,
    };
    let c = &coefficients[..=degree];
    let mut bound = 0.0_f64;
    for k in 1..=degree {
        bound = bound.max((c[degree - k] / c[degree]).abs().powf(1.0 / k as f64));
    }
    roots_in(c, 2.0 * bound)
}

fn roots_in(c: &[f64], bound: f64) -> Roots {
    let degree = c.len() - 1;
    let mut roots = Roots::default();
    if degree == 1 {
        let root = -c[0] / c[1];
        if root > 0.0 && root <= bound {
            roots.push(root);
        }
        return roots;
    }
    let mut derivative = [0.0; 4];
    for k in 1..=degree {
        derivative[k - 1] = k as f64 * c[k];
    }
    let critical = roots_in(&derivative[..degree], bound);
    let mut low = 0.0;
    let mut low_value = c[0];
    for &high in critical.as_slice().iter().chain(&[bound]) {
        let high_value = evaluate(c, high).0;
        if low_value * high_value < 0.0 {
            roots.push(bracketed_root(c, low, high, low_value));
        } else if high < bound && high_value.abs() <= 1e-13 * magnitude(c, high) {
            roots.push(high);
        }
        (low, low_value) = (high, high_value);
    }
    roots
}

/// Value and derivative by Horner's rule.
fn evaluate(c: &[f64], x: f64) -> (f64, f64) {
    c.iter().rev().fold((0.0, 0.0), |(p, dp), a| (p * x + a, dp * x + p))
}

/// Σ |c_k| x^k: the scale against which a value is rounding.
fn magnitude(c: &[f64], x: f64) -> f64 {
    c.iter().rev().fold(0.0, |p, a| p * x + a.abs())
}

/// The root in a bracket with a sign change, by Newton kept inside the bracket by bisection.
fn bracketed_root(c: &[f64], mut low: f64, mut high: f64, low_value: f64) -> f64 {
    let mut x = 0.5 * (low + high);
    for _ in 0..200 {
        let (p, dp) = evaluate(c, x);
        if p == 0.0 {
            return x;
        }
        if (p < 0.0) == (low_value < 0.0) {
            low = x;
        } else {
            high = x;
        }
        let newton = x - p / dp;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - x).abs() <= 2.0 * f64::EPSILON * x.abs() {
            return next;
        }
        x = next;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(coefficients: &[f64], expected: &[f64], tolerance: f64) {
        let roots = positive_roots(coefficients);
        assert_eq!(roots.as_slice().len(), expected.len(), "{roots:?}");
        for (root, exact) in roots.as_slice().iter().zip(expected) {
            assert!((root - exact).abs() <= tolerance, "{roots:?}");
        }
    }

    #[test]
    fn finds_all_positive_roots_of_a_quartic() {
        // (x−1)(x−2)(x−3)(x−4); conditioning of the roots is about 1e2.
        check(&[24.0, -50.0, 35.0, -10.0, 1.0], &[1.0, 2.0, 3.0, 4.0], 1e-12);
        // (x+1)(x+2)(x−3)(x²…): only one positive root: (x+1)(x+2)(x+3)(x−0.5)
        check(&[-3.0, 0.5, 8.0, 5.5, 1.0], &[0.5], 1e-14);
    }

    #[test]
    fn finds_a_double_root() {
        // (x−1)²(x²+1); a double root is known to sqrt(ε).
        check(&[1.0, -2.0, 2.0, -2.0, 1.0], &[1.0], 1e-7);
    }

    #[test]
    fn lower_degrees_and_constants() {
        check(&[-2.0, 1.0, 0.0, 0.0, 0.0], &[2.0], 0.0);
        check(&[1.0, 0.0, 0.0], &[], 0.0);
        check(&[1.0, 0.0, 1.0], &[], 0.0);
    }
}
