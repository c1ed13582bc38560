//! Accelerations of closed contacts, and the modes in which the motion goes on.
//!
//! ```text
//! M a = F + Gᵀλ,      u̇ = G a + (dG/dt) v + db/dt
//! constraints:        u̇ = 0
//! contacts:           0 ≤ u̇_N ⟂ λ_N ≥ 0
//! slip ‖u_T‖ > τ_T:   λ_T = −μ(‖u_T‖) λ_N u_T/‖u_T‖
//! slip ‖u_T‖ ≤ τ_T:   −u̇_T ∈ N_{D(μ λ_N)}(λ_T)        Coulomb's law on accelerations
//! efforts:            λ at a bound where |u + k g| > τ_T, else −(u̇ + k u) ∈ N_[lower, upper](λ)
//! ```
//!
//! Brogliato2002 §3.2–3.3, Haddouni2015 eqs. (2.1)–(2.2). Which of several contacts open, and which begin to slip, is the solution of this
//! complementarity problem, not of trials (Delassus' problem: to open all contacts with λ_N < 0 is wrong in general).

use super::constraint_elimination::ConstraintElimination;
use super::effort_modes::{EffortAfter, effort_after};
use super::force_problem::{Cone, ForceProblem};
use super::mode_equations::{norm, unit};
use super::mode_search::{self, Forces};
use super::{ClosedSet, EventParams};
use crate::error::{RunError, StepError};
use crate::laws::Friction;
use crate::report::ContactMode;

/// Accelerations and forces at an instant.
#[derive(Clone, Debug)]
pub struct Accelerations {
    /// a = v̇.
    pub a: Vec<f64>,
    /// The contacts, in the order in which they were given.
    pub contacts: Vec<ContactAfter>,
    /// The efforts between bounds, in the model's order.
    pub efforts: Vec<EffortAfter>,
    /// What can be said of the solution.
    pub verdict: Verdict,
}

/// A contact after an event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactAfter {
    /// Mode in which the motion goes on. `Touching` where the contact separates with u_N > τ₁, `Open` where u̇_N > 0.
    pub mode: ContactMode,
    /// λ, normal first \[N\].
    pub force: [f64; 3],
    /// u̇, normal first [m/s²].
    pub acceleration: [f64; 3],
    /// Direction of the slip of a sliding contact in its tangents, a unit vector ((±1, 0) with one tangent): u_T/‖u_T‖, or u̇_T/‖u̇_T‖ where
    /// slip begins. Zero for all others.
    pub direction: [f64; 2],
}

/// What can be said of the forces of closed contacts. Contacts by their numbers in the set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// They obey all laws up to this part of the forces and accelerations at hand.
    Solved {
        /// Largest violation, relative.
        residual: f64,
    },
    /// No finite force exists (Painlevé's paradox): while the contact slides, its normal force would press it further in. What is returned leaves
    /// it without force; an impact without collision follows ([`super::ImpactSettings::push`]).
    Inconsistent {
        /// The contact.
        contact: usize,
    },
    /// Several solutions exist. The one in which most contacts separate is returned; among those the one in which most stick, then that of the
    /// least forces.
    Ambiguous {
        /// The contact in which they differ most.
        contact: usize,
    },
    /// No solver came near enough.
    NotConverged {
        /// Largest violation of the laws, relative.
        residual: f64,
    },
}

impl Verdict {
    /// The graver of two.
    pub(super) fn worse(self, other: Self) -> Self {
        let grade = |verdict: &Verdict| match verdict {
            Verdict::Solved { .. } => 0,
            Verdict::Ambiguous { .. } => 1,
            Verdict::NotConverged { .. } => 2,
            Verdict::Inconsistent { .. } => 3,
        };
        match (self, other) {
            (Verdict::Solved { residual: a }, Verdict::Solved { residual: b }) => Verdict::Solved { residual: a.max(b) },
            (Verdict::NotConverged { residual: a }, Verdict::NotConverged { residual: b }) => Verdict::NotConverged { residual: a.max(b) },
            (a, b) if grade(&b) > grade(&a) => b,
            (a, _) => a,
        }
    }

    /// The same with contact i called `names[i]`.
    pub(super) fn renumbered(self, names: &[usize]) -> Self {
        match self {
            Verdict::Inconsistent { contact } => Verdict::Inconsistent { contact: names[contact] },
            Verdict::Ambiguous { contact } => Verdict::Ambiguous { contact: names[contact] },
            other => other,
        }
    }
}

/// What a contact does before its forces are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Before {
    /// It separates: it carries nothing.
    Separating,
    /// It acts along the normal only.
    Smooth,
    /// It slides along a unit vector of its stretched tangents.
    Sliding { mu: f64, direction: [f64; 2] },
    /// Its slip is zero.
    Resting { mu: f64 },
    /// An effort whose velocity is not zero: its force is known.
    Pushing { direction: [f64; 3] },
    /// An effort whose velocity is zero.
    Holding { lower: f64, upper: f64 },
}

