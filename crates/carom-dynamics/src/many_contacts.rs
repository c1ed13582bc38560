//! Contacts of many rigid bodies with Coulomb friction, kept lean: no rows, no W.
//!
//! The plain contacts of a step go to [`carom_solvers::bodies`] as points with arms; joints and contacts with other laws go there as rows of the
//! active set. Orientations are those half a step ahead, as in the rows of the active set.

use crate::active_set::{ActiveSet, ActiveSource};
use crate::block_diagonal::BlockLayout;
use crate::detection::{ContactPoint, WORLD};
use crate::laws::{Cohesion, ContactLaw};
use crate::memory::WarmStart;
use crate::relations::contact::turned_tangents;
use crate::schemes::moreau_gap::sleep::Sleep;
use crate::systems::rigid_bodies::{angular, centre, orientation};
use carom_solvers::SolveReport;
use carom_solvers::bodies::{BodyContact, BodyMass, BodyProblem, BodySolution, BodySweeps, GROUND};
use carom_solvers::growth::reserve_tightly;
use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use rayon::prelude::*;

/// The plain contacts of a step. Empty where the step took the ordinary way.
#[derive(Debug, Default)]
pub(crate) struct ManyContacts {
    /// The contact point of each.
    pub index: Vec<u32>,
    /// Its velocity at the start of the step, and what the law adds to the normal one.
    pub start: Vec<[f64; 3]>,
    pub shift: Vec<f64>,
    /// Its normal velocity at the end of the step without impulses.
    pub free: Vec<f64>,
    pub problem: BodyProblem,
    pub solution: BodySolution,
    pub sweeps: BodySweeps,
    pub sleep: Sleep,
    /// Impulses of an earlier solution of the same step.
    passed: WarmStart,
    /// Guess of the impulses of the rows.
    pub row_guess: Vec<f64>,
    /// Laws of all contact points, where some are not plain.
    pub laws: Vec<u16>,
    /// Rotation of each body from its frame to the world, half a step ahead, and its velocity at the start of the step, in the world frame.
    rotations: Vec<Matrix3<f64>>,
    velocities_start: Vec<[f64; 6]>,
    /// Inverse inertias in the body frames, and inverse masses; constant.
    inertias: Vec<(f64, Matrix3<f64>)>,
}

/// Fewest bodies or contacts that a thread takes at once: each some tens of nanoseconds.
const PIECE: usize = 512;

/// A contact before its law is applied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainContact<'a> {
    /// As it was found.
    pub point: &'a ContactPoint,
    /// Local velocity at the start of the step (N, T1, T2) \[m/s\].
    pub start: [f64; 3],
    /// Normal velocity at its end without impulses \[m/s\].
    pub free: f64,
}

/// Constant Coulomb friction and restitution, nothing else.
pub(crate) fn is_plain(law: &ContactLaw) -> bool {
    let only_friction = !law.friction.varies() && law.friction.stretch() == 1.0;
    let no_moments = law.rolling == 0.0 && law.spinning == 0.0;
    only_friction && no_moments && law.cohesion == Cohesion::None && law.tangential_restitution == 0.0
}

impl ManyContacts {
    /// No plain contacts in this step.
    pub fn clear(&mut self) {
        self.passed.by_contact.clear();
        self.forget_contacts();
    }

    /// Keeps the impulses as the guess of a solution of the same step with more contacts. `contacts` are those of the step so far.
    pub fn keep_pass(&mut self, contacts: &[ContactPoint]) {
        let carrying = self.index.iter().zip(&self.solution.impulses).filter(|(_, p)| p[0] > 0.0);
        self.passed.by_contact.clear();
        self.passed.by_contact.extend(carrying.map(|(&index, p)| (contacts[index as usize].key, [p[0], p[1], p[2], 0.0, 0.0, 0.0])));
        self.forget_contacts();
    }

    fn forget_contacts(&mut self) {
        self.index.clear();
        self.start.clear();
        self.shift.clear();
        self.free.clear();
    }

    /// Keeps the inverse masses: linear and angular blocks of M from `first_block` on.
    pub fn keep_masses(&mut self, layout: &BlockLayout, mass: &[f64], first_block: usize, n: usize) {
        if self.inertias.len() == n {
            return;
        }
        self.inertias.clear();
        self.inertias.reserve_exact(n);
        for body in 0..n {
            let block = |k: usize| Matrix3::from_row_slice(&mass[layout.values[first_block + 2 * body + k]..][..9]);
            let inverse = block(1).try_inverse().unwrap_or_else(Matrix3::zeros);
            self.inertias.push((1.0 / block(0)[(0, 0)], inverse));
        }
    }

    /// Makes room for so many contacts.
    pub fn reserve(&mut self, n_contacts: usize) {
        reserve_tightly(&mut self.index, n_contacts);
        reserve_tightly(&mut self.start, n_contacts);
        reserve_tightly(&mut self.shift, n_contacts);
        reserve_tightly(&mut self.free, n_contacts);
        self.problem.contacts.clear();
        reserve_tightly(&mut self.problem.contacts, n_contacts);
        let BodySolution { impulses, velocities, .. } = &mut self.solution;
        reserve_tightly(impulses, n_contacts.saturating_sub(impulses.len()));
        reserve_tightly(velocities, n_contacts.saturating_sub(velocities.len()));
    }

