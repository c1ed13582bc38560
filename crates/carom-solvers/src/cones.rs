//! The sets local impulses live in, one per block of a one-step problem.
//!
//! With the normal component first, the Coulomb cone is K = {(r_N, r_T) : |r_T| ≤ μ r_N} and its
//! dual K* = {(u_N, u_T) : u_N ≥ μ |u_T|}.

use std::ops::Range;

/// The law that binds impulse r and velocity u of one block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Block {
    /// u = 0, r free: the rows of a joint.
    Bilateral {
        /// Number of rows, 1 to 6.
        dim: usize,
    },
    /// 0 ≤ u ⊥ r ≥ 0: contact without friction.
    Unilateral,
    /// −u ∈ N_\[lower, upper\](r), one row: u = 0 between the bounds, u ≥ 0 at the lower and u ≤ 0 at the upper one. A motor of limited
    /// effort, or dry friction whose bound is known.
    Bounded {
        /// Least impulse, or −∞.
        lower: f64,
        /// Largest impulse, or ∞; not below `lower`.
        upper: f64,
    },
    /// −u ∈ N_B(r) with the ball B = {|r| ≤ radius}: u = 0 inside, and opposite to r on its surface. Dry friction of known bound that is the same in
    /// all directions: that of a ball joint.
    Ball {
        /// Number of rows, 2 or 3.
        dim: usize,
        /// Largest impulse, ≥ 0, or ∞.
        radius: f64,
    },
    /// Planar contact (N, T) with Coulomb friction.
    Coulomb2 {
        /// Friction coefficient, ≥ 0.
        mu: f64,
    },
    /// Spatial contact (N, T1, T2) with Coulomb friction.
    Coulomb3 {
        /// Friction coefficient, ≥ 0.
        mu: f64,
    },
    /// Spatial contact (N, T1, T2, S) with Coulomb friction and spinning resistance: the last row is the relative angular velocity about
    /// the normal and its angular impulse.
    Spinning {
        /// Friction coefficient, ≥ 0.
        mu: f64,
        /// Spinning resistance |r_S|/r_N, m, ≥ 0.
        spinning: f64,
    },
    /// Spatial contact (N, T1, T2, M1, M2) with Coulomb friction and rolling resistance: the last two rows are the relative angular
    /// velocity about the tangents and its angular impulse.
    Rolling {
        /// Friction coefficient, ≥ 0.
        mu: f64,
        /// Rolling resistance |r_M|/r_N, m, ≥ 0.
        rolling: f64,
    },
    /// Spatial contact (N, T1, T2, M1, M2, S) with Coulomb friction, rolling and spinning resistance: the moment (M1, M2, S) lies in a ball. Where
    /// the two resistances differ, the last row is scaled so that an ellipsoid becomes the ball.
    RollingSpinning {
        /// Friction coefficient, ≥ 0.
        mu: f64,
        /// Resistance |(r_M, r_S)|/r_N, m, ≥ 0.
        rolling: f64,
    },
}

impl Block {
    /// Largest number of rows of a block.
    pub const MAX_DIM: usize = 6;

    /// Number of rows.
    #[inline]
    pub fn dim(&self) -> usize {
        match *self {
            Block::Bilateral { dim } | Block::Ball { dim, .. } => dim,
            Block::Unilateral | Block::Bounded { .. } => 1,
            Block::Coulomb2 { .. } => 2,
            Block::Coulomb3 { .. } => 3,
            Block::Spinning { .. } => 4,
            Block::Rolling { .. } => 5,
            Block::RollingSpinning { .. } => 6,
        }
    }

    /// Bound |r_M|/r_N of the moment and its rows, for blocks with rolling or spinning resistance.
    #[inline]
    pub fn moments(&self) -> Option<(f64, Range<usize>)> {
        match *self {
            Block::Spinning { spinning, .. } => Some((spinning, 3..4)),
            Block::Rolling { rolling, .. } => Some((rolling, 3..5)),
            Block::RollingSpinning { rolling, .. } => Some((rolling, 3..6)),
            _ => None,
        }
    }

