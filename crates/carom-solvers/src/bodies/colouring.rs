//! Colours of contacts: those of one colour share no body.

/// Most colours; what does not fit in goes to the last, whose contacts are worked on one after the other.
pub(super) const COLOURS: usize = 64;

/// Greedy colouring in the order of the contacts. The ground counts for none.
#[derive(Debug, Default)]
pub(super) struct Colouring {
    /// Colours in use at each body, one bit each.
    used: Vec<u64>,
    /// Colour of each contact; [`COLOURS`] where none was free.
    pub colour: Vec<u8>,
}

impl Colouring {
    /// Colours the contacts of `n_bodies` bodies, given by their pairs; numbers from `n_bodies` on are the ground. Cost O(contacts).
    pub fn colour(&mut self, n_bodies: usize, pairs: impl Iterator<Item = [u32; 2]>) {
        self.used.clear();
        self.used.resize(n_bodies, 0);
        self.colour.clear();
        for pair in pairs {
            let taken = pair.iter().filter_map(|&body| self.used.get(body as usize)).fold(0, |taken, used| taken | used);
            let colour = (!taken).trailing_zeros() as usize;
            if colour < COLOURS {
                for &body in &pair {
                    if let Some(used) = self.used.get_mut(body as usize) {
                        *used |= 1 << colour;
                    }
                }
            }
            self.colour.push(colour as u8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contacts_of_a_colour_share_no_body() {
        let pairs: Vec<[u32; 2]> = (0..300u32).map(|k| [k * 7 % 40, (k * 13 + 1) % 41]).filter(|p| p[0] != p[1]).collect();
        let mut colouring = Colouring::default();
        colouring.colour(40, pairs.iter().copied());
        for (i, a) in pairs.iter().enumerate() {
            for (j, b) in pairs.iter().enumerate().skip(i + 1) {
                if colouring.colour[i] == colouring.colour[j] && (colouring.colour[i] as usize) < COLOURS {
                    assert!(a.iter().all(|x| *x == 40 || !b.contains(x)), "{a:?} {b:?}");
                }
            }
        }
        assert_eq!(colouring.colour.len(), pairs.len());
    }

    #[test]
    fn a_crowded_body_overflows_into_the_last_colour() {
        let mut colouring = Colouring::default();
        colouring.colour(101, (0..100).map(|k| [k, 100]));
        let count = |colour: usize| colouring.colour.iter().filter(|other| **other as usize == colour).count();
        assert_eq!((count(0), count(COLOURS)), (1, 36));
    }
}
