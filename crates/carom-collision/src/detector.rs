//! The contact detector: moves the colliders with their bodies, finds near pairs, computes their contact points.

use crate::backend::manifold::Manifolds;
use crate::backend::tree::{Bounds, Tree, overlap};
use crate::collider::{Collider, CollisionError};
use crate::materials::{Material, PairLaws, combine};
use crate::pairs::{Geometry, PairPoint, collide};
use crate::pose::Pose;
use crate::shapes::Shape;
use carom_dynamics::detection::{ContactDetector, ContactKey, ContactPoint, WORLD};
use carom_dynamics::laws::{ContactLaw, DirectionFrame, Friction};
use nalgebra::{Quaternion, UnitQuaternion, Vector3};

/// Contacts are also reported within this fraction of the smaller bounding radius, whatever the speeds.
const SKIN_FRACTION: f64 = 1e-6;
/// How far a collider's quaternion may be from unit length.
const UNIT_TOLERANCE: f64 = 1e-6;

/// Contact detection over a fixed list of colliders.
///
/// A point is reported when its gap is at most  h (|v_A − v_B| + |ω_A| R_A + |ω_B| R_B) + skin,  with h the horizon, R
/// the reach of a collider from its body's origin and skin = 1e-6 of the pair's smaller bounding radius; with cohesion, its largest reach is
/// added. The answer
/// depends on the arguments of [`ContactDetector::detect`] only, never on earlier calls.
///
/// Cost: O(n log n) in colliders, plus (planes × moving colliders), plus the near pairs. Memory is reused from call to
/// call; only the convex pairs that go through parry may allocate.
#[derive(Clone)]
pub struct Detector {
    colliders: Vec<Collider>,
    geometries: Vec<Geometry>,
    materials: Vec<Material>,
    pair_laws: PairLaws,
    /// Colliders other than planes, in order; the leaves of the tree are numbered as here.
    solids: Vec<u32>,
    planes: Vec<u32>,
    tree: Tree,
    /// Per collider, as of the present call.
    placed: Vec<Placed>,
    near_pairs: Vec<(u32, u32)>,
    points: Vec<PairPoint>,
    manifolds: Manifolds,
    /// Largest gap at which some pair still pulls \[m\]; 0 without cohesion.
    pull_reach: f64,
}

/// Where a collider is, and how fast it may approach others.
#[derive(Clone, Copy)]
struct Placed {
    /// Whether pose and speeds are finite.
    valid: bool,
    pose: Pose,
    /// Grown by what the collider may move within the horizon, and by half its skin.
    bounds: Bounds,
    /// Velocity of the body's origin \[m/s\].
    velocity: Vector3<f64>,
    /// Bound of the speed relative to the body's origin \[m/s\]: |ω| R.
    spin_speed: f64,
    /// Bounding radius about the shape's origin \[m\].
    radius: f64,
    /// Reach from the body's origin \[m\].
    reach: f64,
}

impl Detector {
    /// A detector for these colliders; `materials` are referred to by index, `pair_laws` override their combination.
    ///
    /// # Errors
    /// The first collider, material or pair law that is not usable.
    pub fn new(mut colliders: Vec<Collider>, materials: Vec<Material>, pair_laws: PairLaws) -> Result<Self, CollisionError> {
        let n_materials = materials.len();
        for (index, material) in materials.iter().enumerate() {
            material.validate().map_err(|source| CollisionError::Material { index, source })?;
        }
        if let Some(material) = pair_laws.largest_index().filter(|&m| m as usize >= n_materials) {
            return Err(CollisionError::UnknownPairMaterial { material, n_materials });
        }
        if colliders.len() >= WORLD as usize || colliders.iter().any(|c| c.body == Some(WORLD)) {
            return Err(CollisionError::TooMany { n_colliders: colliders.len() });
        }
        let mut geometries = Vec::with_capacity(colliders.len());
        for collider in &mut colliders {
            geometries.push(prepare(collider, n_materials)?);
        }
        let is_plane = |i: &u32| matches!(colliders[*i as usize].shape, Shape::Plane { .. });
        let (planes, solids) = (0..colliders.len() as u32).partition(is_plane);
        let placed = colliders.iter().map(Placed::at_rest).collect();
        let mut detector = Self {
            colliders,
            geometries,
            materials,
            pair_laws,
            solids,
            planes,
            tree: Tree::default(),
            placed,
            near_pairs: Vec::new(),
            points: Vec::new(),
            manifolds: Manifolds::default(),
            pull_reach: 0.0,
        };
        detector.pull_reach = detector.laws().iter().map(|law| law.cohesion.reach()).fold(0.0, f64::max);
        detector.rebuild();
        Ok(detector)
    }

    /// The colliders, in the order of their indices.
    #[must_use]
    pub fn colliders(&self) -> &[Collider] {
        &self.colliders
    }

    /// Builds the bounding volume tree anew from the last known places.
    ///
    /// Never needed for correctness: [`ContactDetector::detect`] keeps the tree up to date step by step. It may pay
    /// after all bodies were moved far at once. O(n log n).
    pub fn rebuild(&mut self) {
        let placed = &self.placed;
        self.tree = Tree::build(self.solids.iter().map(|&i| placed[i as usize].bounds));
    }

