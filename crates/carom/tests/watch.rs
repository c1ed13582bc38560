//! A recorder that keeps all that a run reports, to compute it again.

use carom::Simulation;
use carom::dynamics::diagnostics::Certificate;
use carom::dynamics::error::RecordError;
use carom::dynamics::recording::{ContactRecord, Frame, Recorder, StepProblem};
use carom::dynamics::report::{Energy, Event, StepReport};
use carom::dynamics::strategies::{Continue, Ending};
use carom::dynamics::systems::rigid_bodies::orientation;
use carom::solvers::Block;
use nalgebra::Vector3;

/// A recorded instant.
pub struct Seen {
    pub t: f64,
    pub q: Vec<f64>,
    /// Velocities as the model has them: angular ones of bodies in their frames.
    pub v: Vec<f64>,
    pub energy: Energy,
    /// Gaps of all contacts by formula.
    pub gaps: Vec<f64>,
    pub contacts: Vec<ContactRecord>,
    /// Of the step that ended here.
    pub report: Option<StepReport>,
}

/// The residual of a one-step problem as its report has it, and as it is computed here.
pub struct Residual {
    pub reported: f64,
    pub recomputed: f64,
}

#[derive(Default)]
pub struct Watch {
    pub seen: Vec<Seen>,
    pub residuals: Vec<Residual>,
    /// Steps whose impulses solve no single problem.
    pub without_problem: usize,
    pub events: Vec<Event>,
}

impl Recorder for Watch {
    fn frame(&mut self, f: &Frame<'_>) -> Result<(), RecordError> {
        self.seen.push(Seen {
            t: f.t,
            q: f.q.to_vec(),
            v: f.v.to_vec(),
            energy: f.energy,
            gaps: f.gaps.to_vec(),
            contacts: f.contacts.to_vec(),
            report: f.report.copied(),
        });
        Ok(())
    }
    fn event(&mut self, event: &Event) -> Result<(), RecordError> {
        self.events.push(event.clone());
        Ok(())
    }
    fn problem(&mut self, p: &StepProblem<'_>) -> Result<(), RecordError> {
        let mut u = vec![0.0; p.problem.q.len()];
        p.problem.w.multiply(&p.solution.r, &mut u);
        u.iter_mut().zip(&p.problem.q).for_each(|(u, q)| *u += q);
        let n = p.problem.w.n_blocks();
        let diagonals = (0..n).flat_map(|i| {
            let w = p.problem.w.diagonal(i);
            w.iter().step_by(w.len().isqrt() + 1)
        });
        let mean = diagonals.sum::<f64>() / u.len() as f64;
        let recomputed = natural_map(&p.problem.blocks, mean, (&p.solution.r, &u, &p.problem.q));
        self.residuals.push(Residual { reported: p.report.residual_normalised, recomputed });
        Ok(())
    }
    fn no_problem(&mut self, _: usize) -> Result<(), RecordError> {
        self.without_problem += 1;
        Ok(())
    }
    fn finish(&mut self, _: &Certificate, _: &str) -> Result<(), RecordError> {
        Ok(())
    }
}

/// A run with all that it reported.
pub struct Watched {
    pub simulation: Simulation,
    pub certificate: Certificate,
    pub watch: Watch,
}

/// Runs until the end, or until the steps and their active interactions together exceed `budget`.
pub fn run_within(mut simulation: Simulation, name: &str, budget: usize) -> Watched {
    let (mut watch, mut spent) = (Watch::default(), 0);
    let outcome = simulation.run(&mut watch, &mut |progress| {
        spent += 1 + progress.n_active;
        if spent > budget { Continue::Stop } else { Continue::Yes }
    });
    assert!(!matches!(outcome.ending, Ending::Failed(_)), "{name}: {:?}", outcome.ending);
    let bodies = simulation.file.model.systems().bodies().cloned();
    for seen in &mut watch.seen {
        let Some(bodies) = &bodies else { break };
        let (q, v) = (&seen.q[bodies.q.clone()], &mut seen.v[bodies.v.clone()]);
        for (body, v) in v.chunks_exact_mut(6).enumerate() {
            let own = orientation(q, body).inverse_transform_vector(&Vector3::new(v[3], v[4], v[5]));
            v[3..].copy_from_slice(own.as_slice());
        }
    }
    Watched { simulation, certificate: outcome.certificate, watch }
}

/// The natural map of FCLIB in the mass unit s = mean(diag W): √Σ|s r − P(s r − û)|² / max(|q|, |s r|, |u|), û = u + (μ|u_T| + ρ|u_M|) n.
fn natural_map(blocks: &[Block], s: f64, (r, u, q): (&[f64], &[f64], &[f64])) -> f64 {
    let (mut sum, mut row) = (0.0, 0);
    for block in blocks {
        let rows = row..row + block.dim();
        row = rows.end;
        let (r, u): (Vec<f64>, Vec<f64>) = (r[rows.clone()].iter().map(|r| s * r).collect(), u[rows].to_vec());
        let mut z: Vec<f64> = r.iter().zip(&u).map(|(r, u)| r - u).collect();
        match *block {
            Block::Bilateral { .. } => {}
            Block::Bounded { lower, upper } => z[0] = z[0].max(s * lower).min(s * upper),
            Block::Ball { radius, .. } => {
                let size = norm(&z);
                z.iter_mut().for_each(|z| *z *= (s * radius / size).min(1.0));
            }
            Block::Unilateral => z[0] = z[0].max(0.0),
            Block::Coulomb2 { mu } | Block::Coulomb3 { mu } => project(&mut z, &u, &[(mu, 1)]),
            Block::Spinning { mu, spinning: rho } | Block::Rolling { mu, rolling: rho } | Block::RollingSpinning { mu, rolling: rho } => {
                project(&mut z, &u, &[(mu, 1), (rho, 3)]);
            }
        }
        sum += r.iter().zip(&z).map(|(r, z)| (r - z).powi(2)).sum::<f64>();
    }
    let size = norm(q).max(s * norm(r)).max(norm(u));
    sum.sqrt() / if size > f64::EPSILON { size } else { 1.0 }
}

/// Projection of z − (Σ slope |u_part|) n on {|z_part| ≤ slope z_N}: the foot's normal part is the root of an increasing function, found by bisection.
/// A part is its slope and its first row; it ends where the next begins.
fn project(z: &mut [f64], u: &[f64], parts: &[(f64, usize)]) {
    let ends = parts.iter().skip(1).map(|part| part.1).chain([z.len()]);
    let parts: Vec<_> = parts.iter().zip(ends).map(|(&(slope, start), end)| (slope, start..end)).collect();
    z[0] -= parts.iter().map(|(slope, rows)| slope * norm(&u[rows.clone()])).sum::<f64>();
    let sizes: Vec<(f64, f64)> = parts.iter().map(|(slope, rows)| (*slope, norm(&z[rows.clone()]))).collect();
    let slope_at = |n: f64| n - z[0] - sizes.iter().map(|(slope, size)| slope * (size - slope * n).max(0.0)).sum::<f64>();
    let (mut low, mut high) = (0.0, z[0].abs() + sizes.iter().map(|(slope, size)| slope * size).sum::<f64>());
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        *(if slope_at(middle) < 0.0 { &mut low } else { &mut high }) = middle;
    }
    z[0] = if slope_at(0.0) >= 0.0 { 0.0 } else { high };
    for ((slope, rows), (_, size)) in parts.into_iter().zip(sizes) {
        let factor = if size > slope * z[0] { slope * z[0] / size } else { 1.0 };
        z[rows].iter_mut().for_each(|z| *z *= factor);
    }
}

pub fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
