//! What changes during a run: time, coordinates, velocities, first-order states, values held between samples, bonds, choices made by chance.

use crate::bonds::Bonds;

/// The state of a model, all that is physical of it: time `t` \[s\], generalised coordinates `q`, velocities `v`, states `x` of the first-order part, held
/// inputs, bonds of cohesive zones, the number of choices made by chance. What a method remembers besides is its own: it is in [`crate::StepMemory`].
///
/// All systems of the model lie one after the other in `q` and `v`. `q` and `v` may differ in length: a rigid body has
/// seven coordinates (position, unit quaternion w-first) and six velocities (linear in the world frame, angular in the
/// body frame), with q̇ = T(q) v. Either part may be empty.
#[derive(Debug, Default, PartialEq)]
pub struct State {
    /// Time \[s\].
    pub t: f64,
    /// Coordinates of all systems.
    pub q: Vec<f64>,
    /// Velocities of all systems.
    pub v: Vec<f64>,
    /// States of the first-order part: see [`crate::first_order`].
    pub x: Vec<f64>,
    /// Values of the held inputs of the first-order part: constant over a step, changed between steps only (by samplers), so that a step can be
    /// tried again.
    pub held: Vec<f64>,
    /// What is left of cohesive zones.
    pub bonds: Bonds,
    /// Choices that impact laws have made by chance so far: the counter of their generator.
    pub draws: u64,
}

impl Clone for State {
    fn clone(&self) -> Self {
        State {
            t: self.t,
            q: self.q.clone(),
            v: self.v.clone(),
            x: self.x.clone(),
            held: self.held.clone(),
            bonds: self.bonds.clone(),
            draws: self.draws,
        }
    }

    /// Storage is reused.
    fn clone_from(&mut self, other: &Self) {
        self.t = other.t;
        self.q.clone_from(&other.q);
        self.v.clone_from(&other.v);
        self.x.clone_from(&other.x);
        self.held.clone_from(&other.held);
        self.bonds.clone_from(&other.bonds);
        self.draws = other.draws;
    }
}
