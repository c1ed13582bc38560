//! Which piece of its law −y ∈ N_K(λ) a multiplier of the first-order part is on.

use crate::first_order::MultiplierLaw;
use carom_solvers::affine_vi::Piece;

/// Distances to the boundary of K that are rounding, relative to the size of λ.
const ROUNDING: f64 = 1e-12;

/// The mode of a multiplier, as records and pictures tell it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MultiplierMode {
    /// Nothing was solved yet.
    #[default]
    Unknown,
    /// An equation: y = 0 at any λ.
    Equation,
    /// λ = 0, y ≥ 0: a diode blocks, a face of a set is not touched.
    Free,
    /// λ > 0, y = 0: a diode conducts, a face pushes.
    Held,
    /// A relay with y > 0: λ is at its lower bound.
    AtLower,
    /// A relay on its surface: λ lies between its bounds.
    Sliding,
    /// A relay with y < 0: λ is at its upper bound.
    AtUpper,
    /// λ inside a ball, cone or polytope: y = 0.
    Inside,
    /// λ on the boundary of a ball, cone or polytope.
    OnBoundary,
}

impl MultiplierMode {
    /// All of them, in the order of their codes in files.
    pub const ALL: [MultiplierMode; 9] = [
        MultiplierMode::Unknown,
        MultiplierMode::Equation,
        MultiplierMode::Free,
        MultiplierMode::Held,
        MultiplierMode::AtLower,
        MultiplierMode::Sliding,
        MultiplierMode::AtUpper,
        MultiplierMode::Inside,
        MultiplierMode::OnBoundary,
    ];

    /// Number in files: its place in [`MultiplierMode::ALL`].
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            MultiplierMode::Unknown => "unknown",
            MultiplierMode::Equation => "equation",
            MultiplierMode::Free => "free",
            MultiplierMode::Held => "held",
            MultiplierMode::AtLower => "at the lower bound",
            MultiplierMode::Sliding => "sliding",
            MultiplierMode::AtUpper => "at the upper bound",
            MultiplierMode::Inside => "inside",
            MultiplierMode::OnBoundary => "on the boundary",
        }
    }

    /// That of a row whose piece a solver knows.
    #[must_use]
    pub fn of_piece(law: &MultiplierLaw, piece: Piece) -> Self {
        match (law, piece) {
            (MultiplierLaw::Equality, _) => MultiplierMode::Equation,
            (MultiplierLaw::Relay { .. }, Piece::AtLower) => MultiplierMode::AtLower,
            (MultiplierLaw::Relay { .. }, Piece::Held) => MultiplierMode::Sliding,
            (_, Piece::AtUpper) => MultiplierMode::AtUpper,
            (_, Piece::AtLower) => MultiplierMode::Free,
            (_, Piece::Held) => MultiplierMode::Held,
        }
    }

    /// That of row `row` of a relation with the multipliers `lambda`: where λ lies in K.
    #[must_use]
    pub(crate) fn of_multipliers(law: &MultiplierLaw, lambda: &[f64], row: usize) -> Self {
        let norm = |list: &[f64]| list.iter().map(|x| x * x).sum::<f64>().sqrt();
        let bounded = |margin: f64, size: f64| {
            if margin > ROUNDING * size { MultiplierMode::Inside } else { MultiplierMode::OnBoundary }
        };
        match law {
            MultiplierLaw::Equality => MultiplierMode::Equation,
            MultiplierLaw::Complementarity if lambda[row] > 0.0 => MultiplierMode::Held,
            MultiplierLaw::Complementarity => MultiplierMode::Free,
            MultiplierLaw::Relay { lower, upper } => {
                let near = ROUNDING * lower.abs().max(upper.abs());
                match lambda[row] {
                    l if l <= lower + near => MultiplierMode::AtLower,
                    l if l >= upper - near => MultiplierMode::AtUpper,
                    _ => MultiplierMode::Sliding,
                }
            }
            MultiplierLaw::Ball { radius } => bounded(radius - norm(lambda), *radius),
            MultiplierLaw::Cone { slope } => {
                let axis = lambda.first().copied().unwrap_or(0.0);
                bounded(slope * axis - norm(lambda.get(1..).unwrap_or(&[])), slope * axis.abs())
            }
            // behind its multipliers lie those of its facets
            MultiplierLaw::Polytope { facets, .. } if facets.first().is_some_and(|facet| row >= facet.len()) => {
                if lambda[row] > 0.0 {
                    MultiplierMode::Held
                } else {
                    MultiplierMode::Free
                }
            }
            MultiplierLaw::Polytope { facets, bounds } => {
                let lambda = &lambda[..facets.first().map_or(lambda.len(), Vec::len)];
                let margin = |(facet, bound): (&Vec<f64>, &f64)| bound - facet.iter().zip(lambda).map(|(g, l)| g * l).sum::<f64>();
                let size = bounds.iter().fold(norm(lambda), |size, bound| size.max(bound.abs()));
                bounded(facets.iter().zip(bounds).map(margin).fold(f64::INFINITY, f64::min), size)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_places() {
        assert!(MultiplierMode::ALL.iter().enumerate().all(|(k, mode)| usize::from(mode.code()) == k));
    }

    #[test]
    fn modes_follow_from_where_the_multiplier_lies() {
        use MultiplierMode::{AtLower, AtUpper, Free, Held, Inside, OnBoundary, Sliding};
        let of = |law: &MultiplierLaw, lambda: &[f64]| MultiplierMode::of_multipliers(law, lambda, 0);
        let relay = MultiplierLaw::Relay { lower: -1.0, upper: 2.0 };
        assert_eq!([-1.0, 0.5, 2.0].map(|l| of(&relay, &[l])), [AtLower, Sliding, AtUpper]);
        assert_eq!([0.0, 1e-9].map(|l| of(&MultiplierLaw::Complementarity, &[l])), [Free, Held]);
        let ball = MultiplierLaw::Ball { radius: 5.0 };
        assert_eq!([[3.0, 4.0], [3.0, 3.0]].map(|l| of(&ball, &l)), [OnBoundary, Inside]);
        let cone = MultiplierLaw::Cone { slope: 0.5 };
        assert_eq!([[2.0, 1.0], [2.0, 0.5], [0.0, 0.0]].map(|l| of(&cone, &l)), [OnBoundary, Inside, OnBoundary]);
        let square = MultiplierLaw::Polytope { facets: vec![vec![1.0, 0.0], vec![0.0, 1.0]], bounds: vec![1.0, 2.0] };
        assert_eq!([[1.0, 0.0], [0.5, 1.5]].map(|l| of(&square, &l)), [OnBoundary, Inside]);
    }
}
