//! The projection of positions on joints and contacts, shared by the schemes that impose their laws on velocities.
//!
//! From a state (t, q) it moves the bodies until constraints and contacts hold to the tolerance. Each iteration linearises them at the
//! present q and takes the smallest displacement in the chosen metric N (the mass matrix, or the identity),
//!
//! ```text
//! min ½ δᵀ N δ   with   g + G δ = 0  (constraints, contacts that must touch),   g + G δ ≥ 0  (other contacts)
//! δ = N⁻¹ Gᵀ τ,   G N⁻¹ Gᵀ τ + g = 0  or  0 ≤ G N⁻¹ Gᵀ τ + g ⟂ τ ≥ 0,   q ← q ⊕ δ
//! ```
//!
//! a frictionless one-step problem for the solver of the run (scaled by 1/h, so that it has the units of velocities), until |g| and the
//! penetration are below the tolerance [Brogliato2002, eq. 59], [Acary, CMAME 256, 2013]. It differs from Siconos only in the metric: the
//! identity there, here the mass matrix unless asked otherwise. Contacts further off than twice the largest violation are left out of an
//! iteration; the next one sees them if they have come near. Contacts of bodies are detected anew in every iteration: normals and nearest
//! features turn with the bodies, and a gap that was only linearised would not converge to the tolerance for curved or turning bodies.
//! Nonholonomic constraints have no position and are left out. Redundant and contradictory rows are a matter of the solver: the former are
//! solved, the latter leave a violation, which is reported.
//!
//! Velocities stay as they are. The displacement changes the potential energy (by a term of the order of the drift it removes), and with
//! M(q) the kinetic energy: no force works for it, so that it appears in the energy error of the certificate.

use super::settings::{check_position_tolerance, require};
use super::stages::check_finite;
use crate::active_set::{ActiveSet, ActiveSource};
use crate::assembly::at_time;
use crate::block_diagonal::BlockFactor;
use crate::detection::{ContactKey, ContactPoint, WORLD};
use crate::error::{ModelError, NonFinite, StepError};
use crate::laws::Law;
use crate::memory::StepMemory;
use crate::model::Model;
use crate::relations::Rows;
use crate::relations::contact::{BodyStates, write_jacobian};
use crate::report::ProjectionReport;
use crate::state::State;
use crate::systems::Instant;
use carom_solvers::{Block, BlockSparse, Delassus, FrictionContact, Solution};
use serde::{Deserialize, Serialize};

/// What "smallest displacement" means in a projection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// δᵀ M(q) δ: light parts move more than heavy ones, whatever the coordinates and units.
    #[default]
    Mass,
    /// δᵀ δ of the coordinates, metres and radians alike: the metric of the published runs of Siconos.
    Coordinates,
}

/// Settings of a projection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Projection {
    pub tolerance: f64,
    pub max_iterations: usize,
    pub metric: Metric,
}

impl Projection {
    /// Checks the ranges.
    pub fn validate(&self) -> Result<(), ModelError> {
        check_position_tolerance(self.tolerance)?;
        require(self.max_iterations > 0, "max_projections", self.max_iterations as f64, "at least 1 is needed")
    }
}

/// A contact of the model, or of bodies by the identity of its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Interaction(usize),
    Contact(ContactKey),
}

/// What the projection demands of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Demand {
    /// g = 0.
    Touch,
    /// g ≥ 0.
    NoPenetration,
    /// Nothing.
    Nothing,
}

impl Demand {
    /// How far a gap violates it.
    fn violation(self, gap: f64) -> f64 {
        match self {
            Demand::Touch => gap.abs(),
            Demand::NoPenetration => (-gap).max(0.0),
            Demand::Nothing => 0.0,
        }
    }
}

/// Work arrays of projections; nothing is allocated once warm.
pub(super) struct Projector {
    active: ActiveSet,
    problem: FrictionContact,
    solution: Solution,
    metric: Vec<f64>,
    factor: BlockFactor,
    /// g of all interactions by formula, in the rows of the candidates.
    position: Vec<f64>,
    contacts: Vec<ContactPoint>,
    displacement: Vec<f64>,
    q: Vec<f64>,
    /// Contacts that were asked for no penetration only and were pushed apart.
    pub pushed: Vec<Place>,
}

