//! Combinations of the modes of planar contacts.

use super::FrictionContact;
use crate::Solution;
use crate::cones::Block;
use crate::deadline::Deadline;
use crate::error::SolveError;
use crate::linear::RankRevealingLu;
use crate::report::{SolveReport, SolveStatus};

/// Name of the solver in the registry.
pub(super) const NAME: &str = "enumeration";

/// Largest number of combinations.
const COMBINATIONS: usize = 1 << 20;

/// What an inequality may be violated by, relative to the largest impulse, before a combination is dropped without asking the judge.
const SLACK: f64 = 1e-9;

/// The mode of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Open,
    Stick,
    /// r_T = ratio · r_N; 0 for a closed contact without friction.
    Slide {
        ratio: f64,
    },
}

/// The enumeration for problems without joints.
#[derive(Debug, Default)]
pub(super) struct ContactModes {
    modes: Vec<Mode>,
    /// The impulses to solve for: a row, whose velocity is to vanish, and the ratio of the impulse in the row after it.
    unknowns: Vec<(usize, f64)>,
    dense: Vec<f64>,
    matrix: Vec<f64>,
    x: Vec<f64>,
    lu: RankRevealingLu,
    trial: Solution,
}

impl ContactModes {
    /// The first solution found, starting with the modes of the guess.
    pub fn solve(
        &mut self,
        problem: &FrictionContact,
        solution: &mut Solution,
        tolerance: f64,
        deadline: Deadline,
    ) -> Result<SolveReport, SolveError> {
        problem.velocity(&solution.r, &mut solution.u);
        let guess = problem.report(NAME, solution, 0, tolerance, SolveStatus::Stalled);
        if guess.is_converged() {
            return Ok(guess);
        }
        check_supported(problem)?;
        problem.w.to_dense(&mut self.dense);
        self.modes_of(problem, solution);
        if self.try_modes(problem) && problem.residual_normalised(&self.trial.r, &self.trial.u) <= tolerance {
            std::mem::swap(&mut self.trial, solution);
            return Ok(problem.report(NAME, solution, 1, tolerance, SolveStatus::Stalled));
        }
        let mut best = guess.residual_normalised;
        let (out_of_time, tried) = self.enumerate(problem, f64::INFINITY, deadline, |trial, residual| {
            if residual < best {
                best = residual;
                solution.clone_from(trial);
            }
            residual <= tolerance
        })?;
        let status = if out_of_time { SolveStatus::TimeLimit } else { SolveStatus::Stalled };
        Ok(problem.report(NAME, solution, tried, tolerance, status))
    }

    /// Shows all candidates with a residual up to the tolerance to `visit`, which returns true to end. Returns whether time ran out, and
    /// the number of combinations tried.
    pub fn enumerate(
        &mut self,
        problem: &FrictionContact,
        tolerance: f64,
        deadline: Deadline,
        mut visit: impl FnMut(&Solution, f64) -> bool,
    ) -> Result<(bool, usize), SolveError> {
        check_supported(problem)?;
        problem.w.to_dense(&mut self.dense);
        let scale = problem.mass_scale();
        self.modes.clear();
        self.modes.resize(problem.blocks.len(), Mode::Open);
        let mut tried = 0;
        loop {
            tried += 1;
            if self.try_modes(problem) {
                let residual = problem.residual_in_mass_unit(&self.trial.r, &self.trial.u, scale);
                if residual <= tolerance && visit(&self.trial, residual) {
                    return Ok((false, tried));
                }
            }
            if !self.next_modes(problem) {
                return Ok((false, tried));
            }
            if deadline.is_over() {
                return Ok((true, tried));
            }
        }
    }

    /// The next combination, counting; false after the last.
    fn next_modes(&mut self, problem: &FrictionContact) -> bool {
        for (mode, block) in self.modes.iter_mut().zip(&problem.blocks) {
            let mu = block.friction();
            *mode = match *mode {
                Mode::Open if mu == 0.0 => Mode::Slide { ratio: 0.0 },
                Mode::Open => Mode::Stick,
                Mode::Stick => Mode::Slide { ratio: -mu },
                Mode::Slide { ratio } if ratio < 0.0 => Mode::Slide { ratio: mu },
                Mode::Slide { .. } => Mode::Open,
            };
            if *mode != Mode::Open {
                return true;
            }
        }
        false
    }

