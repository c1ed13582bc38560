//! Every integrator of the registry converges with its declared orders: each kind, form of the constraints and choice of order, on
//! mechanisms with reference solutions. A new entry of the registry is measured without a change here.

use crate::support::{distance, fitted_order};
use carom_dynamics::integrators::{Formulation, IntegratorKind, IntegratorParams, StepControl};
use carom_dynamics::problems::mechanisms::{Mechanism, four_bar, pendulum, slider_crank};
use carom_dynamics::smooth::{Integration, IntegrationError, MotionPoint};

/// Times at which errors are taken, as parts of the run: over several of them an error that changes sign at one does not disturb the order.
const SAMPLES: usize = 4;

/// A mechanism with a fine solution at the samples.
struct Case {
    name: &'static str,
    mechanism: Mechanism,
    end: f64,
    exact: Vec<MotionPoint>,
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
    fn new(name: &'static str, mechanism: Mechanism, end: f64) -> Self {
        let params = IntegratorParams { kind: IntegratorKind::Extrapolation, ..IntegratorParams::default() };
        let exact = samples(&mechanism, &params, end, 400).unwrap();
        let (last, reference) = (&exact[SAMPLES - 1], mechanism.references.iter().find(|r| r.t == end).unwrap());
        // the references agree with a second method to 1e-13 in q and some 1e-11 in v and λ
        assert!(distance(&last.q, &reference.q) < 1e-12, "{name}: q");
        assert!(distance(&last.v, &reference.v) < 4e-11, "{name}: v");
        assert!(distance(&last.lambda, &reference.lambda) < 1e-10, "{name}: λ");
        Case { name, mechanism, end, exact }
    }

    /// Largest errors of q, v and λ over the samples with n steps.
    fn errors(&self, params: &IntegratorParams, n: usize) -> Result<[f64; 3], IntegrationError> {
        let found = samples(&self.mechanism, params, self.end, n)?;
        let worst = |value: fn(&MotionPoint) -> &[f64]| {
            found.iter().zip(&self.exact).map(|(a, b)| distance(value(a), value(b))).fold(0.0, f64::max)
        };
        Ok([worst(|p| &p.q), worst(|p| &p.v), worst(|p| &p.lambda)])
    }

    /// Measured orders of q, v and λ: the slope over the last two halvings of the step above round-off; `None` where there are too few.
    fn orders(&self, params: &IntegratorParams) -> Result<[Option<f64>; 3], IntegrationError> {
        let mut table: Vec<(f64, [f64; 3])> = Vec::new();
        for n in [10, 20, 40, 80, 160, 320, 640, 1280].map(|n| n * SAMPLES) {
            match self.errors(params, n) {
                Ok(errors) => table.push((self.end / n as f64, errors)),
                // too large a step for an iteration
                Err(error) if error.is_recoverable() || matches!(error, IntegrationError::StepTooSmall { .. }) => table.clear(),
                Err(error) => return Err(error),
            }
            if table.last().is_some_and(|(_, e)| e[0].max(e[1]) < FLOORS[0]) {
                break;
            }
        }
        Ok([0, 1, 2].map(|i| {
            // from the finest: skip what is round-off, keep what is not yet saturated
            let usable: Vec<_> = table.iter().rev().skip_while(|(_, e)| e[i] < FLOORS[i]).take(3).collect();
            let [fine, .., coarse] = usable[..] else { return None };
            // errors of the size of the solution say nothing of the order
            if usable.len() < 3 || coarse.1[i] > 1.0 || fine.1[i] == 0.0 {
                return None;
            }
            let (steps, errors): (Vec<f64>, Vec<f64>) = usable.iter().map(|(h, e)| (*h, e[i])).unzip();
            Some(fitted_order(&steps, &errors))
        }))
    }
}

/// Errors of q, v and λ below which round-off shows: sums over a thousand steps, amplified by 1/h in λ.
const FLOORS: [f64; 3] = [1e-11, 3e-11, 1e-10];

/// All settings of a kind that the registry offers.
fn variants(kind: IntegratorKind) -> Vec<IntegratorParams> {
    let entry = kind.entry();
    let choices: Vec<Option<usize>> = if entry.choices.is_empty() { vec![None] } else { entry.choices.iter().copied().map(Some).collect() };
    let form = |&form: &Formulation| choices.iter().map(move |&order| (form, order));
    let params = |(form, order)| IntegratorParams { kind, order, formulation: Some(form), ..IntegratorParams::default() };
    entry.formulations.iter().flat_map(form).map(params).collect()
}

#[test]
fn declared_orders_are_measured() {
    let cases = [
        Case::new("pendulum", pendulum().unwrap(), 1.0),
        Case::new("slider-crank", slider_crank().unwrap(), 1.0),
        Case::new("four-bar", four_bar().unwrap(), 1.0),
    ];
    let mut wrong = Vec::new();
    println!("{:32} {:>14} {:>20} {:>20} {:>20}", "", "declared", cases[0].name, cases[1].name, cases[2].name);
    for &kind in IntegratorKind::ALL {
        for params in variants(kind) {
            let declared = (kind.entry().orders)(&params);
            let declared = [Some(declared.position), Some(declared.velocity), declared.multiplier];
            let name = format!("{} {:?} {}", kind.name(), params.formulation(), params.order.map_or(String::new(), |k| k.to_string()));
            let mut line = format!("{name:32} {:>14}", show(declared, 1));
            for case in &cases {
                let found = match case.orders(&params) {
                    Ok(found) => found,
                    Err(IntegrationError::Unsupported { .. }) if case.name != "pendulum" => {
                        line += &format!(" {:>20}", "unsupported");
                        continue;
                    }
                    Err(error) => panic!("{name} on the {}: {error}", case.name),
                };
                line += &format!(" {:>20}", show(found, 2));
                for (i, what) in ["q", "v", "λ"].into_iter().enumerate() {
                    let Some(declared) = declared[i] else { continue };
                    match found[i] {
                        Some(found) if found < declared - 0.2 => wrong.push(format!("{name}, {}: {what} {found:.2}", case.name)),
                        None => wrong.push(format!("{name}, {}: {what} not measurable", case.name)),
                        _ => {}
                    }
                }
            }
            println!("{line}");
        }
    }
    assert!(wrong.is_empty(), "measured orders that are not the declared ones:\n{}", wrong.join("\n"));
}

/// Orders of q, v, λ in one word.
fn show(orders: [Option<f64>; 3], digits: usize) -> String {
    orders.map(|order| order.map_or("–".to_owned(), |order| format!("{order:.digits$}"))).join("/")
}
