//! Coordinates that nothing moves: what controllers remember.

use crate::error::NonFinite;
use crate::systems::{Coordinate, Coordinates, Instant, JacobianFactors, Scratch, System};
use std::ops::Range;

/// A system of coordinates without velocities: T has no columns, M no rows. Strategies carry the values unchanged from step to step;
/// [`ControlSet`](super::ControlSet) changes them at sample instants.
#[derive(Clone, Debug)]
pub struct HeldValues {
    names: Vec<Coordinate>,
}

impl HeldValues {
    /// Values of these names.
    #[must_use]
    pub fn new(names: Vec<Coordinate>) -> Self {
        HeldValues { names }
    }
}

impl System for HeldValues {
    fn coordinates(&self) -> Coordinates {
        self.names.iter().cloned().collect()
    }

    fn velocities(&self) -> Coordinates {
        Coordinates::default()
    }

    fn block_sizes(&self) -> Vec<usize> {
        Vec::new()
    }

    fn mass_is_constant(&self) -> bool {
        true
    }

    fn is_affine(&self) -> bool {
        true
    }

    fn mass(&self, _: f64, _: &[f64], _: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        Ok(())
    }

    fn force(&self, _: f64, _: &[f64], _: &[f64], _: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        Ok(())
    }

    fn add_jacobians(&self, _: Instant<'_>, _: JacobianFactors, _: &mut [f64], _: &mut Scratch) -> Result<(), NonFinite> {
        Ok(())
    }

    fn energy(&self, _: f64, _: &[f64], _: &[f64], _: &mut Scratch) -> Result<(f64, f64), NonFinite> {
        Ok((0.0, 0.0))
    }

    fn advance(&self, q: &[f64], _: &[f64], q_next: &mut [f64]) {
        q_next.copy_from_slice(q);
    }

    fn difference(&self, _: &[f64], _: &[f64], _: &mut [f64]) {}

    fn is_flat(&self) -> bool {
        false
    }

    fn velocities_of(&self, _: usize) -> Range<usize> {
        0..0
    }

    fn kinematic_row(&self, _: &[f64], _: usize, _: &mut [f64]) {}
}
