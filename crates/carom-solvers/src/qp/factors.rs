//! The factors of the dual active set method.

/// H⁻¹ = J Jᵀ and Jᵀ N = [R; 0] for the active rows N, with R upper triangular. [Goldfarb & Idnani 1983, section 4]
///
/// Rows of H and N are dense. Cost: 2n³/3 once, 6n² to add or drop a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Factors {
    n: usize,
    /// Jᵀ, row-major: the columns of J are contiguous.
    jt: Vec<f64>,
    /// R, column k at `r[k * n..]`.
    r: Vec<f64>,
    /// Active rows.
    k: usize,
    /// Jᵀ a of the row under consideration.
    d: Vec<f64>,
}

/// Pivots of the Cholesky factorisation below this fraction of the diagonal show a semidefinite matrix.
const DEFINITE: f64 = 1e-11;

/// A row whose part outside the active ones is smaller than this fraction depends on them.
const DEPENDENT: f64 = 1e-10;

impl Factors {
    /// Starts with no active rows and the row-major symmetric matrix `h`. False when it is not positive definite.
    pub fn reset(&mut self, n: usize, h: &[f64]) -> bool {
        (self.n, self.k) = (n, 0);
        let mut l = h.to_vec();
        for j in 0..n {
            let diagonal = l[j * n + j];
            let pivot = diagonal - l[j * n..j * n + j].iter().map(|x| x * x).sum::<f64>();
            if pivot.is_nan() || pivot <= DEFINITE * diagonal.abs() {
                return false;
            }
            let root = pivot.sqrt();
            l[j * n + j] = root;
            for i in j + 1..n {
                let (top, bottom) = l.split_at_mut(i * n);
                let sum: f64 = bottom[..j].iter().zip(&top[j * n..j * n + j]).map(|(a, b)| a * b).sum();
                bottom[j] = (bottom[j] - sum) / root;
            }
        }
        // Row k of Jᵀ = L⁻¹ solves L y = e of all columns at once: (L⁻¹) row by row.
        self.jt.clear();
        self.jt.resize(n * n, 0.0);
        for i in 0..n {
            let (known, rest) = self.jt.split_at_mut(i * n);
            let row = &mut rest[..n];
            row[i] = 1.0;
            for (j, source) in known.chunks_exact(n).enumerate() {
                let factor = l[i * n + j];
                row[..=j].iter_mut().zip(source).for_each(|(y, x)| *y -= factor * x);
            }
            row.iter_mut().for_each(|y| *y /= l[i * n + i]);
        }
        self.r.clear();
        self.r.resize(n * n, 0.0);
        self.d.resize(n, 0.0);
        true
    }

    /// x = −H⁻¹ c.
    pub fn minimise(&self, c: &[f64], x: &mut [f64]) {
        x.fill(0.0);
        for column in self.jt.chunks_exact(self.n.max(1)) {
            let factor: f64 = -dot(column, c);
            x.iter_mut().zip(column).for_each(|(x, j)| *x += factor * j);
        }
    }

    /// For a row a: z, the step of x that changes a·x and no active row, and r, what active multipliers give up per unit of its own. Returns
    /// z·a, zero when the row depends on the active ones.
    pub fn directions(&mut self, a: &[f64], z: &mut [f64], r: &mut Vec<f64>) -> f64 {
        let (n, k) = (self.n, self.k);
        for (d, column) in self.d.iter_mut().zip(self.jt.chunks_exact(n.max(1))) {
            *d = dot(column, a);
        }
        z.fill(0.0);
        for (column, d) in self.jt.chunks_exact(n.max(1)).zip(&self.d).skip(k) {
            z.iter_mut().zip(column).for_each(|(z, j)| *z += d * j);
        }
        r.clear();
        r.extend_from_slice(&self.d[..k]);
        for i in (0..k).rev() {
            let value = r[i] / self.r[i * n + i];
            r[i] = value;
            r[..i].iter_mut().zip(&self.r[i * n..]).for_each(|(r, entry)| *r -= entry * value);
        }
        let free = dot(&self.d[k..], &self.d[k..]);
        if free > DEPENDENT * DEPENDENT * dot(&self.d, &self.d) { free } else { 0.0 }
    }

