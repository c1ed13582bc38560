//! Overlaps of bodies, by the same code for all engines, from where the bodies are.

use carom::collision::Shape;
use carom::dynamics::State;
use carom::dynamics::detection::ContactDetector;
use carom::dynamics::systems::Instant;
use carom::scenes::Scene;
use nalgebra::Vector3;
use std::error::Error;

/// How well a state keeps bodies out of each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Accuracy {
    /// Pairs that overlap, body with body and body with floor or wall.
    pub overlaps: usize,
    /// Mean depth of these pairs \[m\].
    pub mean: f64,
    /// Largest depth \[m\].
    pub max: f64,
    /// Bodies whose centre is beyond the floor or a wall; their overlaps with those do not count.
    pub lost: usize,
}

impl Accuracy {
    fn of_depths(depths: &[f64], lost: usize) -> Self {
        let overlaps = depths.len();
        let mean = depths.iter().sum::<f64>() / overlaps.max(1) as f64;
        Accuracy { overlaps, mean, max: depths.iter().fold(0.0, |max: f64, depth| max.max(*depth)), lost }
    }
}

/// Depths of all pairs that overlap: of spheres by distances of centres and of planes, otherwise by carom's contact detection.
pub fn measure(scene: &Scene, state: &State) -> Result<Accuracy, Box<dyn Error>> {
    let centres: Vec<Vector3<f64>> = state.q.chunks_exact(7).map(|q| Vector3::new(q[0], q[1], q[2])).collect();
    let inside = |x: &Vector3<f64>| distances(scene, x).iter().all(|distance| *distance >= 0.0);
    let lost = centres.iter().filter(|centre| !inside(centre)).count();
    let radius = |shape: &Shape| if let Shape::Sphere { radius } = shape { Some(*radius) } else { None };
    let radii: Option<Vec<f64>> = scene.bodies.iter().map(|body| radius(&body.shape)).collect();
    let depths = match radii {
        Some(radii) => of_spheres(scene, &centres, &radii),
        None => of_shapes(scene, state)?,
    };
    Ok(Accuracy::of_depths(&depths, lost))
}

/// Distances of a point from the floor and the four walls, positive within the container.
fn distances(scene: &Scene, x: &Vector3<f64>) -> [f64; 5] {
    let half = 0.5 * scene.side;
    [x.z, half - x.x, half + x.x, half - x.y, half + x.y]
}

/// Spheres: |c_i − c_j| − r_i − r_j, and distances of planes; a sweep along x finds the pairs.
fn of_spheres(scene: &Scene, centres: &[Vector3<f64>], radii: &[f64]) -> Vec<f64> {
    let mut depths = Vec::new();
    let largest = radii.iter().fold(0.0_f64, |max, radius| max.max(*radius));
    let mut order: Vec<usize> = (0..centres.len()).collect();
    order.sort_by(|&i, &j| centres[i].x.total_cmp(&centres[j].x));
    for (place, &i) in order.iter().enumerate() {
        for &j in &order[place + 1..] {
            if centres[j].x - centres[i].x > radii[i] + largest {
                break;
            }
            depths.push(radii[i] + radii[j] - (centres[j] - centres[i]).norm());
        }
        depths.retain(|depth| *depth > 0.0);
    }
    for (centre, radius) in centres.iter().zip(radii) {
        let distances = distances(scene, centre);
        depths.extend(distances.iter().filter(|distance| **distance >= 0.0 && *distance < radius).map(|distance| radius - distance));
    }
    depths
}

/// The deepest point of each pair that carom's contact detection finds.
fn of_shapes(scene: &Scene, state: &State) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut contacts = Vec::new();
    let at_rest = vec![0.0; state.v.len()];
    scene.detector()?.detect(Instant { t: state.t, q: &state.q, v: &at_rest }, 0.0, &mut contacts)?;
    let pairs = contacts.chunk_by(|a, b| (a.key.collider_a, a.key.collider_b) == (b.key.collider_a, b.key.collider_b));
    Ok(pairs.map(|pair| pair.iter().fold(0.0, |depth: f64, contact| depth.max(-contact.gap))).filter(|depth| *depth > 0.0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two spheres pushed into each other and into the floor by known depths, by both methods.
    #[test]
    fn depths_are_exact() {
        let scene = Scene::spheres(2);
        let radius = |i: usize| if let Shape::Sphere { radius } = scene.bodies[i].shape { radius } else { 0.0 };
        let (_, mut state) = scene.model().unwrap();
        state.q[..3].copy_from_slice(&[0.0, 0.0, radius(0) - 1e-4]);
        state.q[7..10].copy_from_slice(&[0.0, 0.0, 2.0 * radius(0) + radius(1) - 4e-4]);
        let found = measure(&scene, &state).unwrap();
        // the container is 0.2 m wide: no sphere reaches a wall
        assert_eq!((found.overlaps, found.lost), (2, 0));
        assert!((found.max - 3e-4).abs() < 1e-15 && (found.mean - 2e-4).abs() < 1e-15, "{found:?}");
        let shapes = of_shapes(&scene, &state).unwrap();
        let again = Accuracy::of_depths(&shapes, 0);
        assert!((again.max - found.max).abs() < 1e-15 && (again.mean - found.mean).abs() < 1e-15, "{again:?}");
        state.q[2] = -0.5;
        assert_eq!(measure(&scene, &state).unwrap().lost, 1);
    }
}
