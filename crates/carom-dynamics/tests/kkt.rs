//! The linear system of accelerations and multipliers on random matrices.

use carom_dynamics::Law;
use carom_dynamics::Model;
use carom_dynamics::relations::{PlanarPin, PlanarPoint};
use carom_dynamics::smooth::{Kkt, KktError, RowLayout};
use carom_dynamics::systems::{PlanarBodies, PlanarBody};
use nalgebra::{DMatrix, DVector};

/// A ring of planar bodies with a pin between each and the next, and a chord over every third: the pattern of the matrices.
fn ring(n: usize) -> Model {
    let bodies = (0..n).map(|k| PlanarBody { name: format!("b{k}"), mass: 1.0, inertia: 1.0 }).collect();
    let mut model = Model::new(vec![Box::new(PlanarBodies::new(bodies, [0.0; 2]).unwrap())]).unwrap();
    let point = |k: usize| PlanarPoint { coordinate: 3 * k, velocity: 3 * k, local: [0.0; 2] };
    for k in 0..n {
        model.add_interaction(&format!("pin {k}"), Box::new(PlanarPin::between(point(k), point((k + 1) % n))), Law::Bilateral).unwrap();
    }
    for k in (0..n).step_by(9) {
        model.add_interaction(&format!("chord {k}"), Box::new(PlanarPin::between(point(k), point((k + 4) % n))), Law::Bilateral).unwrap();
    }
    model
}

struct Random(f64);

impl Random {
    /// Uniform in (−0.5, 0.5).
    fn next(&mut self) -> f64 {
        self.0 = (self.0 * 997.0 + 0.123_456_789).fract();
        self.0 - 0.5
    }

    fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.next()).collect()
    }
}

/// Rows of values as a full matrix.
fn full(model: &Model, rows: &RowLayout, values: &[f64]) -> DMatrix<f64> {
    let layout = model.systems().layout();
    let mut matrix = DMatrix::zeros(rows.n_rows(), layout.n_rows());
    for item in rows.items() {
        for (k, row) in item.rows.clone().enumerate() {
            for &(block, column) in rows.touched(item) {
                for i in 0..layout.size(block as usize) {
                    matrix[(row, layout.rows[block as usize] + i)] = values[item.first + k * item.width + column as usize + i];
                }
            }
        }
    }
    matrix
}

/// Largest residuals, relative to the size of the terms, of M a − Hᵀλ = f and G a = r, and the difference of (a, λ) from a dense solution.
fn residuals(n: usize, symmetric: bool) -> [f64; 3] {
    let (model, mut random) = (ring(n), Random(0.37));
    let layout = model.systems().layout();
    let rows = RowLayout::new(&model, |_, _| true);
    let (nv, m) = (layout.n_rows(), rows.n_rows());
    let mut mass = Vec::new();
    for _ in 0..n {
        let a: DMatrix<f64> = DMatrix::from_fn(3, 3, |_, _| random.next());
        // condition numbers of a few tens
        mass.extend_from_slice((&a * a.transpose() + DMatrix::identity(3, 3) * 0.3).as_slice());
    }
    let g = random.vector(rows.n_values());
    let h: Vec<f64> = g.iter().map(|x| x + 0.05 * random.next()).collect();
    let (f, r) = (random.vector(nv), random.vector(m));
    let (mut kkt, mut a, mut lambda) = (Kkt::default(), vec![0.0; nv], vec![0.0; m]);
    kkt.factorise(layout, &rows, &mass, &g, (!symmetric).then_some(&h)).unwrap();
    kkt.solve(layout, &rows, &f, &r, &mut a, &mut lambda);
    let (g, h) = (full(&model, &rows, &g), full(&model, &rows, if symmetric { &g } else { &h }));
    let mut m_full = DMatrix::zeros(nv, nv);
    for b in 0..n {
        let block = &mass[layout.values[b]..layout.values[b + 1]];
        (0..9).for_each(|k| m_full[(layout.rows[b] + k / 3, layout.rows[b] + k % 3)] = block[k]);
    }
    let (a, lambda) = (DVector::from_vec(a), DVector::from_vec(lambda));
    let (f, r) = (DVector::from_vec(f), DVector::from_vec(r));
    let sized = |residual: DVector<f64>, terms: f64| residual.amax() / terms;
    let dynamic = sized(&m_full * &a - h.transpose() * &lambda - &f, f.amax() + (m_full.abs() * a.abs()).amax());
    let kinematic = sized(&g * &a - &r, r.amax() + (g.abs() * a.abs()).amax());
    let mut system = DMatrix::zeros(nv + m, nv + m);
    system.view_mut((0, 0), (nv, nv)).copy_from(&m_full);
    system.view_mut((0, nv), (nv, m)).copy_from(&(-h.transpose()));
    system.view_mut((nv, 0), (m, nv)).copy_from(&g);
    let right = DVector::from_iterator(nv + m, f.iter().chain(r.iter()).copied());
    let exact = system.lu().solve(&right).unwrap();
    let found = DVector::from_iterator(nv + m, a.iter().chain(lambda.iter()).copied());
    [dynamic, kinematic, (&found - &exact).amax() / exact.amax()]
}

/// 10 bodies have 24 rows (dense), 60 have 134 (sparse).
#[test]
fn random_systems_are_solved_to_round_off() {
    for n in [10, 60] {
        for symmetric in [true, false] {
            let [dynamic, kinematic, difference] = residuals(n, symmetric);
            // after iterative refinement: a few roundings of sums of 6 terms
            assert!(kinematic < 1e-15, "{n} {symmetric}: G a = r to {kinematic:.1e}");
            assert!(dynamic < 1e-14, "{n} {symmetric}: M a − Hᵀλ = f to {dynamic:.1e}"); // as above, with the condition of the mass blocks
            assert!(difference < 1e-11, "{n} {symmetric}: differs by {difference:.1e}"); // condition numbers up to about 1e4
        }
    }
}

/// A row that is twice another is reported, in the dense and the sparse case, whatever its units.
#[test]
fn a_dependent_row_is_named() {
    for n in [10, 60] {
        for scale in [2.0, 2e-8] {
            let (model, mut random) = (ring(n), Random(0.61));
            let layout = model.systems().layout();
            let rows = RowLayout::new(&model, |_, _| true);
            let mass: Vec<f64> = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0].repeat(n);
            let mut g = random.vector(rows.n_values());
            let item = &rows.items()[4];
            let (first, second) = (item.first, item.first + item.width);
            (0..item.width).for_each(|k| g[second + k] = scale * g[first + k]);
            match Kkt::default().factorise(layout, &rows, &mass, &g, None) {
                Err(KktError::Row(row, pivot)) => {
                    assert!(item.rows.contains(&row), "row {row}");
                    assert!(pivot < 1e-14, "{pivot:.1e}"); // round-off of sums of six products
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
