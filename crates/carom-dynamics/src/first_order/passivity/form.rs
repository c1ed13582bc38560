//! F(P) in units in which it is of order one.

use super::super::set::{FirstOrderSet, LinearParts};
use carom_solvers::vi::Set;
use nalgebra::{DMatrix, DVector};

/// F(P) = X(P) + X(P)ᵀ, X(P) = Nᵀ P R − Σ, over the vectors (x, λ) = (N, Λ) z that the equations allow; R = A N + B Λ, Σ = Λᵀ(C N + D Λ) over the ports. States, multipliers and time are scaled.
pub(super) struct Form {
    /// N: states of z.
    pub states: DMatrix<f64>,
    /// R: rates of z.
    pub rates: DMatrix<f64>,
    /// Σ.
    pub supply: DMatrix<f64>,
    /// Unit of each state: x = unit · x̃.
    units: Vec<f64>,
}

/// Least eigenvalue of P, relative to its largest, of a storage function that holds every state.
const LEAST: f64 = 1e-12;

/// A pivot below this fraction of the first ends an elimination.
const RANK: f64 = 1e-12;

impl Form {
    /// `None` where M has no inverse.
    pub fn new(set: &FirstOrderSet, parts: &LinearParts) -> Option<Self> {
        let (n, m) = (set.states().len(), set.rows().len());
        let mass = DMatrix::from_row_slice(n, n, &parts.mass).lu();
        let mut a = mass.solve(&DMatrix::from_row_slice(n, n, &parts.a))?;
        let mut b = mass.solve(&DMatrix::from_row_slice(n, m, &parts.b))?;
        let mut c = DMatrix::from_row_slice(m, n, &parts.c);
        let mut d = DMatrix::from_row_slice(m, m, &parts.d);
        // units: those of the storage that the matrices suggest, a rate of one, multipliers to match
        let weights = match set.storage() {
            [] => suggested_weights(&a, &b, &c),
            given => (0..n).map(|i| if given[i * n + i] > 0.0 { given[i * n + i] } else { 1.0 }).collect(),
        };
        let units: Vec<f64> = weights.iter().map(|w| w.sqrt().recip()).collect();
        for (i, unit) in units.iter().enumerate() {
            a.row_mut(i).scale_mut(1.0 / unit);
            b.row_mut(i).scale_mut(1.0 / unit);
            a.column_mut(i).scale_mut(*unit);
            c.column_mut(i).scale_mut(*unit);
        }
        let rate = if a.amax() > 0.0 { a.amax() } else { 1.0 };
        for j in 0..m {
            let size = (c.row(j).amax().powi(2) / rate).max(b.column(j).amax().powi(2) / rate).max(d[(j, j)].abs());
            let unit = if size > 0.0 { (rate / size).sqrt() } else { 1.0 };
            b.column_mut(j).scale_mut(unit);
            d.column_mut(j).scale_mut(unit);
            c.row_mut(j).scale_mut(unit);
            d.row_mut(j).scale_mut(unit);
        }
        // time in units of 1/rate: A and B by rate, and the supply with them
        a /= rate;
        b /= rate;
        c /= rate;
        d /= rate;
        let is_port: Vec<bool> =
            set.sets().iter().flat_map(|set| std::iter::repeat_n(!matches!(set, Set::Free { .. }), set.dim())).collect();
        let allowed = allowed_vectors(&a, &b, &c, &d, &is_port);
        let (states, multipliers) = (allowed.rows(0, n).into_owned(), allowed.rows(n, m).into_owned());
        let rates = &a * &states + &b * &multipliers;
        let mut outputs = &c * &states + &d * &multipliers;
        for (j, _) in is_port.iter().enumerate().filter(|(_, port)| !**port) {
            outputs.row_mut(j).fill(0.0);
        }
        let supply = multipliers.transpose() * outputs;
        Some(Form { states, rates, supply, units })
    }

    /// F(P), P in the units of the form.
    pub fn value(&self, p: &DMatrix<f64>) -> DMatrix<f64> {
        symmetrised(&(self.states.transpose() * p * &self.rates - &self.supply))
    }

