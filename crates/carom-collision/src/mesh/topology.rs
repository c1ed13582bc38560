//! Corners, edges and orientation of a triangle mesh as given.

use super::volume_of;
use crate::shape_error::{ShapeError, check_finite};
use nalgebra::Vector3;

/// A closed mesh that encloses less than this fraction of its size cubed counts as flat.
const FLAT_FRACTION: f64 = 1e-12;
/// Triangles whose height is less than this fraction of their longest edge have no area.
const THIN_FRACTION: f64 = 1e-12;

/// What was found and mended in a mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MeshStatement {
    /// Vertices that repeat an earlier one and were taken as the same corner.
    pub equal_vertices: usize,
    /// Triangles without area, left out of contact detection.
    pub degenerate_triangles: usize,
    /// Edges with one triangle only.
    pub open_edges: usize,
    /// Edges whose triangles look to different sides, or with more than two triangles.
    pub inconsistent_edges: usize,
    /// Whether the triangles of a closed surface all looked inward and were turned round.
    pub turned_round: bool,
}

/// A mesh with equal corners made one and repeated corners left out.
pub(crate) struct Topology {
    pub vertices: Vec<Vector3<f64>>,
    /// Triangles of three distinct corners; they may still be thin.
    pub triangles: Vec<[u32; 3]>,
    /// Triangle across the edge from corner k to corner k + 1, if it is the only one and looks to the same side.
    pub across: Vec<[Option<u32>; 3]>,
    pub statement: MeshStatement,
    first_open: [Vector3<f64>; 2],
    first_inconsistent: [Vector3<f64>; 2],
}

impl Topology {
    /// Checks coordinates and indices. O(n log n).
    pub fn new(vertices: &[Vector3<f64>], triangles: &[[u32; 3]]) -> Result<Self, ShapeError> {
        for value in vertices.iter().flat_map(|v| v.iter()) {
            check_finite("mesh", "vertex coordinate", *value)?;
        }
        let mut statement = MeshStatement::default();
        let (vertices, number) = weld(vertices, &mut statement.equal_vertices);
        let mut kept = Vec::with_capacity(triangles.len());
        for (triangle, corners) in triangles.iter().enumerate() {
            if let Some(&index) = corners.iter().find(|&&v| v as usize >= number.len()) {
                return Err(ShapeError::BadIndex { triangle, index, vertices: number.len() });
            }
            let [a, b, c] = corners.map(|v| number[v as usize]);
            if a == b || b == c || c == a {
                statement.degenerate_triangles += 1;
            } else {
                kept.push([a, b, c]);
            }
        }
        let mut made = Self {
            across: vec![[None; 3]; kept.len()],
            triangles: kept,
            vertices,
            statement,
            first_open: [Vector3::zeros(); 2],
            first_inconsistent: [Vector3::zeros(); 2],
        };
        made.statement.degenerate_triangles += (0..made.triangles.len()).filter(|&t| made.is_thin(t)).count();
        if made.statement.degenerate_triangles == triangles.len() {
            return Err(ShapeError::EmptyMesh { triangles: triangles.len() });
        }
        made.connect();
        if made.is_closed() && made.signed_volume() < 0.0 {
            made.turn_round();
        }
        Ok(made)
    }

    /// Whether a triangle has no area to speak of.
    pub(crate) fn is_thin(&self, triangle: usize) -> bool {
        let [a, b, c] = self.corners(triangle);
        let longest = (b - a).norm_squared().max((c - b).norm_squared()).max((a - c).norm_squared());
        let twice_area = (b - a).cross(&(c - a)).norm();
        twice_area.is_nan() || twice_area <= THIN_FRACTION * longest
    }

    pub fn corners(&self, triangle: usize) -> [Vector3<f64>; 3] {
        self.triangles[triangle].map(|v| self.vertices[v as usize])
    }

    /// Triangles as corners.
    pub(crate) fn solid_triangles(&self) -> impl Iterator<Item = [Vector3<f64>; 3]> {
        (0..self.triangles.len()).map(|t| self.corners(t))
    }

