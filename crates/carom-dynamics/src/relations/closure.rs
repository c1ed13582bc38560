//! Constraints and contacts by Rust closures, for users of the library.

use super::{Relation, Rows};
use crate::error::NonFinite;
use crate::systems::Scratch;

type PositionFn = Box<dyn Fn(f64, &[f64], &mut [f64]) + Send + Sync>;
type JacobianFn = Box<dyn Fn(f64, &[f64], Rows<'_>) + Send + Sync>;
type BiasFn = Box<dyn Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync>;

/// A relation whose g and G are closures of the model's full (t, q).
pub struct ClosureRelation {
    n_rows: usize,
    velocities: Vec<usize>,
    position: PositionFn,
    jacobian: JacobianFn,
    bias: BiasFn,
}

impl ClosureRelation {
    /// A relation of `n_rows` rows on the velocities with the given indices (ascending): `position(t, q, g)` fills g,
    /// `jacobian(t, q, rows)` fills G (row-major over `velocities`) and b = ∂g/∂t, `bias(t, q, v, out)` fills
    /// (dG/dt) v + db/dt.
    pub fn new(
        n_rows: usize,
        velocities: Vec<usize>,
        position: impl Fn(f64, &[f64], &mut [f64]) + Send + Sync + 'static,
        jacobian: impl Fn(f64, &[f64], Rows<'_>) + Send + Sync + 'static,
        bias: impl Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync + 'static,
    ) -> Self {
        ClosureRelation { n_rows, velocities, position: Box::new(position), jacobian: Box::new(jacobian), bias: Box::new(bias) }
    }
}

fn check(values: &[f64], what: &str) -> Result<(), NonFinite> {
    crate::systems::formula_force::check_finite(values, |i| format!("entry {i} of the {what} closure of a relation"))
}

impl Relation for ClosureRelation {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn velocities(&self) -> &[usize] {
        &self.velocities
    }

    fn is_constant(&self) -> bool {
        false
    }

    fn position(&self, t: f64, q: &[f64], g: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        (self.position)(t, q, g);
        check(g, "position")
    }

    fn jacobian(&self, t: f64, q: &[f64], rows: Rows<'_>, _: &mut Scratch) -> Result<(), NonFinite> {
        (self.jacobian)(t, q, Rows { jacobian: &mut *rows.jacobian, bias: &mut *rows.bias });
        check(rows.jacobian, "Jacobian")?;
        check(rows.bias, "Jacobian")
    }

    fn acceleration_bias(&self, t: f64, q: &[f64], v: &[f64], bias: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        (self.bias)(t, q, v, bias);
        check(bias, "acceleration")
    }
}
