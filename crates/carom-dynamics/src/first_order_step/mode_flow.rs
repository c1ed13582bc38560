//! The motion of a first-order system while the pieces of its laws hold.
//!
//! Rows that are held, y_i = 0, determine their multipliers: by y_i = 0 itself where some multiplier acts on it directly (∂h_i/∂λ ≠ 0), by ẏ_i = 0 otherwise, ẏ_i = ∂h_i/∂t + C_i M⁻¹(f + g(λ)).
//! All others are at a bound. With a relay this is Filippov's sliding vector field; on a sweeping process ẏ_i = 0 over the faces in contact gives the velocity of minimal norm that stays in the set
//! [Moreau1999, (15)], since the mode problem −ẏ ∈ N_K(λ) over the rows with y = 0 is the projection of −f on the tangent cone.

use crate::error::{ModelError, NonFinite, StepError};
use crate::first_order::law::MultiplierLaw;
use crate::first_order::set::{FirstOrderSet, Mass, Point, Variable};
use crate::systems::Scratch;
use carom_solvers::affine_vi::{AffineVi, AffineViSolver, Piece};
use carom_solvers::linear::RowLu;
use carom_solvers::vi::Set;
use carom_solvers::{Solution, SolveReport};

/// Pieces and work arrays.
pub(crate) struct ModeFlow<'a> {
    set: &'a FirstOrderSet,
    held_inputs: Vec<f64>,
    /// The piece of each row.
    pub pieces: Vec<Piece>,
    bounds: Vec<(f64, f64)>,
    /// A multiplier acts directly on the row.
    direct: Vec<bool>,
    /// λ and y at the last evaluation.
    pub lambda: Vec<f64>,
    pub y: Vec<f64>,
    scratch: Scratch,
    mass: RowLu,
    has_mass: bool,
    c: Vec<f64>,
    /// M⁻¹ ∂g/∂λ by columns.
    b: Vec<f64>,
    d: Vec<f64>,
    y_rate: Vec<f64>,
    drift: Vec<f64>,
    action: Vec<f64>,
    lu: RowLu,
    solver: AffineViSolver,
}

impl<'a> ModeFlow<'a> {
    pub fn new(set: &'a FirstOrderSet, held_inputs: &[f64], tolerance: f64) -> Result<Self, StepError> {
        let (n, m) = (set.states().len(), set.rows().len());
        let bound = |set: &Set| match *set {
            Set::NonNegative { .. } => (0.0, f64::INFINITY),
            Set::Interval { lower, upper } => (lower, upper),
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        };
        let bounds = set.sets().iter().flat_map(|set| std::iter::repeat_n(bound(set), set.dim())).collect();
        let mut direct = vec![false; m];
        for &(row, variable) in &set.output_jacobian.places {
            direct[row] |= matches!(variable, Variable::Multiplier(_));
        }
        let solver = AffineViSolver::new(tolerance).map_err(|source| StepError::Solve { t: 0.0, source })?;
        Ok(ModeFlow {
            set,
            held_inputs: held_inputs.to_vec(),
            pieces: vec![Piece::AtLower; m],
            bounds,
            direct,
            lambda: vec![0.0; m],
            y: vec![0.0; m],
            scratch: Scratch::default(),
            mass: RowLu::default(),
            has_mass: !matches!(set.mass, Mass::Identity),
            c: vec![0.0; m * n],
            b: vec![0.0; m * n],
            d: vec![0.0; m * m],
            y_rate: vec![0.0; m],
            drift: vec![0.0; n],
            action: vec![0.0; n],
            lu: RowLu::default(),
            solver,
        })
    }

