//! How far constraints are violated, row by row.

use crate::error::NonFinite;
use crate::model::Model;
use crate::relations::Rows;
use crate::report::Violations;
use crate::systems::Scratch;
use serde::Serialize;

/// How far one row of a constraint was violated at the ends of the accepted steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RowDrift {
    /// Name of the constraint; "name.2" for the second of several rows.
    pub name: String,
    /// Largest |g| (unit of the constraint); zero for nonholonomic rows, which have no position.
    pub position: f64,
    /// Largest |ġ| (the unit per second).
    pub velocity: f64,
}

/// Evaluates |g| and |ġ| of all rows of the bilateral constraints, those that depend on others too, and keeps their largest values.
pub struct DriftMeter<'m> {
    model: &'m Model,
    /// Largest values kept so far, in the model's order.
    pub rows: Vec<RowDrift>,
    values: Vec<[f64; 2]>,
    moves: bool,
    jacobian: Vec<f64>,
    scratch: Scratch,
}

impl<'m> DriftMeter<'m> {
    /// A meter that has seen nothing.
    #[must_use]
    pub fn new(model: &'m Model) -> Self {
        let rows: Vec<RowDrift> = constraint_rows(model).into_iter().map(|name| RowDrift { name, position: 0.0, velocity: 0.0 }).collect();
        DriftMeter { model, values: vec![[0.0; 2]; rows.len()], rows, moves: false, jacobian: Vec::new(), scratch: Scratch::default() }
    }

    /// Evaluates a state; returns its largest violations.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    pub fn evaluate(&mut self, t: f64, q: &[f64], v: &[f64]) -> Result<Violations, NonFinite> {
        let (mut worst, mut values) = (Violations::default(), self.values.iter_mut());
        self.moves = false;
        for interaction in self.model.interactions().iter().filter(|i| i.is_bilateral()) {
            let relation = interaction.relation();
            let (n, velocities) = (relation.n_rows(), relation.velocities());
            let (mut g, mut bias) = ([0.0; 6], [0.0; 6]);
            if relation.is_holonomic() {
                relation.position(t, q, &mut g[..n], &mut self.scratch)?;
            }
            self.jacobian.clear();
            self.jacobian.resize(n * velocities.len(), 0.0);
            relation.jacobian(t, q, Rows { jacobian: &mut self.jacobian, bias: &mut bias[..n] }, &mut self.scratch)?;
            let rows = self.jacobian.chunks_exact(velocities.len());
            for (((row, g), b), value) in rows.zip(g).zip(bias).zip(&mut values) {
                let u = b + row.iter().zip(velocities).map(|(g, &j)| g * v[j]).sum::<f64>();
                *value = [g.abs(), u.abs()];
                worst.constraint = worst.constraint.max(value[0]);
                worst.constraint_velocity = worst.constraint_velocity.max(value[1]);
                self.moves |= b != 0.0;
            }
        }
        Ok(worst)
    }

    /// A constraint moved (b ≠ 0) at the state evaluated last.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.moves
    }

    /// Takes the state evaluated last into the largest values.
    pub fn keep(&mut self) {
        for (row, [g, u]) in self.rows.iter_mut().zip(&self.values) {
            row.position = row.position.max(*g);
            row.velocity = row.velocity.max(*u);
        }
    }
}

/// Names of all rows of the bilateral constraints, in the model's order: "name", or "name.1", "name.2" … of several.
#[must_use]
pub fn constraint_rows(model: &Model) -> Vec<String> {
    let rows = |(name, n): (&str, usize)| -> Vec<String> {
        if n == 1 { vec![name.to_owned()] } else { (1..=n).map(|k| format!("{name}.{k}")).collect() }
    };
    model.interactions().iter().filter(|i| i.is_bilateral()).map(|i| (i.name(), i.relation().n_rows())).flat_map(rows).collect()
}
