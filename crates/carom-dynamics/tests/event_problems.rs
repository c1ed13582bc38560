//! The two problems at an event: impacts and accelerations of closed contacts, against solutions by hand and by enumeration.

mod random;

use carom_dynamics::events::{Accelerations, ClosedSet, EventParams, ImpactSettings, Verdict};
use carom_dynamics::impacts::{ImpactLaw, Resolver};
use carom_dynamics::problems::{painleve_rod, slider_crank_clearance};
use carom_dynamics::relations::ClosureRelation;
use carom_dynamics::report::ContactMode;
use carom_dynamics::smooth::InteractionRef;
use carom_dynamics::systems::{Instant, Linear};
use carom_dynamics::{ContactLaw, Friction, Law, Model, State};

const G: f64 = 9.81;

/// A model of constant mass and force with contacts and constraints by constant rows.
struct Plain {
    mass: Vec<f64>,
    force: Vec<f64>,
    rows: Vec<(Vec<Vec<f64>>, Law)>,
}

impl Plain {
    fn model(&self) -> Model {
        let n = self.force.len();
        let names = (0..n).map(|i| format!("x{i}")).collect();
        let system = Linear::new(names, self.mass.clone(), vec![0.0; n * n], vec![0.0; n * n]).unwrap();
        let mut model = Model::new(vec![Box::new(system.with_force(self.force.clone()).unwrap())]).unwrap();
        for (k, (rows, law)) in self.rows.iter().enumerate() {
            let (flat, dim) = (rows.concat(), rows.len());
            let position = |_: f64, _: &[f64], g: &mut [f64]| g.fill(0.0);
            let jacobian = move |_: f64, _: &[f64], rows: carom_dynamics::relations::Rows<'_>| {
                rows.jacobian.copy_from_slice(&flat);
                rows.bias.fill(0.0);
            };
            let bias = |_: f64, _: &[f64], _: &[f64], out: &mut [f64]| out.fill(0.0);
            let relation = ClosureRelation::new(dim, (0..n).collect(), position, jacobian, bias);
            model.add_interaction(&format!("contact {k}"), Box::new(relation), *law).unwrap();
        }
        model
    }
}

fn diagonal(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    (0..n * n).map(|k| if k / n == k % n { values[k / n] } else { 0.0 }).collect()
}

fn coulomb(mu: f64) -> Law {
    Law::Contact(ContactLaw::coulomb(mu, 0.0))
}

fn set(model: &Model, q: &[f64], v: &[f64]) -> ClosedSet {
    let contacts: Vec<InteractionRef<'_>> =
        model.interactions().iter().filter(|interaction| !interaction.is_bilateral()).map(InteractionRef::Model).collect();
    ClosedSet::new(model, Instant { t: 0.0, q, v }, &contacts).unwrap()
}

fn accelerate(model: &Model, q: &[f64], v: &[f64]) -> Accelerations {
    set(model, q, v).accelerate(&EventParams::default()).unwrap()
}

fn modes(found: &Accelerations) -> Vec<ContactMode> {
    found.contacts.iter().map(|contact| contact.mode).collect()
}

fn near(found: &[f64], exact: &[f64], tolerance: f64) {
    assert_eq!(found.len(), exact.len());
    for (a, b) in found.iter().zip(exact) {
        assert!((a - b).abs() <= tolerance, "{found:?} {exact:?}");
    }
}

