//! Tableaux of explicit Runge–Kutta methods.
//!
//! RK4: the classical method. RKF45: E. Fehlberg, *Low-order classical Runge-Kutta formulas with stepsize control*, 1969; Haddouni2015
//! eqs. (A.3)–(A.5) with c₆ = 1/2 (printed 1) and 2197/4104 (printed 4101). DOPRI5: J. R. Dormand, P. J. Prince, *A family of embedded
//! Runge-Kutta formulae*, 1980; Haddouni2015 eqs. (A.6)–(A.8) with +46732/5247, 49/176, 125/192 and 5179/57600 where signs or digits
//! are misprinted, (A.7) being the formula of order 5. The order conditions are tested below.

/// An explicit Runge–Kutta method.
///
/// ```text
/// Y_i = y_n + h Σ_{j<i} a_ij f(Y_j),     y_{n+1} = y_n + h Σ_i b_i f(Y_i)
/// ```
#[derive(Debug)]
pub(super) struct Tableau {
    /// Nodes.
    pub(super) c: &'static [f64],
    /// Rows of the matrix below its diagonal.
    pub(super) a: &'static [&'static [f64]],
    /// Weights of the solution of lower order of a pair, or the only ones.
    pub(super) low: &'static [f64],
    /// Weights of the solution of higher order of a pair.
    pub(super) high: Option<&'static [f64]>,
    /// The last row of the matrix equals `high`: the last stage is the end of the step ("first same as last").
    pub(super) ends_at_last_stage: bool,
}

/// The classical method of order 4.
pub(super) const RK4: Tableau = Tableau {
    c: &[0.0, 0.5, 0.5, 1.0],
    a: &[&[], &[0.5], &[0.0, 0.5], &[0.0, 0.0, 1.0]],
    low: &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
    high: None,
    ends_at_last_stage: false,
};

/// Fehlberg's pair of orders 4 and 5.
pub(super) const RKF45: Tableau = Tableau {
    c: &[0.0, 0.25, 0.375, 12.0 / 13.0, 1.0, 0.5],
    a: &[
        &[],
        &[0.25],
        &[3.0 / 32.0, 9.0 / 32.0],
        &[1932.0 / 2197.0, -7200.0 / 2197.0, 7296.0 / 2197.0],
        &[439.0 / 216.0, -8.0, 3680.0 / 513.0, -845.0 / 4104.0],
        &[-8.0 / 27.0, 2.0, -3544.0 / 2565.0, 1859.0 / 4104.0, -11.0 / 40.0],
    ],
    low: &[25.0 / 216.0, 0.0, 1408.0 / 2565.0, 2197.0 / 4104.0, -0.2, 0.0],
    high: Some(&[16.0 / 135.0, 0.0, 6656.0 / 12825.0, 28561.0 / 56430.0, -9.0 / 50.0, 2.0 / 55.0]),
    ends_at_last_stage: false,
};

/// Dormand and Prince's pair of orders 5 and 4.
pub(super) const DOPRI5: Tableau = Tableau {
    c: &[0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0],
    a: &[
        &[],
        &[0.2],
        &[3.0 / 40.0, 9.0 / 40.0],
        &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
        &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
        &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
        &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
    ],
    low: &[5179.0 / 57600.0, 0.0, 7571.0 / 16695.0, 393.0 / 640.0, -92097.0 / 339_200.0, 187.0 / 2100.0, 1.0 / 40.0],
    high: Some(&[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0, 0.0]),
    ends_at_last_stage: true,
};

/// Weights d_i of the dense output of [`DOPRI5`]: E. Hairer, S. P. Nørsett, G. Wanner, *Solving Ordinary Differential Equations I*, section II.6.
pub(super) const DOPRI5_DENSE: [f64; 7] = [
    -12_715_105_075.0 / 11_282_082_432.0,
    0.0,
    87_487_479_700.0 / 32_700_410_799.0,
    -10_690_763_975.0 / 1_880_347_072.0,
    701_980_252_875.0 / 199_316_789_632.0,
    -1_453_857_185.0 / 822_651_844.0,
    69_997_945.0 / 29_380_423.0,
];

