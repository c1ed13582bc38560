//! Joints held on positions and velocities by schemes of the trapezoidal rule.
//!
//! A joint that is imposed on velocities with its reaction along G at one end of the step drifts and loses energy, both by O(h). Here the reaction
//! acts along the mean of G at the two ends, and the positions are projected on the joint in the same directions,
//!
//! ```text
//! M (v_{k+1} − v_k) = … + ½ (G_k + G_{k+1})ᵀ p,                      G_{k+1} v_{k+1} + b = 0
//! q_{k+1} = q_k ⊕ [… + ½ M⁻¹ (G_k + G_{k+1})ᵀ σ],                    g(t_{k+1}, q_{k+1}) = 0
//! ```
//!
//! with one multiplier for the velocities and one for the positions, as Gear, Gupta and Leimkuhler do (J. Comput. Appl. Math. 12, 1985). The step is
//! its own inverse when time runs backwards, as that of RATTLE (H. C. Andersen, J. Comput. Phys. 52, 1983) is: of order 2, and without drift of the energy in reversible
//! motion. It differs from RATTLE in that forces are those of the trapezoidal rule, so that stiff ones are taken implicitly.
//!
//! Where joints carry much (a heavy end on a chain of light links) the turning of their reactions is a stiffness of its own, −½ hβ ∂(Gᵀp)/∂q; its positive part within the blocks
//! of M̂, with the reactions of the last step, makes Newton's iteration converge there too.
//!
//! σ is found by simplified Newton steps with the factor of G_k M⁻¹ G_kᵀ, which is sparse and leaves redundant rows out; they converge by a factor
//! O(h) each. Where joints alone act the factor is that of G M⁻¹ Hᵀ with the mean rows H and G of the foreseen end: a chain with a heavy end makes the other one
//! slow. Constraints on velocities alone (rolling) take part in the first line only.

use super::joint_newton::JointNewton;
use super::step_history::StepHistory;
use crate::active_set::{ActiveSet, ActiveSource};
use crate::assembly::at_time;
use crate::block_diagonal::{BlockFactor, BlockLayout, keep_positive_part};
use crate::checkpoint::{Bytes, CheckpointError, Reader};
use crate::error::{NonFinite, StepError};
use crate::memory::{OneStep, StepMemory};
use crate::model::Model;
use crate::report::ProjectionReport;
use crate::state::State;
use crate::systems::Scratch;
use carom_solvers::BlockSparse;
use carom_solvers::linear::BilateralFactor;

/// The joints of a step; nothing is allocated once warm.
#[derive(Debug, Default)]
pub(super) struct JointPositions {
    held: Vec<Held>,
    /// Rows of G_k, with M⁻¹ G_kᵀ.
    start: ActiveSet,
    w: BlockSparse,
    factor: BilateralFactor,
    mass: BlockFactor,
    mass_ready: bool,
    /// Geometric stiffness in the layout of M̂; empty where it does not count.
    stiffness: Vec<f64>,
    curvature: Vec<f64>,
    /// −½ hβ.
    turning: f64,
    /// The last steps, and the impulses of this one that they tell, over the rows of `start`: a first guess.
    history: StepHistory,
    guess: Vec<f64>,
    /// Newton's iteration where joints alone act.
    pub newton: JointNewton,
    /// σ over the rows of `start`.
    sigma: Vec<f64>,
    position: Vec<f64>,
    /// Values over the rows of `start` and of the active set.
    local: (Vec<f64>, Vec<f64>),
    reaction: Vec<f64>,
    /// ½ M⁻¹ (G_k + G_{k+1})ᵀ σ.
    shift: Vec<f64>,
    total: Vec<f64>,
}

/// A joint of the step.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// Number of its interaction, and its place in the active set.
    interaction: usize,
    place: usize,
    holonomic: bool,
}

/// How far positions may be off, and how many displacements there may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closeness {
    pub tolerance: f64,
    pub max_iterations: usize,
}

/// Part of the mass from which the turning of reactions counts: below, the iteration without it converges by this factor.
const TURNS: f64 = 1e-3;

impl JointPositions {
    /// No joints are held in this step.
    pub fn release(&mut self) {
        self.held.clear();
    }

