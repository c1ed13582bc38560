//! The product of cones a vector lives in.

use super::jordan;
use std::ops::Range;

/// One factor of a product of cones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cone {
    /// {|x_1| ≤ x_0}; the half-line where `dim` is 1. Its own dual.
    Lorentz {
        /// Number of rows, at least 1.
        dim: usize,
    },
    /// All of the space; its dual is {0}.
    Free {
        /// Number of rows.
        dim: usize,
    },
}

impl Cone {
    /// Number of rows.
    #[inline]
    pub fn dim(self) -> usize {
        match self {
            Cone::Lorentz { dim } | Cone::Free { dim } => dim,
        }
    }

    /// True where rows carry no condition of sign.
    #[inline]
    pub fn is_free(self) -> bool {
        matches!(self, Cone::Free { .. })
    }
}

/// K = K_1 × K_2 × …, with the first row of each factor. The operations below act on the Lorentz cones and leave free rows alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConeProduct {
    cones: Vec<Cone>,
    starts: Vec<usize>,
    n_rows: usize,
    n_lorentz: usize,
}

impl ConeProduct {
    /// No factor; storage is kept.
    pub fn clear(&mut self) {
        self.cones.clear();
        self.starts.clear();
        self.n_rows = 0;
        self.n_lorentz = 0;
    }

    /// Appends a factor; one without rows is left out.
    pub fn push(&mut self, cone: Cone) {
        if cone.dim() == 0 {
            return;
        }
        self.cones.push(cone);
        self.starts.push(self.n_rows);
        self.n_rows += cone.dim();
        self.n_lorentz += usize::from(!cone.is_free());
    }

    /// Number of scalar rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of Lorentz cones: xᵀz/n_lorentz is the measure of complementarity.
    pub(crate) fn n_lorentz(&self) -> usize {
        self.n_lorentz
    }

    /// Rows of a factor.
    #[inline]
    pub fn rows(&self, factor: usize) -> Range<usize> {
        self.starts[factor]..self.starts[factor] + self.cones[factor].dim()
    }

    /// All factors with their rows.
    pub fn iter(&self) -> impl Iterator<Item = (Cone, Range<usize>)> + '_ {
        self.cones.iter().zip(&self.starts).map(|(&cone, &start)| (cone, start..start + cone.dim()))
    }

    /// The rows of the Lorentz cones.
    pub(crate) fn lorentz(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.iter().filter(|(cone, _)| !cone.is_free()).map(|(_, rows)| rows)
    }

    /// x = size · e on the Lorentz cones, 0 on free rows.
    pub(crate) fn set_identity(&self, size: f64, x: &mut [f64]) {
        x.fill(0.0);
        for rows in self.lorentz() {
            x[rows.start] = size;
        }
    }

    /// Σ xᵀz over the Lorentz cones.
    pub fn inner(&self, x: &[f64], z: &[f64]) -> f64 {
        self.lorentz().map(|rows| jordan::dot(&x[rows.clone()], &z[rows])).sum()
    }

    /// out = x ∘ z on the Lorentz cones.
    pub fn product(&self, x: &[f64], z: &[f64], out: &mut [f64]) {
        for rows in self.lorentz() {
            jordan::product(&x[rows.clone()], &z[rows.clone()], &mut out[rows]);
        }
    }

    /// out = y with x ∘ y = b on the Lorentz cones, for x inside.
    pub fn divide(&self, x: &[f64], b: &[f64], out: &mut [f64]) {
        for rows in self.lorentz() {
            jordan::divide(&x[rows.clone()], &b[rows.clone()], &mut out[rows]);
        }
    }
}
