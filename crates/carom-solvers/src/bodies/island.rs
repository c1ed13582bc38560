//! One island: its bodies in blocks, its contacts in cells, and the sweeps over them by one or several threads.

use super::barrier::{Barrier, spin_until};
use super::body::{Body, BodyBlock, Inertia, MOST_BLOCKS, OneBlock, SeveralBlocks, block_of, inertia};
use super::cell::{Cell, Source, Work};
use super::exact::{ExactIsland, Goal};
use super::groups::Groups;
use super::lanes::{Arithmetic, Plain};
use super::leader::{Command, Leader, Limits, Outcome};
use super::partition::Partition;
use super::rows::RowSet;
use super::{BodyProblem, BodySolution, GROUND, Measure};
use crate::growth::reserve_tightly;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An island with everything that its solution needs.
#[derive(Debug, Default)]
pub(super) struct Island {
    /// Bodies by their numbers in the problem.
    pub bodies: Vec<u32>,
    /// Contacts and rows by their numbers in the problem.
    pub contacts: Vec<u32>,
    pub rows: Vec<u32>,
    /// It is to be solved; otherwise `outcome` is known.
    pub is_open: bool,
    /// Inverse masses of the bodies, and of the ground; empty without rows.
    inertias: Vec<Inertia>,
    groups: Groups,
    partition: Partition,
    /// Mean velocity of the bodies, with which blocks of bodies move where none touches the ground: what rounding leaves of velocities is then small beside those between them \[m/s\].
    drift: [f64; 3],
    /// Blocks of bodies; only the first `n_blocks` are in use.
    blocks: Vec<Mutex<BodyBlock>>,
    n_blocks: usize,
    /// Contacts within each block, then those between each block and the next.
    cells: Vec<Mutex<Cell>>,
    /// The rows; none in most islands.
    row_work: Option<Box<RowSet>>,
    /// Sums of each cell.
    sums: Vec<[AtomicU64; 3]>,
    /// Visit for which each cell was last taken by a thread, and up to which stage of which visit the cells of each block are done.
    claims: Vec<AtomicU64>,
    progress: Vec<AtomicU64>,
    /// |q|².
    free: f64,
    /// Sum of the diagonal of W.
    pub trace: f64,
    pub outcome: Outcome,
    /// Newton's method, while it is in use: its factors take more room than all the rest.
    exact: Option<Box<ExactIsland>>,
    /// The solution is that of `exact`.
    is_exact: bool,
    /// Steps for which the factors are taken to be too dear without asking.
    dear: u32,
}

/// What an island is to be solved for.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub problem: &'a BodyProblem,
    /// Number of each body in its island.
    pub local: &'a [u32],
    pub limits: Limits,
    pub arch: pulp::Arch,
}

/// Sweeps that islands that move get before Newton's method is tried.
const PATIENCE: usize = 600;

/// Price of factors, in the usual one, that is paid where sweeps fail.
const RESCUE: f64 = 100.0;

/// First penalties of Newton's method and their growth: of structures at rest, of others.
const HOLDING: (f64, f64) = (1e4, 100.0);
const SLIDING: (f64, f64) = (10.0, 2.0);

/// Steps after which the cost of factors that were too dear is asked for again.
const DEAR: u32 = 50;

/// What the threads of an island share.
struct Team<'a> {
    arch: pulp::Arch,
    barrier: Barrier,
    n_threads: usize,
    /// Bits of β, and what to do next.
    beta: AtomicU64,
    command: AtomicU64,
    leader: Mutex<(Leader, &'a mut RowSet)>,
    unit: f64,
    /// The response to the impulses is there already.
    resumes: bool,
    /// Bits of |q|².
    free: AtomicU64,
}

/// Where a thread is in its work.
struct Turn {
    /// The blocks with which it begins.
    own: Range<usize>,
    /// It goes down through them. Every other thread does: so two meet, in every visit at about the same place, and most blocks stay in the cache of one core.
    descends: bool,
    /// Number of the present visit of all cells, the same on all threads.
    visit: u64,
}

