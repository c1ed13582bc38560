//! The certificate, the energy account and the recorded contacts of the gallery, computed again from frames and one-step problems.

use crate::contact_rows::{Eye, Row};
use crate::support::folder;
use crate::watch::{Seen, Watched, norm, run_within};
use carom::Simulation;
use carom::dynamics::recording::{ContactRecord, Source};
use carom::dynamics::report::{ContactMode, Energy, StepReport};
use carom::dynamics::strategies::StrategyKind;
use carom::dynamics::{Cohesion, ContactLaw, Friction};

/// Steps and active interactions of all of them, together, of a run.
const BUDGET: usize = 8000;

/// Contacts are sought within this part of a body's radius: farther ones do not close within a step of these runs.
const SKIN: f64 = 0.1;

/// The acceleration of an obstacle's surface that turns is taken where the free motion leads, here where the motion at the start of the step leads: g h ω of
/// a velocity v h.
const TURNING: f64 = 5e-4;

/// A contact slides above this speed [m/s], as the records say it.
const SLOWEST_SLIP: f64 = 1e-7;

/// Two numbers that were computed in another order, or from rounded ones: to rounding of the larger of them and of `scale`.
fn same(a: f64, b: f64, scale: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()) + 1e-14 * scale
}

/// mechanical + dissipated − work − initial.
fn balance(energy: &Energy, initial: &Energy) -> f64 {
    energy.kinetic + energy.potential + energy.dissipated_impact + energy.dissipated_friction
        - energy.work
        - initial.kinetic
        - initial.potential
}

/// The certificate of a run of constant steps, each with a frame, is what its frames and problems say. Everything but the violations and the residuals
/// is a sum or a maximum of the same numbers.
fn check_certificate(name: &str, watched: &Watched) {
    let (c, seen) = (&watched.certificate, &watched.watch.seen);
    let model = &watched.simulation.file.model;
    let reports = || seen.iter().filter_map(|seen| seen.report.as_ref());
    let largest = |of: &dyn Fn(&StepReport) -> f64| reports().map(of).fold(0.0, f64::max);
    let sum = |of: &dyn Fn(&StepReport) -> f64| reports().map(of).sum::<f64>();
    assert_eq!((c.steps, c.max_active), (seen.len() - 1, reports().map(|r| r.n_active).max().unwrap()), "{name}");
    assert_eq!(c.solver_iterations, reports().filter_map(|r| r.solve).map(|s| s.iterations).sum::<usize>(), "{name}");
    assert_eq!((c.unconverged, c.events), (reports().filter(|r| !r.converged()).count(), watched.watch.events.len()), "{name}");
    let scale = c.initial.mechanical().abs() + seen.iter().map(|s| s.energy.kinetic).fold(0.0, f64::max);
    let gain = seen.iter().map(|seen| balance(&seen.energy, &c.initial)).fold(0.0, f64::max);
    for (what, reported, again, scale) in [
        ("max_newton_residual", c.max_newton_residual, largest(&|r| r.newton_residual), 0.0),
        ("max_residual", c.max_residual, largest(&|r| r.solve.map_or(0.0, |s| s.residual_normalised)), 0.0),
        ("max_energy_gain", c.max_energy_gain, gain, scale),
        ("dissipated_impact", c.last.dissipated_impact, sum(&|r| r.dissipated_impact), scale),
        ("dissipated_friction", c.last.dissipated_friction, sum(&|r| r.dissipated_friction), scale),
        ("work", c.last.work, sum(&|r| r.work), scale),
        ("contact_gain", c.contact_gain, sum(&|r| (-r.dissipated_impact - r.dissipated_friction).max(0.0)), scale),
        ("impact_gain", c.impact_gain, sum(&|r| r.impact_gain), scale),
        ("energy_error", c.energy_error(), balance(&seen.last().unwrap().energy, &c.initial), scale),
    ] {
        assert!(same(reported, again, scale), "{name}: {what} {reported:e}, from the frames {again:e}");
    }

    // violations of all states, with detectors of our own; positions carry rounding of lengths of metres, velocities of metres per second
    let (mut eye, mut scratch) = (Eye::new(watched), carom::dynamics::systems::Scratch::default());
    let (mut depth, mut open, mut drift) = (0.0_f64, 0.0_f64, 0.0_f64);
    for seen in seen {
        let violations = eye.violations(seen);
        depth = depth.max(violations.penetration);
        open = open.max(violations.constraint);
        drift = drift.max(violations.constraint_velocity);
        // what first-order parts store is their own
        if model.first_order().is_none() {
            let (kinetic, potential) = model.energy(seen.t, &seen.q, &seen.v, &mut scratch).unwrap();
            assert!(same(kinetic, seen.energy.kinetic, scale) && same(potential, seen.energy.potential, scale), "{name} at {}", seen.t);
        }
    }
    for (what, reported, again) in [
        ("max_penetration", c.max_penetration, depth),
        ("max_constraint_violation", c.max_constraint_violation, open),
        ("max_constraint_velocity", c.max_constraint_velocity, drift),
    ] {
        assert!(same(reported, again, 1.0), "{name}: {what} {reported:e}, from the states {again:e}");
    }

    // both residuals add the rounding of u = W r + q, some 1e-16 of its terms
    for residual in &watched.watch.residuals {
        let (reported, again) = (residual.reported, residual.recomputed);
        assert!((reported - again).abs() < 1e-8 * reported + 2e-15, "{name}: residual {reported:e}, from the problem {again:e}");
    }
}

