//! Islands: bodies that contacts and rows connect. The ground connects nothing.

use super::union::Union;

/// Bodies by the islands they belong to.
#[derive(Debug, Default)]
pub(super) struct Islands {
    union: Union,
    /// Number of the island, by root.
    label: Vec<u32>,
}

impl Islands {
    /// All of n bodies by themselves.
    pub fn reset(&mut self, n: usize) {
        self.union.reset(n);
    }

    /// The root of a body.
    pub fn root(&self, body: u32) -> u32 {
        self.union.root(body)
    }

    /// Joins two bodies.
    pub fn join(&self, a: u32, b: u32) {
        self.union.join(a, b);
    }

    /// Numbers the islands among those with something in them by decreasing size (ties by their first body): `sizes` are contacts per root.
    pub fn number(&mut self, sizes: &[u32], order: &mut Vec<u32>) {
        order.clear();
        order.extend((0..sizes.len() as u32).filter(|&root| sizes[root as usize] > 0));
        order.sort_unstable_by_key(|&root| (std::cmp::Reverse(sizes[root as usize]), root));
        self.label.clear();
        self.label.resize(sizes.len(), u32::MAX);
        for (number, &root) in order.iter().enumerate() {
            self.label[root as usize] = number as u32;
        }
    }

    /// Number of the island of a body.
    pub fn island(&self, body: u32) -> usize {
        let root = self.root(body);
        self.label[root as usize] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_that_touch_are_one_island() {
        let mut islands = Islands::default();
        islands.reset(6);
        islands.join(4, 1);
        islands.join(5, 4);
        islands.join(2, 0);
        let mut sizes = vec![0; 6];
        for body in [1, 4, 5, 0] {
            sizes[islands.root(body) as usize] += 1;
        }
        let mut order = Vec::new();
        islands.number(&sizes, &mut order);
        assert_eq!(order, [1, 0]);
        assert_eq!([5, 1, 2].map(|body| islands.island(body)), [0, 0, 1]);
    }
}
