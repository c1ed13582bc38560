//! Two identical elastic bars on one line, one moving into the other at rest: the comparison of θ-methods in Brogliato2002, §7.2.4.
//!
//! Each bar (length L = 1 m, stiffness EA = 900 N, mass ρA = 1 kg/m, so waves travel at c = 30 m/s) is a row of linear elements with lumped
//! masses, those of the end nodes half; the coordinates a0 … an, b0 … bn are displacements of the nodes from left to right. Bar a moves
//! at v = 1 m/s, bar b is at rest, the gap is 5 mm; the touching nodes meet without restitution.
//!
//! Exact solution of the wave equation: from the touch on, the touching ends move at v/2 under the constant force EA v/(2c) = 15 N. The fronts
//! reach the free ends after L/c and come back after 2L/c, when bar a is at rest, bar b moves at v, and they part: the velocities are exchanged.

use super::{Problem, Solution, add_stop};
use crate::error::ModelError;
use crate::model::Model;
use crate::state::State;
use crate::systems::Linear;

/// Length of a bar \[m\].
pub const LENGTH: f64 = 1.0;
/// Stiffness EA \[N\].
pub const STIFFNESS: f64 = 900.0;
/// Mass per length ρA [kg/m].
pub const DENSITY: f64 = 1.0;
/// Velocity of bar a [m/s].
pub const SPEED: f64 = 1.0;
/// Initial gap \[m\].
pub const GAP: f64 = 0.005;
/// Wave speed c = √(EA/ρA) [m/s].
pub const WAVE_SPEED: f64 = 30.0;
/// Contact force EA v/(2c) \[N\].
pub const CONTACT_FORCE: f64 = STIFFNESS * SPEED / (2.0 * WAVE_SPEED);
/// Time of the touch \[s\].
pub const TOUCH: f64 = GAP / SPEED;
/// Duration of the contact 2L/c \[s\].
pub const DURATION: f64 = 2.0 * LENGTH / WAVE_SPEED;

/// The bars with `elements` elements each, up to one and a half times the duration of the contact after the touch.
///
/// # Errors
/// No element.
pub fn problem(elements: usize) -> Result<Problem, ModelError> {
    if elements == 0 {
        return Err(ModelError::OutOfRange { what: "the number of elements".into(), value: 0.0, expected: "at least 1 is needed" });
    }
    let mut model = Model::new(vec![Box::new(bar("a", elements)?), Box::new(bar("b", elements)?)])?;
    add_stop(&mut model, "ends", &format!("{GAP} + b0 - a{elements}"), 0.0)?;
    let (q, v) = exact(elements, 0.0);
    let state = State { t: 0.0, q, v, ..State::default() };
    let solution = Solution::Exact(Box::new(move |t| exact(elements, t)));
    Ok(Problem { model, state, end: TOUCH + 1.5 * DURATION, solution })
}

/// Velocities of the centres of mass of bars a and b [m/s].
#[must_use]
pub fn mean_velocities(v: &[f64]) -> [f64; 2] {
    let mean = |v: &[f64]| {
        let ends = 0.5 * (v[0] + v[v.len() - 1]);
        (v.iter().sum::<f64>() - ends) / (v.len() - 1) as f64
    };
    let (a, b) = v.split_at(v.len() / 2);
    [mean(a), mean(b)]
}

fn bar(name: &str, elements: usize) -> Result<Linear, ModelError> {
    let n = elements + 1;
    let length = LENGTH / elements as f64;
    let (mut mass, mut stiffness) = (vec![0.0; n * n], vec![0.0; n * n]);
    for left in 0..elements {
        let right = left + 1;
        for node in [left, right] {
            mass[node * n + node] += 0.5 * DENSITY * length;
            stiffness[node * n + node] += STIFFNESS / length;
        }
        stiffness[left * n + right] -= STIFFNESS / length;
        stiffness[right * n + left] -= STIFFNESS / length;
    }
    let names = (0..n).map(|i| format!("{name}{i}")).collect();
    Linear::new(names, mass, vec![0.0; n * n], stiffness)?.with_units(vec!["m".into(); n])
}

/// (q, v) of all nodes at time t.
fn exact(elements: usize, t: f64) -> (Vec<f64>, Vec<f64>) {
    let (mut q, mut v) = (Vec::new(), Vec::new());
    for (is_a, node) in [true, false].into_iter().flat_map(|is_a| (0..=elements).map(move |node| (is_a, node))) {
        let from_contact = if is_a { elements - node } else { node };
        let distance = LENGTH * from_contact as f64 / elements as f64;
        // the front passes outward, then inward
        let out = TOUCH + distance / WAVE_SPEED;
        let back = TOUCH + (2.0 * LENGTH - distance) / WAVE_SPEED;
        let at = |speeds: [f64; 3]| {
            let passed = [t.min(out), (t.min(back) - out).max(0.0), (t - back).max(0.0)];
            let place: f64 = speeds.iter().zip(passed).map(|(speed, time)| speed * time).sum();
            (
                place,
                if t < out {
                    speeds[0]
                } else if t < back {
                    speeds[1]
                } else {
                    speeds[2]
                },
            )
        };
        let (place, velocity) = at(if is_a { [SPEED, 0.5 * SPEED, 0.0] } else { [0.0, 0.5 * SPEED, SPEED] });
        q.push(place);
        v.push(velocity);
    }
    (q, v)
}
