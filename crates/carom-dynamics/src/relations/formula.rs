//! Constraints and contacts by formula of (t, q): G, ∂g/∂t and (dG/dt) v + db/dt by symbolic differentiation.

use super::formula_space::FormulaSpace;
use super::{Relation, Rows};
use crate::error::{ModelError, NonFinite};
use crate::formula::{Expr, Graph, Tape};
use crate::systems::formula_force::compile;
use crate::systems::{Scratch, StateFunction, StateSymbols, SystemSet};
use std::sync::Arc;

/// The text of a relation: its rows, each a formula with a name for messages.
#[derive(Clone, Debug, PartialEq)]
pub struct FormulaSource {
    /// Name and text of each row: (`gap of "floor"`, `y - 0.1`).
    pub rows: Vec<(String, String)>,
    /// Constants of the formulas.
    pub parameters: Vec<(String, f64)>,
}

/// A compiled relation.
#[derive(Clone)]
pub struct FormulaRelation {
    names: Vec<String>,
    /// Coordinates of the model the formulas use.
    coordinates: Vec<usize>,
    velocities: Vec<usize>,
    /// g; inputs t, q.
    position: Tape,
    /// ∂g/∂q by rows, then ∂g/∂t; inputs t, q.
    jacobian: Tape,
    /// Second derivative along (1, q̇): inputs t, q, q̇.
    acceleration: Tape,
    /// Σ λ_k ∂²g_k/∂q∂q, entries (row ≥ column) that are not identically zero; inputs t, q, λ.
    curvature: (Vec<(usize, usize)>, Tape),
    constant: bool,
    switches: Vec<StateFunction>,
    /// For systems with q̇ = T(q) v, T ≠ I: how to turn ∂g/∂q into G.
    curved: Option<Arc<SystemSet>>,
}

impl FormulaRelation {
    /// Reads and differentiates the rows. Coordinates are those of `systems`.
    ///
    /// # Errors
    /// Formulas that cannot be read.
    pub fn new(source: &FormulaSource, systems: &Arc<SystemSet>) -> Result<Self, ModelError> {
        let mut space = FormulaSpace::new(systems, &source.parameters);
        let rows = space.parse(&source.rows)?;
        let used = space.coordinates_of(&rows);
        if used.is_empty() {
            return Err(ModelError::NoCoordinate { what: source.rows.first().map(|row| row.0.clone()).unwrap_or_default() });
        }
        let names = source.rows.iter().map(|(name, _)| name.clone()).collect();
        Ok(FormulaRelation::of_rows(&mut space, names, &rows, used))
    }

    /// Differentiates and compiles rows that depend on some of the coordinates `used` (ascending).
    pub(super) fn of_rows(space: &mut FormulaSpace<'_>, names: Vec<String>, rows: &[Expr], used: Vec<usize>) -> Self {
        let (t, systems) = (space.t, space.systems);
        let q: Vec<Expr> = used.iter().map(|&i| space.symbols[i]).collect();
        let numbered = space.symbols.iter().copied().enumerate().collect();
        let state = StateSymbols { t, coordinates: numbered, rates: Vec::new(), velocities: Vec::new() };
        let graph = &mut space.graph;
        let switches = StateFunction::switches(graph, rows, &state);
        let rates: Vec<Expr> = (0..q.len()).map(|i| graph.symbol(&format!("rate {i}"))).collect();
        let (mut derivatives, mut explicit, mut accelerations) = (Vec::new(), Vec::new(), Vec::new());
        for &row in rows {
            derivatives.extend(q.iter().map(|&q| graph.derivative(row, q)));
            explicit.push(graph.derivative(row, t));
            accelerations.push(second_derivative(graph, row, t, &q, &rates));
        }
        let multipliers: Vec<Expr> = (0..rows.len()).map(|i| graph.symbol(&format!("multiplier {i}"))).collect();
        let (places, second) = curvature(graph, &derivatives, &q, &multipliers);
        let entries = [derivatives, explicit].concat();
        let state: Vec<Expr> = std::iter::once(t).chain(q.iter().copied()).collect();
        let curved = used.iter().any(|&i| !systems.is_flat(i));
        let constant = !curved && !entries.iter().any(|&e| graph.depends_on(e, &state));
        let loaded: Vec<Expr> = state.iter().chain(&multipliers).copied().collect();
        let moving: Vec<Expr> = state.iter().chain(&rates).copied().collect();
        FormulaRelation {
            names,
            velocities: systems.velocities_of(&used),
            position: compile(graph, &state, rows),
            jacobian: compile(graph, &state, &entries),
            acceleration: compile(graph, &moving, &accelerations),
            curvature: (places, compile(graph, &loaded, &second)),
            coordinates: used,
            constant,
            switches,
            curved: curved.then(|| Arc::clone(systems)),
        }
    }

