//! Kirchhoff's laws and the laws of the elements, as linear forms.

use super::element::{Circuit, ElementKind, Polarity};
use super::error::CircuitError;
use super::form::{Column, Form};
use super::references::{Piece, Reference, has_references, split};
use super::topology::Topology;
use crate::first_order::MultiplierLaw;

/// A law of an element: multipliers and outputs.
#[derive(Debug)]
pub(super) struct LawRows {
    pub name: String,
    pub law: MultiplierLaw,
    /// Numbers of the multipliers, with what each output is: a form, less a formula of the circuit where there is one.
    pub rows: Vec<(usize, Form, Option<String>)>,
}

/// The equations of a circuit before elimination.
#[derive(Debug, Default)]
pub(super) struct Network {
    /// Nodes but the ground.
    pub nodes: Vec<String>,
    /// Currents that leave each node.
    pub balances: Vec<Form>,
    /// Elements that give their voltage, with the form that vanishes.
    pub branches: Vec<(usize, Form)>,
    /// Capacitors and coils, with i_C or u_L.
    pub states: Vec<(usize, Form)>,
    pub laws: Vec<LawRows>,
    /// Names of the multipliers.
    pub multipliers: Vec<String>,
    /// Names and formulas of the sources' values.
    pub sources: Vec<(String, String)>,
    /// Currents of the elements, by element; none for couplings.
    pub currents: Vec<Option<Form>>,
    /// Currents of transistors into collector, base, emitter.
    pub terminals: Vec<(usize, [Form; 3])>,
}

impl Network {
    pub fn new(circuit: &Circuit, topology: &Topology) -> Result<Self, CircuitError> {
        let nodes = topology.nodes[1..].to_vec();
        let mut network = Network { balances: vec![Form::default(); nodes.len()], nodes, ..Network::default() };
        // columns that currents of other elements may need come first
        network.currents = vec![None; circuit.elements.len()];
        for (index, element) in circuit.elements.iter().enumerate() {
            network.currents[index] = network.current(circuit, topology, index);
            match element.kind {
                ElementKind::Capacitor { .. } | ElementKind::Inductor { .. } => network.states.push((index, Form::default())),
                _ => {}
            }
        }
        for index in 0..circuit.elements.len() {
            network.add(circuit, topology, index)?;
        }
        Ok(network)
    }

    /// Voltage of a node by its number in the topology.
    fn voltage(node: usize) -> Form {
        if node == 0 { Form::default() } else { Form::of(Column::Node(node - 1)) }
    }

    /// Voltage between two nodes of an element.
    pub fn across(circuit: &Circuit, topology: &Topology, index: usize, (a, b): (usize, usize)) -> Form {
        let nodes = &circuit.elements[index].nodes;
        let of = |k: usize| Self::voltage(topology.find(&nodes[k]).unwrap_or(0));
        of(a).plus_form(-1.0, &of(b))
    }

    fn multiplier(&mut self, name: String) -> Column {
        self.multipliers.push(name);
        Column::Multiplier(self.multipliers.len() - 1)
    }

