//! Non-conservative forces by formula of (t, q, q̇), with their Jacobians by symbolic differentiation.

use super::{JacobianFactors, Scratch};
use crate::error::{ModelError, NonFinite};
use crate::formula::{Expr, Graph, Tape};

/// The symbols of a system's formulas: time, coordinates, rates.
#[derive(Clone, Debug)]
pub struct Symbols {
    /// Time.
    pub t: Expr,
    /// Coordinates, in order.
    pub q: Vec<Expr>,
    /// Rates, in order.
    pub v: Vec<Expr>,
}

impl Symbols {
    /// Symbols `t`, the coordinates' names, and the names with `_dot` appended.
    #[must_use]
    pub fn new(graph: &mut Graph, coordinates: &[String]) -> Self {
        let t = graph.symbol("t");
        let q = coordinates.iter().map(|name| graph.symbol(name)).collect();
        let v = coordinates.iter().map(|name| graph.symbol(&format!("{name}_dot"))).collect();
        Symbols { t, q, v }
    }

    /// All of them in the order of a tape's inputs: t, q, v.
    #[must_use]
    pub fn inputs(&self) -> Vec<Expr> {
        std::iter::once(self.t).chain(self.q.iter().copied()).chain(self.v.iter().copied()).collect()
    }
}

/// Gathers (t, q, v) as inputs of a tape and evaluates it into `scratch.outputs`.
pub(crate) fn evaluate(tape: &Tape, t: f64, q: &[f64], v: &[f64], scratch: &mut Scratch) {
    scratch.inputs.clear();
    scratch.inputs.push(t);
    scratch.inputs.extend_from_slice(q);
    scratch.inputs.extend_from_slice(v);
    scratch.outputs.resize(tape.n_outputs(), 0.0);
    tape.evaluate(&scratch.inputs, &mut scratch.registers, &mut scratch.outputs);
}

/// The first value that is not finite, named by `name`.
pub(crate) fn check_finite(values: &[f64], name: impl Fn(usize) -> String) -> Result<(), NonFinite> {
    match values.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(i) => Err(NonFinite { what: name(i), value: values[i] }),
    }
}

/// Compiles outputs that use only the given symbols.
pub(crate) fn compile(graph: &Graph, inputs: &[Expr], outputs: &[Expr]) -> Tape {
    // every symbol of a parsed formula comes from its scope, and the scope holds exactly the inputs
    Tape::compile(graph, inputs, outputs).expect("formulas use only the symbols of their scope")
}

/// f(t, q, q̇) by formula.
#[derive(Clone, Debug)]
pub struct FormulaForce {
    label: &'static str,
    names: Vec<String>,
    force: Tape,
    /// Entries (row, column) of −∂f/∂v and −∂f/∂q that are not identically zero, in the order of the tape's outputs.
    damping: Vec<(usize, usize)>,
    stiffness: Vec<(usize, usize)>,
    jacobian: Tape,
    affine: bool,
}

impl FormulaForce {
    /// Compiles the components `f` (one per coordinate) with their Jacobians; messages say "`label` coordinate".
    #[must_use]
    pub fn new(graph: &mut Graph, symbols: &Symbols, label: &'static str, coordinates: &[String], f: &[Expr]) -> Self {
        let inputs = symbols.inputs();
        let (mut damping, mut stiffness, mut entries) = (Vec::new(), Vec::new(), Vec::new());
        for (wanted, places) in [(&symbols.v, &mut damping), (&symbols.q, &mut stiffness)] {
            for (i, &component) in f.iter().enumerate() {
                for (j, &symbol) in wanted.iter().enumerate() {
                    let derivative = graph.derivative(component, symbol);
                    if !graph.is_zero(derivative) {
                        places.push((i, j));
                        entries.push(derivative);
                    }
                }
            }
        }
        let affine = entries.iter().all(|&e| graph.as_constant(e).is_some());
        FormulaForce {
            label,
            names: coordinates.to_vec(),
            force: compile(graph, &inputs, f),
            jacobian: compile(graph, &inputs, &entries),
            damping,
            stiffness,
            affine,
        }
    }

    /// ∂f/∂q and ∂f/∂q̇ are constant.
    #[must_use]
    pub fn is_affine(&self) -> bool {
        self.affine
    }

    /// Adds f to `force`.
    ///
    /// # Errors
    /// [`NonFinite`] naming the component.
    pub fn add_force(&self, t: f64, q: &[f64], v: &[f64], force: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        evaluate(&self.force, t, q, v, scratch);
        check_finite(&scratch.outputs, |i| format!("{} {}", self.label, self.names[i]))?;
        for (total, f) in force.iter_mut().zip(&scratch.outputs) {
            *total += f;
        }
        Ok(())
    }

    /// Adds c_v C + c_q K, C = −∂f/∂v, K = −∂f/∂q, to a dense row-major matrix.
    ///
    /// # Errors
    /// [`NonFinite`] naming the component.
    pub fn add_jacobians(
        &self,
        at: super::Instant<'_>,
        factors: JacobianFactors,
        matrix: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        if self.jacobian.n_outputs() == 0 {
            return Ok(());
        }
        evaluate(&self.jacobian, at.t, at.q, at.v, scratch);
        let n = self.names.len();
        let places = self.damping.iter().map(|p| (p, factors.velocity)).chain(self.stiffness.iter().map(|p| (p, factors.position)));
        for (&value, (&(i, j), factor)) in scratch.outputs.iter().zip(places) {
            if !value.is_finite() {
                return Err(NonFinite { what: format!("the derivative of the force on {} by {}", self.names[i], self.names[j]), value });
            }
            matrix[i * n + j] -= factor * value;
        }
        Ok(())
    }
}

/// Parses a formula, wrapping its error with the name of the formula.
pub(crate) fn parse(graph: &mut Graph, what: &str, text: &str, scope: &crate::formula::Scope) -> Result<Expr, ModelError> {
    crate::formula::parse(graph, text, scope).map_err(|error| ModelError::Formula {
        what: what.to_owned(),
        text: text.to_owned(),
        error: Box::new(error),
    })
}
