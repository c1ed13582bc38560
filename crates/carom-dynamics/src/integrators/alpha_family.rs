//! One step of the α-methods: Newmark, HHT and generalized-α, on positions, velocities or both, in the chart of the step.
//!
//! ```text
//! (1 − α_m) a_{n+1} + α_m a_n = (1 − α_f) A_{n+1} + α_f A_n                    a: algorithmic, A = v̇: true acceleration     (2.52)
//! w       = h v_n + h² ((½ − β) a_n + β a_{n+1}) (+ M_n⁻¹ G_nᵀ η),     q_{n+1} = q_n ⊕ w                                    (2.53)
//! v_{n+1} = v_n + h ((1 − γ) a_n + γ a_{n+1})
//! M A_{n+1} = F + Gᵀ λ_{n+1}   at (q_{n+1}, v_{n+1})
//! index 3: g = 0      index 2: G v + b = 0      index 1: G A + (dG/dt) v + db/dt = 0      GGL: g = 0 and G v + b = 0, with η
//! ```
//!
//! Haddouni2015 eqs. (2.52)–(2.54), (2.73), (2.75), (2.83)–(2.85) with their misprints put right; ⊕ and the linear update of v after Brüls &
//! Cardona, *On the use of Lie group time integrators in multibody dynamics* (2010). Rows without a position (nonholonomic) stay at velocity
//! level in index 3 and GGL. Differs from (2.73) in the metric of η, the mass, so that it does not depend on units; η vanishes as h³.
//!
//! Memory. a_n belongs to the time t_n + (α_m − α_f) h. It starts there, A_0 − (α_f − α_m) h Ȧ_0 with Ȧ_0 by a difference; when h changes it is
//! moved along the line through A_n: a_n ← A_n + (h/h_before)(a_n − A_n). Both keep the second order. Steps of index 3 leave G v + b = O(h²) behind;
//! when h changes that part of v_n is scaled by (h/h_before)², else the next multipliers would pay for it with an error O(h_before²/h).
//!
//! Newton. Unknowns y, λ̃, η with δa = D y/h², δq = β y (+ …), δv = γ D y/h, δλ = λ̃/h², D = D(w) of the chart, rows of the dynamics times h², of
//! velocities times h (eqs. 2.98, 2.111 for this choice of unknowns):
//!
//! ```text
//! [ c M D + hγ C D + h²β K   −Gᵀ ]        c = (1 − α_m)/(1 − α_f),  K = ∂(M A − F − Gᵀλ)/∂q
//! [ β G   or   γ G D + hβ ∂(G v)/∂q     0  ]
//! ```
//!
//! has a limit as h → 0 and its condition with it; without scaling it grows as h⁻⁴ (index 3), h⁻³ (index 2, GGL), and the factorisation of index 3
//! fails below h ≈ 1e-8 s. Above that, elimination gives the same increments either way. What no scaling mends is the round-off of the
//! constraints: λ of index 3 carries an error of some ten ε |q|/h², of index 2 and GGL ε |v|/h.
//!
//! Error estimate of positions, eq. (2.125) with −h v_n:  w − h v_n − h²/3 A_n − h²/6 A_{n+1} − h/3 (D(w) v_n − v_n), the last term for rotations;
//! of velocities by the trapezoidal rule, in index 3 without its part normal to the constraints. Both vanish as h³.
//!
//! Cost per step: one factorisation of n_v + n_rows (GGL: 2 n_rows) unless the matrix is kept, about two to four evaluations of M, F, G, g.

use super::alpha_newton::{AlphaNewton, Level};
use super::normal_part::NormalPart;
use super::{Formulation, Integrator, IntegratorParams, NewtonParams, Step, StepControl, StepEstimate};
use crate::error::IntegrationError;
use crate::smooth::{Equations, MotionPoint};

/// The error left after the last increment is foreseen to be this part of the tolerance, so that constraints hold to round-off.
const MARGIN: f64 = 1e-2;

/// Coefficients of a method.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct AlphaCoefficients {
    /// α_m.
    pub mass: f64,
    /// α_f.
    pub force: f64,
    /// β.
    pub beta: f64,
    /// γ.
    pub gamma: f64,
}

impl AlphaCoefficients {
    /// Those of the generalized-α method for the spectral radius ρ∞ in [0, 1]: see `generalized_alpha.rs`.
    pub(crate) fn of_radius(rho: f64) -> Self {
        let (mass, force) = ((2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0));
        let gamma = 0.5 - mass + force;
        AlphaCoefficients { mass, force, beta: 0.25 * (gamma + 0.5) * (gamma + 0.5), gamma }
    }

    /// dA_{n+1}/da_{n+1}.
    pub fn acceleration(&self) -> f64 {
        (1.0 - self.mass) / (1.0 - self.force)
    }
}

