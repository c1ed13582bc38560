//! Every integrator of the registry converges with its declared orders: each kind, form of the constraints and choice of order, on
//! mechanisms with reference solutions and on an oscillator. A new entry of the registry is measured without a change here.
//!
//! `cargo test -p carom-dynamics --test main declared_orders -- --nocapture` prints the table of measured orders.

use crate::support::distance;
use carom_dynamics::error::IntegrationError;
use carom_dynamics::integrators::{Formulation, Integration, IntegratorKind, IntegratorParams, Orders, StepControl};
use carom_dynamics::problems::mechanisms::{Mechanism, Reference, four_bar, pendulum, slider_crank};
use carom_dynamics::smooth::MotionPoint;
use carom_dynamics::systems::{Lagrangian, LagrangianText, RigidBodies, RigidBody};
use carom_dynamics::{Model, State};
use nalgebra::{Matrix3, Vector3};

/// Times at which errors are taken, evenly over the run: over several of them an error that changes sign at one does not disturb the order.
const SAMPLES: usize = 8;

/// Numbers of steps between samples: three in a row span a factor 2.
const LADDER: [usize; 17] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384];

/// Most steps between samples for methods of order 2 and 3, which are resolved by fewer: saves time.
const LADDER_END_OF_LOW_ORDERS: usize = 96;

/// Relative errors below which round-off shows: sums over a thousand steps, and cancellation in λ.
const ROUND_OFF: f64 = 4e-12;

/// Relative errors below which errors of Newton's iteration (1e-14 of the increments, magnified by 1/h² in multipliers of index 3) may show.
const NOISE: f64 = 1e-7;

/// Relative errors near the size of the solution say nothing of the order.
const SATURATED: f64 = 0.1;

/// Difference of the two slopes in a window above which the errors do not follow one power of the step: errors of different order balance there.
const REGULAR: f64 = 0.3;

/// Windows tried for one that is regular, from the smallest steps.
const WINDOWS: usize = 3;

/// Largest difference of measured and declared order.
const MARGIN: f64 = 0.2;

/// Where errors of neighbouring orders and opposite sign balance, so that the order is not reached above round-off: (integrator, problem,
/// margin instead of [`MARGIN`]). An independent implementation of PHEM56 has 4.4 to 4.8 there as well.
const EXCEPTIONS: [(&str, &str, f64); 2] = [("phem56", "four-bar", 0.6), ("bdf", "slider-crank", 0.4)];

/// A part of a point.
type Part = fn(&MotionPoint) -> &Vec<f64>;

/// What errors are taken of.
const PARTS: [(&str, Part); 3] = [("q", |p| &p.q), ("v", |p| &p.v), ("λ", |p| &p.lambda)];

/// A mechanism with a fine solution at the samples, and what must hold on it.
struct Case {
    name: &'static str,
    mechanism: Mechanism,
    end: f64,
    exact: Vec<MotionPoint>,
    demands: Demands,
}

/// What is asked of the measured orders on a problem.
struct Demands {
    /// Highest declared orders of q, v and λ that are compared: above them round-off comes before the errors follow one power of the step.
    resolves: [f64; 3],
    /// Each of those must be measurable.
    measurable: bool,
    /// Forms of the constraints other than the default are measured too.
    all_forms: bool,
    /// q and v must not converge faster than declared either. λ may: it is one number whose leading error may nearly vanish (DOPRI5 on the pendulum: 5.6).
    bounds_above: bool,
}

/// The solution of n constant steps at the samples.
fn samples(mechanism: &Mechanism, params: &IntegratorParams, end: f64, n: usize) -> Result<Vec<MotionPoint>, IntegrationError> {
    let params = IntegratorParams { control: StepControl::Fixed, step: Some(end / n as f64), ..params.clone() };
    let mut integration = Integration::new(&mechanism.model, &mechanism.state, &params)?;
    let mut points = Vec::new();
    for _ in 0..SAMPLES {
        for _ in 0..n / SAMPLES {
            integration.step(end)?;
        }
        points.push(integration.point().clone());
    }
    Ok(points)
}

