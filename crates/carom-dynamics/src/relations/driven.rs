//! A coordinate against a target that is a function of time: what motors hold.
//!
//! ```text
//! speed w(t):      u = ẋ − w(t),       g = 0, no position
//! place x*(t):     g = x − x*(t),      u = ẋ − ẋ*(t)
//! ```
//!
//! with the coordinate x = g of another relation of one row: an angle or a displacement of a joint, say. With [`crate::Law::Bounded`] the first is a velocity
//! motor, the second a position servo; with [`crate::Law::Bilateral`] both are ideal drives.

use super::{Relation, Rows};
use crate::error::{ModelError, NonFinite};
use crate::formula::{Expr, Graph, Scope, Tape};
use crate::systems::formula_force::{compile, parse};
use crate::systems::{Scratch, StateFunction};
use std::f64::consts::{PI, TAU};

/// What is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A speed w(t) \[rad/s or m/s\].
    Speed,
    /// A place x*(t) \[rad or m\].
    Place,
    /// An angle \[rad\], with the error g in (−π, π\]: the nearest way round.
    Angle,
}

/// The function of time of a target, and its parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TargetSource {
    /// Name for messages.
    pub name: String,
    /// Formula of t.
    pub text: String,
    /// Constants it may use.
    pub parameters: Vec<(String, f64)>,
}

/// A coordinate against a target.
pub struct Driven {
    inner: Box<dyn Relation>,
    target: Target,
    name: String,
    /// f, f', f'' of t.
    tape: Tape,
    /// f (speeds) or f' (places) does not depend on time.
    steady: bool,
}

impl Driven {
    /// Reads the function of time.
    ///
    /// # Errors
    /// A formula that cannot be read, or that uses more than t; [`ModelError::LawNeedsRows`] for a relation of several rows.
    pub fn new(inner: Box<dyn Relation>, target: Target, source: &TargetSource) -> Result<Self, ModelError> {
        if inner.n_rows() != 1 {
            let (name, rows) = (source.name.clone(), inner.n_rows());
            return Err(ModelError::LawNeedsRows { name, law: "drive", rows, needed: "one row" });
        }
        let mut graph = Graph::new();
        let mut scope = Scope::new();
        let t = graph.symbol("t");
        scope.symbol("t", t);
        for (name, value) in &source.parameters {
            scope.constant(name, *value);
        }
        let value = parse(&mut graph, &source.name, &source.text, &scope)?;
        let first = graph.derivative(value, t);
        let second = graph.derivative(first, t);
        let held: Expr = if target == Target::Speed { value } else { first };
        let steady = !graph.depends_on(held, &[t]);
        Ok(Driven { inner, target, name: source.name.clone(), tape: compile(&graph, &[t], &[value, first, second]), steady })
    }

    /// f, f', f'' at a time.
    fn at(&self, t: f64, scratch: &mut Scratch) -> Result<[f64; 3], NonFinite> {
        let mut values = [0.0; 3];
        self.tape.evaluate(&[t], &mut scratch.registers, &mut values);
        match values.iter().find(|x| !x.is_finite()) {
            Some(&value) => Err(NonFinite { what: self.name.clone(), value }),
            None => Ok(values),
        }
    }
}

impl Relation for Driven {
    fn n_rows(&self) -> usize {
        1
    }

    fn velocities(&self) -> &[usize] {
        self.inner.velocities()
    }

    fn is_constant(&self) -> bool {
        self.steady && self.inner.is_constant()
    }

    fn is_holonomic(&self) -> bool {
        self.target != Target::Speed
    }

    fn switches(&self) -> Vec<StateFunction> {
        self.inner.switches()
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
        self.inner.add_curvature(t, q, lambda, factor, matrix, scratch)
    }

    fn position(&self, t: f64, q: &[f64], g: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        if self.target == Target::Speed {
            g.fill(0.0);
            return Ok(());
        }
        let [place, ..] = self.at(t, scratch)?;
        self.inner.position(t, q, g, scratch)?;
        g[0] -= place;
        if self.target == Target::Angle {
            g[0] = PI - (PI - g[0]).rem_euclid(TAU);
        }
        Ok(())
    }

    fn jacobian(&self, t: f64, q: &[f64], rows: Rows<'_>, scratch: &mut Scratch) -> Result<(), NonFinite> {
        let [value, rate, _] = self.at(t, scratch)?;
        let Rows { jacobian, bias } = rows;
        self.inner.jacobian(t, q, Rows { jacobian, bias: &mut *bias }, scratch)?;
        bias[0] -= if self.target == Target::Speed { value } else { rate };
        Ok(())
    }

    fn acceleration_bias(&self, t: f64, q: &[f64], v: &[f64], bias: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        let [_, rate, second] = self.at(t, scratch)?;
        self.inner.acceleration_bias(t, q, v, bias, scratch)?;
        bias[0] -= if self.target == Target::Speed { rate } else { second };
        Ok(())
    }
}
