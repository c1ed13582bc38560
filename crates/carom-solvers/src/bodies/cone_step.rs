//! The derivative of the projection on Coulomb's cone.

use super::dot;

/// DP_K at a point: symmetric, between 0 and the identity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ConeStep {
    /// Inside: the identity.
    Inside,
    /// On the mantle: along it and around it.
    ///
    /// DP = d dᵀ + a τ τᵀ with d the unit generator (1, μ e)/√(1 + μ²), e = z_T/|z_T|, τ ⟂ e the direction around the cone.
    Mantle {
        /// Generator (N, T1, T2).
        generator: [f64; 3],
        /// Direction around the cone.
        around: [f64; 3],
        /// a = μ (z_N + μ|z_T|) / ((1 + μ²) |z_T|).
        stretch: f64,
    },
}

impl ConeStep {
    /// At z; nothing where the projection is zero nearby.
    pub fn at(z: &[f64; 3], mu: f64) -> Option<Self> {
        let slip = z[1].hypot(z[2]);
        // at the apex the contact is taken to hold: bodies that rest on each other and carry nothing yet
        if slip <= mu * z[0] {
            return (z[0] >= 0.0).then_some(if mu > 0.0 { ConeStep::Inside } else { Self::normal_only() });
        }
        if mu <= 0.0 {
            return (z[0] > 0.0).then_some(Self::normal_only());
        }
        let height = (z[0] + mu * slip) / (1.0 + mu * mu);
        if height <= 0.0 {
            return None;
        }
        let e = [z[1] / slip, z[2] / slip];
        let length = 1.0 / (1.0 + mu * mu).sqrt();
        let generator = [length, length * mu * e[0], length * mu * e[1]];
        Some(ConeStep::Mantle { generator, around: [0.0, -e[1], e[0]], stretch: mu * height / slip })
    }

    /// Without friction: the normal alone.
    fn normal_only() -> Self {
        ConeStep::Mantle { generator: [1.0, 0.0, 0.0], around: [0.0; 3], stretch: 0.0 }
    }

    /// First column of DP_K: what the normal component of z does.
    pub(crate) fn of_normal(&self) -> [f64; 3] {
        match self {
            ConeStep::Inside => [1.0, 0.0, 0.0],
            ConeStep::Mantle { generator, .. } => generator.map(|x| x * generator[0]),
        }
    }

    /// ρ DP_K in the world frame, row-major.
    pub fn in_world(&self, axes: &[[f64; 3]; 3], rho: f64) -> [f64; 9] {
        let world = |x: &[f64; 3]| -> [f64; 3] { std::array::from_fn(|k| dot(&[axes[0][k], axes[1][k], axes[2][k]], x)) };
        let mut c = [0.0; 9];
        let mut add = |x: [f64; 3], factor: f64| {
            for i in 0..3 {
                (0..3).for_each(|j| c[3 * i + j] += factor * x[i] * x[j]);
            }
        };
        match self {
            ConeStep::Inside => axes.iter().for_each(|axis| add(*axis, rho)),
            ConeStep::Mantle { generator, around, stretch } => {
                add(world(generator), rho);
                add(world(around), rho * stretch);
            }
        }
        c
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cones::project_coulomb;

    #[test]
    fn derivatives_are_those_of_the_projection() {
        let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        for (z, mu) in
            [([1.0, 0.1, 0.2], 0.5), ([1.0, 0.9, -0.8], 0.5), ([-0.1, 0.9, 0.3], 0.7), ([-1.0, 0.2, 0.1], 0.5), ([1.0, 0.3, 0.2], 0.0)]
        {
            let exact = ConeStep::at(&z, mu).map_or([0.0; 9], |step| step.in_world(&axes, 1.0));
            let h = 1e-6;
            for j in 0..3 {
                let (mut up, mut down) = (z, z);
                (up[j], down[j]) = (z[j] + h, z[j] - h);
                project_coulomb(mu, &mut up);
                project_coulomb(mu, &mut down);
                for i in 0..3 {
                    // central differences: h² times third derivatives of order one
                    assert!(((up[i] - down[i]) / (2.0 * h) - exact[3 * i + j]).abs() < 1e-9, "{z:?} {mu} {i} {j}");
                }
            }
        }
    }
}
