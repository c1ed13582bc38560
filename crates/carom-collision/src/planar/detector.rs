//! The planar contact detector: moves the colliders, finds near pairs, computes their contact points.

use super::collider::{PlanarCollider, PlanarError};
use super::pairs::{Counts, PlanarPoint, Workspace, collide};
use super::placed::{Placed, spatial};
use super::shapes::PlanarShape;
use crate::backend::tree::{Tree, overlap};
use crate::collider::CollisionError;
use crate::law_table::LawTable;
use crate::materials::{Material, PairLaws};
use carom_dynamics::detection::{ContactKey, ContactPoint, DetectionWarnings, PlanarDetector, WORLD};
use carom_dynamics::error::NonFinite;
use carom_dynamics::laws::{Cohesion, ContactLaw, Friction};
use carom_dynamics::systems::Instant;
use std::sync::Arc;

/// Contact detection over a fixed list of planar colliders.
///
/// A point is reported when its gap is at most  h (|v_A − v_B| + |ω_A| R_A + |ω_B| R_B) + skin,  with h the horizon, R the reach of a
/// collider from its origin and skin = 1e-6 of the pair's smaller reach. The answer depends on the arguments of
/// [`PlanarDetector::detect`] only, never on earlier calls.
///
/// Cost: O(n log n) in colliders, plus (half-planes × bodies), plus the near pairs. Nothing is allocated once warm.
#[derive(Clone)]
pub struct PlanarShapes {
    /// Clones share them.
    colliders: Arc<[PlanarCollider]>,
    laws: LawTable,
    /// Colliders other than half-planes, in order; the leaves of the tree are numbered as here.
    bounded: Vec<u32>,
    half_planes: Vec<u32>,
    /// Pairs of bodies that never meet, each (smaller, larger) and sorted.
    excluded: Vec<(u32, u32)>,
    /// Obstacles that move.
    moving_obstacles: Vec<u32>,
    tree: Tree,
    /// Per collider, as of the present search.
    placed: Vec<Placed>,
    near_pairs: Vec<(u32, u32)>,
    points: Vec<PlanarPoint>,
    work: Workspace,
    registers: Vec<f64>,
}

impl PlanarShapes {
    /// A detector for these colliders; `materials` are referred to by index, `pair_laws` override their combination.
    ///
    /// # Errors
    /// The first collider, material or pair law that is not usable.
    pub fn new(mut colliders: Vec<PlanarCollider>, materials: &[Material], pair_laws: &PairLaws) -> Result<Self, PlanarError> {
        let n_materials = materials.len();
        for (index, material) in materials.iter().enumerate() {
            material.validate().map_err(|source| CollisionError::Material { index, source })?;
        }
        if let Some(material) = pair_laws.largest_index().filter(|&m| m as usize >= n_materials) {
            return Err(CollisionError::UnknownPairMaterial { material, n_materials }.into());
        }
        if colliders.len() >= WORLD as usize || colliders.iter().any(|c| c.body == Some(WORLD)) {
            return Err(CollisionError::TooMany { n_colliders: colliders.len() }.into());
        }
        colliders.iter_mut().try_for_each(|collider| prepare(collider, n_materials))?;
        let laws = LawTable::new(colliders.iter().map(|collider| collider.material), materials, pair_laws)?;
        laws.laws().iter().try_for_each(check_law)?;
        let is_half_plane = |i: &u32| matches!(colliders[*i as usize].shape, PlanarShape::HalfPlane { .. });
        let (half_planes, bounded): (Vec<u32>, Vec<u32>) = (0..colliders.len() as u32).partition(is_half_plane);
        let moving_obstacles = (0..colliders.len() as u32).filter(|&i| colliders[i as usize].motion.is_some()).collect();
        let placed: Vec<Placed> = colliders.iter().map(Placed::at_rest).collect();
        let tree = Tree::build(bounded.iter().map(|&i| placed[i as usize].bounds));
        Ok(PlanarShapes {
            colliders: colliders.into(),
            laws,
            bounded,
            half_planes,
            excluded: Vec::new(),
            moving_obstacles,
            tree,
            placed,
            near_pairs: Vec::new(),
            points: Vec::new(),
            work: Workspace::default(),
            registers: Vec::new(),
        })
    }

