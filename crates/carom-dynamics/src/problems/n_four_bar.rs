//! N four-bar linkages in a row: problem A02 of the IFToMM library of multibody benchmarks.
//!
//! N + 1 parallel cranks stand on the ground at (i, 0); their upper ends B_i are joined by N couplers. All 2N + 1 links are uniform rods of 1 m and 1 kg.
//! There are 6N + 3 coordinates (x, y, angle of each rod) and 6N + 2 constraint rows of the pins. One degree of freedom is left, the angle θ of
//! the cranks, with
//!
//! ```text
//! θ̈ = − 3 (3N + 1) / (2 (4N + 1)) g cos θ
//! ```
//!
//! The motion starts with upright cranks and 1 m/s of B_0 in x, and passes horizontal positions, where the linkage could change to other branches: the
//! constraint rows are dependent there.

use crate::error::ModelError;
use crate::laws::Law;
use crate::model::Model;
use crate::relations::{PlanarPin, PlanarPoint};
use crate::state::State;
use crate::systems::{PlanarBodies, PlanarBody};
use std::f64::consts::FRAC_PI_2;

/// Gravity [m/s²].
pub const GRAVITY: f64 = 9.81;

/// The linkage with N loops.
pub struct NFourBar {
    /// The model; the rods are crank 0, coupler 1, crank 1, coupler 2, …
    pub model: Model,
    /// Initial state.
    pub state: State,
    n: usize,
}

/// Builds the linkage; cost linear in N.
///
/// # Errors
/// None for N ≥ 1.
pub fn n_four_bar(n: usize) -> Result<NFourBar, ModelError> {
    let rod = |k: usize| {
        let name = if k.is_multiple_of(2) { format!("crank {}", k / 2) } else { format!("coupler {}", k.div_ceil(2)) };
        PlanarBody { name, mass: 1.0, inertia: 1.0 / 12.0 }
    };
    let mut model = Model::new(vec![Box::new(PlanarBodies::new((0..=2 * n).map(rod).collect(), [0.0, -GRAVITY])?)])?;
    let end = |body: usize, x: f64| PlanarPoint { coordinate: 3 * body, velocity: 3 * body, local: [x, 0.0] };
    for i in 0..=n {
        let (crank, foot) = (2 * i, [i as f64, 0.0]);
        model.add_interaction(&format!("A{i}"), Box::new(PlanarPin::to_ground(end(crank, -0.5), foot)), Law::Bilateral)?;
        if i > 0 {
            let pin = PlanarPin::between(end(crank, 0.5), end(crank - 1, 0.5));
            model.add_interaction(&format!("B{i} left"), Box::new(pin), Law::Bilateral)?;
        }
        if i < n {
            let pin = PlanarPin::between(end(crank, 0.5), end(crank + 1, -0.5));
            model.add_interaction(&format!("B{i} right"), Box::new(pin), Law::Bilateral)?;
        }
    }
    let linkage = NFourBar { model, state: State { t: 0.0, q: Vec::new(), v: Vec::new(), ..State::default() }, n };
    let (q, v) = linkage.at_angle(FRAC_PI_2, -1.0);
    Ok(NFourBar { state: State { t: 0.0, q, v, ..State::default() }, ..linkage })
}

impl NFourBar {
    /// Coordinates and velocities when the cranks have this angle and rate.
    #[must_use]
    pub fn at_angle(&self, theta: f64, rate: f64) -> (Vec<f64>, Vec<f64>) {
        let (mut q, mut v) = (Vec::with_capacity(6 * self.n + 3), Vec::with_capacity(6 * self.n + 3));
        let (sin, cos) = theta.sin_cos();
        for i in 0..=self.n {
            let foot = i as f64;
            if i > 0 {
                q.extend([foot - 0.5 + cos, sin, 0.0]);
                v.extend([-rate * sin, rate * cos, 0.0]);
            }
            q.extend([foot + 0.5 * cos, 0.5 * sin, theta]);
            v.extend([-0.5 * rate * sin, 0.5 * rate * cos, rate]);
        }
        (q, v)
    }

    /// θ̈ at an angle.
    #[must_use]
    pub fn angular_acceleration(&self, theta: f64) -> f64 {
        let n = self.n as f64;
        -3.0 * (3.0 * n + 1.0) / (2.0 * (4.0 * n + 1.0)) * GRAVITY * theta.cos()
    }

    /// Kinetic and potential energy \[J\].
    #[must_use]
    pub fn energy(&self, q: &[f64], v: &[f64]) -> f64 {
        let rods = q.chunks_exact(3).zip(v.chunks_exact(3));
        rods.map(|(q, v)| 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] / 12.0) + GRAVITY * q[1]).sum()
    }
}