    /// Whether the surface bounds a solid.
    pub(crate) fn check_solid(&self) -> Result<(), ShapeError> {
        let ends = |[from, to]: [Vector3<f64>; 2]| (from.into(), to.into());
        if self.statement.inconsistent_edges > 0 {
            let (from, to) = ends(self.first_inconsistent);
            return Err(ShapeError::Orientation { edges: self.statement.inconsistent_edges, from, to });
        }
        if self.statement.open_edges > 0 {
            let (from, to) = ends(self.first_open);
            return Err(ShapeError::OpenMesh { edges: self.statement.open_edges, from, to });
        }
        let size = self.vertices.iter().map(|v| (v - self.vertices[0]).amax()).fold(0.0, f64::max);
        let volume = self.signed_volume();
        if volume.is_nan() || volume <= FLAT_FRACTION * size.powi(3) {
            return Err(ShapeError::FlatMesh { volume, size });
        }
        Ok(())
    }

    fn is_closed(&self) -> bool {
        self.statement.open_edges == 0 && self.statement.inconsistent_edges == 0
    }

    fn signed_volume(&self) -> f64 {
        volume_of(self.vertices[0], self.solid_triangles())
    }

    fn turn_round(&mut self) {
        self.statement.turned_round = true;
        for (triangle, across) in self.triangles.iter_mut().zip(&mut self.across) {
            triangle.swap(1, 2);
            // Edges (ab, bc, ca) of abc are (ac, cb, ba) of acb, the old ones in the order ca, bc, ab.
            across.swap(0, 2);
        }
    }

    /// Finds the neighbours across edges, and counts the edges that have none or too many.
    fn connect(&mut self) {
        // (lower end, upper end, triangle, place in it, runs upward)
        let mut sides: Vec<(u32, u32, u32, u8, bool)> = Vec::with_capacity(3 * self.triangles.len());
        for (t, corners) in (0..).zip(&self.triangles) {
            for k in 0..3_u8 {
                let (from, to) = (corners[k as usize], corners[(k as usize + 1) % 3]);
                sides.push((from.min(to), from.max(to), t, k, from < to));
            }
        }
        sides.sort_unstable();
        for edge in sides.chunk_by(|x, y| (x.0, x.1) == (y.0, y.1)) {
            let ends = [edge[0].0, edge[0].1].map(|v| self.vertices[v as usize]);
            match edge {
                [_] => {
                    if self.statement.open_edges == 0 {
                        self.first_open = ends;
                    }
                    self.statement.open_edges += 1;
                }
                [x, y] if x.4 != y.4 => {
                    self.across[x.2 as usize][x.3 as usize] = Some(y.2);
                    self.across[y.2 as usize][y.3 as usize] = Some(x.2);
                }
                _ => {
                    if self.statement.inconsistent_edges == 0 {
                        self.first_inconsistent = ends;
                    }
                    self.statement.inconsistent_edges += 1;
                }
            }
        }
    }
}

/// Makes equal vertices one: the distinct ones in their first order, and the number of each given vertex among them.
fn weld(vertices: &[Vector3<f64>], equal: &mut usize) -> (Vec<Vector3<f64>>, Vec<u32>) {
    // Adding zero makes −0 and 0 the same.
    let key = |i: u32| vertices[i as usize].map(|x| (x + 0.0).to_bits());
    let mut order: Vec<u32> = (0..vertices.len() as u32).collect();
    order.sort_unstable_by_key(|&i| {
        let k = key(i);
        (k.x, k.y, k.z, i)
    });
    let mut first: Vec<u32> = (0..vertices.len() as u32).collect();
    for pair in order.windows(2) {
        if key(pair[0]) == key(pair[1]) {
            first[pair[1] as usize] = first[pair[0] as usize];
        }
    }
    let (mut distinct, mut number) = (Vec::new(), vec![0; vertices.len()]);
    for (i, &original) in first.iter().enumerate() {
        if original as usize == i {
            number[i] = distinct.len() as u32;
            distinct.push(vertices[i]);
        } else {
            number[i] = number[original as usize];
            *equal += 1;
        }
    }
    (distinct, number)
}