    /// Law of the contact between two colliders.
    fn law(&self, a: u32, b: u32) -> ContactLaw {
        let material = |i: u32| self.colliders[i as usize].material;
        self.law_of_materials(material(a), material(b))
    }

    /// Law of the contact between two materials.
    fn law_of_materials(&self, a: u32, b: u32) -> ContactLaw {
        self.pair_laws.law(a, b).unwrap_or_else(|| combine(&self.materials[a as usize], &self.materials[b as usize]))
    }

    /// Principal direction of elliptic friction between two colliders in the world frame; zero for other laws.
    fn direction(&self, law: &ContactLaw, a: u32, b: u32) -> Vector3<f64> {
        let Friction::Elliptic { direction, frame, .. } = law.friction else { return Vector3::zeros() };
        let material = |i: u32| self.colliders[i as usize].material;
        let (first, second) = if material(a) <= material(b) { (a, b) } else { (b, a) };
        let direction = Vector3::from(direction);
        match frame {
            DirectionFrame::World => direction,
            DirectionFrame::First => self.placed[first as usize].pose.rotation * direction,
            DirectionFrame::Second => self.placed[second as usize].pose.rotation * direction,
        }
    }

    /// (q, v, horizon) ⇒ poses, bounds and speeds of the colliders of moving bodies; leaves of the tree.
    fn place(&mut self, q: &[f64], v: &[f64], horizon: f64) {
        for (leaf, &i) in self.solids.iter().enumerate() {
            let collider = &self.colliders[i as usize];
            let Some(body) = collider.body else { continue };
            let placed = &mut self.placed[i as usize];
            placed.follow(collider, body as usize, q, v, (horizon, self.pull_reach));
            if placed.valid {
                self.tree.move_leaf(leaf as u32, &placed.bounds);
            }
        }
        self.tree.refit();
    }

    /// Pairs that may touch, each as (A, B) with A moving, sorted.
    fn find_near_pairs(&mut self, horizon: f64) {
        let (colliders, placed, solids, pull_reach) = (&self.colliders, &self.placed, &self.solids, self.pull_reach);
        let near = &mut self.near_pairs;
        near.clear();
        self.tree.for_each_pair(|first, second| {
            let (first, second) = (first.min(second), first.max(second));
            let (i, j) = (solids[first as usize], solids[second as usize]);
            let (a, b) = (&placed[i as usize], &placed[j as usize]);
            if let Some(pair) = admit(colliders, i, j)
                && a.valid
                && b.valid
                && overlap(&a.bounds, &b.bounds)
            {
                near.push(pair);
            }
        });
        for &plane in &self.planes {
            let ground = &placed[plane as usize];
            let Shape::Plane { normal } = &colliders[plane as usize].shape else {
                continue;
            };
            let normal = ground.pose.rotation * normal;
            for &solid in solids {
                let body = &placed[solid as usize];
                let height = normal.dot(&(body.pose.position - ground.pose.position)) - body.radius;
                if body.valid
                    && height <= margin(body, ground, horizon) + pull_reach
                    && let Some(pair) = admit(colliders, solid, plane)
                {
                    near.push(pair);
                }
            }
        }
        near.sort_unstable();
    }
}

impl ContactDetector for Detector {
    fn detect(&mut self, q: &[f64], v: &[f64], horizon: f64, contacts: &mut Vec<ContactPoint>) {
        let horizon = horizon.max(0.0);
        // (q, v) => poses and grown bounds
        self.place(q, v, horizon);
        // bounds => near pairs, in the order of their keys
        self.find_near_pairs(horizon);
        // near pairs => contact points
        for k in 0..self.near_pairs.len() {
            let (a, b) = self.near_pairs[k];
            let (placed_a, placed_b) = (&self.placed[a as usize], &self.placed[b as usize]);
            let margin = margin(placed_a, placed_b, horizon) + self.pull_reach;
            self.points.clear();
            collide(
                (&self.geometries[a as usize], &placed_a.pose),
                (&self.geometries[b as usize], &placed_b.pose),
                margin,
                &mut self.manifolds,
                &mut self.points,
            );
            if self.points.is_empty() {
                continue;
            }
            let law = self.law(a, b);
            let direction = self.direction(&law, a, b);
            let body = |i: u32| self.colliders[i as usize].body.unwrap_or(WORLD);
            let (body_a, body_b) = (body(a), body(b));
            contacts.extend(self.points.iter().filter(|p| is_finite(p)).map(|p| ContactPoint {
                body_a,
                body_b,
                key: ContactKey { collider_a: a, collider_b: b, feature: p.feature },
                point: p.point,
                normal: p.normal,
                gap: p.gap,
                law,
                direction,
                plane: None,
            }));
        }
    }

