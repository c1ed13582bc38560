//! Why a system has no storage function: a negative resistance, a state that grows by itself, a frequency at which multipliers gain.

use super::super::set::{FirstOrderSet, LinearParts};
use super::NotPassive;
use carom_solvers::vi::Set;
use nalgebra::{Complex, DMatrix};

/// Eigenvalues below this fraction of the matrix are rounding.
const ROUNDING: f64 = 1e-9;

/// Frequencies per decade that are looked at, between a hundredth of the slowest rate and a hundred times the fastest.
const PER_DECADE: usize = 20;

/// The system with its equations solved for their multipliers: ẋ = A x + B λ, y = C x + D λ over the ports.
struct Ports {
    rows: Vec<usize>,
    a: DMatrix<f64>,
    b: DMatrix<f64>,
    c: DMatrix<f64>,
    d: DMatrix<f64>,
}

impl Ports {
    /// `None` where equations do not determine their multipliers.
    fn new(set: &FirstOrderSet, parts: &LinearParts) -> Option<Self> {
        let (n, m) = (set.states().len(), set.rows().len());
        let mass = DMatrix::from_row_slice(n, n, &parts.mass).lu();
        let a = mass.solve(&DMatrix::from_row_slice(n, n, &parts.a))?;
        let b = mass.solve(&DMatrix::from_row_slice(n, m, &parts.b))?;
        let c = DMatrix::from_row_slice(m, n, &parts.c);
        let d = DMatrix::from_row_slice(m, m, &parts.d);
        let is_free: Vec<bool> =
            set.sets().iter().flat_map(|set| std::iter::repeat_n(matches!(set, Set::Free { .. }), set.dim())).collect();
        let free: Vec<usize> = (0..m).filter(|&j| is_free[j]).collect();
        let rows: Vec<usize> = (0..m).filter(|&j| !is_free[j]).collect();
        if free.is_empty() {
            return Some(Ports { rows, a, b, c, d });
        }
        let pick = |matrix: &DMatrix<f64>, i: &[usize], j: &[usize]| matrix.select_rows(i).select_columns(j);
        let all: Vec<usize> = (0..n).collect();
        let own = pick(&d, &free, &free).lu();
        // λ_e = −D_ee⁻¹ (C_e x + D_ep λ_p)
        let (by_states, by_ports) = (own.solve(&c.select_rows(&free))?, own.solve(&pick(&d, &free, &rows))?);
        if !(by_states.amax().is_finite() && by_ports.amax().is_finite()) {
            return None;
        }
        let (b_free, d_free) = (pick(&b, &all, &free), pick(&d, &rows, &free));
        Some(Ports {
            a: a - &b_free * &by_states,
            b: b.select_columns(&rows) - &b_free * &by_ports,
            c: c.select_rows(&rows) - &d_free * &by_states,
            d: pick(&d, &rows, &rows) - &d_free * &by_ports,
            rows,
        })
    }
}