/// A block of half-width a and half-height h on two corners under a horizontal force f at its centre: it rests for |f| a/h < m g, else it tips about a
/// corner with θ̈ = (f h − m g a)/(I + m (a² + h²)).
#[test]
fn a_block_on_two_corners_rests_or_rocks() {
    let (a, h, m) = (0.3, 0.9, 2.0);
    let inertia = m * (a * a + h * h) / 3.0;
    for (f, rocks) in [(0.0, false), (6.0, false), (6.53, false), (6.55, true), (9.0, true)] {
        let corner = |side: f64| vec![vec![0.0, 1.0, side * a], vec![1.0, 0.0, h]];
        let plain = Plain {
            mass: diagonal(&[m, m, inertia]),
            force: vec![f, -m * G, 0.0],
            rows: vec![(corner(-1.0), coulomb(2.0)), (corner(1.0), coulomb(2.0))],
        };
        let found = accelerate(&plain.model(), &[0.0; 3], &[0.0; 3]);
        assert!(matches!(found.verdict, Verdict::Solved { residual } if residual < 1e-12), "{f}: {:?}", found.verdict);
        // a positive angle turns anticlockwise: f > 0 tips about the right corner, the angle falls
        let exact = if rocks { -(f * h - m * G * a) / (inertia + m * (a * a + h * h)) } else { 0.0 };
        near(&[found.a[2]], &[exact], 1e-13);
        near(&found.a[..2], &[-h * exact, -a * exact], 1e-13);
        let expected = [if rocks { ContactMode::Open } else { ContactMode::Sticking }, ContactMode::Sticking];
        assert_eq!(modes(&found), expected, "{f}");
        let normal: f64 = found.contacts.iter().map(|c| c.force[0]).sum();
        let tangential: f64 = found.contacts.iter().map(|c| c.force[1]).sum();
        near(&[normal, tangential], &[m * (G - a * exact), m * -h * exact - f], 1e-12);
    }
}

/// A block on an incline: sticks for μ ≥ tan α, slides for less, to the relative distance 1e-8; at the limit it sticks.
#[test]
fn the_mode_on_an_incline_is_exact() {
    let alpha = 0.4_f64;
    for (factor, slides) in [(1.0 - 1e-8, true), (1.0, false), (1.0 + 1e-8, false), (0.5, true), (3.0, false)] {
        let mu = factor * alpha.tan();
        let plain = Plain {
            mass: diagonal(&[2.0, 2.0]),
            force: vec![2.0 * G * alpha.sin(), -2.0 * G * alpha.cos()],
            rows: vec![(vec![vec![0.0, 1.0], vec![1.0, 0.0]], coulomb(mu))],
        };
        let found = accelerate(&plain.model(), &[0.0; 2], &[0.0; 2]);
        let exact = if slides { G * (alpha.sin() - mu * alpha.cos()) } else { 0.0 };
        near(&found.a, &[exact, 0.0], 1e-14);
        let after = &found.contacts[0];
        assert_eq!(
            (after.mode, after.direction),
            if slides { (ContactMode::Sliding, [1.0, 0.0]) } else { (ContactMode::Sticking, [0.0; 2]) }
        );
        near(&after.force[..1], &[2.0 * G * alpha.cos()], 1e-13);
    }
}

/// Sliding contacts keep their direction; separating ones carry nothing; a contact without load stays closed.
#[test]
fn sliding_separating_and_unloaded_contacts() {
    let plain = |down: f64, mu: f64| Plain {
        mass: diagonal(&[2.0, 2.0]),
        force: vec![1.0, -down],
        rows: vec![(vec![vec![0.0, 1.0], vec![1.0, 0.0]], coulomb(mu))],
    };
    let sliding = accelerate(&plain(8.0, 0.25).model(), &[0.0; 2], &[-3.0, 0.0]);
    near(&sliding.a, &[1.5, 0.0], 1e-15);
    assert_eq!((sliding.contacts[0].mode, sliding.contacts[0].direction), (ContactMode::Sliding, [-1.0, 0.0]));
    assert_eq!(sliding.contacts[0].force, [8.0, 2.0, 0.0]);
    let separating = accelerate(&plain(8.0, 0.25).model(), &[0.0; 2], &[0.0, 0.1]);
    assert_eq!((separating.contacts[0].mode, separating.contacts[0].force), (ContactMode::Touching, [0.0; 3]));
    near(&separating.a, &[0.5, -4.0], 0.0);
    let unloaded = accelerate(&plain(0.0, 0.0).model(), &[0.0; 2], &[0.0; 2]);
    assert_eq!(modes(&unloaded), [ContactMode::Closed]);
    let lifted = accelerate(&plain(-1e-6, 0.0).model(), &[0.0; 2], &[0.0; 2]);
    assert_eq!(modes(&lifted), [ContactMode::Open]);
}

