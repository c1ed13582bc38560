//! Contacts do not add energy: where they would, the island is solved again.
//!
//! Two things may do so. A solution within its tolerance is not exact. And to take back a penetration at the speed w lifts what rests on it: the normal impulse does the
//! work p_N w. In an island that slides or collapses, friction and impacts take out more than that; in one at rest nothing does, and the energy would rise. So each step
//! sums, island by island, what its contacts add to the energy,
//!
//! ```text
//! E = Σ_contacts ½ (u_k + u_{k+1})·p + Σ_bodies (½ − w) m (v_free − v_k)·(v_{k+1} − v_k)      w of the displacement: see `impulse_times`
//! ```
//!
//! and where E > 0 the island is solved again, more exactly, without taking back penetrations. It then holds these until its contacts take out twice what it would
//! cost. Only shallow penetrations wait so: deep ones, such as those of bodies that overlap at the start, are always taken back, and may cost energy.

use super::MoreauGap;
use super::remembered::Context;
use crate::many_contacts::ManyContacts;
use crate::memory::StepMemory;
use crate::report::StepReport;
use crate::state::State;
use carom_solvers::bodies::{BodyContact, BodySweepsParams, GROUND};

/// Shallow penetrations are less than this part of the distance from the contact to the nearer centre of its bodies.
const SHALLOW: f64 = 3e-3;

/// Times its cost that an island has to pay before it takes back penetrations again.
const MARGIN: f64 = 2.0;

/// Times as many visits of contacts as usual that are spent on islands that are solved again, and once more.
const PATIENCE: [usize; 2] = [10, 50];

/// Part of the energies of the bodies of an island below which E is rounding.
const ROUNDING: f64 = 1e-12;

/// A penetration that may wait.
pub(crate) fn is_shallow(gap: f64, contact: &BodyContact) -> bool {
    let arms = contact.bodies.iter().zip(&contact.arms).filter(|(body, _)| **body != GROUND);
    let limit = |arm: &[f64; 3]| SHALLOW * SHALLOW * arm.iter().map(|x| x * x).sum::<f64>();
    gap < 0.0 && arms.into_iter().all(|(_, arm)| gap * gap < limit(arm))
}

impl MoreauGap {
    /// Sums what contacts exchange; solves again those islands that would gain energy at no one's expense.
    pub(super) fn settle_payments(&self, cx: &mut Context<'_>, state: &mut State, report: &mut StepReport) {
        let usual = self.params.sweeps;
        for patience in PATIENCE {
            self.tally(cx.memory, cx.h);
            find_unpaid(cx, state);
            if !cx.memory.many.has_changed() {
                return;
            }
            cx.memory.many.sweeps.set_params(BodySweepsParams { cheap_visits: patience * usual.cheap_visits, ..usual });
            self.solve_changed(cx, state, report);
            self.displace(cx, state);
        }
        self.tally(cx.memory, cx.h);
    }

    fn tally(&self, memory: &mut StepMemory, h: f64) {
        let StepMemory { many, contacts, .. } = memory;
        let recovery = self.recovery();
        many.tally(contacts, h, |many, place| {
            let gap = contacts[many.index[place] as usize].gap;
            (recovery.lift(gap, h), is_shallow(gap, &many.problem.contacts[place]))
        });
    }
}

/// Islands that hold penetrations from now on, or no longer; contacts of those that are to be solved again in the present step, in `changed`.
fn find_unpaid(cx: &mut Context<'_>, state: &State) {
    let Context { model, memory, own, .. } = cx;
    let StepMemory { many, work, .. } = &mut **memory;
    let times = &own.times;
    let Some(bodies) = model.systems().bodies() else { return };
    let (v, v_free, v_start) = (&state.v[bodies.v.clone()], &work.v_free[bodies.v.clone()], &work.v_start[bodies.v.clone()]);
    many.changed.clear();
    many.holds.resize(many.problem.masses.len(), false);
    let ManyContacts { holds, exchanged, sweeps, changed, shift, problem, .. } = many;
    for (number, exchange) in exchanged.iter().enumerate() {
        let (of_island, contacts) = sweeps.island(number);
        let (mut created, mut energy) = (-exchange.normal - exchange.tangential, 0.0);
        for &body in of_island {
            let w = times.weight(bodies.first_block as u32 + 2 * body);
            let mass = 1.0 / problem.masses[body as usize].inverse_mass;
            for i in 6 * body as usize..6 * body as usize + 3 {
                let (by_forces, change) = (v_free[i] - v_start[i], v[i] - v_start[i]);
                created += (0.5 - w) * mass * by_forces * change;
                energy += 0.5 * mass * (v[i] * v[i] + v_start[i] * v_start[i] + by_forces * by_forces);
            }
        }
        let is_gain = |created: f64| created > ROUNDING * energy;
        let hold = is_gain(created) && exchange.lift > 0.0;
        // what deep penetrations cost cannot be helped
        let is_unpaid = hold || is_gain(created - exchange.deep_lift);
        if is_unpaid {
            // one contact opens the island
            let others = contacts.iter().skip(1).filter(|contact| shift[**contact as usize] < 0.0);
            changed.extend(contacts.first().into_iter().chain(others));
        }
        if hold || created + MARGIN * exchange.held_lift <= 0.0 {
            of_island.iter().for_each(|body| holds[*body as usize] = hold);
        }
    }
    changed.sort_unstable();
}