    fn laws(&self) -> Vec<ContactLaw> {
        let mut used: Vec<u32> = self.colliders.iter().map(|collider| collider.material).collect();
        used.sort_unstable();
        used.dedup();
        let mut laws = Vec::new();
        for (k, &a) in used.iter().enumerate() {
            laws.extend(used[k..].iter().map(|&b| self.law_of_materials(a, b)));
        }
        laws
    }

    fn n_colliders(&self) -> u32 {
        self.colliders.len() as u32
    }

    fn collider_name(&self, collider: u32) -> &str {
        self.colliders.get(collider as usize).map_or("?", |c| &c.name)
    }

    fn boxed_clone(&self) -> Box<dyn ContactDetector> {
        Box::new(self.clone())
    }
}

impl Placed {
    /// Place of a fixed collider; of a moving one until the first call.
    fn at_rest(collider: &Collider) -> Self {
        let pose = Pose::new(collider.translation, collider.rotation);
        let radius = collider.shape.bounding_radius();
        let half_skin = Vector3::repeat(0.5 * SKIN_FRACTION * radius);
        let (lower, upper) = collider.shape.bounds_by_matrix(&pose.position, &pose.rotation);
        Self {
            valid: collider.body.is_none(),
            pose,
            bounds: (lower - half_skin, upper + half_skin),
            velocity: Vector3::zeros(),
            spin_speed: 0.0,
            radius,
            reach: collider.translation.norm() + radius,
        }
    }

    /// Moves with the body; becomes invalid, and keeps the old bounds, when anything is not finite or missing.
    fn follow(&mut self, collider: &Collider, body: usize, q: &[f64], v: &[f64], (horizon, pull_reach): (f64, f64)) {
        self.valid = false;
        let (Some(q), Some(v)) = (q.get(7 * body..7 * body + 7), v.get(6 * body..6 * body + 6)) else {
            return;
        };
        let quaternion = Quaternion::new(q[3], q[4], q[5], q[6]);
        let Some(rotation) = UnitQuaternion::try_new(quaternion, f64::MIN_POSITIVE) else {
            return;
        };
        let position = Vector3::new(q[0], q[1], q[2]) + rotation * collider.translation;
        let pose = Pose::new(position, rotation * collider.rotation);
        let velocity = Vector3::new(v[0], v[1], v[2]);
        let spin_speed = Vector3::new(v[3], v[4], v[5]).norm() * self.reach;
        // the whole reach of the pull, since fixed colliders do not grow
        let growth = horizon * (velocity.norm() + spin_speed) + 0.5 * SKIN_FRACTION * self.radius + pull_reach;
        let (lower, upper) = collider.shape.bounds_by_matrix(&pose.position, &pose.rotation);
        let bounds = (lower.add_scalar(-growth), upper.add_scalar(growth));
        // Growth and rotation enter the bounds: one check covers all.
        if !bounds.0.iter().chain(bounds.1.iter()).all(|x| x.is_finite()) {
            return;
        }
        *self = Self { valid: true, pose, bounds, velocity, spin_speed, ..*self };
    }
}

/// Largest gap to report for a pair.
fn margin(a: &Placed, b: &Placed, horizon: f64) -> f64 {
    let approach = (a.velocity - b.velocity).norm() + a.spin_speed + b.spin_speed;
    horizon * approach + SKIN_FRACTION * a.radius.min(b.radius)
}

/// The pair with a moving collider first, or `None` when the two never meet.
fn admit(colliders: &[Collider], i: u32, j: u32) -> Option<(u32, u32)> {
    let (a, b) = (&colliders[i as usize], &colliders[j as usize]);
    if a.body == b.body || !a.groups.meets(&b.groups) {
        return None;
    }
    if a.body.is_none() { Some((j, i)) } else { Some((i, j)) }
}

fn is_finite(p: &PairPoint) -> bool {
    p.gap.is_finite() && p.point.iter().chain(p.normal.iter()).all(|x| x.is_finite())
}

/// Checks a collider, normalises its normal and pose, and derives what the narrow phase needs.
fn prepare(collider: &mut Collider, n_materials: usize) -> Result<Geometry, CollisionError> {
    let name = || collider.name.clone();
    let wrong_shape = |source| CollisionError::Shape { collider: name(), source };
    let mut geometry = Geometry::new(&collider.shape).map_err(wrong_shape)?;
    if let (Shape::Plane { .. }, Some(body)) = (&collider.shape, collider.body) {
        return Err(CollisionError::MovingPlane { collider: name(), body });
    }
    let length = collider.rotation.norm();
    let finite = collider.translation.iter().all(|x| x.is_finite());
    if !(finite && (length - 1.0).abs() <= UNIT_TOLERANCE) {
        return Err(CollisionError::Pose { collider: name() });
    }
    if collider.material as usize >= n_materials {
        return Err(CollisionError::UnknownMaterial { collider: name(), material: collider.material, n_materials });
    }
    collider.rotation.renormalize();
    if let Shape::Plane { normal } = &mut collider.shape {
        // Scaled first: the square of a tiny or huge component would leave the range.
        let scaled = *normal / normal.amax();
        *normal = scaled.normalize();
        geometry.shape = collider.shape.clone();
    }
    Ok(geometry)
}