impl Case {
    /// Computes the fine solution by extrapolation and compares its end with the published reference.
    fn new(name: &'static str, mechanism: Mechanism, end: f64, demands: Demands) -> Self {
        let params = IntegratorParams { kind: IntegratorKind::Extrapolation, ..IntegratorParams::default() };
        let exact = samples(&mechanism, &params, end, 400).unwrap();
        let (last, reference) = (&exact[SAMPLES - 1], mechanism.references.iter().find(|r| r.t == end).unwrap());
        // the references agree with a second method to 1e-13 in q and some 1e-11 in v and λ
        assert!(distance(&last.q, &reference.q) < 1e-12, "{name}: q");
        assert!(distance(&last.v, &reference.v) < 4e-11, "{name}: v");
        assert!(distance(&last.lambda, &reference.lambda) < 1e-10, "{name}: λ");
        Case { name, mechanism, end, exact, demands }
    }

    /// Errors of q, v and λ with n steps: root of the sum of squares over samples and components, relative to the solution.
    fn errors(&self, params: &IntegratorParams, n: usize) -> Result<[f64; 3], IntegrationError> {
        let found = samples(&self.mechanism, params, self.end, n)?;
        Ok(PARTS.map(|(_, part)| {
            let exact = self.exact.iter().flat_map(part);
            let size: f64 = exact.clone().map(|x| x * x).sum();
            (found.iter().flat_map(part).zip(exact).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / size).sqrt()
        }))
    }

    /// Measured orders of q, v and λ: the slope of the errors over a halving of the step, at the smallest steps that are above round-off and
    /// where the errors follow a power of the step; `None` where there are none.
    fn orders(&self, params: &IntegratorParams, declared: Orders) -> Result<[Option<f64>; 3], IntegrationError> {
        let end = if (1.5..=3.0).contains(&declared.position) { LADDER_END_OF_LOW_ORDERS } else { usize::MAX };
        let mut table: Vec<(f64, [f64; 3])> = Vec::new();
        for n in LADDER.into_iter().filter(|&n| n <= end).map(|n| n * SAMPLES) {
            match self.errors(params, n) {
                Ok(errors) => table.push((self.end / n as f64, errors)),
                // too large a step for an iteration
                Err(error) if error.is_recoverable() || matches!(error, IntegrationError::StepTooSmall { .. }) => table.clear(),
                Err(error) => return Err(error),
            }
            let done = |i: usize| {
                let errors: Vec<f64> = table.iter().map(|(_, e)| e[i]).collect();
                errors.last().is_some_and(|&e| e.is_nan() || e < ROUND_OFF) || floor(&errors) > ROUND_OFF
            };
            if (0..PARTS.len()).all(done) {
                break;
            }
        }
        Ok([0, 1, 2].map(|i| {
            let floor = floor(&table.iter().map(|(_, e)| e[i]).collect::<Vec<_>>());
            let resolved: Vec<_> = table.iter().map(|(h, e)| (*h, e[i])).filter(|(_, e)| (floor..SATURATED).contains(e)).collect();
            resolved.windows(3).rev().take(WINDOWS).find_map(regular_slope)
        }))
    }

    /// What is wrong with the measured order of a part.
    fn judge(&self, kind: IntegratorKind, part: usize, declared: [Option<f64>; 3], measured: Option<f64>) -> Option<String> {
        let Demands { resolves, measurable, bounds_above, .. } = self.demands;
        let order = declared[part]?;
        // a declared order of zero says that nothing converges; the order of the positions tells how soon noise comes
        if order < 0.5 || declared[0]?.max(order) > resolves[part] {
            return None;
        }
        let exception = EXCEPTIONS.iter().find(|(integrator, problem, _)| (*integrator, *problem) == (kind.name(), self.name));
        let least = order - exception.map_or(MARGIN, |(_, _, margin)| *margin);
        match measured {
            None => measurable.then(|| "not measurable".to_owned()),
            Some(found) if found < least => Some(format!("{found:.2}, below {order}")),
            Some(found) if bounds_above && part < 2 && found > order + MARGIN => Some(format!("{found:.2}, above {order}")),
            Some(_) => None,
        }
    }
}

