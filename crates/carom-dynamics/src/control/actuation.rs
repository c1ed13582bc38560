//! Generalised forces by signals of control.
//!
//! ```text
//! F_j = clamp(u(t, q, q̇, v, held values), lower, upper)
//! ```
//!
//! A force element like any other: strategies and schemes take it as a part of F, with exact Jacobians but for the change of T with q.

use super::signals::{Function, Sight, Signal, Signals};
use crate::error::NonFinite;
use crate::forces::{ForceElement, ForcePart};
use crate::formula::Expr;
use crate::system_set::SystemSet;
use crate::systems::{Instant, JacobianFactors, Scratch};

/// Forces of all actuators that act on velocities.
pub(super) struct Actuation {
    force: Function,
    /// Velocity of each force.
    targets: Vec<usize>,
    /// Derivatives that are not identically zero: of which force, by what.
    slopes: Vec<(usize, Signal)>,
    slope: Function,
    /// The velocities of targets and arguments, ascending.
    velocities: Vec<usize>,
    /// Functions at whose changes of sign a force has a kink or a jump, with their texts.
    switches: Vec<String>,
    switch: Function,
}

impl Actuation {
    /// Forces `signals` on the velocities `targets`.
    pub fn new(signals: &mut Signals, systems: &SystemSet, forces: &[(usize, Expr, String)]) -> Self {
        let expressions: Vec<Expr> = forces.iter().map(|(_, e, _)| *e).collect();
        let names: Vec<String> = forces.iter().map(|(_, _, name)| format!("the actuator \"{name}\"")).collect();
        let (symbols, meanings) = signals.inputs_of(&expressions);
        let (mut slopes, mut derivatives) = (Vec::new(), Vec::new());
        let mut velocities: Vec<usize> = forces.iter().map(|(j, ..)| *j).collect();
        for (i, &e) in expressions.iter().enumerate() {
            for (&symbol, &meaning) in symbols.iter().zip(&meanings) {
                let moving = match meaning {
                    Signal::Coordinate(c) | Signal::Rate(c) => systems.velocities_of(&[c]),
                    Signal::Velocity(j) => vec![j],
                    _ => Vec::new(),
                };
                let derivative = signals.graph.derivative(e, symbol);
                if !moving.is_empty() && !signals.graph.is_zero(derivative) {
                    velocities.extend(moving);
                    slopes.push((i, meaning));
                    derivatives.push(derivative);
                }
            }
        }
        velocities.sort_unstable();
        velocities.dedup();
        // modes do not change within a step: what depends on held values alone is no switch
        let mut found: Vec<Expr> = Vec::new();
        for &e in &expressions {
            for switch in signals.graph.switches(e) {
                let (_, inputs) = signals.inputs_of(&[switch]);
                let is_still = |signal: &Signal| matches!(signal, Signal::Coordinate(c) if systems.velocities_of(&[*c]).is_empty());
                if !found.contains(&switch) && !inputs.iter().all(is_still) {
                    found.push(switch);
                }
            }
        }
        let switches: Vec<String> = found.iter().map(|&switch| format!("`{}` of an actuator", signals.graph.to_string(switch))).collect();
        let switch = signals.function(&found, switches.clone());
        let of_slopes = slopes.iter().map(|&(i, _)| format!("a derivative of {}", names[i])).collect();
        Actuation {
            force: signals.function(&expressions, names),
            targets: forces.iter().map(|(j, ..)| *j).collect(),
            slopes,
            slope: signals.function(&derivatives, of_slopes),
            velocities,
            switches,
            switch,
        }
    }
}

fn sight<'a>(at: Instant<'a>) -> Sight<'a> {
    Sight { t: at.t, q: at.q, v: at.v, x: &[], multipliers: &[], outputs: &[] }
}

impl ForceElement for Actuation {
    fn add_force(
        &self,
        systems: &SystemSet,
        at: Instant<'_>,
        _: ForcePart,
        force: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        self.force.evaluate(systems, &sight(at), scratch)?;
        for (&j, &value) in self.targets.iter().zip(&scratch.outputs) {
            force[j] += value;
        }
        Ok(())
    }

    fn is_applied(&self) -> bool {
        true
    }

    fn is_constant(&self) -> bool {
        self.slopes.is_empty() && !self.force.signals.contains(&Signal::Time)
    }

    fn visit_jacobians(
        &self,
        systems: &SystemSet,
        at: Instant<'_>,
        factors: JacobianFactors,
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(&[usize], &[f64]),
    ) -> Result<(), NonFinite> {
        self.slope.evaluate(systems, &sight(at), scratch)?;
        let n = self.velocities.len();
        let Scratch { outputs, rows, .. } = scratch;
        rows.clear();
        rows.resize(n * n, 0.0);
        let place = |j: usize| self.velocities.partition_point(|&v| v < j);
        for (&(i, by), &slope) in self.slopes.iter().zip(outputs.iter()) {
            let row = &mut rows[place(self.targets[i]) * n..][..n];
            match by {
                Signal::Coordinate(c) => systems.add_pulled(at.q, (c, -factors.position * slope), &self.velocities, row),
                Signal::Rate(c) => systems.add_pulled(at.q, (c, -factors.velocity * slope), &self.velocities, row),
                Signal::Velocity(j) => row[place(j)] -= factors.velocity * slope,
                _ => {}
            }
        }
        visit(&self.velocities, rows);
        Ok(())
    }

    fn switches(&self) -> Vec<String> {
        self.switches.clone()
    }

    fn switch_value(&self, systems: &SystemSet, at: Instant<'_>, switch: usize, scratch: &mut Scratch) -> Result<f64, NonFinite> {
        self.switch.evaluate(systems, &sight(at), scratch)?;
        Ok(scratch.outputs[switch])
    }
}
