//! Velocities after corners that keep the energy (Haddouni2015 §4.3.3.1, after Glocker).
//!
//! At a corner the normals G_1, G_2 of two pieces differ; v⁻ has G_1 v⁻ = 0, and G_2 v⁺ = 0 is wanted at the same kinetic energy. In the metric of
//! the mass, with n̂_i = G_i/√(G_i M⁻¹ G_iᵀ) and cos θ = n̂_1 M⁻¹ n̂_2ᵀ:
//!
//! ```text
//! time scaling   G(τ) = (1 − τ) G_1 + τ G_2,  M v′ = Gᵀλ,  G v = 0 for τ from 0 to 1           eqs. 4.3–4.7
//!                = v turned by θ in the plane of M⁻¹n̂_1, M⁻¹n̂_2: λ acts in that plane, and v stays normal to G with ‖v‖ kept
//! reflection     n = n̂_1 + n̂_2,   v⁺ = v⁻ − 2 M⁻¹nᵀ (n v⁻)/(n M⁻¹ nᵀ)                          eqs. 4.8–4.15
//! ```
//!
//! Eq. 4.13 as printed lacks the denominator and is right for n M⁻¹ nᵀ = 1 only; normalising by the Euclidean length (eqs. 4.10, 4.11)
//! gives G_2 v⁺ = 0 for equal masses only. With both as above, the mirror image and the turned velocity are the same: one constraint has only one
//! such velocity that goes on into the second piece. Other constraints C v = 0 are kept by the part of G_1, G_2 that is independent of C.

use super::edges::{EdgeCrossing, Local};
use crate::block_diagonal::{BlockFactor, BlockLayout, dot};
use crate::error::EdgeError;
use crate::model::Model;
use crate::relations::{CornerLaw, Relation};
use crate::systems::{Instant, Scratch};

/// A velocity that has been turned at a corner.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// v⁺.
    pub velocity: Vec<f64>,
    /// M (v⁺ − v⁻), over the velocities of the model.
    pub impulse: Vec<f64>,
    /// Its parts along G_1 and G_2 \[N·s\]; positive ones push.
    pub parts: [f64; 2],
}

/// What a corner does to a closed contact or a constraint.
#[derive(Clone, Debug, PartialEq)]
pub enum Passage {
    /// The velocity leads away from the new piece: a contact opens, nothing is hit.
    Opens,
    /// The ordinary impact law is to be applied with the new piece in use; constraints are hit without restitution.
    Impact,
    /// The velocity is turned.
    Turned(Turn),
}

/// Passes the corner of a crossing by the law of the relation. `others`: the constraints and closed contacts that hold besides, each with the
/// number of its rows that do.
///
/// # Errors
/// [`EdgeError::Corner`] for a corner of which more than one row or a moving one turns, for normals that are opposed or depend on the others.
pub fn pass_corner(
    model: &Model,
    (name, relation): (&str, &dyn Relation),
    bilateral: bool,
    crossing: &EdgeCrossing,
    at: Instant<'_>,
    others: &[(&dyn Relation, usize)],
) -> Result<Passage, EdgeError> {
    let finite = |source| EdgeError::NonFinite { t: at.t, source };
    let wrong = |reason| EdgeError::Corner { name: name.to_owned(), t: at.t, reason };
    let (mut scratch, n) = (Scratch::default(), at.v.len());
    let after = Local::of(relation.piece(crossing.neighbour), at, &mut scratch).map_err(finite)?;
    if !bilateral && after.velocity[0] > 0.0 {
        return Ok(Passage::Opens);
    }
    let law = relation.corner();
    if law == CornerLaw::Impact {
        return Ok(Passage::Impact);
    }
    let before = Local::of(relation.piece(crossing.from), at, &mut scratch).map_err(finite)?;
    let margins = Local::of(relation.margins(), at, &mut scratch).map_err(finite)?;
    let rows = if bilateral { relation.n_rows() } else { 1 };
    let turns = |k: &usize| before.row(*k).iter().zip(after.row(*k)).any(|(a, b)| (a - b).abs() > 1e-6 * f64::max(a.abs(), b.abs()));
    let turning: Vec<usize> = (0..rows).filter(turns).collect();
    let [row] = turning[..] else {
        return Err(wrong("more than one equation turns; split it into constraints of one equation, or use corner = \"impact\""));
    };
    if before.drift[row] != 0.0 || after.drift[row] != 0.0 {
        return Err(wrong("it moves by itself, so that no energy is kept; use corner = \"impact\""));
    }
    let mut kept: Vec<Vec<f64>> = (0..rows).filter(|&k| k != row).map(|k| after.dense_row(k, n)).collect();
    for &(other, rows) in others {
        let other = Local::of(Some(other), at, &mut scratch).map_err(finite)?;
        kept.extend((0..rows).map(|k| other.dense_row(k, n)));
    }
    let layout = model.systems().layout();
    let mut mass = vec![0.0; layout.n_values()];
    model.systems().mass(at.t, at.q, &mut mass, &mut scratch).map_err(finite)?;
    let metric = MassMetric::new(layout, &mass).ok_or_else(|| wrong("the mass matrix is singular"))?;
    let (first, mut second) = (before.dense_row(row, n), after.dense_row(row, n));
    let outward = margins.dense_row(crossing.from, n);
    let mut turn = turn_velocity(law, &metric, [&first, &second], &kept, at.v).map_err(wrong)?;
    if bilateral && dot(&outward, &turn.velocity) > 0.0 {
        // the sign of an equation has no meaning: of the two normals, the one that leads into the new piece
        second.iter_mut().for_each(|g| *g = -*g);
        turn = turn_velocity(law, &metric, [&first, &second], &kept, at.v).map_err(wrong)?;
        turn.parts[1] = -turn.parts[1];
    }
    if dot(&outward, &turn.velocity) > 0.0 {
        return Err(wrong("the turned velocity does not lead into the new piece"));
    }
    Ok(Passage::Turned(turn))
}

