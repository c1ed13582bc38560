//! The law of a block as an equation F(r, u) = 0, with one element of its generalised Jacobian.

use crate::cones::Block;
use std::ops::Range;

/// F and dF = E dr + B du of one block, for Newton's method.
#[derive(Clone, Debug)]
pub(super) struct BlockEquation {
    /// F; the first dim entries.
    pub f: [f64; Block::MAX_DIM],
    /// E, row-major with dim columns.
    pub impulse: [f64; MATRIX],
    /// B, row-major with dim columns.
    pub velocity: [f64; MATRIX],
    /// True when the equation gives r, zero or a bound: E = I, B = 0.
    pub is_open: bool,
}

/// Entries of the largest block.
const MATRIX: usize = Block::MAX_DIM * Block::MAX_DIM;

impl Default for BlockEquation {
    fn default() -> Self {
        BlockEquation { f: [0.0; Block::MAX_DIM], impulse: [0.0; MATRIX], velocity: [0.0; MATRIX], is_open: false }
    }
}

impl BlockEquation {
    /// Clears the derivatives.
    pub fn reset(&mut self) {
        self.impulse.fill(0.0);
        self.velocity.fill(0.0);
        self.is_open = false;
    }

    /// Sets these rows to F = r.
    pub(crate) fn set_impulse_rows(&mut self, r: &[f64], rows: Range<usize>) {
        for k in rows {
            self.f[k] = r[k];
            self.impulse[k * (r.len() + 1)] = 1.0;
        }
    }

    /// Sets these rows to F = u.
    pub(crate) fn set_velocity_rows(&mut self, u: &[f64], rows: Range<usize>) {
        for k in rows {
            self.f[k] = u[k];
            self.velocity[k * (u.len() + 1)] = 1.0;
        }
    }

    /// E dr + B du in row i.
    #[inline]
    pub fn change(&self, i: usize, dr: &[f64], du: &[f64]) -> f64 {
        let row = i * dr.len()..(i + 1) * dr.len();
        let by_impulse: f64 = self.impulse[row.clone()].iter().zip(dr).map(|(e, x)| e * x).sum();
        let by_velocity: f64 = self.velocity[row].iter().zip(du).map(|(b, x)| b * x).sum();
        by_impulse + by_velocity
    }
}

/// The disks that bound the components of a contact beside the normal one: their radius over r_N and their rows. Unused ones are
/// empty.
pub(super) fn friction_disks(block: Block) -> [(f64, Range<usize>); 2] {
    match block {
        Block::Bilateral { .. } | Block::Unilateral | Block::Bounded { .. } | Block::Ball { .. } => [(0.0, 1..1), (0.0, 1..1)],
        Block::Coulomb2 { mu } => [(mu, 1..2), (0.0, 2..2)],
        Block::Coulomb3 { mu } => [(mu, 1..3), (0.0, 3..3)],
        Block::Spinning { mu, spinning } => [(mu, 1..3), (spinning, 3..4)],
        Block::Rolling { mu, rolling } => [(mu, 1..3), (rolling, 3..5)],
        Block::RollingSpinning { mu, rolling } => [(mu, 1..3), (rolling, 3..6)],
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Checks E and B against central differences of F at (r, u), where F must be smooth.
    pub(crate) fn check_slopes(what: &str, r: &[f64], u: &[f64], linearise: impl Fn(&[f64], &[f64], &mut BlockEquation)) {
        let dim = r.len();
        let step = 1e-6;
        let mut here = BlockEquation::default();
        linearise(r, u, &mut here);
        for j in 0..dim {
            let slope = |in_impulse: bool, i: usize| {
                let (mut value, mut side) = ([0.0; 2], BlockEquation::default());
                for (value, sign) in value.iter_mut().zip([1.0, -1.0]) {
                    let (mut r, mut u) = (r.to_vec(), u.to_vec());
                    if in_impulse {
                        r[j] += sign * step
                    } else {
                        u[j] += sign * step
                    }
                    linearise(&r, &u, &mut side);
                    *value = side.f[i];
                }
                (value[0] - value[1]) / (2.0 * step)
            };
            for i in 0..dim {
                // The third derivative, of order 10 here, times step², and rounding over the step: both below 1e-9.
                let (e, b) = (here.impulse[i * dim + j], here.velocity[i * dim + j]);
                assert!((slope(true, i) - e).abs() < 1e-8, "{what}: E {i} {j}: {e} {}", slope(true, i));
                assert!((slope(false, i) - b).abs() < 1e-8, "{what}: B {i} {j}: {b} {}", slope(false, i));
            }
        }
    }

    /// Pairs (name, block, r, u) that satisfy their laws, one for each mode of each kind.
    pub(crate) fn lawful_points() -> Vec<(&'static str, Block, Vec<f64>, Vec<f64>)> {
        let c2 = Block::Coulomb2 { mu: 0.5 };
        let c3 = Block::Coulomb3 { mu: 0.5 };
        let smooth = Block::Coulomb3 { mu: 0.0 };
        let rolling = Block::Rolling { mu: 0.5, rolling: 0.1 };
        vec![
            ("joint", Block::Bilateral { dim: 6 }, vec![1.0, -2.0, 0.0, 3.0, 0.5, 7.0], vec![0.0; 6]),
            ("open", Block::Unilateral, vec![0.0], vec![0.3]),
            ("closed", Block::Unilateral, vec![0.3], vec![0.0]),
            ("bounded: free", Block::Bounded { lower: -1.0, upper: 2.0 }, vec![0.3], vec![0.0]),
            ("bounded: without bounds", Block::Bounded { lower: f64::NEG_INFINITY, upper: f64::INFINITY }, vec![0.3], vec![0.0]),
            ("open, planar", c2, vec![0.0; 2], vec![0.2, -1.0]),
            ("sticking, planar", c2, vec![2.0, -0.7], vec![0.0; 2]),
            ("sliding, planar", c2, vec![2.0, -1.0], vec![0.0, 0.4]),
            ("open, spatial", c3, vec![0.0; 3], vec![0.2, 1.0, 0.3]),
            ("sticking, spatial", c3, vec![2.0, 0.5, -0.5], vec![0.0; 3]),
            ("sliding, spatial", c3, vec![2.0, -0.6, 0.8], vec![0.0, 0.3, -0.4]),
            ("closed, no friction", smooth, vec![2.0, 0.0, 0.0], vec![0.0, 0.3, -0.4]),
            ("open, no friction", smooth, vec![0.0; 3], vec![0.5, 0.3, -0.4]),
            ("rolling: open", rolling, vec![0.0; 5], vec![0.1, 1.0, 2.0, 3.0, 4.0]),
            ("rolling: all sticking", rolling, vec![2.0, 0.5, -0.5, 0.1, 0.1], vec![0.0; 5]),
            ("rolling: sliding only", rolling, vec![2.0, -0.6, 0.8, 0.1, 0.1], vec![0.0, 0.3, -0.4, 0.0, 0.0]),
            ("rolling: rolling only", rolling, vec![2.0, 0.5, -0.5, 0.0, -0.2], vec![0.0, 0.0, 0.0, 0.0, 0.7]),
            ("rolling: both", rolling, vec![2.0, -0.6, 0.8, 0.0, -0.2], vec![0.0, 0.3, -0.4, 0.0, 0.7]),
        ]
    }
}
