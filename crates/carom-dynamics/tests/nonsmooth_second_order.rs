//! The schemes that are of second order between impacts: nonsmooth generalized-α at both levels and D⁻₁.

use crate::support::{Done, distance, fitted_order, run_scheme};
use carom_dynamics::problems::{
    Problem, Solution, add_stop, bouncing_ball, free_bodies, heavy_top, impact_oscillator, pendulum, woodpecker,
};
use carom_dynamics::relations::FormulaSource;
use carom_dynamics::schemes::{AlphaLevel, D1MinusParams, NonsmoothAlphaParams, SchemeParams};
use carom_dynamics::systems::{Lagrangian, LagrangianText, Linear};
use carom_dynamics::{ContactLaw, Law, Model, State, StepMemory};
use carom_solvers::FrictionSolverParams;

/// Nonsmooth generalized-α.
pub fn alpha(level: AlphaLevel, spectral_radius: f64) -> SchemeParams {
    SchemeParams::NonsmoothAlpha(NonsmoothAlphaParams { level, spectral_radius, ..NonsmoothAlphaParams::default() })
}

/// D⁻₁.
pub fn d1_minus() -> SchemeParams {
    SchemeParams::D1Minus(D1MinusParams::default())
}

/// The methods: every level with a damping and a conserving ρ∞, and D⁻₁.
fn methods() -> Vec<SchemeParams> {
    use AlphaLevel::{PositionVelocity, Velocity};
    vec![
        alpha(Velocity, 0.8),
        alpha(Velocity, 0.0),
        alpha(Velocity, 1.0),
        alpha(PositionVelocity, 0.8),
        alpha(PositionVelocity, 1.0),
        d1_minus(),
    ]
}

/// A point mass of 1 kg in the plane under gravity.
fn point() -> Model {
    let system = Lagrangian::new(&LagrangianText {
        coordinates: vec!["x".into(), "y".into()],
        parameters: vec![("g".into(), 9.81)],
        kinetic: "(x_dot^2 + y_dot^2)/2".into(),
        potential: "g*y".into(),
        forces: Vec::new(),
    });
    Model::new(vec![Box::new(system.unwrap())]).unwrap()
}

/// A bead released in a bowl, the inside of the unit circle: while the contact is closed its motion is that of the pendulum.
fn bead_in_bowl() -> Problem {
    let mut model = point();
    add_stop(&mut model, "bowl", "1 - x^2 - y^2", 0.0).unwrap();
    let (q, v) = pendulum::AT_ONE_SECOND;
    let state = State { t: 0.0, q: vec![1.0, 0.0], v: vec![0.0; 2], ..State::default() };
    Problem { model, state, end: 1.0, solution: Solution::AtEnd(q.to_vec(), v.to_vec()) }
}

/// A block that slides on a floor with friction μ = 0.3 under the vertical load g + 2 sin 3t; at t = 0.5 it still slides.
fn loaded_block() -> Problem {
    let zero = || vec![0.0; 4];
    let system = Linear::new(vec!["x".into(), "y".into()], vec![1.0, 0.0, 0.0, 1.0], zero(), zero()).unwrap();
    let system = system.with_excitation(&["0".into(), "-9.81 - 2*sin(3*t)".into()], &[]).unwrap();
    let mut model = Model::new(vec![Box::new(system)]).unwrap();
    let rows = vec![("gap".to_owned(), "y".to_owned()), ("tangent".to_owned(), "x".to_owned())];
    model.add_formula("floor", &FormulaSource { rows, parameters: Vec::new() }, Law::Contact(ContactLaw::coulomb(0.3, 0.5))).unwrap();
    let exact = |t: f64| {
        let v = 2.0 - 0.3 * (9.81 * t + 2.0 / 3.0 * (1.0 - (3.0 * t).cos()));
        let x = 2.0 * t - 0.3 * (4.905 * t * t + 2.0 / 3.0 * (t - (3.0 * t).sin() / 3.0));
        (vec![x, 0.0], vec![v, 0.0])
    };
    Problem {
        model,
        state: State { t: 0.0, q: vec![0.0; 2], v: vec![2.0, 0.0], ..State::default() },
        end: 0.5,
        solution: Solution::Exact(Box::new(exact)),
    }
}

