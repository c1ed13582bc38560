//! The direction of largest separation of two cores.
//!
//! Apart: s(n) has one maximum, which the distance iteration finds and the polish makes exact. Touching or overlapping:
//! the iteration is run on A shifted by T n, which maximises
//! ```text
//! s(n') + T n·n' = s(n') − T |n' − n|²/2 + T,      T = η − s(n) > 0
//! ```
//! a proximal step on the sphere: s never falls and the fixed points are the local maxima of s. The first n is the
//! best of the face normals, the sides' directions and a few directions fixed in A's frame.

use super::core::{Body, Core};
use super::feature::Feature;
use super::nearness::{Ends, Nearness, Pair};
use super::polish::Direction;
use nalgebra::Vector3;

/// Clearance η of the shifted pair, in sizes of the smaller core.
const CLEARANCE: f64 = 0.02;
/// Proximal steps end when they can raise s by no more than this fraction of the scale.
const SETTLED: f64 = 2e-14;
/// Factor of the clearance in the last steps: the smaller it is, the longer are the steps along gentle slopes of s.
const LONG: f64 = 1e-2;
/// Starts worse than the best end by more than this fraction of the size are not worth a search.
const HOPELESS: f64 = 0.6;
/// A polished direction farther than this from its start may have other features near \[rad\].
const MOVED: f64 = 3e-3;
const MOST_STEPS: usize = 40;
/// Accuracies of the distance iteration: near enough for the features to be polished, and to roundings.
const COARSE: f64 = 1e-7;
const FINE: f64 = 1e-12;
/// Overlaps deeper than this fraction of the size are searched from several directions.
const SHALLOW: f64 = 0.02;
/// Directions of the distance iteration less deep than this fraction of the size are tried first.
const PROMISING: f64 = 0.3;
/// Cosine of the angle between starts that count as different.
const APART: f64 = 0.9;
/// Directions whose separations differ by less than this fraction of the scale are equally good.
const TIE: f64 = 1e-12;
const STARTS: usize = 8;

/// The best direction, and whether another one is as good.
#[derive(Clone, Copy, Debug)]
pub(super) struct Separation {
    pub best: Direction,
    pub ambiguous: bool,
}

