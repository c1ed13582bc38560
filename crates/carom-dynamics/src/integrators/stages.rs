//! Rates and accelerations of the stages of a one-step method.

/// ẇ_j = D(W_j) V_j and V̇_j of the stages, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Stages {
    n: usize,
    rates: Vec<f64>,
    accelerations: Vec<f64>,
}

impl Stages {
    /// Room for this many stages of n velocities.
    pub(super) fn new(n_stages: usize, n: usize) -> Self {
        Stages { n, rates: vec![0.0; n_stages * n], accelerations: vec![0.0; n_stages * n] }
    }

    /// ẇ of a stage.
    pub(super) fn rate(&mut self, stage: usize) -> &mut [f64] {
        &mut self.rates[stage * self.n..(stage + 1) * self.n]
    }

    /// V̇ of a stage.
    pub(super) fn acceleration(&mut self, stage: usize) -> &mut [f64] {
        &mut self.accelerations[stage * self.n..(stage + 1) * self.n]
    }

    /// w = h Σ_j c_j ẇ_j over the first stages.
    pub(super) fn displacement(&self, h: f64, weights: &[f64], w: &mut [f64]) {
        w.fill(0.0);
        add(h, weights, &self.rates, w);
    }

    /// v = v₀ + h Σ_j c_j V̇_j over the first stages.
    pub(super) fn velocity(&self, v0: &[f64], h: f64, weights: &[f64], v: &mut [f64]) {
        v.copy_from_slice(v0);
        add(h, weights, &self.accelerations, v);
    }

    /// Δv = h Σ_j c_j V̇_j over the first stages.
    pub(super) fn velocity_change(&self, h: f64, weights: &[f64], v: &mut [f64]) {
        v.fill(0.0);
        add(h, weights, &self.accelerations, v);
    }
}

/// x += h Σ_j c_j y_j, with the y_j one after the other.
fn add(h: f64, weights: &[f64], y: &[f64], x: &mut [f64]) {
    if x.is_empty() {
        return;
    }
    for (&c, y) in weights.iter().zip(y.chunks_exact(x.len())).filter(|(c, _)| **c != 0.0) {
        for (x, y) in x.iter_mut().zip(y) {
            *x += h * c * y;
        }
    }
}
