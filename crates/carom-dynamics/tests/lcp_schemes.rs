//! The schemes of Stewart & Trinkle and of Anitescu & Potra: cones, restitution, dissipation, drift, stiff forces.

use crate::support::{distance, fitted_order, run_scheme};
use carom_dynamics::problems::{bouncing_ball, pendulum, sliding_block, woodpecker};
use carom_dynamics::relations::FormulaSource;
use carom_dynamics::report::StepReport;
use carom_dynamics::schemes::{AnitescuPotraParams, Decompression, FrictionCone, Scheme, SchemeParams, StewartTrinkleParams, take_step};
use carom_dynamics::systems::Linear;
use carom_dynamics::{ContactLaw, Law, Model, State, StepMemory};
use carom_solvers::FrictionSolverParams;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use std::f64::consts::{PI, TAU};

fn stewart_trinkle(cone: FrictionCone, facets: usize) -> SchemeParams {
    SchemeParams::StewartTrinkle(StewartTrinkleParams { cone, facets, ..Default::default() })
}

fn anitescu_potra(cone: FrictionCone, facets: usize) -> SchemeParams {
    SchemeParams::AnitescuPotra(AnitescuPotraParams { cone, facets, ..Default::default() })
}

fn memory_for(model: &Model, scheme: &dyn Scheme) -> StepMemory {
    let solver = FrictionSolverParams { tolerance: 1e-13, ..scheme.solver().unwrap_or_default() };
    StepMemory::new(model, &solver).unwrap()
}

/// Names x0, x1, … of n coordinates.
fn names(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("x{i}")).collect()
}

/// A contact whose rows are linear in x0, x1, ….
fn add_linear_contact(model: &mut Model, name: &str, rows: &[Vec<f64>], law: ContactLaw) {
    let text = |row: &Vec<f64>| row.iter().enumerate().map(|(i, c)| format!("({c:?})*x{i}")).collect::<Vec<_>>().join(" + ");
    let rows = rows.iter().enumerate().map(|(k, row)| (format!("row {k} of \"{name}\""), text(row))).collect();
    model.add_formula(name, &FormulaSource { rows, parameters: Vec::new() }, Law::Contact(law)).unwrap();
}

/// A particle of 1 kg on a plane in space, μ = 0.3.
fn particle_on_plane() -> Model {
    let mass = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let system = Linear::new(names(3), mass, vec![0.0; 9], vec![0.0; 9]).unwrap().with_force(vec![0.0, 0.0, -9.81]).unwrap();
    let mut model = Model::new(vec![Box::new(system)]).unwrap();
    let rows = [vec![0.0, 0.0, 1.0], vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0]];
    add_linear_contact(&mut model, "plane", &rows, ContactLaw::coulomb(0.3, 0.0));
    model
}

/// Largest angle between friction and the direction opposite to the slip in a step, and between the path and the first velocity, over the
/// directions of sliding.
fn direction_errors(params: &SchemeParams) -> (f64, f64) {
    let model = particle_on_plane();
    let (mut friction, mut path) = (0.0_f64, 0.0_f64);
    for k in 0..23 {
        let angle = TAU * f64::from(k) / 23.0;
        let start = State { t: 0.0, q: vec![0.0; 3], v: vec![2.0 * angle.cos(), 2.0 * angle.sin(), 0.0], ..State::default() };
        let scheme = params.build();
        let (mut memory, mut state) = (memory_for(&model, &*scheme), start.clone());
        assert!(take_step(&*scheme, &model, &mut state, &mut memory, 1e-3).unwrap().converged());
        let p = memory.impulses();
        let between = |a: [f64; 2], b: [f64; 2]| (a[0] * b[1] - a[1] * b[0]).atan2(a[0] * b[0] + a[1] * b[1]).abs();
        friction = friction.max(between([-p[1], -p[2]], [state.v[0], state.v[1]]));
        let done = run_scheme(&model, &start, 0.6, 5e-3, params);
        path = path.max(between([done.state.q[0], done.state.q[1]], [start.v[0], start.v[1]]));
    }
    (friction, path)
}