impl Turn {
    /// That of one of `n_threads` threads before the first visit of `n_blocks` blocks.
    fn new(thread: usize, n_threads: usize, n_blocks: usize) -> Self {
        let first = |thread: usize| n_blocks * thread / n_threads;
        Turn { own: first(thread)..first(thread + 1), descends: thread % 2 == 1, visit: 1 }
    }

    /// Its own blocks, in the order of its way.
    fn own_blocks(&self) -> impl Iterator<Item = usize> + use<> {
        in_order(self.own.clone(), self.descends)
    }

    /// Those of the others: ahead on its way, and behind where it began.
    fn other_blocks(&self, n_blocks: usize) -> [impl Iterator<Item = usize> + use<>; 2] {
        let (below, above) = (in_order(0..self.own.start, true), in_order(self.own.end..n_blocks, false));
        if self.descends { [below, above] } else { [above, below] }
    }
}

/// Blocks up or down.
fn in_order(blocks: Range<usize>, down: bool) -> impl Iterator<Item = usize> + use<> {
    blocks.clone().map(move |block| if down { blocks.start + blocks.end - 1 - block } else { block })
}

/// Stages of a visit: within blocks, between even ones and the next, between odd ones and the next. A cell has one of the last two.
const STAGES: u64 = 3;

/// Whether a cell that begins with this block of `n` is worked on at this stage.
fn has_cell(block: usize, stage: usize, n: usize) -> bool {
    stage == 0 || block + 1 < n && block % 2 == stage - 1
}

/// The stage at which a block is worked on after this one, or the number of stages.
fn next_stage(block: usize, stage: usize, n: usize) -> u64 {
    let takes_part = |stage: &usize| has_cell(block, *stage, n) || block > 0 && has_cell(block - 1, *stage, n);
    (stage + 1..STAGES as usize).find(takes_part).map_or(STAGES, |stage| stage as u64)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn own<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}

impl Island {
    /// Forgets what it holds and keeps the storage.
    pub fn clear(&mut self) {
        self.bodies.clear();
        self.contacts.clear();
        self.rows.clear();
    }

    /// Copies bodies and contacts, in blocks and cells; `local` numbers bodies in their islands.
    pub fn build(&mut self, problem: &BodyProblem, guess: &BodySolution, local: &[u32]) {
        let n = self.bodies.len();
        let number = |body: u32| if body == GROUND { n as u32 } else { local[body as usize] };
        let carries = |contact: u32| guess.impulses[contact as usize][0] > 0.0;
        self.groups.gather(&self.contacts, |contact| problem.contacts[contact as usize].bodies.map(number), carries);
        self.partition.split(n, self.contacts.len(), self.groups.pairs());
        self.place_bodies(problem);
        self.share_groups();
        let Island { cells, bodies, groups, partition, contacts, .. } = self;
        let source = Source { problem, guess, contacts, groups, partition, bodies };
        if let [cell] = &mut cells[..] {
            own(cell).build(source);
        } else {
            cells.par_iter_mut().for_each(|cell| own(cell).build(source));
        }
        self.trace = self.cells.iter_mut().map(|cell| own(cell).trace).sum();
        self.build_rows(problem, guess, number);
    }

    fn build_rows(&mut self, problem: &BodyProblem, guess: &BodySolution, number: impl Fn(u32) -> u32) {
        self.inertias.clear();
        if self.rows.is_empty() {
            self.row_work = None;
            return;
        }
        let row_work = self.row_work.get_or_insert_default();
        row_work.clear();
        reserve_tightly(&mut self.inertias, self.bodies.len() + 1);
        self.inertias.extend(self.bodies.iter().map(|&body| inertia(&problem.masses[body as usize])));
        self.inertias.push([0.0; 8]);
        let place = |body: u32| (number(body), self.partition.addresses[number(body) as usize]);
        for &r in &self.rows {
            row_work.push(problem, &problem.rows[r as usize], place, guess, &self.inertias);
        }
        self.trace += row_work.finish(self.bodies.len(), &self.inertias);
    }

