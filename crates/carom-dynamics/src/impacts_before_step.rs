//! Impacts at the start of a step: which contacts take part, what becomes of the state.

use crate::active_set::{ActiveSet, ActiveSource};
use crate::assembly::{Activation, GAIN_TOLERANCE, at_time, detect_contacts, evaluate_candidates, select_active};
use crate::block_diagonal::BlockFactor;
use crate::detection::ContactKey;
use crate::error::StepError;
use crate::impacts::{ImpactBlock, ImpactOutcome, ImpactProblem, Resolver};
use crate::memory::StepMemory;
use crate::model::Model;
use crate::recording::{ContactRecord, Source};
use crate::report::{ContactMode, ImpactReport, StepReport};
use crate::schemes::Scheme;
use crate::state::State;
use carom_solvers::{BlockSparse, Delassus, SolveError};

/// Contacts that approach more slowly than this part of the velocities of the step are at rest: solvers leave that much.
const AT_REST: f64 = 1e-8;

/// What impacts before steps need, and what the last one did.
#[derive(Default)]
pub(crate) struct ImpactMemory {
    active: ActiveSet,
    w: BlockSparse,
    mass: Vec<f64>,
    factor: BlockFactor,
    acceleration: Vec<f64>,
    resolver: Option<Resolver>,
    /// Contacts that carried an impulse in the impacts of the last step.
    pub records: Vec<ImpactRecord>,
    /// Laws chosen by chance in the last step.
    pub chosen: Vec<&'static str>,
}

/// A contact in an impact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImpactRecord {
    /// Of a contact between bodies.
    pub key: Option<ContactKey>,
    /// The contact with its impulse and velocity after the impact.
    pub contact: ContactRecord,
    /// Energy that it gave \[J\], negative where it took some.
    pub gain: f64,
}

impl ImpactMemory {
    /// Forgets the impacts of the last step.
    pub(crate) fn begin_step(&mut self) {
        self.records.clear();
        self.chosen.clear();
    }

    fn resolver(&mut self) -> Result<&mut Resolver, SolveError> {
        let resolver = match self.resolver.take() {
            Some(resolver) => resolver,
            None => Resolver::new()?,
        };
        Ok(self.resolver.insert(resolver))
    }
}

/// (q_k, v_k) => v⁺ where contacts that the scheme takes as closed approach; energies and the contact to blame go to `report`.
pub(crate) fn resolve_before_step(
    scheme: &dyn Scheme,
    model: &Model,
    state: &mut State,
    memory: &mut StepMemory,
    h: f64,
    report: &mut StepReport,
) -> Result<(), StepError> {
    let located = at_time(state.t);
    let horizon = scheme.foresight() * h;
    detect_contacts(model, state, memory, horizon).map_err(&located)?;
    evaluate_candidates(model, state, memory).map_err(&located)?;
    // the scheme's own active set stays as it is, since W may be reused
    let mut impacts = std::mem::take(&mut memory.impacts);
    std::mem::swap(&mut memory.active, &mut impacts.active);
    select_active(model, state, memory, Activation { horizon, step: 0.0, threshold: scheme.activation_threshold() });
    std::mem::swap(&mut memory.active, &mut impacts.active);
    let result = impacts.resolve(model, state, memory, h, report);
    memory.impacts = impacts;
    result
}