/// What was checked.
#[derive(Debug, Default)]
struct Checked {
    contacts: usize,
    steps: usize,
    sliding: usize,
    /// Contacts between shapes with an impulse that our detectors do not see.
    unseen: usize,
}

/// What a recorded contact says of itself: modes by velocity and impulse, impulses within the cone and against the slip, velocities those of its rows.
fn check_contact(record: &ContactRecord, (law, rows): (&ContactLaw, Option<&[Row]>), (v, tolerance): (&[f64], f64)) -> Result<(), String> {
    let (u, p) = (&record.velocity, &record.impulse);
    let slip = norm(&u[1..3]);
    let mode = match (p[0] > 0.0, record.dim == 1 || law.friction.is_none(), slip > SLOWEST_SLIP) {
        (false, ..) => ContactMode::Open,
        (true, true, _) => ContactMode::Closed,
        (true, false, true) => ContactMode::Sliding,
        (true, false, false) => ContactMode::Sticking,
    };
    if mode != record.mode {
        return Err(format!("{:?} should be {mode:?}", record.mode));
    }
    let speed = rows.into_iter().flatten().map(|row| row.entries.iter().map(|(j, g)| (g * v[*j]).abs()).sum::<f64>()).fold(0.0, f64::max);
    for (k, row) in rows.into_iter().flatten().enumerate() {
        let again = row.velocity(v);
        let tolerance = if row.bias_change == 0.0 { tolerance } else { TURNING };
        if (again - u[k]).abs() > tolerance * (1e-3 + speed) {
            return Err(format!("row {k}: velocity {:e}, of the bodies {again:e}", u[k]));
        }
    }
    if rows.is_some_and(|rows| rows.len() != record.dim) || u[record.dim..].iter().chain(&p[record.dim..]).any(|x| *x != 0.0) {
        return Err(format!("{} rows, {u:?} {p:?}", record.dim));
    }
    if law.cohesion != Cohesion::None || record.dim < 2 {
        return Ok(());
    }
    let [mu1, mu2] = match law.friction {
        Friction::Elliptic { coefficients, .. } => coefficients,
        Friction::Coulomb { coefficient } => [coefficient; 2],
        Friction::StaticKinetic { at_rest, .. } | Friction::Stribeck { at_rest, .. } => [at_rest; 2],
    };
    let used = (p[1] / mu1).hypot(p[2] / mu2);
    if mu1 > 0.0 && used > p[0] + tolerance * (p[0] + 1e-9) {
        return Err(format!("impulse {p:?} outside of its cone"));
    }
    // of all impulses in the cone that of largest dissipation, for laws of one coefficient in every direction
    let power = -(p[1] * u[1] + p[2] * u[2]);
    let largest = p[0] * (mu1 * u[1]).hypot(mu2 * u[2]);
    if mode == ContactMode::Sliding
        && law.tangential_restitution == 0.0
        && !law.friction.varies()
        && (power - largest).abs() > tolerance * p[0]
    {
        return Err(format!("friction takes {power:e}, at most {largest:e}"));
    }
    Ok(())
}

