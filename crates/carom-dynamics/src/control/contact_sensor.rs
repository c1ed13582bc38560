//! Sensors of contacts: how often they closed, whether they carry, with what force.

use crate::active_set::ActiveSource;
use crate::memory::StepMemory;

/// A sensor of a contact by formula; places are numbers of coordinates.
#[derive(Clone, Debug)]
pub(super) struct ContactSensor {
    /// Number of the interaction.
    pub interaction: usize,
    /// Name of the contact.
    pub contact: String,
    pub impacts: usize,
    pub closed: usize,
    pub force: usize,
}

impl ContactSensor {
    /// Reads the step that `memory` holds, of size `h`.
    pub fn after_step(&self, memory: &StepMemory, h: f64, q: &mut [f64]) {
        let is_it = |source: ActiveSource| matches!(source, ActiveSource::Interaction(i) if i == self.interaction);
        let item = memory.active.items().iter().find(|item| is_it(item.source));
        let impulse = item.and_then(|item| memory.one_step.solution.r.get(item.rows.start)).copied().unwrap_or(0.0).max(0.0);
        let (carried, carries) = (q[self.force] > 0.0, impulse > 0.0);
        if carries && !carried {
            q[self.impacts] += 1.0;
        }
        // an impact of time-stepping is one step long
        q[self.closed] = f64::from(u8::from(carries && carried));
        q[self.force] = impulse / h;
    }
}
