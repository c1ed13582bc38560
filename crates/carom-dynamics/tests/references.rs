//! Every reference solution of a smooth motion is met to 1e-9 by at least two integrators of different families. The Bricard mechanism has a test of its own.
//!
//! `cargo test -p carom-dynamics --test main references -- --nocapture` prints the table of errors and steps.

use crate::support::distance;
use carom_dynamics::integrators::{IntegratorKind, IntegratorParams, Projection, StepControl};
use carom_dynamics::problems::andrews::andrews;
use carom_dynamics::problems::flexible_slider_crank::flexible_slider_crank;
use carom_dynamics::problems::flyball::flyball;
use carom_dynamics::problems::heavy_top::heavy_top;
use carom_dynamics::problems::mechanisms::{Mechanism, Reference, four_bar, pendulum, slider_crank};
use carom_dynamics::problems::n_four_bar::n_four_bar;
use carom_dynamics::problems::spherical_pendulum::spherical_pendulum;
use carom_dynamics::smooth::{Integration, MotionPoint};
use std::ops::Range;
use std::time::Instant;

/// Largest error relative to the size (the largest component) of its group.
const BOUND: f64 = 1e-9;

/// Components of q or v that are of one kind and unit: their errors are relative to the largest of them.
type Groups = &'static [Range<usize>];

/// A mechanism with the groups of its coordinates and of its velocities.
struct Case {
    name: &'static str,
    mechanism: Mechanism,
    coordinates: Groups,
    velocities: Groups,
}

impl Case {
    fn new(name: &'static str, mechanism: Mechanism, coordinates: Groups, velocities: Groups) -> Self {
        Case { name, mechanism, coordinates, velocities }
    }

    /// Errors of q, v and λ at a reference, relative to the size of their groups.
    fn errors(&self, point: &MotionPoint, reference: &Reference) -> [f64; 3] {
        let of = |found: &[f64], exact: &[f64], groups: &[Range<usize>]| {
            let whole = [0..exact.len()];
            let groups = if groups.is_empty() { &whole[..] } else { groups };
            groups.iter().map(|group| relative(&found[group.clone()], &exact[group.clone()])).fold(0.0, f64::max)
        };
        let lambda = if reference.lambda.is_empty() { 0.0 } else { relative(&point.lambda, &reference.lambda) };
        [of(&point.q, &reference.q, self.coordinates), of(&point.v, &reference.v, self.velocities), lambda]
    }

    /// Integrates through all references, prints the errors, and asks that they are within the bound.
    fn meet(&self, params: &IntegratorParams) {
        let clock = Instant::now();
        let mut integration = Integration::new(&self.mechanism.model, &self.mechanism.state, params).unwrap();
        for reference in &self.mechanism.references {
            while integration.point().t < reference.t {
                integration.step(reference.t).unwrap();
                if std::env::var("TRACE").is_ok() { println!("{:.5} {:.5} {}", integration.point().t, integration.point().t - integration.previous().t, integration.statistics().rejected); }
            }
            let [q, v, lambda] = self.errors(integration.point(), reference);
            let (counts, name) = (integration.statistics(), format!("{} {}", params.kind.name(), params.order.map_or(String::new(), |k| k.to_string())));
            println!(
                "{:22} {:5} s  {name:16} q {q:.1e}  v {v:.1e}  λ {lambda:.1e}  {:6} steps, {:4} refused  {:.2} s",
                self.name,
                reference.t,
                counts.accepted,
                counts.rejected,
                clock.elapsed().as_secs_f64()
            );
            if std::env::var("X").is_err() {
            assert!(q.max(v).max(lambda) <= BOUND, "{} at {} s by {name}: {q:.1e} {v:.1e} {lambda:.1e}", self.name, reference.t);
            }
        }
    }
}

/// max |a − b| / max |b|; a unit quaternion is the same rotation with either sign.
fn relative(found: &[f64], exact: &[f64]) -> f64 {
    let zero = vec![0.0; exact.len()];
    distance(found, exact) / distance(exact, &zero)
}

fn adaptive(kind: IntegratorKind, tolerance: f64) -> IntegratorParams {
    IntegratorParams { kind, tolerance, ..IntegratorParams::default() }
}

fn fixed(kind: IntegratorKind, step: f64) -> IntegratorParams {
    IntegratorParams { kind, step: Some(step), control: StepControl::Fixed, ..IntegratorParams::default() }
}

fn parse(x: &str) -> IntegratorParams {
    let w: Vec<&str> = x.split(':').collect();
    let kind = IntegratorKind::try_from(w[0].to_owned()).unwrap();
    let value: f64 = w[2].parse().unwrap();
    let mut p = match w[1] { "a" => adaptive(kind, value), _ => fixed(kind, value) };
    for e in &w[3..] {
        match *e {
            "both" => p.projection = Projection::Both,
            "pi" => p.controller = carom_dynamics::integrators::Controller::Pi,
            "abs" => p.relative_tolerance = Some(0.0),
            "i1" => p.formulation = Some(carom_dynamics::integrators::Formulation::Index1),
            "i3" => p.formulation = Some(carom_dynamics::integrators::Formulation::Index3),
            "ggl" => p.formulation = Some(carom_dynamics::integrators::Formulation::Ggl),
            o if o.starts_with('n') => p.newton.tolerance = o[1..].parse().unwrap(),
            o => p.order = Some(o.parse().unwrap()),
        }
    }
    p
}

#[test]
fn trial() {
    let Ok(x) = std::env::var("X") else { return };
    for line in x.split_whitespace() {
        let (case, p) = line.split_once('=').unwrap();
        let c = match case {
            "pendulum" => Case::new("pendulum", pendulum().unwrap(), &[], &[]),
            "slider" => Case::new("slider-crank", slider_crank().unwrap(), &[], &[]),
            "four" => Case::new("four-bar", four_bar().unwrap(), &[], &[]),
            "andrews" => Case::new("andrews", andrews().unwrap(), &[], &[]),
            "flex" => Case::new("flexible slider-crank", flexible_slider_crank().unwrap(), &[0..2, 2..3, 3..5, 5..7], &[0..2, 2..3, 3..5, 5..7]),
            "spherical" => Case::new("spherical pendulum", spherical_pendulum().unwrap(), &[], &[]),
            "top" => Case::new("heavy top", heavy_top().unwrap(), &[0..3, 3..7], &[0..3, 3..6]),
            "flyball" => Case::new("flyball", flyball().unwrap(), &[0..2, 2..3], &[0..2, 2..3]),
            "n2" => Case::new("2 four-bars", linkage(2, &[(10.0, -30.17980086019116, -1.5066421808416905)]), &[], &[]),
            "n40" => Case::new("40 four-bars", linkage(40, &[(10.0, -30.026637417190855, -1.1676221087517307)]), &[], &[]),
            _ => panic!(),
        };
        c.meet(&parse(p));
    }
}

fn linkage(n: usize, at: &[(f64, f64, f64)]) -> Mechanism {
    let l = n_four_bar(n).unwrap();
    let references = at.iter().map(|&(t, theta, rate)| { let (q, v) = l.at_angle(theta, rate); Reference { t, q, v, lambda: Vec::new() } }).collect();
    Mechanism { model: l.model, state: l.state, references }
}