/// The first witness found; `None` where there is none, or where equations do not determine their multipliers.
pub(super) fn find(set: &FirstOrderSet, parts: &LinearParts) -> Option<NotPassive> {
    let ports = Ports::new(set, parts)?;
    let name = |vector: &[f64]| {
        let most = vector.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let named = vector.iter().zip(&ports.rows).filter(|(x, _)| x.abs() >= 0.5 * most).map(|(_, &row)| set.rows()[row].as_str());
        named.collect::<Vec<_>>().join(", ")
    };
    if !ports.rows.is_empty() {
        let eigen = (&ports.d + ports.d.transpose()).symmetric_eigen();
        let least = eigen.eigenvalues.imin();
        if eigen.eigenvalues[least] < -ROUNDING * ports.d.amax() {
            let rows = name(eigen.eigenvectors.column(least).as_slice());
            return Some(NotPassive::Resistance { rows, value: 0.5 * eigen.eigenvalues[least] });
        }
    }
    let eigenvalues = ports.a.complex_eigenvalues();
    let size = ports.a.amax();
    if let Some(growing) = eigenvalues.iter().max_by(|a, b| a.re.total_cmp(&b.re)).filter(|s| s.re > 1e-7 * size) {
        return Some(NotPassive::Growing { state: grown_state(set, &ports.a, *growing), rate: growing.re });
    }
    if ports.rows.is_empty() {
        return None;
    }
    let rates: Vec<f64> = eigenvalues.iter().map(|s| s.norm()).filter(|&s| s > 1e-12 * size).collect();
    let (slowest, fastest) = (rates.iter().copied().fold(f64::INFINITY, f64::min), rates.iter().copied().fold(0.0, f64::max));
    let (slowest, fastest) = if fastest > 0.0 { (slowest, fastest) } else { (1.0, 1.0) };
    let decades = (1e4 * fastest / slowest).log10();
    let count = (decades * PER_DECADE as f64).ceil() as usize;
    let grid = (0..=count).map(|k| 1e-2 * slowest * 10_f64.powf(k as f64 / PER_DECADE as f64));
    // beside resonances, not at them: there the transfer matrix of an undamped system is rounding
    let beside = rates.into_iter().flat_map(|rate| [0.999 * rate, 1.001 * rate]);
    let is_off = |omega: &f64| eigenvalues.iter().all(|s| (Complex::new(0.0, *omega) - s).norm() > 1e-5 * omega);
    grid.chain(beside).filter(is_off).filter_map(|omega| gain_at(&ports, omega, &name)).min_by(|a, b| value_of(a).total_cmp(&value_of(b)))
}

fn value_of(why: &NotPassive) -> f64 {
    if let NotPassive::Frequency { value, .. } = why { *value } else { 0.0 }
}

/// The state with the largest entry in the eigenvector of s, by inverse iteration beside s.
fn grown_state(set: &FirstOrderSet, a: &DMatrix<f64>, s: Complex<f64>) -> String {
    let n = a.nrows();
    let beside = s * (1.0 + 1e-7);
    let shifted = DMatrix::from_fn(n, n, |i, j| Complex::from(a[(i, j)]) - if i == j { beside } else { Complex::from(0.0) });
    let start = DMatrix::from_fn(n, 1, |i, _| Complex::from(1.0 + 0.1 * i as f64));
    let vector = shifted.lu().solve(&start).unwrap_or(start);
    let most = (0..n).max_by(|&i, &j| vector[(i, 0)].norm().total_cmp(&vector[(j, 0)].norm())).unwrap_or(0);
    set.states()[most].name.clone()
}

/// A negative eigenvalue of the Hermitian part of G(iω).
fn gain_at(ports: &Ports, omega: f64, name: &dyn Fn(&[f64]) -> String) -> Option<NotPassive> {
    let n = ports.a.nrows();
    let complex = |x: &DMatrix<f64>| x.map(Complex::from);
    let pencil = DMatrix::from_fn(n, n, |i, j| Complex::new(-ports.a[(i, j)], if i == j { omega } else { 0.0 }));
    let response = pencil.lu().solve(&complex(&ports.b))?;
    let through = complex(&ports.c) * response;
    let transfer = complex(&ports.d) + &through;
    let size = ports.d.amax().max(through.iter().fold(0.0_f64, |m, x| m.max(x.norm())));
    let eigen = (&transfer + transfer.adjoint()).symmetric_eigen();
    let least = eigen.eigenvalues.imin();
    let value = 0.5 * eigen.eigenvalues[least];
    // near an undamped resonance the transfer matrix is large, and its rounding with it
    if !(value < -ROUNDING * size && size.is_finite()) {
        return None;
    }
    let vector: Vec<f64> = eigen.eigenvectors.column(least).iter().map(|x| x.norm()).collect();
    Some(NotPassive::Frequency { rows: name(&vector), omega, value })
}
