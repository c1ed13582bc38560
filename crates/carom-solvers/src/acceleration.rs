//! Anderson acceleration of a fixed-point iteration r ← G(r).

use crate::dot::dot;
use crate::linear::RankRevealingLu;

/// Combines the last iterates so that the residual f = G(r) − r is smallest in the least-squares sense:
///
///   γ = argmin |f_k − ΔF γ|,   r_{k+1} = G(r_k) − ΔG γ,
///
/// with the differences of f and G over the last [`MEMORY`] iterations as columns.
/// [Walker & Ni, *Anderson acceleration for fixed-point iterations*, SIAM J. Numer. Anal. 49, 2011];
/// differs in: G is only piecewise smooth, so the history is dropped and the best iterate restored
/// whenever |f| grows, followed by plain iterations, more of them each time.
///
/// While the modes of the contacts (open, stick, slide) do not change, G is affine and this is a Krylov
/// method for the equations of the closed contacts. Cost: 4·`MEMORY`·n flops per iteration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Acceleration {
    input: Vec<f64>,
    f: Vec<f64>,
    g: Vec<f64>,
    /// Column after column, in a ring.
    delta_f: Vec<f64>,
    delta_g: Vec<f64>,
    gram: Vec<f64>,
    system: Vec<f64>,
    gamma: Vec<f64>,
    lu: RankRevealingLu,
    columns: usize,
    next: usize,
    has_last: bool,
    /// Plain iterations still to do, and how many follow the next restart.
    plain: usize,
    penalty: usize,
    best: Vec<f64>,
    best_size: f64,
    /// |f| of the last plain iteration: the measure of what acceleration achieved.
    start_size: f64,
}

/// Number of differences kept.
const MEMORY: usize = 10;

/// Plain iterations at the start: enough for most modes to settle.
const FIRST_PLAIN: usize = 8;

/// Growth of |f| over the best since the restart that counts as failure.
const GROWTH: f64 = 4.0;

/// Most plain iterations after a restart.
const MAX_PENALTY: usize = 512;

impl Acceleration {
    /// Forgets everything; n is the size of r.
    pub fn reset(&mut self, n: usize) {
        // Old contents need no clearing: `columns` and `has_last` say what is valid.
        for v in [&mut self.input, &mut self.f, &mut self.g, &mut self.best] {
            v.resize(n, 0.0);
        }
        for v in [&mut self.delta_f, &mut self.delta_g] {
            v.resize(n * MEMORY, 0.0);
        }
        self.gram.resize(MEMORY * MEMORY, 0.0);
        self.penalty = FIRST_PLAIN;
        self.restart(FIRST_PLAIN);
    }

    fn restart(&mut self, plain: usize) {
        (self.columns, self.next, self.has_last) = (0, 0, false);
        self.plain = plain;
        self.best_size = f64::INFINITY;
        self.start_size = f64::INFINITY;
    }

    /// Notes the argument of the next application of G.
    pub fn begin(&mut self, r: &[f64]) {
        self.input.copy_from_slice(r);
    }

    /// Given r = G(input), replaces it by the next argument. Returns true when r was combined, so
    /// that it may lie outside its set.
    pub fn advance(&mut self, r: &mut [f64]) -> bool {
        let mut size = 0.0;
        for (r, input) in r.iter().zip(&self.input) {
            size += (r - input) * (r - input);
        }
        let size = size.sqrt();
        if self.plain > 0 {
            // Plain iterations are never taken back, whatever |f| does.
            (self.start_size, self.best_size) = (size, size);
            self.best.copy_from_slice(r);
        } else if size < self.best_size {
            self.best_size = size;
            self.best.copy_from_slice(r);
        } else if size > GROWTH * self.best_size {
            let worked = self.best_size < 0.1 * self.start_size;
            self.penalty = if worked { FIRST_PLAIN } else { (2 * self.penalty).min(MAX_PENALTY) };
            r.copy_from_slice(&self.best);
            self.restart(self.penalty);
            return false;
        }
        self.remember(r);
        if self.plain > 0 {
            self.plain -= 1;
            return false;
        }
        self.combine(r)
    }

    /// Appends the differences of f and g to the history.
    fn remember(&mut self, r: &[f64]) {
        let n = r.len();
        let slot = self.next * n..(self.next + 1) * n;
        let delta_f = &mut self.delta_f[slot.clone()];
        let delta_g = &mut self.delta_g[slot];
        for i in 0..n {
            let f = r[i] - self.input[i];
            delta_f[i] = f - self.f[i];
            delta_g[i] = r[i] - self.g[i];
            self.f[i] = f;
            self.g[i] = r[i];
        }
        if !self.has_last {
            self.has_last = true;
            return;
        }
        self.columns = (self.columns + 1).min(MEMORY);
        for j in 0..self.columns {
            let product = dot(self.column(j), self.column(self.next));
            self.gram[j * MEMORY + self.next] = product;
            self.gram[self.next * MEMORY + j] = product;
        }
        self.next = (self.next + 1) % MEMORY;
    }

    fn column(&self, j: usize) -> &[f64] {
        let n = self.f.len();
        &self.delta_f[j * n..(j + 1) * n]
    }

    /// r ← r − ΔG γ by the normal equations, rank-revealing because old columns become dependent.
    fn combine(&mut self, r: &mut [f64]) -> bool {
        let (n, m) = (r.len(), self.columns);
        self.system.clear();
        self.gamma.clear();
        for i in 0..m {
            let row = &self.gram[i * MEMORY..i * MEMORY + m];
            self.system.extend_from_slice(row);
            let product = dot(&self.delta_f[i * n..(i + 1) * n], &self.f);
            self.gamma.push(product);
        }
        self.lu.factor(m, &self.system);
        self.lu.solve(&mut self.gamma);
        if self.gamma.iter().any(|x| !x.is_finite()) {
            return false;
        }
        for (column, gamma) in self.delta_g.chunks_exact(n.max(1)).zip(&self.gamma) {
            for (r, d) in r.iter_mut().zip(column) {
                *r -= gamma * d;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An affine contraction with rates 0.999, 0.99 and 0.9: plain iteration needs 1e4 steps.
    #[test]
    fn an_affine_map_is_solved_in_its_dimension() {
        let rates = [0.999, 0.99, 0.9];
        let mut r = [0.0; 3];
        let mut acceleration = Acceleration::default();
        acceleration.reset(3);
        let mut iterations = 0;
        while r.iter().any(|x| (x - 1.0_f64).abs() > 1e-8) {
            acceleration.begin(&r);
            for (x, rate) in r.iter_mut().zip(rates) {
                *x = 1.0 + rate * (*x - 1.0);
            }
            acceleration.advance(&mut r);
            iterations += 1;
            assert!(iterations < 30, "{r:?}");
        }
    }
}
