//! The identity of a contact point from step to step.

/// Persistent identity of a contact point: the pair of colliders and the pair of features that make it.
///
/// The same physical corner keeps its key from step to step, so that its impulse can start the next solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContactKey {
    /// Index of the pair's first collider in the detector's list.
    pub collider_a: u32,
    /// Index of the pair's second collider.
    pub collider_b: u32,
    /// Number that identifies the point within the pair.
    pub feature: u32,
}