    /// C, M⁻¹B, D, ∂h/∂t at (t, x); f + g at the bounds of λ in `drift`, solved with M.
    fn evaluate(&mut self, t: f64, x: &[f64]) -> Result<(), NonFinite> {
        let (set, n, m) = (self.set, x.len(), self.pieces.len());
        let at = Point { t, x, lambda: &self.lambda, held: &self.held_inputs, ..Point::default() };
        let scratch = &mut self.scratch;
        set.drift(&at, &mut self.drift, scratch)?;
        set.action(&at, &mut self.action, scratch)?;
        set.output(&at, &mut self.y, scratch)?;
        set.output_rate(&at, &mut self.y_rate, scratch)?;
        self.c.fill(0.0);
        self.b.fill(0.0);
        self.d.fill(0.0);
        let (b, c, d) = (&mut self.b, &mut self.c, &mut self.d);
        set.visit(&set.action_jacobian, &at, scratch, &mut |i, variable, value| {
            if let Variable::Multiplier(j) = variable {
                b[j * n + i] += value;
            }
        })?;
        set.visit(&set.output_jacobian, &at, scratch, &mut |i, variable, value| match variable {
            Variable::State(j) => c[i * n + j] += value,
            Variable::Multiplier(j) => d[i * m + j] += value,
            Variable::Coordinate(_) | Variable::Velocity(_) => {}
        })?;
        for (drift, action) in self.drift.iter_mut().zip(&self.action) {
            *drift += action;
        }
        if self.has_mass {
            set.mass(&at, self.mass.reset(n), scratch)?;
            if !self.mass.factor() {
                return Err(NonFinite { what: "the inverse of M, which located events need,".into(), value: f64::INFINITY });
            }
            self.mass.solve(&mut self.drift);
            for column in self.b.chunks_exact_mut(n.max(1)).take(m) {
                self.mass.solve(column);
            }
        }
        Ok(())
    }

    /// Slope of row i's equation by λ_j: D where it is direct, C M⁻¹B otherwise.
    fn slope(&self, i: usize, j: usize) -> f64 {
        let (n, m) = (self.drift.len(), self.pieces.len());
        match self.direct[i] {
            true => self.d[i * m + j],
            false => dot(&self.c[i * n..(i + 1) * n], &self.b[j * n..(j + 1) * n]),
        }
    }

    /// y_i where multipliers act on it directly, ẏ_i otherwise, at the multipliers of the last evaluation.
    fn level(&self, i: usize) -> f64 {
        let n = self.drift.len();
        if self.direct[i] { self.y[i] } else { self.y_rate[i] + dot(&self.c[i * n..(i + 1) * n], &self.drift) }
    }

    /// ẋ at (t, x) with the present pieces; λ and y are left in the flow.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula, or the rows whose multipliers the held outputs do not determine.
    pub fn rate(&mut self, t: f64, x: &[f64], out: &mut [f64]) -> Result<(), NonFinite> {
        let n = x.len();
        for ((lambda, piece), (lower, upper)) in self.lambda.iter_mut().zip(&self.pieces).zip(&self.bounds) {
            *lambda = match piece {
                Piece::AtLower => *lower,
                Piece::Held => 0.0,
                Piece::AtUpper => *upper,
            };
        }
        self.evaluate(t, x)?;
        let held: Vec<usize> = (0..self.pieces.len()).filter(|&i| self.pieces[i] == Piece::Held).collect();
        let mut rhs: Vec<f64> = held.iter().map(|&i| -self.level(i)).collect();
        let entries: Vec<f64> = held.iter().flat_map(|&i| held.iter().map(move |&j| (i, j))).map(|(i, j)| self.slope(i, j)).collect();
        self.lu.reset(held.len()).copy_from_slice(&entries);
        if !self.lu.factor() {
            let names: Vec<&str> = held.iter().map(|&i| self.set.rows()[i].as_str()).collect();
            return Err(NonFinite { what: format!("the multiplier that holds {}", names.join(", ")), value: f64::INFINITY });
        }
        self.lu.solve(&mut rhs);
        out.copy_from_slice(&self.drift);
        let m = self.pieces.len();
        for (&j, &lambda) in held.iter().zip(&rhs) {
            self.lambda[j] = lambda;
            for (out, b) in out.iter_mut().zip(&self.b[j * n..(j + 1) * n]) {
                *out += b * lambda;
            }
            for i in 0..m {
                self.y[i] += self.d[i * m + j] * lambda;
            }
        }
        Ok(())
    }

    /// How far the row that is nearest to leaving its piece is from it, at the last evaluation; negative beyond.
    pub fn margin(&self) -> f64 {
        (0..self.pieces.len()).map(|i| self.margin_of(i)).fold(f64::INFINITY, f64::min)
    }

    fn margin_of(&self, i: usize) -> f64 {
        let (lower, upper) = self.bounds[i];
        match self.pieces[i] {
            Piece::AtLower => self.y[i],
            Piece::AtUpper => -self.y[i],
            Piece::Held => (self.lambda[i] - lower).min(upper - self.lambda[i]),
        }
    }