    /// Joints are held.
    pub fn is_held(&self) -> bool {
        !self.held.is_empty()
    }

    /// G_k of the joints, in the order of the active set.
    pub fn start_rows(&self) -> &ActiveSet {
        &self.start
    }

    /// Takes the constraints of the active set, with their rows at the start of the step, which is `turning.0` long with the weight `turning.1` of its end in
    /// the positions. `matrices.mass` holds M. The projection needs one of [`JointPositions::factorise`] and [`JointPositions::factorise_mean`] next.
    pub fn begin(&mut self, model: &Model, t: f64, memory: &mut StepMemory, turning: (f64, f64)) -> Result<(), StepError> {
        let joints = self;
        let StepMemory { active, candidates: c, matrices, warm, work, scratch, .. } = memory;
        let layout = model.systems().layout();
        joints.held.clear();
        joints.start.clear();
        for (place, item) in active.items().iter().enumerate().filter(|(_, item)| item.law.is_bilateral()) {
            let ActiveSource::Interaction(i) = item.source else { continue };
            let interaction = &model.interactions()[i];
            joints.held.push(Held { interaction: i, place, holonomic: interaction.relation().is_holonomic() });
            let blocks = interaction.blocks().iter().copied();
            let row = joints.start.push(item.source, item.law, 0.0, item.rows.len(), blocks, layout);
            interaction.spread(&c.jacobian[c.entries[i]..c.entries[i + 1]], joints.start.rows_mut(row).0);
        }
        if joints.held.is_empty() {
            return Ok(());
        }
        if !(joints.mass_ready && model.systems().mass_is_constant()) {
            joints.mass.factorise(layout, &matrices.mass).map_err(|singular| StepError::SingularIterationMatrix {
                t,
                system: model.systems().velocities().name(layout.rows[singular.block]),
                block: singular.block,
            })?;
            joints.mass_ready = true;
        }
        joints.sigma.clear();
        joints.sigma.resize(joints.start.n_rows(), 0.0);
        joints.shift.clear();
        joints.shift.resize(layout.n_rows(), 0.0);
        joints.turning = -0.5 * turning.0 * turning.1;
        joints.guess.clear();
        joints.guess.resize(joints.start.n_rows(), 0.0);
        if !joints.history.guess_impulses((t, turning.0), &mut joints.guess) {
            for (held, item) in joints.held.iter().zip(joints.start.items()) {
                let n = item.rows.len();
                joints.guess[item.rows.clone()].copy_from_slice(&warm.by_interaction[held.interaction][..n]);
            }
        }
        if !joints.turning_counts(layout, &matrices.mass) {
            joints.stiffness.clear();
            return Ok(());
        }
        let p = std::mem::take(&mut joints.guess);
        let found = joints.find_stiffness(model, (t, &work.q_start), |k, joints| &p[joints.start.items()[k].rows.clone()], scratch);
        joints.guess = p;
        found.map_err(at_time(t))
    }

    /// Factors G_k M⁻¹ G_kᵀ for the projection.
    pub fn factorise(&mut self, layout: &BlockLayout) {
        let JointPositions { start, w, factor, mass, held, .. } = self;
        start.compute_response(layout, mass);
        start.assemble_delassus(layout, w);
        factor.factor(w, |joint| held[joint].holonomic);
    }

    /// Factors G M⁻¹ Hᵀ for the projection, with the rows G of an active set of these joints alone and H = ½ (G_k + G).
    pub(crate) fn factorise_mean(&mut self, layout: &BlockLayout, active: &mut ActiveSet) {
        let JointPositions { start, w, factor, mass, held, .. } = self;
        active.compute_mean_response(layout, mass, start);
        active.assemble_delassus(layout, w);
        factor.factor(w, |joint| held[joint].holonomic);
    }