/// A method of the family with its memory.
pub(super) struct AlphaMethod {
    name: &'static str,
    coefficients: AlphaCoefficients,
    formulation: Formulation,
    /// Errors are estimated.
    adaptive: bool,
    params: NewtonParams,
    newton: AlphaNewton,
    /// a_n, shifted for a step of size `step`; not yet known after a restart.
    memory: Option<Memory>,
    /// What `memory` becomes when the step is accepted.
    tried: Memory,
    /// a_n moved to the step tried.
    before: Vec<f64>,
    /// v_n as the step uses it.
    v: Vec<f64>,
    normal: NormalPart,
    w: Vec<f64>,
    rate: Vec<f64>,
    errors: (Vec<f64>, Vec<f64>),
}

/// An algorithmic acceleration and the step it belongs to.
#[derive(Clone, Debug, Default)]
struct Memory {
    a: Vec<f64>,
    step: f64,
}

impl AlphaMethod {
    pub(super) fn new(name: &'static str, coefficients: AlphaCoefficients, params: &IntegratorParams) -> Self {
        AlphaMethod {
            name,
            coefficients,
            formulation: params.formulation(),
            adaptive: params.control == StepControl::Adaptive,
            params: params.newton,
            newton: AlphaNewton::default(),
            memory: None,
            tried: Memory::default(),
            before: Vec::new(),
            v: Vec::new(),
            normal: NormalPart::default(),
            w: Vec::new(),
            rate: Vec::new(),
            errors: (Vec::new(), Vec::new()),
        }
    }

    /// Writes a_n for a step of size h.
    fn shift_memory(&mut self, equations: &mut Equations<'_>, start: &MotionPoint, h: f64) -> Result<(), IntegrationError> {
        if let Some(memory) = &self.memory {
            let ratio = h / memory.step;
            for (i, before) in self.before.iter_mut().enumerate() {
                // equal steps keep a_n to the last digit
                *before = if ratio == 1.0 { memory.a[i] } else { start.a[i] + ratio * (memory.a[i] - start.a[i]) };
            }
            return Ok(());
        }
        self.before.copy_from_slice(&start.a);
        let lag = (self.coefficients.force - self.coefficients.mass) * h;
        if lag == 0.0 {
            return Ok(());
        }
        // Ȧ_0 over a thousandth of the lag: short enough for stiff forces, long enough for round-off
        let epsilon = 1e-3 * lag;
        let (mut q, mut v) = (start.q.clone(), start.v.clone());
        let (mut ahead, mut lambda) = (start.a.clone(), start.lambda.clone());
        for (i, (v, a)) in v.iter_mut().zip(&start.a).enumerate() {
            self.w[i] = epsilon * (*v + 0.5 * epsilon * a);
            *v += epsilon * a;
        }
        equations.advance(&start.q, &self.w, &mut q);
        equations.accelerate(start.t + epsilon, &q, &v, &mut ahead, &mut lambda)?;
        for (before, (ahead, now)) in self.before.iter_mut().zip(ahead.iter().zip(&start.a)) {
            *before -= lag * (ahead - now) / epsilon;
        }
        Ok(())
    }

    /// Writes v_n for a step of size h: in index 3 its part off the constraints, which steps of the size before left behind, is scaled by
    /// (h/h_before)².
    fn shift_velocity(&mut self, equations: &mut Equations<'_>, start: &MotionPoint, h: f64) -> Result<(), IntegrationError> {
        self.v.copy_from_slice(&start.v);
        let Some(ratio) = self.memory.as_ref().map(|memory| h / memory.step) else { return Ok(()) };
        if ratio == 1.0 || self.formulation != Formulation::Index3 {
            return Ok(());
        }
        self.normal.find(equations, start, &start.v, 1.0)?;
        for (v, e) in self.v.iter_mut().zip(&self.normal.part) {
            *v -= (1.0 - ratio * ratio) * e;
        }
        Ok(())
    }

    /// Writes q, v and A of the end of the step for a_{n+1} and η.
    fn place_end(&mut self, equations: &Equations<'_>, start: &MotionPoint, h: f64, end: &mut MotionPoint) {
        let AlphaCoefficients { mass, force, beta, gamma } = self.coefficients;
        for (i, (&a, &before)) in self.tried.a.iter().zip(&self.before).enumerate() {
            self.w[i] = h * self.v[i] + h * h * ((0.5 - beta) * before + beta * a);
            end.v[i] = self.v[i] + h * ((1.0 - gamma) * before + gamma * a);
            end.a[i] = ((1.0 - mass) * a + mass * before - force * start.a[i]) / (1.0 - force);
        }
        self.newton.add_correction(&mut self.w);
        equations.advance(&start.q, &self.w, &mut end.q);
    }

    /// Writes the estimated local errors.
    fn estimate(&mut self, equations: &mut Equations<'_>, start: &MotionPoint, h: f64, end: &MotionPoint) -> Result<(), IntegrationError> {
        equations.displacement_rate(&self.w, &self.v, &mut self.rate);
        for i in 0..self.v.len() {
            let (v, a, a_end) = (self.v[i], start.a[i], end.a[i]);
            self.errors.0[i] = self.w[i] - h * v - h * h * (a / 3.0 + a_end / 6.0) - h / 3.0 * (self.rate[i] - v);
            self.errors.1[i] = end.v[i] - v - 0.5 * h * (a + a_end);
        }
        if self.formulation == Formulation::Index3 {
            // the part that index 3 leaves behind is no error of the motion, and no smaller step mends it
            self.normal.find(equations, end, &self.errors.1, 0.0)?;
            self.errors.1.iter_mut().zip(&self.normal.part).for_each(|(error, normal)| *error -= normal);
        }
        Ok(())
    }

