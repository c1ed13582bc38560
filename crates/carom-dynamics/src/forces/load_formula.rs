//! Three components by formula of time, of the motion of bodies, and of coordinates, with their derivatives.

use crate::error::{ModelError, NonFinite};
use crate::formula::{Expr, Function, Graph, Scope, Tape};
use crate::systems::formula_force::{compile, parse};
use crate::systems::{FrameId, Instant, Scratch, SystemSet};
use nalgebra::{Matrix3, Vector3};

/// What formulas see of a body: the position of its centre, its rotation vector, its velocity and angular velocity, all in the world frame.
pub(super) const QUANTITIES: [&str; 12] = ["x", "y", "z", "rx", "ry", "rz", "vx", "vy", "vz", "wx", "wy", "wz"];

/// A vector e(t, bodies, coordinates) by formula.
#[derive(Debug)]
pub(super) struct LoadFormula {
    what: String,
    /// Bodies that are seen.
    pub frames: Vec<FrameId>,
    /// Coordinates that are seen, with their velocities where q̇ = v.
    pub coordinates: Vec<(usize, Option<usize>)>,
    /// e; inputs t, twelve per body, coordinates, their rates.
    value: Tape,
    /// ∂e by the inputs but t, row-major.
    slopes: Tape,
    switches: Tape,
    pub switch_names: Vec<String>,
    /// e where it is constant.
    pub constant: Option<Vector3<f64>>,
}

/// ∂e by (x, rotation vector, velocity, angular velocity) of a body.
pub(super) type BodySlopes = [Matrix3<f64>; 4];

impl LoadFormula {
    /// Reads the formulas of a load on the body `own`. Its quantities have their short names (`x`, `vx`), those of all bodies their full ones
    /// (`ball.x`); then coordinates by name, and their rates `NAME_dot` where these are velocities.
    pub fn new(
        what: &str,
        own: (&str, FrameId),
        texts: &[String; 3],
        parameters: &[(String, f64)],
        systems: &SystemSet,
    ) -> Result<Self, ModelError> {
        let mut scope = Reach::new(own, parameters);
        let mut outputs = Vec::with_capacity(3);
        for text in texts {
            scope.extend(text, systems);
        }
        for text in texts {
            outputs.push(match parse(&mut scope.graph, what, text, &scope.scope) {
                Ok(e) => e,
                // again with all names, for the nearest of them in the message
                Err(_) => {
                    scope.extend_all(systems);
                    parse(&mut scope.graph, what, text, &scope.scope)?
                }
            });
        }
        let Reach { mut graph, t, frames, coordinates, .. } = scope;
        let symbols: Vec<Expr> = frames.iter().flat_map(|f| f.1.iter().copied()).collect();
        let (values, rates): (Vec<Expr>, Vec<Expr>) = coordinates.iter().map(|c| (c.1, c.2)).unzip();
        let state = [symbols, values, rates].concat();
        let inputs = [&[t], state.as_slice()].concat();
        let pairs = outputs.iter().flat_map(|&e| state.iter().map(move |&x| (e, x)));
        let slopes: Vec<Expr> = pairs.map(|(e, x)| graph.derivative(e, x)).collect();
        let mut switches = Vec::new();
        for &e in &outputs {
            for switch in graph.switches(e) {
                if !switches.contains(&switch) {
                    switches.push(switch);
                }
            }
        }
        let constants: Vec<Option<f64>> = outputs.iter().map(|&e| graph.as_constant(e)).collect();
        let constant = match constants[..] {
            [Some(x), Some(y), Some(z)] => Some(Vector3::new(x, y, z)),
            _ => None,
        };
        let velocity = |c: usize| {
            let found = systems.velocities_of(&[c]);
            if systems.is_flat(c) && found.len() == 1 { Some(found[0]) } else { None }
        };
        Ok(LoadFormula {
            what: what.to_owned(),
            frames: frames.iter().map(|f| f.0).collect(),
            coordinates: coordinates.iter().map(|c| (c.0, velocity(c.0))).collect(),
            value: compile(&graph, &inputs, &outputs),
            slopes: compile(&graph, &inputs, &slopes),
            switches: compile(&graph, &inputs, &switches),
            switch_names: switches.iter().map(|&e| graph.to_string(e)).collect(),
            constant,
        })
    }

    fn run(&self, tape: &Tape, systems: &SystemSet, at: Instant<'_>, scratch: &mut Scratch) {
        let Scratch { inputs, registers, outputs, .. } = scratch;
        inputs.clear();
        inputs.push(at.t);
        for &frame in &self.frames {
            let pose = systems.frame(at.q, frame);
            inputs.extend_from_slice(pose.origin.as_slice());
            inputs.extend_from_slice(pose.orientation.scaled_axis().as_slice());
            inputs.extend_from_slice(&systems.frame_velocity(at.q, at.v, frame));
        }
        inputs.extend(self.coordinates.iter().map(|&(c, _)| at.q[c]));
        inputs.extend(self.coordinates.iter().map(|&(_, v)| v.map_or(0.0, |v| at.v[v])));
        outputs.resize(tape.n_outputs(), 0.0);
        tape.evaluate(inputs, registers, outputs);
    }

