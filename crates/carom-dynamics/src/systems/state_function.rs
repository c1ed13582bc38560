//! A function of time, coordinates and velocities by formula, with its rate along the motion.

use crate::error::NonFinite;
use crate::formula::{Expr, Graph, Tape};
use crate::systems::formula_force::{Symbols, compile};
use crate::systems::{Instant, Scratch, SystemSet};

/// A watched function at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// f(t): an event when it falls through zero; > 0 means that nothing happens.
    pub value: f64,
    /// ḟ(t), where it is known.
    pub rate: Option<f64>,
}

impl Sample {
    /// The sign σ with which σ f is watched for the next change of sign in either direction: that of f, or of its rate where |f| ≤ threshold.
    #[must_use]
    pub fn side(&self, threshold: f64) -> f64 {
        let leading = if self.value.abs() > threshold { self.value } else { self.rate.unwrap_or(self.value) };
        if leading < 0.0 { -1.0 } else { 1.0 }
    }

    /// σ f and its rate.
    #[must_use]
    pub fn scaled(self, sigma: f64) -> Self {
        Sample { value: sigma * self.value, rate: self.rate.map(|rate| sigma * rate) }
    }
}

/// The symbols of a formula, with what they stand for: indices into the model's arrays, or into those of a system.
#[derive(Clone, Debug)]
pub struct StateSymbols {
    /// Time.
    pub t: Expr,
    /// Coordinates q.
    pub coordinates: Vec<(usize, Expr)>,
    /// Rates q̇, by the number of the coordinate.
    pub rates: Vec<(usize, Expr)>,
    /// Velocities v.
    pub velocities: Vec<(usize, Expr)>,
}

impl From<&Symbols> for StateSymbols {
    fn from(symbols: &Symbols) -> Self {
        let numbered = |list: &[Expr]| list.iter().copied().enumerate().collect();
        StateSymbols { t: symbols.t, coordinates: numbered(&symbols.q), rates: numbered(&symbols.v), velocities: Vec::new() }
    }
}

/// e(t, q, q̇, v) by formula. Its rate is
///
/// ```text
/// ė = ∂e/∂t + (∂e/∂q) q̇ + (∂e/∂q̇) q̈ + (∂e/∂v) v̇,     q̇ = T v,   q̈ = T v̇ + Ṫ v
/// ```
#[derive(Clone, Debug)]
pub struct StateFunction {
    text: String,
    /// Coordinates that occur, themselves or their rates.
    coordinates: Vec<usize>,
    /// Velocities that occur.
    velocities: Vec<usize>,
    /// e and ė; inputs t, q, q̇, v, q̈, v̇.
    tape: Tape,
    /// ė needs accelerations.
    accelerated: bool,
}

impl StateFunction {
    /// Compiles an expression of these symbols, and of no others.
    #[must_use]
    pub fn new(graph: &mut Graph, e: Expr, symbols: &StateSymbols) -> Self {
        let present = graph.symbols_of(e);
        let used = |list: &[(usize, Expr)]| list.iter().filter(|(_, symbol)| present.contains(symbol)).copied().collect::<Vec<_>>();
        let (own, rates, velocities) = (used(&symbols.coordinates), used(&symbols.rates), used(&symbols.velocities));
        let mut coordinates: Vec<usize> = own.iter().chain(&rates).map(|(i, _)| *i).collect();
        coordinates.sort_unstable();
        coordinates.dedup();
        let named = |graph: &mut Graph, list: &[(usize, Expr)], what: &str| -> Vec<Expr> {
            let find = |i: usize| list.iter().find(|(other, _)| *other == i).map(|(_, symbol)| *symbol);
            coordinates.iter().map(|&i| find(i).unwrap_or_else(|| graph.symbol(&format!("{what} of coordinate {i}")))).collect()
        };
        let q = named(graph, &own, "value");
        let q_dot = named(graph, &rates, "rate");
        let q_ddot = named(graph, &[], "acceleration");
        let v: Vec<Expr> = velocities.iter().map(|(_, symbol)| *symbol).collect();
        let v_dot: Vec<Expr> = velocities.iter().map(|(i, _)| graph.symbol(&format!("rate of velocity {i}"))).collect();

        let mut rate = graph.derivative(e, symbols.t);
        let pairs = q.iter().zip(&q_dot).chain(q_dot.iter().zip(&q_ddot)).chain(v.iter().zip(&v_dot));
        for (&of, &change) in pairs {
            let slope = graph.derivative(e, of);
            let term = graph.mul(slope, change);
            rate = graph.add(rate, term);
        }
        let accelerations = [q_ddot.as_slice(), &v_dot].concat();
        let accelerated = graph.depends_on(rate, &accelerations);
        let inputs = [&[symbols.t], q.as_slice(), &q_dot, &v, &accelerations].concat();
        StateFunction {
            text: graph.to_string(e),
            coordinates,
            velocities: velocities.iter().map(|(i, _)| *i).collect(),
            tape: compile(graph, &inputs, &[e, rate]),
            accelerated,
        }
    }

