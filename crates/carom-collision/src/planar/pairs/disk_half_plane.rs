//! Disk against half-plane: gap = n·(c − o) − r.

use super::{PlanarPoint, WorldDisk};
use nalgebra::Vector2;

/// Appends the one contact point; the half-plane is given by a point of its line and its outward unit normal.
pub(super) fn collide(disk: &WorldDisk, (origin, normal): (Vector2<f64>, Vector2<f64>), margin: f64, points: &mut Vec<PlanarPoint>) {
    let height = normal.dot(&(disk.centre - origin));
    let gap = height - disk.radius;
    if gap <= margin {
        points.push(PlanarPoint { feature: 0, point: disk.centre - normal * (disk.radius + 0.5 * gap), normal, gap });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hand_values() {
        let (disk, mut points) = (WorldDisk { centre: Vector2::new(5.0, 2.0), radius: 0.5 }, Vec::new());
        collide(&disk, (Vector2::new(-1.0, 1.0), Vector2::y()), 0.6, &mut points);
        assert_eq!(points, [PlanarPoint { feature: 0, point: Vector2::new(5.0, 1.25), normal: Vector2::y(), gap: 0.5 }]);
        collide(&disk, (Vector2::new(-1.0, 1.0), Vector2::y()), 0.4, &mut points);
        assert_eq!(points.len(), 1);
    }
}
