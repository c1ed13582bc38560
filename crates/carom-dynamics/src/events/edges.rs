//! Motions over the edges of constraints and contacts made of pieces.
//!
//! Two pieces g_1, g_2 meet where the margin s of the first is zero. With n = ∇s/‖∇s‖ and the motions f_1, f_2 that the pieces cause
//! (Haddouni2015 eqs. 4.25–4.30), an edge is passed, slid along or left according to the signs of the projections f_1p, f_2p. Since s
//! depends on (t, q) only, ṡ is the same under both; where it vanishes the second derivatives decide:
//!
//! ```text
//! ṡ < 0                          transversal: over the edge
//! ṡ = 0,  s̈_1 < 0 < s̈_2          attractive: along the edge, with (1 − α) f_1 + α f_2,  α = s̈_1/(s̈_1 − s̈_2)
//! ṡ = 0,  s̈_2 < 0 < s̈_1          repulsive: the motion is not unique; it stays on its piece
//! ṡ = 0,  otherwise              tangent: to the side to which both accelerate
//! ```
//!
//! Sliding needs a corner: where G is continuous, the jump of the second derivatives of g has the form c ∇sᵀ∇s, so that (dG/dt) v jumps by c ṡ²,
//! and with ṡ = 0 nothing jumps.

use super::EventParams;
use crate::error::{EdgeError, NonFinite, RunError};
use crate::model::Model;
use crate::relations::{Relation, Rows};
use crate::systems::{Instant, Scratch};

/// How two pieces meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Junction {
    /// C²: nothing jumps.
    Smooth,
    /// C¹: (dG/dt) v jumps, and with it accelerations and forces.
    Curvature,
    /// C⁰: G jumps, and with it the velocity: see [`pass_corner`](super::pass_corner).
    Corner,
}

impl Junction {
    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Junction::Smooth => "smooth",
            Junction::Curvature => "the curvature jumps",
            Junction::Corner => "a corner",
        }
    }
}

/// What a motion does at an edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EdgeMode {
    /// It crosses the edge.
    Transversal,
    /// It is pushed to the edge from both sides and goes on along it, both pieces active, as the mixture (1 − α) f_1 + α f_2 (eq. 4.30).
    AttractiveSliding {
        /// Share of the second piece, between 0 and 1.
        alpha: f64,
    },
    /// It is pushed away from the edge to either side: not unique. It stays on the piece it is on.
    RepulsiveSliding,
    /// It touches the edge and goes to the side of `to`.
    Tangent,
}

/// A motion at an edge.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeCrossing {
    /// How the pieces meet.
    pub junction: Junction,
    /// What the motion does.
    pub mode: EdgeMode,
    /// The piece it comes from.
    pub from: usize,
    /// The piece on the other side of the edge.
    pub neighbour: usize,
    /// The piece it goes on with: `neighbour`, or `from` where it turns back or stays.
    pub to: usize,
    /// What jumps, the largest over the rows: of G relative to its largest entry for a corner, of (dG/dt) v \[m/s²\] for a curvature, else zero.
    pub jump: f64,
    /// ṡ/‖∇s‖ \[m/s\]: negative out of the piece.
    pub rate: f64,
}

impl EdgeCrossing {
    /// One sentence for the record of events; pieces are counted from 1.
    #[must_use]
    pub fn note(&self) -> String {
        let (from, neighbour) = (self.from + 1, self.neighbour + 1);
        let junction = self.junction.name();
        match self.mode {
            EdgeMode::Transversal => format!("from piece {from} to {neighbour}, {junction}"),
            EdgeMode::Tangent if self.to == self.from => {
                format!("touches the edge of pieces {from} and {neighbour} and stays on piece {from}")
            }
            EdgeMode::Tangent => format!("from piece {from} to {neighbour} along the edge, {junction}"),
            EdgeMode::AttractiveSliding { alpha } => {
                format!("slides along the edge of pieces {from} and {neighbour}, share {alpha:.3} of piece {neighbour}")
            }
            EdgeMode::RepulsiveSliding => {
                format!("on the edge of pieces {from} and {neighbour} the motion is not unique; it stays on piece {from}")
            }
        }
    }
}

/// Largest jump of an entry of G, relative to the largest entry, of pieces that meet without a corner: beyond what locating the edge leaves.
const SAME_DIRECTION: f64 = 1e-6;
/// Largest jump of (dG/dt) v, relative to its value \[m/s²\], of pieces that meet smoothly.
const SAME_CURVATURE: f64 = 1e-6;
/// Gaps of two pieces that differ by more than so many thresholds of closed contacts do not meet.
const SAME_PLACE: f64 = 100.0;

