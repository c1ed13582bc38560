//! Which contacts carry, and how: what must stay the same for a motion to be smooth.

use crate::active_set::{Active, ActiveSource};
use crate::assembly::{at_time, detect_contacts, evaluate_candidates, velocity_of};
use crate::detection::{ContactKey, ContactPoint};
use crate::error::StepError;
use crate::memory::StepMemory;
use crate::model::Model;
use crate::state::State;
use carom_solvers::affine_vi::Piece;

/// Sliding slower than this counts as sticking [m/s]: above what solvers leave of a tangential velocity that is zero.
pub(in crate::strategies) const SLOWEST_SLIP: f64 = 1e-7;

/// A gap up to this is closed \[m\]: the threshold of the schemes.
const TOUCH: f64 = 1e-9;

/// A contact, whichever way it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ContactId {
    Formula(usize),
    Detected(ContactKey),
}

/// The contacts that carried a normal impulse in a step, each with whether it slides. Nothing is allocated once warm.
///
/// A motion is smooth over a step when no contact begins or ceases to carry in it and none changes between sticking and sliding.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::strategies) struct ContactModes(Vec<(ContactId, bool)>, Vec<Piece>);

impl ContactModes {
    /// Reads the step that `memory` holds.
    pub fn read(&mut self, memory: &StepMemory) {
        self.0.clear();
        let carrying =
            memory.active.items().iter().filter(|item| item.law.is_contact() && memory.one_step.solution.r[item.rows.start] > 0.0);
        self.0.extend(carrying.map(|item| {
            let id = match item.source {
                ActiveSource::Interaction(i) => ContactId::Formula(i),
                ActiveSource::Contact(i) => ContactId::Detected(memory.contacts[i].key),
            };
            (id, slides(memory, item))
        }));
        self.0.sort_unstable();
        self.1.clear();
        self.1.extend_from_slice(memory.first_order.as_ref().map_or(&[], |own| own.pieces()));
    }

    /// Takes the values of another; storage is reused.
    pub fn copy_from(&mut self, other: &ContactModes) {
        self.0.clone_from(&other.0);
        self.1.clone_from(&other.1);
    }

    /// No contact carries.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn has(&self, id: ContactId) -> bool {
        self.0.binary_search_by_key(&id, |(id, _)| *id).is_ok()
    }

    /// All contacts that carry here carry in the other step, too, and the laws of the first-order part are on the same pieces.
    pub fn within(&self, other: &ContactModes) -> bool {
        self.0.iter().all(|(id, _)| other.has(*id)) && self.1 == other.1
    }
}

fn slides(memory: &StepMemory, item: &Active) -> bool {
    // u of the problem includes the shift: take it off again
    let square = |row: usize| (memory.one_step.solution.u[row] - memory.active.shift()[row]).powi(2);
    item.rows.clone().skip(1).take(2).map(square).sum::<f64>().sqrt() > SLOWEST_SLIP
}

/// Some contact was approaching at the start of the step that `memory` holds and carried in it: an impact.
pub(in crate::strategies) fn has_impact(memory: &StepMemory, slowest: f64) -> bool {
    memory.active.items().iter().any(|item| {
        let row = item.rows.start;
        item.law.is_contact() && memory.one_step.solution.r[row] > 0.0 && memory.active.velocity_start()[row] < -slowest
    })
}

/// Largest velocity [m/s] that the laws of the contacts that carried in the step of `memory` took from its start: e u_k.
pub(in crate::strategies) fn restored_velocity(memory: &StepMemory) -> f64 {
    let carrying = memory.active.items().iter().filter(|item| item.law.is_contact() && memory.one_step.solution.r[item.rows.start] > 0.0);
    carrying.flat_map(|item| &memory.active.shift()[item.rows.clone()]).fold(0.0, |most, shift| most.max(shift.abs()))
}

/// Gaps that a step has crossed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::strategies) struct Crossing {
    /// How deep contacts went in the step \[m\]; zero when none was crossed.
    pub depth: f64,
    /// Speed at which they close at its end [m/s].
    pub speed: f64,
}

impl Crossing {
    /// Some gap was crossed.
    pub fn is_some(&self) -> bool {
        self.depth > 0.0
    }

    fn add(&mut self, depth: f64, speed: f64) {
        self.depth = self.depth.max(depth);
        self.speed = self.speed.max(speed);
    }
}

/// How deep a contact went in a step that approaches by `way` in it: what was penetrated before is not of this step, and positions that a
/// projection has put on the contact would have gone all the way.
fn depth(gap: f64, way: f64) -> f64 {
    if gap.abs() <= TOUCH { way } else { way.min(-gap) }
}

/// Finds contacts that a step has closed without an impulse. Nothing is allocated once warm.
#[derive(Clone, Debug, Default)]
pub(in crate::strategies) struct CrossingWatch {
    /// For each contact by formula whether it is open where the step begins.
    open: Vec<bool>,
    /// The contact points of the step that the memory holds, while others are looked for.
    spare: Vec<ContactPoint>,
}

impl CrossingWatch {
    /// The next step begins at this state.
    pub fn begin(&mut self, model: &Model, state: &State, memory: &mut StepMemory) -> Result<(), StepError> {
        evaluate_candidates(model, state, memory).map_err(at_time(state.t))?;
        self.begin_here(model, memory);
        Ok(())
    }

    /// The next step begins at the state that was looked at last.
    pub(crate) fn begin_here(&mut self, model: &Model, memory: &StepMemory) {
        let c = &memory.candidates;
        self.open.clear();
        self.open.extend(model.interactions().iter().zip(&c.rows).filter(|(x, _)| x.is_contact()).map(|(_, &row)| c.position[row] >= 0.0));
    }

    /// Contacts by formula that are penetrated at a state and were open where the step of size h began; contacts that are closed and go deeper,
    /// unless they `carry`. The contacts of the step stay in `memory`.
    pub fn look(
        &mut self,
        model: &Model,
        (state, h): (&State, f64),
        memory: &mut StepMemory,
        carry: &ContactModes,
    ) -> Result<Crossing, StepError> {
        evaluate_candidates(model, state, memory).map_err(at_time(state.t))?;
        let (c, mut crossing) = (&memory.candidates, Crossing::default());
        let by_formula = model.interactions().iter().zip(&c.rows).enumerate().filter(|(_, (x, _))| x.is_contact());
        for ((i, (_, &row)), &open) in by_formula.zip(&self.open) {
            let (gap, speed) = (c.position[row], -c.velocity[row]);
            // schemes that resolve impacts at the end of a step have let the contact pass until there
            if gap < 0.0 && open {
                crossing.add(-gap, speed);
            }
            if gap <= TOUCH && speed > 0.0 && !carry.has(ContactId::Formula(i)) {
                crossing.add(depth(gap, h * speed), speed);
            }
        }
        if model.detector().is_none() && model.planar_detector().is_none() {
            return Ok(crossing);
        }
        std::mem::swap(&mut memory.contacts, &mut self.spare);
        detect_contacts(model, state, memory, 0.0).map_err(at_time(state.t))?;
        for contact in memory.contacts.iter().filter(|contact| contact.gap <= TOUCH) {
            let speed = -velocity_of(model, contact, &state.q, &state.v);
            if speed > 0.0 && !carry.has(ContactId::Detected(contact.key)) {
                crossing.add(depth(contact.gap, h * speed), speed);
            }
        }
        std::mem::swap(&mut memory.contacts, &mut self.spare);
        Ok(crossing)
    }
}