impl ImpactMemory {
    fn resolve(
        &mut self,
        model: &Model,
        state: &mut State,
        memory: &mut StepMemory,
        h: f64,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let normal_velocities = |active: &ActiveSet| {
            let contacts = active.items().iter().filter(|item| item.law.is_contact());
            contacts.fold(0.0_f64, |least, item| least.min(active.velocity_start()[item.rows.start]))
        };
        let fastest = normal_velocities(&self.active);
        if fastest >= 0.0 {
            return Ok(());
        }
        let (systems, layout, located) = (model.systems(), model.systems().layout(), at_time(state.t));
        self.mass.resize(layout.n_values(), 0.0);
        systems.mass(state.t, &state.q, &mut self.mass, &mut memory.scratch).map_err(&located)?;
        self.factor.factorise(layout, &self.mass).map_err(|singular| StepError::SingularIterationMatrix {
            t: state.t,
            system: systems.velocities().name(layout.rows[singular.block]),
            block: singular.block,
        })?;
        // at rest: slower than what the forces of a step and the velocities can be known to
        let force = &mut memory.work.force_start;
        model.force(state.t, &state.q, &state.v, force, &mut memory.scratch).map_err(&located)?;
        self.acceleration.resize(state.v.len(), 0.0);
        self.factor.solve(layout, force, &mut self.acceleration);
        let scale = self.active.largest_product(layout, &state.v) + h * self.active.largest_product(layout, &self.acceleration);
        let rest = AT_REST * scale;
        if fastest >= -rest {
            return Ok(());
        }
        self.active.compute_response(layout, &self.factor);
        self.active.assemble_delassus(layout, &mut self.w);
        let mut velocity = self.active.velocity_start().to_vec();
        let mut blocks = Vec::with_capacity(self.active.items().len());
        let mut held = Vec::new();
        for item in self.active.items() {
            let mut block = ImpactBlock { law: item.law, rows: item.rows.clone(), block: item.block };
            if block.hold_rigid() {
                velocity[item.rows.clone()].fill(0.0);
                held.extend(item.rows.clone());
            }
            blocks.push(block);
        }
        let problem = ImpactProblem { w: Delassus::BlockSparse(std::mem::take(&mut self.w)), velocity, blocks };
        let outcome = self.resolver().and_then(|resolver| {
            resolver.draws = state.draws;
            let outcome = resolver.resolve_above(&problem, model.impact_law(), rest);
            state.draws = resolver.draws;
            outcome
        });
        let outcome = outcome.map_err(|source| StepError::Solve { t: state.t, source })?;
        self.active.add_response(layout, &outcome.impulses, &mut state.v);
        if let Delassus::BlockSparse(w) = problem.w {
            self.w = w;
        }

        let [normal, tangential] = outcome.total_dissipated();
        report.dissipated_impact += normal;
        report.dissipated_friction += tangential;
        report.work -= self.active.bias().iter().zip(&outcome.impulses).map(|(b, p)| b * p).sum::<f64>();
        report.work += held.iter().map(|&row| self.active.velocity_start()[row] * outcome.impulses[row]).sum::<f64>();
        let contacts = outcome.involved.iter().zip(self.active.items()).filter(|(involved, item)| **involved && item.law.is_contact());
        report.impacts =
            ImpactReport { contacts: contacts.count(), iterations: outcome.iterations, residual: outcome.residual, failed: outcome.failed };
        let exchanged: f64 = outcome.impulses.iter().zip(&problem.velocity).map(|(p, u)| (p * u).abs()).sum();
        if outcome.gain() > GAIN_TOLERANCE * exchanged {
            report.impact_gain += outcome.gain();
        }
        self.chosen.extend_from_slice(&outcome.chosen);
        self.keep_records(memory, &outcome);
        if report.impact_gain > 0.0 {
            let worst = self.records.iter().max_by(|a, b| a.gain.total_cmp(&b.gain));
            memory.giver = worst.map(|record| (record.contact.source, record.contact.impulse[0]));
        }
        Ok(())
    }

    fn keep_records(&mut self, memory: &StepMemory, outcome: &ImpactOutcome) {
        for (i, item) in self.active.items().iter().enumerate() {
            let rows = item.rows.clone();
            if outcome.impulses[rows.clone()].iter().all(|p| *p == 0.0) {
                continue;
            }
            let (mut velocity, mut impulse) = ([0.0; 6], [0.0; 6]);
            velocity[..rows.len()].copy_from_slice(&outcome.velocity[rows.clone()]);
            impulse[..rows.len()].copy_from_slice(&outcome.impulses[rows.clone()]);
            for (k, factor) in item.stretched_rows() {
                velocity[k] /= factor;
                impulse[k] *= factor;
            }
            let (key, source, point, normal) = match item.source {
                ActiveSource::Interaction(k) => (None, Source::Interaction(k as u32), Default::default(), Default::default()),
                ActiveSource::Contact(k) => {
                    let contact = &memory.contacts[k];
                    (Some(contact.key), Source::Colliders(contact.key.collider_a, contact.key.collider_b), contact.point, contact.normal)
                }
            };
            let mode = ContactMode::Touching;
            let contact = ContactRecord { source, dim: rows.len(), gap: item.gap, velocity, impulse, force: [0.0; 6], mode, point, normal };
            let gain = -outcome.dissipated[i][0] - outcome.dissipated[i][1];
            self.records.push(ImpactRecord { key, contact, gain });
        }
    }
}
