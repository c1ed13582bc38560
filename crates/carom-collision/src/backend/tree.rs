//! Pairs of overlapping boxes: trees over boxes sorted along a space-filling curve, and a list of near pairs that is kept while boxes stay
//! within slightly larger ones.
//!
//! Boxes are sorted by size class (a factor of four each), then along the Morton curve of their centres; four neighbours make a bucket, and a
//! balanced binary tree over the buckets is stored in depth-first order, each node with the number of the next one outside it. Searching from a
//! bucket onwards finds each pair of a class once. The larger boxes of other classes search the trees of the smaller ones.

use carom_solvers::growth::reserve_tightly;
use nalgebra::Vector3;
use rayon::prelude::*;

/// Axis-aligned box given by its lower and upper corner.
pub(crate) type Bounds = (Vector3<f64>, Vector3<f64>);

/// A box that overlaps nothing and is within every other.
pub(crate) const EMPTY: Bounds =
    (Vector3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY), Vector3::new(f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY));

/// Boxes are kept for the list of near pairs grown by this part of their largest extent.
const GROWTH: f64 = 0.05;
/// Leaves of a bucket.
const BUCKET: usize = 4;
/// Leaves that search one after another, in one list of pairs.
const CHUNK: usize = 256;

/// Whether two boxes touch.
pub(crate) fn overlap(a: &Bounds, b: &Bounds) -> bool {
    (a.0.x <= b.1.x) & (b.0.x <= a.1.x) & (a.0.y <= b.1.y) & (b.0.y <= a.1.y) & (a.0.z <= b.1.z) & (b.0.z <= a.1.z)
}

/// Whether a box lies in another.
pub(crate) fn within(inner: &Bounds, outer: &Bounds) -> bool {
    let (i, o) = (inner, outer);
    (o.0.x <= i.0.x) & (o.0.y <= i.0.y) & (o.0.z <= i.0.z) & (i.1.x <= o.1.x) & (i.1.y <= o.1.y) & (i.1.z <= o.1.z)
}

/// How far a box reaches beyond another \[m\]; 0 where it lies in it.
pub(crate) fn overhang(inner: &Bounds, outer: &Bounds) -> f64 {
    (outer.0 - inner.0).max().max((inner.1 - outer.1).max()).max(0.0)
}

/// Boxes with numbers from 0, and the list of their near pairs. Nothing is allocated once warm.
#[derive(Clone, Default)]
pub(crate) struct Tree {
    tight: Vec<Bounds>,
    /// The boxes that the pairs were found with; they hold the tight ones.
    loose: Vec<Bounds>,
    /// Some tight box has left its loose one.
    stale: bool,
    /// Size class, place on the curve, leaf.
    order: Vec<(u16, u64, u32)>,
    /// The loose boxes in this order, and the node of the bucket of each.
    sorted: Vec<Bounds>,
    buckets: Vec<u32>,
    nodes: Vec<Node>,
    /// Leaves and nodes of each class, sizes ascending.
    classes: Vec<Class>,
    found: Vec<Vec<(u32, u32)>>,
    starts: Vec<u32>,
    pairs: Vec<(u32, u32)>,
}

#[derive(Clone, Copy)]
struct Node {
    bounds: Bounds,
    /// The next node that is not below this one.
    skip: u32,
    /// The leaves of a bucket, by their place in the order; none for other nodes.
    leaves: (u32, u32),
}

#[derive(Clone, Copy)]
struct Class {
    leaves: (usize, usize),
    nodes: (usize, usize),
}

impl Tree {
    /// Over leaves numbered from 0, without gaps.
    pub fn build(leaves: impl Iterator<Item = Bounds>) -> Self {
        let tight: Vec<Bounds> = leaves.collect();
        Self { loose: vec![EMPTY; tight.len()], tight, stale: true, ..Self::default() }
    }

    /// Moves a leaf; [`Tree::refit`] must follow before the next search.
    pub(crate) fn move_leaf(&mut self, leaf: u32, bounds: &Bounds) {
        self.tight[leaf as usize] = *bounds;
        self.stale |= !within(bounds, &self.loose[leaf as usize]);
    }

    /// All boxes to write, and those that they must stay in if the list of pairs is to be kept: [`Tree::invalidate`] where one does not.
    pub(crate) fn boxes_mut(&mut self) -> (&mut [Bounds], &[Bounds]) {
        (&mut self.tight, &self.loose)
    }

    /// The box of a leaf.
    pub fn bounds(&self, leaf: u32) -> &Bounds {
        &self.tight[leaf as usize]
    }

    /// Forgets the list of pairs.
    pub(crate) fn invalidate(&mut self) {
        self.stale = true;
    }

    /// The list of pairs is not that of the boxes.
    pub(crate) fn is_stale(&self) -> bool {
        self.stale
    }

    /// Brings the list of near pairs up to date.
    pub(crate) fn refit(&mut self) {
        self.refit_with(|first, second, _| Some((first.min(second), first.max(second))));
    }