    /// The current of an element that needs no other's; makes the multipliers of diodes, switches and transistors.
    fn current(&mut self, circuit: &Circuit, topology: &Topology, index: usize) -> Option<Form> {
        let element = &circuit.elements[index];
        let name = |what: &str| format!("{}.{what}", element.name);
        Some(match &element.kind {
            ElementKind::Resistor { resistance } => {
                Form::default().plus_form(1.0 / resistance, &Self::across(circuit, topology, index, (0, 1)))
            }
            ElementKind::Inductor { .. } => Form::of(Column::State(index)),
            ElementKind::Capacitor { .. }
            | ElementKind::VoltageSource { .. }
            | ElementKind::VoltageByVoltage { .. }
            | ElementKind::VoltageByCurrent { .. }
            | ElementKind::Transformer { .. } => Form::of(Column::Branch(index)),
            ElementKind::CurrentByVoltage { gain } => Form::default().plus_form(*gain, &Self::across(circuit, topology, index, (2, 3))),
            ElementKind::Diode { .. } => Form::of(self.multiplier(name("i"))),
            ElementKind::Zener { .. } => {
                let (forward, backward) = (self.multiplier(name("forward")), self.multiplier(name("backward")));
                Form::of(forward).plus(-1.0, backward)
            }
            ElementKind::Switch { .. } => {
                let (forward, backward) = (self.multiplier(name("forward")), self.multiplier(name("backward")));
                Form::of(forward).plus(-1.0, backward)
            }
            ElementKind::Transistor { polarity, gains, .. } => {
                let sign = sign_of(*polarity);
                let (forward, reverse) = (self.multiplier(name("forward")), self.multiplier(name("reverse")));
                let [alpha_f, alpha_r] = gains.map(|beta| beta / (1.0 + beta));
                let collector = Form::default().plus(sign * alpha_f, forward).plus(-sign, reverse);
                let emitter = Form::default().plus(-sign, forward).plus(sign * alpha_r, reverse);
                // 1 − α = 1/(1 + β), without the cancellation
                let [rest_f, rest_r] = gains.map(|beta| 1.0 / (1.0 + beta));
                let base = Form::default().plus(sign * rest_f, forward).plus(sign * rest_r, reverse);
                self.terminals.push((index, [collector.clone(), base, emitter]));
                collector
            }
            ElementKind::CurrentSource { .. } | ElementKind::CurrentByCurrent { .. } | ElementKind::Coupling { .. } => return None,
        })
    }

    /// Adds the current of an element to the balances of its nodes, and its law.
    fn add(&mut self, circuit: &Circuit, topology: &Topology, index: usize) -> Result<(), CircuitError> {
        let element = &circuit.elements[index];
        let u = match element.kind {
            ElementKind::Coupling { .. } => return Ok(()),
            _ => Self::across(circuit, topology, index, (0, 1)),
        };
        match &element.kind {
            ElementKind::CurrentSource { value } => {
                self.currents[index] = Some(Form::of(self.value(circuit, index, value)?));
            }
            ElementKind::CurrentByCurrent { gain, of } => {
                self.currents[index] = Some(Form::default().plus_form(*gain, &self.controlling(circuit, index, of)?));
            }
            ElementKind::VoltageSource { value } => {
                let value = self.value(circuit, index, value)?;
                self.branches.push((index, u.plus(-1.0, value)));
            }
            ElementKind::VoltageByVoltage { gain } => {
                let control = Self::across(circuit, topology, index, (2, 3));
                self.branches.push((index, u.plus_form(-gain, &control)));
            }
            ElementKind::VoltageByCurrent { gain, of } => {
                let control = self.controlling(circuit, index, of)?;
                self.branches.push((index, u.plus_form(-gain, &control)));
            }
            ElementKind::Transformer { ratio } => {
                let second = Self::across(circuit, topology, index, (2, 3));
                self.branches.push((index, u.plus_form(-ratio, &second)));
                let current = Form::default().plus(-ratio, Column::Branch(index));
                self.leave(topology, &element.nodes[2..4], &current);
            }
            ElementKind::Capacitor { .. } => {
                self.branches.push((index, u.plus(-1.0, Column::State(index))));
                self.set_state(index, Form::of(Column::Branch(index)));
            }
            ElementKind::Inductor { .. } => self.set_state(index, u),
            ElementKind::Transistor { polarity, forward, base_resistance, .. } => {
                return self.add_transistor(circuit, topology, index, (sign_of(*polarity), *forward, *base_resistance));
            }
            _ => self.add_law(circuit, index, &u)?,
        }
        if let Some(current) = self.currents[index].clone() {
            self.leave(topology, &element.nodes[..2], &current);
        }
        Ok(())
    }

    fn set_state(&mut self, index: usize, form: Form) {
        if let Some(state) = self.states.iter_mut().find(|(element, _)| *element == index) {
            state.1 = form;
        }
    }