/// Static–kinetic friction: the static coefficient decides, the kinetic one then acts.
#[test]
fn slip_that_begins_has_the_kinetic_coefficient() {
    let friction = Friction::StaticKinetic { at_rest: 0.5, sliding: 0.3 };
    let law = Law::Contact(ContactLaw { friction, ..ContactLaw::default() });
    for (push, a) in [(4.9, 0.0), (5.1, 5.1 - 3.0), (-6.0, -3.0)] {
        let plain =
            Plain { mass: diagonal(&[1.0, 1.0]), force: vec![push, -10.0], rows: vec![(vec![vec![0.0, 1.0], vec![1.0, 0.0]], law)] };
        near(&accelerate(&plain.model(), &[0.0; 2], &[0.0; 2]).a, &[a, 0.0], 1e-14);
    }
}

/// At the instant at which a force leaves its range only its rate decides: contacts that are known to leave do.
#[test]
fn contacts_that_leave_their_mode_do() {
    let plain = |push: f64, down: f64, law: Law| Plain {
        mass: diagonal(&[1.0, 1.0]),
        force: vec![push, -down],
        rows: vec![(vec![vec![0.0, 1.0], vec![1.0, 0.0]], law)],
    };
    let event = EventParams::default();
    let model = plain(5.0, 10.0, coulomb(0.5)).model();
    let here = set(&model, &[0.0; 2], &[0.0; 2]);
    assert_eq!(modes(&here.accelerate(&event).unwrap()), [ContactMode::Sticking]);
    let slips = here.accelerate_leaving(&event, &[true]).unwrap();
    assert_eq!((slips.contacts[0].mode, slips.contacts[0].direction), (ContactMode::Sliding, [1.0, 0.0]));
    // with a smaller kinetic coefficient it accelerates at once
    let friction = Friction::StaticKinetic { at_rest: 0.5, sliding: 0.3 };
    let model = plain(5.0, 10.0, Law::Contact(ContactLaw { friction, ..ContactLaw::default() })).model();
    let slips = set(&model, &[0.0; 2], &[0.0; 2]).accelerate_leaving(&event, &[true]).unwrap();
    near(&slips.a, &[2.0, 0.0], 1e-14);
    // well inside its cone a contact does not leave
    let model = plain(3.0, 10.0, coulomb(0.5)).model();
    assert_eq!(modes(&set(&model, &[0.0; 2], &[0.0; 2]).accelerate_leaving(&event, &[true]).unwrap()), [ContactMode::Sticking]);
    // a block on two corners about to tip: the left one carries nothing any more
    let corner = |side: f64| (vec![vec![0.0, 1.0, side], vec![1.0, 0.0, 1.0]], coulomb(2.0));
    let tips = Plain { mass: diagonal(&[1.0; 3]), force: vec![10.0, -10.0, 0.0], rows: vec![corner(-1.0), corner(1.0)] };
    let model = tips.model();
    let here = set(&model, &[0.0; 3], &[0.0; 3]);
    assert_eq!(modes(&here.accelerate(&event).unwrap()), [ContactMode::Sticking; 2]);
    let found = here.accelerate_leaving(&event, &[true, false]).unwrap();
    assert_eq!(modes(&found), [ContactMode::Open, ContactMode::Sticking]);
    near(&found.contacts[1].force, &[10.0, -10.0, 0.0], 1e-14);
    // that the other is said to leave means nothing: it carries
    assert_eq!(modes(&here.accelerate_leaving(&event, &[false, true]).unwrap()), [ContactMode::Sticking; 2]);
}