    /// The turning of the reactions may count: ½ hβ |G||p| beside the entries of M, as far as arms tell the size of ∂(Gᵀp)/∂q.
    fn turning_counts(&self, layout: &BlockLayout, mass: &[f64]) -> bool {
        (0..self.start.items().len()).any(|place| {
            let p = &self.guess[self.start.items()[place].rows.clone()];
            self.start.rows_by_block(place).any(|(block, rows)| {
                let n = layout.size(block);
                let least =
                    mass[layout.values[block]..layout.values[block + 1]].iter().step_by(n + 1).fold(f64::INFINITY, |m, x| m.min(x.abs()));
                let size = |row: &[f64]| row[..n].iter().fold(0.0_f64, |most, g| most.max(g.abs()));
                let reaction: f64 = rows.zip(p).map(|(row, p)| size(row) * p.abs()).sum();
                self.turning.abs() * reaction > TURNS * least
            })
        })
    }

    /// The geometric stiffness anew, with the rows and reactions of the present iterate.
    pub fn refresh(&mut self, model: &Model, t: f64, state: &State, memory: &mut StepMemory) -> Result<(), NonFinite> {
        let joints = self;
        let StepMemory { active, scratch, one_step: OneStep { solution, .. }, .. } = memory;
        let of = |k: usize, joints: &Self| active.items()[joints.held[k].place].rows.clone();
        joints.find_stiffness(model, (t, &state.q), |k, joints| &solution.r[of(k, joints)], scratch)
    }