    /// Makes the row of the last [`Factors::directions`] active.
    pub fn add(&mut self) {
        let (n, k) = (self.n, self.k);
        for i in (k + 1..n).rev() {
            let (cos, sin, size) = rotation(self.d[i - 1], self.d[i]);
            (self.d[i - 1], self.d[i]) = (size, 0.0);
            self.rotate(i - 1, i, cos, sin);
        }
        self.r[k * n..k * n + k + 1].copy_from_slice(&self.d[..=k]);
        self.k += 1;
    }

    /// Drops the active row at this place.
    pub fn drop(&mut self, place: usize) {
        let n = self.n;
        for column in place + 1..self.k {
            self.r.copy_within(column * n..(column + 1) * n, (column - 1) * n);
        }
        self.k -= 1;
        for column in place..self.k {
            let (cos, sin, size) = rotation(self.r[column * n + column], self.r[column * n + column + 1]);
            (self.r[column * n + column], self.r[column * n + column + 1]) = (size, 0.0);
            for other in column + 1..self.k {
                let (a, b) = (self.r[other * n + column], self.r[other * n + column + 1]);
                (self.r[other * n + column], self.r[other * n + column + 1]) = (cos * a + sin * b, cos * b - sin * a);
            }
            self.rotate(column, column + 1, cos, sin);
        }
    }

    /// Rotates two columns of J.
    fn rotate(&mut self, first: usize, second: usize, cos: f64, sin: f64) {
        let n = self.n;
        let (top, bottom) = self.jt.split_at_mut(second * n);
        for (a, b) in top[first * n..].iter_mut().zip(&mut bottom[..n]) {
            (*a, *b) = (cos * *a + sin * *b, cos * *b - sin * *a);
        }
    }
}

/// cos, sin and length with cos a + sin b = length, cos b − sin a = 0.
fn rotation(a: f64, b: f64) -> (f64, f64, f64) {
    let size = a.hypot(b);
    if size > 0.0 { (a / size, b / size, size) } else { (1.0, 0.0, 0.0) }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_keep_the_active_rows_after_adding_and_dropping() {
        let h = [4.0, 1.0, 0.5, 1.0, 3.0, -1.0, 0.5, -1.0, 5.0];
        let mut factors = Factors::default();
        assert!(factors.reset(3, &h));
        let mut x = [0.0; 3];
        factors.minimise(&[-5.5, -3.0, -4.5], &mut x); // H (1, 1, 1)
        assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-14), "{x:?}"); // a few roundings
        let rows = [[1.0, 2.0, 3.0], [0.0, 1.0, -1.0], [2.0, 0.0, 1.0]];
        let (mut z, mut r) = ([0.0; 3], Vec::new());
        for row in &rows[..2] {
            assert!(factors.directions(row, &mut z, &mut r) > 0.0);
            factors.add();
        }
        factors.drop(0);
        assert!(factors.directions(&rows[2], &mut z, &mut r) > 0.0);
        assert!(dot(&z, &rows[1]).abs() < 1e-14, "{z:?}"); // rounding
        // Optimality: H z = a − r₁ n₁.
        for i in 0..3 {
            let hz = dot(&h[3 * i..3 * i + 3], &z);
            assert!((hz - rows[2][i] + r[0] * rows[1][i]).abs() < 1e-13, "{i}"); // rounding
        }
        assert_eq!(factors.directions(&[0.0, -2.0, 2.0], &mut z, &mut r), 0.0);
    }

    #[test]
    fn a_semidefinite_matrix_is_seen() {
        assert!(!Factors::default().reset(2, &[1.0, 1.0, 1.0, 1.0]));
    }
}
