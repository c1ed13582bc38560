//! A compiled first-order system.

use super::law::MultiplierLaw;
use super::passivity::Passivity;
use super::source::FirstOrderSource;
use crate::error::{ModelError, NonFinite};
use crate::formula::Tape;
use crate::systems::{Coordinate, Scratch, SystemSet};
use carom_solvers::vi::Set;
use std::ops::Range;

/// The first-order part of a model; constant during a run.
#[derive(Clone, Debug)]
pub struct FirstOrderSet {
    pub(crate) states: Vec<Coordinate>,
    pub(crate) relations: Vec<RelationRows>,
    /// Names of the rows of all relations.
    pub(crate) rows: Vec<String>,
    pub(crate) sets: Vec<Set>,
    pub(crate) held: Vec<(String, f64)>,
    pub(crate) mass: Mass,
    /// Inputs of these tapes are those of [`Point`].
    pub(crate) drift: Tape,
    pub(crate) action: Tape,
    pub(crate) output: Tape,
    /// ∂h/∂t.
    pub(crate) output_rate: Tape,
    /// g and h are affine in λ.
    pub(crate) affine_in_multipliers: bool,
    pub(crate) drift_jacobian: Jacobian,
    pub(crate) action_jacobian: Jacobian,
    pub(crate) output_jacobian: Jacobian,
    pub(crate) linear: Option<LinearParts>,
    pub(crate) storage: Vec<f64>,
    /// The storage function was derived, not given.
    pub(crate) storage_is_derived: bool,
    pub(crate) passivity: Option<Passivity>,
    /// Recorded quantities, and the tape that gives them.
    pub(crate) signals: Vec<Coordinate>,
    pub(crate) signal_tape: Tape,
    /// Supplied and dissipated power.
    pub(crate) powers: Option<Tape>,
    /// Velocities on which it acts: the rows of f and g behind those of the states are these forces.
    pub(crate) forces: Vec<usize>,
    /// Velocities on which the rate of each coordinate of the mechanical part depends.
    pub(crate) pulls: Vec<Vec<usize>>,
    /// The formulas use coordinates or rates of the mechanical part, or act on it.
    pub(crate) is_coupled: bool,
}

/// A relation's place among the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct RelationRows {
    /// Its name.
    pub name: String,
    /// Its rows, those of a polytope's facets last.
    pub rows: Range<usize>,
    /// Its law.
    pub law: MultiplierLaw,
}

/// M.
#[derive(Clone, Debug)]
pub(crate) enum Mass {
    Identity,
    /// Row-major.
    Constant(Vec<f64>),
    /// Formulas: M by rows; inputs are those of [`Point`].
    Varying(Tape),
}

/// Entries of a derivative that are not identically zero.
#[derive(Clone, Debug)]
pub(crate) struct Jacobian {
    /// Row and variable (see [`Variable`]) of each output of the tape.
    pub places: Vec<(usize, Variable)>,
    pub tape: Tape,
}

/// What a formula is differentiated by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    State(usize),
    Multiplier(usize),
    Coordinate(usize),
    Velocity(usize),
}

/// A linear system: M ẋ = A x + B λ + a(t), y = C x + D λ + b(t), matrices row-major.
#[derive(Clone, Debug)]
pub struct LinearParts {
    /// M, n × n.
    pub mass: Vec<f64>,
    /// A, n × n.
    pub a: Vec<f64>,
    /// B, n × m.
    pub b: Vec<f64>,
    /// C, m × n.
    pub c: Vec<f64>,
    /// D, m × m.
    pub d: Vec<f64>,
    /// a and b, inputs t, the held inputs, and the coordinates (held values of control).
    pub(crate) forcing: Tape,
    /// a and b do not depend on t nor on inputs that are held.
    pub(crate) is_autonomous: bool,
    /// a or b depend on inputs that are held.
    pub(crate) is_held: bool,
}

/// Where the formulas are evaluated: t, x, λ, held inputs, q, v.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Point<'a> {
    pub t: f64,
    pub x: &'a [f64],
    pub lambda: &'a [f64],
    pub held: &'a [f64],
    pub q: &'a [f64],
    pub v: &'a [f64],
}

impl Point<'_> {
    fn gather(&self, inputs: &mut Vec<f64>) {
        inputs.clear();
        inputs.push(self.t);
        for part in [self.x, self.lambda, self.held, self.q, self.v] {
            inputs.extend_from_slice(part);
        }
    }
}

impl FirstOrderSet {
    /// Reads, differentiates and compiles a system over the mechanical systems of its model.
    ///
    /// # Errors
    /// [`ModelError`] naming the formula, name or size that is wrong.
    pub fn new(source: &FirstOrderSource, systems: &SystemSet) -> Result<Self, ModelError> {
        super::compile::compile(source, systems)
    }

    /// The states, in order.
    #[must_use]
    pub fn states(&self) -> &[Coordinate] {
        &self.states
    }

    /// Names of all rows: those of outputs and multipliers alike.
    #[must_use]
    pub fn rows(&self) -> &[String] {
        &self.rows
    }

    /// The relations, in order.
    #[must_use]
    pub fn relations(&self) -> &[RelationRows] {
        &self.relations
    }

    /// The relation of a row.
    #[must_use]
    pub(crate) fn relation_of(&self, row: usize) -> &RelationRows {
        &self.relations[self.relations.partition_point(|relation| relation.rows.end <= row)]
    }

    /// The factors of K, in the order of the rows.
    #[must_use]
    pub fn sets(&self) -> &[Set] {
        &self.sets
    }