#[cfg(test)]
mod tests {
    use super::{DOPRI5, DOPRI5_DENSE, RK4, RKF45, Tableau};

    /// Elementary weights Φ(τ) of all rooted trees with up to 5 vertices, as (vector over stages, number of vertices, density γ). A tree is
    /// its children; a vector holds Π over the children of A·(vector of the child).
    fn trees(tableau: &Tableau) -> Vec<(Vec<f64>, usize, f64)> {
        let stages = tableau.c.len();
        let below = |x: &[f64]| -> Vec<f64> { tableau.a.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect() };
        let mut list: Vec<(Vec<f64>, usize, f64)> = vec![(vec![1.0; stages], 1, 1.0)];
        // the children of a tree of n vertices are trees of smaller sizes: enumerate multisets of trees with n − 1 vertices in sum
        for n in 2..=5 {
            let mut found = Vec::new();
            let mut open: Vec<(Vec<f64>, usize, f64, usize)> = vec![(vec![1.0; stages], 0, 1.0, 0)];
            while let Some((product, size, density, from)) = open.pop() {
                if size == n - 1 {
                    found.push((product, n, density * n as f64));
                    continue;
                }
                for (i, (child, child_size, child_density)) in list.iter().enumerate().skip(from) {
                    if size + child_size < n {
                        let grown = product.iter().zip(below(child)).map(|(p, x)| p * x).collect();
                        open.push((grown, size + child_size, density * child_density, i));
                    }
                }
            }
            list.extend(found);
        }
        list
    }

    /// Order up to which b satisfies Σ b_i Φ_i(τ) = 1/γ(τ), to round-off.
    fn order(tableau: &Tableau, weights: &[f64]) -> usize {
        let list = trees(tableau);
        assert_eq!(list.len(), 17, "1 + 1 + 2 + 4 + 9 trees");
        // sums of at most seven terms of size below 100
        let holds = |(phi, _, density): &&(Vec<f64>, usize, f64)| {
            (weights.iter().zip(phi).map(|(b, x)| b * x).sum::<f64>() - 1.0 / density).abs() < 1e-14
        };
        (1..=5).take_while(|&p| list.iter().filter(|tree| tree.1 == p).all(|tree| holds(&tree))).count()
    }

    #[test]
    fn order_conditions_hold_to_the_declared_order_and_no_further() {
        assert_eq!(order(&RK4, RK4.low), 4);
        for pair in [&RKF45, &DOPRI5] {
            assert_eq!(order(pair, pair.low), 4);
            assert_eq!(pair.high.map(|b| order(pair, b)), Some(5));
        }
    }

    #[test]
    fn nodes_are_the_row_sums() {
        for tableau in [&RK4, &RKF45, &DOPRI5] {
            for (row, c) in tableau.a.iter().zip(tableau.c) {
                assert!((row.iter().sum::<f64>() - c).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn dense_weights_satisfy_the_conditions_of_order_4() {
        // u(θ) = y_0 + θ(r₂ + (1−θ)(r₃ + θ(r₄ + (1−θ) r₅))): b_i(θ) must satisfy Σ b_i(θ) Φ_i = θ^p/γ up to order 4
        let weights = |theta: f64| -> Vec<f64> {
            let b = DOPRI5.a[6];
            (0..7)
                .map(|i| {
                    let r2 = b.get(i).copied().unwrap_or(0.0);
                    let r3 = f64::from(u8::from(i == 0)) - r2;
                    let r4 = r2 - f64::from(u8::from(i == 6)) - r3;
                    theta * (r2 + (1.0 - theta) * (r3 + theta * (r4 + (1.0 - theta) * DOPRI5_DENSE[i])))
                })
                .collect()
        };
        for theta in [0.25_f64, 0.5, 0.8] {
            for (phi, size, density) in trees(&DOPRI5).into_iter().filter(|tree| tree.1 <= 4) {
                let sum: f64 = weights(theta).iter().zip(&phi).map(|(b, x)| b * x).sum();
                // sums of seven terms of size below 100
                assert!((sum - theta.powi(size as i32) / density).abs() < 1e-13, "{size} {sum}");
            }
        }
    }
}
