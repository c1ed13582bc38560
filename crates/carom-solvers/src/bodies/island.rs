//! One island: its bodies, its contacts in coloured packs, and the sweeps over them by one or several threads.

use super::barrier::Barrier;
use super::colouring::{COLOURS, Colouring};
use super::lanes::{Arithmetic, LANES, Plain};
use super::pack::Pack;
use super::rows::RowSet;
use super::velocities::{Inertia, Velocities};
use super::{BodyProblem, BodySolution, GROUND, Measure};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// The residual is measured at least every so many sweeps.
const CHECK_INTERVAL: usize = 20;

/// Sweeps without a better residual after which the island has stalled.
const STALL: usize = 1500;

/// Growth of the square of the change of a sweep at which momentum is dropped: a little is passed over.
const GROWTH: f64 = 1.3;

/// No contact in this lane.
const EMPTY: u32 = u32::MAX;

/// An island with everything that its solution needs.
#[derive(Debug, Default)]
pub(super) struct Island {
    /// Bodies by their numbers in the problem.
    pub bodies: Vec<u32>,
    /// Contacts and rows by their numbers in the problem.
    pub contacts: Vec<u32>,
    pub rows: Vec<u32>,
    inertias: Vec<Inertia>,
    velocities: Velocities,
    colouring: Colouring,
    /// What each thread works on.
    parts: Vec<Mutex<Part>>,
    row_work: RowSet,
    /// Sums of each pack.
    sums: Vec<AtomicU64>,
    n_packs: usize,
    n_colours: usize,
    /// Mass unit of the residual.
    unit: f64,
    /// |q|².
    free: f64,
    pub outcome: Outcome,
}

/// Packs of one thread.
#[derive(Debug, Default)]
struct Part {
    packs: Vec<Pack>,
    /// Contacts in the lanes of each pack.
    ids: Vec<[u32; LANES]>,
    /// Number of each pack in the island.
    numbers: Vec<u32>,
    /// End of each colour among the packs.
    ends: Vec<usize>,
    /// Bodies whose velocities this thread extrapolates, and those velocities at the end of the last sweep.
    bodies: std::ops::Range<usize>,
    last: Vec<[f64; 6]>,
}

/// How the sweeps of an island ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    pub sweeps: usize,
    pub measure: Measure,
    pub converged: bool,
    pub stalled: bool,
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub tolerance: f64,
    pub max_sweeps: usize,
    /// Mass unit of the residual.
    pub unit: f64,
    pub momentum: bool,
}

/// What the leader tells the threads.
#[derive(Debug, Default)]
struct Control {
    beta: AtomicU64,
    /// 0: sweep, 1: measure first, 2: stop.
    command: AtomicU64,
}

const SWEEP: u64 = 0;
const MEASURE: u64 = 1;
const STOP: u64 = 2;

/// Decides after each sweep. Only the first thread has it.
struct Leader {
    limits: Limits,
    t: f64,
    /// |x⁺ − y|² of the last sweep.
    step: f64,
    ratio: f64,
    best: (f64, usize),
    outcome: Outcome,
}

impl Island {
    /// Forgets what it holds and keeps the storage.
    pub fn clear(&mut self) {
        self.bodies.clear();
        self.contacts.clear();
        self.rows.clear();
    }

    /// Copies bodies and contacts, coloured and packed for `threads` threads; `local` numbers bodies in their islands. Returns the sum of the
    /// diagonal of W.
    pub fn build(&mut self, problem: &BodyProblem, guess: &BodySolution, local: &[u32], threads: usize) -> f64 {
        let ground = self.bodies.len() as u32;
        let number = |body: u32| if body == GROUND { ground } else { local[body as usize] };
        self.inertias.clear();
        self.velocities.reset(self.bodies.len());
        for (place, &body) in self.bodies.iter().enumerate() {
            let mass = &problem.masses[body as usize];
            let i = &mass.inverse_inertia;
            self.inertias.push([mass.inverse_mass, i[0], i[1], i[2], i[3], i[4], i[5], 0.0]);
            self.velocities.set(place, &problem.velocities[body as usize]);
        }
        self.inertias.push([0.0; 8]);
        let pairs = self.contacts.iter().map(|&c| problem.contacts[c as usize].bodies.map(number));
        self.colouring.colour(self.bodies.len(), pairs);
        self.lay_out(threads);
        let mut trace = self.fill(problem, guess, number);
        self.row_work.clear();
        for &r in &self.rows {
            self.row_work.push(problem, &problem.rows[r as usize], number, guess, &self.inertias);
        }
        trace += self.row_work.finish(self.bodies.len(), &self.inertias);
        trace
    }

