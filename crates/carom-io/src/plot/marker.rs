//! Marks at the points of curves with few points.

use super::scene::{Colour, Shape};

/// Half the size of a mark \[pixels\].
const RADIUS: f32 = 4.0;

/// Corners of the marks of a unit circle's size: disc, square, triangle, diamond, triangle downwards. Five, not a divisor of the number of
/// colours, so that colour and mark together tell 35 curves apart.
fn corners(kind: usize) -> Vec<[f32; 2]> {
    let turned = |n: usize, first: f32, radius: f32| {
        let angle = move |k: usize| first + std::f32::consts::TAU * k as f32 / n as f32;
        (0..n).map(|k| [radius * angle(k).cos(), radius * angle(k).sin()]).collect()
    };
    let quarter = std::f32::consts::FRAC_PI_2;
    match kind % 5 {
        0 => turned(16, 0.0, 1.0),
        1 => turned(4, 0.5 * quarter, 1.25),
        2 => turned(3, -quarter, 1.35),
        3 => turned(4, 0.0, 1.3),
        _ => turned(3, quarter, 1.35),
    }
}

/// The mark of the `kind`-th curve at a place.
pub(super) fn marker(kind: usize, [x, y]: [f32; 2], colour: Colour) -> Shape {
    let points = corners(kind).into_iter().map(|[dx, dy]| [x + RADIUS * dx, y + RADIUS * dy]).collect();
    Shape::Polygon { points, colour }
}
