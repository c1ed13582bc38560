//! Surfaces of triangles: which triangles share corners and edges, which of them a solid can touch and where.

pub(crate) mod grid;
pub(crate) mod topology;
