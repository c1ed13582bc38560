//! Elimination of the unknowns of a network that linear equations determine.

use super::form::{Column, Form};
use std::collections::BTreeMap;

/// Equations solved as far as they can be.
#[derive(Debug, Default)]
pub(super) struct Eliminated {
    /// Unknowns by the others.
    solved: BTreeMap<Column, Form>,
    /// Unknowns that stay.
    pub left: Vec<Column>,
    /// Equations that stay, without unknowns of the network; each with the equations it is the sum of, and their weights.
    pub equations: Vec<(Form, Form)>,
}

/// Solves `rows` = 0 for the unknowns of the network, by Gauss–Jordan elimination with the pivots that are largest in their rows.
///
/// Coefficients that cancel are exactly zero (see [`Form`]), so that equations which depend on each other are found by their structure, whatever the units of conductances and
/// resistances. Cost: O(n³) once.
pub(super) fn eliminate(mut rows: Vec<Form>, unknowns: &[Column]) -> Eliminated {
    // weights: row k of the present equations is Σ weight · original row, written as a form of Node(original row)
    let mut weights: Vec<Form> = (0..rows.len()).map(|k| Form::of(Column::Node(k))).collect();
    let mut pivots: Vec<Option<Column>> = vec![None; rows.len()];
    let mut open: Vec<Column> = unknowns.to_vec();
    while let Some((r, column)) = next_pivot(&rows, &pivots, &open) {
        open.retain(|&c| c != column);
        pivots[r] = Some(column);
        let factor = rows[r].get(column);
        let (pivot, weight) = (rows[r].clone(), weights[r].clone());
        for k in (0..rows.len()).filter(|&k| k != r) {
            let x = rows[k].get(column);
            if x != 0.0 {
                rows[k].add(-x / factor, &pivot);
                weights[k].add(-x / factor, &weight);
            }
        }
    }
    let mut done = Eliminated { left: open, ..Eliminated::default() };
    for ((row, weight), pivot) in rows.into_iter().zip(weights).zip(pivots) {
        match pivot {
            None => done.equations.push((row, weight)),
            Some(column) => {
                let factor = row.get(column);
                let others = row.terms().filter(|&(c, _)| c != column);
                done.solved.insert(column, others.fold(Form::default(), |form, (c, x)| form.plus(-x / factor, c)));
            }
        }
    }
    done
}

/// The largest coefficient of an unknown in its row.
fn next_pivot(rows: &[Form], pivots: &[Option<Column>], open: &[Column]) -> Option<(usize, Column)> {
    let mut best: Option<(f64, usize, Column)> = None;
    for (r, row) in rows.iter().enumerate().filter(|&(r, _)| pivots[r].is_none()) {
        let size = row.size();
        for (column, x) in row.terms().filter(|(column, _)| open.contains(column)) {
            let share = x.abs() / size;
            if best.is_none_or(|(most, ..)| share > most) {
                best = Some((share, r, column));
            }
        }
    }
    best.map(|(_, r, column)| (r, column))
}

impl Eliminated {
    /// A form without the unknowns that are solved for.
    pub fn apply(&self, form: &Form) -> Form {
        form.terms().fold(Form::default(), |sum, (column, x)| match self.solved.get(&column) {
            Some(solution) => sum.plus_form(x, solution),
            None => sum.plus(x, column),
        })
    }

    /// The form of a solved unknown.
    pub fn solution(&self, column: Column) -> Option<&Form> {
        self.solved.get(&column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two nodes that float together over a resistor: one voltage stays, and the sum of both laws.
    #[test]
    fn a_floating_pair_keeps_one_voltage() {
        let (p, m, d) = (Column::Node(0), Column::Node(1), Column::Multiplier(0));
        let rows =
            vec![Form::default().plus(1e-3, p).plus(-1e-3, m).plus(-1.0, d), Form::default().plus(-1e-3, p).plus(1e-3, m).plus(2.0, d)];
        let done = eliminate(rows, &[p, m]);
        assert_eq!(done.left, [m]);
        assert_eq!(done.equations.len(), 1);
        assert_eq!(done.equations[0].0.get(d).abs(), 1.0);
        assert_eq!(done.equations[0].1.get(Column::Node(0)), done.equations[0].1.get(Column::Node(1)));
        // p = m + 1000 d
        let p = done.apply(&Form::of(p));
        assert_eq!(p.get(m), 1.0);
        assert!((p.get(d) - 1e3).abs() < 1e-9); // rounding of 1/1e-3
    }
}
