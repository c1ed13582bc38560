//! Linear systems  M q̈ + C q̇ + K q = f(t, q, q̇)  with constant matrices.

use super::formula_force::{Symbols, parse};
use super::{Coordinate, Coordinates, FormulaForce, Instant, JacobianFactors, Scratch, System};
use crate::block_diagonal::{dot, multiply_block};
use crate::error::{ModelError, NonFinite};
use crate::formula::{Graph, Scope};
use crate::systems::{StateFunction, StateSymbols};

/// A linear system; matrices row-major n × n.
#[derive(Clone, Debug)]
pub struct Linear {
    coordinates: Vec<String>,
    units: Vec<String>,
    mass: Vec<f64>,
    damping: Vec<f64>,
    stiffness: Vec<f64>,
    /// Constant force, counted as potential −f·q.
    force: Vec<f64>,
    excitation: Option<FormulaForce>,
    switches: Vec<StateFunction>,
    affine: bool,
    diagonal: bool,
}

impl Linear {
    /// A system with mass, damping and stiffness matrices (row-major, n²) and no force.
    ///
    /// # Errors
    /// Wrong sizes, values that are not finite, M not symmetric positive definite.
    pub fn new(coordinates: Vec<String>, mass: Vec<f64>, damping: Vec<f64>, stiffness: Vec<f64>) -> Result<Self, ModelError> {
        let n = coordinates.len();
        for (what, matrix) in [("mass", &mass), ("damping", &damping), ("stiffness", &stiffness)] {
            if matrix.len() != n * n {
                return Err(ModelError::WrongLength {
                    what: format!("the {what} matrix of the linear system"),
                    expected: n * n,
                    found: matrix.len(),
                });
            }
            if let Some(&value) = matrix.iter().find(|x| !x.is_finite()) {
                return Err(ModelError::OutOfRange {
                    what: format!("an entry of the {what} matrix"),
                    value,
                    expected: "a finite number is needed",
                });
            }
        }
        if !is_positive_definite(&mass, n) {
            return Err(ModelError::MassNotPositive { system: "the linear system".into() });
        }
        let diagonal = [&mass, &damping, &stiffness].iter().all(|m| (0..n * n).all(|k| k / n == k % n || m[k] == 0.0));
        Ok(Linear {
            force: vec![0.0; n],
            units: vec![String::new(); n],
            coordinates,
            mass,
            damping,
            stiffness,
            excitation: None,
            switches: Vec::new(),
            affine: true,
            diagonal,
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

    /// Adds a constant force, one value per coordinate.
    ///
    /// # Errors
    /// Wrong length or values that are not finite.
    pub fn with_force(mut self, force: Vec<f64>) -> Result<Self, ModelError> {
        if force.len() != self.coordinates.len() {
            return Err(ModelError::WrongLength {
                what: "the force of the linear system".into(),
                expected: self.coordinates.len(),
                found: force.len(),
            });
        }
        if let Some(&value) = force.iter().find(|x| !x.is_finite()) {
            return Err(ModelError::OutOfRange {
                what: "the force of the linear system".into(),
                value,
                expected: "a finite number is needed",
            });
        }
        self.force = force;
        Ok(self)
    }

    /// Adds forces by formula of (t, q, q_dot), one text per coordinate (empty for none).
    ///
    /// # Errors
    /// Wrong length or formulas that cannot be read.
    pub fn with_excitation(mut self, formulas: &[String], parameters: &[(String, f64)]) -> Result<Self, ModelError> {
        if formulas.len() != self.coordinates.len() {
            return Err(ModelError::WrongLength {
                what: "the force of the linear system".into(),
                expected: self.coordinates.len(),
                found: formulas.len(),
            });
        }
        let mut graph = Graph::new();
        let symbols = Symbols::new(&mut graph, &self.coordinates);
        let mut scope = Scope::new();
        scope.symbol("t", symbols.t);
        for (name, (&q, &v)) in self.coordinates.iter().zip(symbols.q.iter().zip(&symbols.v)) {
            scope.symbol(name, q);
            scope.symbol(&format!("{name}_dot"), v);
        }
        for (name, value) in parameters {
            scope.constant(name, *value);
        }
        let mut components = Vec::with_capacity(formulas.len());
        for (name, formula) in self.coordinates.iter().zip(formulas) {
            components.push(match formula.as_str() {
                "" => graph.constant(0.0),
                text => parse(&mut graph, &format!("force on {name}"), text, &scope)?,
            });
        }
        self.switches = StateFunction::switches(&mut graph, &components, &StateSymbols::from(&symbols));
        let excitation = FormulaForce::new(&mut graph, &symbols, "the force formula on", &self.coordinates, &components);
        self.affine = excitation.is_affine();
        self.diagonal = false;
        self.excitation = Some(excitation);
        Ok(self)
    }
}

/// Cholesky's factorisation exists (and M is symmetric up to round-off).
fn is_positive_definite(m: &[f64], n: usize) -> bool {
    let scale = m.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    let symmetric = (0..n).all(|i| (0..i).all(|j| (m[i * n + j] - m[j * n + i]).abs() <= 1e-12 * scale));
    symmetric && nalgebra::DMatrix::from_row_slice(n, n, m).cholesky().is_some()
}

impl System for Linear {
    fn coordinates(&self) -> Coordinates {
        self.coordinates.iter().zip(&self.units).map(|(name, unit)| Coordinate::new(name.clone(), unit.clone())).collect()
    }

    fn velocities(&self) -> Coordinates {
        self.coordinates().iter().map(|c| c.rate()).collect()
    }

    fn block_sizes(&self) -> Vec<usize> {
        if self.diagonal { vec![1; self.coordinates.len()] } else { vec![self.coordinates.len()] }
    }

    fn mass_is_constant(&self) -> bool {
        true
    }

    fn is_affine(&self) -> bool {
        self.affine
    }

    fn mass(&self, _: f64, _: &[f64], mass: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        if self.diagonal {
            let n = self.coordinates.len();
            for (i, m) in mass.iter_mut().enumerate() {
                *m = self.mass[i * (n + 1)];
            }
        } else {
            mass.copy_from_slice(&self.mass);
        }
        Ok(())
    }

    fn force(&self, t: f64, q: &[f64], v: &[f64], force: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        let n = q.len();
        for (i, f) in force.iter_mut().enumerate() {
            *f = self.force[i]
                - if self.diagonal {
                    self.stiffness[i * (n + 1)] * q[i] + self.damping[i * (n + 1)] * v[i]
                } else {
                    dot(&self.stiffness[i * n..(i + 1) * n], q) + dot(&self.damping[i * n..(i + 1) * n], v)
                };
        }
        match &self.excitation {
            Some(excitation) => excitation.add_force(t, q, v, force, scratch),
            None => Ok(()),
        }
    }

    fn add_jacobians(&self, at: Instant<'_>, factors: JacobianFactors, matrix: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        let n = self.coordinates.len();
        let stride = if self.diagonal { n + 1 } else { 1 };
        for (k, entry) in matrix.iter_mut().enumerate() {
            *entry += factors.velocity * self.damping[k * stride] + factors.position * self.stiffness[k * stride];
        }
        match &self.excitation {
            Some(excitation) => excitation.add_jacobians(at, factors, matrix, scratch),
            None => Ok(()),
        }
    }

    fn switches(&self) -> Vec<StateFunction> {
        self.switches.clone()
    }

    fn exchanges_energy(&self) -> bool {
        self.excitation.is_some() || self.damping.iter().any(|&c| c != 0.0)
    }

    fn applied_force(&self, t: f64, q: &[f64], v: &[f64], force: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        let n = q.len();
        for (i, f) in force.iter_mut().enumerate() {
            *f -= dot(&self.damping[i * n..(i + 1) * n], v);
        }
        match &self.excitation {
            Some(excitation) => excitation.add_force(t, q, v, force, scratch),
            None => Ok(()),
        }
    }

    fn energy(&self, _: f64, q: &[f64], v: &[f64], scratch: &mut Scratch) -> Result<(f64, f64), NonFinite> {
        let n = q.len();
        if self.diagonal {
            let (mut kinetic, mut potential) = (0.0, 0.0);
            for i in 0..n {
                kinetic += 0.5 * self.mass[i * (n + 1)] * v[i] * v[i];
                potential += (0.5 * self.stiffness[i * (n + 1)] * q[i] - self.force[i]) * q[i];
            }
            return Ok((kinetic, potential));
        }
        scratch.outputs.resize(n, 0.0);
        multiply_block(&self.mass, v, &mut scratch.outputs);
        let kinetic = 0.5 * dot(v, &scratch.outputs);
        multiply_block(&self.stiffness, q, &mut scratch.outputs);
        Ok((kinetic, 0.5 * dot(q, &scratch.outputs) - dot(&self.force, q)))
    }
}
