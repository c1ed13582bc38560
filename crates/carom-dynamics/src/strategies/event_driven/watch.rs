//! The functions whose roots are events, along the dense output of a step.

use crate::error::{IntegrationError, NonFinite, RunError};
use crate::events::{ClosedSet, Contacts, EffortAfter, EventParams, SwitchingFunction, Watched};
use crate::integrators::Integration;
use crate::model::Model;
use crate::report::ContactMode;
use crate::smooth::{Effort, EffortRole, InteractionRef, MotionPoint};
use crate::systems::{Instant, Sample, Scratch};

/// Forces below this part of the largest contact force count as zero.
const NO_FORCE: f64 = 1e-11;

/// What is watched. Each is positive while nothing happens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::strategies) enum Function {
    /// g of an open contact.
    Gap { contact: usize },
    /// λ_N of a closed contact, the k-th of the equations.
    Normal { contact: usize, k: usize },
    /// μ λ_N − ‖λ_T‖ of a sticking contact.
    Cone { contact: usize, k: usize },
    /// u_T·d of a sliding contact, d its direction at the start of the step.
    Slip { contact: usize, direction: [f64; 2] },
    /// Distance of λ to the lower or the upper bound of an effort that is held; r − ‖λ‖ of several rows.
    Bound { effort: usize, upper: bool },
    /// (u + k g)·d of an effort at a bound, d its direction at the start of the step.
    Turn { effort: usize, direction: [f64; 3] },
    /// The load of one row that the bounds of an effort follow, with the sign that makes it positive: |R| has a kink where it vanishes.
    Load { effort: usize, sign: f64 },
    /// 1 while the acceleration problem confirms the modes, −1 where it does not: for contacts whose forces are not unique.
    Confirmed,
    /// Distance to the edge of the piece in use.
    Edge { interaction: usize, piece: usize },
    /// A function that the user watches, with the sign that makes it positive.
    User { event: usize, sign: f64 },
    /// An argument at which a formula switches, with the sign that makes it positive.
    Switch { function: usize, sign: f64 },
}

impl Function {
    /// Its values say nothing but the sign.
    pub(crate) fn is_indicator(&self) -> bool {
        *self == Function::Confirmed
    }

    /// Forces jump or have a kink at its root.
    pub(crate) fn is_switch(&self) -> bool {
        matches!(self, Function::Switch { .. })
    }

    /// It needs the forces of contacts or efforts.
    fn needs_forces(&self) -> bool {
        matches!(self, Function::Normal { .. } | Function::Cone { .. } | Function::Bound { .. } | Function::Load { .. })
    }
}

/// What the modes of closed contacts are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Modes<'a> {
    pub modes: &'a [ContactMode],
    pub directions: &'a [[f64; 2]],
    pub closed: &'a [usize],
    pub pieces: &'a [usize],
    pub efforts: &'a [Effort],
}

/// Samples the functions on the dense output of the step just taken.
pub(super) struct Watch<'a, 'm> {
    pub model: &'m Model,
    pub integration: &'a mut Integration<'m>,
    pub contacts: &'a mut Contacts<'m>,
    pub functions: &'a [Function],
    pub switches: &'a [SwitchingFunction],
    pub settings: &'a EventParams,
    pub modes: Modes<'a>,
    pub work: &'a mut WatchWork,
}

/// Work arrays of the watch, and the size of the forces.
#[derive(Default)]
pub(super) struct WatchWork {
    inside: MotionPoint,
    forces: Vec<[f64; 3]>,
    efforts: Vec<[f64; 3]>,
    /// Largest contact force or effort seen at the start of a step \[N\].
    pub largest_force: f64,
    /// Largest load of one row seen so far \[N\].
    largest_load: f64,
    scratch: Scratch,
}

impl WatchWork {
    /// Takes the largest of these forces as the unit of forces.
    pub fn measure(&mut self, forces: &[[f64; 3]], efforts: &[[f64; 3]]) {
        self.largest_force = forces.iter().chain(efforts).flatten().fold(0.0, |most: f64, x| most.max(x.abs()));
    }
}