    /// e.
    pub fn value(&self, systems: &SystemSet, at: Instant<'_>, scratch: &mut Scratch) -> Result<Vector3<f64>, NonFinite> {
        if let Some(constant) = self.constant {
            return Ok(constant);
        }
        self.run(&self.value, systems, at, scratch);
        match scratch.outputs.iter().find(|x| !x.is_finite()) {
            None => Ok(Vector3::from_column_slice(&scratch.outputs)),
            Some(&value) => Err(NonFinite { what: format!("the {}", self.what), value }),
        }
    }

    /// Writes the derivatives to the outputs of the scratch: see [`LoadFormula::of_body`].
    pub fn differentiate(&self, systems: &SystemSet, at: Instant<'_>, scratch: &mut Scratch) -> Result<(), NonFinite> {
        self.run(&self.slopes, systems, at, scratch);
        match scratch.outputs.iter().find(|x| !x.is_finite()) {
            None => Ok(()),
            Some(&value) => Err(NonFinite { what: format!("a derivative of the {}", self.what), value }),
        }
    }

    fn width(&self) -> usize {
        12 * self.frames.len() + 2 * self.coordinates.len()
    }

    /// ∂e by the motion of the body with this number.
    pub fn of_body(&self, slopes: &[f64], body: usize) -> BodySlopes {
        std::array::from_fn(|k| Matrix3::from_fn(|i, j| slopes[i * self.width() + 12 * body + 3 * k + j]))
    }

    /// ∂e by the coordinate with this number and by its rate.
    pub(crate) fn of_coordinate(&self, slopes: &[f64], coordinate: usize) -> [Vector3<f64>; 2] {
        let first = 12 * self.frames.len() + coordinate;
        [first, first + self.coordinates.len()].map(|column| Vector3::from_fn(|i, _| slopes[i * self.width() + column]))
    }

    /// Value of a switching function.
    pub(crate) fn switch_value(&self, systems: &SystemSet, at: Instant<'_>, switch: usize, scratch: &mut Scratch) -> f64 {
        self.run(&self.switches, systems, at, scratch);
        scratch.outputs[switch]
    }
}

/// The names within reach of the formulas of a load. Only those that occur get symbols: a model may have a million coordinates.
struct Reach {
    graph: Graph,
    scope: Scope,
    t: Expr,
    frames: Vec<(FrameId, [Expr; 12])>,
    /// Number, symbol, symbol of the rate.
    coordinates: Vec<(usize, Expr, Expr)>,
}

impl Reach {
    fn new((name, own): (&str, FrameId), parameters: &[(String, f64)]) -> Self {
        let (mut graph, mut scope) = (Graph::new(), Scope::new());
        let t = graph.symbol("t");
        for (key, value) in parameters {
            scope.constant(key, *value);
        }
        scope.symbol("t", t);
        let symbols = QUANTITIES.map(|quantity| graph.symbol(&format!("{name}.{quantity}")));
        for (quantity, symbol) in QUANTITIES.iter().zip(symbols) {
            scope.symbol(quantity, symbol).symbol(&format!("{name}.{quantity}"), symbol);
        }
        Reach { graph, scope, t, frames: vec![(own, symbols)], coordinates: Vec::new() }
    }

    /// Adds the names of a text that are quantities of bodies or coordinates.
    fn extend(&mut self, text: &str, systems: &SystemSet) {
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
        let is_new = |scope: &Scope, word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && !scope.contains(word);
        let unknown: Vec<&str> = words.filter(|word| is_new(&self.scope, word) && Function::from_name(word).is_none()).collect();
        let mut left = Vec::new();
        for word in unknown {
            let body = word.rsplit_once('.').filter(|(_, quantity)| QUANTITIES.contains(quantity)).and_then(|(body, _)| {
                let frame = systems.find_frame(body)?;
                Some((body, frame))
            });
            match body {
                Some(body) => self.add_body(body),
                None => left.push(word),
            }
        }
        if left.is_empty() {
            return;
        }
        let all = systems.coordinates();
        let names = left.iter().flat_map(|word| [Some(*word), word.strip_suffix("_dot")]).flatten();
        let mut found: Vec<usize> = names.filter_map(|name| all.position(name)).collect();
        found.sort_unstable();
        found.dedup();
        for c in found {
            self.add_coordinate(c, &all.name(c), systems);
        }
    }

    fn extend_all(&mut self, systems: &SystemSet) {
        for body in systems.frames() {
            if let Some(frame) = systems.find_frame(&body) {
                self.add_body((&body, frame));
            }
        }
        for (c, coordinate) in systems.coordinates().iter().enumerate() {
            self.add_coordinate(c, &coordinate.name, systems);
        }
    }

    fn add_body(&mut self, (name, frame): (&str, FrameId)) {
        if self.frames.iter().any(|(other, _)| *other == frame) {
            return;
        }
        let symbols = QUANTITIES.map(|quantity| self.graph.symbol(&format!("{name}.{quantity}")));
        for (quantity, symbol) in QUANTITIES.iter().zip(symbols) {
            self.scope.symbol(&format!("{name}.{quantity}"), symbol);
        }
        self.frames.push((frame, symbols));
    }

    fn add_coordinate(&mut self, c: usize, name: &str, systems: &SystemSet) {
        if self.scope.contains(name) {
            return;
        }
        let rate = format!("{name}_dot");
        let (value, of_rate) = (self.graph.symbol(name), self.graph.symbol(&rate));
        self.scope.symbol(name, value);
        if systems.is_flat(c) {
            self.scope.symbol(&rate, of_rate);
        }
        self.coordinates.push((c, value, of_rate));
    }
}
