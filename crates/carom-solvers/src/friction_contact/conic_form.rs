//! A friction contact problem over second-order cones.

use super::FrictionContact;
use crate::cones::Block;
use crate::conic::{Cone, ConeProduct, ConeProgram};
use crate::delassus::Delassus;
use crate::error::SolveError;
use crate::matrix::SparseMatrix;

/// The problem in x and v with r = P x, v = P u, per contact P = s diag(1, μ, μ):
///
/// ```text
///     v = Q x + c,   Q = P W P,  c = P q,     L ∋ v + e |v_T| ⊥ x ∈ L,  L = {|x_T| ≤ x_N}
/// ```
///
/// so that De Saxcé's term is |v_T| whatever μ. A contact without friction keeps its normal row only, rows of joints are
/// free. s gives each block a mean diagonal of one; velocities are counted in a unit that makes the largest |c| one.
#[derive(Clone, Debug, Default)]
pub(super) struct ConicForm {
    /// Q, with its diagonal blocks stored in full.
    pub q: SparseMatrix,
    /// c.
    pub c: Vec<f64>,
    /// The cones of x.
    pub cones: ConeProduct,
    /// Row of the problem of each row of x, and its factor in P times the unit of x.
    rows: Vec<(usize, f64)>,
    /// Rows of x of each block: the first, and the number of rows of x.
    starts: Vec<usize>,
    /// Row of x of each row of the problem, or [`NONE`].
    place: Vec<usize>,
    entries: Vec<(usize, f64)>,
    /// Blocks of the row being read.
    columns: Vec<usize>,
    /// The unit of x and v.
    unit: f64,
}

/// A row of the problem whose impulse is zero by law.
const NONE: usize = usize::MAX;

impl ConicForm {
    /// Reads a valid problem; storage is reused.
    ///
    /// # Errors
    /// [`SolveError::Unsupported`] for contacts with friction and rolling resistance, whose cone is no second-order one, and for bounded rows.
    pub fn build(&mut self, problem: &FrictionContact, solver: &'static str) -> Result<(), SolveError> {
        self.cones.clear();
        self.rows.clear();
        self.starts.clear();
        self.place.clear();
        self.place.resize(problem.n_rows(), NONE);
        for (index, block) in problem.blocks.iter().enumerate() {
            self.starts.push(self.rows.len());
            self.push_block(problem, index, block, solver)?;
        }
        self.starts.push(self.rows.len());
        self.c.clear();
        self.c.extend(self.rows.iter().map(|&(row, factor)| factor * problem.q[row]));
        let largest = self.c.iter().fold(0.0_f64, |size, c| size.max(c.abs()));
        self.unit = if largest > 0.0 && largest.is_finite() { largest } else { 1.0 };
        for c in &mut self.c {
            *c /= self.unit;
        }
        self.fill_matrix(problem);
        Ok(())
    }

    /// The rows and the cone of a block.
    fn push_block(&mut self, problem: &FrictionContact, index: usize, block: &Block, solver: &'static str) -> Result<(), SolveError> {
        if block.bounds().is_some() {
            let reason = "a bounded row is an interval, no cone";
            return Err(SolveError::Unsupported { solver, reason, alternatives: "auto, nsgs, admm" });
        }
        let start = problem.w.offset(index);
        let (mut first_tangent, mut n_tangents, mut slope) = (1, block.dim() - 1, block.friction());
        if let Some((rolling, rows)) = block.moments() {
            let mu = block.friction();
            (n_tangents, first_tangent, slope) = match (mu > 0.0, rolling > 0.0) {
                (true, true) => {
                    let reason = "the cone of friction with rolling resistance is no second-order cone";
                    return Err(SolveError::Unsupported { solver, reason, alternatives: "auto, nsgs, admm" });
                }
                (_, false) => (2, 1, mu),
                (false, true) => (rows.len(), rows.start, rolling),
            };
        }
        let begin = self.rows.len();
        if block.is_bilateral() {
            self.rows.extend((start..start + block.dim()).map(|row| (row, 1.0)));
            self.cones.push(Cone::Free { dim: block.dim() });
        } else {
            self.rows.push((start, 1.0));
            if slope > 0.0 {
                self.rows.extend((start + first_tangent..start + first_tangent + n_tangents).map(|row| (row, slope)));
            }
            self.cones.push(Cone::Lorentz { dim: self.rows.len() - begin });
        }
        let rows = &mut self.rows[begin..];
        let diagonal = problem.w.diagonal(index);
        let trace: f64 = rows.iter().map(|&(row, factor)| factor * factor * diagonal[(row - start) * (block.dim() + 1)]).sum();
        let size = (rows.len() as f64 / trace).sqrt();
        let size = if size > 0.0 && size.is_finite() { size } else { 1.0 };
        for (k, (row, factor)) in rows.iter_mut().enumerate() {
            *factor *= size;
            self.place[*row] = begin + k;
        }
        Ok(())
    }