    /// g of all rows, in the work arrays.
    pub(super) fn values<'s>(&self, t: f64, q: &[f64], scratch: &'s mut Scratch) -> Result<&'s [f64], NonFinite> {
        self.evaluate(&self.position, t, q, &[], scratch);
        self.check(&scratch.outputs, 1, "the ")?;
        Ok(&scratch.outputs)
    }

    fn evaluate(&self, tape: &Tape, t: f64, q: &[f64], more: &[f64], scratch: &mut Scratch) {
        self.read_inputs(t, q, scratch);
        scratch.inputs.extend_from_slice(more);
        run(tape, scratch);
    }

    fn read_inputs(&self, t: f64, q: &[f64], scratch: &mut Scratch) {
        scratch.inputs.clear();
        scratch.inputs.push(t);
        scratch.inputs.extend(self.coordinates.iter().map(|&i| q[i]));
    }

    fn check(&self, values: &[f64], per_row: usize, what: &str) -> Result<(), NonFinite> {
        match values.iter().position(|x| !x.is_finite()) {
            None => Ok(()),
            Some(i) => {
                Err(NonFinite { what: format!("{what}{}", self.names[(i / per_row.max(1)).min(self.names.len() - 1)]), value: values[i] })
            }
        }
    }
}

/// Evaluates a tape on the inputs that are there.
fn run(tape: &Tape, scratch: &mut Scratch) {
    scratch.outputs.resize(tape.n_outputs(), 0.0);
    tape.evaluate(&scratch.inputs, &mut scratch.registers, &mut scratch.outputs);
}

/// d²g/dt² along q̇ = rates with q̈ = 0:  g_tt + 2 Σ g_tq q̇ + Σ Σ g_qq q̇ q̇.
fn second_derivative(graph: &mut Graph, row: Expr, t: Expr, q: &[Expr], rates: &[Expr]) -> Expr {
    let first = total_derivative(graph, row, t, q, rates);
    total_derivative(graph, first, t, q, rates)
}

/// ∂e/∂t + Σ (∂e/∂q) q̇.
pub(super) fn total_derivative(graph: &mut Graph, row: Expr, t: Expr, q: &[Expr], rates: &[Expr]) -> Expr {
    let mut sum = graph.derivative(row, t);
    for (&q, &rate) in q.iter().zip(rates) {
        let slope = graph.derivative(row, q);
        let term = graph.mul(slope, rate);
        sum = graph.add(sum, term);
    }
    sum
}

/// Lower triangle of Σ λ_k ∂²g_k/∂q∂q from the first derivatives by rows: places and expressions of the entries that are not zero.
fn curvature(graph: &mut Graph, derivatives: &[Expr], q: &[Expr], multipliers: &[Expr]) -> (Vec<(usize, usize)>, Vec<Expr>) {
    let (mut places, mut entries) = (Vec::new(), Vec::new());
    for i in 0..q.len() {
        for (j, &other) in q[..=i].iter().enumerate() {
            let mut sum = graph.constant(0.0);
            for (k, &multiplier) in multipliers.iter().enumerate() {
                let second = graph.derivative(derivatives[k * q.len() + i], other);
                let term = graph.mul(multiplier, second);
                sum = graph.add(sum, term);
            }
            if !graph.is_zero(sum) {
                places.push((i, j));
                entries.push(sum);
            }
        }
    }
    (places, entries)
}

