//! How many sweeps are still to come.

/// Foresees the number of sweeps from the decrease of the best residual over the later half of those done.
pub(super) struct Forecast {
    /// (sweeps, residual) at the beginning of the window, and where the next one begins.
    begin: (usize, f64),
    next: (usize, f64),
}

impl Forecast {
    /// Before the first sweep, at this residual.
    pub fn new(residual: f64) -> Self {
        Forecast { begin: (0, residual), next: (0, residual) }
    }

    /// Sweeps still to do, infinite without any decrease.
    pub fn remaining(&mut self, iteration: usize, best: f64, tolerance: f64) -> f64 {
        if iteration >= 2 * self.next.0 {
            self.begin = self.next;
            self.next = (iteration, best);
        }
        let decrease = (self.begin.1 / best).ln();
        let sweeps = (iteration - self.begin.0) as f64;
        if decrease > 0.0 { sweeps * (best / tolerance).ln() / decrease } else { f64::INFINITY }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forecast_follows_the_later_half() {
        // Fast for 40 sweeps, then a factor 0.99 per sweep.
        let residual =
            |sweep: usize| if sweep <= 40 { 0.8_f64.powi(sweep as i32) } else { 0.8_f64.powi(40) * 0.99_f64.powi(sweep as i32 - 40) };
        let mut forecast = Forecast::new(1.0);
        let mut remaining = 0.0;
        for sweep in (20..=320).step_by(20) {
            remaining = forecast.remaining(sweep, residual(sweep), 1e-10);
        }
        let exact = (residual(320) / 1e-10).ln() / -(0.99_f64.ln());
        assert!((remaining - exact).abs() < 1e-6 * exact, "{remaining} {exact}"); // the window is in the slow part
    }
}
