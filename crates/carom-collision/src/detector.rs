//! The contact detector: moves the colliders with their bodies, finds near pairs, computes their contact points.

use crate::backend::tree::{Bounds, EMPTY, Tree, overhang, within};
use crate::collider::{Collider, CollisionError, Groups};
use crate::law_table::LawTable;
use crate::materials::{Material, PairLaws};
use crate::motion::MotionState;
use crate::narrow::{Narrow, Workspace};
use crate::near::{Filter, Near, spheres_may_meet};
use crate::pairs::Geometry;
use crate::placed::{Placed, SKIN_FRACTION};
use crate::shapes::Shape;
use carom_dynamics::detection::{ContactDetector, ContactPoint, DetectionWarnings, WORLD};
use carom_dynamics::error::NonFinite;
use carom_dynamics::laws::ContactLaw;
use carom_dynamics::systems::Instant;
use nalgebra::Vector3;
use rayon::prelude::*;
use std::sync::Arc;

/// How far a collider's quaternion may be from unit length.
const UNIT_TOLERANCE: f64 = 1e-6;
/// Colliders whose pairs are worked on by one thread.
const PIECE: usize = 128;
/// Fewest colliders that a thread places at once.
const FEWEST_FOR_THREADS: usize = 512;

/// Contact detection over a fixed list of colliders.
///
/// A point is reported when its gap is at most  h (|v_A − v_B| + |ω_A| R_A + |ω_B| R_B) + skin,  with h the horizon, R
/// the reach of a collider from its body's origin and skin = 1e-6 of the pair's smaller bounding radius; with cohesion, its largest reach is
/// added. The answer depends on the arguments of [`ContactDetector::detect`] only, never on earlier calls or the number of threads.
///
/// Cost: linear in colliders and near pairs, plus (planes × moving colliders), plus a sort of the colliders when one of them has moved by a
/// twentieth of its size since the last sort. Work is shared among the threads of the rayon pool at hand. Memory is reused from call to
/// call.
#[derive(Clone)]
pub struct Detector {
    /// What never changes; clones share it.
    set: Arc<ColliderSet>,
    /// Pairs of bodies that never meet, each (smaller, larger) and sorted.
    excluded: Vec<(u32, u32)>,
    /// The same of colliders.
    apart: Vec<(u32, u32)>,
    /// Over all colliders; the boxes of planes are empty. Empty until the first call.
    tree: Tree,
    /// Per collider, as of the present call. Empty until the first one.
    placed: Vec<Placed>,
    /// Contacts are reported within this part of the smaller radius of a pair, whatever the speeds.
    skin: f64,
    /// The smallest of these gaps among those of moving colliders \[m\].
    least_skin: f64,
    /// Colliders that move as prescribed, ascending, with their motion as of the present call.
    obstacles: Vec<(u32, MotionState)>,
    /// Colliders that have become faster since the last search, ascending.
    faster: Vec<u32>,
    workspace: Workspace,
    registers: Vec<f64>,
    /// That of the last search \[s\].
    horizon: f64,
    warnings: DetectionWarnings,
}

