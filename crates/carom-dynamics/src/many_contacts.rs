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
use crate::schemes::moreau_gap::payment::is_shallow;
use crate::systems::rigid_bodies::{angular, centre, orientation};
use carom_solvers::SolveReport;
use carom_solvers::bodies::{BodyContact, BodyMass, BodyProblem, BodySolution, BodySweeps, GROUND};
use carom_solvers::growth::reserve_tightly;
use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use rayon::prelude::*;
use std::mem::take;

/// The plain contacts of a step. Empty where the step took the ordinary way.
#[derive(Debug, Default)]
pub(crate) struct ManyContacts {
    /// The contact point of each.
    pub index: Vec<u32>,
    /// Its velocity at the start of the step, and what the law adds to the normal one.
    pub start: Vec<[f64; 3]>,
    pub shift: Vec<f64>,
    pub problem: BodyProblem,
    pub solution: BodySolution,
    pub sweeps: BodySweeps,
    /// Contacts that were added or changed after the step was solved, by their places here; the impulses are then those of that solution.
    pub changed: Vec<u32>,
    /// Bodies in whose islands penetrations are not taken back in this step: see `moreau_gap::payment`.
    pub holds: Vec<bool>,
    /// What each island exchanges, the same of pieces of islands, and these: number of the island, places in its list of contacts.
    pub exchanged: Vec<Exchange>,
    parts: Vec<Exchange>,
    pieces: Vec<(u32, u32, u32)>,
    /// Guess of the impulses of the rows.
    pub row_guess: Vec<f64>,
    /// Laws of all contact points, where some are not plain.
    pub laws: Vec<u16>,
    /// Orientation of each body half a step ahead.
    orientations: Vec<UnitQuaternion<f64>>,
    /// Inverse masses, and inverse inertias in the body frames; constant.
    masses: Vec<BodyMass>,
}

/// Fewest bodies or contacts that a thread takes at once: each some tens of nanoseconds.
pub(crate) const PIECE: usize = 512;

/// Fewest pieces of islands that a thread takes at once: most may be of one contact.
const MANY_PIECES: usize = 4;

/// What contacts exchange in a step \[J\].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Exchange {
    /// Energy taken out by normal and by tangential impulses, −½ (u_k + u⁺)·p.
    pub normal: f64,
    pub tangential: f64,
    /// Work −b·p of moving obstacles.
    pub work: f64,
    /// Work p_N w of penetrations that are taken back at the speed w: shallow ones, deep ones; and of shallow ones that are not, though they might be.
    pub lift: f64,
    pub deep_lift: f64,
    pub held_lift: f64,
}

impl Exchange {
    /// Adds that of other contacts.
    pub fn add(&mut self, other: &Exchange) {
        self.normal += other.normal;
        self.tangential += other.tangential;
        self.work += other.work;
        self.lift += other.lift;
        self.deep_lift += other.deep_lift;
        self.held_lift += other.held_lift;
    }
}

/// A contact before its law is applied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainContact<'a> {
    /// As it was found.
    pub point: &'a ContactPoint,
    /// Local velocity at the start of the step (N, T1, T2) \[m/s\].
    pub start: [f64; 3],
    /// Normal velocity at its end without impulses \[m/s\].
    pub free: f64,
    /// It may have to wait until its penetration is taken back.
    pub is_held: bool,
}

/// Constant Coulomb friction and restitution, nothing else.
pub(crate) fn is_plain(law: &ContactLaw) -> bool {
    let only_friction = !law.friction.varies() && law.friction.stretch() == 1.0;
    let no_moments = law.rolling == 0.0 && law.spinning == 0.0;
    only_friction && no_moments && law.cohesion == Cohesion::None && law.tangential_restitution == 0.0
}

impl ManyContacts {
    /// No plain contacts in this step; `held` are the bodies in whose islands penetrations were not taken back in the last one.
    pub fn clear(&mut self, held: &[bool]) {
        self.holds.clear();
        self.holds.extend_from_slice(held);
        self.changed.clear();
        self.index.clear();
        self.start.clear();
        self.shift.clear();
    }

