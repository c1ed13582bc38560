//! What changes during a run: time, coordinates, velocities.

/// The state of a model: time `t` \[s\], generalised coordinates `q`, velocities `v`.
///
/// All systems of the model lie one after the other in `q` and `v`. `q` and `v` may differ in length: a rigid body has
/// seven coordinates (position, unit quaternion w-first) and six velocities (linear in the world frame, angular in the
/// body frame), with q̇ = T(q) v.
#[derive(Debug, Default, PartialEq)]
pub struct State {
    /// Time \[s\].
    pub t: f64,
    /// Coordinates of all systems.
    pub q: Vec<f64>,
    /// Velocities of all systems.
    pub v: Vec<f64>,
}

impl Clone for State {
    fn clone(&self) -> Self {
        State { t: self.t, q: self.q.clone(), v: self.v.clone() }
    }

    /// Storage is reused.
    fn clone_from(&mut self, other: &Self) {
        self.t = other.t;
        self.q.clone_from(&other.q);
        self.v.clone_from(&other.v);
    }
}
