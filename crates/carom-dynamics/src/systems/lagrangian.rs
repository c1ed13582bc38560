//! Lagrangian systems by formula: kinetic and potential energy as text, everything else by symbolic differentiation.
//!
//! With T(t, q, q̇) quadratic in q̇ and V(t, q), Lagrange's equations d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q = Q are M q̈ = F with
//!
//! ```text
//! M = ∂²T/∂q̇²
//! F = Q − ∂V/∂q + ∂T/∂q − (∂²T/∂q̇∂q) q̇ − ∂²T/∂q̇∂t
//! ```

pub use super::formula_force::Symbols;
use super::formula_force::{check_finite, compile, evaluate, parse};
use super::{Coordinate, Coordinates, FormulaForce, Instant, JacobianFactors, Scratch, System};
use crate::error::{ModelError, NonFinite};
use crate::formula::{Expr, Graph, Scope, Tape};
use crate::systems::{StateFunction, StateSymbols};

/// The text of a Lagrangian system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LagrangianText {
    /// Names of the coordinates; rates are written with `_dot` appended.
    pub coordinates: Vec<String>,
    /// Constants of the formulas.
    pub parameters: Vec<(String, f64)>,
    /// Kinetic energy T(t, q, q̇) \[J\].
    pub kinetic: String,
    /// Potential energy V(t, q) \[J\]; empty for none.
    pub potential: String,
    /// Forces without potential Q(t, q, q̇), by coordinate; coordinates left out feel none.
    pub forces: Vec<(String, String)>,
}

/// A compiled Lagrangian system.
#[derive(Clone, Debug)]
pub struct Lagrangian {
    coordinates: Vec<String>,
    units: Vec<String>,
    /// Lower triangle of M by rows, of (t, q).
    mass: Tape,
    mass_is_constant: bool,
    /// ∂(M a)/∂q of (t, q, a): entries (row, column) that are not identically zero, and the tape of their values.
    mass_derivative: (Vec<(usize, usize)>, Tape),
    /// F − Q.
    inertial: FormulaForce,
    /// Q.
    applied: Option<FormulaForce>,
    /// T, V.
    energy: Tape,
    /// ∂V/∂t − ∂T/∂t, where the energies depend on time.
    explicit: Option<Tape>,
    switches: Vec<StateFunction>,
    affine: bool,
}

impl Lagrangian {
    /// Reads and differentiates the text.
    ///
    /// # Errors
    /// Formulas that cannot be read, T not quadratic in the rates, forces on unknown coordinates.
    pub fn new(text: &LagrangianText) -> Result<Self, ModelError> {
        let mut graph = Graph::new();
        let symbols = Symbols::new(&mut graph, &text.coordinates);
        let (kinetic, potential, applied) = parse_text(&mut graph, &symbols, text)?;
        let formulas = [&[kinetic, potential], applied.as_slice()].concat();
        let switches = StateFunction::switches(&mut graph, &formulas, &StateSymbols::from(&symbols));
        let mass = mass_matrix(&mut graph, &symbols, text, kinetic)?;
        let inertial = inertial_force(&mut graph, &symbols, kinetic, potential);

        let by_state: Vec<Expr> = std::iter::once(symbols.t).chain(symbols.q.iter().copied()).collect();
        let mass_is_constant = !mass.iter().any(|&m| graph.depends_on(m, &by_state));
        let inputs = symbols.inputs();
        let mass_derivative = mass_derivative(&mut graph, &symbols, &mass);
        let inertial = FormulaForce::new(&mut graph, &symbols, "the force from the energies on", &text.coordinates, &inertial);
        let applied =
            (!text.forces.is_empty()).then(|| FormulaForce::new(&mut graph, &symbols, "the force formula on", &text.coordinates, &applied));
        let explicit = {
            let (kinetic, potential) = (graph.derivative(kinetic, symbols.t), graph.derivative(potential, symbols.t));
            graph.sub(potential, kinetic)
        };
        Ok(Lagrangian {
            coordinates: text.coordinates.clone(),
            units: vec![String::new(); text.coordinates.len()],
            mass: compile(&graph, &inputs, &mass),
            mass_is_constant,
            mass_derivative,
            explicit: (!graph.is_zero(explicit)).then(|| compile(&graph, &inputs, &[explicit])),
            affine: mass_is_constant && inertial.is_affine() && applied.as_ref().is_none_or(FormulaForce::is_affine),
            inertial,
            applied,
            switches,
            energy: compile(&graph, &inputs, &[kinetic, potential]),
        })
    }