    /// Makes room for contacts that were added, after a solution, at `places` of the contact points of the step, where they are plain. Their impulses are zero.
    pub(crate) fn make_room(&mut self, contacts: &[ContactPoint], places: &[u32], is_plain: impl Fn(&ContactPoint) -> bool) {
        self.changed.clear();
        if self.index.is_empty() {
            return;
        }
        self.index.clear();
        let mut places = places.iter().peekable();
        for (index, _) in (0..).zip(contacts).filter(|(_, contact)| is_plain(contact)) {
            while places.next_if(|place| **place < index).is_some() {}
            if places.peek() == Some(&&index) {
                self.changed.push(self.index.len() as u32);
            }
            self.index.push(index);
        }
        spread(&mut self.start, &self.changed, |_| [0.0; 3]);
        spread(&mut self.shift, &self.changed, |_| 0.0);
        spread(&mut self.problem.contacts, &self.changed, |_| EMPTY);
        spread(&mut self.solution.impulses, &self.changed, |_| [0.0; 3]);
    }

    /// Contacts were added to a solution, or changed.
    pub fn has_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Keeps the inverse masses: linear and angular blocks of M from `first_block` on.
    pub(crate) fn keep_masses(&mut self, layout: &BlockLayout, mass: &[f64], first_block: usize, n: usize) {
        if self.masses.len() == n {
            return;
        }
        self.masses.clear();
        self.masses.reserve_exact(n);
        for body in 0..n {
            let block = |k: usize| Matrix3::from_row_slice(&mass[layout.values[first_block + 2 * body + k]..][..9]);
            let inverse = block(1).try_inverse().unwrap_or_else(Matrix3::zeros);
            self.masses.push(BodyMass { inverse_mass: 1.0 / block(0)[(0, 0)], inverse_inertia: upper_triangle(&inverse) });
        }
    }

    /// Makes room for so many contacts, to be listed and written.
    pub fn reserve(&mut self, n_contacts: usize) {
        fn renew<T>(list: &mut Vec<T>, n: usize) {
            list.clear();
            reserve_tightly(list, n);
        }
        renew(&mut self.index, n_contacts);
        renew(&mut self.start, n_contacts);
        renew(&mut self.shift, n_contacts);
        renew(&mut self.problem.contacts, n_contacts);
        let impulses = &mut self.solution.impulses;
        reserve_tightly(impulses, n_contacts.saturating_sub(impulses.len()));
    }

    /// Bodies with their free velocities, in the world frame; `lead` is half a step \[s\].
    pub fn place_bodies(&mut self, q: &[f64], v: &[f64], v_free: &[f64], lead: f64) {
        let ManyContacts { problem, orientations, masses, .. } = self;
        problem.clear();
        let n = masses.len();
        problem.masses.resize(n, BodyMass { inverse_mass: 0.0, inverse_inertia: [0.0; 6] });
        problem.velocities.resize(n, [0.0; 6]);
        problem.slow.resize(n, false);
        orientations.resize(n, UnitQuaternion::identity());
        let of_problem = (problem.masses.par_iter_mut(), problem.velocities.par_iter_mut(), problem.slow.par_iter_mut());
        let all = masses.par_iter().zip(orientations.par_iter_mut()).zip(of_problem.into_par_iter()).enumerate();
        all.with_min_len(PIECE).for_each(|(body, ((own, turned), (mass, velocity, slow)))| {
            *turned = orientation(q, body);
            let turn = angular(v, body) * lead;
            if turn != Vector3::zeros() {
                *turned *= UnitQuaternion::from_scaled_axis(turn);
            }
            let rotation = turned.to_rotation_matrix().into_inner();
            let [xx, xy, xz, yy, yz, zz] = own.inverse_inertia;
            let inertia = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
            let inverse_inertia = upper_triangle(&(rotation * inertia * rotation.transpose()));
            *mass = BodyMass { inverse_mass: own.inverse_mass, inverse_inertia };
            *velocity = world_velocity(v_free, body, turned);
            *slow = is_slow(&v[6 * body..6 * body + 6], &v_free[6 * body..6 * body + 6]);
        });
    }