/// What a relation of `name` does that leaves the piece `from` at this instant, where the margin of the piece vanishes.
///
/// `bilateral`: all rows are constraints; of a contact only the first, the gap, is compared. `accelerations(piece)` gives v̇ of the model with
/// that piece in use; it is asked only where the motion does not cross the edge.
///
/// # Errors
/// [`EdgeError::Jump`] where the pieces do not meet, [`EdgeError::Uncovered`] where no other piece begins; what `accelerations` returns.
pub fn classify_edge(
    model: &Model,
    (name, relation): (&str, &dyn Relation),
    bilateral: bool,
    from: usize,
    at: Instant<'_>,
    thresholds: &EventParams,
    accelerations: &mut dyn FnMut(usize) -> Result<Vec<f64>, RunError>,
) -> Result<EdgeCrossing, RunError> {
    let finite = |source| EdgeError::NonFinite { t: at.t, source };
    let mut scratch = Scratch::default();
    let margins = Local::of(relation.margins(), at, &mut scratch).map_err(finite)?;
    let neighbour = neighbour(model, relation, &margins, from, at, thresholds).map_err(finite)?;
    let Some(neighbour) = neighbour.filter(|&n| margins.position[n] >= -margins.position[from].abs() - COVERED) else {
        let miss = neighbour.map_or(f64::INFINITY, |n| -margins.position[n]);
        return Err(EdgeError::Uncovered { name: name.to_owned(), t: at.t, from: from + 1, miss }.into());
    };
    let [before, after] = [from, neighbour].map(|piece| Local::of(relation.piece(piece), at, &mut scratch));
    let (before, after) = (before.map_err(finite)?, after.map_err(finite)?);
    let (rate, scale) = (margins.velocity[from], margins.size(from));
    let crossing = rate.abs() > thresholds.velocity * scale;
    // the edge is at s = 0: what the gaps differ by there, not where it was found
    let late = if crossing { margins.position[from] / rate } else { 0.0 };
    let rows = if bilateral { relation.n_rows() } else { 1 };
    for k in 0..rows {
        let jump = after.position[k] - before.position[k] - late * (after.velocity[k] - before.velocity[k]);
        if jump.abs() > SAME_PLACE * thresholds.gap {
            return Err(EdgeError::Jump { name: name.to_owned(), t: at.t, from: from + 1, to: neighbour + 1, jump }.into());
        }
    }
    let (junction, jump) = junction(&before, &after, rows);
    let (mode, to) = if rate < -thresholds.velocity * scale {
        (EdgeMode::Transversal, neighbour)
    } else if crossing {
        (EdgeMode::Tangent, from)
    } else {
        let first = margins.acceleration(from, &accelerations(from)?);
        let second = margins.acceleration(from, &accelerations(neighbour)?);
        tangent([first, second].map(|a| if a.abs() > REST * scale { a } else { 0.0 }), from, neighbour)
    };
    Ok(EdgeCrossing { junction, mode, from, neighbour, to, jump, rate: rate / scale })
}

/// The piece that an open contact enters when it leaves `from` at this instant: its gap need not be looked at.
///
/// # Errors
/// [`NonFinite`] naming the condition.
pub fn next_piece(
    model: &Model,
    relation: &dyn Relation,
    from: usize,
    at: Instant<'_>,
    thresholds: &EventParams,
) -> Result<usize, NonFinite> {
    let margins = Local::of(relation.margins(), at, &mut Scratch::default())?;
    let leaves = margins.position[from] < 0.0 || margins.velocity[from] < -thresholds.velocity * margins.size(from);
    let neighbour = if leaves { neighbour(model, relation, &margins, from, at, thresholds)? } else { None };
    Ok(neighbour.unwrap_or(from))
}

/// The piece other than `from` that holds most; of several that meet here, the one that holds a little later.
fn neighbour(
    model: &Model,
    relation: &dyn Relation,
    margins: &Local,
    from: usize,
    at: Instant<'_>,
    thresholds: &EventParams,
) -> Result<Option<usize>, NonFinite> {
    let others = || (0..margins.position.len()).filter(|&i| i != from);
    let Some(most) = others().max_by(|&a, &b| margins.position[a].total_cmp(&margins.position[b])) else { return Ok(None) };
    let near = |&i: &usize| margins.position[i] >= margins.position[most] - SAME_PLACE * thresholds.gap * margins.size(i);
    let rate = margins.velocity[from].abs();
    if others().filter(near).count() > 1 && rate > thresholds.velocity * margins.size(from) {
        let wait = AHEAD * margins.size(from) / rate;
        let step: Vec<f64> = at.v.iter().map(|v| wait * v).collect();
        let mut ahead = vec![0.0; at.q.len()];
        model.systems().advance(at.q, &step, &mut ahead);
        let later = relation.piece_at(at.t + wait, &ahead, &mut Scratch::default())?;
        if later != from && near(&later) {
            return Ok(Some(later));
        }
    }
    Ok(Some(most))
}