    /// Names the units of the coordinates, for records and plots.
    ///
    /// # Errors
    /// Wrong length.
    pub fn with_units(mut self, units: Vec<String>) -> Result<Self, ModelError> {
        if units.len() != self.coordinates.len() {
            return Err(ModelError::WrongLength { what: "the list of units".into(), expected: self.coordinates.len(), found: units.len() });
        }
        self.units = units;
        Ok(self)
    }
}

/// Names that formulas of this system may use, rates included or not.
fn scope(symbols: &Symbols, text: &LagrangianText, rates: bool) -> Scope {
    let mut scope = Scope::new();
    scope.symbol("t", symbols.t);
    for (name, (&q, &v)) in text.coordinates.iter().zip(symbols.q.iter().zip(&symbols.v)) {
        scope.symbol(name, q);
        if rates {
            scope.symbol(&format!("{name}_dot"), v);
        }
    }
    for (name, value) in &text.parameters {
        scope.constant(name, *value);
    }
    scope
}

fn parse_text(graph: &mut Graph, symbols: &Symbols, text: &LagrangianText) -> Result<(Expr, Expr, Vec<Expr>), ModelError> {
    let full = scope(symbols, text, true);
    let kinetic = parse(graph, "kinetic energy", &text.kinetic, &full)?;
    let zero = graph.constant(0.0);
    let potential = match text.potential.as_str() {
        "" => zero,
        formula => parse(graph, "potential energy", formula, &scope(symbols, text, false))?,
    };
    let mut applied = vec![zero; text.coordinates.len()];
    for (coordinate, formula) in &text.forces {
        let i = text.coordinates.iter().position(|c| c == coordinate).ok_or_else(|| ModelError::BadState {
            system: "the Lagrangian system".into(),
            reason: format!("a force is given on \"{coordinate}\", which is not one of its coordinates"),
        })?;
        applied[i] = parse(graph, &format!("force on {coordinate}"), formula, &full)?;
    }
    Ok((kinetic, potential, applied))
}

/// Lower triangle of ∂²T/∂q̇², which must not depend on the rates.
fn mass_matrix(graph: &mut Graph, symbols: &Symbols, text: &LagrangianText, kinetic: Expr) -> Result<Vec<Expr>, ModelError> {
    let mut mass = Vec::new();
    for (i, &a) in symbols.v.iter().enumerate() {
        let momentum = graph.derivative(kinetic, a);
        for (j, &b) in symbols.v[..=i].iter().enumerate() {
            let entry = graph.derivative(momentum, b);
            for (k, &c) in symbols.v.iter().enumerate() {
                let third = graph.derivative(entry, c);
                if !graph.is_zero(third) {
                    let rate = |k: usize| format!("{}_dot", text.coordinates[k]);
                    return Err(ModelError::NotQuadratic { first: rate(i), second: rate(j), rate: rate(k) });
                }
            }
            mass.push(entry);
        }
    }
    Ok(mass)
}

/// ∂(M a)/∂q. M does not depend on the rates, whose symbols stand for the accelerations a here.
fn mass_derivative(graph: &mut Graph, symbols: &Symbols, mass: &[Expr]) -> (Vec<(usize, usize)>, Tape) {
    let (mut places, mut entries) = (Vec::new(), Vec::new());
    let entry = |i: usize, j: usize| if i >= j { mass[i * (i + 1) / 2 + j] } else { mass[j * (j + 1) / 2 + i] };
    for i in 0..symbols.q.len() {
        let mut product = graph.constant(0.0);
        for (j, &a) in symbols.v.iter().enumerate() {
            let term = graph.mul(entry(i, j), a);
            product = graph.add(product, term);
        }
        for (k, &q) in symbols.q.iter().enumerate() {
            let derivative = graph.derivative(product, q);
            if !graph.is_zero(derivative) {
                places.push((i, k));
                entries.push(derivative);
            }
        }
    }
    (places, compile(graph, &symbols.inputs(), &entries))
}

/// −∂V/∂q + ∂T/∂q − (∂²T/∂q̇∂q) q̇ − ∂²T/∂q̇∂t.
fn inertial_force(graph: &mut Graph, symbols: &Symbols, kinetic: Expr, potential: Expr) -> Vec<Expr> {
    let mut forces = Vec::new();
    for (&q, &v) in symbols.q.iter().zip(&symbols.v) {
        let momentum = graph.derivative(kinetic, v);
        let (dt, dv) = (graph.derivative(kinetic, q), graph.derivative(potential, q));
        let mut total = graph.sub(dt, dv);
        for (&other, &rate) in symbols.q.iter().zip(&symbols.v) {
            let change = graph.derivative(momentum, other);
            let term = graph.mul(change, rate);
            total = graph.sub(total, term);
        }
        let explicit = graph.derivative(momentum, symbols.t);
        forces.push(graph.sub(total, explicit));
    }
    forces
}

