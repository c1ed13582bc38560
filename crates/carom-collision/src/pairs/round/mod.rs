//! Cylinders, cones and capsules against each other and against polytopes.
//!
//! [`collide`] finds the direction of largest separation of the two cores (`separation.rs`, exact to roundings by
//! `polish.rs`) and the corners of the contact patch along it (`patch.rs`).

pub(super) mod core;
pub(super) mod facets;
mod feature;
mod nearness;
pub(super) mod on_surface;
mod patch;
mod polish;
mod separation;
mod simplex;

use self::core::Core;
use super::{Overlap, PairPoint};
use nearness::Pair;
use patch::Patch;

/// Sine of the tilt below which the lowest direction of a rim is taken as the body's x axis: the rim's height then
/// varies by 1e-8 of the radius, and the rim points do not wander with the noise of the orientation.
const UPRIGHT: f64 = 1e-8;
/// Angle within which a normal is that of a face \[rad\].
const ALIGNED: f64 = 1e-7;

/// Appends the contact points of two cores with gap ≤ margin.
pub(super) fn collide(a: Core<'_>, b: Core<'_>, margin: f64, points: &mut Vec<PairPoint>) -> Overlap {
    let pair = Pair::new(a, b);
    let Some(found) = pair.separate(margin + a.rounding + b.rounding) else { return Overlap::Regular };
    Patch::new(&pair, found.best, margin, points).fill();
    if found.ambiguous { Overlap::Degenerate } else { Overlap::Regular }
}

#[cfg(test)]
mod tests;