    /// Solves the system of the present modes into `trial`; false when an impulse leaves its cone.
    fn try_modes(&mut self, problem: &FrictionContact) -> bool {
        let n = problem.n_rows();
        self.unknowns.clear();
        let mut start = 0;
        for (mode, block) in self.modes.iter().zip(&problem.blocks) {
            match *mode {
                Mode::Open => {}
                Mode::Stick => self.unknowns.extend([(start, 0.0), (start + 1, 0.0)]),
                Mode::Slide { ratio } => self.unknowns.push((start, ratio)),
            }
            start += block.dim();
        }
        self.matrix.clear();
        self.x.clear();
        for &(row, _) in &self.unknowns {
            let w = &self.dense[row * n..(row + 1) * n];
            self.matrix.extend(self.unknowns.iter().map(|&(k, ratio)| if ratio == 0.0 { w[k] } else { w[k] + ratio * w[k + 1] }));
            self.x.push(-problem.q[row]);
        }
        self.lu.factor(self.unknowns.len(), &self.matrix);
        self.lu.solve(&mut self.x);
        self.trial.r.clear();
        self.trial.r.resize(n, 0.0);
        for (&(row, ratio), x) in self.unknowns.iter().zip(&self.x) {
            self.trial.r[row] = *x;
            if ratio != 0.0 {
                self.trial.r[row + 1] = ratio * x;
            }
        }
        if !self.impulses_are_admissible(problem) {
            return false;
        }
        self.trial.u.resize(n, 0.0);
        problem.velocity(&self.trial.r, &mut self.trial.u);
        true
    }

    fn impulses_are_admissible(&self, problem: &FrictionContact) -> bool {
        let r = &self.trial.r;
        let slack = SLACK * r.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
        let mut start = 0;
        // A number that is not finite fails too.
        slack.is_finite()
            && problem.blocks.iter().all(|block| {
                let row = start;
                start += block.dim();
                let tangent = if block.is_frictionless() { 0.0 } else { r[row + 1].abs() };
                r[row] >= -slack && tangent <= block.friction() * r[row] + slack
            })
    }

    /// The modes an impulse is in.
    fn modes_of(&mut self, problem: &FrictionContact, solution: &Solution) {
        self.modes.clear();
        let mut start = 0;
        for block in &problem.blocks {
            let (mu, normal) = (block.friction(), solution.r[start]);
            let tangent = if mu > 0.0 { solution.r[start + 1] } else { 0.0 };
            self.modes.push(if normal <= 0.0 {
                Mode::Open
            } else if mu > 0.0 && tangent.abs() < (1.0 - SLACK) * mu * normal {
                Mode::Stick
            } else {
                Mode::Slide { ratio: mu.copysign(tangent) }
            });
            start += block.dim();
        }
    }
}

/// # Errors
/// [`SolveError::Unsupported`] unless the contacts are planar or frictionless, and few.
fn check_supported(problem: &FrictionContact) -> Result<(), SolveError> {
    let alternatives = "auto, nsgs (or lemke in the plane)";
    let mut combinations = 1_usize;
    for block in &problem.blocks {
        combinations = combinations.saturating_mul(match block {
            Block::Bounded { .. } => {
                return Err(SolveError::Unsupported { solver: NAME, reason: "bounded rows are not among its modes", alternatives });
            }
            _ if block.is_frictionless() => 2,
            Block::Coulomb2 { .. } => 4,
            _ => {
                return Err(SolveError::Unsupported {
                    solver: NAME,
                    reason: "spatial friction has more modes than can be listed",
                    alternatives,
                });
            }
        });
    }
    if combinations > COMBINATIONS {
        let reason = "more than 10 contacts with friction, or 20 without";
        return Err(SolveError::Unsupported { solver: NAME, reason, alternatives });
    }
    Ok(())
}
