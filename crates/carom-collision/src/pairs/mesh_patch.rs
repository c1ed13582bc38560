//! Points gathered over the triangles of a surface: facets' patches made whole, repeated points left out.

use super::PairPoint;
use nalgebra::Vector3;

/// A corner of a solid's face clipped to one triangle, in the frame of the triangle's facet.
#[derive(Clone, Copy, Debug)]
pub(super) struct FacetCorner {
    pub facet: u32,
    pub x: f64,
    pub y: f64,
    pub height: f64,
    pub feature: u32,
    /// 0 for a vertex of the solid, 1 for a vertex of the surface, 2 for a crossing.
    pub rank: u8,
}

/// Memory of the pairs with surfaces.
#[derive(Clone, Default)]
pub(super) struct Gathered {
    /// Candidate triangles.
    pub near: Vec<u32>,
    pub corners: Vec<FacetCorner>,
    chain: Vec<FacetCorner>,
    ring: Vec<FacetCorner>,
}

impl Gathered {
    pub fn clear(&mut self) {
        self.near.clear();
        self.corners.clear();
    }

    /// Calls `corner` with the true corners of each facet's patch: those of the convex hull of what its triangles hold.
    pub(crate) fn for_each_corner(&mut self, tolerance: f64, mut corner: impl FnMut(&FacetCorner)) {
        let Self { corners, chain, ring, .. } = self;
        corners.sort_unstable_by(|a, b| {
            a.facet.cmp(&b.facet).then(a.x.total_cmp(&b.x)).then(a.y.total_cmp(&b.y)).then(a.feature.cmp(&b.feature))
        });
        for patch in corners.chunk_by(|a, b| a.facet == b.facet) {
            convex_ring(patch, tolerance, chain, ring);
            for found in ring.iter() {
                // Of points in one place the vertex of the solid gives the number.
                let same = |c: &&FacetCorner| (c.x - found.x).abs().max((c.y - found.y).abs()) <= 2.0 * tolerance;
                let named = patch.iter().filter(same).min_by_key(|c| (c.rank, c.feature)).unwrap_or(found);
                corner(named);
            }
        }
    }
}

/// Strictly convex ring of sorted points (Andrew's monotone chain).
fn convex_ring(sorted: &[FacetCorner], tolerance: f64, chain: &mut Vec<FacetCorner>, ring: &mut Vec<FacetCorner>) {
    let is_corner = |a: &FacetCorner, b: &FacetCorner, c: &FacetCorner| {
        let (cx, cy) = (c.x - a.x, c.y - a.y);
        (b.x - a.x) * cy - (b.y - a.y) * cx > tolerance * cx.hypot(cy)
    };
    let near = |a: &FacetCorner, b: &FacetCorner| (a.x - b.x).abs().max((a.y - b.y).abs()) <= tolerance;
    ring.clear();
    let mut half = |order: &mut dyn Iterator<Item = &FacetCorner>| {
        chain.clear();
        for c in order {
            if chain.last().is_some_and(|last| near(last, c)) {
                continue;
            }
            while chain.len() >= 2 && !is_corner(&chain[chain.len() - 2], &chain[chain.len() - 1], c) {
                chain.pop();
            }
            chain.push(*c);
        }
        ring.extend(chain.iter());
    };
    half(&mut sorted.iter());
    half(&mut sorted.iter().rev());
    ring.dedup_by(|b, a| near(a, b));
    while ring.len() > 1 && near(&ring[0], &ring[ring.len() - 1]) {
        ring.pop();
    }
    let mut k = 0;
    while ring.len() > 2 && k < ring.len() {
        let n = ring.len();
        if is_corner(&ring[(k + n - 1) % n], &ring[k], &ring[(k + 1) % n]) {
            k += 1;
        } else {
            ring.remove(k);
            k = k.saturating_sub(1);
        }
    }
}

/// One number out of two and a kind: any change of one gives another number, nearly surely.
pub(super) fn number(kind: u32, i: u32, j: u32) -> u32 {
    let mut z = u64::from(i) << 32 | u64::from(j);
    z = (z ^ z >> 30 ^ u64::from(kind) << 17).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ z >> 31) as u32
}

/// Whether a point repeats one that is there: the same number, or the same place and direction.
pub(super) fn repeats(points: &[PairPoint], feature: u32, point: &Vector3<f64>, normal: &Vector3<f64>, distance: f64) -> bool {
    points.iter().any(|p| p.feature == feature || (p.normal.dot(normal) > 1.0 - 1e-12 && (p.point - point).amax() <= distance))
}