impl Default for Projector {
    fn default() -> Self {
        Projector {
            active: ActiveSet::default(),
            problem: FrictionContact { w: Delassus::BlockSparse(BlockSparse::new()), q: Vec::new(), blocks: Vec::new() },
            solution: Solution { r: Vec::new(), u: Vec::new() },
            metric: Vec::new(),
            factor: BlockFactor::default(),
            position: Vec::new(),
            contacts: Vec::new(),
            displacement: Vec::new(),
            q: Vec::new(),
            pushed: Vec::new(),
        }
    }
}

impl Projector {
    /// Projects `state.q`, the positions at `state.t + h`, on all holonomic constraints and on the contacts as `demand` says.
    pub fn project(
        &mut self,
        model: &Model,
        state: &mut State,
        memory: &mut StepMemory,
        settings: (&Projection, f64),
        demand: impl Fn(Place) -> Demand,
    ) -> Result<ProjectionReport, StepError> {
        let (settings, h) = settings;
        let (t, located) = (state.t + h, at_time(state.t + h));
        let mut report = ProjectionReport::default();
        self.pushed.clear();
        loop {
            // (t, q) => g, contacts between bodies, violation
            report.violation = self.measure(model, state, memory, h, &demand).map_err(&located)?;
            report.converged = report.violation <= settings.tolerance;
            if report.converged || report.iterations == settings.max_iterations {
                return Ok(report);
            }
            // (t, q) => G, N, W => τ => δ
            self.select(model, t, state, memory, (h, 2.0 * report.violation), &demand).map_err(&located)?;
            self.factorise(model, t, state, memory, settings.metric)?;
            self.solve(model, t, memory, h)?;
            self.q.clone_from(&state.q);
            model.systems().advance(&self.q, &self.displacement, &mut state.q);
            check_finite(model, state).map_err(&located)?;
            report.iterations += 1;
        }
    }

    /// Gaps at the present q, and how far they are from what is demanded.
    fn measure(
        &mut self,
        model: &Model,
        state: &State,
        memory: &mut StepMemory,
        h: f64,
        demand: &impl Fn(Place) -> Demand,
    ) -> Result<f64, NonFinite> {
        let StepMemory { candidates: c, scratch, detector, .. } = memory;
        let mut worst = 0.0_f64;
        self.position.resize(c.position.len(), 0.0);
        for (i, interaction) in model.interactions().iter().enumerate() {
            let relation = interaction.relation();
            if !relation.is_holonomic() {
                continue;
            }
            let g = &mut self.position[c.rows[i]..c.rows[i + 1]];
            relation.position(state.t + h, &state.q, g, scratch)?;
            if interaction.is_bilateral() {
                worst = g.iter().fold(worst, |worst, g| worst.max(g.abs()));
            } else if interaction.is_contact() {
                worst = worst.max(demand(Place::Interaction(i)).violation(g[0]));
            }
        }
        self.contacts.clear();
        if let (Some(detector), Some(bodies)) = (detector, model.systems().bodies()) {
            let at = Instant { t: state.t + h, q: &state.q[bodies.q.clone()], v: &state.v[bodies.v.clone()] };
            detector.detect(at, h, &mut self.contacts)?;
        }
        for contact in &self.contacts {
            worst = worst.max(demand(Place::Contact(contact.key)).violation(contact.gap));
        }
        Ok(worst)
    }

