//! Constraints and contacts made of pieces: a road of parabola and plane, a profile of segments and arcs.
//!
//! Each piece is a relation by formula that is defined beyond its own part, and a condition says where it holds (Haddouni2015 eqs. 4.17, 4.20):
//!
//! ```text
//! g(t, q) = g_i(t, q)  where condition i is the first that holds,      s_i(t, q) > 0  inside piece i,  = 0 at its edge
//! ```
//!
//! The margin s_i is made of the condition (see [`Graph::margin`](crate::formula::Graph::margin)) and of those before it, which must not hold. Where none holds,
//! as round-off can have it at an edge, the piece whose condition misses least is taken.

use super::formula_space::FormulaSpace;
use super::{CornerLaw, FormulaRelation, Relation, Rows};
use crate::error::{ModelError, NonFinite};
use crate::formula::{Expr, Tape};
use crate::systems::formula_force::compile;
use crate::systems::{Scratch, SystemSet};
use std::sync::Arc;

/// The text of one piece.
#[derive(Clone, Debug, PartialEq)]
pub struct PieceSource {
    /// Name and text of the condition: (`condition of piece 1 of "road"`, `x >= 0 and x < 2`). `None`, in the last piece only: wherever no
    /// other holds.
    pub when: Option<(String, String)>,
    /// Name and text of each row, as in [`FormulaSource`](super::FormulaSource).
    pub rows: Vec<(String, String)>,
}

/// The text of a relation made of pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct PiecewiseSource {
    /// Name of the relation, for messages.
    pub name: String,
    /// The pieces, at least two, all with as many rows.
    pub pieces: Vec<PieceSource>,
    /// Constants of the formulas.
    pub parameters: Vec<(String, f64)>,
    /// What a corner does.
    pub corner: CornerLaw,
}

/// A relation made of pieces.
#[derive(Clone)]
pub struct PiecewiseRelation {
    /// All over the same coordinates and velocities.
    pieces: Vec<FormulaRelation>,
    /// One row per piece.
    margins: FormulaRelation,
    choice: Choice,
    corner: CornerLaw,
}

/// Which piece holds.
#[derive(Clone)]
struct Choice {
    names: Vec<String>,
    coordinates: Vec<usize>,
    /// The conditions (0 or 1), then their margins; inputs t, q.
    tape: Tape,
}

/// One piece as expressions.
pub(super) struct PieceRows {
    /// Its number or name in messages: `condition of piece 1 of "road"`.
    pub condition_name: String,
    /// 1 where it holds.
    pub condition: Expr,
    /// Margin of the condition.
    pub margin: Expr,
    /// Names and expressions of the rows.
    pub names: Vec<String>,
    pub rows: Vec<Expr>,
}

impl PiecewiseRelation {
    /// Reads and differentiates the pieces. Coordinates are those of `systems`.
    ///
    /// # Errors
    /// Formulas that cannot be read, conditions that are no comparisons, fewer than two pieces, pieces with different numbers of rows.
    pub fn new(source: &PiecewiseSource, systems: &Arc<SystemSet>) -> Result<Self, ModelError> {
        let mut space = FormulaSpace::new(systems, &source.parameters);
        let mut pieces: Vec<PieceRows> = Vec::with_capacity(source.pieces.len());
        for (i, piece) in source.pieces.iter().enumerate() {
            let rows = space.parse(&piece.rows)?;
            if space.coordinates_of(&rows).is_empty() {
                return Err(ModelError::NoCoordinate { what: piece.rows.first().map(|row| row.0.clone()).unwrap_or_default() });
            }
            let (condition_name, condition, margin) = match &piece.when {
                Some(when) => condition(&mut space, when)?,
                None if i + 1 == source.pieces.len() && i > 0 => otherwise(&mut space, &pieces, &source.name),
                None => {
                    let reason = format!("piece {} has no condition; only the last of several may leave it out", i + 1);
                    return Err(ModelError::Pieces { name: source.name.clone(), reason });
                }
            };
            let names = piece.rows.iter().map(|(name, _)| name.clone()).collect();
            pieces.push(PieceRows { condition_name, condition, margin, names, rows });
        }
        PiecewiseRelation::of_pieces(&mut space, &source.name, pieces, source.corner)
    }

