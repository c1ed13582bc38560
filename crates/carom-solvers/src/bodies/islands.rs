//! Islands: bodies that contacts and rows connect. The ground connects nothing.

/// Union of bodies, by trees whose roots have the smallest number.
#[derive(Debug, Default)]
pub(super) struct Islands {
    parent: Vec<u32>,
    /// Per body its place in the island, later.
    label: Vec<u32>,
}

impl Islands {
    /// All of n bodies by themselves.
    pub fn reset(&mut self, n: usize) {
        self.parent.clear();
        self.parent.extend(0..n as u32);
    }

    /// The root of a body.
    pub fn root(&mut self, mut body: u32) -> u32 {
        while self.parent[body as usize] != body {
            let above = self.parent[self.parent[body as usize] as usize];
            self.parent[body as usize] = above;
            body = above;
        }
        body
    }

    /// Joins two bodies.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
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
    pub fn island(&mut self, body: u32) -> usize {
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