impl Relation for FormulaRelation {
    fn switches(&self) -> Vec<StateFunction> {
        self.switches.clone()
    }

    fn n_rows(&self) -> usize {
        self.names.len()
    }

    fn velocities(&self) -> &[usize] {
        &self.velocities
    }

    fn is_constant(&self) -> bool {
        self.constant
    }

    fn add_curvature(
        &self,
        t: f64,
        q: &[f64],
        lambda: &[f64],
        factor: f64,
        matrix: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        let (places, tape) = &self.curvature;
        let n = self.coordinates.len();
        self.evaluate(tape, t, q, lambda, scratch);
        self.check(&scratch.outputs, usize::MAX, "the second derivative of the ")?;
        let Some(systems) = &self.curved else {
            for (&value, &(i, j)) in scratch.outputs.iter().zip(places) {
                matrix[i * n + j] += factor * value;
                if i != j {
                    matrix[j * n + i] += factor * value;
                }
            }
            return Ok(());
        };
        let mut hessian = vec![0.0; n * n];
        for (&value, &(i, j)) in scratch.outputs.iter().zip(places) {
            hessian[i * n + j] = factor * value;
            hessian[j * n + i] = factor * value;
        }
        self.evaluate(&self.jacobian, t, q, &[], scratch);
        let mut force = vec![0.0; n];
        for (row, &lambda) in scratch.outputs.chunks_exact(n).zip(lambda) {
            force.iter_mut().zip(row).for_each(|(f, g)| *f += factor * lambda * g);
        }
        systems.add_curvature(q, (&self.coordinates, &force, &hessian), (&self.velocities, matrix));
        Ok(())
    }

    fn position(&self, t: f64, q: &[f64], g: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        self.evaluate(&self.position, t, q, &[], scratch);
        self.check(&scratch.outputs, 1, "the ")?;
        g.copy_from_slice(&scratch.outputs);
        Ok(())
    }

    fn jacobian(&self, t: f64, q: &[f64], rows: Rows<'_>, scratch: &mut Scratch) -> Result<(), NonFinite> {
        self.evaluate(&self.jacobian, t, q, &[], scratch);
        self.check(&scratch.outputs, self.coordinates.len(), "the derivative of the ")?;
        let (gradient, bias) = scratch.outputs.split_at(self.n_rows() * self.coordinates.len());
        rows.bias.copy_from_slice(bias);
        match &self.curved {
            None => rows.jacobian.copy_from_slice(gradient),
            Some(systems) => {
                let widths = (self.coordinates.len(), self.velocities.len());
                for (row, out) in gradient.chunks_exact(widths.0).zip(rows.jacobian.chunks_exact_mut(widths.1)) {
                    systems.pull_back(q, (&self.coordinates, row), (&self.velocities, out));
                }
            }
        }
        Ok(())
    }

    fn acceleration_bias(&self, t: f64, q: &[f64], v: &[f64], bias: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        self.read_inputs(t, q, scratch);
        match &self.curved {
            None => scratch.inputs.extend(self.velocities.iter().map(|&i| v[i])),
            Some(systems) => scratch.inputs.extend(self.coordinates.iter().map(|&c| systems.rate(q, v, c))),
        }
        run(&self.acceleration, scratch);
        self.check(&scratch.outputs, 1, "the second derivative of the ")?;
        bias.copy_from_slice(&scratch.outputs);
        if let Some(systems) = &self.curved {
            // g_q (dT/dt) v
            self.evaluate(&self.jacobian, t, q, &[], scratch);
            for (row, bias) in scratch.outputs.chunks_exact(self.coordinates.len()).zip(bias) {
                *bias += row.iter().zip(&self.coordinates).map(|(g, &c)| g * systems.rate_bias(q, v, c)).sum::<f64>();
            }
        }
        Ok(())
    }
}