/// Orders of q and v at the end, and the largest error of q.
fn orders(problem: &Problem, params: &SchemeParams, steps: &[f64]) -> (f64, f64, f64) {
    let (q, v) = problem.solution.at_end(problem.end);
    let runs: Vec<Done> = steps.iter().map(|&h| run_scheme(&problem.model, &problem.state, problem.end, h, params)).collect();
    let of = |error: &dyn Fn(&Done) -> f64| fitted_order(steps, &runs.iter().map(error).collect::<Vec<_>>());
    let position = runs.iter().map(|done| distance(&done.state.q, &q)).fold(0.0, f64::max);
    (of(&|done| distance(&done.state.q, &q)), of(&|done| distance(&done.state.v, &v)), position)
}

/// Second order in positions and velocities while a contact or a constraint is closed: straight with friction, curved, bilateral.
#[test]
fn second_order_with_closed_contacts() {
    // the errors of ρ∞ = 0 on the block cancel nearly, which larger steps show as a lower order
    let steps = [0.004, 0.002, 0.001, 0.0005];
    for params in methods() {
        let cases = [("block", loaded_block()), ("bowl", bead_in_bowl()), ("rod", pendulum::cartesian().unwrap())];
        for (name, problem) in cases {
            let (q, v, error) = orders(&problem, &params, &steps);
            println!("{name:6} {q:5.2} {v:5.2} {error:9.1e} {params:?}");
            let exact = error < 1e-12;
            assert!(exact || (q > 1.8 && v > 1.8), "{name}: orders {q} {v} of {params:?}");
        }
    }
}

/// A point that slides on a floor in space while a side force turns its direction: second order with generalized-α; first with D⁻₁, whose friction
/// has the direction of the end of the step.
#[test]
fn friction_whose_direction_turns() {
    let names = ["x", "y", "z"].map(String::from).to_vec();
    let mut unit = vec![0.0; 9];
    (0..3).for_each(|i| unit[4 * i] = 1.0);
    let system = Linear::new(names, unit, vec![0.0; 9], vec![0.0; 9]).unwrap().with_force(vec![0.0, 4.0, -9.81]).unwrap();
    let mut model = Model::new(vec![Box::new(system)]).unwrap();
    let rows = [("gap", "z"), ("first", "x"), ("second", "y")].map(|(name, text)| (name.to_owned(), text.to_owned())).to_vec();
    model.add_formula("floor", &FormulaSource { rows, parameters: Vec::new() }, Law::Contact(ContactLaw::coulomb(0.3, 0.0))).unwrap();
    let state = State { t: 0.0, q: vec![0.0; 3], v: vec![2.0, 0.0, 0.0], ..State::default() };
    let velocity = alpha(AlphaLevel::Velocity, 0.8);
    // its own error is below 1e-8
    let exact = run_scheme(&model, &state, 0.5, 1e-4, &velocity).state;
    for (params, least, most) in [(velocity, 1.8, 2.2), (alpha(AlphaLevel::PositionVelocity, 0.8), 1.8, 2.2), (d1_minus(), 0.9, 1.2)] {
        let problem_end =
            Problem { model: point(), state: state.clone(), end: 0.5, solution: Solution::AtEnd(exact.q.clone(), exact.v.clone()) };
        let problem = Problem { model, ..problem_end };
        let (q, v, error) = orders(&problem, &params, &[0.02, 0.01, 0.005]);
        println!("{q:5.2} {v:5.2} {error:9.1e} {params:?}");
        assert!((least..most).contains(&q) && (least..most).contains(&v), "{q} {v}: {params:?}");
        model = problem.model;
    }
}

