//! Painlevé's paradox: impacts without collision.
//!
//! A contact that slides along d with p_N as its only unknown has u_N⁺ = u_N,free + (W_NN − μ W_NT·d) p_N. Where the bracket is not positive, more impulse
//! presses the contact further in: if the free motion approaches, no sliding motion exists, and the slip ends within an instant by an impulse of
//! finite size, although nothing collided [Brogliato2002, §3.3; Génot & Brogliato, Eur. J. Mech. A 18, 1999].

use crate::active_set::Active;
use crate::memory::{OneStep, StepMemory};

/// An impulse is a jump when it changes the slip by more than this many times what everything else changed in the step.
const JUMP: f64 = 10.0;

/// Slip that is left of a slip that ended, relative.
const STOPPED: f64 = 1e-2;

/// The active contact (number `place`) received the impulse of an impact in the last step without a collision:
///
/// ```text
/// W_NN − μ W_NT·d ≤ 0                      along its slip d = u_T,k / ‖u_T,k‖
/// −u_N,k ≤ JUMP ‖Δ‖                        it did not approach, but for what one step changes
/// u_T,k+1·d ≤ STOPPED ‖u_T,k‖              its slip came to an end
/// ‖u_T,k‖ > JUMP (max(0, −u_N,k) + ‖Δ‖)    which neither forces nor other contacts did
/// ```
///
/// with Δ = u_{k+1} − u_k − W_ii p, the change of the contact's velocity by all else: forces, O(h), or impacts elsewhere. Cost O(1).
pub(crate) fn impact_without_collision(memory: &StepMemory, place: usize, item: &Active) -> bool {
    let StepMemory { active, one_step: OneStep { problem, solution, .. }, .. } = memory;
    let (mu, p, n) = (item.block.friction(), &solution.r[item.rows.clone()], item.rows.len().min(3));
    let solved = problem.w.n_blocks() == active.items().len();
    if n < 2 || mu == 0.0 || p[0] <= 0.0 || !solved {
        return false;
    }
    let (w, dim) = (problem.w.diagonal(place), item.rows.len());
    // whatever the direction of its slip
    if w[0] > mu * (w[1].abs() + if n > 2 { w[2].abs() } else { 0.0 }) {
        return false;
    }
    let (start, shift) = (&active.velocity_start()[item.rows.clone()], &active.shift()[item.rows.clone()]);
    let slip = norm(&start[1..n]);
    if slip == 0.0 {
        return false;
    }
    let coupling: f64 = (1..n).map(|k| w[k] * start[k]).sum::<f64>() / slip;
    if w[0] - mu * coupling > 0.0 {
        return false;
    }
    let (mut rest, mut slip_left) = ([0.0; 3], 0.0);
    for k in 0..n {
        let end = solution.u[item.rows.start + k] - shift[k];
        let own: f64 = w[k * dim..][..dim].iter().zip(p).map(|(w, p)| w * p).sum();
        rest[k] = end - start[k] - own;
        slip_left += if k > 0 { end * start[k] / slip } else { 0.0 };
    }
    let (elsewhere, approach) = (norm(&rest), (-start[0]).max(0.0));
    approach <= JUMP * elsewhere && slip_left <= STOPPED * slip && slip > JUMP * (approach + elsewhere)
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