    /// Newton's iteration from the start's acceleration and multipliers.
    fn solve(&mut self, equations: &mut Equations<'_>, start: &MotionPoint, h: f64, end: &mut MotionPoint) -> Result<(), IntegrationError> {
        let (tolerance, keep) = (self.params.tolerance, self.params.keep_matrix);
        if !self.newton.can_keep(h, self.params.scaling) {
            self.newton.forget_matrix();
        }
        let (mut previous, mut rebuilt) = (f64::INFINITY, false);
        for iteration in 0..self.params.max_iterations {
            equations.statistics.newton_iterations += 1;
            self.place_end(equations, start, h, end);
            self.newton.evaluate(equations, end, h)?;
            if !(keep && self.newton.has_matrix()) {
                self.newton.assemble(equations, end, &self.w, h)?;
                rebuilt = true;
            }
            let increment = self.newton.improve(equations, h, &mut self.tried.a, end);
            let rate = increment.relative / previous;
            let remaining = if iteration > 0 && rate < 1.0 { increment.relative * rate / (1.0 - rate) } else { f64::INFINITY };
            // no further progress, at a size where positions are at their last digits: round-off
            let exhausted = rebuilt && rate > 0.5 && increment.position <= tolerance;
            if increment.relative <= tolerance || remaining <= MARGIN * tolerance || exhausted {
                self.place_end(equations, start, h, end);
                return Ok(());
            }
            if !increment.relative.is_finite() {
                break;
            }
            // a kept matrix that would need more than three further iterations costs more than a new one
            if iteration > 0 && increment.relative * rate.powi(3) > tolerance {
                self.newton.forget_matrix();
            }
            previous = increment.relative;
        }
        self.newton.forget_matrix();
        Err(IntegrationError::NotConverged {
            t: start.t + h,
            what: "Newton's iteration of an α-method",
            residual: previous,
            iterations: self.params.max_iterations,
        })
    }
}

impl Integrator for AlphaMethod {
    fn restart(&mut self, equations: &mut Equations<'_>, _: &MotionPoint) -> Result<(), IntegrationError> {
        let AlphaCoefficients { beta, gamma, .. } = self.coefficients;
        let levels: Vec<Level> = equations
            .rows()
            .items()
            .iter()
            .flat_map(|item| {
                let level = match self.formulation {
                    Formulation::Index1 => Level::Acceleration,
                    Formulation::Index3 if item.holonomic => Level::Position,
                    Formulation::Ggl if item.holonomic => Level::Both,
                    Formulation::Index2 | Formulation::Index3 | Formulation::Ggl => Level::Velocity,
                };
                item.rows.clone().map(move |_| level)
            })
            .collect();
        let lacks = |level: Level, coefficient: f64| coefficient == 0.0 && levels.contains(&level);
        if lacks(Level::Position, beta) || lacks(Level::Velocity, gamma) || lacks(Level::Both, gamma) {
            return Err(IntegrationError::Unsupported {
                integrator: self.name,
                reason: "β = 0 leaves position constraints, γ = 0 velocity constraints out of reach: choose β, γ > 0 or formulation = \"index1\"".into(),
            });
        }
        self.newton.resize(equations, self.coefficients, levels, self.params.scaling);
        self.normal.resize(equations);
        self.memory = None;
        let n = equations.n_v();
        for array in [&mut self.before, &mut self.v, &mut self.w, &mut self.rate, &mut self.errors.0, &mut self.errors.1, &mut self.tried.a]
        {
            array.clear();
            array.resize(n, 0.0);
        }
        Ok(())
    }

    fn try_step(&mut self, equations: &mut Equations<'_>, step: Step<'_>, end: &mut MotionPoint) -> Result<StepEstimate, IntegrationError> {
        let Step { start, h, tolerances } = step;
        self.shift_memory(equations, start, h)?;
        self.shift_velocity(equations, start, h)?;
        // (A_n, λ_n) => first guess of (a_{n+1}, λ_{n+1})
        let mass = self.coefficients.mass;
        for (i, a) in self.tried.a.iter_mut().enumerate() {
            *a = (start.a[i] - mass * self.before[i]) / (1.0 - mass);
        }
        self.tried.step = h;
        end.t = start.t + h;
        end.lambda.copy_from_slice(&start.lambda);
        self.newton.begin(equations, start)?;
        self.solve(equations, start, h, end)?;

        if !self.adaptive {
            return Ok(StepEstimate::default());
        }
        self.estimate(equations, start, h, end)?;
        let (position, velocity) = (&self.errors.0, &self.errors.1);
        let error = tolerances.error(start, end, position, velocity);
        Ok(StepEstimate { error: Some(error), order: 3 })
    }

    fn accept(&mut self) {
        match &mut self.memory {
            Some(memory) => std::mem::swap(memory, &mut self.tried),
            None => self.memory = Some(self.tried.clone()),
        }
    }
}
