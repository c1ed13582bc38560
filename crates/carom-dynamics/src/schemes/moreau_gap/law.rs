//! What the law of a contact adds to u_N before complementarity is applied.

/// A contact before the step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Approach {
    /// Gap g_k \[m\].
    pub gap: f64,
    /// u_N at the start of the step \[m/s\].
    pub start: f64,
    /// u_N at its end without impulses \[m/s\].
    pub free: f64,
}

/// How penetrations are taken back: not at all by default.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recovery {
    /// Part per step.
    pub rate: f64,
    /// Largest speed \[m/s\].
    pub speed: f64,
}

impl Recovery {
    /// Speed at which a penetration is taken back, 0 where there is none \[m/s\].
    pub fn lift(&self, gap: f64, h: f64) -> f64 {
        if gap < 0.0 { (-self.rate * gap / h).min(self.speed) } else { 0.0 }
    }
}

/// Part of the change of a velocity by forces by which other contacts may drive parting bodies together faster than they fly: without it, every contact in flight
/// would be on the verge of an impulse.
const SLACK: f64 = 0.1;

impl Approach {
    /// Time within a step of `h` seconds at which the gap is closed without impulses, the root of g + u t + a t²/2 = 0; h where it stays open \[s\].
    pub fn time(&self, h: f64) -> f64 {
        if self.gap <= 0.0 {
            return 0.0;
        }
        let acceleration = (self.free - self.start) / h;
        let discriminant = self.start * self.start - 2.0 * acceleration * self.gap;
        let speeds = -self.start + discriminant.max(0.0).sqrt();
        if discriminant < 0.0 || speeds <= 0.0 { h } else { (2.0 * self.gap / speeds).min(h) }
    }

    /// The bodies meet within the step and approach.
    fn meets(&self, h: f64) -> bool {
        self.start < 0.0 && self.gap + 0.5 * h * (self.start + self.free) <= 0.0
    }

    /// s of the law 0 ≤ u_N + s ⟂ p_N ≥ 0, and whether the contact rebounds, with the coefficient of restitution e.
    pub fn shift(&self, h: f64, e: f64, recovery: Recovery) -> (f64, bool) {
        if e > 0.0 && self.meets(h) {
            let time = self.time(h);
            let change = self.free - self.start;
            let at_impact = self.start + change * time / h;
            let rebound = -e * at_impact + change * (h - time) / h;
            return (-rebound.max(0.0), true);
        }
        // bodies that part and do not meet again within the step are left to fly, and others may not drive them together faster
        if self.start > 0.0 && self.gap + 0.5 * h * (self.start + self.free) > 0.0 {
            let flight = -self.free + SLACK * (self.start - self.free);
            return ((self.gap.max(0.0) / h).max(flight), false);
        }
        (if self.gap >= 0.0 { self.gap / h } else { -recovery.lift(self.gap, h) }, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECOVERY: Recovery = Recovery { rate: 0.2, speed: 0.1 };

    #[test]
    fn a_gap_may_close_and_not_more() {
        let open = Approach { gap: 2e-3, start: -1.0, free: -1.05 };
        assert_eq!(open.shift(5e-3, 0.0, RECOVERY), (0.4, false));
        // too far to be met in the step
        assert_eq!(open.shift(1e-3, 0.8, RECOVERY), (2.0, false));
    }

    #[test]
    fn what_parts_flies() {
        let hop = Approach { gap: 1e-5, start: 7e-3, free: -1.2e-2 };
        let (shift, _) = hop.shift(2e-3, 0.0, RECOVERY);
        assert!(hop.free + shift > 0.0 && hop.free + shift < 0.2 * (hop.start - hop.free));
        // one that rises stays above the ground, whatever pushes it
        let rise = Approach { gap: 1e-4, start: 0.5, free: 0.48 };
        assert_eq!(rise.shift(5e-3, 0.0, RECOVERY), (0.02, false));
        // it is back on the ground before the end of a long step
        let long = Approach { gap: 0.0, start: 7e-3, free: -1.0 };
        assert_eq!(long.shift(0.1, 0.0, RECOVERY), (0.0, false));
    }

    #[test]
    fn penetrations_are_taken_back_slowly() {
        let deep = |gap| Approach { gap, start: 0.0, free: -0.05 };
        assert!((deep(-1e-4).shift(5e-3, 0.0, RECOVERY).0 + 0.2 * 1e-4 / 5e-3).abs() < 1e-18);
        assert_eq!(deep(-0.1).shift(5e-3, 0.0, RECOVERY).0, -0.1);
    }

    #[test]
    fn a_rebound_is_that_of_the_speed_at_the_impact() {
        // free fall over the first half of the step: u = −1 − g t at the impact
        let (h, g) = (1e-3, 9.81);
        let fall = Approach { gap: 0.5e-3, start: -1.0, free: -1.0 - g * h };
        let (shift, rebounds) = fall.shift(h, 0.8, RECOVERY);
        let at_impact = (1.0 + 2.0 * g * 0.5e-3_f64).sqrt();
        let time = (at_impact - 1.0) / g;
        assert!(rebounds && (shift + 0.8 * at_impact - g * (h - time)).abs() < 1e-14);
        // a gap of round-off under weight closes at once: no bounce from rest
        let resting = Approach { gap: 1e-17, start: -1e-15, free: -g * h };
        assert!(resting.shift(h, 0.8, RECOVERY).0.abs() < 1e-12);
        // what gravity takes back at once stays down
        let rest = Approach { gap: 0.0, start: -1e-3, free: -1e-3 - g * h };
        assert_eq!(rest.shift(h, 0.8, RECOVERY), (0.0, true));
    }
}
