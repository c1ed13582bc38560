//! The law of a contact as equations Φ = 0, after Alart and Curnier.
//!
//! ```text
//!     Φ_N = r_N − (r_N − u_N)⁺,   Φ_T = r_T − P(r_T − u_T),   P the projection on μ (r_N − u_N)⁺ F.
//! ```
//!
//! They are the complementarity problem of Pang and Stewart with the multiplier λ eliminated: it is the multiplier of the projection.

use super::friction_set::Shape;

/// The law in units in which impulses and velocities are comparable.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContactLaw {
    pub mu: f64,
    /// F in these units.
    pub shape: Shape,
}

/// Rows of a contact at most.
const MAX_DIM: usize = 4;

/// Φ and one element of its generalised Jacobian, dΦ = E dr + B du.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Linearisation {
    pub value: [f64; MAX_DIM],
    /// E, rows of four.
    pub impulse: [[f64; MAX_DIM]; MAX_DIM],
    /// B, rows of four.
    pub velocity: [[f64; MAX_DIM]; MAX_DIM],
}

impl ContactLaw {
    /// Number of rows.
    #[inline]
    pub fn dim(&self) -> usize {
        1 + self.shape.dim
    }

    /// Φ and its slopes with the friction coefficient multiplied by `factor`.
    pub fn linearise(&self, factor: f64, r: &[f64], u: &[f64]) -> Linearisation {
        let dim = self.dim();
        let mu = factor * self.mu;
        let mut out = Linearisation::default();
        let normal = r[0] - u[0];
        if normal <= 0.0 {
            // Open: Φ = r.
            out.value[..dim].copy_from_slice(r);
            (0..dim).for_each(|k| out.impulse[k][k] = 1.0);
            return out;
        }
        out.value[0] = u[0];
        out.velocity[0][0] = 1.0;
        let mut z = [0.0; 3];
        for k in 1..dim {
            z[k - 1] = r[k] - u[k];
        }
        let foot = self.shape.foot(mu * normal, &z);
        for i in 1..dim {
            out.value[i] = if foot.is_outside { r[i] - foot.x[i - 1] } else { u[i] };
            // Φ_T = r_T − x(r_T − u_T, μ (r_N − u_N))
            for j in 1..dim {
                let slope = foot.by_point[3 * (i - 1) + j - 1];
                out.impulse[i][j] = f64::from(u8::from(i == j)) - slope;
                out.velocity[i][j] = slope;
            }
            out.impulse[i][0] = -mu * foot.by_radius[i - 1];
            out.velocity[i][0] = mu * foot.by_radius[i - 1];
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::FrictionSet;
    use super::*;

    #[test]
    fn slopes_are_those_of_the_equations() {
        let sets = [
            (FrictionSet::Segment, vec![1.0, 0.2], vec![-0.1, 0.9]),
            (FrictionSet::Ellipse { axes: [1.0, 0.4] }, vec![1.0, 0.2, -0.4], vec![-0.1, 0.9, 0.5]),
            (FrictionSet::SoftFinger { moment: 0.3 }, vec![1.0, 0.2, -0.4, 0.1], vec![-0.1, 0.9, 0.5, 0.7]),
            (FrictionSet::Superellipse { axes: [1.0, 0.4], exponent: 3.0 }, vec![1.0, 0.2, -0.4], vec![-0.1, 0.9, 0.5]),
            (FrictionSet::Disk, vec![1.0, 0.02, -0.01], vec![-0.1, 0.01, 0.03]),
            (FrictionSet::Disk, vec![0.1, 0.2, -0.4], vec![0.3, 0.9, 0.5]),
            (FrictionSet::Point, vec![1.0], vec![0.1]),
        ];
        for (set, r, u) in sets {
            let law = ContactLaw { mu: 0.6, shape: set.shape() };
            let here = law.linearise(0.5, &r, &u);
            let h = 1e-6;
            for j in 0..law.dim() {
                let moved = |sign: f64, v: &[f64]| {
                    let mut v = v.to_vec();
                    v[j] += sign * h;
                    v
                };
                let by_r = [law.linearise(0.5, &moved(1.0, &r), &u), law.linearise(0.5, &moved(-1.0, &r), &u)];
                let by_u = [law.linearise(0.5, &r, &moved(1.0, &u)), law.linearise(0.5, &r, &moved(-1.0, &u))];
                for i in 0..law.dim() {
                    let slope = |ends: &[Linearisation; 2]| (ends[0].value[i] - ends[1].value[i]) / (2.0 * h);
                    // rounding over the step, 1e-10, and the square of the step
                    assert!((slope(&by_r) - here.impulse[i][j]).abs() < 1e-8, "{set:?} E {i} {j}");
                    assert!((slope(&by_u) - here.velocity[i][j]).abs() < 1e-8, "{set:?} B {i} {j}");
                }
            }
        }
    }
}