/// Second order on rigid bodies: a free top, and the heavy top on its fixed point at 150 rad/s.
#[test]
fn second_order_of_rotations_and_joints() {
    let (free, heavy) = (free_bodies::symmetric_top().unwrap(), heavy_top::heavy_top().unwrap());
    let of_free = free.solution.at_end(1.0);
    let of_heavy = (heavy.references[0].q.clone(), heavy.references[0].v.clone());
    let cases = [
        ("free", &free.model, &free.state, of_free, [0.02, 0.01, 0.005]),
        ("heavy", &heavy.model, &heavy.state, of_heavy, [1e-3, 5e-4, 2.5e-4]),
    ];
    for params in [alpha(AlphaLevel::Velocity, 0.8), alpha(AlphaLevel::PositionVelocity, 0.8), d1_minus()] {
        for (name, model, state, (q, v), steps) in &cases {
            let runs: Vec<Done> = steps.iter().map(|&h| run_scheme(model, state, 1.0, h, &params)).collect();
            // q and −q are the same rotation
            let sign = if runs[2].state.q[3] * q[3] < 0.0 { -1.0 } else { 1.0 };
            let q: Vec<f64> = q.iter().enumerate().map(|(i, q)| if i < 3 { *q } else { sign * q }).collect();
            let of = |error: &dyn Fn(&Done) -> f64| fitted_order(steps, &runs.iter().map(error).collect::<Vec<_>>());
            let (order_q, order_v) = (of(&|done| distance(&done.state.q, &q)), of(&|done| distance(&done.state.v, v)));
            println!("{name:6} {order_q:5.2} {order_v:5.2} {:9.1e} {params:?}", distance(&runs[2].state.q, &q));
            assert!(order_q > 1.8 && order_v > 1.8, "{name}: {order_q} {order_v} of {params:?}");
        }
    }
}

/// A bead that slides down the outside of a circle leaves it at the height where the contact force vanishes, cos θ = ⅔ cos θ₀.
#[test]
fn bead_leaves_a_circle() {
    let mut model = point();
    add_stop(&mut model, "circle", "x^2 + y^2 - 1", 0.5).unwrap();
    let state = State { t: 0.0, q: vec![0.3_f64.sin(), 0.3_f64.cos()], v: vec![0.0; 2], ..State::default() };
    let height = 2.0 / 3.0 * 0.3_f64.cos();
    for params in methods() {
        let done = run_scheme(&model, &state, 1.0, 1e-3, &params);
        let last = done.keep.frames.iter().rev().find(|f| f.impulse > 0.0).unwrap();
        println!("{:9.1e} {:9.1e} {params:?}", last.q[1] - height, done.certificate.max_penetration);
        // the bead falls by 2 mm per step there
        assert!((last.q[1] - height).abs() < 5e-3, "{params:?}: {last:?}");
        // second order: the drift of the gap
        assert!(done.certificate.max_penetration < 1e-5, "{params:?}: {}", done.certificate.max_penetration);
    }
}

/// The recorded impulses of a closed contact are those of its force.
#[test]
fn contact_forces_converge() {
    for params in methods() {
        let problem = loaded_block();
        let error = |h: f64| {
            let done = run_scheme(&problem.model, &problem.state, problem.end, h, &params);
            let last = &done.keep.frames[done.keep.frames.len() - 2..];
            let exact = 9.81 + 2.0 * (3.0 * (problem.end - 0.5 * h)).sin();
            (last[1].impulse / h - exact).abs()
        };
        let (coarse, fine) = (error(5e-3), error(1.25e-3));
        println!("{coarse:9.1e} {fine:9.1e} {params:?}");
        assert!(fine < 2e-3 && fine < 0.3 * coarse, "{params:?}: {coarse} {fine}");
    }
}

