//! Acceleration, restarts and the balance of residuals of ADMM, for the local and the global form alike.

use super::admm::{AdmmAcceleration, AdmmBalancing, AdmmParams};
use crate::acceleration::Acceleration;

/// Steers an ADMM with the penalty ρ, seen as a fixed-point iteration z ← G(z) on one vector: z = y + p/ρ, from which y = P(z) and the
/// multiplier p = ρ (z − y) follow.
///
/// Use: [`Self::reset`]; then for each iteration compute z' = G(z), ask [`Self::balance`] whether ρ changes (if so, factor
/// again and continue from z = y' + p'/ρ), else let [`Self::advance`] replace z' by the next argument.
///
/// Momentum and restarts: [Goldstein, O'Donoghue, Setzer & Baraniuk, *Fast alternating direction optimization methods*, 2014]; differs
/// in: z is extrapolated, so that y and p stay in their cones, and a restart goes on from the last iterate.
/// Balance: [He, Yang & Wang, *Alternating direction method with self-adaptive penalty parameters*, 2000], scaled as in
/// [Wohlberg, *ADMM penalty parameter selection by residual balancing*, 2017]; differs in: ρ changes ever more rarely and a limited number of
/// times, each change costing a factorisation.
#[derive(Clone, Debug, Default)]
pub(crate) struct AdmmControl {
    params: AdmmParams,
    rho: f64,
    /// Nesterov's t.
    momentum: f64,
    /// z' and |z' − z| of the last iteration.
    last: Vec<f64>,
    last_step: f64,
    anderson: Acceleration,
    /// Iterations since ρ changed, and after how many it may.
    age: usize,
    patience: usize,
    changes: usize,
}

/// The two residuals of an iteration with the sizes they are measured by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AdmmResiduals {
    /// |r − y|: how far the two copies of the variable are apart.
    pub primal: f64,
    /// ρ|y − y_last|: how far the equation is from holding.
    pub dual: f64,
    /// Size of the variable.
    pub primal_size: f64,
    /// Size of the multipliers and of what they balance.
    pub dual_size: f64,
}

/// Iterations before ρ changes for the first time: the residuals of the first ones say nothing.
const FIRST_PATIENCE: usize = 10;

impl AdmmControl {
    /// Starts with a penalty, for vectors of n entries.
    pub fn reset(&mut self, params: &AdmmParams, rho: f64, n: usize) {
        self.params = params.clone();
        self.rho = rho;
        (self.age, self.patience, self.changes) = (0, FIRST_PATIENCE, 0);
        self.last.resize(n, 0.0);
        self.forget();
    }

    /// The penalty ρ.
    pub fn rho(&self) -> f64 {
        self.rho
    }

    fn forget(&mut self) {
        (self.momentum, self.last_step) = (1.0, f64::INFINITY);
        if self.params.acceleration == AdmmAcceleration::Anderson {
            self.anderson.reset(self.last.len());
        }
    }

    /// Given z and z' = G(z), replaces z' by the next argument.
    pub fn advance(&mut self, z: &[f64], image: &mut [f64]) {
        match self.params.acceleration {
            AdmmAcceleration::None => {}
            AdmmAcceleration::Nesterov => self.extrapolate(z, image),
            AdmmAcceleration::Anderson => {
                self.anderson.begin(z);
                self.anderson.advance(image);
            }
        }
    }

    /// z' + β (z' − z'_last) with β from Nesterov's sequence, or 0 where |z' − z|² does not fall below η times its last value.
    fn extrapolate(&mut self, z: &[f64], image: &mut [f64]) {
        let step: f64 = z.iter().zip(&*image).map(|(z, image)| (image - z) * (image - z)).sum();
        let mut factor = 0.0;
        if step < self.params.restart * self.last_step {
            let next = 0.5 * (1.0 + (1.0 + 4.0 * self.momentum * self.momentum).sqrt());
            factor = (self.momentum - 1.0) / next;
            (self.momentum, self.last_step) = (next, step);
        } else {
            (self.momentum, self.last_step) = (1.0, step / self.params.restart);
        }
        for (image, last) in image.iter_mut().zip(&mut self.last) {
            let new = *image;
            *image += factor * (new - *last);
            *last = new;
        }
    }

