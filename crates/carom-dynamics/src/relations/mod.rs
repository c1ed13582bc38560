//! Relations: maps from coordinates to local quantities, with the rows of G that go with them.

pub mod closure;
pub mod contact;
pub mod formula;
pub mod joint;
mod joint_row;
mod joint_source;
pub mod natural;
pub mod nonholonomic;
pub mod pin;
pub mod planar_contact;

pub use closure::ClosureRelation;
pub use formula::{FormulaRelation, FormulaSource};
pub use joint::Joint;
pub use joint_source::{JointKind, JointPlacement, JointSource};
pub use natural::NaturalRelation;
pub use nonholonomic::NonholonomicRelation;
pub use pin::{PlanarPin, PlanarPoint};

use crate::error::NonFinite;
use crate::events::StateFunction;
use crate::systems::Scratch;

/// A constraint or contact by formula or closure.
///
/// Local velocity u = G(t,q) v + b(t,q) with b = ∂g/∂t; the first row of a contact is its gap, the others its tangents.
///
/// To add a relation (a joint, say): one file in `relations/`, this trait, its line in the model reader, and a test of G
/// and Ġv by finite differences.
pub trait Relation: Send + Sync {
    /// Number of rows of g: 1 for a frictionless contact, 2 or 3 with friction, up to 6 for a constraint.
    fn n_rows(&self) -> usize;

    /// Velocities of the model on which it depends (indices into the model's v, ascending).
    fn velocities(&self) -> &[usize];

    /// G and b do not depend on (t, q).
    fn is_constant(&self) -> bool;

    /// It is the velocity of a position g(t, q). Nonholonomic constraints A(t,q) q̇ + b = 0 are not: they have no position.
    fn is_holonomic(&self) -> bool {
        true
    }

    /// Functions of the model's state at whose changes of sign g, G or b have a kink or a jump. The default knows none.
    fn switches(&self) -> Vec<StateFunction> {
        Vec::new()
    }

    /// Adds c (∂(Gᵀλ)/∂q) T to `matrix`, row-major over [`Relation::velocities`]. May be left out (the default): Newton's iterations then
    /// converge more slowly to the same solution.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    fn add_curvature(
        &self,
        _t: f64,
        _q: &[f64],
        _lambda: &[f64],
        _factor: f64,
        _matrix: &mut [f64],
        _scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        Ok(())
    }

    /// Writes g(t, q), `n_rows` values; of a contact only the first (the gap) is used.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    fn position(&self, t: f64, q: &[f64], g: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite>;

    /// Writes G, `n_rows` × `velocities().len()` row-major, and b.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    fn jacobian(&self, t: f64, q: &[f64], rows: Rows<'_>, scratch: &mut Scratch) -> Result<(), NonFinite>;

    /// Writes (dG/dt) v + db/dt, the part of the local acceleration that does not depend on v̇.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    fn acceleration_bias(&self, t: f64, q: &[f64], v: &[f64], bias: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite>;
}

/// Where a relation writes its Jacobian and bias velocity.
#[derive(Debug)]
pub struct Rows<'a> {
    /// G, row-major.
    pub jacobian: &'a mut [f64],
    /// b = ∂g/∂t, one value per row.
    pub bias: &'a mut [f64],
}