/// How far across an edge the pieces that meet in one point are told from each other \[m\].
const AHEAD: f64 = 1e-6;

/// By how much a condition may miss at the edge of another.
const COVERED: f64 = 1e-6;
/// Accelerations across an edge below this are none \[m/s²\].
const REST: f64 = 1e-9;

/// Where a motion at rest across an edge goes, from the accelerations s̈ under both pieces.
fn tangent([first, second]: [f64; 2], from: usize, neighbour: usize) -> (EdgeMode, usize) {
    if first < 0.0 && second > 0.0 {
        (EdgeMode::AttractiveSliding { alpha: first / (first - second) }, from)
    } else if first > 0.0 && second < 0.0 {
        (EdgeMode::RepulsiveSliding, from)
    } else {
        (EdgeMode::Tangent, if first < 0.0 { neighbour } else { from })
    }
}

/// How the rows of two pieces meet, and what jumps.
fn junction(before: &Local, after: &Local, rows: usize) -> (Junction, f64) {
    let n = before.velocities.len();
    let pairs = before.jacobian.iter().zip(&after.jacobian).take(rows * n);
    let (largest, turn) = pairs.fold((0.0, 0.0), |(l, d), (a, b)| (f64::max(l, a.abs().max(b.abs())), f64::max(d, (a - b).abs())));
    if turn > SAME_DIRECTION * largest {
        return (Junction::Corner, turn / largest);
    }
    let pairs = before.bias.iter().zip(&after.bias).take(rows);
    let (largest, jump) = pairs.fold((0.0, 0.0), |(l, d), (a, b)| (f64::max(l, a.abs().max(b.abs())), f64::max(d, (a - b).abs())));
    // round-off of terms that cancel is small against 1 m/s²
    if jump > SAME_CURVATURE * f64::max(largest, 1e-3) { (Junction::Curvature, jump) } else { (Junction::Smooth, 0.0) }
}

/// g, u, G and (dG/dt) v + db/dt of a relation at an instant.
pub(super) struct Local {
    pub velocities: Vec<usize>,
    pub position: Vec<f64>,
    /// G v + b.
    pub velocity: Vec<f64>,
    pub jacobian: Vec<f64>,
    /// b.
    pub drift: Vec<f64>,
    /// (dG/dt) v + db/dt.
    pub bias: Vec<f64>,
}

impl Local {
    pub fn of(relation: Option<&dyn Relation>, at: Instant<'_>, scratch: &mut Scratch) -> Result<Self, NonFinite> {
        let Some(relation) = relation else {
            return Err(NonFinite { what: "the piece of a relation that has none".into(), value: f64::NAN });
        };
        let (m, n) = (relation.n_rows(), relation.velocities().len());
        let (mut position, mut jacobian, mut drift, mut bias) = (vec![0.0; m], vec![0.0; m * n], vec![0.0; m], vec![0.0; m]);
        relation.position(at.t, at.q, &mut position, scratch)?;
        relation.jacobian(at.t, at.q, Rows { jacobian: &mut jacobian, bias: &mut drift }, scratch)?;
        relation.acceleration_bias(at.t, at.q, at.v, &mut bias, scratch)?;
        let mut local = Local { velocities: relation.velocities().to_vec(), position, velocity: Vec::new(), jacobian, drift, bias };
        local.velocity = (0..m).map(|k| local.drift[k] + local.along(k, at.v)).collect();
        Ok(local)
    }

    /// Row k of G over its own velocities.
    pub fn row(&self, k: usize) -> &[f64] {
        let n = self.velocities.len();
        &self.jacobian[k * n..(k + 1) * n]
    }

    /// Row k of G over all n velocities of the model.
    pub(crate) fn dense_row(&self, k: usize, n: usize) -> Vec<f64> {
        let mut dense = vec![0.0; n];
        self.velocities.iter().zip(self.row(k)).for_each(|(&i, &g)| dense[i] = g);
        dense
    }

    /// Row k of G times a vector over the model's velocities.
    fn along(&self, k: usize, v: &[f64]) -> f64 {
        self.row(k).iter().zip(&self.velocities).map(|(g, &i)| g * v[i]).sum()
    }

    /// G v̇ + (dG/dt) v + db/dt of row k.
    fn acceleration(&self, k: usize, a: &[f64]) -> f64 {
        self.along(k, a) + self.bias[k]
    }

    /// ‖∇s‖ of row k; 1 where it does not depend on positions.
    fn size(&self, k: usize) -> f64 {
        let size = self.row(k).iter().map(|g| g * g).sum::<f64>().sqrt();
        if size > 0.0 { size } else { 1.0 }
    }
}
