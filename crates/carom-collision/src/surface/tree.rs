//! Bounding volume tree over the triangles of a surface, built once.

use super::Triangle;
use nalgebra::Vector3;

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
}