/// The colliders of a detector, and what follows from them alone.
struct ColliderSet {
    colliders: Arc<[Collider]>,
    /// Body and groups of each, close together.
    members: Vec<(u32, Groups)>,
    geometries: Vec<Geometry>,
    laws: LawTable,
    planes: Vec<u32>,
    /// Largest gap at which some pair still pulls \[m\]; 0 without cohesion.
    pull_reach: f64,
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
        let laws = LawTable::new(colliders.iter().map(|collider| collider.material), &materials, &pair_laws)?;
        let pull_reach = laws.laws().iter().map(|law| law.cohesion.reach()).fold(0.0, f64::max);
        let is_plane = |collider: &Collider| matches!(collider.shape, Shape::Plane { .. });
        let planes = (0..).zip(&colliders).filter(|(_, collider)| is_plane(collider)).map(|(i, _)| i).collect();
        let members: Vec<(u32, Groups)> = colliders.iter().map(|collider| (collider.body.unwrap_or(WORLD), collider.groups)).collect();
        let colliders = colliders.into();
        Ok(Self {
            set: Arc::new(ColliderSet { colliders, members, geometries, laws, planes, pull_reach }),
            excluded: Vec::new(),
            apart: Vec::new(),
            tree: Tree::default(),
            placed: Vec::new(),
            skin: SKIN_FRACTION,
            least_skin: f64::INFINITY,
            obstacles: Vec::new(),
            faster: Vec::new(),
            workspace: Workspace::default(),
            registers: Vec::new(),
            horizon: 0.0,
            warnings: DetectionWarnings::default(),
        })
    }

    /// The colliders, in the order of their indices.
    #[must_use]
    pub fn colliders(&self) -> &Arc<[Collider]> {
        &self.set.colliders
    }

    /// Room for the places of the colliders, which a detector has once it is used.
    fn warm_up(&mut self) {
        if !self.placed.is_empty() {
            return;
        }
        let colliders = &self.set.colliders;
        self.placed.extend(colliders.iter().map(|collider| Placed::at_rest(collider, self.skin)));
        lead_bodies(&mut self.placed);
        self.least_skin = least_skin(&self.placed);
        let fixed = |(collider, placed): (&Collider, &Placed)| {
            if collider.body.is_some() || !placed.radius.is_finite() { EMPTY } else { placed.bounds(&collider.shape, 0.0, 0.0) }
        };
        self.tree = Tree::build(colliders.iter().zip(&self.placed).map(fixed));
    }

    /// Lets no collider of these pairs of bodies meet, besides those excluded before; `None` is the world. Jointed bodies, say.
    pub fn exclude_pairs(&mut self, pairs: &[(Option<u32>, Option<u32>)]) {
        let of = |body: Option<u32>| body.unwrap_or(WORLD);
        self.excluded.extend(pairs.iter().map(|&(a, b)| (of(a).min(of(b)), of(a).max(of(b)))));
        self.excluded.sort_unstable();
        self.excluded.dedup();
        self.tree.invalidate();
    }

    /// Lets these pairs of colliders, by their indices, not meet, besides those excluded before. A body and the fixed one it is jointed to,
    /// say.
    pub fn exclude_colliders(&mut self, pairs: &[(u32, u32)]) {
        self.apart.extend(pairs.iter().map(|&(a, b)| (a.min(b), a.max(b))));
        self.apart.sort_unstable();
        self.apart.dedup();
        self.tree.invalidate();
    }

    /// Forgets what earlier calls found.
    ///
    /// Never needed for correctness: [`ContactDetector::detect`] looks at where bodies are.
    pub fn rebuild(&mut self) {
        self.tree.invalidate();
    }

    /// (t, q, v, horizon) ⇒ poses and speeds; leaves of the tree.
    fn place(&mut self, bodies: Instant<'_>, horizon: f64) -> Result<(), NonFinite> {
        let Self { set, placed, tree, .. } = self;
        let ColliderSet { colliders, pull_reach, .. } = &**set;
        self.obstacles.clear();
        for (i, collider) in colliders.iter().enumerate() {
            if let Some(motion) = &collider.motion {
                let state = motion.at(bodies.t, &collider.translation, &mut self.registers)?;
                placed[i].prescribe(collider, &state);
                self.obstacles.push((i as u32, state));
                if placed[i].radius.is_finite() {
                    tree.move_leaf(i as u32, &placed[i].bounds(&collider.shape, horizon, 0.0));
                }
            }
        }
        let pull_reach = *pull_reach;
        let (boxes, kept) = tree.boxes_mut();
        let all = (colliders.par_iter(), placed.par_iter_mut(), boxes.par_iter_mut(), kept.par_iter()).into_par_iter();
        let follow = |(collider, placed, bounds, kept): (&Collider, &mut Placed, &mut Bounds, &Bounds)| {
            if placed.body == WORLD {
                return Moved::default();
            }
            placed.follow(collider, bodies.q, bodies.v);
            *bounds = if placed.valid { placed.bounds(&collider.shape, horizon, pull_reach) } else { EMPTY };
            // growth and reach may leave the range of numbers
            placed.valid &= (bounds.0 + bounds.1).iter().all(|x| x.is_finite());
            if !placed.valid {
                *bounds = EMPTY;
            }
            Moved {
                leaves: !within(bounds, kept),
                fast: usize::from(placed.valid && placed.is_fast(horizon)),
                far: usize::from(placed.valid && placed.is_far()),
            }
        };
        let moved = all.with_min_len(FEWEST_FOR_THREADS).map(follow).reduce(Moved::default, Moved::and);
        self.warnings.fast_bodies += moved.fast;
        self.warnings.far_bodies += moved.far;
        if moved.leaves {
            tree.invalidate();
        }
        Ok(())
    }

    /// Finds the colliders that may go farther within `time` seconds with the velocities `v` than the last search allowed for, and gives them these velocities. Returns how
    /// far their boxes reach beyond those in the tree \[m\].
    fn find_faster(&mut self, v: &[f64], time: f64) -> f64 {
        let Self { set, placed, tree, faster, .. } = self;
        let ColliderSet { colliders, pull_reach, .. } = &**set;
        // a gap closes by no more than it would at the velocities of the search, plus what both bodies have gained since
        let allowed = if time <= self.horizon { 0.5 * self.least_skin } else { -1.0 };
        let (boxes, kept) = tree.boxes_mut();
        let all = (colliders.par_iter(), placed.par_iter_mut(), boxes.par_iter_mut(), kept.par_iter()).into_par_iter();
        let follow = |(collider, placed, bounds, kept): (&Collider, &mut Placed, &mut Bounds, &Bounds)| {
            placed.faster = placed.valid && placed.body != WORLD && time * placed.gain(v) > allowed;
            if !placed.faster {
                return 0.0;
            }
            placed.hasten(v);
            let swept = placed.bounds(&collider.shape, time, *pull_reach);
            // what leaves the range of numbers is told of by the next search
            placed.faster = (swept.0 + swept.1).iter().all(|x| x.is_finite());
            if placed.faster {
                *bounds = swept;
            }
            overhang(bounds, kept)
        };
        let overhang = all.with_min_len(FEWEST_FOR_THREADS).map(follow).reduce(|| 0.0, f64::max);
        faster.clear();
        faster.extend((0..).zip(&*placed).filter(|(_, placed)| placed.faster).map(|(i, _)| i));
        overhang
    }

    /// The contact points of the near pairs that `list` gives, in order, for each of `n_pieces` pieces.
    fn collide(
        &mut self,
        (bodies, horizon): (Instant<'_>, f64),
        n_pieces: usize,
        list: impl Fn(&Near<'_>, usize, &mut Vec<(u32, u32)>) + Sync,
        contacts: &mut Vec<ContactPoint>,
    ) -> DetectionWarnings {
        let Self { set, placed, tree, obstacles, workspace, excluded, apart, .. } = self;
        let ColliderSet { colliders, members, geometries, laws, planes, pull_reach } = &**set;
        let (filter, pull_reach) = (Filter { members, excluded, apart }, *pull_reach);
        let near = Near { colliders, planes, placed, tree, filter, horizon, pull_reach };
        let narrow = Narrow { bodies, geometries, placed, laws, obstacles, horizon, pull_reach };
        narrow.run(n_pieces, |k, pairs| list(&near, k, pairs), workspace, contacts)
    }
}

impl ContactDetector for Detector {
    fn detect(&mut self, bodies: Instant<'_>, horizon: f64, contacts: &mut Vec<ContactPoint>) -> Result<(), NonFinite> {
        let horizon = horizon.max(0.0);
        self.horizon = horizon;
        self.warnings = DetectionWarnings::default();
        self.warm_up();
        // (t, q, v) => poses and grown bounds
        self.place(bodies, horizon)?;
        // bounds => near pairs => contact points
        let Self { set, placed, tree, excluded, apart, .. } = &mut *self;
        let filter = Filter { members: &set.members, excluded, apart };
        let is_sphere = |i: u32| matches!(set.colliders[i as usize].shape, Shape::Sphere { .. });
        let radii = |i: u32, j: u32| [i, j].map(|k| placed[k as usize].radius);
        tree.refit_with(|i, j, boxes| {
            let far = is_sphere(i) && is_sphere(j) && !spheres_may_meet(radii(i, j), boxes);
            if far { None } else { filter.admit(i.min(j), i.max(j)) }
        });
        let n = self.placed.len();
        let of_piece = |near: &Near<'_>, k: usize, pairs: &mut Vec<(u32, u32)>| {
            (k * PIECE..n.min((k + 1) * PIECE)).for_each(|a| near.list_pairs(a as u32, pairs));
        };
        let warnings = self.collide((bodies, horizon), n.div_ceil(PIECE), of_piece, contacts);
        self.warnings.add(&warnings);
        Ok(())
    }

    fn detect_unforeseen(&mut self, bodies: Instant<'_>, time: f64, contacts: &mut Vec<ContactPoint>) -> Result<(), NonFinite> {
        if self.tree.is_stale() {
            return self.detect(bodies, time, contacts);
        }
        let overhang = self.find_faster(bodies.v, time);
        let faster = std::mem::take(&mut self.faster);
        let of_piece = |near: &Near<'_>, k: usize, pairs: &mut Vec<(u32, u32)>| {
            let some = &faster[k * PIECE..faster.len().min((k + 1) * PIECE)];
            some.iter().for_each(|&a| near.list_pairs_of_faster(a, &faster, overhang, pairs));
        };
        self.collide((bodies, time), faster.len().div_ceil(PIECE), of_piece, contacts);
        self.faster = faster;
        Ok(())
    }

    fn set_skin(&mut self, fraction: f64) {
        if fraction == self.skin {
            return;
        }
        self.skin = fraction;
        let Self { set, placed, tree, .. } = self;
        for (i, (collider, placed)) in set.colliders.iter().zip(&mut *placed).enumerate() {
            placed.skin = fraction;
            if collider.body.is_none() && placed.radius.is_finite() {
                tree.move_leaf(i as u32, &placed.bounds(&collider.shape, 0.0, 0.0));
            }
        }
        self.least_skin = least_skin(placed);
    }

    fn laws(&self) -> &[ContactLaw] {
        self.set.laws.laws()
    }

    fn n_colliders(&self) -> u32 {
        self.set.colliders.len() as u32
    }

    fn collider_name(&self, collider: u32) -> &str {
        self.set.colliders.get(collider as usize).map_or("?", |c| &c.name)
    }

    fn warnings(&self) -> DetectionWarnings {
        self.warnings
    }

    fn obstacles_move(&self) -> bool {
        self.set.colliders.iter().any(|collider| collider.motion.is_some())
    }

    fn surface_rotation(&self, collider: u32) -> [Vector3<f64>; 2] {
        let found = self.obstacles.binary_search_by_key(&collider, |(obstacle, _)| *obstacle);
        found.map_or([Vector3::zeros(); 2], |k| self.obstacles[k].1.surface_rotation(&self.placed[collider as usize].pose))
    }

    fn boxed_clone(&self) -> Box<dyn ContactDetector> {
        Box::new(self.clone())
    }
}

