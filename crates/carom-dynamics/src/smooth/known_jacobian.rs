//! The constraint Jacobian where it was evaluated last.

/// G and b of the last evaluation, with its time and position.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownJacobian {
    t: f64,
    q: Vec<f64>,
    values: Vec<f64>,
    explicit: Vec<f64>,
}

impl KnownJacobian {
    /// Writes the values if they are those of (t, q).
    pub(crate) fn copy_to(&self, t: f64, q: &[f64], values: &mut [f64], explicit: &mut [f64]) -> bool {
        // what begins empty is not known; a model without constraints has nothing to copy
        let known = self.t == t && self.q == q && !q.is_empty();
        if known {
            values.copy_from_slice(&self.values);
            explicit.copy_from_slice(&self.explicit);
        }
        known
    }

    /// Keeps the values of (t, q).
    pub fn keep(&mut self, t: f64, q: &[f64], values: &[f64], explicit: &[f64]) {
        self.t = t;
        for (to, from) in [(&mut self.q, q), (&mut self.values, values), (&mut self.explicit, explicit)] {
            to.clear();
            to.extend_from_slice(from);
        }
    }
}