    /// Writes the plain contacts among `contacts` that `index` lists, with the coefficient of friction and what the law adds to the normal velocity, which
    /// `law` tells. Orientations are those of [`ManyContacts::place_bodies`]; `h` is the step \[s\].
    pub(crate) fn write_contacts(
        &mut self,
        contacts: &[ContactPoint],
        (q, v): (&[f64], &[f64]),
        h: f64,
        law: impl Fn(PlainContact<'_>) -> (f64, f64) + Sync,
    ) {
        let ManyContacts { index, start, shift, problem, orientations, holds, .. } = self;
        let n = index.len();
        start.resize(n, [0.0; 3]);
        shift.resize(n, 0.0);
        problem.contacts.resize(n, EMPTY);
        let bodies = Moving { q, v, orientations, holds, free: &problem.velocities, h };
        let results = (start.par_iter_mut(), shift.par_iter_mut(), problem.contacts.par_iter_mut());
        let all = index.par_iter().zip(results.into_par_iter());
        all.with_min_len(PIECE).for_each(|(&index, (start, shift, written))| {
            (*start, *shift, *written) = bodies.write(&contacts[index as usize], &law);
        });
    }

    /// The same for those that were added or changed; the others are there already.
    pub(crate) fn write_changed(
        &mut self,
        contacts: &[ContactPoint],
        (q, v): (&[f64], &[f64]),
        h: f64,
        law: impl Fn(PlainContact<'_>) -> (f64, f64),
    ) {
        let bodies = Moving { q, v, orientations: &self.orientations, holds: &self.holds, free: &self.problem.velocities, h };
        for &place in &self.changed {
            let place = place as usize;
            let written = bodies.write(&contacts[self.index[place] as usize], &law);
            (self.start[place], self.shift[place], self.problem.contacts[place]) = written;
        }
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
                    let (at, row) = if is_angular { (3, self.orientations[body] * row) } else { (0, row) };
                    side[6 * k + at..6 * k + at + 3].copy_from_slice(row.as_slice());
                }
            }
        }
    }

    /// The impulses of the last step as the guess of the rows.
    pub(crate) fn guess_rows(&mut self, active: &ActiveSet, contacts: &[ContactPoint], warm: &WarmStart) {
        self.row_guess.clear();
        for item in active.items() {
            match item.source {
                ActiveSource::Interaction(i) => self.row_guess.extend_from_slice(&warm.by_interaction[i][..item.rows.len()]),
                ActiveSource::Contact(i) => self.row_guess.extend_from_slice(&warm.of_contact(&contacts[i].key)[..item.rows.len()]),
            }
        }
    }

    /// Solves from the impulses of the last step, or of the solution that contacts were added to. v of the bodies goes to `v`.
    pub fn solve(&mut self, contacts: &[ContactPoint], warm: &WarmStart, v: &mut [f64]) -> SolveReport {
        let BodySolution { impulses, row_impulses, .. } = &mut self.solution;
        if self.changed.is_empty() {
            impulses.clear();
            let mut cursor = 0;
            for &index in &self.index {
                let p = warm.of_contact_after(&mut cursor, &contacts[index as usize].key);
                impulses.push([p[0], p[1], p[2]]);
            }
        }
        row_impulses.clone_from(&self.row_guess);
        let report = self.sweeps.solve(&self.problem, &mut self.solution);
        self.tell_velocities(v);
        report
    }

    /// Solves again what the contacts concern that were added or changed; nothing else has changed.
    pub fn solve_changed(&mut self, v: &mut [f64]) -> SolveReport {
        let report = if self.problem.rows.is_empty() && self.problem.asleep.is_empty() {
            self.sweeps.solve_changed(&self.problem, &mut self.solution, &self.changed)
        } else {
            self.sweeps.solve(&self.problem, &mut self.solution)
        };
        self.tell_velocities(v);
        report
    }

    /// Velocities of the bodies, the angular ones in their frames.
    fn tell_velocities(&self, v: &mut [f64]) {
        let all = (v.par_chunks_exact_mut(6), &self.solution.bodies, &self.orientations).into_par_iter();
        all.with_min_len(PIECE).for_each(|(v, velocity, orientation)| {
            let turning = orientation.inverse_transform_vector(&Vector3::new(velocity[3], velocity[4], velocity[5]));
            v[..3].copy_from_slice(&velocity[..3]);
            v[3..].copy_from_slice(turning.as_slice());
        });
    }

    /// u⁺ of a contact, without what the law adds.
    pub fn velocity(&self, place: usize) -> [f64; 3] {
        let u = self.problem.velocity(place, &self.solution);
        [u[0] - self.shift[place], u[1], u[2]]
    }

    /// Normal velocity of a contact at the end of the step without impulses, and without what the law adds.
    pub fn free(&self, place: usize) -> f64 {
        self.problem.free_velocity(place)[0] - self.shift[place]
    }

    /// Sums what the contacts of each island exchange in a step of `h` seconds, in `exchanged`; `lift` tells at which speed the penetration of a contact is
    /// or might be taken back, and whether it is shallow.
    pub(crate) fn tally(&mut self, contacts: &[ContactPoint], h: f64, lift: impl Fn(&Self, usize) -> (f64, bool) + Sync) {
        let (mut exchanged, mut parts, mut pieces) = (take(&mut self.exchanged), take(&mut self.parts), take(&mut self.pieces));
        exchanged.clear();
        pieces.clear();
        if !self.index.is_empty() {
            exchanged.resize(self.sweeps.n_islands(), Exchange::default());
            for island in 0..exchanged.len() {
                let n = self.sweeps.island(island).1.len();
                pieces.extend((0..n).step_by(PIECE).map(|start| (island as u32, start as u32, n.min(start + PIECE) as u32)));
            }
            let of_piece = |&(island, start, end): &(u32, u32, u32)| {
                let mut sum = Exchange::default();
                for &place in &self.sweeps.island(island as usize).1[start as usize..end as usize] {
                    let place = place as usize;
                    sum.add(&self.exchange_of(place, &lift));
                    sum.work += self.work_of_change(&contacts[self.index[place] as usize], place, h);
                }
                sum
            };
            pieces.par_iter().with_min_len(MANY_PIECES).map(of_piece).collect_into_vec(&mut parts);
            pieces.iter().zip(&parts).for_each(|((island, ..), part)| exchanged[*island as usize].add(part));
        }
        (self.exchanged, self.parts, self.pieces) = (exchanged, parts, pieces);
    }

    /// ½ Δb·p: what the mean of b over the step adds to the work −b·p of a moving obstacle with b at the end.
    fn work_of_change(&self, point: &ContactPoint, place: usize, h: f64) -> f64 {
        let Some(surface) = &point.surface else { return 0.0 };
        let (n, p) = (point.normal, &self.solution.impulses[place]);
        let (t1, t2) = turned_tangents(&n, point.turn);
        -0.5 * h * surface.acceleration.dot(&(n * p[0] + t1 * p[1] + t2 * p[2]))
    }

    /// What a contact exchanges.
    fn exchange_of(&self, place: usize, lift: impl Fn(&Self, usize) -> (f64, bool)) -> Exchange {
        let (p, start) = (&self.solution.impulses[place], &self.start[place]);
        if p[0] == 0.0 {
            return Exchange::default();
        }
        let (end, b, shift) = (self.velocity(place), self.problem.contacts[place].free, self.shift[place]);
        let mut exchange = Exchange {
            normal: -0.5 * (start[0] + end[0]) * p[0],
            tangential: -0.5 * ((start[1] + end[1]) * p[1] + (start[2] + end[2]) * p[2]),
            // b at the end of the step; in its mean, see `work_of_change`
            work: -((b[0] - shift) * p[0] + b[1] * p[1] + b[2] * p[2]),
            ..Exchange::default()
        };
        let (speed, is_shallow) = lift(self, place);
        let kind = match (is_shallow, speed == -shift) {
            (true, true) => &mut exchange.lift,
            (true, false) => &mut exchange.held_lift,
            (false, _) => &mut exchange.deep_lift,
        };
        *kind = p[0] * speed;
        exchange
    }
}

