//! Velocity constraints by formula: A(t,q) q̇ + b(t,q) = 0, which need not be the rate of any position.
//!
//! A row is a formula e(t, q, rates) that is affine in the rates; then
//!
//! ```text
//! G = ∂e/∂v,     b = e at v = 0,     (dG/dt) v + db/dt = ∂e/∂t + Σ_c (∂e/∂q_c) q̇_c     by symbolic differentiation
//! ```
//!
//! Haddouni2015 eq. (1.41). Rates of coordinates with q̇ = v are called `NAME_dot` (`x_dot`, `block.angle_dot`). Rigid bodies are constrained by
//! their velocities as files name them: `ball.vx` … `ball.vz` and the angular velocity `ball.wx` … `ball.wz` *in the world frame*; since v holds it
//! in the body frame, the formula sees R(q) ω. Other systems with q̇ ≠ v offer no rates.
//!
//! When to use it: rolling without slipping, blades and wheels, and drives that prescribe a velocity. Positions are not controlled: rows that
//! are rates of a position drift there, and are better given as equations of it.

use super::formula::total_derivative;
use super::{Relation, Rows};
use crate::error::{ModelError, NonFinite};
use crate::formula::{Expr, Graph, Scope, Tape};
use crate::relations::FormulaSource;
use crate::systems::formula_force::{compile, parse};
use crate::systems::rigid_bodies::{N_Q, N_V};
use crate::systems::{Scratch, StateFunction, StateSymbols, SystemSet};
use std::sync::Arc;

/// Rows A(t,q) q̇ + b(t,q) = 0.
#[derive(Clone)]
pub struct NonholonomicRelation {
    names: Vec<String>,
    /// Coordinates of the model the formulas use.
    coordinates: Vec<usize>,
    /// Velocities in the formulas, and those that move the coordinates in them.
    velocities: Vec<usize>,
    /// ∂e/∂v by rows, then b; inputs t, q.
    jacobian: Tape,
    /// ∂e/∂t + (∂e/∂q) q̇; inputs t, q, v, q̇.
    acceleration: Tape,
    /// ∂(Gᵀλ)/∂q by velocities; inputs t, q, λ.
    curvature: Tape,
    constant: bool,
    switches: Vec<StateFunction>,
    systems: Arc<SystemSet>,
}

/// The names a formula may use, and the velocities behind them.
struct Rates {
    scope: Scope,
    /// Symbol of each velocity of the model that can be used.
    symbols: Vec<(usize, Expr)>,
}

impl Rates {
    fn new(graph: &mut Graph, q: &[Expr], systems: &SystemSet) -> Self {
        let (mut scope, mut symbols) = (Scope::new(), Vec::new());
        for (c, coordinate) in systems.coordinates().iter().enumerate().filter(|&(c, _)| systems.is_flat(c)) {
            let name = format!("{}_dot", coordinate.name);
            let rate = graph.symbol(&name);
            scope.symbol(&name, rate);
            symbols.extend(systems.velocities_of(&[c]).into_iter().map(|v| (v, rate)));
        }
        symbols.extend(body_velocities(graph, q, systems, &mut scope));
        Rates { scope, symbols }
    }
}

/// Adds the velocities of rigid bodies as files name them to a scope, and gives the symbols of the velocities of the model behind them.
pub(crate) fn body_velocities(graph: &mut Graph, q: &[Expr], systems: &SystemSet, scope: &mut Scope) -> Vec<(usize, Expr)> {
    let mut symbols = Vec::new();
    let Some(bodies) = systems.bodies() else { return symbols };
    let names = systems.velocities();
    for (body, first) in bodies.v.clone().step_by(N_V).enumerate() {
        let own: Vec<Expr> = (first..first + N_V).map(|v| graph.symbol(&format!("velocity {v}"))).collect();
        symbols.extend((first..first + N_V).zip(own.iter().copied()));
        for (v, &rate) in (first..).zip(&own[..3]) {
            scope.symbol(&names.name(v), rate);
        }
        let quaternion = &q[bodies.q.start + body * N_Q + 3..bodies.q.start + (body + 1) * N_Q];
        for (k, omega) in rotated(graph, quaternion, &own[3..]).into_iter().enumerate() {
            scope.symbol(&names.name(first + 3 + k), omega);
        }
    }
    symbols
}

