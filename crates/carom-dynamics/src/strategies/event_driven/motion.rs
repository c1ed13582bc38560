//! Smooth motion under the present contact modes, up to the next event.

use super::met::Met;
use super::watch::{Function, Modes, Watch, WatchWork};
use crate::error::{IntegrationError, RunError};
use crate::events::{AccumulationWatch, Contacts, EventParams, LocationSettings, SwitchingFunction};
use crate::integrators::{Integration, IntegratorParams};
use crate::model::Model;
use crate::report::ContactMode;
use crate::smooth::{ClosedContact, Effort, MotionPoint, Role};
use crate::state::State;
use crate::systems::{Instant, Scratch};
use crate::user_events::EventAction;

/// Parts of a step at whose ends the watched functions are looked at.
const PARTS: usize = 4;

/// Factor of a step whose dense output was too coarse for its events.
const SHORTER: f64 = 0.25;

/// A motion under contact modes.
pub(in crate::strategies) struct Motion<'m> {
    pub model: &'m Model,
    pub settings: EventParams,
    pub integration: Integration<'m>,
    pub contacts: Contacts<'m>,
    /// Mode of each contact.
    pub modes: Vec<ContactMode>,
    /// Direction of slip of each sliding contact, unit, in its tangents.
    pub directions: Vec<[f64; 2]>,
    /// Contacts in the equations, in their order there.
    pub closed: Vec<usize>,
    /// Piece in use of each interaction of the model.
    pub pieces: Vec<usize>,
    /// The efforts between bounds with their roles; empty until these are found.
    pub efforts: Vec<Effort>,
    /// Signs of loads of one row that have just passed zero, by effort.
    pub(super) load_signs: Vec<Option<f64>>,
    /// Signs that make the user's functions, and the switching functions, positive.
    user_signs: Vec<f64>,
    pub(super) switch_signs: Vec<f64>,
    pub(super) switches: Vec<SwitchingFunction>,
    /// Impacts of each contact so far.
    pub impact_times: Vec<AccumulationWatch>,
    /// When the impacts of a contact that accumulate would end \[s\].
    pub predicted_end: Vec<Option<f64>>,
    /// Order of the integrator.
    pub order: f64,
    /// Its absolute and relative tolerances of velocities.
    pub(super) tolerances: (f64, f64),
    /// What is watched in the present step.
    pub(super) functions: Vec<Function>,
    forces: Vec<[f64; 3]>,
    effort_forces: Vec<[f64; 3]>,
    watch: WatchWork,
    pub(super) scratch: Scratch,
}

impl<'m> Motion<'m> {
    /// A motion from a state with all contacts open; [`Motion::settle`] finds the modes.
    pub fn new(model: &'m Model, state: &State, integrator: &IntegratorParams, settings: &EventParams) -> Result<Self, RunError> {
        let contacts = Contacts::new(model);
        let mut integration = Integration::new(model, state, integrator)?;
        integration.equations().slip_threshold = settings.slip;
        let orders = (integrator.kind.entry().orders)(integrator);
        let n = contacts.len();
        let mut motion = Motion {
            model,
            settings: *settings,
            integration,
            contacts,
            modes: vec![ContactMode::Open; n],
            directions: vec![[1.0, 0.0]; n],
            closed: Vec::new(),
            pieces: vec![0; model.interactions().len()],
            efforts: Vec::new(),
            load_signs: Vec::new(),
            user_signs: Vec::new(),
            switch_signs: Vec::new(),
            switches: SwitchingFunction::of(model),
            impact_times: Vec::new(),
            predicted_end: Vec::new(),
            order: orders.position.min(orders.velocity),
            tolerances: (
                integrator.absolute_tolerance.unwrap_or(integrator.tolerance),
                integrator.relative_tolerance.unwrap_or(integrator.tolerance),
            ),
            functions: Vec::new(),
            forces: Vec::new(),
            effort_forces: Vec::new(),
            watch: WatchWork::default(),
            scratch: Scratch::default(),
        };
        motion.read_signs()?;
        motion.read_pieces()?;
        Ok(motion)
    }

    /// The state reached.
    pub fn state(&self) -> State {
        self.integration.point().state()
    }

    /// Time reached \[s\].
    pub fn t(&self) -> f64 {
        self.integration.point().t
    }

    /// Looks for contacts that may close within `horizon` seconds.
    pub(crate) fn find_contacts(&mut self, horizon: f64) -> Result<(), RunError> {
        let point = self.integration.point();
        let at = Instant { t: point.t, q: &point.q, v: &point.v };
        self.contacts.find(at, horizon).map_err(|source| IntegrationError::NonFinite { t: point.t, source })?;
        self.modes.resize(self.contacts.len(), ContactMode::Open);
        self.directions.resize(self.contacts.len(), [1.0, 0.0]);
        Ok(())
    }