    /// Friction coefficient; 0 for blocks without friction.
    #[inline]
    pub fn friction(&self) -> f64 {
        match *self {
            Block::Bilateral { .. } | Block::Unilateral | Block::Bounded { .. } | Block::Ball { .. } => 0.0,
            Block::Coulomb2 { mu } | Block::Coulomb3 { mu } => mu,
            Block::Spinning { mu, .. } | Block::Rolling { mu, .. } | Block::RollingSpinning { mu, .. } => mu,
        }
    }

    /// True when the block's impulse has no other component than the normal one: no friction, no rolling resistance.
    #[inline]
    pub fn is_frictionless(&self) -> bool {
        match *self {
            Block::Bilateral { .. } | Block::Unilateral | Block::Bounded { .. } => true,
            Block::Ball { .. } => false,
            Block::Coulomb2 { mu } | Block::Coulomb3 { mu } => mu == 0.0,
            Block::Spinning { mu, spinning: slope }
            | Block::Rolling { mu, rolling: slope }
            | Block::RollingSpinning { mu, rolling: slope } => mu == 0.0 && slope == 0.0,
        }
    }

    /// De Saxcé's term û_N − u_N: μ|u_T|, with the rolling part where there is one.
    #[inline]
    pub fn slip_term(&self, u: &[f64]) -> f64 {
        match *self {
            Block::Bilateral { .. } | Block::Unilateral | Block::Bounded { .. } | Block::Ball { .. } => 0.0,
            Block::Coulomb2 { mu } => mu * u[1].abs(),
            Block::Coulomb3 { mu } => mu * (u[1] * u[1] + u[2] * u[2]).sqrt(),
            Block::Spinning { mu, spinning } => mu * u[1].hypot(u[2]) + spinning * u[3].abs(),
            Block::Rolling { mu, rolling } => mu * u[1].hypot(u[2]) + rolling * u[3].hypot(u[4]),
            Block::RollingSpinning { mu, rolling } => mu * u[1].hypot(u[2]) + rolling * norm_squared(&u[3..6]).sqrt(),
        }
    }

    /// The disks (or balls) in which tangential impulses and moments lie: rows within the block, and radius over normal impulse.
    pub fn disks(&self) -> [Option<(std::ops::Range<usize>, f64)>; 2] {
        match *self {
            Block::Bilateral { .. } | Block::Unilateral | Block::Bounded { .. } | Block::Ball { .. } => [None, None],
            Block::Coulomb2 { mu } => [Some((1..2, mu)), None],
            Block::Coulomb3 { mu } => [Some((1..3, mu)), None],
            Block::Spinning { mu, spinning } => [Some((1..3, mu)), Some((3..4, spinning))],
            Block::Rolling { mu, rolling } => [Some((1..3, mu)), Some((3..5, rolling))],
            Block::RollingSpinning { mu, rolling } => [Some((1..3, mu)), Some((3..6, rolling))],
        }
    }

    /// True for the rows of a joint.
    #[inline]
    pub fn is_bilateral(&self) -> bool {
        matches!(self, Block::Bilateral { .. })
    }

    /// The bounds of a [`Block::Bounded`].
    #[inline]
    pub fn bounds(&self) -> Option<(f64, f64)> {
        match *self {
            Block::Bounded { lower, upper } => Some((lower, upper)),
            _ => None,
        }
    }

    /// The radius of a [`Block::Ball`].
    #[inline]
    pub fn radius(&self) -> Option<f64> {
        match *self {
            Block::Ball { radius, .. } => Some(radius),
            _ => None,
        }
    }

    /// The law of y where r = `factor` · y, `factor` > 0. Cones are the same in every unit, bounds are not.
    #[inline]
    pub(crate) fn in_unit(self, factor: f64) -> Block {
        match self {
            Block::Bounded { lower, upper } => Block::Bounded { lower: lower / factor, upper: upper / factor },
            Block::Ball { dim, radius } => Block::Ball { dim, radius: radius / factor },
            block => block,
        }
    }

