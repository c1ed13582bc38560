//! Triangle meshes from STL (ASCII and binary) and OBJ files, tables of heights from text.
//!
//! Readers trust nothing: every count, index and number is checked, and memory stays proportional to the bytes that are there.

mod obj;
mod stl;
mod table;

pub use table::NumberTable;
pub(crate) use table::read_table;

use nalgebra::Vector3;
use std::collections::HashMap;

/// Vertices and triangles of a file; triangles that share a corner in the file share its vertex here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshData {
    /// Vertices, in the unit of the file.
    pub vertices: Vec<Vector3<f64>>,
    /// Corners of each triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// Why a mesh file cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// The name of the file does not say its format.
    #[error("the format of a mesh file is known by its name, which must end in .stl or .obj")]
    UnknownFormat,
    /// A line of a text that cannot be read.
    #[error("line {line}: {reason}")]
    Line {
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A binary STL whose length does not fit its number of triangles.
    #[error("the file announces {triangles} triangles, which need {expected} bytes, but has {found}")]
    Length {
        /// Triangles announced.
        triangles: u64,
        /// Bytes that they need.
        expected: u64,
        /// Bytes of the file.
        found: u64,
    },
    /// A coordinate that is infinite or not a number.
    #[error("triangle {triangle} has a corner that is not finite")]
    NonFinite {
        /// Number of the triangle, from 1.
        triangle: usize,
    },
    /// A file without triangles.
    #[error("the file has no triangles")]
    Empty,
    /// A table without numbers.
    #[error("the file has no numbers")]
    NoNumbers,
    /// More triangles or vertices than are read.
    #[error("the file has more than {limit} triangles, vertices or heights")]
    TooLarge {
        /// Most that are read.
        limit: usize,
    },
}

/// Most triangles and vertices that are read.
pub const MAX_TRIANGLES: usize = 4_000_000;

/// Reads a mesh; `name` tells the format by its end.
///
/// # Errors
/// [`MeshError`].
pub(crate) fn read_mesh(name: &str, bytes: &[u8]) -> Result<MeshData, MeshError> {
    let name = name.to_ascii_lowercase();
    let mesh = if name.ends_with(".stl") {
        stl::read(bytes)?
    } else if name.ends_with(".obj") {
        obj::read(bytes)?
    } else {
        return Err(MeshError::UnknownFormat);
    };
    if mesh.triangles.is_empty() { Err(MeshError::Empty) } else { Ok(mesh) }
}

/// Gives equal points one number.
#[derive(Default)]
struct Welder {
    numbers: HashMap<[u64; 3], u32>,
    vertices: Vec<Vector3<f64>>,
}

impl Welder {
    fn number(&mut self, p: [f64; 3]) -> u32 {
        // −0 and 0 are one coordinate
        let key = p.map(|x| (x + 0.0).to_bits());
        *self.numbers.entry(key).or_insert_with(|| {
            self.vertices.push(Vector3::from(p));
            (self.vertices.len() - 1) as u32
        })
    }
}