/// The inverse of a block-diagonal mass matrix.
pub struct MassMetric<'a> {
    layout: &'a BlockLayout,
    mass: &'a [f64],
    factor: BlockFactor,
}

impl<'a> MassMetric<'a> {
    /// Factorises; `None` for a singular matrix.
    #[must_use]
    pub fn new(layout: &'a BlockLayout, mass: &'a [f64]) -> Option<Self> {
        let mut factor = BlockFactor::default();
        factor.factorise(layout, mass).ok()?;
        Some(MassMetric { layout, mass, factor })
    }

    fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; b.len()];
        self.factor.solve(self.layout, b, &mut x);
        x
    }
}

/// A row c with M⁻¹cᵀ, of length 1: c M⁻¹ cᵀ = 1.
struct UnitRow {
    row: Vec<f64>,
    raised: Vec<f64>,
    /// Its length before.
    length: f64,
}

impl UnitRow {
    /// The part of a row that is independent of others, normalised; `None` where nothing is left.
    fn new(metric: &MassMetric<'_>, row: &[f64], others: &[UnitRow]) -> Option<Self> {
        let (mut row, whole) = (row.to_vec(), dot(row, &metric.solve(row)).sqrt());
        // twice is enough for orthogonality to round-off
        for other in others.iter().chain(others) {
            let share = dot(&row, &other.raised);
            row.iter_mut().zip(&other.row).for_each(|(r, o)| *r -= share * o);
        }
        let mut raised = metric.solve(&row);
        let length = dot(&row, &raised).sqrt();
        if length.is_nan() || length <= INDEPENDENT * whole {
            return None;
        }
        row.iter_mut().chain(raised.iter_mut()).for_each(|x| *x /= length);
        Some(UnitRow { row, raised, length })
    }
}

/// A row whose independent part is smaller than this relative to its length depends on the others.
const INDEPENDENT: f64 = 1e-8;

/// v⁺ after a corner with the normals `[G_1, G_2]`, for v⁻ with G_1 v⁻ = 0 and C v⁻ = 0 for the rows C of `others` (which may depend on each
/// other): G_2 v⁺ = 0, C v⁺ = 0, and the kinetic energy is kept.
///
/// # Errors
/// What is wrong, in words: an impact, which has its own law; normals that are opposed or depend on the others.
pub fn turn_velocity(
    law: CornerLaw,
    metric: &MassMetric<'_>,
    [first, second]: [&[f64]; 2],
    others: &[Vec<f64>],
    v: &[f64],
) -> Result<Turn, &'static str> {
    let mut kept: Vec<UnitRow> = Vec::with_capacity(others.len());
    for row in others {
        kept.extend(UnitRow::new(metric, row, &kept));
    }
    let normal = |row| UnitRow::new(metric, row, &kept).ok_or("the other constraints and contacts fix the motion already");
    let (first, second) = (normal(first)?, normal(second)?);
    let cosine = dot(&first.row, &second.raised);
    if 1.0 + cosine < 1e-12 {
        return Err("the normals are opposed: the pieces meet in a cusp");
    }
    let combine = |a: f64, b: f64| -> Vec<f64> { first.raised.iter().zip(&second.raised).map(|(x, y)| a * x + b * y).collect() };
    let change: Vec<f64> = match law {
        CornerLaw::Impact => return Err("an impact has its own law"),
        // both as c (M⁻¹n̂_1 + M⁻¹n̂_2): n v⁻ = n̂_2 v⁻ + n̂_1 v⁻ and n M⁻¹nᵀ = 2 (1 + cos θ)
        CornerLaw::Reflection => {
            let factor = -(dot(&first.row, v) + dot(&second.row, v)) / (1.0 + cosine);
            combine(factor, factor)
        }
        CornerLaw::TimeScaling => {
            // e = M⁻¹n̂_1 and t = (M⁻¹n̂_2 − cos θ e)/sin θ are unit vectors; v⁻ has the part c along t, which becomes c (cos θ t − sin θ e)
            let along: Vec<f64> = combine(-cosine, 1.0);
            let residual: Vec<f64> = second.row.iter().zip(&first.row).map(|(y, x)| y - cosine * x).collect();
            let sine = dot(&residual, &along).max(0.0).sqrt();
            if sine == 0.0 {
                vec![0.0; v.len()]
            } else {
                let part = dot(&residual, v) / sine;
                let (cos_less_one, angle_sine) = (-sine * sine / (1.0 + cosine), sine);
                along.iter().zip(&first.raised).map(|(t, e)| part * (cos_less_one * t / sine - angle_sine * e)).collect()
            }
        }
    };
    let velocity: Vec<f64> = v.iter().zip(&change).map(|(v, c)| v + c).collect();
    let mut impulse = vec![0.0; v.len()];
    metric.layout.multiply(metric.mass, &change, &mut impulse);
    // M (v⁺ − v⁻) = c (n̂_1 + n̂_2), and n̂_i (v⁺ − v⁻) = c (1 + cos θ)
    let share = 0.5 * (dot(&first.row, &change) + dot(&second.row, &change)) / (1.0 + cosine);
    Ok(Turn { velocity, impulse, parts: [share / first.length, share / second.length] })
}