    /// The colliders, in the order of their indices.
    #[must_use]
    pub fn colliders(&self) -> &Arc<[PlanarCollider]> {
        &self.colliders
    }

    /// Lets no collider of these pairs of bodies meet, besides those excluded before; `None` is the world. Jointed bodies, say.
    pub fn exclude_pairs(&mut self, pairs: &[(Option<u32>, Option<u32>)]) {
        let of = |body: Option<u32>| body.unwrap_or(WORLD);
        self.excluded.extend(pairs.iter().map(|&(a, b)| (of(a).min(of(b)), of(a).max(of(b)))));
        self.excluded.sort_unstable();
        self.excluded.dedup();
    }

    /// (t, q, v, horizon) ⇒ poses, bounds and speeds; leaves of the tree.
    fn place(&mut self, bodies: Instant<'_>, horizon: f64) -> Result<(), NonFinite> {
        for &i in &self.moving_obstacles {
            let collider = &self.colliders[i as usize];
            if let Some(motion) = &collider.motion {
                self.placed[i as usize].prescribe(collider, &motion.at(bodies.t, &mut self.registers)?, horizon);
            }
        }
        for (leaf, &i) in self.bounded.iter().enumerate() {
            let (collider, placed) = (&self.colliders[i as usize], &mut self.placed[i as usize]);
            match collider.body {
                Some(body) => placed.follow(collider, body as usize, (bodies.q, bodies.v), horizon),
                None if collider.motion.is_none() => continue,
                None => {}
            }
            if placed.valid {
                self.tree.move_leaf(leaf as u32, &placed.bounds);
            }
        }
        self.tree.refit();
        Ok(())
    }

    /// Pairs that may touch, each as (A, B) with A a body's, sorted.
    fn find_near_pairs(&mut self, horizon: f64) {
        let (placed, bounded) = (&self.placed, &self.bounded);
        let (colliders, excluded) = (&self.colliders, &self.excluded[..]);
        let near = &mut self.near_pairs;
        near.clear();
        self.tree.for_each_pair(|first, second| {
            let (i, j) = (bounded[first.min(second) as usize], bounded[first.max(second) as usize]);
            let (a, b) = (&placed[i as usize], &placed[j as usize]);
            if a.valid
                && b.valid
                && overlap(&a.bounds, &b.bounds)
                && let Some(pair) = admit(colliders, excluded, i, j)
            {
                near.push(pair);
            }
        });
        for &plane in &self.half_planes {
            let ground = &placed[plane as usize];
            let PlanarShape::HalfPlane { normal } = &colliders[plane as usize].shape else { continue };
            let normal = ground.pose.rotation * normal;
            for &i in bounded {
                let body = &placed[i as usize];
                let height = normal.dot(&(body.pose.position - ground.pose.position)) - colliders[i as usize].shape.reach();
                if body.valid
                    && height <= body.margin(ground, horizon)
                    && let Some(pair) = admit(colliders, excluded, i, plane)
                {
                    near.push(pair);
                }
            }
        }
        near.sort_unstable();
    }
}

impl PlanarDetector for PlanarShapes {
    fn detect(&mut self, bodies: Instant<'_>, horizon: f64, contacts: &mut Vec<ContactPoint>) -> Result<(), NonFinite> {
        let horizon = horizon.max(0.0);
        self.work.counts = Counts::default();
        // (t, q, v) => poses and grown bounds
        self.place(bodies, horizon)?;
        // bounds => near pairs, in the order of their keys
        self.find_near_pairs(horizon);
        // near pairs => contact points
        for k in 0..self.near_pairs.len() {
            let (a, b) = self.near_pairs[k];
            let (placed_a, placed_b) = (&self.placed[a as usize], &self.placed[b as usize]);
            let (collider_a, collider_b) = (&self.colliders[a as usize], &self.colliders[b as usize]);
            self.points.clear();
            let margin = placed_a.margin(placed_b, horizon);
            collide((&collider_a.shape, &placed_a.pose), (&collider_b.shape, &placed_b.pose), margin, &mut self.work, &mut self.points);
            let Some(body_a) = collider_a.body else { continue };
            let obstacle_moves = collider_b.motion.is_some();
            let law = self.laws.index(collider_a.material, collider_b.material);
            for p in &self.points {
                contacts.push(ContactPoint {
                    body_a,
                    body_b: collider_b.body.unwrap_or(WORLD),
                    key: ContactKey { collider_a: a, collider_b: b, feature: p.feature },
                    point: spatial(&p.point),
                    normal: spatial(&p.normal),
                    gap: p.gap,
                    turn: 0.0,
                    surface: obstacle_moves.then(|| placed_b.surface(&p.point)),
                    law,
                    planar: true,
                });
            }
        }
        Ok(())
    }