    fn place_bodies(&mut self, problem: &BodyProblem) {
        let n = self.bodies.len();
        let is_grounded = self.groups.pairs().flatten().any(|body| body as usize >= n) || !self.rows.is_empty();
        self.drift = [0.0; 3];
        if !is_grounded {
            for &body in &self.bodies {
                let v = &problem.velocities[body as usize];
                self.drift.iter_mut().zip(v).for_each(|(mean, v)| *mean += v / n as f64);
            }
        }
        self.n_blocks = self.partition.ends.len();
        if self.blocks.len() < self.n_blocks {
            self.blocks.resize_with(self.n_blocks, Mutex::default);
        }
        let mut start = 0;
        for (block, &end) in self.blocks.iter_mut().zip(&self.partition.ends) {
            let block = own(block);
            block.clear();
            reserve_tightly(&mut block.bodies, end as usize - start + 1);
            for &number in &self.partition.order[start..end as usize] {
                let body = self.bodies[number as usize] as usize;
                let mut velocity = problem.velocities[body];
                velocity.iter_mut().zip(&self.drift).for_each(|(v, drift)| *v -= drift);
                block.bodies.push(Body::new(&velocity, &inertia(&problem.masses[body])));
            }
            block.finish();
            start = end as usize;
        }
    }

    /// Gives each group to the cell of its block or of its two blocks.
    fn share_groups(&mut self) {
        let n_cells = 2 * self.n_blocks - 1;
        self.cells.resize_with(n_cells, Mutex::default);
        self.cells.truncate(n_cells);
        self.sums.clear();
        self.sums.resize_with(n_cells, Default::default);
        self.claims.resize_with(n_cells, Default::default);
        self.progress.resize_with(self.n_blocks, Default::default);
        self.cells.iter_mut().for_each(|cell| own(cell).groups.clear());
        for (index, pair) in self.groups.pairs().enumerate() {
            let mut blocks = pair.iter().filter_map(|&body| self.partition.addresses.get(body as usize)).map(|&a| block_of(a));
            let first = blocks.next().unwrap_or(0);
            let second = blocks.next().unwrap_or(first);
            let cell = if first == second { first } else { self.n_blocks + first.min(second) };
            own(&mut self.cells[cell]).groups.push(index as u32);
        }
    }

    /// Solves the island; with `shared` on the threads of the pool at hand where it has several blocks.
    ///
    /// Some sweeps; then Newton's method where they did not do and its factors are cheap; more sweeps where it fails; and Newton's method again at a higher price where
    /// these fail. Structures at rest are to reach the aim, others the tolerance.
    pub fn solve(&mut self, task: Task<'_>, shared: bool) {
        let limits = task.limits;
        let takes_newton = self.rows.is_empty() && limits.exact_flops > 0.0;
        if !takes_newton {
            self.sweep(limits, task.arch, shared, false);
            return;
        }
        let (patience, goal) = if self.is_structure(task.problem) { (0, limits.aim) } else { (PATIENCE, limits.tolerance) };
        let some = Limits { max_sweeps: limits.cheap_sweeps.max(patience).clamp(1, limits.max_sweeps), ..limits };
        self.sweep(some, task.arch, shared, false);
        if self.outcome.measure.residual() <= goal {
            return;
        }
        self.dear = self.dear.saturating_sub(1);
        if self.dear == 0 && !self.solve_exactly(task, goal, limits.exact_flops) {
            self.dear = DEAR;
        }
        if !self.outcome.converged {
            self.sweep(limits, task.arch, shared, true);
        }
        if !self.outcome.converged {
            self.solve_exactly(task, limits.tolerance, RESCUE * limits.exact_flops);
        }
    }

    /// Goes on where the island, once within its tolerance, is to reach that of the task.
    pub(crate) fn go_on(&mut self, task: Task<'_>, shared: bool) {
        let limits = task.limits;
        if !self.outcome.converged || self.outcome.measure.residual() <= limits.tolerance {
            return;
        }
        if self.is_exact {
            self.solve_exactly(task, limits.tolerance, RESCUE * limits.exact_flops);
        } else {
            self.sweep(limits, task.arch, shared, true);
        }
    }