    /// Empty packs, colour after colour, shared between the threads.
    fn lay_out(&mut self, threads: usize) {
        let ground = self.bodies.len() as u32;
        let counts = &self.colouring.counts;
        self.n_colours = counts[..COLOURS].iter().position(|&n| n == 0).unwrap_or(COLOURS);
        self.parts.resize_with(threads, Mutex::default);
        for (thread, part) in self.parts.iter_mut().enumerate() {
            let part = part.get_mut().unwrap_or_else(PoisonError::into_inner);
            part.packs.clear();
            part.ids.clear();
            part.numbers.clear();
            part.ends.clear();
            let mut start = 0;
            for &count in &counts[..self.n_colours] {
                let n = count.div_ceil(LANES);
                part.numbers.extend((start + n * thread / threads..start + n * (thread + 1) / threads).map(|p| p as u32));
                part.ends.push(part.numbers.len());
                start += n;
            }
            // contacts without a colour: one per pack, all with the first thread
            if thread == 0 {
                part.numbers.extend((start..start + counts[COLOURS]).map(|p| p as u32));
            }
            part.packs.resize(part.numbers.len(), Pack::new(ground));
            part.ids.resize(part.numbers.len(), [EMPTY; LANES]);
            let n = self.bodies.len();
            part.bodies = n * thread / threads..n * (thread + 1) / threads;
            part.last.clear();
            part.last.resize(part.bodies.len(), [0.0; 6]);
        }
        self.n_packs = counts[..self.n_colours].iter().map(|n| n.div_ceil(LANES)).sum::<usize>() + counts[COLOURS];
        self.sums.clear();
        self.sums.resize_with(4 * self.n_packs, || AtomicU64::new(0));
    }

    /// Puts the contacts into their packs. Returns the sum of the diagonal of W.
    fn fill(&mut self, problem: &BodyProblem, guess: &BodySolution, number: impl Fn(u32) -> u32) -> f64 {
        let threads = self.parts.len();
        let counts = self.colouring.counts;
        let mut filled = [0; COLOURS + 1];
        let mut trace = 0.0;
        for (&contact, &colour) in self.contacts.iter().zip(&self.colouring.colour) {
            let (colour, place) = (colour as usize, filled[colour as usize]);
            filled[colour] += 1;
            let (thread, index, lane) = if colour == COLOURS {
                let last = self.parts[0].get_mut().unwrap_or_else(PoisonError::into_inner).ends.last().copied().unwrap_or(0);
                (0, last + place, 0)
            } else {
                let (n, pack) = (counts[colour].div_ceil(LANES), place / LANES);
                let thread = (0..threads).find(|t| pack < n * (t + 1) / threads).unwrap_or(threads - 1);
                let part = self.parts[thread].get_mut().unwrap_or_else(PoisonError::into_inner);
                let start = if colour == 0 { 0 } else { part.ends[colour - 1] };
                (thread, start + pack - n * thread / threads, place % LANES)
            };
            let part = self.parts[thread].get_mut().unwrap_or_else(PoisonError::into_inner);
            let c = &problem.contacts[contact as usize];
            part.packs[index].put(lane, c, c.bodies.map(&number), &guess.impulses[contact as usize], &self.inertias);
            part.ids[index][lane] = contact;
        }
        for part in &mut self.parts {
            let part = part.get_mut().unwrap_or_else(PoisonError::into_inner);
            trace += part.packs.iter().zip(&part.ids).map(|(pack, ids)| pack.trace(in_use(ids))).sum::<f64>();
        }
        trace
    }

    /// Sweeps until the tolerance is met; on the threads of the pool where there are several parts.
    pub fn solve(&mut self, limits: Limits, arch: pulp::Arch) {
        self.unit = limits.unit;
        self.start();
        let barrier = Barrier::new(self.parts.len());
        let control = Control::default();
        let rows = Mutex::new(std::mem::take(&mut self.row_work));
        let leader =
            Mutex::new(Leader { limits, t: 1.0, step: f64::INFINITY, ratio: 1.0, best: (f64::INFINITY, 0), outcome: Outcome::default() });
        let worker = |thread: usize| self.work(thread, &barrier, &control, &rows, &leader, arch);
        if self.parts.len() == 1 {
            worker(0);
        } else {
            rayon::broadcast(|context| worker(context.index()));
        }
        self.row_work = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.outcome = leader.into_inner().unwrap_or_else(PoisonError::into_inner).outcome;
    }