impl System for Lagrangian {
    fn coordinates(&self) -> Coordinates {
        self.coordinates.iter().zip(&self.units).map(|(name, unit)| Coordinate::new(name.clone(), unit.clone())).collect()
    }

    fn velocities(&self) -> Coordinates {
        self.coordinates().iter().map(|c| c.rate()).collect()
    }

    fn block_sizes(&self) -> Vec<usize> {
        vec![self.coordinates.len()]
    }

    fn mass_is_constant(&self) -> bool {
        self.mass_is_constant
    }

    fn is_affine(&self) -> bool {
        self.affine
    }

    fn mass(&self, t: f64, q: &[f64], mass: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        let n = self.coordinates.len();
        scratch.inputs.clear();
        scratch.inputs.push(t);
        scratch.inputs.extend_from_slice(q);
        scratch.inputs.resize(1 + 2 * n, 0.0);
        scratch.outputs.resize(self.mass.n_outputs(), 0.0);
        self.mass.evaluate(&scratch.inputs, &mut scratch.registers, &mut scratch.outputs);
        let mut entries = scratch.outputs.iter();
        for i in 0..n {
            for (j, &entry) in (0..=i).zip(entries.by_ref()) {
                if !entry.is_finite() {
                    return Err(NonFinite {
                        what: format!("the mass matrix entry ({}, {})", self.coordinates[i], self.coordinates[j]),
                        value: entry,
                    });
                }
                mass[i * n + j] = entry;
                mass[j * n + i] = entry;
            }
        }
        Ok(())
    }

    fn force(&self, t: f64, q: &[f64], v: &[f64], force: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        force.fill(0.0);
        self.inertial.add_force(t, q, v, force, scratch)?;
        match &self.applied {
            Some(applied) => applied.add_force(t, q, v, force, scratch),
            None => Ok(()),
        }
    }

    fn add_jacobians(&self, at: Instant<'_>, factors: JacobianFactors, matrix: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        self.inertial.add_jacobians(at, factors, matrix, scratch)?;
        match &self.applied {
            Some(applied) => applied.add_jacobians(at, factors, matrix, scratch),
            None => Ok(()),
        }
    }

    fn add_mass_derivative(
        &self,
        t: f64,
        q: &[f64],
        a: &[f64],
        factor: f64,
        matrix: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        let ((places, tape), n) = (&self.mass_derivative, self.coordinates.len());
        if places.is_empty() {
            return Ok(());
        }
        evaluate(tape, t, q, a, scratch);
        for (&value, &(i, j)) in scratch.outputs.iter().zip(places) {
            if !value.is_finite() {
                let what = format!("the derivative of row {} of the mass matrix by {}", self.coordinates[i], self.coordinates[j]);
                return Err(NonFinite { what, value });
            }
            matrix[i * n + j] += factor * value;
        }
        Ok(())
    }

    fn switches(&self) -> Vec<StateFunction> {
        self.switches.clone()
    }

    fn exchanges_energy(&self) -> bool {
        self.applied.is_some() || self.explicit.is_some()
    }

    fn applied_force(&self, t: f64, q: &[f64], v: &[f64], force: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        match &self.applied {
            Some(applied) => applied.add_force(t, q, v, force, scratch),
            None => Ok(()),
        }
    }

    fn explicit_power(&self, t: f64, q: &[f64], v: &[f64], scratch: &mut Scratch) -> Result<f64, NonFinite> {
        let Some(tape) = &self.explicit else { return Ok(0.0) };
        evaluate(tape, t, q, v, scratch);
        check_finite(&scratch.outputs, |_| "the time derivative of the energies".to_owned())?;
        Ok(scratch.outputs[0])
    }

    fn energy(&self, t: f64, q: &[f64], v: &[f64], scratch: &mut Scratch) -> Result<(f64, f64), NonFinite> {
        evaluate(&self.energy, t, q, v, scratch);
        check_finite(&scratch.outputs, |i| ["the kinetic energy", "the potential energy"][i].to_owned())?;
        Ok((scratch.outputs[0], scratch.outputs[1]))
    }
}