/// The error below which noise hides the order: round-off, or where errors, from the largest step to the smallest, cease to fall at a level
/// that tolerances of iterations can explain, with a margin of 10.
fn floor(errors: &[f64]) -> f64 {
    let plateau = errors.windows(2).find(|pair| pair[0] < NOISE && pair[1] > 0.8 * pair[0]).map_or(0.0, |pair| 10.0 * pair[0]);
    plateau.max(ROUND_OFF)
}

/// The slope of three (step, error) pairs if the two parts of it agree.
fn regular_slope(window: &[(f64, f64)]) -> Option<f64> {
    let slope = |a: (f64, f64), b: (f64, f64)| (a.1 / b.1).ln() / (a.0 / b.0).ln();
    let (coarse, fine) = (slope(window[0], window[1]), slope(window[1], window[2]));
    ((coarse - fine).abs() < REGULAR).then(|| slope(window[0], window[2]))
}

/// Two oscillators x'' = −x, y'' = −4 y without constraints: errors of any order follow a power of the step, as the solution has no
/// poles in complex time.
fn oscillator() -> Mechanism {
    let text = LagrangianText {
        coordinates: vec!["x".into(), "y".into()],
        parameters: Vec::new(),
        kinetic: "(x_dot^2 + y_dot^2)/2".into(),
        potential: "x^2/2 + 2*y^2".into(),
        forces: Vec::new(),
    };
    let model = Model::new(vec![Box::new(Lagrangian::new(&text).unwrap())]).unwrap();
    let t = 8.0_f64;
    let (q, v) = (vec![t.cos(), (2.0 * t).cos()], vec![-t.sin(), -2.0 * (2.0 * t).sin()]);
    let state = State { t: 0.0, q: vec![1.0, 1.0], v: vec![0.0, 0.0], ..State::default() };
    Mechanism { model, state, references: vec![Reference { t, q, v, lambda: Vec::new() }] }
}

/// A free body with J = diag(2, 3, 4) kg m² and ω(0) = (1, 3, 0.5) rad/s. The reference is the Taylor series of Euler's equations and of the
/// quaternion with 40 terms and 45 digits.
fn asymmetric_top() -> Mechanism {
    let body = RigidBody { name: "top".into(), mass: 1.0, inertia: Matrix3::from_diagonal(&Vector3::new(2.0, 3.0, 4.0)) };
    let model = Model::new(vec![Box::new(RigidBodies::new(vec![body], Vector3::zeros()).unwrap())]).unwrap();
    let reference = Reference {
        t: 2.0,
        q: vec![0.0, 0.0, 0.0, -0.957_058_262_007_559_5, -0.286_633_060_892_331_9, 0.014_838_879_940_035_634, -0.040_752_658_424_789_2],
        v: vec![0.0, 0.0, 0.0, 1.360_747_714_486_680_2, 2.804_369_366_427_866_8, -0.822_081_000_413_196_4],
        lambda: Vec::new(),
    };
    let state = State { t: 0.0, q: vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], v: vec![0.0, 0.0, 0.0, 1.0, 3.0, 0.5], ..State::default() };
    Mechanism { model, state, references: vec![reference] }
}

/// All settings of a kind that the registry offers.
fn variants(kind: IntegratorKind) -> Vec<IntegratorParams> {
    let entry = kind.entry();
    let choices: Vec<Option<usize>> = if entry.choices.is_empty() { vec![None] } else { entry.choices.iter().copied().map(Some).collect() };
    let form = |&form: &Formulation| choices.iter().map(move |&order| (form, order));
    let params = |(form, order)| {
        let mut params = IntegratorParams { kind, order, formulation: Some(form), ..IntegratorParams::default() };
        if (entry.orders)(&params).position > 2.5 {
            // tighter than the default, so that errors of iterations stay below those of the method
            params.newton.tolerance = 1e-14;
        }
        params
    };
    entry.formulations.iter().flat_map(form).map(params).collect()
}