/// Forces of the contacts that may carry.
struct Solved<'a> {
    before: &'a [Before],
    problem: &'a ForceProblem,
    /// Their numbers in the set.
    contacts: &'a [usize],
    x: &'a [f64],
}

/// Loads of joints are found in turn with the bounds that follow them; at most so often, until they change by less than this part of the largest.
const MOST_LOADS: usize = 200;
const SETTLED: f64 = 1e-14;

/// A force at the end of its range by this part of those at hand is there, for contacts that are known to leave it.
pub(super) const AT_THE_END: f64 = 1e-6;

impl ClosedSet {
    /// Solves the problem on accelerations.
    ///
    /// Modes follow from the accelerations: u̇_N > 0 opens a contact, u̇_T ≠ 0 makes one that rests slip. An acceleration counts as zero up to 1e-10
    /// of what adds up to it at the contact (the products of W and λ, of G and M⁻¹F, and (dG/dt) v) and 1e-13 of the largest such sum in the set: what
    /// is zero but for round-off keeps the contact closed and sticking. So a contact that just touches without load is `Closed`.
    ///
    /// Static–kinetic friction: resting contacts have μ_s; those that begin to slip have μ_k, and the problem is solved again.
    ///
    /// # Errors
    /// Values that no problem can have. What cannot be solved is told by the verdict.
    pub fn accelerate(&self, thresholds: &EventParams) -> Result<Accelerations, RunError> {
        self.accelerate_leaving(thresholds, &[])
    }

    /// The same at an instant at which contacts are known to leave their mode: λ_N, or μ λ_N − ‖λ_T‖, falls through zero there.
    ///
    /// There the accelerations are still zero, and only the rate of the force decides. A contact k with `leaving[k]` whose λ_N is zero (up to 1e-6 of
    /// the forces at hand) opens; one at rest with ‖λ_T‖ = μ λ_N begins to slide against λ_T. Efforts between bounds are numbered after the contacts: one at
    /// rest whose λ is at a bound begins to move against it.
    ///
    /// # Errors
    /// As [`ClosedSet::accelerate`].
    pub fn accelerate_leaving(&self, thresholds: &EventParams, leaving: &[bool]) -> Result<Accelerations, RunError> {
        let mut loads = vec![0.0; self.n_efforts];
        for _ in 0..MOST_LOADS {
            let (after, reactions) = self.accelerate_under(thresholds, leaving, &loads)?;
            let largest = reactions.iter().fold(0.0_f64, |most, load| most.max(*load));
            if loads.iter().zip(&reactions).all(|(old, new)| (new - old).abs() <= SETTLED * largest) {
                return Ok(after);
            }
            loads = reactions;
        }
        // the friction of a joint that jams has no solution, or not one only
        let (mut after, reactions) = self.accelerate_under(thresholds, leaving, &loads)?;
        let part = |(old, new): (&f64, &f64)| (new - old).abs() / new.max(*old).max(f64::MIN_POSITIVE);
        let change = loads.iter().zip(&reactions).map(part).fold(0.0, f64::max);
        if change > AT_THE_END * AT_THE_END {
            after.verdict = Verdict::NotConverged { residual: change };
        }
        Ok(after)
    }

    /// The same where joints bear these loads, c ‖R‖ for each effort; and those they bear then.
    fn accelerate_under(&self, thresholds: &EventParams, leaving: &[bool], loads: &[f64]) -> Result<(Accelerations, Vec<f64>), RunError> {
        let failed = |source| RunError::from(StepError::Solve { t: self.t, source });
        let contacts = (0..self.n_contacts()).map(|k| self.before(k, thresholds));
        let mut before: Vec<Before> = contacts.chain((0..self.n_efforts).map(|e| self.before_effort(e, thresholds, loads[e]))).collect();
        let known = self.known_forces(&before, loads);
        let elimination = self.eliminate_constraints(&known);
        // each round takes one contact at least from static to kinetic friction
        loop {
            let (problem, contacts) = self.force_problem(&elimination, &before);
            let Forces { x, verdict } = mode_search::solve(&problem).map_err(failed)?;
            let verdict = verdict.renumbered(&contacts);
            let solved = Solved { before: &before, problem: &problem, contacts: &contacts, x: &x };
            let (after, loads) = self.assemble(&elimination, &solved, known.clone(), (leaving, verdict));
            let mut changed = false;
            for (k, before) in before.iter_mut().enumerate().take(self.n_contacts()) {
                if let (Before::Resting { mu }, Friction::StaticKinetic { sliding, .. }) = (&mut *before, self.law(k).friction)
                    && after.contacts[k].mode == ContactMode::Sliding
                    && *mu != sliding
                {
                    *mu = sliding;
                    changed = true;
                }
            }
            if !changed {
                return Ok((after, loads));
            }
        }
    }

