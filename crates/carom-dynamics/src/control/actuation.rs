//! Generalised forces by signals of control.
//!
//! ```text
//! F_j = clamp(u(t, q, q̇, v, held values), lower, upper)
//! ```
//!
//! A force element like any other: strategies and schemes take it as a part of F, with exact Jacobians but for the change of T with q, and for laws that use the model's
//! equations (`model_based.rs`).

use super::model_based::ModelBased;
use super::signals::{Function, Sight, Signal, Signals};
use crate::error::NonFinite;
use crate::forces::{ForceElement, ForcePart};
use crate::formula::Expr;
use crate::systems::{Instant, JacobianFactors, LawWork, Scratch, SystemSet};

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
    /// Laws in continuous time whose outputs are used, with the number of their first output.
    laws: Vec<ModelBased>,
    first_outputs: Vec<usize>,
}

impl Actuation {
    /// Forces `signals` on the velocities `targets`; `laws` are those in continuous time.
    pub fn new(signals: &mut Signals, systems: &SystemSet, forces: &[(usize, Expr, String)], laws: Vec<ModelBased>) -> Self {
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
                    Signal::Law { number, .. } => law_of(&laws, number).velocities.clone(),
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
            first_outputs: first_outputs(&laws),
            laws,
        }
    }

    /// Evaluates one of the functions at an instant, after the laws that it may use.
    fn evaluate(&self, function: &Function, systems: &SystemSet, at: Instant<'_>, scratch: &mut Scratch) -> Result<(), NonFinite> {
        if self.laws.is_empty() {
            return function.evaluate(systems, &sight(at), scratch);
        }
        let mut own = std::mem::take(&mut scratch.laws);
        let mut done = own.evaluate(&self.laws, systems, &sight(at), scratch);
        if done.is_ok() {
            done = function.evaluate(systems, &Sight { laws: &own.torques, ..sight(at) }, scratch);
        }
        scratch.laws = own;
        done
    }
}

/// Number of the first output of every law.
fn first_outputs(laws: &[ModelBased]) -> Vec<usize> {
    let mut next = 0;
    let first = |law: &ModelBased| {
        let first = next;
        next += law.velocities.len();
        first
    };
    laws.iter().map(first).collect()
}

/// The law that has an output.
fn law_of(laws: &[ModelBased], number: usize) -> &ModelBased {
    &laws[first_outputs(laws).partition_point(|&first| first <= number) - 1]
}

fn sight<'a>(at: Instant<'a>) -> Sight<'a> {
    Sight { t: at.t, q: at.q, v: at.v, x: &[], multipliers: &[], outputs: &[], laws: &[] }
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
        self.evaluate(&self.force, systems, at, scratch)?;
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
        if !self.laws.is_empty() {
            let mut own = std::mem::take(&mut scratch.laws);
            let done = own.differentiate(&self.laws, systems, &sight(at), factors, scratch);
            scratch.laws = own;
            done?;
        }
        self.evaluate(&self.slope, systems, at, scratch)?;
        let n = self.velocities.len();
        let Scratch { outputs, rows, laws: LawWork { slopes: of_laws, .. }, .. } = scratch;
        rows.clear();
        rows.resize(n * n, 0.0);
        let place = |j: usize| self.velocities.partition_point(|&v| v < j);
        for (&(i, by), &slope) in self.slopes.iter().zip(outputs.iter()) {
            let row = &mut rows[place(self.targets[i]) * n..][..n];
            match by {
                Signal::Coordinate(c) => systems.add_pulled(at.q, (c, -factors.position * slope), &self.velocities, row),
                Signal::Rate(c) => systems.add_pulled(at.q, (c, -factors.velocity * slope), &self.velocities, row),
                Signal::Velocity(j) => row[place(j)] -= factors.velocity * slope,
                Signal::Law { number, .. } => {
                    let i = self.first_outputs.partition_point(|&first| first <= number) - 1;
                    let law = &self.laws[i];
                    let m = law.velocities.len();
                    // matrices lie one after the other, as the outputs do
                    let before: usize = self.laws[..i].iter().map(|law| law.velocities.len().pow(2)).sum();
                    let of_output = &of_laws[before + (number - self.first_outputs[i]) * m..][..m];
                    law.velocities.iter().zip(of_output).for_each(|(&j, derivative)| row[place(j)] -= slope * derivative);
                }
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
        self.evaluate(&self.switch, systems, at, scratch)?;
        Ok(scratch.outputs[switch])
    }
}