    /// The positive part of −½ hβ ∂(Gᵀp)/∂q within each mass block.
    fn find_stiffness<'a>(
        &mut self,
        model: &Model,
        (t, q): (f64, &[f64]),
        impulse: impl Fn(usize, &Self) -> &'a [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        let (layout, factor) = (model.systems().layout(), self.turning);
        self.stiffness.clear();
        self.stiffness.resize(layout.n_values(), 0.0);
        for (k, held) in self.held.iter().enumerate() {
            let relation = model.interactions()[held.interaction].relation();
            let p = impulse(k, self);
            let velocities = relation.velocities();
            let n = velocities.len();
            if relation.is_constant() || p.iter().all(|p| *p == 0.0) {
                continue;
            }
            self.curvature.clear();
            self.curvature.resize(n * n, 0.0);
            relation.add_curvature(t, q, p, factor, &mut self.curvature, scratch)?;
            for (line, &i) in self.curvature.chunks_exact(n).zip(velocities) {
                let block = layout.block_of_row(i);
                let (rows, size) = (layout.rows[block]..layout.rows[block + 1], layout.size(block));
                for (x, &j) in line.iter().zip(velocities).filter(|(_, j)| rows.contains(*j)) {
                    self.stiffness[layout.values[block] + (i - rows.start) * size + j - rows.start] += x;
                }
            }
        }
        for block in 0..layout.n_blocks() {
            keep_positive_part(layout.size(block), &mut self.stiffness[layout.values[block]..layout.values[block + 1]]);
        }
        Ok(())
    }

    /// The geometric stiffness in the layout of M̂; empty where it does not count.
    pub fn stiffness(&self) -> &[f64] {
        &self.stiffness
    }

    /// Writes what the last steps did.
    pub fn save(&self, out: &mut Bytes) {
        self.history.save(out);
    }

    /// Reads what was saved.
    pub fn load(&mut self, from: &mut Reader<'_>) -> Result<(), CheckpointError> {
        self.history.load(from)
    }

    /// Adds what the velocities will change by, as far as the last steps tell, in a step of the size h from t: a first guess.
    pub fn guess(&self, t: f64, h: f64, v: &mut [f64]) {
        if self.is_held() {
            self.history.add_change((t, h), v);
        }
    }

    /// Writes the guess of the reactions over the rows of the active set, zero for other rows.
    pub(crate) fn guess_reactions(&self, active: &ActiveSet, p: &mut Vec<f64>) {
        p.clear();
        p.resize(active.n_rows(), 0.0);
        for (held, item) in self.held.iter().zip(self.start.items()) {
            p[active.items()[held.place].rows.clone()].copy_from_slice(&self.guess[item.rows.clone()]);
        }
    }

    /// Keeps what a step of the size h from t did, with the impulses p over the rows of the active set.
    pub(crate) fn keep_step(&mut self, (t, h): (f64, f64), velocities: (&[f64], &[f64]), active: &ActiveSet, p: &[f64]) {
        let JointPositions { history, held, .. } = self;
        if !held.is_empty() {
            let impulses = held.iter().flat_map(|held| &p[active.items()[held.place].rows.clone()]);
            history.keep((t, h), velocities, impulses.copied());
        }
    }

    /// Adds ½ (G_k − G_{k+1})ᵀ p to `out`: with G_{k+1}ᵀ p of the one-step problem the reaction is that of the mean rows.
    pub(crate) fn add_mean_reaction(&mut self, model: &Model, active: &ActiveSet, p: &[f64], out: &mut [f64]) {
        // before the first solution of the step there is none
        if !self.is_held() || p.len() != active.n_rows() {
            return;
        }
        let layout = model.systems().layout();
        let (at_start, at_end) = &mut self.local;
        at_start.clear();
        at_end.clear();
        at_end.resize(active.n_rows(), 0.0);
        for held in &self.held {
            let rows = active.items()[held.place].rows.clone();
            at_start.extend(p[rows.clone()].iter().map(|p| 0.5 * p));
            at_end[rows.clone()].iter_mut().zip(&p[rows]).for_each(|(x, p)| *x = -0.5 * p);
        }
        self.start.add_reaction(layout, at_start, out);
        active.add_reaction(layout, at_end, out);
    }

    /// (σ, G_k, G_{k+1}) => shift.
    fn find_shift(&mut self, model: &Model, active: &ActiveSet) {
        let layout = model.systems().layout();
        let (at_start, at_end) = &mut self.local;
        at_start.clear();
        at_start.extend(self.sigma.iter().map(|sigma| 0.5 * sigma));
        at_end.clear();
        at_end.resize(active.n_rows(), 0.0);
        for (held, item) in self.held.iter().zip(self.start.items()) {
            at_end[active.items()[held.place].rows.clone()].copy_from_slice(&at_start[item.rows.clone()]);
        }
        self.reaction.clear();
        self.reaction.resize(layout.n_rows(), 0.0);
        self.start.add_reaction(layout, at_start, &mut self.reaction);
        active.add_reaction(layout, at_end, &mut self.reaction);
        self.mass.solve(layout, &self.reaction, &mut self.shift);
    }

    /// g(t, q) of the holonomic joints, one after the other, in `position`; returns the largest.
    fn measure(&mut self, model: &Model, t: f64, q: &[f64], scratch: &mut Scratch) -> Result<f64, NonFinite> {
        self.position.clear();
        for held in self.held.iter().filter(|held| held.holonomic) {
            let relation = model.interactions()[held.interaction].relation();
            let first = self.position.len();
            self.position.resize(first + relation.n_rows(), 0.0);
            relation.position(t, q, &mut self.position[first..], scratch)?;
        }
        Ok(self.position.iter().fold(0.0_f64, |worst, g| worst.max(g.abs())))
    }

    /// σ −= A⁺ g over the holonomic joints.
    fn correct(&mut self) {
        self.factor.solve(&mut self.position);
        let mut steps = self.position.iter();
        for (held, item) in self.held.iter().zip(self.start.items()).filter(|(held, _)| held.holonomic) {
            debug_assert!(held.holonomic);
            self.sigma[item.rows.clone()].iter_mut().zip(&mut steps).for_each(|(sigma, step)| *sigma -= step);
        }
    }

    /// The displacement in `work.displacement`, q_k => σ, q_{k+1} on the joints at the end of a step of `h` seconds from the state's time.
    pub fn project(
        &mut self,
        model: &Model,
        state: &mut State,
        memory: &mut StepMemory,
        h: f64,
        closeness: Closeness,
    ) -> Result<ProjectionReport, StepError> {
        let StepMemory { active, work, scratch, .. } = memory;
        let (t, mut report) = (state.t + h, ProjectionReport::default());
        loop {
            self.total.clear();
            self.total.extend(work.displacement.iter().zip(&self.shift).map(|(w, shift)| w + shift));
            model.systems().advance(&work.q_start, &self.total, &mut state.q);
            report.violation = self.measure(model, t, &state.q, scratch).map_err(at_time(t))?;
            report.converged = report.violation <= closeness.tolerance;
            if report.converged || report.iterations >= closeness.max_iterations {
                return Ok(report);
            }
            self.correct();
            self.find_shift(model, active);
            report.iterations += 1;
        }
    }
}