    /// |q|², then the response to the guess.
    fn start(&mut self) {
        let velocities = &self.velocities;
        self.free = 0.0;
        for part in &mut self.parts {
            let part = part.get_mut().unwrap_or_else(PoisonError::into_inner);
            self.free += part
                .packs
                .iter()
                .zip(&part.ids)
                .map(|(pack, ids)| pack.measure(Plain, in_use(ids), self.unit, velocities).velocity)
                .sum::<f64>();
        }
        self.free += self.row_work.free_square(velocities);
        for part in &mut self.parts {
            let part = part.get_mut().unwrap_or_else(PoisonError::into_inner);
            part.packs.iter().for_each(|pack| pack.apply_impulse(&self.inertias, velocities));
        }
        self.row_work.apply_impulses(&self.inertias, velocities);
        for part in &mut self.parts {
            let part = part.get_mut().unwrap_or_else(PoisonError::into_inner);
            for (last, body) in part.last.iter_mut().zip(part.bodies.clone()) {
                *last = velocities.get(body);
            }
        }
    }

    /// What one thread does.
    fn work(&self, thread: usize, barrier: &Barrier, control: &Control, rows: &Mutex<RowSet>, leader: &Mutex<Leader>, arch: pulp::Arch) {
        let mut part = self.parts[thread].lock().unwrap_or_else(PoisonError::into_inner);
        let part = &mut *part;
        let is_leader = thread == 0;
        loop {
            let beta = f64::from_bits(control.beta.load(Relaxed));
            self.extrapolate(part, beta);
            barrier.wait();
            let mut start = 0;
            for colour in 0..self.n_colours {
                let end = part.ends[colour];
                self.dispatch(arch, Work::Sweep { part, packs: start..end, beta });
                start = end;
                barrier.wait();
            }
            if is_leader {
                let n = part.packs.len();
                self.dispatch(arch, Work::Sweep { part, packs: start..n, beta });
                let mut step = rows.lock().unwrap_or_else(PoisonError::into_inner).visit(beta, &self.inertias, &self.velocities);
                step += self.sums.chunks_exact(4).map(|slots| f64::from_bits(slots[0].load(Relaxed))).sum::<f64>();
                leader.lock().unwrap_or_else(PoisonError::into_inner).after_sweep(step, self.free, control);
            }
            barrier.wait();
            if control.command.load(Relaxed) == MEASURE {
                self.dispatch(arch, Work::Measure { part });
                barrier.wait();
                if is_leader {
                    let mut leader = leader.lock().unwrap_or_else(PoisonError::into_inner);
                    let mut total = self.add_measures();
                    total.add(&rows.lock().unwrap_or_else(PoisonError::into_inner).measure(leader.limits.unit, &self.velocities));
                    total.free = self.free;
                    leader.judge(total, control);
                }
                barrier.wait();
            }
            if control.command.load(Relaxed) == STOP {
                return;
            }
        }
    }
}

impl Island {
    /// y = x + β (x − x_last) for the velocities.
    fn extrapolate(&self, part: &mut Part, beta: f64) {
        for (last, body) in part.last.iter_mut().zip(part.bodies.clone()) {
            let x = self.velocities.get(body);
            if beta != 0.0 {
                let mut y = x;
                y.iter_mut().zip(&*last).for_each(|(y, last)| *y += beta * (*y - last));
                self.velocities.set(body, &y);
            }
            *last = x;
        }
    }

    #[inline(always)]
    fn sweep<S: Arithmetic>(&self, by: S, part: &mut Part, packs: std::ops::Range<usize>, beta: f64) {
        for (pack, &number) in part.packs[packs.clone()].iter_mut().zip(&part.numbers[packs]) {
            let step = pack.visit(by, beta, &self.inertias, &self.velocities);
            self.sums[4 * number as usize].store(step.to_bits(), Relaxed);
        }
    }

    #[inline(always)]
    fn measure<S: Arithmetic>(&self, by: S, part: &Part, unit: f64) {
        for ((pack, ids), &number) in part.packs.iter().zip(&part.ids).zip(&part.numbers) {
            let m = pack.measure(by, in_use(ids), unit, &self.velocities);
            for (slot, sum) in self.sums[4 * number as usize..].iter().zip([m.error, m.impulse, m.velocity]) {
                slot.store(sum.to_bits(), Relaxed);
            }
        }
    }

    fn add_measures(&self) -> Measure {
        let mut total = Measure::default();
        for slots in self.sums.chunks_exact(4) {
            let of = |k: usize| f64::from_bits(slots[k].load(Relaxed));
            total.add(&Measure { error: of(0), impulse: of(1), velocity: of(2), free: 0.0 });
        }
        total
    }