/// R(q) ω for a unit quaternion q = (w, u): ω + 2 w u × ω + 2 u × (u × ω).
fn rotated(graph: &mut Graph, quaternion: &[Expr], omega: &[Expr]) -> [Expr; 3] {
    let cross = |graph: &mut Graph, a: &[Expr], b: &[Expr]| -> [Expr; 3] {
        std::array::from_fn(|k| {
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            let (left, right) = (graph.mul(a[i], b[j]), graph.mul(a[j], b[i]));
            graph.sub(left, right)
        })
    };
    let (w, u) = (quaternion[0], &quaternion[1..]);
    let once = cross(graph, u, omega);
    let twice = cross(graph, u, &once);
    std::array::from_fn(|k| {
        let turn = graph.mul(w, once[k]);
        let sum = graph.add(turn, twice[k]);
        let double = graph.add(sum, sum);
        graph.add(omega[k], double)
    })
}

impl NonholonomicRelation {
    /// Reads and differentiates the rows.
    ///
    /// # Errors
    /// Formulas that cannot be read; rows without rates, or not affine in them.
    pub fn new(source: &FormulaSource, systems: &Arc<SystemSet>) -> Result<Self, ModelError> {
        let mut graph = Graph::new();
        let t = graph.symbol("t");
        let coordinates: Vec<Expr> = systems.coordinates().iter().map(|c| graph.symbol(&c.name)).collect();
        let Rates { mut scope, symbols } = Rates::new(&mut graph, &coordinates, systems);
        scope.symbol("t", t);
        for (coordinate, &symbol) in systems.coordinates().iter().zip(&coordinates) {
            scope.symbol(&coordinate.name, symbol);
        }
        for (name, value) in &source.parameters {
            scope.constant(name, *value);
        }
        let mut rows = Vec::with_capacity(source.rows.len());
        for (name, text) in &source.rows {
            let row = parse(&mut graph, name, text, &scope)?;
            check_affine(&mut graph, row, &symbols, (name, text), systems)?;
            rows.push(row);
        }

        let numbered = coordinates.iter().copied().enumerate().collect();
        let state = StateSymbols { t, coordinates: numbered, rates: Vec::new(), velocities: symbols.clone() };
        let switches = StateFunction::switches(&mut graph, &rows, &state);
        let used: Vec<usize> =
            (0..coordinates.len()).filter(|&i| rows.iter().any(|&row| graph.depends_on(row, &[coordinates[i]]))).collect();
        let mut velocities = systems.velocities_of(&used);
        velocities.extend(symbols.iter().filter(|(_, s)| rows.iter().any(|&row| graph.depends_on(row, &[*s]))).map(|(v, _)| *v));
        velocities.sort_unstable();
        velocities.dedup();
        // a velocity that only moves a coordinate of the formulas need not have a symbol of its own
        let rates: Vec<Expr> = velocities
            .iter()
            .map(|&v| symbols.iter().find(|(other, _)| *other == v).map_or_else(|| graph.symbol(&format!("velocity {v}")), |(_, s)| *s))
            .collect();
        let q: Vec<Expr> = used.iter().map(|&i| coordinates[i]).collect();
        let q_dot: Vec<Expr> = used.iter().map(|i| graph.symbol(&format!("rate of coordinate {i}"))).collect();
        let lambda: Vec<Expr> = (0..rows.len()).map(|i| graph.symbol(&format!("multiplier {i}"))).collect();

        let (mut entries, mut bias, mut accelerations) = (Vec::new(), Vec::new(), Vec::new());
        for &row in &rows {
            let slopes: Vec<Expr> = rates.iter().map(|&rate| graph.derivative(row, rate)).collect();
            // b = e − Σ (∂e/∂v) v, which is free of v: v is set to zero when the tape runs
            bias.push(row);
            accelerations.push(total_derivative(&mut graph, row, t, &q, &q_dot));
            entries.extend(slopes);
        }
        let mut curvatures = Vec::new();
        for k in 0..rates.len() {
            let mut sum = graph.constant(0.0);
            for (row, &lambda) in lambda.iter().enumerate() {
                let term = graph.mul(lambda, entries[row * rates.len() + k]);
                sum = graph.add(sum, term);
            }
            curvatures.extend(q.iter().map(|&q| graph.derivative(sum, q)));
        }
        let state: Vec<Expr> = std::iter::once(t).chain(q.iter().copied()).collect();
        let moving: Vec<Expr> = state.iter().chain(&rates).copied().collect();
        let constant = !entries.iter().chain(&bias).any(|&e| graph.depends_on(e, &state));
        let with_rates: Vec<Expr> = moving.iter().chain(&q_dot).copied().collect();
        let with_lambda: Vec<Expr> = state.iter().chain(&lambda).copied().collect();
        Ok(NonholonomicRelation {
            names: source.rows.iter().map(|(name, _)| name.clone()).collect(),
            jacobian: compile(&graph, &moving, &[entries, bias].concat()),
            acceleration: compile(&graph, &with_rates, &accelerations),
            curvature: compile(&graph, &with_lambda, &curvatures),
            coordinates: used,
            velocities,
            constant,
            switches,
            systems: Arc::clone(systems),
        })
    }