/// The contacts of every frame, and the energies that all of a step exchange by −½ (u⁺ + u⁻)·p.
fn check_records(name: &str, watched: &Watched) -> Checked {
    let model = &watched.simulation.file.model;
    let (mut eye, mut checked) = (Eye::new(watched), Checked::default());
    // solutions obey their laws to the residual, which is relative to the largest velocity and impulse of the step
    let tolerance = 1e-8 + 1e3 * watched.certificate.max_residual;
    // impulses before the step, or with first-order parts at another velocity, are not those of these rows alone
    let is_separate = model.impact_law().is_separate() || model.first_order().is_some();
    for step in watched.watch.seen.windows(2) {
        let [start, end]: &[Seen; 2] = step.try_into().unwrap();
        let h = end.t - start.t;
        eye.look(start, 3.0 * h, SKIN);
        let (mut normal, mut tangential, mut exchanged, mut all, mut turning) = (0.0, 0.0, 0.0, !is_separate, false);
        for record in &end.contacts {
            let carries = record.impulse.iter().any(|p| *p != 0.0);
            let Some((law, rows)) = eye.contact(record, start, h) else {
                all &= !carries;
                checked.unseen += usize::from(carries && matches!(record.source, Source::Colliders(..)));
                continue;
            };
            all &= rows.is_some() || !carries;
            if !is_separate {
                let result = check_contact(record, (&law, rows.as_deref()), (&end.v, tolerance));
                assert!(result.is_ok(), "{name} at {}: {} of {record:?}", end.t, result.unwrap_err());
            }
            checked.contacts += 1;
            checked.sliding += usize::from(record.mode == ContactMode::Sliding);
            for (k, row) in rows.iter().flatten().enumerate() {
                let mean = 0.5 * (row.velocity(&start.v) + row.velocity(&end.v)) - 0.5 * row.bias_change;
                *(if k == 0 { &mut normal } else { &mut tangential }) -= mean * record.impulse[k];
                exchanged += (mean * record.impulse[k]).abs();
                turning |= row.bias_change != 0.0;
            }
        }
        let report = end.report.as_ref().unwrap();
        if all && !end.contacts.is_empty() {
            checked.steps += 1;
            // velocities of the rows to rounding, some 1e-10 of those of the bodies in the step before last
            let tolerance = if turning { TURNING } else { 1e-9 } * exchanged + 1e-13 * (start.energy.kinetic + end.energy.kinetic);
            let close = |a: f64, b: f64| (a - b).abs() <= tolerance;
            assert!(close(normal, report.dissipated_impact), "{name} at {}: {normal:e} {:e}", end.t, report.dissipated_impact);
            assert!(close(tangential, report.dissipated_friction), "{name} at {}: {tangential:e} {:e}", end.t, report.dissipated_friction);
        }
    }
    checked
}

/// A run by located events or smooth motion has frames within its steps, where the energy is that of the interpolated state: to the tolerance of its
/// integrator, 1e-9 of the energies at most.
fn check_account(name: &str, watched: &Watched) {
    let (c, seen) = (&watched.certificate, &watched.watch.seen);
    let scale = 1.0 + seen.iter().map(|seen| seen.energy.kinetic.abs() + seen.energy.potential.abs()).fold(0.0, f64::max);
    let gain = seen.iter().map(|seen| balance(&seen.energy, &c.initial)).fold(0.0, f64::max);
    assert!((gain - c.max_energy_gain).abs() < 1e-8 * scale, "{name}: max_energy_gain {:e}, of the frames {gain:e}", c.max_energy_gain);
    let last = balance(&seen.last().unwrap().energy, &c.initial);
    assert!(same(last, c.energy_error(), scale), "{name}: energy_error {:e}, of the last frame {last:e}", c.energy_error());
}

/// Every gallery model: those of constant steps by all that they report.
#[test]
fn certificates_and_records_are_what_frames_and_problems_say() {
    let (mut models, mut total) = (0, Checked::default());
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if !path.join("model.toml").exists() {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        let mut simulation = Simulation::from_path(&path, &[]).unwrap_or_else(|e| panic!("{e}"));
        simulation.file.record.every = 1;
        // controllers sample within steps: these have several reports
        let has_constant_steps = simulation.file.run.strategy == StrategyKind::TimeStepping && simulation.file.model.control().is_none();
        let watched = run_within(simulation, name, BUDGET);
        check_account(name, &watched);
        if !has_constant_steps {
            continue;
        }
        check_certificate(name, &watched);
        let checked = check_records(name, &watched);
        models += 1;
        total.contacts += checked.contacts;
        total.steps += checked.steps;
        total.sliding += checked.sliding;
        total.unseen += checked.unseen;
    }
    // what was there when this was written: 50 models, 1.4e5 contacts, 1.7e4 of them sliding, 2.4e4 steps
    assert!(models >= 50 && total.contacts > 100_000 && total.sliding > 15_000 && total.steps > 20_000, "{models} {total:?}");
    assert!(total.unseen == 0, "{total:?}");
}