/// Where bodies are and how they move, as contacts need it.
struct Moving<'a> {
    /// Coordinates and velocities at the start of the step; orientations half a step later.
    q: &'a [f64],
    v: &'a [f64],
    orientations: &'a [UnitQuaternion<f64>],
    /// Bodies in whose islands penetrations wait.
    holds: &'a [bool],
    /// Velocities in the world frame at its end without impulses.
    free: &'a [[f64; 6]],
    /// Step \[s\].
    h: f64,
}

impl Moving<'_> {
    /// A contact of the problem, with its velocity at the start and what the law adds to the normal one.
    fn write(&self, point: &ContactPoint, law: impl Fn(PlainContact<'_>) -> (f64, f64)) -> ([f64; 3], f64, BodyContact) {
        let n = point.normal;
        let (t1, t2) = turned_tangents(&n, point.turn);
        let bodies = [point.body_a, point.body_b];
        let arms = bodies.map(|body| if body == WORLD { Vector3::zeros() } else { point.point - centre(self.q, body as usize) });
        let (mut at_start, mut at_end) = (Vector3::zeros(), Vector3::zeros());
        for ((body, arm), sign) in bodies.iter().zip(&arms).zip([1.0, -1.0]).filter(|((body, _), _)| **body != WORLD) {
            let body = *body as usize;
            let of_point = |v: &[f64; 6]| sign * (Vector3::new(v[0], v[1], v[2]) + Vector3::new(v[3], v[4], v[5]).cross(arm));
            at_start += of_point(&world_velocity(self.v, body, &self.orientations[body]));
            at_end += of_point(&self.free[body]);
        }
        let mut bias = Vector3::zeros();
        if let Some(surface) = &point.surface {
            at_start -= surface.velocity;
            bias = -(surface.velocity + self.h * surface.acceleration);
            at_end += bias;
        }
        let local = |x: Vector3<f64>| [n.dot(&x), t1.dot(&x), t2.dot(&x)];
        let (start, free) = (local(at_start), n.dot(&at_end));
        let holds = bodies.iter().any(|body| self.holds.get(*body as usize) == Some(&true));
        let bodies = bodies.map(|body| if body == WORLD { GROUND } else { body });
        let (normal, tangent) = (n.into(), t1.into());
        let mut contact = BodyContact { bodies, normal, tangent, arms: arms.map(Into::into), free: local(bias), friction: 0.0 };
        let is_held = holds && is_shallow(point.gap, &contact);
        let (friction, shift) = law(PlainContact { point, start, free, is_held });
        contact.friction = friction;
        contact.free[0] += shift;
        (start, shift, contact)
    }
}