    /// Most bodies are slow.
    fn is_structure(&self, problem: &BodyProblem) -> bool {
        let slow = self.bodies.iter().filter(|&&body| problem.slow.get(body as usize) == Some(&true)).count();
        2 * slow > self.bodies.len()
    }

    /// Newton's method, where its factors take no more than so many flops: whether they do. The result is kept where it is better.
    fn solve_exactly(&mut self, task: Task<'_>, goal: f64, most_flops: f64) -> bool {
        let Task { problem, local, limits, .. } = task;
        let mut exact = self.exact.take().unwrap_or_default();
        let flops = exact.prepare(problem, &self.bodies, &self.contacts, |body| local[body as usize]);
        if flops.is_none_or(|flops| flops > most_flops) {
            return false;
        }
        let (penalty, growth) = if self.is_structure(problem) { HOLDING } else { SLIDING };
        if !self.is_exact {
            self.copy_impulses(exact.impulses_mut());
        }
        exact.solve(Goal { residual: goal, unit: limits.unit, free: self.free, penalty, growth });
        let (residual, by_sweeps) = (exact.measure.residual(), self.outcome.measure.residual());
        if residual < by_sweeps {
            self.is_exact = true;
            self.outcome.measure = exact.measure;
            self.outcome.converged = residual <= limits.tolerance;
            self.outcome.sweeps += exact.steps;
        }
        self.exact = Some(exact);
        true
    }

    /// The impulses of the sweeps, in the order of the contacts.
    fn copy_impulses(&mut self, impulses: &mut Vec<[f64; 3]>) {
        impulses.clear();
        impulses.resize(self.contacts.len(), [0.0; 3]);
        for cell in &mut self.cells {
            // contacts of an island are sorted
            own(cell).tell_impulses(|id, r| {
                if let Ok(place) = self.contacts.binary_search(&id) {
                    impulses[place] = r;
                }
            });
        }
    }

    /// Sweeps until the tolerance is met; `resumes` goes on from where the last sweeps ended.
    fn sweep(&mut self, limits: Limits, arch: pulp::Arch, shared: bool, resumes: bool) {
        self.is_exact = false;
        let (mut boxed, mut none) = (self.row_work.take(), RowSet::default());
        let rows = boxed.as_deref_mut().unwrap_or(&mut none);
        self.claims.iter_mut().for_each(|claim| *claim.get_mut() = 0);
        self.progress.iter_mut().for_each(|done| *done.get_mut() = STAGES);
        let n_threads = if shared && self.n_blocks > 1 { rayon::current_num_threads() } else { 1 };
        let team = Team {
            arch,
            barrier: Barrier::new(n_threads),
            n_threads,
            beta: AtomicU64::new(0),
            command: AtomicU64::new(0),
            leader: Mutex::new((Leader::new(limits, self.rows.is_empty()), rows)),
            unit: limits.unit,
            resumes,
            free: AtomicU64::new(self.free.to_bits()),
        };
        if n_threads == 1 {
            self.work(0, &team);
        } else {
            rayon::broadcast(|context| self.work(context.index(), &team));
        }
        let free = f64::from_bits(team.free.load(Relaxed));
        let before = if resumes { self.outcome.sweeps } else { 0 };
        self.outcome = lock(&team.leader).0.outcome;
        self.outcome.sweeps += before;
        self.free = free;
        self.row_work = boxed;
    }

    /// v_free => |q|², and the response to the guess.
    fn start(&self, thread: usize, turn: &mut Turn, team: &Team<'_>) {
        self.visit_cells(team, turn, Work::Measure { unit: 1.0 });
        if thread == 0 {
            let of_rows = self.with_rows(team, |_, rows, bodies| rows.free_square(bodies));
            team.free.store((self.add_sums().velocity + of_rows).to_bits(), Relaxed);
        }
        team.barrier.wait();
        self.visit_cells(team, turn, Work::Apply);
        if thread == 0 {
            self.with_rows(team, |_, rows, bodies| rows.apply_impulses(&self.inertias, bodies));
        }
        team.barrier.wait();
    }

