//! Laws that use the model's own equations: computed torque, and the passivity-based law of Slotine and Li.
//!
//! With M q̈ = F(t, q, q̇) + τ, F = f₀ + f₁(q̇) + f₂(q̇, q̇) (weight, linear damping, Coriolis and centrifugal forces), the reference q_d(t) and e = q − q_d:
//!
//! ```text
//! computed torque   τ = M (q̈_d − K_d ė − K_p e) − F(t, q, q̇)                            ⇒  ë + K_d ė + K_p e = 0
//! passivity-based   q̇_r = q̇_d − Λ e,  s = q̇ − q̇_r,
//!                   τ = M q̈_r − f₀ − f₁(q̇_r) − f₂(q̇, q̇_r) − K s                         ⇒  M ṡ + C s + K s = f₁(s)
//! ```
//!
//! f₂ is bilinear, f₂(v, w) = ½ [F(v + w) − F(v) − F(w) + F(0)], f₁(w) = ½ [F(w) − F(−w)], exact for every system whose forces are quadratic in the velocities: the
//! Christoffel form of C, in which Ṁ − 2C is skew. F is that of the systems; force elements (springs, loads, other actuators) are not made up for.
//!
//! With a clock τ is computed at samples and held. Without one it is a function of (t, q, q̇) like any other force: evaluated at every stage of an integrator, and implicit in
//! the steps of schemes, which need c_v ∂τ/∂q̇ + c_q ∂τ/∂q. Its columns are central differences along (c_q, c_v), exact in q̇ and of relative error about 1e-10 in q; Newton's
//! method needs no more, since residuals are those of τ itself.
//! [Slotine, Li, *On the adaptive control of robot manipulators*, Int. J. Robotics Research 6(3), 1987]

use super::clock::Clock;
use super::signals::{Function, Sight};
use crate::error::NonFinite;
use crate::systems::{JacobianFactors, LawWork, ModelBasedWork, Scratch, SystemSet};

/// Which law, with its gains, one of each per coordinate.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelBasedKind {
    /// Computed torque.
    ComputedTorque {
        /// K_p \[1/s²\].
        proportional: Vec<f64>,
        /// K_d \[1/s\].
        derivative: Vec<f64>,
    },
    /// Slotine and Li.
    Passivity {
        /// Λ \[1/s\].
        slope: Vec<f64>,
        /// K [N s/m or N m s].
        gain: Vec<f64>,
    },
}

/// A law that uses the model's equations; its outputs are `NAME.COORDINATE`, the generalised forces.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelBasedSource {
    /// Name.
    pub name: String,
    /// When it acts; `None`: in continuous time.
    pub clock: Option<Clock>,
    /// The law.
    pub kind: ModelBasedKind,
    /// All coordinates of one or several systems.
    pub coordinates: Vec<String>,
    /// q_d(t), one formula each; differentiated twice by t.
    pub desired: Vec<String>,
}

/// A compiled law.
#[derive(Clone, Debug)]
pub(super) struct ModelBased {
    /// `None`: continuous time.
    pub clock: Option<Clock>,
    pub kind: ModelBasedKind,
    pub coordinates: Vec<usize>,
    pub velocities: Vec<usize>,
    /// Held values of the outputs.
    pub places: Vec<usize>,
    /// q_d, q̇_d, q̈_d of all coordinates, one after the other.
    pub desired: Function,
}

/// Step of the differences, relative to the coordinates: the cube root of the rounding.
const DIFFERENCE: f64 = 6e-6;

impl LawWork {
    /// τ of the laws at a state, in `torques`.
    pub(super) fn evaluate(
        &mut self,
        laws: &[ModelBased],
        systems: &SystemSet,
        at: &Sight<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        self.torques.clear();
        for law in laws {
            law.act(systems, at, &mut self.work, scratch)?;
            self.torques.extend(law.velocities.iter().map(|&j| self.work.torque[j]));
        }
        Ok(())
    }

