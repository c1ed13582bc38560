//! Capsule against capsule: nearest points of the cores; two points along the overlap when they are nearly parallel.

use super::capsule_sphere::across;
use super::segment::Segment;
use super::sphere_sphere::touch_balls;
use super::{Overlap, PairPoint};

/// Sine of the angle below which two capsules touch along a line rather than at a point.
const PARALLEL: f64 = 1e-3;
/// Overlaps shorter than this fraction of the core make one point.
const SHORT: f64 = 1e-9;

/// A crossing between the ends of the overlap is reported when it is nearer than these by this fraction of the radii.
const NEARER: f64 = 1e-14;

/// Appends one contact point (feature 0), or the two ends of the overlap (features 1 and 2, by A's axis), with the
/// nearest point (feature 0) if it lies between them and is nearer than both.
pub(super) fn collide(
    (core_a, radius_a): (&Segment, f64),
    (core_b, radius_b): (&Segment, f64),
    margin: f64,
    points: &mut Vec<PairPoint>,
) -> Overlap {
    let mut degenerate = false;
    let mut touch = |feature: u32, s: f64, t: f64, margin: f64| {
        let (p, q) = (core_a.at(s), core_b.at(t));
        let first = points.len();
        touch_balls(feature, (&p, radius_a), (&q, radius_b), margin, points);
        if p == q
            && let Some(point) = points.get_mut(first)
        {
            degenerate = true;
            // Crossing cores: separate along the common normal, or any direction across if there is none.
            let common = core_a.half.cross(&core_b.half);
            let length = common.norm();
            point.normal = if length > 0.0 { common / length } else { across(&core_a.half) };
            point.point = q + point.normal * (radius_b + 0.5 * point.gap);
        }
        (p - q).norm() - (radius_a + radius_b)
    };
    let mut within = margin;
    let lengths = core_a.half.norm() * core_b.half.norm();
    if core_a.half.cross(&core_b.half).norm() <= PARALLEL * lengths {
        // B's ends on A's line, clamped to A.
        let (first, second) = (core_a.nearest(&core_b.at(-1.0)), core_a.nearest(&core_b.at(1.0)));
        let (low, high) = (first.min(second), first.max(second));
        if high - low > SHORT {
            let gap_low = touch(1, low, core_b.nearest(&core_a.at(low)), margin);
            let gap_high = touch(2, high, core_b.nearest(&core_a.at(high)), margin);
            within = margin.min(gap_low.min(gap_high) - NEARER * (radius_a + radius_b));
        }
    }
    let (s, t) = core_a.nearest_pair(core_b);
    touch(0, s, t, within);
    Overlap::degenerate_if(degenerate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    fn run(a: Segment, b: Segment) -> Vec<PairPoint> {
        let mut points = Vec::new();
        collide((&a, 0.5), (&b, 0.25), 10.0, &mut points);
        points
    }

    #[test]
    fn crossed_parallel_and_collinear() {
        let a = Segment { middle: Vector3::new(0.0, 0.0, 1.0), half: Vector3::x() };
        let crossed = run(a, Segment { middle: Vector3::new(0.5, 0.25, 0.0), half: Vector3::y() });
        assert_eq!(crossed.len(), 1);
        assert_eq!((crossed[0].gap, crossed[0].normal), (0.25, Vector3::z()));
        assert_eq!(crossed[0].point, Vector3::new(0.5, 0.0, 0.375));
        let parallel = run(a, Segment { middle: Vector3::new(0.5, 0.0, 0.0), half: -Vector3::x() });
        assert_eq!(parallel.iter().map(|p| (p.feature, p.gap, p.point.x)).collect::<Vec<_>>(), [(1, 0.25, -0.5), (2, 0.25, 1.0)]);
        let collinear = run(a, Segment { middle: Vector3::new(3.0, 0.0, 1.0), half: Vector3::x() });
        assert_eq!(collinear.len(), 1);
        assert_eq!((collinear[0].gap, collinear[0].normal), (0.25, -Vector3::x()));
        let through = run(a, Segment { middle: a.middle, half: Vector3::y() });
        assert_eq!((through[0].gap, through[0].normal), (-0.75, Vector3::z()));
    }
}
