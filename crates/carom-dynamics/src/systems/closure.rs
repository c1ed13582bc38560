//! Systems by Rust closures, for users of the library.

use super::{Coordinate, Coordinates, Instant, JacobianFactors, Scratch, System};
use crate::block_diagonal::dot;
use crate::error::NonFinite;
use crate::systems::formula_force::check_finite;

type MassFn = Box<dyn Fn(f64, &[f64], &mut [f64]) + Send + Sync>;
type ForceFn = Box<dyn Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync>;
type JacobianFn = Box<dyn Fn(f64, &[f64], &[f64], &mut [f64], &mut [f64]) + Send + Sync>;
type PotentialFn = Box<dyn Fn(f64, &[f64]) -> f64 + Send + Sync>;

/// A system with q̇ = v whose mass matrix and forces are closures.
///
/// `mass(t, q, m)` fills the row-major matrix, `force(t, q, v, f)` the force. The force Jacobians are taken by forward
/// differences unless [`ClosureSystem::with_force_jacobians`] gives them. The energy balance needs to know which part of the force has a potential: give it by
/// [`ClosureSystem::with_potential`], with the rest in [`ClosureSystem::with_applied_force`].
pub struct ClosureSystem {
    coordinates: Vec<String>,
    mass: MassFn,
    force: ForceFn,
    potential: Option<PotentialFn>,
    applied: Option<ForceFn>,
    jacobians: Option<JacobianFn>,
}

impl ClosureSystem {
    /// A system of the named coordinates.
    pub fn new(
        coordinates: Vec<String>,
        mass: impl Fn(f64, &[f64], &mut [f64]) + Send + Sync + 'static,
        force: impl Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync + 'static,
    ) -> Self {
        ClosureSystem { coordinates, mass: Box::new(mass), force: Box::new(force), potential: None, applied: None, jacobians: None }
    }

    /// Tells the potential energy V(t, q) \[J\] whose force −∂V/∂q is already part of `force`.
    #[must_use]
    pub fn with_potential(mut self, potential: impl Fn(f64, &[f64]) -> f64 + Send + Sync + 'static) -> Self {
        self.potential = Some(Box::new(potential));
        self
    }

    /// Gives the Jacobians of the force: `jacobians(t, q, v, by_q, by_v)` fills ∂F/∂q and ∂F/∂v, row-major.
    #[must_use]
    pub fn with_force_jacobians(mut self, jacobians: impl Fn(f64, &[f64], &[f64], &mut [f64], &mut [f64]) + Send + Sync + 'static) -> Self {
        self.jacobians = Some(Box::new(jacobians));
        self
    }

    /// Tells which part of `force` has no potential; the closure *adds* it to its last argument.
    #[must_use]
    pub fn with_applied_force(mut self, applied: impl Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync + 'static) -> Self {
        self.applied = Some(Box::new(applied));
        self
    }
}

impl System for ClosureSystem {
    fn coordinates(&self) -> Coordinates {
        self.coordinates.iter().map(|name| Coordinate::new(name.clone(), "")).collect()
    }

    fn velocities(&self) -> Coordinates {
        self.coordinates()
    }

    fn block_sizes(&self) -> Vec<usize> {
        vec![self.coordinates.len()]
    }

    fn mass_is_constant(&self) -> bool {
        false
    }

    fn is_affine(&self) -> bool {
        false
    }

    fn mass(&self, t: f64, q: &[f64], mass: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        (self.mass)(t, q, mass);
        check_finite(mass, |i| format!("entry {i} of the mass closure"))
    }

    fn force(&self, t: f64, q: &[f64], v: &[f64], force: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        (self.force)(t, q, v, force);
        check_finite(force, |i| format!("the force closure on {}", self.coordinates[i]))
    }

