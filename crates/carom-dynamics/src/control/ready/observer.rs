//! The Luenberger observer of ẋ = A x + B u, y = C x.
//!
//! ```text
//! continuous   x̂' = A x̂ + B u + L (y − C x̂)                          e' = (A − L C) e
//! sampled      x̂_{k+1} = Φ x̂_k + Γ u_k + L (y_k − C x̂_k)              e_{k+1} = (Φ − L C) e_k,      [Φ Γ; 0 1] = exp(T [A B; 0 0])
//! ```
//!
//! Sampled, the plant's matrices are discretised exactly for inputs that are held, so that the error decays as Φ − L C says.

use crate::control::{Clock, ControllerSource, StateSource};
use crate::error::ModelError;
use crate::first_order::source::linear_form;
use nalgebra::DMatrix;

/// An observer; its outputs `STATE_hat` are the estimates at the present instant, its states `STATE_state` what it remembers.
#[derive(Clone, Debug, PartialEq)]
pub struct ObserverSource {
    /// Name.
    pub name: String,
    /// When it acts; `None`: in continuous time.
    pub clock: Option<Clock>,
    /// Names of the estimates x̂.
    pub states: Vec<String>,
    /// Their values at the start.
    pub initial: Vec<f64>,
    /// A, n × n, row-major.
    pub a: Vec<f64>,
    /// B, n × m.
    pub b: Vec<f64>,
    /// C, p × n.
    pub c: Vec<f64>,
    /// L, n × p.
    pub gain: Vec<f64>,
    /// u, m formulas.
    pub inputs: Vec<String>,
    /// y, p formulas.
    pub measured: Vec<String>,
}

impl ObserverSource {
    /// The controller by formula. Estimates are outputs `NAME.STATE_hat` at the present instant.
    ///
    /// # Errors
    /// [`ModelError::WrongLength`].
    pub fn controller(&self) -> Result<ControllerSource, ModelError> {
        let (n, m, p) = (self.states.len(), self.inputs.len(), self.measured.len());
        let sizes = [("A", &self.a, n * n), ("B", &self.b, n * m), ("C", &self.c, p * n), ("L", &self.gain, n * p)];
        for (matrix, values, expected) in sizes {
            if values.len() != expected {
                let what = format!("the matrix {matrix} of observer \"{}\"", self.name);
                return Err(ModelError::WrongLength { what, expected, found: values.len() });
            }
        }
        if self.initial.len() != n {
            return Err(ModelError::WrongLength {
                what: format!("`initial` of observer \"{}\"", self.name),
                expected: n,
                found: self.initial.len(),
            });
        }
        let (a, b) = match self.clock {
            Some(clock) => self.discrete(clock.period),
            None => (self.a.clone(), self.b.clone()),
        };
        // estimates are often called as what they estimate: inside, they have names of their own
        let own: Vec<String> = self.states.iter().map(|name| format!("{name}_state")).collect();
        let mut source = ControllerSource { name: self.name.clone(), clock: self.clock, ..ControllerSource::default() };
        for (j, input) in self.inputs.iter().enumerate() {
            source.locals.push((format!("input{}", j + 1), input.clone()));
        }
        for (i, measured) in self.measured.iter().enumerate() {
            let predicted = linear_form(&texts(&self.c[i * n..(i + 1) * n]), &own, "0");
            source.locals.push((format!("innovation{}", i + 1), format!("({measured}) - ({predicted})")));
        }
        let inputs: Vec<String> = (1..=m).map(|j| format!("input{j}")).collect();
        let innovations: Vec<String> = (1..=p).map(|i| format!("innovation{i}")).collect();
        let all = [own.clone(), inputs, innovations].concat();
        for (i, name) in self.states.iter().enumerate() {
            let row = [texts(&a[i * n..(i + 1) * n]), texts(&b[i * m..(i + 1) * m]), texts(&self.gain[i * p..(i + 1) * p])].concat();
            let next = linear_form(&row, &all, "0");
            let (update, rate) = if self.clock.is_some() { (Some(next), None) } else { (None, Some(next)) };
            source.states.push(StateSource { name: own[i].clone(), initial: self.initial[i], update, rate });
            source.outputs.push((format!("{name}_hat"), own[i].clone()));
        }
        Ok(source)
    }

    /// Φ and Γ.
    fn discrete(&self, period: f64) -> (Vec<f64>, Vec<f64>) {
        let (n, m) = (self.states.len(), self.inputs.len());
        let mut whole = DMatrix::zeros(n + m, n + m);
        whole.view_mut((0, 0), (n, n)).copy_from(&DMatrix::from_row_slice(n, n, &self.a));
        whole.view_mut((0, n), (n, m)).copy_from(&DMatrix::from_row_slice(n, m, &self.b));
        let exponential = (whole * period).exp();
        let rows =
            |first: usize, count: usize| (0..n).flat_map(|i| (0..count).map(move |j| (i, first + j))).map(|at| exponential[at]).collect();
        (rows(0, n), rows(n, m))
    }
}

fn texts(values: &[f64]) -> Vec<String> {
    values.iter().map(|x| format!("{x:e}")).collect()
}
