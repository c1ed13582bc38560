//! Room in lists that are kept from step to step.

/// Makes room for `more` entries, with a sixteenth of the length to spare where the list must grow: lists that live as long as a run are then at most
/// that much too large, not twice as large, and still grow in amortised constant time.
pub fn reserve_tightly<T>(list: &mut Vec<T>, more: usize) {
    if list.capacity() - list.len() < more {
        list.reserve_exact(more + (list.len() + more) / 16);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_by_a_sixteenth() {
        let mut list: Vec<u8> = Vec::new();
        let mut times = 0;
        for k in 0..100_000_usize {
            let before = list.capacity();
            reserve_tightly(&mut list, 1);
            times += usize::from(list.capacity() > before);
            list.push(0);
            assert!(list.capacity() <= (k + 1) + (k + 1) / 16 + 8);
        }
        // ln(1e5/16)/ln(17/16) = 144 from 16 entries on
        assert!(times < 170, "{times}");
    }
}