/// Puts items, given by their numbers, at some places, ascending, of the longer list.
pub(crate) fn spread<T: Copy>(list: &mut Vec<T>, places: &[u32], item: impl Fn(usize) -> T) {
    let mut end = list.len();
    reserve_tightly(list, places.len());
    list.extend((0..places.len()).map(&item));
    for (k, &place) in places.iter().enumerate().rev() {
        let start = place as usize - k;
        list.copy_within(start..end, place as usize + 1);
        list[place as usize] = item(k);
        end = start;
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
fn world_velocity(v: &[f64], body: usize, orientation: &UnitQuaternion<f64>) -> [f64; 6] {
    let turning = orientation * angular(v, body);
    let v = &v[6 * body..6 * body + 3];
    [v[0], v[1], v[2], turning.x, turning.y, turning.z]
}

/// xx, xy, xz, yy, yz, zz.
fn upper_triangle(m: &Matrix3<f64>) -> [f64; 6] {
    [m[(0, 0)], m[(0, 1)], m[(0, 2)], m[(1, 1)], m[(1, 2)], m[(2, 2)]]
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn items_are_put_at_their_places() {
        let mut list = vec![1, 2, 3];
        spread(&mut list, &[0, 2, 3, 6], |k| k + 4);
        assert_eq!(list, [4, 1, 5, 6, 2, 3, 7]);
        spread(&mut list, &[], |k| k);
        assert_eq!(list.len(), 7);
    }
}