/// Painlevé's rod: no solution where p < 0 and b < 0, two where p < 0 and b > 0, one elsewhere; the impact without collision stops the slip by the
/// impulse that is known, to round-off, and takes energy.
#[test]
fn painleve_rod_is_inconsistent_ambiguous_or_solved() {
    let model = painleve_rod::model(painleve_rod::FRICTION).unwrap();
    let [first, last] = painleve_rod::PARADOX;
    for angle in [0.8, first - 1e-6, first + 1e-6, 1.1, last - 1e-6, last + 1e-6, 1.4] {
        for rate in [0.0, 1.0, 4.0, -4.5] {
            let (p, b) = painleve_rod::coefficients(painleve_rod::FRICTION, angle, rate);
            let State { q, v, .. } = painleve_rod::sliding(angle, rate, 2.0);
            let found = accelerate(&model, &q, &v);
            let at = format!("a = {angle}, rate = {rate}, p = {p}, b = {b}: {found:?}");
            let contact = &found.contacts[0];
            match (p < 0.0, b < 0.0) {
                (true, true) => assert_eq!(found.verdict, Verdict::Inconsistent { contact: 0 }, "{at}"),
                (true, false) => {
                    assert_eq!(found.verdict, Verdict::Ambiguous { contact: 0 }, "{at}");
                    assert_eq!((contact.mode, contact.force), (ContactMode::Open, [0.0; 3]), "{at}");
                }
                (false, true) => {
                    assert!(matches!(found.verdict, Verdict::Solved { .. }) && contact.mode == ContactMode::Sliding, "{at}");
                    near(&contact.force[..1], &[-b / p], 1e-13 * (b / p / p).abs());
                }
                (false, false) => assert!(matches!(found.verdict, Verdict::Solved { .. }) && contact.mode == ContactMode::Open, "{at}"),
            }
            if let Verdict::Inconsistent { contact } = found.verdict {
                let here = set(&model, &q, &v);
                let how = ImpactSettings { rest: 1e-8, inelastic: &[], push: Some(contact) };
                for law in [ImpactLaw::Newton, ImpactLaw::Inelastic] {
                    let impact = here.impact(&mut Resolver::new().unwrap(), &law, &how).unwrap();
                    near(&impact.impulse[0][..1], &[painleve_rod::stopping_impulse(angle, 2.0)], 1e-11);
                    near(&impact.contact_velocity[0], &[0.0; 3], 1e-11);
                    assert!(!impact.outcome.failed);
                    let energy = |v: &[f64]| 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] / 3.0);
                    let [normal, tangential] = impact.outcome.total_dissipated();
                    let lost = energy(&v) - energy(&impact.velocity);
                    assert!(lost > 0.0 && (lost - normal - tangential).abs() < 1e-9 * lost, "{lost} {normal} {tangential}");
                }
            }
        }
    }
}

/// Other laws end the slip of the inelastic rod by the same impulse: it sticks at the end.
#[test]
fn impacts_without_collision_by_other_laws() {
    let model = painleve_rod::model(painleve_rod::FRICTION).unwrap();
    let State { q, v, .. } = painleve_rod::sliding(1.1, 0.0, 2.0);
    let how = ImpactSettings { rest: 1e-8, inelastic: &[], push: Some(0) };
    let laws =
        [(ImpactLaw::Poisson, 1e-11), (ImpactLaw::Sequential(Default::default()), 1e-11), (ImpactLaw::Energetic(Default::default()), 1e-5)];
    for (law, tolerance) in laws {
        let start = std::time::Instant::now();
        let impact = set(&model, &q, &v).impact(&mut Resolver::new().unwrap(), &law, &how).unwrap();
        println!(
            "{}: {:?} {:?} in {:?}, {} iterations",
            law.name(),
            impact.impulse,
            impact.contact_velocity,
            start.elapsed(),
            impact.outcome.iterations
        );
        near(&impact.impulse[0][..1], &[painleve_rod::stopping_impulse(1.1, 2.0)], tolerance);
        near(&impact.contact_velocity[0], &[0.0; 3], tolerance);
        assert!(!impact.outcome.failed);
    }
}

