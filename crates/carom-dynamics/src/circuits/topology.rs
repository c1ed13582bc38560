//! What no circuit may have: nodes without a way to ground, loops of voltage sources, cut sets of current sources.
//!
//! A loop of voltage sources and capacitors with a source in it would need currents without bound, and a cut set of current sources and coils with a source in it voltages without bound. Loops of
//! capacitors alone and cut sets of coils alone are allowed: they make states depend on each other, which their multipliers bring about.

use super::element::{Circuit, ElementKind, is_ground};
use super::error::CircuitError;

/// What a two-terminal part of an element does to a graph.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Voltage,
    Capacitor,
    Current,
    Coil,
    /// Resistors, diodes, switches, windings, transistors.
    Other,
}

struct Edge {
    element: usize,
    a: usize,
    b: usize,
    part: Part,
    /// An independent source.
    is_source: bool,
}

/// The nodes with the ground as number 0, and the parts between them.
pub(super) struct Topology {
    pub nodes: Vec<String>,
    edges: Vec<Edge>,
    /// Terminals at each node, those that only measure included, and the last element that has one there.
    terminals: Vec<(usize, usize)>,
}

impl Topology {
    pub fn new(circuit: &Circuit) -> Self {
        let mut topology = Topology { nodes: vec!["0".to_owned()], edges: Vec::new(), terminals: vec![(0, 0)] };
        for (element, given) in circuit.elements.iter().enumerate() {
            let at: Vec<usize> = given.nodes.iter().map(|node| topology.number(node)).collect();
            for &node in &at {
                topology.terminals[node] = (topology.terminals[node].0 + 1, element);
            }
            let part = match given.kind {
                ElementKind::VoltageSource { .. } | ElementKind::VoltageByVoltage { .. } | ElementKind::VoltageByCurrent { .. } => {
                    Part::Voltage
                }
                ElementKind::CurrentSource { .. } | ElementKind::CurrentByVoltage { .. } | ElementKind::CurrentByCurrent { .. } => {
                    Part::Current
                }
                ElementKind::Capacitor { .. } => Part::Capacitor,
                ElementKind::Inductor { .. } => Part::Coil,
                _ => Part::Other,
            };
            let is_source = matches!(given.kind, ElementKind::VoltageSource { .. } | ElementKind::CurrentSource { .. });
            let mut add = |a: usize, b: usize| topology.edges.push(Edge { element, a, b, part, is_source });
            match (&given.kind, at.as_slice()) {
                (ElementKind::Transformer { .. }, &[a, b, c, d]) => {
                    add(a, b);
                    add(c, d);
                }
                (ElementKind::Transistor { .. }, &[c, b, e]) => {
                    add(b, e);
                    add(b, c);
                }
                (_, &[a, b, ..]) => add(a, b),
                _ => {}
            }
        }
        topology
    }

    fn number(&mut self, node: &str) -> usize {
        if is_ground(node) {
            return 0;
        }
        if let Some(number) = self.nodes.iter().position(|other| other == node) {
            return number;
        }
        self.nodes.push(node.to_owned());
        self.terminals.push((0, 0));
        self.nodes.len() - 1
    }

    /// The number of a node that exists; the ground is 0.
    pub fn find(&self, node: &str) -> Option<usize> {
        if is_ground(node) { Some(0) } else { self.nodes.iter().position(|other| other == node) }
    }

    /// Checks all that the graph of the circuit tells.
    ///
    /// # Errors
    /// [`CircuitError`] naming elements and nodes.
    pub fn check(&self, circuit: &Circuit) -> Result<(), CircuitError> {
        if self.terminals[0].0 == 0 {
            let help = "call the node against which voltages are measured 0 (or gnd)";
            return Err(CircuitError::new(None, "no element is connected to the ground, node 0", help));
        }
        if let Some(node) = (1..self.nodes.len()).find(|&node| self.terminals[node].0 == 1) {
            let element = self.terminals[node].1;
            let (node, name) = (&self.nodes[node], &circuit.elements[element].name);
            let near = similar(node, &self.nodes);
            let help =
                near.map_or_else(|| "connect the node, or take the element away".to_owned(), |near| format!("did you mean \"{near}\"?"));
            return Err(CircuitError::new(element, format!("node {node} has no other connection than {name}"), help));
        }
        self.check_ground(circuit)?;
        self.check_loops(circuit)?;
        self.check_switches(circuit)?;
        self.check_cuts(circuit)
    }

    /// No switch without resistance closes a loop of voltage sources alone. (Loops of several switches may never be closed at once; where they are, the step has no solution.)
    fn check_switches(&self, circuit: &Circuit) -> Result<(), CircuitError> {
        let sources: Vec<&Edge> = self.edges.iter().filter(|e| e.part == Part::Voltage).collect();
        for edge in &self.edges {
            let ElementKind::Switch { resistance: 0.0, .. } = circuit.elements[edge.element].kind else { continue };
            let Some(path) = path_between(&sources, edge.a, edge.b, self.nodes.len()).filter(|path| path.iter().any(|e| e.is_source))
            else {
                continue;
            };
            let name = &circuit.elements[edge.element].name;
            let message = format!("{name} has no resistance, and closed it would short {}", self.names(circuit, path.into_iter()));
            return Err(CircuitError::new(edge.element, message, "give it one, RON=1m, or put a resistor in series with it"));
        }
        Ok(())
    }