    /// One step of the integrator, not beyond `limit`, or to the first event within it.
    pub fn step(&mut self, limit: f64) -> Result<Option<Met>, RunError> {
        let t_start = self.t();
        let limit = self.before_switches(limit)?;
        let horizon = 2.0 * self.integration.next_step().min(limit - t_start);
        self.find_contacts(horizon)?;
        self.follow_slip()?;
        self.choose_functions()?;
        self.integration.step(limit)?;
        let known = self.contacts.len();
        self.find_contacts(horizon)?;
        self.functions.extend((known..self.contacts.len()).map(|contact| Function::Gap { contact }));
        let h = self.t() - t_start;
        let location = LocationSettings {
            method: self.settings.location,
            time: self.settings.time,
            samples: PARTS,
            precision: h.min(1.0).powf(self.order).min(h),
        };
        let located = self.locate(t_start, &location)?;
        if located.is_none() {
            // what the dense output promised was not there: it is too coarse
            self.integration.plan(SHORTER * h);
        }
        let (mut functions, grazing) = located.unwrap_or_default();
        if functions.is_empty() {
            functions = self.lost_slips()?;
        }
        let mut met = Met { functions, grazing, step: h, approach: 0.0 };
        if met.functions.is_empty() {
            return Ok(Some(met).filter(|met| !met.grazing.is_empty()));
        }
        self.integration.plan(h);
        let state = self.state();
        for function in &met.functions {
            match *function {
                Function::Gap { contact } => met.approach = met.approach.max(-self.velocity(contact, &state)?[0]),
                Function::User { event, .. } => self.user_signs[event] *= -1.0,
                Function::Switch { function, .. } => self.switch_signs[function] *= -1.0,
                Function::Load { effort, sign } => self.load_signs[effort] = Some(-sign),
                _ => {}
            }
        }
        Ok(Some(met))
    }

    /// Does something with the watched functions on the last step.
    pub(super) fn watching<R>(&mut self, work: impl FnOnce(&mut Watch<'_, 'm>) -> R) -> R {
        let modes =
            Modes { modes: &self.modes, directions: &self.directions, closed: &self.closed, pieces: &self.pieces, efforts: &self.efforts };
        let mut watch = Watch {
            model: self.model,
            integration: &mut self.integration,
            contacts: &mut self.contacts,
            functions: &self.functions,
            switches: &self.switches,
            settings: &self.settings,
            modes,
            work: &mut self.watch,
        };
        work(&mut watch)
    }

    /// Takes the directions in which contacts slide at the start of a step from the equations.
    fn follow_slip(&mut self) -> Result<(), RunError> {
        let point = self.integration.point().clone();
        let equations = self.integration.equations();
        equations.update_directions(&point)?;
        for (&c, closed) in self.closed.iter().zip(equations.closed()) {
            if let Role::Sliding { direction } = closed.role {
                self.directions[c] = direction;
            }
        }
        self.efforts.copy_from_slice(equations.efforts());
        Ok(())
    }

    /// The functions to watch in the next step.
    fn choose_functions(&mut self) -> Result<(), RunError> {
        self.functions.clear();
        let open = (0..self.contacts.len()).filter(|&c| !self.modes[c].is_closed());
        self.functions.extend(open.map(|contact| Function::Gap { contact }));
        let unique = self.integration.equations().forces_are_unique();
        for (k, &contact) in self.closed.iter().enumerate() {
            if unique {
                self.functions.push(Function::Normal { contact, k });
            }
            match self.modes[contact] {
                ContactMode::Sticking if unique => self.functions.push(Function::Cone { contact, k }),
                ContactMode::Sliding => self.functions.push(Function::Slip { contact, direction: self.directions[contact] }),
                _ => {}
            }
        }
        self.watch_efforts(unique)?;
        if !unique {
            self.functions.push(Function::Confirmed);
        }
        for (interaction, &piece) in self.pieces.iter().enumerate() {
            if self.model.interactions()[interaction].relation().n_pieces() > 1 {
                self.functions.push(Function::Edge { interaction, piece });
            }
        }
        self.functions.extend(self.user_signs.iter().enumerate().map(|(event, &sign)| Function::User { event, sign }));
        self.functions.extend(self.switch_signs.iter().enumerate().map(|(function, &sign)| Function::Switch { function, sign }));
        if !(self.closed.is_empty() && self.efforts.is_empty()) {
            let point = self.integration.point().clone();
            self.integration.equations().contact_forces(&point, &mut self.forces)?;
            self.integration.equations().effort_forces(&point, &mut self.effort_forces)?;
            self.watch.measure(&self.forces, &self.effort_forces);
        }
        Ok(())
    }