    /// Their derivatives, in `slopes`.
    pub(super) fn differentiate(
        &mut self,
        laws: &[ModelBased],
        systems: &SystemSet,
        at: &Sight<'_>,
        factors: JacobianFactors,
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        let LawWork { work, slopes, q, v, .. } = self;
        slopes.clear();
        q.clear();
        q.extend_from_slice(at.q);
        v.clear();
        v.extend_from_slice(at.v);
        let largest = factors.position.abs().max(factors.velocity.abs());
        for law in laws {
            let (first, m) = (slopes.len(), law.coordinates.len());
            slopes.resize(first + m * m, 0.0);
            for (k, (&c, &j)) in law.coordinates.iter().zip(&law.velocities).enumerate() {
                if largest == 0.0 {
                    break;
                }
                let step = DIFFERENCE * at.q[c].abs().max(at.v[j].abs()).max(1.0) / largest;
                for (way, weight) in [(step, 0.5 / step), (-step, -0.5 / step)] {
                    q[c] = at.q[c] + way * factors.position;
                    v[j] = at.v[j] + way * factors.velocity;
                    law.act(systems, &Sight { q, v, ..*at }, work, scratch)?;
                    for (i, &row) in law.velocities.iter().enumerate() {
                        slopes[first + i * m + k] += weight * work.torque[row];
                    }
                }
                (q[c], v[j]) = (at.q[c], at.v[j]);
            }
        }
        Ok(())
    }
}

impl ModelBased {
    /// τ over all velocities, in `work`; those of the law are read by [`ModelBased::write`].
    pub fn act(&self, systems: &SystemSet, at: &Sight<'_>, work: &mut ModelBasedWork, scratch: &mut Scratch) -> Result<(), NonFinite> {
        let (n, m) = (at.v.len(), self.coordinates.len());
        self.desired.evaluate(systems, at, scratch)?;
        let desired = std::mem::take(&mut scratch.outputs);
        for list in [&mut work.acceleration, &mut work.reference, &mut work.argument, &mut work.force, &mut work.torque] {
            list.clear();
            list.resize(n, 0.0);
        }
        for (k, (&c, &j)) in self.coordinates.iter().zip(&self.velocities).enumerate() {
            let (e, e_dot) = (at.q[c] - desired[k], at.v[j] - desired[m + k]);
            match &self.kind {
                ModelBasedKind::ComputedTorque { proportional, derivative } => {
                    work.acceleration[j] = desired[2 * m + k] - derivative[k] * e_dot - proportional[k] * e;
                }
                ModelBasedKind::Passivity { slope, .. } => {
                    work.reference[j] = desired[m + k] - slope[k] * e;
                    work.acceleration[j] = desired[2 * m + k] - slope[k] * e_dot;
                }
            }
        }
        scratch.outputs = desired;
        work.mass.resize(systems.layout().n_values(), 0.0);
        systems.mass(at.t, at.q, &mut work.mass, scratch)?;
        systems.layout().multiply(&work.mass, &work.acceleration, &mut work.torque);
        match &self.kind {
            ModelBasedKind::ComputedTorque { .. } => self.subtract_force(systems, at, work, scratch, |v, _| (v, 1.0)),
            ModelBasedKind::Passivity { gain, .. } => {
                // f₀ + f₁(w) + f₂(v, w) = ½ [F(v + w) − F(v) − F(−w)] + ³⁄₂ F(0)
                self.subtract_force(systems, at, work, scratch, |v, w| (v + w, 0.5))?;
                self.subtract_force(systems, at, work, scratch, |v, _| (v, -0.5))?;
                self.subtract_force(systems, at, work, scratch, |_, w| (-w, -0.5))?;
                self.subtract_force(systems, at, work, scratch, |_, _| (0.0, 1.5))?;
                for (k, &j) in self.velocities.iter().enumerate() {
                    work.torque[j] -= gain[k] * (at.v[j] - work.reference[j]);
                }
                Ok(())
            }
        }
    }

    /// Subtracts weight · F at a velocity that is a function of v and the reference.
    fn subtract_force(
        &self,
        systems: &SystemSet,
        at: &Sight<'_>,
        work: &mut ModelBasedWork,
        scratch: &mut Scratch,
        argument: impl Fn(f64, f64) -> (f64, f64),
    ) -> Result<(), NonFinite> {
        let weight = argument(0.0, 0.0).1;
        for ((out, &v), &w) in work.argument.iter_mut().zip(at.v).zip(&work.reference) {
            *out = argument(v, w).0;
        }
        systems.force_of_systems(at.t, at.q, &work.argument, &mut work.force, scratch)?;
        work.torque.iter_mut().zip(&work.force).for_each(|(torque, force)| *torque -= weight * force);
        Ok(())
    }

    /// Writes τ to the held values.
    pub fn write(&self, work: &ModelBasedWork, q: &mut [f64]) {
        for (&place, &j) in self.places.iter().zip(&self.velocities) {
            q[place] = work.torque[j];
        }
    }
}