    /// Every node reaches the ground other than through current sources.
    fn check_ground(&self, circuit: &Circuit) -> Result<(), CircuitError> {
        let groups = self.groups(|edge| edge.part != Part::Current);
        let Some(lost) = (1..self.nodes.len()).find(|&node| groups[node] != groups[0]) else { return Ok(()) };
        let inside = |node: usize| groups[node] == groups[lost];
        let sources: Vec<&Edge> = self.edges.iter().filter(|e| e.part == Part::Current && inside(e.a) != inside(e.b)).collect();
        let node = &self.nodes[lost];
        let Some(first) = sources.first() else {
            let element = self.edges.iter().find(|e| inside(e.a)).map(|e| e.element);
            let help = format!("connect {node}, or what it is connected with, to node 0; a large resistor will do");
            return Err(CircuitError::new(element, format!("node {node} floats: there is no way from it to the ground, node 0"), help));
        };
        let names = self.names(circuit, sources.iter().copied());
        let help = format!("give the current another way: a resistor from {node} to node 0");
        Err(CircuitError::new(first.element, format!("node {node} is reached by current sources only: {names}"), help))
    }

    /// No loop of voltage sources and capacitors has a source in it.
    fn check_loops(&self, circuit: &Circuit) -> Result<(), CircuitError> {
        let voltages = self.edges.iter().filter(|e| e.part == Part::Voltage);
        let capacitors = self.edges.iter().filter(|e| e.part == Part::Capacitor);
        let mut tree: Vec<&Edge> = Vec::new();
        for edge in voltages.chain(capacitors) {
            let Some(path) = path_between(&tree, edge.a, edge.b, self.nodes.len()) else {
                tree.push(edge);
                continue;
            };
            let cycle: Vec<&Edge> = path.into_iter().chain([edge]).collect();
            if cycle.iter().any(|e| e.is_source) {
                let names = self.names(circuit, cycle.iter().copied());
                let what = if edge.part == Part::Capacitor { "voltage sources and capacitors" } else { "voltage sources" };
                let help = format!("put a resistor in series with {}", circuit.elements[edge.element].name);
                return Err(CircuitError::new(edge.element, format!("a loop of {what} has nothing to limit its current: {names}"), help));
            }
        }
        Ok(())
    }

    /// No cut set of current sources and coils has a source in it.
    fn check_cuts(&self, circuit: &Circuit) -> Result<(), CircuitError> {
        let groups = self.groups(|edge| !matches!(edge.part, Part::Current | Part::Coil));
        let Some(source) = self.edges.iter().find(|e| e.is_source && e.part == Part::Current && groups[e.a] != groups[e.b]) else {
            return Ok(());
        };
        let side = if groups[source.a] == groups[0] { groups[source.b] } else { groups[source.a] };
        let cut = self.edges.iter().filter(|e| (groups[e.a] == side) != (groups[e.b] == side));
        let names = self.names(circuit, cut);
        let help = format!("put a resistor across {}", circuit.elements[source.element].name);
        let message = format!("current sources and coils alone meet ({names}): the current of a coil cannot follow that of a source");
        Err(CircuitError::new(source.element, message, help))
    }

    fn names<'a>(&self, circuit: &Circuit, edges: impl Iterator<Item = &'a Edge>) -> String {
        edges.map(|e| circuit.elements[e.element].name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Numbers of the connected groups of nodes over the edges that count.
    fn groups(&self, counts: impl Fn(&Edge) -> bool) -> Vec<usize> {
        let mut groups: Vec<usize> = (0..self.nodes.len()).collect();
        loop {
            let mut changed = false;
            for edge in self.edges.iter().filter(|e| counts(e)) {
                let least = groups[edge.a].min(groups[edge.b]);
                changed |= groups[edge.a] != least || groups[edge.b] != least;
                (groups[edge.a], groups[edge.b]) = (least, least);
            }
            if !changed {
                return groups;
            }
        }
    }
}

/// The edges of a forest between two nodes; `None` where there is no way.
fn path_between<'a>(tree: &[&'a Edge], from: usize, to: usize, n: usize) -> Option<Vec<&'a Edge>> {
    let mut came: Vec<Option<(usize, &Edge)>> = vec![None; n];
    let mut queue = vec![from];
    while let Some(node) = queue.pop() {
        if node == to {
            let (mut path, mut at) = (Vec::new(), to);
            while let (true, Some((before, edge))) = (at != from, came[at]) {
                path.push(edge);
                at = before;
            }
            return Some(path);
        }
        for &edge in tree {
            for (a, b) in [(edge.a, edge.b), (edge.b, edge.a)] {
                if a == node && b != from && came[b].is_none() {
                    came[b] = Some((node, edge));
                    queue.push(b);
                }
            }
        }
    }
    None
}

/// A node of a similar name.
fn similar<'a>(node: &str, nodes: &'a [String]) -> Option<&'a str> {
    crate::nearest::nearest(node, nodes.iter().map(String::as_str).filter(|other| *other != node && *other != "0"))
}
