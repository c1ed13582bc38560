//! A point of a smooth motion.

use crate::state::State;

/// Time, coordinates, velocities, accelerations and multipliers at one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MotionPoint {
    /// Time \[s\].
    pub t: f64,
    /// Coordinates.
    pub q: Vec<f64>,
    /// Velocities.
    pub v: Vec<f64>,
    /// Accelerations v̇.
    pub a: Vec<f64>,
    /// Multipliers λ of the selected constraint rows: forces \[N\] where g is in metres.
    pub lambda: Vec<f64>,
}

impl MotionPoint {
    /// A point at a state, with zero accelerations and multipliers.
    #[must_use]
    pub fn at_state(state: &State, n_rows: usize) -> Self {
        MotionPoint { t: state.t, q: state.q.clone(), v: state.v.clone(), a: vec![0.0; state.v.len()], lambda: vec![0.0; n_rows] }
    }

    /// Takes the values of another point; storage is reused.
    pub fn copy_from(&mut self, other: &MotionPoint) {
        self.t = other.t;
        self.q.clone_from(&other.q);
        self.v.clone_from(&other.v);
        self.a.clone_from(&other.a);
        self.lambda.clone_from(&other.lambda);
    }

    /// The state at this point.
    #[must_use]
    pub fn state(&self) -> State {
        State { t: self.t, q: self.q.clone(), v: self.v.clone(), ..State::default() }
    }

    /// Moves a state here; what is no motion stays as it is.
    pub(crate) fn move_state(&self, state: &mut State) {
        state.t = self.t;
        state.q.clone_from(&self.q);
        state.v.clone_from(&self.v);
    }

    /// All values are finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        [&self.q, &self.v, &self.a, &self.lambda].into_iter().all(|values| values.iter().all(|x| x.is_finite()))
    }
}
