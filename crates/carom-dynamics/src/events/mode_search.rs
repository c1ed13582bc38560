//! The search for the forces of closed contacts.
//!
//! Planar and sliding contacts are a linear complementarity problem (Brogliato2002 §3.2–3.3; Haddouni2015 eq. 2.2 in the form of Glocker and
//! Pfeiffer): Lemke's method, and where friction makes existence or uniqueness doubtful, all modes one by one. Contacts at rest in space are a
//! problem of cones. Whatever finds the forces, the modes are then solved exactly ([`polish`]).

use super::acceleration::Verdict;
use super::force_problem::{Cone, ForceProblem};
use super::mode_equations::{Candidate, Mode, identify, norm, polish, polish_from, solve_modes};
use carom_solvers::friction_contact::Enumeration;
use carom_solvers::{FrictionSolverKind, FrictionSolverParams, Solution, SolveError, friction_contact_solver};

/// Most combinations of modes that are all tried where there may be several solutions, and where none was found otherwise.
const MOST_COMBINATIONS: usize = 256;
const MOST_COMBINATIONS_TO_FIND_ONE: usize = 4096;

/// Accelerations that differ by more than this part of those at hand are different solutions.
const DIFFERENT: f64 = 1e-6;

/// Forces whose accelerations exceed those at hand by this factor are no solution: they come from a system that is singular but for round-off.
const RUNAWAY: f64 = 1e10;

/// Forces, and what can be said of them; contacts by their numbers in the problem.
#[derive(Clone, Debug)]
pub(super) struct Forces {
    pub x: Vec<f64>,
    pub verdict: Verdict,
}

/// Solves the clusters of a problem one by one.
pub(super) fn solve(problem: &ForceProblem) -> Result<Forces, SolveError> {
    let mut forces = Forces { x: vec![0.0; problem.n_rows()], verdict: Verdict::Solved { residual: 0.0 } };
    for cluster in problem.clusters() {
        let (part, rows) = problem.part(&cluster);
        let found = solve_cluster(&part)?;
        for (&row, x) in rows.iter().zip(&found.x) {
            forces.x[row] = *x;
        }
        forces.verdict = forces.verdict.worse(found.verdict.renumbered(&cluster));
    }
    Ok(forces)
}

fn solve_cluster(problem: &ForceProblem) -> Result<Forces, SolveError> {
    let (combinations, doubtful) = (problem.combinations(), problem.may_be_paradoxical());
    if doubtful
        && combinations <= MOST_COMBINATIONS
        && let Some(forces) = by_enumeration(problem)?
    {
        return Ok(forces);
    }
    // also where enumeration found none: redundant contacts have solutions that are not basic
    let found = search(problem)?;
    if !found.is_solution() {
        let few = combinations <= MOST_COMBINATIONS_TO_FIND_ONE && !(doubtful && combinations <= MOST_COMBINATIONS);
        let last = if few { by_enumeration(problem)? } else { None };
        return last.map_or_else(|| without_solution(problem, found), Ok);
    }
    if doubtful {
        return look_for_another(problem, found);
    }
    Ok(Forces { verdict: Verdict::Solved { residual: found.violation }, x: found.x })
}

/// One solution, or what comes nearest. First by changes of modes, all at once, from closed and sticking ones, which most contacts are (a Newton method
/// whose end is checked against all laws), then by solvers.
fn search(problem: &ForceProblem) -> Result<Candidate, SolveError> {
    let start = Candidate::new(problem, vec![0.0; problem.n_rows()]);
    let persistent =
        problem.cones.iter().map(|cone| if cone.dim() == 1 && !cone.is_effort() { Mode::Closed } else { Mode::Stick }).collect();
    let mut best = polish_from(problem, start, persistent);
    let planar = problem.combinations() != usize::MAX;
    let kinds: &[FrictionSolverKind] = match planar {
        true => &[FrictionSolverKind::Lemke, FrictionSolverKind::Auto, FrictionSolverKind::Nsgs],
        false => &[FrictionSolverKind::Auto, FrictionSolverKind::Nsgs, FrictionSolverKind::NewtonAlartCurnier],
    };
    let contact = problem.friction_contact()?;
    for &kind in kinds {
        if best.is_solution() {
            break;
        }
        let params = FrictionSolverParams { kind, tolerance: 1e-12, max_iterations: 2000, ..FrictionSolverParams::default() };
        let mut solution = Solution::default();
        friction_contact_solver(&params)?.solve(&contact, &mut solution)?;
        let found = polish(problem, solution.r);
        if found.violation < best.violation && !runs_away(problem, &found.x) {
            best = found;
        }
    }
    Ok(best)
}