    /// Bodies with their free velocities, in the world frame; `lead` is half a step \[s\].
    pub fn place_bodies(&mut self, q: &[f64], v: &[f64], v_free: &[f64], lead: f64) {
        let ManyContacts { problem, rotations, velocities_start, inertias, .. } = self;
        problem.clear();
        let n = inertias.len();
        let mass = BodyMass { inverse_mass: 0.0, inverse_inertia: [0.0; 6] };
        problem.masses.resize(n, mass);
        problem.velocities.resize(n, [0.0; 6]);
        problem.slow.resize(n, false);
        rotations.resize(n, Matrix3::zeros());
        velocities_start.resize(n, [0.0; 6]);
        let state = (rotations.par_iter_mut(), velocities_start.par_iter_mut());
        let of_problem = (problem.masses.par_iter_mut(), problem.velocities.par_iter_mut(), problem.slow.par_iter_mut());
        let all = inertias.par_iter().zip(state.into_par_iter()).zip(of_problem.into_par_iter()).enumerate();
        all.with_min_len(PIECE).for_each(|(body, (((inverse_mass, inertia), (rotation, start)), (mass, velocity, slow)))| {
            let mut turned = orientation(q, body);
            let turn = angular(v, body) * lead;
            if turn != Vector3::zeros() {
                turned *= UnitQuaternion::from_scaled_axis(turn);
            }
            *rotation = turned.to_rotation_matrix().into_inner();
            let i = *rotation * inertia * rotation.transpose();
            let inverse_inertia = [i[(0, 0)], i[(0, 1)], i[(0, 2)], i[(1, 1)], i[(1, 2)], i[(2, 2)]];
            *mass = BodyMass { inverse_mass: *inverse_mass, inverse_inertia };
            *start = world_velocity(v, body, rotation);
            *velocity = world_velocity(v_free, body, rotation);
            *slow = is_slow(&v[6 * body..6 * body + 6], &v_free[6 * body..6 * body + 6]);
        });
    }