    /// Compiles pieces.
    pub(super) fn of_pieces(
        space: &mut FormulaSpace<'_>,
        name: &str,
        pieces: Vec<PieceRows>,
        corner: CornerLaw,
    ) -> Result<Self, ModelError> {
        let fault = |reason: String| Err(ModelError::Pieces { name: name.to_owned(), reason });
        if pieces.len() < 2 {
            return fault(format!("there are {} pieces; at least two are needed", pieces.len()));
        }
        let n_rows = pieces[0].rows.len();
        if let Some(i) = pieces.iter().position(|piece| piece.rows.len() != n_rows) {
            let found = pieces[i].rows.len();
            return fault(format!("piece {} has {found} row(s), piece 1 has {n_rows}: all need the same number", i + 1));
        }
        let all: Vec<Expr> = pieces.iter().flat_map(|piece| piece.rows.iter().copied()).collect();
        let used = space.coordinates_of(&all);

        let mut margins = Vec::with_capacity(pieces.len());
        for (i, piece) in pieces.iter().enumerate() {
            let mut margin = piece.margin;
            for earlier in &pieces[..i] {
                let outside = space.graph.neg(earlier.margin);
                if outside != margin {
                    margin = space.graph.min(margin, outside);
                }
            }
            margins.push(margin);
        }
        let names: Vec<String> = pieces.iter().map(|piece| piece.condition_name.clone()).collect();
        let outputs: Vec<Expr> = pieces.iter().map(|p| p.condition).chain(pieces.iter().map(|p| p.margin)).collect();
        let conditions_of = space.coordinates_of(&[&outputs[..], &margins].concat());
        let tape = compile(&space.graph, &space.inputs(&conditions_of), &outputs);
        Ok(PiecewiseRelation {
            margins: FormulaRelation::of_rows(space, names.clone(), &margins, conditions_of.clone()),
            choice: Choice { names, coordinates: conditions_of, tape },
            pieces: pieces.into_iter().map(|p| FormulaRelation::of_rows(space, p.names, &p.rows, used.clone())).collect(),
            corner,
        })
    }

    fn holding(&self, t: f64, q: &[f64], scratch: &mut Scratch) -> Result<&FormulaRelation, NonFinite> {
        Ok(&self.pieces[self.piece_at(t, q, scratch)?])
    }
}

/// A condition with its margin.
fn condition(space: &mut FormulaSpace<'_>, when: &(String, String)) -> Result<(String, Expr, Expr), ModelError> {
    let condition = space.parse(std::slice::from_ref(when))?[0];
    match space.graph.margin(condition) {
        Some(margin) => Ok((when.0.clone(), condition, margin)),
        None => Err(ModelError::Condition { what: when.0.clone(), text: when.1.clone() }),
    }
}

/// The condition of a last piece that has none: no other holds.
fn otherwise(space: &mut FormulaSpace<'_>, others: &[PieceRows], name: &str) -> (String, Expr, Expr) {
    let (mut any, mut largest) = (others[0].condition, others[0].margin);
    for other in &others[1..] {
        any = space.graph.or(any, other.condition);
        largest = space.graph.max(largest, other.margin);
    }
    let (condition, margin) = (space.graph.not(any), space.graph.neg(largest));
    (format!("condition of piece {} of \"{name}\"", others.len() + 1), condition, margin)
}

impl Relation for PiecewiseRelation {
    fn n_rows(&self) -> usize {
        self.pieces[0].n_rows()
    }

    fn velocities(&self) -> &[usize] {
        self.pieces[0].velocities()
    }

    fn is_constant(&self) -> bool {
        false
    }

    fn add_curvature(
        &self,
        t: f64,
        q: &[f64],
        lambda: &[f64],
        factor: f64,
        matrix: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        self.holding(t, q, scratch)?.add_curvature(t, q, lambda, factor, matrix, scratch)
    }

    fn position(&self, t: f64, q: &[f64], g: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        self.holding(t, q, scratch)?.position(t, q, g, scratch)
    }

    fn jacobian(&self, t: f64, q: &[f64], rows: Rows<'_>, scratch: &mut Scratch) -> Result<(), NonFinite> {
        self.holding(t, q, scratch)?.jacobian(t, q, rows, scratch)
    }

    fn acceleration_bias(&self, t: f64, q: &[f64], v: &[f64], bias: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        self.holding(t, q, scratch)?.acceleration_bias(t, q, v, bias, scratch)
    }

    fn n_pieces(&self) -> usize {
        self.pieces.len()
    }

    fn piece_at(&self, t: f64, q: &[f64], scratch: &mut Scratch) -> Result<usize, NonFinite> {
        let choice = &self.choice;
        scratch.inputs.clear();
        scratch.inputs.push(t);
        scratch.inputs.extend(choice.coordinates.iter().map(|&i| q[i]));
        scratch.outputs.resize(choice.tape.n_outputs(), 0.0);
        choice.tape.evaluate(&scratch.inputs, &mut scratch.registers, &mut scratch.outputs);
        let (holds, margins) = scratch.outputs.split_at(self.pieces.len());
        if let Some(i) = margins.iter().position(|m| m.is_nan()) {
            return Err(NonFinite { what: format!("the {}", choice.names[i]), value: margins[i] });
        }
        if let Some(first) = holds.iter().position(|&h| h != 0.0) {
            return Ok(first);
        }
        Ok((1..margins.len()).fold(0, |best, i| if margins[i] > margins[best] { i } else { best }))
    }

    fn piece(&self, piece: usize) -> Option<&dyn Relation> {
        self.pieces.get(piece).map(|piece| piece as &dyn Relation)
    }

    fn piece_margin(&self, piece: usize, t: f64, q: &[f64], scratch: &mut Scratch) -> Result<f64, NonFinite> {
        Ok(self.margins.values(t, q, scratch)?[piece])
    }

    fn margins(&self) -> Option<&dyn Relation> {
        Some(&self.margins)
    }

    fn corner(&self) -> CornerLaw {
        self.corner
    }
}
