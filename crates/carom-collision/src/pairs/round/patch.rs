//! Contact points of a pair along its normal: the corners of the patch where the facing features lie over each other.
//!
//! Where a face or cap is square to the normal, the other shape shows its face, cap or ruling, and the points are the
//! corners of the overlap seen along the normal: ends and vertices over the other feature, rim points (four, a quarter
//! turn apart, the lowest first) over it, and crossings of outlines. Otherwise two nearly parallel lines touch at the two
//! ends of their overlap, and all else at one point.

use super::super::PairPoint;
use super::core::Core;
use super::feature::{Disk, FACE_SIDE, Face, Feature, Line, RIM_IN, RIM_OUT, SIDE};
use super::nearness::Pair;
use super::polish::Direction;
use crate::pairs::segment::Segment;
use nalgebra::Vector3;

/// Sine of the angle below which two lines touch along their overlap.
const PARALLEL: f64 = 1e-3;
/// Points outside by less than this fraction of the size are inside.
const MERGE: f64 = 1e-9;
/// Overlaps of lines shorter than this fraction make one point.
const SHORT: f64 = 1e-9;
/// The deepest point of a patch is lost when the others are higher by more than this fraction of the scale.
const LOST: f64 = 1e-12;
/// Number of no part.
pub(super) const NONE: u32 = 0xffff;
/// Rims tilted by more than this sine have no crossings with each other in a patch.
const FLAT: f64 = 0.05;

pub(super) struct Patch<'p, 'a> {
    pair: &'p Pair<'a>,
    best: Direction,
    margin: f64,
    tolerance: f64,
    first: usize,
    points: &'p mut Vec<PairPoint>,
}

impl<'p, 'a> Patch<'p, 'a> {
    pub fn new(pair: &'p Pair<'a>, best: Direction, margin: f64, points: &'p mut Vec<PairPoint>) -> Self {
        Self { pair, best, margin, tolerance: MERGE * pair.size(), first: points.len(), points }
    }

    /// Appends the points, the deepest one among them.
    pub fn fill(&mut self) {
        let (a, b) = (&self.pair.a, &self.pair.b);
        if !self.fill_flat() {
            self.touch_lines_or_point(a, b);
        } else if self.is_lost() {
            self.touch_point(a, b);
        }
    }

    /// Whether the deepest point was lost to roundings at the border of the patch.
    pub fn is_lost(&self) -> bool {
        let lowest = self.points[self.first..].iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        lowest > self.gap_of(self.best.separation) + LOST * self.pair.scale()
    }

    /// Appends the corners of the overlap with a face or cap square to the normal; false when there is none.
    pub(crate) fn fill_flat(&mut self) -> bool {
        let n = self.best.normal;
        let (a, b) = (&self.pair.a, &self.pair.b);
        let flat = (Feature::flat(a, &-n), Feature::flat(b, &n));
        let (feature_a, feature_b) = match flat {
            (None, None) => return false,
            (Some(fa), Some(fb)) => (fa, fb),
            (Some(fa), None) => (fa, Feature::facing(b, &n)),
            (None, Some(fb)) => (Feature::facing(a, &-n), fb),
        };
        match (&feature_a, &feature_b) {
            (Feature::Line(line), Feature::Disk(disk)) => self.line_on_disk(line, disk, true),
            (Feature::Disk(disk), Feature::Line(line)) => self.line_on_disk(line, disk, false),
            (Feature::Line(line), Feature::Face(face)) => self.line_on_face(line, face, true),
            (Feature::Face(face), Feature::Line(line)) => self.line_on_face(line, face, false),
            (Feature::Disk(disk), Feature::Face(face)) => self.disk_on_face(disk, face, true),
            (Feature::Face(face), Feature::Disk(disk)) => self.disk_on_face(disk, face, false),
            (Feature::Disk(da), Feature::Disk(db)) => self.disk_on_disk(da, db),
            // two polytopes are no round pair; a line is never flat
            (Feature::Face(_), Feature::Face(_)) | (Feature::Line(_), Feature::Line(_)) => {}
        }
        true
    }