/// A ball on the floor: u⁺ = −e u⁻, at rest below the threshold, inelastic where asked for.
#[test]
fn a_ball_bounces() {
    let ball = |e: f64| Plain { mass: vec![2.0], force: vec![-2.0 * G], rows: vec![(vec![vec![1.0]], Law::unilateral(e))] };
    let model = ball(0.8).model();
    let here = set(&model, &[0.0], &[-3.0]);
    assert_eq!(here.velocity(0), [-3.0]);
    let mut resolver = Resolver::new().unwrap();
    let impact = here.impact(&mut resolver, model.impact_law(), &ImpactSettings::default()).unwrap();
    near(&impact.velocity, &[2.4], 1e-15);
    near(&impact.impulse[0], &[10.8, 0.0, 0.0], 1e-14);
    near(&impact.outcome.total_dissipated(), &[9.0 - 5.76, 0.0], 1e-14);
    let how = ImpactSettings { inelastic: &[true], ..ImpactSettings::default() };
    near(&here.impact(&mut resolver, model.impact_law(), &how).unwrap().velocity, &[0.0], 1e-15);
    let how = ImpactSettings { rest: 3.5, ..ImpactSettings::default() };
    near(&here.impact(&mut resolver, model.impact_law(), &how).unwrap().velocity, &[-3.0], 0.0);
}

/// Three equal balls in a row, e = 1: one leaves by impacts in sequence, Newton's law at both contacts at once gives (−1, 2, 2)/3.
#[test]
fn the_cradle_depends_on_the_law() {
    let plain = Plain {
        mass: diagonal(&[1.0; 3]),
        force: vec![0.0; 3],
        rows: vec![(vec![vec![-1.0, 1.0, 0.0]], Law::unilateral(1.0)), (vec![vec![0.0, -1.0, 1.0]], Law::unilateral(1.0))],
    };
    let model = plain.model();
    let here = set(&model, &[0.0; 3], &[1.0, 0.0, 0.0]);
    let resolve = |law: &ImpactLaw| {
        here.impact(&mut Resolver::new().unwrap(), law, &ImpactSettings { rest: 1e-8, ..ImpactSettings::default() }).unwrap().velocity
    };
    near(&resolve(&ImpactLaw::Sequential(Default::default())), &[0.0, 0.0, 1.0], 1e-15);
    near(&resolve(&ImpactLaw::Newton), &[-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0], 1e-12);
}

/// A point on a rough plane in space: it sticks inside the cone, and outside it slides along the force, at once and once it slides.
#[test]
fn a_point_on_a_plane_in_space() {
    let floor = |law: Law| (vec![vec![0.0, 0.0, 1.0], vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0]], law);
    for (f, slides) in [(2.0, false), (4.0 - 1e-7, false), (4.0 + 1e-7, true), (7.0, true)] {
        for angle in [0.0_f64, 0.3, 2.0, -1.0, 3.0] {
            let d = [angle.cos(), angle.sin()];
            let plain = Plain { mass: diagonal(&[1.0; 3]), force: vec![f * d[0], f * d[1], -10.0], rows: vec![floor(coulomb(0.4))] };
            let found = accelerate(&plain.model(), &[0.0; 3], &[0.0; 3]);
            let a = if slides { f - 4.0 } else { 0.0 };
            near(&found.a, &[a * d[0], a * d[1], 0.0], 1e-14);
            let after = &found.contacts[0];
            assert_eq!(after.mode, if slides { ContactMode::Sliding } else { ContactMode::Sticking }, "{f} {angle}");
            if slides {
                near(&after.direction, &d, 1e-14 / a);
            }
        }
    }
    // elliptic friction: −λ_N (μ₁² u₁, μ₂² u₂)/‖(μ₁ u₁, μ₂ u₂)‖, of the velocity, or of the acceleration where slip begins
    let law = Law::Contact(ContactLaw { friction: Friction::elliptic(0.2, 0.5), ..ContactLaw::default() });
    let plain = Plain { mass: diagonal(&[1.0; 3]), force: vec![3.0, 9.0, -10.0], rows: vec![floor(law)] };
    for v in [[1.0, 2.0, 0.0], [0.0; 3]] {
        let found = accelerate(&plain.model(), &[0.0; 3], &v);
        let u = if v[0] == 0.0 { [found.a[0], found.a[1]] } else { [v[0], v[1]] };
        let size = (0.2 * u[0]).hypot(0.5 * u[1]);
        near(&found.contacts[0].force, &[10.0, -0.4 * u[0] / size, -2.5 * u[1] / size], 1e-13);
        near(&found.contacts[0].direction, &[u[0] / u[0].hypot(u[1]), u[1] / u[0].hypot(u[1])], 1e-14);
        assert_eq!(found.contacts[0].mode, ContactMode::Sliding);
    }
}