    /// The size of the smallest impulse the law allows: not zero only for bounds on one side of it.
    #[inline]
    pub(crate) fn least_impulse(&self) -> f64 {
        self.bounds().map_or(0.0, |(lower, upper)| lower.max(-upper).max(0.0))
    }

    /// Moves a first component alone to what the law allows it: r_N ≥ 0, or the bounds.
    #[inline]
    pub(crate) fn project_normal(&self, normal: &mut f64) {
        let (lower, upper) = self.bounds().unwrap_or((0.0, f64::INFINITY));
        *normal = normal.max(lower).min(upper);
    }

    /// Euclidean projection of `z` on the set of admissible impulses, in place.
    pub fn project(&self, z: &mut [f64]) {
        match *self {
            Block::Bilateral { .. } => {}
            Block::Unilateral => z[0] = z[0].max(0.0),
            Block::Bounded { lower, upper } => z[0] = z[0].max(lower).min(upper),
            Block::Ball { radius, .. } => project_ball(radius, z),
            Block::Coulomb2 { mu } | Block::Coulomb3 { mu } => project_coulomb(mu, z),
            Block::Spinning { mu, spinning: slope }
            | Block::Rolling { mu, rolling: slope }
            | Block::RollingSpinning { mu, rolling: slope } => {
                project_rolling(mu, slope, z);
            }
        }
    }

    /// Squared contribution of the block to the natural map of the problem,
    ///
    ///   |s r − P_K(s r − û)|²,   û = (u_N + μ|u_T|, u_T),
    ///
    /// and |u|² for a bilateral block. `mass_scale` is the factor s that changes the unit of mass
    /// (1 for the units of the problem).
    #[inline]
    pub(crate) fn natural_map_squared(&self, r: &[f64], u: &[f64], mass_scale: f64) -> f64 {
        match *self {
            Block::Bilateral { .. } => norm_squared(u),
            Block::Unilateral => {
                let e = (mass_scale * r[0]).min(u[0]);
                e * e
            }
            Block::Bounded { lower, upper } => {
                let s = mass_scale * r[0];
                let e = s - (s - u[0]).max(mass_scale * lower).min(mass_scale * upper);
                e * e
            }
            Block::Ball { dim, radius } => {
                let mut z = [0.0; 3];
                for k in 0..dim {
                    z[k] = mass_scale * r[k] - u[k];
                }
                project_ball(mass_scale * radius, &mut z[..dim]);
                (0..dim).map(|k| (mass_scale * r[k] - z[k]).powi(2)).sum()
            }
            Block::Coulomb2 { mu } => {
                let s = [mass_scale * r[0], mass_scale * r[1]];
                let mut z = [s[0] - u[0] - mu * u[1].abs(), s[1] - u[1]];
                project_coulomb(mu, &mut z);
                (s[0] - z[0]).powi(2) + (s[1] - z[1]).powi(2)
            }
            Block::Coulomb3 { mu } => {
                let s = [mass_scale * r[0], mass_scale * r[1], mass_scale * r[2]];
                let slip = (u[1] * u[1] + u[2] * u[2]).sqrt();
                let mut z = [s[0] - u[0] - mu * slip, s[1] - u[1], s[2] - u[2]];
                project_coulomb(mu, &mut z);
                (s[0] - z[0]).powi(2) + (s[1] - z[1]).powi(2) + (s[2] - z[2]).powi(2)
            }
            Block::Spinning { mu, spinning: slope }
            | Block::Rolling { mu, rolling: slope }
            | Block::RollingSpinning { mu, rolling: slope } => {
                let mut z = [0.0; Block::MAX_DIM];
                let dim = self.dim();
                for k in 0..dim {
                    z[k] = mass_scale * r[k] - u[k];
                }
                z[0] -= self.slip_term(u);
                project_rolling(mu, slope, &mut z[..dim]);
                (0..dim).map(|k| (mass_scale * r[k] - z[k]).powi(2)).sum()
            }
        }
    }
}

