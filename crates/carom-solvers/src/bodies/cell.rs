//! The contacts within one block of bodies, or between two blocks, in coloured packs.

use super::body::{Bodies, Inertia, address, block_of, inertia, place_of};
use super::colouring::{COLOURS, Colouring};
use super::groups::{Groups, Key, colour_of};
use super::lanes::{Arithmetic, LANES};
use super::pack::{EMPTY, Pack, Points};
use super::partition::Partition;
use super::{BodyProblem, BodySolution, Measure};
use crate::growth::reserve_tightly;

/// Pairs of bodies that one thread works on, one colour after the other.
#[derive(Debug, Default)]
pub(super) struct Cell {
    /// Numbers of its groups in the island, by colour once built.
    pub groups: Vec<u32>,
    colouring: Colouring,
    keys: Vec<Key>,
    packs: Vec<Pack>,
    /// End of the points of each pack.
    point_ends: Vec<u32>,
    points: Vec<Points>,
    /// Contacts in the lanes of each point.
    ids: Vec<[u32; LANES]>,
    /// Sum of the diagonal of W.
    pub trace: f64,
}

/// What a cell is made from.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub problem: &'a BodyProblem,
    pub guess: &'a BodySolution,
    /// Contacts of the island by their numbers in the problem.
    pub contacts: &'a [u32],
    pub groups: &'a Groups,
    pub partition: &'a Partition,
    /// Bodies of the island by their numbers in the problem.
    pub bodies: &'a [u32],
}

impl Source<'_> {
    /// Inverse mass and inertia of a body of the island; numbers beyond are the ground.
    fn inertia(&self, body: u32) -> Inertia {
        self.bodies.get(body as usize).map_or([0.0; 8], |&body| inertia(&self.problem.masses[body as usize]))
    }
}

/// Work over the packs of a cell.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// Adds the response to all impulses.
    Apply,
    /// One sweep, with this momentum; the first number of the measure is the square of the change.
    Sweep { beta: f64 },
    /// Parts of the residual in this mass unit.
    Measure { unit: f64 },
}

impl Cell {
    /// Colours the groups, packs their contacts and starts from the guess. Cost O(contacts log contacts).
    pub fn build(&mut self, from: Source<'_>) {
        let Cell { groups, colouring, keys, packs, point_ends, points, ids, trace } = self;
        packs.clear();
        point_ends.clear();
        points.clear();
        ids.clear();
        *trace = 0.0;
        let addresses = &from.partition.addresses;
        let lowest = groups
            .iter()
            .flat_map(|&g| from.groups.group(g).bodies)
            .filter_map(|body| addresses.get(body as usize))
            .map(|&a| block_of(a))
            .min();
        let first = lowest.unwrap_or(0);
        let size =
            |block: usize| from.partition.ends[block] as usize - if block == 0 { 0 } else { from.partition.ends[block - 1] as usize };
        let (n_first, n_next) = (size(first), if first + 1 < from.partition.ends.len() { size(first + 1) } else { 0 });
        // bodies of the cell one after the other; the ground is none of them
        let number = |body: u32| match addresses.get(body as usize) {
            Some(&address) if block_of(address) == first => place_of(address) as u32,
            Some(&address) => (n_first + place_of(address)) as u32,
            None => u32::MAX,
        };
        colouring.colour(n_first + n_next, groups.iter().map(|&group| from.groups.group(group).bodies.map(number)));
        from.groups.sort(groups, &colouring.colour, keys);
        let ground = address(first, n_first);
        let place = |body: u32| addresses.get(body as usize).copied().unwrap_or(ground);
        let longest = |lanes: &[u32]| lanes.iter().map(|&group| from.groups.group(group).contacts().len()).max().unwrap_or(0);
        // groups of one colour follow each other; those without a colour are one per pack
        let lanes_of = |colour: u8| if colour as usize == COLOURS { 1 } else { LANES };
        let of_colours = || {
            keys.chunk_by(|a, b| colour_of(*a) == colour_of(*b)).scan(0, |end, keys| {
                let start = std::mem::replace(end, *end + keys.len());
                Some(groups[start..*end].chunks(lanes_of(colour_of(keys[0]))))
            })
        };
        let n_points = of_colours().flatten().map(longest).sum();
        reserve_tightly(points, n_points);
        reserve_tightly(ids, n_points);
        for lanes in of_colours().flatten() {
            let mut bodies = [[ground; LANES]; 2];
            let first = points.len();
            for (lane, &group) in lanes.iter().enumerate() {
                let group = from.groups.group(group);
                (bodies[0][lane], bodies[1][lane]) = (place(group.bodies[0]), place(group.bodies[1]));
                let inertias = group.bodies.map(|body| from.inertia(body));
                for (k, &contact) in from.contacts[group.contacts()].iter().enumerate() {
                    if first + k == points.len() {
                        points.push(Points::empty());
                        ids.push([EMPTY; LANES]);
                    }
                    let (c, guess) = (&from.problem.contacts[contact as usize], &from.guess.impulses[contact as usize]);
                    *trace += points[first + k].put(lane, c, guess, &inertias);
                    ids[first + k][lane] = contact;
                }
            }
            packs.push(Pack::new(bodies));
            point_ends.push(points.len() as u32);
        }
    }

    /// Does the work, and returns what is summed over the packs in their order.
    #[inline(always)]
    pub fn run<S: Arithmetic>(&mut self, by: S, work: Work, bodies: &mut impl Bodies) -> Measure {
        let mut total = Measure::default();
        let mut start = 0;
        for (pack, &end) in self.packs.iter_mut().zip(&self.point_ends) {
            let (points, ids) = (&mut self.points[start..end as usize], &self.ids[start..end as usize]);
            start = end as usize;
            match work {
                Work::Apply => pack.apply_impulses(by, points, bodies),
                Work::Sweep { beta } => total.error += pack.visit(by, beta, points, bodies),
                Work::Measure { unit } => total.add(&pack.measure(by, points, ids, unit, bodies)),
            }
        }
        total
    }

    /// Tells the impulses of its contacts.
    pub(crate) fn tell_impulses(&self, mut tell: impl FnMut(u32, [f64; 3])) {
        for (point, ids) in self.points.iter().zip(&self.ids) {
            for (lane, &id) in ids.iter().enumerate().filter(|(_, id)| **id != EMPTY) {
                tell(id, point.impulse_of(lane));
            }
        }
    }
}
