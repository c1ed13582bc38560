//! Piles: columns of spheres or boxes that fall into a square container.
//!
//! N bodies stand in n² columns, body i in column i mod n², with 5 mm between a body and the one below it or the floor. Column c has its
//! centre at  x = pitch (c mod n − (n − 1)/2),  y = pitch (⌊c/n⌋ − (n − 1)/2).

use super::random::RandomState;
use super::{Scene, SceneBody, Wall};
use carom_collision::Shape;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};

/// Gap below each body \[m\].
const GAP: f64 = 0.005;
/// Half thickness of floor and walls \[m\].
const HALF_THICKNESS: f64 = 0.25;
/// The walls are higher than the columns by this \[m\].
const FREEBOARD: f64 = 1.0;

impl Scene {
    /// N spheres of radii 0.05 … 0.0999 m, of density 1000 kg/m³, in about N/40 columns of pitch 0.2 m, each sphere a little off the axis of
    /// its column; μ = 0.5, e = 0, 3 s in steps of 5 ms. The numbers are those of numpy's `RandomState(1)`: N radii, then N pairs (x, y).
    #[must_use]
    pub fn spheres(n_bodies: usize) -> Scene {
        let mut random = RandomState::new(1);
        let radii: Vec<f64> = (0..n_bodies).map(|_| random.uniform(0.05, 0.0999)).collect();
        let mut columns = Columns::new(n_bodies, 40.0, 0.2);
        let mut place = |radius: f64| {
            let offset = [(); 2].map(|()| random.uniform(-1.0, 1.0) * (0.0999 - radius));
            let position = columns.put(radius) + Vector3::new(offset[0], offset[1], 0.0);
            SceneBody { shape: Shape::Sphere { radius }, position, orientation: UnitQuaternion::identity(), density: 1000.0 }
        };
        let bodies = radii.into_iter().map(&mut place).collect();
        columns.scene(bodies)
    }

    /// N boxes of half edges 0.04 … 0.07 m, of density 1000 kg/m³, turned at random, in about N/31.25 columns of pitch 0.25 m; μ = 0.5, e = 0,
    /// 3 s in steps of 5 ms. The numbers are those of numpy's `RandomState(2)`: N × 3 half edges, then N × 4 normal numbers, normalised to
    /// quaternions (w, i, j, k).
    #[must_use]
    pub fn boxes(n_bodies: usize) -> Scene {
        let mut random = RandomState::new(2);
        let edges: Vec<Vector3<f64>> = (0..n_bodies).map(|_| Vector3::from([(); 3].map(|()| random.uniform(0.04, 0.07)))).collect();
        let mut columns = Columns::new(n_bodies, 31.25, 0.25);
        let mut place = |half_extents: Vector3<f64>| {
            let [w, i, j, k] = [(); 4].map(|()| random.normal());
            let orientation = UnitQuaternion::from_quaternion(Quaternion::new(w, i, j, k));
            // half height of the turned box: Σ |R_zj| h_j
            let turned = orientation.to_rotation_matrix();
            let half_height = turned.matrix().row(2).abs().dot(&half_extents.transpose());
            let position = columns.put(half_height);
            SceneBody { shape: Shape::Box { half_extents }, position, orientation, density: 1000.0 }
        };
        let bodies = edges.into_iter().map(&mut place).collect();
        columns.scene(bodies)
    }
}

/// Columns that grow upwards.
struct Columns {
    per_side: usize,
    pitch: f64,
    tops: Vec<f64>,
    placed: usize,
}

impl Columns {
    fn new(n_bodies: usize, per_column: f64, pitch: f64) -> Self {
        let per_side = (n_bodies as f64 / per_column).sqrt().round_ties_even().max(1.0) as usize;
        Self { per_side, pitch, tops: vec![0.0; per_side * per_side], placed: 0 }
    }

    /// Puts the next body of this half height on its column: the place of its centre.
    fn put(&mut self, half_height: f64) -> Vector3<f64> {
        let column = self.placed % self.tops.len();
        self.placed += 1;
        let across = |k: usize| self.pitch * (k as f64 - 0.5 * (self.per_side - 1) as f64);
        let (x, y) = (across(column % self.per_side), across(column / self.per_side));
        let z = self.tops[column] + GAP + half_height;
        self.tops[column] = z + half_height;
        Vector3::new(x, y, z)
    }