    /// The signs of the user's functions and of the switching functions at the state reached.
    pub(crate) fn read_signs(&mut self) -> Result<(), RunError> {
        let MotionPoint { t, q, v, a, .. } = self.integration.point();
        let at = Instant { t: *t, q, v };
        let located = |source| IntegrationError::NonFinite { t: at.t, source };
        let systems = self.model.systems();
        self.user_signs.clear();
        for event in self.model.events() {
            self.user_signs.push(event.sample(systems, at, Some(a), &mut self.scratch).map_err(located)?.side(self.settings.time));
        }
        self.switch_signs.clear();
        for function in &self.switches {
            self.switch_signs.push(function.sample(self.model, at, Some(a), &mut self.scratch).map_err(located)?.side(self.settings.time));
        }
        Ok(())
    }

    /// The pieces in use at the state reached.
    pub(crate) fn read_pieces(&mut self) -> Result<(), RunError> {
        let MotionPoint { t, q, .. } = self.integration.point();
        for (interaction, piece) in self.model.interactions().iter().zip(&mut self.pieces) {
            let found = interaction.relation().piece_at(*t, q, &mut self.scratch);
            *piece = found.map_err(|source| IntegrationError::NonFinite { t: *t, source })?;
        }
        self.integration.equations().set_pieces(&self.pieces);
        Ok(())
    }

    /// The user's functions that changed their sign by a jump of the velocities.
    pub(crate) fn jumped_events(&mut self) -> Result<Vec<usize>, RunError> {
        let before = self.user_signs.clone();
        self.read_signs()?;
        Ok((0..before.len()).filter(|&i| before[i] != self.user_signs[i]).collect())
    }

    /// Takes modes into the equations and goes on from a state, projected on the closed contacts, the efforts that are held and the constraints.
    pub fn resume(&mut self, state: &State, modes: &[(usize, ContactMode, [f64; 2])], efforts: Vec<Effort>) -> Result<(), RunError> {
        self.efforts.clone_from(&efforts);
        self.modes.fill(ContactMode::Open);
        self.closed.clear();
        let mut closed = Vec::with_capacity(modes.len());
        for &(c, mode, direction) in modes {
            self.modes[c] = mode;
            self.directions[c] = direction;
            let role = match mode {
                ContactMode::Open | ContactMode::Touching => continue,
                ContactMode::Closed => Role::Normal,
                ContactMode::Sticking => Role::Sticking,
                ContactMode::Sliding => Role::Sliding { direction },
            };
            self.closed.push(c);
            closed.push(ClosedContact { interaction: self.contacts.interaction(c), role });
        }
        let planned = self.integration.next_step();
        let equations = self.integration.equations();
        equations.set_pieces(&self.pieces);
        equations.set_closed(closed);
        equations.set_efforts(efforts);
        self.integration.resume(state, crate::smooth::Projection::Both)?;
        self.integration.equations().check_loads()?;
        self.integration.plan(planned);
        Ok(())
    }

    /// Goes on from a state that was reached otherwise; modes are those of before until they are settled.
    pub(crate) fn go_on_from(&mut self, state: &State) -> Result<(), RunError> {
        let equations = self.integration.equations();
        equations.set_closed(Vec::new());
        self.closed.clear();
        self.integration.restart(state)?;
        self.read_signs()?;
        self.read_pieces()
    }

    /// Time of the last impact of a contact \[s\].
    pub(crate) fn last_impact(&self, contact: usize) -> Option<f64> {
        self.impact_times.get(contact).and_then(AccumulationWatch::last)
    }

    /// The interaction is a constraint, or a closed contact.
    pub(crate) fn is_constrained(&self, interaction: usize) -> bool {
        self.model.interactions()[interaction].is_bilateral()
            || self.contacts.of_interaction(interaction).is_some_and(|contact| self.modes[contact].is_closed())
    }

    /// The motion begins anew where this function vanishes.
    pub fn restarts(&self, function: &Function) -> bool {
        match *function {
            Function::User { event, .. } => self.model.events()[event].source().action == EventAction::Restart,
            _ => true,
        }
    }

    /// The user's function that crossed zero fell.
    pub(crate) fn fell(&self, event: usize) -> bool {
        self.user_signs[event] < 0.0
    }

    /// What happened, in words.
    pub fn describe(&self, met: &Met) -> String {
        let name = |function: &Function| match *function {
            Function::Gap { contact }
            | Function::Normal { contact, .. }
            | Function::Cone { contact, .. }
            | Function::Slip { contact, .. } => {
                format!("\"{}\"", self.contacts.name(contact))
            }
            Function::Bound { effort, .. } | Function::Turn { effort, .. } | Function::Load { effort, .. } => {
                format!("\"{}\"", self.effort_name(effort))
            }
            Function::Confirmed => "contacts whose forces are not unique".to_owned(),
            Function::Edge { interaction, .. } => format!("an edge of \"{}\"", self.model.interactions()[interaction].name()),
            Function::User { event, .. } => format!("the event \"{}\"", self.model.events()[event].source().name),
            Function::Switch { .. } => "a switch of a formula".to_owned(),
        };
        let names: Vec<String> = met.functions.iter().map(name).collect();
        if names.is_empty() { "a time event".to_owned() } else { names.join(", ") }
    }
}