    /// The same for the pairs that `admit` lets pass, as it writes them: a function of a pair and of the boxes that the two will stay in, in any order.
    pub(crate) fn refit_with(&mut self, admit: impl Fn(u32, u32, [&Bounds; 2]) -> Option<(u32, u32)> + Sync) {
        if self.stale {
            self.sort();
            self.search(&admit);
            self.collect();
            self.stale = false;
        }
    }

    /// The near pairs whose first member is this leaf, sorted.
    pub(crate) fn pairs_of(&self, leaf: u32) -> &[(u32, u32)] {
        &self.pairs[self.starts[leaf as usize] as usize..self.starts[leaf as usize + 1] as usize]
    }

    /// Calls `found` for every leaf whose box in the tree touches `bounds`, in some order; the boxes are those of the last [`Tree::refit`].
    pub(crate) fn for_each_near(&self, bounds: &Bounds, mut found: impl FnMut(u32)) {
        walk((&self.nodes, &self.sorted), (0, self.nodes.len()), bounds, &mut |place| found(self.order[place].2));
    }

    /// Calls `found` once for every pair of overlapping leaves, in ascending order.
    pub(crate) fn for_each_pair(&mut self, mut found: impl FnMut(u32, u32)) {
        for &(first, second) in &self.pairs {
            if overlap(&self.tight[first as usize], &self.tight[second as usize]) {
                found(first, second);
            }
        }
    }

    /// Boxes => loose boxes, their order and the trees over it.
    fn sort(&mut self) {
        self.order.clear();
        for (leaf, ((lower, upper), loose)) in self.tight.iter().zip(&mut self.loose).enumerate() {
            let extent = (upper - lower).max();
            // an empty box is of no class
            if extent < 0.0 {
                *loose = EMPTY;
                continue;
            }
            let growth = GROWTH * extent;
            *loose = (lower.add_scalar(-growth), upper.add_scalar(growth));
            let class = ((extent.to_bits() >> 52) / 2) as u16;
            let cell = f64::from_bits(u64::from(class) << 53).max(f64::MIN_POSITIVE);
            let centre = (lower * 0.5 + upper * 0.5) / cell;
            self.order.push((class, morton([centre.x, centre.y, centre.z]), leaf as u32));
        }
        self.order.sort_unstable();
        self.sorted.clear();
        self.sorted.extend(self.order.iter().map(|&(.., leaf)| self.loose[leaf as usize]));
        self.buckets.resize(self.sorted.len(), 0);
        self.nodes.clear();
        self.classes.clear();
        let mut first = 0;
        while first < self.order.len() {
            let class = self.order[first].0;
            let end = first + self.order[first..].partition_point(|&(other, ..)| other == class);
            let node = self.nodes.len();
            self.grow(first, end);
            self.classes.push(Class { leaves: (first, end), nodes: (node, self.nodes.len()) });
            first = end;
        }
    }

    /// Appends the tree over some leaves.
    fn grow(&mut self, first: usize, end: usize) -> Bounds {
        let node = self.nodes.len();
        self.nodes.push(Node { bounds: EMPTY, skip: 0, leaves: (0, 0) });
        let (bounds, leaves) = if end - first <= BUCKET {
            self.buckets[first..end].fill(node as u32);
            (self.sorted[first..end].iter().fold(EMPTY, join), (first as u32, end as u32))
        } else {
            let middle = first + (end - first).div_ceil(BUCKET).div_ceil(2) * BUCKET;
            let (left, right) = (self.grow(first, middle), self.grow(middle, end));
            (join(left, &right), (0, 0))
        };
        self.nodes[node] = Node { bounds, skip: self.nodes.len() as u32, leaves };
        bounds
    }

    /// Trees => lists of pairs, one of each chunk of leaves.
    fn search(&mut self, admit: &(impl Fn(u32, u32, [&Bounds; 2]) -> Option<(u32, u32)> + Sync)) {
        let Self { order, sorted, buckets, nodes, classes, found, .. } = self;
        let n_chunks = order.len().div_ceil(CHUNK);
        if found.len() < n_chunks {
            found.resize(n_chunks, Vec::new());
        }
        let (order, sorted, nodes): (&[_], &[_], &[Node]) = (order, sorted, nodes);
        let chunk = |k: usize, out: &mut Vec<(u32, u32)>| {
            out.clear();
            for class in classes.iter().filter(|class| class.leaves.0 < (k + 1) * CHUNK && class.leaves.1 > k * CHUNK) {
                for place in class.leaves.0.max(k * CHUNK)..class.leaves.1.min((k + 1) * CHUNK) {
                    let (bounds, leaf) = (&sorted[place], order[place].2);
                    let mut meet = |other: usize| {
                        if let Some(pair) = admit(leaf, order[other].2, [bounds, &sorted[other]]) {
                            reserve_tightly(out, 1);
                            out.push(pair);
                        }
                    };
                    let bucket = &nodes[buckets[place] as usize];
                    (place + 1..bucket.leaves.1 as usize).filter(|&other| overlap(bounds, &sorted[other])).for_each(&mut meet);
                    walk((nodes, sorted), (bucket.skip as usize, class.nodes.1), bounds, &mut meet);
                    let smaller = classes.iter().take_while(|other| other.leaves.0 < class.leaves.0);
                    smaller.for_each(|other| walk((nodes, sorted), other.nodes, bounds, &mut meet));
                }
            }
        };
        if n_chunks > 1 && rayon::current_num_threads() > 1 {
            found[..n_chunks].par_iter_mut().enumerate().for_each(|(k, out)| chunk(k, out));
        } else {
            found[..n_chunks].iter_mut().enumerate().for_each(|(k, out)| chunk(k, out));
        }
        found[n_chunks..].iter_mut().for_each(Vec::clear);
    }

