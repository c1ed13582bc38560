//! Contacts between shapes in the schemes that choose their configuration themselves: a sphere on a plane.

use crate::support::{Done, run_scheme};
use carom_dynamics::detection::{ContactDetector, ContactKey, ContactPoint, WORLD};
use carom_dynamics::error::NonFinite;
use carom_dynamics::schemes::{GapRule, MoreauMidpointParams, ProxParams, SchemeParams, ThetaGapParams, take_step};
use carom_dynamics::systems::{Instant, RigidBodies, RigidBody};
use carom_dynamics::{ContactLaw, Model, State, StepMemory};
use nalgebra::{Matrix3, Vector3};

const RADIUS: f64 = 0.1;

/// Reports the contact only where it may close within the horizon, with nothing to spare.
#[derive(Clone)]
struct Sphere(ContactLaw);

impl ContactDetector for Sphere {
    fn detect(&mut self, bodies: Instant<'_>, horizon: f64, contacts: &mut Vec<ContactPoint>) -> Result<(), NonFinite> {
        let (q, v) = (bodies.q, bodies.v);
        let gap = q[2] - RADIUS;
        if gap <= horizon * Vector3::new(v[0], v[1], v[2]).norm() {
            let (point, normal) = (Vector3::new(q[0], q[1], 0.5 * gap), Vector3::z());
            let key = ContactKey { collider_a: 0, collider_b: 1, feature: 0 };
            contacts.push(ContactPoint {
                body_a: 0,
                body_b: WORLD,
                key,
                point,
                normal,
                gap,
                turn: 0.0,
                surface: None,
                law: 0,
                planar: false,
            });
        }
        Ok(())
    }
    fn laws(&self) -> &[ContactLaw] {
        std::slice::from_ref(&self.0)
    }
    fn n_colliders(&self) -> u32 {
        2
    }
    fn collider_name(&self, collider: u32) -> &str {
        ["sphere", "plane"][collider as usize]
    }
    fn boxed_clone(&self) -> Box<dyn ContactDetector> {
        Box::new(self.clone())
    }
}

/// A sphere of 1 kg with its lowest point `gap` above the plane, moving along x.
fn sphere(law: ContactLaw, gap: f64, speed: f64) -> (Model, State) {
    let inertia = Matrix3::from_diagonal_element(0.4 * RADIUS * RADIUS);
    let body = RigidBody { name: "sphere".into(), mass: 1.0, inertia };
    let mut model = Model::new(vec![Box::new(RigidBodies::new(vec![body], Vector3::new(0.0, 0.0, -9.81)).unwrap())]).unwrap();
    model.set_detector(Box::new(Sphere(law)));
    let state =
        State { t: 0.0, q: vec![0.0, 0.0, RADIUS + gap, 1.0, 0.0, 0.0, 0.0], v: vec![speed, 0.0, 0.0, 0.0, 0.0, 0.0], ..State::default() };
    (model, state)
}

fn midpoint() -> SchemeParams {
    SchemeParams::MoreauMidpoint(MoreauMidpointParams::default())
}

fn prox() -> SchemeParams {
    SchemeParams::Prox(ProxParams::default())
}

fn theta_gap(gap: GapRule) -> SchemeParams {
    SchemeParams::ThetaGap(ThetaGapParams { gap, ..ThetaGapParams::default() })
}

/// The first rebound reaches e² of the height.
#[test]
fn rebound() {
    let (model, state) = sphere(ContactLaw::coulomb(0.0, 0.8), 0.5, 0.0);
    for params in [SchemeParams::default(), midpoint(), prox()] {
        let done: Done = run_scheme(&model, &state, 0.9, 1e-3, &params);
        let touch = done.keep.frames.iter().position(|f| f.v[2] > 0.0).unwrap();
        let apex = done.keep.frames[touch..].iter().fold(0.0_f64, |m, f| m.max(f.q[2] - RADIUS));
        println!("{}: apex {apex:.4} m", params.entry().name);
        assert!((apex - 0.32).abs() < 5e-3, "{params:?}: {apex}");
    }
}

/// A sliding sphere ends rolling at 5/7 of its speed: linear and angular momentum about the track are conserved.
#[test]
fn sliding_to_rolling() {
    let (model, state) = sphere(ContactLaw::coulomb(0.3, 0.0), 0.0, 1.0);
    for params in [midpoint(), prox(), theta_gap(GapRule::Theta), theta_gap(GapRule::ThetaEuler), theta_gap(GapRule::ModifiedTheta)] {
        let done = run_scheme(&model, &state, 0.3, 1e-3, &params);
        let v = &done.state.v;
        println!("{params:?}: v {} ω R {}", v[0], v[4] * RADIUS);
        assert!((v[0] - 5.0 / 7.0).abs() < 1e-9 && (v[4] * RADIUS - 5.0 / 7.0).abs() < 1e-9, "{params:?}: {v:?}");
        // μ m g (v₀ t − ½ μ g t²) less the energy of the spin, up to O(h)
        assert!((done.certificate.last.dissipated_friction - 1.0 / 7.0).abs() < 5e-3, "{params:?}");
    }
}

/// A sphere that is released at rest so near the plane that it would pass it in the first step does not.
#[test]
fn gap_rules_miss_no_contact() {
    let (model, mut first) = sphere(ContactLaw::coulomb(0.3, 0.0), 1e-5, 0.0);
    for rule in [GapRule::ThetaEuler, GapRule::ModifiedTheta] {
        let done = run_scheme(&model, &first, 0.2, 0.01, &theta_gap(rule));
        assert!(done.certificate.max_penetration < 1e-12, "{rule:?}: {}", done.certificate.max_penetration);
        assert!((done.state.q[2] - RADIUS).abs() < 1e-12 && done.state.v[2].abs() < 1e-12, "{rule:?}: {:?}", done.state);
    }
    // Moreau's scheme judges the gap half a step ahead: closed there, closed for the step
    first.v[2] = -0.01;
    let mut memory = StepMemory::new(&model, &Default::default()).unwrap();
    let report = take_step(&*midpoint().build(), &model, &mut first, &mut memory, 0.01).unwrap();
    assert_eq!((report.n_active, first.v[2]), (1, 0.0));
}
