//! Constraints and contacts by Rust closures, for users of the library.

use super::{Relation, Rows};
use crate::error::NonFinite;
use crate::systems::Scratch;

type PositionFn = Box<dyn Fn(f64, &[f64], &mut [f64]) + Send + Sync>;
type JacobianFn = Box<dyn Fn(f64, &[f64], Rows<'_>) + Send + Sync>;
type BiasFn = Box<dyn Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync>;
type CurvatureFn = Box<dyn Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync>;

/// A relation whose g and G are closures of the model's full (t, q).
pub struct ClosureRelation {
    n_rows: usize,
    velocities: Vec<usize>,
    position: PositionFn,
    jacobian: JacobianFn,
    bias: BiasFn,
    curvature: Curvature,
}

/// How ∂(Gᵀλ)/∂q is found.
enum Curvature {
    /// It is left out.
    None,
    /// By central differences of G.
    Differences,
    /// By a closure.
    Closure(CurvatureFn),
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
        let (position, jacobian, bias) = (Box::new(position), Box::new(jacobian), Box::new(bias));
        ClosureRelation { n_rows, velocities, position, jacobian, bias, curvature: Curvature::None }
    }

    /// Tells the change of the constraint force: `curvature(t, q, lambda, matrix)` fills (∂(Gᵀλ)/∂q) T, row-major over the velocities, so that
    /// Newton's iterations of implicit integrators converge quadratically.
    #[must_use]
    pub(crate) fn with_curvature(mut self, curvature: impl Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync + 'static) -> Self {
        self.curvature = Curvature::Closure(Box::new(curvature));
        self
    }

    /// Says that velocity i of the model is the rate of coordinate i, for every velocity this relation depends on (there are no rotations by
    /// quaternions before them). The change of the constraint force is then taken by central differences of G.
    #[must_use]
    pub fn with_flat_coordinates(mut self) -> Self {
        self.curvature = Curvature::Differences;
        self
    }

    fn differences(&self, t: f64, q: &[f64], lambda: &[f64], factor: f64, matrix: &mut [f64]) {
        let (m, n) = (self.n_rows, self.velocities.len());
        let (mut moved, mut bias) = (q.to_vec(), vec![0.0; m]);
        let (mut ahead, mut behind) = (vec![0.0; m * n], vec![0.0; m * n]);
        for (j, &coordinate) in self.velocities.iter().enumerate() {
            // the cube root of the machine precision balances truncation and round-off of central differences
            let shift = f64::EPSILON.cbrt() * q[coordinate].abs().max(1.0);
            for (sign, values) in [(1.0, &mut ahead), (-1.0, &mut behind)] {
                moved[coordinate] = q[coordinate] + sign * shift;
                (self.jacobian)(t, &moved, Rows { jacobian: values, bias: &mut bias });
            }
            moved[coordinate] = q[coordinate];
            for i in 0..n {
                let change: f64 = (0..m).map(|k| lambda[k] * (ahead[k * n + i] - behind[k * n + i])).sum();
                matrix[i * n + j] += factor * change / (2.0 * shift);
            }
        }
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

    fn add_curvature(&self, t: f64, q: &[f64], lambda: &[f64], factor: f64, matrix: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        match &self.curvature {
            Curvature::None => return Ok(()),
            Curvature::Differences => self.differences(t, q, lambda, factor, matrix),
            Curvature::Closure(curvature) => {
                let mut own = vec![0.0; matrix.len()];
                curvature(t, q, lambda, &mut own);
                matrix.iter_mut().zip(&own).for_each(|(m, c)| *m += factor * c);
            }
        }
        check(matrix, "curvature")
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
