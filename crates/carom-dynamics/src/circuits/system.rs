//! From a circuit to its first-order system.

use super::element::{Circuit, ElementKind};
use super::elimination::{Eliminated, eliminate};
use super::error::CircuitError;
use super::form::{Column, Form};
use super::network::{Network, node_name};
use super::powers::powers;
use super::topology::Topology;
use crate::first_order::{FirstOrderSource, MultiplierLaw, RelationSource};
use crate::systems::Coordinate;
use nalgebra::DMatrix;

impl Circuit {
    /// The circuit as a first-order system, with node voltages `v.NODE` and currents `i.ELEMENT` among its signals.
    ///
    /// States are `NAME.v` of capacitors and `NAME.i` of coils, in the order of the netlist; [`Circuit::initial_states`] has their initial values. Cost: O(n³) in the number of nodes, once.
    ///
    /// # Errors
    /// [`CircuitError`] naming the element and how to mend it.
    pub fn system(&self) -> Result<FirstOrderSource, CircuitError> {
        self.check_elements()?;
        let topology = Topology::new(self);
        topology.check(self)?;
        let network = Network::new(self, &topology)?;
        if network.states.is_empty() {
            let help = "add a capacitor or a coil: a circuit of sources, resistors and diodes alone has no motion";
            return Err(CircuitError::new(None, "the circuit has neither capacitors nor coils", help));
        }
        let rows: Vec<Form> = network.balances.iter().chain(network.branches.iter().map(|(_, form)| form)).cloned().collect();
        let nodes = (0..network.nodes.len()).map(Column::Node);
        let unknowns: Vec<Column> = nodes.chain(network.branches.iter().map(|(element, _)| Column::Branch(*element))).collect();
        let solved = eliminate(rows, &unknowns);
        Assembly { circuit: self, network: &network, solved: &solved }.system()
    }

    /// Initial values of the states, in their order: voltages of capacitors \[V\], currents of coils \[A\].
    #[must_use]
    pub fn initial_states(&self) -> Vec<f64> {
        let value = |kind: &ElementKind| match kind {
            ElementKind::Capacitor { initial, .. } | ElementKind::Inductor { initial, .. } => Some(*initial),
            _ => None,
        };
        self.elements.iter().filter_map(|element| value(&element.kind)).collect()
    }

    /// A formula of the user with the names that `v(NODE)` and `i(ELEMENT)` have in [`Circuit::system`].
    ///
    /// # Errors
    /// [`CircuitError`] naming the node or element that does not exist.
    pub fn formula(&self, text: &str) -> Result<String, CircuitError> {
        let topology = Topology::new(self);
        Network::new(self, &topology)?.formula(self, 0, text).map_err(|error| CircuitError { element: None, ..error })
    }
}

struct Assembly<'a> {
    circuit: &'a Circuit,
    network: &'a Network,
    solved: &'a Eliminated,
}