    fn laws(&self) -> &[ContactLaw] {
        self.laws.laws()
    }

    fn n_colliders(&self) -> u32 {
        self.colliders.len() as u32
    }

    fn collider_name(&self, collider: u32) -> &str {
        self.colliders.get(collider as usize).map_or("?", |c| &c.name)
    }

    fn warnings(&self) -> DetectionWarnings {
        let Counts { deep_overlaps, degenerate } = self.work.counts;
        DetectionWarnings { deep_overlaps, degenerate, ..DetectionWarnings::default() }
    }

    fn boxed_clone(&self) -> Box<dyn PlanarDetector> {
        Box::new(self.clone())
    }
}

/// The pair with a body's collider first, or `None` when the two never meet.
fn admit(colliders: &[PlanarCollider], excluded: &[(u32, u32)], i: u32, j: u32) -> Option<(u32, u32)> {
    let (a, b) = (&colliders[i as usize], &colliders[j as usize]);
    if a.body == b.body || !a.groups.meets(&b.groups) {
        return None;
    }
    let (first, second) = (a.body.unwrap_or(WORLD), b.body.unwrap_or(WORLD));
    if excluded.binary_search(&(first.min(second), first.max(second))).is_ok() {
        return None;
    }
    if a.body.is_none() { Some((j, i)) } else { Some((i, j)) }
}

/// Checks a collider and normalises its normal.
fn prepare(collider: &mut PlanarCollider, n_materials: usize) -> Result<(), PlanarError> {
    let name = || collider.name.clone();
    collider.shape.validate().map_err(|source| CollisionError::Shape { collider: name(), source })?;
    let numbers = collider.position.iter().chain(collider.pivot.iter().flatten()).chain([&collider.angle]);
    if !numbers.into_iter().all(|x| x.is_finite()) {
        return Err(CollisionError::Pose { collider: name() }.into());
    }
    if collider.material as usize >= n_materials {
        return Err(CollisionError::UnknownMaterial { collider: name(), material: collider.material, n_materials }.into());
    }
    if collider.body.is_some() && !collider.shape.can_move_freely() {
        return Err(PlanarError::ObstacleShape { collider: name(), shape: collider.shape.name() });
    }
    if collider.body.is_some() && collider.motion.is_some() {
        return Err(PlanarError::BodyWithMotion { collider: name() });
    }
    if let PlanarShape::HalfPlane { normal } = &mut collider.shape {
        // scaled first: the square of a tiny or huge component would leave the range
        let scaled = *normal / normal.amax();
        *normal = scaled.normalize();
    }
    Ok(())
}

/// Refuses laws that need two tangents, and cohesion.
fn check_law(law: &ContactLaw) -> Result<(), PlanarError> {
    law.validate("a pair of materials")?;
    if matches!(law.friction, Friction::Elliptic { .. }) {
        return Err(PlanarError::SpatialLaw { what: "friction by direction" });
    }
    if law.rolling > 0.0 || law.spinning > 0.0 {
        return Err(PlanarError::SpatialLaw { what: "rolling or spinning resistance" });
    }
    if law.cohesion != Cohesion::None {
        return Err(PlanarError::SpatialLaw { what: "cohesion" });
    }
    Ok(())
}
