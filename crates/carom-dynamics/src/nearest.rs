//! Which known name was probably meant.

/// The known name nearest to `name`, if one is near enough to be a slip of the pen.
///
/// Nearness: equal but for case or for leading parts (`x` for `ball.x`) first, then the number of letters
/// changed, added, dropped or swapped, at most about a third of the name.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
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
            let distance = strsim::osa_distance(name, candidate);
            (distance <= allowed).then_some((distance, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

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