    fn before(&self, k: usize, thresholds: &EventParams) -> Before {
        let (u, law) = (self.velocity(k), self.law(k));
        if u[0] > thresholds.velocity {
            return Before::Separating;
        }
        let slip = norm(&u[1..]);
        match slip > thresholds.slip {
            _ if u.len() == 1 => Before::Smooth,
            true if law.friction.at(slip) > 0.0 => {
                let stretched = [u[1], u.get(2).map_or(0.0, |u| u * self.stretch(k))];
                Before::Sliding { mu: law.friction.at(slip), direction: unit(&stretched) }
            }
            false if law.friction.at(0.0) > 0.0 => Before::Resting { mu: law.friction.at(0.0) },
            _ => Before::Smooth,
        }
    }

    /// Eliminates the constraints while these forces act.
    fn eliminate_constraints(&self, known: &[f64]) -> ConstraintElimination {
        let mut dense = Vec::new();
        self.w.to_dense(&mut dense);
        let mut q = vec![0.0; self.rate.len()];
        // G M⁻¹F: the velocity of the accelerations, without b
        let mut free = self.free.clone();
        if self.n_efforts > 0 {
            self.active.add_response(&self.layout, known, &mut free);
        }
        self.active.local_velocity(&self.layout, &free, &mut q);
        for ((q, b), rate) in q.iter_mut().zip(self.active.bias()).zip(&self.rate) {
            *q += rate - b;
        }
        let constraint_rows = self.active.items()[..self.n_constraints].last().map_or(0, |item| item.rows.end);
        ConstraintElimination::new(&dense, &q, constraint_rows)
    }

    /// The problem of the contacts that may carry, and their numbers.
    fn force_problem(&self, elimination: &ConstraintElimination, before: &[Before]) -> (ForceProblem, Vec<usize>) {
        let (n, offset) = (elimination.q.len(), self.velocity.len() - elimination.q.len());
        let carries = |before: &Before| !matches!(before, Before::Separating | Before::Pushing { .. });
        let contacts: Vec<usize> = (0..before.len()).filter(|&k| carries(&before[k])).collect();
        let mut problem = ForceProblem { starts: vec![0], ..ForceProblem::default() };
        // columns as sums over rows: (row, factor)
        let mut columns: Vec<[(usize, f64); 3]> = Vec::new();
        let mut rows: Vec<usize> = Vec::new();
        for &k in &contacts {
            let own = self.rows(k);
            let first = own.start - offset;
            let w = |i: usize, j: usize| elimination.w[(first + i) * n + first + j];
            let tangents = own.len() - 1;
            let along = |d: [f64; 2]| (0..tangents).map(|i| w(0, 1 + i) * d[i]).sum::<f64>();
            let single = |i: usize| [(first + i, 1.0), (first, 0.0), (first, 0.0)];
            let (cone, coupling) = match before[k] {
                Before::Separating | Before::Pushing { .. } | Before::Smooth => (Cone::Smooth, 0.0),
                Before::Holding { lower, upper } if tangents == 0 => (Cone::Bounded { lower, upper }, 0.0),
                Before::Holding { upper, .. } => (Cone::Ball { dim: own.len(), radius: upper }, 0.0),
                Before::Sliding { mu, direction } => (Cone::Sliding, mu * along(direction)),
                Before::Resting { mu } if tangents == 1 => (Cone::Plane { mu }, mu * w(0, 1).abs()),
                Before::Resting { mu } => (Cone::Space { mu }, mu * w(0, 1).hypot(w(0, 2))),
            };
            rows.extend((0..cone.dim()).map(|i| first + i));
            match before[k] {
                Before::Sliding { mu, direction: [c, s] } => {
                    let second = if tangents > 1 { (first + 2, -mu * s) } else { (first, 0.0) };
                    columns.push([(first, 1.0), (first + 1, -mu * c), second]);
                }
                _ => columns.extend((0..cone.dim()).map(single)),
            }
            problem.cones.push(cone);
            problem.starts.push(rows.len());
            problem.response.push(w(0, 0));
            problem.coupling.push(coupling);
            let item = self.n_constraints + k;
            let of_constraints = own.clone().map(|row| elimination.q[row - offset].abs()).fold(0.0, f64::max);
            problem.size.push(self.size[item].max(of_constraints));
        }
        problem.q = rows.iter().map(|&i| elimination.q[i]).collect();
        for &i in &rows {
            let terms =
                |column: &[(usize, f64); 3]| column.iter().map(|&(j, factor)| (elimination.w[i * n + j] * factor).abs()).sum::<f64>();
            problem.terms.extend(columns.iter().map(terms));
            problem.w.extend(columns.iter().map(|column| column.iter().map(|&(j, factor)| elimination.w[i * n + j] * factor).sum::<f64>()));
        }
        (problem, contacts)
    }

