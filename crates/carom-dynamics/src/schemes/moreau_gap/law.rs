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

/// How penetrations are taken back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recovery {
    /// Part per step.
    pub rate: f64,
    /// Largest speed \[m/s\].
    pub speed: f64,
}

impl Approach {
    /// Time within a step of `h` seconds at which the gap is closed at the speed of the start \[s\].
    pub fn time(&self, h: f64) -> f64 {
        if self.gap <= 0.0 {
            0.0
        } else if self.start < 0.0 {
            (-self.gap / self.start).min(h)
        } else {
            h
        }
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
        let shift = self.gap / h;
        (if self.gap >= 0.0 { shift } else { (recovery.rate * shift).max(-recovery.speed) }, false)
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
        assert!(rebounds && (shift + 0.8 * (1.0 + 0.5 * g * h) - 0.5 * g * h).abs() < 1e-15);
        // what gravity takes back at once stays down
        let rest = Approach { gap: 0.0, start: -1e-3, free: -1e-3 - g * h };
        assert_eq!(rest.shift(h, 0.8, RECOVERY), (0.0, true));
    }
}