/// At position–velocity level gaps and constraints hold at both levels at the end of every step, through impacts and accumulations of impacts.
#[test]
fn both_levels_hold() {
    let params = alpha(AlphaLevel::PositionVelocity, 0.8);
    let problems = [
        ("rod", pendulum::cartesian().unwrap()),
        ("bowl", bead_in_bowl()),
        ("ball", bouncing_ball::problem(0.5).unwrap()),
        ("oscillator", impact_oscillator::separated().unwrap()),
    ];
    for (name, problem) in problems {
        let done = run_scheme(&problem.model, &problem.state, problem.end, 5e-3, &params);
        let c = &done.certificate;
        println!("{name:10} {:9.1e} {:9.1e} {:9.1e}", c.max_penetration, c.max_constraint_violation, c.max_constraint_velocity);
        // the position tolerance; velocities to the tolerance of the one-step problem
        assert!(c.max_penetration <= 1e-10 && c.max_constraint_violation <= 1e-10, "{name}: {c:?}");
        assert!(c.max_constraint_velocity < 1e-11, "{name}: {c:?}");
    }
}

/// A stiff mode, ω h = 1e4: its amplitude falls by ρ∞ per step, and stays for ρ∞ = 1.
#[test]
fn stiff_modes_are_damped_as_asked() {
    let system = Linear::new(vec!["x".into()], vec![1.0], vec![0.0], vec![1e12]).unwrap();
    let model = Model::new(vec![Box::new(system)]).unwrap();
    let state = State { t: 0.0, q: vec![1.0], v: vec![0.0], ..State::default() };
    for (rho, n) in [(0.5, 40), (0.8, 100), (1.0, 100)] {
        let done = run_scheme(&model, &state, 0.01 * f64::from(n), 0.01, &alpha(AlphaLevel::Velocity, rho));
        let size = |k: usize| done.keep.frames[k].q[0].abs();
        let rate = (size(n as usize) / size(n as usize / 2)).powf(2.0 / f64::from(n));
        println!("{rho} {rate}");
        // a triple root at infinity: the amplitude is a polynomial of degree 2 times ρⁿ
        assert!((rate - rho).abs() < 0.1 * rho && size(n as usize) < 10.0, "{rho}: {rate}");
    }
}

/// Energy of an oscillator with an elastic stop over 20 impacts: ρ∞ = 1 at velocity level keeps it, ρ∞ < 1 loses, D⁻₁ stays within O(h²).
#[test]
fn energy_stays_bounded() {
    let system = Linear::new(vec!["x".into()], vec![1.0], vec![0.0], vec![1.0]).unwrap();
    let mut model = Model::new(vec![Box::new(system)]).unwrap();
    add_stop(&mut model, "stop", "0.5 - x", 1.0).unwrap();
    let state = State { t: 0.0, q: vec![0.0], v: vec![1.0], ..State::default() };
    let mut all = methods();
    all.remove(1); // ρ∞ = 0 damps the slow motion too at this step
    for params in all {
        let gain = |h: f64| {
            let done = run_scheme(&model, &state, 100.0, h, &params);
            let energies = done.keep.frames.iter().map(|f| f.mechanical);
            (energies.clone().fold(f64::MIN, f64::max) - 0.5, 0.5 - energies.fold(f64::MAX, f64::min))
        };
        let (coarse, fine) = (gain(1e-2), gain(2.5e-3));
        println!("{:9.1e} {:9.1e}  {:9.1e} {:9.1e} {params:?}", coarse.0, coarse.1, fine.0, fine.1);
        assert!(coarse.0 < 1e-4 && coarse.1 < 1e-2, "{params:?}: {coarse:?}");
        assert!(fine.0 < 1e-5 && fine.1 < 1e-3, "{params:?}: {fine:?}");
        if params == alpha(AlphaLevel::Velocity, 1.0) {
            // the trapezoidal rule with elastic impacts keeps the energy: round-off of 40000 steps
            assert!(fine.0 < 1e-12 && fine.1 < 1e-12, "{fine:?}");
        }
    }
}

