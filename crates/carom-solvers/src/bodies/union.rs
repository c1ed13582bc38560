//! Union of numbered things that touch.

/// Sets of numbers, as trees whose roots have the smallest number of their set.
#[derive(Clone, Debug, Default)]
pub struct Union {
    parent: Vec<u32>,
}

impl Union {
    /// All of n numbers by themselves.
    pub fn reset(&mut self, n: usize) {
        self.parent.clear();
        self.parent.extend(0..n as u32);
    }

    /// The smallest number of the set of `i`.
    pub fn root(&mut self, mut i: u32) -> u32 {
        while self.parent[i as usize] != i {
            let above = self.parent[self.parent[i as usize] as usize];
            self.parent[i as usize] = above;
            i = above;
        }
        i
    }

    /// Joins the sets of two numbers.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }
}