    /// The part of F that is linear in P.
    pub fn linear(&self, p: &DMatrix<f64>) -> DMatrix<f64> {
        symmetrised(&(self.states.transpose() * p * &self.rates))
    }

    /// Largest eigenvalue of F(P); `None` where P is not positive definite.
    pub fn excess(&self, p: &DMatrix<f64>) -> Option<f64> {
        let eigenvalues = p.clone().symmetric_eigenvalues();
        let is_symmetric = (p - p.transpose()).amax() <= 1e-12 * p.amax();
        if !is_symmetric || eigenvalues.min() <= LEAST * eigenvalues.max() || !eigenvalues.max().is_finite() {
            return None;
        }
        // relative to P where that is large
        Some(self.value(p).symmetric_eigenvalues().max() / eigenvalues.max().max(1.0))
    }

    /// P from the user's units to those of the form.
    pub fn scale(&self, p: &DMatrix<f64>) -> DMatrix<f64> {
        DMatrix::from_fn(p.nrows(), p.ncols(), |i, j| p[(i, j)] * self.units[i] * self.units[j])
    }

    /// The reverse.
    pub(crate) fn unscale(&self, p: &DMatrix<f64>) -> DMatrix<f64> {
        DMatrix::from_fn(p.nrows(), p.ncols(), |i, j| p[(i, j)] / (self.units[i] * self.units[j]))
    }

    /// The diagonal P that reciprocity suggests, in the user's units.
    pub(crate) fn suggested(&self) -> DMatrix<f64> {
        self.unscale(&DMatrix::identity(self.units.len(), self.units.len()))
    }

    /// Moves P to the nearest one that makes F z = 0 for the z without states on which F vanishes for every P: there P B = Cᵀ must hold exactly.
    pub fn polish(&self, p: &DMatrix<f64>) -> DMatrix<f64> {
        let n = self.units.len();
        let still = null_space(&self.states);
        if still.ncols() == 0 {
            return p.clone();
        }
        let loss = symmetrised(&(still.transpose() * &self.supply * &still)).symmetric_eigen();
        let lossless: Vec<DVector<f64>> =
            (0..still.ncols()).filter(|&k| loss.eigenvalues[k].abs() <= 1e-10).map(|k| &still * loss.eigenvectors.column(k)).collect();
        if lossless.is_empty() {
            return p.clone();
        }
        let places: Vec<(usize, usize)> = (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))).collect();
        let size = self.supply.nrows();
        let mut equations = DMatrix::zeros(lossless.len() * size, places.len());
        let mut right = DVector::zeros(lossless.len() * size);
        let now = self.value(p);
        for (k, z) in lossless.iter().enumerate() {
            right.rows_mut(k * size, size).copy_from(&-(&now * z));
            for (column, &(i, j)) in places.iter().enumerate() {
                equations.view_mut((k * size, column), (size, 1)).copy_from(&(self.linear(&basis(n, i, j)) * z));
            }
        }
        match equations.svd(true, true).solve(&right, 1e-10) {
            Ok(step) => places.iter().zip(step.iter()).fold(p.clone(), |p, (&(i, j), x)| p + basis(n, i, j) * *x),
            Err(_) => p.clone(),
        }
    }
}

/// The symmetric matrix with ones at (i, j) and (j, i).
pub(super) fn basis(n: usize, i: usize, j: usize) -> DMatrix<f64> {
    let mut e = DMatrix::zeros(n, n);
    (e[(i, j)], e[(j, i)]) = (1.0, 1.0);
    e
}

fn symmetrised(x: &DMatrix<f64>) -> DMatrix<f64> {
    x + x.transpose()
}