/// All solutions: the one in which most contacts separate, then stick, then with the least forces; nothing where there is none.
fn by_enumeration(problem: &ForceProblem) -> Result<Option<Forces>, SolveError> {
    let all = Enumeration::all_solutions(&problem.friction_contact()?)?;
    let mut found: Vec<Candidate> = Vec::new();
    for solution in all.into_iter().filter(|solution| !runs_away(problem, &solution.r)) {
        let candidate = Candidate::new(problem, solution.r);
        if !found.iter().any(|other| difference(problem, other, &candidate).1 <= DIFFERENT) {
            found.push(candidate);
        }
    }
    let rank = |candidate: &Candidate| {
        let modes = identify(problem, &candidate.x, &candidate.u);
        let count = |wanted: fn(&Mode) -> bool| modes.iter().filter(|mode| wanted(mode)).count();
        let force: f64 = (0..problem.n_contacts()).map(|k| problem.response[k] * candidate.x[problem.starts[k]].abs()).sum();
        (count(|mode| *mode == Mode::Open), count(|mode| *mode == Mode::Stick), force)
    };
    let best = found.iter().enumerate().max_by(|(_, a), (_, b)| {
        let (a, b) = (rank(a), rank(b));
        (a.0, a.1).cmp(&(b.0, b.1)).then(b.2.total_cmp(&a.2))
    });
    let Some((chosen, best)) = best else { return Ok(None) };
    let others = found.iter().enumerate().filter(|(i, _)| *i != chosen);
    let verdict = match others.map(|(_, other)| difference(problem, best, other)).max_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((contact, _)) => Verdict::Ambiguous { contact },
        None => Verdict::Solved { residual: best.violation },
    };
    let polished = polish(problem, best.x.clone());
    let keep = polished.is_solution() && difference(problem, &polished, best).1 <= DIFFERENT;
    Ok(Some(match (keep, verdict) {
        (true, Verdict::Solved { .. }) => Forces { verdict: Verdict::Solved { residual: polished.violation }, x: polished.x },
        (true, verdict) => Forces { verdict, x: polished.x },
        (false, verdict) => Forces { verdict, x: best.x.clone() },
    }))
}

/// The contact in which two solutions differ most, and the difference of accelerations relative to those at hand.
fn difference(problem: &ForceProblem, a: &Candidate, b: &Candidate) -> (usize, f64) {
    let of = |k: usize| {
        let change: Vec<f64> = problem.rows(k).map(|i| a.u[i] - b.u[i]).collect();
        if problem.size[k] > 0.0 { norm(&change) / problem.size[k] } else { norm(&change) }
    };
    (0..problem.n_contacts()).map(|k| (k, of(k))).fold((0, 0.0), |most, other| if other.1 > most.1 { other } else { most })
}

fn runs_away(problem: &ForceProblem, x: &[f64]) -> bool {
    let size = problem.size.iter().copied().fold(0.0, f64::max);
    let mut contacts = (0..problem.n_contacts()).filter(|&k| !problem.cones[k].is_effort());
    contacts.any(|k| problem.response[k] * x[problem.starts[k]].abs() > RUNAWAY * size)
}

/// Where a contact is doubtful: another solution, in which it separates, is taken; one in which it carries is told.
fn look_for_another(problem: &ForceProblem, found: Candidate) -> Result<Forces, SolveError> {
    let modes = identify(problem, &found.x, &found.u);
    for k in (0..problem.n_contacts()).filter(|&k| problem.is_doubtful(k)) {
        if modes[k] != Mode::Open {
            let separated = without(problem, k)?;
            if separated.is_solution() && separated.u[problem.starts[k]] > problem.zero(k, &separated.x) {
                return Ok(Forces { x: separated.x, verdict: Verdict::Ambiguous { contact: k } });
            }
            continue;
        }
        let closed = match problem.cones[k] {
            Cone::Smooth | Cone::Sliding => Mode::Closed,
            Cone::Plane { .. } | Cone::Space { .. } | Cone::Bounded { .. } | Cone::Ball { .. } => Mode::Stick,
        };
        let mut other = modes.clone();
        other[k] = closed;
        let carrying = solve_modes(problem, &other, None, &found.x);
        if carrying.is_solution() && carrying.x[problem.starts[k]] > problem.zero_force(k, &carrying.x) {
            return Ok(Forces { x: found.x, verdict: Verdict::Ambiguous { contact: k } });
        }
    }
    Ok(Forces { verdict: Verdict::Solved { residual: found.violation }, x: found.x })
}

/// The forces when contact k carries nothing, with what that leaves of all laws.
fn without(problem: &ForceProblem, k: usize) -> Result<Candidate, SolveError> {
    let others: Vec<usize> = (0..problem.n_contacts()).filter(|&other| other != k).collect();
    let (part, rows) = problem.part(&others);
    let mut x = vec![0.0; problem.n_rows()];
    if !others.is_empty() {
        let found = search(&part)?;
        rows.iter().zip(&found.x).for_each(|(&row, value)| x[row] = *value);
    }
    Ok(Candidate::new(problem, x))
}

/// Says which contact has no finite force, and leaves it without: a sliding one without which the others have forces, the most doubtful first.
fn without_solution(problem: &ForceProblem, nearest: Candidate) -> Result<Forces, SolveError> {
    let margin = |k: usize| match problem.response[k] {
        // held by constraints: no force moves it
        w if w <= 0.0 => f64::NEG_INFINITY,
        w => (w - problem.coupling[k]) / w,
    };
    let is_held = |k: usize| problem.response[k] <= 0.0 && problem.q[problem.starts[k]] < 0.0 && !problem.cones[k].is_effort();
    let is_suspect = |k: usize| problem.cones[k] == Cone::Sliding || is_held(k);
    let mut suspects: Vec<usize> = (0..problem.n_contacts()).filter(|&k| is_suspect(k)).collect();
    suspects.sort_by(|&a, &b| margin(a).total_cmp(&margin(b)));
    let mut left_out = None;
    for &k in &suspects {
        let candidate = without(problem, k)?;
        let others = (0..problem.n_contacts()).filter(|&other| other != k).collect::<Vec<_>>();
        let (part, rows) = problem.part(&others);
        let of_others = Candidate::new(&part, rows.iter().map(|&row| candidate.x[row]).collect());
        if of_others.is_solution() {
            return Ok(Forces { x: candidate.x, verdict: Verdict::Inconsistent { contact: k } });
        }
        left_out.get_or_insert((k, candidate.x));
    }
    Ok(match left_out {
        Some((contact, x)) => Forces { x, verdict: Verdict::Inconsistent { contact } },
        None => Forces { x: nearest.x, verdict: Verdict::NotConverged { residual: nearest.violation } },
    })
}
