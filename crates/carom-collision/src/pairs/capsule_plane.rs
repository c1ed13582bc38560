//! Capsule against plane: its two round ends, numbered 0 (−z) and 1 (+z).

use super::segment::Segment;
use super::sphere_plane::touch_ball;
use super::{PairPoint, WorldPlane};

/// Appends the ends within the margin.
pub(super) fn collide(core: &Segment, radius: f64, plane: &WorldPlane, margin: f64, points: &mut Vec<PairPoint>) {
    touch_ball(0, &core.at(-1.0), radius, plane, margin, points);
    touch_ball(1, &core.at(1.0), radius, plane, margin, points);
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    #[test]
    fn lying_and_leaning() {
        let plane = WorldPlane { origin: Vector3::zeros(), normal: Vector3::z() };
        let mut points = Vec::new();
        let lying = Segment { middle: Vector3::new(0.0, 0.0, 0.75), half: Vector3::x() };
        collide(&lying, 0.5, &plane, 0.5, &mut points);
        assert_eq!(points.iter().map(|p| (p.feature, p.gap)).collect::<Vec<_>>(), [(0, 0.25), (1, 0.25)]);
        assert_eq!(points[0].point, Vector3::new(-1.0, 0.0, 0.125));
        points.clear();
        let leaning = Segment { half: Vector3::new(0.8, 0.0, 0.6), ..lying };
        collide(&leaning, 0.5, &plane, 0.5, &mut points);
        assert_eq!(points.len(), 1);
        // 0.75 − 0.6 − 0.5, a few roundings.
        assert!((points[0].gap + 0.35).abs() < 1e-15 && points[0].feature == 0);
    }
}