    /// Forces, beside those that are known, => accelerations, modes, and the loads of joints.
    fn assemble(
        &self,
        elimination: &ConstraintElimination,
        solved: &Solved<'_>,
        mut force: Vec<f64>,
        (leaving, verdict): (&[bool], Verdict),
    ) -> (Accelerations, Vec<f64>) {
        let Solved { before, problem, contacts, x } = *solved;
        let offset = self.velocity.len() - elimination.q.len();
        let pushed = force.clone();
        for (place, &k) in contacts.iter().enumerate() {
            let (rows, own) = (self.rows(k), problem.rows(place));
            force[rows.clone()][..own.len()].copy_from_slice(&x[own]);
            if let Before::Sliding { mu, direction } = before[k] {
                let bound = mu * force[rows.start];
                force[rows].iter_mut().skip(1).zip(direction).for_each(|(force, d)| *force = -bound * d);
            }
        }
        // the elimination knows the others already
        let of_contacts: Vec<f64> = force[offset..].iter().zip(&pushed[offset..]).map(|(force, known)| force - known).collect();
        elimination.reaction(&of_contacts, &mut force);
        let mut a = self.free.clone();
        self.active.add_response(&self.layout, &force, &mut a);
        let mut acceleration = vec![0.0; force.len()];
        self.active.local_velocity(&self.layout, &a, &mut acceleration);
        for ((u, b), rate) in acceleration.iter_mut().zip(self.active.bias()).zip(&self.rate) {
            *u += rate - b;
        }
        let mut modes = vec![(ContactMode::Touching, [0.0; 2]); before.len()];
        let scale = (0..problem.n_contacts()).map(|i| problem.response[i] * x[problem.starts[i]]).fold(0.0, f64::max);
        for (place, &k) in contacts.iter().enumerate() {
            let rows = self.rows(k);
            let (u, lambda, zero) = (&acceleration[rows.clone()], &force[rows], problem.zero(place, x));
            let leaves = leaving.get(k).is_some_and(|leaving| *leaving);
            let unloaded = leaves && problem.response[place] * lambda[0] <= AT_THE_END * scale.max(problem.size[place]);
            let (slip, friction) = (norm(&u[1..]), norm(&lambda[1..]));
            if k >= self.n_contacts() {
                continue;
            }
            modes[k] = match before[k] {
                _ if u[0] > zero || unloaded => (ContactMode::Open, [0.0; 2]),
                Before::Separating | Before::Smooth | Before::Pushing { .. } | Before::Holding { .. } => (ContactMode::Closed, [0.0; 2]),
                Before::Sliding { direction, .. } => (ContactMode::Sliding, direction),
                Before::Resting { .. } if slip > zero => (ContactMode::Sliding, unit(&u[1..])),
                Before::Resting { mu } if leaves && friction >= (1.0 - AT_THE_END) * mu * lambda[0] => {
                    (ContactMode::Sliding, unit(&lambda[1..]).map(|d| -d))
                }
                Before::Resting { .. } => (ContactMode::Sticking, [0.0; 2]),
            };
        }
        modes.truncate(self.n_contacts());
        let of_effort = |e: usize| {
            let k = self.n_contacts() + e;
            let place = contacts.iter().position(|&other| other == k);
            let zero = place.map_or(0.0, |place| problem.zero(place, x));
            let at_hand =
                place.filter(|&place| problem.response[place] > 0.0).map_or(0.0, |place| problem.size[place] / problem.response[place]);
            let leaves = leaving.get(k).is_some_and(|leaving| *leaving).then_some(at_hand);
            effort_after(before[k], &acceleration[self.rows(k)], &force[self.rows(k)], (zero, leaves))
        };
        let efforts = (0..self.n_efforts).map(of_effort).collect();
        let loads = self.joint_loads(&force);
        self.unstretch(&mut acceleration, &mut force);
        let three = |values: &[f64], k: usize| std::array::from_fn(|i| values[self.rows(k)].get(i).copied().unwrap_or(0.0));
        let after = |(k, (mode, [c, s])): (usize, (ContactMode, [f64; 2]))| ContactAfter {
            mode,
            force: three(&force, k),
            acceleration: three(&acceleration, k),
            direction: unit(&[c, s / self.stretch(k)]),
        };
        (Accelerations { a, contacts: modes.into_iter().enumerate().map(after).collect(), efforts, verdict }, loads)
    }
}
