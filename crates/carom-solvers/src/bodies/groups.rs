//! Contacts of an island by pairs of bodies.

use std::ops::Range;

/// The contacts of one pair of bodies that follow each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// Bodies as numbered in the island.
    pub bodies: [u32; 2],
    first: u32,
    /// Twice the number of contacts, plus one where some contact starts with an impulse.
    load: u32,
}

impl Group {
    fn n(&self) -> u32 {
        self.load >> 1
    }

    fn carries(&self) -> bool {
        self.load & 1 == 1
    }

    /// Its contacts among those of the island.
    pub fn contacts(&self) -> Range<usize> {
        self.first as usize..(self.first + self.n()) as usize
    }
}

/// Pairs of bodies with their contacts.
#[derive(Debug, Default)]
pub(super) struct Groups {
    groups: Vec<Group>,
}

impl Groups {
    /// Gathers the contacts that follow each other and belong to the same bodies.
    pub fn gather(&mut self, contacts: &[u32], bodies: impl Fn(u32) -> [u32; 2], carries: impl Fn(u32) -> bool) {
        self.groups.clear();
        for (place, &contact) in contacts.iter().enumerate() {
            let bodies = bodies(contact);
            match self.groups.last_mut() {
                Some(last) if last.bodies == bodies => {
                    last.load = (last.load + 2) | u32::from(carries(contact));
                }
                _ => self.groups.push(Group { bodies, first: place as u32, load: 2 | u32::from(carries(contact)) }),
            }
        }
    }

    /// Bodies of the groups.
    pub fn pairs(&self) -> impl Iterator<Item = [u32; 2]> + Clone + '_ {
        self.groups.iter().map(|group| group.bodies)
    }

    /// A group.
    pub fn group(&self, index: u32) -> Group {
        self.groups[index as usize]
    }

    /// Orders some groups by their colours, given one each in their present order; of one colour those that carry come first, then those with more contacts: so
    /// those that are worked on together have about the same to do.
    pub fn sort(&self, some: &mut Vec<u32>, colours: &[u8], keys: &mut Vec<Key>) {
        keys.clear();
        keys.extend(some.iter().zip(colours).map(|(&index, &colour)| {
            let group = &self.groups[index as usize];
            let fewer = u64::from(LARGEST - group.n().min(LARGEST));
            u64::from(colour) << 56 | u64::from(!group.carries()) << 48 | fewer << 32 | u64::from(index)
        }));
        keys.sort_unstable();
        some.clear();
        some.extend(keys.iter().map(|&key| key as u32));
    }
}

/// What groups are ordered by, from the highest bits down: colour, carries nothing, number of contacts (more first), number of the group.
pub(super) type Key = u64;

/// Numbers of contacts above this count as this.
const LARGEST: u32 = u16::MAX as u32;

/// Colour of a key.
pub(super) fn colour_of(key: Key) -> u8 {
    (key >> 56) as u8
}