    /// Moves x back to the held surfaces, along M⁻¹B: what the integrator drifted off.
    pub fn project(&mut self, t: f64, x: &mut [f64]) -> Result<(), NonFinite> {
        let held: Vec<usize> = (0..self.pieces.len()).filter(|&i| self.pieces[i] == Piece::Held && !self.direct[i]).collect();
        for _ in 0..3 {
            self.evaluate(t, x)?;
            let mut rhs: Vec<f64> = held.iter().map(|&i| -self.y[i]).collect();
            if rhs.iter().all(|y| y.abs() < 1e-15) {
                return Ok(());
            }
            let entries: Vec<f64> = held.iter().flat_map(|&i| held.iter().map(move |&j| (i, j))).map(|(i, j)| self.slope(i, j)).collect();
            self.lu.reset(held.len()).copy_from_slice(&entries);
            if !self.lu.factor() {
                return Ok(());
            }
            self.lu.solve(&mut rhs);
            let n = x.len();
            for (&j, &shift) in held.iter().zip(&rhs) {
                for (x, b) in x.iter_mut().zip(&self.b[j * n..(j + 1) * n]) {
                    *x += b * shift;
                }
            }
        }
        Ok(())
    }

    /// The pieces with which the motion goes on from (t, x): the law on ẏ over the rows with |y| ≤ `gap`, on y itself over rows that multipliers act on directly. Tells whether a row
    /// had several possible pieces (repulsive sliding).
    ///
    /// # Errors
    /// [`StepError`] for formulas that are not finite.
    pub fn decide(&mut self, t: f64, x: &[f64], gap: f64) -> Result<(SolveReport, bool), StepError> {
        let m = self.pieces.len();
        self.lambda.fill(0.0);
        self.evaluate(t, x).map_err(crate::assembly::at_time(t))?;
        let mut problem = AffineVi { w: vec![0.0; m * m], q: vec![0.0; m], sets: Vec::with_capacity(m), generation: 0 };
        let (mut repulsive, mut start) = (false, self.pieces.clone());
        for (i, start) in start.iter_mut().enumerate() {
            let (lower, upper) = self.bounds[i];
            if self.direct[i] || self.y[i].abs() <= gap {
                problem.q[i] = self.level(i);
                for j in 0..m {
                    problem.w[i * m + j] = self.slope(i, j);
                }
                repulsive |= problem.w[i * m + i] < 0.0;
                problem.sets.push(match (lower.is_finite(), upper.is_finite()) {
                    (true, true) => Set::Interval { lower, upper },
                    (true, false) => Set::NonNegative { dim: 1 },
                    _ => Set::Free { dim: 1 },
                });
            } else {
                // a row off its surface is at a bound, and stays there
                *start = if self.y[i] > 0.0 { Piece::AtLower } else { Piece::AtUpper };
                let bound = if self.y[i] > 0.0 { lower } else { upper };
                problem.sets.push(Set::Interval { lower: bound, upper: bound });
            }
        }
        self.solver.set_pieces(&start);
        problem.generation = t.to_bits().wrapping_add(x.iter().fold(1, |sum: u64, x| sum.rotate_left(7) ^ x.to_bits()));
        let mut solution = Solution { r: vec![0.0; m], u: vec![0.0; m] };
        let report = self.solver.solve(&problem, &mut solution).map_err(|source| StepError::Solve { t, source })?;
        for (i, start) in start.into_iter().enumerate() {
            let off = !self.direct[i] && self.y[i].abs() > gap;
            self.pieces[i] = if off { start } else { self.solver.pieces()[i] };
        }
        Ok((report, repulsive))
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Located events know scalar laws, and multipliers that enter affinely.
///
/// # Errors
/// [`ModelError::StrategyRefuses`].
pub(crate) fn check_located(set: &FirstOrderSet, strategy: &'static str) -> Result<(), ModelError> {
    let refuse =
        |feature: &'static str, by: String| Err(ModelError::StrategyRefuses { strategy, feature, by, alternatives: "time-stepping" });
    let simple =
        |law: &MultiplierLaw| matches!(law, MultiplierLaw::Equality | MultiplierLaw::Complementarity | MultiplierLaw::Relay { .. });
    if let Some(relation) = set.relations().iter().find(|relation| !simple(&relation.law)) {
        return refuse("polytopes, balls and cones of multipliers", format!("\"{}\"", relation.name));
    }
    if set.is_coupled() {
        return refuse("first-order systems coupled to mechanical ones", "[first_order]".into());
    }
    if !set.affine_in_multipliers {
        return refuse("multipliers that do not enter affinely", "a formula of [first_order]".into());
    }
    Ok(())
}
