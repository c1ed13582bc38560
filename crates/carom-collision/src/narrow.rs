//! The narrow phase over a list of pairs, in pieces that do not depend on the number of threads.

use crate::law_table::LawTable;
use crate::motion::MotionState;
use crate::pairs::time_of_impact::{Moving, collide_in_motion};
use crate::pairs::{Geometry, Overlap, PairPoint, Scratch, collide};
use crate::placed::Placed;
use carom_dynamics::detection::{ContactKey, ContactPoint, DetectionWarnings, WORLD};
use carom_dynamics::laws::{DirectionFrame, Friction};
use carom_dynamics::relations::contact::turn_towards;
use carom_dynamics::systems::Instant;
use carom_solvers::growth::reserve_tightly;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

/// Pieces of each thread that are worked on before their contacts are gathered: what is not gathered yet takes little room.
const ROUND: usize = 4;
/// A pair whose motion is followed is advanced in time if it may approach by more than this part of the smaller width within the horizon.
const FAST: f64 = 0.5;

/// What the narrow phase reads.
pub(crate) struct Narrow<'a> {
    /// Time, coordinates and velocities of the bodies.
    pub bodies: Instant<'a>,
    pub geometries: &'a [Geometry],
    pub placed: &'a [Placed],
    pub laws: &'a LawTable,
    /// Colliders that move as prescribed, ascending, and their motion.
    pub obstacles: &'a [(u32, MotionState)],
    pub horizon: f64,
    /// Largest gap at which some pair still pulls \[m\].
    pub pull_reach: f64,
}

/// Room to work; nothing is allocated once warm.
#[derive(Clone, Default)]
pub(crate) struct Workspace {
    pieces: Vec<Piece>,
}

#[derive(Clone, Default)]
struct Piece {
    pairs: Vec<(u32, u32)>,
    points: Vec<PairPoint>,
    scratch: Scratch,
    contacts: Vec<ContactPoint>,
    warnings: DetectionWarnings,
}