    /// A current that leaves the first node and enters the second.
    fn leave(&mut self, topology: &Topology, nodes: &[String], current: &Form) {
        for (node, sign) in nodes.iter().zip([1.0, -1.0]) {
            if let Some(number @ 1..) = topology.find(node) {
                self.balances[number - 1].add(sign, current);
            }
        }
    }

    /// Diodes, Zener diodes and switches.
    fn add_law(&mut self, circuit: &Circuit, index: usize, u: &Form) -> Result<(), CircuitError> {
        let element = &circuit.elements[index];
        let multipliers: Vec<Column> = self.currents[index].iter().flat_map(|form| form.terms().map(|(column, _)| column)).collect();
        let current = self.currents[index].clone().unwrap_or_default();
        let outputs = match &element.kind {
            ElementKind::Diode { forward, resistance } => {
                vec![Form::constant(*forward).plus_form(*resistance, &current).plus_form(-1.0, u)]
            }
            ElementKind::Zener { breakdown, forward, resistance } => vec![
                Form::constant(*forward).plus(*resistance, multipliers[0]).plus_form(-1.0, u),
                Form::constant(*breakdown).plus(*resistance, multipliers[1]).plus_form(1.0, u),
            ],
            ElementKind::Switch { closed, max_voltage, resistance } => {
                let gate = self.gate(circuit, index, closed)?;
                let block = Form::constant(*max_voltage).plus(-max_voltage, gate);
                // each direction has its own resistance: with both at once their currents would not be unique
                vec![
                    block.clone().plus(*resistance, multipliers[0]).plus_form(-1.0, u),
                    block.plus(*resistance, multipliers[1]).plus_form(1.0, u),
                ]
            }
            _ => return Ok(()),
        };
        self.push_law(element.name.clone(), MultiplierLaw::Complementarity, multipliers.into_iter().zip(outputs));
        Ok(())
    }

    fn push_law(&mut self, name: String, law: MultiplierLaw, rows: impl Iterator<Item = (Column, Form)>) {
        let number = |column: Column| if let Column::Multiplier(k) = column { k } else { 0 };
        self.laws.push(LawRows { name, law, rows: rows.map(|(column, form)| (number(column), form, None)).collect() });
    }

    fn add_transistor(
        &mut self,
        circuit: &Circuit,
        topology: &Topology,
        index: usize,
        (sign, forward, resistance): (f64, f64, f64),
    ) -> Result<(), CircuitError> {
        let Some((_, [collector, base, emitter])) = self.terminals.iter().find(|(element, _)| *element == index).cloned() else {
            return Ok(());
        };
        let multipliers: Vec<Column> = collector.terms().map(|(column, _)| column).collect();
        // V_F − s (u_BE − R_B i_B), and with the collector
        let junction = |to: usize| {
            let u = Self::across(circuit, topology, index, (1, to));
            Form::constant(forward).plus_form(-sign, &u).plus_form(sign * resistance, &base)
        };
        let outputs = [junction(2), junction(0)];
        self.push_law(circuit.elements[index].name.clone(), MultiplierLaw::Complementarity, multipliers.into_iter().zip(outputs));
        for (node, current) in circuit.elements[index].nodes.iter().zip([collector, base, emitter]) {
            self.leave(topology, std::slice::from_ref(node), &current);
        }
        Ok(())
    }

    /// The value of a source: a column of its own, an unknown where it depends on the circuit.
    fn value(&mut self, circuit: &Circuit, index: usize, text: &str) -> Result<Column, CircuitError> {
        let name = format!("{}.value", circuit.elements[index].name);
        if !has_references(text) {
            self.sources.push((name, text.to_owned()));
            return Ok(Column::Source(self.sources.len() - 1));
        }
        let formula = self.formula(circuit, index, text)?;
        let column = self.multiplier(name.clone());
        let row = (self.multipliers.len() - 1, Form::of(column), Some(formula));
        self.laws.push(LawRows { name, law: MultiplierLaw::Equality, rows: vec![row] });
        Ok(column)
    }