    fn gap_of(&self, core_gap: f64) -> f64 {
        core_gap - self.pair.a.rounding - self.pair.b.rounding
    }

    /// A contact at a point of A's core over a point of B's core.
    fn touch(&mut self, (number_a, number_b): (u32, u32), on_a: &Vector3<f64>, on_b: &Vector3<f64>) {
        let normal = self.best.normal;
        let gap = self.gap_of(normal.dot(&(on_a - on_b)));
        if gap <= self.margin {
            let point = on_b + normal * (self.pair.b.rounding + 0.5 * gap);
            self.points.push(PairPoint { feature: number_a << 16 | number_b, point, normal, gap });
        }
    }

    /// A contact at a point of the first feature over a point of the second, whichever of A and B the first is.
    fn touch_ordered(&mut self, first_is_a: bool, (first, second): (u32, u32), on_first: &Vector3<f64>, on_second: &Vector3<f64>) {
        if first_is_a {
            self.touch((first, second), on_first, on_second);
        } else {
            self.touch((second, first), on_second, on_first);
        }
    }

    /// The point below or above p on a plane, seen along the normal.
    fn onto(&self, p: &Vector3<f64>, origin: &Vector3<f64>, plane: &Vector3<f64>) -> Vector3<f64> {
        let n = self.best.normal;
        p + n * (plane.dot(&(origin - p)) / plane.dot(&n))
    }

    fn onto_disk(&self, p: &Vector3<f64>, disk: &Disk) -> (Vector3<f64>, bool) {
        let q = self.onto(p, &disk.centre, &disk.axis);
        (q, (q - disk.centre).norm() <= disk.radius + self.tolerance)
    }

    fn onto_face(&self, p: &Vector3<f64>, face: &Face<'_>) -> (Vector3<f64>, bool) {
        let q = self.onto(p, &face.vertex(0), &face.normal);
        let inside = (0..face.len()).all(|k| self.inside_side(&q, face, k) >= -self.tolerance);
        (q, inside)
    }

    /// Distance of a point of the face's plane from a side, positive inside.
    fn inside_side(&self, q: &Vector3<f64>, face: &Face<'_>, k: usize) -> f64 {
        let (v0, v1) = (face.vertex(k), face.vertex(k + 1));
        face.normal.cross(&(v1 - v0)).normalize().dot(&(q - v0))
    }

    /// Parameters in 0 … 1 where the line between two points enters and leaves the disk; `None` when it misses.
    fn clip_by_disk(&self, p0: &Vector3<f64>, p1: &Vector3<f64>, disk: &Disk) -> Option<(f64, f64)> {
        let (q0, q1) = (self.onto(p0, &disk.centre, &disk.axis) - disk.centre, self.onto(p1, &disk.centre, &disk.axis) - disk.centre);
        let d = q1 - q0;
        let square = d.norm_squared();
        if square <= self.tolerance * self.tolerance {
            return (q0.norm() <= disk.radius + self.tolerance).then_some((0.0, 1.0));
        }
        let middle = -q0.dot(&d) / square;
        let height = (disk.radius + self.tolerance).powi(2) - (q0 + d * middle).norm_squared();
        if height < 0.0 {
            return None;
        }
        let half = (height / square).sqrt();
        let (enter, leave) = ((middle - half).max(0.0), (middle + half).min(1.0));
        (enter <= leave).then_some((enter, leave))
    }

    fn line_on_disk(&mut self, line: &Line, disk: &Disk, line_is_a: bool) {
        let [p0, p1] = line.ends;
        let Some((enter, leave)) = self.clip_by_disk(&p0, &p1, disk) else { return };
        let mut put = |t: f64, rim: u32| {
            let p = p0 + (p1 - p0) * t;
            let numbers = if t == 0.0 {
                (line.end_numbers[0], NONE)
            } else if t == 1.0 {
                (line.end_numbers[1], NONE)
            } else {
                (line.number, rim)
            };
            let q = self.onto(&p, &disk.centre, &disk.axis);
            self.touch_ordered(line_is_a, numbers, &p, &q);
        };
        put(enter, RIM_IN + disk.rim);
        if leave - enter > SHORT {
            put(leave, RIM_OUT + disk.rim);
        }
    }