/// Projection on the cone {|z_T| ≤ μ z_N, |z_M| ≤ μ_r z_N} of friction with rolling or spinning resistance, in place; `z` = (N, T1, T2, M…)
/// with one to three moments.
/// [Acary & Bourrier, *Coulomb friction with rolling resistance as a cone complementarity problem*, 2021]
///
/// For a given N the nearest T and M are known; what remains is the minimum over N ≥ 0 of
/// (N − z_N)² + (|z_T| − μN)₊² + (|z_M| − μ_r N)₊², whose derivative is piecewise linear.
pub(crate) fn project_rolling(mu: f64, rolling: f64, z: &mut [f64]) {
    let (tangent, moment) = (z[1].hypot(z[2]), if z.len() == 5 { z[3].hypot(z[4]) } else { norm_squared(&z[3..]).sqrt() });
    // The foot with the given parts on their boundary.
    let foot = |with_tangent: bool, with_moment: bool| {
        let (mut sum, mut weight) = (z[0], 1.0);
        for (part, slope, on) in [(tangent, mu, with_tangent), (moment, rolling, with_moment)] {
            if on {
                sum += slope * part;
                weight += slope * slope;
            }
        }
        sum / weight
    };
    let n = [(false, false), (true, false), (false, true), (true, true)]
        .into_iter()
        .map(|(t, m)| (foot(t, m), t, m))
        .find(|&(n, t, m)| (tangent > mu * n) == t && (moment > rolling * n) == m)
        .map_or_else(|| foot(true, true), |(n, ..)| n)
        .max(0.0);
    let shrink = |size: f64, bound: f64| if size > bound { bound / size } else { 1.0 };
    let (by_tangent, by_moment) = (shrink(tangent, mu * n), shrink(moment, rolling * n));
    z[0] = n;
    z[1..3].iter_mut().for_each(|t| *t *= by_tangent);
    z[3..].iter_mut().for_each(|m| *m *= by_moment);
}

/// Projection on the ball {|z| ≤ radius}, in place.
#[inline]
pub(crate) fn project_ball(radius: f64, z: &mut [f64]) {
    let size = norm_squared(z).sqrt();
    if size > radius {
        z.iter_mut().for_each(|z| *z *= radius / size);
    }
}

/// Projection on the Coulomb cone {|z_T| ≤ μ z_N}, in place; `z` = (N, T…) of any dimension ≥ 1.
///
/// Three cases: 0 inside the polar cone (μ|z_T| ≤ −z_N), z itself inside the cone, and otherwise the
/// foot on the boundary N = (μ|z_T| + z_N)/(μ² + 1), T = μ N z_T/|z_T|.
#[inline]
pub fn project_coulomb(mu: f64, z: &mut [f64]) {
    let normal = z[0];
    let tangent = norm_squared(&z[1..]).sqrt();
    if mu * tangent <= -normal {
        z.fill(0.0);
    } else if tangent > mu * normal {
        let n = (mu * tangent + normal) / (mu * mu + 1.0);
        let factor = mu * n / tangent;
        z[0] = n;
        for t in &mut z[1..] {
            *t *= factor;
        }
    }
}