    /// Rows of G at (t, q) with g/h of every constraint and of the contacts nearer than `near.1`, for a step of size `near.0`.
    fn select(
        &mut self,
        model: &Model,
        t: f64,
        state: &State,
        memory: &mut StepMemory,
        near: (f64, f64),
        demand: &impl Fn(Place) -> Demand,
    ) -> Result<(), NonFinite> {
        let StepMemory { candidates: c, scratch, .. } = memory;
        let ((h, margin), layout) = (near, model.systems().layout());
        let wanted = |place: Place, gap: f64| match demand(place) {
            Demand::Touch => Some(Block::Bilateral { dim: 1 }),
            Demand::NoPenetration if gap <= margin => Some(Block::Unilateral),
            _ => None,
        };
        self.active.clear();
        for (i, interaction) in model.interactions().iter().enumerate() {
            let relation = interaction.relation();
            let g = &self.position[c.rows[i]..c.rows[i + 1]];
            let block = if interaction.is_bilateral() {
                relation.is_holonomic().then_some(Block::Bilateral { dim: g.len() })
            } else if interaction.is_contact() {
                wanted(Place::Interaction(i), g[0])
            } else {
                None
            };
            let Some(block) = block else { continue };
            let jacobian = &mut c.jacobian[c.entries[i]..c.entries[i + 1]];
            if !relation.is_constant() {
                let mut bias = [0.0; Block::MAX_DIM];
                relation.jacobian(t, &state.q, Rows { jacobian: &mut *jacobian, bias: &mut bias[..g.len()] }, scratch)?;
            }
            let dim = block.dim();
            let blocks = interaction.blocks().iter().copied();
            let item = self.active.push(ActiveSource::Interaction(i), *interaction.law(), g[0], dim, blocks, layout);
            interaction.spread(&jacobian[..dim * relation.velocities().len()], self.active.rows_mut(item).0);
            self.active.items_mut()[item].block = block;
            let rows = self.active.items()[item].rows.clone();
            for (shift, g) in self.active.shift_mut()[rows].iter_mut().zip(g) {
                *shift = g / h;
            }
        }
        let Some(bodies) = model.systems().bodies() else { return Ok(()) };
        let (q, v) = (&state.q[bodies.q.clone()], &state.v[bodies.v.clone()]);
        for (i, contact) in self.contacts.iter().enumerate() {
            let Some(block) = wanted(Place::Contact(contact.key), contact.gap) else { continue };
            let touched = [contact.body_a, contact.body_b].into_iter().filter(|&body| body != WORLD);
            let touched = touched.flat_map(|body| [0, 1].map(|k| bodies.first_block as u32 + 2 * body + k));
            let item =
                self.active.push(ActiveSource::Contact(i), Law::Contact(*model.contact_law(contact)), contact.gap, 1, touched, layout);
            write_jacobian(contact, &BodyStates { q, v, lead: 0.0 }, 1, self.active.rows_mut(item).0);
            self.active.items_mut()[item].block = block;
            let row = self.active.items()[item].rows.start;
            self.active.shift_mut()[row] = contact.gap / h;
        }
        Ok(())
    }

    /// The metric at (t, q), factorised.
    fn factorise(&mut self, model: &Model, t: f64, state: &State, memory: &mut StepMemory, metric: Metric) -> Result<(), StepError> {
        let (systems, layout) = (model.systems(), model.systems().layout());
        self.metric.resize(layout.n_values(), 0.0);
        match metric {
            Metric::Mass => systems.mass(t, &state.q, &mut self.metric, &mut memory.scratch).map_err(at_time(t))?,
            Metric::Coordinates => {
                self.metric.fill(0.0);
                for block in 0..layout.n_blocks() {
                    let diagonal = self.metric[layout.values[block]..layout.values[block + 1]].iter_mut().step_by(layout.size(block) + 1);
                    diagonal.for_each(|value| *value = 1.0);
                }
            }
        }
        self.factor.factorise(layout, &self.metric).map_err(|singular| StepError::SingularIterationMatrix {
            t,
            system: systems.velocities().name(layout.rows[singular.block]),
            block: singular.block,
        })
    }

    /// W τ/h + g/h => τ/h => δ = N⁻¹ Gᵀ τ, in `displacement`.
    fn solve(&mut self, model: &Model, t: f64, memory: &mut StepMemory, h: f64) -> Result<(), StepError> {
        let Projector { active, problem, solution, .. } = self;
        let layout = model.systems().layout();
        active.compute_response(layout, &self.factor);
        if let Delassus::BlockSparse(w) = &mut problem.w {
            active.assemble_delassus(layout, w);
        }
        problem.q.clear();
        problem.q.extend_from_slice(active.shift());
        problem.blocks.clear();
        problem.blocks.extend(active.items().iter().map(|item| item.block));
        solution.r.clear();
        solution.r.resize(problem.q.len(), 0.0);
        memory.solver.solve(problem, solution).map_err(|source| StepError::Solve { t, source })?;
        for item in active.items() {
            if item.block == Block::Unilateral && solution.r[item.rows.start] > 0.0 {
                self.pushed.push(match item.source {
                    ActiveSource::Interaction(i) => Place::Interaction(i),
                    ActiveSource::Contact(i) => Place::Contact(self.contacts[i].key),
                });
            }
        }
        solution.r.iter_mut().for_each(|r| *r *= h);
        self.displacement.clear();
        self.displacement.resize(layout.n_rows(), 0.0);
        active.add_response(layout, &solution.r, &mut self.displacement);
        Ok(())
    }
}