/// Friction on a polyhedral cone pushes along a corner, off by up to π/facets [Brogliato2002, Remark 15]; on the exact cone it does not.
#[test]
fn polyhedral_friction_is_off_in_direction_and_exact_friction_is_not() {
    for scheme in [stewart_trinkle, anitescu_potra] {
        let mut last = (f64::INFINITY, f64::INFINITY);
        for facets in [4, 8, 16, 32] {
            let (friction, path) = direction_errors(&scheme(FrictionCone::Polyhedral, facets));
            println!("{facets:3} facets: friction off by {friction:.4} rad (π/facets = {:.4}), path by {path:.4} rad", PI / facets as f64);
            assert!(friction <= PI / facets as f64 + 1e-9 && friction > 0.5 * PI / facets as f64, "{facets}: {friction}");
            assert!(friction < 0.7 * last.0 && path < 0.7 * last.1, "{facets}: {friction} {path}");
            last = (friction, path);
        }
        let (friction, path) = direction_errors(&scheme(FrictionCone::Exact, 8));
        println!("exact: {friction:.1e} rad, path {path:.1e} rad");
        assert!(friction < 1e-9 && path < 1e-9, "{friction} {path}");
    }
}

/// A random multi-contact frictional problem: contacts touch at q = 0, the velocity approaches all of them.
#[derive(Clone, Debug)]
struct Collision {
    root: Vec<f64>,
    rows: Vec<Vec<Vec<f64>>>,
    friction: Vec<f64>,
    velocity: Vec<f64>,
}

fn collisions() -> impl Strategy<Value = Collision> {
    (3..=6_usize, 1..=3_usize, 2..=3_usize).prop_flat_map(|(n, contacts, dim)| {
        let numbers = |len| prop::collection::vec(-1.0..1.0_f64, len);
        let rows = prop::collection::vec(prop::collection::vec(numbers(n), dim), contacts);
        let friction = prop::collection::vec(0.0..1.5_f64, contacts);
        (numbers(n * n), rows, friction, numbers(n)).prop_map(|(root, rows, friction, velocity)| Collision {
            root,
            rows,
            friction,
            velocity,
        })
    })
}

impl Collision {
    fn n(&self) -> usize {
        self.velocity.len()
    }

    /// M = A Aᵀ + 1/4.
    fn mass(&self) -> Vec<f64> {
        let n = self.n();
        let entry = |i: usize, j: usize| {
            let product: f64 = (0..n).map(|k| self.root[i * n + k] * self.root[j * n + k]).sum();
            product + if i == j { 0.25 } else { 0.0 }
        };
        (0..n * n).map(|k| entry(k / n, k % n)).collect()
    }

    fn energy(&self, v: &[f64]) -> f64 {
        let (n, mass) = (self.n(), self.mass());
        0.5 * (0..n).map(|i| v[i] * (0..n).map(|j| mass[i * n + j] * v[j]).sum::<f64>()).sum::<f64>()
    }

    fn model(&self, restitution: f64, tangential: f64, frictional: bool) -> Model {
        let n = self.n();
        let system = Linear::new(names(n), self.mass(), vec![0.0; n * n], vec![0.0; n * n]).unwrap();
        let mut model = Model::new(vec![Box::new(system)]).unwrap();
        for (i, (rows, &friction)) in self.rows.iter().zip(&self.friction).enumerate() {
            let mut rows = rows.clone();
            let approach: f64 = rows[0].iter().zip(&self.velocity).map(|(g, v)| g * v).sum();
            if approach > 0.0 {
                rows[0].iter_mut().for_each(|g| *g = -*g);
            }
            let friction = if frictional { friction } else { 0.0 };
            let law = ContactLaw::coulomb(friction, restitution).with_tangential_restitution(tangential);
            add_linear_contact(&mut model, &format!("c{i}"), &rows, law);
        }
        model
    }

    /// One step without force: its report, and the energies before and after.
    fn step(&self, model: &Model, params: &SchemeParams) -> (StepReport, f64, f64) {
        let scheme = params.build();
        let mut memory = memory_for(model, &*scheme);
        let mut state = State { t: 0.0, q: vec![0.0; self.n()], v: self.velocity.clone(), ..State::default() };
        let report = take_step(&*scheme, model, &mut state, &mut memory, 1e-3).unwrap();
        (report, self.energy(&self.velocity), self.energy(&state.v))
    }
}