    fn line_on_face(&mut self, line: &Line, face: &Face<'_>, line_is_a: bool) {
        let [p0, p1] = line.ends;
        let (q0, q1) = (self.onto(&p0, &face.vertex(0), &face.normal), self.onto(&p1, &face.vertex(0), &face.normal));
        let (mut enter, mut leave) = ((0.0, line.end_numbers[0], NONE), (1.0, line.end_numbers[1], NONE));
        for k in 0..face.len() {
            let (d0, d1) = (self.inside_side(&q0, face, k), self.inside_side(&q1, face, k));
            let outside = (d0 < -self.tolerance, d1 < -self.tolerance);
            let t = d0 / (d0 - d1);
            match outside {
                (true, true) => return,
                (true, false) if t > enter.0 => enter = (t.min(1.0), line.number, face.side_number(k)),
                (false, true) if t < leave.0 => leave = (t.max(0.0), line.number, face.side_number(k)),
                _ => {}
            }
        }
        if enter.0 > leave.0 + SHORT {
            return;
        }
        let mut put = |(t, number, side): (f64, u32, u32)| {
            let (p, q) = (p0 + (p1 - p0) * t, q0 + (q1 - q0) * t);
            self.touch_ordered(line_is_a, (number, side), &p, &q);
        };
        put(enter);
        if leave.0 - enter.0 > SHORT {
            put(leave);
        }
    }

    fn disk_on_face(&mut self, disk: &Disk, face: &Face<'_>, disk_is_a: bool) {
        for (q, p) in disk.rim_points(&face.normal).into_iter().enumerate() {
            let (below, inside) = self.onto_face(&p, face);
            if inside {
                self.touch_ordered(disk_is_a, (4 * disk.rim + q as u32, NONE), &p, &below);
            }
        }
        for k in 0..face.len() {
            let (v0, v1) = (face.vertex(k), face.vertex(k + 1));
            let (above, inside) = self.onto_disk(&v0, disk);
            if inside {
                self.touch_ordered(disk_is_a, (NONE, face.vertex_number(k)), &above, &v0);
            }
            if let Some((enter, leave)) = self.clip_by_disk(&v0, &v1, disk) {
                for (t, rim) in [(enter, RIM_IN), (leave, RIM_OUT)] {
                    if t > 0.0 && t < 1.0 {
                        let v = v0 + (v1 - v0) * t;
                        let p = self.onto(&v, &disk.centre, &disk.axis);
                        self.touch_ordered(disk_is_a, (rim + disk.rim, face.side_number(k)), &p, &v);
                    }
                }
            }
        }
        self.merge();
    }

    fn disk_on_disk(&mut self, da: &Disk, db: &Disk) {
        let rim_a = da.rim_points(&db.axis).map(|p| (p, self.onto_disk(&p, db)));
        let rim_b = db.rim_points(&da.axis).map(|p| (p, self.onto_disk(&p, da)));
        let (all_a, all_b) = (rim_a.iter().all(|(_, (_, inside))| *inside), rim_b.iter().all(|(_, (_, inside))| *inside));
        if all_a || !all_b {
            for (k, (p, (below, inside))) in rim_a.into_iter().enumerate() {
                if inside {
                    self.touch((4 * da.rim + k as u32, NONE), &p, &below);
                }
            }
        }
        if all_a {
            return;
        }
        for (k, (p, (above, inside))) in rim_b.into_iter().enumerate() {
            if inside {
                self.touch((NONE, 4 * db.rim + k as u32), &above, &p);
            }
        }
        if all_b || da.axis.cross(&db.axis).norm() > FLAT {
            return;
        }
        // crossings of the two circles, seen along the normal
        let n = self.best.normal;
        let d = da.centre - db.centre;
        let d = d - n * n.dot(&d);
        let distance = d.norm();
        let along = 0.5 * (distance + (db.radius - da.radius) * (db.radius + da.radius) / distance);
        let height = (db.radius - along) * (db.radius + along);
        if distance > 0.0 && height > 0.0 {
            let (x, y) = (d / distance, n.cross(&d) / distance * height.sqrt());
            for (side, rim) in [(y, RIM_IN), (-y, RIM_OUT)] {
                let p = db.centre + x * along + side;
                let (on_a, on_b) = (self.onto(&p, &da.centre, &da.axis), self.onto(&p, &db.centre, &db.axis));
                self.touch((rim + da.rim, rim + db.rim), &on_a, &on_b);
            }
        }
        self.merge();
    }