/// A cube on four corners, more contacts than it needs: it sticks below μ m g and slides above, without turning, and the forces carry its weight.
#[test]
fn a_cube_on_four_corners() {
    let (m, mu) = (2.0, 0.3);
    let corner = |x: f64, y: f64| {
        let z = -1.0;
        // velocity of a corner: v + ω × r
        vec![vec![0.0, 0.0, 1.0, y, -x, 0.0], vec![1.0, 0.0, 0.0, 0.0, z, -y], vec![0.0, 1.0, 0.0, -z, 0.0, x]]
    };
    for (part, v) in [(0.0, 0.0), (0.29, 0.0), (0.31, 0.0), (0.6, 0.0), (0.2, 1.5)] {
        for angle in [0.0_f64, 0.4, 0.785] {
            let (d, f) = ([angle.cos(), angle.sin()], part * m * G);
            let plain = Plain {
                mass: diagonal(&[m, m, m, m * 2.0 / 3.0, m * 2.0 / 3.0, m * 2.0 / 3.0]),
                force: vec![f * d[0], f * d[1], -m * G, 0.0, 0.0, 0.0],
                rows: [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)].map(|(x, y)| (corner(x, y), coulomb(mu))).to_vec(),
            };
            let found = accelerate(&plain.model(), &[0.0; 6], &[v * d[0], v * d[1], 0.0, 0.0, 0.0, 0.0]);
            let slides = v > 0.0 || part > mu;
            let a = if slides { (part - mu) * G } else { 0.0 };
            assert!(matches!(found.verdict, Verdict::Solved { .. }), "{part} {v} {angle}: {:?}", found.verdict);
            near(&found.a, &[a * d[0], a * d[1], 0.0, 0.0, 0.0, 0.0], 1e-12);
            let weight: f64 = found.contacts.iter().map(|c| c.force[0]).sum();
            near(&[weight], &[m * G], 1e-12);
            for contact in &found.contacts {
                assert_eq!(contact.mode, if slides { ContactMode::Sliding } else { ContactMode::Sticking }, "{part} {v} {angle}");
                assert!(contact.force[0] >= 0.0 && contact.force[1].hypot(contact.force[2]) <= mu * contact.force[0] + 1e-12);
                if slides {
                    near(&contact.direction, &d, 1e-11);
                }
            }
        }
    }
}

/// The first impact of the slider-crank with clearance, both upper corners at once, from the state before it
/// [Flores, Leine & Glocker 2010: parameters; numbers by an independent integration in high precision].
#[test]
fn slider_crank_with_clearance_hits_the_guide() {
    let q = [0.355_304_455_027_745_4, -0.171_509_540_940_173_95, 0.0];
    let v = [109.557_681_543_150_22, -49.330_789_961_931_44, 0.0];
    for mu in [0.0, 0.01] {
        let (model, _) = slider_crank_clearance::model(mu).unwrap();
        let upper: Vec<InteractionRef<'_>> = model.interactions()[..2].iter().map(InteractionRef::Model).collect();
        let here = ClosedSet::new(&model, Instant { t: 0.0, q: &q, v: &v }, &upper).unwrap();
        let impact = here.impact(&mut Resolver::new().unwrap(), &ImpactLaw::Newton, &ImpactSettings::default()).unwrap();
        near(&here.velocity(0)[..1], &[-0.841_612_322_032_869], 1e-12);
        if mu == 0.0 {
            near(&impact.velocity, &[108.793_728_560_535_33, -52.875_187_874_623_29, 0.0], 1e-10);
        } else {
            near(&here.velocity(0)[1..], &[-8.407_508_186_510_36], 1e-12);
            near(&impact.velocity, &[108.724_580_001_767_38, -52.842_290_420_287_54, 0.0], 1e-10);
            let normal: Vec<f64> = impact.impulse.iter().map(|p| p[0]).collect();
            near(&normal, &[0.055_740_323_073_752_36, 0.055_185_692_993_416_52], 1e-12);
            near(&impact.contact_velocity[0][1..2], &[-8.546_554_469_766_829], 1e-10);
        }
    }
}