/// p_i with p_i |B_ij| = |C_ji| where both are there, p_i |A_ij| = p_j |A_ji| from state to state; 1 where nothing tells.
fn suggested_weights(a: &DMatrix<f64>, b: &DMatrix<f64>, c: &DMatrix<f64>) -> Vec<f64> {
    let n = a.nrows();
    let mut weights: Vec<Option<f64>> =
        (0..n).map(|i| (0..b.ncols()).find(|&j| b[(i, j)] != 0.0 && c[(j, i)] != 0.0).map(|j| (c[(j, i)] / b[(i, j)]).abs())).collect();
    loop {
        let near = |i: usize| (0..n).find(|&j| weights[j].is_some() && a[(i, j)] != 0.0 && a[(j, i)] != 0.0);
        let next = (0..n).filter(|&i| weights[i].is_none()).find_map(|i| Some((i, near(i)?)));
        match (next, weights.iter().position(Option::is_none)) {
            (Some((i, j)), _) => weights[i] = weights[j].map(|w| w * (a[(j, i)] / a[(i, j)]).abs()),
            (None, Some(alone)) => weights[alone] = Some(1.0),
            (None, None) => return weights.into_iter().flatten().collect(),
        }
    }
}

/// A basis of the (x, λ) that obey the equations C_e x + D_e λ = 0 and what follows for their derivatives, by columns.
fn allowed_vectors(a: &DMatrix<f64>, b: &DMatrix<f64>, c: &DMatrix<f64>, d: &DMatrix<f64>, is_port: &[bool]) -> DMatrix<f64> {
    let (n, m) = (a.nrows(), d.nrows());
    let mut equations: Vec<DVector<f64>> = Vec::new();
    for (j, _) in is_port.iter().enumerate().filter(|(_, port)| !**port) {
        equations.push(DVector::from_iterator(n + m, c.row(j).iter().chain(d.row(j).iter()).copied()));
    }
    for _ in 0..=n {
        let whole = stacked(&equations, n + m);
        // combinations of the equations in states alone hold for their derivatives too
        let hidden = null_space(&whole.columns(n, m).transpose()).transpose() * whole.columns(0, n);
        let mut grown = false;
        for k in 0..hidden.nrows() {
            let (of_states, of_multipliers) = (hidden.row(k) * a, hidden.row(k) * b);
            let derivative = DVector::from_iterator(n + m, of_states.iter().chain(of_multipliers.iter()).copied());
            let mut with = equations.clone();
            with.push(derivative.clone());
            if rank(&stacked(&with, n + m)) > rank(&whole) {
                equations.push(derivative);
                grown = true;
            }
        }
        if !grown {
            break;
        }
    }
    null_space(&stacked(&equations, n + m))
}

fn stacked(rows: &[DVector<f64>], columns: usize) -> DMatrix<f64> {
    DMatrix::from_fn(rows.len(), columns, |i, j| rows[i][j] / rows[i].amax().max(f64::MIN_POSITIVE))
}

fn rank(matrix: &DMatrix<f64>) -> usize {
    matrix.ncols() - null_space(matrix).ncols()
}

/// A basis of the vectors that the matrix maps to zero, by columns; Gauss–Jordan elimination with complete pivoting.
fn null_space(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let (rows, columns) = matrix.shape();
    let (mut a, mut pivots, mut first) = (matrix.clone(), Vec::new(), 0.0_f64);
    for k in 0..rows.min(columns) {
        let mut best = (0.0, 0, 0);
        for i in k..rows {
            for j in (0..columns).filter(|j| !pivots.contains(j)) {
                if a[(i, j)].abs() > best.0 {
                    best = (a[(i, j)].abs(), i, j);
                }
            }
        }
        let (size, row, column) = best;
        first = first.max(size);
        if size <= RANK * first {
            break;
        }
        a.swap_rows(k, row);
        let pivot = a.row(k) / a[(k, column)];
        for i in (0..rows).filter(|&i| i != k) {
            let factor = a[(i, column)];
            a.row_mut(i).zip_apply(&pivot, |x, p| *x -= factor * p);
        }
        a.row_mut(k).copy_from(&pivot);
        pivots.push(column);
    }
    let free: Vec<usize> = (0..columns).filter(|j| !pivots.contains(j)).collect();
    let mut basis = DMatrix::zeros(columns, free.len());
    for (k, &j) in free.iter().enumerate() {
        basis[(j, k)] = 1.0;
        for (i, &pivot) in pivots.iter().enumerate() {
            basis[(pivot, k)] = -a[(i, j)];
        }
    }
    basis
}
