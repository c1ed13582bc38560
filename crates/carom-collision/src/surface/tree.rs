//! Bounding volume tree over the triangles of a surface, built once.

use super::Triangle;
use nalgebra::{Matrix3, Vector3};

/// Most triangles in a leaf.
const LEAF: usize = 4;

/// A node; nodes lie in depth-first order, so that the search needs no stack.
#[derive(Clone, Copy, Debug)]
struct Node {
    lower: Vector3<f64>,
    upper: Vector3<f64>,
    /// The node to go on with when this one is left out.
    skip: u32,
    /// Triangles of a leaf: first in `order` and number; number 0 for inner nodes.
    first: u32,
    count: u32,
}

/// The tree.
#[derive(Clone, Debug)]
pub(super) struct TriangleTree {
    nodes: Vec<Node>,
    order: Vec<u32>,
}

impl TriangleTree {
    pub fn new(vertices: &[Vector3<f64>], triangles: &[Triangle]) -> Self {
        let bounds: Vec<_> = triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.corners.map(|v| vertices[v as usize]);
                (a.inf(&b).inf(&c), a.sup(&b).sup(&c))
            })
            .collect();
        let mut tree = Self { nodes: Vec::new(), order: (0..triangles.len() as u32).collect() };
        tree.build(&bounds, 0, triangles.len());
        tree
    }

    /// Splits at the median of the centres along the longest extent.
    fn build(&mut self, bounds: &[(Vector3<f64>, Vector3<f64>)], first: usize, end: usize) {
        let (mut lower, mut upper) = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
        for &t in &self.order[first..end] {
            lower = lower.inf(&bounds[t as usize].0);
            upper = upper.sup(&bounds[t as usize].1);
        }
        let node = self.nodes.len();
        let is_leaf = end - first <= LEAF;
        let count = if is_leaf { (end - first) as u32 } else { 0 };
        self.nodes.push(Node { lower, upper, skip: 0, first: first as u32, count });
        if !is_leaf {
            let axis = (upper - lower).imax();
            let centre = |t: u32| bounds[t as usize].0[axis] + bounds[t as usize].1[axis];
            let middle = usize::midpoint(first, end);
            self.order[first..end].select_nth_unstable_by(middle - first, |&i, &j| centre(i).total_cmp(&centre(j)).then(i.cmp(&j)));
            self.build(bounds, first, middle);
            self.build(bounds, middle, end);
        }
        self.nodes[node].skip = self.nodes.len() as u32;
    }

    /// Calls `found` with each triangle of the leaves that meet a box.
    pub fn search(&self, lower: &Vector3<f64>, upper: &Vector3<f64>, mut found: impl FnMut(u32)) {
        let mut k = 0;
        while let Some(node) = self.nodes.get(k) {
            let meets = (0..3).all(|i| node.lower[i] <= upper[i] && node.upper[i] >= lower[i]);
            if !meets {
                k = node.skip as usize;
                continue;
            }
            let first = node.first as usize;
            self.order[first..first + node.count as usize].iter().for_each(|&t| found(t));
            k += 1;
        }
    }

    /// Calls `found` with the triangles of all leaves of this tree and another whose boxes are within `reach` of each other. x ↦ rotation x +
    /// shift takes the other's frame to this one; `stack` is working memory.
    pub(crate) fn search_pairs(
        &self,
        (other, rotation, shift): (&Self, &Matrix3<f64>, &Vector3<f64>),
        reach: f64,
        stack: &mut Vec<(u32, u32)>,
        mut found: impl FnMut(u32, u32),
    ) {
        let spread = rotation.abs();
        let meets = |own: &Node, theirs: &Node| {
            let (centre, half) = (0.5 * (own.lower + own.upper), 0.5 * (own.upper - own.lower));
            let (their_centre, their_half) = (0.5 * (theirs.lower + theirs.upper), 0.5 * (theirs.upper - theirs.lower));
            let apart = rotation * their_centre + shift - centre;
            let (here, there) = (half + spread * their_half, their_half + spread.tr_mul(&half));
            let in_theirs = rotation.tr_mul(&apart);
            (0..3).all(|i| apart[i].abs() <= here[i] + reach && in_theirs[i].abs() <= there[i] + reach)
        };
        stack.clear();
        stack.push((0, 0));
        while let Some((own_number, their_number)) = stack.pop() {
            let (own, theirs) = (&self.nodes[own_number as usize], &other.nodes[their_number as usize]);
            if !meets(own, theirs) {
                continue;
            }
            let larger = (own.upper - own.lower).amax() >= (theirs.upper - theirs.lower).amax();
            if own.count > 0 && theirs.count > 0 {
                for &t in self.leaf(own) {
                    other.leaf(theirs).iter().for_each(|&o| found(t, o));
                }
            } else if theirs.count > 0 || (own.count == 0 && larger) {
                self.children(own_number).into_iter().for_each(|child| stack.push((child, their_number)));
            } else {
                other.children(their_number).into_iter().for_each(|child| stack.push((own_number, child)));
            }
        }
    }

    fn leaf(&self, node: &Node) -> &[u32] {
        &self.order[node.first as usize..(node.first + node.count) as usize]
    }

    /// Both parts of an inner node.
    fn children(&self, node: u32) -> [u32; 2] {
        [node + 1, self.nodes[node as usize + 1].skip]
    }
}
