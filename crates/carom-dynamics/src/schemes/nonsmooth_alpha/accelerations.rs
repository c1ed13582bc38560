//! What the scheme keeps from step to step: accelerations, forces of contacts and constraints, the state of the contacts.

use super::super::left_limit::left_limit;
use super::super::stages::factorise_mass;
use super::positions::Positions;
use crate::active_set::ActiveSource;
use crate::assembly::{Activation, RowsOver, select_where};
use crate::checkpoint::{Bytes, CheckpointError, Own, Reader};
use crate::error::StepError;
use crate::memory::{Matrices, StepMemory};
use crate::model::Model;
use crate::report::StepReport;
use crate::state::State;

/// How a contact stands at the start of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// A constraint, or a contact that is open or closes in this step.
    None,
    /// Closed, but separating.
    Leaving,
    /// Closed; the sign of its sliding velocity in the plane, 0 where it sticks, 1 for sliding in space.
    Closed(i8),
}

impl Status {
    fn number(self) -> u64 {
        match self {
            Status::None => 0,
            Status::Leaving => 1,
            Status::Closed(sign) => (3 + i64::from(sign)) as u64,
        }
    }

    fn of_number(found: u64) -> Result<Self, CheckpointError> {
        match found {
            0 => Ok(Status::None),
            1 => Ok(Status::Leaving),
            2..=4 => Ok(Status::Closed(found as i8 - 3)),
            _ => Err(CheckpointError::Unknown { what: "status of a contact", found }),
        }
    }
}

/// What is known at the end of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    /// Size of the step \[s\]; 0 where nothing is kept.
    pub step: f64,
    /// a.
    pub algorithmic: Vec<f64>,
    /// A.
    pub acceleration: Vec<f64>,
    /// λ by interaction.
    pub forces: Vec<[f64; 6]>,
    /// At the start of the step.
    pub status: Vec<Status>,
    /// The contact of an interaction carried an impulse.
    pub carried: Vec<bool>,
    /// There was an impact.
    pub jumped: bool,
}

/// The scheme's memory.
#[derive(Default)]
pub(super) struct Remembered {
    /// Of the last step that stands.
    kept: Kept,
    /// What `kept` becomes when the step is accepted.
    pub tried: Kept,
    /// a_n and A_n as the step uses them.
    pub before: Vec<f64>,
    pub acceleration: Vec<f64>,
    /// λ_n by interaction.
    pub forces: Vec<[f64; 6]>,
    status: Vec<Status>,
    /// M(q_n) and its factor.
    pub mass: Matrices,
    /// U and ν.
    pub positions: Positions,
}

impl Own for Remembered {
    fn save(&self, out: &mut Bytes) {
        let Kept { step, algorithmic, acceleration, forces, status, carried, jumped } = &self.kept;
        out.number(*step);
        out.numbers(algorithmic);
        out.numbers(acceleration);
        out.groups(forces);
        out.count(status.len());
        status.iter().for_each(|status| out.integer(status.number()));
        out.flags(carried);
        out.flag(*jumped);
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), CheckpointError> {
        let Kept { step, algorithmic, acceleration, forces, status, carried, jumped } = &mut self.kept;
        *step = from.number()?;
        from.numbers(algorithmic)?;
        from.numbers(acceleration)?;
        from.groups(forces)?;
        status.clear();
        for _ in 0..from.count()? {
            status.push(Status::of_number(from.integer()?)?);
        }
        from.flags(carried)?;
        *jumped = from.flag()?;
        // the work arrays get their sizes
        self.tried = self.kept.clone();
        self.before.clone_from(&self.kept.algorithmic);
        self.acceleration.clone_from(&self.kept.acceleration);
        self.forces.clone_from(&self.kept.forces);
        Ok(())
    }
}

impl Remembered {
    /// Forgets what was kept.
    pub fn restart(&mut self, model: &Model) {
        let (n_v, n) = (model.systems().velocities().len(), model.interactions().len());
        for kept in [&mut self.kept, &mut self.tried] {
            kept.step = 0.0;
            kept.jumped = false;
            for array in [&mut kept.algorithmic, &mut kept.acceleration] {
                array.clear();
                array.resize(n_v, 0.0);
            }
            kept.forces.clear();
            kept.forces.resize(n, [0.0; 6]);
            kept.status.clear();
            kept.status.resize(n, Status::None);
            kept.carried.clear();
            kept.carried.resize(n, false);
        }
        self.before.resize(n_v, 0.0);
        self.acceleration.resize(n_v, 0.0);
        self.forces.resize(n, [0.0; 6]);
        self.mass.mass_ready = false;
    }

