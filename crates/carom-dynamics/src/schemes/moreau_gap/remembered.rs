//! What the scheme remembers from step to step, with its work arrays.

use super::impulse_times::ImpulseTimes;
use super::joint_positions::JointPositions;
use super::sleep::Sleep;
use crate::checkpoint::{Bytes, CheckpointError, Own, Reader};
use crate::detection::ContactPoint;
use crate::memory::StepMemory;
use crate::model::Model;

/// The memory of the scheme.
#[derive(Debug, Default)]
pub(super) struct Remembered {
    /// Bodies in whose islands penetrations were not taken back in the last step that stands: see `payment`.
    pub held: Vec<bool>,
    /// Islands at rest.
    pub sleep: Sleep,
    /// Joints held on their positions, with what the last steps did as the first guess of the next.
    pub joints: JointPositions,
    /// When in the step impulses act.
    pub times: ImpulseTimes,
    /// Contact points that the impulses of the step close.
    pub late: Vec<ContactPoint>,
    /// Where they are among all contacts of the step.
    pub late_places: Vec<u32>,
}

impl Own for Remembered {
    fn save(&self, out: &mut Bytes) {
        out.flags(&self.held);
        self.sleep.save(out);
        self.joints.save(out);
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), CheckpointError> {
        from.flags(&mut self.held)?;
        self.sleep.load(from)?;
        self.joints.load(from)
    }
}

/// A step in hand, of `h` seconds.
pub(super) struct Context<'a> {
    pub model: &'a Model,
    pub memory: &'a mut StepMemory,
    pub own: &'a mut Remembered,
    pub h: f64,
}
