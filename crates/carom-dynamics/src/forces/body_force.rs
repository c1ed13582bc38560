//! What a force element is.

use crate::error::NonFinite;
use crate::systems::{Instant, JacobianFactors, Scratch, SystemSet};

/// Which part of a force is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForcePart {
    /// All of it.
    All,
    /// What has no potential: its work is told in the account of energy.
    Applied,
}

/// Takes stiff rows: the velocities they are over, the rows, and κ of each.
pub type StiffRowVisitor<'a> = &'a mut dyn FnMut(&[usize], &[f64], &[f64]);

/// A force between bodies, or on bodies: a part of F(t, q, v).
///
/// To add one: a file in `forces/`, this trait, its line in [`ForceSource`](super::ForceSource) and in the model reader, and tests of its Jacobians
/// by differences and of its energy.
pub trait ForceElement: Send + Sync {
    /// Adds the force, or its part, to the generalised forces of the model.
    ///
    /// # Errors
    /// [`NonFinite`] naming the element.
    fn add_force(
        &self,
        systems: &SystemSet,
        at: Instant<'_>,
        part: ForcePart,
        force: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite>;

    /// Potential energy \[J\].
    ///
    /// # Errors
    /// [`NonFinite`] naming the element.
    fn potential(&self, _systems: &SystemSet, _t: f64, _q: &[f64], _scratch: &mut Scratch) -> Result<f64, NonFinite> {
        Ok(0.0)
    }

    /// ∂V/∂t \[W\].
    ///
    /// # Errors
    /// [`NonFinite`] naming the element.
    fn explicit_power(&self, _systems: &SystemSet, _at: Instant<'_>, _scratch: &mut Scratch) -> Result<f64, NonFinite> {
        Ok(0.0)
    }

    /// It has a part without potential, or a potential that depends on time.
    fn is_applied(&self) -> bool;

    /// The force does not depend on the state.
    fn is_constant(&self) -> bool {
        false
    }

    /// Action and reaction are both on bodies of the model: taking one of their Jacobians without the other would change the momentum.
    fn couples_bodies(&self) -> bool {
        false
    }

    /// Gives c_v C + c_q K, with C = −∂F/∂v and K = −(∂F/∂q) T, as one or several square row-major matrices over some velocities.
    ///
    /// # Errors
    /// [`NonFinite`] naming the element.
    fn visit_jacobians(
        &self,
        systems: &SystemSet,
        at: Instant<'_>,
        factors: JacobianFactors,
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(&[usize], &[f64]),
    ) -> Result<(), NonFinite>;

    /// Gives the stiff directions of the element: rows G_s over some velocities, row-major, and κ ≥ 0 of each with c_v C + c_q K = Σ κ G_sᵀ G_s + what
    /// changes with the directions. Implicit steps take these rows into the one-step problem, where they couple bodies exactly. None by default.
    ///
    /// # Errors
    /// [`NonFinite`] naming the element.
    fn visit_stiff_rows(
        &self,
        _systems: &SystemSet,
        _at: Instant<'_>,
        _factors: JacobianFactors,
        _scratch: &mut Scratch,
        _visit: StiffRowVisitor<'_>,
    ) -> Result<(), NonFinite> {
        Ok(())
    }

    /// Names of functions of the state at whose changes of sign the force has a kink or a jump.
    fn switches(&self) -> Vec<String> {
        Vec::new()
    }

    /// Value of one of [`ForceElement::switches`].
    ///
    /// # Errors
    /// [`NonFinite`] naming the element.
    fn switch_value(&self, _systems: &SystemSet, _at: Instant<'_>, _switch: usize, _scratch: &mut Scratch) -> Result<f64, NonFinite> {
        Ok(1.0)
    }
}
