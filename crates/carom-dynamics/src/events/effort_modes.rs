//! Efforts between bounds in the problem of accelerations.

use super::acceleration::{AT_THE_END, Before};
use super::mode_equations::norm;
use super::{ClosedSet, EventParams};
use crate::active_set::ActiveSource;
use crate::laws::BoundedLaw;
use crate::report::ContactMode;

/// An effort between bounds after an event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EffortAfter {
    /// `Sticking` where it holds its target, `Sliding` where it pushes at a bound.
    pub mode: ContactMode,
    /// λ \[N or N m\].
    pub force: [f64; 3],
    /// Unit direction of u + k g where it pushes, now or about to begin; zero where it holds.
    pub direction: [f64; 3],
}

impl ClosedSet {
    /// What effort e does while its joint bears this load.
    pub(super) fn before_effort(&self, e: usize, thresholds: &EventParams, load: f64) -> Before {
        // efforts have such a law
        let law = self.effort_law(e).copied().unwrap_or(BoundedLaw::friction(0.0));
        let (u, [lower, upper]) = (self.effort_velocity(e), [law.lower - load, law.upper + load]);
        let speed = norm(u);
        let endless = if u.len() == 1 && u[0] > 0.0 { lower.is_infinite() } else { upper.is_infinite() };
        if speed > thresholds.slip && !endless {
            return Before::Pushing { direction: std::array::from_fn(|i| u.get(i).map_or(0.0, |u| u / speed)) };
        }
        Before::Holding { lower, upper }
    }

    /// The forces of efforts that push, by rows.
    pub(super) fn known_forces(&self, before: &[Before], loads: &[f64]) -> Vec<f64> {
        let mut force = vec![0.0; self.velocity.len()];
        for (e, load) in loads.iter().enumerate() {
            let (k, Some(law)) = (self.n_contacts() + e, self.effort_law(e)) else { continue };
            let Before::Pushing { direction } = before[k] else { continue };
            let rows = self.rows(k);
            match rows.len() {
                1 if direction[0] > 0.0 => force[rows.start] = law.lower - load,
                1 => force[rows.start] = law.upper + load,
                _ => force[rows].iter_mut().zip(direction).for_each(|(force, d)| *force = -(law.upper + load) * d),
            }
        }
        force
    }

    /// c ‖R‖ of each effort's joint.
    pub(super) fn joint_loads(&self, force: &[f64]) -> Vec<f64> {
        let of_effort = |e: usize| {
            let load = self.effort_law(e).and_then(|law| law.load)?;
            let joint = self.active.items()[..self.n_constraints].iter().find(|x| x.source == ActiveSource::Interaction(load.joint))?;
            Some(load.factor * norm(&force[joint.rows.clone()][..load.rows.min(joint.rows.len())]))
        };
        (0..self.n_efforts).map(|e| of_effort(e).unwrap_or(0.0)).collect()
    }
}

/// Where an effort goes from here: accelerations up to `zero` are none; one that `leaves` its range, where forces are of the size given, begins to move against
/// its own.
pub(super) fn effort_after(before: Before, u: &[f64], lambda: &[f64], (zero, leaves): (f64, Option<f64>)) -> EffortAfter {
    let three = |values: &[f64], factor: f64| std::array::from_fn(|i| values.get(i).map_or(0.0, |x| factor * x));
    let (speed, size, force) = (norm(u), norm(lambda), three(lambda, 1.0));
    let pushed = |direction| EffortAfter { mode: ContactMode::Sliding, force, direction };
    match before {
        Before::Pushing { direction } => pushed(direction),
        _ if speed > zero => pushed(three(u, 1.0 / speed)),
        Before::Holding { lower, upper } if leaves.is_some() && lambda.len() == 1 => {
            let finite = [lower, upper].into_iter().filter(|bound| bound.is_finite()).fold(size, |most, bound| most.max(bound.abs()));
            let near = |bound: f64| (lambda[0] - bound).abs() <= AT_THE_END * finite.max(leaves.unwrap_or(0.0));
            let side = if (lambda[0] - lower).abs() <= (lambda[0] - upper).abs() { (lower, 1.0) } else { (upper, -1.0) };
            match near(side.0) {
                true => pushed([side.1, 0.0, 0.0]),
                false => EffortAfter { mode: ContactMode::Sticking, force, direction: [0.0; 3] },
            }
        }
        Before::Holding { upper, .. } if leaves.is_some() && size >= (1.0 - AT_THE_END) * upper && size > 0.0 => {
            pushed(three(lambda, -1.0 / size))
        }
        _ => EffortAfter { mode: ContactMode::Sticking, force, direction: [0.0; 3] },
    }
}