impl Narrow<'_> {
    /// Appends the contact points of near pairs (A, B), in order: `list` gives those of each of `n_pieces` pieces. Returns what is doubtful about them.
    pub fn run(
        &self,
        n_pieces: usize,
        list: impl Fn(usize, &mut Vec<(u32, u32)>) + Sync,
        workspace: &mut Workspace,
        contacts: &mut Vec<ContactPoint>,
    ) -> DetectionWarnings {
        let Workspace { pieces } = workspace;
        let n_threads = rayon::current_num_threads().min(n_pieces);
        let n_at_once = if n_threads > 1 { ROUND * n_threads } else { 1 };
        if pieces.len() < n_at_once {
            pieces.resize(n_at_once, Piece::default());
        }
        let mut warnings = DetectionWarnings::default();
        if n_threads <= 1 {
            let piece = &mut pieces[0];
            for k in 0..n_pieces {
                self.collide_all(|pairs| list(k, pairs), piece, contacts);
                warnings.add(&piece.warnings);
            }
            return warnings;
        }
        for first in (0..n_pieces).step_by(n_at_once) {
            let pieces = &mut pieces[..n_at_once.min(n_pieces - first)];
            pieces.par_iter_mut().enumerate().for_each(|(k, piece)| {
                let mut contacts = std::mem::take(&mut piece.contacts);
                contacts.clear();
                self.collide_all(|pairs| list(first + k, pairs), piece, &mut contacts);
                piece.contacts = contacts;
            });
            for piece in pieces {
                reserve_tightly(contacts, piece.contacts.len());
                contacts.extend_from_slice(&piece.contacts);
                warnings.add(&piece.warnings);
            }
        }
        warnings
    }

    /// Appends the contact points of the pairs of a piece.
    fn collide_all(&self, list: impl FnOnce(&mut Vec<(u32, u32)>), piece: &mut Piece, contacts: &mut Vec<ContactPoint>) {
        let mut pairs = std::mem::take(&mut piece.pairs);
        pairs.clear();
        list(&mut pairs);
        piece.warnings = DetectionWarnings::default();
        for &pair in &pairs {
            self.collide(pair, piece, contacts);
        }
        piece.pairs = pairs;
    }

    /// Appends the contact points of one pair.
    fn collide(&self, (a, b): (u32, u32), piece: &mut Piece, contacts: &mut Vec<ContactPoint>) {
        let (placed_a, placed_b) = (&self.placed[a as usize], &self.placed[b as usize]);
        let margin = placed_a.margin(placed_b, self.horizon) + self.pull_reach;
        let Piece { points, scratch, warnings, .. } = piece;
        let overlap = if (placed_a.continuous || placed_b.continuous) && margin > FAST * placed_a.thinnest.min(placed_b.thinnest) {
            self.collide_followed((a, b), scratch, points)
        } else {
            points.clear();
            let geometries = (&self.geometries[a as usize], &self.geometries[b as usize]);
            collide((geometries.0, &placed_a.pose), (geometries.1, &placed_b.pose), margin, scratch, points)
        };
        if points.is_empty() {
            return;
        }
        let law = self.laws.index(placed_a.material, placed_b.material);
        let direction = self.direction(law, a, b);
        let motion = self.obstacles.binary_search_by_key(&b, |(obstacle, _)| *obstacle).ok().map(|k| &self.obstacles[k].1);
        for p in &*points {
            if !is_finite(p) {
                warnings.degenerate += 1;
                continue;
            }
            reserve_tightly(contacts, 1);
            contacts.push(ContactPoint {
                body_a: placed_a.body,
                body_b: placed_b.body,
                key: ContactKey { collider_a: a, collider_b: b, feature: p.feature },
                point: p.point,
                normal: p.normal,
                gap: p.gap,
                turn: direction.map_or(0.0, |direction| turn_towards(&p.normal, &direction)),
                surface: motion.map(|motion| motion.surface(&placed_b.pose, &p.point, &placed_a.velocity)),
                law,
                planar: false,
            });
        }
        warnings.deep_overlaps += usize::from(overlap == Overlap::Deep);
        warnings.degenerate += usize::from(overlap == Overlap::Degenerate);
    }

    /// The contacts that two colliders make when they first meet within the horizon; where they do not meet, those that touch now.
    fn collide_followed(&self, (a, b): (u32, u32), scratch: &mut Scratch, points: &mut Vec<PairPoint>) -> Overlap {
        let (moving_a, moving_b) = (self.moving(a), self.moving(b));
        let overlap = collide_in_motion(&moving_a, &moving_b, self.horizon, scratch, points);
        if !points.is_empty() {
            return overlap;
        }
        let margin = self.placed[a as usize].skin_with(&self.placed[b as usize]) + self.pull_reach;
        collide((moving_a.geometry, moving_a.pose), (moving_b.geometry, moving_b.pose), margin, scratch, points)
    }

    /// A collider with its velocity and spin.
    fn moving(&self, i: u32) -> Moving<'_> {
        let placed = &self.placed[i as usize];
        let (geometry, pose, velocity) = (&self.geometries[i as usize], &placed.pose, placed.velocity);
        let (mut origin, mut spin) = (pose.position, Vector3::zeros());
        if placed.body == WORLD {
            if let Ok(k) = self.obstacles.binary_search_by_key(&i, |(obstacle, _)| *obstacle) {
                spin = self.obstacles[k].1.rate;
            }
        } else {
            // valid: the detector has read them before
            let (q, v) = (&self.bodies.q[7 * placed.body as usize..], &self.bodies.v[6 * placed.body as usize..]);
            origin = Vector3::new(q[0], q[1], q[2]);
            let rotation = UnitQuaternion::from_quaternion(Quaternion::new(q[3], q[4], q[5], q[6]));
            spin = rotation * Vector3::new(v[3], v[4], v[5]);
        }
        Moving { geometry, pose, origin, velocity, spin, reach: placed.reach }
    }

    /// Principal direction of elliptic friction between two colliders in the world frame; `None` for other laws.
    fn direction(&self, law: u16, a: u32, b: u32) -> Option<Vector3<f64>> {
        let Friction::Elliptic { direction, frame, .. } = self.laws.laws()[law as usize].friction else { return None };
        let (a, b) = (&self.placed[a as usize], &self.placed[b as usize]);
        let (first, second) = if a.material <= b.material { (a, b) } else { (b, a) };
        let direction = Vector3::from(direction);
        Some(match frame {
            DirectionFrame::World => direction,
            DirectionFrame::First => first.pose.rotation * direction,
            DirectionFrame::Second => second.pose.rotation * direction,
        })
    }
}

fn is_finite(p: &PairPoint) -> bool {
    p.gap.is_finite() && p.point.iter().chain(p.normal.iter()).all(|x| x.is_finite())
}