    /// Changes ρ when one residual is much larger than the other; true when it did. The acceleration then starts anew.
    pub fn balance(&mut self, residuals: AdmmResiduals) -> bool {
        self.age += 1;
        let params = &self.params;
        if params.balancing == AdmmBalancing::None || self.age < self.patience || self.changes >= params.max_balancings {
            return false;
        }
        let AdmmResiduals { mut primal, mut dual, primal_size, dual_size } = residuals;
        if params.balancing == AdmmBalancing::Scaled {
            primal *= dual_size;
            dual *= primal_size;
        }
        let factor = if primal > params.balance_ratio * dual {
            params.balance_factor
        } else if dual > params.balance_ratio * primal {
            1.0 / params.balance_factor
        } else {
            return false;
        };
        self.rho *= factor;
        self.changes += 1;
        self.age = 0;
        // With a ρ that is constant in the end the method converges.
        self.patience += self.patience / 2;
        self.forget();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(params: AdmmParams) -> AdmmControl {
        let mut control = AdmmControl::default();
        control.reset(&params, 1.0, 2);
        control
    }

    /// Iterations of z ← A z with rates 0.99 and 0.5 until |z| < 1e-6.
    fn iterations(acceleration: AdmmAcceleration) -> usize {
        let mut control = control(AdmmParams { acceleration, ..Default::default() });
        let mut z = [1.0_f64, 1.0];
        let mut count = 0;
        while z[0].hypot(z[1]) > 1e-6 {
            let mut image = [0.99 * z[0], 0.5 * z[1]];
            control.advance(&z, &mut image);
            z = image;
            count += 1;
            assert!(count < 5000, "{acceleration:?} {z:?}");
        }
        count
    }

    #[test]
    fn both_accelerations_accelerate() {
        // ln(1e-6)/ln(0.99) = 1375.
        let plain = iterations(AdmmAcceleration::None);
        assert!((1370..1380).contains(&plain), "{plain}");
        let (nesterov, anderson) = (iterations(AdmmAcceleration::Nesterov), iterations(AdmmAcceleration::Anderson));
        assert!(nesterov < plain / 3, "{nesterov}");
        assert!(anderson < 20, "{anderson}"); // eight plain iterations, then a system of two unknowns
    }

    #[test]
    fn rho_follows_the_larger_residual_a_limited_number_of_times() {
        let residuals = |primal, dual| AdmmResiduals { primal, dual, primal_size: 1.0, dual_size: 100.0 };
        // log₂ ρ is the number of changes upwards less that of changes downwards.
        let changes = |params: AdmmParams, residuals: AdmmResiduals| {
            let mut control = control(params);
            let count = (0..10_000).filter(|_| control.balance(residuals)).count();
            assert_eq!(control.rho().log2().abs(), count as f64);
            control.rho().log2()
        };
        let params = AdmmParams { balancing: AdmmBalancing::Residual, max_balancings: 7, ..Default::default() };
        assert_eq!(changes(params.clone(), residuals(20.0, 1.0)), 7.0);
        assert_eq!(changes(params.clone(), residuals(1.0, 20.0)), -7.0);
        assert_eq!(changes(params.clone(), residuals(5.0, 1.0)), 0.0);
        // Relative to its size the other one is larger.
        let scaled = AdmmParams { balancing: AdmmBalancing::Scaled, ..params.clone() };
        assert_eq!(changes(scaled, residuals(1.0, 5.0)), 7.0);
        assert_eq!(changes(AdmmParams { balancing: AdmmBalancing::None, ..params }, residuals(20.0, 1.0)), 0.0);
    }
}