/// What colliders have done since the last search.
#[derive(Clone, Copy, Default)]
struct Moved {
    /// One has left the box that pairs were sought with.
    leaves: bool,
    fast: usize,
    far: usize,
}

impl Moved {
    fn and(self, other: Moved) -> Moved {
        Moved { leaves: self.leaves | other.leaves, fast: self.fast + other.fast, far: self.far + other.far }
    }
}

/// Smallest gap within which a moving collider meets larger ones whatever the speeds \[m\].
fn least_skin(placed: &[Placed]) -> f64 {
    placed.iter().filter(|placed| placed.body != WORLD).map(|placed| placed.skin * placed.radius).fold(f64::INFINITY, f64::min)
}

/// Gives the first collider of each body the smallest width of those that may jump over others.
fn lead_bodies(placed: &mut [Placed]) {
    let mut by_body: Vec<(u32, usize)> = placed.iter().map(|placed| placed.body).zip(0..).filter(|(body, _)| *body != WORLD).collect();
    by_body.sort_unstable();
    for body in by_body.chunk_by(|a, b| a.0 == b.0) {
        let may_jump = body.iter().map(|&(_, i)| &placed[i]).filter(|placed| !placed.continuous);
        placed[body[0].1].body_width = may_jump.map(|placed| placed.thinnest).fold(f64::INFINITY, f64::min);
    }
}

/// Checks a collider, normalises its normal and pose, and derives what the narrow phase needs.
fn prepare(collider: &mut Collider, n_materials: usize) -> Result<Geometry, CollisionError> {
    let name = || collider.name.clone();
    let wrong_shape = |source| CollisionError::Shape { collider: name(), source };
    let mut geometry = Geometry::new(&collider.shape).map_err(wrong_shape)?;
    if let (Shape::Plane { .. }, Some(body)) = (&collider.shape, collider.body) {
        return Err(CollisionError::MovingPlane { collider: name(), body });
    }
    if collider.motion.is_some() && collider.body.is_some() {
        return Err(CollisionError::BodyWithMotion { collider: name() });
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
