//! Surface of triangles against surface of triangles: meshes and height fields, one on the other.
//!
//! Both trees are descended together to the pairs of triangles that are near. Their features make candidates
//! (`candidates.rs`): a vertex of one over a triangle of the other, two sharp edges that cross, and, where the surfaces are
//! apart, nearest corners and edges; only where both surfaces fall away from the contact, so that flat and hollow edges
//! never touch. Of candidates that overlap those are left out that a shallower one explains (`penetration.rs`). Points of
//! two flat parts that lie on each other make one patch, of which the corners are kept.
//!
//! All is computed in the frame of B; normals point to A.

mod candidates;
mod penetration;

use super::mesh_convex::frame_of;
use super::mesh_patch::{FacetCorner, Gathered, number, repeats};
use super::preference::ALIGNED;
use super::{PairPoint, mesh_inside};
use crate::pose::Pose;
use crate::surface::{Surface, Triangle};
use candidates::{Candidate, Features};
use nalgebra::{Matrix3, Vector3};

/// Points nearer than this fraction of the smaller surface are one, and overlaps of less count as touching.
const MERGE: f64 = 1e-9;

/// Memory of the pair.
#[derive(Clone, Default)]
pub(super) struct Scratch {
    stack: Vec<(u32, u32)>,
    candidates: Vec<Candidate>,
    deep: Vec<(u32, Candidate)>,
    kept: Vec<Candidate>,
    /// Flat parts of A and B that lie on each other.
    patches: Vec<(u32, u32)>,
    gathered: Gathered,
}

/// Two surfaces in the frame of B.
struct Pair<'a> {
    a: &'a Surface,
    b: &'a Surface,
    /// From A's frame to B's.
    rotation: Matrix3<f64>,
    shift: Vector3<f64>,
    margin: f64,
    /// How near triangles are that are looked at.
    reach: f64,
    /// Distance that counts as none.
    noise: f64,
}

/// Appends the points; normals point to A.
pub(super) fn collide(
    (a, pose_a): (&Surface, &Pose),
    (b, pose_b): (&Surface, &Pose),
    margin: f64,
    scratch: &mut Scratch,
    points: &mut Vec<PairPoint>,
) {
    let rotation = pose_b.rotation.tr_mul(&pose_a.rotation);
    let shift = pose_b.rotation.tr_mul(&(pose_a.position - pose_b.position));
    let mut pair = Pair { a, b, rotation, shift, margin, reach: margin.max(0.0), noise: MERGE * a.size.min(b.size) };
    let first = points.len();
    pair.find(scratch);
    if scratch.kept.is_empty() && pair.is_pierced(&mut scratch.stack) {
        // So deep that no near features tell the way out.
        pair.reach = a.size.min(b.size);
        pair.find(scratch);
    }
    // => points
    pair.join(scratch, points);
    for p in &mut points[first..] {
        p.point = pose_b.apply(&p.point);
        p.normal = pose_b.rotation * p.normal;
    }
    if points.len() == first {
        leave((a, pose_a), (b, pose_b), points);
    }
}

/// The way out where one of two surfaces lies wholly inside the other.
fn leave((a, pose_a): (&Surface, &Pose), (b, pose_b): (&Surface, &Pose), points: &mut Vec<PairPoint>) {
    let first = points.len();
    mesh_inside::leave_with((a, pose_a), (b, pose_b), points);
    if points.len() == first {
        mesh_inside::leave_with((b, pose_b), (a, pose_a), points);
        points[first..].iter_mut().for_each(|p| p.normal = -p.normal);
    }
}