impl<'m> Watch<'_, 'm> {
    fn fill(&mut self, t: f64, out: &mut [Sample]) -> Result<(), RunError> {
        let mut inside = std::mem::take(&mut self.work.inside);
        let filled = self.fill_at(t, &mut inside, out);
        self.work.inside = inside;
        filled
    }

    fn fill_at(&mut self, t: f64, inside: &mut MotionPoint, out: &mut [Sample]) -> Result<(), RunError> {
        let needs_forces = self.functions.iter().any(Function::needs_forces);
        inside.copy_from(self.integration.point());
        if t != inside.t {
            inside.t = t;
            match needs_forces {
                true => self.integration.interpolate_point(t, inside)?,
                false => self.integration.interpolate(t, &mut inside.q, &mut inside.v)?,
            }
        }
        if needs_forces {
            let counted = self.integration.statistics();
            self.integration.equations().contact_forces(inside, &mut self.work.forces)?;
            self.integration.equations().effort_forces(inside, &mut self.work.efforts)?;
            self.integration.equations().statistics = counted;
        }
        let at = Instant { t, q: &inside.q, v: &inside.v };
        for (function, out) in self.functions.iter().zip(out) {
            *out = self.evaluate(*function, at, &inside.lambda).map_err(|error| located(t, error))?;
        }
        Ok(())
    }

    fn evaluate(&mut self, function: Function, at: Instant<'_>, lambda: &[f64]) -> Result<Sample, Trouble> {
        let plain = |value| Ok(Sample { value, rate: None });
        match function {
            Function::Gap { contact } => {
                let value = self.contacts.gap(contact, at.t, at.q)?;
                Ok(Sample { value, rate: Some(self.contacts.velocity(contact, at)?[0]) })
            }
            Function::Normal { k, .. } => plain(self.work.forces[k][0]),
            Function::Cone { contact, k } => {
                let [n, t1, t2] = self.work.forces[k];
                plain(self.contacts.law(contact).friction.at(0.0) * n - t1.hypot(t2))
            }
            Function::Slip { contact, direction } => {
                let [_, u1, u2] = self.contacts.velocity(contact, at)?;
                plain(u1 * direction[0] + u2 * direction[1])
            }
            Function::Bound { effort, upper } => {
                let interaction = self.modes.efforts[effort].interaction;
                let Some(law) = self.model.interactions()[interaction].law().bounded() else { return plain(f64::INFINITY) };
                let (force, rows) = (self.work.efforts[effort], self.model.interactions()[interaction].relation().n_rows());
                let load = self.integration.equations().joint_load(interaction, lambda).map_err(Trouble::Integration)?;
                plain(match (rows, upper) {
                    (1, true) => law.upper + load - force[0],
                    (1, false) => force[0] - (law.lower - load),
                    _ => law.upper + load - length(force),
                })
            }
            Function::Load { effort, sign } => {
                let interaction = self.modes.efforts[effort].interaction;
                let load = self.integration.equations().single_load(interaction, lambda).map_err(Trouble::Integration)?.unwrap_or(0.0);
                self.work.largest_load = self.work.largest_load.max(load.abs());
                plain(sign * load)
            }
            Function::Turn { effort, direction } => {
                let u = self.integration.equations().effort_velocity(effort, at)?;
                plain(u.iter().zip(direction).map(|(u, d)| u * d).sum())
            }
            Function::Confirmed => plain(if self.is_confirmed(at)? { 1.0 } else { -1.0 }),
            Function::Edge { interaction, piece } => {
                let relation = self.model.interactions()[interaction].relation();
                plain(relation.piece_margin(piece, at.t, at.q, &mut self.work.scratch)?)
            }
            Function::User { event, sign } => {
                Ok(self.model.events()[event].sample(self.model.systems(), at, None, &mut self.work.scratch)?.scaled(sign))
            }
            Function::Switch { function, sign } => {
                Ok(self.switches[function].sample(self.model, at, None, &mut self.work.scratch)?.scaled(sign))
            }
        }
    }

    /// The acceleration problem gives every closed contact the mode it has.
    fn is_confirmed(&mut self, at: Instant<'_>) -> Result<bool, Trouble> {
        let Modes { modes, directions, closed, pieces, efforts } = self.modes;
        let contacts: Vec<InteractionRef<'m>> = closed.iter().map(|&c| self.contacts.interaction(c)).collect();
        let set = ClosedSet::with_pieces(self.model, at, pieces, &contacts).map_err(Trouble::Integration)?;
        let found = set.accelerate(self.settings).map_err(Trouble::Run)?;
        let contacts = closed.iter().zip(&found.contacts).all(|(&c, after)| {
            let turned = modes[c] == ContactMode::Sliding && dot(directions[c], after.direction) < 0.0;
            after.mode == modes[c] && !turned
        });
        let same = |(effort, after): (&Effort, &EffortAfter)| match effort.role {
            EffortRole::Held => after.mode == ContactMode::Sticking,
            EffortRole::Pushed { direction } => {
                after.mode == ContactMode::Sliding && direction.iter().zip(after.direction).map(|(a, b)| a * b).sum::<f64>() > 0.0
            }
        };
        Ok(contacts && efforts.iter().zip(&found.efforts).all(same))
    }
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn length(x: [f64; 3]) -> f64 {
    x[0].hypot(x[1]).hypot(x[2])
}

impl Watched for Watch<'_, '_> {
    fn n(&self) -> usize {
        self.functions.len()
    }

    fn sample(&mut self, t: f64, out: &mut [Sample]) -> Result<(), RunError> {
        self.fill(t, out)
    }

    fn fast(&self, i: usize) -> f64 {
        match self.functions[i] {
            Function::Gap { .. } => self.settings.velocity,
            _ => f64::INFINITY,
        }
    }

    fn threshold(&self, i: usize) -> f64 {
        match self.functions[i] {
            Function::Gap { .. } | Function::Edge { .. } => self.settings.gap,
            Function::Slip { .. } | Function::Turn { .. } => self.settings.slip,
            Function::Normal { .. } | Function::Cone { .. } | Function::Bound { .. } => NO_FORCE * self.work.largest_force,
            Function::Load { .. } => NO_FORCE * self.work.largest_load,
            Function::Confirmed => 0.5,
            Function::User { .. } => self.settings.time,
            Function::Switch { .. } => 0.0,
        }
    }
}

/// An error before its time is known.
enum Trouble {
    Value(NonFinite),
    Integration(IntegrationError),
    Run(RunError),
}

impl From<NonFinite> for Trouble {
    fn from(error: NonFinite) -> Self {
        Trouble::Value(error)
    }
}

fn located(t: f64, error: Trouble) -> RunError {
    match error {
        Trouble::Value(source) => IntegrationError::NonFinite { t, source }.into(),
        Trouble::Integration(error) => error.into(),
        Trouble::Run(error) => error,
    }
}