    /// Drops points that lie on an earlier one.
    fn merge(&mut self) {
        let near = 2.0 * self.tolerance.sqrt() * self.pair.size().sqrt();
        let near = near.min(1e-3 * self.pair.size());
        let mut kept = self.first;
        for k in self.first..self.points.len() {
            let point = self.points[k];
            if self.points[self.first..kept].iter().all(|p| (p.point - point.point).norm() > near) {
                self.points[kept] = point;
                kept += 1;
            }
        }
        self.points.truncate(kept);
    }

    /// No face is square to the normal.
    fn touch_lines_or_point(&mut self, a: &Core<'a>, b: &Core<'a>) {
        let n = self.best.normal;
        if let (Some(la), Some(lb)) = (Feature::level_line(a, &-n, PARALLEL), Feature::level_line(b, &n, PARALLEL)) {
            let (sa, sb) = (segment(&la), segment(&lb));
            if sa.half.cross(&sb.half).norm() <= PARALLEL * sa.half.norm() * sb.half.norm() {
                let (s0, s1) = (sa.nearest(&lb.ends[0]), sa.nearest(&lb.ends[1]));
                let (low, high) = (s0.min(s1), s0.max(s1));
                if high - low > SHORT {
                    for (s, end) in [(low, 1), (high, 2)] {
                        let p = sa.at(s);
                        let q = sb.at(sb.nearest(&(p - n * self.best.separation)));
                        self.touch((la.number, FACE_SIDE | end), &p, &q);
                    }
                    if !self.is_lost() {
                        return;
                    }
                }
            }
        }
        self.touch_point(a, b);
    }

    /// The one deepest point: nearest points of the lines or points that support the normal.
    fn touch_point(&mut self, a: &Core<'a>, b: &Core<'a>) {
        let n = self.best.normal;
        let (la, lb) = (Feature::level_line(a, &-n, super::ALIGNED), Feature::level_line(b, &n, super::ALIGNED));
        let (pa, pb) = (a.centre + a.support(&-n), b.centre + b.support(&n));
        let separation = self.best.separation;
        let flat = |core: &Core<'a>, u: &Vector3<f64>| Feature::flat(core, u).is_some();
        // a vertex or rim point rules over a line, a line over a face
        let on_b = match (la, lb) {
            _ if flat(a, &-n) => pb,
            _ if flat(b, &n) => pa - n * separation,
            (None, _) => pa - n * separation,
            (Some(_), None) => pb,
            (Some(la), Some(lb)) => {
                let shift = n * separation;
                let (sa, sb) = (segment(&la), segment(&lb));
                let lowered = Segment { middle: sa.middle - shift, ..sa };
                let (s, t) = lowered.nearest_pair(&sb);
                0.5 * (lowered.at(s) + sb.at(t))
            }
        };
        self.touch((SIDE, SIDE), &(on_b + n * separation), &on_b);
    }
}

fn segment(line: &Line) -> Segment {
    let [p0, p1] = line.ends;
    Segment { middle: 0.5 * (p0 + p1), half: 0.5 * (p1 - p0) }
}
