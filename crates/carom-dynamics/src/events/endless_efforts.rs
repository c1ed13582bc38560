//! Efforts without bounds that do not hold their target: a jump brings them there.
//!
//! ```text
//! M (v⁺ − v⁻) = Gᵀp,      constraints u⁺ = 0,      contacts in their cones without restitution
//! efforts:  −(u⁺ + k g) ∈ N(p),   p between 0 and the bounds that are endless
//! ```
//!
//! In an impact efforts do nothing, but for those that are endless on both sides: they keep their velocity (`BoundedLaw::is_rigid`). Those that are endless on one side follow
//! by a jump at the same instant. It is also how a motor without a bound starts.

use super::mode_equations::norm;
use super::{ClosedSet, EventParams};
use crate::error::{RunError, StepError};
use crate::laws::{BoundedLaw, BoundedRole, Law};
use carom_solvers::{Block, FrictionContact, FrictionSolverKind, FrictionSolverParams, Solution, friction_contact_solver};

/// What a jump did.
#[derive(Clone, Debug)]
pub struct Jump {
    /// v⁺.
    pub velocity: Vec<f64>,
    /// Impulses of the contacts along their normals, and of the efforts (the sizes) [N·s or N m s].
    pub contacts: Vec<f64>,
    /// See `contacts`.
    pub efforts: Vec<f64>,
    /// Energy taken by normal impulses, and by friction \[J\].
    pub dissipated: [f64; 2],
    /// Work of motors, moving constraints and obstacles \[J\].
    pub work: f64,
    /// Largest residual.
    pub residual: f64,
    /// No impulse brings all efforts to their targets.
    pub failed: bool,
}

/// The block of an effort in an instant: what is endless stays so, the rest is nothing.
fn block(law: &BoundedLaw, rows: usize) -> Block {
    let endless = |bound: f64| if bound.is_infinite() { bound } else { 0.0 };
    match rows {
        1 => Block::Bounded { lower: endless(law.lower), upper: endless(law.upper) },
        dim if law.upper.is_infinite() => Block::Bilateral { dim },
        dim => Block::Ball { dim, radius: 0.0 },
    }
}

impl ClosedSet {
    /// Some effort is off its target by more than τ_T on a side on which it is endless.
    #[must_use]
    pub(crate) fn is_off_target(&self, thresholds: &EventParams) -> bool {
        (0..self.n_efforts).any(|e| {
            let (u, law) = (self.effort_velocity(e), self.effort_law(e));
            let bound = |law: &BoundedLaw| if u.len() == 1 && u[0] > 0.0 { law.lower } else { law.upper };
            norm(u) > thresholds.slip && law.is_some_and(|law| bound(law).is_infinite())
        })
    }

    /// Brings endless efforts to their targets.
    ///
    /// # Errors
    /// Values that no problem can have. Not converging is told.
    pub fn jump(&self) -> Result<Jump, RunError> {
        let failed = |source| RunError::from(StepError::Solve { t: self.t, source });
        let blocks = self.active.items().iter().map(|item| match &item.law {
            Law::Bounded(law) => block(law, item.rows.len()),
            _ => item.block,
        });
        let problem = FrictionContact { w: self.w.clone(), q: self.active.velocity_start().to_vec(), blocks: blocks.collect() };
        let kind = FrictionSolverKind::Auto;
        let params = FrictionSolverParams { kind, tolerance: 1e-13, max_iterations: 5000, ..FrictionSolverParams::default() };
        let mut solution = Solution::default();
        let report = friction_contact_solver(&params).and_then(|mut solver| solver.solve(&problem, &mut solution)).map_err(failed)?;
        let p = &solution.r;
        let mut jump = Jump {
            velocity: self.v.clone(),
            contacts: Vec::new(),
            efforts: Vec::new(),
            dissipated: [0.0; 2],
            work: 0.0,
            residual: report.residual,
            failed: !report.status.is_accepted(),
        };
        self.active.add_response(&self.layout, p, &mut jump.velocity);
        // u in the mean
        let mean: Vec<f64> = self.v.iter().zip(&jump.velocity).map(|(before, after)| 0.5 * (before + after)).collect();
        let mut moved = vec![0.0; p.len()];
        self.active.local_velocity(&self.layout, &mean, &mut moved);
        for item in self.active.items() {
            for (k, row) in item.rows.clone().enumerate() {
                let (bias, power) = (self.active.bias()[row], moved[row] * p[row]);
                match &item.law {
                    // G v of a motor; −b of all others
                    Law::Bounded(law) if law.role == BoundedRole::Motor => jump.work += power - bias * p[row],
                    Law::Bilateral => jump.work -= bias * p[row],
                    Law::Contact(_) | Law::Bounded(_) => {
                        jump.work -= bias * p[row];
                        jump.dissipated[usize::from(k > 0 || item.law.bounded().is_some())] -= power;
                    }
                }
            }
            match &item.law {
                Law::Contact(_) => jump.contacts.push(p[item.rows.start]),
                Law::Bounded(_) => jump.efforts.push(norm(&p[item.rows.clone()])),
                Law::Bilateral => {}
            }
        }
        Ok(jump)
    }
}