    /// What one thread does.
    fn work(&self, thread: usize, team: &Team<'_>) {
        let mut turn = Turn::new(thread, team.n_threads, self.n_blocks);
        if !team.resumes {
            self.start(thread, &mut turn, team);
        }
        let free = f64::from_bits(team.free.load(Relaxed));
        loop {
            let beta = f64::from_bits(team.beta.load(Relaxed));
            self.visit_cells(team, &mut turn, Work::Sweep { beta });
            if thread == 0 {
                let command = self.with_rows(team, |leader, rows, bodies| {
                    let step = rows.visit(beta, &self.inertias, bodies) + self.add_sums().error;
                    let command = leader.after_sweep(step, free);
                    team.beta.store(leader.beta.to_bits(), Relaxed);
                    command
                });
                team.command.store(command as u64, Relaxed);
            }
            team.barrier.wait();
            if team.command.load(Relaxed) != Command::Measure as u64 {
                continue;
            }
            self.visit_cells(team, &mut turn, Work::Measure { unit: team.unit });
            if thread == 0 {
                let command = self.with_rows(team, |leader, rows, bodies| {
                    let mut total = self.add_sums();
                    total.add(&rows.measure(team.unit, bodies));
                    total.free = free;
                    leader.judge(total)
                });
                team.command.store(command as u64, Relaxed);
            }
            team.barrier.wait();
            if team.command.load(Relaxed) == Command::Stop as u64 {
                return;
            }
        }
    }

    /// Works on all cells: within the blocks, then between the even and the next, then between the odd and the next. A thread begins with its own blocks and goes on
    /// with what the others have not begun; it waits for the cells before, of the same blocks, only. All threads have done their work on return.
    fn visit_cells(&self, team: &Team<'_>, turn: &mut Turn, work: Work) {
        for stage in 0..STAGES as usize {
            let takes = |block: usize| !has_cell(block, stage, self.n_blocks) || self.take_cell(team, turn.visit, work, (block, stage));
            turn.own_blocks().for_each(|block| {
                takes(block);
            });
            // what lies behind a cell that another thread has taken, that thread has taken or will
            for mut others in turn.other_blocks(self.n_blocks) {
                while others.next().is_some_and(takes) {}
            }
        }
        turn.visit += 1;
        team.barrier.wait();
    }

    /// Works on the cell that begins with a block, if no other thread has taken it: whether it has not.
    fn take_cell(&self, team: &Team<'_>, visit: u64, work: Work, (block, stage): (usize, usize)) -> bool {
        let n = self.n_blocks;
        let cell = if stage == 0 { block } else { n + block };
        if team.n_threads == 1 {
            self.dispatch(team.arch, work, cell);
            return true;
        }
        let claim = &self.claims[cell];
        if claim.load(Relaxed) >= visit || claim.fetch_max(visit, Relaxed) >= visit {
            return false;
        }
        let blocks = block..block + if stage == 0 { 1 } else { 2 };
        let before = STAGES * visit + stage as u64;
        blocks.clone().for_each(|block| spin_until(|| self.progress[block].load(Acquire) >= before));
        self.dispatch(team.arch, work, cell);
        blocks.for_each(|block| self.progress[block].store(STAGES * visit + next_stage(block, stage, n), Release));
        true
    }

    #[inline(always)]
    fn visit_cell<S: Arithmetic>(&self, by: S, work: Work, index: usize) {
        let mut cell = lock(&self.cells[index]);
        let total = if index < self.n_blocks {
            let mut block = lock(&self.blocks[index]);
            if let Work::Sweep { beta } = work {
                block.extrapolate(by, beta);
            }
            cell.run(by, work, &mut OneBlock(&mut block.bodies))
        } else {
            let first = index - self.n_blocks;
            let (mut a, mut b) = (lock(&self.blocks[first]), lock(&self.blocks[first + 1]));
            cell.run(by, work, &mut SeveralBlocks { first, blocks: &mut [&mut a.bodies, &mut b.bodies] })
        };
        for (slot, sum) in self.sums[index].iter().zip([total.error, total.impulse, total.velocity]) {
            slot.store(sum.to_bits(), Relaxed);
        }
    }

