//! Capsule against sphere: two balls, one about the nearest point of the core.

use super::segment::Segment;
use super::sphere_sphere::touch_balls;
use super::{Overlap, PairPoint};
use nalgebra::Vector3;

/// Appends the one contact point.
pub(super) fn collide(
    (core, radius): (&Segment, f64),
    (centre, ball): (&Vector3<f64>, f64),
    margin: f64,
    points: &mut Vec<PairPoint>,
) -> Overlap {
    let nearest = core.at(core.nearest(centre));
    let first = points.len();
    touch_balls(0, (&nearest, radius), (centre, ball), margin, points);
    // A centre on the core: any direction across the axis separates them.
    if nearest == *centre
        && let Some(point) = points.get_mut(first)
    {
        point.normal = across(&core.half);
        point.point = centre + point.normal * (ball + 0.5 * point.gap);
    }
    Overlap::degenerate_if(nearest == *centre)
}

/// A definite unit vector orthogonal to a direction.
pub(super) fn across(direction: &Vector3<f64>) -> Vector3<f64> {
    let mut least = Vector3::zeros();
    least[direction.iamin()] = 1.0;
    direction.cross(&least).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn side_end_and_axis() {
        let core = Segment { middle: Vector3::new(0.0, 0.0, 1.0), half: Vector3::new(0.0, 0.0, 2.0) };
        let one = |centre: [f64; 3]| {
            let mut points = Vec::new();
            collide((&core, 0.5), (&Vector3::from(centre), 0.25), 10.0, &mut points);
            points[0]
        };
        let side = one([1.0, 0.0, 2.5]);
        assert_eq!((side.gap, side.normal), (0.25, -Vector3::x()));
        assert_eq!(side.point, Vector3::new(0.625, 0.0, 2.5));
        // The end at z = 3 and the ball at (3, 0, 7): distance 5.
        let end = one([3.0, 0.0, 7.0]);
        assert!((end.gap - 4.25).abs() < 1e-15);
        assert!((end.normal - Vector3::new(-0.6, 0.0, -0.8)).norm() < 1e-15);
        let inside = one([0.0, 0.0, 0.5]);
        assert_eq!(inside.gap, -0.75);
        assert_eq!((inside.normal.z, inside.normal.norm()), (0.0, 1.0));
    }
}