fn check(cases: u32, test: impl Fn(&Collision) -> Result<(), TestCaseError>) {
    let config = ProptestConfig { cases, rng_seed: RngSeed::Fixed(20_261_116), failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = TestRunner::new(config);
    runner.run(&collisions(), |collision| test(&collision)).unwrap();
}

/// Every problem is solved, and no energy is created: inelastic; reflected with any e; Poisson where e = e_T, or without friction and e equal.
#[test]
fn collisions_are_solvable_and_dissipate() {
    let reflection = SchemeParams::AnitescuPotra(AnitescuPotraParams { decompression: Decompression::Reflection, ..Default::default() });
    let cones = [FrictionCone::Polyhedral, FrictionCone::Exact];
    check(150, |c| {
        let not_more = |model: &Model, params: &SchemeParams| {
            let (report, before, after) = c.step(model, params);
            prop_assert!(report.converged(), "{params:?}: {report:?}");
            prop_assert!(after <= before * (1.0 + 1e-9), "{params:?}: {before} => {after}");
            prop_assert!(report.impact_gain < 1e-9);
            Ok(())
        };
        for cone in cones {
            not_more(&c.model(0.0, 0.0, true), &anitescu_potra(cone, 8))?;
            not_more(&c.model(0.0, 0.0, true), &stewart_trinkle(cone, 8))?;
            for e in [0.5, 1.0] {
                not_more(&c.model(e, 0.0, false), &anitescu_potra(cone, 8))?;
                not_more(&c.model(e, e, true), &anitescu_potra(cone, 8))?;
            }
        }
        for e in [0.3, 1.0] {
            not_more(&c.model(e, 0.0, true), &reflection)?;
        }
        Ok(())
    });
}

/// Poisson's decompression with friction and e_T = 0 may create energy [Anitescu1998, §4]: what it creates is reported.
#[test]
fn energy_that_decompression_creates_is_reported() {
    let (created, largest) = (std::cell::Cell::new(0), std::cell::Cell::new(0.0_f64));
    check(300, |c| {
        let (report, before, after) = c.step(&c.model(0.9, 0.0, true), &anitescu_potra(FrictionCone::Polyhedral, 8));
        prop_assert!(report.converged(), "{report:?}");
        let gain = (after - before).max(0.0);
        prop_assert!((report.impact_gain - gain).abs() < 1e-9 * before, "{gain} {}", report.impact_gain);
        if gain > 1e-9 * before {
            created.set(created.get() + 1);
            largest.set(largest.get().max(gain / before));
        }
        Ok(())
    });
    println!("energy created in {} of 300 collisions, at most {:.2} of the energy before", created.get(), largest.get());
}

/// Three equal balls in a row, the first at 1 m/s, e = 1: compression to 1/3 each, then (−1/3, 2/3, 2/3).
#[test]
fn row_of_balls_by_compression_and_decompression() {
    let mut mass = vec![0.0; 9];
    (0..3).for_each(|i| mass[4 * i] = 1.0);
    let system = Linear::new(names(3), mass, vec![0.0; 9], vec![0.0; 9]).unwrap();
    let mut model = Model::new(vec![Box::new(system)]).unwrap();
    add_linear_contact(&mut model, "first", &[vec![-1.0, 1.0, 0.0]], ContactLaw::coulomb(0.0, 1.0));
    add_linear_contact(&mut model, "second", &[vec![0.0, -1.0, 1.0]], ContactLaw::coulomb(0.0, 1.0));
    for decompression in [Decompression::Poisson, Decompression::Reflection] {
        let params = SchemeParams::AnitescuPotra(AnitescuPotraParams { decompression, ..Default::default() });
        let done = run_scheme(&model, &State { t: 0.0, q: vec![0.0; 3], v: vec![1.0, 0.0, 0.0], ..State::default() }, 0.01, 1e-3, &params);
        assert!(distance(&done.state.v, &[-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]) < 1e-12, "{:?}", done.state.v);
    }
}

/// Joints at position level do not drift: |g| = O(h²) and q of first order; at velocity level the drift is O(h).
#[test]
fn drift_of_joints() {
    let problem = pendulum::cartesian().unwrap();
    let (q, _) = problem.solution.at_end(1.0);
    let steps = [4e-3, 2e-3, 1e-3, 5e-4];
    for (params, drift_order) in [(stewart_trinkle(FrictionCone::Polyhedral, 8), 2.0), (anitescu_potra(FrictionCone::Polyhedral, 8), 1.0)] {
        let (mut drift, mut error) = (Vec::new(), Vec::new());
        for h in steps {
            let done = run_scheme(&problem.model, &problem.state, 1.0, h, &params);
            drift.push(done.certificate.max_constraint_violation);
            error.push(distance(&done.state.q, &q));
        }
        let (of_drift, of_q) = (fitted_order(&steps, &drift), fitted_order(&steps, &error));
        println!("{}: drift {drift:?} of order {of_drift:.2}, q {error:?} of order {of_q:.2}", params.entry().name);
        assert!((of_drift - drift_order).abs() < 0.15 && (of_q - 1.0).abs() < 0.2, "{of_drift} {of_q}");
    }
}

/// A spring with ω h = 10: linearly implicit it comes to rest, explicit it explodes.
#[test]
fn stiff_springs() {
    let system = Linear::new(names(1), vec![1.0], vec![0.0], vec![1e6]).unwrap();
    let model = Model::new(vec![Box::new(system)]).unwrap();
    let end = |stiff: bool| {
        let params = SchemeParams::AnitescuPotra(AnitescuPotraParams { stiff, ..Default::default() });
        run_scheme(&model, &State { t: 0.0, q: vec![1.0], v: vec![0.0], ..State::default() }, 0.2, 1e-2, &params).state.q[0].abs()
    };
    assert!(end(true) < 1e-12, "{}", end(true));
    assert!(end(false) > 1e6);
}

/// No allocation per step once warm, with the schemes' own solvers.
#[test]
fn steps_do_not_allocate() {
    let cases = [
        (sliding_block::problem().unwrap(), 1e-3, 100, 800),
        (bouncing_ball::problem(0.0).unwrap(), 5e-3, 200, 500),
        (pendulum::cartesian().unwrap(), 1e-3, 10, 300),
    ];
    let count = |model: &Model, state: &State, h: f64, warm: usize, steps: usize, params: &SchemeParams| {
        let (scheme, mut state) = (params.build(), state.clone());
        let mut memory = memory_for(model, &*scheme);
        let mut take = |n: usize| {
            (0..n).for_each(|_| {
                take_step(&*scheme, model, &mut state, &mut memory, h).unwrap();
            })
        };
        take(warm);
        allocation_counter::measure(|| take(steps)).count_total
    };
    for params in [stewart_trinkle(FrictionCone::Polyhedral, 8), anitescu_potra(FrictionCone::Polyhedral, 8)] {
        for (problem, h, warm, steps) in &cases {
            assert_eq!(count(&problem.model, &problem.state, *h, *warm, *steps, &params), 0, "{params:?}");
        }
        let plane = particle_on_plane();
        assert_eq!(
            count(&plane, &State { t: 0.0, q: vec![0.0; 3], v: vec![2.0, 0.7, 0.0], ..State::default() }, 1e-3, 100, 400, &params),
            0,
            "{params:?}"
        );
    }
    let (toy, ball) = (woodpecker::problem().unwrap(), bouncing_ball::problem(0.9).unwrap());
    let params = anitescu_potra(FrictionCone::Polyhedral, 8);
    assert_eq!(count(&ball.model, &ball.state, 5e-3, 200, 1000, &params), 0);
    assert_eq!(count(&toy.model, &toy.state, 1e-4, 1600, 1200, &params), 0);
}

#[test]
fn settings_are_checked() {
    for facets in [0, 2, 7, 66] {
        assert!(stewart_trinkle(FrictionCone::Polyhedral, facets).validate().is_err());
        assert!(anitescu_potra(FrictionCone::Polyhedral, facets).validate().is_err());
    }
    assert!(SchemeParams::StewartTrinkle(StewartTrinkleParams { clearance: -1.0, ..Default::default() }).validate().is_err());
    assert!(SchemeParams::AnitescuPotra(AnitescuPotraParams { gamma: 1.5, ..Default::default() }).validate().is_err());
}