    /// Writes the plain contacts among `contacts` that `index` lists, with the coefficient of friction and what the law adds to the normal velocity, which
    /// `law` tells. Orientations are those of [`ManyContacts::place_bodies`]; `h` is the step \[s\].
    pub fn write_contacts(&mut self, contacts: &[ContactPoint], q: &[f64], h: f64, law: impl Fn(PlainContact<'_>) -> (f64, f64) + Sync) {
        let ManyContacts { index, start, shift, free, problem, velocities_start, .. } = self;
        let n = index.len();
        start.resize(n, [0.0; 3]);
        shift.resize(n, 0.0);
        free.resize(n, 0.0);
        problem.contacts.resize(n, EMPTY);
        let velocities = &problem.velocities;
        let results = (start.par_iter_mut(), shift.par_iter_mut(), free.par_iter_mut(), problem.contacts.par_iter_mut());
        let all = index.par_iter().zip(results.into_par_iter());
        all.with_min_len(PIECE).for_each(|(&index, (start, shift, free, written))| {
            let point = &contacts[index as usize];
            let n = point.normal;
            let (t1, t2) = turned_tangents(&n, point.turn);
            let bodies = [point.body_a, point.body_b];
            let arms = bodies.map(|body| if body == WORLD { Vector3::zeros() } else { point.point - centre(q, body as usize) });
            let relative = |velocities: &[[f64; 6]]| {
                let mut sum = Vector3::zeros();
                for ((body, arm), sign) in bodies.iter().zip(&arms).zip([1.0, -1.0]) {
                    if *body != WORLD {
                        let v = velocities[*body as usize];
                        sum += sign * (Vector3::new(v[0], v[1], v[2]) + Vector3::new(v[3], v[4], v[5]).cross(arm));
                    }
                }
                sum
            };
            let (mut at_start, mut at_end) = (relative(velocities_start), relative(velocities));
            let mut bias = Vector3::zeros();
            if let Some(surface) = &point.surface {
                at_start -= surface.velocity;
                bias = -(surface.velocity + h * surface.acceleration);
                at_end += bias;
            }
            let local = |x: Vector3<f64>| [n.dot(&x), t1.dot(&x), t2.dot(&x)];
            (*start, *free) = (local(at_start), n.dot(&at_end));
            let (friction, added) = law(PlainContact { point, start: *start, free: *free });
            *shift = added;
            let mut bias = local(bias);
            bias[0] += added;
            *written = BodyContact {
                bodies: bodies.map(|body| if body == WORLD { GROUND } else { body }),
                normal: n.into(),
                tangent: t1.into(),
                arms: arms.map(Into::into),
                free: bias,
                friction,
            };
        });
    }

    /// Adds the rows of the active set: joints and contacts with other laws. Its blocks belong to bodies from `first_block` on.
    pub fn push_rows(&mut self, active: &ActiveSet, first_block: usize) {
        let mut free = [0.0; 6];
        for (place, item) in active.items().iter().enumerate() {
            let dim = item.rows.len();
            for (k, row) in item.rows.clone().enumerate() {
                free[k] = active.bias()[row] + active.shift()[row];
            }
            self.problem.start_rows(item.block, &free[..dim]);
            // linear and angular block of a body follow each other
            let (mut last, mut side): (usize, &mut [f64]) = (usize::MAX, &mut []);
            for (block, rows) in active.rows_by_block(place) {
                let (body, is_angular) = ((block - first_block) / 2, (block - first_block) % 2 == 1);
                if body != last {
                    (last, side) = (body, self.problem.push_side(body as u32));
                }
                for (k, row) in rows.enumerate() {
                    let row = Vector3::new(row[0], row[1], row[2]);
                    let (at, row) = if is_angular { (3, self.rotations[body] * row) } else { (0, row) };
                    side[6 * k + at..6 * k + at + 3].copy_from_slice(row.as_slice());
                }
            }
        }
    }

    /// Wakes bodies and tells the problem of those that sleep, when it is complete; `v` are the velocities at the start of the step.
    pub fn let_sleep(&mut self, contacts: &[ContactPoint], v: &[f64], h: f64) {
        let index = &self.index;
        self.sleep.before(&mut self.problem, v, |place| contacts[index[place] as usize].surface.is_some(), h);
    }

    /// The impulses of the last step as the guess of the rows.
    pub fn guess_rows(&mut self, active: &ActiveSet, contacts: &[ContactPoint], warm: &WarmStart) {
        self.row_guess.clear();
        for item in active.items() {
            match item.source {
                ActiveSource::Interaction(i) => self.row_guess.extend_from_slice(&warm.by_interaction[i][..item.rows.len()]),
                ActiveSource::Contact(i) => self.row_guess.extend_from_slice(&warm.of_contact(&contacts[i].key)[..item.rows.len()]),
            }
        }
    }

    /// Solves from the impulses of the last step. v of the bodies goes to `v`.
    pub fn solve(&mut self, contacts: &[ContactPoint], warm: &WarmStart, v: &mut [f64]) -> SolveReport {
        self.solution.impulses.clear();
        let warm = if self.passed.by_contact.is_empty() { warm } else { &self.passed };
        let mut cursor = 0;
        for &index in &self.index {
            let p = warm.of_contact_after(&mut cursor, &contacts[index as usize].key);
            self.solution.impulses.push([p[0], p[1], p[2]]);
        }
        self.solution.row_impulses.clear();
        self.solution.row_impulses.extend_from_slice(&self.row_guess);
        let report = self.sweeps.solve(&self.problem, &mut self.solution);
        for (body, (velocity, rotation)) in self.solution.bodies.iter().zip(&self.rotations).enumerate() {
            let turning = rotation.tr_mul(&Vector3::new(velocity[3], velocity[4], velocity[5]));
            v[6 * body..6 * body + 3].copy_from_slice(&velocity[..3]);
            v[6 * body + 3..6 * body + 6].copy_from_slice(turning.as_slice());
        }
        report
    }

    /// u⁺ of a contact, without what the law adds.
    pub fn velocity(&self, place: usize) -> [f64; 3] {
        let u = self.solution.velocities[place];
        [u[0] - self.shift[place], u[1], u[2]]
    }

    /// Energy taken out by normal and by tangential impulses, −½ (u_k + u⁺)·p, and the work −b·p of moving obstacles \[J\].
    pub fn exchange(&self) -> [f64; 3] {
        let mut sums = [0.0; 3];
        for (place, (p, start)) in self.solution.impulses.iter().zip(&self.start).enumerate() {
            let end = self.velocity(place);
            sums[0] -= 0.5 * (start[0] + end[0]) * p[0];
            sums[1] -= 0.5 * ((start[1] + end[1]) * p[1] + (start[2] + end[2]) * p[2]);
            let b = self.problem.contacts[place].free;
            sums[2] -= (b[0] - self.shift[place]) * p[0] + b[1] * p[1] + b[2] * p[2];
        }
        sums
    }
}

/// Stands where a contact will be written.
const EMPTY: BodyContact =
    BodyContact { bodies: [GROUND; 2], normal: [0.0; 3], tangent: [0.0; 3], arms: [[0.0; 3]; 2], free: [0.0; 3], friction: 0.0 };

/// Part of what the forces of a step do to a velocity below which a body counts as slow.
const SLOW: f64 = 0.1;

/// A body that is slower than the forces of a step would make it; linear \[m/s\] and angular \[rad/s\] velocity are taken together.
fn is_slow(v: &[f64], v_free: &[f64]) -> bool {
    let change: f64 = v.iter().zip(v_free).map(|(v, free)| (free - v) * (free - v)).sum();
    v.iter().map(|v| v * v).sum::<f64>() <= SLOW * SLOW * change
}

/// Linear and angular velocity of a body in the world frame.
fn world_velocity(v: &[f64], body: usize, rotation: &Matrix3<f64>) -> [f64; 6] {
    let turning = rotation * angular(v, body);
    let v = &v[6 * body..6 * body + 3];
    [v[0], v[1], v[2], turning.x, turning.y, turning.z]
}
