//! Bounding volume tree over the colliders.

use super::to_glam;
use nalgebra::Vector3;
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};

/// Axis-aligned box given by its lower and upper corner.
pub(crate) type Bounds = (Vector3<f64>, Vector3<f64>);

/// Whether two boxes touch.
pub(crate) fn overlap(a: &Bounds, b: &Bounds) -> bool {
    (0..3).all(|k| a.0[k] <= b.1[k] && b.0[k] <= a.1[k])
}

/// Incremental tree: leaves move every step, the inner nodes are refitted and a part of them rebuilt.
#[derive(Clone, Default)]
pub(crate) struct Tree {
    bvh: Bvh,
    workspace: BvhWorkspace,
}

impl Tree {
    /// A new tree over leaves numbered from 0, without gaps. O(n log n).
    pub fn build(leaves: impl Iterator<Item = Bounds>) -> Self {
        let leaves = leaves.map(|(lower, upper)| Aabb::new(to_glam(&lower), to_glam(&upper))).enumerate();
        Self { bvh: Bvh::from_iter(BvhBuildStrategy::Binned, leaves), workspace: BvhWorkspace::default() }
    }

    /// Moves a leaf; [`Tree::refit`] must follow before the next search.
    pub fn move_leaf(&mut self, leaf: u32, (lower, upper): &Bounds) {
        self.bvh.insert_or_update_partially(Aabb::new(to_glam(lower), to_glam(upper)), leaf, 0.0);
    }

    /// Makes the inner nodes hold the moved leaves, then improves a few percent of the tree. O(n).
    pub fn refit(&mut self) {
        self.bvh.refit(&mut self.workspace);
        self.bvh.optimize_incremental(&mut self.workspace);
    }

    /// Calls `found` once for every pair of overlapping leaves, in no particular order.
    pub fn for_each_pair(&mut self, mut found: impl FnMut(u32, u32)) {
        self.bvh.traverse_bvtt_single_tree::<false>(&mut self.workspace, &mut found);
    }
}
