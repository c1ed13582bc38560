//! Blocks of the bodies of a large island: layers that touch only their neighbours.
//!
//! Bodies are sorted into levels by their distance, in contacts, from a body at the end of the island [Cuthill & McKee 1969]; contacts join bodies of one level or
//! of two that follow each other. Levels that follow each other make a block. So contacts within blocks can be worked on at the same time, then those between blocks 0 and 1, 2 and 3, …, then
//! those between 1 and 2, 3 and 4, …. Blocks depend on the contacts only, never on the number of threads.

use super::body::{MOST_BLOCKS, address};

/// Contacts of a block of large islands, about: enough that threads rarely wait, few enough that a block stays in the cache of a core.
const BLOCK_CONTACTS: usize = 600;

/// The same of islands with fewer contacts than `MANY_CONTACTS`: in larger blocks more pairs have the same colour, and packs are fuller.
const LARGE_BLOCK: usize = 1500;
const MANY_CONTACTS: usize = 6000;

/// Number of blocks of an island with so many contacts.
pub(super) fn n_blocks(n_contacts: usize) -> usize {
    (n_contacts / if n_contacts < MANY_CONTACTS { LARGE_BLOCK } else { BLOCK_CONTACTS }).clamp(1, MOST_BLOCKS)
}

/// Blocks of an island, with work arrays.
#[derive(Debug, Default)]
pub(super) struct Partition {
    /// Address of each body.
    pub addresses: Vec<u32>,
    /// Bodies in the order of their addresses, and where each block ends among them.
    pub order: Vec<u32>,
    pub ends: Vec<u32>,
    /// Bodies that each body touches: where they begin, and they.
    starts: Vec<u32>,
    touches: Vec<u32>,
    seen: Vec<bool>,
    /// Where each level ends in `order`.
    levels: Vec<u32>,
}

impl Partition {
    /// Splits `n_bodies` bodies that touch in pairs; numbers from `n_bodies` on are the ground. `n_contacts` decides how many blocks there are. Cost O(bodies + pairs).
    pub fn split(&mut self, n_bodies: usize, n_contacts: usize, pairs: impl Iterator<Item = [u32; 2]> + Clone) {
        let wanted = n_blocks(n_contacts);
        self.order.clear();
        self.ends.clear();
        if wanted == 1 {
            self.order.extend(0..n_bodies as u32);
            self.ends.push(n_bodies as u32);
        } else {
            self.list_neighbours(n_bodies, pairs);
            self.sort_by_levels(n_bodies);
            self.join_levels(wanted);
        }
        self.addresses.clear();
        self.addresses.resize(n_bodies, 0);
        let mut start = 0;
        for (block, &end) in self.ends.iter().enumerate() {
            for (place, &body) in self.order[start as usize..end as usize].iter().enumerate() {
                self.addresses[body as usize] = address(block, place);
            }
            start = end;
        }
    }

    fn list_neighbours(&mut self, n_bodies: usize, pairs: impl Iterator<Item = [u32; 2]> + Clone) {
        let inner = pairs.filter(|pair| pair.iter().all(|&body| (body as usize) < n_bodies));
        self.starts.clear();
        self.starts.resize(n_bodies + 2, 0);
        inner.clone().flatten().for_each(|body| self.starts[body as usize + 2] += 1);
        for body in 2..self.starts.len() {
            self.starts[body] += self.starts[body - 1];
        }
        self.touches.clear();
        self.touches.resize(self.starts[n_bodies + 1] as usize, 0);
        for [a, b] in inner {
            for (body, other) in [(a, b), (b, a)] {
                let next = &mut self.starts[body as usize + 1];
                self.touches[*next as usize] = other;
                *next += 1;
            }
        }
    }

    /// Levels from a far end of each connected part; parts follow each other.
    fn sort_by_levels(&mut self, n_bodies: usize) {
        self.seen.clear();
        self.seen.resize(n_bodies, false);
        self.levels.clear();
        for body in 0..n_bodies as u32 {
            if self.seen[body as usize] {
                continue;
            }
            let (first, level) = (self.order.len(), self.levels.len());
            self.walk(body);
            // again, from the end that was reached last
            let end = self.order[self.order.len() - 1];
            self.order.drain(first..).for_each(|body| self.seen[body as usize] = false);
            self.levels.truncate(level);
            self.walk(end);
        }
    }

    /// Adds the levels of all bodies that can be reached from one.
    fn walk(&mut self, from: u32) {
        let mut start = self.order.len();
        self.seen[from as usize] = true;
        self.order.push(from);
        while start < self.order.len() {
            let end = self.order.len();
            self.levels.push(end as u32);
            for place in start..end {
                let body = self.order[place] as usize;
                for &other in &self.touches[self.starts[body] as usize..self.starts[body + 1] as usize] {
                    if !std::mem::replace(&mut self.seen[other as usize], true) {
                        self.order.push(other);
                    }
                }
            }
            start = end;
        }
    }

    /// Ends blocks where levels end, with about the same number of neighbours each.
    fn join_levels(&mut self, wanted: usize) {
        let total = self.touches.len() + self.order.len();
        let (mut load, mut start) = (0, 0);
        for &end in &self.levels {
            for &body in &self.order[start..end as usize] {
                load += 1 + (self.starts[body as usize + 1] - self.starts[body as usize]) as usize;
            }
            start = end as usize;
            let full = load * wanted >= total * (self.ends.len() + 1);
            if full && self.ends.len() + 1 < wanted {
                self.ends.push(end);
            }
        }
        if self.ends.last() != Some(&(self.order.len() as u32)) {
            self.ends.push(self.order.len() as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::body::{block_of, place_of};
    use super::*;

    #[test]
    fn contacts_join_neighbouring_blocks_only() {
        // a grid of 40 × 30 bodies, numbered out of order, and ground below
        let (width, height) = (40_u32, 30_u32);
        let n = width * height;
        let number = |x: u32, y: u32| (y * width + x) * 7 % n;
        let mut pairs = Vec::new();
        for (x, y) in (0..width).flat_map(|x| (0..height).map(move |y| (x, y))) {
            pairs.push([number(x, y), if x + 1 < width { number(x + 1, y) } else { n }]);
            pairs.push([if y + 1 < height { number(x, y + 1) } else { n }, number(x, y)]);
        }
        let mut partition = Partition::default();
        for (contacts, blocks) in [(LARGE_BLOCK, 1), (3 * LARGE_BLOCK, 3), (MANY_CONTACTS, 10)] {
            partition.split(n as usize, contacts, pairs.iter().copied());
            assert_eq!(partition.ends.len(), blocks);
            for [a, b] in pairs.iter().filter(|pair| pair.iter().all(|body| *body < n)) {
                let [a, b] = [a, b].map(|body| block_of(partition.addresses[*body as usize]));
                assert!(a.abs_diff(b) <= 1);
            }
            let mut seen = vec![false; n as usize];
            for &address in &partition.addresses {
                let start = if block_of(address) == 0 { 0 } else { partition.ends[block_of(address) - 1] as usize };
                assert!(!std::mem::replace(&mut seen[start + place_of(address)], true));
            }
        }
    }

    #[test]
    fn parts_without_contacts_between_them_are_taken() {
        let pairs: Vec<[u32; 2]> = (0..3000).map(|k| [2 * k, 2 * k + 1]).collect();
        let mut partition = Partition::default();
        partition.split(6001, 2 * LARGE_BLOCK, pairs.iter().copied());
        assert_eq!((partition.order.len(), partition.ends.len()), (6001, 2));
    }
}