    /// The arrays have the sizes of this model.
    pub fn fits(&self, model: &Model) -> bool {
        self.before.len() == model.systems().velocities().len()
            && self.forces.len() == model.interactions().len()
            && !self.before.is_empty()
    }

    /// The last step stands.
    pub fn accept(&mut self) {
        std::mem::swap(&mut self.kept, &mut self.tried);
    }

    /// The contact of this interaction is closed, without impact: its reaction is a force.
    pub fn is_closed(&self, interaction: usize) -> bool {
        self.status[interaction] != Status::None
    }

    /// The reaction of an active interaction is a force: a constraint, or a closed contact.
    pub fn has_force(&self, source: ActiveSource, is_bilateral: bool) -> bool {
        is_bilateral || matches!(source, ActiveSource::Interaction(i) if self.is_closed(i))
    }

    /// (g_n, u_n) => how the contacts stand.
    pub(crate) fn find_status(&mut self, model: &Model, memory: &StepMemory, rule: Activation) {
        let (c, Activation { step: h, threshold, .. }) = (&memory.candidates, rule);
        self.status.clear();
        for (i, interaction) in model.interactions().iter().enumerate() {
            let (rows, gap) = (c.rows[i]..c.rows[i + 1], c.position[c.rows[i]]);
            let u = &c.velocity[rows];
            let (approaches, separates) = (h * u[0] < -threshold, h * u[0] > threshold);
            let stays = self.kept.carried[i] && !separates;
            self.status.push(if interaction.is_bilateral() || approaches || !(gap <= threshold || stays) {
                Status::None
            } else if separates {
                Status::Leaving
            } else {
                let slip = u.iter().skip(1).take(2).map(|u| u * u).sum::<f64>().sqrt();
                let sign = if u.len() == 2 && u[1] < 0.0 { -1 } else { 1 };
                Status::Closed(if h * slip > threshold { sign } else { 0 })
            });
        }
    }

    /// Writes a_n, A_n and λ_n: those kept, moved to the step h, or new ones where contacts changed or jumped. `with_positions`: M(q_n) is needed in
    /// any case.
    pub fn begin(
        &mut self,
        model: &Model,
        state: &mut State,
        memory: &mut StepMemory,
        (h, with_positions): (f64, bool),
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let goes_on = self.kept.step > 0.0 && !self.kept.jumped && self.kept.status == self.status;
        if !goes_on || with_positions {
            factorise_mass(model, state.t, &state.q, &mut self.mass, &mut memory.scratch)?;
        }
        if goes_on {
            // a_n belongs to t_n + (α_m − α_f) h: another h moves it along the line through A_n
            let ratio = h / self.kept.step;
            for (i, before) in self.before.iter_mut().enumerate() {
                let (a, true_a) = (self.kept.algorithmic[i], self.kept.acceleration[i]);
                *before = if ratio == 1.0 { a } else { true_a + ratio * (a - true_a) };
            }
            self.acceleration.copy_from_slice(&self.kept.acceleration);
            self.forces.copy_from_slice(&self.kept.forces);
            return Ok(());
        }
        let status = &self.status;
        let closed = |source| matches!(source, ActiveSource::Interaction(i) if status[i] != Status::None);
        select_where(model, state, memory, RowsOver::step(h), |source, _, _| closed(source));
        memory.active.shift_mut().fill(0.0);
        memory.work.rows_vary = true;
        std::mem::swap(&mut memory.matrices.factor, &mut self.mass.factor);
        let solved = left_limit(model, state, memory, h, &mut self.acceleration, report);
        std::mem::swap(&mut memory.matrices.factor, &mut self.mass.factor);
        solved?;
        state.v.copy_from_slice(&memory.work.v_start);
        self.before.copy_from_slice(&self.acceleration);
        self.forces.fill([0.0; 6]);
        for item in memory.active.items() {
            if let ActiveSource::Interaction(i) = item.source {
                for (force, p) in self.forces[i].iter_mut().zip(&memory.one_step.solution.r[item.rows.clone()]) {
                    *force = p / h;
                }
            }
        }
        Ok(())
    }

    /// Takes the restitution off the contacts whose reaction is a force.
    pub(crate) fn bind(&self, memory: &mut StepMemory) {
        let active = &mut memory.active;
        for item in 0..active.items().len() {
            let (source, rows, law) = (active.items()[item].source, active.items()[item].rows.clone(), active.items()[item].law);
            if self.has_force(source, law.is_bilateral()) {
                active.shift_mut()[rows].fill(0.0);
            }
        }
    }

    /// Takes the status of this step into what is tried.
    pub(crate) fn keep_status(&mut self) {
        self.tried.status.clone_from(&self.status);
    }
}