    /// All laws act row by row, each row on one of three pieces.
    #[must_use]
    pub fn has_pieces(&self) -> bool {
        self.sets.iter().all(|set| matches!(set, Set::Free { .. } | Set::NonNegative { .. } | Set::Interval { .. }))
    }

    /// Names and initial values of the held inputs, in the order of [`crate::State::held`].
    #[must_use]
    pub fn held(&self) -> &[(String, f64)] {
        &self.held
    }

    /// The matrices, where all Jacobians are constant.
    #[must_use]
    pub fn linear(&self) -> Option<&LinearParts> {
        self.linear.as_ref()
    }

    /// P of the storage function ½ xᵀP x, row-major, given or derived; empty where there is none.
    #[must_use]
    pub fn storage(&self) -> &[f64] {
        &self.storage
    }

    /// The storage function was derived from the matrices: its unit is that of λᵀy times seconds, whatever that is.
    #[must_use]
    pub fn storage_is_derived(&self) -> bool {
        self.storage_is_derived
    }

    /// What is known of its passivity; `None` where it is not linear, M is singular or it is large.
    #[must_use]
    pub fn passivity(&self) -> Option<&Passivity> {
        self.passivity.as_ref()
    }

    /// Names and units of the recorded quantities.
    #[must_use]
    pub fn signals(&self) -> &[Coordinate] {
        &self.signals
    }

    /// The recorded quantities; values that are not finite are passed on.
    pub(crate) fn write_signals(&self, at: &Point<'_>, out: &mut Vec<f64>, scratch: &mut Scratch) {
        at.gather(&mut scratch.inputs);
        out.resize(self.signals.len(), 0.0);
        self.signal_tape.evaluate(&scratch.inputs, &mut scratch.registers, out);
    }

    /// It has formulas of its powers.
    pub(crate) fn has_powers(&self) -> bool {
        self.powers.is_some()
    }

    /// Supplied and dissipated power \[W\]; zero without formulas.
    pub(crate) fn powers(&self, at: &Point<'_>, scratch: &mut Scratch) -> Result<[f64; 2], NonFinite> {
        let mut out = [0.0; 2];
        match &self.powers {
            None => Ok(out),
            Some(tape) => {
                let name = |i: usize| ["the supplied power", "the dissipated power"][i].to_owned();
                self.run(tape, at, &mut out, scratch, name).map(|()| out)
            }
        }
    }

    /// It depends on the mechanical part or acts on it.
    #[must_use]
    pub fn is_coupled(&self) -> bool {
        self.is_coupled
    }

    /// The velocities on which it acts, in the order of the rows of f and g behind those of the states.
    pub(crate) fn acted_on(&self) -> &[usize] {
        &self.forces
    }

    /// f(t, x) = M ẋ without multipliers, then the forces.
    pub(crate) fn drift(&self, at: &Point<'_>, out: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        self.run(&self.drift, at, out, scratch, |i| self.rate_name(i))
    }

    /// What row i of f and g is, for messages.
    fn rate_name(&self, i: usize) -> String {
        self.states.get(i).map_or_else(|| "a force on the mechanical part".to_owned(), |state| format!("the rate of {}", state.name))
    }

    /// r = g(t, x, λ), then the forces' parts.
    pub(crate) fn action(&self, at: &Point<'_>, out: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        self.run(&self.action, at, out, scratch, |i| self.rate_name(i))
    }

    /// y = h(t, x, λ).
    pub(crate) fn output(&self, at: &Point<'_>, out: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        self.run(&self.output, at, out, scratch, |i| format!("the output {}", self.rows[i]))
    }

    /// ∂h/∂t.
    pub(crate) fn output_rate(&self, at: &Point<'_>, out: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        self.run(&self.output_rate, at, out, scratch, |i| format!("the time derivative of the output {}", self.rows[i]))
    }

    fn run(
        &self,
        tape: &Tape,
        at: &Point<'_>,
        out: &mut [f64],
        scratch: &mut Scratch,
        name: impl Fn(usize) -> String,
    ) -> Result<(), NonFinite> {
        at.gather(&mut scratch.inputs);
        tape.evaluate(&scratch.inputs, &mut scratch.registers, out);
        crate::systems::formula_force::check_finite(out, name)
    }

    /// M(t, x), row-major.
    pub(crate) fn mass(&self, at: &Point<'_>, out: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        let n = self.states.len();
        match &self.mass {
            Mass::Identity => {
                out.fill(0.0);
                out.iter_mut().step_by(n + 1).for_each(|d| *d = 1.0);
                Ok(())
            }
            Mass::Constant(values) => {
                out.copy_from_slice(values);
                Ok(())
            }
            Mass::Varying(tape) => {
                self.run(tape, at, out, scratch, |k| format!("M of {} and {}", self.states[k / n].name, self.states[k % n].name))
            }
        }
    }

    /// Gives the entries of ∂f/∂·, ∂g/∂· or ∂h/∂· that are not identically zero.
    pub(crate) fn visit(
        &self,
        jacobian: &Jacobian,
        at: &Point<'_>,
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(usize, Variable, f64),
    ) -> Result<(), NonFinite> {
        if jacobian.places.is_empty() {
            return Ok(());
        }
        at.gather(&mut scratch.inputs);
        scratch.outputs.resize(jacobian.tape.n_outputs(), 0.0);
        jacobian.tape.evaluate(&scratch.inputs, &mut scratch.registers, &mut scratch.outputs);
        for (&value, &(row, variable)) in scratch.outputs.iter().zip(&jacobian.places) {
            if !value.is_finite() {
                return Err(NonFinite { what: format!("a derivative in row {} of the first-order system", row + 1), value });
            }
            visit(row, variable, value);
        }
        Ok(())
    }
}
