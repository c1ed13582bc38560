//! Pairs of colliders that may touch.

use crate::backend::tree::{Bounds, Tree, overlap};
use crate::collider::{Collider, Groups};
use crate::placed::Placed;
use crate::shapes::Shape;
use carom_dynamics::detection::WORLD;

/// What pairs are found with, as of the present search.
pub(crate) struct Near<'a> {
    pub colliders: &'a [Collider],
    pub planes: &'a [u32],
    pub placed: &'a [Placed],
    pub tree: &'a Tree,
    pub filter: Filter<'a>,
    pub horizon: f64,
    /// Largest gap at which some pair still pulls \[m\].
    pub pull_reach: f64,
}

impl Near<'_> {
    /// Appends the pairs (A, B) of a collider A, sorted; none where A does not move. Each pair has its A.
    pub(crate) fn list_pairs(&self, a: u32, pairs: &mut Vec<(u32, u32)>) {
        let first = pairs.len();
        self.list_planes(a, pairs);
        let with_planes = pairs.len() > first;
        let bounds = self.tree.bounds(a);
        pairs.extend(self.tree.pairs_of(a).iter().filter(|(_, b)| overlap(bounds, self.tree.bounds(*b))));
        if with_planes {
            pairs[first..].sort_unstable();
        }
    }

    /// Appends the pairs of a collider that has become faster since boxes were put into the tree, with others that have (`faster`, ascending) only once. No such box reaches
    /// beyond that in the tree by more than `overhang` \[m\].
    pub(crate) fn list_pairs_of_faster(&self, a: u32, faster: &[u32], overhang: f64, pairs: &mut Vec<(u32, u32)>) {
        self.list_planes(a, pairs);
        let bounds = self.tree.bounds(a);
        let grown = (bounds.0.add_scalar(-overhang), bounds.1.add_scalar(overhang));
        self.tree.for_each_near(&grown, |b| {
            let is_listed = b == a || b < a && faster.binary_search(&b).is_ok();
            if !is_listed && overlap(bounds, self.tree.bounds(b)) {
                pairs.extend(self.filter.admit(a.min(b), a.max(b)));
            }
        });
    }

    fn list_planes(&self, solid: u32, pairs: &mut Vec<(u32, u32)>) {
        let body = &self.placed[solid as usize];
        if body.body == WORLD || !body.valid {
            return;
        }
        for &plane in self.planes {
            let ground = &self.placed[plane as usize];
            let Shape::Plane { normal } = &self.colliders[plane as usize].shape else { continue };
            let normal = ground.pose.rotation * normal;
            let height = normal.dot(&(body.pose.position - ground.pose.position)) - body.radius;
            if height <= body.margin(ground, self.horizon) + self.pull_reach {
                pairs.extend(self.filter.admit(solid, plane));
            }
        }
    }
}

/// Whether spheres of these radii may meet while the boxes about them and their motion stay in these.
pub(crate) fn spheres_may_meet(radii: [f64; 2], boxes: [&Bounds; 2]) -> bool {
    // of a box that is a grown sphere's, the sphere is off the centre by at most √3 times what is left free
    let reach = |k: usize| radii[k] + 3.0_f64.sqrt() * (0.5 * (boxes[k].1.x - boxes[k].0.x) - radii[k]);
    let twice_apart = (boxes[0].0 + boxes[0].1) - (boxes[1].0 + boxes[1].1);
    let near = 2.0 * (reach(0) + reach(1));
    twice_apart.norm_squared() <= near * near
}

/// Which colliders may meet.
#[derive(Clone, Copy)]
pub(crate) struct Filter<'a> {
    /// Body and groups of each collider.
    pub members: &'a [(u32, Groups)],
    /// Pairs of bodies and of colliders that never meet, each (smaller, larger) and sorted.
    pub excluded: &'a [(u32, u32)],
    pub apart: &'a [(u32, u32)],
}

impl Filter<'_> {
    /// The pair with a moving collider first, or `None` when the two never meet.
    pub fn admit(&self, i: u32, j: u32) -> Option<(u32, u32)> {
        let ((a, groups_a), (b, groups_b)) = (self.members[i as usize], self.members[j as usize]);
        if a == b || !groups_a.meets(&groups_b) {
            return None;
        }
        if !self.excluded.is_empty() && self.excluded.binary_search(&(a.min(b), a.max(b))).is_ok() {
            return None;
        }
        if !self.apart.is_empty() && self.apart.binary_search(&(i.min(j), i.max(j))).is_ok() {
            return None;
        }
        if a == WORLD { Some((j, i)) } else { Some((i, j)) }
    }
}