/// Measures every integrator of the registry on a case.
fn check(case: &Case) {
    let mut wrong = Vec::new();
    let mut lines = String::new();
    for &kind in IntegratorKind::ALL {
        for params in variants(kind) {
            if !case.demands.all_forms && params.formulation != Some(kind.entry().formulations[0]) {
                continue;
            }
            let orders = (kind.entry().orders)(&params);
            let declared = [Some(orders.position), Some(orders.velocity), orders.multiplier];
            let name = format!("{} {:?} {}", kind.name(), params.formulation(), params.order.map_or(String::new(), |k| k.to_string()));
            let measured = match case.orders(&params, orders) {
                Ok(measured) => measured,
                Err(IntegrationError::Unsupported { .. }) if case.name != "pendulum" => continue,
                Err(error) => panic!("{name} on the {}: {error}", case.name),
            };
            lines += &format!("{:14} {name:32} declared {:>14}   measured {:>16}\n", case.name, show(declared, 1), show(measured, 2));
            for (i, (what, _)) in PARTS.into_iter().enumerate().take(if case.exact[0].lambda.is_empty() { 2 } else { 3 }) {
                if let Some(problem) = case.judge(kind, i, declared, measured[i]) {
                    wrong.push(format!("{name}: {what} {problem}"));
                }
            }
        }
    }
    println!("{lines}");
    assert!(wrong.is_empty(), "orders on the {} that are not the declared ones:\n{}", case.name, wrong.join("\n"));
}

#[test]
fn declared_orders_are_measured_on_the_pendulum() {
    let demands = Demands { resolves: [8.0, 8.0, 5.0], measurable: true, all_forms: true, bounds_above: true };
    check(&Case::new("pendulum", pendulum().unwrap(), 1.0, demands));
}

#[test]
fn declared_orders_are_measured_on_the_slider_crank() {
    let demands = Demands { resolves: [5.0; 3], measurable: true, all_forms: true, bounds_above: false };
    check(&Case::new("slider-crank", slider_crank().unwrap(), 1.0, demands));
}

/// Its multipliers grow to 100 N near a dead point and follow a power of the step late: they are printed, not compared.
#[test]
fn declared_orders_are_measured_on_the_four_bar_linkage() {
    let demands = Demands { resolves: [5.0, 5.0, 0.0], measurable: false, all_forms: false, bounds_above: false };
    check(&Case::new("four-bar", four_bar().unwrap(), 1.0, demands));
}

#[test]
fn declared_orders_are_measured_without_constraints() {
    let demands = Demands { resolves: [12.0; 3], measurable: true, all_forms: false, bounds_above: false };
    check(&Case::new("oscillator", oscillator(), 8.0, demands));
}

#[test]
fn declared_orders_are_measured_on_a_rotating_body() {
    let demands = Demands { resolves: [5.0; 3], measurable: false, all_forms: false, bounds_above: false };
    check(&Case::new("asymmetric top", asymmetric_top(), 2.0, demands));
}

#[test]
fn quaternions_keep_their_length() {
    let mechanism = asymmetric_top();
    for &kind in IntegratorKind::ALL {
        for params in variants(kind) {
            let points = match samples(&mechanism, &params, 2.0, 50 * SAMPLES) {
                Err(IntegrationError::Unsupported { .. }) => continue,
                points => points.unwrap(),
            };
            for point in points {
                let length = point.q[3..].iter().map(|x| x * x).sum::<f64>().sqrt();
                // the product of unit quaternions is of unit length to round-off, at every step
                assert!((length - 1.0).abs() < 1e-14, "{}: {length}", kind.name());
            }
        }
    }
}

/// Orders of q, v, λ in one word.
fn show(orders: [Option<f64>; 3], digits: usize) -> String {
    orders.map(|order| order.map_or("–".to_owned(), |order| format!("{order:.digits$}"))).join("/")
}