/// Constraints that depend on each other, and contacts besides: the same impact and accelerations as without the redundant ones.
#[test]
fn redundant_constraints_change_nothing() {
    let rows = |copies: usize, law: Law| {
        let mut rows = vec![(vec![vec![1.0, -1.0, 0.0], vec![0.0, 0.5, 0.0]], law)];
        let mut constraints: Vec<(Vec<Vec<f64>>, Law)> =
            (0..copies).map(|k| (vec![vec![0.3 + k as f64, 0.0, 0.7]], Law::Bilateral)).collect();
        constraints.truncate(copies.min(1));
        constraints.extend((1..copies).map(|k| (vec![vec![0.3 * k as f64, 0.0, 0.7 * k as f64], vec![0.0; 3]], Law::Bilateral)));
        rows.append(&mut constraints);
        Plain { mass: vec![2.0, 0.3, 0.0, 0.3, 1.0, 0.1, 0.0, 0.1, 3.0], force: vec![-4.0, 3.0, 1.0], rows }.model()
    };
    let law = Law::Contact(ContactLaw::coulomb(0.3, 0.5));
    let results: Vec<(Vec<f64>, Vec<f64>, Vec<f64>)> = [1, 2, 4]
        .map(|copies| {
            let model = rows(copies, law);
            // on the constraint, approaching
            let v = [-0.7, 0.4, 0.3];
            let impact =
                set(&model, &[0.0; 3], &v).impact(&mut Resolver::new().unwrap(), &ImpactLaw::Newton, &ImpactSettings::default()).unwrap();
            assert!(!impact.outcome.failed);
            near(&[0.3 * impact.velocity[0] + 0.7 * impact.velocity[2]], &[0.0], 1e-15);
            let rest = accelerate(&model, &[0.0; 3], &[0.0; 3]);
            assert!(matches!(rest.verdict, Verdict::Solved { .. }));
            near(&[0.3 * rest.a[0] + 0.7 * rest.a[2]], &[0.0], 1e-15);
            assert!(rest.contacts[0].force[0] > 0.1);
            (impact.velocity, rest.a, rest.contacts[0].force.to_vec())
        })
        .to_vec();
    for other in &results[1..] {
        near(&other.0, &results[0].0, 1e-14);
        near(&other.1, &results[0].1, 1e-14);
        near(&other.2, &results[0].2, 1e-13);
    }
}

/// Microseconds of a set and its accelerations, printed.
#[test]
#[ignore = "a measurement"]
fn time_of_the_problems() {
    let corner =
        |x: f64, y: f64| vec![vec![0.0, 0.0, 1.0, y, -x, 0.0], vec![1.0, 0.0, 0.0, 0.0, -1.0, -y], vec![0.0, 1.0, 0.0, 1.0, 0.0, x]];
    let box_on = |points: &[(f64, f64)]| Plain {
        mass: diagonal(&[1.0; 6]),
        force: vec![1.0, 0.0, -10.0, 0.0, 0.0, 0.0],
        rows: points.iter().map(|&(x, y)| (corner(x, y), coulomb(0.3))).collect(),
    };
    let planar = Plain {
        mass: diagonal(&[1.0; 3]),
        force: vec![1.0, -10.0, 0.0],
        rows: [-1.0, 1.0].map(|x| (vec![vec![0.0, 1.0, x], vec![1.0, 0.0, 1.0]], coulomb(0.3))).to_vec(),
    };
    let four = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
    let all = [("two planar", planar, 3), ("one in space", box_on(&four[..1]), 6), ("four in space", box_on(&four), 6)];
    for (name, plain, n) in all {
        let model = plain.model();
        for slip in [0.0, 1.0] {
            let mut v = vec![0.0; n];
            v[0] = slip;
            let start = std::time::Instant::now();
            (0..200).for_each(|_| drop(accelerate(&model, &vec![0.0; n], &v)));
            println!("{name}, slip {slip}: {:?}", start.elapsed() / 200);
        }
    }
}