/// A chain of masses and springs flies against a wall.
fn chain(n: usize) -> (Model, State) {
    // a bar of mass 1 and stiffness 100 between its ends
    let (m, k) = (1.0 / n as f64, 100.0 * n as f64);
    let (mut mass, mut stiffness) = (vec![0.0; n * n], vec![0.0; n * n]);
    for i in 0..n {
        mass[i * n + i] = m;
    }
    for i in 0..n - 1 {
        for (a, b, sign) in [(i, i, 1.0), (i + 1, i + 1, 1.0), (i, i + 1, -1.0), (i + 1, i, -1.0)] {
            stiffness[a * n + b] += sign * k;
        }
    }
    let names = (0..n).map(|i| format!("x{i}")).collect();
    let mut model = Model::new(vec![Box::new(Linear::new(names, mass, vec![0.0; n * n], stiffness).unwrap())]).unwrap();
    add_stop(&mut model, "wall", "0.01 + x0", 0.0).unwrap();
    (model, State { t: 0.0, q: vec![0.0; n], v: vec![-1.0; n], ..State::default() })
}

/// The contact force of an elastic chain on a wall follows that of very small steps and does not oscillate from step to step.
#[test]
fn elastic_chain_on_a_wall() {
    let (model, state) = chain(20);
    let (h, end, ratio) = (1e-3, 0.15, 20);
    let force = |done: &Done, h: f64| done.keep.frames.iter().map(|f| f.impulse / h).collect::<Vec<_>>();
    let fine_h = h / ratio as f64;
    let fine = force(&run_scheme(&model, &state, end, fine_h, &alpha(AlphaLevel::Velocity, 1.0)), fine_h);
    // mean over each coarse step
    let reference: Vec<f64> = fine[1..].chunks(ratio).map(|chunk| chunk.iter().sum::<f64>() / ratio as f64).collect();
    let first = reference.iter().position(|&f| f > 0.0).unwrap();
    for params in methods() {
        let done = run_scheme(&model, &state, end, h, &params);
        let found = &force(&done, h)[1..];
        // from a few steps after the impact to the time before the wave comes back, 2 L/c = 0.2 s
        let span = first + 4..found.len() - 1;
        let error = span.clone().map(|i| (found[i] - reference[i]).abs()).fold(0.0, f64::max);
        let roughness = |f: &[f64]| span.clone().map(|i| (f[i + 1] - 2.0 * f[i] + f[i - 1]).abs()).fold(0.0, f64::max);
        let (mine, smooth) = (roughness(found), roughness(&reference));
        println!("error {error:6.3} of {:6.3}, roughness {mine:6.3} {smooth:6.3}: {params:?}", reference[first + 50]);
        assert!(error < 0.25 * reference[first + 50] && mine < 2.0 * smooth + 0.1, "{params:?}: {error} {mine} {smooth}");
    }
}

/// Steps allocate nothing once every contact has been closed.
#[test]
fn steps_do_not_allocate() {
    for params in [alpha(AlphaLevel::Velocity, 0.8), alpha(AlphaLevel::PositionVelocity, 0.8), d1_minus()] {
        let problems =
            [(bouncing_ball::problem(0.9).unwrap(), 5e-3), (woodpecker::problem().unwrap(), 2e-5), (pendulum::cartesian().unwrap(), 1e-3)];
        for (problem, h) in problems {
            let (scheme, mut state) = (params.build(), problem.state.clone());
            let mut memory = StepMemory::new(&problem.model, &FrictionSolverParams::default()).unwrap();
            scheme.start(&problem.model, &state, &mut memory).unwrap();
            let mut take = |n: usize| {
                for _ in 0..n {
                    scheme.step(&problem.model, &mut state, &mut memory, h).unwrap();
                    scheme.accept(&problem.model, &state, &mut memory);
                }
            };
            take(8000);
            assert_eq!(allocation_counter::measure(|| take(2000)).count_total, 0, "{params:?}");
        }
    }
}