/// |x|².
#[inline]
pub(crate) fn norm_squared(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projection_has_three_cases() {
        let mut polar = [-2.0, 1.0, 0.0];
        project_coulomb(1.0, &mut polar);
        assert_eq!(polar, [0.0; 3]);

        let mut inside = [2.0, 1.0, 0.5];
        project_coulomb(1.0, &mut inside);
        assert_eq!(inside, [2.0, 1.0, 0.5]);

        // Foot of (0, 2, 0) on the 45° cone: (1, 1, 0).
        let mut outside = [0.0, 2.0, 0.0];
        project_coulomb(1.0, &mut outside);
        assert_eq!(outside, [1.0, 1.0, 0.0]);
    }

    #[test]
    fn projection_on_the_rolling_cone_is_the_nearest_point() {
        let (mu, rolling) = (0.7, 0.2);
        let inside = [2.0, 0.5, 0.5, 0.1, 0.2];
        let points = [
            [1.0, 2.0, -1.0, 0.01, 0.0],
            [1.0, 0.1, 0.0, 1.0, -2.0],
            [0.3, 2.0, 1.0, -1.0, 0.5],
            [-0.2, 1.0, 0.0, 0.0, 0.3],
            inside,
            [-5.0, 1.0, 1.0, 0.5, 0.5],
        ];
        for z in points {
            let mut p = z;
            project_rolling(mu, rolling, &mut p);
            assert!(p[1].hypot(p[2]) <= mu * p[0] + 1e-15 && p[3].hypot(p[4]) <= rolling * p[0] + 1e-15, "{z:?} {p:?}");
            // z − p is normal to the cone: zero along p, and not positive towards any point of the cone.
            let along = |x: &[f64; 5]| (0..5).map(|k| (z[k] - p[k]) * x[k]).sum::<f64>();
            assert!(along(&p).abs() < 1e-14, "{z:?} {p:?}"); // roundings of numbers about one
            for k in 0..64 {
                let (a, b) = (f64::from(k) * 0.1, f64::from(k * k) * 0.3);
                assert!(along(&[1.0, mu * a.cos(), mu * a.sin(), rolling * b.cos(), rolling * b.sin()]) < 1e-14, "{z:?} {p:?}");
            }
        }
        let mut p = inside;
        project_rolling(mu, rolling, &mut p);
        assert_eq!(p, inside);
    }

    #[test]
    fn without_friction_the_cone_is_a_half_line() {
        let mut z = [3.0, 4.0];
        project_coulomb(0.0, &mut z);
        assert_eq!(z, [3.0, 0.0]);
        let mut z = [-3.0, 4.0];
        project_coulomb(0.0, &mut z);
        assert_eq!(z, [0.0, 0.0]);
    }

    #[test]
    fn bounds_on_one_side_on_none_and_without_room() {
        let error = |lower: f64, upper: f64, r: f64, u: f64| Block::Bounded { lower, upper }.natural_map_squared(&[r], &[u], 2.0);
        // At the lower bound u ≥ 0, at the upper one u ≤ 0, between them u = 0.
        for (r, u) in [(-1.0, 3.0), (3.0, -2.0), (0.5, 0.0), (-1.0, 0.0), (3.0, 0.0)] {
            assert_eq!(error(-1.0, 3.0, r, u), 0.0, "{r} {u}");
        }
        for (r, u) in [(-1.0, -3.0), (3.0, 2.0), (0.5, 0.1), (-1.5, 1.0), (3.5, 0.0)] {
            assert!(error(-1.0, 3.0, r, u) > 0.005, "{r} {u}");
        }
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        assert_eq!(error(free.0, free.1, 7.0, 0.0), 0.0);
        assert_eq!(error(free.0, free.1, 7.0, 0.5), 0.25);
        assert_eq!(error(2.0, 2.0, 2.0, -9.0), 0.0);
        let block = Block::Bounded { lower: f64::NEG_INFINITY, upper: -2.0 };
        let mut z = [1.0];
        block.project(&mut z);
        assert_eq!((z, block.least_impulse()), ([-2.0], 2.0));
        assert_eq!(block.in_unit(0.5), Block::Bounded { lower: f64::NEG_INFINITY, upper: -4.0 });
    }

    #[test]
    fn natural_map_vanishes_on_sliding_and_not_off_it() {
        let block = Block::Coulomb3 { mu: 0.5 };
        let sliding = block.natural_map_squared(&[2.0, -1.0, 0.0], &[0.0, 3.0, 0.0], 1.0);
        // One rounding of the projection: 1e-15 squared.
        assert!(sliding < 1e-29, "{sliding}");
        let wrong_way = block.natural_map_squared(&[2.0, 1.0, 0.0], &[0.0, 3.0, 0.0], 1.0);
        assert!(wrong_way > 0.1);
    }
}
