//! The energy account of a circuit: what sources supply, what resistive elements lose.
//!
//! Ideal diodes, closed and open switches, transformers and coupled coils lose nothing. Forward voltages, Zener voltages, on-resistances, transistors, switches that break down and
//! the leaks do.

use super::element::{Circuit, ElementKind, is_ground};
use super::network::{Network, node_name};
use crate::first_order::PowerSource;

/// The formulas of both powers \[W\], with the names of the system.
pub(super) fn powers(circuit: &Circuit, network: &Network, leaks: &[String]) -> PowerSource {
    let (mut supplied, mut dissipated) = (Vec::new(), Vec::new());
    for (index, element) in circuit.elements.iter().enumerate() {
        let name = &element.name;
        let voltage = |a: usize, b: usize| format!("({} - {})", voltage_of(&element.nodes[a]), voltage_of(&element.nodes[b]));
        match &element.kind {
            ElementKind::VoltageSource { .. }
            | ElementKind::CurrentSource { .. }
            | ElementKind::VoltageByVoltage { .. }
            | ElementKind::CurrentByVoltage { .. }
            | ElementKind::VoltageByCurrent { .. }
            | ElementKind::CurrentByCurrent { .. } => supplied.push(format!("{}*{name}.i", voltage(1, 0))),
            ElementKind::Resistor { resistance } => dissipated.push(format!("{resistance:e}*{name}.i^2")),
            ElementKind::Diode { forward, resistance } => dissipated.push(loss(*forward, *resistance, &format!("{name}.i"))),
            ElementKind::Zener { breakdown, forward, resistance } => {
                dissipated.push(loss(*forward, *resistance, &format!("{name}.forward")));
                dissipated.push(loss(*breakdown, *resistance, &format!("{name}.backward")));
            }
            ElementKind::Switch { max_voltage, resistance, .. } => {
                dissipated.push(format!("{max_voltage:e}*(1 - {name}.closed)*({name}.forward + {name}.backward)"));
                dissipated.push(loss(0.0, *resistance, &format!("{name}.forward")));
                dissipated.push(loss(0.0, *resistance, &format!("{name}.backward")));
            }
            ElementKind::Transistor { .. } if network.terminals.iter().any(|(element, _)| *element == index) => {
                // into collector and base, against the emitter
                dissipated.push(format!("{}*{name}.i + {}*{name}.base", voltage(0, 2), voltage(1, 2)));
            }
            _ => {}
        }
    }
    dissipated.extend(leaks.iter().map(|node| format!("{:e}*{node}^2", circuit.leak)));
    let sum = |terms: Vec<String>| if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") };
    PowerSource { supplied: sum(supplied), dissipated: sum(dissipated) }
}

/// (V + R i) i.
fn loss(voltage: f64, resistance: f64, current: &str) -> String {
    format!("({voltage:e} + {resistance:e}*{current})*{current}")
}

fn voltage_of(node: &str) -> String {
    if is_ground(node) { "0".to_owned() } else { node_name(node) }
}
