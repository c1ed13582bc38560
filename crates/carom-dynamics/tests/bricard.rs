//! Bricard's mechanism over 10 s: the redundant row is found, the energy is kept and the reference is met, without anything set by hand.

use carom_dynamics::integrators::{Integration, IntegratorKind, IntegratorParams};
use carom_dynamics::problems::bricard::{RANK, bricard, third_joint};
use carom_dynamics::smooth::Projection;
use carom_dynamics::systems::Scratch;
use nalgebra::Vector3;

/// Largest errors over a run: of the energy after each step \[J\], of P₃ at 1 s, 5 s and 10 s \[m\], and |g| of the rows in use and of all \[m\].
struct Errors {
    energy: f64,
    reference: f64,
    in_use: f64,
    constraint: f64,
}

fn errors(kind: IntegratorKind, tolerance: f64, projection: Projection) -> Errors {
    let problem = bricard().unwrap();
    // the highest order of methods that have several
    let order = kind.entry().choices.last().copied();
    let params = IntegratorParams { kind, order, tolerance, projection, ..IntegratorParams::default() };
    let energy = |q: &[f64], v: &[f64]| {
        let (kinetic, potential) = problem.model.energy(0.0, q, v, &mut Scratch::default()).unwrap();
        kinetic + potential
    };
    let first = energy(&problem.state.q, &problem.state.v);
    let mut integration = Integration::new(&problem.model, &problem.state, &params).unwrap();
    assert_eq!((integration.equations().n_rows(), integration.equations().n_all_rows()), (RANK, 30));
    let mut errors = Errors { energy: 0.0, reference: 0.0, in_use: 0.0, constraint: 0.0 };
    for (t, place) in problem.references {
        while integration.point().t < t {
            integration.step(t).unwrap();
            let point = integration.point().clone();
            errors.energy = errors.energy.max((energy(&point.q, &point.v) - first).abs());
            let (g, _) = integration.equations().violations(point.t, &point.q, &point.v).unwrap();
            errors.constraint = errors.constraint.max(g);
            let mut rows = [0.0; RANK];
            integration.equations().constraints(point.t, &point.q, &mut rows).unwrap();
            errors.in_use = rows.iter().fold(errors.in_use, |most, g| most.max(g.abs()));
        }
        errors.reference = errors.reference.max((third_joint(&integration.point().q) - Vector3::from(place)).norm());
    }
    assert_eq!(integration.equations().n_rows(), RANK);
    let Errors { energy, reference, in_use, constraint } = errors;
    println!("{} at {tolerance:.0e}: {energy:.1e} J, {reference:.1e} m, |g| {in_use:.1e} in use, {constraint:.1e} of all", kind.name());
    errors
}

/// The rods fall through 1 m, some 25 J are exchanged: a drift of 1e-9 J is asked for, and P₃ within 1e-9 m (the reference is good to 8e-12 m). All 30
/// rows hold, the redundant one too.
#[test]
fn energy_is_kept_and_the_reference_is_met() {
    for (kind, tolerance) in [
        (IntegratorKind::Dopri5, 1e-11),
        (IntegratorKind::Extrapolation, 1e-11),
        (IntegratorKind::Hem5, 1e-9),
        (IntegratorKind::AdamsMoulton, 1e-12),
    ] {
        let Errors { energy, reference, in_use, constraint } = errors(kind, tolerance, Projection::Both);
        assert!(energy < 1e-9, "{}: {energy:.1e} J", kind.name());
        assert!(reference < 1e-9, "{}: {reference:.1e} m", kind.name());
        // projected to round-off of products of coordinates
        assert!(in_use < 1e-13, "{}: |g| up to {in_use:.1e}", kind.name());
        // the redundant row follows from those up to the error of the motion
        assert!(constraint < 1e-10, "{}: |g| up to {constraint:.1e}", kind.name());
    }
}

/// The default integrator without projection.
#[test]
fn the_default_keeps_the_energy() {
    let Errors { energy, reference, .. } = errors(IntegratorKind::default(), 1e-9, Projection::None);
    assert!(energy < 1e-9, "{energy:.1e} J");
    assert!(reference < 1e-9, "{reference:.1e} m");
}