    fn add_jacobians(&self, at: Instant<'_>, factors: JacobianFactors, matrix: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        let n = self.coordinates.len();
        let Scratch { inputs, outputs, registers, .. } = scratch;
        if let Some(jacobians) = &self.jacobians {
            outputs.resize(2 * n * n, 0.0);
            let (by_q, by_v) = outputs.split_at_mut(n * n);
            jacobians(at.t, at.q, at.v, by_q, by_v);
            for (entry, (by_q, by_v)) in matrix.iter_mut().zip(by_q.iter().zip(by_v.iter())) {
                *entry -= factors.position * by_q + factors.velocity * by_v;
            }
            return check_finite(matrix, |i| format!("entry {i} of the iteration matrix of a closure system"));
        }
        outputs.resize(2 * n, 0.0);
        let (base, moved) = outputs.split_at_mut(n);
        (self.force)(at.t, at.q, at.v, base);
        for (factor, of_velocity) in [(factors.velocity, true), (factors.position, false)] {
            for j in 0..n {
                inputs.clear();
                inputs.extend_from_slice(at.q);
                registers.clear();
                registers.extend_from_slice(at.v);
                let entry = if of_velocity { &mut registers[j] } else { &mut inputs[j] };
                let shift = f64::EPSILON.sqrt() * entry.abs().max(1.0);
                *entry += shift;
                (self.force)(at.t, inputs, registers, moved);
                for i in 0..n {
                    matrix[i * n + j] -= factor * (moved[i] - base[i]) / shift;
                }
            }
        }
        check_finite(matrix, |i| format!("entry {i} of the iteration matrix of a closure system"))
    }

    fn exchanges_energy(&self) -> bool {
        self.applied.is_some()
    }

    fn applied_force(&self, t: f64, q: &[f64], v: &[f64], force: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        if let Some(applied) = &self.applied {
            applied(t, q, v, force);
        }
        check_finite(force, |i| format!("the applied force closure on {}", self.coordinates[i]))
    }

    fn energy(&self, t: f64, q: &[f64], v: &[f64], scratch: &mut Scratch) -> Result<(f64, f64), NonFinite> {
        let n = v.len();
        scratch.outputs.resize(n * n, 0.0);
        (self.mass)(t, q, &mut scratch.outputs);
        let kinetic = scratch.outputs.chunks_exact(n).zip(v).map(|(row, rate)| 0.5 * rate * dot(row, v)).sum();
        let potential = self.potential.as_ref().map_or(0.0, |potential| potential(t, q));
        Ok((kinetic, potential))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Given Jacobians and those by differences agree on a damped pendulum with coupling.
    #[test]
    fn given_jacobians_replace_differences() {
        let force = |_: f64, q: &[f64], v: &[f64], f: &mut [f64]| {
            f[0] = -q[0].sin() * q[1] - 0.3 * v[0] * v[1];
            f[1] = q[0] * q[1] - v[1];
        };
        let mass = |_: f64, _: &[f64], m: &mut [f64]| m.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        let names = vec!["a".to_owned(), "b".to_owned()];
        let by_differences = ClosureSystem::new(names.clone(), mass, force);
        let given = ClosureSystem::new(names, mass, force).with_force_jacobians(|_, q, v, by_q, by_v| {
            by_q.copy_from_slice(&[-q[0].cos() * q[1], -q[0].sin(), q[1], q[0]]);
            by_v.copy_from_slice(&[-0.3 * v[1], -0.3 * v[0], 0.0, -1.0]);
        });
        let (q, v, mut scratch) = ([0.4, -1.2], [0.7, 2.0], Scratch::default());
        let mut matrix = |system: &ClosureSystem| {
            let mut matrix = [0.0; 4];
            let (at, factors) = (Instant { t: 0.0, q: &q, v: &v }, JacobianFactors { velocity: 0.5, position: 2.0 });
            system.add_jacobians(at, factors, &mut matrix, &mut scratch).unwrap();
            matrix
        };
        for (exact, difference) in matrix(&given).iter().zip(matrix(&by_differences)) {
            // forward differences with √ε: about 1e-8 of second derivatives of order one, times the factors
            assert!((exact - difference).abs() < 1e-7, "{exact} {difference}");
        }
    }
}