    /// Sums over the cells, in their order, whichever threads worked on them.
    fn add_sums(&self) -> Measure {
        let mut total = Measure::default();
        for slots in &self.sums {
            let [error, impulse, velocity] = [0, 1, 2].map(|k: usize| f64::from_bits(slots[k].load(Relaxed)));
            total.add(&Measure { error, impulse, velocity, free: 0.0 });
        }
        total
    }

    /// Calls with the leader, the rows and the bodies, if any, that rows act on. The other threads wait meanwhile.
    fn with_rows<T>(&self, team: &Team<'_>, act: impl FnOnce(&mut Leader, &mut RowSet, &mut SeveralBlocks<'_, '_>) -> T) -> T {
        let mut guard = lock(&team.leader);
        let (leader, rows) = &mut *guard;
        if self.rows.is_empty() {
            return act(leader, rows, &mut SeveralBlocks { first: 0, blocks: &mut [] });
        }
        self.with_bodies(|bodies| act(leader, rows, bodies))
    }

    /// Calls with all bodies.
    fn with_bodies<T>(&self, act: impl FnOnce(&mut SeveralBlocks<'_, '_>) -> T) -> T {
        let mut guards: [Option<MutexGuard<'_, BodyBlock>>; MOST_BLOCKS] =
            std::array::from_fn(|block| (block < self.n_blocks).then(|| lock(&self.blocks[block])));
        let mut slices: [&mut [Body]; MOST_BLOCKS] = std::array::from_fn(|_| Default::default());
        for (slice, guard) in slices.iter_mut().zip(guards.iter_mut().flatten()) {
            *slice = &mut guard.bodies;
        }
        act(&mut SeveralBlocks { first: 0, blocks: &mut slices[..self.n_blocks] })
    }

    /// Writes impulses, velocities of bodies and those of rows into the solution of the problem.
    pub(crate) fn read_out(&mut self, problem: &BodyProblem, solution: &mut BodySolution) {
        if let (true, Some(exact)) = (self.is_exact, &self.exact) {
            exact.read_out(&self.bodies, &self.contacts, solution);
            return;
        }
        for cell in &mut self.cells {
            own(cell).tell_impulses(|id, r| solution.impulses[id as usize] = r);
        }
        if let Some(mut rows) = self.row_work.take() {
            self.with_bodies(|bodies| rows.read_out(problem, &self.rows, bodies, solution));
            self.row_work = Some(rows);
        }
        let mut start = 0;
        for (block, &end) in self.blocks.iter_mut().zip(&self.partition.ends) {
            for (&number, body) in self.partition.order[start..end as usize].iter().zip(&own(block).bodies) {
                let mut velocity = body.velocity();
                velocity.iter_mut().zip(&self.drift).for_each(|(v, drift)| *v += drift);
                solution.bodies[self.bodies[number as usize] as usize] = velocity;
            }
            start = end as usize;
        }
    }

    /// Works on a cell as this machine does it best.
    fn dispatch(&self, arch: pulp::Arch, work: Work, cell: usize) {
        match arch {
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            pulp::Arch::V3(simd) => pulp::Simd::vectorize(simd, WithVectors { island: self, work, cell, simd }),
            _ => self.visit_cell(Plain, work, cell),
        }
    }
}

/// Inlined into a function that may use vector instructions.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
struct WithVectors<'a> {
    island: &'a Island,
    work: Work,
    cell: usize,
    simd: pulp::x86::V3,
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
impl pulp::WithSimd for WithVectors<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.island.visit_cell(self.simd, self.work, self.cell);
    }
}
