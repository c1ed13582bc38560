//! The constraints that keep bodies in natural coordinates rigid.

use super::Model;
use crate::error::ModelError;
use crate::laws::Law;
use crate::relations::natural::{NaturalDirection, NaturalRelation, NaturalRow, NaturalTerm};
use crate::systems::{Natural, NaturalPoint};
use nalgebra::Vector3;

impl Natural {
    /// Adds the constraints of rigidity to a model that has the [`Natural::system`]: one row per bar, six per body, none between points that
    /// do not move.
    ///
    /// # Errors
    /// As [`Model::add_interaction`].
    pub fn add_constraints(&self, model: &mut Model) -> Result<(), ModelError> {
        let mut unit_done = vec![false; self.vectors.len()];
        for bar in &self.bars {
            let line = self.line(bar.points);
            if let Some(row) = self.row([(&line.0, line.1), (&line.0, line.1)]) {
                self.add_rows(model, &bar.name, &[row])?;
            }
        }
        for body in &self.bodies {
            let (line, at) = self.line(body.points);
            let u =
                [0, 1].map(|k| NaturalDirection { to: NaturalTerm::Coordinates(self.vectors[body.vectors[k]].name.clone()), from: None });
            let values = [self.unit(body.vectors[0])?, self.unit(body.vectors[1])?];
            let mut pairs = vec![[(&line, at), (&line, at)], [(&line, at), (&u[0], values[0])], [(&line, at), (&u[1], values[1])]];
            pairs.push([(&u[0], values[0]), (&u[1], values[1])]);
            // a vector that bodies share has unit length once
            for k in 0..2 {
                if !std::mem::replace(&mut unit_done[body.vectors[k]], true) {
                    pairs.push([(&u[k], values[k]), (&u[k], values[k])]);
                }
            }
            let rows: Vec<NaturalRow> = pairs.into_iter().filter_map(|pair| self.row(pair)).collect();
            self.add_rows(model, &body.name, &rows)?;
        }
        Ok(())
    }

    fn line(&self, points: [usize; 2]) -> (NaturalDirection, Vector3<f64>) {
        let term = |p: &NaturalPoint| if p.fixed { NaturalTerm::Fixed(p.position) } else { NaturalTerm::Coordinates(p.name.clone()) };
        let [from, to] = points.map(|p| &self.points[p]);
        (NaturalDirection { to: term(to), from: Some(term(from)) }, to.position - from.position)
    }

    /// The product of two directions as it is at the start, unless nothing in it moves.
    fn row(&self, directions: [(&NaturalDirection, Vector3<f64>); 2]) -> Option<NaturalRow> {
        let moves = |d: &NaturalDirection| std::iter::once(&d.to).chain(&d.from).any(|t| matches!(t, NaturalTerm::Coordinates(_)));
        let [(first, a), (second, b)] = directions;
        (moves(first) || moves(second)).then(|| NaturalRow { directions: [first.clone(), second.clone()], product: a.dot(&b) })
    }

    fn add_rows(&self, model: &mut Model, name: &str, rows: &[NaturalRow]) -> Result<(), ModelError> {
        if rows.is_empty() {
            return Ok(());
        }
        let relation = NaturalRelation::new(rows, self.dimension(), model.systems())?;
        model.add_interaction(name, Box::new(relation), Law::Bilateral)
    }
}