impl Pair<'_> {
    /// Near triangles ⇒ candidates, each once, from the open to the deep ⇒ those that are contacts.
    fn find(&self, scratch: &mut Scratch) {
        let Scratch { stack, candidates, deep, kept, .. } = scratch;
        candidates.clear();
        self.b.for_each_pair((self.a, &self.rotation, &self.shift), self.reach, stack, |t_b, t_a| self.gather(t_a, t_b, candidates));
        candidates.sort_unstable_by_key(|c| (c.features.key(), c.beyond));
        candidates.dedup_by_key(|c| c.features.key());
        candidates.sort_unstable_by(|c, d| d.gap.total_cmp(&c.gap).then(c.features.key().cmp(&d.features.key())));
        self.select(candidates, deep, kept);
    }

    /// Whether the surfaces pass through each other.
    fn is_pierced(&self, stack: &mut Vec<(u32, u32)>) -> bool {
        let mut found = false;
        self.b.for_each_pair((self.a, &self.rotation, &self.shift), 0.0, stack, |t_b, t_a| found = found || self.pierce(t_a, t_b));
        found
    }

    fn in_frame_of_b(&self, point: &Vector3<f64>) -> Vector3<f64> {
        self.rotation * point + self.shift
    }

    fn in_frame_of_a(&self, point: &Vector3<f64>) -> Vector3<f64> {
        self.rotation.tr_mul(&(point - self.shift))
    }

    /// Makes points of the candidates: patches of flat parts whole, others as they are.
    fn join(&self, scratch: &mut Scratch, points: &mut Vec<PairPoint>) {
        let Scratch { kept, patches, gathered, .. } = scratch;
        let first = points.len();
        patches.clear();
        patches.extend(kept.iter().filter_map(|c| self.patch_of(c)));
        patches.sort_unstable();
        patches.dedup();
        gathered.clear();
        for c in kept.iter() {
            let Some((place, patch)) = self.patch_of(c).and_then(|patch| Some((patches.binary_search(&patch).ok()?, patch))) else {
                continue;
            };
            let (x, y, _) = frame_of(&self.b.facets[patch.1 as usize]).local(&c.on_a);
            let rank = c.features.key().0;
            gathered.corners.push(FacetCorner { facet: place as u32, x, y, height: c.gap, feature: feature_of(c), rank });
        }
        gathered.for_each_corner(self.noise, |corner| {
            let frame = frame_of(&self.b.facets[patches[corner.facet as usize].1 as usize]);
            let point = frame.world(corner.x, corner.y, 0.5 * corner.height);
            points.push(PairPoint { feature: corner.feature, point, normal: frame.up, gap: corner.height });
        });
        for c in kept.iter().filter(|c| self.patch_of(c).is_none()) {
            let (feature, point) = (feature_of(c), 0.5 * (c.on_a + c.on_b));
            if !repeats(&points[first..], feature, &point, &c.normal, 1e3 * self.noise) {
                points.push(PairPoint { feature, point, normal: c.normal, gap: c.gap });
            }
        }
    }

    /// The flat parts of A and B that lie on each other at a candidate, if there are any.
    fn patch_of(&self, candidate: &Candidate) -> Option<(u32, u32)> {
        let up = candidate.normal;
        let facet_a = |triangle: &Triangle| {
            let normal = self.rotation * self.a.facets[triangle.facet as usize].plane.normal;
            (normal.dot(&up) < -ALIGNED).then_some(triangle.facet)
        };
        let facet_b =
            |triangle: &Triangle| (self.b.facets[triangle.facet as usize].plane.normal.dot(&up) > ALIGNED).then_some(triangle.facet);
        let at_edge = |surface: &Surface, (t, k): (u32, u8)| {
            let here = surface.triangles[t as usize];
            [Some(here), surface.triangles.get(here.across[k as usize] as usize).copied()]
        };
        match candidate.features {
            Features::VertexOfA { vertex, triangle, .. } => {
                let of_a = self.a.around(vertex).iter().find_map(|&t| facet_a(&self.a.triangles[t as usize]))?;
                Some((of_a, self.b.triangles[triangle as usize].facet))
            }
            Features::VertexOfB { vertex, triangle, .. } => {
                let of_b = self.b.around(vertex).iter().find_map(|&t| facet_b(&self.b.triangles[t as usize]))?;
                Some((self.a.triangles[triangle as usize].facet, of_b))
            }
            Features::Edges { a, b, .. } => {
                let of_a = at_edge(self.a, a).iter().flatten().find_map(facet_a)?;
                let of_b = at_edge(self.b, b).iter().flatten().find_map(facet_b)?;
                Some((of_a, of_b))
            }
            Features::Corners { .. } => None,
        }
    }
}

fn feature_of(candidate: &Candidate) -> u32 {
    let (kind, i, j) = candidate.features.key();
    number(8 + u32::from(kind), i, j)
}

#[cfg(test)]
mod tests;