impl Pair<'_> {
    /// The best direction; `None` when the cores are farther apart than `limit`.
    pub fn separate(&self, limit: f64) -> Option<Separation> {
        let start = self.offset.try_normalize(0.0).unwrap_or(self.a.rotation.column(2).into());
        let clear = CLEARANCE * self.size();
        match self.approach(&Vector3::zeros(), &start, &Ends { limit, resolution: clear, enough: 0.0, accuracy: COARSE }) {
            Nearness::Beyond => None,
            Nearness::Apart(normal, distance) => {
                let best = self.polish_fully(&self.direction(normal), distance);
                (best.separation <= limit).then_some(Separation { best, ambiguous: false })
            }
            Nearness::Near(hint) => Some(self.search(hint, clear)).filter(|found| found.best.separation <= limit),
        }
    }

    fn direction(&self, normal: Vector3<f64>) -> Direction {
        Direction { normal, separation: self.separation(&normal) }
    }

    /// Polishes until the features no longer change; `bound` as for [`Pair::polish`].
    fn polish_fully(&self, start: &Direction, bound: f64) -> Direction {
        let mut from = *start;
        let mut best = self.polish(start, bound);
        for _ in 0..3 {
            // features near the polished direction were near the start, too
            if (best.normal - from.normal).norm_squared() < MOVED * MOVED {
                break;
            }
            from = best;
            best = self.polish(&from, bound);
        }
        best
    }

    /// Proximal steps from several starts.
    fn search(&self, hint: Option<Vector3<f64>>, clear: f64) -> Separation {
        if let Some(start) = hint.map(|n| self.direction(n)).filter(|start| start.separation > -PROMISING * self.size())
            && let best = self.ascend(&start, clear)
            && best.separation > -SHALLOW * self.size()
        {
            return Separation { best, ambiguous: false };
        }
        let starts = self.starts();
        let mut best: Option<Direction> = None;
        let mut ambiguous = false;
        let tie = TIE * self.scale();
        for start in starts.iter().flatten() {
            if best.is_some_and(|best| start.separation < best.separation - HOPELESS * self.size()) {
                break;
            }
            let found = self.ascend(start, clear);
            match best {
                Some(first) if found.separation <= first.separation + tie => {
                    let other = found.normal.dot(&first.normal) < 1.0 - 1e-6;
                    ambiguous |= other && found.separation >= first.separation - tie;
                }
                _ => {
                    best = Some(found);
                    ambiguous = false;
                }
            }
            if found.separation > -SHALLOW * self.size() {
                break;
            }
        }
        // there is always a start: the directions of A's frame
        let best = best.unwrap_or_else(|| self.direction(self.a.rotation.column(2).into()));
        Separation { best, ambiguous }
    }

    /// Proximal steps to a local maximum of s.
    fn ascend(&self, start: &Direction, clear: f64) -> Direction {
        let mut best = self.polish_fully(start, f64::INFINITY);
        let settled = SETTLED * self.scale();
        let (mut clear, mut accuracy) = (clear, COARSE);
        for _ in 0..MOST_STEPS {
            let length = (clear - best.separation).max(clear);
            // the objective of the step at the present direction
            let present = best.separation + length;
            let ends = Ends { limit: f64::INFINITY, resolution: 0.0, enough: present + settled, accuracy };
            let Nearness::Apart(n, distance) = self.approach(&(best.normal * length), &best.normal, &ends) else { break };
            if distance > present + settled {
                let next = self.polish_fully(&self.direction(n), f64::INFINITY);
                if next.separation > best.separation {
                    let rise = next.separation - best.separation;
                    best = next;
                    if rise > settled {
                        continue;
                    }
                }
            }
            // at a face, or nothing gained by the longest and finest step
            if accuracy == FINE || self.is_flat(&best.normal) {
                break;
            }
            clear *= LONG;
            accuracy = FINE;
        }
        best
    }

    /// Whether a face or cap of A or B is square to a direction.
    fn is_flat(&self, n: &Vector3<f64>) -> bool {
        Feature::flat(&self.a, &-n).is_some() || Feature::flat(&self.b, n).is_some()
    }

    /// The best directions to start from, at least [`APART`] from each other, best first.
    fn starts(&self) -> [Option<Direction>; STARTS] {
        let mut starts: [Option<Direction>; STARTS] = [None; STARTS];
        let mut consider = |normal: Vector3<f64>| {
            let candidate = self.direction(normal);
            // the place of the candidate among the better ones, unless one of these is near
            let mut place = 0;
            while let Some(Some(better)) = starts.get(place)
                && better.separation >= candidate.separation
            {
                if better.normal.dot(&normal) > APART {
                    return;
                }
                place += 1;
            }
            if place >= STARTS {
                return;
            }
            // worse ones near it go, the others move down
            let mut moving = Some(candidate);
            for slot in starts.iter_mut().skip(place) {
                std::mem::swap(slot, &mut moving);
                match &moving {
                    Some(worse) if worse.normal.dot(&normal) <= APART => {}
                    _ => break,
                }
            }
        };
        if let Some(n) = self.offset.try_normalize(0.0) {
            consider(n);
        }
        let all = Vector3::zeros();
        self.a.nodes_near(&all, -1.0, |normal| consider(-normal));
        self.b.nodes_near(&all, -1.0, &mut consider);
        for direction in sides(&self.a, &-self.offset) {
            consider(-direction);
        }
        for direction in sides(&self.b, &self.offset) {
            consider(direction);
        }
        for k in 0..27 {
            let local = Vector3::new(f64::from(k % 3) - 1.0, f64::from(k / 3 % 3) - 1.0, f64::from(k / 9) - 1.0);
            if let Some(local) = local.try_normalize(0.5) {
                consider(self.a.rotation * local);
            }
        }
        starts
    }
}

/// Normals of the side of a cylinder, cone or segment toward a direction and away from it.
fn sides(core: &Core<'_>, toward: &Vector3<f64>) -> [Vector3<f64>; 2] {
    let (axis, level) = match &core.body {
        Body::Segment { axis, .. } | Body::Cylinder { axis, .. } => (*axis, 0.0),
        Body::Cone { axis, radius, half_height } => (*axis, radius / radius.hypot(2.0 * half_height)),
        Body::Polytope(_) => (core.rotation.column(2).into(), 0.0),
    };
    let radial = (toward - axis * axis.dot(toward)).try_normalize(1e-9 * core.size).unwrap_or_else(|| core.rotation.column(0).into());
    let radius = (1.0 - level * level).sqrt();
    [axis * level + radial * radius, axis * level - radial * radius]
}