    fn fill_matrix(&mut self, problem: &FrictionContact) {
        self.q.reset(self.rows.len());
        for (index, block) in problem.blocks.iter().enumerate() {
            for x_row in self.starts[index]..self.starts[index + 1] {
                let (row, factor) = self.rows[x_row];
                self.entries.clear();
                match &problem.w {
                    Delassus::BlockSparse(w) => {
                        let local = row - w.offset(index);
                        for (column, values) in w.row(index) {
                            let dim = values.len() / block.dim();
                            let columns = w.offset(column)..w.offset(column) + dim;
                            self.entries.extend(columns.zip(values[local * dim..(local + 1) * dim].iter().copied()));
                        }
                    }
                    Delassus::Dense(w) => {
                        let n = w.n_rows();
                        let own = w.offset(index)..w.offset(index + 1);
                        let row = w.values()[row * n..(row + 1) * n].iter().copied().enumerate();
                        self.entries.extend(row.filter(|(column, value)| *value != 0.0 || own.contains(column)));
                    }
                    Delassus::MatrixFree(w) => {
                        let local = row - w.offset(index);
                        w.columns(index, &mut self.columns);
                        for &column in &self.columns {
                            let columns = w.offset(column)..w.offset(column + 1);
                            let mut values = [0.0; Block::MAX_DIM * Block::MAX_DIM];
                            w.add_block(index, column, &mut values[..block.dim() * columns.len()]);
                            self.entries.extend(columns.clone().zip(values.into_iter().skip(local * columns.len())));
                        }
                    }
                }
                self.entries.retain_mut(|(column, value)| {
                    let place = self.place[*column];
                    if place != NONE {
                        (*column, *value) = (place, factor * *value * self.rows[place].1);
                    }
                    place != NONE
                });
                self.entries.sort_unstable_by_key(|(column, _)| *column);
                for &(column, value) in &self.entries {
                    self.q.push(column, value);
                }
                self.q.finish_row();
            }
        }
    }

    /// The program without De Saxcé's term.
    pub fn program(&self) -> ConeProgram<'_> {
        ConeProgram { q: &self.q, c: &self.c, cones: &self.cones }
    }

    /// v = P u.
    pub(crate) fn read_velocity(&self, u: &[f64], v: &mut Vec<f64>) {
        v.clear();
        v.extend(self.rows.iter().map(|&(row, factor)| factor * u[row] / self.unit));
    }

    /// r = P x, moved to its cone.
    pub(crate) fn restore_impulse(&self, problem: &FrictionContact, x: &[f64], r: &mut [f64]) {
        r.fill(0.0);
        for (x, &(row, factor)) in x.iter().zip(&self.rows) {
            r[row] = self.unit * factor * x;
        }
        project(problem, r);
    }
}

/// Moves impulses to their cones.
pub(super) fn project(problem: &FrictionContact, r: &mut [f64]) {
    for (index, block) in problem.blocks.iter().enumerate() {
        block.project(&mut r[problem.w.offset(index)..problem.w.offset(index + 1)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delassus::DenseDelassus;

    #[test]
    fn the_slip_term_is_that_of_the_law() {
        // A contact with friction, one without and a joint; entries without structure.
        let n = 7;
        let w: Vec<f64> = (0..n * n).map(|k| ((k / n + 1) * (k % n + 1)) as f64 + if k / n == k % n { 3.0 } else { 0.0 }).collect();
        let problem = FrictionContact {
            w: Delassus::Dense(DenseDelassus::new(w, &[3, 3, 1]).unwrap()),
            q: vec![-1.0, 2.0, 0.5, -4.0, 1.0, 1.0, 0.3],
            blocks: vec![Block::Coulomb3 { mu: 0.3 }, Block::Coulomb3 { mu: 0.0 }, Block::Bilateral { dim: 1 }],
        };
        let mut form = ConicForm::default();
        form.build(&problem, "test").unwrap();
        assert_eq!(
            form.cones.iter().map(|(cone, _)| cone).collect::<Vec<_>>(),
            [Cone::Lorentz { dim: 3 }, Cone::Lorentz { dim: 1 }, Cone::Free { dim: 1 }]
        );
        let x = [2.0, 0.3, -0.4, 1.5, -0.7];
        let (mut v, mut r, mut u) = ([0.0; 5], [0.0; 7], [0.0; 7]);
        form.program().gradient(&x, &mut v);
        form.restore_impulse(&problem, &x, &mut r);
        problem.velocity(&r, &mut u);
        // v + e |v_T| is P û in the unit of v: over its factor the first row is û_N.
        let (factor, unit) = (form.rows[0].1, form.unit);
        let lifted = (v[0] + v[1].hypot(v[2])) * unit / factor;
        let expected = u[0] + problem.blocks[0].slip_term(&u[..3]);
        assert!((lifted - expected).abs() < 1e-13 * expected.abs(), "{lifted} {expected}"); // a few roundings
        assert_eq!((r[4], r[5]), (0.0, 0.0));
        assert!(form.q.row(0).count() == 5 && (form.q.get(3, 3) - 1.0).abs() < 1e-15, "a mean diagonal of one");
    }

    #[test]
    fn only_the_intersection_of_two_cones_is_refused() {
        let w = |n: usize| Delassus::Dense(DenseDelassus::new((0..n * n).map(|k| f64::from(k % (n + 1) == 0)).collect(), &[n]).unwrap());
        let mut form = ConicForm::default();
        let mut build = |mu, rolling| {
            let problem = FrictionContact { w: w(5), q: vec![-1.0; 5], blocks: vec![Block::Rolling { mu, rolling }] };
            form.build(&problem, "test").map(|()| form.cones.n_rows())
        };
        assert_eq!((build(0.0, 0.0), build(0.5, 0.0), build(0.0, 0.1)), (Ok(1), Ok(3), Ok(3)));
        assert!(matches!(build(0.5, 0.1), Err(SolveError::Unsupported { .. })));
    }
}
