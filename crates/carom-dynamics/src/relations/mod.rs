//! Relations: maps from coordinates to local quantities, with the rows of G that go with them.

pub mod chain;
pub mod closure;
pub mod contact;
mod corner;
mod curve;
mod driven;
pub mod formula;
mod formula_space;
pub mod joint;
pub mod joint_contact;
pub mod joint_coordinate;
pub mod joint_coupling;
pub mod joint_curve;
pub mod joint_curve_slide;
mod joint_frames;
mod joint_limits;
mod joint_row;
mod joint_rows;
mod joint_source;
mod joint_spin;
mod joint_turn;
pub mod natural;
pub mod nonholonomic;
pub mod piecewise;
pub mod pin;
pub mod planar_contact;

pub use chain::{ChainSource, Primitive};
pub use closure::ClosureRelation;
pub use corner::CornerLaw;
pub use driven::{Driven, Target, TargetSource};
pub use formula::{FormulaRelation, FormulaSource};
pub use joint::Joint;
pub use joint_contact::JointContact;
pub use joint_coordinate::{JointAxis, JointCoordinate};
pub use joint_coupling::JointCoupling;
pub use joint_curve::{CurveSource, PointOnCurve};
pub use joint_curve_slide::CurveSlide;
pub use joint_limits::joint_limits;
pub use joint_source::{JOINTS, JointKind, JointPlacement, JointSource};
pub use joint_spin::JointSpin;
pub use natural::NaturalRelation;
pub use nonholonomic::NonholonomicRelation;
pub use piecewise::{PieceSource, PiecewiseRelation, PiecewiseSource};
pub use pin::{PlanarPin, PlanarPoint};

use crate::error::NonFinite;
use crate::systems::{Scratch, StateFunction};

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

    /// Number of pieces: 1 for a relation that is smooth everywhere. One with more evaluates, at (t, q), the piece that holds there.
    fn n_pieces(&self) -> usize {
        1
    }

    /// The piece that holds at (t, q).
    ///
    /// # Errors
    /// [`NonFinite`] naming the condition.
    fn piece_at(&self, _t: f64, _q: &[f64], _scratch: &mut Scratch) -> Result<usize, NonFinite> {
        Ok(0)
    }

    /// A piece: smooth, with the rows and velocities of this relation, defined beyond the part where it holds. `None` where there is one only.
    fn piece(&self, _piece: usize) -> Option<&dyn Relation> {
        None
    }

    /// By how much a piece holds at (t, q): positive inside its part, zero at the edge, negative outside.
    ///
    /// # Errors
    /// [`NonFinite`] naming the condition.
    fn piece_margin(&self, _piece: usize, _t: f64, _q: &[f64], _scratch: &mut Scratch) -> Result<f64, NonFinite> {
        Ok(f64::INFINITY)
    }

    /// The margins of all pieces as the rows of a relation, for their rates and accelerations; it has its own velocities. `None` where there
    /// is one piece only.
    fn margins(&self) -> Option<&dyn Relation> {
        None
    }

    /// What happens to the velocity where two pieces meet in a corner.
    fn corner(&self) -> CornerLaw {
        CornerLaw::Impact
    }
}

/// Where a relation writes its Jacobian and bias velocity.
#[derive(Debug)]
pub struct Rows<'a> {
    /// G, row-major.
    pub jacobian: &'a mut [f64],
    /// b = ∂g/∂t, one value per row.
    pub bias: &'a mut [f64],
}