    /// Whether a switch is closed: 1 or 0 by a formula of time, a relay between them by one of the circuit.
    fn gate(&mut self, circuit: &Circuit, index: usize, text: &str) -> Result<Column, CircuitError> {
        let name = format!("{}.closed", circuit.elements[index].name);
        if !has_references(text) {
            self.sources.push((name, format!("if(({text}) > 0, 1, 0)")));
            return Ok(Column::Source(self.sources.len() - 1));
        }
        if text.contains(['<', '>', '=']) {
            let message = format!("the control of {} compares quantities of the circuit", circuit.elements[index].name);
            return Err(CircuitError::new(
                index,
                message,
                "write the difference that is positive where it is closed: v(a) - v(b) for v(a) > v(b)",
            ));
        }
        let formula = self.formula(circuit, index, text)?;
        let column = self.multiplier(name.clone());
        let row = (self.multipliers.len() - 1, Form::default(), Some(formula));
        self.laws.push(LawRows { name, law: MultiplierLaw::Relay { lower: 0.0, upper: 1.0 }, rows: vec![row] });
        Ok(column)
    }

    /// A formula with the names that voltages and currents have in the system.
    pub fn formula(&self, circuit: &Circuit, index: usize, text: &str) -> Result<String, CircuitError> {
        let node = |name: &str| {
            if super::element::is_ground(name) {
                return Ok("0".to_owned());
            }
            let found = self.nodes.iter().find(|node| node.eq_ignore_ascii_case(name));
            found.map(|node| node_name(node)).ok_or_else(|| {
                let near = crate::nearest::nearest(name, self.nodes.iter().map(String::as_str));
                let help =
                    near.map_or_else(|| format!("the nodes are: {}", self.nodes.join(", ")), |near| format!("did you mean \"{near}\"?"));
                CircuitError::new(index, format!("there is no node \"{name}\" in the circuit"), help)
            })
        };
        let mut out = String::new();
        for piece in split(text) {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Reference(Reference::Voltage(a, None)) => out.push_str(&node(a)?),
                Piece::Reference(Reference::Voltage(a, Some(b))) => out.push_str(&format!("({} - {})", node(a)?, node(b)?)),
                Piece::Reference(Reference::Current(name)) => {
                    let element = named(circuit, index, name)?;
                    if matches!(circuit.elements[element].kind, ElementKind::Coupling { .. }) {
                        return Err(CircuitError::new(index, format!("{name} has no current"), "ask for that of one of its coils"));
                    }
                    out.push_str(&format!("{}.i", circuit.elements[element].name));
                }
            }
        }
        Ok(out)
    }

    /// The current that controls a source.
    fn controlling(&self, circuit: &Circuit, index: usize, of: &str) -> Result<Form, CircuitError> {
        let element = named(circuit, index, of)?;
        match (&circuit.elements[element].kind, &self.currents[element]) {
            (ElementKind::CurrentByCurrent { .. } | ElementKind::CurrentSource { .. }, _) | (_, None) => {
                let message = format!("the current of {of} cannot control {}", circuit.elements[index].name);
                Err(CircuitError::new(index, message, "put a voltage source of 0 V in series with it, and take its current"))
            }
            (_, Some(current)) => Ok(current.clone()),
        }
    }
}

/// The name of a node's voltage in formulas.
pub(super) fn node_name(node: &str) -> String {
    format!("node_{node}.v")
}

/// Another element by its name.
fn named(circuit: &Circuit, index: usize, name: &str) -> Result<usize, CircuitError> {
    circuit.elements.iter().position(|e| e.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let near = crate::nearest::nearest(name, circuit.elements.iter().map(|e| e.name.as_str()));
        let help = near.map_or_else(|| "name an element of the circuit".to_owned(), |near| format!("did you mean \"{near}\"?"));
        CircuitError::new(index, format!("there is no element \"{name}\""), help)
    })
}

fn sign_of(polarity: Polarity) -> f64 {
    match polarity {
        Polarity::Npn => 1.0,
        Polarity::Pnp => -1.0,
    }
}
