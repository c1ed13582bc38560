//! Which known name was probably meant.

/// The known name nearest to `name`, if one is near enough to be a slip of the pen.
///
/// Nearness: equal but for case or for leading parts (`x` for `ball.x`) first, then the number of letters
/// changed, added, dropped or swapped, at most about a third of the name.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    let allowed = match length {
        0..=1 => 0,
        2..=4 => 1,
        5..=8 => 2,
        _ => 3,
    };
    known
        .into_iter()
        .filter_map(|candidate| {
            let is_tail = candidate.rsplit_once('.').is_some_and(|(_, tail)| tail == name);
            if is_tail || candidate.eq_ignore_ascii_case(name) {
                return Some((0, candidate));
            }
            if candidate.chars().count().abs_diff(length) > allowed {
                return None;
            }
            let distance = edit_distance(name, candidate);
            (distance <= allowed).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// Edits (change, add, drop, swap neighbours) between two words.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = change.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (a, b, distance) in [("", "abc", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("sin", "sine", 1), ("kitten", "sitting", 3)] {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
        }
    }

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        let known = ["theta1", "theta2", "ball.x", "m", "k"];
        assert_eq!(nearest("thta1", known), Some("theta1"));
        assert_eq!(nearest("Theta2", known), Some("theta2"));
        assert_eq!(nearest("x", known), Some("ball.x"));
        assert_eq!(nearest("bal.x", known), Some("ball.x"));
        assert_eq!(nearest("q", known), None);
        assert_eq!(nearest("velocity", known), None);
    }
}