    /// Writes impulses and velocities into the solution of the problem.
    pub fn read_out(&mut self, problem: &BodyProblem, solution: &mut BodySolution) {
        for part in &mut self.parts {
            let part = part.get_mut().unwrap_or_else(PoisonError::into_inner);
            for (pack, ids) in part.packs.iter().zip(&part.ids) {
                let velocities = pack.velocities(&self.velocities);
                for (lane, &id) in ids.iter().enumerate().filter(|(_, id)| **id != EMPTY) {
                    solution.impulses[id as usize] = pack.impulse_of(lane);
                    solution.velocities[id as usize] = velocities[lane];
                }
            }
        }
        self.row_work.read_out(problem, &self.rows, &self.velocities, solution);
        for (place, &body) in self.bodies.iter().enumerate() {
            solution.bodies[body as usize] = self.velocities.get(place);
        }
    }
}

impl Leader {
    /// Next β; whether to measure.
    fn after_sweep(&mut self, step: f64, free: f64, control: &Control) {
        self.outcome.sweeps += 1;
        let (limits, sweeps) = (&self.limits, self.outcome.sweeps);
        // momentum is dropped where it makes the changes grow
        let grows = step > GROWTH * self.step;
        self.step = step;
        let beta = if !limits.momentum || grows {
            self.t = 1.0;
            0.0
        } else {
            let next = 0.5 * (1.0 + (1.0 + 4.0 * self.t * self.t).sqrt());
            let beta = (self.t - 1.0) / next;
            self.t = next;
            beta
        };
        control.beta.store(beta.to_bits(), Relaxed);
        self.outcome.measure.free = free;
        let cheap = limits.unit * step.sqrt();
        let size = self.outcome.measure.impulse.max(free).max(self.outcome.measure.velocity).sqrt().max(f64::MIN_POSITIVE);
        let promising = cheap * self.ratio <= limits.tolerance * size;
        let due = sweeps % CHECK_INTERVAL == 0 || sweeps == 1 || sweeps >= limits.max_sweeps;
        self.outcome.measure.error = cheap;
        let command = if promising || due { MEASURE } else { SWEEP };
        control.command.store(command, Relaxed);
    }

    /// The residual: whether to go on.
    fn judge(&mut self, measure: Measure, control: &Control) {
        let (limits, sweeps) = (&self.limits, self.outcome.sweeps);
        let cheap = self.outcome.measure.error;
        let residual = measure.residual();
        self.outcome.measure = measure;
        self.outcome.converged = residual <= limits.tolerance;
        if residual < 0.999 * self.best.0 {
            self.best = (residual, sweeps);
        }
        self.outcome.stalled = sweeps > self.best.1 + STALL || !residual.is_finite();
        self.ratio = if cheap > 0.0 { (measure.error.sqrt() / cheap).clamp(1e-3, 1e3) } else { 1.0 };
        let stops = self.outcome.converged || self.outcome.stalled || sweeps >= limits.max_sweeps;
        control.command.store(if stops { STOP } else { SWEEP }, Relaxed);
    }
}

/// Work on packs that has a version with the vector instructions of the machine.
enum Work<'a> {
    Sweep { part: &'a mut Part, packs: std::ops::Range<usize>, beta: f64 },
    Measure { part: &'a Part },
}

impl Island {
    #[inline(always)]
    fn run<S: Arithmetic>(&self, by: S, work: Work<'_>) {
        match work {
            Work::Sweep { part, packs, beta } => self.sweep(by, part, packs, beta),
            Work::Measure { part } => self.measure(by, part, self.unit),
        }
    }

    /// Does the work as this machine does it best.
    fn dispatch(&self, arch: pulp::Arch, work: Work<'_>) {
        match arch {
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            pulp::Arch::V3(simd) => pulp::Simd::vectorize(simd, WithVectors { island: self, work, simd }),
            _ => self.run(Plain, work),
        }
    }
}

/// Inlined into a function that may use vector instructions.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
struct WithVectors<'a, 'b> {
    island: &'a Island,
    work: Work<'b>,
    simd: pulp::x86::V3,
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
impl pulp::WithSimd for WithVectors<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.island.run(self.simd, self.work);
    }
}

/// Number of lanes that hold a contact: the first ones.
#[inline(always)]
fn in_use(ids: &[u32; LANES]) -> usize {
    let mut n = 0;
    for id in ids {
        n += usize::from(*id != EMPTY);
    }
    n
}
