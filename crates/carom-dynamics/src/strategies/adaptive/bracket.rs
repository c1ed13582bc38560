//! Changes of contact are not located: steps are halved towards them until they are small enough to be passed by the scheme.

/// A time by which a contact was seen to have changed. Steps go half the way to it, and pass it with the smallest step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::strategies) struct Bracket {
    seen: Option<f64>,
}

impl Bracket {
    /// The change was seen at t; before, if one was seen later.
    pub fn see(&mut self, t: f64) {
        self.seen = Some(self.seen.map_or(t, |seen| seen.min(t)));
    }

    /// Largest step from t: half the way to the change, not below `smallest`. Once t has come to it, it is forgotten.
    pub fn limit(&mut self, t: f64, smallest: f64) -> f64 {
        match self.seen {
            Some(seen) if seen > t => (0.5 * (seen - t)).max(smallest),
            _ => {
                self.seen = None;
                f64::INFINITY
            }
        }
    }

    /// The change is passed.
    pub fn clear(&mut self) {
        self.seen = None;
    }
}

/// The step of the scheme across a change of contact \[s\],
///
/// ```text
/// h* = max(h_min, min(τ (h/τ)^{p+1}, ε/|u|))
/// ```
///
/// [Haddouni2015, assumption 4.2.4, with τ = 1 s]; Acary, *Applied Numerical Mathematics* 62 (2012). The positions then have an error of O(h*) at
/// the impact, which is that of a step of order p. The second bound is ours: at the approach velocity u that error is within the tolerance ε, also
/// where the integrator's steps are long because the motion is a polynomial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::strategies) struct EventStep {
    /// p.
    pub order: f64,
    /// τ \[s\].
    pub scale: f64,
    /// h_min \[s\].
    pub smallest: f64,
}

impl EventStep {
    /// h* for steps of size h; `tolerable` is ε/|u| \[s\].
    pub fn size(&self, h: f64, tolerable: f64) -> f64 {
        let by_order = self.scale * (h / self.scale).powf(self.order + 1.0);
        // not longer than the step itself
        by_order.min(tolerable).min(h).max(self.smallest)
    }
}

#[cfg(test)]
mod tests {
    use super::{Bracket, EventStep};

    #[test]
    fn event_steps_follow_the_order_down_to_the_smallest() {
        let rule = EventStep { order: 2.0, scale: 1.0, smallest: 1e-7 };
        assert!((rule.size(1e-2, 1.0) - 1e-6).abs() < 1e-18);
        assert_eq!(rule.size(1e-3, 1.0), 1e-7);
        assert_eq!(rule.size(2.0, f64::INFINITY), 2.0);
        assert_eq!(rule.size(2.0, 1e-4), 1e-4);
        let rule = EventStep { scale: 0.1, ..rule };
        assert!((rule.size(1e-2, 1.0) - 1e-4).abs() < 1e-16);
    }

    #[test]
    fn steps_go_half_way_to_a_change() {
        let mut bracket = Bracket::default();
        assert_eq!(bracket.limit(0.0, 1e-3), f64::INFINITY);
        bracket.see(1.0);
        bracket.see(0.5);
        bracket.see(0.75);
        assert_eq!(bracket.limit(0.25, 1e-3), 0.125);
        assert_eq!(bracket.limit(0.4995, 1e-3), 1e-3);
        assert_eq!(bracket.limit(0.5, 1e-3), f64::INFINITY);
    }
}