impl Assembly<'_> {
    fn system(&self) -> Result<FirstOrderSource, CircuitError> {
        let Assembly { circuit, network, solved } = self;
        self.check_left()?;
        let storage = self.storage()?;
        let mut relations: Vec<RelationSource> = network.laws.iter().map(|law| self.relation(law)).collect();
        if !solved.left.is_empty() {
            relations.push(self.left_equations());
        }
        let leaks: Vec<String> =
            solved.left.iter().filter(|c| matches!(c, Column::Node(_)) && circuit.leak > 0.0).map(|&c| self.name(c)).collect();
        let unit = |element: usize| if self.is_capacitor(element) { "V" } else { "A" };
        Ok(FirstOrderSource {
            states: network.states.iter().map(|&(e, _)| Coordinate::new(self.name(Column::State(e)), unit(e))).collect(),
            parameters: circuit.parameters.clone(),
            rates: self.rates(&storage),
            inputs: self.inputs(),
            relations,
            signals: self.signals(),
            powers: Some(powers(circuit, network, &leaks)),
            storage: storage.transpose().as_slice().to_vec(),
            ..FirstOrderSource::default()
        })
    }

    fn is_capacitor(&self, element: usize) -> bool {
        matches!(self.circuit.elements[element].kind, ElementKind::Capacitor { .. })
    }

    /// The name of a column in formulas.
    fn name(&self, column: Column) -> String {
        let of = |element: usize| &self.circuit.elements[element].name;
        match column {
            Column::Node(k) => node_name(&self.network.nodes[k]),
            Column::Branch(element) => format!("{}.i", of(element)),
            Column::State(element) if self.is_capacitor(element) => format!("{}.v", of(element)),
            Column::State(element) => format!("{}.i", of(element)),
            Column::Multiplier(k) => self.network.multipliers[k].clone(),
            Column::Source(k) => self.network.sources[k].0.clone(),
            Column::One => "1".to_owned(),
        }
    }

    /// A form of the network in what is left after elimination, as a formula.
    fn text(&self, form: &Form) -> String {
        self.solved.apply(form).text(&|column| self.name(column))
    }

    /// Equations that are left must depend on something that can make them hold.
    fn check_left(&self) -> Result<(), CircuitError> {
        let is_unknown = |column: Column| matches!(column, Column::State(_) | Column::Multiplier(_));
        let Some((_, weight)) = self.solved.equations.iter().find(|(row, _)| !row.terms().any(|(column, _)| is_unknown(column))) else {
            return Ok(());
        };
        let n = self.network.nodes.len();
        let heaviest = |range: std::ops::Range<usize>| {
            let of = |k: usize| weight.get(Column::Node(k)).abs();
            range.filter(|&k| of(k) > 0.0).max_by(|&a, &b| of(a).total_cmp(&of(b)))
        };
        // a law of voltages is better told by its element, a balance by its node
        if let Some(k) = heaviest(n..n + self.network.branches.len()) {
            let element = self.network.branches[k - n].0;
            let message = format!("the voltage of {} is determined twice", self.circuit.elements[element].name);
            return Err(CircuitError::new(element, message, "put a resistor in series with it"));
        }
        let node = heaviest(0..n).map_or("", |k| self.network.nodes[k].as_str());
        let message = format!("the currents into node {node} are all given, and nothing determines its voltage");
        Err(CircuitError::new(None, message, format!("put a resistor from {node} to node 0")))
    }

    /// P: capacitances and the matrix of inductances, in the order of the states.
    fn storage(&self) -> Result<DMatrix<f64>, CircuitError> {
        let states = &self.network.states;
        let elements = &self.circuit.elements;
        let place = |name: &str| states.iter().position(|&(e, _)| elements[e].name.eq_ignore_ascii_case(name) && !self.is_capacitor(e));
        let mut p = DMatrix::zeros(states.len(), states.len());
        for (k, &(element, _)) in states.iter().enumerate() {
            p[(k, k)] = match elements[element].kind {
                ElementKind::Capacitor { capacitance, .. } => capacitance,
                ElementKind::Inductor { inductance, .. } => inductance,
                _ => 0.0,
            };
        }
        for (index, element) in elements.iter().enumerate() {
            let ElementKind::Coupling { coils, factor } = &element.kind else { continue };
            let [a, b] = coils.each_ref().map(|coil| place(coil));
            let (Some(a), Some(b)) = (a, b) else {
                let missing = if a.is_none() { &coils[0] } else { &coils[1] };
                let help = format!("{} couples two coils, by their names", element.name);
                return Err(CircuitError::new(index, format!("there is no coil \"{missing}\""), help));
            };
            if a == b || p[(a, b)] != 0.0 {
                let help = "couple two different coils, once";
                return Err(CircuitError::new(index, format!("{} couples {} and {} again", element.name, coils[0], coils[1]), help));
            }
            if factor.abs() >= 1.0 {
                let help = "|k| < 1 is needed; for perfect coupling write a transformer (T) with a coil across one winding";
                return Err(CircuitError::new(index, format!("the coupling factor of {} is {factor}", element.name), help));
            }
            let mutual = factor * (p[(a, a)] * p[(b, b)]).sqrt();
            (p[(a, b)], p[(b, a)]) = (mutual, mutual);
            if p.clone().cholesky().is_none() {
                let help = "make the coupling factors smaller: the matrix of inductances must be positive definite";
                return Err(CircuitError::new(index, format!("with {}, the coils would store negative energy", element.name), help));
            }
        }
        Ok(p)
    }

    /// ẋ = P⁻¹ (i_C, u_L).
    fn rates(&self, storage: &DMatrix<f64>) -> Vec<String> {
        let states = &self.network.states;
        let is_diagonal = (0..states.len()).all(|i| (0..states.len()).all(|j| i == j || storage[(i, j)] == 0.0));
        let inverse = match storage.clone().cholesky() {
            // exact reciprocals where nothing is coupled
            _ if is_diagonal => DMatrix::from_diagonal(&storage.diagonal().map(f64::recip)),
            Some(factors) => factors.inverse(),
            None => DMatrix::zeros(states.len(), states.len()),
        };
        let rate = |k: usize| (0..states.len()).fold(Form::default(), |sum, j| sum.plus_form(inverse[(k, j)], &states[j].1));
        (0..states.len()).map(|k| self.text(&rate(k))).collect()
    }

    fn relation(&self, law: &super::network::LawRows) -> RelationSource {
        let output = |(_, form, formula): &(usize, Form, Option<String>)| match formula {
            None => self.text(form),
            Some(formula) => format!("{} - ({formula})", self.text(form)),
        };
        RelationSource {
            name: law.name.clone(),
            multipliers: law.rows.iter().map(|(k, ..)| self.network.multipliers[*k].clone()).collect(),
            outputs: law.rows.iter().map(output).collect(),
            law: law.law.clone(),
            compliance: 0.0,
        }
    }

    /// The equations that are left, with the unknowns that are left as their multipliers, and the leaks at the nodes among them.
    fn left_equations(&self) -> RelationSource {
        let equation = |(row, weight): &(Form, Form)| {
            let leak = |sum: Form, column: &Column| match *column {
                // the weight of a node's own balance in this equation
                Column::Node(k) if self.circuit.leak > 0.0 => sum.plus(self.circuit.leak * weight.get(Column::Node(k)), *column),
                _ => sum,
            };
            self.solved.left.iter().fold(row.clone(), leak).text(&|column| self.name(column))
        };
        RelationSource {
            name: "network".to_owned(),
            multipliers: self.solved.left.iter().map(|&column| self.name(column)).collect(),
            outputs: self.solved.equations.iter().map(equation).collect(),
            law: MultiplierLaw::Equality,
            compliance: 0.0,
        }
    }

    /// Values of sources, then voltages of nodes and currents of elements that are no states or multipliers themselves.
    fn inputs(&self) -> Vec<(String, String)> {
        let mut inputs = self.network.sources.clone();
        for k in 0..self.network.nodes.len() {
            if let Some(form) = self.solved.solution(Column::Node(k)) {
                inputs.push((self.name(Column::Node(k)), form.text(&|column| self.name(column))));
            }
        }
        for (element, current) in self.network.currents.iter().enumerate() {
            let Some(current) = current else { continue };
            let name = format!("{}.i", self.circuit.elements[element].name);
            // the current of a coil, a diode, or a branch that is left has this name already
            if self.text(current) != name {
                inputs.push((name, self.text(current)));
            }
        }
        for (element, [_, base, emitter]) in &self.network.terminals {
            let name = &self.circuit.elements[*element].name;
            inputs.push((format!("{name}.base"), self.text(base)));
            inputs.push((format!("{name}.emitter"), self.text(emitter)));
        }
        inputs
    }

    fn signals(&self) -> Vec<(Coordinate, String)> {
        let elements = &self.circuit.elements;
        let nodes = self.network.nodes.iter().map(|node| (Coordinate::new(format!("v.{node}"), "V"), node_name(node)));
        let has_current = |(_, current): &(usize, &Option<Form>)| current.is_some();
        let currents = self.network.currents.iter().enumerate().filter(has_current).map(|(element, _)| {
            let name = &elements[element].name;
            (Coordinate::new(format!("i.{name}"), "A"), format!("{name}.i"))
        });
        let terminals = self.network.terminals.iter().flat_map(|(element, _)| {
            let name = &elements[*element].name;
            ["base", "emitter"].map(|terminal| (Coordinate::new(format!("i.{name}.{terminal}"), "A"), format!("{name}.{terminal}")))
        });
        nodes.chain(currents).chain(terminals).collect()
    }
}