    fn evaluate(&self, tape: &Tape, t: f64, q: &[f64], rest: impl Iterator<Item = f64>, scratch: &mut Scratch) {
        scratch.inputs.clear();
        scratch.inputs.push(t);
        scratch.inputs.extend(self.coordinates.iter().map(|&i| q[i]));
        scratch.inputs.extend(rest);
        scratch.outputs.resize(tape.n_outputs(), 0.0);
        tape.evaluate(&scratch.inputs, &mut scratch.registers, &mut scratch.outputs);
    }

    /// Refuses values that are not finite; `row` tells the row of a value.
    fn check(&self, values: &[f64], row: impl Fn(usize) -> usize, what: &str) -> Result<(), NonFinite> {
        match values.iter().position(|x| !x.is_finite()) {
            None => Ok(()),
            Some(i) => Err(NonFinite { what: format!("{what}{}", self.names[row(i).min(self.names.len() - 1)]), value: values[i] }),
        }
    }
}

/// A row must hold rates, and its derivatives by them none.
fn check_affine(
    graph: &mut Graph,
    row: Expr,
    symbols: &[(usize, Expr)],
    (what, text): (&str, &str),
    systems: &SystemSet,
) -> Result<(), ModelError> {
    let all: Vec<Expr> = symbols.iter().map(|(_, s)| *s).collect();
    if !graph.depends_on(row, &all) {
        return Err(ModelError::NoRate { what: what.to_owned(), text: text.to_owned() });
    }
    for &(velocity, symbol) in symbols {
        let slope = graph.derivative(row, symbol);
        if graph.depends_on(slope, &all) {
            let own = graph.symbol_name(symbol).filter(|name| !name.starts_with("velocity "));
            let rate = own.map_or_else(|| systems.velocities().name(velocity), str::to_owned);
            return Err(ModelError::NotAffine { what: what.to_owned(), text: text.to_owned(), rate });
        }
    }
    Ok(())
}

impl Relation for NonholonomicRelation {
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

    fn is_holonomic(&self) -> bool {
        false
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
        let (n_q, n_v) = (self.coordinates.len(), self.velocities.len());
        if n_q == 0 {
            return Ok(());
        }
        self.evaluate(&self.curvature, t, q, lambda.iter().copied(), scratch);
        self.check(&scratch.outputs, |_| 0, "the second derivative of the ")?;
        let mut row = vec![0.0; n_v];
        for (slopes, out) in scratch.outputs.chunks_exact(n_q).zip(matrix.chunks_exact_mut(n_v)) {
            self.systems.pull_back(q, (&self.coordinates, slopes), (&self.velocities, &mut row));
            out.iter_mut().zip(&row).for_each(|(out, slope)| *out += factor * slope);
        }
        Ok(())
    }

    fn position(&self, _: f64, _: &[f64], g: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        g.fill(0.0);
        Ok(())
    }

    fn jacobian(&self, t: f64, q: &[f64], rows: Rows<'_>, scratch: &mut Scratch) -> Result<(), NonFinite> {
        let (n, width) = (self.n_rows(), self.velocities.len());
        self.evaluate(&self.jacobian, t, q, std::iter::repeat_n(0.0, width), scratch);
        self.check(&scratch.outputs, |i| if i < n * width { i / width } else { i - n * width }, "the derivative of the ")?;
        let (entries, bias) = scratch.outputs.split_at(n * width);
        rows.jacobian.copy_from_slice(entries);
        rows.bias.copy_from_slice(bias);
        Ok(())
    }

    fn acceleration_bias(&self, t: f64, q: &[f64], v: &[f64], bias: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        let rates = self.coordinates.iter().map(|&c| self.systems.rate(q, v, c));
        self.evaluate(&self.acceleration, t, q, self.velocities.iter().map(|&i| v[i]).chain(rates), scratch);
        self.check(&scratch.outputs, |i| i, "the derivative of the ")?;
        bias.copy_from_slice(&scratch.outputs);
        Ok(())
    }
}