    /// The switching functions of these formulas, each once: see [`Graph::switches`].
    #[must_use]
    pub fn switches(graph: &mut Graph, formulas: &[Expr], symbols: &StateSymbols) -> Vec<Self> {
        let mut found: Vec<Expr> = Vec::new();
        for &formula in formulas {
            for switch in graph.switches(formula) {
                if !found.contains(&switch) {
                    found.push(switch);
                }
            }
        }
        found.into_iter().map(|e| StateFunction::new(graph, e, symbols)).collect()
    }

    /// The formula, simplified.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The rate needs v̇.
    #[must_use]
    pub fn needs_acceleration(&self) -> bool {
        self.accelerated
    }

    /// The same function of arrays in which those of its system begin at these places.
    #[must_use]
    pub fn shifted(mut self, coordinates: usize, velocities: usize) -> Self {
        self.coordinates.iter_mut().for_each(|i| *i += coordinates);
        self.velocities.iter_mut().for_each(|i| *i += velocities);
        self
    }

    /// Both are seen to be the same function. Very long formulas, whose text is cut off, never are.
    #[must_use]
    pub fn is_same(&self, other: &StateFunction) -> bool {
        let is_whole = !self.text.ends_with("...");
        is_whole && self.text == other.text && self.coordinates == other.coordinates && self.velocities == other.velocities
    }

    /// Value and rate at an instant of the model; no rate where it needs an acceleration and none is given, or is not finite.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula if the value is not finite.
    pub fn sample(
        &self,
        systems: &SystemSet,
        at: Instant<'_>,
        acceleration: Option<&[f64]>,
        scratch: &mut Scratch,
    ) -> Result<Sample, NonFinite> {
        let (q, v) = (at.q, at.v);
        scratch.inputs.clear();
        scratch.inputs.push(at.t);
        scratch.inputs.extend(self.coordinates.iter().map(|&c| q[c]));
        scratch.inputs.extend(self.coordinates.iter().map(|&c| systems.rate(q, v, c)));
        scratch.inputs.extend(self.velocities.iter().map(|&i| v[i]));
        match acceleration {
            Some(a) => {
                scratch.inputs.extend(self.coordinates.iter().map(|&c| systems.rate(q, a, c) + systems.rate_bias(q, v, c)));
                scratch.inputs.extend(self.velocities.iter().map(|&i| a[i]));
            }
            None => scratch.inputs.resize(self.tape.n_inputs(), 0.0),
        }
        let mut out = [0.0; 2];
        self.tape.evaluate(&scratch.inputs, &mut scratch.registers, &mut out);
        let [value, rate] = out;
        if !value.is_finite() {
            return Err(NonFinite { what: format!("`{}`", self.text), value });
        }
        let is_known = rate.is_finite() && (acceleration.is_some() || !self.accelerated);
        Ok(Sample { value, rate: is_known.then_some(rate) })
    }
}