    /// The lists as one, sorted by counting the first members.
    fn collect(&mut self) {
        let Self { found, starts, pairs, tight, .. } = self;
        starts.clear();
        starts.resize(tight.len() + 2, 0);
        let total = found.iter().map(Vec::len).sum();
        found.iter().flatten().for_each(|&(first, _)| starts[first as usize + 2] += 1);
        for k in 2..starts.len() {
            starts[k] += starts[k - 1];
        }
        pairs.clear();
        reserve_tightly(pairs, total);
        pairs.resize(total, (0, 0));
        for &pair in found.iter().flatten() {
            let next = &mut starts[pair.0 as usize + 1];
            pairs[*next as usize] = pair;
            *next += 1;
        }
        pairs.par_chunk_by_mut(|a, b| a.0 == b.0).for_each(|of_one| of_one.sort_unstable());
    }
}

/// Calls `meet` for every leaf below some nodes whose loose box overlaps `bounds`.
fn walk((nodes, sorted): (&[Node], &[Bounds]), (first, end): (usize, usize), bounds: &Bounds, meet: &mut impl FnMut(usize)) {
    let mut k = first;
    while k < end {
        let node = &nodes[k];
        if overlap(&node.bounds, bounds) {
            let leaves = node.leaves.0 as usize..node.leaves.1 as usize;
            leaves.filter(|&leaf| overlap(&sorted[leaf], bounds)).for_each(&mut *meet);
            k += 1;
        } else {
            k = node.skip as usize;
        }
    }
}

fn join(a: Bounds, b: &Bounds) -> Bounds {
    (a.0.inf(&b.0), a.1.sup(&b.1))
}

/// Place on the curve of the cell of a point, from the last 21 bits of each number: places repeat after 2²¹ cells, which costs time only.
fn morton(point: [f64; 3]) -> u64 {
    let spread = |x: f64| {
        let mut bits = (x.floor() as i64 as u64) & 0x1f_ffff;
        for (shift, mask) in [
            (32, 0x1f_0000_0000_ffff),
            (16, 0x1f_0000_ff00_00ff),
            (8, 0x100f_00f0_0f00_f00f),
            (4, 0x10c3_0c30_c30c_30c3),
            (2, 0x1249_2492_4924_9249),
        ] {
            bits = (bits | bits << shift) & mask;
        }
        bits
    };
    let [x, y, z] = point.map(spread);
    x | y << 1 | z << 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn boxes(n: usize, seed: &mut u64) -> Vec<Bounds> {
        let mut vector = |scale: f64| Vector3::from_fn(|_, _| scale * random(seed));
        (0..n)
            .map(|k| {
                // sizes over three decades, and some far away
                let (size, far) = (10.0_f64.powi(-(k as i32 % 4)), if k % 97 == 0 { 1e300 } else { 1.0 });
                let lower = (vector(3.0) - Vector3::repeat(1.5)) * far;
                (lower, lower + vector(size))
            })
            .collect()
    }

    /// All overlapping pairs and no others, sorted, whether the list is new or kept; empty boxes meet nothing.
    #[test]
    fn finds_the_pairs_of_all_sizes() {
        let mut seed = 5;
        let mut tree = Tree::build(boxes(600, &mut seed).into_iter());
        let mut kept = 0;
        for round in 0..12 {
            if round == 6 {
                boxes(600, &mut seed).iter().enumerate().for_each(|(k, b)| tree.move_leaf(k as u32, b));
                tree.move_leaf(13, &EMPTY);
            }
            kept += usize::from(!tree.stale);
            tree.refit();
            let mut found = Vec::new();
            tree.for_each_pair(|i, j| found.push((i, j)));
            let all = (0..600).flat_map(|i| (i + 1..600).map(move |j| (i, j)));
            let expected: Vec<(u32, u32)> = all.filter(|&(i, j)| overlap(tree.bounds(i), tree.bounds(j))).collect();
            assert_eq!(found, expected);
            assert!(expected.len() > 100);
            for k in 0..600 {
                let (lower, upper) = *tree.bounds(k);
                let step = 2e-3 * (upper - lower).max() * (random(&mut seed) - 0.5);
                if step.is_finite() {
                    tree.move_leaf(k, &(lower.add_scalar(step), upper.add_scalar(step)));
                }
            }
        }
        assert_eq!(kept, 10);
    }
}