    /// The scene with floor and walls about the columns.
    fn scene(self, bodies: Vec<SceneBody>) -> Scene {
        let side = self.pitch * self.per_side as f64;
        let half_height = 0.5 * (self.tops.iter().fold(0.0_f64, |highest, &top| highest.max(top)) + FREEBOARD);
        let (reach, beyond) = (0.5 * side + 2.0 * HALF_THICKNESS, 0.5 * side + HALF_THICKNESS);
        let wall = |name, x: f64, y: f64| Wall {
            name,
            centre: Vector3::new(x * beyond, y * beyond, half_height),
            half_extents: Vector3::new(
                if x == 0.0 { reach } else { HALF_THICKNESS },
                if y == 0.0 { reach } else { HALF_THICKNESS },
                half_height,
            ),
        };
        let floor = Wall {
            name: "floor",
            centre: Vector3::new(0.0, 0.0, -HALF_THICKNESS),
            half_extents: Vector3::new(reach, reach, HALF_THICKNESS),
        };
        let sides = [("west", -1.0, 0.0), ("east", 1.0, 0.0), ("south", 0.0, -1.0), ("north", 0.0, 1.0)];
        Scene {
            bodies,
            walls: std::iter::once(floor).chain(sides.map(|(name, x, y)| wall(name, x, y))).collect(),
            side,
            gravity: Vector3::new(0.0, 0.0, -9.81),
            friction: 0.5,
            end: 3.0,
            step: 0.005,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use carom_dynamics::detection::ContactDetector;
    use carom_dynamics::systems::Instant;

    /// The last body is where a numpy script puts it; sums of 40 heights leave some roundings.
    #[test]
    fn the_last_bodies_are_those_of_numpy() {
        let spheres = Scene::spheres(1000);
        let last = &spheres.bodies[999];
        assert_eq!(last.shape, Shape::Sphere { radius: 0.08864641557415248 });
        assert!(
            (last.position - Vector3::new(0.3925383552226213, 0.4006546707571411, 6.0825878650968885)).amax() < 1e-13,
            "{}",
            last.position
        );
        assert!((spheres.side - 1.0).abs() < 1e-15);
        let boxes = Scene::boxes(500);
        let last = &boxes.bodies[499];
        assert!((last.position - Vector3::new(0.375, -0.375, 5.157676499656124)).amax() < 1e-13, "{}", last.position);
        assert!((last.orientation.w - -0.5310985285765419).abs() < 1e-15 && (last.orientation.k - 0.6236926770309451).abs() < 1e-15);
        assert!((boxes.side - 1.0).abs() < 1e-15);
    }

    /// Sizes of the containers; nothing touches at the start, and each column's lowest body is 5 mm above the floor.
    #[test]
    fn nothing_touches_at_the_start() {
        for (scene, side) in [(Scene::spheres(160), 0.4), (Scene::boxes(125), 0.5)] {
            assert!((scene.side - side).abs() < 1e-15);
            let (_, state) = scene.model().unwrap();
            let mut detector = scene.detector().unwrap();
            let mut contacts = Vec::new();
            detector.set_skin(0.2);
            detector.detect(Instant { t: 0.0, q: &state.q, v: &state.v }, 0.0, &mut contacts).unwrap();
            assert!(contacts.iter().all(|contact| contact.gap > 0.0));
            let floor = scene.bodies.len() as u32;
            let lowest: Vec<f64> = contacts.iter().filter(|c| c.key.collider_b == floor).map(|c| c.gap).collect();
            assert!(lowest.len() >= 4 && lowest.iter().all(|gap| *gap > 0.005 - 1e-12), "{lowest:?}");
            assert!(lowest.iter().filter(|gap| (*gap - 0.005).abs() < 1e-12).count() == 4, "{lowest:?}");
        }
    }

    /// A single body has a container of its own.
    #[test]
    fn one_body_has_one_column() {
        let scene = Scene::spheres(1);
        assert_eq!((scene.bodies.len(), scene.walls.len()), (1, 5));
        assert!(Scene::spheres(0).bodies.is_empty());
    }
}
