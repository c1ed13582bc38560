//! What the detectors in space and in the plane share: the bounding volume tree.

pub(crate) mod tree;
